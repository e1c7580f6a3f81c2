from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanbo_engine import notation, rules
from tanbo_engine.notation import PositionError
from tanbo_engine.points import Color, Size

from .support import EXAMPLES, Row, example_id, point_set, position_of, start


@st.composite
def positions(draw: st.DrawFn) -> rules.Position:
    """Any board with stones anywhere, possible in a game or not."""
    size = Size(draw(st.integers(1, 25)), draw(st.integers(1, 25)))
    cell = st.sampled_from(".....XO")
    marks = draw(st.lists(cell, min_size=size.area, max_size=size.area))
    stones = [
        frozenset(point for point, mark in enumerate(marks) if mark == color.mark)
        for color in Color
    ]
    return rules.Position(size, stones[0], stones[1], draw(st.sampled_from(Color)))


@given(positions())
def test_reading_the_one_line_form_returns_the_position(
    position: rules.Position,
) -> None:
    text = notation.format_position(position)
    assert "\n" not in text
    assert notation.parse_position(text) == position
    assert notation.parse_position(text.swapcase()) == position


@given(positions())
def test_reading_the_rows_returns_the_position(position: rules.Position) -> None:
    rows = notation.rows(position)
    assert notation.from_rows(rows, position.to_move) == position


@pytest.mark.parametrize("row", EXAMPLES, ids=example_id)
def test_the_rows_of_an_example_are_read_and_written(row: Row) -> None:
    position = position_of(row)
    assert position.size == (row["width"], row["height"])
    assert notation.rows(position) == row["rows"]


def test_the_top_row_comes_first() -> None:
    position = notation.from_rows(["X..", "...", "..O"], Color.WHITE)
    assert position.black == point_set(position.size, ["A3"])
    assert position.white == point_set(position.size, ["C1"])
    assert position.to_move is Color.WHITE


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dense-3x3", "3x3 X1O/3/O1X b"),
        ("dense-7x7", "7x7 X1O1X1O/7/O1X1O1X/7/X1O1X1O/7/O1X1O1X b"),
        ("classic-9x9", "9x9 9/1O5X1/9/9/9/9/9/1X5O1/9 b"),
    ],
)
def test_the_one_line_form_is_as_documented(name: str, text: str) -> None:
    assert notation.format_position(start(name)) == text


def test_runs_of_ten_and_more_are_one_number() -> None:
    top = notation.format_position(start("classic-19x19")).split()[1].split("/")[1]
    assert top == "19"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "got 0 fields"),
        ("3x3", "got 1 field$"),
        ("3x3 X1O/3/O1X", "got 2 fields"),
        ("3x3 X1O/3/O1X b 1", "got 4 fields"),
        ("3 X1O/3/O1X b", "invalid size '3'"),
        ("3x X1O/3/O1X b", "invalid size"),
        ("-3x3 X1O/3/O1X b", "invalid size"),
        ("3x3 X1O/3 b", "3x3 needs 3 rows, got 2"),
        ("3x3 X1O/3/O1X/3 b", "3x3 needs 3 rows, got 4"),
        ("3x3 X1O/3/O1X black", "invalid side 'black'"),
        ("3x3 X1O/3/O1X x", "invalid side"),
        ("3x3 X1O/2/O1X b", "row 2 from the top has 2 points"),
        ("3x3 X1O/4/O1X b", "row 2 from the top has more than 3 points"),
        ("3x3 X1O/3/O1XX b", "row 3 from the top has more than 3 points"),
        ("3x3 X1O/999999999999/O1X b", "row 2 from the top has more than"),
        ("3x3 X1O//O1X b", "row 2 from the top is ''"),
        ("3x3 X1O/3/O?X b", r"row 3 from the top is 'O\?X'"),
        ("3x3 X1O/3/O1. b", "row 3 from the top is"),
        ("3x3 X1O/٣/O1X b", "row 2 from the top is"),
    ],
)
def test_a_malformed_position_is_refused_with_the_place(text: str, reason: str) -> None:
    with pytest.raises(PositionError, match=reason):
        notation.parse_position(text)


@given(st.text(alphabet="3579xXO1/ bw.٣", max_size=40))
def test_any_text_is_a_position_or_a_position_error(text: str) -> None:
    with suppress(PositionError):
        position = notation.parse_position(text)
        again = notation.format_position(position)
        assert notation.parse_position(again) == position


def test_the_diagram_labels_both_sides() -> None:
    assert notation.diagram(start("dense-3x5")) == "\n".join(
        [
            "   A B C",
            " 5 X . O 5",
            " 4 . . . 4",
            " 3 O . X 3",
            " 2 . . . 2",
            " 1 X . O 1",
            "   A B C",
        ]
    )


def test_the_diagram_of_a_tall_board_stays_aligned() -> None:
    lines = notation.diagram(start("classic-13x13")).splitlines()
    assert lines[0] == "   A B C D E F G H J K L M N"
    assert lines[1].startswith("13 X . . . O")
    assert lines[13].startswith(" 1 O . . . X")
