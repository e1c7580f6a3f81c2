"""The report's text: two engines, three, extremes, and nothing at all."""

import re

import pytest

from protocol.arena.report import format_match, format_report, signed, table
from protocol.arena.store import GameRecord, Termination

from .support import result

BOARD, CRASH, TIME = Termination.BOARD, Termination.CRASH, Termination.TIME
VOID = Termination.VOID


def pair_of(
    number: int, first: str, second: str, *, names: str = "AB", setup: str = "dense-7x7"
) -> list[GameRecord]:
    """Return the two games of a pair with their winners; no game is like another."""
    one, two = names[0], names[1]
    return [
        result(
            number,
            game,
            winner,
            black=(one, two)[game],
            white=(two, one)[game],
            setup=setup,
            opening=("A2",),
            moves=("A2", f"B{2 * number + game + 1}"),
            seconds=(0.25,),
            limit=(0.2,),
        )
        for game, winner in enumerate((first, second))
    ]


MATCH = [
    *pair_of(0, "A", "A"),
    *pair_of(1, "A", "B"),
    *pair_of(2, "A", "A"),
    *pair_of(3, "B", "B"),
]

TWO = """\
A against B: 5 : 3 in 8 games (62.5%)
pairs won 2, shared 1, lost 1
Elo +89, 95% -164 to +342, superior with 73.8%

Black (first) won 5 of 8 games: 62.5%, 95% 34.8 to 83.9%

games ended by: board 8

seconds a move  moves   mean  longest  over limit  worst overrun
A                   4  0.250    0.250           4          0.050
B                   4  0.250    0.250           4          0.050"""


def test_two_engines() -> None:
    assert format_report(MATCH) == TWO


def test_two_engines_under_an_sprt() -> None:
    text = format_report(MATCH, sprt=(0, 20))
    lines = text.splitlines()
    assert lines[3].startswith("SPRT [0, 20] (logistic Elo, pairs): LLR ")
    assert lines[3].endswith(", bounds -2.94 and 2.94, undecided")
    assert lines[:3] + lines[4:] == TWO.splitlines()


@pytest.mark.parametrize(("winner", "verdict"), [("A", "H1"), ("B", "H0")])
def test_a_decided_sprt(winner: str, verdict: str) -> None:
    games = [game for k in range(30) for game in pair_of(k, winner, winner)]
    line = format_match(games, "A", "B", (0, 100)).splitlines()[3]
    assert re.search(
        rf", bounds -2\.94 and 2\.94, {verdict} accepted after \d+ pairs$", line
    )


def test_every_game_won() -> None:
    games = [game for k in range(10) for game in pair_of(k, "A", "A")]
    lines = format_report(games).splitlines()
    assert lines[0] == "A against B: 20 : 0 in 20 games (100.0%)"
    assert lines[1] == "pairs won 10, shared 0, lost 0"
    assert lines[2].startswith("Elo +")
    assert " to no upper bound, superior with 100.0%" in lines[2]


def test_every_game_lost() -> None:
    games = [game for k in range(10) for game in pair_of(k, "B", "B")]
    lines = format_report(games).splitlines()
    assert lines[0] == "A against B: 0 : 20 in 20 games (0.0%)"
    assert "95% no lower bound to -" in lines[2]
    assert lines[2].endswith("superior with 0.0%")


def test_every_pair_shared() -> None:
    games = [game for k in range(10) for game in pair_of(k, "A", "B")]
    lines = format_report(games).splitlines()
    assert lines[1] == "pairs won 0, shared 10, lost 0"
    assert lines[2].startswith("Elo +0, 95% -")
    assert lines[4] == (
        "Black (first) won 20 of 20 games: 100.0%, 95% "
        + lines[4].partition("95% ")[2].partition(" to")[0]
        + " to 100.0%"
    )


def test_one_pair() -> None:
    lines = format_report(pair_of(0, "A", "A"), sprt=(0, 20)).splitlines()
    assert lines[0] == "A against B: 2 : 0 in 2 games (100.0%)"
    assert lines[3].endswith("undecided")
    assert "nan" not in "".join(lines)
    assert "inf" not in "".join(lines)


def test_no_finished_pair() -> None:
    assert format_report([]) == "0 games, no finished pair yet"
    assert format_report(MATCH[:1]) == "1 game, no finished pair yet"
    voids = [result(0, game, None, VOID) for game in (0, 1)]
    assert format_report(voids) == "2 games, no finished pair yet"


