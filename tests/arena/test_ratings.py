"""Joint ratings: known values, extremes, properties and simulated tournaments."""

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.arena import statistics
from protocol.arena.ratings import CrossTable, cross_table, ratings
from protocol.arena.statistics import Counts, PairScore
from protocol.arena.store import GameRecord, Termination

COUNT = st.integers(0, 100)
SCORE = st.builds(lambda a, b, c: PairScore((a, 0, b, 0, c)), COUNT, COUNT, COUNT)
PAIRINGS = list(itertools.combinations("abcd", 2))


def table_of(pairings: dict[str, Counts]) -> CrossTable:
    """Return the cross table of pairings such as ``ab``."""
    scores = {
        (names[0], names[1]): PairScore(counts) for names, counts in pairings.items()
    }
    return scores | {(b, a): score.reversed() for (a, b), score in scores.items()}


TABLES = st.dictionaries(st.sampled_from(PAIRINGS), SCORE, min_size=1).map(
    lambda scores: table_of({a + b: score.counts for (a, b), score in scores.items()})
)


def game(pair: int, black: str, white: str, winner: str | None) -> GameRecord:
    return GameRecord(
        pair=pair,
        game=0,
        opening=(),
        setup="dense-7x7",
        black=black,
        white=white,
        winner=winner,
        termination=Termination.VOID if winner is None else Termination.BOARD,
        reason="",
        moves=(),
        seconds=(),
    )


def test_the_cross_table_has_every_pairing_from_both_sides() -> None:
    games = [
        game(0, "a", "b", "black"),
        game(0, "b", "a", "white"),
        game(1, "b", "c", "black"),
        game(1, "c", "b", "black"),
        game(2, "c", "a", None),
    ]
    table = cross_table(games)
    assert table == {
        ("a", "b"): PairScore((0, 0, 0, 0, 1)),
        ("b", "a"): PairScore((1, 0, 0, 0, 0)),
        ("b", "c"): PairScore((0, 0, 1, 0, 0)),
        ("c", "b"): PairScore((0, 0, 1, 0, 0)),
        ("c", "a"): PairScore(voids=1),
        ("a", "c"): PairScore(voids=1),
    }
    assert ratings(table).engines[0] == "a"


def test_two_engines_have_the_elo_and_the_error_of_their_match() -> None:
    score = PairScore((200, 0, 1000, 0, 800))
    elo = statistics.elo(score)
    fit = ratings({("a", "b"): score, ("b", "a"): score.reversed()})
    difference, error = fit.difference("a", "b")
    assert difference == pytest.approx(elo.difference, rel=1e-3)
    assert statistics.Z95 * error == pytest.approx((elo.high - elo.low) / 2, rel=0.01)
    assert fit.elo == pytest.approx((difference / 2, -difference / 2))
    assert fit.standard_errors() == pytest.approx([error / 2, error / 2])


def test_differences_add_up_along_a_chain() -> None:
    """Odds multiply: 3 to 1 and 3 to 1 are 9 to 1 for engines that never met."""
    fit = ratings(table_of({"ab": (0, 0, 0, 400, 0), "bc": (0, 0, 0, 400, 0)}), "b")
    step = statistics.to_elo(0.75)
    assert fit.elo == pytest.approx((step, 0, -step), abs=1)
    assert fit.difference("a", "c")[1] == pytest.approx(
        math.sqrt(2) * fit.difference("a", "b")[1], rel=0.02
    )
    assert fit.expected_scores()[0] == pytest.approx([0.5, 0.75, 0.9], abs=1e-3)
    assert fit.groups == (("a", "b", "c"),)


def test_the_anchor_shifts_ratings_and_nothing_else() -> None:
    table = table_of({"ab": (10, 0, 50, 0, 40), "bc": (30, 0, 40, 0, 30)})
    free, anchored = ratings(table), ratings(table, "b")
    assert sum(free.elo) == pytest.approx(0)
    at = anchored.engines.index("b")
    assert anchored.elo[at] == 0
    assert anchored.covariance[at] == pytest.approx((0, 0, 0), abs=1e-6)
    assert anchored.difference("a", "c") == pytest.approx(free.difference("a", "c"))
    assert anchored.expected_scores()[0] == pytest.approx(free.expected_scores()[0])
    with pytest.raises(ValueError, match="'x' has not played: a, b, c"):
        ratings(table, "x")


