"""Time controls, the two clocks of a game, and how long to think.

Times are seconds. The engine keeps its own clocks from the time settings, because some
front ends never tell the time left (FRONT_ENDS.md section 7); where one does, that
value replaces ours.
"""

from collections import deque
from enum import Enum
from typing import NamedTuple

from tanbo_engine.game import Game, kernel_position
from tanbo_engine.points import Color

RESERVE_SECONDS = 0.030
RESERVE_SHARE = 0.20
"""Kept back from every move for the way to the front end: the smaller of the two."""

_WAYS = 8
_FEWEST_WAYS = 3
_LEAST_WAY = 0.003
"""Ways to the front end: how many count, how many are needed, what is added."""

_LEAST_SECONDS = 0.001
_MOST_OF_CLOCK = 0.8
_LONGER = 3.0
"""How many times its target a move may take at most."""

_SPARE_SHARE = 0.15
"""Most of the time nobody has claimed yet that a move may take beyond its target."""

_MOVES_PER_POINT = 0.35
_MOVES_PER_ROOT = 0.8
"""A side's moves in a game: so many for each point and each root of the start.

Medians of games at 150 visits a move, and what this makes of them: dense 5x7 18 (22),
dense 7x7 29 (30), dense 7x9 37 (38), classic 9x9 31 (32), classic 13x13 79 (72), dense
11x11 86 (71). The longest games took 1.5 times as many moves; of games that reach the
median a tenth is still to come.
"""

_LONGEST_GAME = 3.0
_LEAST_LEFT = 0.12
_FEWEST_MOVES_AHEAD = 4.0


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


class Plan(NamedTuple):
    """How long to think about a move.

    Attributes:
        target: seconds that an ordinary move is worth.
        maximum: never more seconds than these, however unclear the position is.
        saves: what a move leaves unused is there for later ones.
    """

    target: float
    maximum: float
    saves: bool


class Outlook(NamedTuple):
    """What is still to come in a game, in moves of one side.

    Attributes:
        likely: moves still to be made; a few are always expected.
        longest: moves that the clock must be enough for.
        progress: share of a usual game that has been played, 0 to 1.
    """

    likely: float
    longest: float
    progress: float


def outlook(game: Game) -> Outlook:
    """Return what is to come in a game, as far as board and turns tell."""
    start = kernel_position(game.start)
    roots = sum(start.root_count(color) for color in Color)
    # A game may begin in the middle: all but one stone of each root were moves.
    grown = sum(start.stone_count(color) for color in Color) - roots
    usual = _MOVES_PER_POINT * game.size.area + _MOVES_PER_ROOT * roots
    made = (grown + len(game.moves)) / 2
    return Outlook(
        likely=max(usual - made, _LEAST_LEFT * usual, _FEWEST_MOVES_AHEAD),
        longest=max(_LONGEST_GAME * usual - made, usual, _FEWEST_MOVES_AHEAD),
        progress=min(1.0, made / usual),
    )


class _Side:
    """What one colour has left."""

    def __init__(self, control: TimeControl) -> None:
        self.main = min(control.main, control.main_limit)
        self.period = control.period
        self.periods = control.periods
        # By our own books the end of main time can come a move early, and with it
        # the end of each Canadian period.
        self.is_certain = not control.main
        self.moves_since_told: int | None = None


