"""Whole runs: scripted slots, real engines, interrupts, and kills at any moment."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import msgspec
import pytest

from protocol.arena import config, replay, runner, statistics
from protocol.arena.config import Tournament
from protocol.arena.openings import OpeningError, random_opening
from protocol.arena.runner import (
    LocalSlot,
    Run,
    RunError,
    Task,
    choose_concurrency,
    contestants,
    preflight,
)
from protocol.arena.store import (
    GAMES,
    GameRecord,
    Store,
    Termination,
    finished,
    read_games,
    standing,
)
from protocol.options import SettingsError
from tanbo_engine import setups

from .support import (
    MARK,
    ROOT,
    TINY,
    ScriptedSlots,
    Told,
    bad,
    marked,
    needs_proc,
    no_leaks,
    numbers,
    odd,
    play_run,
    result,
    tournament,
    wait_until,
    without_times,
    won_by,
)

VOID = Termination.VOID


def both(pairs: int) -> list[tuple[int, int]]:
    """Return the numbers of all games of some pairs."""
    return [(pair, game) for pair in range(pairs) for game in (0, 1)]


def store_games(folder: Path, *records: GameRecord) -> None:
    store = Store(folder)
    for record in records:
        store.append(record)
    store.close()


# The run itself, on slots without engines


async def test_every_pair_once_with_its_opening(tmp_path: Path) -> None:
    match = tournament(
        tmp_path, "a", "b", "c", games=4, setup=[TINY, "dense-3x3"], seed=3
    )
    slots, told = ScriptedSlots(3, won_by("A")), Told()
    games = await play_run(match, slots, told)
    assert numbers(games) == both(12)
    assert (told.total, told.pairs, told.done) == (12, 12, [])
    assert numbers(told.games) == numbers(games)
    assert told.texts == []
    assert slots.most_busy == slots.closed == 3
    for task in slots.tasks:
        setup = setups.by_name(task.pair.setup)
        assert task.opening == random_opening(setup, 3, task.pair.opening, 2)
        assert task.games == (0, 1)
    meetings = Counter((g.black, g.white, g.setup) for g in games)
    assert set(meetings.values()) == {2}
    assert len(meetings) == 12


async def test_the_same_command_again_plays_nothing(tmp_path: Path) -> None:
    match = tournament(tmp_path, "a", "b", games=6)
    games = await play_run(match, ScriptedSlots(1, won_by("A")))
    slots, told = ScriptedSlots(1, won_by("B")), Told()
    assert await play_run(match, slots, told) == games
    assert slots.tasks == []
    assert (told.pairs, sorted(told.done)) == (0, both(3))


async def test_it_continues_with_half_a_pair(tmp_path: Path) -> None:
    store_games(
        tmp_path,
        result(0, 0, "A"),
        result(2, 1, "B"),
        result(1, 0, "A"),
        result(1, 1, None, VOID),
    )
    slots = ScriptedSlots(1, won_by("B"))
    games = await play_run(tournament(tmp_path, "a", "b", games=6), slots)
    assert [(task.pair.number, task.games) for task in slots.tasks] == [
        (0, (1,)),
        (1, (1,)),
        (2, (0,)),
    ]
    assert sorted(finished(games)) == both(3)
    kept = [game for game in games[:3] if game.termination.counts]
    assert kept == [result(0, 0, "A"), result(2, 1, "B"), result(1, 0, "A")]


async def test_more_games_continue_a_run(tmp_path: Path) -> None:
    three = ("a", "b", "c")
    before = await play_run(
        tournament(tmp_path, *three, games=2), ScriptedSlots(2, won_by("A"))
    )
    slots = ScriptedSlots(2, won_by("A"))
    after = await play_run(tournament(tmp_path, *three, games=6), slots)
    assert after[:6] == before
    assert numbers(after) == both(9)
    assert len(slots.tasks) == 6


@pytest.mark.parametrize("count", [1, 2, 5])
async def test_no_more_pairs_at_a_time_than_slots(tmp_path: Path, count: int) -> None:
    slots = ScriptedSlots(count, won_by("A"))
    await play_run(tournament(tmp_path, "a", "b", games=20), slots)
    assert slots.most_busy == count
    assert slots.closed == count


@pytest.mark.parametrize("count", [1, 2, 4])
async def test_a_swiss(tmp_path: Path, count: int) -> None:
    match = tournament(tmp_path, "a", "b", "c", games=2, format="swiss", rounds=3)
    slots = ScriptedSlots(count, won_by("A"))
    games = await play_run(match, slots)
    assert numbers(games) == both(3)
    assert slots.most_busy == 1  # one pairing a round, a round after the other
    again = ScriptedSlots(count, won_by("A"))
    assert await play_run(match, again) == games
    assert again.tasks == []


async def test_a_swiss_goes_on_from_any_point(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"games": 4, "format": "swiss", "rounds": 3}
    names = ("a", "b", "c", "d", "e")
    whole = await play_run(
        tournament(tmp_path / "whole", *names, **settings),
        ScriptedSlots(1, won_by("C")),
    )
    for kept in range(0, len(whole), 5):
        folder = tmp_path / str(kept)
        store_games(folder, *whole[:kept])
        match = tournament(folder, *names, **settings)
        games = await play_run(match, ScriptedSlots(2, won_by("C")))
        assert without_times(games) == without_times(whole)


async def test_sprt_stops_early_and_says_why(tmp_path: Path) -> None:
    match = tournament(tmp_path, "a", "b", games=1000, sprt=[0, 100])
    told = Told()
    games = await play_run(match, ScriptedSlots(2, won_by("A")), told)
    assert 16 <= len(games) < 60
    score = statistics.pair_score(games, "A")
    assert statistics.sprt(score, 0, 100).decision == "H1"
    (text,) = told.texts
    assert re.fullmatch(
        r"SPRT accepts H1: LLR \d+\.\d\d outside \(-2\.94, 2\.94\), "
        r"\[0, 100\] logistic",
        text,
    )
    # Continued, it is decided before the first game.
    slots, told = ScriptedSlots(2, won_by("A")), Told()
    assert await play_run(match, slots, told) == games
    assert slots.tasks == []
    assert told.texts[0].startswith("SPRT accepts H1: LLR ")


async def test_sprt_accepts_h0(tmp_path: Path) -> None:
    match = tournament(tmp_path, "a", "b", games=1000, sprt=[0, 100])
    told = Told()
    games = await play_run(match, ScriptedSlots(1, won_by("B")), told)
    assert told.texts[0].startswith("SPRT accepts H0: LLR -")
    assert len(games) < 60


async def test_sprt_that_does_not_decide(tmp_path: Path) -> None:
    match = tournament(tmp_path, "a", "b", games=40, sprt=[-200, 200])

    def split(task: Task, game: int) -> GameRecord:
        return result(task.pair.number, game, "A" if game else "B")

    told = Told()
    games = await play_run(match, ScriptedSlots(1, split), told)
    assert numbers(games) == both(20)
    assert told.texts == []


def fails(task: Task, game: int) -> GameRecord:
    return runner.void_record(task, game, "no room")


@pytest.mark.parametrize("count", [1, 2])
async def test_voids_in_a_row_stop_the_run(tmp_path: Path, count: int) -> None:
    slots, told = ScriptedSlots(count, fails), Told()
    match = tournament(tmp_path, "a", "b", games=20)
    with pytest.raises(RunError, match=r"^3 games in a row are void: no room$"):
        await play_run(match, slots, told)
    assert told.has_ended
    assert slots.closed == count
    games = read_games(tmp_path)
    assert {game.termination for game in games} == {VOID}
    assert 3 <= len(games) <= 2 + count
    assert all(game.winner is None for game in games)


async def test_voids_not_in_a_row(tmp_path: Path) -> None:
    calls = 0

    def now_and_then(task: Task, game: int) -> GameRecord:
        nonlocal calls
        calls += 1
        return (fails if calls % 3 else won_by("A"))(task, game)

    match = tournament(tmp_path, "a", "b", games=10)
    games = await play_run(match, ScriptedSlots(1, now_and_then))
    assert sorted(finished(games)) == both(5)
    assert Counter(game.termination for game in games)[VOID] == 20
    assert replay.verify([g for g in games if g.termination is VOID]) == []


async def test_a_void_game_ends_its_pair_for_now(tmp_path: Path) -> None:
    first = True

    def once(task: Task, game: int) -> GameRecord:
        nonlocal first
        was_first, first = first, False
        return fails(task, game) if was_first else won_by("A")(task, game)

    slots = ScriptedSlots(1, once)
    await play_run(tournament(tmp_path, "a", "b", games=2), slots)
    assert [task.games for task in slots.tasks] == [(0, 1), (0, 1)]


@pytest.mark.parametrize("count", [1, 2])
async def test_an_opening_that_cannot_be_drawn(tmp_path: Path, count: int) -> None:
    match = tournament(tmp_path, "a", "b", setup=["dense-3x3"], opening_plies=60)
    with pytest.raises(OpeningError, match="60 random plies end the game"):
        await play_run(match, ScriptedSlots(count, won_by("A")))


@pytest.mark.parametrize("count", [1, 2])
async def test_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Store, "append", full)
    slots = ScriptedSlots(count, won_by("A"))
    with pytest.raises(OSError, match="No space left"):
        await play_run(tournament(tmp_path, "a", "b", games=20), slots)
    assert slots.closed == count


async def test_a_long_run_does_not_hold_up_the_clocks(tmp_path: Path) -> None:
    # While the arena counts, no answer of another game is seen to arrive: what a pair
    # costs must not grow with the pairs that were played before.
    pairs = 10_000
    records = [result(pair, game, "A") for pair in range(pairs) for game in (0, 1)]
    line = msgspec.json.Encoder()
    (tmp_path / GAMES).write_bytes(b"".join(line.encode(r) + b"\n" for r in records))
    match = tournament(tmp_path, "a", "b", games=2 * pairs + 60, sprt=[800, 801])
    store = Store(tmp_path)
    stalls = []

    async def watch() -> None:
        while True:
            began = time.thread_time()
            await anyio.lowlevel.checkpoint()
            stalls.append(time.thread_time() - began)

    run = Run(match, store, Told(), ScriptedSlots(1, won_by("A")))
    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        await run.play()
        group.cancel_scope.cancel()
    store.close()
    slowest = sorted(stalls)[-20]
    assert slowest < 0.01, f"the event loop stood still for {1000 * slowest:.0f} ms"


# Interrupts, on slots without engines


class Slow(ScriptedSlots):
    """Slots whose games take some time."""

    async def play(self, task: Task, keep: runner.Keep) -> None:
        self.tasks.append(task)
        for game in task.games:
            await anyio.sleep(0.05)
            await keep(self.outcome(task, game))


async def interrupted_run(
    tmp_path: Path, number: int, signals: int
) -> tuple[list[GameRecord], Told, Slow, float]:
    """Send signals after the first game; return what is left."""
    begun = anyio.Event()

    def outcome(task: Task, game: int) -> GameRecord:
        begun.set()
        return won_by("A")(task, game)

    told, slots = Told(), Slow(2, outcome)
    match = tournament(tmp_path, "a", "b", games=200)
    store = Store(tmp_path)
    run = Run(match, store, told, slots)

    async def send() -> None:
        await begun.wait()
        for _ in range(signals):
            os.kill(os.getpid(), number)
            await anyio.sleep(0.01)

    began = time.monotonic()
    async with anyio.create_task_group() as group:
        group.start_soon(send)
        await run.play()
    store.close()
    assert run.interrupted
    assert told.has_ended
    assert slots.closed == 2
    return read_games(tmp_path), told, slots, time.monotonic() - began


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_one_interrupt_finishes_the_pairs(tmp_path: Path, number: int) -> None:
    games, told, slots, seconds = await interrupted_run(tmp_path, number, 1)
    assert numbers(games) == both(2)
    assert told.texts == ["finishing 2 pairs; again to stop now"]
    assert len(slots.tasks) == 2
    assert seconds < 5


async def test_two_interrupts_stop_now(tmp_path: Path) -> None:
    games, told, slots, seconds = await interrupted_run(tmp_path, signal.SIGINT, 2)
    assert set(numbers(games)) <= {(0, 0), (1, 0)}
    assert len(games) >= 1
    assert all(game.termination is Termination.BOARD for game in games)
    assert len(slots.tasks) == 2
    assert seconds < 5
    again = await play_run(
        tournament(tmp_path, "a", "b", games=4), ScriptedSlots(1, won_by("A"))
    )
    assert numbers(again) == both(2)
    assert told.texts


async def test_an_interrupt_while_a_game_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append = Store.append

    def slowly(store: Store, record: GameRecord) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)
        append(store, record)

    monkeypatch.setattr(Store, "append", slowly)
    told = Told()
    games = await play_run(
        tournament(tmp_path, "a", "b", games=20), ScriptedSlots(1, won_by("A")), told
    )
    assert numbers(games) == numbers(told.games) == [(0, 0)]


# Engines


@needs_proc
async def test_a_run_with_engines(tmp_path: Path) -> None:
    match = tournament(
        tmp_path,
        odd(),
        odd("--last"),
        bad("--crash-on-move", "5"),
        games=4,
        setup=[TINY, "dense-3x3"],
        concurrency=2,
        force=True,
    )
    async with no_leaks():
        games = await play_run(match)
    assert numbers(games) == both(12)
    assert replay.verify(games) == []
    assert {game.termination for game in games} <= {
        Termination.BOARD,
        Termination.CRASH,
    }
    for game in games:
        if game.termination is Termination.CRASH:
            assert (game.black if game.winner == "white" else game.white) == "C"
        path = replay.sgf_path(tmp_path, game)
        assert path.read_text() == replay.to_sgf(game, tmp_path.name)
    assert len(list((tmp_path / "sgf").iterdir())) == len(games)
    # The two games of a pair: one opening, colours swapped.
    for first, second in statistics.finished_pairs(games):
        assert (first.black, first.white) == (second.white, second.black)
        assert first.opening == second.opening
    # Every pairing plays the same openings.
    per_pairing = {
        frozenset((a, b)): sorted(
            (g.setup, g.opening) for g in games if {g.black, g.white} == {a, b}
        )
        for a, b in ("AB", "AC", "BC")
    }
    assert len(set(map(str, per_pairing.values()))) == 1


async def test_two_runs_of_deterministic_engines_are_equal(tmp_path: Path) -> None:
    runs = [
        await play_run(
            tournament(
                tmp_path / name,
                odd(),
                odd("--last"),
                games=10,
                concurrency=int(name),
                force=True,
            )
        )
        for name in ("1", "2")
    ]
    assert without_times(runs[0]) == without_times(runs[1])
    assert numbers(runs[0]) == both(5)


async def test_what_the_arena_cannot_do_is_void(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / "engine"
    engine.write_text(f"#!/bin/sh\nexec {odd()}\n")
    engine.chmod(0o755)
    match = tournament(tmp_path / "out", odd(), str(engine), games=4)
    await preflight(match)
    engine.unlink()
    with pytest.raises(RunError, match=r"3 games in a row are void: .*no program"):
        await play_run(match)
    games = read_games(tmp_path / "out")
    assert [game.termination for game in games] == [VOID] * 3
    assert replay.verify(games) == []


@needs_proc
async def test_a_slot_that_is_cancelled_ends_its_engines(tmp_path: Path) -> None:
    match = tournament(tmp_path, bad("--stall-on-move", "1"), odd(), games=2)
    async with no_leaks():
        with anyio.move_on_after(1):
            await play_run(match)
    assert read_games(tmp_path) == []


# Placeholders


def test_placeholders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "cores", lambda: 9)
    match = tournament(
        tmp_path,
        "x --nodes {nodes} --threads {threads}",
        "x {nodes}{nodes} {seed} {{}}",
        nodes=70,
    )
    found = contestants(match, 4, 0)
    assert list(found) == ["A", "B"]
    assert found["A"]._command.argv == ("x", "--nodes", "70", "--threads", "2")
    argv = found["B"]._command.argv
    assert argv[1] == "7070"
    assert argv[2].isdigit()
    assert argv[3:] == ("{{}}",)
    with pytest.raises(SettingsError, match=re.escape("B: {other} stands for nothing")):
        tournament(tmp_path, "x", "x {other}")


def test_seeds_of_slots_and_engines_differ(tmp_path: Path) -> None:
    match = tournament(tmp_path, "x {seed}", "x {seed}", "x {seed}", seed=5)
    seeds = [
        player._command.argv[1]
        for slot in range(8)
        for player in contestants(match, 8, slot).values()
    ]
    assert len(set(seeds)) == 24
    other = tournament(tmp_path, "x {seed}", "x {seed}", seed=6)
    assert contestants(other, 1, 0)["A"]._command.argv[1] not in seeds
    again = contestants(match, 8, 0)["A"]._command.argv[1]
    assert again == seeds[0]


# Pre-flight


async def test_preflight_tells_who_plays(tmp_path: Path) -> None:
    match = tournament(tmp_path, odd(), bad())
    first, second = await preflight(match)
    assert (first.name, first.build) == ("A", "bad engine 0 b1")
    assert (second.name, second.build) == ("B", "bad engine 0")
    assert os.access(first.program, os.X_OK)


@needs_proc
@pytest.mark.parametrize(
    ("command", "settings", "words"),
    [
        (
            bad("--crash-at-start", "--exit-code", "3"),
            {},
            "B cannot play: B: protocol_version: died with exit code 3; .*\n"
            "Its stderr ends:\nsomething is wrong\nAssertionError: crashed as told$",
        ),
        (
            bad("--crash-on-move", "1"),
            {},
            "B cannot play: B: genmove B: died .*\n.*told$",
        ),
        (bad("--garbage-on-move", "1"), {}, "B cannot play: B: genmove B: not a resp"),
        (bad("--stall-on-move", "1"), {"hang": 0.5}, "no answer within 0.5 s"),
        (
            "no-such-program-of-ours",
            {},
            "B cannot play: B: no program 'no-such-program-of-ours' in PATH$",
        ),
        (f"{sys.executable} -c 'print(7)'", {}, "B cannot play: B: protocol_version: "),
        ("'open", {}, "^B cannot play: B: .* is no command line: No closing quotation"),
        (
            bad(),
            {"nodes": 5},
            "B cannot play: it cannot be told --nodes: write {nodes} in its command, "
            'for example "scripts/engine --nodes {nodes}"',
        ),
        (
            bad(),
            {"time": 0.5},
            "B cannot play: 0.5 s a move needs kata-time_settings: time_settings takes",
        ),
        (
            bad(),
            {"clock": "60+1"},
            "B cannot play: 60 s a game . 1 s a move needs kata",
        ),
        (odd("--refuse", "tanbo-setup"), {}, "B cannot play: B: tanbo-setup .*refused"),
        (
            odd("--wrong-board"),
            {},
            "B cannot play: B: gogui-rules_board: .*not the start",
        ),
        (
            odd("--refuse", "kata-set-param"),
            {"nodes": 5},
            "B cannot play: B: kata-set-param maxVisits 5: refused: no",
        ),
    ],
)
async def test_preflight_failures(
    tmp_path: Path, command: str, settings: dict[str, Any], words: str
) -> None:
    match = tournament(tmp_path, odd(), command, **settings)
    async with no_leaks():
        with pytest.raises(RunError) as told:
            await preflight(match)
    assert re.search(words, str(told.value), re.DOTALL), str(told.value)


async def test_preflight_tries_every_set_up(tmp_path: Path) -> None:
    engine = bad("--no-list", "tanbo-setup", "--no-list", "gogui-rules_board")
    await preflight(tournament(tmp_path, engine, odd(), setup=[TINY, "classic-9x9"]))
    silent = f"{engine} --no-list boardsize"
    with pytest.raises(RunError, match=r"A cannot play: A: boardsize .*: refused"):
        await preflight(tournament(tmp_path, silent, odd(), setup=["classic-9x9"]))


# Concurrency


def test_concurrency(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (runner, config):
        monkeypatch.setattr(module, "cores", lambda: 4)
    monkeypatch.setattr(runner, "_file_limit", lambda: None)
    warnings: list[str] = []

    def choose(**settings: object) -> int:
        warnings.clear()
        return choose_concurrency(
            tournament(tmp_path, "a", "b", **settings), warnings.append
        )

    assert choose(concurrency=3) == 3
    assert warnings == []
    assert choose(concurrency=4) == 4
    assert warnings == ["4 games on 4 cores leave none for the arena"]
    with pytest.raises(
        RunError,
        match="5 games at a time on 4 cores spoil the clocks: use at most 4, or",
    ):
        choose(concurrency=5)
    assert choose(concurrency=5, force=True) == 5
    match = msgspec.structs.replace(tournament(tmp_path, "a", "b"), concurrency=None)
    assert choose_concurrency(match, warnings.append) == 3


def test_concurrency_on_one_core(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (runner, config):
        monkeypatch.setattr(module, "cores", lambda: 1)
    warnings: list[str] = []
    match = tournament(tmp_path, "a", "b", concurrency=1)
    assert choose_concurrency(match, warnings.append) == 1
    assert warnings == []


def test_files_limit_the_concurrency(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "cores", lambda: 64)
    monkeypatch.setattr(runner, "_file_limit", lambda: 256)

    def choose(engines: int, concurrency: int) -> int:
        match = tournament(tmp_path, *"abcdefgh"[:engines], concurrency=concurrency)
        return choose_concurrency(match, lambda _: None)

    assert choose(2, 16) == 16
    with pytest.raises(
        RunError, match=r"need \d+ open files, the limit is 256: .*ulimit"
    ):
        choose(2, 30)
    # A slot keeps a process of every engine.
    with pytest.raises(RunError, match="open files"):
        choose(8, 16)


@needs_proc
async def test_files_of_a_slot_are_within_what_is_reserved(tmp_path: Path) -> None:
    names = [odd()] * 4
    match = tournament(tmp_path, *names, games=2)
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    slot = LocalSlot(match, 1, 0)
    most = 0

    async def keep(record: GameRecord) -> None:
        nonlocal most
        most = max(most, len(os.listdir("/proc/self/fd")) - before)  # noqa: PTH208

    for pair in match.schedule().open_pairs({}):
        await slot.play(Task(pair, (0,), ()), keep)
    await slot.close()
    limit = 0
    for limit in range(1, 200):
        if _is_allowed(match, limit):
            break
    assert most <= limit


def _is_allowed(match: Tournament, files: int) -> bool:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "_file_limit", lambda: files)
        try:
            choose_concurrency(match, lambda _: None)
        except RunError:
            return False
    return True


# A process that is killed at any moment


def command(match: Tournament) -> list[str]:
    """Return the command line of a run in a process of its own."""
    words = [sys.executable, "-P", "-m", "protocol.arena.cli", "run"]
    for entry in match.engine:
        words += ["--engine", f"{entry.name}={entry.command}"]
    for name in match.setup:
        words += ["--setup", name]
    words += ["--out", str(match.out), "--games", str(2 * match.pairs), "--force"]
    words += ["--concurrency", str(match.concurrency)]
    return [*words, "--opening-plies", str(match.opening_plies)]


def start(match: Tournament, mark: str = "") -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command(match),
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, MARK: mark or match.out or ""},
    )


def lines_in(match: Tournament) -> int:
    path = Path(str(match.out)) / GAMES
    return path.read_bytes().count(b"\n") if path.exists() else 0


def has_lines(match: Tournament, count: int) -> bool:
    return lines_in(match) >= count


def kill_and_continue(match: Tournament, kills: int, chance: random.Random) -> None:
    """Kill a run some times, after a while or some games, then let it end."""
    for number in range(kills):
        process = start(match)
        games = lines_in(match) + 1 + chance.randrange(6)
        seconds = chance.random() if number % 2 else 60
        wait_until(partial(has_lines, match, games), seconds)
        time.sleep(chance.random() * 0.03)
        assert process.poll() is None, process.communicate()
        process.kill()
        process.communicate()
        if lines_in(match):
            records = read_games(Path(str(match.out)))
            assert len(numbers(records)) == len(set(numbers(records)))
            assert replay.verify(records) == []
    process = start(match)
    out, err = process.communicate(timeout=100)
    assert process.returncode == 0, err.decode()
    assert out.decode().startswith("A against B: ")


def assert_killed_runs_are_like_others(folder: Path, kills: int, games: int) -> None:
    engines = odd(), odd("--last")
    match = tournament(
        folder / "killed", *engines, games=games, concurrency=2, force=True
    )
    kill_and_continue(match, kills, random.Random(kills))
    whole = tournament(
        folder / "whole", *engines, games=games, concurrency=2, force=True
    )
    process = start(whole)
    _, err = process.communicate(timeout=100)
    assert process.returncode == 0, err.decode()
    records = [read_games(folder / name) for name in ("killed", "whole")]
    assert numbers(records[0]) == both(games // 2)
    assert without_times(records[0]) == without_times(records[1])
    assert replay.verify(records[0]) == []
    scores = [statistics.pair_score(standing(found), "A") for found in records]
    assert scores[0] == scores[1]
    for record in records[0]:
        assert replay.sgf_path(folder / "killed", record).exists()
    assert wait_until(lambda: not marked(str(match.out)))


@needs_proc
def test_a_killed_run_continues(tmp_path: Path) -> None:
    assert_killed_runs_are_like_others(tmp_path, kills=4, games=60)


@needs_proc
@pytest.mark.deep
@pytest.mark.timeout(600)
def test_a_run_killed_twenty_times_continues(tmp_path: Path) -> None:
    assert_killed_runs_are_like_others(tmp_path, kills=20, games=300)


def test_two_arenas_in_one_directory(tmp_path: Path) -> None:
    # The same command by mistake in two terminals.
    match = tournament(tmp_path, odd(), odd("--last"), games=40)
    processes = [start(match), start(match)]
    for process in processes:
        process.communicate(timeout=60)
    assert sorted(bool(process.returncode) for process in processes) == [False, True]
    assert replay.verify(read_games(tmp_path)) == []


def finish(process: "subprocess.Popen[bytes]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out.decode(), err.decode()


def slow_match(folder: Path) -> Tournament:
    """Return a run whose games take half a second."""
    slow = odd("--late-on-move", "3", "0.5")
    return tournament(folder, slow, odd(), games=200, concurrency=2, force=True)


@needs_proc
@pytest.mark.parametrize("signals", [1, 2])
def test_ctrl_c(tmp_path: Path, signals: int) -> None:
    match = slow_match(tmp_path)
    process = start(match)
    assert wait_until(lambda: lines_in(match) >= 1, 30)
    began = time.monotonic()
    for number in range(signals):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2 * (number < signals - 1))
    code, out, err = finish(process)
    assert code == 130
    assert "Traceback" not in err
    assert "finishing" in err
    assert time.monotonic() - began < 10
    games = read_games(tmp_path)
    assert replay.verify(games) == []
    assert {game.termination for game in games} == {Termination.BOARD}
    assert len(numbers(games)) == len(set(numbers(games)))
    if signals == 1:
        assert numbers(games) == both(len(games) // 2)
        assert out.startswith("A against B: ")
    assert wait_until(lambda: not marked(str(match.out)))


@needs_proc
def test_engines_end_with_a_killed_arena(tmp_path: Path) -> None:
    match = slow_match(tmp_path)
    process = start(match)
    assert wait_until(lambda: lines_in(match) >= 1, 30)
    assert len(marked(str(match.out))) >= 5
    process.kill()
    process.communicate()
    assert wait_until(lambda: not marked(str(match.out)))
