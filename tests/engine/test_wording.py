"""Numbers with nouns and cut words, as all messages write them."""

import re
from pathlib import Path

import pytest

from tanbo_engine.wording import MOST_SHOWN, counted, short, timed

ROOT = Path(__file__).resolve().parents[2]
CUT = re.compile(r"\{[^{}]*\[:(?:[0-9]+|_?[A-Z_]+)\](?:![rs])?\}")


def test_one_and_several() -> None:
    assert [counted(n, "root") for n in (0, 1, 2)] == ["0 roots", "1 root", "2 roots"]
    assert counted(2, "priority", "priorities") == "2 priorities"
    assert counted(1, "priority", "priorities") == "1 priority"
    assert [timed(t) for t in (1.0, 0.5, 10.0)] == [
        "1 second",
        "0.5 seconds",
        "10 seconds",
    ]


def test_what_is_cut_says_so() -> None:
    whole = "analysisWideRootNoise"
    assert short(whole) == whole
    assert short("x" * MOST_SHOWN) == "x" * MOST_SHOWN
    assert short("x" * (MOST_SHOWN + 1)) == "x" * MOST_SHOWN + "..."
    assert short("abcdef", 3) == "abc..."


@pytest.mark.parametrize("folder", ["protocol", "tanbo_engine"])
def test_no_message_cuts_by_itself(folder: str) -> None:
    for file in (ROOT / folder).rglob("*.py"):
        cut = [each for each in CUT.findall(file.read_text()) if "digest" not in each]
        assert not cut, file
