"""The definition of a tournament: command line, TOML file, and every wrong one."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from protocol.arena import config, schedule
from protocol.arena.clocks import Clock, PerMove
from protocol.arena.config import EngineEntry, Tournament, load_tournament
from protocol.options import Parser, SettingsError, fields
from tanbo_engine.machine import cores

TWO = ("--engine", "A=a --x", "--engine", "B=b", "--out", "results")


def parse(*arguments: str) -> Tournament:
    """Return the tournament of a command line."""
    parser = Parser("arena", "")
    parser.add_settings(Tournament)
    options = vars(parser.parse_args(arguments))
    return load_tournament(options, options.pop("config", None))


def write(folder: Path, text: str) -> str:
    path = folder / "match.toml"
    path.write_text(text)
    return str(path)


def test_defaults() -> None:
    assert parse(*TWO) == Tournament(
        engine=(EngineEntry("A", "a --x"), EngineEntry("B", "b")), out="results"
    )
    tournament = parse(*TWO)
    assert tournament.setup == ("dense-7x7",)
    assert tournament.format == "round-robin"
    assert (tournament.seed, tournament.opening_plies) == (1, 4)
    assert (tournament.margin, tournament.hang) == (0.05, 60)
    assert tournament.control is None
    assert tournament.pairs == 50
    assert tournament.names == ["A", "B"]


def test_every_setting_is_described_and_bounded() -> None:
    for field in fields(Tournament).values():
        assert field.meta.description
        if field.kind in (int, float):
            assert field.meta.le is not None
            assert (field.meta.ge is None) != (field.meta.gt is None)


def test_everything_on_the_command_line() -> None:
    assert parse(
        *TWO,
        *("--setup", "dense-7x9", "--setup", "classic-9x9"),
        *("--format", "round-robin", "--games", "40", "--sprt", "-5", "20.5"),
        *("--seed", "0", "--openings", "file", "--opening-plies", "0"),
        *("--clock", "60+0.5", "--nodes", "100", "--margin", "0", "--hang", "5"),
        *("--concurrency", "2", "--force", "--html", "page", "--cluster", "local"),
    ) == Tournament(
        engine=(EngineEntry("A", "a --x"), EngineEntry("B", "b")),
        setup=("dense-7x9", "classic-9x9"),
        format="round-robin",
        games=40,
        sprt=(-5.0, 20.5),
        seed=0,
        openings="file",
        opening_plies=0,
        clock="60+0.5",
        nodes=100,
        margin=0.0,
        hang=5.0,
        concurrency=2,
        force=True,
        out="results",
        html="page",
        cluster="local",
    )


FILE = """\
setup = ["dense-7x7", "dense-7x9"]
format = "swiss"
rounds = 3
games = 4
time = 0.5
opening-plies = 2
out = "here"

[[engine]]
name = "one"
command = "a 'b c'"

