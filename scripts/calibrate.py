"""Tells whether the win probability of a search can be believed; prints tables.

    .venv/bin/python scripts/selfplay.py --steady --seed 77 --out DIR --games 2000 ...
    .venv/bin/python scripts/calibrate.py DIR

From games that scripts/selfplay.py played with --steady: after a random opening the
best move always, so that a result is what the search's own play makes of a position.
They are held out as long as scripts/train.py is not given them.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from protocol.arena.statistics import wilson
from tanbo_engine import selfplay, setups
from tanbo_engine.chance import MOVES_TO_RESIGN, SIZES, believable, size_class
from tanbo_engine.selfplay import Batch, Look, SelfGame

BINS = 10
CLASSES = {most: f"to {most}" if most < math.inf else "larger" for most in SIZES} | {
    min(SIZES): f"up to {min(SIZES)} points"
}
LIMITS = (1, 2, 5)
"""Chances in percent below which a side might resign."""


class Forecast(NamedTuple):
    """A win probability, and whether that side won."""

    chance: float
    won: bool


class Bin(NamedTuple):
    """Forecasts that are alike."""

    forecasts: list[Forecast]

    @property
    def predicted(self) -> float:
        """Mean win probability."""
        return sum(each.chance for each in self.forecasts) / len(self.forecasts)

    @property
    def actual(self) -> float:
        """Share of the wins."""
        return sum(each.won for each in self.forecasts) / len(self.forecasts)


class Given(NamedTuple):
    """Sides that would have resigned, and how many of them won after all."""

    up: int
    won: int

    @property
    def most(self) -> float:
        """Upper end of the 95% interval of the error."""
        return wilson(self.won / self.up, self.up)[1]


def said(game: SelfGame, area: int, search: str) -> SelfGame:
    """Return a game with the probabilities that the player tells of its searches."""
    looks = [
        look
        if look.proof
        else msgspec.structs.replace(look, value=believable(look.value, area, search))
        for look in game.looks
    ]
    return msgspec.structs.replace(game, looks=looks)


def forecasts(game: SelfGame) -> Iterator[Forecast]:
    """Yield what the search said where it proved nothing, and what came of it."""
    for ply, look in enumerate(game.looks, game.opening):
        if not look.proof:
            yield Forecast(look.value, game.winner == ply % 2)


def last_look(game: SelfGame, side: int, percent: float) -> Look | None:
    """Return what the search said when a side would have resigned, None if never."""
    in_a_row = 0
    for ply, look in enumerate(game.looks, game.opening):
        if ply % 2 == side:
            in_a_row = in_a_row + 1 if 100 * look.value < percent else 0
            if in_a_row == MOVES_TO_RESIGN:
                return look
    return None


def resignations(
    games: Sequence[SelfGame], percent: float, *, unproved: bool = False
) -> Given:
    """Return how many sides would have resigned, and would have been wrong.

    Args:
        games: finished ones.
        percent: the chance below which.
        unproved: count only those whose loss was not proved: nobody else can be wrong.
    """
    wrong = []
    for game in games:
        for side in (0, 1):
            look = last_look(game, side, percent)
            if look is not None and not (unproved and look.proof):
                wrong.append(game.winner == side)
    return Given(len(wrong), sum(wrong))


def in_bins(games: Sequence[SelfGame]) -> dict[int, Bin]:
    """Return all forecasts by tenths of the win probability."""
    bins: dict[int, Bin] = {}
    for game in games:
        for each in forecasts(game):
            number = min(int(each.chance * BINS), BINS - 1)
            bins.setdefault(number, Bin([])).forecasts.append(each)
    return bins


def brier(bins: dict[int, Bin]) -> float:
    """Return the mean squared error of the forecasts; always saying 1/2 has 0.25."""
    every = [each for its in bins.values() for each in its.forecasts]
    return sum((each.chance - each.won) ** 2 for each in every) / len(every)


def slope_left(bins: dict[int, Bin]) -> str:
    """Return what the log odds should still be multiplied by; 1 is right.

    The least log loss decides; a dash where it is at the end of the scale.
    """
    points = [
        (math.log(each.chance / (1 - each.chance)) * (1 if each.won else -1))
        for its in bins.values()
        for each in its.forecasts
    ]

    def loss(slope: float) -> float:
        return sum(math.log1p(math.exp(-slope * odds)) for odds in points)

    low, high = 0.0, 4.0
    while high - low > 0.001:
        third = (high - low) / 3
        if loss(low + third) < loss(high - third):
            high -= third
        else:
            low += third
    return "-" if high > 3.9 or low < 0.1 else f"{low:.2f}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def calibration(games: dict[float, list[SelfGame]]) -> str:
    """Return the table of forecasts and results."""
    classes = {most: in_bins(its) for most, its in games.items()}
    rows = []
    for number in range(BINS):
        name = f"{10 * number} to {10 * number + 10}%"
        rows.append([name, *(_cell(bins.get(number)) for bins in classes.values())])
    rows.append(["Brier score", *(f"{brier(bins):.3f}" for bins in classes.values())])
    rows.append(["slope left", *(slope_left(b) for b in classes.values())])
    totals = [_totals(bins, games[most]) for most, bins in classes.items()]
    rows.append(["positions, games", *totals])
    return table(["search says", *(CLASSES[most] for most in classes)], rows)


def _cell(its: Bin | None) -> str:
    if its is None:
        return ""
    return f"{its.predicted:.1%}: {its.actual:.1%} ({len(its.forecasts):,})"


def _totals(bins: dict[int, Bin], games: list[SelfGame]) -> str:
    positions = sum(len(its.forecasts) for its in bins.values())
    return f"{positions:,}, {len(games):,}"


def resigning(games: dict[float, list[SelfGame]]) -> str:
    """Return the table of resignations."""
    every = [game for its in games.values() for game in its]
    rows = []
    for percent in LIMITS:
        cells = [_resigned(resignations(its, percent)) for its in games.values()]
        cells.append(_resigned(resignations(every, percent)))
        cells.append(_resigned(resignations(every, percent, unproved=True)))
        rows.append([f"below {percent}%", *cells])
    return table(
        ["chance", *(CLASSES[most] for most in games), "all", "unproved"], rows
    )


def _resigned(given: Given) -> str:
    if not given.up:
        return "none"
    return f"{given.won} of {given.up:,} (below {given.most:.2%})"


def collect(batches: Iterator[Batch]) -> tuple[dict[float, list[SelfGame]], str]:
    """Return the games by class of size, and what searches they are of.

    Raises:
        ValueError: not steady games, or not of the same search and visits.
    """
    games: dict[float, list[SelfGame]] = {most: [] for most in CLASSES}
    kinds = set()
    for batch in batches:
        if not batch.source.steady:
            raise ValueError("only games with --steady tell; some are without")
        kinds.add(f"{batch.source.visits:,} visits of {batch.source.search}")
        area = setups.by_name(batch.source.setup).size.area
        its = [said(game, area, batch.source.search) for game in batch.games]
        games[size_class(area)] += its
    if len(kinds) != 1:
        raise ValueError(f"searches of several kinds: {', '.join(sorted(kinds))}")
    return {most: its for most, its in games.items() if its}, kinds.pop()


def main(arguments: list[str]) -> int:
    """Print the tables; return the exit status."""
    parser = argparse.ArgumentParser(description="Is the win probability true?")
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    options = parser.parse_args(arguments)
    try:
        games, searches = collect(selfplay.read(options.folders))
    except ValueError as error:
        parser.error(str(error))
    print(f"Searches of {searches}; mean chance: share won (positions)\n")
    print(calibration(games))
    print(f"\nWon after {MOVES_TO_RESIGN} own moves in a row with a chance below ...\n")
    print(resigning(games))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
