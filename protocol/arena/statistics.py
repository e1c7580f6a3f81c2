"""What the games of a match say: score, Elo, SPRT, colours, forfeits and time.

Pure functions of game records. Tanbo has no draws, and the two games of an opening are
not independent, so the unit of every estimate is the pair: the same opening, colours
swapped. Counts keep the five classes of the field (pentanomial); without draws a pair
scores 0, 1/2 or 1 and the classes between stay empty.

A score is a share of points in 0..1, a time is in seconds, Elo is logistic.
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, Protocol, TypeAlias, TypeVar

import msgspec

from protocol.arena.store import Termination

Z95 = 1.959963984540054
"""Quantile of the normal distribution at 97.5%: two-sided 95%."""

MIN_PAIRS = 8
"""An SPRT decides nothing on fewer pairs."""

_EMPTY_CLASS = 1e-3
"""What the SPRT counts for a class without pairs (fishtest, `regularize`)."""

_TOLERANCE = 1e-14
"""Relative size of the last step of a root search."""

_VIRTUAL_VARIANCE = Z95**2 / 2
"""Squared points that `design_effect` adds to both of its sides: what z^2, about four,
pairs of independent even games (1/2 each) would bring, after the z^2 virtual trials
of Agresti and Coull (1998)."""


class GameSummary(Protocol):
    """The part of a game record that the statistics read (CONTRACT.md, Arena)."""

    @property
    def pair(self) -> int:
        """Number of the pair, unique within a set-up and two engines."""

    @property
    def opening(self) -> Sequence[str]:
        """The vertices that no engine chose."""

    @property
    def setup(self) -> str:
        """Name of the set-up."""

    @property
    def black(self) -> str:
        """Name of the engine that played Black, the first player."""

    @property
    def white(self) -> str:
        """Name of the engine that played White."""

    @property
    def winner(self) -> str | None:
        """The colour that won, ``black`` or ``white``; None if the game is void."""

    @property
    def termination(self) -> Termination:
        """How the game ended."""

    @property
    def moves(self) -> Sequence[str]:
        """All vertices, Black's first, the opening included."""

    @property
    def seconds(self) -> Sequence[float]:
        """Engine time of each turn after the opening."""

    @property
    def limit(self) -> Sequence[float | None]:
        """What each of these turns was allowed, None for no limit; may be cut short."""


Game = TypeVar("Game", bound=GameSummary)
Counts: TypeAlias = tuple[int, int, int, int, int]


class PairScore(msgspec.Struct, frozen=True):
    """Results of finished pairs, seen from one side.

    Attributes:
        counts: pairs that made 0, 1/2, 1, 3/2 and 2 points of their two games.
        forfeits: games of these pairs that a forfeit ended; they count like others.
        voids: games without a winner; they are in no class.
    """

    counts: Counts = (0, 0, 0, 0, 0)
    forfeits: int = 0
    voids: int = 0

    def __add__(self, other: "PairScore") -> "PairScore":
        """Return the results of both, which must not share a pair."""
        a, b, c, d, e = (x + y for x, y in zip(self.counts, other.counts, strict=True))
        voids = self.voids + other.voids
        return PairScore((a, b, c, d, e), self.forfeits + other.forfeits, voids)

    def reversed(self) -> "PairScore":
        """Return the same results seen from the other side."""
        a, b, c, d, e = self.counts
        return PairScore((e, d, c, b, a), self.forfeits, self.voids)

    @property
    def pairs(self) -> int:
        """Number of finished pairs; each has two games."""
        return sum(self.counts)

    @property
    def points(self) -> float:
        """Games won, a draw being half a win."""
        return sum(i * count for i, count in enumerate(self.counts)) / 2

    @property
    def mean(self) -> float:
        """Score per game; 1/2 without a pair."""
        return self.points / (2 * self.pairs) if self.pairs else 0.5

    @property
    def variance(self) -> float:
        """Variance of the score of a pair (independent even games: 1/8)."""
        return self.squares(self.mean) / (4 * self.pairs) if self.pairs else 0.0

    def squares(self, score: float) -> float:
        """Return the sum over the pairs of (points - points expected) squared.

        Args:
            score: the expected score per game.
        """
        return sum(
            count * (i / 2 - 2 * score) ** 2 for i, count in enumerate(self.counts)
        )


class Elo(msgspec.Struct, frozen=True):
    """A rating difference.

    Attributes:
        difference: the estimate in Elo, finite.
        low: lower end of the 95% interval; minus infinity if no point was made.
        high: upper end of the 95% interval; infinity if no point was lost.
        los: likelihood of superiority, the probability that the difference is above 0.
    """

    difference: float
    low: float
    high: float
    los: float