[[engine]]
name = "two"
command = "b"
"""


def test_a_file(tmp_path: Path) -> None:
    tournament = parse("--config", write(tmp_path, FILE))
    assert tournament == Tournament(
        engine=(EngineEntry("one", "a 'b c'"), EngineEntry("two", "b")),
        setup=("dense-7x7", "dense-7x9"),
        format="swiss",
        rounds=3,
        games=4,
        time=0.5,
        opening_plies=2,
        out="here",
    )


def test_the_command_line_wins(tmp_path: Path) -> None:
    file = write(tmp_path, FILE)
    tournament = parse(
        *("--config", file, "--games", "6", "--out", "there"),
        *("--engine", "x = p=1", "--engine", "y=q", "--setup", "dense-3x5"),
    )
    assert tournament.engine == (EngineEntry("x", "p=1"), EngineEntry("y", "q"))
    assert (tournament.games, tournament.out) == (6, "there")
    assert tournament.setup == ("dense-3x5",)
    assert tournament.time == 0.5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], 'give two engines or more: --engine NAME="COMMAND" each'),
        (["--engine", "A=a"], "give two engines or more"),
        (
            ["--engine", "A"],
            "--engine: expected NAME=\"COMMAND\", got 'A', for example "
            'A="scripts/engine --nodes 1000"',
        ),
        (["--engine", "=a"], "--engine: expected NAME="),
        (["--engine", "A= "], "--engine: expected NAME="),
        ([*TWO, "--engine", "A=c"], "the engine name 'A' is given twice"),
        ([*TWO, "--engine", " B =c"], "the engine name 'B' is given twice"),
        (
            [*TWO, "--setup", "dense-7x7", "--setup", "dense-7x7"],
            "the setup 'dense-7x7' is given twice",
        ),
        (
            [*TWO, "--setup", "dense-7x7", "--setup", "Dense-7x7"],
            "the setup 'dense-7x7' is given twice",
        ),
        ([*TWO, "--setup", "dense-8x8"], "no set-up dense-8x8: the nearest are "),
        ([*TWO, "--setup", "go"], "unknown set-up 'go': use dense-WxH or classic-NxN"),
        (
            [*TWO, "--games", "7"],
            "games must be even: the two games of a pair swap colours",
        ),
        (
            [*TWO, "--games", "0"],
            "--games: expected a whole number from 2 to 1000000, got '0'",
        ),
        ([*TWO, "--games", "x"], "--games: expected a whole number from 2 to "),
        ([*TWO, "--time", "1", "--clock", "60"], "give time or clock, not both"),
        (
            [*TWO, "--time", "0"],
            "--time: expected a number above 0, at most 1000000, got '0'",
        ),
        ([*TWO, "--time", "nan"], "--time: expected a number above 0"),
        ([*TWO, "--time", "inf"], "--time: expected a number above 0"),
        (
            [*TWO, "--clock", "60s"],
            "invalid clock '60s': use MAIN or MAIN+INCREMENT in seconds, such as 60 or "
            "60+0.5",
        ),
        ([*TWO, "--clock", "0"], "invalid clock '0'"),
        ([*TWO, "--rounds", "3"], "rounds and format = swiss go together"),
        ([*TWO, "--format", "swiss"], "rounds and format = swiss go together"),
        (
            [*TWO, "--format", "cup"],
            "--format: expected round-robin, gauntlet or swiss, got 'cup'",
        ),
        (TWO[:4], "give out: the directory of the results"),
        (
            [*TWO, "--engine", "C=c", "--sprt", "0", "20"],
            "sprt compares two engines, not more",
        ),
        (
            [*TWO, "--sprt", "20", "0"],
            "sprt: ELO0 must be below ELO1, for example 0 20",
        ),
        ([*TWO, "--sprt", "5", "5"], "sprt: ELO0 must be below ELO1"),
        ([*TWO, "--sprt", "nan", "5"], "--sprt: expected two numbers, got "),
        ([*TWO, "--sprt", "a", "5"], "--sprt: expected two numbers, got "),
        ([*TWO, "--sprt", "0", "inf"], "--sprt: expected two numbers, got "),
        ([*TWO, "--sprt", "0", "20000"], "sprt: an SPRT needs "),
        ([*TWO, "--sprt", "-20000", "0"], "sprt: an SPRT needs "),
        ([*TWO, "--nodes", "0"], "--nodes: expected a whole number from 1 to "),
        ([*TWO, "--margin", "-1"], "--margin: expected a number from 0 to 60, got"),
        ([*TWO, "--hang", "0"], "--hang: expected a number above 0"),
        ([*TWO, "--concurrency", "0"], "--concurrency: expected a whole number from 1"),
        ([*TWO, "--seed", "-1"], "--seed: expected a whole number from 0"),
        ([*TWO, "--opening-plies", "101"], "--opening-plies: expected a whole number"),
        ([*TWO, "--config", "none.toml"], "cannot read none.toml: No such file"),
    ],
)
def test_wrong_command_lines(arguments: list[str], words: str) -> None:
    with pytest.raises(SettingsError) as told:
        parse(*arguments)
    assert str(told.value).startswith(words)
    assert "\n" not in str(told.value)


WRONG = "engine: expected a name and a command"
ENGINES = """
[[engine]]
name = "A"
command = "a"
[[engine]]
name = "B"
command = "b"
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("out = 5", "out: expected text, got 5"),
        ("game = 5", "unknown key 'game': use engine, setup, format, games, rounds,"),
        ("opening_plies = 5", "unknown key 'opening_plies'"),
        ("games = '4'", 'games: expected a whole number from 2 to 1000000, got "4"'),
        ("setup = 'dense-7x7'", 'setup: expected a list of texts, got "dense-7x7"'),
        ("setup = [1]", "setup: expected a list of texts, got [1]"),
        ("sprt = [1]", "sprt: expected two numbers, got [1]"),
        ("sprt = '0 20'", 'sprt: expected two numbers, got "0 20"'),
        ("clock = 60", "clock: expected text, got 60"),
        ("force = 1", "force: expected true or false, got 1"),
        ("games =", "is not a TOML file: "),
        ("[engine]\nname = 'A'", WRONG),
        ("[[engine]]\nname = 'A'", WRONG),
        (
            "[[engine]]\nname = 'A'\ncommand = 'a'\ncwd = 'b'",
            WRONG,
        ),
        (
            "[[engine]]\nname = 'A'\ncommand = ['a']",
            WRONG,
        ),
        ("setup = []" + ENGINES, "give a setup or more"),
        ("[[engine]]\nname = ''\ncommand = 'c'" + ENGINES, WRONG),
        ('[[engine]]\nname = "a\\nb"\ncommand = "c"' + ENGINES, WRONG),
        ("[[engine]]\nname = 'C'\ncommand = ' '" + ENGINES, WRONG),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, words: str) -> None:
    if "engine" not in text:
        text += ENGINES
    with pytest.raises(SettingsError) as told:
        parse("--out", "x", "--config", write(tmp_path, text))
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_setups_in_any_case() -> None:
    tournament = parse(*TWO, "--setup", "Dense-7x9", "--setup", "CLASSIC-9x9")
    assert tournament.setup == ("dense-7x9", "classic-9x9")


