"""Certificates: good ones hold, all others are refused in one line."""

from functools import cache

import pytest

from tanbo_engine import certificate, notation, rules
from tanbo_engine._kernel import StopFlag
from tanbo_engine.certificate import BrokenCertificate, check
from tanbo_engine.points import Color
from tanbo_engine.solver import Limits, Solver

from .support import start


@cache
def good(name: str) -> tuple[str, ...]:
    """Return the lines of a certificate that holds."""
    solver = Solver(start(name), 16)
    winner = solver.solve(Limits(), StopFlag()).winner
    assert winner is not None
    replies = solver.strategy(StopFlag())
    return tuple(certificate.lines(start(name), winner, replies))


def refusal(lines: list[str], wanted: rules.Position | None = None) -> str:
    """Return why a certificate is refused."""
    with pytest.raises(BrokenCertificate) as raised:
        check(lines, wanted)
    message = str(raised.value)
    assert "\n" not in message
    assert len(message) < 250
    return message


@pytest.mark.parametrize("name", ["dense-3x3", "dense-3x5", "dense-3x7"])
def test_white_wins_the_small_dense_boards(name: str) -> None:
    told: list[int] = []
    checked = check(good(name), start(name), told.append)
    assert checked[:3] == (start(name), Color.WHITE, None)
    assert told == list(range(1, checked.positions + 1))


def test_a_winner_to_move_is_told_a_move() -> None:
    after = rules.play(start("dense-3x5"), 1).after
    solver = Solver(after, 16)
    assert solver.solve(Limits(), StopFlag()).winner is Color.WHITE
    lines = certificate.lines(after, Color.WHITE, solver.strategy(StopFlag()))
    checked = check(f"{line}\n" for line in lines)
    assert checked.point is not None
    later = rules.play(after, checked.point).after
    assert Solver(later, 8).solve(Limits(), StopFlag()).winner is Color.WHITE


def test_a_line_stands_for_its_images() -> None:
    title, *lines = good("dense-3x3")
    mirrored = []
    for line in lines:
        text, vertex = line.rsplit(" ", 1)
        size, board, side = text.split()
        board = "/".join(reversed(board.split("/")))
        vertex = f"{vertex[0]}{4 - int(vertex[1])}"
        mirrored.append(f"{size} {board} {side} {vertex}")
    assert check([title, *mirrored]).positions == check([title, *lines]).positions


def test_the_title_says_who_wins_what() -> None:
    title = good("dense-3x3")[0]
    assert title == "tanbo-certificate 1 white 3x3 X1O/3/O1X b"


@pytest.mark.parametrize(
    ("title", "words"),
    [
        ("", "it is no certificate: line 1 is not tanbo-certificate 1"),
        ("(;GM[1])", "it is no certificate"),
        ("tanbo-certificate", "line 1: unknown version"),
        ("tanbo-certificate 2 white 3x3 X1O/3/O1X b", "line 1: unknown version"),
        ("tanbo-certificate 1", "line 1: the winner is black or white"),
        (
            "tanbo-certificate 1 red 3x3 X1O/3/O1X b",
            "line 1: the winner is black or white",
        ),
        ("tanbo-certificate 1 white", "line 1: a position is SIZE ROWS SIDE"),
        ("tanbo-certificate 1 white 3x3 X1O/4/O1X b", "line 1: row 2"),
        ("tanbo-certificate 1 white 3x3 XX1/XX1/2O b", "line 1: the black root"),
        ("tanbo-certificate 1 white 3x3 3/3/3 b", "line 1: the board has no stones"),
    ],
)
def test_wrong_titles(title: str, words: str) -> None:
    assert refusal([title, *good("dense-3x3")[1:]]).startswith(words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "line 3: '' is not POSITION VERTEX"),
        ("3x3 X1O/3/O1X w", "line 3: '3x3 X1O/3/O1X w' is not POSITION VERTEX"),
        ("x" * 5000, "line 3: 'xxx"),
        ("3x3 X1O/4/O1X w A2", "line 3: row 2 from the top has"),
        ("3x3 X1O/3/O1X w Z9", "line 3: Z9 is off the board"),
        ("3x3 X1O/3/O1X w pass", "line 3: invalid vertex 'pass'"),
        ("3x3 X1O/3/O1X b A2", "line 3: it is not white's turn"),
        ("3x5 3/3/X1O/3/O1X w A2", "line 3: a board of 3x5, not 3x3"),
        ("3x3 X1O/3/O1X w A2", "line 3: the strategy never comes to 3x3 O1X/3/X1O w"),
    ],
)
def test_wrong_lines(line: str, words: str) -> None:
    lines = list(good("dense-3x3"))
    assert refusal([*lines[:2], line, *lines[2:]]).startswith(words)


