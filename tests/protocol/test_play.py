"""A game at the terminal, as typed through a pipe and at a terminal."""

import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tanbo_engine import notation, setups
from tanbo_engine.api import Tanbo

from .talk import ROOT

FAST = ("--nodes", "30", "--seed", "1", "--memory", "8")


def program(*options: str) -> list[str]:
    return [sys.executable, "-m", "protocol", "play", *FAST, *options]


def talk(*lines: str, options: tuple[str, ...] = (), **environment: str) -> str:
    """Type lines through a pipe; return what is said, which must end well."""
    done = subprocess.run(
        program(*options),
        input="".join(f"{line}\n" for line in lines).encode(),
        capture_output=True,
        cwd=ROOT,
        env=os.environ | {"COLUMNS": "100"} | environment,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def answers(*lines: str, options: tuple[str, ...] = ()) -> list[str]:
    """Return what is said behind each line."""
    output = talk(*lines, "quit", options=options)
    parts = re.split(r"^(?:Black|White|Game over)> .*\n", output, flags=re.MULTILINE)
    return [part.strip() for part in parts[1:-1]]


# A game


def test_a_person_plays_black_and_the_engine_answers() -> None:
    output = talk("b1")
    assert output.startswith("Tanbo, a game by Mark Steere.\nYou play Black (X). Type")
    assert notation.diagram(setups.by_name("dense-7x7").position()) in output
    assert re.search(
        r"^Black> b1\nBlack plays B1\.\nWhite plays [A-G]\d \(\d+% to win\)\.\n\n"
        r"   A B C D E F G\n(.*\n)+\n"
        r"Move 3, Black to move\. Growth points: Black \d+, White \d+\.\nBlack> \n"
        r"Good-bye\.\n\Z",
        output,
        re.MULTILINE,
    )
    assert re.findall(r"\([XO.]\)", output) == ["(X)", "(O)"]  # the greeting's


def test_the_engine_begins_when_a_person_plays_white() -> None:
    output = talk("quit", options=("--color", "w", "--setup", "dense-7x9"))
    assert "You play White (O)" in output
    assert output.index("Black plays") < output.index("White> quit")


def test_two_persons() -> None:
    said = answers("b1", "b7", "undo", options=("--color", "both"))
    assert said[0].startswith("Black plays B1.\n\n")
    assert "White to move" in said[0]
    assert "(O)" in said[1]
    assert said[2].startswith("Taken back: B7.\n")
    assert "White to move" in said[2]


def test_the_engine_alone_plays_to_the_end() -> None:
    options = ("--color", "none", "--setup", "dense-3x5")
    output = talk("undo", "moves", options=options)
    winner = re.search(r"^(\w+) has no stone left: (\w+) has won\.$", output, re.M)
    assert winner is not None
    assert "Game over> undo\nThere is no move of yours to take back.\n" in output
    assert "Game over> moves\nThe game is over: try new" in output


@pytest.mark.parametrize("nodes", ["30", "50", "1000"])
def test_a_sure_win_leaves_the_other_side_lost(nodes: str) -> None:
    for seed in "123":
        options = ("--color", "none", "--setup", "dense-3x5", "--seed", seed)
        output = talk(options=(*options, "--nodes", nodes))
        remarks = re.findall(r"^\w+ plays \w+ \(([^)]*)\)", output, re.M)
        sure = [n for n, remark in enumerate(remarks) if remark == "a sure win"]
        assert sure
        for n in sure:
            assert set(remarks[n + 1 : n + 2]) <= {"lost against best play"}


def test_removals_are_told() -> None:
    tanbo = Tanbo("dense-3x3", seed=1, memory_mb=8)
    moves = []
    while tanbo.winner is None:
        moves.append(tanbo.legal_moves()[0])
        tanbo.play(moves[-1])
    output = talk(
        *moves, "hint", "a1", options=("--color", "both", "--setup", "dense-3x3")
    )
    assert re.search(r"(removes|bounds its own root: )", output)
    assert f"{tanbo.winner.word.capitalize()} has won." in output
    assert output.count("The game is over: try new, undo, save or quit.") == 2


# Words


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("a1", "A1 is occupied (R3)."),
        ("D4", "D4 touches no black stone (R3)."),
        ("i3", "I3 is off the board: columns A to G (there is no column I), rows 1 to"),
        ("pass", "There is no passing: a move is always there (R7)."),
        ("foo", "foo is neither a vertex nor a word of mine: try help."),
        ("b1 b7", "b1 b7 is neither a vertex"),
        ("x\x1b[2J" + "y" * 100, "x?[2Jyyy"),
        ("why", "Name a point, as in: why C4"),
        ("why a99", "A99 is off the board"),
        ("undo", "There is no move of yours to take back."),
        ("save", "Name a file, as in: save game.sgf"),
        ('save ""', "Name a file, as in: save game.sgf"),
        ("hint 3", "hint stands alone: nothing goes behind it."),
        ("Q now", "quit stands alone: nothing goes behind it."),
        ("save /nonexistent/x", "/nonexistent/x cannot be written: No such file"),
        ("save /dev/null\x00", "cannot be written: embedded null byte."),
        ("new 8x8", "Unknown set-up '8x8': use dense-WxH"),
    ],
)
def test_what_cannot_be_done_is_one_line(line: str, said: str) -> None:
    (answer,) = answers(line)
    assert said in answer
    assert "\n" not in answer


