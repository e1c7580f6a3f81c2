"""The controller of any GTP engine, in three layers, each usable without the next.

Codec (`protocol.gtp`), channel (`Channel`: responses out of any byte streams), process
(`EngineProcess`: a program started, watched and ended). `Engine` is what owners hold;
`SimpleEngine` is the same without async, for scripts::

    with SimpleEngine("scripts/engine --nodes 200") as engine:
        engine.sync(game)
        print(engine.genmove(game.to_move, timeout=5).move)

An engine that broke its promise once (it died, was late, or talked nonsense) is not
used again: a late answer would be taken for that of the next command. Open a new one.
"""

# ruff: noqa: ASYNC109 (a time-out here ends the engine, so each call has its own)

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count, takewhile
from pathlib import Path
from typing import NamedTuple, TypeVar

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.from_thread import start_blocking_portal

from protocol import gtp
from tanbo_engine import setups
from tanbo_engine.game import Game, Move
from tanbo_engine.points import (
    Color,
    VertexError,
    format_vertex,
    looks_like_vertex,
    parse_vertex,
)
from tanbo_engine.rules import Position

COMMAND_SECONDS = 15.0
"""Longest wait for the answer to a command that does not search."""

START_SECONDS = 30.0
"""Longest wait for each of the first answers, while the engine loads what it needs."""

CLOSE_SECONDS = 2.0
"""Patience with each step of closing: after quit, after SIGTERM, after SIGKILL."""

MAX_RESPONSE = 16 << 20
"""Longest response in bytes."""

_CHUNK = 1 << 16
_TAIL = 8192
_WINDOW = 32
_DEATH_SECONDS = 1.0
_WATCH_SECONDS = 0.25
_SHOWN = 80
_ON_WINDOWS = sys.platform == "win32"

_CHANGES_BOARD = re.compile(
    r"(?!reg_).*genmove.*|(rectangular_)?boardsize|clear_board|play|(gg-)?undo|loadsgf"
    r"|set_position|gogui-(play_sequence|setup|setup_player)|tanbo-(setup|position)"
    r"|(fixed|set_free|place_free)_handicap"
)

_BROKEN = (
    OSError,
    gtp.ResponseError,
    anyio.EndOfStream,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)
"""What a channel raises when the engine does not keep to the protocol."""


_Result = TypeVar("_Result")


# Errors, named by who is at fault


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
        command = self.command
        if len(command) > _SHOWN:
            command = f"{command[:_SHOWN]}..."
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


# The channel: responses out of a stream of bytes


