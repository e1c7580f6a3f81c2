import os
import threading
import time
from pathlib import Path

import pytest

from tanbo_engine import rules
from tanbo_engine._kernel import PUCT, PUCT0, UCT, Position, Search, StopFlag
from tanbo_engine.game import kernel_position

from .support import as_plain, before_the_end, kernel, play_on, snapshot

KINDS = pytest.mark.parametrize(
    "kind", [PUCT, UCT, PUCT0], ids=["puct", "uct", "puct0"]
)
GAMES = ["dense-3x5", "dense-7x7", "classic-9x9", "dense-11x11"]
MB = 1 << 20


def searched(
    position: Position,
    visits: int,
    seed: int = 1,
    kind: int = PUCT,
    memory: int = 8 * MB,
) -> Search:
    """Return a search that has made its visits."""
    search = Search(memory, kind)
    search.start(position, seed)
    search.run(visits, StopFlag())
    return search


def outcome(search: Search) -> tuple[object, ...]:
    """Return everything a search says."""
    return (
        search.visits,
        search.tree_nodes,
        search.is_full,
        search.proof,
        search.value,
        search.moves(),
        search.best_move(),
        search.principal_variation(),
    )


# The same search twice


@KINDS
@pytest.mark.parametrize("name", GAMES)
def test_seed_position_and_visits_decide_everything(name: str, kind: int) -> None:
    one = searched(kernel(name), 2000, 5, kind)
    two = searched(kernel(name), 2000, 5, kind)
    assert outcome(one) == outcome(two)


@KINDS
@pytest.mark.parametrize("name", GAMES[1:])
def test_other_seeds_search_otherwise(name: str, kind: int) -> None:
    results = {
        tuple(searched(kernel(name), 2000, seed, kind).moves()) for seed in range(4)
    }
    assert len(results) == 4


@KINDS
@pytest.mark.parametrize("name", GAMES)
def test_the_way_to_a_position_does_not_matter(name: str, kind: int) -> None:
    position = before_the_end(name, 3, 15)
    for seed in range(3):  # there and back again
        detour = play_on(position, seed)
        for _ in detour:
            position.unmake()
    fresh = kernel_position(as_plain(position))
    one, two = searched(position, 1000, 5, kind), searched(fresh, 1000, 5, kind)
    assert outcome(one) == outcome(two)


@KINDS
@pytest.mark.parametrize(
    "slices", [[1] * 9000, [8999, 1], [3] * 3000, [700, 0, 1300, *[7, 1, 2] * 700]]
)
def test_the_slices_of_a_run_do_not_matter(slices: list[int], kind: int) -> None:
    # Also where visits below busy nodes are made several at once.
    position = kernel("dense-7x7")
    whole = searched(position, 9000, 5, kind)
    search = Search(8 * MB, kind)
    search.start(position, 5)
    for visits in slices:
        assert search.run(visits, StopFlag()) == visits
    assert outcome(search) == outcome(whole)


@KINDS
def test_a_new_start_forgets_the_former_search(kind: int) -> None:
    search = searched(kernel("dense-3x3"), 50, 1, kind, memory=1)
    search.run(100_000, StopFlag())
    for name in ("dense-11x11", "dense-7x7"):
        search.start(kernel(name), 5)
        assert (search.visits, search.proof, search.is_full) == (0, 0, False)
        search.run(300, StopFlag())
        fresh = searched(kernel(name), 300, 5, kind, memory=1)
        assert outcome(search) == outcome(fresh)


def test_the_two_kinds_differ() -> None:
    assert searched(kernel("dense-7x7"), 500, 5, PUCT).moves() != (
        searched(kernel("dense-7x7"), 500, 5, UCT).moves()
    )


@KINDS
def test_a_search_leaves_the_position_as_it_was(kind: int) -> None:
    position = before_the_end("dense-7x7", 1, 12)
    before = snapshot(position)
    searched(position, 5000, 1, kind)
    assert snapshot(position) == before


# What a search says


