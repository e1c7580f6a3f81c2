"""GTP over any pair of byte streams: responses, each read within a deadline."""

import time
from collections.abc import Callable

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream

from protocol import gtp
from protocol.client.errors import SHOWN
from tanbo_engine.wording import short

MAX_RESPONSE = 16 << 20
"""Longest response in bytes."""

BROKEN = (
    OSError,
    gtp.ResponseError,
    anyio.EndOfStream,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
)
"""What a channel raises when the engine does not keep to the protocol."""

_CHUNK = 1 << 16
_WATCH_SECONDS = 0.25


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
        line = bytes(self._buffer[: 4 * SHOWN]).splitlines()[0]
        return repr(short(line.decode("utf-8", "replace"), SHOWN))


def _end_of_response(buffer: bytearray, begin: int) -> int | None:
    """Return the index after the first empty line, LF or CRLF; None without one."""
    plain = buffer.find(b"\n\n", begin)
    wide = buffer.find(b"\n\r\n", begin, plain + 2 if plain >= 0 else len(buffer))
    if wide >= 0:
        return wide + 3
    return plain + 2 if plain >= 0 else None
