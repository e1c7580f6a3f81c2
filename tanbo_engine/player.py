"""The search player: limits in, a report out.

A search is told as slices of visits. Between slices this module looks at the clock,
so that the kernel needs none; a `StopFlag` ends a slice at once from any thread.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from enum import Enum, auto
from random import Random
from typing import NamedTuple, TypeVar

import anyio.to_thread

from tanbo_engine import _kernel
from tanbo_engine._alphabeta import AlphaBeta
from tanbo_engine._kernel import PUCT, PUCT0, UCT, Search, StopFlag
from tanbo_engine.chance import believable
from tanbo_engine.game import Game
from tanbo_engine.machine import cores
from tanbo_engine.patience import Patience
from tanbo_engine.rules import Position

_SLICE_SECONDS = 0.002
_FIRST_SLICE = 32
_BEHIND = 10  # as of nice: a tenth of the turns where all are wanted
_ALONE = 0.04  # seconds too few to share: a busy machine has turns of some of them
_MOMENT = 0.001  # for the other threads to come to rest
_LONGEST_SLICE = 1 << 16
_OVERSHOT = 4  # visits that a thread may make beyond a limit that all share


class Aim(Enum):
    """What a search is for."""

    MOVE = auto()
    """A move to play: how good the others are does not matter."""
    COMPARE = auto()
    """How good every move is."""


_TREES = {"puct": PUCT, "puct0": PUCT0, "uct": UCT}
_SEARCHES = {"auto": {Aim.MOVE: "alphabeta", Aim.COMPARE: "puct"}} | {
    name: dict.fromkeys(Aim, name) for name in ("puct", "alphabeta", "puct0", "uct")
}
"""By the name of a player, the search that it uses for an aim. In the time of a move
alpha-beta finds the better one (matches: README); of the others it knows too little."""

KINDS = tuple(_SEARCHES)
"""Names of players: the strongest, and the rest for comparison."""

MOST_VISITS = _kernel.MOST_VISITS
"""A limit for searches that something else ends: the tree counts in 32 bits."""

MOST_THREADS = _kernel.MOST_THREADS
"""How many can search one tree."""

_Result = TypeVar("_Result")


class Limits(NamedTuple):
    """What ends a search, whichever comes first; without any, only a `StopFlag` does.

    Attributes:
        seconds: thinking time, or None.
        visits: descents of the tree (alpha-beta: positions), or None. A limit of visits
            makes them all, as long as there is time, whatever `early` says: so they can
            be repeated.
        target: seconds after which only an unclear position is searched further; all
            of `seconds` if None. Without `seconds` it means nothing.
        early: end before, when the second move cannot catch up with this share of
            the visits to come (`patience.HARMLESS`, `patience.FRUGAL`); never if None.
    """

    seconds: float | None = None
    visits: int | None = None
    target: float | None = None
    early: float | None = None

    @property
    def most_visits(self) -> int:
        """The limit of visits, as a number also where there is none."""
        return MOST_VISITS if self.visits is None else self.visits


class Candidate(NamedTuple):
    """One move of the position that was searched.

    Attributes:
        point: where.
        visits: descents that began with it.
        value: win probability of the side to move after it, 0 to 1.
        prior: share of attention the policy gave it, 0 to 1.
        proof: 1 a proven win for the side to move, -1 a proven loss, 0 neither.
        variation: best play by both sides, beginning with `point`.
    """

    point: int
    visits: int
    value: float
    prior: float
    proof: int
    variation: tuple[int, ...] = ()


class Report(NamedTuple):
    """What a search found.

    Attributes:
        point: the move to play.
        value: win probability of the side to move, 0 to 1.
        visits: descents made.
        seconds: time taken.
        proof: 1 a proven win for the side to move, -1 a proven loss, 0 neither.
        variation: best play by both sides, beginning with `point`.
        candidates: every legal move, best first.
        tree_full: the memory limit stopped the growth of the tree.
    """

    point: int
    value: float
    visits: int
    seconds: float
    proof: int
    variation: tuple[int, ...]
    candidates: tuple[Candidate, ...]
    tree_full: bool


def with_move(report: Report, point: int) -> Report:
    """Return a report with another of its candidates as the move to play."""
    chosen = next(move for move in report.candidates if move.point == point)
    return report._replace(point=point, variation=chosen.variation or (point,))


class Stream(NamedTuple):
    """Who wants reports while a search goes on.

    Attributes:
        tell: takes a report; called in the thread that searches.
        interval: seconds between two reports.
    """

    tell: Callable[[Report], None]
    interval: float


class _Root(NamedTuple):
    """What the root of a search is: the game's start, its moves, and its salt."""

    start: Position
    moves: tuple[int | None, ...]
    salt: int


