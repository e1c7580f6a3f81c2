"""The tree from one search of a game to the next."""

import random

import pytest

from tanbo_engine._kernel import Position, Search, StopFlag
from tanbo_engine.game import kernel_position

from .support import as_plain, before_the_end, kernel, play_on

MB = 1 << 20
NAMES = ["dense-3x7", "dense-7x7", "classic-9x9"]
Moves = list[tuple[int, int, float, float, int]]


def searched(position: Position, visits: int, memory: int = 8 * MB) -> Search:
    search = Search(memory)
    search.start(position, 1)
    search.run(visits, StopFlag())
    return search


def outcome(search: Search) -> tuple[object, ...]:
    return (
        search.visits,
        search.proof,
        search.distance,
        search.value,
        search.moves(),
        search.variations(),
    )


def by_point(moves: Moves) -> dict[int, tuple[int, float, float, int]]:
    return {move[0]: move[1:] for move in moves}


def assert_is_sound(search: Search, most_own: int | None = 1) -> None:
    """Check the tree; None where memory ran short and visits ended anywhere."""
    if most_own is None:
        assert search.check_tree() == ""
    else:
        assert search.check_tree(most_own) == ""
    moves = search.moves()
    assert all(0 <= value <= 1 and proof in (-1, 0, 1) for *_, value, _, proof in moves)
    assert 0 <= search.value <= 1
    assert search.best_move() == moves[0][0]
    assert sum(move[1] for move in moves) <= search.visits


# After moves


@pytest.mark.parametrize("name", NAMES)
def test_after_a_move_its_visits_are_those_of_the_position(name: str) -> None:
    position = kernel(name)
    search = searched(position, 4000)
    assert_is_sound(search)
    for point, visits, value, _, _ in search.moves():
        position.make(point)
        search.start(position, 2, 0, [point])
        assert search.visits == visits
        assert_is_sound(search)
        legal = position.legal_moves(position.to_move)
        assert sorted(move[0] for move in search.moves()) == legal
        if visits > 1:
            inner = sum(move[1] * move[2] for move in search.moves())
            mean = 1 - value  # of one own visit and those of the replies
            assert 0 <= mean * visits - inner <= 1 + 1e-6
            assert sum(move[1] for move in search.moves()) == visits - 1
        position.unmake()
        search.start(position, 3, 1)


@pytest.mark.parametrize("name", NAMES)
def test_after_several_moves_the_best_line_is_still_known(name: str) -> None:
    position = kernel(name)
    search = searched(position, 8000)
    line = search.principal_variation()
    assert len(line) >= 3
    for point in line[:2]:
        position.make(point)
    search.start(position, 2, 0, line[:2])
    assert search.visits > 1
    assert search.principal_variation() == line[2:]
    assert_is_sound(search)
    search.run(3000, StopFlag())
    assert_is_sound(search)


def test_a_known_position_is_searched_on_up_to_the_limit() -> None:
    position = kernel("dense-7x7")
    search = searched(position, 3000)
    point, visits, *_ = search.moves()[0]
    position.make(point)
    search.start(position, 2, 0, [point])
    assert search.run(10**6, StopFlag(), until=2 * visits) == visits
    assert search.visits == 2 * visits


# After moves were taken back


