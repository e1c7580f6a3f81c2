"""The controller: its channel on streams in memory, its processes on bad engines."""

import asyncio
import os
import pickle
import re
import signal
import sys
import threading
import time
from collections import deque
from pathlib import Path

import anyio
import pytest
from anyio.abc import ByteReceiveStream, ByteSendStream

from protocol import client
from protocol.client import (
    Abandoned,
    Channel,
    Engine,
    EngineCommand,
    EngineDied,
    EngineError,
    EngineProcess,
    Genmove,
    ProtocolError,
    Refused,
    SimpleEngine,
    StartFailed,
    TimedOut,
    open_engine,
)
from tanbo_engine import notation, setups
from tanbo_engine.game import Game
from tanbo_engine.points import Color

from .talk import ROOT

BAD_ENGINE = Path(__file__).with_name("bad_engine.py")
BLACK, WHITE = Color
FOREVER = 3600
SLACK = 0.4
"""Seconds that a busy machine may add to a wait."""

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs process groups")


# An engine in memory


class Mock(ByteReceiveStream, ByteSendStream):
    """The streams of an engine that is told what to expect and reply.

    A reply is ``= text`` or ``? text``, to which the id is added, or bytes as they
    are. Lines that are not expected get the default reply, if there is one.
    """

    def __init__(self, default: str | None = None, chunk: int = 1 << 16) -> None:
        self.heard: list[str] = []
        self.batches: list[int] = []
        self.default = default
        self.chunk = chunk
        self.expected: deque[tuple[str, str | bytes]] = deque()
        self.is_ended = False
        self._pending = bytearray()
        self._changed = anyio.Event()

    def expect(self, line: str, reply: str | bytes) -> None:
        self.expected.append((line, reply))

    def say(self, data: bytes) -> None:
        self._pending += data
        self._changed.set()

    async def send(self, item: bytes) -> None:
        lines = item.decode().splitlines()
        self.batches.append(len(lines))
        for line in lines:
            match = re.fullmatch(r"(?:(\d+) )?(.*)", line)
            assert match is not None
            self.heard.append(match[2])
            self.say(self._reply(match[1] or "", match[2]))

    def _reply(self, number: str, line: str) -> bytes:
        reply: str | bytes | None = self.default
        if self.expected:
            expected, reply = self.expected.popleft()
            assert line == expected
        assert reply is not None, line
        if isinstance(reply, bytes):
            return reply
        return f"{reply[0]}{number}{reply[1:]}\n\n".encode()

    async def receive(self, max_bytes: int = 1 << 16) -> bytes:
        while not self._pending:
            if self.is_ended:
                raise anyio.EndOfStream
            self._changed = anyio.Event()
            await self._changed.wait()
        data = bytes(self._pending[: min(max_bytes, self.chunk)])
        del self._pending[: len(data)]
        return data

    async def aclose(self) -> None:
        self.is_ended = True


def talking(mock: Mock) -> Engine:
    return Engine(Channel(mock, mock), "mock")


async def started(mock: Mock, *commands: str) -> Engine:
    """Return a started engine that lists these commands."""
    mock.expect("protocol_version", "= 2")
    mock.expect("name", "= Mock")
    mock.expect("version", "= 1.5")
    mock.expect("list_commands", f"= {chr(10).join(commands)}")
    engine = talking(mock)
    await engine.start()
    mock.heard.clear()
    mock.batches.clear()
    return engine


async def is_spoilt(engine: Engine, error: EngineError) -> bool:
    """Tell whether the next command fails with this error, at once."""
    with pytest.raises(EngineError) as again:
        await engine.send("name", timeout=FOREVER)
    return again.value is error


# Channel and codec


async def test_start_asks_who_the_engine_is() -> None:
    engine = await started(Mock(), "play ", "genmove")
    assert (engine.protocol_version, engine.name, engine.version) == (
        "2",
        "Mock",
        "1.5",
    )
    assert engine.commands == {"play", "genmove"}
    assert engine.knows("play")
    assert not engine.knows("undo")


async def test_a_start_that_is_refused() -> None:
    mock = Mock()
    mock.expect("protocol_version", "? what")
    with pytest.raises(StartFailed, match="mock: protocol_version: refused: what"):
        await talking(mock).start()