@KINDS
@pytest.mark.parametrize("visits", [0, 1, 2, 10, 100, 3000])
@pytest.mark.parametrize("name", [*GAMES, "dense-23x25"])
def test_a_search_of_any_length_says_sensible_things(
    name: str, visits: int, kind: int
) -> None:
    for position in [kernel(name), *(before_the_end(name, s, 4 + s) for s in range(6))]:
        search = searched(position, visits, 1, kind)
        moves = search.moves()
        assert sorted(m[0] for m in moves) == position.legal_moves(position.to_move)
        assert sum(m[1] for m in moves) == search.visits <= visits
        assert search.visits == visits or search.proof != 0
        assert sum(m[3] for m in moves) == pytest.approx(1, abs=1e-5)
        assert all(0 < m[3] <= 1 and 0 <= m[2] <= 1 and abs(m[4]) <= 1 for m in moves)
        assert 0 <= search.value <= 1
        assert search.tree_nodes >= 1 + len(moves)
        proofs = [proof for *_, proof in moves]
        assert proofs == sorted(proofs, reverse=True)
        unproven = [(count, value) for _, count, value, _, proof in moves if not proof]
        assert unproven == sorted(unproven, reverse=True)


@KINDS
@pytest.mark.parametrize("name", GAMES)
def test_the_principal_variation_is_legal_play_from_the_best_move(
    name: str, kind: int
) -> None:
    for position in [kernel(name), *(before_the_end(name, s, 4 + s) for s in range(6))]:
        for visits in (1, 300, 20_000):
            search = searched(position, visits, 1, kind)
            line = search.principal_variation()
            assert line[0] == search.best_move()
            game = kernel_position(as_plain(position))
            for point in line:
                game.make(point)
            if search.proof == 1:
                assert game.winner in (-1, position.to_move)


@KINDS
def test_the_line_of_a_proven_result_ends_with_it(kind: int) -> None:
    for seed in range(20):
        position = before_the_end("dense-5x7", seed, 6)
        search = searched(position, 100_000, 1, kind)
        game = kernel_position(as_plain(position))
        for point in search.principal_variation():
            game.make(point)
        if search.proof == 1:
            assert game.winner in (-1, position.to_move)
        elif search.proof == -1:
            assert game.winner in (-1, 1 - position.to_move)


@KINDS
def test_the_best_move_is_the_first_of_the_moves(kind: int) -> None:
    # Lost positions in which two replies have the same number of visits.
    lost = [
        Position(5, 5, [0, 1, 6, 7, 8, 9, 14, 19], [5, 10, 11, 16, 17, 18, 20, 21], 1),
        Position(
            5,
            7,
            [5, 10, 16, 17, 22, 26, 27, 28, 29, 30, 31, 33],
            [2, 7, 9, 11, 12, 13, 14, 18],
            1,
        ),
        *(before_the_end("classic-5x5", seed, 2 + seed % 6) for seed in range(40)),
    ]
    for position in lost:
        for seed in (1, 202, 284):
            search = searched(position, 2000, seed, kind, memory=1 << 18)
            assert search.best_move() == search.moves()[0][0]


@KINDS
def test_a_thousand_visits_beat_random_play(kind: int) -> None:
    won = 0
    for seed in range(6):
        position, me = kernel("dense-5x7"), seed % 2
        replies = play_on(kernel("dense-5x7"), seed)
        while position.winner < 0:
            if position.to_move == me:
                position.make(searched(position, 1000, seed, kind).best_move())
            else:
                legal = position.legal_moves(position.to_move)
                position.make(
                    legal[replies[position.turns % len(replies)] % len(legal)]
                )
        won += position.winner == me
    assert won >= 5


# Proofs


class TooLarge(Exception):  # noqa: N818
    """The tree is too large to search here."""


def mover_wins(position: Position, known: dict[int, bool], most: int = 200_000) -> bool:
    """Solve a position by trying everything."""
    if position.winner >= 0:
        return position.winner == position.to_move
    key = position.key
    if key not in known:
        if len(known) > most:
            raise TooLarge
        known[key] = False
        for point in position.legal_moves(position.to_move):
            position.make(point)
            won = not mover_wins(position, known, most)
            position.unmake()
            if won:
                known[key] = True
                break
    return known[key]


def plain_mover_wins(position: rules.Position) -> bool:
    """Solve a small position by the plain rules alone."""
    won = rules.winner(position)
    if won is not None:
        return won is position.to_move
    return any(
        not plain_mover_wins(rules.play(position, point).after)
        for point in rules.legal_moves(position)
    )


