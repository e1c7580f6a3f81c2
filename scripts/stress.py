"""Let several workers search at once while their reports are read; check the trees.

And let the prover work where it ends, where its path has no room, and on a large board.

For builds that watch memory and threads (scripts/sanitize). Usage: stress.py [VISITS]
"""

import random
import sys
import threading
from collections.abc import Iterator

from tanbo_engine import (
    setups,
    weights,  # noqa: F401 (the kernel needs them)
)
from tanbo_engine._alphabeta import AlphaBeta
from tanbo_engine._kernel import PUCT, UCT, Position, Search, StopFlag
from tanbo_engine._prover import Prover
from tanbo_engine.game import kernel_position

SETUPS = ("dense-3x5", "dense-5x7", "classic-9x9", "dense-11x11")
LEAST_MEMORY, ENOUGH_MEMORY = 1, 32 << 20
LEAST_PROOF = 1 << 16
FIRST_ENTRIES = 1 << 15  # of the alpha-beta table before it grows
SEED = 1


def positions(source: random.Random) -> Iterator[Position]:
    """Yield starts and positions near the end, where proofs and finished games are."""
    for name in SETUPS:
        yield kernel_position(setups.by_name(name).position())
        for plies in (3, 6, 10):
            position = kernel_position(setups.by_name(name).position())
            while position.winner < 0:
                position.make(source.choice(position.legal_moves(position.to_move)))
            for _ in range(min(plies, position.turns)):
                position.unmake()
            yield position


def read(search: Search | AlphaBeta) -> bool:
    """Read all that a search tells, and tell whether it makes sense."""
    moves, lines = search.moves(), search.variations()
    return (
        len(moves) == len(lines)
        and all(0 <= value <= 1 for _, _, value, _, _ in moves)
        and 0 <= search.value <= 1
        and search.best_move() in {move[0] for move in moves}
        and len(search.principal_variation()) > 0
        and (isinstance(search, AlphaBeta) or is_a_tree(search, len(moves)))
        and search.proof in (-1, 0, 1)
        and search.is_full in (False, True)
    )


def is_a_tree(search: Search, moves: int) -> bool:
    """Tell whether what only a tree knows makes sense."""
    return search.tree_nodes > moves and search.distance >= 0


def stress(search: Search | AlphaBeta, until: int, *, stop_early: bool) -> None:
    """Search with every worker at once; read on and stop meanwhile.

    What alpha-beta tells but its visits is for the thread of its first worker.
    """
    reads_on = isinstance(search, Search)
    stop = StopFlag()
    threads = [
        threading.Thread(target=search.run, args=(until, stop, worker, until))
        for worker in range(search.workers)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if reads_on and not read(search):
            raise SystemExit("stress: a search says what cannot be")
        if stop_early and search.visits > until // 2:
            stop.set()
    for thread in threads:
        thread.join()
    if not read(search):
        raise SystemExit("stress: a search says what cannot be")
    wrong = search.check_tree() if isinstance(search, Search) else ""
    if wrong:
        raise SystemExit(f"stress: the tree is wrong: {wrong}")


def prove(position: Position, moves: int) -> None:
    """Work on a proof with little memory; compare it with one that has enough."""
    proofs = set()
    for memory in (LEAST_PROOF, ENOUGH_MEMORY):
        prover = Prover(position.width, position.height, memory)
        prover.start(position)
        prover.run(moves, StopFlag())
        proofs |= {prover.proof}
    if len(proofs - {0}) > 1:
        raise SystemExit("stress: two proofs of one position differ")


def main() -> None:
    """Stress trees of all sizes: from new ones, and from what is known of the game."""
    visits = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    source, searches = random.Random(SEED), 0  # noqa: S311
    plans: list[Search | AlphaBeta] = [
        AlphaBeta(LEAST_MEMORY, 4),
        AlphaBeta(ENOUGH_MEMORY, 2),
    ]
    plans += [
        Search(memory, kind, workers)
        for kind, memory, workers in (
            (PUCT, ENOUGH_MEMORY, 2),
            (PUCT, LEAST_MEMORY, 4),
            (UCT, ENOUGH_MEMORY, 4),
        )
    ]
    for position in positions(source):
        for search in plans:
            search.start(position, SEED)
            stress(search, visits, stop_early=searches % 3 == 0)
            best = search.best_move()
            position.make(best)
            if position.winner < 0:
                search.start(position, SEED, 0, [best])
                stress(search, search.visits + visits, stop_early=False)
            position.unmake()
            searches += 1
        prove(position, 10 * visits)
    grown = AlphaBeta(ENOUGH_MEMORY, 2)
    grown.start(kernel_position(setups.by_name("classic-9x9").position()), SEED)
    stress(grown, 300 * visits, stop_early=False)
    if grown.tree_nodes <= FIRST_ENTRIES:
        raise SystemExit("stress: the table has had no reason to grow")
    print(f"stress: {searches} positions searched, nothing wrong")


if __name__ == "__main__":
    main()
