import asyncio
import random
import subprocess
import sys
import time

import anyio
import pytest

from tanbo_engine._kernel import StopFlag
from tanbo_engine.game import Game
from tanbo_engine.patience import FRUGAL, HARMLESS
from tanbo_engine.player import (
    Aim,
    Limits,
    Report,
    SearchPlayer,
    Stream,
    mix_seed,
    run_stoppable,
)
from tanbo_engine.points import Color

from .support import as_plain, before_the_end, kernel, play_on, snapshot, start

FOR_EVER = Limits(seconds=600)


def new_game(name: str = "dense-7x7") -> Game:
    return Game(start(name))


def search(game: Game, limits: Limits, seed: int = 1, salt: int = 0) -> Report:
    return SearchPlayer(8, seed).search(game, limits, StopFlag(), salt)


def untimed(report: Report) -> Report:
    return report._replace(seconds=0)


@pytest.mark.parametrize("visits", [1, 2, 31, 33, 500, 3000])
def test_a_limit_of_visits_is_met_exactly(visits: int) -> None:
    report = search(new_game(), Limits(visits=visits))
    assert report.visits == visits
    assert sum(move.visits for move in report.candidates) == visits


@pytest.mark.parametrize("seconds", [0.05, 0.3])
@pytest.mark.parametrize("name", ["dense-7x7", "dense-23x25"])
def test_a_limit_of_time_is_met_within_a_slice(name: str, seconds: float) -> None:
    began = time.monotonic()
    report = search(new_game(name), Limits(seconds=seconds))
    passed = time.monotonic() - began
    assert seconds <= report.seconds <= passed
    assert report.seconds < seconds + 0.5
    assert report.visits > 100


def test_the_first_limit_reached_ends_the_search() -> None:
    by_visits = search(new_game(), Limits(seconds=60, visits=100))
    assert by_visits.visits == 100
    assert by_visits.seconds < 5
    by_time = search(new_game(), Limits(seconds=0.05, visits=10**9))
    assert by_time.visits < 10**9
    assert by_time.seconds < 1


def test_no_time_and_no_visits_still_give_a_legal_move() -> None:
    game = new_game()
    for limits in (Limits(seconds=0), Limits(visits=0), Limits(0.0, 0)):
        assert search(game, limits).point in game.legal_moves()


def test_a_report_describes_the_position() -> None:
    game = new_game()
    report = search(game, Limits(visits=2000))
    assert sorted(move.point for move in report.candidates) == game.legal_moves()
    assert report.candidates[0].point == report.variation[0] == report.point
    assert 0 < report.value < 1
    assert report.proof == 0
    assert not report.tree_full
    assert sum(move.prior for move in report.candidates) == pytest.approx(1, abs=1e-5)


def test_the_game_is_as_it_was_after_a_search() -> None:
    game = new_game()
    game.play(1)
    before, moves = snapshot(game.kernel), list(game.moves)
    search(game, Limits(visits=500))
    assert snapshot(game.kernel) == before
    assert game.moves == moves


def test_seed_salt_and_position_decide_a_report() -> None:
    game = new_game()
    report = untimed(search(game, Limits(visits=1000), seed=3, salt=2))
    again = new_game()
    again.play(1)
    again.undo()
    assert untimed(search(again, Limits(visits=1000), seed=3, salt=2)) == report
    assert untimed(search(game, Limits(visits=1000), seed=4, salt=2)) != report
    assert untimed(search(game, Limits(visits=1000), seed=3, salt=3)) != report


def test_former_searches_of_a_player_do_not_matter() -> None:
    player = SearchPlayer(8, 5)
    first = player.search(new_game(), Limits(visits=800), StopFlag())
    player.search(new_game("classic-9x9"), Limits(seconds=0.05), StopFlag())
    again = player.search(new_game(), Limits(visits=800), StopFlag())
    assert untimed(again) == untimed(first)


def test_a_won_position_is_proved_before_time_is_up() -> None:
    for seed in range(5):
        game = Game(as_plain(before_the_end("dense-5x7", seed, 4)))
        report = search(game, FOR_EVER)
        assert report.proof in (1, -1)
        assert report.value == (1.0 if report.proof == 1 else 0.0)
        assert report.seconds < 30


