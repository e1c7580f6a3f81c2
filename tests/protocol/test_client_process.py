"""The controller: processes, well-behaved and bad, from start to close."""

import asyncio
import os
import signal
import sys
import threading
import time
from pathlib import Path

import anyio
import pytest

from protocol.client import (
    Abandoned,
    Channel,
    Engine,
    EngineCommand,
    EngineDied,
    EngineError,
    EngineProcess,
    ProtocolError,
    Refused,
    SimpleEngine,
    StartFailed,
    TimedOut,
    engine,
    open_engine,
)
from tanbo_engine import notation

from .engines import (
    ANSWERS,
    BLACK,
    FOREVER,
    SLACK,
    WHITE,
    bad,
    game_of,
    group_is_gone,
    is_spoilt,
    python,
)
from .talk import ROOT

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs process groups")


async def test_two_engines_play_a_game() -> None:
    real = EngineCommand(
        (sys.executable, "-P", "-m", "protocol", "--nodes", "50", "--seed", "1"), ROOT
    )
    game = game_of("dense-7x7")
    async with await open_engine(bad()) as one, await open_engine(real) as two:
        assert (one.name, two.name) == ("bad engine", "tanbo-engine")
        players = (one, two)
        while game.winner is None:
            player = players[game.to_move]
            await player.sync(game)
            answer = await player.genmove(game.to_move, timeout=10)
            assert 0 < answer.seconds < 10
            row = int(answer.move[1:]) - 1
            game.play(row * 7 + "ABCDEFG".index(answer.move[0]))
        for player in players:
            await player.sync(game)
            assert await player.send("final_score") == f"{game.winner.initial}+1"
            move = (await player.genmove(game.to_move, timeout=10)).move
            assert move == ("pass" if game.to_move is game.winner else "resign")
    assert group_is_gone(one.pid)
    assert group_is_gone(two.pid)


@pytest.mark.parametrize("missing", ["tanbo-setup", "gogui-setup", "undo", "none"])
@pytest.mark.parametrize("setup", ["dense-7x7", "classic-9x9", "dense-7x9"])
async def test_sync_reaches_the_position_for_real(setup: str, missing: str) -> None:
    options = () if missing == "none" else ("--no-list", missing)
    game = game_of(setup)
    async with await open_engine(bad(*options)) as engine:
        for plays in (3, 8):
            while len(game.moves) < plays:
                game.play(game.legal_moves()[-1])
            await engine.sync(game)
            assert await board(engine) == notation.rows(game.position)
        for undone in (1, 7):
            for _ in range(undone):
                game.undo()
            await engine.sync(game)
            assert await board(engine) == notation.rows(game.position)
        position = game.position
        if missing != "gogui-setup":
            await engine.sync(position)
            assert await board(engine) == notation.rows(position)


async def board(engine: Engine) -> list[str]:
    text = await engine.send("gogui-rules_board")
    return [row.replace(" ", "") for row in text.splitlines()]


@pytest.mark.parametrize("move", [1, 2])
@pytest.mark.parametrize(
    ("option", "kind", "what"),
    [
        ("--crash-on-move", EngineDied, "died with exit code 1; .*crashed as told"),
        ("--stall-on-move", TimedOut, "no answer within 0.4 s"),
        ("--no-newline-on-move", TimedOut, "no answer within 0.4 s"),
        ("--garbage-on-move", ProtocolError, "not a response: 'Segmentation fault"),
        ("--huge-line-on-move", ProtocolError, "the answer is no move: 'AAA"),
    ],
)
async def test_misbehaviour_on_a_move(
    option: str, move: int, kind: type[EngineError], what: str
) -> None:
    game = game_of("dense-7x7")
    async with await open_engine(bad(option, str(move))) as engine:
        for _ in range(move - 1):
            await engine.sync(game)
            await engine.genmove(BLACK, timeout=5)
            game = game_of("dense-7x7", "B1", "A2")
        await engine.sync(game)
        timeout = 0.4 if kind is TimedOut else FOREVER
        began = time.perf_counter()
        with pytest.raises(EngineError, match=what) as told:
            await engine.genmove(BLACK, timeout=timeout)
        if kind is TimedOut:
            assert time.perf_counter() - began < timeout + SLACK
        assert type(told.value) is kind
        assert (told.value.engine, told.value.command) == ("bad", "genmove B")
        assert await is_spoilt(engine, told.value)
        began = time.perf_counter()
    assert time.perf_counter() - began < SLACK
    assert group_is_gone(engine.pid)


