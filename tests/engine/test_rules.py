import pytest

from tanbo_engine import notation, rules, setups
from tanbo_engine.game import Game
from tanbo_engine.points import Color, Size, VertexError, parse_vertex

from .support import (
    EXAMPLES,
    LEGAL_EXAMPLES,
    Row,
    example,
    example_id,
    mover,
    point_set,
    position_of,
    root_set,
)

ON_BOARD_ILLEGAL = [
    row
    for row in EXAMPLES
    if row["code"] in ("occupied", "no_own_neighbour", "too_many_own_neighbours")
]
OFF_BOARD = [row for row in EXAMPLES if row["code"] == "off_board"]
REACHED = [row for row in EXAMPLES if "reached_by" in row]


def point_of(row: Row) -> int:
    return parse_vertex(Size(row["width"], row["height"]), row["move"])


def roots_of(roots: tuple[rules.Root, ...]) -> set[tuple[Color, frozenset[int]]]:
    return {(root.color, root.stones) for root in roots}


def test_the_57_examples_are_covered_by_the_tests_of_this_file() -> None:
    passes = [row for row in EXAMPLES if row["code"] == "pass_not_allowed"]
    groups = [LEGAL_EXAMPLES, ON_BOARD_ILLEGAL, OFF_BOARD, passes]
    assert [len(group) for group in groups] == [34, 16, 6, 1]
    assert len(EXAMPLES) == 57


# R3: placement


@pytest.mark.parametrize("row", EXAMPLES, ids=example_id)
def test_the_legal_moves_are_the_listed_ones(row: Row) -> None:
    position = position_of(row)
    expected = sorted(point_set(position.size, row["legal_moves"]))
    assert rules.legal_moves(position) == expected
    assert rules.legal_moves(position, mover(row)) == expected
    for point in expected:
        rules.check_placement(position, mover(row), point)


@pytest.mark.parametrize("row", ON_BOARD_ILLEGAL, ids=example_id)
def test_an_illegal_placement_is_refused_with_its_code_and_section(row: Row) -> None:
    position = position_of(row)
    with pytest.raises(rules.IllegalMove) as refusal:
        rules.play(position, point_of(row))
    assert refusal.value.code == row["code"]
    assert refusal.value.section in row["rule"].split(",")
    assert refusal.value.section in str(refusal.value)
    assert notation.rows(position) == row["after"]


@pytest.mark.parametrize("row", OFF_BOARD, ids=example_id)
def test_a_vertex_off_the_board_never_becomes_a_point(row: Row) -> None:
    with pytest.raises(VertexError, match="off the board"):
        point_of(row)


@pytest.mark.parametrize("point", [-1, 49, 1000])
def test_a_point_off_the_board_is_refused_as_such(point: int) -> None:
    position = setups.by_name("dense-7x7").position()
    with pytest.raises(rules.IllegalMove) as refusal:
        rules.check_placement(position, Color.BLACK, point)
    assert (refusal.value.code, refusal.value.section) == ("off_board", "R1")


def test_a_pass_is_refused_while_the_game_goes_on() -> None:
    row = example("pass_is_illegal")
    with pytest.raises(rules.IllegalMove) as refusal:
        Game(position_of(row)).close(mover(row))
    assert (refusal.value.code, refusal.value.section) == (row["code"], row["rule"])


@pytest.mark.parametrize(
    "row", [row for row in EXAMPLES if "own_neighbours" in row], ids=example_id
)
def test_the_own_neighbours_are_the_listed_ones(row: Row) -> None:
    position = position_of(row)
    own = rules.own_neighbours(position, mover(row), point_of(row))
    assert set(own) == point_set(position.size, row["own_neighbours"])
    roots = {rules.root_at(position, point) for point in own}
    assert len(roots) == row.get("own_neighbour_roots", len(roots))


@pytest.mark.parametrize(
    "row",
    [row for row in EXAMPLES if row["code"] == "too_many_own_neighbours"],
    ids=example_id,
)
def test_a_refusal_names_the_stones_that_decide_it(row: Row) -> None:
    with pytest.raises(rules.IllegalMove) as refusal:
        rules.play(position_of(row), point_of(row))
    for vertex in row["own_neighbours"]:
        assert vertex in str(refusal.value)


# R4 to R8: a turn


@pytest.mark.parametrize("row", LEGAL_EXAMPLES, ids=example_id)
def test_a_turn_removes_what_the_example_says(row: Row) -> None:
    position = position_of(row)
    turn = rules.play(position, point_of(row))
    assert notation.rows(turn.after) == row["after"]
    assert roots_of(turn.removed) == root_set(position.size, row["removed_roots"])
    assert turn.current_root_bounded == row["current_root_bounded"]
    assert turn.current_root.color is mover(row)
    assert point_of(row) in turn.current_root.stones
    assert turn.after.to_move is mover(row).opponent
    ended = rules.winner(turn.after)
    assert (ended.mark if ended is not None else None) == row["winner"]
    assert notation.rows(position) == row["rows"]