class Clock:
    """Both sides' time under one control; without one, no move has a limit here."""

    def __init__(self) -> None:
        self._ways: deque[float] = deque(maxlen=_WAYS)
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
        self._learn_way(self._sides[color], seconds, periods)
        side = self._sides[color] = _Side(self.control)
        side.moves_since_told = 0
        if periods > 0 and self._has_overtime:
            side.main, side.period, side.periods = 0.0, seconds, periods
            side.is_certain = True
        else:
            side.main = seconds

    def _learn_way(self, side: _Side, told: float, periods: int) -> None:
        """Note what the last move's way to the front end took, if that can be told.

        Our books charge `RESERVE_SECONDS` for it. Whole seconds tell nothing.
        """
        is_one_move = side.moves_since_told == 1 and side.main > 0 and not periods
        if is_one_move and told != int(told):
            self._ways.append(RESERVE_SECONDS + side.main - told)

    @property
    def way(self) -> float:
        """Seconds to count on for the way of a later move to the front end.

        As long as nobody tells the time left, `RESERVE_SECONDS`; then twice the longest
        way of late, at most that.
        """
        if len(self._ways) < _FEWEST_WAYS:
            return RESERVE_SECONDS
        return min(max(2 * max(self._ways), 0.0) + _LEAST_WAY, RESERVE_SECONDS)

    def spend(self, color: Color, seconds: float) -> None:
        """Charge the time a move took, the way to the front end included."""
        side, control = self._sides[color], self.control
        if side.moves_since_told is not None:
            side.moves_since_told += 1
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

    def plan(self, color: Color, ahead: Outlook) -> Plan | None:
        """Return how long to think about the next move; None if no clock runs.

        Args:
            color: whose move.
            ahead: what is still to come.
        """
        side, control = self._sides[color], self.control
        if control.system is TimeSystem.NONE:
            return None
        if not self._has_overtime:
            return _plan_main(side.main, control, ahead, self.way)
        overtime = _plan_overtime(side, control)
        if side.main <= 0:
            return overtime
        if overtime.target >= RESERVE_SECONDS:  # nothing has to be set aside for later
            ahead = ahead._replace(longest=0.0)
        main = _plan_main(side.main, control, ahead, self.way)
        return Plan(
            max(main.target, overtime.target),
            max(main.maximum, overtime.maximum),
            saves=True,
        )

    @property
    def _has_overtime(self) -> bool:
        return self.control.system in (TimeSystem.BYOYOMI, TimeSystem.CANADIAN)


def _plan_main(left: float, control: TimeControl, ahead: Outlook, way: float) -> Plan:
    """Share main time out among the moves to come.

    What even the quickest moves of a long game cost is set aside first. The rest is
    shared unevenly: what a search of an eighth of the length gives away, in win
    probability, grows tenfold from the first moves to the last third of a game
    (dense 7x7: 0.004 to 0.047, classic 9x9: 0.001 to 0.032), so a move's weight grows
    from 1 to 3. The weights of all moves to come are the denominator here.
    """
    surplus = control.increment - way
    spare = max(0.0, left + min(0.0, surplus) * ahead.longest)
    weight = (1 + 2 * ahead.progress) / (2 + ahead.progress)
    least = left / (4 * max(ahead.longest, ahead.likely))
    target = max(spare / ahead.likely * weight + max(0.0, surplus), least)
    maximum = min(_LONGER * target, target + _SPARE_SHARE * spare)
    # The increment comes only after the move, which must fit into what is left.
    most = min(_MOST_OF_CLOCK * left, _on_the_clock(left))
    most = max(_LEAST_SECONDS, min(most, with_reserve(control.move_limit)))
    target, maximum = (
        min(max(_LEAST_SECONDS, each), most) for each in (target, maximum)
    )
    return Plan(target, maximum, saves=True)


def _plan_overtime(side: _Side, control: TimeControl) -> Plan:
    """Share an overtime period out among its stones; in byo-yomi there is one."""
    if control.system is TimeSystem.BYOYOMI:
        target = with_reserve(side.period)
        return Plan(target, target, saves=False)
    stones = max(1, side.periods)
    share = side.period / stones
    if not side.is_certain:
        share = min(share, control.period / max(1, control.periods))
    target = _on_the_clock(share)
    spare = max(0.0, side.period - stones * RESERVE_SECONDS)
    saves = stones > 1 and side.is_certain
    longer = min(_LONGER * target, target + _SPARE_SHARE * spare)
    return Plan(target, longer if saves else target, saves)


def _on_the_clock(seconds: float) -> float:
    """Return the part to think in of a time whose end must not be passed.

    All of `RESERVE_SECONDS` is kept back, because it has to be paid at every move;
    where there is too little time for that, three quarters.
    """
    return max(_LEAST_SECONDS, seconds - RESERVE_SECONDS, seconds / 4)


def with_reserve(seconds: float) -> float:
    """Return the part of a move's time to think in, the reserve taken off."""
    reserve = min(RESERVE_SECONDS, RESERVE_SHARE * seconds)
    return max(_LEAST_SECONDS, seconds - reserve)