def test_correlated_pairs_change_the_errors_alone() -> None:
    fits = [
        ratings(table_of({"ab": counts}))
        for counts in [(10, 0, 80, 0, 10), (25, 0, 50, 0, 25), (50, 0, 0, 0, 50)]
    ]
    errors = [fit.difference("a", "b")[1] for fit in fits]
    assert errors[0] < 0.7 * errors[1] < 0.7 * 0.75 * errors[2]
    assert all(fit.elo == pytest.approx((0, 0)) for fit in fits)


@pytest.mark.parametrize("pairs", [10, 100, 10000])
def test_a_clean_sweep_is_finite_and_named(pairs: int) -> None:
    fit = ratings(table_of({"ab": (0, 0, 0, 0, pairs)}))
    elo = statistics.elo(PairScore((0, 0, 0, 0, pairs)))
    difference, error = fit.difference("a", "b")
    assert difference == pytest.approx(elo.difference, rel=0.12)
    assert error > 150
    assert fit.groups == (("a",), ("b",))


def test_engines_that_never_met_are_finite_and_named() -> None:
    counts = (10, 0, 50, 0, 40)
    fit = ratings(table_of({"ab": counts, "cd": counts}))
    assert set(fit.groups) == {("a", "b"), ("c", "d")}
    assert fit.difference("a", "b")[1] < 30
    assert fit.difference("a", "c")[1] > 300


def test_nobody_and_engines_without_games() -> None:
    assert ratings({}).engines == ()
    fit = ratings(table_of({"ab": (0, 0, 0, 0, 0)}))
    assert fit.elo == (0, 0)
    assert fit.difference("a", "b")[1] > 400


@given(TABLES)
def test_ratings_are_finite_ordered_and_antisymmetric(table: CrossTable) -> None:
    fit = ratings(table)
    assert list(fit.elo) == sorted(fit.elo, reverse=True)
    assert all(math.isfinite(error) for error in fit.standard_errors())
    assert sorted(itertools.chain(*fit.groups)) == sorted(fit.engines)
    mirrored = ratings({pairing: score.reversed() for pairing, score in table.items()})
    for engine, other in itertools.combinations(fit.engines, 2):
        difference, error = fit.difference(engine, other)
        back, same_error = mirrored.difference(engine, other)
        assert back == pytest.approx(-difference, abs=1e-3)
        assert same_error == pytest.approx(error, rel=1e-3, abs=1e-3)


@given(TABLES)
def test_expected_points_are_the_points_made(table: CrossTable) -> None:
    """The fit balances each engine, but for its one virtual draw."""
    fit = ratings(table)
    expected = fit.expected_scores()
    place = {engine: i for i, engine in enumerate(fit.engines)}
    for engine in fit.engines:
        made = sum(s.points for (a, _), s in table.items() if a == engine)
        fitted = sum(
            2 * score.pairs * expected[place[engine]][place[other]]
            for (name, other), score in table.items()
            if name == engine
        )
        assert abs(made - fitted) <= 0.5 + 1e-6


@given(TABLES)
def test_more_wins_raise_the_rating(table: CrossTable) -> None:
    (engine, other), score = next(iter(table.items()))
    better = score + PairScore((0, 0, 0, 0, 1))
    after = ratings(
        table | {(engine, other): better, (other, engine): better.reversed()}
    )
    before = ratings(table).difference(engine, other)[0]
    assert after.difference(engine, other)[0] > before


def test_simulated_tournaments_recover_the_ratings() -> None:
    """Known ratings lie within two standard errors 95 times of 100."""
    truth = {"a": 220.0, "b": 100.0, "c": 0.0, "d": -320.0}
    chance = random.Random(1)
    inside = differences = 0
    for _ in range(60):
        fit = ratings(simulated_round_robin(truth, chance, pairs=40))
        for engine, other in PAIRINGS:
            difference, error = fit.difference(engine, other)
            differences += 1
            inside += abs(difference - truth[engine] + truth[other]) < 2 * error
    assert 0.92 < inside / differences < 0.98


def simulated_round_robin(
    truth: dict[str, float], chance: random.Random, pairs: int
) -> CrossTable:
    """Play pairs whose openings favour one colour by up to a fifth of a game."""
    table: dict[str, Counts] = {}
    for engine, other in PAIRINGS:
        score = statistics.to_score(truth[engine] - truth[other])
        wins = []
        for _ in range(pairs):
            luck = chance.uniform(-1, 1) * min(0.2, 1 - score, score)
            wins.append(
                (chance.random() < score + luck) + (chance.random() < score - luck)
            )
        table[engine + other] = (wins.count(0), 0, wins.count(1), 0, wins.count(2))
    return table_of(table)
