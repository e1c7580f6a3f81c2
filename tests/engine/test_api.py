"""The public API for scripts; what it composes is tested elsewhere."""

import copy
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tanbo_engine import rules
from tanbo_engine._kernel import StopFlag
from tanbo_engine.api import Tanbo
from tanbo_engine.levels import LEVELS
from tanbo_engine.player import SearchPlayer
from tanbo_engine.points import Color, VertexError
from tanbo_engine.record import Headers, RecordError
from tanbo_engine.setups import UnknownSetup


def new_game(setup: str = "dense-7x7") -> Tanbo:
    return Tanbo(setup, seed=1, memory_mb=8)


def finished() -> Tanbo:
    tanbo = new_game("dense-3x3")
    while tanbo.winner is None:
        tanbo.play(tanbo.legal_moves()[0])
    return tanbo


def test_moves_are_vertices_in_either_case_or_points() -> None:
    tanbo = new_game()
    tanbo.play("b1", "B7", tanbo.point("D1"))
    assert [tanbo.vertex(move.point or 0) for move in tanbo.game.moves] == [
        "B1",
        "B7",
        "D1",
    ]
    assert tanbo.to_move is Color.WHITE
    assert [tanbo.undo(), tanbo.undo(), tanbo.undo()] == ["D1", "B7", "B1"]
    assert tanbo.position == tanbo.game.start
    with pytest.raises(IndexError):
        tanbo.undo()


@pytest.mark.parametrize(
    ("move", "error"),
    [("D4", rules.IllegalMove), (-1, rules.IllegalMove), ("I1", VertexError)],
)
def test_what_cannot_be_played_says_why(move: str | int, error: type) -> None:
    tanbo = new_game()
    with pytest.raises(error):
        tanbo.play("B1", move)
    assert not tanbo.game.moves


def test_legal_moves_are_sorted_by_column_and_row() -> None:
    legal = new_game("dense-3x3").legal_moves()
    assert legal == ("A2", "B1", "B3", "C2")
    assert new_game("classic-9x9").legal_moves(Color.WHITE)[:2] == ("A8", "B7")


def test_roots_name_stones_and_growth_points() -> None:
    tanbo = new_game()
    tanbo.play("B1")
    roots = {root.stones: root for root in tanbo.roots()}
    assert len(roots) == 16
    assert roots["B1", "C1"].color is Color.BLACK
    assert roots["B1", "C1"].growth_points == ("B2", "C2", "D1")
    assert roots[("A1",)].growth_points == ("A2",)


def test_a_finished_game_has_a_result_and_no_more_moves() -> None:
    tanbo = finished()
    assert tanbo.winner is not None
    assert tanbo.result == f"{tanbo.winner.initial}+1"
    assert tanbo.legal_moves() == ()
    with pytest.raises(ValueError, match="the game is over"):
        tanbo.search(visits=1)
    with pytest.raises(ValueError, match="the game is over"):
        tanbo.analyze()


def test_a_search_needs_a_limit_and_keeps_it() -> None:
    tanbo = new_game()
    with pytest.raises(ValueError, match="seconds or visits"):
        tanbo.best_move()
    assert tanbo.search(visits=300).visits == 300
    assert tanbo.best_move(seconds=0.05) in tanbo.legal_moves()


def test_the_same_seed_finds_the_same_and_games_differ() -> None:
    one, other = (new_game().search(visits=500) for _ in range(2))
    assert one._replace(seconds=0) == other._replace(seconds=0)
    tanbo = new_game()
    tanbo.restart()
    assert tanbo.search(visits=500).candidates != one.candidates


def test_restart_keeps_the_start_or_takes_another() -> None:
    tanbo = new_game("classic-9x9")
    tanbo.play("A2")
    tanbo.restart()
    assert tanbo.game.moves == []
    assert tanbo.position == new_game("classic-9x9").position
    tanbo.restart("dense-3x5")
    assert str(tanbo) == str(new_game("dense-3x5"))
    with pytest.raises(UnknownSetup):
        tanbo.restart("dense-9x9")
    assert str(tanbo) == str(new_game("dense-3x5"))


def test_an_analysis_reports_more_and_more_and_ends_at_its_limit() -> None:
    tanbo = new_game()
    reports = list(tanbo.analyze(visits=200_000, interval=0.005))
    assert len(reports) > 2
    visits = [report.visits for report in reports]
    assert visits == sorted(visits)
    assert visits[-1] == 200_000


def test_leaving_the_loop_stops_the_search() -> None:
    tanbo = new_game()
    before = threading.active_count()
    reports = tanbo.analyze(interval=0.01)
    next(reports)
    assert threading.active_count() == before + 1
    reports.close()
    assert threading.active_count() == before


