"""Weaker opponents, from a beginner to full strength: one table.

A weak player here does not play at random. Level by level it reads less (fewer visits)
and overlooks more: at a glance it sees what a move does to the board and not what the
reply does, prefers what looks better, and never takes its own stones off on purpose.
"""

import math
from collections.abc import Collection
from random import Random
from typing import NamedTuple

from tanbo_engine.game import Game, kernel_position
from tanbo_engine.player import Report, with_move


class Level(NamedTuple):
    """How well to play.

    Attributes:
        visits: most visits a move; None for no limit.
        glances: share of the moves that are made at a glance.
    """

    visits: int | None
    glances: float


LEVELS = {
    1: Level(4, 1.0),
    2: Level(56, 0.22),
    3: Level(150, 0.09),
    4: Level(400, 0.05),
    5: Level(1_500, 0.02),
    6: Level(4_500, 0.0),
    7: Level(16_000, 0.0),
    8: Level(60_000, 0.0),
    9: Level(240_000, 0.0),
    10: Level(None, 0.0),
}
"""Measured by scripts/levels.py; neighbours are 110 to 300 Elo apart."""

STRONGEST = max(LEVELS)

_WIN = 1.2
_TEMPERATURE = 0.03
"""At a glance, a move that looks worse by this comes 2.7 times more rarely."""


def at_level(report: Report, game: Game, level: int, source: Random) -> Report:
    """Return a report with the move that a player of a level would make.

    Args:
        report: of a search of the game within the level's visits.
        game: the game, as it was searched.
        level: one of `LEVELS`.
        source: decides what is overlooked.
    """
    if source.random() >= LEVELS[level].glances:
        return report
    points = {move.point for move in report.candidates}
    return with_move(report, _glance(game, points, source))


def most_visits(level: int, visits: int | None) -> int | None:
    """Return the smaller limit of visits: a level's, or what is given."""
    limits = [each for each in (LEVELS[level].visits, visits) if each is not None]
    return min(limits, default=None)


def _glance(game: Game, points: Collection[int], source: Random) -> int:
    """Return one of some moves, chosen by how the board looks right after it."""
    looks = _looks(game, points)
    most = max(looks.values())
    weights = [math.exp((value - most) / _TEMPERATURE) for value in looks.values()]
    (point,) = source.choices(list(looks), weights)
    return point


def _looks(game: Game, points: Collection[int]) -> dict[int, float]:
    """Return win probabilities before any reply, without the moves that cost stones.

    A move that costs the side its own stones counts only where every move does.
    """
    position = kernel_position(game.position)
    color = position.to_move
    stones = position.stone_count(color)
    looks: dict[bool, dict[int, float]] = {False: {}, True: {}}
    for point in filter(points.__contains__, position.legal_moves(color)):
        position.make(point)
        is_costly = position.stone_count(color) <= stones
        looks[is_costly][point] = _value(game, position.winner, position.evaluate())
        position.unmake()
    return looks[False] or looks[True]


def _value(game: Game, winner: int, of_opponent: float) -> float:
    """Return how good a move looks; a win on the spot better than any prospect."""
    if winner < 0:
        return 1 - of_opponent
    return _WIN if winner == game.to_move else 0.0
