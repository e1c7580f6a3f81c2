"""Games as SGF: ours read back, those of others are understood or refused."""

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf as sgfmill

from tanbo_engine import notation, record, rules, setups
from tanbo_engine.game import Game
from tanbo_engine.points import Color, format_vertex, parse_vertex
from tanbo_engine.record import (
    Headers,
    LoadedGame,
    RecordError,
    load_sgf,
    read_sgf,
    setup_of,
    sgf,
)

from .support import STYLES, before_the_end, kernel, play_on, start

SETUPS = (
    "dense-3x3",
    "dense-5x7",
    "dense-7x7",
    "classic-7x7",
    "dense-7x9",
    "classic-9x9",
    "dense-11x3",
    "classic-13x13",
)
TEXTS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1)
LINE = TEXTS.map(lambda text: f"{text} x\\]:[{text}")
PARAGRAPHS = st.lists(LINE, min_size=1, max_size=3).map("\n\n".join)
SCORE = st.sampled_from(["B+1", "W+R", "B+T", "Void", ""])


def played(name: str, seed: int, style: str = "uniform") -> Game:
    game = Game(start(name))
    for point in play_on(kernel(name), seed, style):
        game.play(point)
    return game


def moves(loaded: LoadedGame) -> list[str]:
    size = loaded.game.size
    return [
        "pass" if move.point is None else format_vertex(size, move.point)
        for move in loaded.game.moves
    ]


def same(one: Game, other: Game) -> bool:
    return (one.start, one.moves, one.position) == (
        other.start,
        other.moves,
        other.position,
    )


