"""Analysis: the text of reports, the arguments, and what ends it."""

import asyncio
import itertools
import re
import select
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from protocol import analysis, dispatch, gtp
from protocol.commands import TABLE
from protocol.commands.analysis import LZ_REQUEST, REQUEST, Request
from protocol.commands.table import Emit, Entry, Lines
from protocol.dispatch import handle
from protocol.server import is_interrupt
from protocol.session import NO_INPUT, Input, Session
from tanbo_engine.game import Game
from tanbo_engine.player import Candidate, Report
from tanbo_engine.points import Color, Size, format_vertex, parse_vertex

from .talk import Engine, ask, new_session, play_out, refusal, run_engine, time_to_think

FOR_EVER = ("--time", "100000")
ANALYSES = ("lz-analyze", "kata-analyze", "analyze")
GENMOVES = ("lz-genmove_analyze", "kata-genmove_analyze", "genmove_analyze")
SEARCHES = ("kata-search_analyze", "kata-search_analyze_cancellable")
WON = "tanbo-position 3x3 X1O/3/O1X b"
"""The start of dense-3x3, which a search proves at once."""

FORCED = "tanbo-position 3x5 1OO/2O/O1X/2O/1OO b"
"""A position with one legal move, B3."""

# Text


BOARD = analysis.Board(Size(7, 7), 25)
REPORT = Report(
    point=9,
    value=0.75,
    visits=120,
    seconds=0.1,
    proof=0,
    variation=(9, 1, 13),
    candidates=(
        Candidate(9, 100, 0.75, 0.25, 0, (9, 1, 13)),
        Candidate(1, 20, 0.5, 0.125, 0),
        Candidate(13, 0, 0.5, 0.5, 0),
        Candidate(7, 1, 0.0, 0.125, -1),
    ),
    tree_full=False,
)


def test_a_line_of_lz_analyze() -> None:
    assert analysis.lz_line(BOARD, REPORT, REPORT.candidates) == (
        "info move C2 visits 100 winrate 7500 prior 2500 lcb 6651 order 0 pv C2 B1 G2 "
        "info move B1 visits 20 winrate 5000 prior 1250 lcb 2809 order 1 pv B1 "
        "info move G2 visits 0 winrate 5000 prior 5000 lcb 0 order 2 pv G2 "
        "info move A2 visits 1 winrate 0 prior 1250 lcb 0 order 3 pv A2"
    )


def test_a_line_of_kata_analyze() -> None:
    assert analysis.kata_line(BOARD, REPORT, REPORT.candidates[:1]) == (
        "info move C2 visits 100 edgeVisits 100 utility 0.500000 winrate 0.750000 "
        "scoreMean 0.740 scoreStdev 2.200 scoreLead 0.740 scoreSelfplay 0.740 "
        "prior 0.250000 lcb 0.665130 utilityLcb 0.330259 weight 100.0 order 0 "
        "pv C2 B1 G2"
    )
    line = analysis.root_line(BOARD, REPORT, REPORT.candidates[:2])
    assert line.endswith(
        " pv B1 rootInfo visits 120 utility 0.500000 winrate 0.750000 scoreMean 0.740 "
        "scoreStdev 2.200 scoreLead 0.740 scoreSelfplay 0.740 weight 120.0"
    )


def test_the_lower_bound_of_a_move() -> None:
    assert analysis.lower_bound(Candidate(0, 0, 0.5, 0.1, 0)) == 0
    assert analysis.lower_bound(Candidate(0, 3, 1.0, 0.1, 1)) == 1
    assert analysis.lower_bound(Candidate(0, 1, 0.5, 0.1, 0)) == 0
    few, many = (Candidate(0, visits, 0.5, 0.1, 0) for visits in (50, 5000))
    assert 0 < analysis.lower_bound(few) < analysis.lower_bound(many) < 0.5