def forced_game() -> Game:
    """Return a game, far from its end, with one legal move for the side to move."""
    source = random.Random(1)
    for seed in range(1000):
        position = kernel("classic-9x9")
        moves = play_on(kernel("classic-9x9"), seed, "reckless")
        for point in moves[: -source.randint(10, 30)]:
            position.make(point)
            if len(position.legal_moves(position.to_move)) == 1:
                return Game(as_plain(position))
    raise AssertionError


def test_a_forced_move_is_played_at_once() -> None:
    game = forced_game()
    report = search(game, FOR_EVER)
    assert [report.point] == game.legal_moves()
    assert report.visits <= 1
    assert report.seconds < 1


def test_a_small_memory_fills_and_the_search_goes_on() -> None:
    player = SearchPlayer(1, 1)
    report = player.search(new_game(), Limits(visits=100_000), StopFlag())
    assert report.tree_full
    assert report.visits == 100_000


def test_a_flag_that_is_set_gives_a_move_at_once() -> None:
    stop = StopFlag()
    stop.set()
    game = new_game()
    report = SearchPlayer(8, 1).search(game, FOR_EVER, stop)
    assert report.point in game.legal_moves()
    assert report.seconds < 1


def test_a_flag_ends_a_search_that_goes_on() -> None:
    stop = StopFlag()
    stream = Stream(lambda _: stop.set(), 0.05)
    report = SearchPlayer(8, 1).search(new_game(), FOR_EVER, stop, stream=stream)
    assert 0.05 < report.seconds < 10


def test_a_whole_game_is_played_to_its_end() -> None:
    game, player = new_game("dense-5x7"), SearchPlayer(8, 1)
    while game.winner is None:
        report = player.search(game, Limits(visits=60), StopFlag())
        for point in (report.point, *report.variation):
            assert point in range(35)
        game.play(report.point)
    assert game.winner in Color


# Clear and unclear positions, kept trees


def test_a_target_ends_a_search_long_before_the_maximum() -> None:
    report = search(new_game(), Limits(seconds=300, target=0.05))
    assert report.seconds < 30


@pytest.mark.parametrize("early", [HARMLESS, FRUGAL])
def test_a_limit_of_visits_is_met_whatever_the_clock_would_save(early: float) -> None:
    game = Game(as_plain(before_the_end("dense-7x7", 3, 30)))
    whole = untimed(search(game, Limits(visits=3000)))
    on_a_clock = Limits(seconds=600, visits=3000, target=300, early=early)
    assert untimed(search(game, on_a_clock)) == whole


def keeping(threads: int = 1, kind: str = "auto") -> SearchPlayer:
    return SearchPlayer(8, 1, kind, threads, keep=True)


def known(player: SearchPlayer, game: Game) -> Report:
    """Return what the player knows of a position before it searches."""
    stop = StopFlag()
    stop.set()
    return player.search(game, FOR_EVER, stop)


def visits_of(report: Report) -> dict[int, int]:
    return {move.point: move.visits for move in report.candidates}


def test_a_kept_tree_is_searched_further_by_the_next_search_of_its_position() -> None:
    player, game = keeping(), new_game()
    player.search(game, Limits(visits=700), StopFlag())
    before = visits_of(known(player, game))
    assert sum(before.values()) == 700
    after = visits_of(player.search(game, Limits(visits=2000), StopFlag()))
    assert sum(after.values()) == 2000
    assert all(after[point] >= visits for point, visits in before.items())


def test_a_kept_tree_that_is_large_enough_answers_at_once() -> None:
    player, game = keeping(), new_game()
    first = player.search(game, Limits(visits=700), StopFlag())
    again = player.search(game, Limits(visits=700), StopFlag())
    assert untimed(again) == untimed(first)
    again = known(player, game)
    assert untimed(again) == untimed(first)


def test_a_kept_tree_that_is_larger_than_the_limit_is_forgotten() -> None:
    player, game = keeping(), new_game()
    player.search(game, Limits(visits=700), StopFlag())
    report = player.search(game, Limits(visits=300), StopFlag())
    assert untimed(report) == untimed(search(game, Limits(visits=300)))


