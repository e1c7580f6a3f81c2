import random
import threading
import time
from collections.abc import Callable
from statistics import fmean

import pytest

from tanbo_engine import rules
from tanbo_engine._kernel import Position, StopFlag, perft, random_games
from tanbo_engine.game import kernel_position
from tanbo_engine.points import Color, parse_vertex

from .support import (
    as_plain,
    before_the_end,
    example,
    kernel,
    mover,
    play_on,
    position_of,
    snapshot,
    start,
)

GAMES = ["dense-3x3", "dense-5x7", "dense-7x7", "classic-9x9", "dense-11x11"]


def finished(name: str) -> Position:
    position = kernel(name)
    play_on(position, 1)
    return position


# Position


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((3, 3, [0], [0], 0), "two stones on point 0"),
        ((3, 3, [4, 4], [0], 0), "two stones on point 4"),
        ((3, 3, [9], [0], 0), "point 9 is off the board"),
        ((3, 3, [0], [-1], 0), "point -1 is off the board"),
        ((26, 3, [0], [1], 0), "no board of 26x3"),
        ((3, 0, [0], [1], 0), "no board of 3x0"),
        ((3, 3, [0], [2], 2), "to_move is 0 or 1"),
    ],
)
def test_a_malformed_position_is_refused(
    arguments: tuple[int, int, list[int], list[int], int], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        Position(*arguments)


def test_a_move_that_is_not_legal_changes_nothing() -> None:
    position = kernel("dense-7x7")
    for point in [-1, 0, 2, 8, 49, 10**30]:
        before = snapshot(position)
        with pytest.raises(ValueError, match=f"point {point} is not legal"):
            position.make(point)
        assert snapshot(position) == before


def test_after_the_end_no_move_is_legal() -> None:
    position = finished("dense-5x7")
    for color in Color:
        assert position.legal_moves(color) == []
        assert not any(position.is_legal(color, point) for point in range(35))
    assert position.move_weights() == []
    with pytest.raises(ValueError, match="is not legal"):
        position.make(0)


def test_nothing_is_taken_back_beyond_the_start() -> None:
    position = kernel("dense-5x7")
    position.make(1)
    assert position.unmake() == 1
    with pytest.raises(IndexError):
        position.unmake()
    assert snapshot(position) == snapshot(kernel("dense-5x7"))


@pytest.mark.parametrize(
    ("name", "removed"),
    [
        ("corner_capture_dense7", 1),
        ("both_last_roots_bounded_mover_loses", 4),
        ("three_roots_two_own_one_enemy_7x7", 7),
        ("current_and_three_others_only_current_goes_7x7", 4),
    ],
)
def test_make_returns_how_many_stones_it_removed(name: str, removed: int) -> None:
    row = example(name)
    plain = position_of(row)
    position = kernel_position(plain)
    assert position.make(parse_vertex(plain.size, row["move"])) == removed
    assert position.turns == 1


def test_unmake_returns_the_moves_in_reverse() -> None:
    position = kernel("dense-7x7")
    moves = play_on(position, 3)
    assert position.turns == len(moves)
    assert [position.unmake() for _ in moves] == moves[::-1]
    assert position.turns == 0


def test_the_key_tells_side_size_and_colours_apart() -> None:
    keys = [
        Position(7, 7, [0], [48], 0).key,
        Position(7, 7, [0], [48], 1).key,
        Position(7, 7, [48], [0], 0).key,
        Position(7, 7, [1], [48], 0).key,
        Position(7, 9, [0], [48], 0).key,
        Position(9, 7, [0], [48], 0).key,
    ]
    assert len(set(keys)) == len(keys)
    assert all(0 <= key < 1 << 64 for key in keys)


@pytest.mark.parametrize("name", ["dense-7x7", "classic-9x9", "dense-11x13"])
def test_the_key_is_the_same_whatever_the_order_of_moves(name: str) -> None:
    first, second = kernel(name), kernel(name)
    one, two = first.legal_moves(0)[0], first.legal_moves(0)[-1]
    reply, other = first.legal_moves(1)[1], first.legal_moves(1)[-2]
    for position, line in (
        (first, [one, reply, two, other]),
        (second, [two, other, one, reply]),
    ):
        for point in line:
            position.make(point)
    assert first.stones(0) == second.stones(0)
    assert first.key == second.key


def test_the_keys_of_a_game_never_repeat() -> None:
    position = kernel("dense-11x11")
    keys = {position.key}
    for point in play_on(kernel("dense-11x11"), 5):
        position.make(point)
        keys.add(position.key)
    assert len(keys) == position.turns + 1


# Evaluation and move weights


def mirrored(position: Position) -> Position:
    """Swap the colours, the side to move and left and right."""
    width = position.width

    def flip(points: list[int]) -> list[int]:
        return [p - p % width + width - 1 - p % width for p in points]

    black, white = flip(position.stones(1)), flip(position.stones(0))
    return Position(width, position.height, black, white, 1 - position.to_move)


@pytest.mark.parametrize("name", GAMES)
def test_the_evaluation_favours_neither_colour_nor_direction(name: str) -> None:
    for seed in range(10):
        position = before_the_end(name, seed, 5 + 3 * seed)
        width, twin = position.width, mirrored(position)
        assert 0 < position.evaluate() < 1
        assert twin.evaluate() == pytest.approx(position.evaluate(), abs=1e-8)
        weights = {
            p - p % width + width - 1 - p % width: w for p, w in position.move_weights()
        }
        assert dict(twin.move_weights()) == pytest.approx(weights)


@pytest.mark.parametrize("name", ["classic-5x5", "dense-7x7"])
def test_the_evaluation_is_exact_after_the_end(name: str) -> None:
    for seed in range(10):
        position = kernel(name)
        play_on(position, seed)
        assert position.evaluate() == float(position.winner == position.to_move)


@pytest.mark.parametrize("name", GAMES)
def test_a_value_is_of_the_side_to_move_whatever_its_colour(name: str) -> None:
    position = kernel(name)
    for point in play_on(kernel(name), 7):
        position.make(point)
        swapped = Position(
            position.width,
            position.height,
            position.stones(1),
            position.stones(0),
            1 - position.to_move,
        )
        assert swapped.evaluate() == pytest.approx(position.evaluate(), abs=1e-12)
        assert swapped.move_weights() == position.move_weights()


@pytest.mark.parametrize("name", GAMES)
def test_turned_and_mirrored_positions_are_worth_the_same(name: str) -> None:
    position = kernel(name)
    width, height = position.width, position.height
    for point in play_on(kernel(name), 8):
        position.make(point)
        across = [
            [p // width * width + width - 1 - p % width for p in position.stones(c)]
            for c in (0, 1)
        ]
        turned = [[p % width * height + p // width for p in s] for s in across]
        mirror = Position(width, height, across[0], across[1], position.to_move)
        turn = Position(height, width, turned[0], turned[1], position.to_move)
        assert mirror.evaluate() == turn.evaluate() == position.evaluate()
        weights = sorted(weight for _, weight in position.move_weights())
        assert sorted(weight for _, weight in mirror.move_weights()) == weights
        assert sorted(weight for _, weight in turn.move_weights()) == weights


@pytest.mark.parametrize("name", GAMES)
def test_every_legal_move_has_a_weight_above_zero(name: str) -> None:
    position = kernel(name)
    for point in play_on(kernel(name), 7):
        weights = position.move_weights()
        assert [move for move, _ in weights] == position.legal_moves(position.to_move)
        assert all(weight > 0 for _, weight in weights)
        position.make(point)


@pytest.mark.parametrize("name", GAMES)
def test_moves_that_bound_their_own_root_weigh_less_on_average(name: str) -> None:
    bounding: list[float] = []
    others: list[float] = []
    for seed in range(30):
        position = before_the_end(name, seed, 1 + seed)
        plain = as_plain(position)
        for point, weight in position.move_weights():
            own = rules.play(plain, point).current_root_bounded
            (bounding if own else others).append(weight)
    assert sum(bounding) / len(bounding) < 0.5 * sum(others) / len(others)


# Perft and random games


def test_perft_of_depth_0_is_1_and_a_finished_game_has_no_paths() -> None:
    over = finished("dense-5x7")
    assert [perft(over, depth) for depth in range(3)] == [1, 0, 0]
    assert perft(kernel("dense-5x7"), 0) == 1


@pytest.mark.parametrize("depth", [-1, 65])
def test_perft_refuses_other_depths_than_0_to_64(depth: int) -> None:
    with pytest.raises(ValueError, match="0 to 64"):
        perft(kernel("dense-3x3"), depth)


def test_perft_and_random_games_leave_the_position_as_it_was() -> None:
    position = before_the_end("dense-7x7", 1, 20)
    before = snapshot(position)
    perft(position, 4)
    random_games(position, 100, 1)
    assert snapshot(position) == before


def test_random_games_are_decided_by_seed_and_position_alone() -> None:
    position = before_the_end("dense-7x7", 1, 20)
    fresh = kernel_position(as_plain(position))
    assert position.turns > fresh.turns
    result = random_games(position, 500, 9)
    assert result == random_games(position, 500, 9) == random_games(fresh, 500, 9)
    assert result != random_games(position, 500, 10)
    assert sum(result[1:]) == 500


def test_random_games_from_a_finished_game_take_no_moves() -> None:
    position = finished("dense-5x7")
    won = (5, 0) if position.winner == Color.BLACK else (0, 5)
    assert random_games(position, 5, 1) == (0, *won)


@pytest.mark.parametrize(
    ("name", "mean"), [("dense-7x7", 71.2), ("classic-9x9", 68.55)]
)
def test_random_games_are_as_long_and_as_even_as_measured(
    name: str, mean: float
) -> None:
    moves, black, white = random_games(kernel(name), 20_000, 12345)
    assert moves / 20_000 == pytest.approx(mean, abs=0.5)
    assert black / (black + white) == pytest.approx(0.5, abs=0.015)


def uniform_play(
    position: Position, known: dict[int, tuple[float, float]]
) -> tuple[float, float]:
    """Return Black's chance and the mean length under uniformly random play."""
    if position.winner >= 0:
        return float(position.winner == Color.BLACK), 0.0
    if position.key not in known:
        chances, lengths = [], []
        for point in position.legal_moves(position.to_move):
            position.make(point)
            chance, length = uniform_play(position, known)
            position.unmake()
            chances.append(chance)
            lengths.append(1 + length)
        known[position.key] = fmean(chances), fmean(lengths)
    return known[position.key]


def test_random_games_choose_every_move_equally_often() -> None:
    known: dict[int, tuple[float, float]] = {}
    for seed in range(20):
        position = before_the_end("dense-3x5", seed, 2 + seed % 12)
        chance, length = uniform_play(position, known)
        moves, black, _ = random_games(position, 40_000, seed)
        assert black / 40_000 == pytest.approx(chance, abs=0.015)
        assert moves / 40_000 == pytest.approx(length, rel=0.03)


def test_random_games_follow_the_same_statistics_as_the_plain_rules() -> None:
    source, games, moves = random.Random(4), 200, 0
    for _ in range(games):
        position = start("dense-3x5")
        while rules.winner(position) is None:
            chosen = source.choice(rules.legal_moves(position))
            position = rules.play(position, chosen).after
            moves += 1
    mean = random_games(kernel("dense-3x5"), 20_000, 1)[0] / 20_000
    assert moves / games == pytest.approx(mean, abs=1.5)


# Stopping

LONG_WORK: dict[str, Callable[[StopFlag], object]] = {
    "perft": lambda stop: perft(kernel("classic-19x19"), 7, stop),
    "random_games": lambda stop: random_games(kernel("dense-7x7"), 10**7, 1, stop),
}


@pytest.mark.parametrize("name", LONG_WORK)
def test_a_stop_flag_ends_long_work_that_runs_without_the_gil(name: str) -> None:
    stop = StopFlag()
    worker = threading.Thread(target=LONG_WORK[name], args=(stop,))
    worker.start()
    time.sleep(0.2)  # returns only if this thread gets the GIL
    assert worker.is_alive()
    assert not stop.is_set
    began = time.monotonic()
    stop.set()
    worker.join(30)
    assert time.monotonic() - began < 1
    assert stop.is_set


@pytest.mark.parametrize("name", LONG_WORK)
def test_a_set_stop_flag_ends_long_work_before_it_begins(name: str) -> None:
    stop = StopFlag()
    stop.set()
    began = time.monotonic()
    LONG_WORK[name](stop)
    assert time.monotonic() - began < 1


def test_none_is_no_position() -> None:
    with pytest.raises(TypeError):
        perft(None, 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        random_games(None, 1, 1)  # type: ignore[arg-type]


def test_the_side_to_move_counts_in_a_loaded_position() -> None:
    row = example("win_while_losing_an_own_root")
    position = kernel_position(position_of(row))
    assert position.to_move == mover(row) == Color.WHITE
    position.make(parse_vertex(position_of(row).size, row["move"]))
    assert position.winner == Color.WHITE
    assert position.to_move == Color.BLACK


@pytest.mark.parametrize("color", [-1, 2, 704])
def test_a_colour_is_0_or_1(color: int) -> None:
    position = kernel("dense-3x3")
    for ask in (position.legal_moves, position.stone_count, position.root_count):
        with pytest.raises(ValueError, match="a colour is 0 or 1"):
            ask(color)
    with pytest.raises(ValueError, match="a colour is 0 or 1"):
        position.is_legal(color, 1)
