"""A run: pairs handed to slots, results stored, an end by schedule, SPRT or hand."""

import signal
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from protocol.arena import statistics
from protocol.arena.config import (
    PLACEHOLDERS,
    OpeningBook,
    Tournament,
    default_concurrency,
)
from protocol.arena.openings import OpeningError
from protocol.arena.referee import Contestant, Terms, play_game
from protocol.arena.replay import write_sgf
from protocol.arena.schedule import Pair, Results, is_finished
from protocol.arena.store import (
    GameRecord,
    Store,
    Termination,
    finished,
    slim,
    standing,
)
from protocol.client import EngineCommand, EngineError
from tanbo_engine import setups
from tanbo_engine.game import Game
from tanbo_engine.machine import cores
from tanbo_engine.wording import counted

VOIDS_IN_A_ROW = 3
"""Games in a row that the arena itself fails to play before it gives up."""

FILES_PER_ENGINE = 6
"""Descriptors that a process needs: its pipes, with room to spare."""

_Result = TypeVar("_Result")


class RunError(Exception):
    """The run cannot begin or go on; the message says why."""


Scores = Mapping[str, statistics.PairScore]
"""Results of every engine by name."""


class Progress(Protocol):
    """What a run tells of itself while it goes on."""

    def begin(self, tournament: Tournament, total: int, done: Results) -> None:
        """Tell what is to be played, and what has been."""

    def game(self, record: GameRecord) -> None:
        """Tell a game that has ended."""

    def pair(self, scores: Scores) -> None:
        """Tell that a pair is complete, and the results of each engine so far."""

    def say(self, text: str) -> None:
        """Tell anything else."""

    def end(self) -> None:
        """Stop telling."""


class Identity(NamedTuple):
    """What an engine answered before the first game."""

    name: str
    program: str
    build: str


def terms_of(tournament: Tournament) -> Terms:
    """Return what a move may take."""
    return Terms(
        tournament.control, tournament.nodes, tournament.margin, tournament.hang
    )


