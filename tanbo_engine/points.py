"""Board geometry: colours, sizes, points and their vertex text (RULES.md R1).

A point is an integer ``row * width + column``; row 0 is the bottom row, so ``A1``
is point 0. Sizes are width x height everywhere.
"""

import re
from enum import IntEnum
from typing import NamedTuple

from tanbo_engine.wording import short

COLUMNS = "ABCDEFGHJKLMNOPQRSTUVWXYZ"
"""Column letters from left to right; GTP leaves out I."""

MAX_SIDE = len(COLUMNS)

_VERTEX = re.compile(r"([A-Za-z])([0-9]{1,3})", re.ASCII)


class Color(IntEnum):
    """A side. Black moves first (RULES.md R2)."""

    BLACK = 0
    WHITE = 1

    @property
    def opponent(self) -> "Color":
        """The other side."""
        return Color(1 - self)

    @property
    def mark(self) -> str:
        """``X`` for Black, ``O`` for White, as boards are drawn."""
        return "XO"[self]

    @property
    def initial(self) -> str:
        """``B`` or ``W``, as results and moves are written."""
        return "BW"[self]

    @property
    def word(self) -> str:
        """``black`` or ``white``."""
        return ("black", "white")[self]


def check_color(color: object) -> None:
    """Raise `TypeError` for what is no `Color`, also a letter or number for one."""
    if not isinstance(color, Color):
        raise TypeError(f"a color is Color.BLACK or Color.WHITE, not {color!r}")


class Size(NamedTuple):
    """Board size in points."""

    width: int
    height: int

    def __str__(self) -> str:
        """Return the size as written in set-up names, ``7x9``."""
        return f"{self.width}x{self.height}"

    @property
    def area(self) -> int:
        """Number of points."""
        return self.width * self.height

    @property
    def last_vertex(self) -> str:
        """The top right vertex, ``G7`` on 7x7; for messages."""
        return format_vertex(self, self.area - 1)


class VertexError(ValueError):
    """The text is not a vertex of this board; the message says which are."""


def neighbours(size: Size, point: int) -> list[int]:
    """Return the two to four orthogonal neighbours of a point."""
    row, column = divmod(point, size.width)
    found = []
    if row > 0:
        found.append(point - size.width)
    if column > 0:
        found.append(point - 1)
    if column < size.width - 1:
        found.append(point + 1)
    if row < size.height - 1:
        found.append(point + size.width)
    return found


def looks_like_vertex(text: str) -> bool:
    """Tell whether the text has the form of a vertex, on whatever board."""
    return _VERTEX.fullmatch(text) is not None


def parse_vertex(size: Size, text: str) -> int:
    """Return the point of a vertex such as ``C4``, in either case.

    Raises:
        VertexError: not a letter and a number, the letter I, or off the board.
    """
    match = _VERTEX.fullmatch(text)
    if match is None:
        raise VertexError(
            f"invalid vertex {short(text)!r}: use a column letter and a row number, "
            f"A1 to {size.last_vertex}"
        )
    column, row = COLUMNS.find(match[1].upper()), int(match[2]) - 1
    if not (0 <= column < size.width and 0 <= row < size.height):
        raise VertexError(
            f"{text.upper()} is off the board: columns {COLUMNS[0]} to "
            f"{COLUMNS[size.width - 1]} (there is no column I), "
            f"rows 1 to {size.height}"
        )
    return row * size.width + column


def format_vertex(size: Size, point: int) -> str:
    """Return the vertex text of a point, ``C4``."""
    row, column = divmod(point, size.width)
    return f"{COLUMNS[column]}{row + 1}"


def by_column(size: Size, points: list[int]) -> list[int]:
    """Return the points sorted by column, then row, as lists are printed."""
    return sorted(points, key=lambda point: (point % size.width, point))
