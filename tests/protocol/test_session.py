"""A session: settings, transcript, stopping, and bugs that reach no user."""

import asyncio
import io
import re
from pathlib import Path

import pytest

from protocol import gtp
from protocol.commands import TABLE
from protocol.commands.table import Entry
from protocol.config import Settings
from protocol.dispatch import handle, refuse
from protocol.options import SettingsError
from protocol.session import Session, _tell_nobody
from protocol.transcript import Transcript, open_transcript
from tanbo_engine.patience import FRUGAL, HARMLESS
from tanbo_engine.player import Aim, Limits

from .talk import ask, new_session, refusal, response


def with_transcript(**settings: object) -> tuple[Session, io.StringIO]:
    file = io.StringIO()
    session = Session(
        Settings(nodes=20, seed=5, **settings),  # type: ignore[arg-type]
        Transcript(file),
    )
    return session, file


async def test_blank_lines_have_no_response() -> None:
    session = new_session()
    for line in ("", "   ", "\t", "# comment", "\r"):
        assert await handle(session, line) is None


async def test_ids_come_back() -> None:
    session = new_session()
    assert await handle(session, "7 protocol_version") == "=7 2\n\n"
    assert await handle(session, "8nonsense") == "?8 unknown command\n\n"
    assert await handle(session, "9 play b A2") == "=9 \n\n"
    assert refuse(session, "line too long") == "? line too long\n\n"


async def test_transcript() -> None:
    session, file = with_transcript()
    await handle(session, "1 play w A2")
    await handle(session, "")
    await handle(session, "protocol_version")
    lines = file.getvalue().splitlines()
    assert lines[0].startswith("# tanbo-engine ")
    assert lines[0].endswith(", dense-7x7, seed 5")
    assert lines[1:] == [
        "> 1 play w A2",
        "# it is black's turn (R2)",
        "< ?1 illegal move",
        "> ",
        "> protocol_version",
        "< = 2",
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("play b D4", "D4 touches no black stone (R3)"),
        ("play b H1", "H1 is off the board"),
        ("play b pass", "no passing"),
        ("boardsize 8", "no set-up for 8x8: the nearest sizes are"),
        ("undo", "0 moves made since"),
        ("play b", "usage: play COLOR VERTEX"),
        ("boardsize x", "use N, W H, W:H or WxH"),
        ("komi x", "invalid number 'x'"),
    ],
)
async def test_the_reason_of_a_fixed_error_is_in_the_transcript(
    line: str, reason: str
) -> None:
    session, file = with_transcript()
    await handle(session, line)
    assert reason in file.getvalue()


async def test_a_search_is_noted() -> None:
    session, file = with_transcript()
    await handle(session, "genmove b")
    assert "# 20 visits, " in file.getvalue()


async def test_a_drawn_seed_is_logged_and_differs() -> None:
    seeds = set()
    for _ in range(2):
        file = io.StringIO()
        Session(Settings(), Transcript(file))
        seeds.add(file.getvalue().split("seed ")[1])
    assert len(seeds) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
async def test_a_full_disk_ends_the_transcript_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    session = Session(Settings(), open_transcript("/dev/full"))
    assert await ask(session, "protocol_version") == "2"
    assert capsys.readouterr().err.startswith("tanbo-engine: the log ends here: ")


async def test_a_bug_is_one_line_for_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(session: Session) -> str:
        raise ZeroDivisionError("one\ntwo")

    monkeypatch.setitem(TABLE, "fail", Entry("fail", (), fail, "Fails.", ()))
    session, file = with_transcript()
    answer = await response(session, "3 fail")
    assert answer == gtp.Response(False, "internal error: ZeroDivisionError: one", 3)
    assert "# Traceback" in file.getvalue()
    assert all(line[:2] in ("# ", "> ", "< ") for line in file.getvalue().splitlines())
    assert await ask(session, "protocol_version") == "2"


async def test_no_memory_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    async def think(*_: object, **__: object) -> None:
        raise MemoryError

    session = new_session(memory=77)
    monkeypatch.setattr("tanbo_engine.player.SearchPlayer.think", think)
    assert "77 MB" in await refusal(session, "genmove b")


async def test_stop_ends_a_search_with_a_move() -> None:
    session = new_session(nodes=None, time=60.0)
    task = asyncio.create_task(ask(session, "genmove b"))
    await asyncio.sleep(0.1)
    session.stop()
    assert len(await asyncio.wait_for(task, 5)) == 2


async def test_stop_ends_a_count() -> None:
    session = new_session()
    task = asyncio.create_task(response(session, "tanbo-perft 12"))
    await asyncio.sleep(0.1)
    session.stop()
    answer = await asyncio.wait_for(task, 5)
    assert answer.text.startswith("stopped before the count was complete")
    assert await ask(session, "tanbo-perft 1") == "24"


def test_settings_that_cannot_start() -> None:
    for settings in (
        Settings(setup="dense-9x9"),
        Settings(size="8x8"),
        Settings(size="7", setup="dense-7x9"),
    ):
        with pytest.raises(SettingsError):
            Session(settings)


async def test_what_limits_a_search() -> None:
    assert new_session(nodes=5)._limits(5) == Limits(None, 5)
    both = new_session(nodes=5, time=2.0)._limits(5)
    assert both.seconds == pytest.approx(1.97)
    assert both.visits == 5
    by_time = new_session(nodes=None)._limits(None)
    assert by_time.seconds == pytest.approx(0.97)
    assert (by_time.target, by_time.early) == (None, HARMLESS)
    session = new_session(nodes=5)
    await ask(session, "time_settings 10 0 0")
    on_a_clock = session._limits(5)
    assert on_a_clock.seconds is not None
    assert on_a_clock.target is not None
    assert on_a_clock.target <= on_a_clock.seconds
    assert (on_a_clock.visits, on_a_clock.early) == (5, FRUGAL)
    await ask(session, "kata-time_settings byoyomi 0 5 1")  # nothing can be saved
    assert session._limits(None) == Limits(4.97, None, 4.97, HARMLESS)


@pytest.mark.parametrize(
    ("settings", "is_compared"),
    [
        ({}, False),
        ({"nodes": 50}, True),
        ({"level": 9}, True),
        ({"variety": 0.5}, True),
    ],
)
def test_moves_are_compared_where_another_than_the_best_may_be_wanted(
    settings: dict[str, object], is_compared: bool
) -> None:
    session = new_session(**({"nodes": None, "time": 0.05} | settings))
    assert (session._aim() is Aim.COMPARE) == is_compared
    assert session._aim(_tell_nobody) is Aim.COMPARE


async def test_variety_ends_with_the_opening() -> None:
    session = new_session(nodes=None, time=0.02, variety=0.5)
    for _ in range(10):  # 0.2 of 49 points
        assert session._aim() is Aim.COMPARE
        await ask(session, f"genmove {session.game.to_move.word}")
    assert session._aim() is Aim.MOVE


@pytest.mark.parametrize("player", ["auto", "puct", "alphabeta", "puct0", "uct"])
async def test_every_player_plays(player: str) -> None:
    session = new_session(player=player)
    assert re.fullmatch("[A-G][1-7]", await ask(session, "genmove b"))
