"""Argument kinds: how the tokens of a command line become values.

Each kind knows its usage text and how many tokens it takes, parses them against the
session, and raises `GtpError` for what it cannot accept.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence

from protocol import gtp
from protocol.options import decimal
from protocol.session import Session
from tanbo_engine import points
from tanbo_engine.points import Color, Size
from tanbo_engine.wording import short

UNLIMITED = 1 << 30
"""More tokens than a line can hold."""

Placement = tuple[Color, int | None]
"""A colour and a point; None is a pass."""

# Compiled at first use: start-up time counts.
_INTEGER = r"[+-]?[0-9]+"
_SIZE = r"([0-9]+)[xX:]([0-9]+)"


class Argument(ABC):
    """One argument of a command.

    Attributes:
        usage: how help texts show it, ``VERTEX``.
        least: fewest tokens it takes.
        most: most tokens it takes.
        is_file: it names a file; in double quotes one may have blanks.
    """

    least = 1
    most = 1
    is_file = False

    def __init__(self, usage: str) -> None:
        self.usage = usage

    @abstractmethod
    def parse(self, session: Session, tokens: Sequence[str]) -> object:
        """Return the value of `least` to `most` tokens; raise `GtpError` if none."""


class Optional(Argument):
    """An argument that may be left out; its value is None then."""

    least = 0

    def __init__(self, argument: Argument) -> None:
        super().__init__(f"[{argument.usage}]")
        self.is_file = argument.is_file
        self._argument = argument

    def parse(self, session: Session, tokens: Sequence[str]) -> object:
        """Return the argument's value, None without tokens."""
        return self._argument.parse(session, tokens) if tokens else None


class Text(Argument):
    """One token as it stands."""

    def parse(self, session: Session, tokens: Sequence[str]) -> str:
        """Return the token."""
        return tokens[0]


class FileName(Text):
    """The name of a file."""

    is_file = True

    def parse(self, session: Session, tokens: Sequence[str]) -> str:
        """Return the name."""
        if not tokens[0]:
            raise gtp.GtpError("the file name is empty: name a file")
        return super().parse(session, tokens)


class Rest(Argument):
    """All the tokens that are left, as they stand."""

    most = UNLIMITED

    def __init__(self, usage: str, least: int = 0) -> None:
        super().__init__(usage)
        self.least = least

    def parse(self, session: Session, tokens: Sequence[str]) -> tuple[str, ...]:
        """Return the tokens."""
        return tuple(tokens)


class Integer(Argument):
    """A whole number between bounds."""

    def __init__(self, usage: str, least: int, most: int) -> None:
        super().__init__(usage)
        self._bounds = least, most

    def parse(self, session: Session, tokens: Sequence[str]) -> int:
        """Return the number."""
        return parse_integer(tokens[0], *self._bounds)


class Number(Argument):
    """A finite number."""

    def parse(self, session: Session, tokens: Sequence[str]) -> float:
        """Return the number."""
        return parse_number(tokens[0])


class ColorArgument(Argument):
    """A colour."""

    def parse(self, session: Session, tokens: Sequence[str]) -> Color:
        """Return the colour."""
        return parse_color(tokens[0])


class MoveArgument(Argument):
    """The vertex of a move, or a pass."""

    def parse(self, session: Session, tokens: Sequence[str]) -> int | None:
        """Return the point, None for a pass."""
        return parse_move(session.game.size, tokens[0])


class SizeArgument(Argument):
    """A board size: ``N``, ``W H``, ``W:H`` or ``WxH``, width first."""

    most = 2

    def __init__(self, usage: str, least: int = 1) -> None:
        super().__init__(usage)
        self.least = least

    def parse(self, session: Session, tokens: Sequence[str]) -> Size:
        """Return the size, which no set-up needs to have."""
        match = re.fullmatch(_SIZE, tokens[0])
        if match is None or len(tokens) == 2:
            return Size(_side(tokens[0]), _side(tokens[-1]))
        return Size(_side(match[1]), _side(match[2]))