def test_words_that_tell() -> None:
    moves, roots, why, about_root, hint, last, board, help_ = answers(
        *("moves", "ROOTS", "why b1", "why a1", "hint", "b1"), "board", "help"
    )
    assert moves.startswith("Black may play A2 A4 A6 B1")
    assert "White A1: can grow at A2 B1" in roots
    assert why.startswith("B1 is legal for Black")
    assert about_root.startswith("White's root with 1 stone: A1.")
    assert re.match(r"[A-G]\d looks best \(\d+% to win\)\. It may go on: [A-G]", hint)
    assert re.match(r"White plays [A-G]\d\.\n\n", board)
    assert last.split("\n\n")[1] == board.split("\n\n")[1]
    assert "  save FILE    keep the game as SGF" in help_


def test_why_without_a_point_is_about_the_last_move() -> None:
    assert answers("b1", "why", options=("--color", "both"))[1].startswith(
        "Black played B1, next to exactly one black stone, C1."
    )


def test_undo_takes_back_the_answer_too() -> None:
    said = answers("b1", "undo")[1]
    assert re.match(r"Taken back: B1 and [A-G]\d\.\n", said)
    assert said.endswith("Move 1, Black to move. Growth points: Black 24, White 24.")


def test_resigning_can_be_taken_back() -> None:
    said = answers("resign", "resign", "b1", "undo", "undo")
    assert said[0] == said[1] == "Black has resigned: White has won."
    assert said[2].startswith("The game is over")
    assert said[3] == "The resignation is taken back."
    assert said[4] == "There is no move of yours to take back."


def test_new_begins_again() -> None:
    said = answers("b1", "resign", "new", "new dense-3x5")
    assert said[2].startswith("A new game: dense-7x7.\n")
    assert "Move 1, Black to move" in said[2]
    assert said[3].startswith("A new game: dense-3x5.\n")


def test_save_writes_a_game_and_spares_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    said = answers("b1", "resign", f"save {file}", f"save {file}")
    text = file.read_text()
    assert said[2].startswith("Saved in ")
    assert "is there already" in said[3]
    assert "PW[tanbo-engine]" in text
    assert "RE[W+R]" in text
    assert len(Tanbo.from_sgf(text).game.moves) == 2


def test_a_file_name_may_be_quoted(tmp_path: Path) -> None:
    answers(f'save "{tmp_path / "a b.sgf"}"', f"save '{tmp_path / 'c d.sgf'}'")
    assert {path.name for path in tmp_path.iterdir()} == {"a b.sgf", "c d.sgf"}


