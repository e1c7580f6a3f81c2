"""Certificates: files that show who wins a position, and their checker.

A certificate holds a strategy of the winner: a reply to every move of the loser. It is
text, one line a position of the winner's turn::

    tanbo-certificate 1 white 3x3 X1O/3/O1X b
    3x3 XXO/3/O1X w C2

The first line names the winner and the start. Each other line is a position (DESIGN.md
section 3) and the reply; a line stands for the mirrored and turned positions as well.

The checker is slow and plain on purpose: it plays everything by `rules` and shares no
code with the compiled modules that find proofs.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import NamedTuple

from tanbo_engine import notation, rules
from tanbo_engine.points import Color, Size, VertexError, format_vertex, parse_vertex
from tanbo_engine.wording import short

_TITLE = "tanbo-certificate"
_VERSION = "1"
_FORM = f"{_TITLE} {_VERSION} WINNER POSITION"
_MOST_SHOWN = 60


class BrokenCertificate(ValueError):  # noqa: N818
    """The file proves nothing; the message is one line that says where and why."""


class Checked(NamedTuple):
    """What a certificate proves.

    Attributes:
        start: the position.
        winner: who wins it.
        point: a winning move if the winner is to move, else None.
        positions: how many were looked at, mirrored ones counted once.
    """

    start: rules.Position
    winner: Color
    point: int | None
    positions: int


class _Reply(NamedTuple):
    point: int
    line: int


def lines(
    start: rules.Position, winner: Color, replies: Iterable[tuple[rules.Position, int]]
) -> Iterator[str]:
    """Yield the lines of a certificate, without newlines.

    Args:
        start: the position that is won.
        winner: who wins it.
        replies: positions of the winner's turn and what he plays there.
    """
    yield f"{_TITLE} {_VERSION} {winner.word} {notation.format_position(start)}"
    for position, point in replies:
        vertex = format_vertex(position.size, point)
        yield f"{notation.format_position(position)} {vertex}"


def check(
    text: Iterable[str],
    wanted: rules.Position | None = None,
    tell: Callable[[int], None] | None = None,
) -> Checked:
    """Check a certificate.

    Args:
        text: its lines, with or without newlines.
        wanted: the position it has to be about; any if None.
        tell: is told now and then how many positions have been looked at.

    Raises:
        BrokenCertificate: it proves nothing.
    """
    rest = iter(text)
    start, winner = _read_title(next(rest, ""))
    if wanted is not None and start != wanted:
        raise BrokenCertificate(
            f"it is about {notation.format_position(start)}, "
            f"not about {notation.format_position(wanted)}"
        )
    replies = _read_replies(rest, start.size, winner)
    positions = _walk(start, winner, replies, tell or (lambda _: None))
    point = None
    if start.to_move is winner:
        name, _ = _named(start)
        point = _normal_form(start)[1].index(replies[name].point)
    return Checked(start, winner, point, positions)


# Reading


def _read_title(line: str) -> tuple[rules.Position, Color]:
    """Return start and winner."""
    fields = line.split()
    if fields[:1] != [_TITLE]:
        raise BrokenCertificate(f"it is no certificate: line 1 is not {_FORM}")
    if fields[1:2] != [_VERSION]:
        raise BrokenCertificate(f"line 1: unknown version, this engine reads {_FORM}")
    words = [color.word for color in Color]
    if len(fields) < 3 or fields[2] not in words:
        raise BrokenCertificate("line 1: the winner is black or white")
    try:
        start = notation.parse_position(" ".join(fields[3:]))
        rules.check_position(start)
    except (notation.PositionError, rules.ImpossiblePosition) as error:
        raise BrokenCertificate(f"line 1: {error}") from error
    return start, Color(words.index(fields[2]))


def _read_replies(text: Iterable[str], size: Size, winner: Color) -> dict[str, _Reply]:
    """Return the replies by the names of their positions."""
    replies: dict[str, _Reply] = {}
    for number, line in enumerate(text, 2):
        position, point = _read_line(number, line, size)
        if position.to_move is not winner:
            raise BrokenCertificate(f"line {number}: it is not {winner.word}'s turn")
        name, _ = _named(position)
        if name in replies:
            raise BrokenCertificate(
                f"line {number}: the position of line {replies[name].line} again"
            )
        replies[name] = _Reply(_normal_form(position)[1][point], number)
    return replies


def _read_line(number: int, line: str, size: Size) -> tuple[rules.Position, int]:
    """Return the position and the reply of a line."""
    fields = line.split()
    if len(fields) != 4:
        raise BrokenCertificate(
            f"line {number}: {short(line.strip(), _MOST_SHOWN)!r} "
            "is not POSITION VERTEX"
        )
    try:
        position = notation.parse_position(" ".join(fields[:3]))
        if position.size != size:
            raise BrokenCertificate(
                f"line {number}: a board of {position.size}, not {size}"
            )
        return position, parse_vertex(size, fields[3])
    except (notation.PositionError, VertexError) as error:
        raise BrokenCertificate(f"line {number}: {error}") from error


# Checking


def _walk(
    start: rules.Position,
    winner: Color,
    replies: dict[str, _Reply],
    tell: Callable[[int], None],
) -> int:
    """Play the strategy against every defence, depth first; return the positions seen.

    A position is `won` when all that can follow it is. While that is looked into, it is
    `under_way`: to meet it again then would mean that play goes round in a circle.
    """
    won: set[str] = set()
    under_way: set[str] = set()
    stack = [_named(start)]
    while stack:
        name, position = stack[-1]
        if name in under_way:  # back from all that follows it
            under_way.remove(name)
            won.add(name)
            tell(len(won))
        if name in won:
            stack.pop()
            continue
        under_way.add(name)
        for after in map(_named, _followers(name, position, winner, replies)):
            if after[0] in under_way:
                raise BrokenCertificate(f"play goes round in a circle at {after[0]}")
            stack.append(after)
    for name, reply in replies.items():
        if name not in won:
            raise BrokenCertificate(
                f"line {reply.line}: the strategy never comes to {name}"
            )
    return len(won)


def _followers(
    name: str, position: rules.Position, winner: Color, replies: dict[str, _Reply]
) -> list[rules.Position]:
    """Return what may come after a position: one if the winner moves, all if not."""
    if rules.winner(position) is winner:
        return []
    if rules.winner(position) is not None:
        raise BrokenCertificate(f"{winner.opponent.word} wins at {name}")
    if position.to_move is not winner:
        moves = rules.legal_moves(position)
        return [rules.play(position, point).after for point in moves]
    if name not in replies:
        raise BrokenCertificate(f"no reply to {name}")
    point, line = replies[name]
    try:
        return [rules.play(position, point).after]
    except rules.IllegalMove as error:
        raise BrokenCertificate(f"line {line}: illegal move: {error}") from error


def _named(position: rules.Position) -> tuple[str, rules.Position]:
    """Return one name and one form for a position and all that mirror or turn it."""
    form, _ = _normal_form(position)
    return notation.format_position(form), form


@cache
def _images(size: Size) -> list[tuple[int, ...]]:
    """Return the symmetries of a board: where each maps every point."""
    width, height = size
    points = [(x, y) for y in range(height) for x in range(width)]
    images = []
    for flip_x in (False, True):
        for flip_y in (False, True):
            flipped = [
                (width - 1 - x if flip_x else x, height - 1 - y if flip_y else y)
                for x, y in points
            ]
            images.append(tuple(y * width + x for x, y in flipped))
            if width == height:
                images.append(tuple(x * width + y for x, y in flipped))
    return images


def _normal_form(position: rules.Position) -> tuple[rules.Position, tuple[int, ...]]:
    """Return the least of a position's images, and the symmetry that leads to it."""
    found = []
    for image in _images(position.size):
        black, white = (
            sorted(image[stone] for stone in position.stones(color)) for color in Color
        )
        found.append((black, white, image))
    black, white, image = min(found)
    moved = rules.Position(
        position.size, frozenset(black), frozenset(white), position.to_move
    )
    return moved, image
