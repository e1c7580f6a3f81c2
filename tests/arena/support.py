"""What the arena's tests share: commands of engines, records, tournaments, runs."""

import os
import shlex
import sys
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from protocol.arena.config import Tournament, load_tournament
from protocol.arena.openings import random_opening
from protocol.arena.runner import (
    Keep,
    LocalSlots,
    PlayOn,
    Run,
    Scores,
    Slots,
    Task,
    choose_concurrency,
)
from protocol.arena.schedule import Results
from protocol.arena.store import GameRecord, Store, Termination, read_games
from tanbo_engine import setups
from tanbo_engine.game import Game
from tanbo_engine.points import format_vertex, parse_vertex

ROOT = Path(__file__).resolve().parents[2]
BAD_ENGINE = ROOT / "tests" / "protocol" / "bad_engine.py"
TINY = "dense-3x5"
"""A set-up whose games between first legal moves end within 30 plies."""

MARK = "TANBO_ARENA_TEST"
"""An environment variable by which every process of a test is found again."""

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="needs /proc"
)


def bad(*options: str) -> str:
    """Return the command line of the bad engine."""
    return shlex.join((sys.executable, "-P", str(BAD_ENGINE), *options))


def odd(*options: str) -> str:
    """Return the command line of the odd engine."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
        "from tests.arena.odd_engine import main; main()"
    )
    return shlex.join((sys.executable, "-P", "-c", code, *options))


def tournament(out: Path, *commands: str, **settings: object) -> Tournament:
    """Return a tournament of engines A, B, C... on the tiny set-up."""
    options: dict[str, object] = {
        "engine": [
            f"{name}={command}"
            for name, command in zip("ABCDEFGH", commands, strict=False)
        ],
        "out": str(out),
        "setup": [TINY],
        "games": 2,
        "opening-plies": 2,
        "concurrency": 1,
    }
    given = {key.replace("_", "-"): value for key, value in settings.items()}
    return load_tournament(options | given)


def played(
    pair: int = 0,
    game: int = 0,
    *,
    setup: str = TINY,
    black: str = "",
    white: str = "",
    plies: int | None = None,
    **changes: object,
) -> GameRecord:
    """Return a true record: first legal moves after the opening of the pair.

    Args:
        pair: its number, and that of its opening.
        game: 0, where A is Black, or 1, where B is.
        setup: where it is played.
        black: who plays Black.
        white: who plays White.
        plies: when to stop; the loser's end is yours then.
        changes: other fields.
    """
    opening = random_opening(setups.by_name(setup), 1, pair, 2)
    position = Game(setups.by_name(setup).position())
    for vertex in opening:
        position.play(parse_vertex(position.size, vertex))
    while position.winner is None and len(position.moves) != plies:
        position.play(position.legal_moves()[0])
    moves = tuple(
        format_vertex(position.size, move.point)
        for move in position.moves
        if move.point is not None
    )
    values: dict[str, Any] = {
        "pair": pair,
        "game": game,
        "opening": opening,
        "setup": setup,
        "black": black or "AB"[game],
        "white": white or "BA"[game],
        "winner": None if position.winner is None else position.winner.word,
        "termination": Termination.BOARD,
        "reason": "told",
        "moves": moves,
        "seconds": (0.01,) * (len(moves) - 2),
        "limit": (0.02,) * (len(moves) - 2),
    }
    return GameRecord(**(values | changes))


def result(
    pair: int,
    game: int,
    winner: str | None,
    termination: Termination = Termination.BOARD,
    *,
    black: str = "",
    white: str = "",
    **changes: object,
) -> GameRecord:
    """Return a record without moves; the winner is an engine's name."""
    black, white = black or "AB"[game], white or "BA"[game]
    colors = {black: "black", white: "white", None: None}
    values: dict[str, Any] = {
        "opening": (),
        "setup": TINY,
        "reason": "told",
        "moves": (),
        "seconds": (),
    }
    return GameRecord(
        pair=pair,
        game=game,
        black=black,
        white=white,
        winner=colors[winner],
        termination=termination,
        **(values | changes),
    )


