"""When a search with time left has seen enough, and when one out of time has not.

The rules are STOP and UNST of Baier and Winands, "Time Management for Monte Carlo Tree
Search" (2015): stop when the second move cannot catch up; go on while the most visited
move is not the one of the highest value.
"""

from collections.abc import Sequence

Moves = Sequence[tuple[int, int, float, float, int]]
"""Point, visits, value, prior and proof of every move, best first (`Search.moves`)."""

HARMLESS = 1.0
"""Share of the visits to come with which the second move must stay behind: of all."""

FRUGAL = 0.5
"""The same where saved time is worth something: a second move gets half at best."""

_CHECKS = 50
_LONGEST_PAUSE = 0.05
_DOUBT = 0.75
_RECENTLY = 0.3
_FALL = 0.05
_FIRST_OPINION = 0.2
_RIVAL_SHARE = 0.1


class Patience:
    """Decides between the slices of a search whether it goes on."""

    def __init__(self, target: float, maximum: float, early: float | None) -> None:
        """Prepare.

        Args:
            target: seconds that the search takes without a reason for more.
            maximum: seconds that it never passes.
            early: share of the visits to come, `HARMLESS` or `FRUGAL`, with which a
                second move must catch up to be worth waiting for; None: always wait.
        """
        self._target = target
        self._maximum = maximum
        self._early = early
        self._pause = min(target / _CHECKS, _LONGEST_PAUSE)
        self._next = self._pause
        self._best = -1
        self._changed = 0.0
        self._first_value: float | None = None

    def is_enough(self, used: float, visits: int, moves: Moves) -> bool:
        """Tell whether the search has seen enough.

        Args:
            used: seconds since its begin.
            visits: descents since its begin.
            moves: what it knows.
        """
        self._observe(used, moves)
        doubts = self._doubts(used, moves)
        end = min(self._maximum, self._target * (1 + _DOUBT * doubts))
        if used >= end or len(moves) < 2:
            return True
        if doubts or self._early is None:
            return False
        coming = visits / used * (end - used)
        return _is_decided(moves, self._early * coming)

    def is_due(self, used: float) -> bool:
        """Tell whether it is time to look again: looking costs time, too."""
        if used < self._next:
            return False
        self._next = used + self._pause
        return True

    def _observe(self, used: float, moves: Moves) -> None:
        point, _, value, _, _ = moves[0]
        if point != self._best:
            self._best, self._changed = point, used
        if self._first_value is None and used >= _FIRST_OPINION * self._target:
            self._first_value = value

    def _doubts(self, used: float, moves: Moves) -> int:
        """Return how many reasons there are not to trust the best move yet."""
        value = moves[0][2]
        is_new = used - self._changed < _RECENTLY * self._target
        has_fallen = self._first_value is not None and (
            value < self._first_value - _FALL
        )
        return is_new + has_fallen + _has_rival(moves)


def _is_decided(moves: Moves, coming: float) -> bool:
    """Tell whether the second move stays second even with all of these visits."""
    (_, most, *_), (_, second, _, _, proof) = moves[:2]
    return proof < 0 or second + coming < most


def _has_rival(moves: Moves) -> bool:
    """Tell whether a move that was looked at well has a higher value than the best."""
    _, most, value, _, _ = moves[0]
    return any(move[2] > value for move in moves[1:] if move[1] >= _RIVAL_SHARE * most)
