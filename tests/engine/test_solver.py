"""The solver: limits, progress, strategies."""

import time

import pytest

from tanbo_engine import certificate, rules
from tanbo_engine._kernel import StopFlag
from tanbo_engine.points import Color
from tanbo_engine.solver import Limits, NoStrategy, Progress, Solution, Solver

from .support import as_plain, before_the_end, start

NO_LIMIT = Limits()


def solved(position: rules.Position, memory_mb: int = 8) -> tuple[Solver, Solution]:
    """Return a solver that has found the winner, and what it says."""
    solver = Solver(position, memory_mb)
    solution = solver.solve(NO_LIMIT, StopFlag())
    assert solution.winner is not None
    return solver, solution


def test_a_win_of_the_side_to_move_has_a_move_that_wins() -> None:
    position = start("classic-5x5")
    _, solution = solved(position)
    assert (solution.winner, solution.reason) == (Color.BLACK, "")
    assert solution.point is not None
    after = rules.play(position, solution.point).after
    _, later = solved(after)
    assert (later.winner, later.point) == (Color.BLACK, None)


def test_a_win_of_the_other_side_has_no_move() -> None:
    _, solution = solved(start("dense-3x5"))
    assert (solution.winner, solution.point) == (Color.WHITE, None)
    assert solution.nodes > 1000
    assert solution.seconds > 0


def test_white_to_move_may_win_too() -> None:
    position = start("classic-5x5")
    swapped = rules.Position(position.size, position.white, position.black, Color.WHITE)
    _, solution = solved(swapped)
    assert solution.winner is Color.WHITE
    assert solution.point is not None


def test_nodes_end_the_work() -> None:
    solution = Solver(start("dense-7x7"), 8).solve(Limits(nodes=5000), StopFlag())
    assert (solution.winner, solution.point, solution.reason) == (None, None, "nodes")
    assert 5000 <= solution.nodes < 5050


def test_no_nodes_at_all_end_the_work() -> None:
    solution = Solver(start("dense-7x7"), 8).solve(Limits(nodes=0), StopFlag())
    assert solution.reason == "nodes"
    assert solution.nodes == 24


def test_time_ends_the_work() -> None:
    began = time.monotonic()
    solution = Solver(start("dense-7x7"), 8).solve(Limits(0.2), StopFlag())
    assert solution.reason == "time"
    assert 0.2 <= time.monotonic() - began < 2


def test_memory_ends_the_work() -> None:
    solution = Solver(start("dense-21x23"), 1).solve(NO_LIMIT, StopFlag())
    assert solution.reason == "memory"


def test_a_flag_ends_the_work() -> None:
    stop = StopFlag()
    solver = Solver(start("dense-7x7"), 8)
    solution = solver.solve(NO_LIMIT, stop, lambda _: stop.set())
    assert solution.reason == "stopped"
    assert solution.nodes > 24


def test_work_can_go_on() -> None:
    solver = Solver(start("dense-3x5"), 8)
    assert solver.solve(Limits(nodes=100), StopFlag()).winner is None
    solution = solver.solve(NO_LIMIT, StopFlag())
    assert solution.winner is Color.WHITE
    assert solution.nodes == solved(start("dense-3x5"))[1].nodes


def test_progress_is_told() -> None:
    told: list[Progress] = []
    solver = Solver(start("dense-3x7"), 32)
    solution = solver.solve(NO_LIMIT, StopFlag(), told.append)
    assert len(told) > 10
    assert told == sorted(told)
    assert told[-1].nodes == solution.nodes
    assert (told[-1].refuted, told[-1].moves) == (10, 10)
    assert 0 < told[-1].table_use < 1


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(-1), "seconds"),
        (Limits(float("nan")), "seconds"),
        (Limits(1, -1), "nod"),
    ],
)
def test_limits_that_nothing_can_reach(limits: Limits, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Solver(start("dense-3x3"), 1).solve(limits, StopFlag())


def test_a_finished_game() -> None:
    with pytest.raises(ValueError, match="the game is over"):
        Solver(as_plain(before_the_end("dense-3x3", 1, 0)), 1)


def test_a_strategy_of_the_side_to_move_begins_with_the_start() -> None:
    position = start("classic-5x5")
    solver, solution = solved(position)
    replies = list(solver.strategy(StopFlag()))
    assert replies[0][0] == position
    assert all(reply[0].to_move is solution.winner for reply in replies)


def test_strategies_of_late_positions_hold() -> None:
    for name in ("dense-5x7", "classic-7x7", "dense-11x11"):
        for seed in range(4):
            position = as_plain(before_the_end(name, seed, 3 + seed))
            solver, solution = solved(position)
            assert solution.winner is not None
            replies = solver.strategy(StopFlag())
            lines = list(certificate.lines(position, solution.winner, replies))
            checked = certificate.check(lines, position)
            assert checked.winner is solution.winner
            assert (checked.point is None) == (solution.point is None)


def test_a_strategy_needs_a_proof() -> None:
    with pytest.raises(ValueError, match="first"):
        Solver(start("dense-3x3"), 1).strategy(StopFlag())


def test_a_flag_ends_a_strategy() -> None:
    solver, _ = solved(start("dense-3x5"))
    stop = StopFlag()
    stop.set()
    with pytest.raises(NoStrategy, match="stopped"):
        list(solver.strategy(stop))
