"""The committed gogui-regress file holds, also where gogui-regress is not installed."""

import re
from pathlib import Path

import pytest

from .talk import ask, new_session

FILE = Path(__file__).resolve().parents[1] / "regress" / "tanbo.tst"


def entries() -> list[tuple[str, str]]:
    """Return commands with the expressions that their whole answers must match."""
    lines = [line for line in FILE.read_text("ascii").split("\n") if line]
    commands = [line for line in lines if re.match(r"\d+ ", line)]
    patterns = [line[4:-1] for line in lines if line.startswith("#? [")]
    return list(zip(commands, patterns, strict=True))


def test_there_are_enough_of_them() -> None:
    assert len(entries()) >= 40


@pytest.mark.timeout(60)
async def test_every_answer_is_as_the_file_says() -> None:
    session = new_session(nodes=200, seed=1, memory=256)
    for command, pattern in entries():
        answer = await ask(session, command)
        assert re.fullmatch(pattern, answer, re.DOTALL | re.MULTILINE), command
