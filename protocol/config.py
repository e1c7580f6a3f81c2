"""The engine's settings: one typed definition for command line and TOML file."""

import re
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from protocol.options import SettingsError
from tanbo_engine import setups
from tanbo_engine.levels import LEVELS, STRONGEST
from tanbo_engine.player import MOST_THREADS, usable_threads
from tanbo_engine.points import Size
from tanbo_engine.wording import short

DEFAULT_SECONDS = 1.0
"""Thinking time a move when neither time nor nodes are set."""

PARAMS = (
    "time",
    "nodes",
    "level",
    "variety",
    "resign",
    "ponder",
    "memory",
    "threads",
    "player",
    "seed",
)
"""Settings that can be changed while the engine runs."""

PARAM_ALIASES = {
    "maxTime": "time",
    "maxVisits": "nodes",
    "ponderingEnabled": "ponder",
    "numSearchThreads": "threads",
}
"""KataGo's words for some of them."""

EXCLUSIVE = ("size", "setup")
"""One of them on the command line beats the other in a file."""

_SIZE = r"([0-9]{1,2})(?:[xX:]([0-9]{1,2}))?"


Name = Annotated[
    str, Meta(description="start position, such as dense-7x7 or classic-9x9")
]
SizeText = Annotated[
    str,
    Meta(
        description="board size, width x height, such as 7x9",
        extra={"expected": 'text such as "7x9"'},
    ),
]
Seconds = Annotated[
    float,
    Meta(
        gt=0,
        le=1_000_000,
        description="thinking time a move in seconds where no clock runs "
        f"(default {DEFAULT_SECONDS:g}; no limit if --nodes is given)",
        extra={"metavar": "SECONDS"},
    ),
]
Visits = Annotated[
    int,
    Meta(
        ge=1,
        le=1_000_000_000,
        description="visits a move at most",
        extra={"metavar": "N"},
    ),
]
Level = Annotated[
    int,
    Meta(
        ge=min(LEVELS),
        le=STRONGEST,
        description=f"strength, {min(LEVELS)} (beginner) to {STRONGEST} (full, the "
        "default); --time and --nodes hold as well",
        extra={"metavar": "N"},
    ),
]
Megabytes = Annotated[
    int,
    Meta(
        ge=1,
        le=1_048_576,
        description="bound of the search tree in megabytes (default 256)",
        extra={"metavar": "MB"},
    ),
]
Threads = Annotated[
    int,
    Meta(
        ge=1,
        le=MOST_THREADS,
        description="threads that search, one a core at most (default: as many as "
        "there are cores; one with --seed)",
        extra={"metavar": "N"},
    ),
]
Player = Annotated[
    Literal["auto", "puct", "alphabeta", "puct0", "uct"],
    Meta(
        description="who plays: auto (the strongest, the default: alphabeta for a move "
        "by time, puct where moves are compared), puct, alphabeta, or a fixed "
        "yardstick: puct0 (PUCT as first built), uct (plain Monte Carlo)",
        extra={"metavar": "NAME", "expected": "auto, puct, alphabeta, puct0 or uct"},
    ),
]
Seed = Annotated[
    int,
    Meta(
        ge=0,
        le=2**63 - 1,
        description="seed of every random choice (default: drawn and logged)",
        extra={"metavar": "N"},
    ),
]
File = Annotated[
    str,
    Meta(description="append a transcript to this file", extra={"metavar": "FILE"}),
]


class Settings(
    msgspec.Struct,
    kw_only=True,
    frozen=True,
    forbid_unknown_fields=True,
    rename="kebab",
):
    """What a person may choose; None where the engine chooses."""

    size: SizeText | None = None
    setup: Name | None = None
    canvas: Annotated[
        bool, Meta(description="show a rectangular board on a square, for GoGui")
    ] = False
    lock_size: Annotated[bool, Meta(description="refuse every other board size")] = (
        False
    )
    time: Seconds | None = None
    nodes: Visits | None = None
    level: Level = STRONGEST
    variety: Annotated[
        float,
        Meta(
            ge=0,
            le=1,
            description="how much opening moves vary among good ones, from 0 (the "
            "default: as the search says) to 1",
            extra={"metavar": "X"},
        ),
    ] = 0.0
    resign: Annotated[
        float,
        Meta(
            ge=0,
            le=50,
            description="genmove resigns when for three own moves in a row the chance "
            "to win was below this, at most 50 (default 0: never)",
            extra={"metavar": "PERCENT"},
        ),
    ] = 0.0
    ponder: Annotated[
        bool, Meta(description="search on while the opponent thinks, after a genmove")
    ] = False
    memory: Megabytes = 256
    threads: Threads | None = None
    player: Player = "auto"
    seed: Seed | None = None
    accept_start_stones: Annotated[
        bool,
        Meta(
            description="accept play of stones that stand at the start, "
            "for boards that begin empty"
        ),
    ] = False
    log: File | None = None


def thread_count(chosen: int | None, seed: int | None) -> int:
    """Return how many threads search; a seed implies one, so that it is obeyed."""
    if chosen is not None:
        return usable_threads(chosen)
    return usable_threads() if seed is None else 1


def start_setup(settings: Settings) -> setups.Setup:
    """Return the set-up to begin with.

    Raises:
        SettingsError: an unknown set-up or size, or a set-up of another size.
    """
    size = None if settings.size is None else _parse_size(settings.size)
    try:
        if settings.setup is None and size is not None:
            return setups.for_size(size)
        chosen = setups.by_name(settings.setup or setups.DEFAULT)
    except setups.UnknownSetup as error:
        raise SettingsError(str(error)) from error
    if size not in (None, chosen.size):
        raise SettingsError(f"the set-up {chosen.name} has not the size {size}")
    return chosen


def _parse_size(text: str) -> Size:
    match = re.fullmatch(_SIZE, text)
    if match is None:
        raise SettingsError(f"invalid size {short(text)!r}: use WxH, such as 7x9")
    return Size(int(match[1]), int(match[2] or match[1]))
