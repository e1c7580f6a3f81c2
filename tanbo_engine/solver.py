"""The solver: who wins a position, for certain, and a strategy that shows it.

The compiled prover is told as slices of moves. Between slices this module looks at the
clock and tells how far it is, so that the prover needs neither.
"""

import time
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from tanbo_engine import rules
from tanbo_engine._kernel import StopFlag
from tanbo_engine._prover import Prover
from tanbo_engine.game import kernel_position, plain_position
from tanbo_engine.points import Color

_SLICE = 20_000
"""Moves between two looks at the clock: about ten milliseconds."""

_OVER = 0
"""The prover's key of positions where the game is over."""


class Limits(NamedTuple):
    """What ends the work before a proof; whichever comes first.

    Attributes:
        seconds: time, or None.
        nodes: moves made, or None; overrun by the moves of one position at most.
    """

    seconds: float | None = None
    nodes: int | None = None


class Progress(NamedTuple):
    """How far a proof is.

    Attributes:
        nodes: moves made so far.
        seconds: time taken so far.
        refuted: moves of the position that are proved to lose.
        moves: legal moves of the position.
        table_use: share of the table in use, 0 to 1; a full one makes proofs slower.
    """

    nodes: int
    seconds: float
    refuted: int
    moves: int
    table_use: float


class Solution(NamedTuple):
    """What the solver found.

    Attributes:
        winner: who wins, None if that is not proved.
        point: a winning move if the winner is to move, else None.
        reason: why nothing is proved: ``time``, ``nodes``, ``memory`` (the line of play
            does not fit into it) or ``stopped``; empty with a proof.
        nodes: moves made.
        seconds: time taken.
    """

    winner: Color | None
    point: int | None
    reason: str
    nodes: int
    seconds: float


class _Branch(NamedTuple):
    """A move as `Prover.children` tells it."""

    point: int
    key: int
    proof: int
    effort: int


class NoStrategy(RuntimeError):  # noqa: N818
    """The work on a strategy was stopped, or memory ran out, before it was complete."""


class Solver:
    """Proves the winner of one position."""

    def __init__(self, position: rules.Position, memory_mb: int = 256) -> None:
        """Take the memory.

        Args:
            position: satisfies `rules.check_position`; the game must not be over.
            memory_mb: bound of what the prover keeps, in megabytes.

        Raises:
            ValueError: the game is over.
            MemoryError: this machine does not give that much.
        """
        self._start = position
        self._kernel = kernel_position(position)
        self._prover = Prover(*position.size, memory_mb << 20)
        self._prover.start(self._kernel)

    def solve(
        self,
        limits: Limits,
        stop: StopFlag,
        tell: Callable[[Progress], None] | None = None,
    ) -> Solution:
        """Work until the proof or a limit. Blocks, without the GIL while it works.

        Args:
            limits: what ends the work.
            stop: set from any thread, ends it as well.
            tell: is told after every slice, in this thread.

        Raises:
            ValueError: a limit that is below 0 or no number.
        """
        _check(limits)
        began, prover = time.monotonic(), self._prover
        reason = ""
        while prover.proof == 0 and not reason:
            most = _SLICE if limits.nodes is None else limits.nodes - prover.moves
            fits = prover.run(max(0, min(most, _SLICE)), stop)
            progress = Progress(
                prover.moves,
                time.monotonic() - began,
                *prover.refuted,
                prover.table_use,
            )
            reason = _reason(limits, progress, stop, fits=fits)
            if tell is not None:
                tell(progress)
        return self._solution(reason, time.monotonic() - began)

    def _solution(self, reason: str, seconds: float) -> Solution:
        prover, mover = self._prover, self._start.to_move
        if prover.proof == 0:
            return Solution(None, None, reason, prover.moves, seconds)
        if prover.proof < 0:
            return Solution(mover.opponent, None, "", prover.moves, seconds)
        return Solution(mover, prover.best_move, "", prover.moves, seconds)

    def strategy(self, stop: StopFlag) -> Iterator[tuple[rules.Position, int]]:
        """Yield a reply of the winner to everything the loser may do.

        For once, after `solve` has found the winner. Of positions that mirror or turn
        one another it yields one. If the winner is to move at the start, the reply
        there is the move that `solve` told.

        Raises:
            NoStrategy: the flag was set, or memory ran out.
        """
        if self._prover.proof == 0:
            raise ValueError("prove who wins first")
        winner = self._start.to_move
        if self._prover.proof < 0:
            winner = winner.opponent
        return self._replies(winner, {_OVER}, stop, self._prover.best_move)

    def _replies(
        self, winner: Color, seen: set[int], stop: StopFlag, told: int | None = None
    ) -> Iterator[tuple[rules.Position, int]]:
        """Yield what `strategy` does, from the kernel's position on.

        A reply that leads to a position that was seen costs no further lines, and one
        that took little effort to prove few.
        """
        position = self._kernel
        branches = self._branches(stop, prove=position.to_move == winner)
        if position.to_move == winner:
            best = min(
                branches,
                key=lambda move: (
                    move.point != told,
                    move.key not in seen,
                    move.effort,
                ),
            )
            yield plain_position(position), best.point
            branches = [best]
        for move in branches:
            if move.key not in seen:
                seen.add(move.key)
                position.make(move.point)
                yield from self._replies(winner, seen, stop)
                position.unmake()

    def _branches(self, stop: StopFlag, *, prove: bool) -> list[_Branch]:
        """Return all moves of the kernel's position, or those proved to win."""
        prover = self._prover
        prover.start(self._kernel)
        while prove and prover.proof == 0:
            if not prover.run(_SLICE, stop) and prover.proof == 0:
                raise NoStrategy("the memory is too small to find a strategy")
            if stop.is_set:
                raise NoStrategy("stopped before the strategy was complete")
        branches = [_Branch(*move) for move in prover.children()]
        return [move for move in branches if move.proof == 1 or not prove]


def _reason(
    limits: Limits, progress: Progress, stop: StopFlag, *, fits: bool
) -> Literal["", "time", "nodes", "memory", "stopped"]:
    """Return what ends the work, empty if nothing does."""
    if stop.is_set:
        return "stopped"
    if not fits:
        return "memory"
    if limits.seconds is not None and progress.seconds >= limits.seconds:
        return "time"
    if limits.nodes is not None and progress.nodes >= limits.nodes:
        return "nodes"
    return ""


def _check(limits: Limits) -> None:
    """Refuse what no clock and no count can reach."""
    seconds, nodes = limits
    if seconds is not None and not seconds >= 0:
        raise ValueError(f"seconds are 0 or more, not {seconds}")
    if nodes is not None and nodes < 0:
        raise ValueError(f"nodes are 0 or more, not {nodes}")
