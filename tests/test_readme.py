"""The README says what is true: its tables, its map, its snippets."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_tables_follow_from_the_code() -> None:
    script = ROOT / "scripts" / "readme.py"
    done = subprocess.run([sys.executable, str(script), "--check"], check=False)
    assert done.returncode == 0


def test_the_map_names_every_module_and_nothing_else() -> None:
    table = README.partition("## The map")[2].partition("\n\nA line's way")[0]
    named: set[Path] = set()
    folder = Path()
    for row in table.splitlines():
        for name in re.findall(r"`([\w./]+)`", row.split("|")[1] if "|" in row else ""):
            folder = Path(name).parent if "/" in name else folder
            named.add(folder / Path(name).name)
    sources = [*ROOT.glob("tanbo_engine/*.py"), *ROOT.glob("protocol/**/*.py")]
    present = {source.relative_to(ROOT) for source in sources}
    ordinary = {"__init__.py", "__main__.py"}
    listed = {path for path in present if path.name not in ordinary}
    assert listed <= named
    assert {path for path in named if path.suffix == ".py"} <= present | {
        path.relative_to(ROOT) for path in ROOT.glob("scripts/*.py")
    }


SNIPPETS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


ENGINES = {
    '["scripts/engine", ': f'["{sys.executable}", "-P", "-m", "protocol", ',
    '"scripts/engine ': f'"{sys.executable} -P -m protocol ',
}
"""How snippets call the engine, and how to call that of this Python."""


def run_snippet(number: int) -> str:
    """Run a snippet of the README with the engine of this Python; return its output."""
    snippet = SNIPPETS[number]
    assert sum(bool(line.strip()) for line in snippet.splitlines()) <= 10
    for theirs, ours in ENGINES.items():
        snippet = snippet.replace(theirs, ours)
    assert "scripts/engine" not in snippet
    done = subprocess.run(
        [sys.executable, "-c", snippet],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return done.stdout


def test_the_first_snippet_plays_a_game() -> None:
    output = run_snippet(0)
    assert re.search(r"^= resign$", output, re.MULTILINE)
    assert re.search(r"^= [BW]\+1$", output, re.MULTILINE)


@pytest.mark.parametrize("number", [1, 2])
def test_the_snippets_with_a_controller_answer_a_move(number: int) -> None:
    assert re.fullmatch(r"[A-J][1-9]\n", run_snippet(number))


def test_the_snippet_of_a_game_from_python() -> None:
    lines = run_snippet(3).splitlines()
    assert lines[0] == "   A B C D E F G"
    assert lines[11] in ("B+1", "W+1")
    assert "was the last move" in lines[12]
    assert lines[13].startswith("Root(color=")


def test_the_snippet_of_an_analysis_ends() -> None:
    lines = run_snippet(4).splitlines()
    assert all(re.match(r"\d\d% in \d+ visits: [A-J]\d", line) for line in lines)
    assert len(lines) >= 1


def test_there_is_a_test_for_every_snippet() -> None:
    assert len(SNIPPETS) == 5