def test_input_of_any_bytes_is_no_error() -> None:
    done = subprocess.run(
        program(),
        input=b"\xff\xfe\n\n  \n" + b"9" * 9999,
        capture_output=True,
        cwd=ROOT,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.endswith(b"Good-bye.\n")


def test_a_narrow_window_draws_closely() -> None:
    output = talk("b1", options=("--setup", "dense-25x23"), COLUMNS="40")
    assert "   ABCDEFGHJKLMNOPQRSTUVWXYZ\n" in output
    assert "23 X.O.X.O.X.O.X.O.X.O.X.O.X 23\n" in output
    assert max(map(len, output.splitlines())) <= 40


def run_in_shell(command: str) -> tuple[int, str]:
    """Run the program by a line of shell that calls it PLAY; return status, stderr."""
    words = " ".join(program())
    done = subprocess.run(
        ["/bin/bash", "-c", command.replace("PLAY", words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=ROOT,
        timeout=30,
    )
    return done.returncode, done.stderr.decode()


def test_ends_that_are_nobodys_fault() -> None:
    assert run_in_shell("PLAY | head -1; exit ${PIPESTATUS[0]}") == (0, "")
    assert run_in_shell("PLAY <&-") == (0, "")
    assert run_in_shell("PLAY >&-") == (0, "")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
def test_what_the_machine_does_not_give_is_one_line() -> None:
    full = "tanbo-engine play: No space left on device\n"
    assert run_in_shell("PLAY >/dev/full") == (1, full)
    status, error = run_in_shell("ulimit -v 1000000; PLAY --memory 4000")
    assert status == 2
    assert error.startswith("tanbo-engine play: --memory: this machine has no 4000 MB")
    assert error.count("\n") == 1


# A terminal


class Terminal:
    """The program at the other end of a pseudo-terminal."""

    def __init__(self, *options: str, **environment: str) -> None:
        self._fd, inner = pty.openpty()
        fixed = {"TERM": "xterm-256color", "COLUMNS": "80", "PYTHONUTF8": "1"}
        kept = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        self.process = subprocess.Popen(
            program(*options),
            stdin=inner,
            stdout=inner,
            stderr=inner,
            cwd=ROOT,
            env=kept | fixed | environment,
            start_new_session=True,
        )
        os.close(inner)
        self.output = ""

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._fd)

    def type(self, text: str) -> None:
        """Send keys."""
        os.write(self._fd, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C, not at once: Python misses it just before it waits for keys."""
        time.sleep(0.2)
        self.process.send_signal(signal.SIGINT)

    def wait_for(self, text: str, times: int = 1) -> None:
        """Read until a text has come so often."""
        until = time.monotonic() + 20
        while self.output.count(text) < times:
            assert time.monotonic() < until, self.output
            try:
                self.output += os.read(self._fd, 4096).decode(errors="replace")
            except OSError:  # Linux says so at the end
                assert self.output.count(text) >= times, self.output

    def end(self) -> int:
        """Return the exit status."""
        return self.process.wait(20)


def test_a_colour_terminal_has_discs() -> None:
    with Terminal() as terminal:
        terminal.wait_for("Black> ")
        terminal.type("b1\n")
        terminal.wait_for("to win)")
        terminal.wait_for("Black> ", 2)
        terminal.type("quit\n")
        terminal.wait_for("Good-bye.")
        assert terminal.end() == 0
    assert "\033[48;5;179;38;5;16m●" in terminal.output
    assert "\033[48;5;137;" in terminal.output
    assert "White is thinking ...\r\033[K" in terminal.output
    assert "(X)" not in terminal.output


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_plain_terminal_has_letters(environment: dict[str, str]) -> None:
    with Terminal(**environment) as terminal:
        terminal.wait_for("Black> ")
        terminal.type("\x04")
        terminal.wait_for("Good-bye.")
        assert terminal.end() == 0
    assert " 7 X . O . X . O 7" in terminal.output
    assert "\033[48" not in terminal.output


def test_few_colours_and_no_discs() -> None:
    with Terminal(TERM="xterm", COLORTERM="", PYTHONIOENCODING="latin-1") as terminal:
        terminal.wait_for("Black> ")
    assert "\033[42;30mX" in terminal.output


def test_a_level_plays_weaker_than_the_time_would_let_it() -> None:
    options = ("--level", "1", "--nodes", "900000000", "--color", "none")
    assert " has won." in talk(options=options)


def test_a_level_that_there_is_not() -> None:
    done = subprocess.run(program("--level", "0"), capture_output=True, cwd=ROOT)
    assert done.returncode == 2
    assert b"--level: expected a whole number from 1 to 10, got '0'" in done.stderr
    assert done.stderr.count(b"\n") == 1


LONG = ("--nodes", "900000000")


@pytest.mark.parametrize("options", [(), ("--color", "none", *LONG)])
def test_ctrl_c_is_a_polite_end(options: tuple[str, ...]) -> None:
    with Terminal(*options) as terminal:
        terminal.wait_for("thinking ..." if options else "Black> ")
        terminal.interrupt()
        terminal.wait_for("Good-bye.")
        assert terminal.end() == 130
    assert "Traceback" not in terminal.output


def test_ctrl_c_makes_the_engine_move_at_once() -> None:
    with Terminal("--color", "w", *LONG) as terminal:
        terminal.wait_for("thinking ...")
        terminal.interrupt()
        terminal.wait_for("White> ")
        assert "Black plays" in terminal.output
        terminal.type("hint\n")
        terminal.wait_for("Thinking ...")
        terminal.interrupt()
        terminal.wait_for("looks best")
        terminal.wait_for("White> ", 2)
        terminal.interrupt()
        terminal.wait_for("Good-bye.")
        assert terminal.end() == 130
    assert "Traceback" not in terminal.output
