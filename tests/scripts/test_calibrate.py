from pathlib import Path

import pytest

from tanbo_engine import selfplay
from tanbo_engine.chance import believable, slope_for
from tanbo_engine.selfplay import Batch, Look, SelfGame, Source

from .support import run

LOST = Look(0.0, -1, [])


def look(chance: float, area: int = 49) -> Look:
    """Return a look that is told as a chance."""
    odds = (chance / (1 - chance)) ** (1 / slope_for(area))
    return Look(odds / (1 + odds), 0, [])


QUIET = look(0.25)


def write(folder: Path, games: list[SelfGame], **other: object) -> None:
    """Write games of Black's and White's turns, Black first."""
    settings = {"steady": True, "visits": 100, "setup": "dense-7x7"} | other
    source = Source(seed=1, build="", weights="", **settings)  # type: ignore[arg-type]
    file = folder / source.setup / f"0{selfplay.SUFFIX}"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(selfplay.encode(Batch(source, games)))


def game(winner: int, looks: list[Look]) -> SelfGame:
    return SelfGame(0, 0, [0] * len(looks), winner, looks)


def test_chances_are_compared_with_results_by_size(tmp_path: Path) -> None:
    looks = [QUIET, look(0.75)] * 2
    write(tmp_path, [game(0, looks), *[game(1, looks)] * 3])
    write(tmp_path, [game(1, [look(0.25, 361)])], setup="classic-19x19")
    done = run("calibrate.py", tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[2] == "| search says | up to 49 points | larger |"
    assert "| 20 to 30% | 25.0%: 25.0% (8) | 25.0%: 0.0% (1) |" in lines
    assert "| 70 to 80% | 75.0%: 75.0% (8) |  |" in lines
    assert "| Brier score | 0.188 | 0.062 |" in lines
    assert "| slope left | 1.00 | - |" in lines
    assert "| positions, games | 16, 4 | 1, 1 |" in lines


def test_each_search_has_slopes_of_its_own(tmp_path: Path) -> None:
    said = {}
    for search in ("puct", "alphabeta"):
        folder = tmp_path / search
        write(folder, [game(0, [Look(0.7, 0, [])])], setup="dense-7x9", search=search)
        said[search] = run("calibrate.py", folder).stdout.splitlines()
        chance = believable(0.7, 63, search)
        assert any(f"{chance:.1%}: 100.0% (1)" in line for line in said[search])
    assert said["puct"] != said["alphabeta"]


def test_proved_results_are_no_forecasts_but_reasons_to_resign(tmp_path: Path) -> None:
    hopeless, hope = look(0.01), look(0.5)
    gives_up = [hopeless, hope] * 2 + [LOST, hope]
    wavers = [hopeless, hope] * 2 + [QUIET, hope] + [hopeless, hope] * 2
    write(tmp_path, [game(0, gives_up), game(1, gives_up), game(0, wavers)])
    lines = run("calibrate.py", tmp_path).stdout.splitlines()
    assert "| 0 to 10% | 1.0%: 75.0% (8) |" in lines
    wrong = "1 of 2 (below 90.55%)"
    assert f"| below 2% | {wrong} | {wrong} | none |" in lines
    write(tmp_path, [game(1, [hopeless, hope] * 3)])
    lines = run("calibrate.py", tmp_path).stdout.splitlines()
    right = "0 of 1 (below 79.35%)"
    assert f"| below 2% | {right} | {right} | {right} |" in lines


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        ({"steady": False}, "only games with --steady"),
        ({"visits": 7}, "100 visits of puct, 7 visits of puct"),
        ({"search": "alphabeta"}, "100 visits of alphabeta, 100 visits of puct"),
    ],
)
def test_games_that_do_not_tell_are_refused(
    tmp_path: Path, other: dict[str, object], reason: str
) -> None:
    write(tmp_path, [game(0, [QUIET])])
    write(tmp_path, [game(0, [QUIET])], setup="dense-3x5", **other)
    done = run("calibrate.py", tmp_path)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