def refusal(text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(RecordError) as caught:
        read_sgf(data)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 200
    return message


# Written and read


@pytest.mark.parametrize("name", SETUPS)
def test_games_survive_byte_for_byte(name: str) -> None:
    for seed in range(25):
        game = played(name, seed, list(STYLES)[seed % len(STYLES)])
        text = sgf(game, Headers(setup=name, black="A", white="B"), {1: "0.52 A1 B2"})
        loaded = read_sgf(text.encode())
        assert same(loaded.game, game)
        assert sgf(loaded.game, loaded.headers, loaded.comments) == text


@given(
    name=st.sampled_from([setup.name for setup in setups.offered()]),
    seed=st.integers(0, 9),
    plies=st.integers(0, 60),
)
@settings(max_examples=60, deadline=None)
def test_every_setup_reads_back(name: str, seed: int, plies: int) -> None:
    game = Game(start(name))
    for point in play_on(kernel(name), seed)[:plies]:
        game.play(point)
    loaded = read_sgf(sgf(game, Headers()).encode())
    assert same(loaded.game, game)
    assert loaded.headers == Headers(setup=name)


@given(
    name=st.sampled_from(SETUPS),
    seed=st.integers(0, 99),
    plies=st.integers(0, 40),
    white=st.booleans(),
)
@settings(max_examples=100, deadline=None)
def test_made_up_positions_read_back(
    name: str, seed: int, plies: int, white: bool
) -> None:
    board = before_the_end(name, seed, plies)
    black, other = (frozenset(board.stones(color)) for color in Color)
    size = start(name).size
    game = Game(rules.Position(size, black, other, Color(white)))
    if game.winner is None:
        game.play(game.legal_moves()[0])
    loaded = read_sgf(sgf(game, Headers()).encode())
    assert same(loaded.game, game)


@given(
    headers=st.builds(
        Headers,
        setup=st.just("dense-3x3"),
        black=LINE,
        white=LINE,
        result=SCORE,
        date=LINE,
        event=LINE,
        comment=PARAGRAPHS,
        time=st.sampled_from(["", "300"]),
        overtime=LINE,
    ),
    comments=st.dictionaries(st.integers(1, 6), PARAGRAPHS),
)
@settings(max_examples=60, deadline=None)
def test_texts_read_back(headers: Headers, comments: dict[int, str]) -> None:
    game = played("dense-3x3", 1)
    kept = {n: text for n, text in comments.items() if n <= len(game.moves)}
    text = sgf(game, headers, comments)
    loaded = read_sgf(text.encode())
    assert (loaded.headers, loaded.comments, loaded.notes) == (headers, kept, ())


def test_passes_after_the_end_read_back() -> None:
    game = played("dense-3x3", 1)
    game.close(Color.BLACK)
    game.close(Color.WHITE)
    assert same(read_sgf(sgf(game, Headers()).encode()).game, game)


def test_a_game_that_is_over_when_it_begins() -> None:
    loaded = read_sgf(b"(;SZ[7]AW[ag];B[];W[])")
    assert loaded.game.winner is Color.WHITE
    assert moves(loaded) == ["pass", "pass"]


@pytest.mark.parametrize("name", ["dense-7x7", "classic-9x9", "classic-19x19"])
def test_programs_of_go_read_squares(name: str) -> None:
    game = played(name, 3)
    other = sgfmill.Sgf_game.from_string(sgf(game, Headers(setup=name)))
    side = game.size.width
    assert other.get_size() == side
    black, white, empty = other.get_root().get_setup_stones()
    for color, stones in zip(Color, (black, white), strict=True):
        assert {r * side + c for r, c in stones} == game.start.stones(color)
    assert not empty
    nodes = other.get_main_sequence()[1:]
    assert [node.get_move()[1] for node in nodes] == [
        divmod(move.point or 0, side) for move in game.moves
    ]


# By others: what leaves no doubt

GOGUI = b"""(;FF[4]CA[UTF-8]AP[GoGui:1.6.0]SZ[7]
KM[6.5]PW[an engine]
DT[2026-11-29]
;B[af]PL[W];W[cf]PL[B]
(;B[gb]PL[W];W[cb]PL[B])
(;B[ad]PL[W];W[fa]PL[B]))
"""


def test_a_file_of_gogui_without_start_stones() -> None:
    loaded = read_sgf(GOGUI)
    assert loaded.game.start == start("dense-7x7")
    assert moves(loaded) == ["A2", "C2", "G6", "C6"]
    expected = Headers(setup="dense-7x7", white="an engine", date="2026-11-29")
    assert loaded.headers == expected


@pytest.mark.parametrize(
    ("root", "preferred", "setup"),
    [
        ("SZ[7]", None, "dense-7x7"),
        ("SZ[7:7]", None, "dense-7x7"),
        ("SZ[7:9]", None, "dense-7x9"),
        ("SZ[ 9 ]", None, "classic-9x9"),
        ("", None, "classic-19x19"),
        ("SZ[]", None, "classic-19x19"),
        ("SiZe[7]", None, "dense-7x7"),
        ("SZ[7]GN[classic-7x7]", None, "classic-7x7"),
        ("SZ[7]GN[Classic-7x7]", None, "classic-7x7"),
        ("SZ[7]GN[classic-9x9]", None, "dense-7x7"),
        ("SZ[7]GN[a friendly game]", None, "dense-7x7"),
        ("SZ[7]", "classic-7x7", "classic-7x7"),
        ("SZ[7]GN[dense-7x7]", "classic-7x7", "dense-7x7"),
        ("SZ[9]", "classic-7x7", "classic-9x9"),
    ],
)
def test_where_files_without_stones_begin(
    root: str, preferred: str | None, setup: str
) -> None:
    hint = None if preferred is None else setups.by_name(preferred)
    loaded = read_sgf(f"(;{root})".encode(), hint)
    assert loaded.headers.setup == setup
    assert loaded.game.start == start(setup)


def test_the_moves_tell_the_setup() -> None:
    """Front ends write no start stones for classic-7x7 and dense-19x19 either."""
    dense, classic = (setups.by_name(f"{kind}-7x7") for kind in ("dense", "classic"))
    for setup, other in ((dense, classic), (classic, dense)):
        game = played(setup.name, 2)
        text = re.sub(r"A[BW](\[..\]\n?)+|GN\[[^]]*\]", "", sgf(game, Headers()))
        for preferred in (None, setup, other):
            assert same(read_sgf(text.encode(), preferred).game, game)
    nowhere = b"(;SZ[7];B[ab];W[af];B[dd])"
    with pytest.raises(RecordError, match="D4 touches no black stone"):
        read_sgf(nowhere)


def test_stones_tell_the_setup_and_beat_its_name() -> None:
    text = sgf(Game(start("classic-7x7")), Headers(setup="dense-7x7"))
    loaded = read_sgf(text.encode(), setups.by_name("dense-7x7"))
    assert loaded.headers.setup == "classic-7x7"
    assert setup_of(loaded.game.start) == setups.by_name("classic-7x7")


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("AB[aa:ac]AW[gg]", "X6/X6/X6/7/7/7/6O b"),
        ("AB[ac:aa]AW[cg:gg]", "X6/X6/X6/7/7/7/2OOOOO b"),
        ("AB[A7][a6]AW[G1]", "X6/X6/7/7/7/7/6O b"),
        ("AB[aa][ab]AE[ab]AW[gg]", "X6/X6/7/7/7/7/6O b"),
        ("AB[aa];AE[aa]AB[ab]AW[gg]PL[W]", "7/X6/7/7/7/7/6O w"),
        ("AB[aa]AW[]AE[ ]AW[gg]PL[white]", "X6/7/7/7/7/7/6O w"),
        ("PL[W];AB[aa]AW[gg]PL[]", "X6/7/7/7/7/7/6O w"),
        ("AddBlack[aa]AddWhite[gg]PlayerLeft[w]", "X6/7/7/7/7/7/6O w"),
        ("AB[a\r\na]AW[gg]", None),
        ("AB[\r\naa\r\n]AW[gg]", "X6/7/7/7/7/7/6O b"),
    ],
)
def test_start_stones(text: str, position: str | None) -> None:
    data = f"(;SZ[7]{text})"
    if position is None:
        refusal(data)
        return
    loaded = read_sgf(data.encode())
    assert loaded.game.start == notation.parse_position(f"7x7 {position}")
    assert loaded.headers.setup == ""


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("AB[aa]AW[gg];W[gf]", Color.WHITE),
        ("AB[aa]AW[gg];B[ab]", Color.BLACK),
        ("AB[aa]AW[gg];B[ab]PL[W]", Color.BLACK),
        ("AB[aa]AW[gg]PL[W];W[gf]PL[B]", Color.WHITE),
        ("AB[aa]AW[gg]PL[W]W[gf]", Color.WHITE),
        ("PL[W];W[ba]", Color.WHITE),
    ],
)
def test_who_begins(text: str, first: Color) -> None:
    game = read_sgf(f"(;SZ[7]{text})".encode()).game
    assert game.start.to_move is first
    assert game.moves[0].color is first


