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

from protocol.client.channel import MAX_RESPONSE, Channel
from protocol.client.engine import (
    CLOSE_SECONDS,
    COMMAND_SECONDS,
    START_SECONDS,
    Engine,
    Genmove,
    open_engine,
)
from protocol.client.errors import (
    Abandoned,
    EngineDied,
    EngineError,
    ProtocolError,
    Refused,
    StartFailed,
    TimedOut,
)
from protocol.client.process import EngineCommand, EngineProcess
from protocol.client.simple import SimpleEngine

__all__ = [
    "CLOSE_SECONDS",
    "COMMAND_SECONDS",
    "MAX_RESPONSE",
    "START_SECONDS",
    "Abandoned",
    "Channel",
    "Engine",
    "EngineCommand",
    "EngineDied",
    "EngineError",
    "EngineProcess",
    "Genmove",
    "ProtocolError",
    "Refused",
    "SimpleEngine",
    "StartFailed",
    "TimedOut",
    "open_engine",
]