class _Searcher:
    """One search, and what it searched last.

    Attributes:
        search: it.
        name: one of `KINDS` but ``auto``.
    """

    def __init__(self, name: str, memory: int, threads: int, *, keeps: bool) -> None:
        """Prepare a search within a bound of memory in bytes."""
        tree = _TREES.get(name)
        self.name = name
        self.search: Search | AlphaBeta
        if tree is None:
            self.search = AlphaBeta(memory, threads)
        else:
            self.search = Search(memory, tree, threads)
        self._keeps = keeps and name in _SEARCHES["auto"].values()
        self._last: _Root | None = None

    def forget(self) -> None:
        """Let the next search begin with nothing known."""
        self._last = None

    def take_up(
        self,
        game: Game,
        salt: int,
        seed: int,
        only: Collection[int],
        limits: Limits,
    ) -> None:
        """Begin to search, with what is known if the position is of the same game.

        The one place that decides what is of use again: nothing that has more visits
        than this search may make, so that a limit is one of strength, too.
        """
        root = _Root(game.start, tuple(move.point for move in game.moves), salt)
        last, self._last = self._last, None  # not known if the next line fails
        undone, played = (None, ()) if last is None else _way(last, root)
        if limits.visits is not None and isinstance(self.search, AlphaBeta):
            undone = None  # it does not count what is in its table
        self.search.start(game.kernel, seed, undone, played, only)
        most = limits.most_visits + _OVERSHOT * self.search.workers
        if self.search.visits > most:
            self.search.start(game.kernel, seed)
        self._last = root if self._keeps else None

    def patience(self, limits: Limits) -> Patience | None:
        """Return what ends the search before its last second; None if nothing does."""
        seconds, visits, target, early = limits
        if visits is not None or isinstance(self.search, AlphaBeta):
            early = None  # the nodes below a move say nothing about its chances
        if seconds is None or (target is None and early is None):
            return None
        return Patience(seconds if target is None else target, seconds, early)

    def chance(self, value: float, proof: int, area: int) -> float:
        """Return the win probability that a value of the search stands for."""
        return value if proof else believable(value, area, self.name)