def test_a_kept_tree_goes_along_with_the_game() -> None:
    player, game = keeping(), new_game()
    report = player.search(game, Limits(visits=3000), StopFlag())
    one, two = report.variation[:2]
    game.play(one)
    after_one = known(player, game)
    assert after_one.visits == visits_of(report)[one]
    game.play(two)
    after_two = known(player, game)
    assert after_two.visits == visits_of(after_one)[two] > 1
    for _ in range(2):
        game.undo()
    assert untimed(known(player, game)) == untimed(report)
    game.play(report.candidates[1].point)
    sibling = known(player, game)
    assert sibling.visits == report.candidates[1].visits


@pytest.mark.parametrize("change", ["salt", "start", "size", "unknown move"])
def test_a_kept_tree_of_another_game_is_forgotten(change: str) -> None:
    player, game, salt = keeping(), new_game(), 0
    player.search(game, Limits(visits=700), StopFlag())
    if change == "salt":
        salt = 1
    elif change == "start":
        game.play(1)
        game = Game(game.position)
    elif change == "size":
        game = new_game("classic-9x9")
    else:
        play_on(game.kernel, 1, "reckless")
        line = [game.kernel.unmake() for _ in range(game.kernel.turns)][::-1]
        for point in line[:6]:
            game.play(point)
    report = player.search(game, Limits(visits=300), StopFlag(), salt)
    assert untimed(report) == untimed(search(game, Limits(visits=300), salt=salt))


def test_a_player_that_keeps_nothing_begins_anew() -> None:
    player, game = SearchPlayer(8, 1), new_game()
    player.search(game, Limits(visits=700), StopFlag())
    assert player.search(game, Limits(visits=9), StopFlag()).visits == 9


def test_the_tree_of_a_restricted_search_is_not_used_again() -> None:
    player, game = keeping(), new_game()
    player.search(game, Limits(visits=700), StopFlag(), only=game.legal_moves()[:3])
    report = player.search(game, Limits(visits=300), StopFlag())
    assert untimed(report) == untimed(search(game, Limits(visits=300)))


def test_a_refused_search_loses_the_tree_but_confuses_nothing() -> None:
    player, game = keeping(), new_game()
    first = player.search(game, Limits(visits=700), StopFlag())
    game.play(first.point)
    with pytest.raises(ValueError, match="not legal"):
        player.search(game, Limits(visits=700), StopFlag(), only=[first.point])
    report = player.search(game, Limits(visits=300), StopFlag())
    assert untimed(report) == untimed(search(game, Limits(visits=300)))


def test_searches_with_a_kept_tree_can_be_repeated() -> None:
    def run() -> list[Report]:
        player, game, reports = keeping(), new_game(), []
        for turn in range(12):
            report = player.search(game, Limits(visits=400 + 50 * turn), StopFlag())
            reports.append(untimed(report))
            game.play(report.point)
            if turn % 4 == 3:
                game.undo()
        return reports

    assert run() == run()


# What a search is for


def test_the_aim_decides_which_search_the_strongest_player_uses() -> None:
    game, limits = new_game("dense-11x11"), Limits(seconds=0.05)
    found = {
        aim: SearchPlayer(8, 1).search(game, limits, StopFlag(), aim=aim) for aim in Aim
    }
    # A tree has made few visits in this time; alpha-beta enters millions a second.
    assert found[Aim.MOVE].visits > 2 * found[Aim.COMPARE].visits
    for kind in ("puct", "alphabeta"):
        reports = [
            untimed(
                SearchPlayer(8, 1, kind).search(
                    game, Limits(visits=2000), StopFlag(), aim=aim
                )
            )
            for aim in Aim
        ]
        assert reports[0] == reports[1]


def test_alpha_beta_goes_on_with_what_it_knows_unless_nodes_are_counted() -> None:
    game = new_game("dense-3x5")
    for _ in range(4):
        game.play(game.legal_moves()[0])
    fresh = keeping(kind="alphabeta").search(game, Limits(seconds=60), StopFlag())
    assert fresh.proof != 0
    player = keeping(kind="alphabeta")
    player.search(game, Limits(seconds=60), StopFlag())
    again = player.search(game, Limits(seconds=60), StopFlag())
    assert again.visits < fresh.visits / 5
    counted = player.search(game, Limits(visits=10**9), StopFlag())
    assert untimed(counted) == untimed(fresh)
    player.forget()
    assert player.search(game, Limits(seconds=60), StopFlag()).visits == fresh.visits