async def test_an_engine_that_echoes_no_ids_gets_none() -> None:
    mock = Mock()
    engine = talking(mock)
    mock.expect("protocol_version", b"= 2\n\n")
    assert await engine.send("protocol_version") == "2"
    mock.expect("name", "= Mock")  # the mock adds what it got
    assert await engine.send("name") == "Mock"
    mock.expect("name", b"=7 Mock\n\n")
    with pytest.raises(ProtocolError, match="id 7"):
        await engine.send("name")


async def test_an_engine_that_takes_the_id_for_a_command_is_asked_again() -> None:
    mock = Mock()
    mock.expect("protocol_version", b"? unknown command\n\n")
    engine = await started(mock, "play")
    assert engine.name == "Mock"


async def test_a_refusal_leaves_the_engine_usable() -> None:
    mock = Mock()
    engine = talking(mock)
    mock.expect("play B A9", "? illegal move")
    with pytest.raises(Refused, match="mock: play B A9: refused: illegal move") as told:
        await engine.send("play", "B", "A9")
    assert told.value.text == "illegal move"
    mock.expect("name", "= Mock")
    assert await engine.send("name") == "Mock"


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 1 << 16])
@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (b"=1 Mock\n\n", "Mock"),
        (b"=1 Mock\r\n\r\n", "Mock"),
        (b"=1 Mock\r\n\n", "Mock"),
        (b"=1 Mock\n\r\n", "Mock"),
        (b"=1 Mock\n\r\n\n", "Mock"),
        (b"\r\n\n=1 Mock\n\n\n\n", "Mock"),
        (b"=1\n\n", ""),
        (b"=1 \n\n", ""),
        (b"=1 \na b\n \nc\n\n", "\na b\n \nc"),
        (b"=1 \xff\xc3\xa9\n\n", "\ufffd\u00e9"),
    ],
)
async def test_responses(chunk: int, reply: bytes, text: str) -> None:
    mock = Mock(chunk=chunk)
    engine = talking(mock)
    mock.expect("showboard", reply)
    assert await engine.send("showboard") == text
    mock.expect("name", "= next")
    assert await engine.send("name") == "next"


async def test_many_commands_go_out_together_and_are_answered_in_order() -> None:
    mock = Mock()
    engine = talking(mock)
    lines = [f"echo {number}" for number in range(100)]
    for number, line in enumerate(lines):
        mock.expect(line, f"= {number}")
    assert await engine.send_many(lines) == [str(number) for number in range(100)]
    assert mock.batches == [32, 32, 32, 4]
    assert await engine.send_many([]) == []


async def test_a_refusal_among_many_is_raised_after_all_are_answered() -> None:
    mock = Mock()
    engine = talking(mock)
    for line, reply in (("a", "= 1"), ("b", "? no"), ("c", "? neither")):
        mock.expect(line, reply)
    with pytest.raises(Refused, match="b: refused: no"):
        await engine.send_many(["a", "b", "c"])
    mock.expect("d", "= 4")
    assert await engine.send("d") == "4"


async def test_a_line_of_ten_megabytes_takes_linear_time() -> None:
    seconds = []
    for megabytes in (1, 10):
        mock = Mock()
        mock.expect("x", f"= {'A' * (megabytes * 1_000_000)}")
        began = time.perf_counter()
        assert len(await talking(mock).send("x")) == megabytes * 1_000_000
        seconds.append(time.perf_counter() - began)
    assert seconds[1] < 40 * seconds[0] + 0.2


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (b"hello\n=1 Mock\n\n", "not a response: 'hello'"),
        (b"Traceback", "not a response: 'Traceback'"),
        (b"=2 Mock\n\n", "id 2 in an answer to id 1"),
        (b"=99999999999 Mock\n\n", "above 2147483647"),
        (b"=1 " + b"A" * (17 << 20), "over 16777216 bytes"),
    ],
    ids=["chatter", "no newline", "wrong id", "huge id", "too large"],
)
async def test_what_is_no_answer_is_a_protocol_error(reply: bytes, what: str) -> None:
    mock = Mock()
    engine = talking(mock)
    mock.expect("name", reply)
    with pytest.raises(ProtocolError, match=re.escape(what)) as told:
        await engine.send("name")
    assert told.value.command == "name"
    assert await is_spoilt(engine, told.value)


