"""Numbers of move paths, from the table of RULES.md section 6."""

import pytest

from tanbo_engine import rules
from tanbo_engine._kernel import perft

from .support import Row, data, kernel, start

TABLE = data("perft")
IDS = [row["setup"] for row in TABLE]
MOST_PATHS = 20_000_000
"""Counted by the kernel in every run; the larger numbers are `deep`."""


def slow_perft(position: rules.Position, depth: int) -> int:
    if depth == 0:
        return 1
    moves = rules.legal_moves(position)
    if depth == 1:
        return len(moves)
    return sum(
        slow_perft(rules.play(position, point).after, depth - 1) for point in moves
    )


def test_the_table_has_its_twelve_rows() -> None:
    assert len(TABLE) == 12
    assert sum(len(row["paths"]) for row in TABLE) == 74


@pytest.mark.parametrize("row", TABLE, ids=IDS)
def test_the_kernel_counts_the_paths_of_the_table(row: Row) -> None:
    for depth, paths in enumerate(row["paths"], 1):
        if paths <= MOST_PATHS:
            assert perft(kernel(row["setup"]), depth) == paths


@pytest.mark.deep
@pytest.mark.parametrize("row", TABLE, ids=IDS)
def test_the_kernel_counts_the_largest_numbers_of_the_table(row: Row) -> None:
    for depth, paths in enumerate(row["paths"], 1):
        assert perft(kernel(row["setup"]), depth) == paths


@pytest.mark.parametrize("row", TABLE, ids=IDS)
def test_the_plain_rules_count_the_small_numbers_of_the_table(row: Row) -> None:
    for depth, paths in enumerate(row["paths"][: row["slow_depth"]], 1):
        if paths <= 1000:
            assert slow_perft(start(row["setup"]), depth) == paths


@pytest.mark.deep
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("row", TABLE, ids=IDS)
def test_the_plain_rules_count_the_paths_as_deep_as_rules_md_says(row: Row) -> None:
    depth = row["slow_depth"]
    assert slow_perft(start(row["setup"]), depth) == row["paths"][depth - 1]


@pytest.mark.parametrize("row", TABLE, ids=IDS)
def test_a_count_is_the_sum_of_the_counts_after_each_move(row: Row) -> None:
    position = kernel(row["setup"])
    total = 0
    for point in position.legal_moves(position.to_move):
        position.make(point)
        total += perft(position, 2)
        position.unmake()
    assert total == row["paths"][2]
