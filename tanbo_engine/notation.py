"""Text forms of a position: the one-line form and the diagram.

One line, like a FEN: ``7x7 X1O1X1O/7/.../O1X1O1X b`` (size, rows from the top with
runs of empty points as numbers, side to move).
"""

import re

from tanbo_engine.points import COLUMNS, Color, Size
from tanbo_engine.rules import Position
from tanbo_engine.wording import counted, short

_SIZE = re.compile(r"([0-9]{1,2})x([0-9]{1,2})", re.ASCII)
_RUN = re.compile(r"[0-9]+|[XO]", re.ASCII)
_ROW = re.compile(r"(?:[0-9]+|[XO])+", re.ASCII)


class PositionError(ValueError):
    """The text is not a position; the message says where it goes wrong."""


def rows(position: Position) -> list[str]:
    """Return the board as ``X``, ``O`` and ``.``, one string a row, top row first."""
    width, height = position.size
    cells = ["."] * (width * height)
    for color in Color:
        for point in position.stones(color):
            cells[point] = color.mark
    return [
        "".join(cells[row * width : (row + 1) * width])
        for row in reversed(range(height))
    ]


def from_rows(lines: list[str], to_move: Color = Color.BLACK) -> Position:
    """Return the position of a board drawn as rows, top row first."""
    size = Size(len(lines[0]), len(lines))
    marks = "".join(reversed(lines))
    stones = [
        frozenset(point for point, mark in enumerate(marks) if mark == color.mark)
        for color in Color
    ]
    return Position(size, stones[0], stones[1], to_move)


def format_position(position: Position) -> str:
    """Return the one-line form."""
    packed = "/".join(
        re.sub(r"\.+", lambda run: str(len(run[0])), row) for row in rows(position)
    )
    return f"{position.size} {packed} {position.to_move.initial.lower()}"


def parse_position(text: str) -> Position:
    """Return the position of a one-line form.

    The rules are not checked here, see `rules.check_position`.

    Raises:
        PositionError: wrong form, wrong number of rows or points, unknown side.
    """
    fields = text.split()
    if len(fields) != 3:
        raise PositionError(
            "a position is SIZE ROWS SIDE, for example 3x3 X1O/3/O1X b; "
            f"got {counted(len(fields), 'field')}"
        )
    match = _SIZE.fullmatch(fields[0].lower())
    if match is None:
        raise PositionError(f"invalid size {short(fields[0])!r}: use WxH, such as 7x9")
    size = Size(int(match[1]), int(match[2]))
    lines = fields[1].upper().split("/")
    if len(lines) != size.height:
        raise PositionError(
            f"{size} needs {counted(size.height, 'row')}, got {len(lines)}"
        )
    if fields[2].lower() not in ("b", "w"):
        raise PositionError(f"invalid side {short(fields[2])!r}: use b or w")
    to_move = Color("bw".index(fields[2].lower()))
    drawn = [_unpack(size, number, line) for number, line in enumerate(lines, 1)]
    return from_rows(drawn, to_move)


def _unpack(size: Size, number: int, line: str) -> str:
    """Return a row with its runs spelt out; `number`, from the top, is for messages."""
    if _ROW.fullmatch(line) is None:
        raise PositionError(
            f"row {number} from the top is {short(line)!r}: "
            "use X, O and numbers of empty points"
        )
    points = 0
    drawn = ""
    for run in _RUN.findall(line):
        length = 1 if run in "XO" else int(run[:4])
        points += length
        if points > size.width:
            break
        drawn += run if run in "XO" else "." * length
    if points != size.width:
        raise PositionError(
            f"row {number} from the top has "
            f"{'more than ' if points > size.width else ''}"
            f"{counted(min(points, size.width), 'point')}, {size} needs {size.width}"
        )
    return drawn


def diagram(position: Position) -> str:
    """Return the board with column letters and row numbers, top row first."""
    width, height = position.size
    letters = "   " + " ".join(COLUMNS[:width])
    lines = [letters]
    for row, cells in zip(range(height, 0, -1), rows(position), strict=True):
        lines.append(f"{row:2} {' '.join(cells)} {row}")
    lines.append(letters)
    return "\n".join(lines)
