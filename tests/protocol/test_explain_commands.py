"""The commands that explain: the 25 questions of RULES.md, refusals, the history."""

import re
from typing import NamedTuple

import pytest

from protocol.commands import explain
from protocol.dispatch import handle
from protocol.session import Session
from tanbo_engine import notation

from ..engine.support import example, position_of
from .talk import ask, new_session, refusal

ALL = "all of S1-S14"
SOURCES = {
    "R1": "S1-S13",
    "R2": ALL,
    "R3": ALL,
    "R4": "S1, S3, S4",
    "R5": "S1, S3, S4, S8",
    "R6a": "S1, S2, S4, S8",
    "R6b": "S1, S2, S4, S8",
    "R7": "S3, S5-S7, S9, S11",
    "R8": "S1, S8",
    "R9": "S2, S3, S5, S8, S9",
    "R10": "in none of S1-S14",
    "P1": "ours, proof P1",
    "P4": "ours, proof P4",
    "P5": "ours, proof P5",
    "sizes": "S1 for the sizes; the reason is ours, RULES.md section 4",
}


class Asked(NamedTuple):
    """A question of RULES.md section 8 and what its answer must hold."""

    number: int
    position: str
    lines: str
    sections: str
    says: tuple[str, ...]


START = "shared_point_black"  # dense-7x7, Black to move

