"""Commands whose answers GoGui draws on its board, and its live graphics.

Formats: FRONT_ENDS.md section 1.4. The entries of the menu are in `commands/gogui.py`.
"""

# ruff: noqa: D103 (the table holds what each command does)

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from protocol import gtp
from protocol.commands.arguments import COLOR, Optional, Rest
from protocol.commands.table import command
from protocol.session import Session
from tanbo_engine.game import Game, kernel_position
from tanbo_engine.player import Report
from tanbo_engine.points import Color, Size, format_vertex
from tanbo_engine.wording import counted

_RED, _ORANGE, _GREEN = "#ff5050", "#ffa020", "#40d060"
_GOLDEN = 0.618034
_SHOWN_MOVES = 10


# What stands on the board


@command(
    "tanbo-draw_roots",
    Optional(COLOR),
    help="GoGui graphics: the roots (of a color), each with its growth points in a "
    "color of its own; growth points marked, of both colors with a cross.",
)
def draw_roots(session: Session, color: Color | None) -> str:
    size = session.game.size
    roots = session.game.kernel.roots()
    drawn = [root for root in roots if color is None or root[0] == color]
    growth = [frozenset(points) for _, _, points in drawn]
    all_growth = [point for points in growth for point in points]
    shared = {point for point in all_growth if all_growth.count(point) > 1}
    lines = [
        _gfx(f"COLOR {_hue(number)}", size, {*stones, *points} - shared)
        for number, ((_, stones, _), points) in enumerate(
            zip(drawn, growth, strict=True)
        )
    ]
    lines.append(_gfx("CIRCLE", size, set(all_growth) - shared))
    lines.append(_gfx("MARK", size, shared))
    room = counted(len(set(all_growth)), "growth point")
    lines.append(f"TEXT {counted(len(drawn), 'root')}, {room}")
    return _joined(lines)


def _hue(number: int) -> str:
    """Return a light colour, far from those of the numbers next to it."""
    from colorsys import hsv_to_rgb

    parts = hsv_to_rgb(number * _GOLDEN % 1, 0.6, 1.0)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


class _Removal(NamedTuple):
    """What a move would remove, by colour of the stones; its own stone included."""

    point: int
    black: frozenset[int]
    white: frozenset[int]

    def of(self, color: Color) -> frozenset[int]:
        return self.black if color is Color.BLACK else self.white


def _removals(game: Game, color: Color) -> list[_Removal]:
    """Return the moves of a colour, were it its turn, that would remove something."""
    position = kernel_position(game.position._replace(to_move=color))
    found = []
    for point in game.legal_moves(color):
        before = [{*position.stones(each)} for each in Color]
        before[color].add(point)
        if position.make(point):
            black, white = (
                frozenset(before[each].difference(position.stones(each)))
                for each in Color
            )
            found.append(_Removal(point, black, white))
        position.unmake()
    return found


@command(
    "tanbo-draw_removals",
    COLOR,
    help="GoGui graphics: moves of a color that would remove stones, and how many. "
    "Green: of the other color only; red: of the root it joins; orange: of own roots.",
)
def draw_removals(session: Session, color: Color) -> str:
    game = session.game
    kinds: dict[str, list[_Removal]] = {_GREEN: [], _RED: [], _ORANGE: []}
    removals = _removals(game, color)
    for removal in removals:
        own = removal.of(color)
        shade = _GREEN if not own else _RED if removal.point in own else _ORANGE
        kinds[shade].append(removal)
    lines = [
        _gfx(f"COLOR {shade}", game.size, [removal.point for removal in kind])
        for shade, kind in kinds.items()
    ]
    labels = [
        f"{format_vertex(game.size, point)} {len(black) + len(white)}"
        for point, black, white in removals
    ]
    lines.append(f"LABEL {' '.join(labels)}" if labels else "")
    lines.append("TEXT removed: green enemy root, red root joined, orange other own")
    return _joined(lines)


@command(
    "tanbo-draw_danger",
    help="GoGui graphics: roots that the other side can remove by one move, and "
    "circles where. Red: on this turn; orange: on the next.",
)
def draw_danger(session: Session) -> str:
    game, lines = session.game, []
    where: set[int] = set()
    for shade, color in ((_ORANGE, game.to_move.opponent), (_RED, game.to_move)):
        threats = [r for r in _removals(game, color) if r.of(color.opponent)]
        where.update(threat.point for threat in threats)
        stones = {stone for r in threats for stone in r.of(color.opponent)}
        lines.append(_gfx(f"COLOR {shade}", game.size, stones))
    lines.append(_gfx("CIRCLE", game.size, where))
    lines.append(
        f"TEXT red: {game.to_move.word} can remove it now, "
        f"orange: {game.to_move.opponent.word} could on the next turn"
    )
    return _joined(lines)


# What a search finds