class Sprt(msgspec.Struct, frozen=True):
    """State of a sequential probability ratio test.

    Attributes:
        llr: log-likelihood ratio of H1 (Elo is `elo1`) to H0 (Elo is `elo0`).
        lower: H0 is accepted at or below.
        upper: H1 is accepted at or above.
        elo0: the hypothesis H0, in Elo of the model.
        elo1: the hypothesis H1, in Elo of the model.
        model: what Elo means.
        decision: the accepted hypothesis, or to go on.
    """

    llr: float
    lower: float
    upper: float
    elo0: float
    elo1: float
    model: Literal["logistic"]
    decision: Literal["continue", "H0", "H1"]


class ColourScore(msgspec.Struct):
    """Games of one engine in finished pairs, by colour."""

    black_wins: int = 0
    black_games: int = 0
    white_wins: int = 0
    white_games: int = 0


class TimeUse(msgspec.Struct):
    """Time of one engine, in seconds.

    Attributes:
        turns: number of answers that were timed.
        total: time of all of them.
        longest: time of the slowest.
        overruns: number of turns that took longer than allowed.
        total_overrun: time beyond what was allowed, all turns together.
        longest_overrun: the same of the worst turn.
    """

    turns: int = 0
    total: float = 0.0
    longest: float = 0.0
    overruns: int = 0
    total_overrun: float = 0.0
    longest_overrun: float = 0.0

    @property
    def mean(self) -> float:
        """Time per turn."""
        return self.total / self.turns if self.turns else 0.0

    @property
    def mean_overrun(self) -> float:
        """Time beyond what was allowed, per turn that took longer."""
        return self.total_overrun / self.overruns if self.overruns else 0.0

    def add(self, seconds: float, limit: float | None) -> None:
        """Count one turn."""
        self.turns += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)
        if limit is not None and seconds > limit:
            self.overruns += 1
            self.total_overrun += seconds - limit
            self.longest_overrun = max(self.longest_overrun, seconds - limit)


def finished_pairs(games: Iterable[Game]) -> list[tuple[Game, Game]]:
    """Return the pairs whose two games have a winner, in the order of completion.

    A pair counts once: where a half pair was played again its last record counts, and
    records that come after its completion do not.
    """
    half: dict[tuple[str, frozenset[str], int], Game] = {}
    finished: dict[tuple[str, frozenset[str], int], tuple[Game, Game]] = {}
    for game in games:
        key = (game.setup, frozenset((game.black, game.white)), game.pair)
        if game.winner is None or key in finished:
            continue
        first = half.get(key)
        if first is not None and first.black != game.black:
            finished[key] = (first, game)
        half[key] = game
    return list(finished.values())


def pair_score(games: Iterable[GameSummary], engine: str) -> PairScore:
    """Return the results of an engine in its finished pairs among the games."""
    own = [game for game in games if engine in (game.black, game.white)]
    return _count(own, lambda game: _winner(game) == engine)


def scores(
    games: Sequence[GameSummary], engines: Iterable[str]
) -> dict[str, PairScore]:
    """Return the results of each engine in its finished pairs among the games."""
    return {engine: pair_score(games, engine) for engine in engines}


def first_player(games: Iterable[GameSummary]) -> PairScore:
    """Return the results of Black, the first player, in the finished pairs.

    Both engines of a pair play Black once, so their strengths cancel; `interval` and
    `elo` of the result measure the advantage.
    """
    return _count(list(games), lambda game: game.winner == "black")


def to_elo(score: float) -> float:
    """Return the logistic Elo difference of an expected score; infinite at 0 and 1.

    Elo = 400 log10(s / (1 - s)): A. Elo, The Rating of Chessplayers (1978).
    """
    if score <= 0:
        return -math.inf
    return 400 * math.log10(score / (1 - score)) if score < 1 else math.inf


def to_score(elo: float) -> float:
    """Return the expected score of a logistic Elo difference: `to_elo` inverted."""
    return (1 + math.tanh(elo * math.log(10) / 800)) / 2


def design_effect(squares: float, independent: float) -> float:
    """Return the variance of pairs over that of pairs of independent games.

    Below 1 where openings decide games, above 1 where they favour an engine. A little
    virtual data of independent games is mixed in, so that pairs that all went the same
    way do not pass for certainty.

    Args:
        squares: sum over the pairs of (points - points expected) squared.
        independent: what independent games would bring, 2 s (1 - s) a pair.
    """
    return (squares + _VIRTUAL_VARIANCE) / (independent + _VIRTUAL_VARIANCE)