def test_alpha_beta_chooses_from_some_moves() -> None:
    game = new_game()
    only = game.legal_moves()[:3]
    for threads in (1, 2):
        report = SearchPlayer(8, 1, threads=threads).search(
            game, Limits(seconds=0.05), StopFlag(), only=only, aim=Aim.MOVE
        )
        assert report.point in only
        assert {move.point for move in report.candidates} == set(only)


# In a thread


async def test_thinking_gives_the_report_of_the_search() -> None:
    game, stop = new_game(), StopFlag()
    report = await SearchPlayer(8, 1).think(game, Limits(visits=700), stop)
    assert untimed(report) == untimed(search(game, Limits(visits=700)))


async def test_the_event_loop_runs_while_the_player_thinks() -> None:
    player, ticks = SearchPlayer(8, 1), 0
    thinking = asyncio.ensure_future(
        player.think(new_game(), Limits(seconds=0.4), StopFlag())
    )
    while not thinking.done():
        await asyncio.sleep(0.01)
        ticks += 1
    assert (await thinking).visits > 0
    assert ticks >= 10


async def test_a_set_flag_ends_thinking() -> None:
    stop = StopFlag()
    asyncio.get_running_loop().call_later(0.1, stop.set)
    report = await SearchPlayer(8, 1).think(new_game(), FOR_EVER, stop)
    assert report.seconds < 2
    assert report.point in new_game().legal_moves()


async def test_cancelling_sets_the_flag_and_does_not_wait() -> None:
    stop, began = StopFlag(), time.monotonic()
    with anyio.move_on_after(0.1) as scope:
        await SearchPlayer(8, 1).think(new_game(), FOR_EVER, stop)
    assert scope.cancelled_caught
    assert stop.is_set
    assert time.monotonic() - began < 2


SEARCH_AFTER_CANCEL = """
import anyio
from tanbo_engine import setups
from tanbo_engine._kernel import StopFlag
from tanbo_engine.game import Game
from tanbo_engine.player import Limits, SearchPlayer

async def main():
    large, small = (
        Game(setups.by_name(name).position()) for name in ("dense-23x25", "dense-7x7")
    )
    player, points = SearchPlayer(8, 1), set()
    for _ in range(200):
        with anyio.move_on_after(0.003):
            await player.think(large, Limits(seconds=600), StopFlag())
        report = player.search(small, Limits(visits=200), StopFlag())
        points.add(report._replace(seconds=0))
    print(len(points))

anyio.run(main)
"""


def test_a_search_right_after_a_cancelled_one_has_the_tree_to_itself() -> None:
    # In a process of its own: two threads in one tree end in a segmentation fault.
    done = subprocess.run(
        [sys.executable, "-c", SEARCH_AFTER_CANCEL], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


async def test_errors_of_work_in_a_thread_are_raised() -> None:
    def fail() -> None:
        raise ValueError("no such work")

    with pytest.raises(ValueError, match="no such work"):
        await run_stoppable(fail, StopFlag())


# Seeds


def test_a_mixed_seed_depends_on_each_part_and_their_order() -> None:
    parts = [(1, 2, 3), (0, 2, 3), (1, 0, 3), (1, 2, 0), (3, 2, 1), (2, 1, 3)]
    seeds = {mix_seed(*part) for part in parts}
    assert len(seeds) == len(parts)
    assert all(0 <= seed < 1 << 64 for seed in seeds)


def test_neighbouring_seeds_do_not_collide() -> None:
    seeds = {mix_seed(s, t, k) for s in range(20) for t in range(20) for k in range(20)}
    assert len(seeds) == 8000


def test_a_seed_of_any_size_can_be_used() -> None:
    for seed in (0, 2**63, 2**64 - 1, 2**64 + 5, -1):
        game = new_game()
        assert search(game, Limits(visits=5), seed=seed).point in game.legal_moves()


# Reports on the way


def test_a_stream_is_told_reports_at_its_interval() -> None:
    told: list[Report] = []
    player = SearchPlayer(16, 1)
    stream = Stream(told.append, 0.02)
    last = player.search(new_game(), Limits(seconds=0.3), StopFlag(), stream=stream)
    assert 3 <= len(told) <= 15
    assert [report.visits for report in told] == sorted(r.visits for r in told)
    assert told[-1].visits <= last.visits
    assert all(len(report.candidates) == 24 for report in told)
