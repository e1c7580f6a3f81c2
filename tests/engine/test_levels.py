from itertools import pairwise
from random import Random

import pytest

from tanbo_engine._kernel import StopFlag
from tanbo_engine.game import Game
from tanbo_engine.levels import LEVELS, STRONGEST, at_level, most_visits
from tanbo_engine.player import Limits, Report, SearchPlayer

from .support import as_plain, before_the_end, start

MIDDLE = [before_the_end("dense-7x7", seed, 25) for seed in range(5)]


def searched(game: Game, visits: int = 50) -> Report:
    return SearchPlayer(8, 1).search(game, Limits(visits=visits), StopFlag())


def test_each_level_reads_more_and_overlooks_less_than_the_one_below() -> None:
    assert list(LEVELS) == list(range(1, STRONGEST + 1))
    for lower, higher in pairwise(LEVELS.values()):
        assert lower.visits is not None
        assert higher.visits is None or higher.visits > lower.visits
        assert higher.glances <= lower.glances
    assert LEVELS[STRONGEST] == (None, 0.0)


def test_the_smaller_limit_of_visits_counts() -> None:
    cap = LEVELS[3].visits
    assert cap is not None
    assert most_visits(3, None) == most_visits(3, cap + 1) == cap
    assert most_visits(3, 1) == 1
    assert most_visits(STRONGEST, None) is None
    assert most_visits(STRONGEST, 7) == 7


def test_full_strength_is_what_the_search_says() -> None:
    game = Game(start("dense-7x7"))
    report = searched(game)
    assert all(
        at_level(report, game, STRONGEST, Random(seed)) is report for seed in range(50)
    )


@pytest.mark.parametrize("position", MIDDLE)
def test_a_beginner_plays_legal_moves_by_the_look_of_the_board(
    position: object,
) -> None:
    game = Game(as_plain(position))  # type: ignore[arg-type]
    report = searched(game)
    before = game.position
    chosen = [at_level(report, game, 1, Random(seed)) for seed in range(60)]
    assert {each.point for each in chosen} <= set(game.legal_moves())
    assert all(each.variation[0] == each.point for each in chosen)
    assert game.position == before


def own_stones_after(game: Game, point: int) -> int:
    color = game.to_move
    game.play(point)
    stones = game.kernel.stone_count(color)
    game.undo()
    return stones


def test_a_beginner_takes_no_stones_of_his_own_off_unless_he_must() -> None:
    seen = 0
    for seed in range(40):
        game = Game(as_plain(before_the_end("dense-7x7", seed, 12)))
        stones = game.kernel.stone_count(game.to_move)
        kept = {p: own_stones_after(game, p) > stones for p in game.legal_moves()}
        if not any(kept.values()) or all(kept.values()):
            continue
        seen += 1
        report = searched(game, 20)
        points = {at_level(report, game, 1, Random(n)).point for n in range(40)}
        assert all(kept[point] for point in points)
    assert seen > 5


def test_a_beginner_takes_a_win_that_he_sees() -> None:
    for seed in range(200):
        game = Game(as_plain(before_the_end("dense-5x7", seed, 1)))
        wins = set()
        for point in game.legal_moves():
            color = game.to_move
            game.play(point)
            if game.winner is color:
                wins.add(point)
            game.undo()
        if wins and len(game.legal_moves()) > len(wins):
            report = searched(game, 5)
            points = [at_level(report, game, 1, Random(n)).point for n in range(40)]
            assert sum(point in wins for point in points) >= 36
            return
    raise AssertionError("no such position")


def test_a_seed_decides_what_is_overlooked() -> None:
    game = Game(start("dense-7x7"))
    report = searched(game)
    runs = [
        [at_level(report, game, 2, Random(seed)).point for seed in range(40)]
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert len(set(runs[0])) > 3
    assert report.point in runs[0]