def test_controls() -> None:
    assert parse(*TWO, "--time", "0.5").control == PerMove(0.5)
    assert parse(*TWO, "--clock", "60+1").control == Clock(60, 1)


def test_games_under_an_sprt() -> None:
    assert parse(*TWO, "--sprt", "0", "20").pairs == 20_000
    assert parse(*TWO, "--sprt", "0", "20", "--games", "10").pairs == 5
    assert parse(*TWO, "--games", "2").pairs == 1


def test_schedules() -> None:
    three = (*TWO, "--engine", "C=c", "--games", "4")
    robin = parse(*three).schedule()
    assert isinstance(robin, schedule.AllPlay)
    assert robin.total == 6
    gauntlet = parse(*three, "--format", "gauntlet", "--setup", "dense-7x9").schedule()
    assert isinstance(gauntlet, schedule.AllPlay)
    assert {(pair.first, pair.second) for pair in gauntlet.open_pairs({})} == {
        ("A", "B"),
        ("A", "C"),
    }
    swiss = parse(*three, "--format", "swiss", "--rounds", "3").schedule()
    assert isinstance(swiss, schedule.Swiss)
    assert swiss.total == 6


SAME = [
    ["--concurrency", "2"],
    ["--force"],
    ["--html", "page"],
    ["--cluster", "local"],
    ["--out", "elsewhere"],
    ["--games", "50"],
]
OTHER = [
    ["--engine", "C=c"],
    ["--setup", "dense-7x9"],
    ["--format", "gauntlet"],
    ["--sprt", "0", "20"],
    ["--seed", "2"],
    ["--openings", "file"],
    ["--opening-plies", "5"],
    ["--time", "1"],
    ["--clock", "60"],
    ["--nodes", "5"],
    ["--margin", "1"],
    ["--hang", "1"],
]


@pytest.mark.parametrize("more", SAME)
def test_what_is_still_the_same_tournament(more: list[str]) -> None:
    assert parse(*TWO, *more).identity() == parse(*TWO).identity()


@pytest.mark.parametrize("more", OTHER)
def test_what_is_another_tournament(more: list[str]) -> None:
    assert parse(*TWO, *more).identity() != parse(*TWO).identity()


def test_a_swiss_with_more_games_is_another_tournament() -> None:
    # The pairs of its later rounds would get the numbers of other pairs.
    swiss = (*TWO, "--format", "swiss", "--rounds", "3", "--games", "4")
    assert parse(*swiss, "--games", "6").identity() != parse(*swiss).identity()
    assert parse(*swiss, "--rounds", "5").identity() == parse(*swiss).identity()


def test_an_identity_survives_the_disk() -> None:
    identity = parse(*TWO, "--sprt", "0", "20").identity()
    data = msgspec.json.encode(identity)
    again: dict[str, Any] = msgspec.json.decode(data)
    assert msgspec.json.encode(again) == data


@pytest.mark.parametrize(
    ("count", "threads", "concurrency"),
    [(1, 1, 1), (2, 1, 1), (8, 1, 7), (8, 2, 3), (8, 16, 1)],
)
def test_default_concurrency(
    monkeypatch: pytest.MonkeyPatch, count: int, threads: int, concurrency: int
) -> None:
    monkeypatch.setattr(config, "cores", lambda: count)
    assert config.default_concurrency(threads) == concurrency


def test_cores() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)
