"""A game in words: what a move did, and who has won."""

from tanbo_engine import rules
from tanbo_engine.answers import named
from tanbo_engine.points import Color, by_column, format_vertex
from tanbo_engine.wording import counted


def turn(before: rules.Position, point: int, remark: str = "") -> str:
    """Return what a move did.

    Args:
        before: the position before it, its player to move.
        point: where.
        remark: what is said behind the vertex.
    """
    played = rules.play(before, point)
    told = f"{named(before.to_move)} plays {format_vertex(before.size, point)}{remark}"
    removed = " and ".join(_root(before, root) for root in played.removed)
    if played.current_root_bounded:
        return f"{told} and bounds its own root: {removed} is removed."
    return f"{told} and removes {removed}." if removed else f"{told}."


def _root(position: rules.Position, root: rules.Root) -> str:
    stones = by_column(position.size, list(root.stones))
    first = format_vertex(position.size, stones[0])
    return f"{named(root.color)}'s root at {first} ({counted(len(stones), 'stone')})"


def victory(winner: Color) -> str:
    """Return why and that a side has won on the board."""
    return f"{named(winner.opponent)} has no stone left: {named(winner)} has won."


def printable(text: str) -> str:
    """Return somebody else's text without what could control a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
