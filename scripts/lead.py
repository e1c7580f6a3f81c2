"""Measures which lead in growth points goes with a win rate, for `protocol.analysis`.

    .venv/bin/python scripts/lead.py [GAMES] [VISITS] [SETUP]...

The engine plays itself, the first turns at random. Every position tells the win rate of
the side to move, as the search finds it, and by how many growth points that side leads.
The lead is fitted as (BASE + GROWTH x growth points of both) x ln(win / loss), by least
squares, and the spread around it as SPREAD x the square root of the growth points.
"""

import math
import random
import sys
from collections.abc import Iterator

from tanbo_engine.api import Tanbo
from tanbo_engine.chance import slope_for

SETUPS = ("dense-7x7", "classic-9x9", "dense-11x11", "classic-13x13", "classic-19x19")
_UNCERTAIN = 0.98
"""Win rates beyond this, or as near to 0, say little about the board now."""

Sample = tuple[float, int, int]
"""ln(win / loss), lead of the side to move, growth points of both sides."""


def samples(setup: str, games: int, visits: int) -> Iterator[Sample]:
    """Yield what is seen in games from a set-up."""
    tanbo = Tanbo(setup, seed=1)
    source = random.Random(1)  # noqa: S311
    for _ in range(games):
        tanbo.restart()
        for _ in range(source.randrange(4, 9)):
            tanbo.play(source.choice(tanbo.legal_moves()))
        while tanbo.winner is None:
            report = tanbo.search(visits=visits)
            if not report.proof and 1 - _UNCERTAIN < report.value < _UNCERTAIN:
                own, other = (
                    len(tanbo.legal_moves(color))
                    for color in (tanbo.to_move, tanbo.to_move.opponent)
                )
                odds = math.log(report.value / (1 - report.value))
                odds /= slope_for(tanbo.game.size.area)
                yield odds, own - other, own + other
            tanbo.play(report.point)


def fit(seen: list[Sample]) -> tuple[float, float, float]:
    """Return BASE, GROWTH and SPREAD."""
    # Normal equations of lead = BASE * odds + GROWTH * points * odds.
    aa = sum(odds * odds for odds, _, _ in seen)
    ab = sum(odds * odds * points for odds, _, points in seen)
    bb = sum((odds * points) ** 2 for odds, _, points in seen)
    ay = sum(odds * lead for odds, lead, _ in seen)
    by = sum(odds * points * lead for odds, lead, points in seen)
    determinant = aa * bb - ab * ab
    base = (ay * bb - by * ab) / determinant
    growth = (by * aa - ay * ab) / determinant
    rest = sum(
        (lead - (base + growth * points) * odds) ** 2 / points
        for odds, lead, points in seen
    )
    return base, growth, math.sqrt(rest / len(seen))


def _tell(name: str, seen: list[Sample]) -> None:
    base, growth, spread = fit(seen)
    print(
        f"{name}: {len(seen)} positions, lead {base:.3f} + {growth:.4f} x points, "
        f"spread {spread:.3f}",
        flush=True,
    )


def main(arguments: list[str]) -> int:
    """Measure and print; return the exit status."""
    games, visits = (
        int(text) for text in (*arguments[:2], *("20", "400")[len(arguments) :])
    )
    together: list[Sample] = []
    for setup in arguments[2:] or SETUPS:
        seen = list(samples(setup, games, visits))
        _tell(setup, seen)
        together += seen
    _tell("all", together)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
