"""What front ends really need: the rows of FRONT_ENDS.md sections 0 and 7."""

import re
import time

import pytest

from protocol.dispatch import handle
from protocol.session import Input
from tanbo_engine.clock import outlook
from tanbo_engine.points import Color

from .talk import Engine, ask, new_session, play_out, refusal, run_engine, time_to_think


async def test_row_1_a_blank_follows_the_status_even_of_an_empty_answer() -> None:
    session = new_session()
    assert await handle(session, "7 komi 0") == "=7 \n\n"
    assert await handle(session, "komi 0") == "= \n\n"
    board = await handle(session, "8 gogui-rules_board")
    assert board is not None
    assert board.startswith("=8 X . O")


def test_row_2_every_command_is_answered_once_in_order() -> None:
    lines = "1 name\n\n# x\n2 nonsense\n3 play b A2\n4 play b A2\n   \n5 version\n"
    status, responses, _ = run_engine(lines.encode())
    assert status == 0
    assert [(answer.id, answer.ok) for answer in responses] == [
        (1, True),
        (2, False),
        (3, True),
        (4, False),
        (5, True),
    ]


def test_row_3_nothing_but_responses() -> None:
    status, responses, err = run_engine(b"genmove b\nshowboard\nfoo\n", "--nodes", "50")
    assert (status, len(responses), err) == (0, 3, "")


def test_row_4_commands_may_be_pipelined() -> None:
    with Engine() as engine:
        engine.send(b"name\nversion\nprotocol_version\nlist_commands\n")
        assert engine.receive() == "= tanbo-engine\n\n"
        engine.receive()
        assert engine.receive() == "= 2\n\n"
        assert engine.receive().startswith("= protocol_version\n")


def test_row_5_genmove_is_not_ended_by_input() -> None:
    # A clear move ends before, but not before half of its time.
    with Engine("--time", "0.8") as engine:
        began = time.monotonic()
        engine.send(b"genmove b\n")
        time.sleep(0.1)
        engine.send(b"\n# x\nname\n")
        assert re.fullmatch(r"= [A-G][1-7]\n\n", engine.receive())
        assert time.monotonic() - began > 0.3
        assert engine.receive() == "= tanbo-engine\n\n"


async def test_row_6_komi_is_accepted_first_of_all() -> None:
    assert await ask(new_session(), "komi 6.5") == ""


@pytest.mark.parametrize(
    "line",
    ["boardsize 7 9", "boardsize 7:9", "boardsize 7x9", "rectangular_boardsize 7 9"],
)
async def test_row_7_all_spellings_of_a_size(line: str) -> None:
    session = new_session()
    await ask(session, line)
    assert session.game.size == (7, 9)


async def test_row_8_the_size_can_be_locked() -> None:
    session = new_session(size="11", lock_size=True)
    await ask(session, "boardsize 11")
    for line in (
        "boardsize 7",
        "rectangular_boardsize 7 9",
        "tanbo-setup dense-7x7",
        "tanbo-position 3x3 X1O/3/O1X b",
    ):
        assert await refusal(session, line) == "unacceptable size"
    await ask(session, "tanbo-setup dense-11x11")


async def test_row_9_canvas_of_a_tall_board() -> None:
    session = new_session(size="5x7", canvas=True)
    assert await ask(session, "gogui-rules_board_size") == "7"
    await ask(session, "boardsize 7")
    assert session.game.size == (5, 7)
    board = await ask(session, "gogui-rules_board")
    assert board.split("\n")[0] == "X . O . X ? ?"
    assert [len(row.split()) for row in board.split("\n")] == [7] * 7
    gfx = await ask(session, "gogui-rules_board_gfx")
    assert gfx == ("COLOR #303030 F1 G1 F2 G2 F3 G3 F4 G4 F5 G5 F6 G6 F7 G7")
    assert await refusal(session, "play b F1") == "illegal move"
    await ask(session, "play b B7")


async def test_row_9_canvas_of_a_wide_board() -> None:
    session = new_session(size="9x7", canvas=True)
    assert await ask(session, "gogui-rules_board_size") == "9"
    rows = (await ask(session, "gogui-rules_board")).split("\n")
    assert rows[:2] == ["? ? ? ? ? ? ? ? ?"] * 2
    assert "?" not in "".join(rows[2:])
    await ask(session, "boardsize 9")
    assert session.game.size == (9, 7)
    await ask(session, "play b A2")


