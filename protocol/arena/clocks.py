"""The arena's time controls: how an engine is told, and what a move may take."""

import re
from collections.abc import Collection
from decimal import Decimal
from typing import NamedTuple

from tanbo_engine.wording import short

_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
_CLOCK = re.compile(rf"({_NUMBER})(?:\+({_NUMBER}))?")


class ControlError(ValueError):
    """A time control is not understood, or cannot be told to an engine."""


class PerMove(NamedTuple):
    """The same time for every move."""

    seconds: float

    def settings(self, commands: Collection[str]) -> str:
        """Return the command that tells an engine with these commands."""
        if "kata-time_settings" in commands:
            return f"kata-time_settings byoyomi 0 {_decimal(self.seconds)} 1"
        return f"{_plain(commands, str(self))} 0 {_whole(self.seconds, str(self))} 1"

    def __str__(self) -> str:
        """Return it in words, for messages and reports."""
        return f"{self.seconds:g} s a move"


class Clock(NamedTuple):
    """A main time for the game and an increment after each move."""

    main: float
    increment: float

    def settings(self, commands: Collection[str]) -> str:
        """Return the command that tells an engine with these commands."""
        if "kata-time_settings" in commands:
            main = _decimal(self.main)
            if self.increment:
                return f"kata-time_settings fischer {main} {_decimal(self.increment)}"
            return f"kata-time_settings absolute {main}"
        if self.increment:
            raise ControlError(
                f"{self} needs kata-time_settings: time_settings has no increment"
            )
        return f"{_plain(commands, str(self))} {_whole(self.main, str(self))} 0 0"

    def __str__(self) -> str:
        """Return it in words, for messages and reports."""
        return f"{self.main:g} s a game" + (
            f" + {self.increment:g} s a move" if self.increment else ""
        )


Control = PerMove | Clock


def parse_clock(text: str) -> Clock:
    """Return the clock of ``MAIN`` or ``MAIN+INCREMENT``, seconds.

    Raises:
        ControlError: another form, or no time at all.
    """
    match = _CLOCK.fullmatch(text)
    if match is None or float(match[1]) <= 0:
        raise ControlError(
            f"invalid clock {short(text)!r}: use MAIN or MAIN+INCREMENT in seconds, "
            "such as 60 or 60+0.5"
        )
    return Clock(float(match[1]), float(match[2] or 0))


class GameClock:
    """What both sides have left in one game. Times in seconds."""

    def __init__(self, control: Control | None) -> None:
        """Start both clocks; without a control no move has a limit."""
        self._control = control
        self._left = [control.main if isinstance(control, Clock) else 0.0] * 2

    def limit(self, color: int) -> float | None:
        """Return what the next move of a colour may take, None for no limit."""
        if isinstance(self._control, PerMove):
            return self._control.seconds
        if isinstance(self._control, Clock):
            return self._left[color]
        return None

    def spend(self, color: int, seconds: float) -> None:
        """Charge a move; the increment comes after it."""
        if isinstance(self._control, Clock):
            left = max(0.0, self._left[color] - seconds)
            self._left[color] = left + self._control.increment

    def time_left(self, color: int, commands: Collection[str]) -> str | None:
        """Return the arguments of time_left before a move, None if it says nothing.

        GTP has whole seconds there; who knows kata-time_settings takes decimals.
        """
        if not isinstance(self._control, Clock):
            return None
        left = self._left[color]
        whole = "kata-time_settings" not in commands
        return f"{'bw'[color]} {int(left) if whole else f'{left:.2f}'} 0"


def _plain(commands: Collection[str], control: str) -> str:
    if "time_settings" not in commands:
        raise ControlError(
            f"{control} cannot be told: no time_settings in its commands"
        )
    return "time_settings"


def _decimal(seconds: float) -> str:
    """Return a number in full: no exponent, no digit less, no point at the end."""
    return f"{Decimal(repr(seconds)):f}".removesuffix(".0")


def _whole(seconds: float, control: str) -> int:
    """Return whole seconds: GTP's own command takes nothing else."""
    if seconds != int(seconds):
        raise ControlError(
            f"{control} needs kata-time_settings: time_settings takes whole seconds"
        )
    return int(seconds)
