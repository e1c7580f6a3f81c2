"""Writes protocol/analysis_schema.json from the types of the analysis engine.

    .venv/bin/python scripts/schema.py [--check]

With --check nothing is written; the exit status is 1 if the file is not current.
"""

import json
import sys
from pathlib import Path

from protocol.json_types import schema

FILE = Path(__file__).resolve().parent.parent / "protocol" / "analysis_schema.json"


def main(arguments: list[str]) -> int:
    """Write or check the file; return the exit status."""
    text = json.dumps(schema(), indent=2) + "\n"
    if arguments == ["--check"]:
        is_current = FILE.exists() and FILE.read_text("utf-8") == text
        if not is_current:
            print(f"{FILE} is not current: run scripts/schema.py", file=sys.stderr)
        return int(not is_current)
    FILE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