def test_the_game_may_go_on_while_it_is_analyzed() -> None:
    tanbo = new_game()
    reports = tanbo.analyze(interval=0.01)
    next(reports)
    tanbo.play("B1")
    assert tanbo.vertex(next(reports).candidates[0].point) in new_game().legal_moves()
    reports.close()


def test_a_slow_reader_gets_the_newest_report() -> None:
    reports = new_game().analyze(interval=0.01)
    first = next(reports)
    time.sleep(0.3)
    assert next(reports).seconds > first.seconds + 0.2
    reports.close()


def test_the_next_search_ends_an_analysis_whose_reader_is_told() -> None:
    tanbo = new_game()
    reports = tanbo.analyze(interval=0.01)
    next(reports)
    assert tanbo.best_move(visits=50) in tanbo.legal_moves()
    with pytest.raises(RuntimeError, match="another search of this object ended"):
        list(reports)
    first, second = (tanbo.analyze(interval=0.01) for _ in range(2))
    next(first)
    next(second)
    with pytest.raises(RuntimeError, match="another search of this object ended"):
        list(first)
    assert next(second).visits > 0
    second.close()


def test_an_analysis_that_is_done_has_its_report_whatever_comes_next() -> None:
    tanbo = new_game()
    reports = tanbo.analyze(visits=100, interval=10)
    assert next(reports).visits == 100
    tanbo.best_move(visits=50)
    assert list(reports) == []


def test_several_threads_search() -> None:
    tanbo = Tanbo(seed=1, memory_mb=8, threads=2)
    assert tanbo.best_move(visits=2000) in tanbo.legal_moves()


def test_stop_ends_a_search_with_what_it_has() -> None:
    tanbo = new_game()
    is_over = threading.Event()

    def stop_again_and_again() -> None:  # what comes before the search does not count
        while not is_over.wait(0.05):
            tanbo.stop()

    ender = threading.Thread(target=stop_again_and_again)
    ender.start()
    assert tanbo.choose(seconds=60).seconds < 10
    is_over.set()
    ender.join()
    reports = tanbo.analyze(interval=0.01)
    next(reports)
    tanbo.stop()
    assert list(reports)[-1].visits > 0


def test_an_error_of_the_search_reaches_the_reader(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    tanbo = new_game()
    monkeypatch.setattr(SearchPlayer, "search", fail)
    with pytest.raises(MemoryError):
        list(tanbo.analyze(visits=10))


def test_a_script_may_end_while_it_holds_an_analysis() -> None:
    script = (
        "from tanbo_engine.api import Tanbo\n"
        "reports = Tanbo(memory_mb=8).analyze(interval=0.01)\n"
        "print(next(reports).visits > 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=20
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_sgf_goes_out_and_comes_in() -> None:
    tanbo = finished()
    text = tanbo.sgf(Headers(black="me"))
    assert "GN[dense-3x3]" in text
    assert f"RE[{tanbo.result}]" in text
    again = Tanbo.from_sgf(text.encode())
    assert again.game.moves == tanbo.game.moves
    assert again.sgf(Headers(black="me")) == text
    assert "RE[W+R]" in tanbo.sgf(Headers(result="W+R"))
    with pytest.raises(RecordError):
        Tanbo.from_sgf("(;GM[1]SZ[8])")


def test_several_moves_are_all_or_none() -> None:
    game = Tanbo("dense-7x7")
    for moves in (("A2", "ZZ"), ("A2", "D4")):
        with pytest.raises(ValueError, match=moves[1]):
            game.play(*moves)
        assert not game.game.moves


def test_wrong_limits_are_refused() -> None:
    game = Tanbo("dense-7x7")
    nan = float("nan")
    times: list[dict[str, Any]] = [
        {"seconds": each} for each in (nan, float("inf"), -1, True, "1")
    ]
    counts: list[dict[str, Any]] = [
        {"visits": each} for each in (-1, 0, 1.5, True, 2**40)
    ]
    for limits in (*times, *counts):
        for search in (game.best_move, game.search, game.choose, game.analyze):
            with pytest.raises(ValueError, match=r"^(seconds|visits) must be a "):
                search(**limits)
    for interval in (nan, -1.0, 0.0):
        with pytest.raises(ValueError, match=r"^interval must be .* above 0, "):
            next(iter(game.analyze(visits=10, interval=interval)))
    with pytest.raises(IndexError, match="no move has been made"):
        game.undo()


@pytest.mark.parametrize("setup", [7, None, (7, 9), b"dense-7x7"])
def test_a_setup_is_a_text(setup: object) -> None:
    with pytest.raises(TypeError, match="a setup is a text such as 'dense-7x7', not "):
        Tanbo(setup)  # type: ignore[arg-type]
    game = Tanbo()
    if setup is not None:
        with pytest.raises(TypeError, match="a setup is a text"):
            game.restart(setup)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        *({"seed": each} for each in (-1, 1.5, "1", True, 2**63)),
        *({"memory_mb": each} for each in (0, -1, 1.5, None)),
        *({"threads": each} for each in (0, "2", 1.0)),
    ],
)
def test_wrong_options_are_named(options: dict[str, object]) -> None:
    [name] = options
    with pytest.raises(ValueError, match=f"^{name} must be a whole number from "):
        Tanbo(**options)  # type: ignore[arg-type]


