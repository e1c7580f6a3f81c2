"""Win probabilities that can be believed.

What a search says is too modest: its values are means over a tree, bad moves included.
Its log odds, multiplied by a slope for the size of the board, meet the results of games
(`scripts/calibrate.py` fits the slopes and prints what they are worth).
"""

import math

SLOPES = {49: 2.3, 81: 2.4, 121: 1.4, math.inf: 1.5}
"""Slope by the most points of the boards that it is for."""

SUREST = 0.9995
"""No probability is said to be larger without a proof, nor smaller than the rest."""


MOVES_TO_RESIGN = 3
"""Own moves in a row that must look lost: one search may be wrong, three rarely are."""


def size_class(area: int) -> float:
    """Return the class of boards of so many points: a key of `SLOPES`."""
    return next(most for most in SLOPES if area <= most)


def slope_for(area: int) -> float:
    """Return the slope for boards of so many points."""
    return SLOPES[size_class(area)]


def believable(value: float, area: int) -> float:
    """Return the chance to win that a search's value stands for.

    Args:
        value: of a search that has proved nothing, 0 to 1.
        area: points of the board.
    """
    value = min(max(value, 1e-6), 1 - 1e-6)
    odds = slope_for(area) * math.log(value / (1 - value))
    return min(max(1 / (1 + math.exp(-odds)), 1 - SUREST), SUREST)
