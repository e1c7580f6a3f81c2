"""Who plays whom: numbers that never change, rounds, resuming from any results."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.arena.schedule import (
    AllPlay,
    Pair,
    Schedule,
    Swiss,
    gauntlet,
    is_finished,
    round_robin,
    winner_name,
)
from protocol.arena.store import GameRecord, Termination

from .support import result

Games = dict[tuple[int, int], GameRecord]


def games_of(pair: Pair, winner: str) -> Games:
    """Return the two games of a pair, both won by one engine."""
    found = {}
    for game in (0, 1):
        black, white = pair.colors(game)
        found[pair.number, game] = result(
            pair.number, game, winner, black=black, white=white
        )
    return found


def played_out(schedule: Schedule, strength: str = "ABCDEFGH") -> list[Pair]:
    """Play everything, the engine that comes first in `strength` winning."""
    results: Games = {}
    order = []
    while pairs := schedule.open_pairs(results):
        for pair in pairs:
            order.append(pair)
            best = min(pair.first, pair.second, key=strength.index)
            results |= games_of(pair, best)
    return order


def test_pairings() -> None:
    assert round_robin("ABC") == [("A", "B"), ("A", "C"), ("B", "C")]
    assert round_robin("AB") == [("A", "B")]
    assert gauntlet("ABC") == [("A", "B"), ("A", "C")]


def test_colors_swap() -> None:
    pair = Pair(0, "A", "B", "dense-7x7", 0)
    assert pair.colors(0) == ("A", "B")
    assert pair.colors(1) == ("B", "A")


def test_winner_name() -> None:
    for game, winner in itertools.product((0, 1), "AB"):
        assert winner_name(result(0, game, winner)) == winner


def test_is_finished() -> None:
    pair = Pair(3, "A", "B", "dense-7x7", 0)
    both = games_of(pair, "A")
    assert is_finished(pair, both)
    for key in both:
        assert not is_finished(pair, {key: both[key]})
    assert not is_finished(pair, {})


def test_all_play_all() -> None:
    schedule = AllPlay(round_robin("ABC"), ["x", "y"], 4)
    pairs = schedule.open_pairs({})
    assert len(pairs) == schedule.total == 24
    assert [pair.number for pair in pairs] == list(range(24))
    per_way = Counter((pair.first, pair.second, pair.setup) for pair in pairs)
    assert set(per_way.values()) == {4}
    assert len(per_way) == 6
    # The same openings for every pairing; whenever it stops, all played as much.
    for opening in range(4):
        block = pairs[6 * opening : 6 * opening + 6]
        assert {pair.opening for pair in block} == {opening}
        assert len({(pair.first, pair.second, pair.setup) for pair in block}) == 6


ENGINES = st.integers(2, 6).map(lambda count: list("ABCDEF"[:count]))
SETUPS = st.integers(1, 3).map(lambda count: ["x", "y", "z"][:count])


@given(ENGINES, SETUPS, st.integers(1, 5), st.integers(1, 5), st.booleans())
def test_numbers_stay_when_games_grow(
    engines: list[str], setups: list[str], pairs: int, more: int, everyone: bool
) -> None:
    pairings = round_robin(engines) if everyone else gauntlet(engines)
    before = AllPlay(pairings, setups, pairs).open_pairs({})
    after = AllPlay(pairings, setups, pairs + more).open_pairs({})
    assert after[: len(before)] == before


@given(ENGINES, SETUPS, st.integers(1, 3), st.data())
@settings(max_examples=40)
def test_all_play_resumes_from_any_results(
    engines: list[str], setups: list[str], pairs: int, data: st.DataObject
) -> None:
    schedule = AllPlay(round_robin(engines), setups, pairs)
    every = schedule.open_pairs({})
    results: Games = {}
    for pair in every:
        both = games_of(pair, pair.second)
        for key in data.draw(st.sets(st.sampled_from(sorted(both)))):
            results[key] = both[key]
    left = schedule.open_pairs(results)
    assert left == [pair for pair in every if not is_finished(pair, results)]
    assert schedule.total == len(every)


# Swiss


def rounds_of(order: list[Pair], per_round: int) -> list[list[tuple[str, str]]]:
    """Return the pairings round by round."""
    assert len(order) % per_round == 0
    return [
        list(dict.fromkeys((pair.first, pair.second) for pair in order[i:][:per_round]))
        for i in range(0, len(order), per_round)
    ]


def test_swiss_pairs_like_scores() -> None:
    order = played_out(Swiss("ABCD", ["x"], 1, 3), "ABCD")
    assert rounds_of(order, 2) == [
        [("A", "B"), ("C", "D")],
        [("A", "C"), ("B", "D")],
        [("A", "D"), ("B", "C")],
    ]


def test_swiss_waits_for_its_round() -> None:
    schedule = Swiss("ABCD", ["x"], 1, 2)
    first = schedule.open_pairs({})
    assert [pair.number for pair in first] == [0, 1]
    results = games_of(first[0], "A")
    assert schedule.open_pairs(results) == first[1:]
    half = games_of(first[1], "D")
    results[1, 0] = half[1, 0]
    assert schedule.open_pairs(results) == first[1:]
    results |= half
    assert [pair.number for pair in schedule.open_pairs(results)] == [2, 3]
    assert schedule.open_pairs(results)[0][1:3] == ("A", "D")


@pytest.mark.parametrize("count", [3, 5, 7])
def test_swiss_with_an_odd_number_of_engines(count: int) -> None:
    engines = "ABCDEFG"[:count]
    rounds = 2 * count
    schedule = Swiss(engines, ["x"], 2, rounds)
    order = played_out(schedule)
    assert len(order) == schedule.total == rounds * (count // 2) * 2
    rests = Counter(
        set(engines).difference(*pairings).pop()
        for pairings in rounds_of(order, 2 * (count // 2))
    )
    assert rests == dict.fromkeys(engines, 2)


@given(
    st.integers(2, 7),
    SETUPS,
    st.integers(1, 3),
    st.integers(1, 6),
    st.permutations("ABCDEFG"),
)
def test_swiss_rounds(
    count: int, setups: list[str], pairs: int, rounds: int, strength: list[str]
) -> None:
    engines = "ABCDEFG"[:count]
    schedule = Swiss(engines, setups, pairs, rounds)
    order = played_out(schedule, "".join(strength))
    assert [pair.number for pair in order] == list(range(schedule.total))
    ways = len(setups) * pairs
    for number, pairings in enumerate(rounds_of(order, count // 2 * ways)):
        playing = [name for pairing in pairings for name in pairing]
        assert len(playing) == len(set(playing)) == count // 2 * 2
        block = order[number * (count // 2) * ways :][: (count // 2) * ways]
        openings = {pair.opening for pair in block}
        assert openings == set(range(number * pairs, (number + 1) * pairs))
        for way in itertools.product(pairings, setups):
            played = [p for p in block if ((p.first, p.second), p.setup) == way]
            assert len({pair.opening for pair in played}) == pairs


def test_swiss_meets_everyone_before_anyone_twice() -> None:
    order = played_out(Swiss("ABCD", ["x"], 1, 3))
    met = Counter(frozenset((pair.first, pair.second)) for pair in order)
    assert set(met.values()) == {1}
    assert len(met) == 6


@given(st.integers(2, 5), st.integers(1, 2), st.integers(1, 4), st.data())
@settings(max_examples=60)
def test_swiss_resumes_from_any_results(
    count: int, pairs: int, rounds: int, data: st.DataObject
) -> None:
    schedule = Swiss("ABCDE"[:count], ["x"], pairs, rounds)
    winners: dict[int, str] = {}
    results: Games = {}
    order: list[Pair] = []
    while left := schedule.open_pairs(results):
        order += left
        for pair in left:
            winners[pair.number] = data.draw(st.sampled_from(pair[1:3]))
            results |= games_of(pair, winners[pair.number])
    # A run that stopped anywhere: of the unfinished round any games, of the earlier
    # rounds all, of the later ones none.
    stop = data.draw(st.integers(0, len(order) - 1))
    per_round = (count // 2) * pairs
    begun = stop // per_round * per_round
    kept = {key: game for key, game in results.items() if key[0] < begun}
    loose = sorted(key for key in results if begun <= key[0] < begun + per_round)
    for key in data.draw(st.sets(st.sampled_from(loose))):
        kept[key] = results[key]
    continued = order[:begun]
    while left := schedule.open_pairs(kept):
        for pair in left:
            assert pair == order[pair.number]
            kept |= games_of(pair, winners[pair.number])
        continued += left
    assert kept.keys() == results.keys()


def test_a_game_taken_back_reopens_its_round() -> None:
    schedule = Swiss("ABCD", ["x"], 1, 3)
    results: Games = {}
    for pair in schedule.open_pairs({}):
        results |= games_of(pair, pair.first)
    second = schedule.open_pairs(results)
    results |= games_of(second[0], "A")
    taken = results.pop((0, 1))
    assert taken.termination is Termination.BOARD
    assert [pair.number for pair in schedule.open_pairs(results)] == [0]
