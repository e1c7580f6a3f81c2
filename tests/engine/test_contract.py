"""The kernel and the plain rules are separate code and must say the same."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tanbo_engine import notation, rules
from tanbo_engine._kernel import Position
from tanbo_engine.game import kernel_position
from tanbo_engine.points import Color, VertexError, parse_vertex

from .support import (
    EXAMPLES,
    STYLES,
    Row,
    as_plain,
    example_id,
    kernel,
    mover,
    play_on,
    point_set,
    position_of,
    snapshot,
    start,
)

# Games a run, and moves of each that are compared with the slow rules.
SETUPS = {
    "dense-3x3": (40, 99),
    "dense-3x5": (40, 99),
    "classic-5x5": (40, 99),
    "dense-7x5": (40, 99),
    "classic-7x7": (40, 150),
    "dense-7x7": (60, 150),
    "classic-9x9": (40, 150),
    "dense-7x9": (40, 120),
    "dense-11x11": (24, 100),
    "classic-13x13": (20, 90),
    "dense-15x15": (16, 60),
    "classic-19x19": (16, 50),
    "classic-21x21": (12, 40),
    "dense-23x25": (10, 30),
}


def assert_same(plain: rules.Position, fast: Position) -> None:
    """Compare everything the two say about a position."""
    assert fast.check() == ""
    assert fast.key == kernel_position(plain).key
    assert fast.to_move == plain.to_move
    won = rules.winner(plain)
    assert fast.winner == (-1 if won is None else won)
    roots = rules.roots(plain)
    for color in Color:
        assert fast.stones(color) == sorted(plain.stones(color))
        assert fast.stone_count(color) == len(plain.stones(color))
        assert fast.root_count(color) == sum(root.color is color for root in roots)
        legal = rules.legal_moves(plain, color)
        assert fast.legal_moves(color) == legal
        every = range(-1, plain.size.area + 1)
        assert [point for point in every if fast.is_legal(color, point)] == legal
    assert fast.roots() == [
        (root.color, sorted(root.stones), rules.growth_points(plain, root))
        for root in roots
    ]


def play_both(plain: rules.Position, fast: Position, point: int) -> rules.Position:
    """Make a move, take it back, make it again; compare each time."""
    before = snapshot(fast)
    turn = rules.play(plain, point)
    assert fast.make(point) == sum(len(root.stones) for root in turn.removed)
    after = snapshot(fast)
    assert fast.unmake() == point
    assert snapshot(fast) == before
    fast.make(point)
    assert snapshot(fast) == after
    assert_same(turn.after, fast)
    return turn.after


def compare_stretch(name: str, seed: int, style: str, skip: float, most: int) -> None:
    """Compare a stretch of a random game that begins after a share of its moves."""
    fast = kernel(name)
    moves = play_on(fast, seed, style)
    first = int(skip * len(moves))
    for _ in moves[first:]:
        fast.unmake()
    plain = as_plain(fast)
    assert_same(plain, fast)
    for point in moves[first : first + most]:
        plain = play_both(plain, fast, point)
    for point in moves[first + most :]:
        fast.make(point)
    assert_same(as_plain(fast), fast)
    assert [fast.unmake() for _ in moves] == moves[::-1]
    assert snapshot(fast) == snapshot(kernel(name))


def random_stretches(name: str, games: int, most: int) -> None:
    """Let hypothesis draw the games; half of them from the start."""

    @settings(
        max_examples=games,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        seed=st.integers(0, 2**32 - 1),
        style=st.sampled_from(sorted(STYLES)),
        skip=st.just(0.0) | st.floats(0, 0.95),
    )
    def compare(seed: int, style: str, skip: float) -> None:
        compare_stretch(name, seed, style, skip, most)

    compare()


@pytest.mark.parametrize("name", SETUPS)
def test_random_games_go_the_same_way_in_kernel_and_rules(name: str) -> None:
    games, most = SETUPS[name]
    random_stretches(name, games, most)


@pytest.mark.parametrize("name", ["dense-7x7", "dense-11x11", "classic-13x13"])
def test_the_compared_games_reach_removals_of_every_kind(name: str) -> None:
    kinds = set()
    for style in STYLES:
        fast = kernel(name)
        for point in play_on(kernel(name), 1, style):
            mine = fast.to_move
            before = [fast.root_count(color) for color in Color]
            turn = rules.play(as_plain(fast), point)
            fast.make(point)
            lost = [before[color] - fast.root_count(color) for color in Color]
            if turn.current_root_bounded:
                kinds.add("current")
            elif lost[mine]:
                kinds.add("own")
            elif lost[1 - mine]:
                kinds.add("enemy")
    assert kinds == {"current", "own", "enemy"}


@pytest.mark.deep
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", SETUPS)
def test_many_random_games_go_the_same_way_in_kernel_and_rules(name: str) -> None:
    games, most = SETUPS[name]
    random_stretches(name, 10 * games, most)


@pytest.mark.deep
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", ["dense-15x15", "classic-19x19", "dense-23x25"])
def test_a_whole_large_game_goes_the_same_way_in_kernel_and_rules(
    name: str, style: str
) -> None:
    compare_stretch(name, 1, style, 0, 10_000)


def compare_tree(name: str) -> int:
    """Compare every position that can arise; return how many are not finished."""
    seen = set()
    left = [start(name)]
    while left:
        plain = left.pop()
        if plain in seen:
            continue
        seen.add(plain)
        fast = kernel_position(plain)
        assert_same(plain, fast)
        before = snapshot(fast)
        for point in rules.legal_moves(plain):
            after = play_both(plain, fast, point)
            assert fast.unmake() == point
            left.append(after)
        assert snapshot(fast) == before
    return sum(rules.winner(plain) is None for plain in seen)


def test_all_positions_of_dense_3x3_are_the_same_in_kernel_and_rules() -> None:
    assert compare_tree("dense-3x3") == 451


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_all_positions_of_dense_3x5_are_the_same_in_kernel_and_rules() -> None:
    assert compare_tree("dense-3x5") == 114_824


@pytest.mark.parametrize("row", EXAMPLES, ids=example_id)
def test_the_kernel_plays_the_examples_as_stated(row: Row) -> None:
    plain = position_of(row)
    fast = kernel_position(plain)
    assert_same(plain, fast)
    assert fast.legal_moves(mover(row)) == sorted(
        point_set(plain.size, row["legal_moves"])
    )
    try:
        point = parse_vertex(plain.size, row["move"])
    except VertexError:
        assert row["code"] in ("off_board", "pass_not_allowed")
        return
    assert fast.is_legal(mover(row), point) == row["legal"]
    if not row["legal"]:
        before = snapshot(fast)
        with pytest.raises(ValueError, match="is not legal"):
            fast.make(point)
        assert snapshot(fast) == before
        return
    removed = fast.make(point)
    assert removed == sum(len(root["stones"]) for root in row["removed_roots"])
    assert notation.rows(as_plain(fast)) == row["after"]
    assert fast.winner == {None: -1, "X": 0, "O": 1}[row["winner"]]
    fast.unmake()
    play_both(plain, fast, point)


@pytest.mark.parametrize(
    "row", [row for row in EXAMPLES if "reached_by" in row], ids=example_id
)
def test_the_kernel_reaches_an_example_by_its_moves(row: Row) -> None:
    name = row["reached_by"]["start"].replace(" ", "-")
    plain, fast = start(name), kernel(name)
    for vertex in row["reached_by"]["moves"]:
        plain = play_both(plain, fast, parse_vertex(plain.size, vertex))
    assert plain == position_of(row)