QUESTIONS = [
    Asked(
        1,
        "zero_neighbours_dense_B6",
        "tanbo-explain B6",
        "R3",
        ("B6 is not legal for Black", "A6, B5, B7 and C6", "diagonally", "A7 and C5"),
    ),
    Asked(
        2,
        "two_own_same_root",
        "tanbo-explain C3",
        "R3 R4",
        ("not legal", "2 black stones, B3 and C2", "one root", "close a loop"),
    ),
    Asked(
        3,
        "two_own_different_roots",
        "tanbo-explain C3",
        "R3 R4",
        ("not legal", "2 black stones, B3 and D3", "different roots", "never merge"),
    ),
    Asked(
        4,
        "three_own_neighbours",
        "tanbo-explain C3",
        "R3",
        ("3 black stones, B3, C4 and D3", "exactly one is allowed"),
    ),
    Asked(
        4,
        "four_own_neighbours",
        "tanbo-explain C3",
        "R3",
        ("4 black stones, B3, C2, C4 and D3", "exactly one is allowed"),
    ),
    Asked(
        5, START, "tanbo-explain C7", "R3", ("occupied by a stone of White's root C7",)
    ),
    Asked(5, START, "tanbo-explain H1", "R1 R3", ("H1 is off", "columns A to G")),
    Asked(5, START, "tanbo-explain A8", "R1 R3", ("A8 is off", "rows 1 to 7")),
    Asked(5, START, "tanbo-explain i1", "R1 R3", ("I1 is off", "there is no column I")),
    Asked(
        6,
        "enemy_neighbour_only_black",
        "tanbo-explain D3 black",
        "R3",
        ("D3 is not legal for Black", "C3, the one white stone", "lets White play"),
    ),
    Asked(
        7,
        "one_own_three_enemies",
        "tanbo-explain C3",
        "R3",
        ("C3 is legal for Black", "C2, C4 and D3 next to it do not matter for Black"),
    ),
    Asked(
        8,
        "wp_place_legal_A4",
        "tanbo-explain A4",
        "R4",
        ("joins Black's root at B4", "current root is A4, B4, C3, C4, D4 and D5"),
    ),
    Asked(
        9,
        "three_roots_two_own_one_enemy",
        "tanbo-explain B3",
        "R5 R6b",
        (
            "Black's root is removed: A1 and A2.",
            "Black's root is removed: A4 and A5.",
            "White's root is removed: A3.",
        ),
    ),
    Asked(
        9,
        "current_and_two_others_only_current_goes",
        "tanbo-explain D4",
        "R5 R6a",
        ("Black's root is removed: B4, C3, C4, C5 and D4", "nothing else"),
    ),
    Asked(
        10,
        "self_bound_corner",
        "play b A5\ntanbo-explain_last",
        "R5 R6a",
        ("Black played A5", "no growth point left", "root is removed: A5 and B5"),
    ),
    Asked(
        11,
        "own_other_root_bounded_by_shared_point",
        "play b A3\ntanbo-explain_last",
        "R5 R6b",
        ("second black stone ends its growth at A2 (next to A1 and A3)", "removed: A1"),
    ),
    Asked(
        11,
        "corner_capture_dense7",
        "play b A2\ntanbo-explain_last",
        "R5 R6b",
        ("White's root A1 is bounded: the stone at A2 takes its last growth point",),
    ),
    Asked(
        12,
        "no_capture_first_order",
        "play b A4\ntanbo-explain_last",
        "R6a P1",
        ("White's root A2, B2, B3 and B4 is bounded too", "stays", "again at A4"),
    ),
    Asked(
        13,
        "go_eye_is_no_growth_point",
        "tanbo-explain A1",
        "R5",
        ("Empty neighbours that do not count", "B2 (next to A2, B3 and C2)"),
    ),
    Asked(
        14,
        "current_and_two_others_only_current_goes",
        "tanbo-explain_root C4",
        "R5",
        ("2 growth points: D3 and D4", "White shares D4 (next to D5)", "B5 (next to"),
    ),
    Asked(
        15,
        "own_other_root_bounded_by_shared_point",
        "tanbo-explain_root A1",
        "R5 R6a R6b",
        ("Black at A2 would remove it", "Black at B2 would", "Black at A3 would"),
    ),
    Asked(
        15,
        "no_capture_first_order",
        "tanbo-explain_root B3",
        "R6a",
        ("Black at A4 would bound it", "not remove it", "Black's root A3 and A4"),
    ),
    Asked(15, START, "tanbo-explain_root A1", "R5", ("No single move of either side",)),
    Asked(
        16,
        "self_bound_last_root_loses",
        "tanbo-explain A5",
        "R3 R6a R7",
        ("A5 is legal for Black", "legal all the same", "A5 must be played"),
    ),
    Asked(
        17,
        "self_bound_last_root_loses",
        "tanbo-explain pass",
        "R7",
        ("One must place a stone", "always has a move", "Now Black may play at A5."),
    ),
    Asked(
        18,
        "no_capture_first_order",
        "tanbo-rules first",
        "R6a",
        ("comes first", "a bounded enemy root does not go before it", "now: A4."),
    ),
    Asked(
        19,
        "bamboo_two_others",
        "tanbo-explain D5",
        "R6b P1",
        ("root at B1 is bounded", "That is all: no root is bounded after it."),
    ),
    Asked(19, "no_capture_first_order", "tanbo-rules chain", "R6b", ("no chain", "A5")),
    Asked(
        20,
        "both_last_roots_bounded_mover_loses",
        "tanbo-explain A1",
        "R6a R8",
        (
            "removed: A1, A2, A3 and B2",
            "White's root at B1 is bounded too",
            "White wins",
        ),
    ),
    Asked(
        21,
        "self_bound_last_root_loses",
        "tanbo-explain A5",
        "R8",
        ("Black has no stone left: White wins, on Black's own turn",),
    ),
    Asked(22, START, "tanbo-rules draw", "R9", ("no draws", "16 roots and 16 stones")),
    Asked(22, START, "tanbo-rules P4", "P4", ("Roots never increase",)),
    Asked(
        23,
        START,
        "play b A2\nplay w B1\ntanbo-rules length",
        "P5",
        ("at most 600 turns", "2 turns played", "at most 598 can follow"),
    ),
    Asked(
        24,
        START,
        "tanbo-rules sizes",
        "sizes",
        ("3 more than a multiple of 4", "on 9x9 13 to 12", "8 black and 8 white"),
    ),
    Asked(25, START, "tanbo-rules swap", "R10", ("No source has a swap (pie) rule",)),
    Asked(25, START, "tanbo-rules three", "R10", ("Tanbo is for two",)),
    Asked(25, START, "tanbo-rules resign", "R10", ("offer as a convenience",)),
]


async def session_at(name: str) -> Session:
    """Return a session at the position of an example."""
    session = new_session()
    position = notation.format_position(position_of(example(name)))
    await ask(session, f"tanbo-position {position}")
    return session


def test_all_25_questions_are_asked() -> None:
    assert {asked.number for asked in QUESTIONS} == set(range(1, 26))


@pytest.mark.parametrize(
    "asked", QUESTIONS, ids=lambda asked: f"{asked.number}-{asked.position}"
)
async def test_a_question_is_answered(asked: Asked) -> None:
    session = await session_at(asked.position)
    *before, question = asked.lines.split("\n")
    for line in before:
        await ask(session, line)
    *lines, sources = (await ask(session, question)).split("\n")
    text = "\n".join(lines)
    for words in asked.says:
        assert words in text
    cites = ", ".join(re.findall(r" \[(.*?)\]$", text, re.MULTILINE)).split(", ")
    cited = list(dict.fromkeys(cites))
    assert set(asked.sections.split()) <= set(cited)
    told = "; ".join(f"{name}: {SOURCES[name]}" for name in cited)
    assert sources == f"Sources: {told}"


