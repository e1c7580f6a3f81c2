"""Conformance of any Tanbo GTP engine: a verdict for each row of protocol/README.md.

The engine is judged by its answers alone. A process that broke a promise is replaced,
every wait is bounded, and so is the whole.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from statistics import median
from typing import NamedTuple

import anyio

from protocol import gtp
from protocol.arena.probe import (
    CONVERSATION,
    FULL,
    QUICK,
    Bench,
    Case,
    Ended,
    Outcome,
    Status,
    Table,
    failure,
    halfway,
    read_board,
    replay,
    skipped,
    warning,
)
from protocol.client import EngineCommand, EngineError, Refused, StartFailed
from tanbo_engine import notation, rules, setups
from tanbo_engine.game import Game
from tanbo_engine.points import Color, format_vertex
from tanbo_engine.setups import Setup
from tanbo_engine.wording import counted

__all__ = ["Status", "Verdict", "check", "format_verdicts", "passed"]

_REQUIRED_COMMANDS = (
    *("protocol_version", "name", "version", "known_command", "list_commands", "quit"),
    *("boardsize", "clear_board", "komi", "play", "genmove"),
)
_CANDIDATES = ("dense-7x7", "classic-9x9", "dense-11x11", "dense-7x9", "dense-5x7")
_SPARE_CANDIDATES = ("dense-15x15", "classic-13x13", "classic-19x19", "classic-5x5")
_LOADERS = ("set_position", "gogui-setup")

_MARGIN_SECONDS = 0.05
"""What the arena allows a move above its limit."""

_SLOW_START = 5.0
_NOT_CHECKED = "not checked"
_LONG_LINE = 100_000


class Verdict(NamedTuple):
    """One requirement, checked.

    Attributes:
        id: as in protocol/README.md; those with ``C`` are required.
        title: as in protocol/README.md.
        status: the verdict.
        detail: one line on what was seen.
    """

    id: str
    title: str
    status: Status
    detail: str


async def check(
    command: str | EngineCommand,
    progress: Callable[[Verdict], None] | None = None,
    quick: bool = False,
) -> list[Verdict]:
    """Check an engine against every requirement.

    An engine that does not start gets the first verdict only.

    Args:
        command: how to start it; a text is parsed as a shell would.
        progress: called with each verdict as soon as there is one.
        quick: about 10 seconds at most, in place of 60.
    """
    bench = Bench(command, QUICK if quick else FULL)
    verdicts: list[Verdict] = []
    try:
        for item in _ITEMS:
            verdicts.append(await _judge(bench, item))
            if progress is not None:
                progress(verdicts[-1])
            if not bench.has_started:
                break
    finally:
        await bench.drop()
    return verdicts


def passed(verdicts: Iterable[Verdict]) -> bool:
    """Tell whether none of the required items failed."""
    return not any(v.status is Status.FAIL and v.id.startswith("C") for v in verdicts)


def format_verdicts(verdicts: Sequence[Verdict]) -> str:
    """Return a line for each verdict and a summary."""
    lines = [f"{v.status.upper()}  {v.id:<3} {v.title}: {v.detail}" for v in verdicts]
    statuses = [verdict.status for verdict in verdicts]
    counts = ", ".join(f"{statuses.count(status)} {status}" for status in Status)
    broken = [v.id for v in verdicts if v.status is Status.FAIL]
    unknown = [v.id for v in verdicts if v.detail.startswith(_NOT_CHECKED)]
    parts = [
        f"{counts}: it {'can' if passed(verdicts) else 'cannot'} play here",
        f"not as it should be: {', '.join(broken)}" if broken else "",
        f"not checked: {', '.join(unknown)}" if unknown else "",
    ]
    return "\n".join((*lines, "; ".join(filter(None, parts))))


_Check = Callable[["Bench"], Awaitable[str]]


class _Item(NamedTuple):
    id: str
    title: str
    check: _Check


_ITEMS: list[_Item] = []


def _item(id_: str, title: str) -> Callable[[_Check], _Check]:
    """Enter a check: it returns what it saw, or raises an `Outcome`."""

    def enter(function: _Check) -> _Check:
        _ITEMS.append(_Item(id_, title, function))
        return function

    return enter


async def _judge(bench: "Bench", item: _Item) -> Verdict:
    status, detail = Status.WARN, f"{_NOT_CHECKED}: the time was up"
    seconds = bench.begin_item()
    if seconds <= 0:
        return Verdict(item.id, item.title, status, detail)
    with anyio.move_on_after(seconds):
        try:
            status, detail = Status.PASS, await item.check(bench)
        except Outcome as outcome:
            status, detail = outcome.status, str(outcome)
        except (EngineError, gtp.ResponseError) as error:
            status, detail = Status.FAIL, str(error)
    if not bench.has_started and status is Status.WARN:
        status, detail = Status.FAIL, "it does not start in time"
    if status in (Status.FAIL, Status.WARN):
        await bench.drop()
    return Verdict(item.id, item.title, status, " ".join(detail.split()))


# C: required, the protocol


@_item("C1", "Starts and answers")
async def _starts(bench: Bench) -> str:
    began = anyio.current_time()
    try:
        engine = await bench.engine()
    except StartFailed as error:
        raise failure(str(error)) from error
    seconds = anyio.current_time() - began
    if engine.protocol_version.strip() != "2":
        raise failure(f"protocol_version is {engine.protocol_version!r}, not 2")
    text = f"{engine.name} {engine.version}, {seconds:.1f} s"
    if seconds > _SLOW_START:
        raise warning(f"{text}: GoGui starts four of it one after another")
    return text


@_item("C2", "The eleven commands")
async def _eleven_commands(bench: Bench) -> str:
    engine = await bench.engine()
    missing = [name for name in _REQUIRED_COMMANDS if not engine.knows(name)]
    if missing:
        raise failure(f"not in list_commands: {', '.join(missing)}")
    for name in _REQUIRED_COMMANDS:
        if await bench.send(f"known_command {name}") != "true":
            raise failure(f"known_command {name} must be true")
    if await bench.send("known_command no-such-command") != "false":
        raise failure("known_command of an unknown command must be false")
    names = (await bench.send("list_commands")).split("\n")
    if any(name != name.strip() or " " in name for name in names):
        raise failure("list_commands has blanks: one name a line, nothing else")
    if names[0] != "protocol_version":
        raise warning(
            f"the list begins with {names[0]}: LizzieYzy needs protocol_version there"
        )
    return f"{len(names)} commands"


@_item("C3", "Form of responses")
async def _form(bench: Bench) -> str:
    ended = await bench.conversation()
    count = len(ended.responses)
    plain = ended.output.replace("\r", "")
    if "\n\n\n" in plain:
        raise warning("more than one empty line after a response")
    if "\t" in plain or not plain.isascii():
        raise warning("tabs or characters that are not ASCII in a response")
    if re.search(r"^[=?][0-9]*$", plain, re.MULTILINE):
        raise warning(
            "no blank after the status of an empty response: GoGui cuts there"
        )
    if re.search(r"^[=?][0-9]*[^ 0-9\n]", plain, re.MULTILINE):
        raise failure("no blank between status and text")
    return f"{count} responses"


@_item("C4", "Ids")
async def _ids(bench: Bench) -> str:
    responses = (await bench.conversation()).responses
    expected = [gtp.decode_command(line) for line in CONVERSATION]
    for command, response in zip(expected, responses, strict=False):
        if command is not None and response.id != command.id:
            line = gtp.encode_command(command).strip()
            raise failure(f"{line!r} is answered with id {response.id}")
    return "echoed, none where none is sent"


@_item("C5", "Several lines at once")
async def _pipelining(bench: Bench) -> str:
    name = await bench.send("name")
    questions = ("protocol_version", "name", "known_command no-such-command") * 20
    answers = await bench.raw("\n".join((*questions, "")).encode())
    expected = ["2", name, "false"] * 20
    if [answer.text for answer in answers] != expected:
        raise failure(
            f"{counted(len(answers), 'answer')} to {counted(len(expected), 'line')}, "
            "or wrong order"
        )
    return f"{counted(len(expected), 'line')} answered in order"


@_item("C6", "Lines that end with CR LF")
async def _line_ends(bench: Bench) -> str:
    answers = await bench.raw(b"known_command no-such-command\r\nversion\r\nname\r\n")
    if [answer.ok for answer in answers] != [True] * 3:
        raise failure("the carriage return is taken for a part of the command")
    return "the carriage return is dropped"


@_item("C7", "Komi")
async def _komi(bench: Bench) -> str:
    for text in ("0", "6.5", "-3.5", "1000"):
        if not await bench.accepts(f"komi {text}"):
            raise failure(f"komi {text} is refused: Sabaki then does not play at all")
    return "any number is accepted"


# C: required, the game


@_item("C8", "Sizes and start stones")
async def _start_stones(bench: Bench) -> str:
    await bench.refuses("boardsize 99", gtp.UNACCEPTABLE_SIZE)
    notes = [await _try_setup(bench, name) for name in _CANDIDATES]
    if not bench.setups:
        notes += [await _try_setup(bench, name) for name in _SPARE_CANDIDATES]
    text = ", ".join(notes)
    if not bench.setups:
        raise failure(f"no set-up that it can play: {text}")
    table = await bench.table()
    await table.play(table.game.legal_moves()[0])
    await bench.send("clear_board")
    await Table(bench, Game(table.game.start), bench.setups[0].name).agree()
    if any("other stones" in note for note in notes):
        raise warning(text)
    return text


async def _try_setup(bench: Bench, name: str) -> str:
    """Begin on a set-up, note it if the start is ours, and say how it went."""
    setup = setups.by_name(name)
    try:
        table = await bench.table(setup)
    except Refused:
        return f"{name} not offered"
    if not bench.setups:
        await bench.find_board(setup.size)
    try:
        await table.agree()
        if bench.board is None:
            await _try_first_moves(bench, setup)
            await table.follow(frozenset())
    except Outcome as outcome:
        await bench.drop()
        return f"{name} with other stones ({outcome})"
    bench.setups.append(setup)
    return name


async def _try_first_moves(bench: Bench, setup: Setup) -> None:
    for point in (*rules.legal_moves(setup.position()), None):
        table = await bench.table(setup)
        if point is not None:
            await table.play(point)


@_item("C9", "Colours and vertices")
async def _spellings(bench: Bench) -> str:
    table = await bench.table()
    for color in ("b", "W", "black", "White", "BLACK", "w"):
        point = bench.random.choice(table.game.legal_moves())
        vertex = table.vertex(point)
        line = f"play {color} {vertex if color.isupper() else vertex.lower()}"
        if not await bench.accepts(line):
            raise failure(f"{line!r} is legal and refused {table.where}")
        table.game.play(point)
    await table.agree()
    return "upper and lower case, short and long"


@_item("C10", "Turn order")
async def _turn_order(bench: Bench) -> str:
    table = await bench.table()
    for _ in range(2):
        color = table.game.to_move
        wrong = table.game.legal_moves(color.opponent)[0]
        await bench.refuses(table.line(wrong, color.opponent), gtp.ILLEGAL_MOVE)
        await table.play(table.game.legal_moves()[0])
    await table.agree()
    await bench.refuses(f"genmove {table.game.to_move.opponent.initial}")
    return "the wrong colour is refused"


@_item("C11", "Illegal moves")
async def _illegal_moves(bench: Bench) -> str:
    table = await bench.table()
    wanted = {"occupied", "no_own_neighbour", "too_many_own_neighbours"}
    while not wanted <= (examples := _illegal_examples(table.game)).keys():
        if table.game.winner is not None:
            break  # hardly ever, and what was found will do
        await table.play(bench.random.choice(table.game.legal_moves()))
    for point in examples.values():
        await bench.refuses(table.line(point), gtp.ILLEGAL_MOVE)
    await bench.refuses(f"play {table.game.to_move.initial} pass", gtp.ILLEGAL_MOVE)
    await table.agree()
    await table.play(table.game.legal_moves()[0])
    return "refused with the right words, and nothing changes"


def _illegal_examples(game: Game) -> dict[str, int]:
    """Return an illegal point for each reason that the position has."""
    found = {}
    for point in range(game.size.area):
        try:
            rules.check_placement(game.position, game.to_move, point)
        except rules.IllegalMove as error:
            found[error.code] = point
    return found


@_item("C12", "Legal moves and removals")
async def _random_games(bench: Bench) -> str:
    plies = games = 0
    for setup in bench.setups[: bench.pace.setups] * bench.pace.games:
        table = await bench.table(setup)
        while table.game.winner is None and not bench.is_late:
            await table.agree()
            await table.play(bench.random.choice(table.game.legal_moves()))
            plies += 1
        games += 1
    if not games:
        raise warning("not checked: no set-up to play on")
    played = f"{counted(plies, 'turn')} of {counted(games, 'random game')}"
    return f"{played}, by {bench.board or 'legality'}"


@_item("C13", "Removal of the current root alone")
async def _current_root_alone(bench: Bench) -> str:
    return await replay(bench, "alone")


@_item("C14", "Removal of all other bounded roots")
async def _other_roots(bench: Bench) -> str:
    return await replay(bench, "several", "both")


@_item("C15", "Bounded by a root of its own colour")
async def _own_roots_meet(bench: Bench) -> str:
    return await replay(bench, "shared")


@_item("C16", "The end on either turn")
async def _end_on_either_turn(bench: Bench) -> str:
    return await replay(bench, "own end", "last ones", "win")


@_item("C17", "genmove")
async def _genmove(bench: Bench) -> str:
    moves = games = 0
    for number, setup in enumerate(bench.setups[: bench.pace.setups] * 2):
        # Against itself first, then as either side against random moves.
        sides = (tuple(Color), (Color.BLACK,), (Color.WHITE,))[number % 3]
        table = await bench.table(setup)
        await bench.hurry()
        moves += await _play_game(table, sides)
        games += 1
        if bench.is_late:
            break
    if not games:
        raise warning("not checked: no set-up to play on")
    return f"{counted(moves, 'legal move')} in {counted(games, 'game')}"


async def _play_game(table: Table, sides: Sequence[Color]) -> int:
    """Play to the end or until it is late; return how many moves the engine made."""
    moves, bench = 0, table.bench
    while table.game.winner is None and not bench.is_late:
        if table.game.to_move in sides:
            if await table.generate() is None:
                break
            moves += 1
        else:
            await table.play(bench.random.choice(table.game.legal_moves()))
        await table.agree()
    return moves


@_item("C18", "After the end")
async def _after_the_end(bench: Bench) -> str:
    for case in bench.cases("own end", "win")[:4]:
        # As in a match: the side to move is asked, or it has passed elsewhere.
        for has_passed in (False, True):
            table = await bench.table(case.setup)
            await table.play_all(case.moves)
            color = table.game.to_move
            if has_passed:
                if not await bench.accepts(f"play {color.initial} pass"):
                    raise failure(f"play {color.initial} pass is refused {table.where}")
                color = color.opponent
            await _says_farewell(table, color)
    return "resign of the loser, pass of the winner, pass accepted"


async def _says_farewell(table: Table, color: Color) -> None:
    expected = "pass" if color is table.game.winner else "resign"
    answer = (await table.bench.genmove(color)).move
    if answer != expected:
        what = f"genmove {color.initial} is answered {answer}, not {expected}"
        raise failure(f"{what} {table.where}")


# C: required, the process


@_item("C19", "Nothing but responses on stdout")
async def _clean_output(bench: Bench) -> str:
    lines = [*await _game_lines(bench), *("genmove b", "genmove w") * 2, "name"]
    ended = await bench.batch(lines)
    if not all(response.ok for response in ended.responses):
        raise failure("a command of an ordinary game is refused")
    return "also while it thinks"


async def _game_lines(bench: Bench) -> list[str]:
    """Return lines that begin a game for a process that is still to be started."""
    table = await bench.table()
    await bench.genmove(table.game.to_move)  # not again where it never answers
    width, height = table.game.size
    lines = [f"boardsize {width}" if width == height else f"boardsize {width} {height}"]
    control = await bench.hurry()
    if control is not None:
        lines.append(control.settings((await bench.engine()).commands))
    return [*lines, "clear_board"]


@_item("C20", "quit")
async def _quit(bench: Bench) -> str:
    ended = await bench.batch(("name", "quit"), is_last=False)
    if [response.ok for response in ended.responses] != [True, True]:
        raise failure("quit must be answered before the process ends")
    return _exit_of(ended, "quit")


@_item("C21", "End of the input")
async def _end_of_input(bench: Bench) -> str:
    ended = await bench.conversation()
    text = _exit_of(ended, "the end of its input")
    return text if ended.responses else ""


def _exit_of(ended: Ended, after: str) -> str:
    if ended.exit_code is None:
        raise failure(f"it still runs after {after}")
    if ended.exit_code != 0:
        raise warning(f"exit code {ended.exit_code} after {after}")
    return "it answers and exits"


# E: recommended


@_item("E1", "undo")
async def _undo(bench: Bench) -> str:
    await bench.require("undo")
    table = await halfway(bench)
    undone = len(table.game.moves)
    while table.game.moves:
        await bench.send("undo")
        table.game.undo()
        await table.agree()
    await bench.refuses("undo", gtp.CANNOT_UNDO)
    return f"{counted(undone, 'move')} taken back, removals too"


@_item("E2", "time_settings and time_left")
async def _plain_time(bench: Bench) -> str:
    await bench.require("time_settings")
    for words in ("60 0 0", "300 30 5", "0 1 1", "0 1 0"):
        await bench.send(f"time_settings {words}")
    if await bench.knows("time_left"):
        for words in ("b 10 0", "white 5 3", "b 0 0", "w 3.5 0"):
            await bench.send(f"time_left {words}")
    await bench.send("time_settings 0 1 0")
    return "every form is accepted"


@_item("E3", "kata-time_settings")
async def _kata_time(bench: Bench) -> str:
    await bench.require("kata-time_settings")
    for words in ("absolute 60", "fischer 60 0.5", "byoyomi 0 0.1 1", "none"):
        await bench.send(f"kata-time_settings {words}")
    return "every system that the arena uses is accepted"


@_item("E4", "Keeps to the time")
async def _keeps_time(bench: Bench) -> str:
    table = await bench.table()
    control = await bench.hurry()
    if control is None:
        raise skipped("no time control is offered")
    times = []
    for _ in range(3):
        taken = await table.generate(control.seconds + bench.pace.answer)
        if taken is None:
            break
        times.append(taken)
    if not times:
        raise warning("not checked: it resigns at the start")
    limit = control.seconds + _MARGIN_SECONDS
    text = f"up to {max(times):.3f} s of {control}"
    if median(times) > limit or max(times) > 2 * limit:
        raise failure(text)
    if max(times) > limit:
        raise warning(text)
    return text


@_item("E5", "gogui-rules_board")
async def _gogui_board(bench: Bench) -> str:
    return await _show(bench, "gogui-rules_board")


@_item("E6", "The other gogui-rules commands")
async def _gogui_rules(bench: Bench) -> str:
    names = ("gogui-rules_legal_moves", "gogui-rules_side_to_move")
    await bench.require("gogui-rules_game_id", "gogui-rules_board_size", *names)
    case = bench.cases("own end", "win")[0]
    table = await bench.table(case.setup)
    width, height = table.game.size
    if width == height and await bench.send("gogui-rules_board_size") != str(width):
        raise failure(f"gogui-rules_board_size of a square must be {width} alone")
    for point in case.moves:
        legal = (await bench.send(names[0])).split()
        if set(legal) != {table.vertex(p) for p in table.game.legal_moves()}:
            raise failure(f"{names[0]} answers {' '.join(legal)} {table.where}")
        side = await bench.send(names[1])
        if side[:1].upper() != table.game.to_move.initial:
            raise failure(f"{names[1]} answers {side!r} {table.where}")
        await table.play(point)
    if text := await bench.send(names[0]):
        raise failure(f"{names[0]} must be exactly empty after the end, not {text!r}")
    return f"legal moves and side to move right at {counted(len(case.moves), 'turn')}"


@_item("E7", "tanbo-setup")
async def _named_setups(bench: Bench) -> str:
    await bench.require("tanbo-setup")
    table = await bench.table()
    await table.play(table.game.legal_moves()[0])
    await bench.refuses("tanbo-setup no-such-setup")
    await table.agree()
    small = setups.by_name("classic-7x7")  # not what boardsize 7 selects
    if not await bench.accepts(f"tanbo-setup {small.name}"):
        return f"unknown names are refused; {small.name} is not offered"
    table = Table(bench, Game(small.position()), small.name)
    await table.agree()
    await table.play(table.game.legal_moves()[0])
    await bench.send("clear_board")
    await Table(bench, Game(small.position()), small.name).agree()
    return "a name selects and clears, clear_board keeps it"


@_item("E8", "tanbo-position")
async def _one_line_positions(bench: Bench) -> str:
    shown = await _show(bench, "tanbo-position")
    for case in bench.cases("alone", "several", "win"):
        game = _before_the_last(case)
        line = notation.format_position(game.position)
        await _play_loaded(bench, game, case.moves[-1], f"tanbo-position {line}")
    return f"{shown}; loaded positions, too"


@_item("E9", "set_position and gogui-setup")
async def _stones(bench: Bench) -> str:
    loaders = [name for name in _LOADERS if await bench.knows(name)]
    if not loaders:
        raise skipped(f"not offered: {', '.join(_LOADERS)}")
    has_turn = await bench.knows("gogui-setup", "gogui-setup_player")
    loaded = 0
    for case in bench.cases("alone", "several", "shared", "win"):
        game, ways, turn = _before_the_last(case), loaders, []
        if game.to_move is Color.WHITE:
            ways = ["gogui-setup"] if has_turn else []
            turn = ["gogui-setup_player w"]
        for loader in ways:
            await bench.table(case.setup)  # which has the size
            line = f"{loader} {_stones_of(game)}"
            await _play_loaded(bench, game, case.moves[-1], line, *turn)
            loaded += 1
    await bench.refuses(f"{loaders[0]} b A1 w A1")
    return f"{counted(loaded, 'position')} loaded by {' and '.join(loaders)}"


def _before_the_last(case: Case) -> Game:
    game = Game(case.setup.position())
    for point in case.moves[:-1]:
        game.play(point)
    return game


def _stones_of(game: Game) -> str:
    return " ".join(
        f"{color.initial} {format_vertex(game.size, point)}"
        for color in Color
        for point in sorted(game.position.stones(color))
    )


async def _play_loaded(bench: Bench, game: Game, point: int, *lines: str) -> None:
    """Load a position with command lines, look at it, and make a move there."""
    for line in lines:
        await bench.send(line)
    table = Table(bench, Game(game.position), f"a position loaded by {lines[0]}")
    await table.agree()
    await table.play(point)
    await table.agree(probes=game.size.area)


async def _show(bench: Bench, command: str) -> str:
    """Compare what a command shows at every turn of a game with removals."""
    await bench.require(command)
    case = bench.cases("both", "several", "alone")[0]
    table = await bench.table(case.setup)
    for point in case.moves:
        await table.compare(command)
        await table.play(point)
    await table.compare(command)
    return f"right at {len(case.moves) + 1} turns"


@_item("E10", "gogui-play_sequence")
async def _sequence(bench: Bench) -> str:
    await bench.require("gogui-play_sequence")
    case = bench.cases("alone", "shared")[0]
    table = await bench.table(case.setup)
    words = []
    for point in case.moves:
        words.append(table.line(point).removeprefix("play "))
        table.game.play(point)
    await bench.send(f"gogui-play_sequence {' '.join(words)}")
    await table.agree()
    legal = table.line(table.game.legal_moves()[0]).removeprefix("play ")
    await bench.refuses(f"gogui-play_sequence {legal} {words[-1]}", gtp.ILLEGAL_MOVE)
    await table.agree()
    return "all moves or none"


@_item("E11", "final_score")
async def _final_score(bench: Bench) -> str:
    await bench.require("final_score")
    for case in bench.cases("own end", "win"):
        table = await bench.table(case.setup)
        await bench.refuses("final_score", gtp.CANNOT_SCORE)
        await table.play_all(case.moves)
        score, winner = await bench.send("final_score"), table.game.winner
        if winner is None or not score.startswith(f"{winner.initial}+"):
            raise failure(f"final_score is {score!r} {table.where}")
    return "the winner after the end, refused before"


@_item("E12", "showboard")
async def _drawing(bench: Bench) -> str:
    await bench.require("showboard")
    table = await bench.table()
    text = await bench.send("showboard")
    if read_board("showboard", text, table.game.size) is None:
        raise warning("answered; rows of X, O and . would be compared with the rules")
    return await _show(bench, "showboard")


@_item("E13", "Rectangular boards")
async def _rectangles(bench: Bench) -> str:
    setup = setups.by_name("dense-7x9")
    forms = ("boardsize 7 9", "boardsize 7:9", "rectangular_boardsize 7 9")
    accepted = [form for form in forms if await bench.accepts(form)]
    for form in accepted:
        await bench.send(form)
        await bench.send("clear_board")
        table = Table(bench, Game(setup.position()), setup.name)
        await table.agree()
        await table.play(table.game.legal_moves()[-1])  # in the top row
    if not accepted:
        raise skipped("not offered")
    return ", ".join(accepted)


# S: robust


@_item("S1", "Unknown commands")
async def _unknown_commands(bench: Bench) -> str:
    for line in ("no-such-command", "nam", "names", "play_b A1"):
        await bench.refuses(line, gtp.UNKNOWN_COMMAND)
    return "refused with the right words"


@_item("S2", "Blank lines and comments")
async def _comments(bench: Bench) -> str:
    name = await bench.send("name")
    answers = await bench.raw(b"\n  \n# name\n\t\nname # name\n#\n")
    if [answer.text for answer in answers] != [name]:
        raise failure(
            f"{len(answers)} answers, not 1, to 'name # name' among blank lines"
        )
    return "not answered"


@_item("S3", "Garbage")
async def _garbage(bench: Bench) -> str:
    printable = b'{"id": 1}\n= 1\n? no\n%s%n%x\n'
    answers = await bench.raw(b"\xff\xfe\x80\n\x01\x02\x00\n" + printable)
    refused = [answer for answer in answers if not answer.ok]
    if len(refused) != len(answers) or not 4 <= len(answers) <= 6:
        raise failure(f"{len(refused)} refusals and {len(answers)} answers to 6 lines")
    return "refused, and it goes on"


@_item("S4", "Long lines")
async def _long_lines(bench: Bench) -> str:
    words = b"play " + b"b A2 " * (_LONG_LINE // 5)
    answers = await bench.raw(b"x" * _LONG_LINE + b"\n" + words + b"\n")
    if [answer.ok for answer in answers] != [False, False]:
        raise failure(f"{len(answers)} answers to 2 long lines, or one not refused")
    return f"{_LONG_LINE} characters are refused, and it goes on"


@_item("S5", "Missing and wrong arguments")
async def _wrong_arguments(bench: Bench) -> str:
    await bench.table()
    wrong = ("play", "play b", "play purple A2", "play b 77", "play b A2x", "play b I3")
    for line in (*wrong, "genmove purple", "boardsize", "boardsize x"):
        await bench.refuses(line)
    return "refused, and it goes on"


@_item("S6", "Huge numbers")
async def _huge_numbers(bench: Bench) -> str:
    await bench.table()
    for number in ("99999999999999999999", "0", "-7", "1e999"):
        await bench.refuses(f"boardsize {number}")
        await bench.refuses(f"play b A{number}")
    await bench.accepts(f"komi {10**300}")
    return "refused, and it goes on"


@_item("S7", "Input that ends during a search")
async def _ends_in_a_search(bench: Bench) -> str:
    lines = [*await _game_lines(bench), "genmove b"]
    ended = await bench.batch(lines, end="")
    text = _exit_of(ended, "the end of its input")
    if ended.answered != len(lines):
        raise warning("the last line, which has no end, is not answered")
    return text
