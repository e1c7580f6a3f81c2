"""Helpers of the protocol tests: sessions, engine processes, finished games."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from protocol import gtp
from protocol.config import Settings
from protocol.dispatch import handle
from protocol.session import Session
from tanbo_engine.clock import outlook
from tanbo_engine.points import Color

ROOT = Path(__file__).resolve().parents[2]


def new_session(**settings: object) -> Session:
    """Return a session that thinks for 40 visits a move unless told otherwise."""
    defaults: dict[str, object] = {"nodes": 40, "seed": 1, "memory": 8}
    return Session(Settings(**(defaults | settings)))  # type: ignore[arg-type]


async def response(session: Session, line: str) -> gtp.Response:
    """Return the decoded response to a line that must have one."""
    text = await handle(session, line)
    assert text is not None
    return gtp.decode_response(text)


async def ask(session: Session, line: str) -> str:
    """Return the text of a response that must be a success."""
    answer = await response(session, line)
    assert answer.ok, f"{line}: {answer.text}"
    return answer.text


async def refusal(session: Session, line: str) -> str:
    """Return the text of a response that must be a failure; nothing may change."""
    before = await state(session)
    answer = await response(session, line)
    assert not answer.ok, f"{line}: {answer.text}"
    assert "\n" not in answer.text
    assert await state(session) == before
    return answer.text


async def state(session: Session) -> tuple[object, ...]:
    """Return all that a refused command must leave alone."""
    return (
        session.game,
        tuple(session.game.moves),
        session.game.position,
        session.setup,
        session.komi,
        session.clock.control,
        session.closing,
    )


def time_to_think(session: Session, color: Color = Color.BLACK) -> float | None:
    """Return the seconds that the next move of a colour is worth; None: no clock."""
    plan = session.clock.plan(color, outlook(session.game))
    return None if plan is None else plan.target


async def play_out(session: Session) -> str:
    """Play the first legal move until the game is over; return the winner's word."""
    while moves := await ask(session, "tanbo-legal_moves"):
        color = await ask(session, "gogui-rules_side_to_move")
        await ask(session, f"play {color} {moves.split()[0]}")
    winner = session.game.winner
    assert winner is not None
    return winner.word


class Engine:
    """An engine process; leave it with `finish` or as a context manager."""

    def __init__(self, *options: str, code: str | None = None) -> None:
        run = ("-m", "protocol") if code is None else ("-c", code)
        self.process = subprocess.Popen(
            [sys.executable, *run, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            bufsize=0,
        )

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        self.process.wait()

    def send(self, data: bytes) -> None:
        """Write to the engine's input."""
        assert self.process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) :]

    def receive(self) -> str:
        """Return the next response with its empty line."""
        assert self.process.stdout is not None
        data = b""
        while not data.endswith(b"\n\n"):
            byte = self.process.stdout.read(1)
            assert byte, f"the output ends after {data!r}"
            data += byte
        return data.decode()

    def ask(self, line: str) -> str:
        """Send one line and return the response."""
        self.send(line.encode() + b"\n")
        return self.receive()

    def finish(self, data: bytes = b"", timeout: float = 30) -> tuple[int, str, str]:
        """Send the rest, close the input; return exit status, output and stderr."""
        out, err = self.process.communicate(data, timeout)
        return self.process.returncode, out.decode(), err.decode()


def run_engine(
    data: bytes, *options: str, timeout: float = 30
) -> tuple[int, list[gtp.Response], str]:
    """Run an engine on some input; return status, responses and stderr."""
    with Engine(*options) as engine:
        status, out, err = engine.finish(data, timeout)
    return status, split_responses(out), err


def split_responses(output: str) -> list[gtp.Response]:
    """Return the responses of an output that must hold nothing else."""
    assert output == "" or output.endswith("\n\n")
    return [gtp.decode_response(part) for part in output.split("\n\n")[:-1]]


def command_line(*arguments: str, timeout: float = 60) -> tuple[int, str, str]:
    """Run ``tanbo-engine`` without input; return status, stdout and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "protocol", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=timeout,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def lines_of(session_lines: Sequence[str]) -> bytes:
    """Return lines as an engine's input."""
    return "".join(f"{line}\n" for line in session_lines).encode()
