"""Records played again: every kind of forged record is found, SGF files are right."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sgfmill import sgf as sgfmill

from protocol.arena import replay
from protocol.arena.replay import result as sgf_result
from protocol.arena.replay import sgf_path, to_sgf, verify, write_sgf
from protocol.arena.store import GameRecord, Termination
from tanbo_engine import setups
from tanbo_engine.points import Color

from .support import played, result

BOARD, RESIGN, TIME = Termination.BOARD, Termination.RESIGN, Termination.TIME
VOID, INTERRUPTED = Termination.VOID, Termination.INTERRUPTED
CRASH, HANG, ILLEGAL = Termination.CRASH, Termination.HANG, Termination.ILLEGAL
PROTOCOL_ERROR = Termination.PROTOCOL_ERROR


def forged(record: GameRecord, **changes: object) -> GameRecord:
    return msgspec.structs.replace(record, **changes)


GAME = played(5, 0)
OTHER = "white" if GAME.winner == "black" else "black"
HALF = played(5, 0, plies=8, termination=RESIGN, winner="white")
"""Black, who is to move, resigns."""


def test_true_records() -> None:
    games = [played(pair, game) for pair in range(3) for game in (0, 1)]
    games.append(forged(HALF, pair=8))
    games.append(result(9, 0, None, VOID))
    games.append(forged(HALF, pair=9, game=1, winner=None, termination=INTERRUPTED))
    assert verify(games) == []
    assert verify([]) == []


@pytest.mark.parametrize("end", [CRASH, HANG, PROTOCOL_ERROR])
@pytest.mark.parametrize("winner", ["black", "white"])
def test_either_side_may_fail(end: Termination, winner: str) -> None:
    # Also when it is shown the other side's move.
    assert verify([forged(HALF, termination=end, winner=winner)]) == []


@pytest.mark.parametrize("end", [TIME, ILLEGAL])
def test_only_who_moves_loses_by_the_move(end: Termination) -> None:
    faults = [
        verify([forged(HALF, termination=end, winner=winner)])
        for winner in ("black", "white")
    ]
    assert sorted(map(len, faults)) == [0, 1]


@pytest.mark.parametrize(
    "name", ["dense-7x7", "dense-7x9", "dense-9x7", "classic-5x5", "classic-9x9"]
)
def test_true_records_on_any_board(name: str) -> None:
    assert verify([played(0, 0, setup=name)]) == []


FORGED: dict[str, tuple[dict[str, Any], str]] = {
    "winner": (
        {"winner": OTHER},
        f"{GAME.winner} has won on the board, not {OTHER}",
    ),
    "no winner": (
        {"winner": None},
        f"{GAME.winner} has won on the board, not None",
    ),
    "cut short": (
        {"moves": GAME.moves[:-1]},
        "ended by board, but the game goes on on the board",
    ),
    "no moves": (
        {"moves": GAME.opening},
        "ended by board, but the game goes on on the board",
    ),
    "resigned after the end": (
        {"termination": RESIGN},
        "ended by resign, but the game is over on the board",
    ),
    "void after the end": (
        {"termination": VOID},
        "ended by void, but the game is over on the board",
    ),
    "moves after the end": (
        {"moves": (*GAME.moves, "A1")},
        f"move {len(GAME.moves) + 1} A1: ",
    ),
    "an illegal move": (
        {"moves": (*GAME.moves[:4], GAME.moves[3], *GAME.moves[4:])},
        f"move 5 {GAME.moves[3]}: ",
    ),
    "no vertex": ({"moves": ("A2", "??")}, "move "),
    "off the board": ({"moves": ("Z9",), "opening": ("Z9",)}, "move 1 Z9: "),
    "a pass": ({"moves": (*GAME.moves[:4], "pass")}, "move 5 pass: "),
    "another opening": (
        {"opening": GAME.opening[::-1]},
        "the moves do not begin with the opening",
    ),
    "a longer opening": (
        {"opening": (*GAME.moves, "A1")},
        "the moves do not begin with the opening",
    ),
    "another set-up": ({"setup": "dense-3x3"}, "move "),
    "an unknown set-up": ({"setup": "dense-8x8"}, "no set-up dense-8x8: "),
    "no set-up": ({"setup": ""}, "unknown set-up ''"),
    "a third game": ({"game": 2}, "a pair has games 0 and 1"),
}

FORGED_HALVES: dict[str, tuple[dict[str, Any], str]] = {
    "who is not to move resigns": (
        {"winner": "black"},
        "black was to move: the other side cannot have lost so",
    ),
    "a loss without a winner": (
        {"termination": TIME, "winner": None},
        "ended by time with the winner None",
    ),
    "no colour": ({"winner": "A"}, "ended by resign with the winner A"),
    "void with a winner": (
        {"termination": VOID},
        "ended by void with the winner white",
    ),
    "interrupted with a winner": (
        {"termination": INTERRUPTED},
        "ended by interrupted with the winner white",
    ),
    "over": (
        {"termination": BOARD},
        "ended by board, but the game goes on on the board",
    ),
}


@pytest.mark.parametrize("kind", [*FORGED, *FORGED_HALVES])
def test_forged_records_are_found(kind: str) -> None:
    changes, words = FORGED.get(kind) or FORGED_HALVES[kind]
    record = forged(GAME if kind in FORGED else HALF, **changes)
    good = played(6, 0)
    (fault,) = verify([good, record])
    assert fault.startswith(f"pair 5 game {record.game}: {words}")
    assert "\n" not in fault


def test_a_game_recorded_twice() -> None:
    games = [played(0, 0), played(0, 1), played(0, 0)]
    assert verify(games) == ["pair 0 game 0: recorded twice"]


def test_a_game_that_was_taken_back() -> None:
    void = result(0, 0, None, VOID)
    assert verify([played(0, 0), played(0, 1), void, played(0, 0)]) == []
    assert verify([void, void, played(0, 0)]) == []
    twice = [played(0, 0), void, played(0, 0), played(0, 0)]
    assert verify(twice) == ["pair 0 game 0: recorded twice"]


@pytest.mark.parametrize(
    "changes",
    [
        {"black": "A", "white": "B"},
        {"white": "C"},
        {"opening": ()},
        {"opening": played(0, 0).moves[:1]},
    ],
)
def test_games_that_are_no_pair(changes: dict[str, Any]) -> None:
    first, second = played(0, 0), forged(played(0, 1), **changes)
    fault = "not its other game with colours swapped"
    assert verify([first, second]) == [f"pair 0 game 1: {fault}"]
    assert verify([second, first]) == [f"pair 0 game 0: {fault}"]


# SGF


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (result(0, 0, "A"), "B+1"),
        (result(0, 0, "B"), "W+1"),
        (result(0, 0, "A", RESIGN), "B+R"),
        (result(0, 0, "B", TIME), "W+T"),
        (result(0, 0, "A", Termination.CRASH), "B+F"),
        (result(0, 0, "A", Termination.ILLEGAL), "B+F"),
        (result(0, 0, None, VOID), "Void"),
        (result(0, 0, None, INTERRUPTED), "Void"),
    ],
)
def test_results(record: GameRecord, text: str) -> None:
    assert sgf_result(record) == text


def test_an_sgf_of_a_square() -> None:
    record = played(1, 0, setup="dense-7x7", black="A [1]", white="B\\")
    game = sgfmill.Sgf_game.from_string(to_sgf(record, "cup: final"))
    root = game.get_root()
    assert game.get_size() == 7
    assert root.get("RU") == "Tanbo"
    assert root.get("GN") == "dense-7x7"
    assert (root.get("PB"), root.get("PW")) == ("A [1]", "B\\")
    assert root.get("EV") == "cup: final"
    assert root.get("RE") == f"{str(record.winner)[0].upper()}+1"
    assert root.get("C") == "board: told; opening of 2 plies"
    start = setups.by_name("dense-7x7").position()
    for color, name in zip(Color, ("AB", "AW"), strict=True):
        points = {row * 7 + column for row, column in root.get(name)}
        assert points == start.stones(color)
    moves = [node.get_move() for node in game.get_main_sequence()[1:]]
    assert [color for color, _ in moves] == ["b", "w"] * (len(moves) // 2) + ["b"] * (
        len(moves) % 2
    )
    vertices = [f"{'ABCDEFG'[column]}{row + 1}" for _, (row, column) in moves]
    assert tuple(vertices) == record.moves


@pytest.mark.parametrize("name", ["dense-7x9", "dense-9x7", "dense-3x5"])
def test_an_sgf_of_a_rectangle(name: str) -> None:
    record = played(1, 0, setup=name)
    text = to_sgf(record)
    width, height = setups.by_name(name).size
    assert f"SZ[{width}:{height}]" in text
    assert f"GN[{name}]" in text
    # The corner A1 is at the bottom left: column a, last row.
    start = setups.by_name(name).position()
    mark = "AB" if 0 in start.black else "AW"
    corner = f"[a{chr(ord('a') + height - 1)}]"
    stones = text.replace("\n", "").partition(mark)[2].partition("A")[0]
    assert corner in stones
    nodes = re.findall(r";[BW]\[(..)\]", text.replace("\n", ""))
    for vertex, code in zip(record.moves, nodes, strict=True):
        column, row = "ABCDEFGHJ".index(vertex[0]), int(vertex[1:]) - 1
        assert code == chr(ord("a") + column) + chr(ord("a") + height - 1 - row)


def test_sgf_files(tmp_path: Path) -> None:
    record = played(12, 1)
    path = sgf_path(tmp_path, record)
    assert path == tmp_path / "sgf" / "000012-1.sgf"
    write_sgf(tmp_path, result(12, 1, None, VOID))
    assert "RE[Void]" in path.read_text()
    write_sgf(tmp_path, record, "x")
    assert path.read_text() == to_sgf(record, "x")
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert replay.SGF_FOLDER == "sgf"
