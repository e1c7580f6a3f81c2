"""GTP on TCP: parallel sessions, limits, clients that vanish."""

import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from protocol.tcp import MAX_LINE

from .talk import ROOT, command_line

FOR_EVER = "100000"
PROMPT = 2.0
"""Seconds in which a server does what takes it no time."""


class Client:
    """A connection to a server."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self._begun = b""

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, text: str) -> None:
        self.socket.sendall(text.encode())

    def receive(self) -> str:
        """Return the next response; an empty text at the end."""
        while b"\n\n" not in self._begun:
            chunk = self.socket.recv(1 << 16)
            if not chunk:
                return self._begun.decode()
            self._begun += chunk
        response, _, self._begun = self._begun.partition(b"\n\n")
        return response.decode()

    def ask(self, line: str) -> str:
        self.send(f"{line}\n")
        return self.receive()

    def reset(self) -> None:
        """Vanish without a farewell."""
        linger = struct.pack("ii", 1, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.socket.close()


class Server:
    """A server process and the port that it serves."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process = process
        self.port = port

    def client(self) -> Client:
        return Client(self.port)

    def processor_seconds(self) -> float:
        stat = Path(f"/proc/{self.process.pid}/stat").read_text()
        fields = stat.rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / 100

    def wait_for_room(self) -> float:
        """Return the seconds until a connection is taken."""
        began = time.monotonic()
        while time.monotonic() < began + 10:
            with self.client() as client, suppress(OSError):
                if client.ask("name") == "= tanbo-engine":
                    return time.monotonic() - began
        raise AssertionError("the slot stays taken")


