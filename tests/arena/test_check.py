"""The conformance check: our engine, a minimal one, and one fault at a time."""

import re
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from protocol.arena import check
from protocol.arena.check import Status, Verdict, format_verdicts, passed
from protocol.arena.probe import QUICK
from protocol.client import EngineCommand

ROOT = Path(__file__).resolve().parents[2]
MINIMAL_ENGINE = Path(__file__).with_name("minimal_engine.py")
BAD_ENGINE = ROOT / "tests" / "protocol" / "bad_engine.py"
CONFORMING = "minimal"
PACE = "protocol.arena.check.QUICK"

# A wrong rule shows wherever games are played.
ALL_RULES = "C11 C12 C13 C14 C15 C16 C17 C18"

# What is to fail among the required items; the first is what is meant, the others may.
MINIMAL_FAULTS = {
    "banner": "C1",
    "no-ids": "C4",
    "keeps-cr": "C6",
    "komi": "C7",
    "a-stone-less": "C8",
    "any-turn": "C10",
    "own-words": "C11",
    "all-bounded": f"C13 {ALL_RULES}",
    "capture-first": f"C13 {ALL_RULES}",
    "enemies-only": f"C14 {ALL_RULES}",
    "without-clause": f"C15 {ALL_RULES}",
    "plays-on": f"C16 {ALL_RULES}",
    "passes": "C17",
    "forgets": "C17 C19",
    "no-pass": "C18",
    "proud-loser": "C18",
    "outlives-input": "C21",
    "two-empty-lines": "",
    "crlf": "",
    "answers-blanks": "",
}
BAD_SWITCHES = {
    "--crash-at-start": "C1",
    "--no-list version": "C1",
    "--no-list genmove": "C2 C17 C18 C19",
    "--refuse-legal 2": f"C10 C9 {ALL_RULES}",
    "--crash-on-move 3": "C17 C19",
    "--stall-on-move 2": "C17",
    "--illegal-on-move 2": "C17 C18 C19",
    "--garbage-on-move 2": "C17 C19",
    "--huge-line-on-move 2": "C17 C18 C19",
    "--no-newline-on-move 2": "C17",
    "--stray-output": "C19 C17 C18",
    "--ignore-quit": "C20 C21",
    "--exit-code 3": "",
    "--child-holds-stdout": "",
    "--late-on-move 2 1.3": "",
}
# What else shows that the fault was seen.
SEEN = {
    "two-empty-lines": ("C3", Status.WARN),
    "--exit-code 3": ("C20", Status.WARN),
    "--late-on-move 2 1.3": ("E4", Status.WARN),
    "answers-blanks": ("S2", Status.FAIL),
}

Verdicts = Mapping[str, Verdict]


def python(*arguments: str) -> EngineCommand:
    return EngineCommand((sys.executable, *arguments), cwd=ROOT)


def commands() -> dict[str, EngineCommand]:
    """Return every faulty engine by its fault, and the one that has none."""
    found = {CONFORMING: python(str(MINIMAL_ENGINE))}
    for fault in MINIMAL_FAULTS:
        found[fault] = python(str(MINIMAL_ENGINE), fault)
    for switches in BAD_SWITCHES:
        found[switches] = python(str(BAD_ENGINE), *switches.split())
    return found


async def check_all() -> dict[str, Verdicts]:
    """Check all these engines, a few at a time."""
    found: dict[str, Verdicts] = {}
    limiter = anyio.CapacityLimiter(5)

    async def work(name: str, command: EngineCommand) -> None:
        async with limiter:
            verdicts = await check.check(command, quick=True)
        found[name] = {verdict.id: verdict for verdict in verdicts}

    async with anyio.create_task_group() as group:
        for name, command in commands().items():
            group.start_soon(work, name, command)
    return found


@pytest.fixture(scope="module")
def checked() -> dict[str, Verdicts]:
    with pytest.MonkeyPatch.context() as patch:
        # Several share the machine.
        patch.setattr(PACE, QUICK._replace(total=20, answer=5))
        return anyio.run(check_all)


