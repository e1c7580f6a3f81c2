"""Commands about time controls; `tanbo_engine.clock` does the arithmetic."""

# ruff: noqa: D103 (the table holds what each command does)

from collections.abc import Sequence

from protocol import gtp
from protocol.commands.arguments import (
    COLOR,
    Integer,
    Number,
    Rest,
    Text,
    parse_integer,
    parse_number,
)
from protocol.commands.table import command
from protocol.session import Session
from tanbo_engine.clock import TimeControl, TimeSystem
from tanbo_engine.points import Color
from tanbo_engine.wording import short

_MOST_PERIODS = 1_000_000
_MOST_SECONDS = 1_000_000
_FIELDS = {
    TimeSystem.NONE: "",
    TimeSystem.ABSOLUTE: "MAIN",
    TimeSystem.BYOYOMI: "MAIN PERIOD PERIODS",
    TimeSystem.CANADIAN: "MAIN PERIOD STONES",
    TimeSystem.FISCHER: "MAIN INCREMENT",
    TimeSystem.FISCHER_CAPPED: "MAIN INCREMENT MAIN-LIMIT MOVE-LIMIT",
}
"""What follows each system's name, in the order of `kata-list_time_settings`."""


@command(
    "time_settings",
    Number("MAIN"),
    Number("PERIOD"),
    Integer("STONES", 0, _MOST_PERIODS),
    help="Restart the clocks, in seconds: PERIOD 0 is no overtime, STONES 0 with a "
    "PERIOD is no clock, else Canadian overtime.",
)
def time_settings(session: Session, main: float, period: float, stones: int) -> str:
    if period > 0 and stones == 0:
        control = TimeControl(TimeSystem.NONE)
    else:
        control = _with_overtime(TimeSystem.CANADIAN, main, period, stones)
    session.clock.configure(control)
    return ""


@command(
    "time_left",
    COLOR,
    Number("SECONDS"),
    Number("STONES"),
    help="Set a clock; STONES 0 is main time, else stones or periods of overtime left.",
)
def time_left(session: Session, color: Color, seconds: float, stones: float) -> str:
    seconds = _seconds(max(seconds, 0.0))  # some clocks run on below 0
    session.clock.set_left(color, seconds, int(min(max(stones, 0), _MOST_PERIODS)))
    return ""


@command(
    "kata-time_settings",
    Text("SYSTEM"),
    Rest("[NUMBER]..."),
    help="Restart the clocks under a system of kata-list_time_settings: "
    + "; ".join(f"{s.value} {f}".strip() for s, f in _FIELDS.items())
    + "; times in seconds, -1 as a limit is none.",
)
def kata_time_settings(session: Session, name: str, numbers: Sequence[str]) -> str:
    session.clock.configure(_control(name.lower(), numbers))
    return ""


@command("kata-list_time_settings", help="Systems of kata-time_settings.")
def kata_list_time_settings(session: Session) -> str:
    return " ".join(system.value for system in _FIELDS)


def _control(name: str, numbers: Sequence[str]) -> TimeControl:
    known = {system.value: system for system in _FIELDS}
    known["byo-yomi"] = TimeSystem.BYOYOMI  # as KataGo's documentation spells it
    if name not in known:
        offered = ", ".join(system.value for system in _FIELDS)
        raise gtp.GtpError(f"unknown time system {short(name)!r}: use {offered}")
    system = known[name]
    fields = _FIELDS[system].split()
    if len(numbers) != len(fields):
        usage = f"kata-time_settings {name} {_FIELDS[system]}"
        raise gtp.GtpError(gtp.SYNTAX_ERROR, f"usage: {usage}")
    if system in (TimeSystem.BYOYOMI, TimeSystem.CANADIAN):
        main, period = map(parse_number, numbers[:2])
        periods = parse_integer(numbers[2], 0, _MOST_PERIODS)
        return _with_overtime(system, main, period, periods)
    return _without_periods(system, *map(parse_number, numbers))


def _with_overtime(
    system: TimeSystem, main: float, period: float, periods: int
) -> TimeControl:
    """Byo-yomi or Canadian, absolute where the overtime is nothing."""
    main, period = _seconds(main), _seconds(period)
    if period == 0 or periods == 0:
        return TimeControl(TimeSystem.ABSOLUTE, main)
    return TimeControl(system, main, period, periods)


def _without_periods(
    system: TimeSystem,
    main: float = 0.0,
    increment: float = 0.0,
    main_limit: float = -1.0,
    move_limit: float = -1.0,
) -> TimeControl:
    return TimeControl(
        system,
        main=_seconds(main),
        increment=_seconds(increment),
        main_limit=_limit(main_limit),
        move_limit=_limit(move_limit),
    )


def _seconds(value: float) -> float:
    if not 0 <= value <= _MOST_SECONDS:
        raise gtp.GtpError(
            f"invalid time {value:g}: use seconds from 0 to {_MOST_SECONDS}"
        )
    return value


def _limit(value: float) -> float:
    """Return a limit of the capped Fischer system; a negative one is off."""
    return float("inf") if value < 0 else value
