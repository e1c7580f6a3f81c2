"""Engines for scripts without async."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import ExitStack
from functools import partial
from typing import TypeVar

from anyio.from_thread import start_blocking_portal

from protocol.client.engine import (
    CLOSE_SECONDS,
    COMMAND_SECONDS,
    START_SECONDS,
    Genmove,
    open_engine,
)
from protocol.client.errors import Abandoned
from protocol.client.process import EngineCommand
from tanbo_engine.game import Game
from tanbo_engine.points import Color
from tanbo_engine.rules import Position

_Result = TypeVar("_Result")


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