def finished(tail: str) -> bytes:
    """A whole game on dense-3x3 with something behind it."""
    text = sgf(played("dense-3x3", 1), Headers())
    return text.replace(")", tail).encode()


AWKWARD: dict[str, tuple[str | bytes, list[str]]] = {
    "variations": ("(;SZ[7](;B[af](;W[cf])(;W[bg]))(;B[ba]))", ["A2", "C2"]),
    "broken behind the main line": ("(;SZ[7](;B[af];W[cf])(;B[b", ["A2", "C2"]),
    "no closing parenthesis": ("(;SZ[7](;B[af];W[cf]\r\n\x1a", ["A2", "C2"]),
    "old points": ("(;FF[1]SZ[7];B[A2];W[c2])", ["A2", "C2"]),
    "long names": ("(;FF[3]SiZe[7];Black[af];White[cf])", ["A2", "C2"]),
    "carriage returns": ("(;SZ[7]\r\n;B[af]\r\n;W[cf]\r\n)\r\n", ["A2", "C2"]),
    "two games": ("(;SZ[7];B[af])\n(;SZ[9];B[bb])", ["A2"]),
    "a letter around it": ("Dear B[b],\n(;SZ[7];B[af])\nYours", ["A2"]),
    "a byte order mark": (b"\xef\xbb\xbf(;SZ[7];B[af])", ["A2"]),
    "moves in the root": ("(;SZ[7]B[af];W[cf])", ["A2", "C2"]),
    "nodes without moves": ("(;SZ[7];;B[af];C[x];W[cf];)", ["A2", "C2"]),
    "two moves in a node": ("(;SZ[7];B[af]W[cf])", ["A2", "C2"]),
    "go's properties": ("(;SZ[7]KM[6.5]HA[0]TB[aa];B[af]BL[1.5]LB[aa:1])", ["A2"]),
    "empty PL": ("(;SZ[7]PL[];B[af]PL[];W[cf]PL[])", ["A2", "C2"]),
    "an unknown property": ("(;SZ[7]XYZZY[\\]];B[af])", ["A2"]),
}


@pytest.mark.parametrize("kind", AWKWARD)
def test_awkward_files(kind: str) -> None:
    text, expected = AWKWARD[kind]
    loaded = read_sgf(text.encode() if isinstance(text, str) else text)
    assert moves(loaded) == expected
    first = ("this is the first of 2 games in the file",)
    assert loaded.notes == (first if kind == "two games" else ())