def test_a_lead_grows_with_the_win_rate_and_with_the_board() -> None:
    small, large = analysis.Board(Size(7, 7), 40), analysis.Board(Size(9, 9), 160)
    leads = [small.lead(value) for value in (0.0, 0.001, 0.3, 0.5, 0.7, 0.999, 1.0)]
    assert leads == sorted(leads)
    assert leads == pytest.approx([-lead for lead in reversed(leads)])
    assert leads[3] == pytest.approx(0)
    assert leads[-1] == leads[-2] < 20
    assert large.lead(0.7) > small.lead(0.7)
    assert large.spread == pytest.approx(2 * small.spread)


# Arguments


def request(line: str, session: Session | None = None) -> Request:
    return REQUEST.parse(session or new_session(), line.split())


def test_without_arguments() -> None:
    asked = request("")
    assert asked == Request(Color.BLACK, frozenset(), 1.0, 1, asked.most, False)


@pytest.mark.parametrize(
    "line",
    [
        "20",
        "b 20",
        "20 b",
        "B 20",
        "black 20",
        "interval 20",
        "b interval 20",
        "interval 20 b",
        "INTERVAL 20 BLACK",
        "99 20",
        "20.0",
    ],
)
def test_color_and_interval_in_any_order(line: str) -> None:
    asked = request(line)
    assert (asked.color, asked.interval) == (Color.BLACK, 0.2)


def test_all_keys() -> None:
    asked = request("w 50 minmoves 2 maxmoves 5 avoid w A2,pass 10 rootInfo true")
    assert asked.color is Color.WHITE
    assert (asked.interval, asked.least, asked.most) == (0.5, 2, 5)
    assert asked.root_info
    assert request("interval 0").interval == 0.01
    assert not request("rootInfo false").root_info


@pytest.mark.parametrize(
    "key",
    [
        "ownership",
        "ownershipStdev",
        "movesOwnership",
        "movesOwnershipStdev",
        "pvVisits",
        "pvEdgeVisits",
        "noResultValue",
    ],
)
def test_keys_of_katago_without_effect(key: str) -> None:
    assert request(f"{key} true") == request(f"{key} false") == request("")


@pytest.mark.parametrize(
    ("keys", "vertices"),
    [
        ("allow b A2,B1 1", "A2 B1"),
        ("allow b A2,G7 1 allow b b1 50", "A2 B1"),
        ("allow b A2,B1 1 avoid b A2 1", "B1"),
        ("b allow b A2 1 avoid b pass 9", "A2"),
    ],
)
def test_allowed_moves(keys: str, vertices: str) -> None:
    points = {parse_vertex(Size(7, 7), vertex) for vertex in vertices.split()}
    assert request(keys).only == points


def test_avoided_moves() -> None:
    legal = frozenset(new_session().game.legal_moves())
    assert request("avoid b A2,B1 1").only == legal - {7, 1}
    assert request("avoid b A2 1 avoid b B1 1").only == legal - {7, 1}
    assert not request("avoid w A2 1 allow w B1 1").only
    assert not request("avoid b A1,pass 1").only


async def test_restrictions_that_leave_nothing_to_search() -> None:
    session = new_session()
    for keys in ("allow b A1 1", "allow b pass 1", "allow b A2 1 avoid b A2 1"):
        text = await refusal(session, f"kata-analyze {keys}")
        assert text == "no legal move is left: avoid fewer or allow more"


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("foo", "unknown key 'foo': use interval, minmoves"),
        ("b foo 3", "unknown key 'foo'"),
        ("A2", "unknown key 'A2'"),
        ("-5", "unknown key '-5'"),
        ("5x", "invalid number '5x'"),
        ("interval", "syntax error"),
        ("interval x", "invalid number 'x'"),
        ("interval -1", "invalid interval -1"),
        ("minmoves", "syntax error"),
        ("minmoves x", "invalid number 'x'"),
        ("maxmoves 0", "invalid number '0'"),
        ("rootInfo", "syntax error"),
        ("rootInfo yes", "invalid value 'yes' of rootinfo: use true or false"),
        ("ownership 1", "invalid value '1' of ownership"),
        ("allow b A2", "syntax error"),
        ("avoid A2 1", "invalid color 'A2'"),
        ("avoid b x 1", "invalid vertex 'x'"),
        ("avoid b A2, 1", "invalid vertex ''"),
        ("avoid b A2 0", "invalid number '0'"),
        ("avoid b H9 1", "H9 is off the board: columns A to G"),
        ("allow w pass,z1 1", "Z1 is off the board: columns A to G"),
        ("allow b A1 1", "no legal move is left"),
    ],
)
@pytest.mark.parametrize("name", ["lz-analyze", "kata-genmove_analyze"])
async def test_wrong_arguments(name: str, keys: str, words: str) -> None:
    assert (await refusal(new_session(), f"{name} {keys}")).startswith(words)


async def test_keys_are_offered_where_they_do_something() -> None:
    session = new_session()
    for name in ("lz-analyze", "lz-genmove_analyze"):
        text = await refusal(session, f"{name} b foo")
        assert text.endswith("use interval, minmoves, maxmoves, avoid or allow")
    text = await refusal(session, "kata-analyze b foo")
    assert text.endswith("avoid, allow or rootInfo")
    asked = LZ_REQUEST.parse(session, ["rootInfo", "true", "pvVisits", "true"])
    assert asked == request("rootInfo true")


def test_how_many_moves_are_told() -> None:
    def told(**change: object) -> list[int]:
        changed = request("")._replace(**change)  # type: ignore[arg-type]
        return [move.point for move in changed.choose(REPORT)]

    assert told() == [9, 1, 7]
    assert told(least=3) == [9, 1, 13, 7]
    assert told(most=2) == [9, 1]
    assert told(least=4, most=3) == [9, 1, 13]


# A session


class Listener:
    """What a command wrote, piece by piece."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    async def emit(self, text: str) -> None:
        assert text.endswith("\n")
        assert text.count("\n") == 1
        self.pieces.append(text.removesuffix("\n"))

    @property
    def infos(self) -> list[str]:
        return [piece for piece in self.pieces if piece.startswith("info ")]


@asynccontextmanager
async def analysing(session: Session, line: str) -> AsyncIterator[Listener]:
    """Run an analysis; leave it to see it end by a line that comes in."""
    listener = Listener()
    task = asyncio.create_task(handle(session, line, listener.emit))
    yield listener
    assert not task.done()
    session.input_arrived(Input.LINE)
    assert await asyncio.wait_for(task, 5) == "\n"
    assert listener.infos or session.game.winner is not None
    session.waiting = NO_INPUT


def moves_of(line: str) -> list[dict[str, str]]:
    """Return the fields of each move of a line, ``pv`` as text."""
    found = []
    for part in line.split("info ")[1:]:
        head, _, variation = part.strip().partition(" pv ")
        words = head.split()
        fields = dict(zip(words[::2], words[1::2], strict=True))
        assert variation.split()[0] == fields["move"]
        found.append({**fields, "pv": variation})
    return found


@pytest.mark.parametrize("name", ANALYSES)
async def test_an_analysis_reports_until_input_comes(name: str) -> None:
    session = new_session()
    before = session.game.position
    async with analysing(session, f"7 {name} b 5") as heard:
        await asyncio.sleep(0.4)
        assert heard.pieces[0] == "=7 "
        assert heard.pieces[1:] == heard.infos
        assert 3 <= len(heard.infos) <= 9
    assert session.game.position == before
    visits = [int(moves_of(line)[0]["visits"]) for line in heard.infos]
    assert visits == sorted(visits)
    for line in heard.infos:
        moves = moves_of(line)
        assert [move["order"] for move in moves] == [str(n) for n in range(len(moves))]
        top = 10_000 if name == "lz-analyze" else 1
        assert all(0 <= float(move["winrate"]) <= top for move in moves)
        assert all(float(m["lcb"]) <= float(m["winrate"]) for m in moves)
        assert ("." in moves[0]["winrate"]) == (name != "lz-analyze")
        shares = sum(float(move["prior"]) for move in moves)
        assert shares == pytest.approx(top, rel=0.01)


async def test_the_variation_is_legal_and_last() -> None:
    session = new_session()
    async with analysing(session, "kata-analyze 10 maxmoves 1") as heard:
        await asyncio.sleep(0.3)
    line = heard.infos[-1]
    game = Game(session.game.position)
    variation = line.partition(" pv ")[2].split()
    assert len(variation) > 2
    for vertex in variation:
        game.play(parse_vertex(game.size, vertex))


@pytest.mark.parametrize("what", [Input.LINE, Input.END, Input.LINE | Input.INTERRUPT])
async def test_input_that_waits_already_ends_an_analysis_with_one_line(
    what: Input,
) -> None:
    session, heard = new_session(), Listener()
    session.waiting = what
    began = time.monotonic()
    assert await handle(session, "lz-analyze b 10", heard.emit) == "\n"
    assert time.monotonic() - began < 1
    (line,) = heard.infos
    assert int(moves_of(line)[0]["visits"]) > 0


def test_what_an_interrupt_is() -> None:
    for line in (b"# interrupt", b"#interrupt", b"# interrupt\r", b"#  interrupt "):
        assert is_interrupt(line)
    for other in (b"interrupt", b"# interrupted", b" name # interrupt", b"", None):
        assert not is_interrupt(other)


async def test_a_proved_position_is_told_and_waits() -> None:
    session = new_session()
    await ask(session, WON)
    async with analysing(session, "kata-analyze 1000") as heard:
        await asyncio.sleep(0.4)
        (line,) = heard.infos
        assert moves_of(line)[0]["winrate"] in ("1.000000", "0.000000")
    assert len(heard.infos) == 1


async def test_one_legal_move_is_analysed_and_waits() -> None:
    session = new_session()
    await ask(session, FORCED)
    async with analysing(session, "lz-analyze 1000") as heard:
        await asyncio.sleep(0.3)
    ((move,),) = map(moves_of, heard.infos)
    assert move["move"] == "B3"
    assert int(move["visits"]) > 100


async def test_a_finished_game_has_no_infos() -> None:
    session = new_session(setup="dense-3x3")
    winner = await play_out(session)
    loser = "white" if winner == "black" else "black"
    for color in (winner, loser):
        async with analysing(session, f"4 lz-analyze {color} 1") as heard:
            await asyncio.sleep(0.05)
        assert heard.pieces == ["=4 "]
    made = len(session.game.moves)
    for color, answer in ((winner, "pass"), (loser, "resign")):
        for name in ("kata-search", "kata-search_cancellable"):
            assert await ask(session, f"{name} {color}") == answer
        for name in SEARCHES:
            assert await ask(session, f"{name} {color}") == f"\nplay {answer}"
        session.waiting = Input.LINE
        assert await ask(session, f"kata-search_cancellable {color}") == answer
        session.waiting = NO_INPUT
        assert len(session.game.moves) == made
    assert await ask(session, f"lz-genmove_analyze {loser}") == "\nplay resign"
    assert len(session.game.moves) == made
    assert await ask(session, f"kata-genmove_analyze {winner}") == "\nplay pass"
    assert len(session.game.moves) == made + 1


@pytest.mark.parametrize("name", [*ANALYSES, *GENMOVES, *SEARCHES])
async def test_the_wrong_color(name: str) -> None:
    assert await refusal(new_session(), f"{name} w 10") == "illegal move"


@pytest.mark.parametrize("name", GENMOVES)
async def test_genmove_analyze_makes_the_move_it_plays(name: str) -> None:
    session = new_session(nodes=500)
    await ask(session, "time_settings 100 0 0")
    text = await ask(session, f"{name} b 1000 maxmoves 3")
    blank, *infos, last = text.split("\n")
    assert blank == ""
    assert len(infos) == 1
    assert len(moves_of(infos[0])) == 3
    size, move = session.game.size, session.game.moves[-1]
    assert move.point is not None
    assert last == f"play {format_vertex(size, move.point)}"
    assert last.split()[1] == moves_of(infos[0])[0]["move"]
    spent = time_to_think(session)
    assert spent is not None
    assert spent < (time_to_think(session, Color.WHITE) or 0)


async def test_genmove_analyze_is_genmove_with_more_words() -> None:
    games = []
    for name in ("genmove", "lz-genmove_analyze", "kata-genmove_analyze"):
        session = new_session(seed=7)
        for color in "bwbwbw":
            await ask(session, f"{name} {color}")
        games.append(session.game.moves)
    assert games[0] == games[1] == games[2]


async def test_an_analysis_searches_what_is_allowed_only() -> None:
    session = new_session()
    async with analysing(
        session, "kata-analyze b 5 allow b B1,A2 1 rootInfo true"
    ) as h:
        await asyncio.sleep(0.3)
    info, _, root = h.infos[-1].partition(" rootInfo ")
    told = moves_of(info)
    assert {move["move"] for move in told} == {"B1", "A2"}
    visits = sum(int(move["visits"]) for move in told)
    assert visits == pytest.approx(int(root.split()[1]), abs=1)
    session.waiting = Input.LINE
    text = await ask(session, "lz-analyze b 10 avoid b B1 1")
    assert "move B1" not in text


@pytest.mark.parametrize("level", range(1, 11, 3))
async def test_weaker_players_keep_to_what_is_allowed(level: int) -> None:
    session = new_session(level=level, variety=1.0, seed=level)
    for color in "bw" * 4:
        moves = session.game.legal_moves()[:2]
        names = ",".join(format_vertex(session.game.size, point) for point in moves)
        await ask(session, f"lz-genmove_analyze {color} 100 allow {color} {names} 1")
        assert session.game.moves[-1].point in moves


async def test_avoided_moves_are_neither_told_nor_chosen() -> None:
    session = new_session(nodes=300)
    best = await ask(session, "kata-search b")
    text = await ask(session, f"kata-search_analyze b avoid b {best} 1")
    *_, info, last = text.split("\n")
    told = [move["move"] for move in moves_of(info)]
    assert best not in told
    assert last == f"play {told[0]}"
    text = await ask(session, "lz-genmove_analyze b allow b D2,B1 1 minmoves 9")
    *_, info, last = text.split("\n")
    assert {move["move"] for move in moves_of(info)} == {"B1"}
    assert last == "play B1"
    assert format_vertex(session.game.size, session.game.moves[0].point or 0) == "B1"


async def test_a_forced_move_is_played_at_once_and_told() -> None:
    session = new_session(nodes=None, time=60.0)
    await ask(session, FORCED)
    began = time.monotonic()
    text = await ask(session, "kata-search_analyze b 10")
    assert time.monotonic() - began < 1
    assert re.fullmatch(r"\ninfo move B3 visits 1 .*\nplay B3", text)


@pytest.mark.parametrize("name", ["kata-search", "kata-search_cancellable"])
async def test_searches_make_no_move(name: str) -> None:
    session = new_session()
    vertex = await ask(session, f"{name} b")
    assert vertex == await ask(session, "reg_genmove b")
    assert not session.game.moves
    assert await refusal(session, f"{name} w") == "illegal move"


async def test_any_input_cancels_a_cancellable_search() -> None:
    session, heard = new_session(nodes=None, time=60.0), Listener()
    task = asyncio.create_task(handle(session, "9 kata-search_cancellable b"))
    await asyncio.sleep(0.1)
    session.input_arrived(Input.END)  # what was read before is answered
    await asyncio.sleep(0.05)
    session.input_arrived(Input.LINE)
    assert await asyncio.wait_for(task, 5) == "=9 cancelled\n\n"
    session.waiting = NO_INPUT
    line = "kata-search_analyze_cancellable b 5"
    task = asyncio.create_task(handle(session, line, heard.emit))
    await asyncio.sleep(0.2)
    session.input_arrived(Input.LINE)
    assert await asyncio.wait_for(task, 5) == "\n"
    assert heard.infos
    assert heard.pieces[-1] == "play cancelled"
    assert not session.game.moves


@pytest.mark.parametrize(
    "line", ["genmove b", "kata-search b", *(f"{name} b 5" for name in GENMOVES)]
)
async def test_only_an_interrupt_ends_a_search_for_a_move(line: str) -> None:
    session = new_session(nodes=None, time=60.0)
    task = asyncio.create_task(ask(session, line))
    await asyncio.sleep(0.1)
    session.input_arrived(Input.LINE | Input.END)
    await asyncio.sleep(0.1)
    assert not task.done()
    began = time.monotonic()
    session.input_arrived(Input.INTERRUPT)
    text = await asyncio.wait_for(task, 5)
    assert time.monotonic() - began < 0.1
    assert re.fullmatch("[A-G][1-7]", text.split()[-1])


async def test_stop_has_an_empty_answer() -> None:
    assert await handle(new_session(), "3 stop") == "=3 \n\n"


# Lines that are written


class Gone:
    """A front end that leaves after some lines."""

    def __init__(self, lines: int) -> None:
        self.left = lines

    async def emit(self, text: str) -> None:
        self.left -= 1
        if self.left < 0:
            raise dispatch.Unheard


@pytest.mark.parametrize("lines", [0, 1, 3])
async def test_nobody_listens(lines: int) -> None:
    session = new_session()
    answer = handle(session, "lz-analyze b 2", Gone(lines).emit)
    with pytest.raises(dispatch.Unheard):
        await asyncio.wait_for(answer, 5)
    assert await ask(session, "genmove b")  # the player is free again


async def test_a_bug_behind_the_first_line_closes_the_response(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def write(emit: Emit) -> None:
        await emit("one")
        raise ZeroDivisionError

    async def refuse(emit: Emit) -> None:
        raise gtp.GtpError("too late")

    for writer, text in ((write, "=5 \none\n\n"), (refuse, "=5 \n\n")):
        entry = Entry("fail", (), lambda _, w=writer: Lines(w), "Fails.", ())
        monkeypatch.setitem(TABLE, "fail", entry)
        assert await handle(new_session(), "5 fail") == text


async def test_stop_of_a_session_ends_an_analysis_and_what_waits() -> None:
    session = new_session()
    for line in ("kata-analyze b 5", "kata-analyze b 5"):
        task = asyncio.create_task(handle(session, line))
        await asyncio.sleep(0.1)
        session.stop()
        assert await asyncio.wait_for(task, 5)
        await ask(session, WON)


# A process


def read_lines(engine: Engine, count: int) -> list[str]:
    """Return the next lines of an engine's output."""
    assert engine.process.stdout is not None
    return [engine.process.stdout.readline().decode() for _ in range(count)]


