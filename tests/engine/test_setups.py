import re

import pytest

from tanbo_engine import notation, rules, setups
from tanbo_engine.points import Color, Size

from .support import Row, data, point_set

STARTS = data("start_positions")
OFFERED = list(setups.offered())


@pytest.mark.parametrize("row", STARTS, ids=[row["name"] for row in STARTS])
def test_a_start_position_is_as_the_sources_give_it(row: Row) -> None:
    setup = setups.by_name(row["name"])
    position = setup.position()
    assert setup.name == row["name"]
    assert setup.size == position.size == Size(row["width"], row["height"])
    assert notation.rows(position) == row["rows"]
    assert position.black == point_set(setup.size, row["black"])
    assert position.white == point_set(setup.size, row["white"])
    assert position.to_move is Color.BLACK
    assert len(rules.roots(position)) == row["roots"]
    for color in Color:
        assert len(rules.legal_moves(position, color)) == row["first_ply_moves"]


@pytest.mark.parametrize("setup", OFFERED, ids=[setup.name for setup in OFFERED])
def test_an_offered_setup_is_a_possible_fair_position(setup: setups.Setup) -> None:
    position = setup.position()
    rules.check_position(position)
    assert len(position.black) == len(position.white)
    assert len(rules.roots(position)) == len(position.black) + len(position.white)
    assert setups.by_name(setup.name) == setup


def test_offered_are_the_108_fair_dense_sizes_and_six_classic_ones() -> None:
    names = [setup.name for setup in OFFERED]
    assert len(names) == len(set(names))
    assert sum(name.startswith("dense-") for name in names) == 108
    assert [name for name in names if name.startswith("classic-")] == [
        f"classic-{n}x{n}" for n in (5, 7, 9, 13, 19, 21)
    ]


@pytest.mark.parametrize("size", ["3x3", "7x7", "5x11", "9x11", "23x25"])
def test_a_dense_start_has_a_first_move_between_any_two_stones(size: str) -> None:
    position = setups.by_name(f"dense-{size}").position()
    m, n = ((side + 1) // 2 for side in position.size)
    for color in Color:
        assert len(rules.legal_moves(position, color)) == m * (n - 1) + n * (m - 1)


def test_a_dense_size_is_fair_if_both_colours_get_as_many_stones() -> None:
    for width in range(28):
        for height in range(28):
            lattice = (width + 1) // 2 * ((height + 1) // 2)
            usable = all(3 <= s <= 25 and s % 2 for s in (width, height))
            assert setups.is_fair(Size(width, height)) == (
                usable and lattice % 2 == 0
            ), (width, height)


@pytest.mark.parametrize(
    ("size", "name"),
    [
        ((3, 3), "dense-3x3"),
        ((5, 5), "classic-5x5"),
        ((7, 7), "dense-7x7"),
        ((9, 9), "classic-9x9"),
        ((11, 11), "dense-11x11"),
        ((13, 13), "classic-13x13"),
        ((15, 15), "dense-15x15"),
        ((19, 19), "classic-19x19"),
        ((21, 21), "classic-21x21"),
        ((23, 23), "dense-23x23"),
        ((5, 7), "dense-5x7"),
        ((7, 5), "dense-7x5"),
        ((19, 21), "dense-19x21"),
    ],
)
def test_a_size_alone_means_dense_where_fair_but_classic_for_five_sizes(
    size: tuple[int, int], name: str
) -> None:
    assert setups.for_size(Size(*size)).name == name


@pytest.mark.parametrize(
    "size", [(0, 0), (1, 1), (6, 6), (8, 7), (17, 17), (25, 25), (27, 27), (5, 9)]
)
def test_a_size_without_a_setup_is_refused_with_the_nearest_sizes(
    size: tuple[int, int],
) -> None:
    with pytest.raises(setups.UnknownSetup) as refusal:
        setups.for_size(Size(*size))
    named = re.findall(r"[0-9]+x[0-9]+", str(refusal.value))[1:]
    assert named
    away = [
        sum(abs(a - b) for a, b in zip(setup.size, size, strict=True))
        for setup in OFFERED
        if str(setup.size) in named
    ]
    assert min(away) == min(
        abs(setup.size.width - size[0]) + abs(setup.size.height - size[1])
        for setup in OFFERED
    )


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("dense-9x9", "dense-7x9"),
        ("dense-8x8", "dense-7x7"),
        ("dense-7x8", "dense-7x7"),
        ("dense-25x25", "dense-23x25"),
        ("dense-1x1", "dense-3x3"),
        ("dense-99x99", "dense-23x25"),
        ("classic-11x11", "classic-9x9"),
        ("classic-11x11", "classic-13x13"),
        ("classic-7x9", "classic-7x7"),
        ("classic-15x15", "classic-13x13"),
    ],
)
def test_a_refused_name_lists_the_nearest_good_ones_of_its_family(
    name: str, nearest: str
) -> None:
    family = name.partition("-")[0]
    with pytest.raises(setups.UnknownSetup) as refusal:
        setups.by_name(name)
    message = str(refusal.value)
    named = re.findall(rf"{family}-[0-9]+x[0-9]+", message.partition(":")[2])
    assert name in message
    assert nearest in named
    assert {setups.by_name(other).name for other in named} == set(named)


@pytest.mark.parametrize(
    "name",
    ["", "dense", "dense-7", "dense-7x7x7", "dense 7x7", "hex-7x7", "dense-7x7\n"],
)
def test_a_malformed_name_is_refused_with_names_that_work(name: str) -> None:
    with pytest.raises(setups.UnknownSetup) as refusal:
        setups.by_name(name)
    for other in re.findall(
        r"(?:dense|classic)-[0-9]+x[0-9]+", str(refusal.value)[-40:]
    ):
        assert setups.by_name(other)


def test_names_are_read_in_either_case() -> None:
    assert setups.by_name("Dense-7X9").name == "dense-7x9"


def test_the_default_setup_is_dense_7x7() -> None:
    assert setups.by_name(setups.DEFAULT).name == "dense-7x7"
