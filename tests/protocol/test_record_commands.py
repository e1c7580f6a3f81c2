"""Records at the protocol and on the command line: loadsgf, printsgf, show."""

# ruff: noqa: ASYNC240 (the files are tiny)

import os
import subprocess
import sys
from pathlib import Path

import pytest

from protocol import gtp
from protocol.session import Session
from tanbo_engine import __version__, notation, setups
from tanbo_engine.game import Game
from tanbo_engine.player import Report
from tanbo_engine.points import Color, parse_vertex
from tanbo_engine.record import Headers, load_sgf, read_sgf, sgf

from .talk import (
    ROOT,
    Engine,
    ask,
    command_line,
    new_session,
    play_out,
    refusal,
    response,
    run_engine,
)

FILE = b"""(;GM[1]SZ[7]PB[J\xc3\xb6rg]PW[Ann]RE[W+R]DT[2026-11-29]TM[300]C[root
text];B[af]C[first];W[cf]C[second];B[gb])"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "game.sgf"
    path.write_bytes(FILE)
    return path


async def printed(session: Session) -> str:
    """The SGF that a session answers, joined as it would be written."""
    return await ask(session, "printsgf") + "\n"


def remarks(session: Session) -> list[str]:
    """Return the list that the session's remarks go to from now on."""
    notes: list[str] = []
    session.note = notes.append  # type: ignore[assignment, method-assign]
    return notes


# loadsgf


async def test_load_a_whole_game(file: Path) -> None:
    session = new_session(setup="classic-9x9")
    await ask(session, "time_settings 10 0 0")
    assert await ask(session, f"loadsgf {file}") == ""
    assert session.setup.name == "dense-7x7"
    assert len(session.game.moves) == 3
    assert session.game.to_move is Color.WHITE
    await ask(session, "gg-undo 3")
    assert await refusal(session, "undo") == "cannot undo"
    assert session.game.position == setups.by_name("dense-7x7").position()


@pytest.mark.parametrize(
    ("before", "made"), [(1, 0), (2, 1), (3, 2), (4, 3), (5, 3), (999, 3)]
)
async def test_load_up_to_a_move(file: Path, before: int, made: int) -> None:
    session = new_session()
    await ask(session, f"loadsgf {file} {before}")
    assert len(session.game.moves) == made
    assert session.game.moves == load_sgf(file).game.moves[:made]


async def test_a_resignation_in_a_file_is_the_result_at_its_end(file: Path) -> None:
    session = new_session()
    await ask(session, f"loadsgf {file}")
    assert session.game.winner is None
    assert session.result == "W+R"
    assert "result: W+R" in await ask(session, "showboard")
    await ask(session, f"loadsgf {file} 3")
    assert session.result is None


async def test_a_file_without_a_name() -> None:
    session = new_session()
    for line in ('loadsgf ""', 'printsgf ""'):
        assert await refusal(session, line) == "the file name is empty: name a file"


@pytest.mark.parametrize("number", ["0", "-1", "x", "1.5", "9" * 5000])
async def test_numbers_that_are_none(file: Path, number: str) -> None:
    session = new_session()
    text = await refusal(session, f"loadsgf {file} {number}")
    assert text.startswith("invalid number ")


async def test_files_without_stones_keep_this_setup(file: Path) -> None:
    session = new_session(setup="classic-7x7")
    file.write_text("(;SZ[7];B[af])")
    await ask(session, f"loadsgf {file}")
    assert session.setup.name == "classic-7x7"
    assert session.game.start == setups.by_name("classic-7x7").position()
    file.write_bytes(FILE)  # whose second move needs another set-up
    await ask(session, f"loadsgf {file}")
    assert session.setup.name == "dense-7x7"


async def test_load_a_position(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[9]AB[aa]AW[ii]PL[W];W[ih])")
    session = new_session()
    await ask(session, f"loadsgf {path}")
    assert session.setup.name == "classic-9x9"
    assert await ask(session, "tanbo-position") == "9x9 X8/9/9/9/9/9/9/8O/8O b"
    assert "GN[" not in await printed(session)
    path.write_text("(;SZ[7]AB[aa]AW[gg])")
    session = new_session(setup="classic-7x7")
    await ask(session, f"loadsgf {path}")
    assert session.setup.name == "classic-7x7"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "no such file"),
        ("", "no game found"),
        ("(;SZ[8])", "no set-up for 8x8"),
        ("(;SZ[7];B[af];W[aa])", "move 2, node 3, W[aa]: A7 is occupied (R3)"),
        ("(;SZ[9])", "--lock-size keeps 7x7"),
    ],
)
async def test_files_that_cannot_be_loaded(
    tmp_path: Path, text: str | None, reason: str
) -> None:
    path = tmp_path / "game.sgf"
    if text is not None:
        path.write_text(text)
    session = new_session(lock_size=True)
    await ask(session, "play b A2")
    notes = remarks(session)
    assert await refusal(session, f"loadsgf {path} 2") == "cannot load file"
    assert any(reason in note for note in notes)


async def test_what_is_odd_goes_to_the_log(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;GM[40]SZ[7])")
    session = new_session()
    notes = remarks(session)
    await ask(session, f"loadsgf {path}")
    assert notes == ["the file says GM[40]"]


# printsgf


async def test_print_a_new_game() -> None:
    session = new_session(setup="dense-3x3")
    await ask(session, "play b A2")
    expected = (
        f"(;FF[4]AB[cc][aa]AP[tanbo-engine:{__version__}]AW[ac][ca]CA[UTF-8]GM[1]"
        "GN[dense-3x3]\n"
        "RU[Tanbo]SZ[3];B[ab])"
    )
    for line in ("printsgf", "printsgf -"):
        assert await ask(session, line) == expected
    loaded = read_sgf((await printed(session)).encode())
    assert loaded.game.moves == session.game.moves
    assert loaded.headers == Headers(setup="dense-3x3")


@pytest.mark.parametrize("setup", ["dense-3x3", "dense-7x9", "classic-9x9"])
async def test_print_a_finished_game(setup: str, tmp_path: Path) -> None:
    session = new_session(setup=setup)
    winner = await play_out(session)
    await ask(session, "play b pass")
    path = tmp_path / "game.sgf"
    assert await ask(session, f"printsgf {path}") == ""
    assert path.read_text() == await printed(session)
    other = new_session()
    await ask(other, f"loadsgf {path}")
    assert other.game.moves == session.game.moves
    assert other.setup.name == setup
    assert await printed(other) == await printed(session)
    assert load_sgf(path).headers.result == f"{winner[0].upper()}+1"


async def test_what_a_file_says_is_kept_while_it_holds(file: Path) -> None:
    session = new_session()
    await ask(session, f"loadsgf {file}")
    copy = file.with_name("copy.sgf")
    await ask(session, f"printsgf {copy}")
    expected = load_sgf(file)
    assert load_sgf(copy)[1:] == expected[1:]
    assert "PB[J?rg]" in await printed(session)  # only ASCII goes out
    await ask(session, "undo")
    await ask(session, "undo")
    await ask(session, "play w B1")
    await ask(session, f"printsgf {copy}")
    loaded = load_sgf(copy)
    assert loaded.headers == expected.headers._replace(result="")
    assert loaded.comments == {1: "first"}
    await ask(session, "clear_board")
    await ask(session, f"printsgf {copy}")
    assert load_sgf(copy).headers == Headers(setup="dense-7x7")


async def test_no_empty_lines_in_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "game.sgf"
    path.write_text("(;SZ[7]C[a\n\n\nb])")
    session = new_session()
    await ask(session, f"loadsgf {path}")
    assert "\n\n" not in (await printed(session)).rstrip()
    status, responses, _ = run_engine(f"loadsgf {path}\nprintsgf\nname\n".encode())
    assert status == 0
    assert [answer.ok for answer in responses] == [True, True, True]


async def test_print_replaces_a_file_whole(file: Path) -> None:
    session = new_session()
    link = file.with_name("link.sgf")
    link.symlink_to(file)
    await ask(session, f"printsgf {link}")
    assert link.is_symlink()
    assert file.read_text() == await printed(session)
    assert sorted(path.name for path in file.parent.iterdir()) == [
        "game.sgf",
        "link.sgf",
    ]


@pytest.mark.parametrize("name", ["", "missing/game.sgf", os.devnull, "x" * 5000])
async def test_files_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    text = await refusal(new_session(), f"printsgf {tmp_path / name}")
    assert text.startswith("cannot write ")
    assert len(text) < 150
    assert list(tmp_path.iterdir()) == []
    assert not Path(os.devnull).is_file()


async def test_sessions_without_files(file: Path) -> None:
    session = new_session()
    session.may_use_files = False
    for line in (f"loadsgf {file}", f"printsgf {file}", "loadsgf /etc/passwd"):
        text = await refusal(session, line)
        assert text == "no files here: commands that use them are refused"
    assert file.read_bytes() == FILE
    assert await printed(session)
    assert await ask(session, "printsgf -")


async def test_the_error_is_the_one_of_gtp(file: Path) -> None:
    answer = await response(new_session(), "4 loadsgf /nonexistent")
    assert answer == gtp.Response(False, "cannot load file", 4)


# show


def shown(*arguments: str) -> str:
    status, out, err = command_line("show", *arguments)
    assert (status, err) == (0, "")
    return out


GAME = """\
dense-3x3
Black: J\u00f6rg
Result: W+R
Time: 60 + 5x10 byo-yomi
    the start

   A B C
 3 X . O 3
 2 . . . 2
 1 O . X 1
   A B C

1. Black plays B1.
    a ?bold? move
   A B C
 3 X . O 3
 2 . . . 2
 1 O(X)X 1
   A B C

2. White plays C2.
   A B C
 3 X . O 3
 2 . .(O)2
 1 O X X 1
   A B C

3. Black plays A2 and removes Black's root at B1 (2 stones) and White's root at A1 (1 \
stone).
   A B C
 3 X . O 3
 2(X). O 2
 1 . . . 1
   A B C

White is to move.
"""


@pytest.fixture
def game_file(tmp_path: Path) -> Path:
    game = Game(setups.by_name("dense-3x3").position())
    for vertex in ("B1", "C2", "A2"):
        game.play(parse_vertex(game.size, vertex))
    headers = Headers(
        black="J\u00f6rg",
        result="W+R",
        comment="the start",
        time="60",
        overtime="5x10 byo-yomi",
    )
    path = tmp_path / "game.sgf"
    path.write_text(sgf(game, headers, {1: "a \x1bbold\x07 move"}), "utf-8")
    return path


def test_show(game_file: Path) -> None:
    assert shown(str(game_file)) == GAME


def test_show_the_last_position(game_file: Path) -> None:
    heading, _, moves = GAME.partition("\n\n")
    expected = f"{heading}\n\n{moves[moves.index('3. Black') :]}"
    assert shown("--last", str(game_file)) == expected
    game_file.write_text("(;GM[40]SZ[5:3])")
    assert shown("--last", str(game_file)) == (
        "dense-5x3\nNote: the file says GM[40]\n\n   A B C D E\n 3 X . O . X 3\n"
        " 2 . . . . . 2\n 1 O . X . O 1\n   A B C D E\n\nBlack is to move.\n"
    )


def test_show_a_root_that_bounds_itself(game_file: Path) -> None:
    game_file.write_text("(;SZ[3];B[bc];W[ab];B[bb])")
    told = (
        "3. Black plays B2 and bounds its own root: "
        "Black's root at B1 (3 stones) is removed."
    )
    lines = shown("--last", str(game_file)).splitlines()
    assert lines[2] == told
    assert lines[5] == " 2 O(.). 2"


