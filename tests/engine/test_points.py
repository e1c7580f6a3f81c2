from itertools import pairwise

import pytest

from tanbo_engine.points import (
    COLUMNS,
    MAX_SIDE,
    Color,
    Size,
    VertexError,
    by_column,
    format_vertex,
    looks_like_vertex,
    neighbours,
    parse_vertex,
)


def test_there_are_25_columns_and_no_letter_i() -> None:
    assert COLUMNS == "ABCDEFGHJKLMNOPQRSTUVWXYZ"
    assert MAX_SIDE == 25


def test_colours_oppose_each_other_and_black_comes_first() -> None:
    assert list(Color) == [Color.BLACK, Color.WHITE]
    assert Color.BLACK.opponent is Color.WHITE
    assert Color.WHITE.opponent is Color.BLACK


def test_colours_are_written_as_marks_initials_and_words() -> None:
    assert [(c.mark, c.initial, c.word) for c in Color] == [
        ("X", "B", "black"),
        ("O", "W", "white"),
    ]


def test_a_size_is_width_by_height() -> None:
    size = Size(7, 9)
    assert (str(size), size.area, size.last_vertex) == ("7x9", 63, "G9")


@pytest.mark.parametrize(
    ("size", "vertex", "point"),
    [
        (Size(7, 7), "A1", 0),
        (Size(7, 7), "G7", 48),
        (Size(7, 9), "G9", 62),
        (Size(9, 7), "A7", 54),
        (Size(9, 9), "H1", 7),
        (Size(9, 9), "J1", 8),
        (Size(25, 25), "Z25", 624),
    ],
)
def test_a1_is_point_0_and_rows_count_upwards(
    size: Size, vertex: str, point: int
) -> None:
    assert parse_vertex(size, vertex) == point
    assert format_vertex(size, point) == vertex


@pytest.mark.parametrize("size", [Size(25, 25), Size(3, 25), Size(25, 3), Size(7, 9)])
def test_writing_a_vertex_and_reading_it_in_either_case_returns_the_point(
    size: Size,
) -> None:
    for point in range(size.area):
        text = format_vertex(size, point)
        assert parse_vertex(size, text) == point
        assert parse_vertex(size, text.lower()) == point
        assert looks_like_vertex(text)


@pytest.mark.parametrize("text", ["H1", "A8", "A0", "I1", "i7", "Z25", "G999"])
def test_a_vertex_off_the_board_is_refused_with_the_valid_range(text: str) -> None:
    with pytest.raises(VertexError, match=r"columns A to G.*rows 1 to 7"):
        parse_vertex(Size(7, 7), text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "A",
        "7",
        "AA1",
        "A1 ",
        " A1",
        "A-1",
        "A1000",
        "A1\n",
        "1A",
        "pass",
        "Á1",
        "A\uff11",
    ],
)
def test_text_that_is_no_vertex_is_refused_with_the_form(text: str) -> None:
    assert not looks_like_vertex(text)
    with pytest.raises(VertexError, match=r"column letter and a row number, A1 to G9"):
        parse_vertex(Size(7, 9), text)


@pytest.mark.parametrize("size", [Size(1, 1), Size(3, 5), Size(7, 9), Size(25, 23)])
def test_neighbours_are_the_points_one_step_away(size: Size) -> None:
    for point in range(size.area):
        row, column = divmod(point, size.width)
        assert neighbours(size, point) == [
            other
            for other in range(size.area)
            if abs(other // size.width - row) + abs(other % size.width - column) == 1
        ]


def test_lists_are_sorted_by_column_then_row() -> None:
    size = Size(7, 9)
    listed = by_column(size, list(range(size.area)))
    texts = [format_vertex(size, point) for point in listed]
    assert texts[:3] == ["A1", "A2", "A3"]
    for one, two in pairwise(texts):
        assert (one[0], int(one[1:])) < (two[0], int(two[1:]))