async def test_a_late_answer() -> None:
    async with await open_engine(bad("--late-on-move", "1", "0.3")) as engine:
        with pytest.raises(TimedOut) as told:
            await engine.genmove(BLACK, timeout=0.1)
        await anyio.sleep(0.3)
        assert await is_spoilt(engine, told.value)


async def test_an_answer_just_in_time() -> None:
    async with await open_engine(bad("--late-on-move", "1", "0.3")) as engine:
        answer = await engine.genmove(BLACK, timeout=5)
    assert answer.move == "B1"
    assert 0.3 <= answer.seconds < 0.3 + SLACK


async def test_an_illegal_move_is_for_the_owner_to_judge() -> None:
    async with await open_engine(bad("--illegal-on-move", "1")) as engine:
        assert (await engine.genmove(BLACK, timeout=5)).move == "A1"


async def test_a_refused_legal_move() -> None:
    async with await open_engine(bad("--refuse-legal", "2")) as engine:
        with pytest.raises(Refused, match="illegal move"):
            await engine.sync(game_of("dense-7x7", "A2", "C2"))
        assert await engine.send("name") == "bad engine"


async def test_stray_output() -> None:
    async with await open_engine(bad("--stray-output")) as engine:
        with pytest.raises(ProtocolError, match="not a response: 'thinking hard'"):
            await engine.genmove(BLACK, timeout=5)


@pytest.mark.parametrize("code", [1, 7])
async def test_a_crash_at_the_start(code: int) -> None:
    with pytest.raises(StartFailed) as told:
        await open_engine(bad("--crash-at-start", "--exit-code", str(code)))
    cause = told.value.__cause__
    assert isinstance(cause, EngineDied)
    assert cause.exit_code == code
    assert f"exit code {code}; the end of its stderr: Assert" in str(told.value)
    assert told.value.stderr_tail.startswith("something is wrong\n")


async def test_a_start_that_takes_too_long() -> None:
    began = time.perf_counter()
    with pytest.raises(StartFailed, match=r"no answer within 0\.2 s") as told:
        await open_engine(python("import time; time.sleep(60)"), timeout=0.2)
    assert isinstance(told.value.__cause__, TimedOut)
    assert time.perf_counter() - began < 0.2 + SLACK


@posix_only
async def test_a_death_by_signal() -> None:
    async with await open_engine(bad()) as engine:
        assert engine.pid is not None
        os.kill(engine.pid, signal.SIGSEGV)
        with pytest.raises(EngineDied, match="died of SIGSEGV") as told:
            await engine.send("name")
    assert told.value.exit_code == -signal.SIGSEGV


async def test_an_engine_that_closes_its_output_but_lives() -> None:
    code = ANSWERS + "import os, time; os.close(1); time.sleep(60)"
    async with await open_engine(python(code)) as engine:
        with pytest.raises(EngineDied, match="closed its output and still runs"):
            await engine.send("name")
    assert group_is_gone(engine.pid)


async def test_a_flood_of_stderr_never_blocks_the_engine() -> None:
    async with await open_engine(bad("--flood-stderr")) as engine:
        for number in range(10):
            assert await engine.send("name") == "bad engine", number
        assert "nothing that anybody wants to know\n" in engine.stderr_tail
        assert 8000 < len(engine.stderr_tail) <= 8192