def assert_proofs_hold(
    search: Search, position: Position, known: dict[int, bool]
) -> None:
    """Check the proof of the root, if any, and of every move against the solver."""
    if search.proof != 0:
        assert search.proof == (1 if mover_wins(position, known) else -1)
        assert search.value == (1.0 if search.proof == 1 else 0.0)
    for point, _, value, _, proof in search.moves():
        if proof != 0:
            position.make(point)
            won = not mover_wins(position, known)
            position.unmake()
            assert proof == (1 if won else -1)
            assert value == (1.0 if won else 0.0)
    if search.proof == 1:
        position.make(search.best_move())
        assert not mover_wins(position, known)
        position.unmake()
    elif search.proof == -1:
        assert all(move[4] == -1 for move in search.moves())


@KINDS
@pytest.mark.parametrize(
    "name", ["dense-5x7", "classic-7x7", "dense-7x7", "classic-9x9", "dense-11x11"]
)
def test_proofs_near_the_end_agree_with_trying_everything(name: str, kind: int) -> None:
    verdicts = []
    for seed in range(30):
        position = before_the_end(name, seed, 4 + seed % 6)
        known: dict[int, bool] = {}
        try:
            mover_wins(position, known, 20_000)
            search = searched(position, 300_000, seed, kind, memory=64 * MB)
            assert_proofs_hold(search, position, known)
        except TooLarge:
            continue
        verdicts.append(search.proof)
    assert min(verdicts.count(1), verdicts.count(-1)) >= 2
    assert verdicts.count(0) <= len(verdicts) // 4


@KINDS
def test_proofs_all_over_dense_3x5_agree_with_trying_everything(kind: int) -> None:
    known: dict[int, bool] = {}
    for seed in range(30):
        position = before_the_end("dense-3x5", seed, seed)
        if position.winner < 0:
            search = searched(position, 500_000, seed, kind, memory=32 * MB)
            assert_proofs_hold(search, position, known)


def test_proofs_near_the_end_agree_with_the_plain_rules() -> None:
    for seed in range(6):
        position = before_the_end("dense-5x7", seed, 5)
        search = searched(position, 500_000, seed)
        assert (search.proof == 1) == plain_mover_wins(as_plain(position))


@KINDS
def test_a_move_that_wins_at_once_is_found(kind: int) -> None:
    for seed in range(20):
        position = before_the_end("classic-9x9", seed, 1)
        me = position.to_move
        wins = []
        for point in position.legal_moves(me):
            position.make(point)
            if position.winner == me:
                wins.append(point)
            position.unmake()
        search = searched(position, 2000, seed, kind)
        if wins:
            assert search.proof == 1


def test_a_proved_search_runs_no_further() -> None:
    search = searched(kernel("dense-3x3"), 100_000)
    assert search.proof != 0
    before = outcome(search)
    assert search.visits < 100_000
    assert search.run(1000, StopFlag()) == 0
    assert outcome(search) == before


@KINDS
@pytest.mark.parametrize("name", ["dense-3x3", "dense-3x5"])
def test_the_second_player_wins_the_smallest_dense_boards(name: str, kind: int) -> None:
    search = searched(kernel(name), 3_000_000, 1, kind, memory=64 * MB)
    assert search.proof == -1
    assert search.value == 0.0
    assert all(move[4] == -1 for move in search.moves())


def test_the_first_player_wins_classic_5x5() -> None:
    search = searched(kernel("classic-5x5"), 20_000_000, 1, memory=320 * MB)
    assert search.proof == 1
    assert search.moves()[0][4] == 1


# Memory


