"""The learned evaluation and policy once more: slow, from the plain rules.

Written from what `_kernel.py` says of patterns and effects, and `weights.py` of the
file, not from its code.
"""

import math
import struct
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from tanbo_engine import rules, weights
from tanbo_engine.points import Color

OFF_BOARD = 11
OWN_CENTRE = 36
LANES, COUNTS, HIDDEN = 8, 7, 16
INPUTS = LANES + COUNTS
EFFECT_SHAPE = (5, 7, 3, 2, 4)
POLICY_UNIT, MOST_POLICY = 256, 8

Quad = tuple[int, ...]


def least_turned(quad: Quad) -> Quad:
    """Return the least of the eight neighbourhoods that look alike."""
    turned = [quad[k:] + quad[:k] for k in range(4)]
    return min(turned + [each[::-1] for each in turned])


QUAD_NUMBERS = {
    quad: number
    for number, quad in enumerate(
        quad
        for quad in product(range(OFF_BOARD + 1), repeat=4)
        if quad == least_turned(quad)
    )
}
"""Neighbourhoods: above, right, below, left."""


class Weights(NamedTuple):
    """What the file holds."""

    lanes: dict[int, tuple[int, ...]]
    policy: dict[int, int]
    effects: tuple[int, ...]
    linear: tuple[float, ...]
    hidden: list[tuple[float, ...]]
    hidden_bias: tuple[float, ...]
    output: tuple[float, ...]
    output_bias: float
    scale: float


def read_weights() -> Weights:
    """Read the file by its description."""
    data, at = weights.FILE.read_bytes(), len(weights.MAGIC)

    def take(kind: str, count: int) -> tuple[float, ...]:
        nonlocal at
        values = struct.unpack_from(f"<{count}{kind}", data, at)
        at += struct.calcsize(f"<{count}{kind}")
        return values

    (count,) = take("I", 1)
    numbers = [int(number) for number in take("I", int(count))]
    lanes = [take("h", LANES) for _ in numbers]
    policy = take("h", len(numbers))
    effects = take("h", math.prod(EFFECT_SHAPE))
    linear = take("f", INPUTS)
    hidden = [take("f", HIDDEN) for _ in range(INPUTS)]
    found = Weights(
        {n: tuple(map(int, row)) for n, row in zip(numbers, lanes, strict=True)},
        {n: int(weight) for n, weight in zip(numbers, policy, strict=True)},
        tuple(map(int, effects)),
        linear,
        hidden,
        take("f", HIDDEN),
        take("f", HIDDEN),
        *take("f", 2),
    )
    assert at == len(data) - 4
    return found


class View:
    """A position as the side to move sees it."""

    def __init__(self, position: rules.Position) -> None:
        self.position = position
        self.us = position.to_move
        self.them = position.to_move.opponent
        self.roots = {
            stone: root for root in rules.roots(position) for stone in root.stones
        }

    def near(self, color: Color, point: int) -> list[int]:
        return rules.own_neighbours(self.position, color, point)

    def growth(self, stone: int) -> set[int]:
        """Return the growth points of the root of a stone."""
        return set(rules.growth_points(self.position, self.roots[stone]))

    def kind(self, point: int) -> int:
        """Return what a point looks like from beside it."""
        if point in self.position.stones(self.us):
            return 9
        if point in self.position.stones(self.them):
            return 10
        ours, theirs = (len(self.near(c, point)) for c in (self.us, self.them))
        return 3 * min(ours, 2) + min(theirs, 2)

    def state(self, color: Color, point: int) -> int:
        near = self.near(color, point)
        if len(near) != 1:
            return 5 if near else 0
        return min(len(self.growth(near[0])), 4)

    def centre(self, point: int) -> int:
        """Return what a point looks like from itself."""
        if not self.position.is_empty(point):
            return OWN_CENTRE + (point in self.position.stones(self.them))
        return 6 * self.state(self.us, point) + self.state(self.them, point)

    def pattern(self, point: int) -> int:
        """Return the number of the pattern at a point."""
        width, height = self.position.size
        row, column = divmod(point, width)
        places = (
            (row - 1, column),
            (row, column + 1),
            (row + 1, column),
            (row, column - 1),
        )
        up, right, down, left = (
            self.kind(r * width + c)
            if 0 <= r < height and 0 <= c < width
            else OFF_BOARD
            for r, c in places
        )
        quad = QUAD_NUMBERS[least_turned((up, right, down, left))]
        return self.centre(point) * len(QUAD_NUMBERS) + quad

    def effect(self, point: int) -> int:
        """Return the number of what a placement does, before roots are removed."""
        position, us = self.position, self.us
        after = position.with_stones(us, position.stones(us) | {point}, self.them)
        (own,) = self.near(us, point)
        had, has = (
            self.growth(own),
            set(rules.growth_points(after, rules.root_at(after, own))),
        )
        spoilt, loses = 0, 0
        for other in set(self.roots.values()) - {self.roots[own]}:
            if other.color is us:
                left = rules.growth_points(after, other)
                spoilt += len(rules.growth_points(position, other)) - len(left)
                loses += not left
        enemies = self.near(self.them, point)
        takes = 0
        if len(enemies) == 1:
            takes = max(1, 4 - len(self.growth(enemies[0])))
        gain = len(has) - len(had)
        number = 0
        values = (min(len(has), 4), max(gain + 3, 0), min(spoilt, 2), loses > 0, takes)
        for value, count in zip(values, EFFECT_SHAPE, strict=True):
            assert 0 <= value < count
            number = number * count + value
        return number


def log_odds(position: rules.Position, read: Weights) -> float:
    """Return the log odds of the side to move, of a game that is not over."""
    view = View(position)
    area = position.size.area
    side = math.sqrt(area)
    colors = (view.us, view.them)
    counts = [len(rules.legal_moves(position, color)) / side for color in colors]
    counts += [len(position.stones(color)) / (2 * side) for color in colors]
    counts += [
        2 * sum(root.color is color for root in rules.roots(position)) / side
        for color in colors
    ]
    counts.append(side / 10)
    return odds_of([view.pattern(point) for point in range(area)], counts, read)


def odds_of(patterns: Sequence[int], counts: Sequence[float], read: Weights) -> float:
    """Return the log odds for the pattern of every point and the counts."""
    rows = [read.lanes.get(pattern, (0,) * LANES) for pattern in patterns]
    factor = 7 / math.sqrt(len(rows)) / read.scale
    inputs = [factor * sum(lane) for lane in zip(*rows, strict=True)] + [*counts]
    total: float = read.output_bias
    total += sum(x * w for x, w in zip(inputs, read.linear, strict=True))
    for unit in range(HIDDEN):
        value = read.hidden_bias[unit]
        value += sum(x * row[unit] for x, row in zip(inputs, read.hidden, strict=True))
        total += max(0.0, value) * read.output[unit]
    return total


def move_weights(position: rules.Position, read: Weights) -> dict[int, float]:
    """Return the weight of every legal move by the policy."""
    view, found = View(position), {}
    for point in rules.legal_moves(position):
        found[point] = weight_of(view.pattern(point), view.effect(point), read)
    return found


def weight_of(pattern: int, effect: int, read: Weights) -> float:
    """Return how promising a move of this pattern and effect is."""
    log = read.policy.get(pattern, 0) + read.effects[effect]
    return math.exp(max(-MOST_POLICY, min(log / POLICY_UNIT, MOST_POLICY)))
