"""The stdio server as a process: order, ends, signals, floods."""

import contextlib
import os
import random
import re
import select
import signal
import socket
import subprocess
import sys
import time

import pytest

from protocol.commands import TABLE
from protocol.server import MAX_LINE, LineSplitter, write_all

from .talk import ROOT, Engine, run_engine, split_responses

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
needs_poll = pytest.mark.skipif(
    not hasattr(select, "poll"), reason="a closed output is only seen with poll"
)

SEARCH_FOR_EVER = ("--time", "100000")


def wait_for_search(engine: Engine) -> None:
    """Start a search and wait until it runs."""
    engine.ask("name")
    engine.send(b"genmove b\n")
    time.sleep(0.2)
    assert engine.process.poll() is None


# Lines


def test_lines_of_any_chunks() -> None:
    text = b"a\n\nbc\r\n\x00\n" + b"x" * 10 + b"\n" + b"y" * 11 + b"\nlast"
    expected = [b"a", b"", b"bc\r", b"\x00", b"x" * 10, None, b"last"]
    for size in range(1, len(text) + 1):
        splitter = LineSplitter(longest=10)
        lines = []
        for start in range(0, len(text), size):
            lines += splitter.feed(text[start : start + size])
        assert lines + splitter.end() == expected


def test_a_long_last_line() -> None:
    splitter = LineSplitter(longest=3)
    assert splitter.feed(b"abcd") == []
    assert splitter.feed(b"e") == []
    assert splitter.end() == [None]
    assert LineSplitter().end() == []


def test_partial_and_blocked_writes() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    data = os.urandom(1 << 20)
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; print(len(sys.stdin.buffer.read()))"],
        stdin=reading,
        stdout=subprocess.PIPE,
    )
    os.close(reading)
    write_all(writing, data)
    os.close(writing)
    assert child.communicate(timeout=20)[0] == b"1048576\n"


# Order and ends


def test_the_last_line_needs_no_newline() -> None:
    status, responses, err = run_engine(b"1 name\n2 version")
    assert (status, [answer.id for answer in responses], err) == (0, [1, 2], "")


def test_no_input_at_all() -> None:
    assert run_engine(b"") == (0, [], "")


def test_lines_after_quit_are_ignored() -> None:
    status, responses, err = run_engine(b"1 quit\n2 name\n3 genmove b\n")
    assert (status, [answer.id for answer in responses], err) == (0, [1], "")


def test_quit_ends_an_engine_whose_input_stays_open() -> None:
    with Engine() as engine:
        assert engine.ask("quit") == "= \n\n"
        assert engine.process.wait(10) == 0


def test_all_that_was_read_before_eof_is_answered() -> None:
    began = time.monotonic()
    status, responses, err = run_engine(
        b"1 genmove b\n2 genmove w\n3 name\n", "--time", "0.3"
    )
    assert (status, [answer.id for answer in responses], err) == (0, [1, 2, 3], "")
    assert time.monotonic() - began > 0.25  # clear moves end before


def test_a_pipeline_longer_than_what_is_read_ahead() -> None:
    moves = b"play b A2\nundo\n" * 100_000 + b"# comment\n" * 100_000
    status, responses, err = run_engine(moves + b"7 showboard\n", timeout=60)
    assert (status, err) == (0, "")
    assert len(responses) == 200_001
    assert all(answer.ok for answer in responses)


def test_lines_in_pieces() -> None:
    with Engine() as engine:
        for piece in (b"pl", b"ay b ", b"A2", b"\r", b"\n7 na", b"me\n"):
            engine.send(piece)
            time.sleep(0.02)
        assert engine.receive() == "= \n\n"
        assert engine.receive() == "=7 tanbo-engine\n\n"


def test_long_lines() -> None:
    inside = b"1 play b A2" + b" " * (MAX_LINE - 11) + b"\n"
    outside = b"2 name " + b"x" * (2 << 20) + b"\n"
    comment = b"#" + b"x" * (MAX_LINE - 1) + b"\n"
    status, responses, err = run_engine(inside + outside + comment + b"3 name\n")
    assert (status, err) == (0, "")
    assert [(answer.ok, answer.id) for answer in responses] == [
        (True, 1),
        (False, None),
        (True, 3),
    ]
    assert responses[1].text == f"line too long: use at most {MAX_LINE} bytes"


def test_a_long_move_list() -> None:
    words = b"gogui-play_sequence" + b" b A2" * 200_000 + b"\n"
    status, responses, _ = run_engine(words + b"showboard\n")
    assert status == 0
    assert [answer.ok for answer in responses] == [False, True]


@posix_only
def test_an_input_that_does_not_block() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with subprocess.Popen(
        [sys.executable, "-m", "protocol"],
        stdin=reading,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        os.close(reading)
        time.sleep(0.3)
        os.write(writing, b"name\n")
        os.close(writing)
        assert process.communicate(timeout=10)[0] == b"= tanbo-engine\n\n"


def test_input_and_output_on_one_socket() -> None:
    ours, theirs = socket.socketpair()
    with (
        ours,
        subprocess.Popen(
            [sys.executable, "-m", "protocol"],
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            cwd=ROOT,
        ) as process,
    ):
        theirs.close()
        ours.sendall(b"name\nquit\n")
        data = b""
        while chunk := ours.recv(4096):
            data += chunk
        assert data == b"= tanbo-engine\n\n= \n\n"
        assert process.wait(10) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo terminal")
def test_a_terminal_that_goes_away() -> None:
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "protocol"],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    os.close(theirs)
    os.write(ours, b"name\n")
    data = b""
    while b"tanbo-engine" not in data:
        data += os.read(ours, 100)
    os.close(ours)
    assert process.communicate(timeout=10)[1] == b""
    assert process.returncode == 0


