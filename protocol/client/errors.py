"""What can go wrong with an engine, named by who is at fault."""

import signal

from tanbo_engine.wording import short

SHOWN = 80
"""Most characters of somebody else's text in a message."""


class EngineError(Exception):
    """Something went wrong with an engine.

    Attributes:
        engine: the label its owner gave it.
        command: the line that was sent, without id; empty if none was.
        what: what went wrong, in words.
        stderr_tail: the end of what it wrote to stderr until then.
    """

    # Exception.__init__ is not called: `args` stays as given, which pickling needs.
    def __init__(
        self, engine: str, command: str, what: str, stderr_tail: str = ""
    ) -> None:
        self.engine = engine
        self.command = command
        self.what = what
        self.stderr_tail = stderr_tail

    def __str__(self) -> str:
        """Return it in one line, with the last line of stderr."""
        command = short(self.command, SHOWN)
        text = ": ".join(part for part in (self.engine, command, self.what) if part)
        last = self.stderr_tail.strip().rpartition("\n")[2].strip()
        return f"{text}; the end of its stderr: {last}" if last else text


class StartFailed(EngineError):  # noqa: N818
    """The engine did not get as far as taking commands.

    The program could not be run, or (`__cause__`: another of this family) it did not
    answer the first commands.
    """


class EngineDied(EngineError):  # noqa: N818
    """The process ended, or closed its output, while an answer was due.

    Attributes:
        exit_code: as of `subprocess`, negative for a signal; None if it still runs.
    """

    def __init__(
        self, engine: str, command: str, exit_code: int | None, stderr_tail: str = ""
    ) -> None:
        super().__init__(engine, command, _cause_of_death(exit_code), stderr_tail)
        self.exit_code = exit_code


class TimedOut(EngineError):  # noqa: N818
    """The answer did not come in time.

    Attributes:
        seconds: how long it was waited for.
    """

    def __init__(
        self, engine: str, command: str, seconds: float, stderr_tail: str = ""
    ) -> None:
        what = f"no answer within {seconds:g} s"
        super().__init__(engine, command, what, stderr_tail)
        self.seconds = seconds


class ProtocolError(EngineError):
    """The engine said something that is not the answer to the command."""


class Refused(EngineError):  # noqa: N818
    """The engine answered ``?``; it goes on working.

    Attributes:
        text: what it answered.
    """

    def __init__(self, engine: str, command: str, text: str) -> None:
        super().__init__(engine, command, f"refused: {text}")
        self.text = text


class Abandoned(EngineError):  # noqa: N818
    """The owner's doing: the engine was closed, or a command to it cancelled."""


def _cause_of_death(exit_code: int | None) -> str:
    if exit_code is None:
        return "closed its output and still runs"
    if exit_code >= 0:
        return f"died with exit code {exit_code}"
    try:
        return f"died of {signal.Signals(-exit_code).name}"
    except ValueError:  # a real-time signal
        return f"died of signal {-exit_code}"
