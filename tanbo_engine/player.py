"""The search player: limits in, a report out.

A search is told as slices of visits. Between slices this module looks at the clock,
so that the kernel needs none; a `StopFlag` ends a slice at once from any thread.
"""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import anyio.to_thread

from tanbo_engine._alphabeta import AlphaBeta
from tanbo_engine._kernel import PUCT, PUCT0, UCT, Search, StopFlag
from tanbo_engine.game import Game
from tanbo_engine.patience import Patience

_SLICE_SECONDS = 0.002
_FIRST_SLICE = 32
_LONGEST_SLICE = 1 << 16

KINDS: dict[str, Callable[[int], Search | AlphaBeta]] = {
    "auto": partial(Search, kind=PUCT),
    "puct": partial(Search, kind=PUCT),
    "alphabeta": AlphaBeta,
    "puct0": partial(Search, kind=PUCT0),
    "uct": partial(Search, kind=UCT),
}
"""Searches by name of the player, made with a bound of memory in bytes: the best for
the board, the rest for comparison."""

MOST_VISITS = 4_000_000_000
"""A limit for searches that something else ends: the tree counts in 32 bits."""

_Result = TypeVar("_Result")


class Limits(NamedTuple):
    """What ends a search; whichever comes first. At least one must be given.

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


class SearchPlayer:
    """Chooses moves by tree search, one search at a time."""

    def __init__(self, memory_mb: int, seed: int, kind: str = "auto") -> None:
        """Prepare; the tree takes memory at the first search only.

        Args:
            memory_mb: bound of the tree in megabytes.
            seed: with `salt` and the position, decides every random choice.
            kind: one of `KINDS`.
        """
        self._search = KINDS[kind](memory_mb << 20)
        self._seed = seed
        self._kept: _Root | None = None
        # A search whose caller was cancelled may still be on its last visit.
        self._busy = threading.Lock()

    def search(
        self,
        game: Game,
        limits: Limits,
        stop: StopFlag,
        salt: int = 0,
        stream: Stream | None = None,
        *,
        keep: bool = False,
    ) -> Report:
        """Search a game that is not over. Blocks, without the GIL while it works.

        Args:
            game: the game; it must not change meanwhile.
            limits: what ends the search.
            stop: set from any thread, ends the search with what it has.
            salt: tells games of one process apart (CONTRACT.md, Randomness).
            stream: who is told reports on the way, in the thread that searches.
            keep: the next search may go on where this one ends; its limit of visits
                counts those made here.

        Raises:
            ValueError: a limit or an interval that is below 0 or no number.
        """
        _check(limits, stream)
        began = time.monotonic()
        with self._busy:
            root = self._take_up(game, salt)
            self._run(limits, stop, began, stream)
            self._kept = root if keep else None
            return self._report(began)

    def _take_up(self, game: Game, salt: int) -> "_Root":
        """Go on with the tree that was kept if it is of this position; else begin.

        The one place that decides which trees are of use again.
        """
        root = _Root(game.kernel.key, tuple(game.legal_moves()), salt)
        kept, self._kept = self._kept, None
        if root != kept:
            self._search.start(game.kernel, mix_seed(self._seed, salt, root.key))
        return root

    def _run(
        self, limits: Limits, stop: StopFlag, began: float, stream: Stream | None
    ) -> None:
        """Run slices of about two milliseconds until a limit is reached."""
        search = self._search
        seconds = float("inf") if limits.seconds is None else limits.seconds
        most = limits.visits
        if len(search.moves()) == 1 and stream is None:
            most = 1  # a forced move needs no thought
        next_report = float("inf") if stream is None else stream.interval
        patience, visits_before = _patience(limits), search.visits
        size, used = _FIRST_SLICE, 0.0
        while most is None or search.visits < most:
            asked = size if most is None else min(size, most - search.visits)
            done = search.run(asked, stop)
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
        search = self._search
        return Report(
            point=search.best_move(),
            value=search.value,
            visits=search.visits,
            seconds=time.monotonic() - began,
            proof=search.proof,
            variation=tuple(search.principal_variation()),
            candidates=tuple(
                Candidate(*move, tuple(line))
                for move, line in zip(search.moves(), search.variations(), strict=True)
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
        *,
        keep: bool = False,
    ) -> Report:
        """Run `search` in a thread; being cancelled stops it."""
        return await run_stoppable(
            lambda: self.search(game, limits, stop, salt, stream, keep=keep), stop
        )


class _Root(NamedTuple):
    """What the root of a tree is: position, its moves, and the game's salt."""

    key: int
    moves: tuple[int, ...]
    salt: int


def _patience(limits: Limits) -> Patience | None:
    """Return what ends a search before its last second; None if nothing does."""
    seconds, visits, target, early = limits
    if seconds is None or (target is None and early is None):
        return None
    early = early if visits is None else None
    return Patience(seconds if target is None else target, seconds, early)


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


def mix_seed(seed: int, salt: int, key: int) -> int:
    """Return a 64-bit search seed from its three sources."""
    mask = (1 << 64) - 1
    mixed = 0
    for part in (seed, salt, key):
        mixed = ((mixed ^ part) * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) & mask
        mixed ^= mixed >> 29
    return mixed