async def test_row_9_canvas_does_not_touch_squares() -> None:
    session = new_session(size="7", canvas=True)
    assert await ask(session, "gogui-rules_board_gfx") == ""
    assert "?" not in await ask(session, "gogui-rules_board")
    await ask(session, "boardsize 9")
    assert session.setup.name == "classic-9x9"
    assert await ask(session, "gogui-rules_board_size") == "9"


async def test_row_10_the_end_of_a_game() -> None:
    session = new_session(setup="dense-3x3")
    await play_out(session)
    assert await handle(session, "gogui-rules_legal_moves") == "= \n\n"
    answers = {await ask(session, f"genmove {color}") for color in "bw"}
    assert answers == {"resign", "pass"}
    await ask(session, "play b PASS")


async def test_row_11_no_pass_before_the_end() -> None:
    session = new_session()
    assert await refusal(session, "play b pass") == "illegal move"
    assert "pass" not in (await ask(session, "gogui-rules_legal_moves")).lower()


async def test_row_12_a_move_sent_again_changes_nothing() -> None:
    session = new_session()
    await ask(session, "play b A2")
    for _ in range(2):
        assert await refusal(session, "play b A2") == "illegal move"


async def test_row_13_the_list_of_commands() -> None:
    text = await handle(new_session(), "list_commands")
    assert text is not None
    lines = text.removesuffix("\n\n").split("\n")
    assert lines[0] == "= protocol_version"
    assert all(line == line.rstrip() for line in lines)


def test_row_14_quick_start_and_end_at_eof() -> None:
    began = time.monotonic()
    with Engine() as engine:
        assert engine.ask("name") == "= tanbo-engine\n\n"
        assert time.monotonic() - began < 1
        assert engine.finish() == (0, "", "")


async def test_row_15_literal_errors() -> None:
    session = new_session()
    for line, text in [
        ("play b A1", "illegal move"),
        ("undo", "cannot undo"),
        ("boardsize 8", "unacceptable size"),
        ("loadsgf x", "cannot load file"),
        ("foo", "unknown command"),
        ("play b", "syntax error"),
    ]:
        assert await handle(session, line) == f"? {text}\n\n"


# Section 7: the vaccine


async def test_start_stones_may_be_played_on_boards_that_begin_empty() -> None:
    session = new_session(accept_start_stones=True)
    before = session.game.position
    for color in Color:
        for vertex in ("A1", "A3", "C3"):
            point = {"A1": 0, "A3": 14, "C3": 16}[vertex]
            line = f"play {color.word} {vertex}"
            if point in session.game.start.stones(color):
                await ask(session, line)
            else:
                assert await refusal(session, line) == "illegal move"
    assert session.game.position == before
    assert not session.game.moves
    await ask(session, "play b A2")
    assert await refusal(session, "play w A1") == "illegal move"


async def test_without_the_option_start_stones_are_refused() -> None:
    assert await refusal(new_session(), "play b A3") == "illegal move"


def test_crlf_and_tabs() -> None:
    _, responses, _ = run_engine(b"play\tb\tA2\r\nplay w B1\r\n\r\n7 name\r\n")
    assert [answer.ok for answer in responses] == [True] * 3


async def test_no_answer_holds_an_empty_line_or_a_tab() -> None:
    session = new_session()
    session.input_arrived(Input.LINE)  # which ends an analysis
    lines = await ask(session, "list_commands")
    for name in lines.split("\n"):
        text = await handle(session, f"1 {name}")
        assert text is not None
        assert text.index("\n\n") == len(text) - 2
        assert "\t" not in text
        assert text.startswith(("=1 ", "?1 "))


async def test_time_settings_replace_all_of_the_old_state() -> None:
    session = new_session()
    await ask(session, "kata-time_settings fischer 1 1")
    await ask(session, "time_left b 0.1 0")
    await ask(session, "time_settings 100 0 0")
    fresh = new_session()
    await ask(fresh, "time_settings 100 0 0")
    assert time_to_think(session) == time_to_think(fresh) is not None
    await ask(session, "time_settings 0 1 0")
    assert time_to_think(session) is None


async def test_the_own_clock_runs_without_time_left() -> None:
    session = new_session(nodes=None)
    await ask(session, "time_settings 1 0 0")
    ahead = outlook(session.game)
    first = session.clock.plan(Color.BLACK, ahead)
    await ask(session, "genmove b")
    second = session.clock.plan(Color.BLACK, ahead)
    assert first is not None
    assert second is not None
    assert second < first
    assert session.clock.plan(Color.WHITE, ahead) == first
