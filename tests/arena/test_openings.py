"""Openings: drawn as a function of seed and number alone, or read from a file."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.arena import openings
from protocol.arena.config import OpeningBook
from protocol.arena.openings import OpeningError, random_opening, read_openings
from tanbo_engine import rules, setups
from tanbo_engine.game import Game
from tanbo_engine.points import parse_vertex

from .support import ROOT, tournament

DENSE = setups.by_name("dense-7x7")
NAMES = ["dense-7x7", "classic-9x9", "dense-7x9", "dense-3x5", "classic-19x19"]


def after(setup: setups.Setup, vertices: tuple[str, ...]) -> Game:
    game = Game(setup.position())
    for vertex in vertices:
        game.play(parse_vertex(game.size, vertex))
    return game


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("plies", [0, 1, 4, 7])
def test_openings_are_legal_and_go_on(name: str, plies: int) -> None:
    setup = setups.by_name(name)
    for number in range(3):
        vertices = random_opening(setup, 5, number, plies)
        assert len(vertices) == plies
        position = setup.position()
        for vertex in vertices:
            position = rules.play(position, parse_vertex(setup.size, vertex)).after
        assert rules.winner(position) is None


@given(st.integers(0, 2**63 - 1), st.integers(0, 10**6), st.integers(0, 6))
@settings(max_examples=25, deadline=None)
def test_a_function_of_seed_and_number_alone(
    seed: int, number: int, plies: int
) -> None:
    vertices = random_opening(DENSE, seed, number, plies)
    random_opening(setups.by_name("dense-3x5"), seed + 1, number, 3)
    assert random_opening(DENSE, seed, number, plies) == vertices


def test_the_same_in_another_process() -> None:
    code = (
        "from protocol.arena.openings import random_opening\n"
        "from tanbo_engine import setups\n"
        "setup = setups.by_name('dense-7x7')\n"
        "print([random_opening(setup, 9, k, 4) for k in range(19, -1, -1)][::-1])\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True
    ).stdout.decode()
    assert shown.strip() == str([random_opening(DENSE, 9, k, 4) for k in range(20)])


def test_the_same_in_many_threads() -> None:
    # Slots draw their openings in threads, and a search belongs to one at a time. In a
    # process of its own, which two searches in one tree once brought down.
    code = (
        "import sys\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from protocol.arena.openings import random_opening\n"
        "from tanbo_engine import setups\n"
        "sys.setswitchinterval(1e-5)\n"
        "setup = setups.by_name('dense-11x11')\n"
        "draw = lambda k: random_opening(setup, 1, k, 4)\n"
        "alone = [draw(k) for k in range(100)]\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    assert list(pool.map(draw, range(100))) == alone\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_numbers_and_seeds_differ() -> None:
    found = {random_opening(DENSE, 1, number, 4) for number in range(100)}
    assert len(found) >= 95
    others = {random_opening(DENSE, 2, number, 4) for number in range(100)}
    assert len(found & others) <= 5


def test_openings_are_balanced(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        game = after(DENSE, random_opening(DENSE, 3, number, 4))
        assert abs(openings._value(game) - 0.5) <= 0.12
    # If none is level, the one that comes nearest.
    values = iter([0.9, 0.7, 0.2, *[0.95] * 61])
    games: list[tuple[str, ...]] = []

    def value(game: Game) -> float:
        games.append(tuple(str(move.point) for move in game.moves))
        return next(values)

    monkeypatch.setattr(openings, "_value", value)
    chosen = after(DENSE, random_opening(DENSE, 3, 0, 4))
    assert len(games) == 64
    assert tuple(str(move.point) for move in chosen.moves) == games[1]


def test_openings_that_end_the_game() -> None:
    with pytest.raises(OpeningError, match="50 random plies end the game on dense-3x3"):
        random_opening(setups.by_name("dense-3x3"), 1, 0, 50)


# Files


def write(folder: Path, text: str) -> Path:
    path = folder / "openings.txt"
    path.write_text(text)
    return path


GOOD = """\
# three openings
dense-7x7 A2 b1
\tclassic-9x9   # the start itself

dense-7x7 # the start as well
dense-7x9 A2
"""


def test_a_file(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    assert read_openings(path, ["dense-7x7", "classic-9x9"]) == {
        "dense-7x7": [("A2", "B1"), ()],
        "classic-9x9": [()],
        "dense-7x9": [("A2",)],
    }


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dense-7x7 A2\ndense-7x7 A1", r"line 2: move A1: .*"),
        ("#\n\ndense-7x7 A2 A2", r"line 3: move A2: "),
        ("dense-7x7 Z9", r"line 1: move Z9: "),
        ("dense-7x7 pass", r"line 1: move pass: "),
        ("dense-8x8 A1", r"line 1: no set-up dense-8x8: the nearest are "),
        ("A1 B2", r"line 1: unknown set-up 'A1'"),
        ("dense-7x9 A2", r"openings\.txt has no opening for dense-7x7"),
        ("", r"openings\.txt has no opening for dense-7x7"),
        ("dense-7x7 \u00e9", r"cannot read the openings .*openings\.txt: .*ascii"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, words: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(OpeningError, match=words) as told:
        read_openings(path, ["dense-7x7"])
    assert str(path) in str(told.value)
    assert "\n" not in str(told.value)


def test_an_opening_that_ends_the_game(tmp_path: Path) -> None:
    game = Game(setups.by_name("dense-3x3").position())
    words = ["dense-3x3"]
    while game.winner is None:
        point = game.legal_moves()[0]
        words.append(f"{'ABC'[point % 3]}{point // 3 + 1}")
        game.play(point)
    path = write(tmp_path, " ".join(words))
    with pytest.raises(OpeningError, match="line 1: the opening ends the game"):
        read_openings(path, [])


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(OpeningError, match=r"cannot read the openings .*/none: "):
        read_openings(tmp_path / "none", [])


def test_set_ups_of_a_file_in_any_case(tmp_path: Path) -> None:
    path = write(tmp_path, "Dense-7x7 A2\n")
    assert read_openings(path, ["dense-7x7"]) == {"dense-7x7": [("A2",)]}


# The book of a tournament


def test_a_book_from_a_file_wraps_around(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    book = OpeningBook(
        tournament(
            tmp_path, "a", "b", setup=["dense-7x7", "classic-9x9"], openings=str(path)
        )
    )
    drawn = [book.opening("dense-7x7", number) for number in range(5)]
    assert drawn == [("A2", "B1"), (), ("A2", "B1"), (), ("A2", "B1")]
    assert book.opening("classic-9x9", 10**6) == ()


def test_a_drawn_book(tmp_path: Path) -> None:
    book = OpeningBook(tournament(tmp_path, "a", "b", seed=4, opening_plies=3))
    setup = setups.by_name("dense-7x9")
    for number in (7, 0, 7):
        assert book.opening(setup.name, number) == random_opening(setup, 4, number, 3)


def test_a_book_that_cannot_be_read(tmp_path: Path) -> None:
    wrong = tournament(tmp_path, "a", "b", openings=str(write(tmp_path, "x")))
    with pytest.raises(OpeningError, match="line 1"):
        OpeningBook(wrong)
