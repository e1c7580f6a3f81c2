"""Games as the page's viewer draws them: boards, and what each move removed.

The removals are the kernel's, so that the script needs no rules.
"""

from collections.abc import Iterable, Sequence

from protocol.arena.markup import clean
from tanbo_engine._kernel import Position
from tanbo_engine.game import kernel_position
from tanbo_engine.points import Size, by_column, format_vertex, parse_vertex
from tanbo_engine.setups import Setup, UnknownSetup, by_name


def board_of(name: str) -> Setup | None:
    """Return a set-up, None if this version does not know it."""
    try:
        return by_name(name)
    except UnknownSetup:
        return None


def board_data(name: str, setup: Setup | None) -> dict[str, object]:
    """Return name, size and start stones of a set-up."""
    if setup is None:
        return {"name": clean(name), "width": 0, "height": 0, "stones": ["", ""]}
    start = setup.position()
    return {
        "name": clean(name),
        "width": setup.size.width,
        "height": setup.size.height,
        "stones": [_vertices(setup.size, side) for side in (start.black, start.white)],
    }


def replayed_moves(
    setup: Setup | None, moves: Sequence[str]
) -> tuple[list[str], dict[str, str], str]:
    """Return the moves that can be played, what they remove, and a problem in words."""
    if setup is None:
        return [], {}, "The set-up is not known here."
    position = kernel_position(setup.position())
    stones = _stones(position)
    played: list[str] = []
    removed: dict[str, str] = {}
    for number, vertex in enumerate(moves, 1):
        try:
            point = parse_vertex(setup.size, vertex)
            count = position.make(point)
        except ValueError:
            problem = f"Move {number} ({clean(vertex)}) is not legal there."
            return played, removed, problem
        played.append(format_vertex(setup.size, point))
        stones.add(point)
        if count:
            left = _stones(position)
            removed[str(number)] = _vertices(setup.size, stones - left)
            stones = left
    return played, removed, ""


def _stones(position: Position) -> set[int]:
    return {*position.stones(0), *position.stones(1)}


def _vertices(size: Size, points: Iterable[int]) -> str:
    return " ".join(format_vertex(size, point) for point in by_column(size, [*points]))