def read_to_the_end(engine: Engine) -> list[str]:
    """Return the lines that are left of a response."""
    lines = []
    while (line := read_lines(engine, 1)[0]) != "\n":
        lines.append(line)
    return lines


@pytest.mark.parametrize(
    "line", [b"\n", b"# comment\n", b"\t \r\n", b"\x00\n", b"9\n", b"stop\n"]
)
def test_any_line_ends_an_analysis_and_is_answered_after_it(line: bytes) -> None:
    with Engine() as engine:
        engine.send(b"7 lz-analyze b 5\n")
        first, *infos = read_lines(engine, 3)
        assert first == "=7 \n"
        engine.send(line + b"8 name\n")
        infos += read_to_the_end(engine)
        assert all(info.startswith("info move ") for info in infos)
        answer = engine.receive()
        if gtp.decode_command(line.decode()) is not None:
            assert answer in (
                "= \n\n",
                "?9 empty command: a command name follows the id\n\n",
            )
            answer = engine.receive()
        assert answer == "=8 tanbo-engine\n\n"


def test_half_a_line_ends_nothing() -> None:
    with Engine() as engine:
        engine.send(b"lz-analyze b 5\nna")
        assert read_lines(engine, 4)[3].startswith("info move ")
        engine.send(b"me\n")
        read_to_the_end(engine)
        assert engine.receive() == "= tanbo-engine\n\n"


