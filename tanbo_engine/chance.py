"""Win probabilities that can be believed.

What a tree search says is too modest: its values are means over a tree, bad moves
included. What alpha-beta says is the evaluation after good play by both sides. The log
odds of either, multiplied by a slope for the size of the board, meet the results of
games (`scripts/calibrate.py` fits the slopes and prints what they are worth).
"""

import math

SIZES = (49, 81, 121, math.inf)
"""Classes of boards, by the most points of each."""

SLOPES = {
    "puct": dict(zip(SIZES, (2.3, 2.4, 1.4, 1.5), strict=True)),
    "alphabeta": dict(zip(SIZES, (2.4, 1.9, 1.5, 1.6), strict=True)),
}
"""Slope by the class of boards that it is for, for each search that was measured."""

SUREST = 0.9995
"""No probability is said to be larger without a proof, nor smaller than the rest."""


MOVES_TO_RESIGN = 3
"""Own moves in a row that must look lost: one search may be wrong, three rarely are."""


def size_class(area: int) -> float:
    """Return the class of boards of so many points: one of `SIZES`."""
    return next(most for most in SIZES if area <= most)


def slope_for(area: int, search: str = "puct") -> float:
    """Return the slope of a search for boards of so many points."""
    return SLOPES[search][size_class(area)]


def believable(value: float, area: int, search: str = "puct") -> float:
    """Return the chance to win that a search's value stands for.

    Args:
        value: of a search that has proved nothing, 0 to 1.
        area: points of the board.
        search: whose value it is; that of one without slopes is returned unchanged.
    """
    if search not in SLOPES:
        return value
    value = min(max(value, 1e-6), 1 - 1e-6)
    odds = slope_for(area, search) * math.log(value / (1 - value))
    return min(max(1 / (1 + math.exp(-odds)), 1 - SUREST), SUREST)
