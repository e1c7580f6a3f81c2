"""When a search ends, on made-up searches: no clock runs here."""

import pytest

from tanbo_engine.patience import FRUGAL, HARMLESS, Moves, Patience

TICK = 0.02


def moves(*rows: tuple[int, int, float] | tuple[int, int, float, int]) -> Moves:
    """Return moves of (point, visits, value) or (point, visits, value, proof)."""
    return [(row[0], row[1], row[2], 0.1, (*row, 0)[3]) for row in rows]


def even(used: float) -> Moves:
    """Two moves that share all visits, 1,000 a second."""
    return moves((1, int(500 * used) + 1, 0.6), (2, int(500 * used), 0.5))


def clear(used: float) -> Moves:
    """One move that gets nine of ten visits."""
    return moves((1, int(900 * used), 0.6), (2, int(100 * used), 0.5))


def end_of(
    patience: Patience, course: object, longest: float = 10.0, rate: int = 1000
) -> float:
    """Return when a search with a course of events ends."""
    assert callable(course)
    used = 0.0
    while used < longest:
        used += TICK
        if patience.is_enough(used, int(rate * used), course(used)):
            return round(used, 2)
    raise AssertionError("it never ends")


def test_a_search_without_doubts_ends_at_its_target() -> None:
    assert end_of(Patience(1.0, 3.0, FRUGAL), even) == pytest.approx(1.0, abs=TICK)


def test_a_clear_search_ends_when_the_second_cannot_catch_up() -> None:
    # Ahead by 0.8 t; harmless: 0.8 t = 1 - t, frugal: 0.8 t = (1 - t) / 2.
    for early, expected in ((HARMLESS, 0.56), (FRUGAL, 0.38), (None, 1.0)):
        patience = Patience(1.0, 3.0, early)
        assert end_of(patience, clear) == pytest.approx(expected, abs=0.03)


def test_a_fixed_time_is_never_passed() -> None:
    def torn(used: float) -> Moves:
        return moves((int(used * 50), 10, 0.5), (99, 9, 0.6))

    assert end_of(Patience(1.0, 1.0, HARMLESS), torn) == pytest.approx(1.0, abs=TICK)


def test_a_new_best_move_is_searched_further() -> None:
    def overtaken(used: float) -> Moves:
        best, other = (1, 2) if used < 0.9 else (2, 1)
        return moves((best, int(500 * used) + 1, 0.5), (other, int(500 * used), 0.5))

    end = end_of(Patience(1.0, 3.0, FRUGAL), overtaken)
    assert end == pytest.approx(1.2, abs=2 * TICK)


def test_a_best_move_that_is_not_the_best_by_value_is_searched_further() -> None:
    def rivalled(used: float) -> Moves:
        return moves((1, int(600 * used), 0.5), (2, int(400 * used), 0.6))

    assert end_of(Patience(1.0, 3.0, FRUGAL), rivalled) == pytest.approx(1.75, abs=TICK)


def test_a_move_that_was_hardly_looked_at_is_no_rival() -> None:
    def rivalled(used: float) -> Moves:
        return moves((1, int(960 * used), 0.5), (2, int(40 * used), 0.9))

    assert end_of(Patience(1.0, 3.0, FRUGAL), rivalled) < 1


def test_a_falling_value_is_searched_further() -> None:
    def falling(used: float) -> Moves:
        return moves(
            (1, int(500 * used) + 1, 0.6 - used / 5), (2, int(500 * used), 0.1)
        )

    assert end_of(Patience(1.0, 3.0, FRUGAL), falling) == pytest.approx(1.75, abs=TICK)


def test_no_doubts_pass_the_maximum() -> None:
    def torn(used: float) -> Moves:
        best = int(used * 20)
        return moves((best, 10, 0.9 - used / 5), (99, 9, 0.95))

    assert end_of(Patience(1.0, 2.5, FRUGAL), torn) == pytest.approx(2.5, abs=TICK)


def test_a_move_is_decided_when_all_others_are_lost() -> None:
    lost = moves((1, 50, 0.6), (2, 49, 0.0, -1))
    patience = Patience(1.0, 1.0, HARMLESS)
    patience.is_enough(0.1, 99, lost)
    assert patience.is_enough(0.5, 99, lost)


def test_one_move_needs_no_thought() -> None:
    assert Patience(1.0, 1.0, None).is_enough(0.01, 1, moves((1, 1, 0.5)))


def test_looks_are_taken_now_and_then() -> None:
    patience = Patience(1.0, 1.0, None)
    times = [used / 1000 for used in range(1000) if patience.is_due(used / 1000)]
    assert len(times) == pytest.approx(50, abs=2)
    assert Patience(1000.0, 1000.0, None).is_due(0.06)