class Told:
    """A progress that keeps what it is told."""

    def __init__(self) -> None:
        self.total = -1
        self.done: list[tuple[int, int]] = []
        self.games: list[GameRecord] = []
        self.pairs = 0
        self.texts: list[str] = []
        self.has_ended = False

    def begin(self, tournament: Tournament, total: int, done: Results) -> None:
        self.total, self.done = total, list(done)

    def game(self, record: GameRecord) -> None:
        self.games.append(record)

    def pair(self, scores: Scores) -> None:
        self.pairs += 1

    def say(self, text: str) -> None:
        self.texts.append(text)

    def end(self) -> None:
        self.has_ended = True


Outcome = Callable[[Task, int], GameRecord]


class ScriptedSlots:
    """Slots without engines: a function tells how each game ends."""

    def __init__(self, count: int, outcome: Outcome) -> None:
        self.count = count
        self.outcome = outcome
        self.busy = self.most_busy = self.closed = 0
        self.tasks: list[Task] = []

    async def serve(self, play_on: PlayOn) -> None:
        async with anyio.create_task_group() as group:
            for _ in range(self.count):
                group.start_soon(play_on, self)

    async def play(self, task: Task, keep: Keep) -> None:
        self.tasks.append(task)
        self.busy += 1
        self.most_busy = max(self.most_busy, self.busy)
        try:
            for game in task.games:
                await anyio.lowlevel.checkpoint()
                record = self.outcome(task, game)
                await keep(record)
                if not record.termination.counts:
                    return
        finally:
            self.busy -= 1

    async def close(self) -> None:
        self.closed += 1


def won_by(name: str) -> Outcome:
    """Return the outcome that an engine wins whatever it plays."""

    def outcome(task: Task, game: int) -> GameRecord:
        black, white = task.pair.colors(game)
        return result(
            task.pair.number,
            game,
            name if name in (black, white) else black,
            black=black,
            white=white,
            setup=task.pair.setup,
        )

    return outcome


async def play_run(
    tournament: Tournament, slots: Slots | None = None, told: Told | None = None
) -> list[GameRecord]:
    """Play a tournament in this process; return all records."""
    told = told or Told()
    assert tournament.out is not None
    store = Store(Path(tournament.out))
    if slots is None:
        slots = LocalSlots(tournament, choose_concurrency(tournament, told.say))
    try:
        await Run(tournament, store, told, slots).play()
    finally:
        store.close()
    assert told.has_ended
    return read_games(store.directory)


def numbers(games: Sequence[GameRecord]) -> list[tuple[int, int]]:
    """Return pair and game numbers, sorted."""
    return sorted((game.pair, game.game) for game in games)


def without_times(games: Sequence[GameRecord]) -> list[tuple[object, ...]]:
    """Return all of the records that a deterministic run repeats, sorted."""
    return sorted(
        (
            game.pair,
            game.game,
            game.setup,
            game.opening,
            game.black,
            game.white,
            game.winner,
            game.termination,
            game.moves,
        )
        for game in games
    )


# Leaks


def marked(mark: str) -> list[int]:
    """Return the processes that carry a mark in their environment."""
    found = []
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            try:
                if wanted in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
            except OSError:  # ended meanwhile, or another user's
                continue
    return found


def zombies() -> list[int]:
    """Return the dead children of this process that nobody has waited for."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if stat[0] == "Z" and int(stat[1]) == os.getpid():
                found.append(int(folder.name))
    return found


def descriptors() -> int:
    """Return the open files of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> bool:
    """Wait for a condition; tell whether it came true."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@asynccontextmanager
async def no_leaks() -> AsyncIterator[None]:
    """Fail if processes, zombies or open files of the block are left after it."""
    mark = uuid.uuid4().hex
    await anyio.to_thread.run_sync(int)  # the pool's first thread stays
    before = descriptors()
    os.environ[MARK] = mark
    try:
        yield
    finally:
        del os.environ[MARK]
    deadline = anyio.current_time() + 10
    while anyio.current_time() < deadline:
        if not marked(mark) and not zombies() and descriptors() <= before:
            return
        await anyio.sleep(0.02)
    left = marked(mark), zombies(), descriptors() - before
    pytest.fail(f"left behind: processes {left[0]}, zombies {left[1]}, files {left[2]}")
