"""`tanbo-engine solve`: who wins a position, for certain, and certificates of it."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Annotated, TypeVar

import msgspec
from msgspec import Meta

from protocol import config
from protocol.files import write_whole
from protocol.options import Parser, SettingsError, load
from tanbo_engine import certificate, rules, setups
from tanbo_engine._kernel import StopFlag
from tanbo_engine.points import Color, Size, format_vertex
from tanbo_engine.solver import Limits, NoStrategy, Progress, Solution, Solver
from tanbo_engine.wording import counted, timed

_FAILURE = 1
_INTERRUPTED = 130
_PROGRESS_SECONDS = 1.0
_MOST_PROGRESS_SECONDS = 60.0
_LONGEST_LINE = 10_000  # letters of a certificate

_Told = TypeVar("_Told")


Seconds = Annotated[
    float,
    Meta(
        gt=0,
        le=1_000_000_000,
        description="time for the proof (default: no limit)",
        extra={"metavar": "S"},
    ),
]
Nodes = Annotated[
    int,
    Meta(
        ge=1,
        le=10**18,
        description="moves made for the proof at most (default: no limit)",
        extra={"metavar": "N"},
    ),
]
Megabytes = Annotated[
    int,
    Meta(
        ge=1,
        le=1_048_576,
        description="bound of the prover's memory in megabytes (default 256)",
        extra={"metavar": "MB"},
    ),
]
Output = Annotated[
    str,
    Meta(
        description="write a strategy of the winner to this file, a new one",
        extra={"metavar": "FILE"},
    ),
]
Input = Annotated[
    str,
    Meta(
        description="check such a file by the plain rules instead; with --setup it has "
        "to be about that",
        extra={"metavar": "FILE"},
    ),
]


class Settings(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """What a person may choose; None where the engine chooses."""

    setup: config.Name | None = None
    seconds: Seconds | None = None
    nodes: Nodes | None = None
    memory: Megabytes = 256
    certificate: Output | None = None
    check: Input | None = None


def main(arguments: Sequence[str]) -> int:
    """Prove or check what the command line says; return the exit status."""
    parser = Parser(
        "tanbo-engine solve",
        "Prove who wins a set-up, or check a proof. Without --seconds or --nodes it "
        "goes on until it knows or Ctrl-C ends it, on large boards in vain; little "
        "--memory makes it slower, and ends it on huge boards only.",
    )
    parser.add_settings(Settings)
    options = vars(parser.parse_args(arguments))
    file = options.pop("config", None)
    try:
        settings = load(Settings, options, file)
        chosen = None if settings.setup is None else setups.by_name(settings.setup)
        if settings.check is not None:
            if settings.certificate is not None:
                parser.error("give --check or --certificate, not both")
            return _check(settings.check, chosen and chosen.position())
        _require_new(settings.certificate)
        start = (chosen or setups.by_name(setups.DEFAULT)).position()
        solver = Solver(start, settings.memory)
    except (SettingsError, setups.UnknownSetup) as error:
        parser.error(str(error))
    except MemoryError as error:
        parser.error(f"--memory: {error}")
    return _solve(solver, start, settings)


def winner_text(size: Size, winner: Color, point: int | None) -> str:
    """Return ``black C4``, or only the winner where no move is told."""
    if point is None:
        return winner.word
    return f"{winner.word} {format_vertex(size, point)}"


def unproved_text(solution: Solution, limits: Limits, memory_mb: int) -> str:
    """Return why nothing is proved, in one line."""
    if solution.reason == "stopped":
        return (
            f"not proved: stopped after {solution.seconds:.1f} seconds "
            f"and {counted(solution.nodes, 'node')}"
        )
    within = {
        "time": timed(limits.seconds) if limits.seconds is not None else "",
        "nodes": counted(limits.nodes or 0, "node"),
        "memory": f"{memory_mb} MB of memory",
    }
    return f"not proved within {within[solution.reason]}"


def _require_new(name: str | None) -> None:
    """Refuse a certificate that could not be written in the end, or would replace."""
    if name is None:
        return
    if Path(name).is_dir() or not Path(name).parent.is_dir():
        raise SettingsError(
            f"--certificate: cannot write {name}: name a file in a folder that is there"
        )
    if os.path.lexists(name):
        raise SettingsError(
            f"--certificate: {name} is there already: choose another name"
        )


def _solve(solver: Solver, start: rules.Position, settings: Settings) -> int:
    """Print the winner and write the certificate."""
    stop = _stopped_by_interrupt()
    limits = Limits(settings.seconds, settings.nodes)
    solution = solver.solve(limits, stop, _now_and_then(_proof_line))
    if solution.winner is None:
        print(unproved_text(solution, limits, settings.memory))
        return _INTERRUPTED if stop.is_set else _FAILURE
    print(winner_text(start.size, solution.winner, solution.point), flush=True)
    _say(
        f"proved with {counted(solution.nodes, 'node')} "
        f"in {solution.seconds:.1f} seconds"
    )
    if settings.certificate is None:
        return 0
    try:
        lines = certificate.lines(start, solution.winner, solver.strategy(stop))
        text = "".join(f"{line}\n" for line in _with_progress(lines))
        write_whole(Path(settings.certificate), text.encode())
    except NoStrategy as error:
        _say(f"no certificate: {error}")
        return _INTERRUPTED if stop.is_set else _FAILURE
    except OSError as error:
        _say(f"cannot write {settings.certificate}: {error.strerror}")
        return _FAILURE
    return 0


def _check(name: str, wanted: rules.Position | None) -> int:
    """Print what a certificate proves."""
    tell = _now_and_then(_checked_line)
    try:
        with Path(name).open(encoding="ascii", errors="replace") as file:
            # Other files, and devices, may have lines without an end.
            lines = iter(lambda: file.readline(_LONGEST_LINE), "")
            checked = certificate.check(lines, wanted, tell)
    except MemoryError:
        _say(f"{name} does not fit into the memory of this machine")
        return _FAILURE
    except OSError as error:
        _say(f"cannot read {name}: {error.strerror}")
        return _FAILURE
    except certificate.BrokenCertificate as error:
        _say(f"{name}: {error}")
        return _FAILURE
    print(winner_text(checked.start.size, checked.winner, checked.point))
    _say(f"{counted(checked.positions, 'position')} checked: all are won")
    return 0


def _stopped_by_interrupt() -> StopFlag:
    """Return a flag that Ctrl-C sets, so that what is known can be told."""
    stop = StopFlag()

    def interrupted(signum: int, frame: FrameType | None) -> None:
        stop.set()

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupted)
    return stop


def _now_and_then(line: Callable[[_Told], str]) -> Callable[[_Told], None]:
    """Return what prints a line about a value: often at first, later once a minute."""
    printed, pause = time.monotonic(), _PROGRESS_SECONDS

    def tell(value: _Told) -> None:
        nonlocal printed, pause
        if time.monotonic() - printed >= pause:
            printed = time.monotonic()
            pause = min(1.5 * pause, _MOST_PROGRESS_SECONDS)
            _say(line(value))

    return tell


def _proof_line(progress: Progress) -> str:
    return (
        f"{progress.seconds:.0f} s: {counted(progress.nodes, 'node')}, "
        f"{progress.refuted} of {counted(progress.moves, 'move')} refuted, "
        f"table {progress.table_use:.0%} full"
    )


def _checked_line(positions: int) -> str:
    return f"{counted(positions, 'position')} checked"


def _written_line(written: int) -> str:
    return f"{counted(written, 'line')} of the certificate"


def _with_progress(lines: Iterator[str]) -> Iterator[str]:
    """Pass the lines of a certificate on and tell how many there are."""
    tell = _now_and_then(_written_line)
    for count, line in enumerate(lines, 1):
        tell(count)
        yield line


def _say(line: str) -> None:
    print(f"tanbo-engine solve: {line}", file=sys.stderr, flush=True)
