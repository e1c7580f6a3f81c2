"""The rules of Tanbo as a reader wants them: slow, plain, one function per section.

Tanbo is by Mark Steere (1993, re-released 2026). Section numbers R1 to R9 are those
of RULES.md. This module is the referee of the tests and of every explanation; the
compiled kernel is separate code and is compared with it.
"""

from typing import NamedTuple

from tanbo_engine.points import Color, Size, format_vertex, neighbours


class Position(NamedTuple):
    """A board and the side to move. Immutable."""

    size: Size
    black: frozenset[int]
    white: frozenset[int]
    to_move: Color = Color.BLACK

    def stones(self, color: Color) -> frozenset[int]:
        """Return the points that hold a stone of this colour."""
        return self.black if color is Color.BLACK else self.white

    def is_empty(self, point: int) -> bool:
        """Tell whether no stone stands on the point."""
        return point not in self.black and point not in self.white

    def with_stones(
        self, color: Color, stones: frozenset[int], to_move: Color
    ) -> "Position":
        """Return a copy with one colour's stones and the side to move replaced."""
        if color is Color.BLACK:
            return Position(self.size, stones, self.white, to_move)
        return Position(self.size, self.black, stones, to_move)


class Root(NamedTuple):
    """A maximal orthogonally connected group of one colour (R4)."""

    color: Color
    stones: frozenset[int]


class Turn(NamedTuple):
    """What one placement did: the new position and what was removed (R6)."""

    after: Position
    current_root: Root
    current_root_bounded: bool
    removed: tuple[Root, ...]


class IllegalMove(ValueError):  # noqa: N818 (the protocol's own words)
    """A placement that R3 forbids.

    Attributes:
        code: ``game_over``, ``off_board``, ``occupied``, ``no_own_neighbour`` or
            ``too_many_own_neighbours``.
        section: the section of RULES.md that forbids it.
    """

    def __init__(self, code: str, section: str, message: str) -> None:
        super().__init__(f"{message} ({section})")
        self.code = code
        self.section = section


class ImpossiblePosition(ValueError):  # noqa: N818
    """A position that no game can reach; the message names the points."""


# R3: placement


def own_neighbours(position: Position, color: Color, point: int) -> list[int]:
    """Return the neighbouring points that hold a stone of this colour (R3)."""
    stones = position.stones(color)
    return [near for near in neighbours(position.size, point) if near in stones]


def check_placement(position: Position, color: Color, point: int) -> None:
    """Check R3: on the board, empty, next to exactly one stone of the colour.

    Raises:
        IllegalMove: with the reason and the points that decide it.
    """
    size = position.size
    if winner(position) is not None:
        raise IllegalMove("game_over", "R8", "the game is over")
    if not 0 <= point < size.area:
        raise IllegalMove("off_board", "R1", "the point is off the board")
    vertex = format_vertex(size, point)
    if not position.is_empty(point):
        raise IllegalMove("occupied", "R3", f"{vertex} is occupied")
    own = own_neighbours(position, color, point)
    if not own:
        raise IllegalMove(
            "no_own_neighbour", "R3", f"{vertex} touches no {color.word} stone"
        )
    if len(own) > 1:
        raise IllegalMove(
            "too_many_own_neighbours",
            "R3",
            f"{vertex} touches {len(own)} {color.word} stones "
            f"({vertices(size, own)}); it must touch exactly one",
        )


def legal_moves(position: Position, color: Color | None = None) -> list[int]:
    """Return the legal placements of a colour (the side to move by default), sorted.

    Empty when the game is over.
    """
    color = position.to_move if color is None else color
    if winner(position) is not None:
        return []
    return [
        point
        for point in range(position.size.area)
        if position.is_empty(point) and len(own_neighbours(position, color, point)) == 1
    ]


# R4: roots


def root_at(position: Position, point: int) -> Root:
    """Return the root of the stone on a point; the point must hold a stone (R4)."""
    color = Color.BLACK if point in position.black else Color.WHITE
    found, frontier = {point}, [point]
    while frontier:
        for near in own_neighbours(position, color, frontier.pop()):
            if near not in found:
                found.add(near)
                frontier.append(near)
    return Root(color, frozenset(found))


def roots(position: Position) -> list[Root]:
    """Return all roots, Black's first, each colour by its lowest point (R4)."""
    found: list[Root] = []
    for color in Color:
        left = set(position.stones(color))
        while left:
            root = root_at(position, min(left))
            found.append(root)
            left -= root.stones
    return found


# R5: growth points and bounded roots


def growth_points(position: Position, root: Root) -> list[int]:
    """Return the points where the root can grow, sorted (R5).

    Empty points that touch exactly one stone of the root's colour on the whole board,
    that stone being in this root.
    """
    return sorted(
        near
        for stone in root.stones
        for near in neighbours(position.size, stone)
        if position.is_empty(near)
        and own_neighbours(position, root.color, near) == [stone]
    )


def is_bounded(position: Position, root: Root) -> bool:
    """Tell whether no legal placement enlarges the root (R5)."""
    return not growth_points(position, root)


# R6 and R7: a turn


def play(position: Position, point: int) -> Turn:
    """Place a stone of the side to move and remove what R6 removes.

    Raises:
        IllegalMove: R3 forbids the placement.
    """
    color = position.to_move
    check_placement(position, color, point)
    placed = position.with_stones(
        color, position.stones(color) | {point}, color.opponent
    )
    current = root_at(placed, point)
    bounded = is_bounded(placed, current)
    removed: tuple[Root, ...] = (current,)  # R6a: the current root alone
    if not bounded:  # R6b: every other bounded root of both colours, at once
        removed = tuple(root for root in roots(placed) if is_bounded(placed, root))
    return Turn(_without(placed, removed), current, bounded, removed)


def _without(position: Position, removed: tuple[Root, ...]) -> Position:
    for root in removed:
        left = position.stones(root.color) - root.stones
        position = position.with_stones(root.color, left, position.to_move)
    return position


# R8: the end


def winner(position: Position) -> Color | None:
    """Return the winner once a colour has no stone left, else None (R8)."""
    for color in Color:
        if not position.stones(color):
            return color.opponent
    return None


# Positions that are loaded, not reached (RULES.md, edge cases)


def check_position(position: Position) -> None:
    """Check that a loaded position could arise after a turn (proofs P1 and P6).

    Raises:
        ImpossiblePosition: no stone at all, a root with a loop, or a bounded root.
    """
    size = position.size
    if not position.black and not position.white:
        raise ImpossiblePosition(
            "the board has no stones: at least one root must stand"
        )
    for root in roots(position):
        edges = sum(len(own_neighbours(position, root.color, s)) for s in root.stones)
        where = f"the {root.color.word} root {vertices(size, sorted(root.stones))}"
        if edges // 2 >= len(root.stones):
            raise ImpossiblePosition(
                f"{where} has a loop: each stone must have joined exactly one (R4)"
            )
        if is_bounded(position, root):
            raise ImpossiblePosition(
                f"{where} is bounded: it would have been removed (R5, R6)"
            )


def vertices(size: Size, points: list[int]) -> str:
    """Return vertex texts joined by commas, for messages."""
    return ",".join(format_vertex(size, point) for point in points)
