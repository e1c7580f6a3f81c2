"""The command line of tanbo-arena: one line for what is wrong, and exit codes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from protocol.arena import runner
from protocol.arena.cli import main
from protocol.arena.replay import sgf_path
from protocol.arena.store import (
    GAMES,
    TOURNAMENT,
    GameRecord,
    Store,
    Termination,
    read_games,
)

from .support import ROOT, TINY, bad, odd, played, result

Capture = pytest.CaptureFixture[str]


def call(capsys: Capture, *arguments: str | Path) -> tuple[int, str, str]:
    """Run a command line in this process; return status, stdout, stderr."""
    try:
        status = main([str(argument) for argument in arguments])
    except SystemExit as ended:
        status = int(ended.code or 0)
    shown = capsys.readouterr()
    return status, shown.out, shown.err


def failure(capsys: Capture, *arguments: str | Path, status: int = 1) -> str:
    """Return the one line in which a command line fails."""
    found, out, err = call(capsys, *arguments)
    assert (found, out) == (status, "")
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    return err.strip()


def match(folder: Path, *more: str) -> list[str]:
    """Return a command line of two engines and four games."""
    return [
        "run",
        *("--engine", f"A={odd()}", "--engine", f"B={odd('--last')}"),
        *("--setup", TINY, "--games", "4", "--opening-plies", "2"),
        *("--concurrency", "1", "--out", str(folder), *more),
    ]


def stored(folder: Path, *records: GameRecord) -> Path:
    store = Store(folder)
    for record in records:
        store.append(record)
    store.close()
    return folder


# Usage


def test_usage(capsys: Capture) -> None:
    for arguments in ([], ["play"], ["--version"]):
        status, out, err = call(capsys, *arguments)
        assert (status, out) == (2, "")
        assert err.startswith("usage: tanbo-arena run --engine NAME=")
    for arguments in (["-h"], ["--help"]):
        status, out, err = call(capsys, *arguments)
        assert (status, err) == (0, "")
        assert {"run", "report", "verify", "check"} <= set(out.split())


@pytest.mark.parametrize("command", ["run", "report", "verify", "check"])
def test_help(capsys: Capture, command: str) -> None:
    status, out, err = call(capsys, command, "--help")
    assert (status, err) == (0, "")
    assert out.startswith(f"usage: tanbo-arena {command} ")
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["run", "--game", "5"],
            "tanbo-arena run: unrecognized arguments: --game 5; see",
        ),
        (
            ["run", "--games"],
            "tanbo-arena run: argument --games: expected one argument",
        ),
        (["run", "--sprt", "5"], "tanbo-arena run: argument --sprt: expected 2 arg"),
        (["report"], "tanbo-arena report: the following arguments are required: DIR"),
        (["verify"], "tanbo-arena verify: the following arguments are required: DIR"),
        (["verify", "a", "b"], "tanbo-arena verify: unrecognized arguments: b"),
        (["check"], "tanbo-arena check: the following arguments are required: COMMAND"),
    ],
)
def test_wrong_usage(capsys: Capture, arguments: list[str], words: str) -> None:
    assert failure(capsys, *arguments, status=2).startswith(words)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], 'give two engines or more: --engine NAME="COMMAND" each'),
        (["run", "--games", "x"], "--games: expected a whole number from 2 to"),
        (["run", "--config", "none.toml"], "cannot read none.toml: No such file"),
        (["report", "none"], "no results: none does not exist"),
        (["verify", "none"], "no results: none does not exist"),
    ],
)
def test_errors_in_one_line(
    capsys: Capture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert failure(capsys, *arguments).startswith(f"tanbo-arena: {words}")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--games", "3"], "games must be even"),
        (["--engine", "C='open"], 'C cannot play: C: "\'open" is no command line'),
        (
            ["--engine", "C=no-such-program"],
            "C cannot play: C: no program 'no-such-pro",
        ),
        (["--openings", "none"], "cannot read the openings none"),
        (["--concurrency", "4000"], "4000 games at a time on "),
        (
            ["--nodes", "5", "--engine", f"C={bad()}"],
            "C cannot play: it cannot be told",
        ),
        (
            ["--setup", "dense-3x3", "--opening-plies", "70"],
            "70 random plies end the game on dense-3x",
        ),
        (["--sprt", "0", "20000"], "sprt: "),
    ],
)
def test_runs_that_cannot_begin(
    capsys: Capture, tmp_path: Path, more: list[str], words: str
) -> None:
    status, out, err = call(capsys, *match(tmp_path), *more)
    assert (status, out) == (1, "")
    *said, last = err.splitlines()
    assert last.startswith(f"tanbo-arena: {words}")
    assert "Traceback" not in err
    assert all(re.match(r"[ABC]: |\d+ pairs, ", line) for line in said)


def test_the_end_of_stderr_is_shown(capsys: Capture, tmp_path: Path) -> None:
    crash = f"C={bad('--crash-at-start')}"
    status, out, err = call(capsys, *match(tmp_path), "--engine", crash)
    assert (status, out) == (1, "")
    assert err.splitlines()[-4].startswith(
        "tanbo-arena: C cannot play: C: protocol_ver"
    )
    assert err.splitlines()[-3:] == [
        "Its stderr ends:",
        "something is wrong",
        "AssertionError: crashed as told",
    ]
    assert not (tmp_path / TOURNAMENT).exists()
    assert read_games(tmp_path) == []


def test_a_directory_that_is_a_file(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    assert failure(capsys, *match(path)) == f"tanbo-arena: {path}: File exists"
    line = failure(capsys, *match(path / "below"))
    assert line == f"tanbo-arena: {path / 'below'}: Not a directory"


def test_a_full_disk(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Store, "append", full)
    status, out, err = call(capsys, *match(tmp_path))
    assert (status, out) == (1, "")
    assert err.splitlines()[-1] == "tanbo-arena: No space left on device"


# Runs


def test_a_run_and_its_report(capsys: Capture, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "results"
    status, out, err = call(capsys, *match(folder))
    assert status == 0
    said = err.splitlines()
    assert re.fullmatch(r"A: bad engine 0 b1, /.*python[\d.]*", said[-4])
    assert said[-3].startswith("B: bad engine 0 b1, /")
    assert said[-2] == "2 pairs, 0 of them played before"
    assert said[-1].startswith("pair 2 of 2: ")
    assert re.match(r"A against B: \d : \d in 4 games \(", out)
    games = read_games(folder)
    assert len(games) == 4
    assert all(sgf_path(folder, game).exists() for game in games)
    identity = msgspec.json.decode((folder / TOURNAMENT).read_bytes())
    assert identity["setup"] == [TINY]
    assert [entry["name"] for entry in identity["engine"]] == ["A", "B"]
    # Report and verify take the directory or the file.
    for path in (folder, folder / GAMES):
        assert call(capsys, "report", path) == (0, out, "")
        assert call(capsys, "verify", path) == (0, "4 games, 0 faults\n", "")


def test_the_same_command_continues(capsys: Capture, tmp_path: Path) -> None:
    assert call(capsys, *match(tmp_path))[0] == 0
    data = (tmp_path / GAMES).read_bytes()
    lines = data.splitlines(keepends=True)
    (tmp_path / GAMES).write_bytes(b"".join(lines[:3]) + lines[3][:-20])
    sgf_path(tmp_path, read_games(tmp_path)[0]).unlink()
    status, out, err = call(capsys, *match(tmp_path))
    assert status == 0
    assert "a torn last line was cut off: that game is played again" in err
    assert "2 pairs, 1 of them played before" in err
    assert (tmp_path / GAMES).read_bytes().startswith(b"".join(lines[:3]))
    games = read_games(tmp_path)
    assert len(games) == 4
    assert all(sgf_path(tmp_path, game).exists() for game in games)
    assert call(capsys, "report", tmp_path)[1] == out
    # More games, and again the same.
    assert call(capsys, *match(tmp_path), "--games", "6")[0] == 0
    assert len(read_games(tmp_path)) == 6
    before = (tmp_path / GAMES).read_bytes()
    assert call(capsys, *match(tmp_path), "--games", "6")[0] == 0
    assert (tmp_path / GAMES).read_bytes() == before


def test_the_files_of_a_game_are_alike_whenever_written(
    capsys: Capture, tmp_path: Path
) -> None:
    assert call(capsys, *match(tmp_path))[0] == 0
    files = [sgf_path(tmp_path, game) for game in read_games(tmp_path)]
    before = files[0].read_text()
    files[0].unlink()
    assert call(capsys, *match(tmp_path))[0] == 0
    assert files[0].read_text() == before


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--engine", "C=c"], "another engine ("),
        (["--seed", "2"], "another seed (1, now 2): continue with the same, or choose"),
        (
            ["--setup", "dense-3x3"],
            "another setup (dense-3x5, now dense-3x5, dense-3x3)",
        ),
        (["--time", "1"], "another time (none, now 1.0)"),
    ],
)
def test_another_tournament_is_refused(
    capsys: Capture, tmp_path: Path, more: list[str], words: str
) -> None:
    assert call(capsys, *match(tmp_path))[0] == 0
    before = {path: path.read_bytes() for path in tmp_path.glob("*.json*")}
    status, out, err = call(capsys, *match(tmp_path), *more)
    assert (status, out) == (1, "")
    line = f"tanbo-arena: {tmp_path} holds a tournament with {words}"
    assert err.splitlines()[-1].startswith(line)
    assert {path: path.read_bytes() for path in tmp_path.glob("*.json*")} == before


@pytest.mark.parametrize("text", ["", "{", "[]", "\xff"])
def test_a_directory_of_something_else(
    capsys: Capture, tmp_path: Path, text: str
) -> None:
    stored(tmp_path, result(0, 0, "A"))
    (tmp_path / TOURNAMENT).write_text(text)
    line = failure(capsys, *match(tmp_path))
    assert line.startswith(f"tanbo-arena: {tmp_path / TOURNAMENT}: ")


def test_a_tournament_without_games_may_be_changed(
    capsys: Capture, tmp_path: Path
) -> None:
    stored(tmp_path)
    (tmp_path / TOURNAMENT).write_text('{"seed": 5}')
    assert call(capsys, *match(tmp_path))[0] == 0
    assert call(capsys, *match(tmp_path), "--seed", "5")[0] == 1


def test_a_reader_that_has_gone(tmp_path: Path) -> None:
    stored(tmp_path, result(0, 0, "A"), result(0, 1, "A"))
    with subprocess.Popen(
        [sys.executable, "-m", "protocol.arena.cli", "report", tmp_path],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_page_that_cannot_be_written_is_refused_before_the_first_game(
    capsys: Capture, tmp_path: Path
) -> None:
    for page in (tmp_path / "none" / "page.html", tmp_path):
        status, out, err = call(capsys, *match(tmp_path / "x"), "--html", str(page))
        assert (status, out) == (1, "")
        assert err.startswith("tanbo-arena: html: ")
    assert not (tmp_path / "x").exists()


def test_a_tournament_file(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "match.toml"
    engines = "".join(
        f'[[engine]]\nname = \'{name}\'\ncommand = """{odd()}"""\n' for name in "AB"
    )
    file.write_text(
        f"setup = ['{TINY}']\ngames = 2\nopening-plies = 2\nconcurrency = 1\n"
        f"out = '{tmp_path / 'results'}'\n{engines}"
    )
    assert call(capsys, "run", "--config", file)[0] == 0
    assert len(read_games(tmp_path / "results")) == 2


def test_an_interrupted_run(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "preflight", interrupt)
    status, out, err = call(capsys, *match(tmp_path))
    assert (status, out) == (130, "")
    assert "Traceback" not in err


def test_a_page(capsys: Capture, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert call(capsys, *match(tmp_path / "x"), "--html", str(page))[0] == 0
    text = page.read_text()
    assert text.lower().startswith("<!doctype html>")
    page.unlink()
    assert call(capsys, "report", tmp_path / "x", "--html", page)[0] == 0
    assert page.read_text() == text


# Report and verify


def test_a_report_without_results(capsys: Capture, tmp_path: Path) -> None:
    stored(tmp_path)
    status, out, _ = call(capsys, "report", tmp_path)
    assert (status, out) == (0, "0 games, no finished pair yet\n")


def test_a_report_of_a_running_run(capsys: Capture, tmp_path: Path) -> None:
    stored(tmp_path, result(0, 0, "A"), result(0, 1, "A"))
    with (tmp_path / GAMES).open("ab") as file:
        file.write(b'{"pair":1,')
    before = (tmp_path / GAMES).read_bytes()
    status, out, _ = call(capsys, "report", tmp_path)
    assert status == 0
    assert out.startswith("A against B: 2 : 0 in 2 games")
    assert (tmp_path / GAMES).read_bytes() == before


def test_a_report_counts_what_stands(capsys: Capture, tmp_path: Path) -> None:
    void = [result(0, game, None, Termination.VOID) for game in (0, 1)]
    again = [result(0, game, "B") for game in (0, 1)]
    stored(tmp_path, result(0, 0, "A"), result(0, 1, "A"), *void, *again)
    assert call(capsys, "report", tmp_path)[1].startswith("A against B: 0 : 2 in 2 ")


def test_a_report_with_an_sprt(capsys: Capture, tmp_path: Path) -> None:
    stored(tmp_path, result(0, 0, "A"), result(0, 1, "A"))
    status, out, _ = call(capsys, "report", tmp_path, "--sprt", "-5", "20")
    assert status == 0
    assert "SPRT [-5, 20] (logistic Elo, pairs): LLR " in out
    for wrong in (("20", "0"), ("0", "20000"), ("nan", "1")):
        line = failure(capsys, "report", tmp_path, "--sprt", *wrong)
        assert line.startswith("tanbo-arena: ")
        assert "sprt" in line.lower()


def test_an_anchor(capsys: Capture, tmp_path: Path) -> None:
    records = [
        result(pair, game, "C", black=("C", other)[game], white=(other, "C")[game])
        for pair, other in enumerate("AB")
        for game in (0, 1)
    ]
    stored(tmp_path, *records)
    status, out, _ = call(capsys, "report", tmp_path, "--anchor", "A")
    assert status == 0
    assert re.search(r"^A +\+0 +0 ", out, re.MULTILINE)
    assert failure(capsys, "report", tmp_path, "--anchor", "X") == (
        "tanbo-arena: --anchor: no engine 'X': use A, B, C"
    )


def test_faults_are_told(capsys: Capture, tmp_path: Path) -> None:
    wrong = msgspec.structs.replace(played(0, 1), winner=None)
    stored(tmp_path, played(0, 0), wrong, played(1, 0), played(1, 0))
    status, out, err = call(capsys, "verify", tmp_path)
    assert (status, err) == (1, "")
    assert out.splitlines() == [
        f"pair 0 game 1: {wrong.winner or played(0, 0).winner} has won on the board, "
        "not None",
        "pair 1 game 0: recorded twice",
        "3 games, 2 faults",
    ]


def test_a_pair_that_was_played_again_is_no_fault(
    capsys: Capture, tmp_path: Path
) -> None:
    void = result(0, 0, None, Termination.VOID)
    stored(tmp_path, played(0, 0), void, played(0, 0))
    assert call(capsys, "verify", tmp_path) == (0, "1 game, 0 faults\n", "")


def test_a_torn_last_line_is_told(capsys: Capture, tmp_path: Path) -> None:
    stored(tmp_path, played(0, 0), played(0, 1))
    file = tmp_path / "games.jsonl"
    file.write_bytes(file.read_bytes()[:-5])
    torn = "the last line is torn: its game does not count, run plays it again\n"
    for path in (tmp_path, file):
        status, out, err = call(capsys, "verify", path)
        assert (status, out, err) == (0, f"{torn}1 game, 0 faults\n", "")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs devices")
def test_devices_are_no_files(capsys: Capture, tmp_path: Path) -> None:
    for command in ("report", "verify"):
        text = failure(capsys, command, "/dev/zero")
        assert text == "tanbo-arena: no results: /dev/zero is not a plain file"
    text = failure(capsys, *match(tmp_path), "--html", "/dev/null")
    assert text == "tanbo-arena: html: /dev/null is not a plain file"
    stored(tmp_path, played(0, 0))
    text = failure(capsys, "report", tmp_path, "--html", "/dev/null")
    assert text == "tanbo-arena: /dev/null: not a plain file"


@pytest.mark.parametrize("command", ["report", "verify"])
def test_a_file_that_is_no_record(
    capsys: Capture, tmp_path: Path, command: str
) -> None:
    path = stored(tmp_path, result(0, 0, "A")) / GAMES
    path.write_bytes(path.read_bytes() + b"{}\n")
    line = failure(capsys, command, path)
    assert line.startswith(f"tanbo-arena: {path} line 2: Object missing required field")


# As a program


def test_the_program(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "protocol.arena.cli"]
    for arguments, status in (([], 2), (["--help"], 0), (["report", "none"], 1)):
        done = subprocess.run(
            [*run, *arguments],
            cwd=ROOT,
            env=os.environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status
        assert "Traceback" not in done.stderr