class Moves(Argument):
    """Any number of moves, each a colour and a vertex."""

    least = 0
    most = UNLIMITED

    def parse(self, session: Session, tokens: Sequence[str]) -> list[Placement]:
        """Return the moves."""
        size = session.game.size
        return [(color, parse_move(size, text)) for color, text in _pairs(tokens)]


class Stones(Argument):
    """Any number of stones, each a colour and a vertex, no vertex twice."""

    least = 0
    most = UNLIMITED

    def parse(
        self, session: Session, tokens: Sequence[str]
    ) -> dict[Color, frozenset[int]]:
        """Return the points of each colour's stones."""
        size = session.game.size
        stones: dict[Color, set[int]] = {color: set() for color in Color}
        for color, text in _pairs(tokens):
            point = parse_point(size, text)
            if any(point in placed for placed in stones.values()):
                raise gtp.GtpError(
                    f"{text.upper()} is given twice: one stone a vertex at most"
                )
            stones[color].add(point)
        return {color: frozenset(placed) for color, placed in stones.items()}


COLOR = ColorArgument("COLOR")
MOVE = MoveArgument("VERTEX")
SIZE = SizeArgument("SIZE")
MOVES = Moves("[COLOR VERTEX]...")
STONES = Stones("[COLOR VERTEX]...")


def unquoted(tokens: Sequence[str]) -> list[str]:
    """Return tokens with those between double quotes as one, without the quotes."""
    found: list[str] = []
    rest = iter(tokens)
    for token in rest:
        while token.startswith('"') and (len(token) == 1 or not token.endswith('"')):
            following = next(rest, None)
            if following is None:
                raise gtp.GtpError(
                    'the file name has no closing " (a # begins a comment)'
                )
            token = f"{token} {following}"
        found.append(token[1:-1] if token.startswith('"') else token)
    return found


def parse_color(text: str) -> Color:
    """Return the colour of ``b``, ``w``, ``black`` or ``white`` in any case."""
    for color in Color:
        if text.lower() in (color.word, color.word[0]):
            return color
    raise gtp.GtpError(f"invalid color {short(text)!r}: use b, black, w or white")


def parse_move(size: Size, text: str) -> int | None:
    """Return the point of a vertex, None for ``pass``.

    Raises:
        GtpError: ``illegal move`` where it looks like a vertex but is off the board.
    """
    if text.lower() == "pass":
        return None
    try:
        return points.parse_vertex(size, text)
    except points.VertexError as error:
        if points.looks_like_vertex(text):
            raise gtp.GtpError(gtp.ILLEGAL_MOVE, str(error)) from error
        raise gtp.GtpError(f"{error}, or pass") from error


def parse_integer(text: str, least: int, most: int) -> int:
    """Return a whole number between bounds."""
    # int() refuses some thousands of digits with an error of its own.
    if re.fullmatch(_INTEGER, text) and len(text) <= 20 and least <= int(text) <= most:
        return int(text)
    raise gtp.GtpError(
        f"invalid number {short(text)!r}: use a whole number from {least} to {most}"
    )


def parse_number(text: str) -> float:
    """Return a finite number."""
    try:
        return decimal(text)
    except ValueError as error:
        raise gtp.GtpError(
            f"invalid number {short(text)!r}: use a decimal number"
        ) from error


def parse_point(size: Size, text: str) -> int:
    """Return the point of a vertex; what is off the board is told as it is."""
    try:
        return points.parse_vertex(size, text)
    except points.VertexError as error:
        raise gtp.GtpError(str(error)) from error


def _pairs(tokens: Sequence[str]) -> list[tuple[Color, str]]:
    """Return colours and vertex texts of alternating tokens."""
    if len(tokens) % 2:
        raise gtp.GtpError(gtp.SYNTAX_ERROR, "a color without a vertex")
    colors = map(parse_color, tokens[::2])
    return list(zip(colors, tokens[1::2], strict=True))


def _side(text: str) -> int:
    """Return a side of the board; any number too large for one stays too large."""
    if not re.fullmatch(_INTEGER, text):
        raise gtp.GtpError(
            gtp.SYNTAX_ERROR, f"{short(text)!r} is no size: use N, W H, W:H or WxH"
        )
    return int(text[:6])
