"""One game between two engines: who loses by what, and what it leaves behind."""

import errno
import os
import re
import signal
import time
from pathlib import Path
from typing import NamedTuple

import anyio
import pytest

from protocol.arena import replay
from protocol.arena.clocks import Clock, Control, PerMove
from protocol.arena.openings import random_opening
from protocol.arena.referee import Contestant, Terms, play_game
from protocol.arena.schedule import Pair
from protocol.arena.store import GameRecord, Termination
from protocol.client import EngineCommand, StartFailed
from tanbo_engine import setups
from tanbo_engine.game import Game
from tanbo_engine.points import Color

from .support import TINY, bad, needs_proc, no_leaks, odd

PATIENT = Terms(None, hang=30)
"""No time control, for engines that answer at once."""

PAIR = Pair(7, "bad", "good", TINY, 3)
OPENING = random_opening(setups.by_name(TINY), 1, 3, 2)


def contestant(name: str, command: str, terms: Terms = PATIENT) -> Contestant:
    return Contestant(name, EngineCommand.parse(command, label=name), terms)


async def game(
    sides: tuple[Contestant, Contestant],
    terms: Terms = PATIENT,
    *,
    pair: Pair = PAIR,
    opening: tuple[str, ...] = OPENING,
    number: int = 0,
) -> GameRecord:
    """Play a game; whatever happens, its record must be true."""
    record = await play_game(pair, number, opening, sides, terms)
    assert replay.verify([record]) == []
    assert (record.black, record.white) == (sides[0].name, sides[1].name)
    assert record.moves[: len(opening)] == opening
    assert len(record.limit) - len(record.seconds) in (0, 1)
    turns = len(record.moves) - len(opening)
    assert len(record.seconds) - turns in (0, 1)
    return record


async def close(*players: Contestant) -> None:
    for player in players:
        await player.drop()


# A game as it should be


async def test_a_game_to_the_end() -> None:
    sides = contestant("A", bad()), contestant("B", odd("--last"))
    terms = Terms(PerMove(20))
    async with no_leaks():
        record = await game(sides, terms)
        await close(*sides)
    played = Game(setups.by_name(TINY).position())
    for vertex in record.moves:
        played.play("ABC".index(vertex[0]) + 3 * (int(vertex[1:]) - 1))
    assert played.winner is not None
    assert record.winner == played.winner.word
    assert record == GameRecord(
        pair=7,
        game=0,
        opening=OPENING,
        setup=TINY,
        black="A",
        white="B",
        winner=played.winner.word,
        termination=Termination.BOARD,
        reason=f"{played.winner.opponent.word} has no stone left",
        moves=record.moves,
        seconds=record.seconds,
        limit=(20,) * (len(record.moves) - 2),
        black_build="bad engine 0",
        white_build="bad engine 0 b1",
    )
    assert len(record.seconds) == len(record.limit)
    assert all(0 < seconds < 5 for seconds in record.seconds)


async def test_processes_are_kept_from_game_to_game() -> None:
    sides = contestant("A", bad()), contestant("B", bad())
    first = await game(sides)
    pids = [player.engine.pid for player in sides]
    second = await game(sides[::-1], number=1)
    assert [player.engine.pid for player in sides] == pids
    assert (first.winner, first.moves) == (second.winner, second.moves)
    assert {first.black, second.black} == {"A", "B"}
    other = Pair(8, "A", "B", "dense-3x7", 0)
    assert (await game(sides, pair=other, opening=())).setup == "dense-3x7"
    await close(*sides)
    with pytest.raises(RuntimeError, match="A has not been started"):
        _ = sides[0].engine


def heard(path: Path) -> list[str]:
    return path.read_text().splitlines()


async def test_what_engines_are_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    terms = Terms(Clock(60, 0.5), nodes=300)
    sides = (
        contestant("A", odd("--log", str(log)), terms),
        contestant("B", odd("--say", "1", "resign")),
    )
    await game(sides, terms)
    lines = heard(log)
    start = [
        "protocol_version",
        "name",
        "version",
        "list_commands",
        "tanbo-build",
        "kata-set-param maxVisits 300",
        f"tanbo-setup {TINY}",
        "clear_board",
        "gogui-rules_board",
        "kata-time_settings fischer 60 0.5",
        f"gogui-play_sequence B {OPENING[0]} W {OPENING[1]}",
        "time_left b 60.00 0",
        "genmove B",
    ]
    assert lines == start
    # The next game in the same process: all but the first six.
    await game(sides, terms)
    assert heard(log)[len(start) :] == start[6:]
    await close(*sides)
    assert heard(log)[-1] == "quit"


