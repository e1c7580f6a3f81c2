"""Start positions by name and by formula (RULES.md sections 4 and 5).

``dense-WxH`` (2026) has a stone on every other point; ``classic-NxN`` (1993 and after)
is sparse. Every set-up has as many black as white roots.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tanbo_engine.points import MAX_SIDE, Color, Size
from tanbo_engine.rules import Position
from tanbo_engine.wording import short

MIN_SIDE = 3
DEFAULT = "dense-7x7"

CLASSIC_BY_DEFAULT = (5, 9, 13, 19, 21)
"""Square sizes whose default set-up is classic; every other size is dense."""

_NAME = re.compile(r"(dense|classic)-([0-9]{1,2})x([0-9]{1,2})", re.ASCII)


class _Lattice(NamedTuple):
    """Where a classic set-up puts its stones: first line, spacing, top-left colour."""

    first: int
    spacing: int
    top_left: Color


# RULES.md section 3 chooses the colours: black top left, except on the 2x2 lattices.
_CLASSIC = {
    5: _Lattice(0, 4, Color.WHITE),
    7: _Lattice(0, 6, Color.WHITE),
    9: _Lattice(1, 6, Color.WHITE),
    13: _Lattice(0, 4, Color.BLACK),
    19: _Lattice(0, 6, Color.BLACK),
    21: _Lattice(0, 4, Color.BLACK),
}


class UnknownSetup(ValueError):  # noqa: N818
    """No set-up of that name or size; the message lists the nearest good ones."""


class Setup(NamedTuple):
    """A named start position."""

    name: str
    size: Size

    def position(self) -> Position:
        """Return the start position, Black to move."""
        width, height = self.size
        lattice = _Lattice(0, 2, Color.BLACK)
        if self.name.startswith("classic"):
            lattice = _CLASSIC[width]
        stones: tuple[set[int], set[int]] = (set(), set())
        step = lattice.spacing
        for j, y in enumerate(range(lattice.first, height, step)):
            for i, x in enumerate(range(lattice.first, width, step)):
                color = (i + j + lattice.top_left) % 2
                stones[color].add((height - 1 - y) * width + x)
        return Position(self.size, frozenset(stones[0]), frozenset(stones[1]))


def is_fair(size: Size) -> bool:
    """Tell whether a dense start on this size has as many black as white stones.

    Both sides odd and 3 to 25, at least one of them 3 mod 4 (RULES.md section 4).
    """
    return all(MIN_SIDE <= side <= MAX_SIDE and side % 2 for side in size) and any(
        side % 4 == 3 for side in size
    )


def by_name(name: str) -> Setup:
    """Return the set-up of a name such as ``dense-7x9`` or ``classic-19x19``.

    Raises:
        UnknownSetup: not a name, or not a size of that family.
    """
    match = _NAME.fullmatch(name.lower())
    if match is None:
        raise UnknownSetup(
            f"unknown set-up {short(name)!r}: use dense-WxH or classic-NxN, "
            f"for example {DEFAULT} or classic-9x9"
        )
    size = Size(int(match[2]), int(match[3]))
    offered = is_fair(size) if match[1] == "dense" else _is_classic(size)
    if not offered:
        near = ", ".join(s.name for s in nearest(size) if s.name.startswith(match[1]))
        raise UnknownSetup(f"no set-up {match[0]}: the nearest are {near}")
    return Setup(f"{match[1]}-{size}", size)


def for_size(size: Size) -> Setup:
    """Return the default set-up of a size.

    Raises:
        UnknownSetup: no set-up has this size.
    """
    if _is_classic(size) and size.width in CLASSIC_BY_DEFAULT:
        return Setup(f"classic-{size}", size)
    if is_fair(size):
        return Setup(f"dense-{size}", size)
    near = ", ".join(dict.fromkeys(str(setup.size) for setup in nearest(size)))
    raise UnknownSetup(f"no set-up for {size}: the nearest sizes are {near}")


def offered() -> Iterator[Setup]:
    """Yield every set-up: dense by width and height, then classic."""
    sides = range(MIN_SIDE, MAX_SIDE + 1, 2)
    for size in (Size(width, height) for width in sides for height in sides):
        if is_fair(size):
            yield Setup(f"dense-{size}", size)
    for side in _CLASSIC:
        yield Setup(f"classic-{side}x{side}", Size(side, side))


def nearest(size: Size, count: int = 3) -> list[Setup]:
    """Return the set-ups of each family whose sizes are nearest to this one."""

    def distance(setup: Setup) -> tuple[int, int]:
        across = abs(setup.size.width - size.width)
        up = abs(setup.size.height - size.height)
        return across + up, abs(across - up)

    families: dict[str, list[Setup]] = {"dense": [], "classic": []}
    for setup in sorted(offered(), key=distance):
        family = families[setup.name.partition("-")[0]]
        if len(family) < count:
            family.append(setup)
    return families["dense"] + families["classic"]


def _is_classic(size: Size) -> bool:
    return size.width == size.height and size.width in _CLASSIC