@posix_only
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_streams_that_were_never_open(closed: str) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -m protocol {closed}', sys.executable],
        input=b"name\n",
        capture_output=True,
        cwd=ROOT,
        timeout=10,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


# A closed output


@needs_poll
def test_a_closed_output_ends_a_search_at_once() -> None:
    with Engine(*SEARCH_FOR_EVER) as engine:
        wait_for_search(engine)
        assert_ends_when_output_closes(engine)


@needs_poll
def test_a_closed_output_ends_a_count_at_once() -> None:
    with Engine() as engine:
        engine.ask("name")
        engine.send(b"tanbo-perft 20\n")
        time.sleep(0.2)
        assert_ends_when_output_closes(engine)


@needs_poll
def test_a_closed_output_ends_an_idle_engine() -> None:
    with Engine() as engine:
        engine.ask("name")
        assert_ends_when_output_closes(engine)


def assert_ends_when_output_closes(engine: Engine) -> None:
    assert engine.process.stdout is not None
    assert engine.process.stderr is not None
    engine.process.stdout.close()
    began = time.monotonic()
    assert engine.process.wait(10) == 0
    assert time.monotonic() - began < 1
    assert engine.process.stderr.read() == b""


def test_a_closed_output_and_much_input() -> None:
    with Engine() as engine:
        assert engine.process.stdout is not None
        engine.process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            engine.send(b"showboard\n" * 100_000)
        assert engine.process.wait(10) == 0
        assert engine.process.stderr is not None
        assert engine.process.stderr.read() == b""


# Signals


@posix_only
@pytest.mark.parametrize("searching", [False, True])
@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)],
)
def test_signals(number: signal.Signals, status: int, searching: bool) -> None:
    with Engine(*SEARCH_FOR_EVER) as engine:
        if searching:
            wait_for_search(engine)
        else:
            engine.ask("name")
        engine.process.send_signal(number)
        began = time.monotonic()
        assert engine.process.wait(10) == status
        assert time.monotonic() - began < 1
        assert engine.process.stderr is not None
        assert engine.process.stderr.read() == b""


@posix_only
def test_ctrl_c_while_nobody_reads_the_answers() -> None:
    with Engine() as engine:
        engine.send(b"list_commands\n" * 1000)
        time.sleep(0.3)
        engine.process.send_signal(signal.SIGINT)
        assert engine.process.wait(10) == 130


# Work


def test_an_idle_engine_uses_no_processor_time() -> None:
    if not os.path.exists("/proc/self/stat"):  # noqa: PTH110
        pytest.skip("needs /proc")
    with Engine() as engine:
        engine.ask("name")

        def ticks() -> int:
            with open(f"/proc/{engine.process.pid}/stat") as file:  # noqa: PTH123
                fields = file.read().rsplit(")", 1)[1].split()
            return int(fields[11]) + int(fields[12])

        before = ticks()
        time.sleep(0.5)
        assert ticks() - before <= 1


def test_input_is_read_while_a_search_runs() -> None:
    with Engine("--time", "1.5") as engine:
        engine.ask("name")
        began = time.monotonic()
        engine.send(b"genmove b\n" + b"# filling the pipe\n" * 20_000)
        assert time.monotonic() - began < 1
        engine.receive()


@pytest.mark.parametrize("seed", range(3))
def test_random_lines(seed: int) -> None:
    rng = random.Random(seed)
    lines = [random_line(rng) for _ in range(3000)]
    data = b"".join(line + rng.choice((b"\n", b"\r\n")) for line in lines)
    status, out, err = finish(data + b"999 tanbo-setup dense-7x7\n998 genmove b\n")
    assert (status, err) == (0, "")
    assert "Traceback" not in out
    assert "internal error" not in out
    responses = split_responses(out)
    assert len(responses) == sum(map(is_command, lines)) + 2
    assert [answer.id for answer in responses[-2:]] == [999, 998]
    assert re.fullmatch("[A-G][1-7]", responses[-1].text)


def finish(data: bytes) -> tuple[int, str, str]:
    with Engine("--nodes", "5", "--memory", "4") as engine:
        return engine.finish(data, 100)


def is_command(line: bytes) -> bool:
    if len(line.rstrip(b"\r")) > MAX_LINE:
        return True
    return any(byte > 32 and byte != 127 for byte in line.partition(b"#")[0])


WORDS = (
    *(b"b w black white B x A1 A2 b3 H9 I1 pass 0 1 -1 7 9 7x9 1e999 nan".split()),
    *(b"resign dense-5x7 classic-9x9 none fischer absolute 3x3 X1O/3/O1X".split()),
    b"9" * 400,
    b"\xff\xfe",
    b"=",
    b"?",
    b"%s",
    b"\x00",
)


def random_line(rng: random.Random) -> bytes:
    kind = rng.random()
    if kind < 0.05:
        return bytes(rng.choice((0, 9, 32, 35, 65, 128, 255)) for _ in range(9))
    if kind < 0.1:
        return rng.randbytes(rng.randrange(60)).replace(b"\n", b"")
    if kind < 0.102:
        return b"x" * rng.randrange(MAX_LINE - 2, MAX_LINE + 3)
    # The last one writes files; the two before it take their time.
    unwanted = ("quit", "tanbo-perft", "tanbo-solve", "printsgf")
    names = [name for name in TABLE if name not in unwanted]
    name = rng.choice(names).encode()
    if rng.random() < 0.1:
        name = name[: rng.randrange(1, len(name))]
    words = [name, *rng.choices(WORDS, k=rng.randrange(5))]
    if rng.random() < 0.3:
        words.insert(0, str(rng.randrange(3_000_000_000)).encode())
    return rng.choice((b" ", b"  ", b"\t")).join(words)
