import signal
import subprocess
import time
from pathlib import Path

import pytest

from tanbo_engine import selfplay

from .support import command, run

SMALL = ("--setup", "dense-3x7:2", "--setup", "dense-3x5", "--visits", "10")


def contents(folder: Path) -> dict[str, bytes]:
    """Return all files of a folder, drafts as well."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_the_shares_of_set_ups_are_kept_in_whole_files(tmp_path: Path) -> None:
    done = run("selfplay.py", "--out", tmp_path, "--games", 120, *SMALL)
    assert done.returncode == 0, done.stderr
    games = [batch.source.setup for batch in selfplay.read([tmp_path])]
    assert games == ["dense-3x5"] * 2 + ["dense-3x7"] * 4
    numbers = [
        game.number
        for batch in selfplay.read([tmp_path])
        for game in batch.games
        if batch.source.setup == "dense-3x7"
    ]
    assert numbers == list(range(80))
    assert "6 files are there" in done.stderr
    assert done.stdout == ""


def test_several_processes_make_the_same_files_as_one(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    run("selfplay.py", "--out", one, "--games", 60, *SMALL)
    done = run("selfplay.py", "--out", two, "--games", 60, *SMALL, "--processes", 2)
    assert done.returncode == 0, done.stderr
    assert contents(one) == contents(two)
    assert len(contents(one)) == 4


def test_a_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    arguments = ("--games", 200, "--setup", "dense-5x7", "--visits", 50)
    run("selfplay.py", "--out", whole, *arguments)
    line = command("selfplay.py", "--out", torn, *arguments)
    killed = subprocess.Popen(line, stderr=subprocess.DEVNULL)
    while not list(torn.glob(f"*/*{selfplay.SUFFIX}")):
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    before = {name: data for name, data in contents(torn).items() if "/." not in name}
    assert before.items() < contents(whole).items()
    done = run("selfplay.py", "--out", torn, *arguments)
    assert done.returncode == 0, done.stderr
    assert contents(torn) == contents(whole)


def test_no_process_outlives_the_first(tmp_path: Path) -> None:
    line = command("selfplay.py", "--out", tmp_path, "--games", 10_000)
    line += ["--setup", "dense-5x7", "--visits", "20", "--processes", "2"]
    first = subprocess.Popen(line, stderr=subprocess.PIPE)
    while not list(tmp_path.glob(f"*/*{selfplay.SUFFIX}")):
        time.sleep(0.01)
    first.kill()
    first.communicate(timeout=60)  # ends when nobody holds the other end of stderr


def test_more_games_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    run("selfplay.py", "--out", tmp_path, "--games", 60, *SMALL)
    before = contents(tmp_path)
    run("selfplay.py", "--out", tmp_path, "--games", 120, *SMALL)
    assert before.items() < contents(tmp_path).items()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--seed", "2"), "have seed 1, not 2: use another"),
        (("--visits", "11"), "have visits 10, not 11"),
        (("--steady",), "have steady False, not True"),
        (("--setup", "dense-4x4"), "the nearest are"),
        (("--setup", "dense-3x5:-1"), "-1 is no share"),
        (("--games", "0"), "are at least 1"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], reason: str
) -> None:
    first = ("--out", tmp_path, "--games", 20, "--setup", "dense-3x5", "--visits", 10)
    run("selfplay.py", *first)
    done = run("selfplay.py", *first, *arguments)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("processes", [1, 2])
def test_an_interrupt_ends_it_without_a_part_of_a_file(
    tmp_path: Path, processes: int
) -> None:
    line = command("selfplay.py", "--out", tmp_path, "--games", 10_000)
    line += ["--setup", "dense-5x7", "--visits", "20", f"--processes={processes}"]
    running = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
    while not list(tmp_path.glob(f"*/*{selfplay.SUFFIX}")):
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, told = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "the same command goes on" in told
    assert "Traceback" not in told
    assert all(name.endswith(("gz", "json")) for name in contents(tmp_path))