async def test_output_that_no_command_asked_for_is_a_protocol_error() -> None:
    mock = Mock()
    engine = talking(mock)
    mock.expect("name", b"=1 Mock\n\ninfo depth 1\n")
    assert await engine.send("name") == "Mock"
    with pytest.raises(ProtocolError, match="without a command: 'info depth 1'"):
        await engine.send("version")


async def test_a_late_answer_is_never_taken_for_the_next_commands() -> None:
    mock = Mock()
    engine = talking(mock)
    mock.expect("genmove B", b"")
    began = time.perf_counter()
    with pytest.raises(TimedOut, match=r"genmove B: no answer within 0.1 s") as told:
        await engine.genmove(BLACK, timeout=0.1)
    assert 0.1 <= time.perf_counter() - began < 0.1 + SLACK
    assert told.value.seconds == 0.1
    mock.say(b"=1 C4\n\n")
    assert await is_spoilt(engine, told.value)
    assert mock.heard == ["genmove B"]


@pytest.mark.parametrize("flood", [b"=1 ", b"\n"])
async def test_a_flood_does_not_delay_the_time_out(flood: bytes) -> None:
    class Flood(Mock):
        async def receive(self, max_bytes: int = 1 << 16) -> bytes:
            return flood  # never lets anyone else run

    mock = Flood()
    mock.expect("name", b"")
    began = time.perf_counter()
    with pytest.raises(TimedOut):
        await talking(mock).send("name", timeout=0.1)
    assert time.perf_counter() - began < 0.1 + SLACK


async def test_an_engine_that_does_not_read_times_out() -> None:
    class Deaf(Mock):
        async def send(self, item: bytes) -> None:
            await anyio.sleep_forever()

    with pytest.raises(TimedOut, match="name: no answer within"):
        await talking(Deaf()).send("name", timeout=0.05)


async def test_the_end_of_the_output_is_a_death() -> None:
    mock = Mock()
    engine = talking(mock)
    mock.expect("name", b"=1 half an ans")
    mock.is_ended = True
    with pytest.raises(EngineDied, match="closed its output") as told:
        await engine.send("name")
    assert told.value.exit_code is None
    assert await is_spoilt(engine, told.value)


async def test_a_channel_sees_an_end_that_its_source_does_not() -> None:
    ended = False
    mock = Mock()
    channel = Channel(mock, mock, lambda: ended)
    mock.say(b"= last words\n\n")
    ended = True
    deadline = anyio.current_time() + 10
    assert (await channel.read(deadline)).text == "last words"
    with pytest.raises(anyio.EndOfStream):
        await channel.read(deadline)


async def test_a_cancelled_command_spoils_the_engine() -> None:
    mock = Mock()
    engine = talking(mock)
    mock.expect("genmove B", b"")
    with anyio.move_on_after(0.05):
        await engine.genmove(BLACK, timeout=FOREVER)
    mock.say(b"=1 C4\n\n")
    with pytest.raises(Abandoned, match="genmove B: was cancelled"):
        await engine.send("name")


async def test_one_task_at_a_time() -> None:
    mock = Mock()
    engine = talking(mock)
    mock.expect("genmove B", b"")
    async with anyio.create_task_group() as group:
        group.start_soon(engine.genmove, BLACK, FOREVER)
        await anyio.sleep(0.02)
        with pytest.raises(anyio.BusyResourceError):
            await engine.send("name")
        group.cancel_scope.cancel()


@pytest.mark.parametrize("line", ["", " ", "# name", "name\nquit", "name\r", "a\tb"])
async def test_only_single_commands_are_sent(line: str) -> None:
    mock = Mock()
    with pytest.raises(ValueError, match="not one command"):
        await talking(mock).send(line)
    assert mock.heard == []


@pytest.mark.parametrize(
    "error",
    [
        StartFailed("e", "c", "what", "tail"),
        EngineDied("e", "c", -9, "tail"),
        TimedOut("e", "c", 1.5, "tail"),
        ProtocolError("e", "c", "what", "tail"),
        Refused("e", "c", "text"),
        Abandoned("e", "c", "was cancelled"),
    ],
)
def test_errors_survive_pickling(error: EngineError) -> None:
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert type(copy) is type(error)
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)


