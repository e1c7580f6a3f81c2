"""The benchmark: a signature of the searches, and speeds.

The signature is the total of what fixed searches (positions, visits, seed, one thread)
keep: nodes of the tree search, entries of alpha-beta. It is the same on every machine
and changes whenever a search behaves differently: commits that change it say so,
``Bench: N``, and a test pins it. Speeds are CPU time of one thread; ``ns_per_move``
counts turns of uniformly random games.
"""

import time
from collections.abc import Callable

import msgspec

from tanbo_engine import _kernel, notation, rules, setups
from tanbo_engine._alphabeta import AlphaBeta
from tanbo_engine.game import kernel_position

PLAYOUT_SETUPS = ("dense-7x7", "classic-9x9", "dense-11x11", "classic-19x19")

MIDDLE_GAMES = (
    "7x7 2OXXXX/2X2X1/OOXX1X1/OXX4/O1OOO2/OO1X3/XXXXXX1 b",
    "9x9 2O5X/1OOOOOXXX/OO1X3X1/1OOX2XXX/OOXX3X1/1X1X2OOO/1X1X3O1/XXXXXXOOO/2XOOOO1O b",
    "11x11 XXXXXOOOXX1/1OO1X1XX1OO/OOXX1XXOOOX/OXX5OXX/2O1OX1XXX1/2O1OXXXOO1/2OOO1OOO2/"
    "XXO1O1O1O1O/OXX1XOO2OO/O1X1XXO1OO1/OXXXX1O1OXX b",
    "19x19 X4OO3XXX5O/XX10X4OO/11OOO5/12O6/11OOO5/6X5O6/OO4X5OOO3X/9OOOO5X/10O5XXX/19/"
    "12XXX4/7O4X6/XX3OOOOO2X4OO/1X3O3O2X6/9XXXXXX4/6X2X9/6X12/6X5OO4X/O3XXX4OO5X b",
)

_SEED = 1
_VISITS = 10_000
_POSITIONS = 50_000
_MEMORY = 64 << 20
_PLAYOUT_SECONDS = 0.5


class Playouts(msgspec.Struct, frozen=True):
    """Speed of uniformly random games from one set-up."""

    setup: str
    playouts_per_second: float
    moves_per_second: float
    ns_per_move: float


class Results(msgspec.Struct, frozen=True):
    """What `run` measured; a node is a visit of the tree in ``nodes_per_second``.

    ``positions_per_second`` is the speed of alpha-beta.
    """

    signature: int
    nodes_per_second: float
    positions_per_second: float
    compiled: bool
    playouts: tuple[Playouts, ...]


def run(progress: Callable[[str], None] | None = None) -> Results:
    """Run the whole benchmark, some seconds of one core.

    Args:
        progress: is told, in a word or two, what is measured next.
    """
    tell = progress or (lambda _: None)
    tell("tree search")
    nodes, nodes_per_second = _search(_kernel.Search(_MEMORY), _VISITS)
    tell("alpha-beta")
    entries, positions_per_second = _search(AlphaBeta(_MEMORY), _POSITIONS)
    playouts = []
    for name in PLAYOUT_SETUPS:
        tell(f"random games, {name}")
        playouts.append(_playouts(name))
    return Results(
        nodes + entries,
        nodes_per_second,
        positions_per_second,
        _kernel.COMPILED,
        tuple(playouts),
    )


def format_results(results: Results) -> str:
    """Return the results for people."""
    lines = [
        f"signature         {results.signature}",
        f"nodes per second  {results.nodes_per_second:,.0f}, tree search",
        f"                  {results.positions_per_second:,.0f}, alpha-beta",
        f"kernel compiled   {'yes' if results.compiled else 'no'}",
        "",
        "random games      playouts/s      moves/s   ns/move",
    ]
    lines += [
        f"{row.setup:16}{row.playouts_per_second:12,.0f}{row.moves_per_second:14,.0f}"
        f"{row.ns_per_move:9.1f}"
        for row in results.playouts
    ]
    return "\n".join(lines)


def positions() -> list[rules.Position]:
    """Return the positions that are searched: starts, then middle games."""
    starts = [setups.by_name(name).position() for name in PLAYOUT_SETUPS]
    return starts + [notation.parse_position(text) for text in MIDDLE_GAMES]


def _search(search: _kernel.Search | AlphaBeta, limit: int) -> tuple[int, float]:
    """Return what a search keeps of all positions together, and its visits a second."""
    stop = _kernel.StopFlag()
    nodes = visits = 0
    seconds = 0.0
    for position in positions():
        search.start(kernel_position(position), _SEED)
        began = time.process_time()
        visits += search.run(limit, stop)
        seconds += time.process_time() - began
        nodes += search.tree_nodes
    return nodes, visits / seconds


def _playouts(name: str) -> Playouts:
    position = kernel_position(setups.by_name(name).position())
    games = moves = 0
    batch, seconds = 16, 0.0
    while seconds < _PLAYOUT_SECONDS:
        began = time.process_time()
        moves += _kernel.random_games(position, batch, _SEED + games)[0]
        seconds += time.process_time() - began
        games += batch
        batch *= 2
    return Playouts(name, games / seconds, moves / seconds, seconds / moves * 1e9)
