"""`tanbo-engine solve` and `tanbo-solve`."""

import asyncio
import re
import signal
import time
from pathlib import Path

import pytest

from tanbo_engine import solver

from .talk import Engine, ask, command_line, new_session, play_out, refusal, response

SMALL = ("--setup", "dense-3x5", "--memory", "8")


def solve(*arguments: str) -> tuple[int, str, str]:
    """Run ``tanbo-engine solve``."""
    return command_line("solve", *arguments)


def test_the_winner_alone_where_the_side_to_move_loses() -> None:
    status, out, err = solve(*SMALL)
    assert (status, out) == (0, "white\n")
    assert err.startswith("tanbo-engine solve: proved with ")
    assert err.count("\n") == 1


def test_winner_and_move_where_the_side_to_move_wins() -> None:
    status, out, _ = solve("--setup", "classic-5x5", "--memory", "16")
    assert status == 0
    assert out in ("black A2\n", "black B1\n", "black D5\n", "black E4\n")


def test_the_check_names_the_move_that_the_proof_named(tmp_path: Path) -> None:
    file = tmp_path / "black.txt"
    setup = ("--setup", "classic-5x5", "--memory", "16")
    status, out, _ = solve(*setup, "--certificate", str(file))
    assert status == 0
    assert solve("--check", str(file))[:2] == (0, out)


def test_a_certificate_replaces_no_file(tmp_path: Path) -> None:
    file = tmp_path / "kept.txt"
    file.write_text("mine")
    status, out, err = solve(*SMALL, "--certificate", str(file))
    assert (status, out) == (2, "")
    assert f"{file} is there already: choose another name" in err
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    ("seconds", "told"), [("1", "1 second"), ("0.2", "0.2 seconds")]
)
async def test_numbers_have_the_right_noun(seconds: str, told: str) -> None:
    session = new_session(setup="dense-7x7")
    answer = await ask(session, f"tanbo-solve {seconds}")
    assert answer == f"not proved within {told}"


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--seconds", "0.2"], "0.2 seconds"),
        (["--nodes", "1000"], "1000 nodes"),
        (["--memory", "1", "--setup", "dense-21x23"], "1 MB of memory"),
    ],
)
def test_what_is_not_proved(arguments: list[str], reason: str) -> None:
    status, out, err = solve("--memory", "8", *arguments)
    assert (status, out) == (1, f"not proved within {reason}\n")
    # The path is full after about a second, where progress may be told.
    progress = r"(tanbo-engine solve: \d+ s: .* moves refuted, table \d+% full\n)*"
    assert re.fullmatch(progress if "memory" in reason else "", err)


def test_progress_comes_more_and_more_rarely() -> None:
    _, _, err = solve("--memory", "8", "--seconds", "3.5")
    lines = err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("tanbo-engine solve: 1 s: ")
    assert "of 24 moves refuted, table " in lines[0]


def test_an_interrupt_tells_what_is_known() -> None:
    code = "import sys; from protocol.cli import main; sys.exit(main(['solve']))"
    with Engine(code=code) as engine:
        assert engine.process.stderr is not None
        assert engine.process.stderr.readline()
        engine.process.send_signal(signal.SIGINT)
        status, out, err = engine.finish()
    assert status == 130
    assert out.startswith("not proved: stopped after ")
    assert "Traceback" not in err


def test_a_certificate_is_written_and_checked(tmp_path: Path) -> None:
    file = tmp_path / "3x5"
    assert solve(*SMALL, "--certificate", str(file))[:2] == (0, "white\n")
    status, out, err = solve("--check", str(file))
    assert (status, out) == (0, "white\n")
    assert err == "tanbo-engine solve: 1040 positions checked: all are won\n"
    assert solve("--check", str(file), "--setup", "dense-3x5")[0] == 0
    status, out, err = solve("--check", str(file), "--setup", "dense-3x3")
    assert (status, out) == (1, "")
    assert err.startswith(f"tanbo-engine solve: {file}: it is about 3x5 ")


