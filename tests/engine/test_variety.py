from random import Random

import pytest

from tanbo_engine.game import Game
from tanbo_engine.player import Candidate, Report
from tanbo_engine.variety import varied

from .support import start

GAME = Game(start("dense-7x7"))


def report(*rows: tuple[int, int, float]) -> Report:
    """Return a report of moves: point, visits, value."""
    moves = tuple(Candidate(p, n, v, 0.1, 0, (p, 40)) for p, n, v in rows)
    best = moves[0]
    return Report(
        best.point, best.value, 100, 0.1, 0, best.variation, moves, tree_full=False
    )


NEAR = report((1, 400, 0.5), (2, 300, 0.495), (3, 200, 0.45), (4, 30, 0.5))


def points(of: Report, variety: float, game: Game = GAME) -> list[int]:
    return [varied(of, game, variety, Random(n)).point for n in range(400)]


def test_off_it_changes_nothing() -> None:
    assert varied(NEAR, GAME, 0.0, Random(1)) is NEAR


def test_moves_about_as_good_take_turns_in_proportion_to_their_visits() -> None:
    chosen = points(NEAR, 1.0)
    assert set(chosen) == {1, 2}  # 3 is worse, 4 was hardly looked at
    assert chosen.count(1) / len(chosen) == pytest.approx(4 / 7, abs=0.1)


def test_less_variety_means_the_best_move_more_often_and_a_smaller_margin() -> None:
    assert points(NEAR, 0.5).count(1) > points(NEAR, 1.0).count(1)
    assert set(points(NEAR, 0.2)) == {1}  # 0.005 is more than 0.2 x 0.02


def test_the_variation_begins_with_the_move() -> None:
    for seed in range(20):
        chosen = varied(NEAR, GAME, 1.0, Random(seed))
        assert chosen.variation[0] == chosen.point
        assert chosen._replace(point=1, variation=(1, 40)) == NEAR


def test_a_seed_decides() -> None:
    assert points(NEAR, 1.0) == points(NEAR, 1.0)


def test_only_the_opening_varies() -> None:
    game = Game(start("dense-7x7"))
    for _ in range(10):
        game.play(game.legal_moves()[0])
    assert set(points(NEAR, 1.0, game)) == {1}


def test_a_won_game_is_won_as_the_search_says() -> None:
    best, *rest = NEAR.candidates
    won = NEAR._replace(candidates=(best._replace(proof=1), *rest))
    assert set(points(won, 1.0)) == {1}


def test_a_search_that_was_stopped_at_once_is_no_ground_for_a_choice() -> None:
    assert set(points(report((1, 0, 0.5), (2, 0, 0.5)), 1.0)) == {1}
