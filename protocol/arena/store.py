"""The results on disk: one JSON record a line, appended, synced, never rewritten.

``DIR/games.jsonl`` holds the games, ``DIR/tournament.json`` what they were played for.
A run that is killed at any moment leaves at most a torn last line, which the next run
cuts off; everything before it counts.
"""

import os
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import IO

import msgspec

GAMES = "games.jsonl"
TOURNAMENT = "tournament.json"
LOCK = ".lock"


class Termination(StrEnum):
    """How a game ended: a closed set."""

    BOARD = "board"
    RESIGN = "resign"
    TIME = "time"
    ILLEGAL = "illegal"
    CRASH = "crash"
    HANG = "hang"
    PROTOCOL_ERROR = "protocol-error"
    VOID = "void"
    INTERRUPTED = "interrupted"

    @property
    def counts(self) -> bool:
        """Whether the game is a result: void and interrupted ones are played again."""
        return self not in (Termination.VOID, Termination.INTERRUPTED)

    @property
    def is_forfeit(self) -> bool:
        """Whether a side lost by a fault of its program, not on the board."""
        return self.counts and self not in (Termination.BOARD, Termination.RESIGN)


class GameRecord(msgspec.Struct, frozen=True, kw_only=True, rename="kebab"):
    """One finished game.

    Attributes:
        pair: number of the pair, which fixes engines, set-up and opening.
        game: 0 or 1, the game of the pair; colours are swapped in game 1.
        opening: vertices played before the engines took over.
        setup: set-up name.
        black: engine name.
        white: engine name.
        winner: ``black``, ``white``, or None without a result.
        termination: how it ended.
        reason: the same in words.
        moves: every vertex, the opening's first.
        seconds: thinking time of each move that an engine made.
        limit: seconds allowed for each of those moves, None where none was.
        black_build: what Black's program calls itself.
        white_build: the same of White's.
        host: the machine that played it, empty for this one.
    """

    pair: int
    game: int
    opening: tuple[str, ...]
    setup: str
    black: str
    white: str
    winner: str | None
    termination: Termination
    reason: str
    moves: tuple[str, ...]
    seconds: tuple[float, ...]
    limit: tuple[float | None, ...] = ()
    black_build: str = ""
    white_build: str = ""
    host: str = ""


class StoreError(ValueError):
    """The results cannot be used; the message says which line and why."""


class Store:
    """Appends to the results of one directory; one process at a time.

    Attributes:
        directory: where they are.
        repaired: a torn last line was cut off.
        games: every record without its moves and times, so that a long run does not
            fill the memory; `read_games` has them whole.
    """

    def __init__(self, directory: Path) -> None:
        """Open the results, cutting off a torn last line.

        Raises:
            StoreError: another run writes there, or a whole line is not a game record.
            OSError: the directory cannot be written.
        """
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self._lock = (directory / LOCK).open("w")
        _take_lock(self._lock, directory)
        self._path = directory / GAMES
        try:
            self.repaired = _cut_torn_line(self._path)
            self.games = [slim(game) for game in read_games(self._path)]
            self._file: IO[bytes] = self._path.open("ab")
        except BaseException:
            self._lock.close()
            raise

    def append(self, record: GameRecord) -> None:
        """Add a game; it is on the disk when this returns."""
        self._file.write(msgspec.json.encode(record) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.games.append(slim(record))

    def close(self) -> None:
        """Close the file and let others write."""
        self._file.close()
        self._lock.close()


def _take_lock(file: IO[str], directory: Path) -> None:
    """Lock a file until it is closed, or its process ends in whatever way."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise StoreError(f"another run is writing to {directory}") from None


def slim(record: GameRecord) -> GameRecord:
    """Return a record without moves and times, to be kept in memory."""
    return msgspec.structs.replace(record, moves=(), seconds=(), limit=())


def read_games(path: Path) -> list[GameRecord]:
    """Return the games of a file or of a results directory, without a torn last line.

    Raises:
        StoreError: there is no such file, or a whole line is not a game record.
    """
    path = _games_file(path)
    try:
        if path.exists() and not path.is_file():  # a device may never end
            raise StoreError(f"no results: {path} is not a plain file")
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        raise StoreError(f"no results: {path} does not exist") from None
    decoder = msgspec.json.Decoder(GameRecord)
    games = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            games.append(decoder.decode(line))
        except msgspec.DecodeError as error:
            raise StoreError(f"{path} line {number}: {error}") from error
    return games


def has_torn_line(path: Path) -> bool:
    """Tell whether the last line of results was never finished."""
    with _games_file(path).open("rb") as file:
        file.seek(0, os.SEEK_END)
        if file.tell() == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read() != b"\n"


def _games_file(path: Path) -> Path:
    """Return the file of games; a path may name its directory."""
    return path / GAMES if path.is_dir() else path


def standing(games: Iterable[GameRecord]) -> list[GameRecord]:
    """Return the records that stand: of each game of a pair the last one.

    A void record takes back what was recorded of its game before; it stands itself
    until the game is played again.
    """
    last: dict[tuple[int, int], GameRecord] = {}
    for game in games:
        last.pop((game.pair, game.game), None)  # the order is that of the last records
        last[game.pair, game.game] = game
    return list(last.values())


def finished(games: Iterable[GameRecord]) -> dict[tuple[int, int], GameRecord]:
    """Return the standing games that count by pair and game number."""
    return {
        (game.pair, game.game): game
        for game in standing(games)
        if game.termination.counts
    }


def builds(games: Iterable[GameRecord]) -> dict[str, list[str]]:
    """Return what each engine's program called itself, in the order of the games."""
    found: dict[str, dict[str, None]] = {}
    for game in games:
        for name, build in (
            (game.black, game.black_build),
            (game.white, game.white_build),
        ):
            if build:
                found.setdefault(name, {})[build] = None
    return {name: list(names) for name, names in found.items()}


def engines(games: Iterable[GameRecord]) -> list[str]:
    """Return the engines as the schedule lists them: Black of a pair's game 0 first."""
    names: dict[str, None] = {}
    for game in sorted(games, key=lambda game: game.pair):
        colors = (game.black, game.white)
        names |= dict.fromkeys(colors[::-1] if game.game else colors)
    return list(names)


def _cut_torn_line(path: Path) -> bool:
    """Cut off what follows the last newline; tell whether there was anything."""
    if not path.exists():
        path.touch()
    if not has_torn_line(path):
        return False
    whole = path.read_bytes().rfind(b"\n") + 1
    with path.open("r+b") as file:
        file.truncate(whole)
        os.fsync(file.fileno())
    return True
