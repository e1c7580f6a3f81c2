"""Runs scripts with this Python."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def command(name: str, *arguments: object) -> list[str]:
    """Return the command line of a script."""
    return [sys.executable, str(ROOT / "scripts" / name), *map(str, arguments)]


def run(name: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a script to its end."""
    line = command(name, *arguments)
    return subprocess.run(line, capture_output=True, text=True, check=False)