async def test_a_flood_of_output_ends_at_the_cap() -> None:
    code = ANSWERS + "while True: sys.stdout.write('=5 ' + 'A' * 65536)"
    async with await open_engine(python(code)) as engine:
        began = time.perf_counter()
        with pytest.raises((TimedOut, ProtocolError)):
            await engine.send("x", timeout=0.5)
        assert time.perf_counter() - began < 0.5 + SLACK
    assert group_is_gone(engine.pid)


# Closing


@pytest.mark.parametrize(
    ("options", "steps"),
    [
        ((), 0),
        (("--exit-code", "3"), 0),
        (("--ignore-quit",), 1),
        (("--ignore-quit", "--ignore-sigterm"), 2),
        (("--child-holds-stdout",), 0),
    ],
)
async def test_close(options: tuple[str, ...], steps: int) -> None:
    patience = 0.5
    async with await open_engine(bad(*options)) as engine:
        began = time.perf_counter()
        await engine.close(patience)
        assert 0 <= time.perf_counter() - began - steps * patience < SLACK
        await engine.close()
        with pytest.raises(Abandoned, match="bad: the engine is closed"):
            await engine.send("name")
    assert group_is_gone(engine.pid)


@posix_only
async def test_a_death_is_seen_though_a_child_holds_the_output() -> None:
    options = ("--child-holds-stdout", "--crash-on-move", "1")
    async with await open_engine(bad(*options)) as engine:
        began = time.perf_counter()
        with pytest.raises(EngineDied, match="crashed as told"):
            await engine.genmove(BLACK, timeout=20)
        assert time.perf_counter() - began < 1
        assert group_is_gone(engine.pid)


@posix_only
async def test_a_child_that_left_the_group_holds_nobody_up() -> None:
    before = descriptors()
    code = (
        "import subprocess, os\n"
        "nap = subprocess.Popen(['sleep', '3'], start_new_session=True)\n"
        "print('x' * 9000, 'still here', file=sys.stderr, flush=True)\n"
        "sys.stdin.readline()\n"
        "os._exit(5)"
    )
    began = time.perf_counter()
    async with await open_engine(python(ANSWERS + code)) as engine:
        with pytest.raises(EngineDied, match=r"exit code 5; .* still here$"):
            await engine.send("name")
    assert time.perf_counter() - began < 1.5
    await anyio.sleep(0.01)
    assert descriptors() == before


async def test_a_cancelled_owner_leaves_no_process() -> None:
    with anyio.move_on_after(0.3):
        async with await open_engine(bad("--stall-on-move", "1")) as engine:
            await engine.genmove(BLACK, timeout=FOREVER)
    assert group_is_gone(engine.pid)


async def test_a_cancelled_close_is_as_polite_as_any() -> None:
    process = await EngineProcess.spawn(bad("--exit-code", "3"))
    with anyio.CancelScope() as scope:
        scope.cancel()
        await process.close(polite=True, patience=5)
    assert process.exit_code == 3
    assert group_is_gone(process.pid)


async def test_an_interrupted_close_leaves_no_process() -> None:
    engine = await open_engine(bad("--ignore-quit", "--ignore-sigterm"))
    closing = asyncio.create_task(engine.close(patience=FOREVER))
    await anyio.sleep(0.1)
    closing.cancel()  # as Ctrl-C does, past the shields of anyio
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert group_is_gone(engine.pid)


@posix_only
async def test_closing_an_engine_that_died_unnoticed() -> None:
    async with await open_engine(bad()) as engine:
        assert engine.pid is not None
        os.kill(engine.pid, signal.SIGKILL)
        await anyio.sleep(0.1)
    assert group_is_gone(engine.pid)


