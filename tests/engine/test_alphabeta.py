import os
import sys
import threading
import time
from math import exp
from pathlib import Path

import pytest

from tanbo_engine import rules
from tanbo_engine._alphabeta import AlphaBeta
from tanbo_engine._kernel import Position, StopFlag
from tanbo_engine.game import Game, kernel_position
from tanbo_engine.player import KINDS, Limits, SearchPlayer, Stream

from .support import (
    as_plain,
    before_the_end,
    kernel,
    play_on,
    snapshot,
    start,
    stop_after,
)

GAMES = ["dense-3x5", "dense-7x7", "classic-9x9", "dense-11x11"]
MB = 1 << 20
WIN = 30000
PROVEN = 28000


def searched(
    position: Position, nodes: int, seed: int = 1, memory: int = 8 * MB
) -> AlphaBeta:
    """Return a search that has entered its nodes."""
    search = AlphaBeta(memory)
    search.start(position, seed)
    search.run(nodes, StopFlag())
    return search


def searched_to(position: Position, depth: int, seed: int = 1) -> AlphaBeta:
    """Return a search that has just finished an iteration, or proved the result."""
    search, stop = AlphaBeta(8 * MB), StopFlag()
    search.start(position, seed)
    while search.depth < depth and search.run(1, stop) == 1:
        pass
    return search


def outcome(search: AlphaBeta) -> tuple[object, ...]:
    """Return everything a search says."""
    return (
        search.visits,
        search.depth,
        search.score,
        search.tree_nodes,
        search.is_full,
        search.proof,
        search.value,
        search.moves(),
        search.best_move(),
        search.variations(),
    )


# The same search twice


@pytest.mark.parametrize("name", GAMES)
def test_seed_position_and_nodes_decide_everything(name: str) -> None:
    one, two = searched(kernel(name), 3000, 5), searched(kernel(name), 3000, 5)
    assert outcome(one) == outcome(two)


@pytest.mark.parametrize("name", GAMES[1:])
def test_other_seeds_search_otherwise(name: str) -> None:
    found = {tuple(searched(kernel(name), 2000, seed).moves()) for seed in range(4)}
    assert len(found) > 1


@pytest.mark.parametrize("name", GAMES)
def test_the_way_to_a_position_does_not_matter(name: str) -> None:
    position = before_the_end(name, 3, 15)
    for seed in range(3):  # there and back again
        for _ in play_on(position, seed):
            position.unmake()
    fresh = kernel_position(as_plain(position))
    assert outcome(searched(position, 3000)) == outcome(searched(fresh, 3000))


@pytest.mark.parametrize("slices", [[1] * 4000, [3999, 1], [1700, 0, 2299, 1]])
def test_the_slices_of_a_run_do_not_matter(slices: list[int]) -> None:
    whole = searched(kernel("dense-7x7"), 4000, 5)
    search = AlphaBeta(8 * MB)
    search.start(kernel("dense-7x7"), 5)
    for nodes in slices:
        assert search.run(nodes, StopFlag()) == nodes
    assert outcome(search) == outcome(whole)


def test_the_slices_of_a_run_that_enlarges_its_table_do_not_matter() -> None:
    whole = searched(kernel("dense-7x7"), 400_000, 5)
    search = AlphaBeta(8 * MB)
    search.start(kernel("dense-7x7"), 5)
    for nodes in (150_000, 1, 49_999, 200_000):
        assert search.run(nodes, StopFlag()) == nodes
    assert outcome(search) == outcome(whole)
    assert search.tree_nodes > 20_000  # it has grown more than once
    assert not search.is_full


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_short_search_takes_a_small_part_of_a_large_table() -> None:
    def resident() -> int:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    before = resident()
    search = searched(kernel("dense-7x7"), 20_000, memory=512 * MB)
    assert resident() - before < 32 * MB
    assert search.tree_nodes > 1000


def test_a_new_start_forgets_the_former_search() -> None:
    search = searched(kernel("dense-7x7"), 20_000, memory=1)
    for name in ("dense-11x11", "dense-7x7"):
        search.start(kernel(name), 5)
        assert (search.visits, search.proof, search.is_full) == (0, 0, False)
        search.run(3000, StopFlag())
        assert outcome(search) == outcome(searched(kernel(name), 3000, 5, memory=1))


AGES = 1 << 16


