"""Pondering: in the background of a silence, and nowhere else."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from protocol.server import Inbox, converse
from protocol.session import Session, Work

from .talk import Engine, new_session, run_engine

GAME = b"1 genmove b\n2 genmove w\n3 genmove b\n4 showboard\n5 quit\n"
COUNTS_TIME = Path("/proc/self/stat").exists()


class Talk:
    """A conversation with a session whose pondering is watched."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.inbox = Inbox(session.input_arrived, lambda: None)
        self.replies: asyncio.Queue[str] = asyncio.Queue()
        self.begun = 0
        self.ended = 0
        self.at_replies: list[tuple[int, int]] = []
        ponder = session.ponder

        async def watched(work: Work) -> None:
            self.begun += 1
            await ponder(work)
            self.ended += 1

        session.ponder = watched  # type: ignore[method-assign]

    async def run(self) -> None:
        async def emit(text: str) -> None:
            self.at_replies.append((self.begun, self.ended))
            await self.replies.put(text)

        await converse(self.session, self.inbox, emit)

    async def ask(self, line: str) -> str:
        """Send a line; return its reply, and leave the session time to go on."""
        self.inbox.deliver(f"{line}\n".encode())
        reply = await asyncio.wait_for(self.replies.get(), 30)
        for _ in range(20):
            await asyncio.sleep(0)
        return reply

    async def until(self, is_so: Callable[[], bool]) -> None:
        """Wait for something; fail if it takes very long."""
        for _ in range(3000):
            if is_so():
                return
            await asyncio.sleep(0.01)
        raise AssertionError

    @property
    def is_pondering(self) -> bool:
        return self.begun > self.ended


@asynccontextmanager
async def talk_to(session: Session) -> AsyncIterator[Talk]:
    talk = Talk(session)
    task = asyncio.create_task(talk.run())
    try:
        yield talk
    finally:
        talk.inbox.deliver(b"")
        await asyncio.wait_for(task, 30)
        assert not talk.is_pondering


def pondering_session(**settings: object) -> Session:
    return new_session(nodes=None, time=0.05, ponder=True, **settings)


async def test_it_begins_after_a_move_of_ours_and_ends_before_a_line_is_handled() -> (
    None
):
    async with talk_to(pondering_session()) as talk:
        await talk.ask("name")
        assert talk.begun == 0
        await talk.ask("genmove b")
        assert talk.is_pondering
        assert await talk.ask("name") == "= tanbo-engine\n\n"
        assert talk.at_replies[-1] == (1, 1)
        assert talk.is_pondering
        await talk.ask("genmove w")
        assert talk.at_replies[-1] == (2, 2)


async def test_a_blank_line_and_a_comment_end_it_for_a_moment() -> None:
    async with talk_to(pondering_session()) as talk:
        await talk.ask("genmove b")
        talk.inbox.deliver(b"\n# a comment\n")
        await talk.until(lambda: talk.begun == 2)
        assert talk.ended == 1
        assert talk.replies.empty()


@pytest.mark.parametrize(
    "line", ["clear_board", "undo", "stop", "boardsize 7", "set_position", "quit"]
)
async def test_who_does_something_else_than_play_on_is_left_in_peace(line: str) -> None:
    async with talk_to(pondering_session()) as talk:
        await talk.ask("genmove b")
        assert talk.is_pondering
        await talk.ask(line)
        assert not talk.is_pondering
        if line != "quit":
            await talk.ask("name")
            assert not talk.is_pondering


async def test_moves_of_others_are_no_game_of_ours() -> None:
    async with talk_to(pondering_session()) as talk:
        for line in ("play b A2", "play w B1", "reg_genmove b", "showboard"):
            await talk.ask(line)
        assert talk.begun == 0


async def test_it_goes_on_when_the_opponent_has_moved() -> None:
    async with talk_to(pondering_session()) as talk:
        await talk.ask("genmove b")
        point = talk.session.game.legal_moves()[0]
        vertex = f"{'ABCDEFG'[point % 7]}{point // 7 + 1}"
        assert await talk.ask(f"play w {vertex}") == "= \n\n"
        assert talk.is_pondering


