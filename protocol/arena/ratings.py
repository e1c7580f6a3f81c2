"""Joint ratings of several engines: a Bradley-Terry fit with its errors.

Engine a is expected to score 1 / (1 + 10^((b - a) / 400)) against engine b (R. Bradley
and M. Terry, Biometrika 39, 1952). Everything follows from the cross table of pair
scores (`cross_table`). Inside, strengths are in natural units, Elo times ln(10) / 400.
"""

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec

from protocol.arena.statistics import (
    GameSummary,
    PairScore,
    design_effect,
    pair_score,
    to_score,
)

CrossTable: TypeAlias = dict[tuple[str, str], PairScore]
"""Results of the first engine against the second, for both orders of every pairing."""

_ELO = 400 / math.log(10)
"""One natural unit of strength in Elo."""

_SMALL_STEP = 1e-6
"""A Newton step, in natural units, whose successor would be below rounding."""

_Pairing: TypeAlias = tuple[int, int, PairScore]
_Matrix: TypeAlias = list[list[float]]


class Ratings(msgspec.Struct, frozen=True):
    """Ratings in Elo, relative to the anchor or to the mean of all engines.

    Attributes:
        engines: names, the strongest first.
        elo: their ratings.
        covariance: of the ratings, in Elo squared; the anchor's row is zero.
        groups: the engines by what the games can compare. Within a group everyone has
            scored, directly or through others, against everyone. With more than one
            group the distances between them are finite only by the virtual draws.
    """

    engines: tuple[str, ...]
    elo: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    groups: tuple[tuple[str, ...], ...]

    def difference(self, engine: str, other: str) -> tuple[float, float]:
        """Return how much better an engine is, and the standard error, in Elo."""
        i, j = self.engines.index(engine), self.engines.index(other)
        v = self.covariance
        variance = v[i][i] + v[j][j] - 2 * v[i][j]
        return self.elo[i] - self.elo[j], math.sqrt(max(0.0, variance))

    def standard_errors(self) -> list[float]:
        """Return the standard error of each rating in Elo; that of the anchor is 0."""
        return [math.sqrt(max(0.0, row[i])) for i, row in enumerate(self.covariance)]

    def expected_scores(self) -> list[list[float]]:
        """Return the expected score per game of each engine (row) against each."""
        return [[to_score(a - b) for b in self.elo] for a in self.elo]


def cross_table(games: Iterable[GameSummary]) -> CrossTable:
    """Return the results of every engine against every other that it met."""
    met: dict[frozenset[str], list[GameSummary]] = {}
    for game in games:
        met.setdefault(frozenset((game.black, game.white)), []).append(game)
    table: CrossTable = {}
    for played in met.values():
        engine, other = played[0].black, played[0].white
        score = pair_score(played, engine)
        table[engine, other] = score
        table[other, engine] = score.reversed()
    return table


def ratings(table: CrossTable, anchor: str | None = None) -> Ratings:
    """Return the ratings that fit a cross table best, with their covariance.

    Every engine has one virtual draw with an engine of mean strength. That keeps
    ratings finite at 0% and 100% and where engines never met, counts no more than one
    game, and puts the winner of a long clean sweep about where `statistics.elo` does.
    The anchor only shifts the ratings and decides what the errors are relative to.

    The covariance is the sandwich A^-1 B A^-1 for clustered data (H. White,
    Econometrica 50, 1982): A is the information of independent games, in B each
    pairing's part is multiplied by the `design_effect` of its pairs. The virtual draws
    are in both, so engines without games get the wide error of the draw alone.

    Args:
        table: from `cross_table`.
        anchor: the engine whose rating is 0; without it the mean is 0.

    Raises:
        ValueError: the anchor has not played.
    """
    names = list(dict.fromkeys(name for pairing in table for name in pairing))
    if anchor is not None and anchor not in names:
        raise ValueError(f"the anchor {anchor!r} has not played: {', '.join(names)}")
    pairings = [
        (names.index(engine), names.index(other), score)
        for (engine, other), score in table.items()
        if names.index(engine) < names.index(other)
    ]
    strengths = _fit(len(names), pairings)
    order = sorted(range(len(names)), key=lambda i: -strengths[i])
    share = [
        1 / len(names) if anchor is None else float(name == anchor) for name in names
    ]
    zero = _dot(share, strengths)
    covariance = _relative(_covariance(strengths, pairings), share)
    return Ratings(
        tuple(names[i] for i in order),
        tuple(_ELO * (strengths[i] - zero) for i in order),
        tuple(tuple(_ELO**2 * covariance[i][j] for j in order) for i in order),
        _groups([names[i] for i in order], table),
    )


