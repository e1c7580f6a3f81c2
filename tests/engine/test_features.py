"""What training reads of a position is what the kernel evaluates."""

import math
import struct

import pytest

from tanbo_engine import _kernel

from . import learned
from .support import kernel, play_on

SETUPS = ["dense-3x5", "dense-7x7", "classic-9x9", "dense-11x7"]


def patterns_of(raw: bytes) -> list[int]:
    return [number for (number,) in struct.iter_unpack("=I", raw)]


READ = learned.read_weights()


@pytest.mark.parametrize("name", SETUPS)
def test_the_features_are_all_that_the_evaluation_sees(name: str) -> None:
    position = kernel(name)
    for point in play_on(kernel(name), 3):
        raw, counts, _ = position.features()
        odds = learned.odds_of(patterns_of(raw), counts, READ)
        value = min(max(1 / (1 + math.exp(-odds)), 0.0004), 0.9996)
        assert position.evaluate() == pytest.approx(value, abs=0.001)
        position.make(point)


@pytest.mark.parametrize("name", SETUPS)
def test_the_features_of_a_move_are_all_that_its_weight_sees(name: str) -> None:
    position = kernel(name)
    for point in play_on(kernel(name), 4):
        raw, _, moves = position.features()
        patterns = patterns_of(raw)
        assert len(patterns) == position.width * position.height
        assert [move for move, _, _ in moves] == position.legal_moves(position.to_move)
        assert all(patterns[move] == pattern for move, pattern, _ in moves)
        assert [weight for _, weight in position.move_weights()] == pytest.approx(
            [learned.weight_of(pattern, effect, READ) for _, pattern, effect in moves]
        )
        position.make(point)


def test_numbers_are_below_their_bounds_and_a_finished_game_has_no_moves() -> None:
    position = kernel("dense-11x7")
    for point in play_on(kernel("dense-11x7"), 5):
        raw, counts, moves = position.features()
        assert all(number < _kernel.ALL_PATTERNS for number in patterns_of(raw))
        assert all(effect < _kernel.ALL_EFFECTS for _, _, effect in moves)
        assert counts[6] == pytest.approx(math.sqrt(77) / 10)
        position.make(point)
    assert position.features()[2] == []
