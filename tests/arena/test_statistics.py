"""Statistics of pairs: known values, extremes, properties and simulated matches."""

import math
import random
from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.arena import statistics
from protocol.arena.statistics import ColourScore, PairScore, TimeUse
from protocol.arena.store import GameRecord, Termination

COUNT = st.integers(0, 2000)
SCORES = st.builds(PairScore, st.tuples(COUNT, COUNT, COUNT, COUNT, COUNT))
WITHOUT_DRAWS = st.builds(
    lambda losses, splits, wins: PairScore((losses, 0, splits, 0, wins)),
    *[st.integers(0, 30)] * 3,
)
ELO = st.floats(-800, 800)
EXTREMES = [
    (0, 0, 0, 0, 0),
    (0, 0, 0, 0, 1),
    (0, 0, 1, 0, 0),
    (0, 0, 0, 0, 10**6),
    (0, 0, 10**6, 0, 0),
    (1, 0, 0, 0, 10**6),
]


def game(
    pair: int,
    black: str,
    white: str,
    winner: str | None,
    termination: Termination = Termination.BOARD,
    *,
    setup: str = "dense-7x7",
    opening: str = "",
    moves: str = "",
    seconds: Sequence[float] = (),
    limit: Sequence[float | None] = (),
) -> GameRecord:
    return GameRecord(
        pair=pair,
        game=0,
        opening=tuple(opening.split()),
        setup=setup,
        black=black,
        white=white,
        winner=winner,
        termination=termination,
        reason="",
        moves=tuple(moves.split()),
        seconds=tuple(seconds),
        limit=tuple(limit),
    )


def void(pair: int, black: str, white: str) -> GameRecord:
    return game(pair, black, white, None, Termination.VOID)


# Pairs


def test_pairs_are_counted_by_points_in_the_order_of_completion() -> None:
    games = [
        game(0, "a", "b", "black"),
        game(1, "a", "b", "black"),
        game(1, "b", "a", "white"),
        game(0, "b", "a", "black"),
        game(2, "b", "a", "black"),
        game(2, "a", "b", "white", Termination.TIME),
        game(3, "a", "b", "white"),
    ]
    assert [pair[0].pair for pair in statistics.finished_pairs(games)] == [1, 0, 2]
    assert statistics.pair_score(games, "a") == PairScore((1, 0, 1, 0, 1), forfeits=1)
    assert statistics.pair_score(games, "b") == PairScore((1, 0, 1, 0, 1), forfeits=1)
    assert statistics.pair_score(games, "c") == PairScore()


def test_a_pair_that_was_played_again_counts_once() -> None:
    games = [
        game(0, "a", "b", "white"),
        void(0, "b", "a"),
        game(0, "a", "b", "black"),
        game(0, "b", "a", "white"),
        game(0, "a", "b", "white"),
        void(1, "a", "b"),
        game(1, "b", "a", "black", Termination.CRASH),
    ]
    assert statistics.pair_score(games, "a") == PairScore((0, 0, 0, 0, 1), voids=2)


def test_equal_numbers_in_other_setups_and_pairings_are_other_pairs() -> None:
    games = [
        game(0, "a", "b", "black"),
        game(0, "c", "a", "white"),
        game(0, "b", "a", "white", setup="classic-9x9"),
    ]
    assert statistics.finished_pairs(games) == []


def test_score_and_variance_of_independent_even_games() -> None:
    score = PairScore((25, 0, 50, 0, 25))
    assert (score.pairs, score.points, score.mean) == (100, 100, 0.5)
    assert score.variance == pytest.approx(1 / 8)
    assert PairScore((0, 1, 0, 1, 0)).variance == pytest.approx(1 / 16)


def test_first_player_is_seen_from_black() -> None:
    sides = [("a", "b"), ("b", "a")]
    games = [game(pair, *names, "black") for pair in range(6) for names in sides]
    games += [game(6, "a", "b", "white"), game(6, "b", "a", "black")]
    score = statistics.first_player(games)
    assert score == PairScore((0, 0, 1, 0, 6))
    assert statistics.pair_score(games, "a").mean == pytest.approx(6 / 14)
    low, high = statistics.interval(score)
    assert 0.5 < low < score.mean < high < 1