def test_half_a_pair_is_no_result() -> None:
    more = [*MATCH, *pair_of(4, "A", "A")[:1]]
    assert format_report(more).splitlines()[:3] == TWO.splitlines()[:3]


def test_who_is_first_is_a_matter_of_the_pair_not_of_the_order() -> None:
    # Pair 0 may be recorded from its second game on: its first was played again.
    games = [MATCH[1], MATCH[0], *MATCH[2:]]
    assert format_report(games).startswith("A against B: 5 : 3 in 8 games")


def test_forfeits() -> None:
    games = [
        *MATCH,
        result(4, 0, "A", CRASH),
        result(4, 1, "A", TIME),
        result(5, 0, "B", CRASH),
        result(5, 1, None, VOID),
    ]
    text = format_report(games)
    assert "games ended by: board 8, time 1, crash 2, void 1" in text
    assert "A forfeited by: crash 1" in text
    assert "B forfeited by: crash 1, time 1" in text


def test_duplicates() -> None:
    games = [*MATCH, *pair_of(0, "A", "A")]
    games[8:] = [
        result(9, g.game, "A", setup=g.setup, opening=g.opening, moves=g.moves)
        for g in games[8:]
    ]
    assert (
        "2 games repeat another one move for move: they add no evidence, and the "
        "intervals above are too narrow"
    ) in format_report(games)
    assert "repeat" not in TWO


def test_engines_without_times() -> None:
    games = [result(0, game, "A", moves=(f"A{game + 1}",)) for game in (0, 1)]
    assert format_report(games).splitlines()[-1] == (
        "B                   0  0.000    0.000           0          0.000"
    )


# Three engines


THREE = [
    *pair_of(0, "A", "A"),
    *pair_of(1, "A", "C", names="AC"),
    *pair_of(2, "B", "B", names="BC"),
    *pair_of(3, "A", "B", setup="dense-7x9"),
    *pair_of(4, "A", "A", names="AC", setup="dense-7x9"),
    *pair_of(5, "B", "C", names="BC", setup="dense-7x9"),
]


def test_three_engines() -> None:
    parts = format_report(THREE).split("\n\n")
    ratings, cross, on_setups, first, ends, times = parts
    rows = [line.split() for line in ratings.splitlines()]
    assert rows[0] == ["ratings", "(Bradley-Terry)", "Elo", "+-95%", "games", "score"]
    assert [(row[0], *row[3:]) for row in rows[1:]] == [
        ("A", "8", "75.0%"),
        ("B", "8", "50.0%"),
        ("C", "8", "25.0%"),
    ]
    assert cross == (
        "wins/games against    A    B    C\n"
        "A                     -  3/4  3/4\n"
        "B                   1/4    -  3/4\n"
        "C                   1/4  1/4    -"
    )
    assert on_setups == (
        "wins/games on    A    B    C\n"
        "dense-7x7      3/4  2/4  1/4\n"
        "dense-7x9      3/4  2/4  1/4"
    )
    assert first.startswith("Black (first) won 9 of 12 games: 75.0%, 95% ")
    assert ends == "games ended by: board 12"
    assert times.count("\n") == 3


def test_an_anchor() -> None:
    rows = format_report(THREE, anchor="B").split("\n\n")[0].splitlines()[1:]
    assert [row.split()[:3] for row in rows if row.startswith("B")] == [
        ["B", "+0", "0"]
    ]


def test_groups_that_nothing_compares() -> None:
    games = [
        *pair_of(0, "A", "A"),
        *pair_of(1, "C", "C", names="CD"),
    ]
    text = format_report(games).split("\n\n")[0]
    assert "No loss or no meeting separates these groups: " in text
    assert "rest on one virtual draw an engine" in text


def test_pairings_that_have_not_met() -> None:
    cross = format_report(THREE[:4]).split("\n\n")[1].splitlines()
    assert cross[2].split() == ["B", "0/2", "-", "-"]


# Pieces


@pytest.mark.parametrize(
    ("elo", "text"),
    [
        (0.0, "+0"),
        (12.4, "+12"),
        (-3.6, "-4"),
        (float("inf"), "no upper bound"),
        (float("-inf"), "no lower bound"),
    ],
)
def test_signed(elo: float, text: str) -> None:
    assert signed(elo) == text


def test_table() -> None:
    assert table(("a", "bb"), [("long", "1"), ("x", "")]) == (
        "a     bb\n"
        "long   1\n"
        "x"
    )  # fmt: skip
    assert table(("a",), []) == "a"
