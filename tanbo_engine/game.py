"""A game in progress: start position, moves, undo, result.

The board itself is the kernel's; this module adds what a game has and a position has
not: the start, the history, and the passes that close a finished game.
"""

from typing import NamedTuple

from tanbo_engine import (
    rules,
    weights,  # noqa: F401 (the kernel needs them)
)
from tanbo_engine._kernel import Position
from tanbo_engine.points import Color, Size


class Move(NamedTuple):
    """One turn: the colour and the point; None is a pass after the end."""

    color: Color
    point: int | None


class Game:
    """A start position and the moves made from it."""

    def __init__(self, start: rules.Position) -> None:
        """Begin at a start position, which must satisfy `rules.check_position`."""
        self.start = start
        self.moves: list[Move] = []
        self._position = kernel_position(start)

    @property
    def size(self) -> Size:
        """Board size."""
        return self.start.size

    @property
    def kernel(self) -> Position:
        """The current position, to search from; make no moves on it."""
        return self._position

    @property
    def to_move(self) -> Color:
        """The side to move; after the end, the side that did not move last."""
        if self.moves:
            return self.moves[-1].color.opponent
        return self.start.to_move

    @property
    def winner(self) -> Color | None:
        """The winner, or None while the game goes on (RULES.md R8)."""
        winner = self._position.winner
        return None if winner < 0 else Color(winner)

    @property
    def result(self) -> str | None:
        """``B+1`` or ``W+1``, as GTP and SGF write it; None before the end."""
        return None if self.winner is None else f"{self.winner.initial}+1"

    @property
    def position(self) -> rules.Position:
        """The current position as a value of `rules`."""
        return plain_position(self._position)._replace(to_move=self.to_move)

    def legal_moves(self, color: Color | None = None) -> list[int]:
        """Return the legal placements of a colour (default: to move), sorted."""
        return self._position.legal_moves(self.to_move if color is None else color)

    def play(self, point: int) -> None:
        """Place a stone of the side to move.

        Raises:
            rules.IllegalMove: with the reason; nothing has changed then.
        """
        color = self.to_move
        if self.winner is not None or not self._position.is_legal(color, point):
            rules.check_placement(self.position, color, point)
        self._position.make(point)
        self.moves.append(Move(color, point))

    def close(self, color: Color) -> None:
        """Record a pass, which only a finished game allows.

        Raises:
            rules.IllegalMove: the game is not over (RULES.md R7).
        """
        if self.winner is None:
            raise rules.IllegalMove(
                "pass_not_allowed", "R7", "there is no passing: a move is always there"
            )
        self.moves.append(Move(color, None))

    def undo(self) -> Move:
        """Take back the last move and return it.

        Raises:
            IndexError: no move has been made since the start.
        """
        if not self.moves:
            raise IndexError("no move has been made since the start")
        move = self.moves.pop()
        if move.point is not None:
            self._position.unmake()
        return move

    def captured(self, color: Color) -> int:
        """Return how many stones of a colour have been removed since the start."""
        placed = sum(
            move.color is color and move.point is not None for move in self.moves
        )
        started = len(self.start.stones(color))
        return started + placed - self._position.stone_count(color)


def kernel_position(position: rules.Position) -> Position:
    """Return a kernel position of a value of `rules`."""
    width, height = position.size
    black, white = sorted(position.black), sorted(position.white)
    return Position(width, height, black, white, position.to_move)


def plain_position(position: Position) -> rules.Position:
    """Return the value of `rules` for a kernel position."""
    size = Size(position.width, position.height)
    black, white = (frozenset(position.stones(color)) for color in Color)
    return rules.Position(size, black, white, Color(position.to_move))