def interval(score: PairScore) -> tuple[float, float]:
    """Return the 95% interval of the expected score per game.

    The interval of Wilson (1927) for the effective number of games, the real number
    over the `design_effect`: Korn and Graubard, Survey Methodology 24 (1998), for
    correlated data. The usual mean +- z sigma / sqrt(n) has no width when every pair
    went the same way and leaves 0..1 near the ends; this one is inside, closes with
    1/n even then, and reaches 0 or 1 exactly if no point was made or lost.
    """
    low, high = wilson(score.mean, _effective_games(score))
    lost = 2 * score.pairs - score.points
    return low if score.points else 0.0, high if lost else 1.0


def wilson(mean: float, games: float) -> tuple[float, float]:
    """Return the 95% interval of a share of which so many games told (Wilson 1927)."""
    centre = mean * games + Z95**2 / 2
    half = Z95 * math.sqrt(games * mean * (1 - mean) + Z95**2 / 4)
    return (centre - half) / (games + Z95**2), (centre + half) / (games + Z95**2)


def elo(score: PairScore) -> Elo:
    """Return the Elo difference that results show, with its 95% interval.

    The ends of the interval are those of `interval`. At 0% and 100% the difference is
    that of half a game won or lost (Macmillan and Kaplan, Psychological Bulletin 98,
    1985), still beyond every other result of as many games, and one end is infinite:
    the match shows "at least" or "at most". The likelihood of superiority tests the
    same statistic at score 1/2, so it passes 97.5% when `low` passes 0.

    After an SPRT that stopped early the difference is on average too large.
    """
    low, high = interval(score)
    step = 0.25 / max(1, score.pairs)
    mean = min(max(score.mean, step), 1 - step)
    z = (score.mean - 0.5) * 2 * math.sqrt(_effective_games(score))
    los = math.erfc(-z / math.sqrt(2)) / 2
    return Elo(to_elo(mean), to_elo(low), to_elo(high), los)


def sprt(
    score: PairScore,
    elo0: float,
    elo1: float,
    alpha: float = 0.05,
    beta: float = 0.05,
) -> Sprt:
    """Return the state of the test of H0: Elo is `elo0` against H1: Elo is `elo1`.

    A generalised SPRT on the pentanomial counts with Wald's bounds, as in fishtest and
    fastchess: each hypothesis is represented by the distribution of pair scores that
    fits the counts best among those with its mean (`_log_tilt`). Without approximation
    of the variance, lopsided results stay finite: n pairs won bring n log(s1 / s0).

    Sources: A. Wald, Sequential Analysis (1947); M. Van den Bergh,
    https://www.cantate.be/Fishtest/GSPRT_approximation.pdf.

    Args:
        score: results of the engine that is to be better.
        elo0: Elo under H0.
        elo1: Elo under H1.
        alpha: greatest probability of accepting H1 when H0 holds.
        beta: greatest probability of accepting H0 when H1 holds.

    Raises:
        ValueError: the Elo are not in order or beyond what a score can express, or
            the error probabilities are not small.
    """
    score0, score1 = to_score(elo0), to_score(elo1)
    if not 0 < score0 < score1 < 1:
        raise ValueError(f"an SPRT needs elo0 < elo1, not [{elo0:g}, {elo1:g}]")
    if not (alpha > 0 and beta > 0 and alpha + beta < 1):
        raise ValueError(f"an SPRT cannot have alpha {alpha:g} and beta {beta:g}")
    lower, upper = math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)
    llr = _log_likelihood_ratio(score.counts, score0, score1)
    decision: Literal["continue", "H0", "H1"] = "continue"
    if score.pairs >= MIN_PAIRS and not lower < llr < upper:
        decision = "H1" if llr > 0 else "H0"
    return Sprt(llr, lower, upper, elo0, elo1, "logistic", decision)


def sprt_course(
    games: Iterable[GameSummary], engine: str, elo0: float, elo1: float
) -> list[Sprt]:
    """Return the state of a test after each finished pair."""
    scores = itertools.accumulate(
        pair_score(pair, engine) for pair in finished_pairs(games)
    )
    return [sprt(score, elo0, elo1) for score in scores]


def decided(course: Sequence[Sprt]) -> int | None:
    """Return after how many pairs a test first accepted a hypothesis, None if never.

    That decides: pairs that were still being played may lead the ratio back inside.
    """
    ends = (n for n, test in enumerate(course, 1) if test.decision != "continue")
    return next(ends, None)