@pytest.mark.parametrize("undone", [None, 0])
def test_more_searches_than_the_table_has_ages_do_not_mix(undone: int | None) -> None:
    search, position = searched(kernel("dense-7x7"), 150_000), kernel("dense-5x7")
    expected = outcome(searched(position, 300))
    for number in range(AGES + 20):
        search.start(position, 1, undone)
        if number % 5000 == 0 or number > AGES - 20:
            search.run(300, StopFlag())
            assert undone == 0 or outcome(search) == expected
            assert search.best_move() in position.legal_moves(0)


def test_a_search_leaves_the_position_as_it_was() -> None:
    position = before_the_end("dense-7x7", 1, 12)
    before = snapshot(position)
    searched(position, 5000)
    assert snapshot(position) == before


# Values against plain minimax


def evaluation(position: Position) -> int:
    """Return the score of a position that was not searched."""
    return searched(position, 0).score


def minimax(position: Position, depth: int, ply: int = 0) -> int:
    """Return the score of a position by trying everything to a depth."""
    if position.winner >= 0:
        return WIN - ply if position.winner == position.to_move else ply - WIN
    if depth == 0:
        return evaluation(position)
    best = -WIN
    for point in position.legal_moves(position.to_move):
        position.make(point)
        best = max(best, -minimax(position, depth - 1, ply + 1))
        position.unmake()
    return best


def test_the_first_iteration_finds_the_value_of_plain_minimax() -> None:
    for name in ("dense-5x7", "classic-9x9"):  # the next ones leave moves out
        for seed in range(25):
            position = before_the_end(name, seed, 1 + 2 * seed)
            if len(position.legal_moves(position.to_move)) > 1:
                assert searched_to(position, 1).score == minimax(position, 1)


@pytest.mark.parametrize("name", [*GAMES, "dense-3x25", "dense-23x25"])
def test_what_a_move_changes_gives_the_same_evaluation_as_the_whole_board(
    name: str,
) -> None:
    for seed in range(20):
        search = AlphaBeta(MB)
        search.start(before_the_end(name, seed, 3 + 7 * seed), 1)
        for _ in range(150):
            assert search.check() == ""
            search.run(5, StopFlag())


def test_the_evaluation_is_that_of_the_kernel() -> None:
    for seed in range(30):
        position = before_the_end("dense-11x11", seed, 5 + 3 * seed)
        if position.winner < 0:
            search = searched(position, 0)
            value = 1 / (1 + exp(-search.score / 1000))
            assert search.value == pytest.approx(value, abs=0.003)
            assert search.value == pytest.approx(position.evaluate(), abs=0.003)


# What a search says


@pytest.mark.parametrize("nodes", [0, 1, 2, 10, 100, 5000])
@pytest.mark.parametrize("name", [*GAMES, "dense-23x25"])
def test_a_search_of_any_length_says_sensible_things(name: str, nodes: int) -> None:
    for position in [kernel(name), *(before_the_end(name, s, 4 + s) for s in range(6))]:
        search = searched(position, nodes)
        moves = search.moves()
        assert sorted(m[0] for m in moves) == position.legal_moves(position.to_move)
        assert search.best_move() == moves[0][0]
        assert search.value == moves[0][2]
        assert sum(m[1] for m in moves) == search.visits <= nodes
        assert search.visits == nodes or search.proof != 0
        assert sum(m[3] for m in moves) == pytest.approx(1, abs=1e-9)
        assert all(0 < m[3] <= 1 and 0 <= m[2] <= 1 and abs(m[4]) <= 1 for m in moves)
        ranks = [(proof, value) for _, _, value, _, proof in moves]
        assert ranks == sorted(ranks, reverse=True)


@pytest.mark.parametrize("name", GAMES)
def test_lines_are_legal_play_in_the_order_of_the_moves(name: str) -> None:
    for position in [kernel(name), *(before_the_end(name, s, 4 + s) for s in range(6))]:
        for nodes in (1, 300, 20_000):
            search = searched(position, nodes)
            lines = search.variations()
            assert [line[0] for line in lines] == [move[0] for move in search.moves()]
            assert search.principal_variation() == lines[0]
            for line in lines:
                game = kernel_position(as_plain(position))
                for point in line:
                    game.make(point)


def test_ten_thousand_nodes_beat_random_play() -> None:
    for seed in range(4):
        position, me = kernel("dense-5x7"), seed % 2
        replies = play_on(kernel("dense-5x7"), seed)
        while position.winner < 0:
            if position.to_move == me:
                position.make(searched(position, 10_000, seed).best_move())
            else:
                legal = position.legal_moves(position.to_move)
                position.make(
                    legal[replies[position.turns % len(replies)] % len(legal)]
                )
        assert position.winner == me


# Proofs


