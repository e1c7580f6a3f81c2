"""Plays games of the engine against itself, for scripts/train.py and calibrate.py.

    .venv/bin/python scripts/selfplay.py --out DIR --games 5000
        [--setup dense-7x7:40 --setup classic-9x9:10 ...]   shares of the games
        [--visits 800] [--seed 1] [--processes 1] [--steady] [--search alphabeta]

Each game begins with random moves; then the engine plays both sides, with moves drawn
by visits in the first quarter of the board's points and some that are drawn blindly.
--steady plays the best move always.

DIR gets a folder for each set-up with files of 20 games (tanbo_engine/selfplay.py tells
their format). A file is complete or absent: the same command goes on after any
interruption, and with more --games it adds to what is there. The same seed, set-ups,
visits and engine give the same files, however many processes play.
"""

import argparse
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from protocol.files import write_whole
from tanbo_engine import selfplay, setups
from tanbo_engine.selfplay import Batch, Source

GAMES_A_FILE = 20
RECIPE = "selfplay.json"

SHARES = {
    "dense-7x7": 500.0,
    "classic-9x9": 120.0,
    "dense-11x11": 40.0,
    "dense-7x9": 120.0,
    "dense-5x7": 150.0,
    "dense-15x15": 10.0,
    "classic-19x19": 3.0,
    "classic-13x13": 12.0,
    "dense-11x7": 60.0,
    "classic-7x7": 150.0,
    "classic-5x5": 60.0,
}
"""Default set-ups and shares: long games are dear, and have more positions."""


class Task(NamedTuple):
    """One file that is to be made."""

    file: Path
    source: Source
    first: int


def make(task: Task) -> int:
    """Play and write a file; return how many positions it has."""
    numbers = range(task.first, task.first + GAMES_A_FILE)
    games = [selfplay.play(task.source, number) for number in numbers]
    write_whole(task.file, selfplay.encode(Batch(task.source, games)))
    return sum(len(game.looks) for game in games)


def plan(out: Path, source: Source, shares: dict[str, float], games: int) -> list[Task]:
    """Return all files of a run, so that any beginning has about the right shares."""
    total = sum(shares.values())
    ordered = []
    for name, share in shares.items():
        files = -int(-games * share // (total * GAMES_A_FILE))
        its = msgspec.structs.replace(source, setup=name)
        for i in range(files):
            file = out / name / f"{i * GAMES_A_FILE:06}{selfplay.SUFFIX}"
            ordered.append(((i + 0.5) / files, Task(file, its, i * GAMES_A_FILE)))
    ordered.sort(key=lambda each: each[0])
    return [task for _, task in ordered]


def claim(out: Path, source: Source) -> None:
    """Write down how the games of a folder are made.

    Raises:
        ValueError: those that are there were made otherwise.
    """
    out.mkdir(parents=True, exist_ok=True)
    file = out / RECIPE
    if not file.exists():
        write_whole(file, msgspec.json.encode(source) + b"\n")
    there = msgspec.json.decode(file.read_bytes(), type=Source)
    old, new = msgspec.structs.asdict(there), msgspec.structs.asdict(source)
    differing = [
        f"{key} {value}, not {new[key]}"
        for key, value in old.items()
        if value != new[key]
    ]
    if differing:
        raise ValueError(f"the games in {out} have {'; '.join(differing)}: use another")


def attend() -> None:
    """Let a worker finish its file at Ctrl-C, but end if the first process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """Wait for the end of the first process, then end this one."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def workers(processes: int, tasks: list[Task]) -> Iterator[Iterable[int]]:
    """Give the number of positions of each file, as soon as it is there."""
    if processes == 1:
        yield map(make, tasks)
        return
    pool = ProcessPoolExecutor(
        processes,
        multiprocessing.get_context("spawn"),
        attend,
    )
    try:
        futures = [pool.submit(make, task) for task in tasks]
        yield (future.result() for future in as_completed(futures))
    finally:
        pool.shutdown(cancel_futures=True)


def run(tasks: list[Task], processes: int) -> None:
    """Make the files that are missing, telling about it on stderr."""
    for folder in {task.file.parent for task in tasks}:
        folder.mkdir(exist_ok=True)
    missing = [task for task in tasks if not task.file.exists()]
    made, count, began = len(tasks) - len(missing), 0, time.monotonic()
    with workers(processes, missing) as results:
        for positions in results:
            made, count = made + 1, count + positions
            pace = count / (time.monotonic() - began)
            tell(f"{made} of {len(tasks)} files, {pace:.0f} positions a second")
    tell(f"{len(tasks)} files are there")


def tell(text: str) -> None:
    """Write a line of progress."""
    print(text, file=sys.stderr, flush=True)


def parse_share(text: str) -> tuple[str, float]:
    """Return the set-up and the share of ``dense-7x7:40`` (1 if none is given)."""
    name, _, share = text.partition(":")
    number = float(share or 1)
    if not 0 < number < float("inf"):
        raise ValueError(f"{share} is no share")
    return setups.by_name(name).name, number


def main(arguments: list[str]) -> int:
    """Play what is missing; return the exit status."""
    parser = argparse.ArgumentParser(description="Plays games to learn from.")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--games", type=int, required=True, metavar="N")
    parser.add_argument("--setup", action="append", metavar="NAME:SHARE")
    parser.add_argument("--visits", type=int, default=800, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--processes", type=int, default=1, metavar="N")
    parser.add_argument("--steady", action="store_true")
    parser.add_argument("--search", choices=selfplay.SEARCHES, default="puct")
    options = parser.parse_args(arguments)
    if min(options.games, options.visits, options.processes) < 1:
        parser.error("--games, --visits and --processes are at least 1")
    try:
        shares = dict(map(parse_share, options.setup)) if options.setup else SHARES
        source = selfplay.this_engine(
            "",
            options.visits,
            options.seed,
            steady=options.steady,
            search=options.search,
        )
        claim(options.out, source)
    except ValueError as error:
        parser.error(str(error))
    try:
        run(plan(options.out, source, shares, options.games), options.processes)
    except KeyboardInterrupt:
        tell("interrupted; the same command goes on")
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
