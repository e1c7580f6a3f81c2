"""Games of the engine against itself, as data to learn from: played, written, read.

A file holds one batch of games from one set-up: gzipped lines of JSON, first `Source`,
then a `SelfGame` a line. Positions are not written: the moves lead to them.
"""

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec

from tanbo_engine import build_id, setups, weights
from tanbo_engine._alphabeta import AlphaBeta
from tanbo_engine._kernel import Position, Search, StopFlag
from tanbo_engine.game import Game, kernel_position

FORMAT = 1
SUFFIX = ".jsonl.gz"

SEARCHES = {"puct": Search, "alphabeta": AlphaBeta}

_MEMORY = 32 << 20
_BLUNDERS = (0.01, 0.02, 0.1)
"""Shares of moves drawn at random, one of them for each game: positions that good play
avoids must be known as well."""


class Look(msgspec.Struct, frozen=True, array_like=True):
    """What the search said of a position.

    Attributes:
        value: win probability of the side to move, 0 to 1.
        proof: 1 a proven win for the side to move, -1 a proven loss, 0 neither.
        visits: (point, visits) of the moves that were visited, best first.
    """

    value: float
    proof: int
    visits: list[tuple[int, int]]


class SelfGame(msgspec.Struct, frozen=True):
    """A finished game.

    Attributes:
        number: of the game; with the seed and the set-up it decides everything.
        opening: how many of the moves were drawn at random before the first search.
        moves: all points played, the opening's first.
        winner: 0 Black, 1 White.
        looks: one for each move after the opening, of the position before it.
    """

    number: int
    opening: int
    moves: list[int]
    winner: int
    looks: list[Look]


class Source(msgspec.Struct, frozen=True):
    """How games were made: the same source gives the same games.

    Attributes:
        setup: name of the set-up.
        visits: of each search.
        seed: of every random choice.
        steady: the search's best move was always played; else some are drawn.
        build: `build_id` of the engine.
        weights: `weights_id` of its weights.
        search: by which search, one of `SEARCHES`.
        format: of the file.
    """

    setup: str
    visits: int
    seed: int
    steady: bool
    build: str
    weights: str
    search: str = "puct"
    format: int = FORMAT


class Batch(NamedTuple):
    """What one file holds."""

    source: Source
    games: list[SelfGame]


class BadBatch(ValueError):  # noqa: N818
    """The data is no file of games, or one of another format."""


def this_engine(
    setup: str, visits: int, seed: int, *, steady: bool, search: str = "puct"
) -> Source:
    """Return the source of games by this engine with its weights."""
    return Source(setup, visits, seed, steady, build_id(), weights.file_id(), search)


def play(source: Source, number: int) -> SelfGame:
    """Play one game."""
    draw = Random(f"{source.seed}/{source.setup}/{number}")  # noqa: S311
    game = Game(setups.by_name(source.setup).position())
    opening = _play_opening(game, draw)
    search, stop = SEARCHES[source.search](_MEMORY), StopFlag()
    blunders = 0.0 if source.steady else draw.choice(_BLUNDERS)
    sampled = 0 if source.steady else opening + game.size.area // 4
    looks = []
    while game.winner is None:
        search.start(game.kernel, draw.getrandbits(60))
        search.run(source.visits, stop)
        visits = [(point, count) for point, count, *_ in search.moves() if count]
        looks.append(Look(round(search.value, 4), search.proof, visits))
        point = search.best_move()
        if len(game.moves) < sampled and not search.proof and draw.random() < 0.5:
            point = _by_visits(visits, draw)
        if draw.random() < blunders:
            point = draw.choice(game.legal_moves())
        game.play(point)
    moves = [move.point for move in game.moves if move.point is not None]
    return SelfGame(number, opening, moves, int(game.winner), looks)


def _play_opening(game: Game, draw: Random) -> int:
    """Make random moves, few or up to a quarter of the points; return how many."""
    few = draw.random() < 0.5
    for _ in range(draw.randint(2, 6 if few else max(6, game.size.area // 4))):
        if game.winner is None:
            game.play(draw.choice(game.legal_moves()))
    return len(game.moves)


def _by_visits(visits: list[tuple[int, int]], draw: Random) -> int:
    (chosen,) = draw.choices(visits, [count for _, count in visits])
    return chosen[0]


def positions(batch: Batch, game: SelfGame) -> Iterator[tuple[Position, Look]]:
    """Yield what was searched in a game, and what the search said.

    It is one position, which moves on: read it before the next step.
    """
    position = kernel_position(setups.by_name(batch.source.setup).position())
    for point in game.moves[: game.opening]:
        position.make(point)
    for point, look in zip(game.moves[game.opening :], game.looks, strict=True):
        yield position, look
        position.make(point)


def encode(batch: Batch) -> bytes:
    """Return the file of a batch."""
    lines = msgspec.json.Encoder().encode_lines([batch.source, *batch.games])
    return gzip.compress(lines, mtime=0)


def decode(data: bytes) -> Batch:
    """Return the batch of a file.

    Raises:
        BadBatch: it is none, or of another format.
    """
    try:
        first, *rest = gzip.decompress(data).splitlines()
        source = msgspec.json.decode(first, type=Source)
        games = [msgspec.json.decode(line, type=SelfGame) for line in rest]
    except (OSError, EOFError, ValueError) as error:
        raise BadBatch(f"no file of self-play: {error}") from error
    if source.format != FORMAT:
        raise BadBatch(f"format {source.format}, not {FORMAT}")
    return Batch(source, games)


def read(folders: Iterable[Path]) -> Iterator[Batch]:
    """Yield the batches of folders that scripts/selfplay.py has written, in order.

    Raises:
        BadBatch: a file that is none, or a folder without any; the message names it.
    """
    for folder in folders:
        files = sorted(folder.glob(f"*/*{SUFFIX}"))
        if not files:
            raise BadBatch(f"{folder} has no games: scripts/selfplay.py makes them")
        for file in files:
            try:
                yield decode(file.read_bytes())
            except BadBatch as error:
                raise BadBatch(f"{file}: {error}") from error
