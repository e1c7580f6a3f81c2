"""The controller: commands and answers, on streams in memory."""

import pickle
import re
import time

import anyio
import pytest

from protocol.client import (
    Abandoned,
    Channel,
    EngineDied,
    EngineError,
    Genmove,
    ProtocolError,
    Refused,
    StartFailed,
    TimedOut,
)

from .engines import (
    BLACK,
    FOREVER,
    SLACK,
    WHITE,
    Mock,
    is_spoilt,
    started,
    talking,
)


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