@pytest.mark.parametrize(
    "tail", [";B[])", ";B[];W[])", ";W[tt];B[tt])", ";B[]W[])", ";)", ";B[]"]
)
def test_passes_after_the_end(tail: str) -> None:
    loaded = read_sgf(finished(tail))
    game = played("dense-3x3", 1)
    assert loaded.game.moves[: len(game.moves)] == game.moves
    passes = loaded.game.moves[len(game.moves) :]
    assert len(passes) == tail.count("[")
    assert all(move.point is None for move in passes)


def test_tt_is_a_point_where_there_is_one() -> None:
    text = sgf(Game(start("classic-21x21")), Headers())
    text = text.replace(")", ";B[tt])")
    assert "U2 touches no black stone" in refusal(text)


def test_a_wrong_game_number_is_noted() -> None:
    loaded = read_sgf(b"(;GM[40]SZ[7];B[af])")
    assert loaded.notes == ("the file says GM[40]",)
    assert moves(loaded) == ["A2"]
    assert refusal("(;GM[2]SZ[8];B[af])").endswith("; the file says GM[2]")
    assert refusal("(;GM[2\n]SZ[7];B[dd])").endswith("; the file says GM[2]")


@pytest.mark.parametrize(
    ("root", "raw", "name"),
    [
        (b"CA[UTF-8]", "J\u00f6rg".encode(), "J\u00f6rg"),
        (b"CA[utf8]", "\u7530\u4e2d".encode(), "\u7530\u4e2d"),
        (b"CA[ISO-8859-1]", b"J\xf6rg", "J\u00f6rg"),
        (b"CA[latin1]", b"J\xf6rg", "J\u00f6rg"),
        (b"CA[shift_jis]", "\u5c71".encode("shift_jis"), "\u5c71"),
        (b"", "J\u00f6rg".encode(), "J\u00f6rg"),
        (b"", b"J\xf6rg", "J\u00f6rg"),
        (b"CA[nonsense]", b"J\xf6rg", "J\u00f6rg"),
        (b"CA[rot13]", b"Jorg", "Jorg"),
        (b"CA[UTF-8]", b"J\xf6rg", "J\u00f6rg"),
        (b"CA[utf-7]", b"+2AA-", "?"),
        (b"", b"a\\]\\\\ \r\nb\\\nc", "a]\\  bc"),
    ],
)
def test_letters(root: bytes, raw: bytes, name: str) -> None:
    loaded = read_sgf(b"(;SZ[7]%sPB[%s])" % (root, raw))
    assert loaded.headers.black == name
    assert sgf(loaded.game, loaded.headers)


def test_comments_keep_their_moves() -> None:
    loaded = read_sgf(
        b"(;SZ[7]C[root\r\nnext];C[before];B[af]C[one];W[cf];C[two\n];C[];C[more])"
    )
    assert loaded.headers.comment == "root\nnext\n\nbefore"
    assert loaded.comments == {1: "one", 2: "two\n\n\nmore"}