def having(verdicts: Verdicts, status: Status) -> set[str]:
    """Return the ids of the verdicts with a status."""
    return {id_ for id_, verdict in verdicts.items() if verdict.status is status}


async def test_our_engine_meets_every_requirement() -> None:
    told: list[Verdict] = []
    command = python("-P", "-m", "protocol", "--nodes", "50")
    began = time.monotonic()
    verdicts = await check.check(command, told.append, quick=True)
    assert time.monotonic() - began < 13
    assert [v for v in verdicts if v.status is not Status.PASS] == []
    assert told == verdicts
    assert passed(verdicts)
    text = format_verdicts(verdicts)
    assert text.splitlines()[0].startswith("PASS  C1  Starts and answers: tanbo-engine")
    summary = f"{len(verdicts)} pass, 0 fail, 0 warn, 0 skip: it can play here"
    assert text.splitlines()[-1] == summary
    # The document has the same requirements.
    document = (ROOT / "protocol" / "README.md").read_text("utf-8")
    rows = re.findall(r"^\| ([CES]\d+) \| ([^|]+) \|", document, re.MULTILINE)
    assert rows == [(verdict.id, verdict.title) for verdict in verdicts]


def test_eleven_commands_are_enough(checked: dict[str, Verdicts]) -> None:
    verdicts = checked[CONFORMING]
    required = [v for v in verdicts.values() if v.id.startswith("C")]
    assert [v for v in required if v.status is not Status.PASS] == []
    assert having(verdicts, Status.FAIL) == set()
    assert having(verdicts, Status.SKIP) == {f"E{n}" for n in range(1, 13)}


@pytest.mark.parametrize("fault", [*MINIMAL_FAULTS, *BAD_SWITCHES])
def test_a_fault_fails_its_items(checked: dict[str, Verdicts], fault: str) -> None:
    verdicts = checked[fault]
    meant, *others = (MINIMAL_FAULTS | BAD_SWITCHES)[fault].split() or [""]
    failed = {id_ for id_ in having(verdicts, Status.FAIL) if id_.startswith("C")}
    assert failed <= {meant, *others}, format_verdicts(list(verdicts.values()))
    assert not meant or meant in failed
    assert passed(verdicts.values()) is not bool(meant)
    if fault in SEEN:
        id_, status = SEEN[fault]
        assert verdicts[id_].status is status


def test_an_engine_that_does_not_start(checked: dict[str, Verdicts]) -> None:
    (verdict,) = checked["--crash-at-start"].values()
    assert "died with exit code 1; the end of its stderr: Assertion" in verdict.detail
    text = format_verdicts([verdict])
    assert text.startswith("FAIL  C1  Starts and answers: python")
    assert text.endswith("it cannot play here; not as it should be: C1")


async def test_a_program_that_does_not_exist() -> None:
    (verdict,) = await check.check("no-such-program-of-ours", quick=True)
    assert (verdict.id, verdict.status) == ("C1", Status.FAIL)
    assert "no program" in verdict.detail


@pytest.mark.parametrize("start", [0.3, 30])
async def test_a_program_that_never_answers(
    monkeypatch: pytest.MonkeyPatch, start: float
) -> None:
    monkeypatch.setattr(PACE, QUICK._replace(total=1, start=start))
    command = python("-S", "-c", "import time; time.sleep(60)")
    began = time.monotonic()
    (verdict,) = await check.check(command, quick=True)
    assert time.monotonic() - began < 3
    assert (verdict.id, verdict.status) == ("C1", Status.FAIL)


async def test_the_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PACE, QUICK._replace(total=1.5))
    began = time.monotonic()
    verdicts = await check.check(python(str(BAD_ENGINE), "--ignore-quit"), quick=True)
    assert time.monotonic() - began < 4
    assert verdicts[-1].detail == "not checked: the time was up"
    assert verdicts[-1].status is Status.WARN
    assert format_verdicts(verdicts).endswith(", S6, S7")