async def test_there_is_nothing_to_ponder_when_the_game_is_over() -> None:
    async with talk_to(pondering_session()) as talk:
        await talk.ask("tanbo-setup dense-3x3")
        while talk.session.game.winner is None:
            color = talk.session.game.to_move.word
            assert (await talk.ask(f"genmove {color}")).startswith("= ")
        assert not talk.is_pondering
        begun = talk.begun
        await talk.ask("name")
        assert talk.begun == begun


async def test_off_and_at_lower_levels_there_is_none() -> None:
    for session in (new_session(), new_session(ponder=True, level=9)):
        async with talk_to(session) as talk:
            await talk.ask("genmove b")
            await talk.ask("name")
            assert talk.begun == 0


async def test_it_can_be_switched_while_the_engine_runs() -> None:
    async with talk_to(new_session(nodes=None, time=0.05)) as talk:
        await talk.ask("genmove b")
        assert not talk.is_pondering
        await talk.ask("kata-set-param ponder true")
        assert talk.is_pondering
        await talk.ask("kata-set-param ponder false")
        assert not talk.is_pondering


async def test_a_limit_of_nodes_holds_for_it_too() -> None:
    async with talk_to(new_session(ponder=True, nodes=50)) as talk:
        await talk.ask("genmove b")
        await talk.until(lambda: talk.ended == 1)
        assert talk.begun == 1


async def test_a_tree_search_of_the_same_position_goes_on_where_it_ended() -> None:
    session = pondering_session(player="puct")
    async with talk_to(session) as talk:
        await talk.ask("genmove b")
        await asyncio.sleep(0.1)
        await talk.ask("kata-set-param ponder 0")
        work = session.begin()
        work.end()  # no visit is made: what is told was known before
        assert (await session.choose(work)).visits > 1


async def test_no_memory_ends_pondering_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def think(*_: object, **__: object) -> None:
        raise MemoryError

    async with talk_to(pondering_session()) as talk:
        await talk.ask("genmove b")
        monkeypatch.setattr("tanbo_engine.player.SearchPlayer.think", think)
        assert await talk.ask("name") == "= tanbo-engine\n\n"
        assert await talk.ask("name") == "= tanbo-engine\n\n"
        assert not talk.is_pondering


# As a process


def test_nothing_of_it_is_in_the_output() -> None:
    status, responses, err = run_engine(GAME, "--ponder", "--time", "0.05")
    assert (status, err) == (0, "")
    assert [answer.id for answer in responses] == [1, 2, 3, 4, 5]
    with Engine("--ponder", "--time", "0.05") as engine:
        for line in ("1 genmove b", "2 name", "3 genmove w"):
            assert engine.ask(line).startswith(f"={line[0]} ")
            time.sleep(0.05)
        status, out, err = engine.finish()
        assert (status, out, err) == (0, "", "")


def test_quit_and_the_end_of_the_input_end_it() -> None:
    for end in (b"quit\n", b""):
        with Engine("--ponder", "--time", "0.05") as engine:
            engine.ask("genmove b")
            time.sleep(0.1)
            assert engine.finish(end, timeout=20)[0] == 0


def processor_time(engine: Engine) -> int:
    """Return the processor time that a process has taken, in ticks of its system."""
    stat = Path(f"/proc/{engine.process.pid}/stat").read_text()
    fields = stat.rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.skipif(not COUNTS_TIME or sys.platform == "win32", reason="needs /proc")
def test_the_processor_is_left_alone_when_no_game_goes_on() -> None:
    with Engine("--ponder", "--time", "0.05") as engine:
        engine.ask("genmove b")
        before, end = processor_time(engine), time.monotonic() + 30
        while processor_time(engine) < before + 10:
            assert time.monotonic() < end, "it does not ponder"
            time.sleep(0.05)
        engine.ask("clear_board")
        before = processor_time(engine)
        time.sleep(0.5)
        assert processor_time(engine) - before < 10