def duplicates(games: Iterable[Game]) -> list[list[Game]]:
    """Return the groups of games that went alike: same set-up, same moves.

    Each game of a group but its first says nothing new. Only the games of finished
    pairs are compared, because a half pair that is played again may well repeat.
    """
    groups: dict[tuple[str, tuple[str, ...]], list[Game]] = {}
    for game in itertools.chain(*finished_pairs(games)):
        groups.setdefault((game.setup, tuple(game.moves)), []).append(game)
    return [group for group in groups.values() if len(group) > 1]


def forfeits(games: Iterable[GameSummary]) -> dict[str, Counter[Termination]]:
    """Return for every engine the number of games it forfeited, by termination.

    All games count, those of half pairs as well.
    """
    table: dict[str, Counter[Termination]] = {}
    for game in games:
        for engine in (game.black, game.white):
            row = table.setdefault(engine, Counter())
            lost = game.winner is not None and engine != _winner(game)
            if lost and game.termination.is_forfeit:
                row[game.termination] += 1
    return table


def colours(games: Iterable[GameSummary]) -> dict[str, ColourScore]:
    """Return for every engine its games and wins with either colour."""
    table: dict[str, ColourScore] = {}
    for game in itertools.chain(*finished_pairs(games)):
        black = table.setdefault(game.black, ColourScore())
        white = table.setdefault(game.white, ColourScore())
        black.black_games += 1
        white.white_games += 1
        black.black_wins += game.winner == "black"
        white.white_wins += game.winner == "white"
    return table


def time_use(games: Iterable[GameSummary]) -> dict[str, TimeUse]:
    """Return for every engine the time it took and took too much.

    Only the limit itself counts here, without the margin that a forfeit needs.
    """
    table: dict[str, TimeUse] = {}
    for game in games:
        rows = [table.setdefault(name, TimeUse()) for name in (game.black, game.white)]
        limits = itertools.chain(game.limit, itertools.repeat(None))
        for turn, (seconds, limit) in enumerate(
            zip(game.seconds, limits, strict=False), len(game.opening)
        ):
            rows[turn % 2].add(seconds, limit)
    return table


def _winner(game: GameSummary) -> str:
    """Return the engine that won a game that has a winner."""
    return game.black if game.winner == "black" else game.white


def _count(
    games: Sequence[GameSummary], won: Callable[[GameSummary], bool]
) -> PairScore:
    """Return the results of the side for which `won` answers."""
    pairs = finished_pairs(games)
    wins = Counter(won(first) + won(second) for first, second in pairs)
    forfeited = sum(game.termination.is_forfeit for pair in pairs for game in pair)
    voids = sum(game.winner is None for game in games)
    return PairScore((wins[0], 0, wins[1], 0, wins[2]), forfeited, voids)


def _effective_games(score: PairScore) -> float:
    """Return the number of independent games that say as much as the pairs do."""
    mean, games = score.mean, 2 * score.pairs
    return games / design_effect(score.squares(mean), games * mean * (1 - mean))


def _log_likelihood_ratio(counts: Counts, score0: float, score1: float) -> float:
    """Return the log-likelihood ratio of the hypothesis `score1` to `score0`.

    Empty classes are counted as `_EMPTY_CLASS` pairs, so that both hypotheses have a
    distribution that could have brought the results.
    """
    weights = [count or _EMPTY_CLASS for count in counts]
    tilt0, tilt1 = _log_tilt(weights, score0), _log_tilt(weights, score1)
    return sum(
        weight * (a - b) for weight, a, b in zip(weights, tilt0, tilt1, strict=True)
    )


def _log_tilt(weights: Sequence[float], score: float) -> list[float]:
    """Return log(share / fitted share) of each class, for the mean `score`.

    Among the distributions with that mean, the one of greatest likelihood has the
    shares p / (1 + x (a - score)), where p are the observed shares, a the values of
    the classes (0 to 1) and x solves sum p (a - score) / (1 + x (a - score)) = 0:
    M. Van den Bergh, https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf,
    proposition 1.1; A. Owen, Empirical Likelihood (2001).

    The left side falls from infinity to minus infinity between its outer poles, so
    Newton's method finds x, with bisection where a step would leave the bracket.
    """
    offsets = [i / (len(weights) - 1) - score for i in range(len(weights))]
    low, high = -1 / offsets[-1], -1 / offsets[0]
    x = 0.0
    while low < x < high:
        ratios = [a / (1 + x * a) for a in offsets]
        value = sum(w * r for w, r in zip(weights, ratios, strict=True))
        slope = sum(w * r * r for w, r in zip(weights, ratios, strict=True))
        if abs(value) <= _TOLERANCE * slope * max(1.0, abs(x)):
            break
        low, high = (x, high) if value > 0 else (low, x)
        x += value / slope
        if not low < x < high:
            x = (low + high) / 2
    return [math.log1p(x * a) for a in offsets]
