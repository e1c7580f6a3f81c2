"""Time controls, the two clocks of a game, and how long to think.

Times are seconds. The engine keeps its own clocks from the time settings, because some
front ends never tell the time left (FRONT_ENDS.md section 7); where one does, that
value replaces ours.
"""

from enum import Enum
from typing import NamedTuple

from tanbo_engine.points import Color

RESERVE_SECONDS = 0.030
RESERVE_SHARE = 0.20
"""Kept back from every move for the way to the front end: the smaller of the two."""

_LEAST_SECONDS = 0.001
_MOVES_AHEAD_SHARE = 0.35
"""Moves that the main time is spread over, as a share of the board's points.

Games last about 0.35 to 0.45 moves a point and side (RULES.md section 7), whatever
has been played so far: removals free room again.
"""

_FEWEST_MOVES_AHEAD = 10


class TimeSystem(Enum):
    """How a clock gives time; the words of `kata-time_settings`."""

    NONE = "none"
    ABSOLUTE = "absolute"
    BYOYOMI = "byoyomi"
    CANADIAN = "canadian"
    FISCHER = "fischer"
    FISCHER_CAPPED = "fischer-capped"


class TimeControl(NamedTuple):
    """One time control.

    Attributes:
        system: which of the fields count.
        main: main time.
        period: length of an overtime period (byo-yomi, Canadian).
        periods: number of byo-yomi periods, or stones in a Canadian one.
        increment: added after each move (Fischer).
        main_limit: largest main time that increments can reach (capped Fischer).
        move_limit: most time for one move (capped Fischer).
    """

    system: TimeSystem
    main: float = 0.0
    period: float = 0.0
    periods: int = 0
    increment: float = 0.0
    main_limit: float = float("inf")
    move_limit: float = float("inf")


class _Side:
    """What one colour has left."""

    def __init__(self, control: TimeControl) -> None:
        self.main = min(control.main, control.main_limit)
        self.period = control.period
        self.periods = control.periods


class Clock:
    """Both sides' time under one control; without one, no move has a limit here."""

    def __init__(self) -> None:
        self.configure(TimeControl(TimeSystem.NONE))

    def configure(self, control: TimeControl) -> None:
        """Start both clocks afresh under a control."""
        self._configured = control
        self.restart()

    def restart(self) -> None:
        """Start both clocks afresh for a new game."""
        self.control = self._configured
        self._sides = {color: _Side(self.control) for color in Color}

    def set_left(self, color: Color, seconds: float, periods: int) -> None:
        """Take over the time that the front end says is left.

        Args:
            color: whose clock.
            seconds: time left; a negative one counts as none.
            periods: 0 while main time runs; else stones left in the Canadian period,
                or byo-yomi periods left.
        """
        seconds = max(0.0, seconds)
        if self.control.system is TimeSystem.NONE:  # told for this game only
            self.control = TimeControl(TimeSystem.ABSOLUTE, main=seconds)
            self._sides = {each: _Side(self.control) for each in Color}
        side = self._sides[color] = _Side(self.control)
        if periods > 0 and self._has_overtime:
            side.main, side.period, side.periods = 0.0, seconds, periods
        else:
            side.main = seconds

    def spend(self, color: Color, seconds: float) -> None:
        """Charge the time a move took to our own clock."""
        side, control = self._sides[color], self.control
        in_overtime = side.main <= 0 or seconds > side.main
        over = max(0.0, seconds - side.main)
        side.main = max(0.0, side.main - seconds)
        if control.system in (TimeSystem.FISCHER, TimeSystem.FISCHER_CAPPED):
            side.main = min(side.main + control.increment, control.main_limit)
        elif control.system is TimeSystem.BYOYOMI and in_overtime:
            used = int(over // control.period) if control.period > 0 else 0
            side.periods = max(1, side.periods - used)
            side.period = control.period
        elif control.system is TimeSystem.CANADIAN and in_overtime:
            side.period, side.periods = side.period - over, side.periods - 1
            if side.periods <= 0:
                side.period, side.periods = control.period, control.periods

    def budget(self, color: Color, area: int) -> float | None:
        """Return how long to think about the next move; None if no clock runs.

        Args:
            color: whose move.
            area: points of the board, from which the moves ahead are estimated.
        """
        if self.control.system is TimeSystem.NONE:
            return None
        side, control = self._sides[color], self.control
        ahead = max(_FEWEST_MOVES_AHEAD, _MOVES_AHEAD_SHARE * area)
        seconds = side.main / ahead
        if control.system in (TimeSystem.FISCHER, TimeSystem.FISCHER_CAPPED):
            # The increment comes only after the move: it must fit into what is left.
            seconds = min(seconds + control.increment * 0.9, side.main * 0.8)
            seconds = min(seconds, control.move_limit)
        elif self._has_overtime:
            seconds = min(
                max(seconds, self._overtime_share(side)), side.main + side.period
            )
        return with_reserve(seconds)

    @property
    def _has_overtime(self) -> bool:
        return self.control.system in (TimeSystem.BYOYOMI, TimeSystem.CANADIAN)

    def _overtime_share(self, side: _Side) -> float:
        if self.control.system is TimeSystem.BYOYOMI:
            return side.period
        return side.period / max(1, side.periods)


def with_reserve(seconds: float) -> float:
    """Return the part of a move's time to think in, the reserve taken off."""
    reserve = min(RESERVE_SECONDS, RESERVE_SHARE * seconds)
    return max(_LEAST_SECONDS, seconds - reserve)
