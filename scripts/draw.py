"""Draws a position as SVG, as the README shows it.

    .venv/bin/python scripts/draw.py "7x7 X1O1X1O/7/O1X1O1X/7/X1O1X1O/7/O1X1O1X b"

Growth points are marked with a small disc in their colour, shared ones with both.
"""

import sys
from collections.abc import Iterator

from tanbo_engine import notation, rules
from tanbo_engine.points import COLUMNS, Color

_CELL = 40
_MARGIN = 30
_FILL = {Color.BLACK: "#1b1b1b", Color.WHITE: "#fdfdfd"}


def svg(position: rules.Position) -> str:
    """Return the drawing of a position."""
    width, height = (side * _CELL + 2 * _MARGIN for side in position.size)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" '
            'font-size="13" text-anchor="middle">',
            f'<rect width="{width}" height="{height}" fill="#e9c987"/>',
            *_grid(position),
            *_stones(position),
            "</svg>",
        ]
    )


def _place(position: rules.Position, point: int) -> tuple[int, int]:
    row, column = divmod(point, position.size.width)
    x = _MARGIN + column * _CELL + _CELL // 2
    return x, _MARGIN + (position.size.height - 1 - row) * _CELL + _CELL // 2


def _grid(position: rules.Position) -> Iterator[str]:
    width, height = position.size
    left, top = _place(position, (height - 1) * width)
    right, bottom = _place(position, width - 1)
    line = '<path d="M{} {}L{} {}" stroke="#7a6233"/>'
    for column in range(width):
        x = left + column * _CELL
        yield line.format(x, top, x, bottom)
        yield f'<text x="{x}" y="{bottom + _MARGIN + 9}">{COLUMNS[column]}</text>'
    for row in range(height):
        y = bottom - row * _CELL
        yield line.format(left, y, right, y)
        yield f'<text x="{left - _MARGIN}" y="{y + 5}">{row + 1}</text>'


def _stones(position: rules.Position) -> Iterator[str]:
    for root in rules.roots(position):
        fill = _FILL[root.color]
        for stone in root.stones:
            x, y = _place(position, stone)
            for near in rules.own_neighbours(position, root.color, stone):
                if near > stone:
                    to_x, to_y = _place(position, near)
                    yield (
                        f'<path d="M{x} {y}L{to_x} {to_y}" stroke="{fill}" '
                        'stroke-width="12"/>'
                    )
        for stone in root.stones:
            x, y = _place(position, stone)
            yield f'<circle cx="{x}" cy="{y}" r="15" fill="{fill}" stroke="#1b1b1b"/>'
        for point in rules.growth_points(position, root):
            x, y = _place(position, point)
            x += 5 if root.color is Color.WHITE else -5
            yield f'<circle cx="{x}" cy="{y}" r="4" fill="{fill}" stroke="#1b1b1b"/>'


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        print(svg(notation.parse_position(sys.argv[1])))
    except notation.PositionError as error:
        sys.exit(str(error))
