"""What a run shows while it goes on: a live display on a terminal, else plain lines."""

import sys
import time
from typing import TYPE_CHECKING, TextIO

from protocol.arena import statistics
from protocol.arena.config import Tournament
from protocol.arena.report import signed
from protocol.arena.runner import Progress, Scores
from protocol.arena.schedule import Results
from protocol.arena.store import GameRecord
from tanbo_engine.wording import counted

if TYPE_CHECKING:
    from rich.progress import TaskID

_PAIRS_A_LINE = 10


def open_progress(stream: TextIO | None = None) -> Progress:
    """Return a live display if the stream is a terminal and rich is there."""
    stream = stream or sys.stderr
    if stream.isatty():
        try:
            return Live()
        except ImportError:
            pass
    return Lines(stream)


class Standing:
    """Score, Elo and LLR of a run in one line, kept as pairs come in."""

    def __init__(self, tournament: Tournament) -> None:
        self._names = tournament.names
        self._sprt = tournament.sprt
        self.text = "no pair yet"

    def update(self, scores: Scores) -> None:
        """Compute it anew."""
        if len(self._names) > 2:
            wins = {name: scores[name].points for name in self._names}
            ranked = sorted(wins, key=lambda name: -wins[name])
            self.text = ", ".join(f"{name} {wins[name]:.0f}" for name in ranked)
            return
        score = scores[self._names[0]]
        elo = statistics.elo(score)
        lost = 2 * score.pairs - score.points
        self.text = (
            f"{score.points:.0f} : {lost:.0f}, Elo {signed(elo.difference)} "
            f"({signed(elo.low)} to {signed(elo.high)})"
        )
        if self._sprt is not None:
            test = statistics.sprt(score, *self._sprt)
            self.text += f", LLR {test.llr:.2f} ({test.lower:.2f}, {test.upper:.2f})"


class Lines:
    """Plain lines: every tenth pair, every forfeit, every word of the run."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._pairs = self._total = 0

    def begin(self, tournament: Tournament, total: int, done: Results) -> None:
        """Say what is to be played."""
        self._standing = Standing(tournament)
        self._total = total
        self._pairs = _complete(done)
        self.say(f"{counted(total, 'pair')}, {self._pairs} of them played before")

    def game(self, record: GameRecord) -> None:
        """Say a game only where something went wrong."""
        if record.termination.is_forfeit or not record.termination.counts:
            self.say(
                f"pair {record.pair} game {record.game}, {record.black} - "
                f"{record.white}: {record.termination}, {record.reason}"
            )

    def pair(self, scores: Scores) -> None:
        """Say the standing now and then."""
        self._pairs += 1
        if self._pairs % _PAIRS_A_LINE == 0 or self._pairs == self._total:
            self._standing.update(scores)
            self.say(f"pair {self._pairs} of {self._total}: {self._standing.text}")

    def say(self, text: str) -> None:
        """Print a line."""
        print(text, file=self._stream, flush=True)

    def end(self) -> None:
        """Nothing is left to say."""


class Live:
    """A bar with games, rate, time left and the standing."""

    def __init__(self) -> None:
        """Prepare.

        Raises:
            ImportError: rich (extra ``arena``) is not installed.
        """
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import Progress as Bars

        self._bars: Bars = Bars(
            TextColumn("pairs"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True),
        )
        self._task: TaskID | None = None

    def begin(self, tournament: Tournament, total: int, done: Results) -> None:
        """Start the display."""
        self._standing = Standing(tournament)
        self._began = time.monotonic()
        self._games = 0
        self._bars.start()
        self._task = self._bars.add_task(
            self._standing.text, total=total, completed=_complete(done), rate=""
        )

    def game(self, record: GameRecord) -> None:
        """Count a game; show it where something went wrong."""
        self._games += 1
        if record.termination.is_forfeit or not record.termination.counts:
            self.say(f"{record.black} - {record.white}: {record.reason}")
        if self._task is not None:
            minutes = max(0.1, time.monotonic() - self._began) / 60
            self._bars.update(self._task, rate=f"{self._games / minutes:.0f} games/min")

    def pair(self, scores: Scores) -> None:
        """Advance the bar and show the standing."""
        self._standing.update(scores)
        if self._task is not None:
            self._bars.update(self._task, advance=1, description=self._standing.text)

    def say(self, text: str) -> None:
        """Print a line above the bar; names are text, not markup."""
        self._bars.console.print(text, markup=False, highlight=False)

    def end(self) -> None:
        """Stop the display."""
        self._bars.stop()


def _complete(done: Results) -> int:
    """Return how many pairs have both games."""
    return sum((pair, 1 - game) in done for pair, game in done) // 2