async def test_a_cancelled_start_leaves_no_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pids = []

    class Noted(EngineProcess):
        def channel(self) -> Channel:
            pids.append(self.pid)
            return super().channel()

    monkeypatch.setattr(engine, "EngineProcess", Noted)
    with anyio.move_on_after(0.1):
        await open_engine(python("import time; time.sleep(60)"))
    assert len(pids) == 1
    assert group_is_gone(pids[0])


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
async def test_fifty_cycles_leak_nothing() -> None:
    groups, before = [], (0, 0)
    for cycle in range(51):
        async with await open_engine(bad()) as engine:
            if cycle % 5 == 4:
                with pytest.raises(TimedOut):
                    await engine.send("name", timeout=0)
        groups.append(engine.pid)
        if cycle == 0:
            before = descriptors(), threading.active_count()
    assert all(map(group_is_gone, groups))
    await anyio.sleep(0.05)
    assert (descriptors(), threading.active_count()) <= before


# Commands


def script(folder: Path) -> Path:
    """Write an engine that says where it runs and what it was given."""
    path = folder / "engine"
    code = (
        "import os\n"
        "answer(os.getcwd())\n"
        "answer('|'.join(sys.argv[1:]))\n"
        "answer(os.environ.get('TANBO', ''))\n"
    )
    path.write_text(f"#!{sys.executable} -S\n{ANSWERS}{code}")
    path.chmod(0o755)
    return path


@posix_only
async def test_a_command_line_with_blanks_relative_to_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "my engines"
    folder.mkdir()
    script(folder)
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.chdir(tmp_path)
    command = EngineCommand.parse(
        "'my engines/engine' 'a b' $HOME *;", cwd=other, env={"TANBO": "1"}, label="x"
    )
    assert command.resolve() == folder / "engine"
    async with await open_engine(command) as engine:
        assert await engine.send("name") == str(other)
        assert await engine.send("name") == "a b|$HOME|*;"
        assert await engine.send("name") == "1"


@posix_only
async def test_a_program_in_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = script(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert EngineCommand.parse("engine").resolve() == path
    assert EngineCommand.parse("engine").label == "engine"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("no-such-program-of-ours --x", "no program 'no-such-program-of-ours' in PATH"),
        ("./no-such/program --x", "no program .*; put quotes round a path with blanks"),
        ("./no-such/program", "no program '/.*/no-such/program'$"),
        ("'open", "no command line: No closing quotation"),
        (" ", "the command line is empty"),
        (str(ROOT / "README.md"), "cannot run .* Permission denied"),
        ("\0", "no program"),
    ],
)
async def test_a_program_that_cannot_be_run(text: str, what: str) -> None:
    with pytest.raises(StartFailed, match=what):
        await open_engine(text)


async def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    command = EngineCommand((sys.executable,), cwd=tmp_path / "none")
    with pytest.raises(StartFailed, match="none"):
        await open_engine(command)


# Without async


def test_the_simple_engine() -> None:
    game = game_of("dense-7x7", "A2")
    with SimpleEngine(bad()) as engine:
        assert (engine.name, engine.version) == ("bad engine", "0")
        assert "play" in engine.commands
        assert engine.knows("undo")
        engine.sync(game)
        assert engine.genmove(WHITE, timeout=5).move == "B1"
        assert engine.send("name", timeout=5) == "bad engine"
        assert engine.send_many(["name", "version"]) == ["bad engine", "0"]
        engine.forget()
        engine.sync(game)
        with pytest.raises(Refused):
            engine.send("nonsense")
    engine.close()
    with pytest.raises(Abandoned):
        engine.send("name")


def test_what_is_no_command_and_no_color() -> None:
    with pytest.raises(TypeError, match="a command is a text or an EngineCommand, not"):
        SimpleEngine(None)  # type: ignore[arg-type]
    with SimpleEngine(bad()) as engine:
        for color in ("x", "b", 0, None):
            with pytest.raises(TypeError, match=r"a color is Color\.BLACK or"):
                engine.genmove(color, timeout=5)  # type: ignore[arg-type]
        assert engine.send("name", timeout=5) == "bad engine"


def test_a_simple_engine_that_does_not_start() -> None:
    with pytest.raises(StartFailed, match="crashed as told"):
        SimpleEngine(bad("--crash-at-start"))