class SearchPlayer:
    """Chooses moves, or compares them, one search at a time."""

    def __init__(
        self,
        memory_mb: int,
        seed: int,
        kind: str = "auto",
        threads: int = 1,
        *,
        keep: bool = False,
    ) -> None:
        """Prepare; the tree takes memory at the first search only.

        Args:
            memory_mb: bound of what a search keeps, in megabytes; ``auto`` has two
                searches with half of it each.
            seed: with `salt` and the position, decides every random choice.
            kind: one of `KINDS`.
            threads: how many search at once; with more than one, the same search may
                end otherwise another time.
            keep: a search of the same game goes on with what the one before knows of
                its position; the visits of a tree count that, too.

        Raises:
            MemoryError: this machine does not give that much.
        """
        names = sorted(set(_SEARCHES[kind].values()))
        memory = (memory_mb << 20) // len(names)
        try:
            self._searchers = {
                name: _Searcher(name, memory, threads, keeps=keep) for name in names
            }
        except MemoryError as error:
            text = f"this machine has no {memory_mb} MB for a search"
            raise MemoryError(text) from error
        self._kind = kind
        self._seed = seed
        self._searcher = self._searchers[names[0]]
        self._area = 0
        self._pool: ThreadPoolExecutor | None = None
        self._helping: list[Future[int]] = []
        # A search whose caller was cancelled may still be on its last visit.
        self._busy = threading.Lock()

    def search(
        self,
        game: Game,
        limits: Limits,
        stop: StopFlag,
        salt: int = 0,
        stream: Stream | None = None,
        only: Collection[int] = (),
        aim: Aim = Aim.COMPARE,
    ) -> Report:
        """Search a game that is not over. Blocks, without the GIL while it works.

        Args:
            game: the game; it must not change meanwhile.
            limits: what ends the search.
            stop: set from any thread, ends the search with what it has.
            salt: tells games of one process apart (CONTRACT.md, Randomness).
            stream: who is told reports on the way, in the thread that searches.
            only: points to choose from; empty for every legal one.
            aim: what is to be found out.

        Raises:
            ValueError: a limit or an interval that is below 0 or no number, or `only`
                has a point that is not legal.
        """
        _check(limits, stream)
        began = time.monotonic()
        with self._busy:
            self._area = game.size.area
            self._searcher = self._searchers[_SEARCHES[self._kind][aim]]
            self._settle()
            seed = mix_seed(self._seed, salt, game.kernel.key)
            self._searcher.take_up(game, salt, seed, only, limits)
            with self._helpers(limits):
                self._run(limits, stop, began, stream)
            return self._report(began)

    def forget(self) -> None:
        """Let the next search begin with nothing known."""
        for searcher in self._searchers.values():
            searcher.forget()

    @property
    def _search(self) -> Search | AlphaBeta:
        """The search under way, or the last one."""
        return self._searcher.search

    @contextmanager
    def _helpers(self, limits: Limits) -> Iterator[None]:
        """Let the other threads search while this one does."""
        search, end = self._search, StopFlag()
        seconds = limits.seconds
        if search.workers == 1 or (seconds is not None and seconds < _ALONE):
            yield
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(
                search.workers - 1, "tanbo-search", _stay_behind
            )
        most = limits.most_visits
        try:
            for worker in range(1, search.workers):
                work = self._pool.submit(search.run, MOST_VISITS, end, worker, most)
                self._helping.append(work)
            yield
        except BaseException:
            end.set()
            wait(self._helping)
            self._helping.clear()
            raise
        end.set()
        self._settle(_MOMENT)

    def _settle(self, seconds: float | None = None) -> None:
        """Wait until the other threads are at rest, for so long at most.

        On a busy machine one that was told to end may be next in turn much later: what
        was found need not wait for it, only what is searched next.
        """
        done, late = wait(self._helping, seconds)
        if late and not any(future.exception() for future in done):
            return
        wait(late)
        helping, self._helping = self._helping, []
        for future in helping:
            future.result()

    def _run(
        self, limits: Limits, stop: StopFlag, began: float, stream: Stream | None
    ) -> None:
        """Run slices of about two milliseconds until a limit is reached."""
        search = self._search
        seconds = float("inf") if limits.seconds is None else limits.seconds
        most = limits.most_visits
        if len(search.moves()) == 1 and stream is None:
            most = 1  # a forced move needs no thought
        next_report = float("inf") if stream is None else stream.interval
        patience, visits_before = self._searcher.patience(limits), search.visits
        size, used = _FIRST_SLICE, 0.0
        while (left := most - search.visits) > 0:
            asked = min(size, left)
            done = search.run(asked, stop, 0, most)
            before, used = used, time.monotonic() - began
            if done < asked or used >= seconds:
                break  # proved, stopped, or out of time
            if stream is not None and used >= next_report:
                stream.tell(self._report(began))
                next_report = used + stream.interval
            if patience is not None and patience.is_due(used):
                made = search.visits - visits_before
                if patience.is_enough(used, made, search.moves()):
                    break
            pace = done / max(used - before, 1e-6)
            wanted = int(pace * min(_SLICE_SECONDS, seconds - used))
            size = max(1, min(wanted, 2 * size, _LONGEST_SLICE))

    def _report(self, began: float) -> Report:
        search, chance = self._search, self._searcher.chance
        # Other threads may search on: what belongs together is read but once.
        moves = search.moves()
        lines = {line[0]: tuple(line) for line in search.variations()}
        best = moves[0][0]
        return Report(
            point=best,
            value=chance(search.value, search.proof, self._area),
            visits=search.visits,
            seconds=time.monotonic() - began,
            proof=search.proof,
            variation=lines[best],
            candidates=tuple(
                Candidate(
                    point,
                    visits,
                    chance(value, proof, self._area),
                    prior,
                    proof,
                    lines[point],
                )
                for point, visits, value, prior, proof in moves
            ),
            tree_full=search.is_full,
        )

    async def think(
        self,
        game: Game,
        limits: Limits,
        stop: StopFlag,
        salt: int = 0,
        stream: Stream | None = None,
        only: Collection[int] = (),
        aim: Aim = Aim.COMPARE,
    ) -> Report:
        """Run `search` in a thread; being cancelled stops it."""
        return await run_stoppable(
            lambda: self.search(game, limits, stop, salt, stream, only, aim), stop
        )