def test_error_texts_are_one_line() -> None:
    error = EngineDied("Tanbo", "play " + "B C4 " * 99, -11, "a\nlast words\n\n")
    assert re.fullmatch(
        r"Tanbo: play [B C4]{75}\.\.\.: died of SIGSEGV; the end of its stderr: "
        r"last words",
        str(error),
    )
    assert str(EngineDied("x", "", 3)) == "x: died with exit code 3"


# genmove


@pytest.mark.parametrize(
    ("reply", "move"),
    [("= C4", "C4"), ("= c4 ", "C4"), ("= PASS", "pass"), ("= Resign", "resign")],
)
async def test_genmove(reply: str, move: str) -> None:
    mock = Mock()
    mock.expect("genmove W", reply)
    assert (await talking(mock).genmove(WHITE, timeout=1)).move == move


@pytest.mark.parametrize("reply", ["= ", "= C4 D5", "= I think", "= 44"])
async def test_genmove_without_a_move(reply: str) -> None:
    mock = Mock()
    engine = talking(mock)
    mock.expect("genmove B", reply)
    with pytest.raises(ProtocolError, match="genmove B: the answer is no move") as told:
        await engine.genmove(BLACK, timeout=1)
    assert await is_spoilt(engine, told.value)


async def test_genmove_measures_from_the_command_to_the_answer() -> None:
    mock = Mock()
    engine = talking(mock)
    mock.expect("genmove B", b"")

    async def think() -> None:
        await anyio.sleep(0.1)
        mock.say(b"=1 C4\n\n")

    async with anyio.create_task_group() as group:
        group.start_soon(think)
        answer = await engine.genmove(BLACK, timeout=5)
    assert answer == Genmove("C4", answer.seconds)
    assert 0.09 < answer.seconds < 0.1 + SLACK


# sync


def game_of(setup: str, *vertices: str) -> Game:
    """Return a game of legal moves: the first ones, unless vertices are given."""
    game = Game(setups.by_name(setup).position())
    columns = "ABCDEFGHJ"
    for vertex in vertices:
        row = int(vertex[1:]) - 1
        game.play(row * game.size.width + columns.index(vertex[0]))
    return game


ALL = (
    "tanbo-setup",
    "undo",
    "gogui-setup",
    "gogui-setup_player",
    "gogui-play_sequence",
    "rectangular_boardsize",
    "set_position",
)


@pytest.mark.parametrize(
    ("setup", "commands", "lines"),
    [
        ("dense-7x7", ALL, ["tanbo-setup dense-7x7", "clear_board"]),
        ("dense-7x7", (), ["boardsize 7", "clear_board"]),
        (
            "dense-7x9",
            ("rectangular_boardsize",),
            ["rectangular_boardsize 7 9", "clear_board"],
        ),
        ("dense-7x9", (), ["boardsize 7 9", "clear_board"]),
        ("classic-9x9", (), ["boardsize 9", "clear_board"]),
        ("classic-7x7", (), ["boardsize 7", "clear_board"]),
        (
            "classic-7x7",
            ("set_position",),
            ["boardsize 7", "clear_board", "set_position B A1 B G7 W G1 W A7"],
        ),
        (
            "classic-7x7",
            ("gogui-setup", "gogui-setup_player"),
            [
                "boardsize 7",
                "clear_board",
                "gogui-setup B A1 B G7 W G1 W A7",
                "gogui-setup_player B",
            ],
        ),
    ],
)
async def test_sync_to_a_setup(
    setup: str, commands: tuple[str, ...], lines: list[str]
) -> None:
    mock = Mock(default="= ")
    engine = await started(mock, *commands)
    start = setups.by_name(setup).position()
    await engine.sync(start)
    assert mock.heard == lines
    await engine.sync(Game(start))
    assert mock.heard == lines


POSITION = notation.parse_position("7x7 X6/7/7/7/7/7/6O w")


async def test_sync_to_a_position() -> None:
    mock = Mock(default="= ")
    engine = await started(mock, *ALL)
    await engine.sync(POSITION)
    assert mock.heard == [
        "boardsize 7",
        "clear_board",
        "gogui-setup B A7 W G1",
        "gogui-setup_player W",
    ]


@pytest.mark.parametrize("commands", [(), ("set_position",), ("gogui-setup",)])
async def test_sync_to_a_position_that_cannot_be_loaded(
    commands: tuple[str, ...],
) -> None:
    mock = Mock(default="= ")
    engine = await started(mock, *commands)
    with pytest.raises(Refused, match="lists no command that loads"):
        await engine.sync(POSITION)
    assert mock.heard == []


