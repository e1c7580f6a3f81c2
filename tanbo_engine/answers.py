"""Answers: sentences that cite the rules and keep the points that decide them."""

from collections.abc import Collection, Mapping
from string import Formatter
from typing import NamedTuple

import msgspec

from tanbo_engine import rulebook
from tanbo_engine.points import Color, by_column, format_vertex
from tanbo_engine.rules import Position, Root

_SMALL = 4
"""Most stones of a root that is named by all of them."""


class Reason(NamedTuple):
    """One sentence of an explanation.

    Attributes:
        text: the sentence.
        cites: entries of `rulebook` that it rests on, ``R3``.
        points: points and stones that decide it; the text names them, of a large
            root only the first.
    """

    text: str
    cites: tuple[str, ...]
    points: frozenset[int] = frozenset()


class Explanation(NamedTuple):
    """An answer: its sentences, the first of which is the answer in short."""

    reasons: tuple[Reason, ...]

    @property
    def sections(self) -> tuple[str, ...]:
        """What is cited, in the order of its appearance."""
        return tuple(dict.fromkeys(c for reason in self.reasons for c in reason.cites))

    @property
    def sources(self) -> dict[str, str]:
        """Where each thing cited comes from."""
        return {name: rulebook.ENTRIES[name].source for name in self.sections}

    @property
    def points(self) -> frozenset[int]:
        """All points and stones that decide the answer."""
        return frozenset().union(*(reason.points for reason in self.reasons))

    @property
    def text(self) -> str:
        """The answer in lines: the sentences with what they cite, then the sources."""
        lines = [f"{r.text} [{', '.join(r.cites)}]" for r in self.reasons]
        cited = "; ".join(f"{name}: {source}" for name, source in self.sources.items())
        return "\n".join([*lines, f"Sources: {cited}"])


class Question(NamedTuple):
    """A question that was asked in a game.

    Attributes:
        turn: number of moves made before it.
        position: the position it was asked about.
        text: how it was asked.
        answer: what was answered.
    """

    turn: int
    position: Position
    text: str
    answer: Explanation


class Phrase(msgspec.Struct, frozen=True):
    """Words whose braces are filled by parts; of these, only the named ones matter."""

    text: str
    parts: Mapping[str, "Part"]

    def shown(self) -> dict[str, "Part"]:
        """Return the parts that the words name."""
        names = fields(self.text)
        return {name: part for name, part in self.parts.items() if name in names}


Part = str | int | Root | Phrase | Collection[int] | Mapping[int, Collection[int]]
"""What a sentence may hold: words, a count, a root, points, points with neighbours."""


class Telling:
    """Sentences about a position from one side's view, as they are said."""

    def __init__(self, position: Position, color: Color) -> None:
        self._size = position.size
        self._words = {
            "Side": named(color),
            "side": color.word,
            "Enemy": named(color.opponent),
            "enemy": color.opponent.word,
        }
        self._reasons: list[Reason] = []

    def say(self, cites: str, text: str, /, **parts: Part) -> None:
        """Add a sentence; its parts fill the braces, as do Side, side, Enemy, enemy."""
        phrase = Phrase(text, parts)
        cited = tuple(cites.split())
        self._reasons.append(Reason(self._show(phrase), cited, _points_of(phrase)))

    def done(self) -> Explanation:
        """Return the sentences as an explanation."""
        return Explanation(tuple(self._reasons))

    def _show(self, part: Part) -> str:
        if isinstance(part, str | int):
            return str(part)
        if isinstance(part, Phrase):
            shown = {name: self._show(inner) for name, inner in part.shown().items()}
            return part.text.format(**self._words, **shown)
        if isinstance(part, Root):
            return self._show_root(part)
        if isinstance(part, Mapping):
            return ", ".join(
                f"{self._show([point])} (next to {self._show(part[point])})"
                for point in by_column(self._size, list(part))
            )
        if not part:
            return "none"
        vertices = self._vertices(part)
        return " and ".join(filter(None, (", ".join(vertices[:-1]), vertices[-1])))

    def _show_root(self, root: Root) -> str:
        owner = f"{named(root.color)}'s root"
        if len(root.stones) <= _SMALL:
            return f"{owner} {self._show(root.stones)}"
        return f"{owner} at {self._vertices(root.stones)[0]}"

    def _vertices(self, points: Collection[int]) -> list[str]:
        ordered = by_column(self._size, list(points))
        return [format_vertex(self._size, point) for point in ordered]


def _points_of(part: Part) -> frozenset[int]:
    if isinstance(part, str | int):
        return frozenset()
    if isinstance(part, Phrase):
        return frozenset[int]().union(*map(_points_of, part.shown().values()))
    if isinstance(part, Root):
        return part.stones
    if isinstance(part, Mapping):
        return frozenset(part).union(*part.values())
    return frozenset(part)


def fields(text: str) -> set[str]:
    """Return the names in the braces of a text."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def named(color: Color) -> str:
    """Return ``Black`` or ``White``."""
    return color.word.capitalize()