def win_within(position: rules.Position, plies: int) -> bool:
    """Tell by the plain rules whether the side to move can force a win so fast."""
    won = rules.winner(position)
    if won is not None:
        return won is position.to_move
    return plies > 0 and any(
        loss_within(rules.play(position, point).after, plies - 1)
        for point in rules.legal_moves(position)
    )


def loss_within(position: rules.Position, plies: int) -> bool:
    """Tell the same of a loss."""
    won = rules.winner(position)
    if won is not None:
        return won is not position.to_move
    return plies > 0 and all(
        win_within(rules.play(position, point).after, plies - 1)
        for point in rules.legal_moves(position)
    )


@pytest.mark.parametrize("name", ["dense-3x5", "dense-5x7", "classic-5x5"])
def test_every_forced_result_within_a_few_plies_is_found(name: str) -> None:
    verdicts = []
    for seed in range(30):
        position = before_the_end(name, seed, 1 + seed % 5)
        plain = as_plain(position)
        plies = next((n for n in range(1, 6) if win_within(plain, n)), None)
        if plies is not None:
            search = searched(position, 100_000)
            assert search.proof == 1
            assert PROVEN <= search.score <= WIN - plies
            verdicts.append(1)
        plies = next((n for n in range(1, 6) if loss_within(plain, n)), None)
        if plies is not None:
            search = searched(position, 100_000)
            assert search.proof == -1
            assert search.score == plies - WIN  # the longest defence
            assert all(move[4] == -1 for move in search.moves())
            verdicts.append(-1)
    assert {1, -1} == set(verdicts)


def mover_wins(position: Position, known: dict[int, bool]) -> bool:
    """Solve a position by trying everything."""
    if position.winner >= 0:
        return position.winner == position.to_move
    key = position.key
    if key not in known:
        known[key] = False
        for point in position.legal_moves(position.to_move):
            position.make(point)
            won = not mover_wins(position, known)
            position.unmake()
            if won:
                known[key] = True
                break
    return known[key]


@pytest.mark.parametrize("memory", [1, 8 * MB])
def test_proofs_of_every_move_agree_with_trying_everything(memory: int) -> None:
    known: dict[int, bool] = {}
    for seed in range(40):
        position = before_the_end("dense-3x5", seed, 4 + seed)
        for nodes in (200, 2000, 200_000):
            search = searched(position, nodes, seed, memory)
            for point, _, value, _, proof in search.moves():
                position.make(point)
                won = not mover_wins(position, known)
                position.unmake()
                assert proof in (0, 1 if won else -1)
                assert proof == 0 or value == (1.0 if won else 0.0)
        assert search.proof == (1 if mover_wins(position, known) else -1)


@pytest.mark.parametrize(
    ("name", "proof"), [("dense-3x3", -1), ("dense-3x5", -1), ("classic-5x5", 1)]
)
def test_small_boards_are_decided(name: str, proof: int) -> None:
    search = searched(kernel(name), 6_000_000, memory=64 * MB)
    assert search.proof == proof
    assert search.value == (proof + 1) / 2
    assert abs(search.score) > PROVEN
    before = outcome(search)
    assert search.run(1000, StopFlag()) == 0
    assert outcome(search) == before


@pytest.mark.deep
def test_dense_3x7_is_decided() -> None:
    assert searched(kernel("dense-3x7"), 60_000_000, memory=256 * MB).proof == -1


# What former searches found out


def plays_through(
    search: AlphaBeta, name: str, seed: int, nodes: int, *, keep: bool
) -> int:
    """Let a search play both sides; return how many nodes it needed."""
    position, total, undone = kernel(name), 0, None
    while position.winner < 0:
        search.start(position, seed, undone)
        total += search.run(nodes, StopFlag())
        position.make(search.best_move())
        undone = 0 if keep else None
    return total


def test_a_kept_table_answers_the_same_question_at_once() -> None:
    position = kernel("dense-7x7")
    search = searched_to(position, 9)
    before = (search.visits, search.best_move(), search.score)
    search.start(position, 1, 0)
    while search.depth < 9:
        search.run(1, StopFlag())
    assert search.visits < before[0] / 20
    assert (search.best_move(), search.score) == before[1:]


def test_a_kept_table_saves_the_proof_of_a_won_game() -> None:
    spent = {
        keep: plays_through(AlphaBeta(64 * MB), "dense-3x5", 1, 10**9, keep=keep)
        for keep in (False, True)
    }
    assert spent[True] < spent[False] * 0.7


