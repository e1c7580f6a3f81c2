"""Openings: the first plies of a pair, the same for every pairing of engines.

Opening k is a function of the seed and k alone, so that a run that continues, or
another pairing, gets the same one.
"""

import random
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from protocol.files import read_whole
from tanbo_engine._kernel import Search, StopFlag
from tanbo_engine.game import Game
from tanbo_engine.points import VertexError, format_vertex, parse_vertex
from tanbo_engine.rules import IllegalMove
from tanbo_engine.setups import Setup, by_name

_VISITS = 300
_BALANCE = 0.12
_TRIES = 64
_MEMORY = 8 << 20
_MOST_BYTES = 1 << 26  # of an openings file

_SEARCHING = threading.Lock()
"""Slots draw openings in threads of their own; the search is one for all."""


class OpeningError(ValueError):
    """An openings file cannot be used; the message says which line and why."""


def random_opening(setup: Setup, seed: int, number: int, plies: int) -> tuple[str, ...]:
    """Return random legal plies after which a short search sees both sides level.

    The search's win probability lies within 0.12 of even; if no try of 64 does, the
    most level one is taken.
    """
    best: tuple[float, tuple[str, ...]] | None = None
    for attempt in range(_TRIES):
        generator = random.Random(f"{setup.name} {seed} {number} {attempt}")  # noqa: S311
        game = Game(setup.position())
        for _ in range(plies):
            if game.winner is None:
                game.play(generator.choice(game.legal_moves()))
        if game.winner is not None:
            continue
        vertices = tuple(
            format_vertex(game.size, move.point)
            for move in game.moves
            if move.point is not None
        )
        tilt = abs(_value(game) - 0.5)
        if best is None or tilt < best[0]:
            best = tilt, vertices
        if tilt <= _BALANCE:
            break
    if best is None:
        raise OpeningError(f"{plies} random plies end the game on {setup.name}")
    return best[1]


def read_openings(
    path: Path, setup_names: Sequence[str]
) -> dict[str, list[tuple[str, ...]]]:
    """Return the openings of a file by set-up name.

    A line is a set-up name and vertices, ``dense-7x7 A2 B1``; ``#`` begins a comment.

    Raises:
        OpeningError: unreadable, an illegal move, or none for one of the set-ups.
    """
    try:
        lines = read_whole(path, _MOST_BYTES).decode("ascii").splitlines()
    except (OSError, ValueError) as error:
        raise OpeningError(f"cannot read the openings {path}: {error}") from error
    found: dict[str, list[tuple[str, ...]]] = {}
    for number, line in enumerate(lines, 1):
        name, *vertices = line.partition("#")[0].split() or [""]
        if name:
            try:
                setup = by_name(name)
                found.setdefault(setup.name, []).append(_checked(setup, vertices))
            except ValueError as error:
                raise OpeningError(f"{path} line {number}: {error}") from error
    for name in setup_names:
        if name not in found:
            raise OpeningError(f"{path} has no opening for {name}")
    return found


def _checked(setup: Setup, vertices: list[str]) -> tuple[str, ...]:
    """Return the vertices in upper case once all are legal in turn."""
    game = Game(setup.position())
    for vertex in vertices:
        try:
            game.play(parse_vertex(game.size, vertex))
        except (IllegalMove, VertexError) as error:
            raise OpeningError(f"move {vertex}: {error}") from error
    if game.winner is not None:
        raise OpeningError("the opening ends the game")
    return tuple(vertex.upper() for vertex in vertices)


def _value(game: Game) -> float:
    """Return a short search's win probability of the side to move."""
    with _SEARCHING:
        search = _search()
        search.start(game.kernel, 0)
        search.run(_VISITS, StopFlag())
        return search.value


@cache
def _search() -> Search:
    return Search(_MEMORY)