def _fit(size: int, pairings: Sequence[_Pairing]) -> list[float]:
    """Return the strengths of greatest posterior likelihood.

    The logarithm of the likelihood is strictly concave, so Newton's method, with steps
    halved until they climb, arrives.
    """
    strengths = [0.0] * size
    while True:
        inverse = _inverse(_information(strengths, pairings))
        gradient = _gradient(strengths, pairings)
        step = [_dot(row, gradient) for row in inverse]
        if all(abs(length) < _SMALL_STEP for length in step):
            return _moved(strengths, step)
        level = _log_posterior(strengths, pairings)
        while _log_posterior(_moved(strengths, step), pairings) < level:
            step = [length / 2 for length in step]
        strengths = _moved(strengths, step)


def _log_posterior(strengths: Sequence[float], pairings: Sequence[_Pairing]) -> float:
    """Return the log-likelihood of the results and the virtual draws."""
    virtual = sum(_log_expected(s) + _log_expected(-s) for s in strengths) / 2
    return virtual + sum(
        score.points * _log_expected(strengths[i] - strengths[j])
        + score.reversed().points * _log_expected(strengths[j] - strengths[i])
        for i, j, score in pairings
    )


def _gradient(strengths: Sequence[float], pairings: Sequence[_Pairing]) -> list[float]:
    """Return the derivatives of `_log_posterior`: points made less points expected."""
    gradient = [0.5 - _expected(strength) for strength in strengths]
    for i, j, score in pairings:
        expected = 2 * score.pairs * _expected(strengths[i] - strengths[j])
        gradient[i] += score.points - expected
        gradient[j] -= score.points - expected
    return gradient


def _information(
    strengths: Sequence[float], pairings: Sequence[_Pairing], *, clustered: bool = False
) -> _Matrix:
    """Return the variance of the gradient.

    Args:
        strengths: at which to take it.
        pairings: the results.
        clustered: take the games of a pair as they are correlated, not as independent;
            independent games give minus the second derivatives of `_log_posterior`.
    """
    size = len(strengths)
    matrix = [[0.0] * size for _ in range(size)]
    for i, strength in enumerate(strengths):
        matrix[i][i] = _expected(strength) * _expected(-strength)
    for i, j, score in pairings:
        expected = _expected(strengths[i] - strengths[j])
        weight = 2 * score.pairs * expected * (1 - expected)
        if clustered:
            weight *= design_effect(score.squares(expected), weight)
        matrix[i][i] += weight
        matrix[j][j] += weight
        matrix[i][j] -= weight
        matrix[j][i] -= weight
    return matrix


def _covariance(strengths: Sequence[float], pairings: Sequence[_Pairing]) -> _Matrix:
    """Return the covariance of the strengths, the sandwich of `ratings`."""
    bread = _inverse(_information(strengths, pairings))
    filling = _information(strengths, pairings, clustered=True)
    half = [[_dot(row, column) for column in filling] for row in bread]
    return [[_dot(row, column) for column in bread] for row in half]


def _relative(covariance: _Matrix, share: Sequence[float]) -> _Matrix:
    """Return the covariance of the strengths less their mean weighted by `share`."""
    with_zero = [_dot(row, share) for row in covariance]
    zero = _dot(with_zero, share)
    return [
        [value - with_zero[i] - with_zero[j] + zero for j, value in enumerate(row)]
        for i, row in enumerate(covariance)
    ]


def _groups(names: Sequence[str], table: CrossTable) -> tuple[tuple[str, ...], ...]:
    """Return the strongly connected parts of the graph of who scored against whom.

    Without virtual draws the fit is finite exactly if there is one part: L. Ford,
    American Mathematical Monthly 64 (1957).
    """
    reach = {pairing for pairing, score in table.items() if score.points}
    reach |= {(name, name) for name in names}
    for middle in names:
        sources = [name for name in names if (name, middle) in reach]
        targets = [name for name in names if (middle, name) in reach]
        reach |= {(source, target) for source in sources for target in targets}
    groups = (
        tuple(b for b in names if (a, b) in reach and (b, a) in reach) for a in names
    )
    return tuple(dict.fromkeys(groups))


def _expected(difference: float) -> float:
    """Return the expected score of a difference in strength."""
    return to_score(difference * _ELO)


def _log_expected(difference: float) -> float:
    """Return log(`_expected`), exact for large differences too."""
    return min(difference, 0.0) - math.log1p(math.exp(-abs(difference)))


def _moved(strengths: Sequence[float], step: Sequence[float]) -> list[float]:
    return [strength + length for strength, length in zip(strengths, step, strict=True)]


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _inverse(matrix: _Matrix) -> _Matrix:
    """Return the inverse of a positive definite matrix, by Gauss-Jordan elimination.

    Such a matrix needs no pivoting.
    """
    size = len(matrix)
    rows = [
        [*row, *(float(i == j) for j in range(size))] for i, row in enumerate(matrix)
    ]
    for i in range(size):
        pivot = rows[i][i]
        rows[i] = [value / pivot for value in rows[i]]
        for j in range(size):
            if j != i:
                factor = rows[j][i]
                rows[j] = [
                    a - factor * b for a, b in zip(rows[j], rows[i], strict=True)
                ]
    return [row[size:] for row in rows]