def test_a_line_that_comes_twice() -> None:
    lines = list(good("dense-3x3"))
    last = f"line {len(lines) + 1}"
    assert refusal([*lines, lines[1]]) == f"{last}: the position of line 2 again"


@pytest.mark.parametrize("name", ["dense-3x3", "dense-3x5"])
def test_a_line_that_is_missing(name: str) -> None:
    for left_out in range(1, min(len(good(name)), 10)):
        lines = [line for n, line in enumerate(good(name)) if n != left_out]
        assert refusal(lines).startswith("no reply to 3x")


def test_a_file_that_is_cut_off() -> None:
    assert refusal(list(good("dense-3x5")[:300])).startswith("no reply to 3x5")
    assert refusal(list(good("dense-3x5")[:1])).startswith("no reply to 3x5")


def test_an_illegal_reply() -> None:
    title, first, *rest = good("dense-3x3")
    for point in range(9):
        vertex = f"{'ABC'[point % 3]}{point // 3 + 1}"
        position = notation.parse_position(first.rsplit(" ", 1)[0])
        if point not in rules.legal_moves(position):
            changed = f"{first.rsplit(' ', 1)[0]} {vertex}"
            message = refusal([title, changed, *rest])
            assert message.startswith("line 2: illegal move: ")


def test_a_reply_that_does_not_win() -> None:
    lines = list(good("dense-3x5"))
    refused = 0
    for number, line in enumerate(lines[1:12], 1):
        text = line.rsplit(" ", 1)[0]
        position = notation.parse_position(text)
        for point in rules.legal_moves(position):
            vertex = f"{'ABC'[point % 3]}{point // 3 + 1}"
            if f"{text} {vertex}" == line:
                continue
            changed = [*lines[:number], f"{text} {vertex}", *lines[number + 1 :]]
            try:
                check(changed)
            except BrokenCertificate:
                refused += 1
            else:
                after = rules.play(position, point).after
                solver = Solver(after, 1)
                assert solver.solve(Limits(), StopFlag()).winner is Color.WHITE
    assert refused > 5


def test_the_loser_has_no_certificate() -> None:
    title = "tanbo-certificate 1 black 3x3 X1O/3/O1X b"
    lines = [title]
    for _ in range(100):  # whatever is missing, play the first legal move there
        message = refusal(lines)
        if not message.startswith("no reply to "):
            break
        text = message.removeprefix("no reply to ")
        point = rules.legal_moves(notation.parse_position(text))[0]
        lines.append(f"{text} {'ABC'[point % 3]}{point // 3 + 1}")
    assert message.startswith("white wins at 3x3")


def test_a_start_that_is_over() -> None:
    title = "tanbo-certificate 1 {} 3x3 X2/3/3 w"
    assert check([title.format("black")]).positions == 1
    assert refusal([title.format("white")]).startswith("black wins at")


def test_a_certificate_of_something_else() -> None:
    message = refusal(list(good("dense-3x3")), start("dense-3x5"))
    assert message.startswith("it is about 3x3 X1O/3/O1X b, not about 3x5")


def test_play_that_goes_round_in_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    there = start("dense-3x3")
    back = there._replace(to_move=Color.WHITE)

    def play(position: rules.Position, point: int) -> rules.Turn:
        root = rules.root_at(position, min(position.black))
        return rules.Turn(back if position == there else there, root, False, ())

    monkeypatch.setattr(rules, "play", play)
    message = refusal([good("dense-3x3")[0], "3x3 X1O/3/O1X w A2"])
    assert message.startswith("play goes round in a circle at 3x3")
