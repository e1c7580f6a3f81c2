"""The README says what is true: its tables, its map, its snippets."""

import re
import subprocess
import sys
from pathlib import Path

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


def run_snippet(number: int, program: str, ours: str) -> str:
    """Run a snippet of the README with the engine of this Python; return its output."""
    snippet = SNIPPETS[number]
    assert program in snippet
    done = subprocess.run(
        [sys.executable, "-c", snippet.replace(program, ours)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return done.stdout


def test_the_first_snippet_plays_a_game() -> None:
    ours = f'["{sys.executable}", "-P", "-m", "protocol", '
    output = run_snippet(0, '["scripts/engine", ', ours)
    assert re.search(r"^= resign$", output, re.MULTILINE)
    assert re.search(r"^= [BW]\+1$", output, re.MULTILINE)


def test_the_second_snippet_answers_a_move() -> None:
    ours = f'"{sys.executable} -P -m protocol '
    output = run_snippet(1, '"scripts/engine ', ours)
    assert re.fullmatch(r"[A-G][1-9]\n", output)


def test_there_is_a_test_for_every_snippet() -> None:
    assert len(SNIPPETS) == 2