@pytest.mark.parametrize("row", LEGAL_EXAMPLES, ids=example_id)
def test_the_roots_bounded_before_removal_are_the_listed_ones(row: Row) -> None:
    position = position_of(row)
    color = mover(row)
    stones = position.stones(color) | {point_of(row)}
    placed = position.with_stones(color, stones, color.opponent)
    bounded = tuple(r for r in rules.roots(placed) if rules.is_bounded(placed, r))
    expected = root_set(position.size, row["bounded_before_removal"])
    assert roots_of(bounded) == expected


@pytest.mark.parametrize("row", REACHED, ids=example_id)
def test_the_listed_moves_lead_from_the_start_to_the_example(row: Row) -> None:
    name = row["reached_by"]["start"].replace(" ", "-")
    position = setups.by_name(name).position()
    for vertex in row["reached_by"]["moves"]:
        turn = rules.play(position, parse_vertex(position.size, vertex))
        position = turn.after
    assert position == position_of(row)


@pytest.mark.parametrize("row", LEGAL_EXAMPLES, ids=example_id)
def test_no_root_is_bounded_after_a_turn(row: Row) -> None:
    rules.check_position(rules.play(position_of(row), point_of(row)).after)


def test_after_the_end_nobody_may_place_a_stone() -> None:
    row = example("both_last_roots_bounded_mover_loses")
    over = rules.play(position_of(row), point_of(row)).after
    for color in Color:
        assert rules.legal_moves(over, color) == []
        with pytest.raises(rules.IllegalMove) as refusal:
            rules.check_placement(over, color, 0)
        assert (refusal.value.code, refusal.value.section) == ("game_over", "R8")


def test_roots_are_listed_by_colour_and_lowest_point() -> None:
    roots = rules.roots(notation.from_rows(["O.X", "..X", "XO."]))
    assert [(root.color.mark, sorted(root.stones)) for root in roots] == [
        ("X", [0]),
        ("X", [5, 8]),
        ("O", [1]),
        ("O", [6]),
    ]


def test_a_point_between_two_own_roots_is_a_growth_point_of_neither() -> None:
    position = notation.from_rows(["X.X", "..."])
    left, right = rules.roots(position)
    assert rules.growth_points(position, left) == [0]
    assert rules.growth_points(position, right) == [2]


def test_a_growth_point_may_belong_to_both_colours() -> None:
    position = notation.from_rows(["X.O", "..."])
    for root in rules.roots(position):
        assert 4 in rules.growth_points(position, root)


# Loaded positions


def test_a_root_with_a_loop_is_refused_with_its_points() -> None:
    position = notation.from_rows([".....", ".XX..", ".XX.O"])
    with pytest.raises(rules.ImpossiblePosition, match="B1,C1,B2,C2 has a loop"):
        rules.check_position(position)


def test_a_ring_around_an_empty_point_is_a_loop() -> None:
    position = notation.from_rows([".....", "XXX..", "X.X..", "XXX.O"])
    with pytest.raises(rules.ImpossiblePosition, match=r"black root .* has a loop"):
        rules.check_position(position)


def test_a_bounded_root_is_refused_with_its_points() -> None:
    position = notation.from_rows(["O..", "XX.", "OX."])
    with pytest.raises(rules.ImpossiblePosition, match="white root A1 is bounded"):
        rules.check_position(position)


def test_a_root_whose_empty_neighbours_are_all_shared_is_refused() -> None:
    position = notation.from_rows(["..X.O", "...X.", ".OX.X"])
    with pytest.raises(rules.ImpossiblePosition, match="black root C1 is bounded"):
        rules.check_position(position)


def test_a_board_without_stones_is_refused() -> None:
    with pytest.raises(rules.ImpossiblePosition, match="no stones"):
        rules.check_position(notation.from_rows(["...", "...", "..."]))


@pytest.mark.parametrize("mark", ["X", "O"])
def test_one_colour_missing_is_a_finished_game(mark: str) -> None:
    position = notation.from_rows(["...", f".{mark}{mark}", "..."])
    rules.check_position(position)
    won = rules.winner(position)
    assert won is not None
    assert won.mark == mark


def test_an_unbroken_tree_is_accepted() -> None:
    rules.check_position(notation.from_rows(["X.X.X", "XXXXX", "..X..", "....O"]))