def contestants(
    tournament: Tournament, concurrency: int, slot: int
) -> dict[str, Contestant]:
    """Return the engines of a slot by name, not started yet.

    Raises:
        EngineError: a command is no command line.
    """
    threads = max(1, cores() // concurrency)
    terms = terms_of(tournament)
    found = {}
    for number, entry in enumerate(tournament.engine):
        text = entry.command
        seed = (tournament.seed * 1009 + slot * 101 + number) % 2**31
        values = (tournament.nodes or "", threads, seed)
        for word, value in zip(PLACEHOLDERS, values, strict=True):
            text = text.replace(word, str(value))
        command = EngineCommand.parse(text, label=entry.name)
        found[entry.name] = Contestant(entry.name, command, terms)
    return found


class Slot(Protocol):
    """A place where one pair at a time is played."""

    async def play(self, task: "Task", keep: "Keep") -> None:
        """Play the games of a task in turn, handing each record on at once."""

    async def close(self) -> None:
        """End what the slot has started."""


class Task(NamedTuple):
    """What a slot is asked to play: the open games of a pair.

    Attributes:
        pair: the pair.
        games: which of its games, 0 and 1 or one of them.
        opening: the vertices played before.
    """

    pair: Pair
    games: tuple[int, ...]
    opening: tuple[str, ...]


Keep = Callable[[GameRecord], Awaitable[None]]
"""Takes a finished game."""


PlayOn = Callable[[Slot], Coroutine[Any, Any, None]]
"""Plays one task after the other on a slot, until none is left."""


class Slots(Protocol):
    """Where the slots of a run come from: this machine, or a cluster."""

    async def serve(self, play_on: PlayOn) -> None:
        """Give every slot to `play_on`, side by side, until each has returned."""


class LocalSlots:
    """A fixed number of slots on this machine."""

    def __init__(self, tournament: Tournament, concurrency: int) -> None:
        self._tournament = tournament
        self._concurrency = concurrency

    async def serve(self, play_on: PlayOn) -> None:
        """Give every slot to `play_on`."""
        async with anyio.create_task_group() as group:
            for number in range(self._concurrency):
                slot = LocalSlot(self._tournament, self._concurrency, number)
                group.start_soon(play_on, slot)


class LocalSlot:
    """Engines of its own, kept from game to game."""

    def __init__(self, tournament: Tournament, concurrency: int, number: int) -> None:
        self._tournament = tournament
        self._players = contestants(tournament, concurrency, number)

    async def play(self, task: Task, keep: Keep) -> None:
        """Play the games of a task; one without a result ends it."""
        for number in task.games:
            black, white = task.pair.colors(number)
            sides = self._players[black], self._players[white]
            terms = terms_of(self._tournament)
            try:
                record = await play_game(task.pair, number, task.opening, sides, terms)
            except OSError as error:  # the arena's fault: no descriptors, no memory
                await self.close()
                record = void_record(task, number, str(error))
            await keep(record)
            if not record.termination.counts:
                return

    async def close(self) -> None:
        """End the engines."""
        for player in self._players.values():
            await player.drop()


def void_record(task: Task, number: int, reason: str) -> GameRecord:
    """Return the record of a game that could not be played."""
    black, white = task.pair.colors(number)
    return GameRecord(
        pair=task.pair.number,
        game=number,
        opening=task.opening,
        setup=task.pair.setup,
        black=black,
        white=white,
        winner=None,
        termination=Termination.VOID,
        reason=reason,
        moves=task.opening,
        seconds=(),
    )


async def preflight(tournament: Tournament) -> list[Identity]:
    """Start every engine once on every set-up and let it make a move.

    Raises:
        RunError: one of them cannot play; with the end of its stderr.
    """
    found = []
    for entry in tournament.engine:
        try:
            (player,) = (
                player
                for name, player in contestants(tournament, 1, 0).items()
                if name == entry.name
            )
            command = EngineCommand.parse(entry.command, label=entry.name)
            program = str(command.resolve())
            build = await _try_out(player, tournament)
        except (EngineError, ValueError) as error:
            tail = getattr(error, "stderr_tail", "").strip()
            raise RunError(
                f"{getattr(error, 'engine', entry.name)} cannot play: {error}"
                + (f"\nIts stderr ends:\n{tail}" if tail else "")
            ) from error
        found.append(Identity(entry.name, program, build))
    return found


async def _try_out(player: Contestant, tournament: Tournament) -> str:
    try:
        for name in tournament.setup:
            start = Game(setups.by_name(name).position())
            await player.begin(start)
            if tournament.nodes is not None:
                _check_nodes(player, tournament)
            await player.engine.genmove(start.to_move, tournament.hang)
        return player.build
    finally:
        await player.drop()


def _check_nodes(player: Contestant, tournament: Tournament) -> None:
    commands = {entry.name: entry.command for entry in tournament.engine}
    if "{nodes}" not in commands[player.name] and not player.engine.knows(
        "kata-set-param"
    ):
        raise ValueError(
            "it cannot be told --nodes: write {nodes} in its command, for example "
            '"scripts/engine --nodes {nodes}"'
        )


class Run:
    """The pairs of a tournament, handed to slots until none is left."""

    def __init__(
        self, tournament: Tournament, store: Store, progress: Progress, slots: Slots
    ) -> None:
        """Prepare to play what the store does not have yet."""
        self._tournament = tournament
        self._schedule = tournament.schedule()
        self._book = OpeningBook(tournament)
        self._store = store
        self._progress = progress
        self._slots = slots
        self._results = finished(store.games)
        self._scores = self._count()
        self._open = deque(self._schedule.open_pairs(self._results))
        self._playing: set[int] = set()
        self._changed = anyio.Condition()
        self._storing = anyio.Lock()
        self._voids = 0
        self._is_stopping = False
        self.interrupted = False

    async def play(self) -> None:
        """Play to the end of the schedule, the SPRT's decision, or an interrupt.

        Raises:
            RunError: the arena itself failed several games in a row.
            OpeningError: there is no opening to draw.
            OSError: a game cannot be stored.
        """
        self._progress.begin(self._tournament, self._schedule.total, self._results)
        self._consider_sprt()
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._watch_signals, group)
                await self._slots.serve(self._play_on)
                group.cancel_scope.cancel()
        except BaseExceptionGroup as failures:  # what except* raises is a group again
            errors, others = failures.split((RunError, OpeningError, OSError))
            if errors is None or others is not None:
                raise
            error: BaseException = errors
            while isinstance(error, BaseExceptionGroup):  # one for each task group
                error = error.exceptions[0]
            raise error from None
        finally:
            self._progress.end()

    async def _watch_signals(self, group: TaskGroup) -> None:
        """First Ctrl-C: finish the running pairs. Second: stop now."""
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                self.interrupted = True
                if self._is_stopping or not self._playing:
                    group.cancel_scope.cancel()
                    return
                self._progress.say(
                    f"finishing {counted(len(self._playing), 'pair')}; "
                    "again to stop now"
                )
                await self._stop()

    async def _play_on(self, slot: Slot) -> None:
        """Play one pair after the other on a slot."""
        try:
            while (task := await self._next_task()) is not None:
                try:
                    await slot.play(task, self._keep)
                    self._after(task)
                finally:
                    with anyio.CancelScope(shield=True):
                        await self._give_back(task)
        finally:
            with anyio.CancelScope(shield=True):
                await slot.close()

    async def _next_task(self) -> Task | None:
        """Return what to play; waits where a round waits for its last games."""
        pair = await self._next_pair()
        if pair is None:
            return None
        opening = await _in_thread(self._book.opening, pair.setup, pair.opening)
        games = tuple(n for n in (0, 1) if (pair.number, n) not in self._results)
        return Task(pair, games, opening)

    async def _next_pair(self) -> Pair | None:
        async with self._changed:
            while not self._is_stopping:
                if self._open:
                    pair = self._open.popleft()
                    self._playing.add(pair.number)
                    return pair
                if self._playing:
                    await self._changed.wait()
                    continue
                # A round is over, or everything: the schedule knows.
                self._open.extend(self._schedule.open_pairs(self._results))
                if not self._open:
                    return None
            return None

    async def _give_back(self, task: Task) -> None:
        async with self._changed:
            self._playing.discard(task.pair.number)
            if not is_finished(task.pair, self._results):
                self._open.append(task.pair)
            self._changed.notify_all()

    def _after(self, task: Task) -> None:
        """Tell that a pair is complete, and see whether that decides the SPRT.

        Only its own games are counted: to count all anew would hold up the clocks.
        """
        if not is_finished(task.pair, self._results):
            return
        games = [self._results[task.pair.number, number] for number in (0, 1)]
        for name in (task.pair.first, task.pair.second):
            self._scores[name] += statistics.pair_score(games, name)
        self._progress.pair(self._scores)
        self._consider_sprt()

    def _count(self) -> dict[str, statistics.PairScore]:
        return statistics.scores(standing(self._store.games), self._tournament.names)

    async def _keep(self, record: GameRecord) -> None:
        """Store a game; whoever interrupts, it is whole or not there.

        Raises:
            RunError: too many games in a row were void.
        """
        with anyio.CancelScope(shield=True):
            async with self._storing:
                await _in_thread(self._store.append, record)
            directory = self._store.directory
            await _in_thread(write_sgf, directory, record, directory.name)
        self._progress.game(record)
        if record.termination.counts:
            self._voids = 0
            self._results[record.pair, record.game] = slim(record)
            return
        if self._results.pop((record.pair, record.game), None) is not None:
            self._scores = self._count()  # a result taken back, no failure to play
            return
        self._voids += 1
        if self._voids == VOIDS_IN_A_ROW:
            raise RunError(f"{self._voids} games in a row are void: {record.reason}")

    def _consider_sprt(self) -> None:
        """Stop once the SPRT has decided, and say so."""
        if self._tournament.sprt is None or self._is_stopping:
            return
        score = self._scores[self._tournament.names[0]]
        test = statistics.sprt(score, *self._tournament.sprt)
        if test.decision == "continue":
            return
        self._progress.say(
            f"SPRT accepts {test.decision}: LLR {test.llr:.2f} "
            f"outside ({test.lower:.2f}, {test.upper:.2f}), "
            f"[{test.elo0:g}, {test.elo1:g}] {test.model}"
        )
        self._is_stopping = True

    async def _stop(self) -> None:
        async with self._changed:
            self._is_stopping = True
            self._changed.notify_all()


async def _in_thread(work: Callable[..., _Result], *arguments: object) -> _Result:
    """Run what would hold up the clocks of the other games."""
    return await anyio.to_thread.run_sync(work, *arguments)


def choose_concurrency(tournament: Tournament, warn: Callable[[str], None]) -> int:
    """Return how many games to play at a time.

    Raises:
        RunError: more than the cores or the open files allow.
    """
    wanted = tournament.concurrency or default_concurrency()
    if wanted > cores() and not tournament.force:
        raise RunError(
            f"{wanted} games at a time on {counted(cores(), 'core')} spoil the clocks: "
            f"use at most {cores()}, or --force"
        )
    if wanted == cores() > 1:
        warn(f"{wanted} games on {cores()} cores leave none for the arena")
    most = _file_limit()
    needed = wanted * len(tournament.engine) * FILES_PER_ENGINE  # a slot keeps them all
    if most is not None and needed > most:
        raise RunError(
            f"{wanted} games need {needed} open files, the limit is {most}: "
            "raise it with ulimit -n"
        )
    return wanted


def _file_limit() -> int | None:
    """Return the limit of open files, None where the platform tells none."""
    if sys.platform == "win32":
        return None
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft
