"""Every command: what it answers, and every way it refuses."""

import re

import pytest

from protocol import gtp
from protocol.commands import TABLE
from protocol.dispatch import handle
from protocol.session import Session
from tanbo_engine import __version__, setups
from tanbo_engine.points import Color, format_vertex

from .talk import ask, new_session, play_out, refusal, response, time_to_think

BLACK_WON = "tanbo-position 3x3 X2/3/3 w"


async def boards(session: Session) -> str:
    return await ask(session, "tanbo-position")


# The table


def test_every_command_is_documented() -> None:
    for entry in TABLE.values():
        assert entry.help.endswith("."), entry.name
        assert "\n" not in entry.help
        assert entry.usage.startswith(entry.name)
        assert entry.usage.isascii()
        # What a token belongs to must be plain from its place alone.
        least = [argument.least for argument in entry.arguments]
        assert least == sorted(least, reverse=True), entry.name
        assert all(argument.most == 1 for argument in entry.arguments[:-1]), entry.name


def test_usage_is_made_of_the_arguments() -> None:
    assert TABLE["play"].usage == "play COLOR VERTEX"
    assert TABLE["gg-undo"].usage == "gg-undo [MOVES]"
    assert TABLE["quit"].usage == "quit"


def test_required_and_standard_commands_are_there() -> None:
    expected = [
        "protocol_version",
        "name",
        "version",
        "known_command",
        "list_commands",
        "help",
        "quit",
        "boardsize",
        "clear_board",
        "komi",
        "play",
        "genmove",
        "undo",
        "showboard",
        "final_score",
        "time_settings",
        "time_left",
        "kata-time_settings",
        "kata-list_time_settings",
        "lz-analyze",
        "kata-analyze",
        "stop",
        "lz-genmove_analyze",
        "kata-genmove_analyze",
        "kata-search",
        "kata-search_cancellable",
        "kata-search_analyze",
        "kata-search_analyze_cancellable",
        "reg_genmove",
        "rectangular_boardsize",
        "gogui-rules_game_id",
        "gogui-rules_board_size",
        "gogui-rules_board",
        "gogui-rules_legal_moves",
        "gogui-rules_side_to_move",
        "gogui-rules_final_result",
        "gogui-rules_captured_count",
        "gogui-rules_board_gfx",
        "gogui-analyze_commands",
        "gogui-play_sequence",
        "gogui-setup",
        "gogui-setup_player",
        "gogui-title",
        "gogui-interrupt",
        "gg-undo",
        "set_position",
        "loadsgf",
        "printsgf",
        "tanbo-setup",
        "tanbo-setups",
        "tanbo-position",
        "tanbo-legal_moves",
        "tanbo-roots",
        "tanbo-perft",
        "tanbo-build",
        "tanbo-solve",
        "kata-list-params",
        "kata-get-param",
        "kata-get-params",
        "kata-set-param",
        "kata-set-params",
        "tanbo-params",
        "tanbo-draw_roots",
        "tanbo-draw_removals",
        "tanbo-draw_danger",
        "tanbo-draw_values",
        "tanbo-draw_moves",
        "tanbo-draw_variation",
        "tanbo-variation",
        "tanbo-live_graphics",
        "tanbo-explain",
        "tanbo-explain_root",
        "tanbo-explain_last",
        "tanbo-rules",
        "tanbo-explanations",
    ]
    assert sorted(e.name for e in TABLE.values() if e.listed) == sorted(expected)
    unlisted = [entry.name for entry in TABLE.values() if not entry.listed]
    assert sorted(unlisted) == ["analyze", "genmove_analyze"]


SEARCHING = [name for name in TABLE if re.match("kata-search|.*analyze$", name)]
BOUNDED = [e.name for e in TABLE.values() if all(a.most < 6 for a in e.arguments)]
NEEDY = [e.name for e in TABLE.values() if any(a.least for a in e.arguments)]


@pytest.mark.parametrize("name", BOUNDED)
async def test_too_many_arguments_are_a_syntax_error(name: str) -> None:
    assert await refusal(new_session(), f"{name} a b c d e f") == "syntax error"


@pytest.mark.parametrize("name", NEEDY)
async def test_too_few_arguments_are_a_syntax_error(name: str) -> None:
    assert await refusal(new_session(), name) == "syntax error"


# core


async def test_identity() -> None:
    session = new_session()
    assert await ask(session, "protocol_version") == "2"
    assert await ask(session, "name") == "tanbo-engine"
    assert await ask(session, "version") == __version__


async def test_list_and_known_commands() -> None:
    session = new_session()
    names = (await ask(session, "list_commands")).split("\n")
    assert names[0] == "protocol_version"
    assert names == [entry.name for entry in TABLE.values() if entry.listed]
    for name in TABLE:
        assert await ask(session, f"known_command {name}") == "true"
    assert await ask(session, "known_command set_free_handicap") == "false"
    assert await ask(session, "known_command PLAY") == "false"


async def test_commands_are_whole_words() -> None:
    for line in ("Name", "nam", "names", "play_", "=", "? name", "gogui-rules_setup"):
        assert await refusal(new_session(), line) == "unknown command"


async def test_an_id_alone_is_answered() -> None:
    answer = await response(new_session(), "12")
    assert answer == gtp.Response(
        False, "empty command: a command name follows the id", 12
    )


async def test_quit() -> None:
    session = new_session()
    assert await ask(session, "quit") == ""
    assert session.closing


@pytest.mark.parametrize(
    ("line", "setup"),
    [
        ("boardsize 11", "dense-11x11"),
        ("boardsize 7 9", "dense-7x9"),
        ("boardsize 7:9", "dense-7x9"),
        ("boardsize 7x9", "dense-7x9"),
        ("boardsize 9X7", "dense-9x7"),
        ("boardsize 19", "classic-19x19"),
        ("boardsize 5", "classic-5x5"),
        ("boardsize 9", "classic-9x9"),
        ("boardsize 13", "classic-13x13"),
        ("boardsize 21", "classic-21x21"),
        ("boardsize 3", "dense-3x3"),
        ("boardsize 23 25", "dense-23x25"),
        ("rectangular_boardsize 5 7", "dense-5x7"),
        ("rectangular_boardsize 15 15", "dense-15x15"),
        ("tanbo-setup classic-7x7", "classic-7x7"),
        ("tanbo-setup DENSE-19x19", "dense-19x19"),
    ],
)
async def test_sizes_and_setups(line: str, setup: str) -> None:
    session = new_session()
    await ask(session, "play b A2")
    assert await ask(session, line) == ""
    assert session.setup.name == setup
    assert session.game.position == setups.by_name(setup).position()
    assert not session.game.moves


@pytest.mark.parametrize(
    "size",
    [
        "8",
        "17",
        "25",
        "1",
        "0",
        "-7",
        "27",
        "7 8",
        "5 9",
        "7:8",
        "99999999999999",
        "9" * 5000,
        "7 " + "9" * 5000,
        "0000000007",
    ],
)
async def test_unacceptable_sizes(size: str) -> None:
    session = new_session()
    await ask(session, "play b A2")
    assert await refusal(session, f"boardsize {size}") == "unacceptable size"


@pytest.mark.parametrize("size", ["x", "7.0", "7x", "7,9", "7 x", "7x9 7", "1e1", "x7"])
async def test_sizes_that_are_none(size: str) -> None:
    assert await refusal(new_session(), f"boardsize {size}") == "syntax error"


async def test_rectangular_boardsize_errors() -> None:
    session = new_session()
    assert await refusal(session, "rectangular_boardsize 7") == "syntax error"
    assert await refusal(session, "rectangular_boardsize 7 8") == "unacceptable size"
    assert await refusal(session, "rectangular_boardsize 7x9 7") == "syntax error"


async def test_the_current_size_keeps_the_setup() -> None:
    session = new_session(setup="classic-7x7")
    for line in ("boardsize 7", "boardsize 7 7", "rectangular_boardsize 7 7"):
        await ask(session, "play b A2")
        await ask(session, line)
        assert session.setup.name == "classic-7x7"
        assert not session.game.moves
    await ask(session, "boardsize 11")
    await ask(session, "boardsize 7")
    assert session.setup.name == "dense-7x7"


async def test_clear_board_brings_the_start_stones_back() -> None:
    session = new_session()
    start = await boards(session)
    await ask(session, "play b A2")
    await ask(session, "clear_board")
    assert await boards(session) == start
    await ask(session, "set_position b A1 w C1")
    await ask(session, "clear_board")
    assert await boards(session) == start


@pytest.mark.parametrize(
    "komi", ["0", "6.5", "-7.5", "+1", ".5", "5.", "1e3", "100000", "0000"]
)
async def test_komi_takes_any_number(komi: str) -> None:
    session = new_session()
    assert await ask(session, f"komi {komi}") == ""
    assert session.komi == float(komi)


@pytest.mark.parametrize(
    "komi", ["x", "nan", "inf", "1e999", "9" * 5000, "1_0", "0x1", "1,5", "--1", "."]
)
async def test_komi_refuses_what_is_no_number(komi: str) -> None:
    assert await refusal(new_session(), f"komi {komi}") == "syntax error"


# play


@pytest.mark.parametrize("line", ["play b A2", "play BLACK a2", "play Black A02"])
async def test_play(line: str) -> None:
    session = new_session()
    assert await ask(session, line) == ""
    assert await boards(session) == "7x7 X1O1X1O/7/O1X1O1X/7/X1O1X1O/X6/O1X1O1X w"


@pytest.mark.parametrize(
    "move",
    [
        "w A2",
        "b A1",
        "b A3",
        "b B2",
        "b D4",
        "b H1",
        "b A8",
        "b I1",
        "b A0",
        "b Z99",
        "b pass",
        "w PASS",
        "b A999",
    ],
)
async def test_illegal_moves(move: str) -> None:
    assert await refusal(new_session(), f"play {move}") == "illegal move"


async def test_a_move_cannot_be_repeated() -> None:
    session = new_session()
    await ask(session, "play b A2")
    assert await refusal(session, "play b A2") == "illegal move"
    assert await refusal(session, "play w A2") == "illegal move"


@pytest.mark.parametrize(
    "vertex", ["x", "4", "44", "A", "A-1", "AA1", "resign", "A1234", "A" + "9" * 5000]
)
async def test_invalid_vertices(vertex: str) -> None:
    text = await refusal(new_session(), f"play b {vertex}")
    assert text.startswith("invalid vertex ")
    assert text.endswith("A1 to G7, or pass")
    assert len(text) < 120


@pytest.mark.parametrize(
    "line",
    [
        "play {} A2",
        "genmove {}",
        "reg_genmove {}",
        "time_left {} 1 1",
        "gogui-setup_player {}",
        "tanbo-legal_moves {}",
        "set_position {} A1",
        "gogui-setup {} A1",
        "gogui-play_sequence {} A2",
    ],
)
@pytest.mark.parametrize("color", ["x", "blackish", "B1", "grey"])
async def test_invalid_colors(line: str, color: str) -> None:
    text = await refusal(new_session(), line.format(color))
    assert text == f"invalid color {color!r}: use b, black, w or white"


async def test_genmove_plays_what_it_answers() -> None:
    session = new_session()
    vertex = await ask(session, "genmove b")
    assert vertex == vertex.upper()
    assert await refusal(session, f"play w {vertex}") == "illegal move"
    assert session.game.to_move is Color.WHITE
    assert len(session.game.moves) == 1


async def test_genmove_twice_with_one_seed_is_the_same() -> None:
    games = []
    for _ in range(2):
        session = new_session(seed=7)
        games.append([await ask(session, f"genmove {c}") for c in "bwbwbw"])
    assert games[0] == games[1]


async def test_games_of_one_process_differ_in_their_salt() -> None:
    session = new_session(seed=7, nodes=400)
    await ask(session, "clear_board")  # no moves: not a game
    first = [await ask(session, f"genmove {c}") for c in "bwbwbwbw"]
    await ask(session, "clear_board")
    second = [await ask(session, f"genmove {c}") for c in "bwbwbwbw"]
    assert first != second


@pytest.mark.parametrize("name", ["genmove", "reg_genmove"])
async def test_search_for_the_wrong_side(name: str) -> None:
    assert await refusal(new_session(), f"{name} w") == "illegal move"


async def test_reg_genmove_changes_nothing() -> None:
    session = new_session()
    await ask(session, "time_settings 10 0 0")
    before, seconds = await boards(session), time_to_think(session)
    assert (await ask(session, "reg_genmove b")).isupper()
    assert await boards(session) == before
    assert not session.game.moves
    assert time_to_think(session) == seconds


async def test_after_the_end() -> None:
    session = new_session(setup="dense-3x3")
    winner = await play_out(session)
    loser = "white" if winner == "black" else "black"
    initial = winner[0].upper()
    assert await ask(session, "gogui-rules_legal_moves") == ""
    assert await handle(session, "gogui-rules_legal_moves") == "= \n\n"
    assert await ask(session, "tanbo-legal_moves") == ""
    assert await ask(session, "tanbo-legal_moves b") == ""
    assert await ask(session, "final_score") == f"{initial}+1"
    result = await ask(session, "gogui-rules_final_result")
    assert result == f"{winner.capitalize()} wins"
    assert (await ask(session, "showboard")).endswith(f"result: {initial}+1")

    made = len(session.game.moves)
    assert await ask(session, f"reg_genmove {winner}") == "pass"
    assert await ask(session, f"reg_genmove {loser}") == "resign"
    assert await ask(session, f"genmove {loser}") == "resign"
    assert len(session.game.moves) == made
    assert await ask(session, f"genmove {winner}") == "pass"
    assert await ask(session, f"play {loser} pass") == ""
    assert len(session.game.moves) == made + 2
    assert await refusal(session, f"play {loser} B2") == "illegal move"
    assert await refusal(session, f"play {winner} B2") == "illegal move"
    await ask(session, "gg-undo 2")
    assert await ask(session, "final_score") == f"{initial}+1"
    await ask(session, "undo")
    assert await refusal(session, "final_score") == "cannot score"
    assert await refusal(session, f"play {loser} pass") == "illegal move"


async def test_undo() -> None:
    session = new_session()
    start = await boards(session)
    await ask(session, "play b A2")
    await ask(session, "play w B1")
    await ask(session, "undo")
    await ask(session, "undo")
    assert await boards(session) == start
    assert await refusal(session, "undo") == "cannot undo"


async def test_gg_undo_is_all_or_nothing() -> None:
    session = new_session()
    start = await boards(session)
    await ask(session, "gogui-play_sequence b A2 w B1 b A4")
    assert await refusal(session, "gg-undo 4") == "cannot undo"
    await ask(session, "gg-undo 0")
    await ask(session, "gg-undo")
    assert len(session.game.moves) == 2
    await ask(session, "gg-undo 2")
    assert await boards(session) == start
    for count in ("x", "-1", "1.5", "9" * 5000):
        text = await refusal(session, f"gg-undo {count}")
        assert text.startswith("invalid number ")


async def test_showboard() -> None:
    text = await ask(new_session(setup="dense-3x3"), "showboard")
    assert text == (
        "\n   A B C\n 3 X . O 3\n 2 . . . 2\n 1 O . X 1\n   A B C\n"
        "to move: black\nset-up: dense-3x3"
    )


@pytest.mark.parametrize("name", ["set_position", "gogui-setup"])
async def test_a_position_of_its_own_is_no_setup(name: str) -> None:
    session = new_session()
    await ask(session, f"{name} b A1 w C3")
    own = "set-up: none, a position of its own (clear_board: dense-7x7)"
    assert (await ask(session, "showboard")).endswith(own)
    await ask(session, "clear_board")
    assert (await ask(session, "showboard")).endswith("set-up: dense-7x7")


async def test_stones_of_another_setup_have_its_name() -> None:
    session = new_session()
    start = setups.by_name("classic-7x7").position()
    stones = " ".join(
        f"{color.initial} {format_vertex(start.size, point)}"
        for color in Color
        for point in start.stones(color)
    )
    await ask(session, f"set_position {stones}")
    assert (await ask(session, "showboard")).endswith("set-up: classic-7x7")
    assert "GN[classic-7x7]" in await ask(session, "printsgf")


async def test_final_score_before_the_end() -> None:
    session = new_session()
    assert await refusal(session, "final_score") == "cannot score"
    assert await ask(session, "gogui-rules_final_result") == "undecided"


# made-up positions


@pytest.mark.parametrize("name", ["set_position", "gogui-setup"])
async def test_stones_replace_the_position(name: str) -> None:
    session = new_session()
    await ask(session, "play b A2")
    await ask(session, f"{name} b A1 B A2 white C3")
    assert await boards(session) == "7x7 7/7/7/7/2O4/X6/X6 b"
    assert await refusal(session, "undo") == "cannot undo"
    await ask(session, "play b A3")
    await ask(session, "undo")
    assert await refusal(session, "undo") == "cannot undo"


@pytest.mark.parametrize("name", ["set_position", "gogui-setup"])
@pytest.mark.parametrize(
    ("stones", "words"),
    [
        ("b A1 w A1", "A1 is given twice"),
        ("b A1 b a1", "A1 is given twice"),
        ("b A1 b A2 b B1 b B2 w G7", "loop"),
        ("b A1 w A2 w B1", "A1 is bounded"),
        ("b H1", "H1 is off the board"),
        ("b I1", "no column I"),
        ("b pass", "invalid vertex 'pass'"),
        ("b x1x", "invalid vertex 'x1x'"),
    ],
)
async def test_impossible_stones(name: str, stones: str, words: str) -> None:
    session = new_session()
    await ask(session, "play b A2")
    assert words in await refusal(session, f"{name} {stones}")


async def test_odd_numbers_of_words_are_a_syntax_error() -> None:
    for name in ("set_position", "gogui-setup", "gogui-play_sequence"):
        assert await refusal(new_session(), f"{name} b A2 w") == "syntax error"


async def test_no_stones() -> None:
    session = new_session()
    start = await boards(session)
    assert "no stones" in await refusal(session, "gogui-setup")
    await ask(session, "play b A2")
    await ask(session, "set_position")
    assert await boards(session) == start


async def test_one_color_missing_is_a_finished_game() -> None:
    session = new_session()
    await ask(session, "set_position w A1")
    assert await ask(session, "final_score") == "W+1"
    assert await ask(session, "genmove b") == "resign"
    assert await ask(session, "genmove w") == "pass"


async def test_setup_player() -> None:
    session = new_session()
    await ask(session, "play b A2")
    await ask(session, "gogui-setup_player b")
    assert await boards(session) == "7x7 X1O1X1O/7/O1X1O1X/7/X1O1X1O/X6/O1X1O1X b"
    assert await refusal(session, "undo") == "cannot undo"
    await ask(session, "gogui-setup b A1 w C1")
    await ask(session, "gogui-setup_player w")
    assert await ask(session, "gogui-rules_side_to_move") == "white"


async def test_position_round_trip() -> None:
    session = new_session()
    for color in "bwbwbwbw":
        await ask(session, f"genmove {color}")
        text = await boards(session)
        position = session.game.position
        await ask(session, f"tanbo-position {text}")
        assert session.game.position == position
        assert await boards(session) == text


async def test_position_of_another_size_selects_its_setup() -> None:
    session = new_session()
    await ask(session, "tanbo-position 9x9 9/1O5X1/9/9/9/9/9/1X5O1/9 w")
    assert session.setup.name == "classic-9x9"
    assert session.game.to_move is Color.WHITE
    await ask(session, "clear_board")
    assert session.game.position == setups.by_name("classic-9x9").position()


async def test_position_of_this_size_keeps_the_setup() -> None:
    session = new_session(setup="classic-7x7")
    await ask(session, "tanbo-position 7x7 X6/7/7/7/7/7/6O b")
    assert session.setup.name == "classic-7x7"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("7x7", "SIZE ROWS SIDE"),
        ("x X1O/3/O1X b", "invalid size 'x'"),
        ("3x3 X1O/3 b", "needs 3 rows"),
        ("3x3 X1O/4/O1X b", "row 2 from the top has more than 3 points"),
        ("3x3 X1O/2/O1X b", "row 2 from the top has 2 points"),
        ("3x3 X1O/Z/O1X b", "row 2 from the top is 'Z'"),
        ("3x3 X1O/3/O1X x", "invalid side 'x'"),
        ("3x3 3/3/3 b", "no stones"),
        ("3x3 XX1/XX1/2O b", "loop"),
        ("8x8 8/8/8/8/8/8/8/X6O b", "nearest sizes"),
        (f"3x3 {'9' * 5000}/3/3 b", "row 1"),
        ("0x0 0 b", "0x0 needs 0 rows"),
    ],
)
async def test_impossible_positions(text: str, words: str) -> None:
    answer = await refusal(new_session(), f"tanbo-position {text}")
    assert words in answer
    assert len(answer) < 200


# time


async def test_time_settings() -> None:
    session = new_session()
    for line, system in [
        ("time_settings 60 0 0", "absolute"),
        ("time_settings 60 0 5", "absolute"),
        ("time_settings 60 30 10", "canadian"),
        ("time_settings 60.5 1.5 10", "canadian"),
        ("time_settings 0 1 0", "none"),
        ("kata-time_settings absolute 60", "absolute"),
        ("kata-time_settings byoyomi 60 10 3", "byoyomi"),
        ("kata-time_settings byo-yomi 60 10 3", "byoyomi"),
        ("kata-time_settings BYOYOMI 60 10 0", "absolute"),
        ("kata-time_settings canadian 60 10 3", "canadian"),
        ("kata-time_settings fischer 60 1.5", "fischer"),
        ("kata-time_settings fischer-capped 60 1 100 -1", "fischer-capped"),
        ("kata-time_settings none", "none"),
    ]:
        assert await ask(session, line) == ""
        assert session.clock.control.system.value == system, line
    await ask(session, "kata-time_settings fischer-capped 60 1 100 -1")
    assert session.clock.control.main_limit == 100
    assert session.clock.control.move_limit == float("inf")


async def test_list_time_settings() -> None:
    answer = await ask(new_session(), "kata-list_time_settings")
    assert answer == "none absolute byoyomi canadian fischer fischer-capped"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("time_settings x 0 0", "invalid number 'x'"),
        ("time_settings 1 nan 0", "invalid number 'nan'"),
        ("time_settings 1 1e999 0", "invalid number '1e999'"),
        ("time_settings 1 1 x", "invalid number 'x'"),
        ("time_settings 1 1 -1", "invalid number '-1'"),
        ("time_settings -1 0 0", "invalid time -1"),
        ("time_settings 1e9 0 0", "invalid time 1e+09: use seconds from 0 to 1000000"),
        ("time_settings 0 1e300 1", "invalid time 1e+300"),
        ("time_left b 1e300 0", "invalid time 1e+300"),
        ("kata-time_settings fischer 1 1e7", "invalid time 1e+07"),
        ("time_left b x 0", "invalid number 'x'"),
        ("time_left b 1 x", "invalid number 'x'"),
        ("kata-time_settings sudden 5", "unknown time system 'sudden': use none"),
        ("kata-time_settings absolute x", "invalid number 'x'"),
        ("kata-time_settings absolute -5", "invalid time -5"),
        ("kata-time_settings canadian 5 5 x", "invalid number 'x'"),
        ("kata-time_settings canadian 5 5 1.5", "invalid number '1.5'"),
        ("kata-time_settings fischer 5", "syntax error"),
        ("kata-time_settings none 5", "syntax error"),
        ("kata-time_settings byoyomi 5 5", "syntax error"),
    ],
)
async def test_time_errors(line: str, words: str) -> None:
    session = new_session()
    await ask(session, "time_settings 60 30 10")
    assert (await refusal(session, line)).startswith(words)


@pytest.mark.parametrize("left", ["0 0", "-5 0", "0.0 0.0", "-1.5 -2", "1e-9 0"])
async def test_hardly_any_time_left_still_gives_a_move(left: str) -> None:
    session = new_session(nodes=None, time=60.0)
    await ask(session, f"time_left b {left}")
    assert await ask(session, "genmove b") != ""


async def test_time_left_takes_floats_and_periods() -> None:
    session = new_session()
    await ask(session, "time_settings 60 30 10")
    await ask(session, "time_left black 12.5 0")
    assert time_to_think(session) == pytest.approx(2.97)
    await ask(session, "time_left b 5.0 5.0")
    assert time_to_think(session) == pytest.approx(0.97)


async def test_a_clock_beats_the_time_setting() -> None:
    session = new_session(nodes=None, time=100.0)
    await ask(session, "time_settings 0.5 0 0")
    await ask(session, "genmove b")
    left = time_to_think(session)
    assert left is not None
    assert left < 0.045


async def test_a_new_game_restarts_the_clock() -> None:
    session = new_session()
    await ask(session, "time_settings 10 0 0")
    seconds = time_to_think(session)
    for line in ("clear_board", "boardsize 7", "tanbo-setup dense-7x7"):
        await ask(session, "time_left b 1 0")
        assert time_to_think(session) != seconds
        await ask(session, line)
        assert time_to_think(session) == seconds


# gogui


async def test_ruler() -> None:
    session = new_session(setup="dense-3x3")
    assert await ask(session, "gogui-rules_game_id") == "Tanbo"
    assert await ask(session, "gogui-rules_board_size") == "3"
    assert await ask(session, "gogui-rules_board") == "X . O\n. . .\nO . X"
    assert await ask(session, "gogui-rules_board_gfx") == ""
    assert await ask(session, "gogui-rules_legal_moves") == "B1 A2 C2 B3"
    assert await ask(session, "gogui-rules_side_to_move") == "black"
    assert await ask(session, "gogui-rules_captured_count") == "0 0"
    await ask(session, "boardsize 5 7")
    assert await ask(session, "gogui-rules_board_size") == "5 7"


async def test_captured_count_is_white_then_black() -> None:
    session = new_session(setup="dense-3x3")
    await play_out(session)
    white, black = (await ask(session, "gogui-rules_captured_count")).split()
    assert int(white) == session.game.captured(Color.WHITE)
    assert int(black) == session.game.captured(Color.BLACK)
    assert int(white) + int(black) > 0


async def test_play_sequence_is_all_or_nothing() -> None:
    session = new_session()
    await ask(session, "gogui-play_sequence")
    await ask(session, "gogui-play_sequence B A2 W B1")
    assert len(session.game.moves) == 2
    bad = "gogui-play_sequence B A4 W A5"
    assert await refusal(session, bad) == "illegal move"
    assert await refusal(session, "gogui-play_sequence B A4 B A6") == "illegal move"
    assert await refusal(session, "gogui-play_sequence B A4 W H9") == "illegal move"
    text = await refusal(session, "gogui-play_sequence B A4 W x")
    assert text.startswith("invalid vertex")


# tanbo


async def test_setups_lists_every_setup_and_what_boardsize_selects() -> None:
    session = new_session()
    lines = (await ask(session, "tanbo-setups")).split("\n")
    assert [line.split()[0] for line in lines] == [s.name for s in setups.offered()]
    assert "dense-7x7      8 stones each, boardsize 7" in lines
    assert "dense-7x9      10 stones each, boardsize 7x9" in lines
    assert "dense-19x19    50 stones each" in lines
    for line in lines:
        _, _, size = line.partition("boardsize ")
        if size:
            await ask(session, f"boardsize {size}")
            assert session.setup.name == line.split()[0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x", "unknown set-up 'x': use dense-WxH or classic-NxN"),
        ("dense-9x9", "nearest are dense-"),
        ("classic-11x11", "nearest are classic-"),
        ("dense-99x99", "nearest are dense-"),
    ],
)
async def test_unknown_setups(name: str, words: str) -> None:
    assert words in await refusal(new_session(), f"tanbo-setup {name}")


async def test_legal_moves_by_column_then_row() -> None:
    session = new_session(setup="dense-3x3")
    assert await ask(session, "tanbo-legal_moves") == "A2 B1 B3 C2"
    assert await ask(session, "tanbo-legal_moves white") == "A2 B1 B3 C2"
    assert await ask(session, "tanbo-legal_moves b") == "A2 B1 B3 C2"


async def test_roots() -> None:
    session = new_session(setup="dense-3x3")
    await ask(session, "play b A2")
    assert await ask(session, "tanbo-roots") == (
        "black C1 : B1,C2\nblack A2,A3 : B2,B3\nwhite A1 : B1\nwhite C3 : B3,C2"
    )


async def test_help() -> None:
    session = new_session()
    lines = (await ask(session, "help")).split("\n")
    assert [line.split()[0].rstrip(":") for line in lines] == list(TABLE)
    assert (await ask(session, "help undo")).startswith("undo: Take back")
    assert "list_commands" in await refusal(session, "help nonsense")


async def test_build_names_this_kernel() -> None:
    session = new_session()
    build = await ask(session, "tanbo-build")
    assert re.fullmatch("[0-9a-f]{12}", build)
    assert await ask(session, "tanbo-build") == build


async def test_words_outside_ascii_are_no_other_words() -> None:
    session = new_session()
    await ask(session, "play b A2")
    for line in ("gg-undo \u00e9", "set_position \u00e9", "play w B\u00e91"):
        await refusal(session, line)


async def test_perft() -> None:
    session = new_session()
    assert await ask(session, "tanbo-perft 0") == "1"
    assert await ask(session, "tanbo-perft 1") == "24"
    before = await boards(session)
    assert await ask(session, "tanbo-perft 2") == "552"
    assert await boards(session) == before
    for depth in ("-1", "65", "x", "1.5", "9" * 5000):
        text = await refusal(session, f"tanbo-perft {depth}")
        assert text.endswith("use a whole number from 0 to 64")


# Errors the table names, each seen above or here


async def test_every_listed_error_occurs() -> None:
    provoke = {
        ("boardsize", gtp.UNACCEPTABLE_SIZE): ["boardsize 8"],
        ("rectangular_boardsize", gtp.UNACCEPTABLE_SIZE): ["rectangular_boardsize 8 8"],
        ("play", gtp.ILLEGAL_MOVE): ["play b A1"],
        ("genmove", gtp.ILLEGAL_MOVE): ["genmove w"],
        ("reg_genmove", gtp.ILLEGAL_MOVE): ["reg_genmove w"],
        ("undo", gtp.CANNOT_UNDO): ["undo"],
        ("gg-undo", gtp.CANNOT_UNDO): ["gg-undo 1"],
        ("final_score", gtp.CANNOT_SCORE): ["final_score"],
        ("gogui-play_sequence", gtp.ILLEGAL_MOVE): ["gogui-play_sequence w A2"],
        **{(name, gtp.ILLEGAL_MOVE): [f"{name} w"] for name in SEARCHING},
        ("tanbo-variation", gtp.ILLEGAL_MOVE): ["tanbo-variation w"],
        ("loadsgf", gtp.CANNOT_LOAD_FILE): ["loadsgf /nonexistent"],
        ("tanbo-setup", gtp.UNACCEPTABLE_SIZE): ["tanbo-setup dense-7x9"],
        ("tanbo-position", gtp.UNACCEPTABLE_SIZE): [BLACK_WON],
    }
    listed = {(entry.name, error) for entry in TABLE.values() for error in entry.errors}
    assert set(provoke) == listed
    session = new_session(lock_size=True)
    for (_, error), lines in provoke.items():
        for line in lines:
            assert await refusal(session, line) == error