class Channel:
    """GTP over any pair of byte streams, each response read within a deadline.

    Attributes:
        sent_at: when the last write began, `time.monotonic_ns`.
        received_at: when the last bytes came, `time.monotonic_ns`.
    """

    def __init__(
        self,
        source: ByteReceiveStream,
        sink: ByteSendStream,
        has_ended: Callable[[], bool] = lambda: False,
    ) -> None:
        """Take over the streams.

        Args:
            source: what the engine says.
            sink: what it hears.
            has_ended: whether nothing more can come though the source is open; a
                grandchild of a dead process may hold it.
        """
        self._source = source
        self._sink = sink
        self._has_ended = has_ended
        self._buffer = bytearray()
        self.sent_at = self.received_at = 0

    async def write(self, data: bytes, deadline: float) -> None:
        """Send command lines.

        Raises:
            ResponseError: there is output already that no command asked for.
            TimeoutError: not taken until the deadline (`anyio.current_time`).
        """
        self._drop_blank()
        if self._buffer:
            raise gtp.ResponseError(f"output without a command: {self._beginning()}")
        with anyio.fail_after(max(0.0, deadline - anyio.current_time())):
            self.sent_at = time.monotonic_ns()
            await self._sink.send(data)

    async def read(self, deadline: float) -> gtp.Response:
        """Return the next response.

        Raises:
            ResponseError: what comes is no response, or is too large.
            TimeoutError: not complete at the deadline (`anyio.current_time`).
            anyio.EndOfStream: the source ends before.
        """
        buffer, searched = self._buffer, 0
        self._check_beginning()
        while (end := _end_of_response(buffer, searched)) is None:
            if len(buffer) > MAX_RESPONSE:
                raise gtp.ResponseError(f"a response of over {MAX_RESPONSE} bytes")
            searched = max(0, len(buffer) - 2)  # the end may have begun: "\n\r"
            buffer += await self._receive(deadline)
            if searched == 0:
                self._check_beginning()
        text = buffer[:end].decode("utf-8", "replace")
        del buffer[:end]
        return gtp.decode_response(text)

    async def _receive(self, deadline: float) -> bytes:
        """Return the next chunk; in slices, to see also an end without end of file."""
        while (left := deadline - anyio.current_time()) > 0:
            had_ended = self._has_ended()
            with anyio.move_on_after(min(left, _WATCH_SECONDS)):
                chunk = await self._source.receive(_CHUNK)
                self.received_at = time.monotonic_ns()
                return chunk
            if had_ended:
                raise anyio.EndOfStream
        raise TimeoutError

    def _check_beginning(self) -> None:
        """See at once, not at the time-out, that this becomes no response."""
        self._drop_blank()
        if self._buffer and self._buffer[0] not in b"=?":
            raise gtp.ResponseError(f"not a response: {self._beginning()}")

    def _drop_blank(self) -> None:
        """Forget blank lines before a response: many engines send one too many."""
        if self._buffer[:1].isspace():
            self._buffer[:] = self._buffer.lstrip()

    def _beginning(self) -> str:
        line = bytes(self._buffer[:_SHOWN]).splitlines()[0]
        return repr(line.decode("utf-8", "replace"))


def _end_of_response(buffer: bytearray, begin: int) -> int | None:
    """Return the index after the first empty line, LF or CRLF; None without one."""
    plain = buffer.find(b"\n\n", begin)
    wide = buffer.find(b"\n\r\n", begin, plain + 2 if plain >= 0 else len(buffer))
    if wide >= 0:
        return wide + 3
    return plain + 2 if plain >= 0 else None


# The process


@dataclass(frozen=True)
class EngineCommand:
    """How to start an engine; no shell is involved.

    Attributes:
        argv: the program and its arguments.
        cwd: working directory of the engine; the caller's if None.
        env: environment variables on top of the caller's.
        label: how errors call the engine; the program's file name if not given.
    """

    argv: tuple[str, ...]
    cwd: Path | None = None
    env: Mapping[str, str] | None = None
    label: str = ""

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", Path(self.argv[0]).stem)

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        label: str = "",
    ) -> "EngineCommand":
        """Return the command of a line that is quoted as for a shell.

        Raises:
            StartFailed: the line is empty or a quotation is not closed.
        """
        try:
            # Backslashes separate folders on Windows.
            argv = shlex.split(text.replace("\\", "\\\\") if _ON_WINDOWS else text)
        except ValueError as error:
            what = f"{text!r} is no command line: {error}"
            raise StartFailed(label, "", what) from error
        if not argv:
            raise StartFailed(label, "", "the command line is empty")
        return cls(tuple(argv), cwd, env, label)

    @property
    def environment(self) -> dict[str, str]:
        """All environment variables the engine gets."""
        return {**os.environ, **(self.env or {})}

    def resolve(self) -> Path:
        """Return the program's absolute path; a relative one is from the caller's cwd.

        Raises:
            StartFailed: there is no such program.
        """
        program = self.argv[0]
        if Path(program).name == program:
            found = shutil.which(program, path=self.environment.get("PATH"))
            if found is None:
                raise StartFailed(self.label, "", f"no program {program!r} in PATH")
            return Path(found).absolute()
        path = Path(program).expanduser().absolute()
        if not path.is_file():
            hint = "; put quotes round a path with blanks" if self.argv[1:] else ""
            raise StartFailed(self.label, "", f"no program {str(path)!r}{hint}")
        return path