@contextmanager
def serving(*options: str) -> Iterator[Server]:
    """Run a server, whose stderr must hold nothing but its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "protocol", "serve", "--port", "0", *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stderr is not None
    try:
        first = process.stderr.readline()
        assert first.startswith("listening on 127.0.0.1, port ")
        yield Server(process, int(first.split()[-1]))
        assert process.poll() is None
    finally:
        process.kill()
        out, err = process.communicate()
    assert (out, err) == ("", "")


def test_sessions_do_not_disturb_each_other() -> None:
    with serving("--nodes", "50", "--seed", "1") as server:
        clients = [server.client() for _ in range(4)]
        for number, client in enumerate(clients):
            assert client.ask(f"{number} boardsize {(7, 9, 11, 13)[number]}")[0] == "="
        for client in clients:
            client.send("genmove b\ngenmove w\n8 gogui-rules_board_size\n")
        for number, client in enumerate(clients):
            moves = client.receive(), client.receive()
            assert all(move.startswith("= ") for move in moves)
            assert client.receive() == f"=8 {(7, 9, 11, 13)[number]}"
            client.__exit__()


def test_searches_run_side_by_side() -> None:
    with serving("--time", "0.5") as server:
        clients = [server.client() for _ in range(4)]
        began = time.monotonic()
        for client in clients:
            client.send("genmove b\n")
        for client in clients:
            assert client.receive().startswith("= ")
            client.__exit__()
        assert time.monotonic() - began < 1.5


def test_quit_ends_one_session_only() -> None:
    with serving() as server, server.client() as one, server.client() as two:
        one.send("quit\n" + "name\n" * 100_000)
        time.sleep(0.2)
        assert one.receive() == "= "
        assert one.receive() == ""
        assert two.ask("name") == "= tanbo-engine"


def test_live_analysis() -> None:
    with serving() as server, server.client() as client:
        client.send("kata-analyze b 5\n")
        time.sleep(0.3)
        client.send("name\n")
        lines = client.receive().splitlines()
        assert lines[0] == "= "
        assert len(lines) > 2
        assert all(line.startswith("info move ") for line in lines[1:])
        assert client.receive() == "= tanbo-engine"


def test_all_that_was_asked_is_answered_after_the_end_of_the_input() -> None:
    with serving("--time", FOR_EVER) as server, server.client() as client:
        client.send("1 genmove b\n2 genmove w\n3 name")
        client.socket.shutdown(socket.SHUT_WR)
        assert [client.receive()[:3] for _ in range(4)] == ["=1 ", "=2 ", "=3 ", ""]


def test_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    with serving() as server, server.client() as client:
        for line in (f"printsgf {file}", f"loadsgf {file}"):
            assert client.ask(line).startswith("? ")
        assert client.ask("printsgf").startswith("= (;")
    assert not file.exists()


# Limits


def test_too_many_connections() -> None:
    with serving("--connections", "2") as server:
        with server.client() as one, server.client() as two:
            assert one.ask("name") == two.ask("name") == "= tanbo-engine"
            with server.client() as three:
                three.send("name\n")
                assert three.receive() == "? too many connections: at most 2"
                assert three.receive() == ""
        assert server.wait_for_room() < PROMPT


def test_long_lines() -> None:
    with serving() as server, server.client() as client:
        client.send("name" + " " * MAX_LINE + "\n")
        assert client.receive() == f"? line too long: use at most {MAX_LINE} bytes"
        assert client.ask("name") == "= tanbo-engine"


def test_idle_connections_are_closed() -> None:
    with serving("--idle", "0.4", "--time", "0.8") as server, server.client() as client:
        assert client.ask("genmove b").startswith("= ")
        time.sleep(0.2)
        assert client.ask("name") == "= tanbo-engine"
        began = time.monotonic()
        assert client.receive() == "? no input for 0.4 seconds"
        assert client.receive() == ""
        assert 0.3 < time.monotonic() - began < PROMPT


@pytest.mark.parametrize("size", [7, 3])
def test_an_analysis_without_input_ends_and_its_connection_is_closed(size: int) -> None:
    # The smaller board is proved at once: the analysis waits without a word.
    with serving("--idle", "0.5", "--size", str(size)) as server:
        with server.client() as client:
            client.send("kata-analyze b 5\n")
            time.sleep(0.3)
            client.send("8 name\n")
            assert client.receive().startswith("= \ninfo move")
            assert client.receive() == "=8 tanbo-engine"
            client.send("lz-analyze b 5\n")
            began = time.monotonic()
            assert client.receive().startswith("= \ninfo move")
            assert client.receive() == "? no input for 0.5 seconds"
            assert client.receive() == ""
            assert 0.4 < time.monotonic() - began < PROMPT
        before = server.processor_seconds()
        time.sleep(0.3)
        assert server.processor_seconds() - before < 0.1


def test_pondering_for_a_client_ends_with_its_patience() -> None:
    options = ("--ponder", "--idle", "0.6", "--time", "0.2", "--connections", "1")
    with serving(*options) as server:
        with server.client() as client:
            move = client.ask("genmove b")
            before = server.processor_seconds()
            time.sleep(0.4)
            assert server.processor_seconds() - before > 0.05
            assert client.ask("undo") == "= "
            assert client.ask("genmove b")[:2] == move[:2]
            assert client.receive() == "? no input for 0.6 seconds"
        assert server.wait_for_room() < PROMPT
        before = server.processor_seconds()
        time.sleep(0.3)
        assert server.processor_seconds() - before < 0.1


def test_a_client_that_reads_nothing_is_closed() -> None:
    options = ("--idle", "0.4", "--connections", "1")
    with serving(*options) as server, server.client() as client:
        with suppress(OSError):
            client.send("list_commands\n" * 100_000)
        assert server.wait_for_room() < 5


# Clients that vanish


@pytest.mark.parametrize("is_reset", [False, True])
@pytest.mark.parametrize("line", ["genmove b", "kata-analyze b 1", "tanbo-perft 20"])
def test_a_client_that_vanishes_frees_everything(line: str, is_reset: bool) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("needs /proc")
    with serving("--connections", "1", "--time", FOR_EVER) as server:
        with server.client() as client:
            client.ask("name")
            client.send(f"{line}\n" * 3)
            time.sleep(0.2)
            if is_reset:
                client.reset()
        assert server.wait_for_room() < PROMPT
        before = server.processor_seconds()
        time.sleep(0.3)
        assert server.processor_seconds() - before < 0.1


# Options


def test_the_log_tells_connections_apart(tmp_path: Path) -> None:
    log = tmp_path / "log"
    options = ("--log", str(log))
    with serving(*options) as server, server.client() as one, server.client() as two:
        one.ask("name")
        two.ask("version")
        one.ask("quit")
    lines = log.read_text().splitlines()
    assert "1 > name" in lines
    assert "2 > version" in lines
    assert any(line.startswith("1 # from ('127.0.0.1', ") for line in lines)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "--port is needed"),
        (["--port", "70000"], "--port: expected a whole number from 0 to 65535"),
        (["--port", "0", "--memory", "7"], "8 connections need at least --memory 8"),
        (["--port", "0", "--size", "8"], "no set-up for 8x8"),
        (["--port", "0", "--log", "/nonexistent/x"], "cannot write the log"),
        (["--port", "0", "--host", "203.0.113.1"], "cannot listen on 203.0.113.1"),
    ],
)
def test_wrong_options(arguments: list[str], words: str) -> None:
    status, out, err = command_line("serve", *arguments)
    assert (status, out) == (2, "")
    assert words in err


def test_a_port_in_use() -> None:
    with serving() as server:
        status, _, err = command_line("serve", "--port", str(server.port))
        assert status == 2
        assert f"cannot listen on 127.0.0.1, port {server.port}: " in err
