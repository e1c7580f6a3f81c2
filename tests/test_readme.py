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


def test_the_python_snippet_plays_a_game() -> None:
    snippet = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    runner = f'["{sys.executable}", "-P", "-m", "protocol", '
    assert '["scripts/engine", ' in snippet
    done = subprocess.run(
        [sys.executable, "-c", snippet.replace('["scripts/engine", ', runner)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(r"^= resign$", done.stdout, re.MULTILINE)
    assert re.search(r"^= [BW]\+1$", done.stdout, re.MULTILINE)
