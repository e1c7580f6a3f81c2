"""The stdio server: lines in, responses out, one process, one session.

A daemon thread reads the input, so that it is taken in while a search runs, in a way
that works for pipes, files, terminals and sockets on every platform.
"""

import asyncio
import os
import select
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress

import anyio

from protocol import dispatch
from protocol.commands.table import Emit
from protocol.session import NO_INPUT, Input, Session

MAX_LINE = 1 << 20
"""Longest line in bytes; a longer one is answered as a failure."""

CHUNK = 1 << 16
"""Most bytes that are read at a time."""

CHUNKS_AHEAD = 16
"""Most chunks with lines that nobody has taken yet."""

Line = bytes | None
"""A line without its end; None stands for one that was too long."""


class LineSplitter:
    """Cuts chunks of bytes into lines and forgets what is too long."""

    def __init__(self, longest: int = MAX_LINE) -> None:
        self._longest = longest
        self._begun = bytearray()
        self._is_too_long = False

    def feed(self, chunk: bytes) -> list[Line]:
        """Return the lines that this chunk completes."""
        *ends, rest = chunk.split(b"\n")
        lines = []
        for end in ends:
            self._extend(end)
            lines.append(self._take())
        self._extend(rest)
        return lines

    def end(self) -> list[Line]:
        """Return the last line if its end is missing."""
        return [self._take()] if self._begun or self._is_too_long else []

    def _extend(self, part: bytes) -> None:
        if len(self._begun) + len(part) > self._longest:
            self._is_too_long = True
        if self._is_too_long:
            self._begun.clear()
        else:
            self._begun += part

    def _take(self) -> Line:
        line = None if self._is_too_long else bytes(self._begun)
        self._begun.clear()
        self._is_too_long = False
        return line


class Inbox:
    """The lines of an input, whose chunks someone delivers as they come."""

    def __init__(
        self,
        arrived: Callable[[Input], None],
        done: Callable[[], object],
        longest: int = MAX_LINE,
    ) -> None:
        """Prepare.

        Args:
            arrived: told, also while a command runs, what came in.
            done: called when all lines of a chunk have been taken.
            longest: of all lines, in bytes.
        """
        self._arrived = arrived
        self._done = done
        self._longest = longest
        self._splitter = LineSplitter(longest)
        self._batches: deque[deque[Line]] = deque()
        self._interrupts = 0
        self._changed = anyio.Event()
        self._is_ended = False

    async def has_line(self) -> bool:
        """Wait for a line; tell whether there is one, or the input has ended."""
        while not self._batches:
            if self._is_ended:
                return False
            self._changed = anyio.Event()
            await self._changed.wait()
        return True

    def take(self) -> Line:
        """Return the next line, which must be there."""
        line = self._batches[0].popleft()
        if not self._batches[0]:
            self._batches.popleft()
            self._done()
        self._interrupts -= is_interrupt(line)
        return line

    @property
    def waiting(self) -> Input:
        """What is behind the lines that were taken."""
        waiting = Input.LINE if self._batches else NO_INPUT
        if self._interrupts:
            waiting |= Input.INTERRUPT
        return waiting | Input.END if self._is_ended else waiting

    def close(self) -> None:
        """End the input here, whatever is left in it."""
        self._batches.clear()
        self._is_ended = True
        self._changed.set()

    def deliver(self, chunk: bytes) -> None:
        """Take a chunk in, also while a command runs; an empty one is the end."""
        if self._is_ended:
            return
        self._is_ended = not chunk
        lines = self._splitter.feed(chunk) if chunk else self._splitter.end()
        if lines:
            self._batches.append(deque(lines))
            self._interrupts += sum(map(is_interrupt, lines))
        else:
            self._done()
        self._changed.set()
        self._arrived(self.waiting)

    @property
    def too_long(self) -> str:
        """What is answered to a line that was too long."""
        return f"line too long: use at most {self._longest} bytes"


