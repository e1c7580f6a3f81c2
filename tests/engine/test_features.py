"""What training reads of a position is what the kernel evaluates."""

import math
import struct
from typing import NamedTuple

import pytest

from tanbo_engine import _kernel, weights
from tanbo_engine._kernel import Position

from .support import kernel, play_on

SETUPS = ["dense-3x5", "dense-7x7", "classic-9x9", "dense-11x7"]


class Model(NamedTuple):
    """The file of weights, read without the kernel."""

    lanes: dict[int, tuple[int, ...]]
    policy: dict[int, int]
    effects: tuple[int, ...]
    linear: tuple[float, ...]
    hidden: list[tuple[float, ...]]
    bias: tuple[float, ...]
    output: tuple[float, ...]
    output_bias: float
    scale: float

    def value(self, position: Position) -> float:
        """Return the win probability of the side to move."""
        raw, counts, _ = position.features()
        rows = [self.lanes.get(n, (0,) * _kernel.LANES) for (n,) in cells(raw)]
        factor = 7 / math.sqrt(len(rows)) / self.scale
        inputs = [factor * sum(lane) for lane in zip(*rows, strict=True)] + [*counts]
        units = [
            max(0.0, bias + dot(inputs, column))
            for bias, column in zip(
                self.bias, zip(*self.hidden, strict=True), strict=True
            )
        ]
        odds = self.output_bias + dot(inputs, self.linear) + dot(units, self.output)
        return 1 / (1 + math.exp(-odds))

    def weight(self, pattern: int, effect: int) -> float:
        """Return how promising a move is."""
        steps = self.policy.get(pattern, 0) + self.effects[effect]
        return math.exp(max(-8.0, min(steps / _kernel.STEPS, 8.0)))


def cells(raw: bytes) -> list[tuple[int]]:
    return list(struct.iter_unpack("=I", raw))


def dot(one: list[float], two: tuple[float, ...]) -> float:
    return sum(a * b for a, b in zip(one, two, strict=True))


@pytest.fixture(scope="module")
def model() -> Model:
    data = weights.FILE.read_bytes()
    at = len(weights.MAGIC)

    def take(code: str, count: int) -> tuple[int, ...]:
        nonlocal at
        found = struct.unpack_from(f"<{count}{code}", data, at)
        at += count * struct.calcsize(code)
        return found

    (count,) = take("I", 1)
    numbers = take("I", count)
    lanes = [take("h", _kernel.LANES) for _ in numbers]
    policy = take("h", count)
    effects = take("h", _kernel.ALL_EFFECTS)
    inputs = _kernel.LANES + len(kernel("dense-3x5").features()[1])
    return Model(
        dict(zip(numbers, lanes, strict=True)),
        dict(zip(numbers, policy, strict=True)),
        effects,
        take("f", inputs),
        [take("f", _kernel.UNITS) for _ in range(inputs)],
        take("f", _kernel.UNITS),
        take("f", _kernel.UNITS),
        *take("f", 2),
    )


@pytest.mark.parametrize("name", SETUPS)
def test_the_features_are_all_that_the_evaluation_sees(name: str, model: Model) -> None:
    position = kernel(name)
    for point in play_on(kernel(name), 3):
        value = min(max(model.value(position), 0.0004), 0.9996)
        assert position.evaluate() == pytest.approx(value, abs=0.001)
        position.make(point)


@pytest.mark.parametrize("name", SETUPS)
def test_the_features_of_a_move_are_all_that_its_weight_sees(
    name: str, model: Model
) -> None:
    position = kernel(name)
    for point in play_on(kernel(name), 4):
        raw, _, moves = position.features()
        patterns = [number for (number,) in cells(raw)]
        assert len(patterns) == position.width * position.height
        assert [move for move, _, _ in moves] == position.legal_moves(position.to_move)
        assert all(patterns[move] == pattern for move, pattern, _ in moves)
        assert [weight for _, weight in position.move_weights()] == pytest.approx(
            [model.weight(pattern, effect) for _, pattern, effect in moves]
        )
        position.make(point)


def test_numbers_are_below_their_bounds_and_a_finished_game_has_no_moves() -> None:
    position = kernel("dense-11x7")
    for point in play_on(kernel("dense-11x7"), 5):
        raw, counts, moves = position.features()
        assert all(number < _kernel.ALL_PATTERNS for (number,) in cells(raw))
        assert all(effect < _kernel.ALL_EFFECTS for _, _, effect in moves)
        assert counts[6] == pytest.approx(math.sqrt(77) / 10)
        position.make(point)
    assert position.features()[2] == []
