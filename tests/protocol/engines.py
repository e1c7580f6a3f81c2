"""Helpers of the controller's tests: an engine in memory, processes that misbehave."""

import os
import re
import sys
import time
from collections import deque
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteReceiveStream, ByteSendStream

from protocol.client import (
    Channel,
    Engine,
    EngineCommand,
    EngineError,
)
from tanbo_engine import setups
from tanbo_engine.game import Game
from tanbo_engine.points import Color

BAD_ENGINE = Path(__file__).with_name("bad_engine.py")
BLACK, WHITE = Color
FOREVER = 3600
SLACK = 0.4
"""Seconds that a busy machine may add to a wait."""


class Mock(ByteReceiveStream, ByteSendStream):
    """The streams of an engine that is told what to expect and reply.

    A reply is ``= text`` or ``? text``, to which the id is added, or bytes as they
    are. Lines that are not expected get the default reply, if there is one.
    """

    def __init__(self, default: str | None = None, chunk: int = 1 << 16) -> None:
        self.heard: list[str] = []
        self.batches: list[int] = []
        self.default = default
        self.chunk = chunk
        self.expected: deque[tuple[str, str | bytes]] = deque()
        self.is_ended = False
        self._pending = bytearray()
        self._changed = anyio.Event()

    def expect(self, line: str, reply: str | bytes) -> None:
        self.expected.append((line, reply))

    def say(self, data: bytes) -> None:
        self._pending += data
        self._changed.set()

    async def send(self, item: bytes) -> None:
        lines = item.decode().splitlines()
        self.batches.append(len(lines))
        for line in lines:
            match = re.fullmatch(r"(?:(\d+) )?(.*)", line)
            assert match is not None
            self.heard.append(match[2])
            self.say(self._reply(match[1] or "", match[2]))

    def _reply(self, number: str, line: str) -> bytes:
        reply: str | bytes | None = self.default
        if self.expected:
            expected, reply = self.expected.popleft()
            assert line == expected
        assert reply is not None, line
        if isinstance(reply, bytes):
            return reply
        return f"{reply[0]}{number}{reply[1:]}\n\n".encode()

    async def receive(self, max_bytes: int = 1 << 16) -> bytes:
        while not self._pending:
            if self.is_ended:
                raise anyio.EndOfStream
            self._changed = anyio.Event()
            await self._changed.wait()
        data = bytes(self._pending[: min(max_bytes, self.chunk)])
        del self._pending[: len(data)]
        return data

    async def aclose(self) -> None:
        self.is_ended = True


def talking(mock: Mock) -> Engine:
    return Engine(Channel(mock, mock), "mock")


async def started(mock: Mock, *commands: str) -> Engine:
    """Return a started engine that lists these commands."""
    mock.expect("protocol_version", "= 2")
    mock.expect("name", "= Mock")
    mock.expect("version", "= 1.5")
    mock.expect("list_commands", f"= {chr(10).join(commands)}")
    engine = talking(mock)
    await engine.start()
    mock.heard.clear()
    mock.batches.clear()
    return engine


async def is_spoilt(engine: Engine, error: EngineError) -> bool:
    """Tell whether the next command fails with this error, at once."""
    with pytest.raises(EngineError) as again:
        await engine.send("name", timeout=FOREVER)
    return again.value is error


def game_of(setup: str, *vertices: str) -> Game:
    """Return a game of legal moves: the first ones, unless vertices are given."""
    game = Game(setups.by_name(setup).position())
    columns = "ABCDEFGHJ"
    for vertex in vertices:
        row = int(vertex[1:]) - 1
        game.play(row * game.size.width + columns.index(vertex[0]))
    return game


def bad(*options: str) -> EngineCommand:
    argv = (sys.executable, "-P", str(BAD_ENGINE), *options)
    return EngineCommand(argv, label="bad")


def python(code: str) -> EngineCommand:
    return EngineCommand((sys.executable, "-S", "-c", code), label="python")


def group_is_gone(group: int | None) -> bool:
    """Wait until no process of the group is left; init has to collect orphans."""
    assert group is not None
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.005)
    return False


ANSWERS = """
import sys
def answer(text=""):
    number = sys.stdin.readline().split()[0]
    print(f"={number} {text}", end="\\n\\n", flush=True)
for text in ("2", "name", "version", "play"):
    answer(text)
"""
"""The beginning of an engine in a few lines."""