@pytest.mark.parametrize("line", sorted({asked.lines for asked in QUESTIONS}))
async def test_no_answer_has_an_empty_line(line: str) -> None:
    session = await session_at(START)
    reply = await handle(session, line.split("\n")[-1])
    assert reply is not None
    assert reply.index("\n\n") == len(reply) - 2


# Colours and ends


async def test_the_side_to_move_is_meant_unless_one_is_named() -> None:
    session = new_session()
    assert "A2 is legal for Black" in await ask(session, "tanbo-explain a2")
    text = await ask(session, "tanbo-explain A2 W")
    assert "A2 is legal for White" in text
    assert "It is Black's turn" in text


async def test_after_the_end() -> None:
    session = await session_at("self_bound_last_root_loses")
    await ask(session, "play b A5")
    text = await ask(session, "tanbo-explain A5")
    assert text.startswith(
        "A5 is not legal: the game is over, Black has no stone left."
    )
    assert "The game is over" in await ask(session, "tanbo-explain_root A4")
    assert "White has won" in await ask(session, "tanbo-rules pass")
    last = await ask(session, "tanbo-explain_last")
    assert last.startswith("Black played A5")
    await ask(session, "play w pass")
    assert await ask(session, "tanbo-explain_last") == last


async def test_the_last_move_is_that_of_the_game_after_undo() -> None:
    session = new_session()
    await ask(session, "gogui-play_sequence b A2 w B1 b A4")
    assert "Black played A4" in await ask(session, "tanbo-explain_last")
    await ask(session, "undo")
    text = await ask(session, "tanbo-explain_last")
    assert text.startswith("White played B1, next to exactly one white stone, A1. [R3]")


async def test_the_list_of_rules() -> None:
    text = await ask(new_session(), "tanbo-rules")
    lines = text.split("\n")
    assert lines[2] == "R3 placement [all of S1-S14]"
    assert {"R10", "sizes", "P5"} < {line.split()[0] for line in lines}


# Refusals


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("tanbo-explain xyz", "invalid vertex 'xyz': use a column letter"),
        ("tanbo-explain A2 green", "invalid color 'green': use b, black, w or white"),
        ("tanbo-explain_root A2", "A2 is empty: name a point with a stone"),
        ("tanbo-explain_root H1", "H1 is off the board: columns A to G"),
        ("tanbo-explain_root I1", "no column I"),
        ("tanbo-explain_root pass", "invalid vertex 'pass'"),
        ("tanbo-explain_last", "no move has been made: play one first"),
        ("tanbo-rules R11", "no rule 'R11': use R1 to R10"),
        ("tanbo-rules \u00a73", "no rule '?3': use R1 to R10"),
    ],
)
async def test_a_refusal_says_what_would_be_right(line: str, words: str) -> None:
    session = new_session()
    assert words in await refusal(session, line)
    assert session.questions == []


# The history


async def test_what_was_asked_is_kept_with_its_turn() -> None:
    session = new_session()
    assert await ask(session, "tanbo-explanations") == ""
    await ask(session, "tanbo-rules")
    first = await ask(session, "tanbo-explain a2 b")
    await ask(session, "play b A2")
    second = await ask(session, "tanbo-explain_last")
    third = await ask(session, "tanbo-rules Draw")
    expected = []
    for title, answer in [
        ("turn 0: tanbo-explain A2 black", first),
        ("turn 1: tanbo-explain_last", second),
        ("turn 1: tanbo-rules Draw", third),
    ]:
        expected += [title, *(f"  {line}" for line in answer.split("\n"))]
    assert await ask(session, "tanbo-explanations") == "\n".join(expected)
    assert [question.turn for question in session.questions] == [0, 1, 1]


async def test_a_question_is_kept_once_a_position() -> None:
    session = new_session()
    for line in ("play b A2", "tanbo-explain_last", "tanbo-explain_last", "undo"):
        await ask(session, line)
    await ask(session, "play b A4")
    await ask(session, "tanbo-explain_last")
    assert [question.text for question in session.questions] == [
        "tanbo-explain_last"
    ] * 2
    assert len({question.position for question in session.questions}) == 2


@pytest.mark.parametrize(
    "line",
    ["clear_board", "boardsize 7", "tanbo-setup dense-7x9", "gogui-setup_player w"],
)
async def test_a_new_game_has_no_questions(line: str) -> None:
    session = new_session()
    await ask(session, "tanbo-explain A2")
    await ask(session, line)
    assert await ask(session, "tanbo-explanations") == ""


async def test_the_latest_questions_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explain, "_MOST_QUESTIONS", 2)
    session = new_session()
    for name in ("R1", "R2", "R3"):
        await ask(session, f"tanbo-rules {name}")
    texts = [question.text for question in session.questions]
    assert texts == ["tanbo-rules R2", "tanbo-rules R3"]