def test_a_kept_table_of_another_game_does_no_harm() -> None:
    search = searched(kernel("dense-11x11"), 20_000)
    for seed in range(20):
        position = before_the_end("dense-3x5", seed, 5)
        search.start(position, seed, 0)
        search.run(200_000, StopFlag())
        assert search.proof == (1 if mover_wins(position, {}) else -1)


# Some moves only


@pytest.mark.parametrize("name", GAMES)
def test_some_moves_can_be_searched_alone(name: str) -> None:
    position, search = kernel(name), AlphaBeta(8 * MB)
    only = position.legal_moves(0)[1::2]
    for nodes in (0, 1, 50, 20_000):
        search.start(position, 1, None, (), only)
        search.run(nodes, StopFlag())
        moves = search.moves()
        assert sorted(move[0] for move in moves) == only
        assert sum(move[3] for move in moves) == pytest.approx(1)
        assert search.best_move() in only
        assert [line[0] for line in search.variations()] == [m[0] for m in moves]


def test_what_some_moves_are_worth_is_not_taken_for_the_position() -> None:
    for seed in range(30):
        position, search = before_the_end("dense-3x5", seed, 5), AlphaBeta(8 * MB)
        legal = position.legal_moves(position.to_move)
        whole = {move[0]: move[4] for move in proved(search, position).moves()}
        for point in legal:
            search.start(position, 1, 0, (), [point])
            search.run(10**9, StopFlag())
            position.make(point)
            won = not mover_wins(position, {})
            position.unmake()
            assert search.proof == (1 if won else -1)
        assert max(whole.values()) == proved(search, position).proof


def proved(search: AlphaBeta, position: Position) -> AlphaBeta:
    """Return the search when it has proved who wins, with what it knows kept."""
    search.start(position, 1, 0)
    search.run(10**9, StopFlag())
    return search


def test_a_move_that_is_not_legal_is_no_choice() -> None:
    search = searched(kernel("dense-7x7"), 100)
    before = outcome(search)
    with pytest.raises(ValueError, match="point 0 is not legal"):
        search.start(kernel("dense-7x7"), 1, None, (), [0])
    assert outcome(search) == before


# Several workers


def run_all(search: AlphaBeta, until: int, stop: StopFlag | None = None) -> None:
    """Search with every worker in a thread of its own."""
    flag, end = stop or StopFlag(), StopFlag()
    helpers = [
        threading.Thread(target=search.run, args=(10**12, end, worker, until))
        for worker in range(1, search.workers)
    ]
    for thread in helpers:
        thread.start()
    search.run(10**12, flag, 0, until)
    end.set()
    for thread in helpers:
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize("workers", [2, 4])
@pytest.mark.parametrize("name", GAMES[1:])
def test_workers_meet_a_limit_of_nodes_together(name: str, workers: int) -> None:
    search = AlphaBeta(8 * MB, workers)
    for until in (1, 50, 30_000):
        search.start(kernel(name), 1)
        run_all(search, until)
        assert until <= search.visits <= until + 64 * (workers - 1)
        assert sum(move[1] for move in search.moves()) == search.visits
        assert search.best_move() in kernel(name).legal_moves(0)


@pytest.mark.parametrize("memory", [1, 8 * MB])
def test_workers_prove_soundly(memory: int) -> None:
    verdicts = []
    search = AlphaBeta(memory, 3)
    for seed in range(60):
        position = before_the_end("dense-3x5", seed, 4 + seed % 5)
        search.start(position, seed, None if seed % 2 else 0)
        run_all(search, 10**12)
        assert search.proof == (1 if mover_wins(position, {}) else -1)
        for line in search.variations():
            game = kernel_position(as_plain(position))
            for point in line:
                game.make(point)
        verdicts.append(search.proof)
    assert set(verdicts) == {1, -1}


def test_a_flag_stops_every_worker() -> None:
    search, stop = AlphaBeta(8 * MB, 3), StopFlag()
    search.start(kernel("classic-19x19"), 1)
    ender = threading.Thread(target=stop_after, args=(search, 1000, stop))
    ender.start()
    run_all(search, 10**12, stop)
    ender.join()
    assert search.visits >= 1000


@pytest.mark.parametrize("workers", [0, -1, 257])
def test_workers_that_cannot_be_are_refused(workers: int) -> None:
    with pytest.raises(ValueError, match="workers are 1 to 256"):
        AlphaBeta(MB, workers)


@pytest.mark.parametrize("worker", [-1, 2])
def test_there_is_no_other_worker(worker: int) -> None:
    search = AlphaBeta(MB, 2)
    search.start(kernel("dense-3x5"), 1)
    with pytest.raises(ValueError, match="there is no worker"):
        search.run(1, StopFlag(), worker)