def read_ahead(descriptor: int, arrived: Callable[[Input], None]) -> Inbox:
    """Return an inbox that a thread fills; call it in the event loop.

    Args:
        descriptor: what to read.
        arrived: told in the event loop, also while a command runs, what came in.
    """
    room = threading.Semaphore(CHUNKS_AHEAD)
    inbox = Inbox(arrived, room.release)
    loop = asyncio.get_running_loop()

    def read() -> None:
        while True:
            room.acquire()
            chunk = _read_chunk(descriptor)
            try:
                loop.call_soon_threadsafe(inbox.deliver, chunk)
            except RuntimeError:  # the loop is closed: the process is ending
                return
            if not chunk:
                return

    threading.Thread(target=read, name="input", daemon=True).start()
    return inbox


def is_interrupt(line: Line) -> bool:
    """Tell whether a line is GoGui's ``# interrupt``."""
    return line is not None and line[:1] == b"#" and line[1:].strip() == b"interrupt"


def _read_chunk(descriptor: int) -> bytes:
    """Wait for input and return it, nothing at its end."""
    while True:
        try:
            return os.read(descriptor, CHUNK)
        except BlockingIOError:  # someone made the descriptor non-blocking
            select.select((descriptor,), (), ())
        except OSError:  # closed, or a terminal that went away
            return b""


async def serve(session: Session, source: int = 0, sink: int = 1) -> None:
    """Answer every line of the source in order, until its end or `quit`.

    Ends at once, too, when nobody reads the sink any more.

    Args:
        session: the state to serve.
        source: descriptor to read.
        sink: descriptor to write.

    Raises:
        OSError: the sink cannot be written.
    """
    failures: list[OSError] = []
    inbox = read_ahead(source, session.input_arrived)
    session.show = _show

    def abandon() -> None:
        inbox.close()
        session.stop()

    async def emit(text: str) -> None:
        try:
            write_all(sink, text.encode("ascii"))
        except OSError as error:
            failures.append(error)
            raise dispatch.Unheard from error

    watch(sink, abandon)
    await converse(session, inbox, emit)
    raise_unless_gone(failures)


def raise_unless_gone(failures: Sequence[OSError]) -> None:
    """Raise the first failure to write, unless the reader has just gone."""
    for failure in failures:
        if not isinstance(failure, ConnectionError):
            raise failure


async def converse(session: Session, inbox: Inbox, emit: Emit) -> None:
    """Answer every line of an inbox in order, until its end or `quit`.

    Args:
        session: the state to serve.
        inbox: its input.
        emit: takes its output; what raises `dispatch.Unheard` ends it, too.
    """
    with suppress(dispatch.Unheard):
        while not session.closing and await _has_line(session, inbox):
            line = inbox.take()
            session.waiting = inbox.waiting
            reply = await _reply(session, inbox, line, emit)
            if reply is not None:
                await emit(reply)


async def _has_line(session: Session, inbox: Inbox) -> bool:
    """Wait for a line, as `Inbox.has_line`; the session may ponder meanwhile."""
    session.waiting = inbox.waiting
    if session.waiting or not session.may_ponder:
        return await inbox.has_line()
    async with anyio.create_task_group() as group:
        work = session.begin(Input.LINE | Input.END)
        group.start_soon(session.ponder, work)
        has_line = await inbox.has_line()
        work.end()  # an idle connection is closed without any input
    return has_line


async def _reply(session: Session, inbox: Inbox, line: Line, emit: Emit) -> str | None:
    if line is None:
        return dispatch.refuse(session, inbox.too_long)
    return await dispatch.handle(session, line.decode("utf-8", "replace"), emit)


def _show(text: str) -> None:
    """Write to stderr, where nobody has to read."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(text, end="", file=sys.stderr, flush=True)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all the data, however many calls it takes.

    Raises:
        OSError: nobody reads.
    """
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:  # someone made the descriptor non-blocking
            select.select((), (descriptor,), ())


def watch(descriptor: int, gone: Callable[[], None]) -> None:
    """Call back in the event loop once nobody reads the descriptor any more.

    Where the platform cannot tell, the next write will.
    """
    if not hasattr(select, "poll"):
        return
    loop = asyncio.get_running_loop()
    poller = select.poll()
    poller.register(descriptor, 0)  # errors and hang-ups are always reported

    def wait() -> None:
        poller.poll()
        try:
            loop.call_soon_threadsafe(gone)
        except RuntimeError:
            return  # the loop is closed: the process is ending

    threading.Thread(target=wait, name="output watch", daemon=True).start()