def test_pipelined_analyses() -> None:
    lines = "".join(f"{n} {name} 10\n" for n, name in enumerate(ANALYSES)) + "9 name\n"
    began = time.monotonic()
    status, responses, err = run_engine(lines.encode())
    assert time.monotonic() - began < 5
    assert (status, err) == (0, "")
    assert [answer.id for answer in responses] == [0, 1, 2, 9]
    for answer in responses[:3]:
        assert re.fullmatch(r"\ninfo move .+", answer.text)


@pytest.mark.parametrize("end", ["quit", "eof", "eof without newline"])
def test_quit_and_eof_end_an_analysis_at_once(end: str) -> None:
    with Engine(*FOR_EVER) as engine:
        engine.send(b"kata-analyze b 5\n")
        read_lines(engine, 2)
        began = time.monotonic()
        status, out, err = engine.finish(
            {"quit": b"1 quit\n", "eof": b"", "eof without newline": b"1 name"}[end]
        )
        assert time.monotonic() - began < 1
        assert (status, err) == (0, "")
        assert f"\n{out}".endswith("\n\n")


def test_eof_lets_a_bounded_search_come_to_its_end() -> None:
    lines = b"1 kata-search_cancellable b\n"
    status, (answer,), _ = run_engine(lines, "--nodes", "100")
    assert status == 0
    assert re.fullmatch("[A-G][1-7]", answer.text)