@pytest.mark.parametrize("name", ["classic-19x19", "dense-7x9"])
def test_show_a_finished_game(tmp_path: Path, name: str) -> None:
    game = Game(setups.by_name(name).position())
    while game.winner is None:
        game.play(game.legal_moves()[0])
    game.close(game.to_move)
    path = tmp_path / "game.sgf"
    path.write_text(sgf(game, Headers()))
    text = shown(str(path))
    assert text.startswith(f"{name}\n\n   A B C")
    assert (
        f"\n\n{len(game.moves)}. {game.moves[-1].color.word.capitalize()} passes.\n"
        in text
    )
    assert text.endswith(f": {game.winner.word.capitalize()} has won.\n")
    assert text.count("   A B C") == 2 * (len(game.moves) + 1)
    assert notation.diagram(game.position) in text


def test_show_a_made_up_position(game_file: Path) -> None:
    game_file.write_text("(;SZ[7]AB[aa]AW[gg]PL[W])")
    text = shown(str(game_file))
    assert text.startswith("a position on 7x7\n\n   A B")
    assert text.endswith("\n\nWhite is to move.\n")


def test_show_where_letters_cannot_be_printed(game_file: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "protocol", "show", "--last", str(game_file)],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert b"Black: J?rg\n" in done.stdout
    assert done.stderr == b""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "no such file"),
        ("", "no game found: SGF begins with (;"),
        ("(;SZ[7];B[dd])", "move 1, node 2, B[dd]: D4 touches no black stone (R3)"),
    ],
)
def test_show_what_is_none(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "game.sgf"
    if text is not None:
        path.write_text(text)
    expected = f"tanbo-engine show: {path}: {message}\n"
    assert command_line("show", str(path)) == (1, "", expected)


def test_of_several_games_the_first_is_shown(game_file: Path) -> None:
    text = game_file.read_text("utf-8")
    game_file.write_text(f"{text}\n{text}{text}", "utf-8")
    noted = shown(str(game_file))
    assert "Note: this is the first of 3 games in the file\n" in noted
    assert noted.replace("Note: this is the first of 3 games in the file\n", "") == GAME


@pytest.mark.parametrize(
    ("data", "games"),
    [
        (b"(;SZ[7](;B[af])(;B[ag]))", 1),
        (b"(;SZ[7];B[af]C[(;\\](;])", 1),
        (b"(;SZ[7];B[af]))\n\n(;SZ[7])", 2),
        (b"(;SZ[7];B[af] (;SZ[7])", 1),
    ],
)
def test_games_are_counted_by_their_outer_parentheses(data: bytes, games: int) -> None:
    several = f"this is the first of {games} games in the file"
    assert read_sgf(data).notes == ((several,) if games > 1 else ())


def test_show_reads_stdin() -> None:
    with Engine("show", "-", "--last") as engine:
        status, out, err = engine.finish(FILE)
    assert (status, err) == (0, "")
    assert out.startswith("dense-7x7\n")
    with Engine("show", "-") as engine:
        assert engine.finish(b"")[::2] == (
            1,
            "tanbo-engine show: -: no game found: SGF begins with (;\n",
        )


def test_show_needs_a_file() -> None:
    status, out, err = command_line("show")
    assert (status, out) == (2, "")
    assert err.startswith("tanbo-engine show: the following arguments are required")


def test_show_to_a_reader_that_goes(game_file: Path) -> None:
    engine = f"{sys.executable} -m protocol show {game_file}"
    done = subprocess.run(
        ["/bin/sh", "-c", f"{engine} | head -1"],
        capture_output=True,
        check=True,
        cwd=ROOT,
    )
    assert (done.stdout, done.stderr) == (b"dense-3x3\n", b"")


async def test_explanations_go_into_the_file_when_asked_for() -> None:
    session = new_session()
    await ask(session, "tanbo-explain A2")
    await ask(session, "play b A2")
    await ask(session, "tanbo-explain_last")
    await ask(session, "play w B1")
    await ask(session, "tanbo-explain D4")
    await ask(session, "undo")
    assert "tanbo-explain" not in await ask(session, "printsgf")
    text = await ask(session, "printsgf - explanations")
    loaded = read_sgf(text.encode())
    assert loaded.headers.comment.startswith("tanbo-explain A2 black\n")
    assert loaded.comments[1].startswith("tanbo-explain_last")
    assert "D4" not in loaded.comments[1]  # the position was taken back
    assert await ask(session, "printsgf explanations") == text
    assert not Path("explanations").exists()
    assert "explanations" in await refusal(session, "printsgf - comments")


# File names with blanks


async def test_quotes_hold_a_name_together(tmp_path: Path) -> None:
    path, session = tmp_path / "my first game.sgf", new_session()
    await ask(session, "play b A2")
    await ask(session, f'printsgf "{path}"')
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    for line in (f'loadsgf "{path}"', f'loadsgf "{path}" 2'):
        await ask(session, "clear_board")
        await ask(session, line)
        assert len(session.game.moves) == 1
    await ask(session, f'loadsgf "{path}" 1')
    assert not session.game.moves
    plain = tmp_path / "plain.sgf"
    await ask(session, f'printsgf "{plain}" explanations')
    assert plain.exists()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("loadsgf my game.sgf", "a file name with blanks goes in double quotes"),
        ("printsgf my game.sgf", "a file name with blanks goes in double quotes"),
        ('loadsgf "my game.sgf', 'the file name has no closing "'),
        ('loadsgf "game #1.sgf"', 'the file name has no closing " (a # begins'),
        ('loadsgf "', 'the file name has no closing "'),
        ("loadsgf my first game.sgf", "syntax error"),
        ('loadsgf "my game.sgf" 1 2', "syntax error"),
    ],
)
async def test_names_with_blanks_that_are_not_understood(line: str, words: str) -> None:
    assert words in await refusal(new_session(), line)
    assert not Path("my").exists()


