"""Helpers of the engine tests: data files, positions by name, games to compare."""

import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from tanbo_engine import notation, rules, setups
from tanbo_engine._alphabeta import AlphaBeta
from tanbo_engine._kernel import Position, Search, StopFlag
from tanbo_engine.game import kernel_position
from tanbo_engine.points import Color, Size, parse_vertex

Row = dict[str, Any]


def data(name: str) -> list[Row]:
    """Return the rows of a data file of this folder."""
    rows: list[Row] = json.loads((Path(__file__).parent / f"{name}.json").read_text())
    return rows


EXAMPLES = data("rule_examples")
LEGAL_EXAMPLES = [row for row in EXAMPLES if row["legal"]]


def example_id(row: Row) -> str:
    """Return the name of an example, for test ids."""
    return str(row["name"])


def example(name: str) -> Row:
    """Return the example of a name."""
    return next(row for row in EXAMPLES if row["name"] == name)


def mover(row: Row) -> Color:
    """Return the side to move of an example."""
    return Color("XO".index(row["to_move"]))


def position_of(row: Row) -> rules.Position:
    """Return the position of an example before its move."""
    return notation.from_rows(row["rows"], mover(row))


def point_set(size: Size, vertices: list[str]) -> set[int]:
    """Return the points of vertex texts."""
    return {parse_vertex(size, vertex) for vertex in vertices}


def root_set(size: Size, roots: list[Row]) -> set[tuple[Color, frozenset[int]]]:
    """Return the roots that an example lists."""
    return {
        (Color("XO".index(root["color"])), frozenset(point_set(size, root["stones"])))
        for root in roots
    }


def start(name: str) -> rules.Position:
    """Return the start position of a set-up."""
    return setups.by_name(name).position()


def kernel(name: str) -> Position:
    """Return the start position of a set-up in the kernel."""
    return kernel_position(start(name))


class Snapshot(NamedTuple):
    """Everything Python can see of a kernel position."""

    to_move: int
    winner: int
    key: int
    turns: int
    stones: tuple[list[int], list[int]]
    stone_counts: tuple[int, int]
    root_counts: tuple[int, int]
    legal: tuple[list[int], list[int]]
    roots: list[tuple[int, list[int], list[int]]]
    value: float
    weights: list[tuple[int, float]]
    check: str


def snapshot(position: Position) -> Snapshot:
    """Return everything Python can see of a kernel position."""
    return Snapshot(
        position.to_move,
        position.winner,
        position.key,
        position.turns,
        (position.stones(0), position.stones(1)),
        (position.stone_count(0), position.stone_count(1)),
        (position.root_count(0), position.root_count(1)),
        (position.legal_moves(0), position.legal_moves(1)),
        position.roots(),
        position.evaluate(),
        position.move_weights(),
        position.check(),
    )


def as_plain(position: Position) -> rules.Position:
    """Return the value of `rules` that a kernel position stands for."""
    return rules.Position(
        Size(position.width, position.height),
        frozenset(position.stones(0)),
        frozenset(position.stones(1)),
        Color(position.to_move),
    )


Chooser = Callable[[random.Random, list[tuple[int, float]]], int]


def _uniform(source: random.Random, moves: list[tuple[int, float]]) -> int:
    return source.choice(moves)[0]


def _promising(source: random.Random, moves: list[tuple[int, float]]) -> int:
    return max(source.choices(moves, k=3), key=lambda move: move[1])[0]


def _reckless(source: random.Random, moves: list[tuple[int, float]]) -> int:
    return min(source.choices(moves, k=2), key=lambda move: move[1])[0]


STYLES: dict[str, Chooser] = {
    "uniform": _uniform,  # as the kernel's own random games
    "promising": _promising,  # full boards, removals by the enemy
    "reckless": _reckless,  # many roots that bound themselves
}


def play_on(position: Position, seed: int, style: str = "uniform") -> list[int]:
    """Play a random game to its end on a kernel position; return the moves."""
    source, choose = random.Random(seed), STYLES[style]
    most = position.width * position.height * len(position.roots())  # RULES.md P5
    moves: list[int] = []
    while position.winner < 0:
        assert len(moves) < most, "a game longer than any can be"
        moves.append(choose(source, position.move_weights()))
        position.make(moves[-1])
    return moves


def before_the_end(name: str, seed: int, plies: int) -> Position:
    """Return a position some plies before the end of a random game."""
    position = kernel(name)
    play_on(position, seed)
    for _ in range(min(plies, position.turns)):
        position.unmake()
    return position


def stop_after(search: Search | AlphaBeta, visits: int, stop: StopFlag) -> None:
    """Set a flag when a search that goes on in other threads has so many visits."""
    while search.visits < visits:
        time.sleep(0.001)
    stop.set()