@given(SCORES, SCORES)
def test_halves_add_up(left: PairScore, right: PairScore) -> None:
    both = left + right
    assert both.pairs == left.pairs + right.pairs
    assert both.points == left.points + right.points
    assert both.reversed() == right.reversed() + left.reversed()


# Elo


@pytest.mark.parametrize(
    ("score", "elo"),
    [(0.5, 0), (0.6, 70.437), (0.4, -70.437), (0.75, 190.849), (10 / 11, 400)],
)
def test_elo_of_a_score(score: float, elo: float) -> None:
    assert statistics.to_elo(score) == pytest.approx(elo, abs=1e-3)
    assert statistics.to_score(elo) == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("games", [104, 200, 400, 1000, 4000, 10000])
def test_errors_of_independent_games(games: int) -> None:
    """The table of ARENA.md B4: 681 / sqrt(games)."""
    elo = statistics.elo(PairScore((games // 8, 0, games // 4, 0, games // 8)))
    assert (elo.high - elo.low) / 2 == pytest.approx(681 / games**0.5, rel=0.01)


@pytest.mark.parametrize(
    ("counts", "difference", "error", "los"),
    [
        ((34, 54, 63, 64, 75), 55.58, 27.65, 1.0),
        ((332, 433, 498, 333, 334), -8.64, 10.33, 0.0505),
        ((7895, 8757, 5685, 568, 9999), -21.04, 2.95, 0.0),
    ],
)
def test_elo_agrees_with_fastchess(
    counts: statistics.Counts, difference: float, error: float, los: float
) -> None:
    """Values of fastchess app/tests/elo_test.cpp, whose interval is mean +- error."""
    elo = statistics.elo(PairScore(counts))
    assert elo.difference == pytest.approx(difference, abs=0.005)
    assert (elo.high - elo.low) / 2 == pytest.approx(error, rel=0.005)
    assert elo.los == pytest.approx(los, abs=1e-4)


def test_nothing_played_says_nothing() -> None:
    elo = statistics.elo(PairScore())
    assert elo == statistics.Elo(0.0, -math.inf, math.inf, 0.5)


@pytest.mark.parametrize("pairs", [1, 2, 10, 1000])
def test_a_clean_sweep_is_open_upwards(pairs: int) -> None:
    elo = statistics.elo(PairScore((0, 0, 0, 0, pairs)))
    assert elo.difference == statistics.to_elo(1 - 1 / (4 * pairs))
    assert elo.low == statistics.to_elo(2 * pairs / (2 * pairs + statistics.Z95**2))
    assert elo.high == math.inf
    assert (elo.low > 0) == (pairs > 1)


@pytest.mark.parametrize("pairs", [1, 10, 100, 10000])
def test_equal_pairs_are_not_certainty(pairs: int) -> None:
    """After n splits the true score may be off by what n pairs can hide."""
    low, high = statistics.interval(PairScore((0, 0, pairs, 0, 0)))
    assert 0.75 < pairs * (high - low) < 2.8


@given(SCORES)
def test_elo_is_antisymmetric_and_ordered(score: PairScore) -> None:
    elo, other = statistics.elo(score), statistics.elo(score.reversed())
    assert math.isfinite(elo.difference)
    assert elo.low <= elo.difference <= elo.high
    assert 0 <= elo.los <= 1
    assert (elo.low == -math.inf) == (score.points == 0)
    assert other.difference == pytest.approx(-elo.difference, abs=1e-6)
    assert other.low == pytest.approx(-elo.high, abs=1e-6)
    assert other.los == pytest.approx(1 - elo.los)


@given(SCORES)
def test_superiority_and_interval_agree(score: PairScore) -> None:
    elo = statistics.elo(score)
    assert abs(elo.low) < 1e-6 or (elo.low > 0) == (elo.los > 0.975)


@given(WITHOUT_DRAWS, st.sampled_from([(0, 2), (2, 4), (0, 4)]))
def test_a_better_pair_never_hurts(score: PairScore, change: tuple[int, int]) -> None:
    worse, better = list(score.counts), list(score.counts)
    worse[change[0]] += 1
    better[change[1]] += 1
    before = statistics.elo(PairScore((worse[0], 0, worse[2], 0, worse[4])))
    after = statistics.elo(PairScore((better[0], 0, better[2], 0, better[4])))
    assert before.difference < after.difference
    assert before.low <= after.low
    assert before.high <= after.high


def test_opening_luck_narrows_the_interval() -> None:
    """Splits that the openings decide tell the engines apart better than luck does."""
    widths = []
    for counts in [(10, 0, 80, 0, 10), (25, 0, 50, 0, 25), (50, 0, 0, 0, 50)]:
        low, high = statistics.interval(PairScore(counts))
        widths.append(high - low)
    assert widths[0] < 0.7 * widths[1] < 0.7 * 0.75 * widths[2]


def trinomials(
    pairs: int, shares: tuple[float, float, float]
) -> Iterator[tuple[PairScore, float]]:
    """Yield every result of a match without draws and its probability."""
    logs = [math.log(share) for share in shares]
    for losses in range(pairs + 1):
        for wins in range(pairs - losses + 1):
            counts = (losses, pairs - losses - wins, wins)
            log = math.lgamma(pairs + 1) + sum(
                count * share - math.lgamma(count + 1)
                for count, share in zip(counts, logs, strict=True)
            )
            yield PairScore((losses, 0, counts[1], 0, wins)), math.exp(log)


def pair_shares(score: float, luck: float) -> tuple[float, float, float]:
    """Return the shares of lost, split and won pairs.

    An opening raises the score of one colour and lowers that of the other by `luck`;
    a negative one stands for openings that suit one engine, by the square root of it.
    """
    shift = luck * abs(luck)
    lost, won = (1 - score) ** 2 - shift, score**2 - shift
    return lost, 1 - lost - won, won


@pytest.mark.parametrize(
    ("score", "luck"),
    [
        (0.5, 0.0),
        (0.5, 0.3),
        (0.5, 0.45),
        (0.5, -0.3),
        (0.6, 0.0),
        (0.6, 0.25),
        (0.6, -0.25),
        (0.75, 0.15),
        (0.9, 0.0),
        (0.98, 0.0),
    ],
)
def test_the_interval_of_100_pairs_covers_the_truth(score: float, luck: float) -> None:
    """Exactly: the sum over all results, no simulation."""
    covered = sum(
        probability
        for result, probability in trinomials(100, pair_shares(score, luck))
        if statistics.interval(result)[0] <= score <= statistics.interval(result)[1]
    )
    assert 0.93 < covered < 0.98


# SPRT


@pytest.mark.parametrize(
    ("counts", "elo0", "elo1", "llr"),
    [
        # fastchess app/tests/sprt_test.cpp, logistic pentanomial 1 and 2
        ((223, 9863, 21279, 10037, 246), 0.5, 2.5, -3.07),
        ((871, 26175, 55983, 26678, 821), 0, 2, -4.98),
    ],
)
def test_llr_agrees_with_fastchess(
    counts: statistics.Counts, elo0: float, elo1: float, llr: float
) -> None:
    assert statistics.sprt(PairScore(counts), elo0, elo1).llr == pytest.approx(
        llr, abs=0.005
    )


@pytest.mark.parametrize(
    ("losses", "wins"), [(40, 60), (100, 0), (0, 100), (1, 99), (500, 400)]
)
def test_llr_without_splits_is_that_of_coin_tosses(losses: int, wins: int) -> None:
    """With two classes each hypothesis fixes the distribution: losing is 1 - s."""
    low, high = statistics.to_score(0), statistics.to_score(20)
    expected = wins * math.log(high / low) + losses * math.log((1 - high) / (1 - low))
    result = statistics.sprt(PairScore((losses, 0, 0, 0, wins)), 0, 20)
    assert result.llr == pytest.approx(expected, abs=0.01)


def test_llr_of_splits_alone() -> None:
    """A score of s above 1/2 needs won pairs, 2 s - 1 of all, and none was seen."""
    expected = 50 * math.log(2 - 2 * statistics.to_score(20))
    result = statistics.sprt(PairScore((0, 0, 50, 0, 0)), 0, 20)
    assert result.llr == pytest.approx(expected, abs=0.05)


def test_llr_of_many_pairs_is_nearly_that_of_the_normal_distribution() -> None:
    """GSPRT_approximation.pdf: n (s1 - s0) (2 mean - s0 - s1) / (2 variance)."""
    score = PairScore((2400, 0, 5000, 0, 2600))
    s0, s1 = statistics.to_score(0), statistics.to_score(5)
    normal = score.pairs * (s1 - s0) * (2 * score.mean - s0 - s1) / score.variance / 2
    assert statistics.sprt(score, 0, 5).llr == pytest.approx(normal, rel=0.01)


def test_sprt_states_its_bounds_and_model() -> None:
    result = statistics.sprt(PairScore((20, 0, 40, 0, 20)), 0, 20)
    assert result.upper == -result.lower == pytest.approx(math.log(19))
    assert (result.elo0, result.elo1, result.model) == (0, 20, "logistic")
    assert result.decision == "continue"


@pytest.mark.parametrize(
    ("counts", "decision"),
    [
        ((0, 0, 0, 0, 53), "H1"),
        ((0, 0, 0, 0, 52), "continue"),
        ((53, 0, 0, 0, 0), "H0"),
        ((0, 0, 60, 0, 0), "H0"),
        ((0, 0, 100, 0, 50), "H1"),
    ],
)
def test_sprt_decides(counts: statistics.Counts, decision: str) -> None:
    assert statistics.sprt(PairScore(counts), 0, 20).decision == decision


@pytest.mark.parametrize(("pairs", "decision"), [(7, "continue"), (8, "H1")])
def test_sprt_needs_eight_pairs(pairs: int, decision: str) -> None:
    result = statistics.sprt(PairScore((0, 0, 0, 0, pairs)), 0, 400)
    assert result.llr > result.upper
    assert result.decision == decision


@pytest.mark.parametrize(
    ("elo0", "elo1", "alpha", "beta"),
    [
        (0, 0, 0.05, 0.05),
        (5, 0, 0.05, 0.05),
        (0, 10**6, 0.05, 0.05),
        (math.nan, 5, 0.05, 0.05),
        (0, 5, 0, 0.05),
        (0, 5, 0.5, 0.5),
    ],
)
def test_sprt_refuses_nonsense(
    elo0: float, elo1: float, alpha: float, beta: float
) -> None:
    with pytest.raises(ValueError, match="SPRT"):
        statistics.sprt(PairScore(), elo0, elo1, alpha, beta)


@pytest.mark.parametrize("counts", EXTREMES)
@pytest.mark.parametrize("bounds", [(0, 20), (-3, 1), (-2000, 2000), (0, 1e-6)])
def test_llr_is_finite_at_the_extremes(
    counts: statistics.Counts, bounds: tuple[float, float]
) -> None:
    assert math.isfinite(statistics.sprt(PairScore(counts), *bounds).llr)


@given(SCORES, ELO, st.floats(0.01, 400))
def test_llr_is_finite_and_antisymmetric(
    score: PairScore, elo0: float, distance: float
) -> None:
    elo1 = elo0 + distance
    llr = statistics.sprt(score, elo0, elo1).llr
    assert math.isfinite(llr)
    other = statistics.sprt(score.reversed(), -elo1, -elo0).llr
    assert other == pytest.approx(-llr, rel=1e-6, abs=1e-6)


@given(SCORES, ELO, st.floats(0.01, 400), st.floats(0.01, 400))
def test_llr_adds_up_over_hypotheses(
    score: PairScore, elo0: float, first: float, second: float
) -> None:
    middle, elo1 = elo0 + first, elo0 + first + second
    parts = statistics.sprt(score, elo0, middle).llr
    parts += statistics.sprt(score, middle, elo1).llr
    whole = statistics.sprt(score, elo0, elo1).llr
    assert parts == pytest.approx(whole, rel=1e-6, abs=1e-6)


def decide(seed: int, shares: tuple[float, float, float]) -> str:
    """Return the decision of an SPRT [0, 20] that looks every ten pairs."""
    chance, score = random.Random(seed), PairScore()
    while True:
        pairs = chance.choices((0, 1, 2), shares, k=10)
        losses, splits, wins = (pairs.count(wins) for wins in (0, 1, 2))
        score += PairScore((losses, 0, splits, 0, wins))
        result = statistics.sprt(score, 0, 20)
        if result.decision != "continue":
            return result.decision


@pytest.mark.parametrize("luck", [0.0, 0.3, -0.2])
@pytest.mark.parametrize(("elo", "wrong"), [(0, "H1"), (20, "H0")])
def test_sprt_errs_in_five_of_a_hundred_runs(
    luck: float, elo: float, wrong: str
) -> None:
    shares = pair_shares(statistics.to_score(elo), luck)
    runs = 300
    errors = sum(decide(seed, shares) == wrong for seed in range(runs))
    assert 0.015 * runs < errors < 0.085 * runs


# Tables


def test_duplicates_are_equal_moves_of_one_setup() -> None:
    games = [
        game(0, "a", "b", "black", moves="A1 B2"),
        game(0, "b", "a", "black", moves="A1 B2"),
        game(1, "a", "b", "black", moves="A1 B2 C3"),
        game(1, "b", "a", "black", moves="A1 B2"),
        game(2, "a", "b", "black", moves="A1 B2", setup="classic-9x9"),
        game(2, "b", "a", "black", moves="A1", setup="classic-9x9"),
        game(3, "a", "b", "black", moves="A1 B2 C3"),
    ]
    assert statistics.duplicates(games) == [[games[0], games[1], games[3]]]


def test_forfeits_count_against_the_loser() -> None:
    games = [
        game(0, "a", "b", "black", Termination.TIME),
        game(0, "b", "a", "white", Termination.TIME),
        game(1, "a", "b", "white", Termination.CRASH),
        game(1, "b", "a", "white", Termination.RESIGN),
        game(2, "c", "b", None, Termination.VOID),
    ]
    assert statistics.forfeits(games) == {"a": {"crash": 1}, "b": {"time": 2}, "c": {}}


def test_colours_are_counted_per_engine() -> None:
    games = [
        game(0, "a", "b", "black"),
        game(0, "b", "a", "black"),
        game(1, "a", "b", "white"),
        game(1, "b", "a", "black"),
        game(2, "b", "a", "black"),
    ]
    assert statistics.colours(games) == {
        "a": ColourScore(black_wins=1, black_games=2, white_wins=0, white_games=2),
        "b": ColourScore(black_wins=2, black_games=2, white_wins=1, white_games=2),
    }


def test_time_is_charged_to_the_side_to_move_after_the_opening() -> None:
    games = [
        game(
            0,
            "a",
            "b",
            "black",
            opening="A1 B2 C3",
            seconds=(1.0, 0.5, 3.0, 2.0),
            limit=(2.0, 0.25, 2.0),
        ),
        game(0, "b", "a", "black", seconds=(0.0, 9.0), limit=(1.0, None)),
    ]
    table = statistics.time_use(games)
    assert table["a"] == TimeUse(3, 11.5, 9.0, 1, 0.25, 0.25)
    assert table["b"] == TimeUse(3, 4.0, 3.0, 1, 1.0, 1.0)
    assert table["b"].mean == pytest.approx(4 / 3)
    assert table["b"].mean_overrun == 1.0
    assert TimeUse().mean == TimeUse().mean_overrun == 0.0


@pytest.mark.parametrize(
    "table",
    [
        statistics.finished_pairs,
        statistics.duplicates,
        statistics.forfeits,
        statistics.colours,
        statistics.time_use,
    ],
)
def test_no_games_give_empty_tables(
    table: Callable[[Sequence[GameRecord]], object],
) -> None:
    assert not table([])