@KINDS
@pytest.mark.parametrize("name", ["dense-3x7", "dense-11x11", "dense-23x25"])
def test_a_full_tree_grows_no_more_but_the_search_goes_on(name: str, kind: int) -> None:
    search = Search(MB // 4, kind)
    search.start(kernel(name), 1)
    assert not search.is_full
    for _ in range(10):
        assert search.run(2000, StopFlag()) == 2000
        assert search.tree_nodes * 16 <= MB // 4  # a node is larger than 16 bytes
    assert search.is_full
    nodes, visits = search.tree_nodes, search.visits
    search.run(5000, StopFlag())
    assert search.tree_nodes <= nodes + 600
    assert search.visits == visits + 5000
    assert search.best_move() in kernel(name).legal_moves(0)


@KINDS
@pytest.mark.parametrize("memory", [0, 1, 1000])
def test_the_least_memory_still_holds_the_moves_of_the_largest_board(
    memory: int, kind: int
) -> None:
    search = searched(kernel("dense-23x25"), 3000, 1, kind, memory)
    assert len(search.moves()) == len(kernel("dense-23x25").legal_moves(0))
    assert search.is_full
    assert search.tree_nodes < 2000


def test_a_result_can_be_proved_with_a_full_tree() -> None:
    position = before_the_end("dense-7x7", 2, 8)
    known: dict[int, bool] = {}
    verdict = mover_wins(position, known)
    search = searched(position, 3_000_000, 1, memory=1)
    assert search.proof in (0, 1 if verdict else -1)


RESIDENT = Path("/proc/self/statm")


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    return int(RESIDENT.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not RESIDENT.exists(), reason="needs /proc/self/statm")
def test_the_tree_takes_no_memory_before_the_first_start_and_its_bound_after() -> None:
    position = kernel("dense-11x11")
    before = resident()
    search = Search(64 * MB)
    assert resident() - before < 4 * MB
    search.start(position, 1)
    while not search.is_full:
        search.run(50_000, StopFlag())
    search.run(50_000, StopFlag())
    assert 32 * MB < resident() - before < 72 * MB
    search.start(position, 2)
    while not search.is_full:
        search.run(50_000, StopFlag())
    assert resident() - before < 72 * MB


# Stopping


@KINDS
def test_a_stop_flag_ends_a_run_that_goes_on_without_the_gil(kind: int) -> None:
    search, stop = Search(8 * MB, kind), StopFlag()
    search.start(kernel("classic-19x19"), 1)
    done: list[int] = []
    worker = threading.Thread(target=lambda: done.append(search.run(10**7, stop)))
    worker.start()
    time.sleep(0.2)  # returns only if this thread gets the GIL
    assert worker.is_alive()
    began = time.monotonic()
    stop.set()
    worker.join(30)
    assert time.monotonic() - began < 1
    assert 0 < done[0] < 10**7
    assert search.visits == done[0]


def test_a_set_flag_lets_no_visit_happen() -> None:
    search, stop = Search(MB), StopFlag()
    search.start(kernel("dense-7x7"), 1)
    stop.set()
    assert search.run(1000, stop) == 0
    assert search.visits == 0
    assert search.run(1000, StopFlag()) == 1000


# Misuse


def test_before_the_first_start_there_is_nothing_to_tell() -> None:
    search = Search(MB)
    assert (search.visits, search.tree_nodes, search.is_full) == (0, 0, False)
    assert (search.proof, search.value, search.moves()) == (0, 0.5, [])
    assert search.principal_variation() == []
    with pytest.raises(ValueError, match="start a search first"):
        search.best_move()
    with pytest.raises(ValueError, match="start a search first"):
        search.run(1, StopFlag())


def test_a_finished_game_is_not_searched() -> None:
    position = kernel("dense-3x3")
    play_on(position, 1)
    with pytest.raises(ValueError, match="the game is over"):
        Search(MB).start(position, 1)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="PUCT, UCT or PUCT0"):
        Search(MB, 3)


def test_none_is_no_stop_flag() -> None:
    search = searched(kernel("dense-3x3"), 1)
    with pytest.raises(TypeError):
        search.run(1, None)  # type: ignore[arg-type]


def test_a_move_made_after_the_start_does_not_change_the_search() -> None:
    position, still = kernel("dense-7x7"), kernel("dense-7x7")
    search = Search(MB)
    search.start(position, 4)
    position.make(position.legal_moves(0)[0])
    search.run(500, StopFlag())
    assert outcome(search) == outcome(searched(still, 500, 4, memory=MB))


@pytest.mark.parametrize(
    ("kind", "nodes"), [(UCT, 37417), (PUCT0, 82966)], ids=["uct", "puct0"]
)
def test_the_yardsticks_stay_as_they_are(kind: int, nodes: int) -> None:
    # Strength is told against them: whoever changes them makes old matches worthless.
    names = ("dense-7x7", "classic-9x9", "dense-11x11")
    found = [searched(kernel(name), 3000, 1, kind).tree_nodes for name in names]
    assert sum(found) == nodes