def test_files_that_are_no_certificates(tmp_path: Path) -> None:
    file = tmp_path / "x"
    for data in (
        b"",
        b"\xff\xfe\x00",
        bytes(1 << 20),
        b"tanbo-certificate 1 white 3x3 X1O/3/O1X b\n\n",
    ):
        file.write_bytes(data)
        status, out, err = solve("--check", str(file))
        assert (status, out) == (1, "")
        assert err.startswith(f"tanbo-engine solve: {file}: ")
        assert err.count("\n") == 1
    if Path("/dev/zero").exists():  # a line without an end
        status, out, err = solve("--check", "/dev/zero")
        assert (status, out) == (1, "")
        assert "/dev/zero: it is no certificate" in err
    status, out, err = solve("--check", str(tmp_path / "nothing"))
    assert (status, out) == (1, "")
    assert "cannot read" in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--setup", "x"], "unknown set-up 'x'"),
        (["--seconds", "0"], "--seconds: expected a number above 0"),
        (["--nodes", "x"], "--nodes: expected a whole number from 1"),
        (["--memory", "0"], "--memory: expected a whole number from 1"),
        (["--certificate", "/nonexistent/x"], "cannot write /nonexistent/x"),
        (["--certificate", "x", "--check", "x"], "give --check or --certificate"),
        (["x"], "unrecognized arguments: x"),
    ],
)
def test_wrong_usage(arguments: list[str], words: str) -> None:
    status, out, err = solve(*arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


# tanbo-solve


async def test_the_command_answers_like_the_command_line() -> None:
    session = new_session(setup="dense-3x5")
    assert await ask(session, "tanbo-solve") == "white"
    await ask(session, "play b A2")
    winner, vertex = (await ask(session, "tanbo-solve 5")).split()
    assert winner == "white"
    await ask(session, f"play w {vertex}")
    assert await ask(session, "tanbo-solve") == "white"


async def test_the_command_has_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[solver.Limits] = []

    def look(
        self: solver.Solver, limits: solver.Limits, stop: object
    ) -> solver.Solution:
        given.append(limits)
        return solver.Solution(None, None, "time", 0, 0.0)

    monkeypatch.setattr(solver.Solver, "solve", look)
    answer = await ask(new_session(), "tanbo-solve")
    assert answer == "not proved within 10 seconds"
    assert given == [solver.Limits(10.0)]


async def test_the_time_of_the_command() -> None:
    session = new_session()
    assert await ask(session, "tanbo-solve 0.1") == "not proved within 0.1 seconds"
    for text in ("0", "-1", "1e9"):
        assert "use seconds above 0" in await refusal(session, f"tanbo-solve {text}")
    assert "invalid number 'x'" in await refusal(session, "tanbo-solve x")


async def test_after_the_end_there_is_nothing_to_prove() -> None:
    session = new_session(setup="dense-3x3")
    winner = await play_out(session)
    expected = f"the game is over: {winner} has won (R8)"
    assert await refusal(session, "tanbo-solve") == expected


async def test_no_memory_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("this machine has no 8 MB for a proof")

    monkeypatch.setattr(solver.Solver, "__init__", fail)
    assert "no 8 MB" in await refusal(new_session(), "tanbo-solve")


async def test_stop_ends_a_proof() -> None:
    session = new_session()
    task = asyncio.create_task(response(session, "tanbo-solve 60"))
    await asyncio.sleep(0.1)
    session.stop()
    answer = await asyncio.wait_for(task, 5)
    assert answer.ok
    assert answer.text.startswith("not proved: stopped after 0.")


def test_an_interrupt_ends_a_proof() -> None:
    began = time.monotonic()
    with Engine("--memory", "8") as engine:
        engine.send(b"tanbo-solve 60\n# interrupt\n")
        assert engine.receive().startswith("= not proved: stopped after")
    assert time.monotonic() - began < 20