# Memory and large boards


def test_a_full_table_forgets_but_the_search_goes_on() -> None:
    search = searched(kernel("dense-7x7"), 150_000, memory=1)
    assert search.is_full
    assert 4000 < search.tree_nodes <= 4096  # the least table
    assert search.visits == 150_000
    assert not searched(kernel("dense-7x7"), 1000).is_full
    roomy = searched(kernel("dense-7x7"), 150_000, memory=MB - 1)
    assert search.tree_nodes < roomy.tree_nodes <= MB // 16


@pytest.mark.parametrize(("side", "step"), [(19, 4), (25, 3), (25, 2), (25, 5)])
def test_the_largest_boards_fit(side: int, step: int) -> None:
    cells = [
        (row * side + column, (row + column) // step % 2)
        for row in range(0, side, step)
        for column in range(0, side, step)
    ]
    black = [point for point, color in cells if color == 0]
    white = [point for point, color in cells if color == 1]
    position = Position(side, side, black, white, 0)
    search = searched(position, 30_000)
    assert search.visits == 30_000
    assert search.best_move() in position.legal_moves(0)
    assert len(search.moves()) == len(position.legal_moves(0))


def test_a_table_that_no_machine_has_is_refused_at_once() -> None:
    with pytest.raises(MemoryError, match="MB for a search table"):
        AlphaBeta(1 << 60)


# Stopping and misuse


def test_a_stop_flag_ends_a_run_that_goes_on_without_the_gil() -> None:
    search, stop = AlphaBeta(8 * MB), StopFlag()
    search.start(kernel("classic-19x19"), 1)
    done: list[int] = []
    worker = threading.Thread(target=lambda: done.append(search.run(10**10, stop)))
    worker.start()
    time.sleep(0.2)  # returns only if this thread gets the GIL
    assert worker.is_alive()
    began = time.monotonic()
    stop.set()
    worker.join(30)
    assert time.monotonic() - began < 1
    assert search.visits == done[0] > 0


def test_a_set_flag_lets_nothing_happen_and_the_search_can_go_on() -> None:
    search, stop = AlphaBeta(8 * MB), StopFlag()
    search.start(kernel("dense-7x7"), 1)
    search.run(500, StopFlag())
    stop.set()
    assert search.run(1000, stop) == 0
    assert search.run(500, StopFlag()) == 500
    assert outcome(search) == outcome(searched(kernel("dense-7x7"), 1000))


def test_before_the_first_start_there_is_nothing_to_tell() -> None:
    search = AlphaBeta(MB)
    assert (search.visits, search.depth, search.tree_nodes) == (0, 0, 0)
    assert (search.proof, search.value, search.is_full) == (0, 0.5, False)
    assert not search.moves()
    assert not search.principal_variation()
    assert not search.variations()
    with pytest.raises(ValueError, match="start a search first"):
        search.best_move()
    with pytest.raises(ValueError, match="start a search first"):
        search.run(1, StopFlag())


def test_a_finished_game_is_not_searched() -> None:
    position = kernel("dense-3x3")
    play_on(position, 1)
    with pytest.raises(ValueError, match="the game is over"):
        AlphaBeta(MB).start(position, 1)


def test_none_is_no_stop_flag() -> None:
    search = searched(kernel("dense-3x3"), 1)
    with pytest.raises(TypeError):
        search.run(1, None)  # type: ignore[arg-type]


def test_a_move_made_after_the_start_does_not_change_the_search() -> None:
    position = kernel("dense-7x7")
    search = AlphaBeta(8 * MB)
    search.start(position, 4)
    position.make(position.legal_moves(0)[0])
    search.run(500, StopFlag())
    assert outcome(search) == outcome(searched(kernel("dense-7x7"), 500, 4))


# The player that uses it


def test_the_player_tells_reports_with_every_move() -> None:
    player = SearchPlayer(8, 1, "alphabeta")
    told: list[int] = []
    report = player.search(
        Game(start("classic-9x9")),
        Limits(seconds=0.2),
        StopFlag(),
        stream=Stream(lambda report: told.append(len(report.candidates)), 0.05),
    )
    assert told
    assert set(told) == {8}
    assert report.seconds < 1
    assert report.point == report.candidates[0].point
    assert report.variation == report.candidates[0].variation
    assert len({candidate.value for candidate in report.candidates}) > 1


def test_every_kind_of_player_plays() -> None:
    for kind in KINDS:
        report = SearchPlayer(1, 1, kind).search(
            Game(start("dense-5x7")), Limits(visits=50), StopFlag()
        )
        assert report.visits == 50