@pytest.mark.skipif(not hasattr(select, "poll"), reason="needs poll")
@pytest.mark.parametrize("line", [b"lz-analyze b 5\n", b"lz-analyze b 100000\n"])
def test_a_closed_output_ends_an_analysis(line: bytes) -> None:
    with Engine(*FOR_EVER) as engine:
        engine.send(line)
        read_lines(engine, 1)
        assert engine.process.stdout is not None
        assert engine.process.stderr is not None
        engine.process.stdout.close()
        began = time.monotonic()
        assert engine.process.wait(10) == 0
        assert time.monotonic() - began < 1
        assert engine.process.stderr.read() == b""


@pytest.mark.parametrize("name", ["genmove", "reg_genmove", "kata-genmove_analyze"])
def test_an_interrupt_brings_the_best_move_so_far(name: str) -> None:
    with Engine(*FOR_EVER) as engine:
        engine.ask("name")
        engine.send(f"{name} b\n".encode())
        time.sleep(0.3)
        began = time.monotonic()
        engine.send(b"# interrupt\n")
        answer = engine.receive()
        assert time.monotonic() - began < 0.1
        assert re.search(r"[= y][A-G][1-7]\n\n$", answer)
        assert engine.ask("5 name") == "=5 tanbo-engine\n\n"