# Resignation

LOST = Report(0, 0.01, 10, 0.1, 0, (), (), tree_full=False)


async def given_up(monkeypatch: pytest.MonkeyPatch) -> Session:
    """Return a session in which White has resigned after one move."""
    session = new_session()
    await ask(session, "genmove b")
    monkeypatch.setattr("protocol.session.MOVES_TO_RESIGN", 1)
    await ask(session, "kata-set-param resign 50")

    async def think(*_: object) -> Report:
        return LOST

    with monkeypatch.context() as patch:
        patch.setattr(session, "choose", think)
        assert await ask(session, "genmove w") == "resign"
    return session


async def test_a_resignation_is_the_result_until_the_game_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = await given_up(monkeypatch)
    assert "RE[B+R]" in await ask(session, "printsgf")
    assert "result: B+R" in await ask(session, "showboard")
    result = await ask(session, "gogui-rules_final_result")
    assert result == "Black wins: White has resigned"
    assert await refusal(session, "final_score") == "cannot score"
    await ask(session, "stop")
    await ask(session, "gg-undo 0")
    assert "RE[B+R]" in await ask(session, "printsgf")
    await ask(session, "play w " + (await ask(session, "tanbo-legal_moves")).split()[0])
    assert "RE[" not in await ask(session, "printsgf")
    await ask(session, "undo")
    assert "RE[" not in await ask(session, "printsgf")
    assert await ask(session, "gogui-rules_final_result") == "undecided"


@pytest.mark.parametrize("line", ["undo", "clear_board", "tanbo-setup dense-7x7"])
async def test_who_goes_back_has_not_resigned(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await given_up(monkeypatch)
    await ask(session, line)
    assert "RE[" not in await ask(session, "printsgf")


async def test_a_resignation_beats_the_result_of_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = new_session()
    await ask(session, f"loadsgf {file}")
    monkeypatch.setattr("protocol.session.MOVES_TO_RESIGN", 1)
    await ask(session, "kata-set-param resign 50")
    assert session.gives_up(Color.WHITE, LOST)
    assert "RE[B+R]" in await ask(session, "printsgf")
