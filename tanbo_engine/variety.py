"""Different games from the same start: good opening moves take turns."""

from random import Random

from tanbo_engine.game import Game
from tanbo_engine.player import Report, with_move

_OPENING = 0.2
"""Turns of both sides, as a share of the board's points, in which moves vary."""

_MARGIN = 0.02
_LEAST_VISITS = 0.1


def varies(game: Game, variety: float) -> bool:
    """Tell whether a move of a game may be another than the best."""
    return variety > 0 and len(game.moves) < _OPENING * game.size.area


def varied(report: Report, game: Game, variety: float, source: Random) -> Report:
    """Return a report whose move is drawn from those that are about as good.

    A move comes as often as its visits ** (1 / variety) say. It must have a tenth of
    the best move's visits, so that its value means something, and at most 0.02 x
    variety less win probability.

    Args:
        report: of a search of the game.
        game: the game, as it was searched.
        variety: 0 (none) to 1.
        source: decides the draw.
    """
    best = report.candidates[0]
    if not varies(game, variety) or best.proof or not best.visits:
        return report
    good = [
        move
        for move in report.candidates
        if move.visits >= _LEAST_VISITS * best.visits
        and move.value >= best.value - _MARGIN * variety
        and not move.proof
    ]
    weights = [(move.visits / best.visits) ** (1 / variety) for move in good]
    (chosen,) = source.choices(good, weights)
    return with_move(report, chosen.point)