def test_what_is_no_point_vertex_or_color() -> None:
    game = Tanbo("dense-7x9")
    for point in (-1, 9999, 63, 1.0, None):
        with pytest.raises(
            ValueError, match="point must be a whole number from 0 to 62"
        ):
            game.vertex(point)  # type: ignore[arg-type]
    for move in (None, 1.0, True, ["A2"]):
        with pytest.raises(TypeError, match="a move is a vertex such as 'C4',"):
            game.play("A2", move)  # type: ignore[arg-type]
        assert not game.game.moves
    with pytest.raises(TypeError, match="a vertex is a text such as 'C4', not 3"):
        game.point(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"a color is Color\.BLACK or Color"):
        game.legal_moves("b")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="an SGF file is text or bytes, not None"):
        Tanbo.from_sgf(None)  # type: ignore[arg-type]


def test_what_it_is_called() -> None:
    game = Tanbo("dense-7x9")
    assert repr(game) == "<Tanbo dense-7x9, 0 moves, black to move>"
    game.play("A2")
    assert repr(game) == "<Tanbo dense-7x9, 1 move, white to move>"
    over = finished()
    assert repr(over).endswith(f"moves, {over.result}>")
    made_up = Tanbo.from_sgf("(;SZ[5:3]AB[aa]AW[ec])")
    assert repr(made_up) == "<Tanbo 5x3, 0 moves, black to move>"


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_it_cannot_be_copied(duplicate: Callable[[Tanbo], object]) -> None:
    with pytest.raises(TypeError, match="neither copied nor pickled: keep its sgf"):
        duplicate(Tanbo())


def test_a_level_limits_what_is_searched_and_may_overlook_things() -> None:
    game = Tanbo(seed=1, memory_mb=8)
    full = game.choose(visits=300)
    assert full == game.search(visits=300)._replace(seconds=full.seconds)
    assert game.choose(seconds=60, level=2).visits == LEVELS[2].visits
    assert game.vertex(game.choose(visits=300, level=1).point) in game.legal_moves()
    with pytest.raises(
        ValueError, match="level must be a whole number from 1 to 10, not 11"
    ):
        game.choose(visits=1, level=11)
    with pytest.raises(ValueError, match="a search needs a limit"):
        game.choose()


def test_a_flag_that_was_set_before_ends_a_search_that_begins() -> None:
    tanbo, stop = Tanbo("dense-7x7"), StopFlag()
    stop.set()
    for report in (
        tanbo.search(seconds=600, stop=stop),
        tanbo.choose(seconds=600, stop=stop),
    ):
        assert report.seconds < 60
        assert report.point in tanbo.game.legal_moves()
    tanbo.search(visits=10)  # the next one has a flag of its own


@pytest.mark.parametrize("stop", [1, lambda: None, threading.Event()])
def test_what_is_no_flag_changes_nothing(stop: object) -> None:
    tanbo = Tanbo("dense-7x7")
    for search in (tanbo.search, tanbo.choose):
        with pytest.raises(TypeError, match="stop is a StopFlag, not "):
            search(visits=10, stop=stop)  # type: ignore[arg-type]
    assert tanbo.search(visits=10).visits == 10
    tanbo.stop()


@pytest.mark.parametrize(
    ("name", "search"),
    [
        ("seconds", lambda tanbo: tanbo.best_move(seconds=10**400)),
        ("interval", lambda tanbo: tanbo.analyze(interval="a")),
        ("interval", lambda tanbo: tanbo.analyze(interval=None)),
        ("interval", lambda tanbo: tanbo.analyze(interval=True)),
        ("level", lambda tanbo: tanbo.choose(visits=10, level=True)),
        ("level", lambda tanbo: tanbo.choose(visits=10, level="3")),
        ("level", lambda tanbo: tanbo.choose(visits=10, level=11)),
        ("threads", lambda _: Tanbo(threads=257)),
    ],
)
def test_a_wrong_argument_is_named(
    name: str, search: Callable[[Tanbo], object]
) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be a"):
        search(Tanbo("dense-7x7"))
