"""An engine at the other end of a channel: commands, moves, positions."""

# ruff: noqa: ASYNC109 (a time-out here ends the engine, so each call has its own)

from collections.abc import Iterable, Sequence
from itertools import count
from typing import NamedTuple

import anyio

from protocol import gtp
from protocol.client.channel import BROKEN, Channel
from protocol.client.errors import (
    SHOWN,
    Abandoned,
    EngineDied,
    EngineError,
    ProtocolError,
    Refused,
    StartFailed,
    TimedOut,
)
from protocol.client.process import EngineCommand, EngineProcess
from protocol.client.sync import Guide, Known, after_move, changes_board, wanted_by
from tanbo_engine.game import Game
from tanbo_engine.points import Color, check_color, looks_like_vertex
from tanbo_engine.rules import Position
from tanbo_engine.wording import short

COMMAND_SECONDS = 15.0
"""Longest wait for the answer to a command that does not search."""

START_SECONDS = 30.0
"""Longest wait for each of the first answers, while the engine loads what it needs."""

CLOSE_SECONDS = 2.0
"""Patience with each step of closing: after quit, after SIGTERM, after SIGKILL."""

_WINDOW = 32


class Genmove(NamedTuple):
    """What an engine answered to ``genmove``.

    Attributes:
        move: a vertex in upper case, ``pass`` or ``resign``.
        seconds: from the command sent to the answer received.
    """

    move: str
    seconds: float


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
        TypeError: neither text nor `EngineCommand`.
    """
    if isinstance(command, str):
        command = EngineCommand.parse(command)
    elif not isinstance(command, EngineCommand):
        raise TypeError(f"a command is a text or an EngineCommand, not {command!r}")
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
        self._known: Known | None = None
        self._guide = Guide(label, self.knows)
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
        if any(changes_board(line.partition(" ")[0]) for line in lines):
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
            TypeError: no `Color`; nothing is sent then.
        """
        check_color(color)
        known = self._known
        text = await self.send("genmove", color.initial, timeout=timeout)
        taken = self._channel.received_at - self._channel.sent_at
        move = text.strip().upper()
        if move in ("PASS", "RESIGN"):
            move = move.lower()
        elif not looks_like_vertex(move):
            what = f"the answer is no move: {short(text, SHOWN)!r}"
            line = f"genmove {color.initial}"
            self._fault = ProtocolError(self.label, line, what, self.stderr_tail)
            raise self._fault
        self._known = after_move(known, color, move)
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
        wanted = wanted_by(target)
        lines = self._guide.difference(self._known, wanted)
        # Sending them forgets what was known, until all have succeeded.
        await self.send_many(lines, timeout=timeout)
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
            except BROKEN as error:
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


def _checked(line: str) -> str:
    """Return a line that engines answer once.

    Raises:
        ValueError: it is empty, a comment, or more than one line.
    """
    if not line.partition("#")[0].strip() or not line.isprintable():
        raise ValueError(f"not one command: {line!r}")
    return line
