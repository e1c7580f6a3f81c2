"""Who plays whom: the pairs of a tournament as a function of its settings and results.

A pair is two games of one opening with colours swapped. Its number fixes engines,
set-up and opening, whatever has been played, so that a run can stop and continue. With
more games the numbers of the old pairs stay.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from protocol.arena.store import GameRecord

Results = Mapping[tuple[int, int], GameRecord]
"""Games that count, by pair and game number."""


class Pair(NamedTuple):
    """Two games to play.

    Attributes:
        number: of the pair, from 0.
        first: engine that is Black in game 0.
        second: the other engine.
        setup: set-up name.
        opening: number of the opening, the same for every pairing.
    """

    number: int
    first: str
    second: str
    setup: str
    opening: int

    def colors(self, game: int) -> tuple[str, str]:
        """Return Black and White of game 0 or 1."""
        return (self.second, self.first) if game else (self.first, self.second)


class AllPlay:
    """Every pairing of a fixed list plays the same number of pairs on each set-up."""

    def __init__(
        self, pairings: Sequence[tuple[str, str]], setups: Sequence[str], pairs: int
    ) -> None:
        self._pairings = pairings
        self._setups = setups
        self._pairs = pairs

    @property
    def total(self) -> int:
        """Pairs in all."""
        return len(self._pairings) * len(self._setups) * self._pairs

    def open_pairs(self, results: Results) -> list[Pair]:
        """Return the pairs that are not finished and can be played now."""
        return [pair for pair in self._all() if not is_finished(pair, results)]

    def _all(self) -> Iterator[Pair]:
        # Openings outermost: all engines have played as much whenever a run stops.
        ways = itertools.product(range(self._pairs), self._setups, self._pairings)
        for number, (opening, setup, (first, second)) in enumerate(ways):
            yield Pair(number, first, second, setup, opening)


class Swiss:
    """Rounds that pair engines of like score; a round waits for the one before.

    Within a round the ranking is by points, then by the order given; each engine meets
    the next one that it has met least often. With an odd number of engines the last in
    the ranking of those who rested least rests.
    """

    def __init__(
        self, engines: Sequence[str], setups: Sequence[str], pairs: int, rounds: int
    ) -> None:
        self._engines = engines
        self._setups = setups
        self._pairs = pairs
        self._rounds = rounds

    @property
    def total(self) -> int:
        """Pairs in all."""
        return (
            self._rounds * (len(self._engines) // 2) * len(self._setups) * self._pairs
        )

    def open_pairs(self, results: Results) -> list[Pair]:
        """Return what the first unfinished round still has to play."""
        met: dict[frozenset[str], int] = {}
        rests = dict.fromkeys(self._engines, 0)
        points = dict.fromkeys(self._engines, 0)
        number = 0
        for round_number in range(self._rounds):
            pairs = []
            for first, second in self._pairings(points, met, rests):
                met[frozenset((first, second))] = (
                    met.get(frozenset((first, second)), 0) + 1
                )
                for setup, k in itertools.product(self._setups, range(self._pairs)):
                    opening = round_number * self._pairs + k
                    pairs.append(Pair(number, first, second, setup, opening))
                    number += 1
            left = [pair for pair in pairs if not is_finished(pair, results)]
            if left:
                return left
            for pair in pairs:
                for game in (0, 1):
                    points[winner_name(results[pair.number, game])] += 1
        return []

    def _pairings(
        self,
        points: Mapping[str, int],
        met: Mapping[frozenset[str], int],
        rests: dict[str, int],
    ) -> list[tuple[str, str]]:
        """Return a round's pairings and enter who rests."""
        waiting = sorted(self._engines, key=lambda name: -points[name])
        if len(waiting) % 2:
            fewest = min(rests.values())
            resting = [name for name in waiting if rests[name] == fewest][-1]
            rests[resting] += 1
            waiting.remove(resting)
        pairings = []
        while waiting:
            first, *others = waiting
            second = min(others, key=lambda name: met.get(frozenset((first, name)), 0))
            pairings.append((first, second))
            waiting.remove(first)
            waiting.remove(second)
        return pairings


Schedule = AllPlay | Swiss


def round_robin(engines: Sequence[str]) -> list[tuple[str, str]]:
    """Return every pairing of the engines."""
    return list(itertools.combinations(engines, 2))


def gauntlet(engines: Sequence[str]) -> list[tuple[str, str]]:
    """Return the pairings of the first engine with each of the others."""
    return [(engines[0], other) for other in engines[1:]]


def is_finished(pair: Pair, results: Results) -> bool:
    """Tell whether both games of a pair have a result."""
    return (pair.number, 0) in results and (pair.number, 1) in results


def winner_name(game: GameRecord) -> str:
    """Return the engine that won a game that counts."""
    return game.black if game.winner == "black" else game.white
