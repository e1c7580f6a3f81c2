"""Writes the tables of README.md that follow from the code.

    .venv/bin/python scripts/readme.py [--check]

With --check nothing is written; the exit status is 1 if the file is not current.
"""

import re
import sys
from pathlib import Path

from protocol.commands import TABLE
from protocol.config import Settings
from protocol.options import fields

README = Path(__file__).resolve().parent.parent / "README.md"


def commands() -> str:
    """Return the command table."""
    rows = ["| command | what it does |", "| --- | --- |"]
    for entry in TABLE.values():
        errors = f" Errors: {', '.join(entry.errors)}." if entry.errors else ""
        rows.append(f"| `{_cell(entry.usage)}` | {_cell(entry.help)}{errors} |")
    return "\n".join(rows)


def options() -> str:
    """Return the table of command line options."""
    rows = ["| option | meaning |", "| --- | --- |"]
    for field in fields(Settings).values():
        value = "" if field.kind is bool else f" {field.metavar}"
        rows.append(f"| `--{field.name}{value}` | {field.meta.description} |")
    rows.append("| `--config FILE` | TOML file with the same names as keys |")
    rows.append("| `--version` | print the release |")
    return "\n".join(rows)


def render(text: str) -> str:
    """Return the README's text with its tables made anew."""
    for name, table in (("commands", commands()), ("options", options())):
        begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
        pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
        text = pattern.sub(lambda _, t=table, b=begin, e=end: f"{b}\n{t}\n{e}", text)  # type: ignore[misc]
    return text


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write or check the file; return the exit status."""
    old = README.read_text("utf-8")
    new = render(old)
    if arguments == ["--check"]:
        if new != old:
            print("README.md is not current: run scripts/readme.py", file=sys.stderr)
        return int(new != old)
    README.write_text(new, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
