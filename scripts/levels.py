"""Measures the levels: each against the one below; prints the README's table.

    .venv/bin/python scripts/levels.py --out DIR [--games 200] [--time 1]

Nine matches on two set-ups, each a folder of DIR with the arena's records; the same
command goes on after an interruption. --time is for every move: only level 10 needs it,
the others have made their visits before.
"""

import argparse
import shlex
import sys
from itertools import pairwise
from pathlib import Path

from protocol.arena import cli, statistics
from protocol.arena.report import signed
from protocol.arena.store import GameRecord, read_games, standing
from tanbo_engine.levels import LEVELS

SETUPS = ("dense-7x7", "classic-9x9")
ENGINE = f"{shlex.quote(sys.executable)} -P -m protocol"


def match(lower: int, higher: int, out: Path, games: int, seconds: float) -> int:
    """Play what is missing of a match of two levels; return the exit status."""
    engines = [
        f"--engine=level-{level}={ENGINE} --level {level} --seed {{seed}}"
        for level in (higher, lower)
    ]
    setups = [f"--setup={name}" for name in SETUPS]
    limits = [f"--games={games}", f"--time={seconds:g}", f"--out={out}"]
    return cli.main(["run", *engines, *setups, *limits])


def cell(games: list[GameRecord], setup: str, level: int) -> str:
    """Return the score of a level against the one below, with its Elo."""
    own = [game for game in games if game.setup == setup]
    score = statistics.pair_score(own, f"level-{level}")
    elo = statistics.elo(score)
    low, high = signed(elo.low), signed(elo.high)
    return f"{100 * score.mean:.0f}% ({signed(elo.difference)}, {low} to {high})"


def table(results: dict[int, list[GameRecord]]) -> str:
    """Return the table: what the levels are and how they score against the next."""
    head = " | ".join(f"{name}: score against the level below (Elo)" for name in SETUPS)
    rows = [
        f"| level | visits | at a glance | {head} |",
        "| --- | --- | --- | --- | --- |",
    ]
    for level, (visits, glances) in LEVELS.items():
        games = results.get(level)
        cells = [cell(games, name, level) if games else "" for name in SETUPS]
        most = "no limit" if visits is None else f"{visits:,}"
        rows.append(f"| {level} | {most} | {glances:.0%} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main(arguments: list[str]) -> int:
    """Play all matches and print the table; return the exit status."""
    parser = argparse.ArgumentParser(description="Measures the levels.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--games", type=int, default=200, metavar="N")
    parser.add_argument("--time", type=float, default=1.0, metavar="SECONDS")
    options = parser.parse_args(arguments)
    results: dict[int, list[GameRecord]] = {}
    for lower, higher in pairwise(LEVELS):
        out = options.out / f"{higher}-{lower}"
        status = match(lower, higher, out, options.games, options.time)
        if status:
            return status
        results[higher] = standing(read_games(out))
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