def test_an_interrupt_concerns_what_is_before_it_only() -> None:
    # A clear move ends before, but not before half of its time.
    with Engine("--time", "0.8") as engine:
        engine.ask("name")
        began = time.monotonic()
        engine.send(b"# interrupt\n1 genmove b\n")
        engine.receive()
        assert time.monotonic() - began > 0.35
        began = time.monotonic()
        engine.send(b"2 genmove w\n3 genmove b\n# interrupt\n4 genmove w\n")
        assert [engine.receive()[:2] for _ in "23"] == ["=2", "=3"]
        assert time.monotonic() - began < 0.2
        engine.receive()
        assert time.monotonic() - began > 0.35


def test_an_interrupt_ends_a_count() -> None:
    with Engine() as engine:
        engine.send(b"tanbo-perft 20\n# interrupt\n")
        assert engine.receive().startswith("? stopped before")


def test_a_client_like_lizzie() -> None:
    # Ids everywhere, no colour, name as the interrupt, CRLF (FRONT_ENDS.md section 4).
    numbers = itertools.count(1)
    with Engine() as engine:

        def send(text: str) -> str:
            number = next(numbers)
            engine.send(f"{number} {text}\r\n".encode())
            return f"={number} "

        for text in ("name", "version", "boardsize 7", "komi 7.5", "list_commands"):
            mark = send(text)
            assert engine.receive().startswith(mark)
        for text in ("lz-analyze 10", "kata-analyze 10 ownership true"):
            mark = send(text)
            assert read_lines(engine, 2)[0] == f"{mark}\n"
            mark = send("name")
            for line in read_to_the_end(engine):
                assert line.startswith("info move ")
                assert "\r" not in line
            assert engine.receive() == f"{mark}tanbo-engine\n\n"
        mark = send("quit")
        assert engine.receive() == f"{mark}\n\n"
        assert engine.process.wait(5) == 0