@command(
    "tanbo-draw_values",
    help="Search; a board of numbers, the square roots of what moves are worth: 1 if "
    "Black wins, -1 if White wins, 0 if even or not looked at.",
)
async def draw_values(session: Session) -> str:
    game, values = session.game, {}
    if game.winner is None:
        sign = _sign(game)
        report = await session.think()
        # GoGui draws squares with edges of these lengths: the areas show the values.
        values = {c.point: sign * _root(2 * c.value - 1) for c in report.candidates}
    width, side = game.size.width, session.canvas_side or max(game.size)
    rows = []
    for row in reversed(range(side)):
        points = [row * width + column for column in range(width)]
        numbers = [values.get(point, 0.0) for point in points]
        numbers += [0.0] * (side - width)  # outside the board, with --canvas
        rows.append(" ".join(f"{number:.3f}" for number in numbers))
    return "\n".join(rows)


def _root(value: float) -> float:
    """Return the square root of the absolute value, with the sign of the value."""
    return math.copysign(math.sqrt(abs(value)), value)


def _sign(game: Game) -> int:
    """Return 1 for Black to move, -1 for White, as GoGui colours numbers."""
    return 1 if game.to_move is Color.BLACK else -1


@command(
    "tanbo-draw_moves",
    help="Search; GoGui graphics: the best moves with win rates in percent, the darker "
    "the more visits.",
)
async def draw_moves(session: Session) -> str:
    game = session.game
    if game.winner is not None:
        return ""
    report = await session.think()
    moves = [move for move in report.candidates[:_SHOWN_MOVES] if move.visits]
    vertices = [format_vertex(game.size, move.point) for move in moves]
    most = max(move.visits for move in moves)
    lines = [
        f"COLOR {_green(move.visits / most)} {vertex}"
        for move, vertex in zip(moves, vertices, strict=True)
    ]
    labels = [
        f"{vertex} {100 * move.value:.0f}"
        for move, vertex in zip(moves, vertices, strict=True)
    ]
    lines.append(f"LABEL {' '.join(labels)}")
    lines.append(_summary(report))
    return _joined(lines)


def _green(share: float) -> str:
    """Return a green, pale for 0 and full for 1."""
    rest = round(220 - 160 * share)
    return f"#{rest:02x}e0{rest:02x}"


@command(
    "tanbo-draw_variation",
    help="Search; GoGui graphics: the best play by both sides.",
)
async def draw_variation(session: Session) -> str:
    game = session.game
    if game.winner is not None:
        return ""
    report = await session.think()
    return _joined([_played(game, report.variation), _summary(report)])


@command(
    "tanbo-variation",
    COLOR,
    help="Search; the best play by both sides, beginning with the color to move.",
    errors=(gtp.ILLEGAL_MOVE,),
)
async def variation(session: Session, color: Color) -> str:
    session.require_turn(color)
    game = session.game
    if game.winner is not None:
        return ""
    report = await session.think()
    return " ".join(format_vertex(game.size, point) for point in report.variation)


# While a search goes on


@command(
    "tanbo-live_graphics",
    Rest("[live_graphics 0|1]"),
    help="Whether GoGui is shown on stderr what a search for a move finds, as GoGui's "
    "parameter dialog asks and sets it.",
)
def live_graphics(session: Session, words: Sequence[str]) -> str:
    if not words:
        return f"[bool] live_graphics {int(session.live is not None)}"
    if len(words) != 2 or words[0] != "live_graphics" or words[1] not in ("0", "1"):
        raise gtp.GtpError(gtp.SYNTAX_ERROR, "usage: tanbo-live_graphics KEY 0|1")

    async def show(report: Report | None) -> None:
        session.show(_live(session.game, report))

    session.live = show if words[1] == "1" else None
    return ""


def _live(game: Game, report: Report | None) -> str:
    """Return live graphics: the best play so far; nothing at the end."""
    if report is None:
        return "gogui-gfx: CLEAR\n"
    lines = (_played(game, report.variation), _summary(report))
    return "\n".join(("gogui-gfx:", *lines, "", ""))


def _played(game: Game, points: Iterable[int]) -> str:
    color, moves = game.to_move, []
    for point in points:
        moves.append(f"{color.initial} {format_vertex(game.size, point)}")
        color = color.opponent
    return f"VAR {' '.join(moves)}"


def _summary(report: Report) -> str:
    proved = {1: ", a proven win", -1: ", a proven loss", 0: ""}[report.proof]
    return (
        f"TEXT {counted(report.visits, 'visit')}, win rate {report.value:.1%}{proved}"
    )


def _gfx(keyword: str, size: Size, points: Iterable[int]) -> str:
    """Return a line of graphics, empty without points."""
    vertices = " ".join(format_vertex(size, point) for point in sorted(points))
    return f"{keyword} {vertices}" if vertices else ""


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(line for line in lines if line)