def _way(last: _Root, root: _Root) -> tuple[int | None, tuple[int, ...]]:
    """Return the way between two positions of a game: how many moves back, which on.

    (None, ()) where there is none.
    """
    if (last.start, last.salt) != (root.start, root.salt):
        return None, ()
    common = 0
    for one, other in zip(last.moves, root.moves, strict=False):
        if one != other:
            break
        common += 1
    played = tuple(point for point in root.moves[common:] if point is not None)
    return len(last.moves) - common, played


def _stay_behind() -> None:
    """Make a thread that helps leave signals and busy cores to others.

    Ctrl-C must wake the thread that waits for input, and where threads wait for their
    turn the first must be the one that looks at the clock. Only Linux knows a priority
    of threads; elsewhere it would be that of the process.
    """
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    if sys.platform == "linux":
        with suppress(OSError):  # a helper that is not behind helps as well
            thread = threading.get_native_id()
            usual = os.getpriority(os.PRIO_PROCESS, thread)
            os.setpriority(os.PRIO_PROCESS, thread, usual + _BEHIND)


def usable_threads(wanted: int = MOST_THREADS) -> int:
    """Return how many of so many threads are of use: one a core at most.

    More would wait for each other, and the one that looks at the clock for all of them.
    """
    return min(wanted, cores(), MOST_THREADS)


def _check(limits: Limits, stream: Stream | None) -> None:
    """Refuse what no clock and no count can reach."""
    seconds, visits = limits.seconds, limits.visits
    if seconds is not None and not seconds >= 0:
        raise ValueError(f"seconds are 0 or more, not {seconds}")
    if visits is not None and (not isinstance(visits, int) or visits < 0):
        raise ValueError(f"visits are a whole number, not {visits!r}")
    if stream is not None and not stream.interval > 0:
        raise ValueError(f"an interval is more than 0 seconds, not {stream.interval}")


async def run_stoppable(work: Callable[[], _Result], stop: StopFlag) -> _Result:
    """Run blocking kernel work in a thread; being cancelled sets its stop flag."""
    try:
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)
    finally:
        stop.set()


def choice_source(seed: int, salt: int, key: int) -> Random:
    """Return what decides choices among the moves of a report; not the search's own."""
    return Random(mix_seed(~seed, salt, key))  # noqa: S311


def mix_seed(seed: int, salt: int, key: int) -> int:
    """Return a 64-bit search seed from its three sources."""
    mask = (1 << 64) - 1
    mixed = 0
    for part in (seed, salt, key):
        mixed = ((mixed ^ part) * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) & mask
        mixed ^= mixed >> 29
    return mixed