async def test_a_plain_engine_is_told_what_gtp_has(tmp_path: Path) -> None:
    log = tmp_path / "log"
    hidden = ("kata-time_settings", "kata-set-param", "tanbo-build")
    lacks = ("tanbo-setup", "gogui-play_sequence", "gogui-rules_board", "gogui-setup")
    options = [word for name in hidden for word in ("--hide", name)]
    options += [word for name in lacks for word in ("--no-list", name)]
    terms = Terms(Clock(60, 0), nodes=300)
    sides = (
        contestant("A", odd("--log", str(log), "--whole-seconds", *options), terms),
        contestant("B", odd("--say", "2", "resign"), terms),
    )
    record = await game(sides, terms)
    assert (record.winner, record.termination) == ("black", "resign")
    lines = heard(log)
    assert lines[4:11] == [
        "boardsize 3 5",
        "clear_board",
        "time_settings 60 0 0",
        f"play B {OPENING[0]}",
        f"play W {OPENING[1]}",
        "time_left b 60 0",
        "genmove B",
    ]
    assert lines[12].startswith("time_left b 5")
    await close(*sides)


# Faults


class Fault(NamedTuple):
    """What an engine does and how it loses by that."""

    options: tuple[str, ...]
    termination: Termination
    reason: str
    control: Control | None = None
    hang: float = 30.0


CRASH, HANG, TIME = Termination.CRASH, Termination.HANG, Termination.TIME
ILLEGAL, PROTOCOL = Termination.ILLEGAL, Termination.PROTOCOL_ERROR

FAULTS = {
    "crash at start": Fault(
        ("--crash-at-start", "--exit-code", "7"),
        CRASH,
        "bad: protocol_version: died with exit code 7; .*crashed as told",
    ),
    "crash": Fault(
        ("--crash-on-move", "3"), CRASH, "bad: genmove .: died with exit code 1; .*told"
    ),
    "crash while a child holds stdout": Fault(
        ("--crash-on-move", "2", "--child-holds-stdout"), CRASH, "died with exit code 1"
    ),
    "crash under a clock": Fault(
        ("--crash-on-move", "1"), CRASH, "died with exit code 1", PerMove(0.5)
    ),
    "stall": Fault(
        ("--stall-on-move", "2"), HANG, r"no answer within 0\.6 s", None, 0.6
    ),
    "stall under a clock": Fault(
        ("--stall-on-move", "2"),
        HANG,
        r"no answer within 0\.95 s",
        PerMove(0.6),
        0.3,
    ),
    "late": Fault(
        ("--late-on-move", "2", "0.9"),
        TIME,
        r"took \d\.\d{3} s of 0\.600 s",
        PerMove(0.6),
    ),
    "late on a clock": Fault(
        ("--late-on-move", "3", "1.2"),
        TIME,
        r"took 1\.\d{3} s of [01]\.\d{3} s",
        Clock(1, 0.01),
    ),
    "illegal": Fault(
        ("--illegal-on-move", "2"), ILLEGAL, "illegal move: .* (R|stands|occupied)"
    ),
    "garbage": Fault(
        ("--garbage-on-move", "2"), PROTOCOL, "not a response: 'Segmentation fault"
    ),
    "10 MB": Fault(
        ("--huge-line-on-move", "2"), PROTOCOL, "the answer is no move: 'AAA"
    ),
    "no newline": Fault(
        ("--no-newline-on-move", "2"), HANG, r"no answer within 0\.6 s", None, 0.6
    ),
    "stray output": Fault(
        ("--stray-output",), PROTOCOL, "not a response: 'thinking hard'"
    ),
    "refuses a legal move": Fault(
        ("--refuse-legal", "4"), PROTOCOL, "play . ..: refused: illegal move"
    ),
    "refuses the opening": Fault(
        ("--refuse-legal", "1"), PROTOCOL, "gogui-play_sequence .*: refused: illegal"
    ),
    "resign": Fault(
        ("--say", "2", "resign"), Termination.RESIGN, "(black|white) resigns"
    ),
    "RESIGN": Fault(
        ("--say", "1", "RESIGN"), Termination.RESIGN, "(black|white) resigns"
    ),
    "pass": Fault(
        ("--say", "2", "PASS"), ILLEGAL, r"illegal move: .*no passing \(R7\)"
    ),
    "off the board": Fault(("--say", "2", "Z25"), ILLEGAL, "illegal move: .*"),
    "column I": Fault(
        ("--say", "2", "i4"), ILLEGAL, "illegal move: I4 is off the board"
    ),
    "no vertex": Fault(("--say", "2", "C"), PROTOCOL, "the answer is no move: 'C'"),
    "no answer": Fault(("--say", "2", ""), PROTOCOL, "the answer is no move: ''"),
    "two moves": Fault(
        ("--say", "1", "A1 B2"), PROTOCOL, "the answer is no move: 'A1 B"
    ),
    "refuses genmove": Fault(
        ("--refuse", "genmove"), PROTOCOL, "genmove .: refused: no"
    ),
    "refuses the set-up": Fault(
        ("--refuse", "tanbo-setup"), PROTOCOL, "tanbo-setup .*: refused: no"
    ),
    "refuses the clock": Fault(
        ("--refuse", "kata-time_settings"), PROTOCOL, "refused: no", PerMove(9)
    ),
    "another board": Fault(
        ("--wrong-board",), PROTOCOL, "its board is not the start position"
    ),
    "cannot be told the clock": Fault(
        ("--hide", "kata-time_settings", "--no-list", "time_settings"),
        PROTOCOL,
        "cannot be told: no time_settings in its commands",
        PerMove(9),
    ),
}