async def test_sync_sends_the_difference() -> None:
    mock = Mock(default="= ")
    engine = await started(mock, "tanbo-setup", "undo")
    game = game_of("dense-7x7", "A2", "C2", "A4")
    await engine.sync(game)
    opening = ["tanbo-setup dense-7x7", "clear_board"]
    assert mock.heard == [*opening, "play B A2", "play W C2", "play B A4"]

    mock.heard.clear()
    await engine.sync(game)
    assert mock.heard == []
    game.undo()
    game.undo()
    game.play(game.legal_moves()[0])
    vertex = "B1"
    await engine.sync(game)
    assert mock.heard == ["undo", "undo", f"play W {vertex}"]

    mock.heard.clear()
    await engine.sync(game_of("dense-7x7"))
    assert mock.heard == opening


async def test_sync_without_undo_and_with_a_sequence() -> None:
    mock = Mock(default="= ")
    engine = await started(mock, "gogui-play_sequence")
    game = game_of("dense-7x7", "A2", "C2")
    await engine.sync(game)
    everything = ["boardsize 7", "clear_board", "gogui-play_sequence B A2 W C2"]
    assert mock.heard == everything
    mock.heard.clear()
    game.undo()
    await engine.sync(game)
    assert mock.heard == ["boardsize 7", "clear_board", "play B A2"]


async def test_sync_knows_what_genmove_made() -> None:
    mock = Mock(default="= ")
    engine = await started(mock, "tanbo-setup")
    game = game_of("dense-7x7")
    await engine.sync(game)
    mock.heard.clear()
    mock.expect("genmove B", "= a2")
    await engine.genmove(BLACK, timeout=1)
    game = game_of("dense-7x7", "A2", "C2")
    await engine.sync(game)
    assert mock.heard == ["genmove B", "play W C2"]
    mock.expect("genmove B", "= resign")
    await engine.genmove(BLACK, timeout=1)
    await engine.sync(game)
    assert mock.heard == ["genmove B", "play W C2", "genmove B"]


@pytest.mark.parametrize("line", ["play B B1", "tanbo-setup dense-7x7", "undo"])
async def test_sync_starts_over_after_other_commands(line: str) -> None:
    mock = Mock(default="= ")
    engine = await started(mock)
    game = game_of("dense-7x7", "A2")
    await engine.sync(game)
    everything = list(mock.heard)
    await engine.send("time_left", "B", "10", "0")
    await engine.sync(game)
    assert len(mock.heard) == len(everything) + 1
    await engine.send(*line.split())
    mock.heard.clear()
    await engine.sync(game)
    assert mock.heard == everything


async def test_sync_starts_over_after_a_refusal() -> None:
    mock = Mock(default="= ")
    engine = await started(mock)
    await engine.sync(game_of("dense-7x7", "A2"))
    everything = list(mock.heard)
    mock.expect("play W C2", "? illegal move")
    with pytest.raises(Refused, match="play W C2"):
        await engine.sync(game_of("dense-7x7", "A2", "C2"))
    mock.heard.clear()
    await engine.sync(game_of("dense-7x7", "A2"))
    assert mock.heard == everything


# Processes


def bad(*options: str) -> EngineCommand:
    argv = (sys.executable, "-P", str(BAD_ENGINE), *options)
    return EngineCommand(argv, label="bad")


def python(code: str) -> EngineCommand:
    return EngineCommand((sys.executable, "-S", "-c", code), label="python")


def group_is_gone(group: int | None) -> bool:
    """Wait until no process of the group is left; init has to collect orphans."""
    assert group is not None
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.005)
    return False


ANSWERS = """
import sys
def answer(text=""):
    number = sys.stdin.readline().split()[0]
    print(f"={number} {text}", end="\\n\\n", flush=True)
for text in ("2", "name", "version", "play"):
    answer(text)
"""
"""The beginning of an engine in a few lines."""


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

    class Noted(client.EngineProcess):
        def channel(self) -> Channel:
            pids.append(self.pid)
            return super().channel()

    monkeypatch.setattr(client, "EngineProcess", Noted)
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


def test_a_simple_engine_that_does_not_start() -> None:
    with pytest.raises(StartFailed, match="crashed as told"):
        SimpleEngine(bad("--crash-at-start"))