@pytest.mark.parametrize("plies", [1, 2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_taking_moves_back_finds_the_tree_as_it_was(name: str, plies: int) -> None:
    position = kernel(name)
    search = searched(position, 8000)
    before = outcome(search)
    line = search.principal_variation()[:plies]
    for count, point in enumerate(line, 1):  # one search after the other
        position.make(point)
        search.start(position, 2, 0, [point])
        if count < len(line):
            assert search.visits > 0
    for _ in line:
        position.unmake()
    search.start(position, 3, len(line))
    assert outcome(search) == before
    assert_is_sound(search)


@pytest.mark.parametrize("plies", [1, 2, 3])
def test_what_was_found_below_is_known_above(plies: int) -> None:
    position = kernel("dense-7x7")
    search = searched(position, 8000)
    before = by_point(search.moves())
    line = search.principal_variation()[:plies]
    gained = 0
    for point in line:
        position.make(point)
        search.start(position, 2, 0, [point])
        gained += search.run(700, StopFlag())
    for _ in line:
        position.unmake()
    search.start(position, 3, plies)
    assert_is_sound(search)
    assert search.visits == 8000 + gained == sum(move[1] for move in search.moves())
    for point, (visits, value, _, _) in by_point(search.moves()).items():
        if point == line[0]:
            assert visits == before[point][0] + gained
        else:
            assert (visits, value) == before[point][:2]
    search.run(3000, StopFlag())
    assert_is_sound(search)


def test_a_proof_below_is_a_proof_above() -> None:
    proofs = []
    for seed in range(40):
        position = before_the_end("dense-5x7", seed, 6)
        search = searched(position, 1)
        for point in position.legal_moves(position.to_move):
            position.make(point)
            if position.winner < 0:
                search.start(position, 1, 0, [point])
                search.run(20_000, StopFlag())
                proof = search.proof
                position.unmake()
                search.start(position, 1, 1)
                assert by_point(search.moves())[point][3] == -proof
                if proof == -1:
                    assert search.proof == 1
                proofs.append(proof)
            else:
                position.unmake()
            assert_is_sound(search)
        if all(move[4] for move in search.moves()):
            assert search.proof != 0
    assert min(proofs.count(1), proofs.count(-1)) > 5


def test_a_proved_position_stays_proved() -> None:
    kept = 0
    for seed in range(30):
        position = before_the_end("dense-5x7", seed, 5)
        search = searched(position, 50_000)
        point, *_, proof = search.moves()[0]
        position.make(point)
        if proof != 0 and position.winner < 0:
            for played in ([point], []):
                search.start(position, 1, 0, played)
                assert search.proof == -proof
                assert search.run(100, StopFlag()) == 0
                assert search.best_move() in position.legal_moves(position.to_move)
            kept += 1
    assert kept > 10


def test_a_line_beside_the_last_one_is_known() -> None:
    position = kernel("classic-9x9")
    search = searched(position, 20_000)
    one, other = search.moves()[:2]
    reply = next(line for line in search.variations() if line[0] == other[0])[1]
    position.make(one[0])
    search.start(position, 2, 0, [one[0]])
    search.run(500, StopFlag())
    position.unmake()
    for point in (other[0], reply):
        position.make(point)
    search.start(position, 3, 1, [other[0], reply])
    assert 0 < search.visits < other[1]
    assert_is_sound(search)


# What is not known


def test_an_unknown_way_begins_anew() -> None:
    position = kernel("dense-7x7")
    line = play_on(kernel("dense-7x7"), 3)
    for point in line[:4]:
        position.make(point)
    fresh = searched(position, 500)
    ways: list[tuple[int | None, list[int]]] = [
        (0, line[:4]),  # no node so deep
        (1, line[:4]),  # no node before the first search
        (3, []),
        (None, []),
        (None, line[:4]),
        (0, [49]),  # no such point
    ]
    for undone, played in ways:
        search = searched(kernel("dense-7x7"), 40)
        search.start(position, 1, undone, played)
        assert search.visits == 0
        search.run(500, StopFlag())
        assert outcome(search) == outcome(fresh)
        assert_is_sound(search)


def test_the_first_search_knows_nothing() -> None:
    position = kernel("dense-7x7")
    search = Search(8 * MB)
    search.start(position, 1, 0)
    search.run(500, StopFlag())
    assert outcome(search) == outcome(searched(position, 500))


# Memory


def test_collecting_keeps_all_that_can_still_be_reached() -> None:
    position = kernel("dense-7x7")
    search = searched(position, 6000, MB)
    nodes = search.tree_nodes
    assert nodes > MB // 32 // 2
    point = search.best_move()
    position.make(point)
    line = next(line for line in search.variations() if line[0] == point)
    known = search.moves()[0]
    search.start(position, 2, 0, [point])  # more than half full: collects
    assert search.tree_nodes < nodes
    assert search.visits == known[1]
    assert search.principal_variation() == line[1:]
    assert_is_sound(search, None)
    before = outcome(search)
    search.start(position, 3, 0)
    assert outcome(search) == before
    position.unmake()
    search.start(position, 1, 1)  # its node was given up
    assert search.visits == 0


@pytest.mark.parametrize("memory", [1, MB // 8, MB])
@pytest.mark.parametrize("name", [*NAMES, "dense-11x11"])
def test_collecting_changes_nothing_that_is_told(name: str, memory: int) -> None:
    position = kernel(name)
    search = Search(memory)
    collected = 0
    played: list[int] = []
    undone: int | None = None
    while position.winner < 0:
        known = by_point(search.moves()).get(played[0]) if played else None
        lines = {line[0]: line for line in search.variations()}
        nodes = search.tree_nodes
        search.start(position, 1, undone, played)
        assert_is_sound(search, None)
        if known is not None and search.visits:
            assert search.visits == known[0]
            assert search.tree_nodes <= nodes + 700
            if len(lines[played[0]]) > 1:
                assert search.principal_variation() == lines[played[0]][1:]
            collected += search.tree_nodes < nodes
        assert search.run(2000, StopFlag()) == 2000 or search.proof != 0
        assert_is_sound(search, None)
        played, undone = [search.best_move()], 0
        position.make(played[0])
    assert collected > 2 or memory == MB


@pytest.mark.parametrize("seed", range(12))
def test_any_walk_through_a_game_leaves_a_sound_tree(seed: int) -> None:
    source = random.Random(seed)
    name = source.choice([*NAMES, "dense-5x7", "dense-11x11"])
    position = kernel(name)
    search = Search(source.choice([1, MB // 16, MB // 4, 4 * MB]))
    undone: int | None = None
    for _ in range(120):
        back = min(position.turns, source.choice([0, 0, 0, 1, 2, 5]))
        for _ in range(back):
            position.unmake()
        played: list[int] = []
        for _ in range(source.choice([0, 1, 1, 2, 2, 3])):
            legal = position.legal_moves(position.to_move)
            if search.visits and not played and back == 0 and source.random() < 0.7:
                legal = [search.best_move()]
            played.append(source.choice(legal))
            position.make(played[-1])
            if position.winner >= 0:
                position.unmake()
                played.pop()
                break
        search.start(position, seed, None if undone is None else back, played)
        undone = 0
        legal = position.legal_moves(position.to_move)
        assert sorted(move[0] for move in search.moves()) == legal
        assert_is_sound(search, None)
        search.run(source.choice([0, 1, 7, 300, 1500]), StopFlag())
        assert_is_sound(search, None)


# Restricted moves


@pytest.mark.parametrize("count", [1, 2, 5])
def test_only_the_given_moves_are_searched(count: int) -> None:
    for seed in range(4):
        position = before_the_end("dense-7x7", seed, 30)
        only = random.Random(seed).sample(position.legal_moves(position.to_move), count)
        search = Search(8 * MB)
        search.start(position, 1, only=only)
        search.run(2000, StopFlag())
        assert sorted(move[0] for move in search.moves()) == sorted(only)
        assert search.best_move() in only
        assert search.principal_variation()[0] in only
        assert [line[0] for line in search.variations()] == [
            move[0] for move in search.moves()
        ]
        assert sum(move[1] for move in search.moves()) == search.visits
        assert search.check_tree(1) == ""


def test_the_next_search_knows_nothing_of_a_restricted_one() -> None:
    position = kernel("dense-7x7")
    search = Search(8 * MB)
    search.start(position, 1, only=[position.legal_moves(0)[0]])
    search.run(300, StopFlag())
    search.start(position, 1, 0)
    search.run(500, StopFlag())
    assert outcome(search) == outcome(searched(position, 500))


def test_a_restricted_search_takes_nothing_over() -> None:
    position = kernel("dense-7x7")
    search = searched(position, 300)
    search.start(position, 1, 0, only=position.legal_moves(0)[:2])
    assert search.visits == 0


def test_points_that_are_not_legal_are_refused_and_change_nothing() -> None:
    position = kernel("dense-7x7")
    search = searched(position, 300)
    before = outcome(search)
    for point in (-1, 49, position.stones(0)[0]):
        with pytest.raises(ValueError, match="not legal"):
            search.start(position, 1, 0, only=[position.legal_moves(0)[0], point])
        assert outcome(search) == before


# Distances


class TooLarge(Exception):  # noqa: N818
    """The tree is too large to search here."""


def solve(position: Position, known: dict[int, tuple[bool, int]]) -> tuple[bool, int]:
    """Return whether the side to move wins, and in how many turns at best play."""
    if position.winner >= 0:
        return position.winner == position.to_move, 0
    if position.key not in known:
        replies = []
        for point in position.legal_moves(position.to_move):
            position.make(point)
            replies.append(solve(position, known))
            position.unmake()
        wins = [turns for won, turns in replies if not won]
        turns = min(wins) if wins else max(turns for _, turns in replies)
        known[position.key] = (bool(wins), turns + 1)
        if len(known) > 2000:
            raise TooLarge
    return known[position.key]


def test_distances_are_those_of_trying_everything_or_longer() -> None:
    exact, checked = 0, 0
    for seed in range(60):
        name = ("dense-3x5", "dense-3x7", "classic-5x5")[seed % 3]
        position = before_the_end(name, seed, 2 + seed % 7)
        plain = as_plain(position)
        try:
            won, turns = solve(position, {})
        except TooLarge:
            continue
        search = searched(kernel_position(plain), 300_000, 32 * MB)
        assert search.proof == (1 if won else -1)
        assert search.distance >= turns
        exact += search.distance == turns
        checked += 1
    assert checked > 20
    assert exact > 0.6 * checked


def test_a_game_that_one_move_ends_has_the_distance_one() -> None:
    seen = set()
    for seed in range(60):
        position = before_the_end("dense-5x7", seed, 1)
        legal = position.legal_moves(position.to_move)
        if len(legal) == 1:
            won, turns = solve(position, {})
            search = searched(position, 1000)
            assert (search.proof, search.distance) == (1 if won else -1, turns == 1)
            seen.add(won)
    assert seen


def test_an_open_search_has_no_distance() -> None:
    assert Search(MB).distance == 0
    assert searched(kernel("dense-7x7"), 100).distance == 0
