"""The stdio server: lines in, responses out, one process, one session.

A daemon thread reads the input, so that it is taken in while a search runs, in a way
that works for pipes, files, terminals and sockets on every platform.
"""

import asyncio
import os
import select
import threading
from collections import deque
from collections.abc import Callable

import anyio

from protocol import dispatch
from protocol.session import Session

MAX_LINE = 1 << 20
"""Longest line in bytes; a longer one is answered as a failure."""

_CHUNK = 1 << 16
_CHUNKS_AHEAD = 16

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
    """The lines of an input descriptor, read ahead by a thread within bounds."""

    def __init__(self, descriptor: int) -> None:
        """Begin to read; call it in the event loop."""
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._splitter = LineSplitter()
        self._batches: deque[list[Line]] = deque()
        self._changed = anyio.Event()
        self._is_ended = False
        self._room = threading.Semaphore(_CHUNKS_AHEAD)
        threading.Thread(target=self._read, name="input", daemon=True).start()

    async def next_batch(self) -> list[Line] | None:
        """Return the next lines that came together, None at the end of the input."""
        while not self._batches:
            if self._is_ended:
                return None
            self._changed = anyio.Event()
            await self._changed.wait()
        self._room.release()
        return self._batches.popleft()

    def close(self) -> None:
        """End the input here, whatever is left in it."""
        self._batches.clear()
        self._is_ended = True
        self._changed.set()

    def _read(self) -> None:
        """Hand chunks over to the event loop; runs in the thread."""
        while True:
            self._room.acquire()
            chunk = _read_chunk(self._descriptor)
            try:
                self._loop.call_soon_threadsafe(self._deliver, chunk)
            except RuntimeError:  # the loop is closed: the process is ending
                return
            if not chunk:
                return

    def _deliver(self, chunk: bytes) -> None:
        """Take a chunk in, also while a command runs: input can interrupt it here."""
        if self._is_ended:
            return
        self._is_ended = not chunk
        lines = self._splitter.feed(chunk) if chunk else self._splitter.end()
        self._batches.append(lines)
        self._changed.set()


def _read_chunk(descriptor: int) -> bytes:
    """Wait for input and return it, nothing at its end."""
    while True:
        try:
            return os.read(descriptor, _CHUNK)
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
    """
    inbox = Inbox(source)

    def abandon() -> None:
        inbox.close()
        session.stop()

    _watch(sink, abandon)
    try:
        while (batch := await inbox.next_batch()) is not None:
            for line in batch:
                await _answer(session, line, sink)
                if session.closing:
                    return
    except OSError:
        return  # nobody reads


async def _answer(session: Session, line: Line, sink: int) -> None:
    reply = (
        dispatch.refuse(session, f"line too long: use at most {MAX_LINE} bytes")
        if line is None
        else await dispatch.handle(session, line.decode("utf-8", "replace"))
    )
    if reply is not None:
        write_all(sink, reply.encode("ascii"))


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


def _watch(descriptor: int, gone: Callable[[], None]) -> None:
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