@needs_proc
@pytest.mark.parametrize("name", FAULTS)
async def test_a_fault_loses_for_who_made_it(name: str) -> None:
    fault = FAULTS[name]
    terms = Terms(fault.control, hang=fault.hang)
    culprit = contestant("bad", odd(*fault.options), terms)
    other = contestant("good", odd(), terms)
    async with no_leaks():
        for color, sides in zip(
            Color, ((culprit, other), (other, culprit)), strict=True
        ):
            record = await game(sides, terms)
            assert record.winner == color.opponent.word
            assert record.termination is fault.termination, record.reason
            assert re.search(fault.reason, record.reason)
            assert "\n" not in record.reason
            if fault.termination.is_forfeit:
                with pytest.raises(RuntimeError):  # not to be used again
                    _ = culprit.engine
        await close(culprit, other)


@needs_proc
async def test_the_next_game_has_a_new_process_of_the_culprit_only() -> None:
    culprit, other = (
        contestant("bad", bad("--crash-on-move", "2")),
        contestant("good", bad()),
    )
    pids = set()
    async with no_leaks():
        for number in range(4):
            sides = (culprit, other) if number % 2 else (other, culprit)
            record = await game(sides, number=number % 2)
            assert record.termination is Termination.CRASH
            assert record.winner == ("white" if number % 2 else "black")
            pids.add(other.engine.pid)
        assert len(pids) == 1
        await close(culprit, other)


async def test_who_resigns_keeps_its_process() -> None:
    # A lost game is no fault: starting an engine may take longer than a game.
    loser, other = (
        contestant("bad", odd("--say", "1", "resign")),
        contestant("good", bad()),
    )
    assert (await game((loser, other))).termination is Termination.RESIGN
    pid = loser.engine.pid
    assert (await game((other, loser))).winner == "black"
    assert loser.engine.pid == pid
    await close(loser, other)


@needs_proc
@pytest.mark.parametrize(
    "option", ["--ignore-quit", "--flood-stderr", "--child-holds-stdout"]
)
async def test_bad_manners_that_lose_nothing(option: str) -> None:
    sides = contestant("bad", bad(option)), contestant("good", bad())
    async with no_leaks():
        for number in (0, 1):
            record = await game(sides if not number else sides[::-1], number=number)
            assert record.termination is Termination.BOARD
        await close(*sides)


async def test_a_process_killed_between_games() -> None:
    sides = contestant("bad", bad()), contestant("good", bad())
    await game(sides)
    pid = sides[0].engine.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    record = await game(sides)
    assert (record.winner, record.termination) == ("white", CRASH)
    assert re.search("died of SIGKILL", record.reason)
    assert (await game(sides)).termination is Termination.BOARD
    await close(*sides)


async def test_a_process_killed_in_a_game() -> None:
    sides = (
        contestant("bad", bad("--late-on-move", "3", "20")),
        contestant("good", bad()),
    )

    async def kill() -> None:
        await anyio.sleep(0.5)
        pid = sides[0].engine.pid
        assert pid is not None
        os.kill(pid, signal.SIGSEGV)

    async with anyio.create_task_group() as group:
        await sides[0].begin(Game(setups.by_name(TINY).position()))
        group.start_soon(kill)
        record = await game(sides)
    assert (record.winner, record.termination) == ("white", CRASH)
    assert re.search("genmove B: died of SIGSEGV", record.reason)
    assert len(record.moves) == 2 + 2 * 2
    await close(*sides)