class _Tail:
    """The end of what a process writes to stderr, drained by a daemon thread.

    A thread, because it must go on between commands, when no task of ours runs; not a
    file, because an engine may fill a disk. This side keeps the writing end open too,
    so that it can always wake the thread, whoever else holds the pipe.
    """

    _STOP = b"\0"

    def __init__(self) -> None:
        self._source, self.sink = os.pipe()
        self._kept = b""
        self._is_stopping = False
        self._thread = threading.Thread(target=self._drain, name="stderr", daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        """What is kept."""
        return self._kept.replace(self._STOP, b"").decode("utf-8", "replace")

    def stop(self) -> None:
        """Take in what is there, then end the thread and close the pipe; idempotent."""
        if self._is_stopping:
            return
        self._is_stopping = True
        os.write(self.sink, self._STOP)
        self._thread.join(_DEATH_SECONDS)
        os.close(self.sink)

    def _drain(self) -> None:
        chunk = b""
        while not (self._is_stopping and self._STOP in chunk):
            chunk = os.read(self._source, _CHUNK)
            self._kept = (self._kept + chunk)[-_TAIL:]
        os.close(self._source)


class EngineProcess:
    """A program in a session of its own, so that its whole group can be ended."""

    def __init__(self, process: Process, errors: _Tail) -> None:
        """Use `spawn`."""
        self._process = process
        self._errors = errors
        self._is_group_killed = False

    @classmethod
    async def spawn(cls, command: EngineCommand) -> "EngineProcess":
        """Start the program.

        Raises:
            StartFailed: it cannot be run.
        """
        argv = [str(command.resolve()), *command.argv[1:]]
        errors = _Tail()
        try:
            # Cancelled halfway, the process would be nobody's.
            with anyio.CancelScope(shield=True):
                process = await anyio.open_process(
                    argv,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors.sink,
                    cwd=command.cwd,
                    env=command.environment,
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            errors.stop()
            what = f"cannot run {argv[0]!r}: {error}"
            raise StartFailed(command.label, "", what) from error
        return cls(process, errors)

    @property
    def pid(self) -> int:
        """Process id, which is the id of the group, too."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        return self._process.returncode

    @property
    def stderr_tail(self) -> str:
        """The last 8 KiB it wrote to stderr."""
        return self._errors.text

    def channel(self) -> Channel:
        """Return the channel over its stdin and stdout; call it once."""
        source, sink = self._process.stdout, self._process.stdin
        if source is None or sink is None:
            raise RuntimeError("the process was started without pipes")
        return Channel(source, sink, lambda: self.exit_code is not None)

    async def wait(self, seconds: float) -> bool:
        """Wait for the end of the process; tell whether it came.

        It polls: the waiting of some versions of asyncio lasts until the pipes are
        closed, which a grandchild may delay for ever.
        """
        deadline = anyio.current_time() + seconds
        pause = 0.001
        while self.exit_code is None and anyio.current_time() < deadline:
            await anyio.sleep(pause)
            pause = min(2 * pause, 0.05)
        return self.exit_code is not None

    async def autopsy(self) -> tuple[int | None, str]:
        """Return exit code and stderr tail once the output has ended."""
        if await self.wait(_DEATH_SECONDS):
            self._kill_group()
            self._errors.stop()
        return self.exit_code, self.stderr_tail

    async def close(self, polite: bool, patience: float) -> None:
        """End the process and its group, and release what it took.

        Input closed, SIGTERM, SIGKILL; it is not cancelled and lasts four times the
        patience at most.

        Args:
            polite: say ``quit`` and wait; otherwise begin with SIGTERM.
            patience: seconds for each step.
        """
        with anyio.CancelScope(shield=True):
            try:
                await self._close_input(polite, patience)
                if polite:
                    await self.wait(patience)
                if self.exit_code is None:
                    self._terminate_group()
                    await self.wait(patience)
            finally:  # Ctrl-C gets through the shield
                self._kill_group()
                self._errors.stop()
            if await self.wait(patience):
                await self._process.aclose()

    async def _close_input(self, polite: bool, patience: float) -> None:
        if self._process.stdin is None:
            return
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            with anyio.move_on_after(patience):
                if polite:
                    await self._process.stdin.send(b"quit\n")
            await self._process.stdin.aclose()

    def _terminate_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.terminate()
            else:
                os.killpg(self.pid, signal.SIGTERM)

    def _kill_group(self) -> None:
        """Kill whatever is left of the group; once, as the number may be reused."""
        if self._is_group_killed:
            return
        self._is_group_killed = True
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self.pid, signal.SIGKILL)


# The engine


class Genmove(NamedTuple):
    """What an engine answered to ``genmove``.

    Attributes:
        move: a vertex in upper case, ``pass`` or ``resign``.
        seconds: from the command sent to the answer received.
    """

    move: str
    seconds: float


class _Known(NamedTuple):
    """What the engine was told: start and moves, as a `Game` keeps them."""

    start: Position
    moves: list[Move]


async def open_engine(
    command: EngineCommand | str, *, timeout: float = START_SECONDS
) -> "Engine":
    """Start a program and ask it who it is.

    Use as ``async with await open_engine(command) as engine``.

    Args:
        command: how to start it; a text is parsed as a shell would.
        timeout: seconds for each of the first answers.

    Raises:
        StartFailed: it cannot be run, or does not answer; no process is left then.
    """
    if isinstance(command, str):
        command = EngineCommand.parse(command)
    process = await EngineProcess.spawn(command)
    engine = Engine(process.channel(), command.label, process)
    try:
        await engine.start(timeout)
    except BaseException:
        await engine.close()
        raise
    return engine


class Engine:
    """An engine at the other end of a channel, for one task at a time.

    Attributes:
        label: how errors call it.
        protocol_version: its answer; empty before `start`, as the next three are.
        name: its answer.
        version: its answer; may be empty.
        commands: what it lists.
    """

    def __init__(
        self, channel: Channel, label: str, process: EngineProcess | None = None
    ) -> None:
        """Take over a channel and, if there is one, the process behind it."""
        self._channel = channel
        self._process = process
        self.label = label
        self.protocol_version = self.name = self.version = ""
        self.commands: frozenset[str] = frozenset()
        self._ids = count(1)
        self._echoes_ids: bool | None = None  # not known before the first answer
        self._fault: EngineError | None = None
        self._known: _Known | None = None
        self._use = anyio.ResourceGuard("talking to")
        self._is_closed = False

    async def __aenter__(self) -> "Engine":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def pid(self) -> int | None:
        """Process id; None without a process."""
        return None if self._process is None else self._process.pid

    @property
    def stderr_tail(self) -> str:
        """The last 8 KiB the engine wrote to stderr; empty without a process."""
        return "" if self._process is None else self._process.stderr_tail

    async def start(self, timeout: float = START_SECONDS) -> None:
        """Ask for protocol version, name, version and commands; `open_engine` does it.

        Raises:
            StartFailed: one of them is not answered.
        """
        try:
            self.protocol_version = await self._first_answer(timeout)
            questions = ("name", "version", "list_commands")
            answers = await self.send_many(questions, timeout=timeout)
        except EngineError as error:
            raise StartFailed(
                self.label, error.command, error.what, error.stderr_tail
            ) from error
        self.name, self.version, commands = answers
        self.commands = frozenset(map(str.strip, commands.splitlines()))

    async def _first_answer(self, timeout: float) -> str:
        """Return the protocol version; ask again where the id was in the way."""
        try:
            return await self.send("protocol_version", timeout=timeout)
        except Refused:
            if self._echoes_ids:
                raise
            return await self.send("protocol_version", timeout=timeout)

    def knows(self, command: str) -> bool:
        """Tell whether the engine lists a command."""
        return command in self.commands

    async def send(
        self, name: str, *args: str, timeout: float = COMMAND_SECONDS
    ) -> str:
        """Send a command and return the text of the answer.

        Args:
            name: the command.
            args: its arguments.
            timeout: seconds until the answer must be there.

        Raises:
            Refused: the engine answered ``?``.
            EngineError: any other of its kinds; the engine is of no use any more.
        """
        answers = await self.send_many([" ".join((name, *args))], timeout=timeout)
        return answers[0]

    async def send_many(
        self, lines: Iterable[str], *, timeout: float = COMMAND_SECONDS
    ) -> list[str]:
        """Send command lines without waiting in between; return the answers' texts.

        Args:
            lines: commands with their arguments.
            timeout: seconds for each answer, from the one before.

        Raises:
            Refused: the engine answered ``?``, to this command first; the others
                were sent, too.
            EngineError: any other of its kinds; the engine is of no use any more.
        """
        lines = [_checked(line) for line in lines]
        if any(_CHANGES_BOARD.fullmatch(line.partition(" ")[0]) for line in lines):
            self.forget()
        answers = await self._ask(lines, timeout)
        for line, answer in zip(lines, answers, strict=True):
            if not answer.ok:
                raise Refused(self.label, line, answer.text)
        return [answer.text for answer in answers]

    async def genmove(self, color: Color, timeout: float) -> Genmove:
        """Let the engine search and make a move.

        Args:
            color: the side to move.
            timeout: seconds until the answer must be there.

        Raises:
            Refused: the engine answered ``?``.
            EngineError: any other of its kinds; a `ProtocolError` also where the
                answer is no vertex. The engine is of no use any more.
        """
        known = self._known
        text = await self.send("genmove", color.initial, timeout=timeout)
        taken = self._channel.received_at - self._channel.sent_at
        move = text.strip().upper()
        if move in ("PASS", "RESIGN"):
            move = move.lower()
        elif not looks_like_vertex(move):
            what = f"the answer is no move: {text[:_SHOWN]!r}"
            line = f"genmove {color.initial}"
            self._fault = ProtocolError(self.label, line, what, self.stderr_tail)
            raise self._fault
        self._known = _after(known, color, move)
        return Genmove(move, taken / 1e9)

    async def sync(
        self, target: Game | Position, *, timeout: float = COMMAND_SECONDS
    ) -> None:
        """Bring the engine to a position, or to a game's start and moves.

        Only the difference to what it was told last is sent; everything, where it is
        not certain what that was, and where no move is shared.

        Args:
            target: where to bring it.
            timeout: seconds for each command.

        Raises:
            Refused: it refused a command, or lists none that loads the position.
            EngineError: any other of its kinds; the engine is of no use any more.
        """
        wanted = _wanted(target)
        # Sending them forgets what was known, until all have succeeded.
        await self.send_many(self._difference(wanted), timeout=timeout)
        self._known = wanted

    def forget(self) -> None:
        """Let the next `sync` send everything."""
        self._known = None

    async def close(self, patience: float = CLOSE_SECONDS) -> None:
        """End the engine and its process group; idempotent, and never cancelled.

        A healthy engine is told to quit first. See `EngineProcess.close`.

        Args:
            patience: seconds for each step.
        """
        if self._is_closed:
            return
        self._is_closed = True
        if self._process is not None:
            await self._process.close(self._fault is None, patience)

    # Talking

    async def _ask(self, lines: Sequence[str], timeout: float) -> list[gtp.Response]:
        """Return the answers to command lines, or spoil the engine for good."""
        answers: list[gtp.Response] = []
        with self._use:
            if self._is_closed:
                raise Abandoned(self.label, "", "the engine is closed")
            if self._fault is not None:
                raise self._fault.with_traceback(None)
            if not lines:
                return answers
            # Spoilt until all is answered: so is an engine whose owner was cancelled.
            self._fault = Abandoned(self.label, lines[0], "was cancelled")
            try:
                await self._converse(lines, answers, timeout)
            except _BROKEN as error:
                self._fault = await self._blame(error, lines[len(answers)], timeout)
                raise self._fault from error
            self._fault = None
        return answers

    async def _converse(
        self, lines: Sequence[str], answers: list[gtp.Response], timeout: float
    ) -> None:
        """Send some commands at a time, so that neither side's pipe fills up."""
        for first in range(0, len(lines), _WINDOW):
            commands = [self._number(line) for line in lines[first : first + _WINDOW]]
            data = "".join(map(gtp.encode_command, commands)).encode()
            deadline = anyio.current_time() + timeout
            await self._channel.write(data, deadline)
            for command in commands:
                answer = await self._channel.read(deadline)
                self._check_id(command, answer)
                answers.append(answer)
                deadline = anyio.current_time() + timeout

    async def _blame(
        self, error: Exception, command: str, timeout: float
    ) -> EngineError:
        if isinstance(error, TimeoutError):
            return TimedOut(self.label, command, timeout, self.stderr_tail)
        if isinstance(error, gtp.ResponseError):
            return ProtocolError(self.label, command, str(error), self.stderr_tail)
        exit_code, tail = None, ""
        if self._process is not None:
            exit_code, tail = await self._process.autopsy()
        return EngineDied(self.label, command, exit_code, tail)

    def _number(self, line: str) -> gtp.Command:
        """Return a line as a command with an id, unless the engine echoes none."""
        name, *args = line.split()
        number = None if self._echoes_ids is False else next(self._ids)
        return gtp.Command(number, name, tuple(args))

    def _check_id(self, command: gtp.Command, answer: gtp.Response) -> None:
        if self._echoes_ids is None:
            self._echoes_ids = answer.id is not None
        expected = command.id if self._echoes_ids else None
        if answer.id != expected:
            raise gtp.ResponseError(f"id {answer.id} in an answer to id {expected}")

    # Synchronising

    def _difference(self, wanted: _Known) -> list[str]:
        """Return the commands that lead from what the engine was told to the wanted."""
        known = self._known
        if known is None or known.start != wanted.start:
            return self._whole(wanted)
        # Mostly one move is new: whole lists compare faster than their items.
        shared = len(known.moves)
        if wanted.moves[:shared] != known.moves:
            pairs = zip(known.moves, wanted.moves, strict=False)
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        undone = len(known.moves) - shared
        if undone and not (shared and self.knows("undo")):
            return self._whole(wanted)
        return ["undo"] * undone + self._plays(wanted, shared)

    def _whole(self, wanted: _Known) -> list[str]:
        return [*self._opening(wanted.start), *self._plays(wanted, 0)]

    def _opening(self, start: Position) -> list[str]:
        """Return the commands that begin a game at a start position."""
        named = (s for s in setups.offered() if s.size == start.size)
        setup = next((s for s in named if s.position() == start), None)
        if setup is not None and self.knows("tanbo-setup"):
            return [f"tanbo-setup {setup.name}", "clear_board"]
        commands = [self._boardsize(*start.size), "clear_board"]
        if setup is None or setups.for_size(start.size) != setup:
            commands += self._stones(start, is_setup=setup is not None)
        return commands

    def _boardsize(self, width: int, height: int) -> str:
        if width == height:
            return f"boardsize {width}"
        if self.knows("rectangular_boardsize"):
            return f"rectangular_boardsize {width} {height}"
        return f"boardsize {width} {height}"

    def _stones(self, start: Position, *, is_setup: bool) -> list[str]:
        """Return the commands that put a position's stones on the board.

        An engine that lists none may still have a set-up that is not the usual one of
        its size: its own options may have chosen it.
        """
        loader = next(filter(self.knows, ("gogui-setup", "set_position")), None)
        turn = []
        if self.knows("gogui-setup_player"):
            turn = [f"gogui-setup_player {start.to_move.initial}"]
        if loader is None or (start.to_move is not Color.BLACK and not turn):
            if is_setup:
                return []
            text = "it lists no command that loads this position"
            raise Refused(self.label, "gogui-setup", text)
        stones = (
            f"{color.initial} {format_vertex(start.size, point)}"
            for color in Color
            for point in sorted(start.stones(color))
        )
        return [" ".join((loader, *stones)), *turn]

    def _plays(self, wanted: _Known, first: int) -> list[str]:
        """Return the commands that make the moves from a number on."""
        size = wanted.start.size
        moves = [
            f"{color.initial} {'pass' if point is None else format_vertex(size, point)}"
            for color, point in wanted.moves[first:]
        ]
        if len(moves) > 1 and self.knows("gogui-play_sequence"):
            return [" ".join(("gogui-play_sequence", *moves))]
        return [f"play {move}" for move in moves]


def _checked(line: str) -> str:
    """Return a line that engines answer once.

    Raises:
        ValueError: it is empty, a comment, or more than one line.
    """
    if not line.partition("#")[0].strip() or not line.isprintable():
        raise ValueError(f"not one command: {line!r}")
    return line


def _wanted(target: Game | Position) -> _Known:
    if isinstance(target, Position):
        return _Known(target, [])
    return _Known(target.start, list(target.moves))


def _after(known: _Known | None, color: Color, answer: str) -> _Known | None:
    """Return what the engine knows after its own move; None if that is no move."""
    if known is None or answer == "resign":
        return known
    point = None
    if answer != "pass":
        try:
            point = parse_vertex(known.start.size, answer)
        except VertexError:
            return None
    known.moves.append(Move(color, point))
    return known


class SimpleEngine:
    """`Engine` without async: the same methods, which block. A context manager."""

    def __init__(
        self, command: EngineCommand | str, *, timeout: float = START_SECONDS
    ) -> None:
        """Start a program and ask it who it is; see `open_engine`."""
        opening = partial(open_engine, command, timeout=timeout)
        with ExitStack() as stack:
            self._portal = stack.enter_context(start_blocking_portal())
            self._engine = self._portal.call(opening)
            self._stack = stack.pop_all()
        self._is_closed = False

    def __enter__(self) -> "SimpleEngine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def name(self) -> str:
        """What the engine calls itself."""
        return self._engine.name

    @property
    def version(self) -> str:
        """The engine's version; may be empty."""
        return self._engine.version

    @property
    def commands(self) -> frozenset[str]:
        """What the engine lists."""
        return self._engine.commands

    def knows(self, command: str) -> bool:
        """See `Engine.knows`."""
        return self._engine.knows(command)

    def send(self, name: str, *args: str, timeout: float = COMMAND_SECONDS) -> str:
        """See `Engine.send`."""
        return self._call(partial(self._engine.send, name, *args, timeout=timeout))

    def send_many(
        self, lines: Iterable[str], *, timeout: float = COMMAND_SECONDS
    ) -> list[str]:
        """See `Engine.send_many`."""
        return self._call(partial(self._engine.send_many, lines, timeout=timeout))

    def genmove(self, color: Color, timeout: float) -> Genmove:
        """See `Engine.genmove`."""
        return self._call(partial(self._engine.genmove, color, timeout))

    def sync(
        self, target: Game | Position, *, timeout: float = COMMAND_SECONDS
    ) -> None:
        """See `Engine.sync`."""
        self._call(partial(self._engine.sync, target, timeout=timeout))

    def forget(self) -> None:
        """See `Engine.forget`."""
        self._engine.forget()

    def close(self, patience: float = CLOSE_SECONDS) -> None:
        """See `Engine.close`."""
        if self._is_closed:
            return
        self._is_closed = True
        with self._stack:
            self._portal.call(self._engine.close, patience)

    def _call(self, method: Callable[[], Awaitable[_Result]]) -> _Result:
        if self._is_closed:
            raise Abandoned(self._engine.label, "", "the engine is closed")
        return self._portal.call(method)
