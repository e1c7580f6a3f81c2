"""`tanbo-engine serve`: GTP on TCP, one session a connection.

TCP does not tell a client that has gone from one that has only said its last. So the
end of a connection's input ends its searches, which answer with what they have.
"""

import asyncio
import sys
import traceback
from collections.abc import Sequence
from contextlib import closing, suppress
from itertools import count
from typing import Annotated

import anyio
import msgspec
from anyio.abc import SocketAttribute, SocketStream
from msgspec import Meta

from protocol import config, dispatch, gtp
from protocol.options import Parser, SettingsError, load
from protocol.server import CHUNK, CHUNKS_AHEAD, Inbox, converse
from protocol.session import Input, Session, Work
from protocol.transcript import Transcript, open_transcript
from tanbo_engine.wording import counted, timed

MAX_LINE = 1 << 16
"""Longest line of a connection in bytes."""

_PARTING_SECONDS = 1.0
_GONE = (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Settings(config.Settings, kw_only=True, frozen=True, rename="kebab"):
    """What a person may choose; the memory is shared by all connections."""

    port: (
        Annotated[
            int,
            Meta(
                ge=0,
                le=65535,
                description="TCP port (0: any free one, told on stderr)",
                extra={"metavar": "P"},
            ),
        ]
        | None
    ) = None
    host: Annotated[
        str,
        Meta(description="address to listen on (default 127.0.0.1: this machine only)"),
    ] = "127.0.0.1"
    connections: Annotated[
        int,
        Meta(
            ge=1,
            le=32,
            description="connections at a time, which share --memory (default 8)",
            extra={"metavar": "N"},
        ),
    ] = 8
    idle: Annotated[
        float,
        Meta(
            gt=0,
            le=1_000_000,
            description="seconds after which a connection without input, or whose "
            "answers are not read, is closed (default 600)",
            extra={"metavar": "SECONDS"},
        ),
    ] = 600.0


class SocketSession(Session):
    """A session that the other end of a connection controls.

    Attributes:
        is_idle: no input has come for too long.
    """

    def __init__(
        self, settings: config.Settings, transcript: Transcript, idle: float
    ) -> None:
        super().__init__(settings, transcript)
        self.may_use_files = False
        self.is_idle = False
        self._idle = idle

    def begin(self, ended_by: Input = Input.INTERRUPT) -> Work:
        """Begin work; what only input would end is ended when none comes for long."""
        work = super().begin(ended_by)
        if Input.END in ended_by:
            loop = asyncio.get_running_loop()
            loop.call_later(self._idle, self._tire_of, work)
        return work

    def _tire_of(self, work: Work) -> None:
        if not work.is_ended:
            self.is_idle = True
            work.end()

    def input_arrived(self, what: Input) -> None:
        """Take note of input; its end ends any work."""
        super().input_arrived(what)
        if Input.END in what:
            self.stop()


class _PatientInbox(Inbox):
    """An inbox that counts as ended when no line comes for too long."""

    def __init__(
        self, session: SocketSession, room: anyio.Semaphore, idle: float
    ) -> None:
        super().__init__(session.input_arrived, room.release, MAX_LINE)
        self._session = session
        self._idle = idle

    async def has_line(self) -> bool:
        """Wait for a line; tell whether there is one."""
        if not self._session.is_idle:
            with anyio.move_on_after(self._idle):
                return await super().has_line()
            self._session.is_idle = True
        return False


class Server:
    """All connections, and their limits."""

    def __init__(self, settings: Settings) -> None:
        """Prepare.

        Raises:
            SettingsError: unknown set-up or size, too little memory, or a log that
                cannot be written.
        """
        config.start_setup(settings)
        _check_log(settings.log)
        share = settings.memory // settings.connections
        if not share:
            raise SettingsError(
                f"{counted(settings.connections, 'connection')} need at least --memory "
                f"{settings.connections}, got {settings.memory}"
            )
        self._settings = settings
        self._each = msgspec.structs.replace(settings, memory=share)
        self._numbers = count(1)
        self._open = 0

    async def serve(self, stream: SocketStream) -> None:
        """Serve a connection to its end, whatever happens in it."""
        async with stream:
            if self._open >= self._settings.connections:
                await _refuse(
                    stream,
                    f"too many connections: at most {self._settings.connections}",
                )
                return
            self._open += 1
            try:
                await self._occupy(stream)
            except Exception:  # a bug: the other connections go on
                traceback.print_exc()
            finally:
                self._open -= 1

    async def _occupy(self, stream: SocketStream) -> None:
        log, number = self._settings.log, next(self._numbers)
        transcript = Transcript() if log is None else open_transcript(log, f"{number} ")
        with closing(transcript):
            session = SocketSession(self._each, transcript, self._settings.idle)
            peer = stream.extra(SocketAttribute.remote_address)  # noqa: S610 (no Django)
            session.note(f"from {peer}")
            await self._converse(stream, session)

    async def _converse(self, stream: SocketStream, session: SocketSession) -> None:
        idle = self._settings.idle
        room = anyio.Semaphore(CHUNKS_AHEAD)
        inbox = _PatientInbox(session, room, idle)

        async def emit(text: str) -> None:
            try:
                with anyio.fail_after(idle):
                    await stream.send(text.encode("ascii"))
            except (TimeoutError, *_GONE) as error:
                raise dispatch.Unheard from error

        async with anyio.create_task_group() as group:
            group.start_soon(_read, stream, session, inbox, room)
            await converse(session, inbox, emit)
            group.cancel_scope.cancel()
        if session.is_idle:
            await _refuse(stream, f"no input for {timed(idle)}")
        else:
            await _part(stream)


def _check_log(log: str | None) -> None:
    if log is None:
        return
    try:
        open_transcript(log).close()
    except OSError as error:
        raise SettingsError(f"cannot write the log {log}: {error.strerror}") from error


async def _read(
    stream: SocketStream, session: Session, inbox: Inbox, room: anyio.Semaphore
) -> None:
    """Deliver what a connection sends, until its end or its loss."""
    while True:
        await room.acquire()
        try:
            chunk = await stream.receive(CHUNK)
        except anyio.EndOfStream:
            inbox.deliver(b"")
            return
        except _GONE:
            inbox.close()
            session.stop()
            return
        inbox.deliver(chunk)


async def _refuse(stream: SocketStream, text: str) -> None:
    """Say why a connection is closed, and part from it."""
    response = gtp.encode_response(gtp.Response(False, text))
    with suppress(*_GONE), anyio.move_on_after(_PARTING_SECONDS):
        await stream.send(response.encode("ascii"))
    await _part(stream)


async def _part(stream: SocketStream) -> None:
    """End the output and wait a little for the other end to do the same.

    A socket that is closed with input unread takes back what it has sent.
    """
    with (
        suppress(anyio.EndOfStream, *_GONE),
        anyio.move_on_after(_PARTING_SECONDS),
    ):
        await stream.send_eof()
        while True:
            await stream.receive(CHUNK)


async def serve(settings: Settings) -> None:
    """Serve connections until the process ends.

    Raises:
        SettingsError: an unusable setting, or nobody can listen there.
    """
    server = Server(settings)
    host, port = settings.host, settings.port or 0
    try:
        listener = await anyio.create_tcp_listener(local_host=host, local_port=port)
    except OSError as error:
        text = f"cannot listen on {host}, port {port}: {error.strerror or error}"
        raise SettingsError(text) from error
    async with listener:
        port = listener.extra(SocketAttribute.local_port)  # noqa: S610 (no Django)
        print(f"listening on {host}, port {port}", file=sys.stderr, flush=True)
        await listener.serve(server.serve)


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    parser = Parser(
        "tanbo-engine serve",
        "Serves GTP on TCP, one session a connection. Commands that touch files are "
        "refused; there is no encryption and no password.",
    )
    parser.add_settings(Settings)
    options = vars(parser.parse_args(arguments))
    file = options.pop("config", None)
    try:
        settings = load(Settings, options, file, config.EXCLUSIVE)
        if settings.port is None:
            parser.error("--port is needed")
        anyio.run(serve, settings)
    except SettingsError as error:
        parser.error(str(error))
    return 0