# Time


async def test_the_margin() -> None:
    sides = (
        contestant("bad", bad("--late-on-move", "2", "0.4")),
        contestant("good", bad()),
    )
    terms = Terms(PerMove(0.3), margin=20)
    record = await game(sides, terms)
    assert record.termination is Termination.BOARD
    overruns = [
        seconds
        for seconds, limit in zip(record.seconds, record.limit, strict=True)
        if limit is not None and seconds > limit
    ]
    assert max(overruns) > 0.4
    assert record.seconds[2] == max(overruns)
    await close(*sides)


@pytest.mark.parametrize("option", ["--late-on-move", "--stall-on-move"])
async def test_the_time_of_the_last_move_is_recorded(option: str) -> None:
    seconds = ("1", "1.2") if option == "--late-on-move" else ("1",)
    terms = Terms(PerMove(0.5), hang=0.5 if option == "--stall-on-move" else 9)
    sides = contestant("bad", bad(option, *seconds)), contestant("good", bad())
    record = await game(sides, terms)
    assert record.limit == (0.5,)
    assert len(record.seconds) == 1
    assert 1 <= record.seconds[0] < 3
    await close(*sides)


async def test_a_late_answer_that_ends_the_game_loses() -> None:
    good, same = contestant("good", odd()), contestant("same", odd())
    whole = await game((same, good))
    turns = len(whole.moves) - 2
    last, is_white = (turns + 1) // 2, turns % 2 == 0  # who makes the last move, when
    late = contestant("late", odd("--late-on-move", str(last), "0.9"))
    sides = (good, late) if is_white else (late, good)
    record = await game(sides, Terms(PerMove(0.6)))
    assert record.termination is TIME
    assert record.winner == ("black" if is_white else "white")
    assert record.moves == whole.moves[:-1]
    await close(good, same, late)


async def test_a_clock_runs_down() -> None:
    terms = Terms(Clock(50, 0.5))
    sides = (
        contestant("A", odd("--late-on-move", "1", "0.7")),
        contestant("B", odd()),
    )
    record = await game(sides, terms)
    assert record.termination is Termination.BOARD
    blacks = [limit for limit in record.limit[::2] if limit is not None]
    spent = record.seconds[::2]
    assert blacks[0] == 50
    for before, now, seconds in zip(blacks, blacks[1:], spent, strict=False):
        assert now == pytest.approx(before - seconds + 0.5)
    assert spent[0] > 0.7
    await close(*sides)


async def test_a_zero_margin_with_instant_engines() -> None:
    sides = contestant("A", bad()), contestant("B", bad())
    record = await game(sides, Terms(PerMove(2), margin=0))
    assert record.termination is Termination.BOARD
    await close(*sides)


async def test_the_opponents_thinking_is_not_charged() -> None:
    sides = contestant("A", bad("--late-on-move", "2", "0.6")), contestant("B", bad())
    record = await game(sides, Terms(PerMove(5)))
    slow = [i for i, seconds in enumerate(record.seconds) if seconds > 0.5]
    assert slow == [2]
    await close(*sides)


# What is nobody's fault


async def test_a_program_that_cannot_be_run_is_no_loss(tmp_path: Path) -> None:
    # It was there before the first game.
    sides = contestant("bad", str(tmp_path / "gone")), contestant("good", bad())
    with pytest.raises(OSError, match="no program") as told:
        await game(sides)
    assert isinstance(told.value.__cause__, StartFailed)
    await close(*sides)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EAGAIN, errno.ENOMEM])
async def test_a_machine_without_room_is_no_loss(
    monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    async def full(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    sides = contestant("bad", bad()), contestant("good", bad())
    await sides[1].begin(Game(setups.by_name(TINY).position()))
    monkeypatch.setattr(anyio, "open_process", full)
    with pytest.raises(OSError, match=re.escape(os.strerror(number))):
        await game(sides)
    await close(*sides)


@needs_proc
async def test_a_cancelled_game_leaves_nothing() -> None:
    sides = contestant("bad", bad("--stall-on-move", "1")), contestant("good", bad())
    async with no_leaks():
        began = time.monotonic()
        with anyio.move_on_after(0.8):
            await game(sides)
        await close(*sides)
        assert time.monotonic() - began < 5


@needs_proc
async def test_many_games_leak_nothing() -> None:
    sides = contestant("bad", bad("--crash-on-move", "2")), contestant("good", bad())
    async with no_leaks():
        for number in range(12):
            await game(sides if number % 3 else sides[::-1])
        await close(*sides)