# By others: what is refused, with its place


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no game found: SGF begins with (;"),
        ("no record", "no game found: SGF begins with (;"),
        ("(B[af])", "no game found: SGF begins with (;"),
        ("(;SZ[7];B[af", "node 2: cannot read '[af'"),
        ("(;SZ[7];B[af];W[cf]C[so", "node 3: cannot read '[so'"),
        ("(;SZ[7];B[af];W", "node 3: W has no value"),
        ("(;SZ[7];B;W[cf])", "node 2: B has no value"),
        ("(;SZ[7];B[af] <html>;W[cf])", "node 2: cannot read '<html>;W[cf])'"),
        ("(;SZ[7];[af])", "node 2: the value 'af' belongs to no property"),
        ("(;SZ[7](B[af]))", "node 1: 'B' outside a node"),
        ("(;SZ[7];b[af])", "node 2: a property's name has no capital letter"),
        ("(;SZ[x])", "node 1, SZ[x]: a size is N or WIDTH:HEIGHT"),
        ("(;SZ[7x9])", "node 1, SZ[7x9]: a size is N or WIDTH:HEIGHT"),
        ("(;SZ[7:])", "node 1, SZ[7:]: a size is N or WIDTH:HEIGHT"),
        ("(;SZ[777])", "node 1, SZ[777]: a size is N or WIDTH:HEIGHT"),
        ("(;SZ[8])", "size 8x8: no set-up for 8x8: the nearest sizes are "),
        ("(;SZ[0])", "size 0x0: no set-up for 0x0: the nearest sizes are "),
        ("(;SZ[8]AB[aa]AW[hh])", "size 8x8: no set-up for 8x8: "),
        ("(;SZ[7]AB[ah]AW[aa])", "node 1, AB[ah]: no point of a 7x7 board"),
        ("(;SZ[7]AB[aa:h])", "node 1, AB[aa:h]: no point of a 7x7 board"),
        ("(;SZ[7]AB[H1])", "node 1, AB[H1]: H1 is off the board: columns A to G "),
        ("(;SZ[7]AB[aa]AW[ga:aa])", "node 1, AW[ga:aa]: A7 holds a black stone alr"),
        ("(;SZ[7]AE[aa])", "start stones: the board has no stones"),
        ("(;SZ[7]AB[aa:bb])", "start stones: the black root A6,B6,A7,B7 has a loop"),
        ("(;SZ[7]AB[aa]AW[ab][ba])", "start stones: the black root A7 is bounded"),
        ("(;SZ[7];PL[x])", "node 2, PL[x]: a side is B or W"),
        ("(;SZ[7];W[af])", "move 1, node 2, W[af]: it is black's turn (R2)"),
        ("(;SZ[7];B[af];B[ba])", "move 2, node 3, B[ba]: it is white's turn (R2)"),
        ("(;SZ[7];B[dd])", "move 1, node 2, B[dd]: D4 touches no black stone (R3)"),
        ("(;SZ[7];;B[aa])", "move 1, node 3, B[aa]: A7 is occupied (R3)"),
        ("(;SZ[7];B[af];W[zz])", "move 2, node 3, W[zz]: no point of a 7x7 board"),
        ("(;SZ[7];B[AF])", "move 1, node 2, B[AF]: no point of a 7x7 board"),
        ("(;SZ[7];B[I1])", "move 1, node 2, B[I1]: I1 is off the board"),
        ("(;SZ[7];B[])", "move 1, node 2, B[]: there is no passing"),
        ("(;SZ[7];B[tt])", "move 1, node 2, B[tt]: there is no passing"),
        ("(;SZ[7];B[\na\x07f\n])", "move 1, node 2, B[a?f]: no point of a 7x7 board"),
        ("(;SZ[7];B[af];AE[aa])", "node 3, AE[aa]: stones put up after move 1"),
        ("(;SZ[7];B[af];PL[B])", "node 3: PL says otherwise, but it is white's turn"),
        (finished(";B[aa])"), "the game is over (R8)"),
    ],
)
def test_refusals(text: str | bytes, message: str) -> None:
    said = refusal(text)
    assert message in said
    if isinstance(text, str):
        assert said.startswith(message)


def test_long_values_are_cut_in_messages() -> None:
    for text in ("(;SZ[{}])", "(;SZ[7];B[{}])", "(;SZ[7];[{}])", "(;SZ[7];B[{}"):
        refusal(text.format("x" * 9000))


# Files


def test_load(tmp_path: Path) -> None:
    file = tmp_path / "game.sgf"
    file.write_bytes(b"(;SZ[7];B[af])")
    assert moves(load_sgf(file)) == ["A2"]
    hint = setups.by_name("classic-7x7")
    assert load_sgf(file, hint).headers.setup == "classic-7x7"


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"^no such file$"):
        load_sgf(tmp_path / "missing")
    for name in (".", os.devnull):
        with pytest.raises(RecordError, match=r"^not a plain file$"):
            load_sgf(tmp_path / name)
    with pytest.raises(RecordError, match=r"^cannot be read: "):
        load_sgf(tmp_path / ("x" * 5000))
    big = tmp_path / "big"
    big.write_bytes(b" " * (record.MOST_BYTES + 1))
    with pytest.raises(RecordError, match=r"^more than 4 MB"):
        load_sgf(big)


def test_parse_vertex_and_points_agree() -> None:
    size = start("dense-7x9").size
    for point in range(size.area):
        row, column = divmod(point, size.width)
        code = f"{chr(97 + column)}{chr(97 + size.height - 1 - row)}"
        text = f"(;SZ[7:9]AB[{code}]AW[{format_vertex(size, (point + 3) % 63)}])"
        loaded = read_sgf(text.encode())
        assert loaded.game.start.black == {point}
        assert parse_vertex(size, format_vertex(size, point)) == point


@pytest.mark.parametrize(
    ("result", "loser"),
    [
        ("W+R", Color.BLACK),
        ("b+resign", Color.WHITE),
        ("B+1", None),
        ("W+T", None),
        ("", None),
    ],
)
def test_who_gave_up_in_a_file(result: str, loser: Color | None) -> None:
    loaded = read_sgf(f"(;SZ[7]RE[{result}];B[af])".encode())
    assert loaded.resigned is loser
