"""An engine under test, a game of ours beside it, and games that show the rules.

`protocol.arena.check` holds the requirements; here is what each of them needs. Where
the engine shows its board, it is compared with ours; where it does not, the illegal
moves that it must refuse and the legal ones that it must take tell the same.
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import NamedTuple, cast

import anyio

from protocol import gtp
from protocol.arena.clocks import ControlError, PerMove
from protocol.client import (
    Channel,
    Engine,
    EngineCommand,
    EngineProcess,
    Genmove,
    Refused,
    TimedOut,
)
from tanbo_engine import notation, rules
from tanbo_engine.game import Game
from tanbo_engine.points import Color, Size, format_vertex, neighbours
from tanbo_engine.setups import Setup
from tanbo_engine.wording import counted, short

_BOARDS = ("gogui-rules_board", "tanbo-position", "showboard")

_CLOSE_SECONDS = 0.3
_EXIT_SECONDS = 2.0
_SEARCHED_REMOVALS = 1500
_FOLLOWING_PLIES = 6
_BLIND_FACTOR = 4
_SEED = 1993
_SHOWN = 60
_KINDS = ("alone", "several", "both", "shared", "own end", "last ones", "win")

CONVERSATION = (
    "name",
    "1 protocol_version",
    "2147483647 version",
    "0 list_commands",
    "known_command play",
    "7 known_command no-such-command",
    "8 no-such-command",
    "no-such-command",
    "komi 0",
)
"""Commands and ids for the form of the answers."""

_IS_ALIVE = gtp.Response(True, "true")


class Status(StrEnum):
    """What became of a requirement; skip: the engine does not offer it."""

    PASS = "pass"  # noqa: S105 (no password)
    FAIL = "fail"
    WARN = "warn"
    SKIP = "skip"


class Outcome(Exception):  # noqa: N818 (also of what is no error)
    """Ends an item with another status than pass."""

    def __init__(self, status: Status, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def failure(detail: str) -> Outcome:
    """Return the end of an item whose requirement is not met."""
    return Outcome(Status.FAIL, detail)


def warning(detail: str) -> Outcome:
    """Return the end of an item that is met, but not well."""
    return Outcome(Status.WARN, detail)


def skipped(detail: str) -> Outcome:
    """Return the end of an item that the engine does not offer."""
    return Outcome(Status.SKIP, detail)


class Pace(NamedTuple):
    """Seconds at most, and how much is tried.

    Attributes:
        total: for everything.
        item: after which an item begins nothing new.
        start: for each of the first answers.
        answer: for any other answer, but of genmove.
        genmove: for a move.
        games: random games on each set-up.
        cases: games with each kind of removal on each set-up.
        probes: illegal moves tried at a turn where the board is shown.
        setups: how many of those that the engine plays.
    """

    total: float
    item: float
    start: float
    answer: float
    genmove: float
    games: int
    cases: int
    probes: int
    setups: int


FULL = Pace(60, 16, 30, 5, 15, 4, 3, 6, 5)
QUICK = Pace(10, 4, 7, 2, 2.5, 1, 1, 3, 1)


class Ended(NamedTuple):
    """A process that got all its input at once, and what came of it.

    Attributes:
        lines: the commands it got.
        output: all it wrote to stdout.
        exit_code: None if it had to be killed.
        stderr_tail: the end of what it wrote to stderr.
    """

    lines: Sequence[str]
    output: str
    exit_code: int | None
    stderr_tail: str

    @property
    def answered(self) -> int:
        """How many responses there are, or seem to be."""
        return _count(self.output)

    @property
    def responses(self) -> list[gtp.Response]:
        """A response for each command; anything else is a failure."""
        plain = self.output.replace("\r", "")
        parts = [part.lstrip("\n") for part in plain.split("\n\n")]
        parts = [part for part in parts if part]
        stray = next((part for part in parts if part[0] not in "=?"), "")
        if stray or not plain.endswith("\n\n"):
            raise failure(
                "output that is no response: "
                f"{short(stray or plain[-_SHOWN:], _SHOWN)!r}"
            )
        if len(parts) != len(self.lines):
            last = self.stderr_tail.strip().rpartition("\n")[2]
            text = f"{len(parts)} responses to {len(self.lines)} commands"
            raise failure(f"{text}; stderr: {last}" if last else text)
        return [gtp.decode_response(part) for part in parts]


def _count(output: str) -> int:
    return output.replace("\r", "").count("\n\n")


class _Batch(EngineProcess):
    """A process that gets all its input at once and whose output is kept as it is."""

    async def run(
        self, lines: Sequence[str], seconds: float, end: str, is_last: bool
    ) -> Ended:
        """Send the lines, wait for the answers and the end, and close the process."""
        output = bytearray()
        data = ("\n".join(lines) + end).encode()
        try:
            with anyio.move_on_after(seconds):
                async with anyio.create_task_group() as group:
                    group.start_soon(self._feed, data, is_last)
                    await self._collect(output, len(lines))
            exit_code, tail = self.exit_code, self.stderr_tail
        finally:
            await self.close(False, _CLOSE_SECONDS)
        return Ended(lines, output.decode("utf-8", "replace"), exit_code, tail)

    async def _feed(self, data: bytes, is_last: bool) -> None:
        sink = self._process.stdin
        with suppress(OSError, anyio.BrokenResourceError):
            if sink is not None:
                await sink.send(data)
                if is_last:
                    await sink.aclose()

    async def _collect(self, output: bytearray, answers: int) -> None:
        """Read until the end, which must come soon after the answers.

        The output of a dead process may be held open by its children: it ends when
        they are silent.
        """
        source, give_up = self._process.stdout, float("inf")
        while source is not None and anyio.current_time() < give_up:
            is_over = self.exit_code is not None
            with anyio.move_on_after(_CLOSE_SECONDS):
                try:
                    output += await source.receive()
                except (OSError, anyio.EndOfStream, anyio.BrokenResourceError):
                    await self.wait(_EXIT_SECONDS)
                    return
                is_over = False
            if is_over:
                return
            if _count(output.decode("ascii", "ignore")) >= answers:
                give_up = min(give_up, anyio.current_time() + _EXIT_SECONDS)


class Bench:
    """The engine's command, its running process, and what is known about it.

    Attributes:
        pace: how long and how much.
        has_started: whether it has ever answered the first commands.
        setups: those that it plays, once they have been tried.
        board: the command that shows its board, None without one.
        random: chooses moves; the same ones in every run.
    """

    def __init__(self, command: str | EngineCommand, pace: Pace) -> None:
        self._given = command
        self.pace = pace
        self._ends = anyio.current_time() + pace.total
        self._item_ends = self._ends
        self._engine: Engine | None = None
        self._channel: Channel | None = None
        self._process: EngineProcess | None = None
        self._conversation: Ended | None = None
        self._is_thinking = True
        self.has_started = False
        self.setups: list[Setup] = []
        self.board: str | None = None
        self.random = random.Random(_SEED)  # noqa: S311 (no secret)

    def begin_item(self) -> float:
        """Return the seconds that the next item has, 0 or less if the time is up."""
        now = anyio.current_time()
        self._item_ends = min(self._ends, now + self.pace.item)
        # Longer than the item plans for: its last wait may begin late.
        return min(self._ends - now, 2 * self.pace.item)

    @property
    def is_late(self) -> bool:
        """Whether the item should come to its end."""
        return anyio.current_time() > self._item_ends

    @property
    def command(self) -> EngineCommand:
        """How to start the engine."""
        given = self._given
        return EngineCommand.parse(given) if isinstance(given, str) else given

    # Processes

    async def engine(self) -> Engine:
        """Return the running engine, a new one after a failure."""
        if self._engine is None:
            self._process = await EngineProcess.spawn(self.command)
            self._channel = self._process.channel()
            self._engine = Engine(self._channel, self.command.label, self._process)
            await self._engine.start(self.pace.start)
            self.has_started = True
        return self._engine

    async def drop(self) -> None:
        """End the running engine."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close(_CLOSE_SECONDS)

    async def batch(
        self, lines: Sequence[str], *, end: str = "\n", is_last: bool = True
    ) -> Ended:
        """Give a process of its own all its input at once.

        Args:
            lines: commands, each of which is to be answered.
            end: what follows the last one.
            is_last: whether the input ends there.
        """
        process = cast("_Batch", await _Batch.spawn(self.command))
        seconds = self.pace.genmove + self.pace.answer
        return await process.run(lines, seconds, end, is_last)

    async def conversation(self) -> Ended:
        """Return a plain conversation that ends with the input; held once."""
        if self._conversation is None:
            self._conversation = await self.batch(CONVERSATION)
        return self._conversation

    # Commands

    async def knows(self, *names: str) -> bool:
        """Tell whether the engine lists all these commands."""
        engine = await self.engine()
        return all(map(engine.knows, names))

    async def require(self, *names: str) -> None:
        """Skip the item unless the engine lists all these commands."""
        engine = await self.engine()
        missing = [name for name in names if not engine.knows(name)]
        if missing:
            raise skipped(f"not offered: {', '.join(missing)}")

    async def send(self, line: str) -> str:
        """Return the answer to a command that must succeed."""
        engine = await self.engine()
        return await engine.send(line, timeout=self.pace.answer)

    async def accepts(self, line: str) -> bool:
        """Tell whether a command succeeds."""
        try:
            await self.send(line)
        except Refused:
            return False
        return True

    async def refuses(self, line: str, text: str | None = None) -> None:
        """Fail unless a command is refused, with this text if one is given."""
        try:
            answer = await self.send(line)
        except Refused as error:
            if text is not None and error.text.strip() != text:
                raise failure(
                    f"{line!r} must be answered {'? ' + text!r}, not {error.text!r}"
                ) from error
            return
        raise failure(
            f"{short(line, _SHOWN)!r} is answered {short(answer, _SHOWN)!r} "
            "and must be refused"
        )

    async def raw(self, data: bytes) -> list[gtp.Response]:
        """Return the responses to lines as they are, and see that it goes on after."""
        engine = await self.engine()
        engine.forget()
        if self._channel is None or self._process is None:
            raise RuntimeError("an engine without a process")
        deadline = anyio.current_time() + self.pace.answer
        answers: list[gtp.Response] = []
        try:
            await self._channel.write(data + b"known_command name\n", deadline)
            while (answer := await self._channel.read(deadline)) != _IS_ALIVE:
                answers.append(answer)
        except TimeoutError as error:
            what = f"no more answers after {len(answers)}, within {self.pace.answer} s"
            raise failure(what) from error
        except gtp.ResponseError as error:
            raise failure(str(error)) from error
        except (OSError, anyio.EndOfStream, anyio.BrokenResourceError) as error:
            code, tail = await self._process.autopsy()
            last = tail.strip().rpartition("\n")[2]
            raise failure(f"it died, exit code {code}; stderr: {last}") from error
        return answers

    async def genmove(self, color: Color, seconds: float | None = None) -> Genmove:
        """Return the engine's move; an engine that once did not answer is spared."""
        if not self._is_thinking:
            raise warning("not checked: genmove did not answer before")
        engine = await self.engine()
        try:
            return await engine.genmove(color, seconds or self.pace.genmove)
        except TimedOut:
            self._is_thinking = False
            raise

    async def hurry(self) -> PerMove | None:
        """Tell the shortest time for a move that can be told, if one can."""
        engine = await self.engine()
        for control in (PerMove(0.1), PerMove(1)):
            with suppress(ControlError, Refused):
                await self.send(control.settings(engine.commands))
                return control
        return None

    # Games

    async def table(self, setup: Setup | None = None) -> "Table":
        """Begin a game, on the first set-up that the engine plays if none is given."""
        if setup is None and not self.setups:
            raise warning("not checked: no set-up to play on")
        chosen = setup or self.setups[0]
        game = Game(chosen.position())
        engine = await self.engine()
        await engine.sync(game, timeout=self.pace.answer)
        return Table(self, game, chosen.name)

    async def find_board(self, size: Size) -> None:
        """Choose the command that shows the board, None without one to be read."""
        for command in _BOARDS:
            if await self.knows(command):
                text = await self.send(command)
                # A wrong answer of the others is a fault; a drawing has no fixed form.
                if command != "showboard" or read_board(command, text, size):
                    self.board = command
                    return

    def cases(self, *kinds: str) -> list["Case"]:
        """Return games that end with turns of these kinds."""
        found = [
            case
            for setup in self.setups[: self.pace.setups]
            for kind in kinds
            for case in _find_cases(setup, self.pace.cases).get(kind, [])
        ]
        if not found:
            raise warning("not checked: no such game found on its set-ups")
        return found


class Table:
    """The engine and a game of ours, side by side."""

    def __init__(self, bench: Bench, game: Game, origin: str) -> None:
        self.bench = bench
        self.game = game
        self._origin = origin

    @property
    def where(self) -> str:
        """The set-up and the moves, for messages."""
        moves = " ".join(
            "pass" if move.point is None else self.vertex(move.point)
            for move in self.game.moves
        )
        return f"on {self._origin} {'after ' + moves if moves else 'at the start'}"

    def vertex(self, point: int) -> str:
        """Return the text of a point."""
        return format_vertex(self.game.size, point)

    def line(self, point: int, color: Color | None = None) -> str:
        """Return the play command of a point."""
        color = self.game.to_move if color is None else color
        return f"play {color.initial} {self.vertex(point)}"

    async def play(self, point: int) -> None:
        """Make a legal move on both sides."""
        try:
            await self.bench.send(self.line(point))
        except Refused as error:
            what = f"{self.line(point)!r} is legal and refused ({error.text})"
            raise failure(f"{what} {self.where}") from error
        self.game.play(point)

    async def play_all(self, points: Iterable[int]) -> None:
        """Make legal moves, without looking at the board in between."""
        for point in points:
            await self.play(point)

    async def generate(self, seconds: float | None = None) -> float | None:
        """Let the engine move; return the time it took, None if it resigned."""
        move, taken = await self.bench.genmove(self.game.to_move, seconds)
        if move == "resign":
            return None
        legal = {self.vertex(point): point for point in self.game.legal_moves()}
        if move not in legal:
            raise failure(f"genmove answers {move}, which is illegal, {self.where}")
        self.game.play(legal[move])
        return taken

    async def agree(self, probes: int | None = None) -> None:
        """Compare the boards and probe illegal moves, more of them if none is shown."""
        board, usual = self.bench.board, self.bench.pace.probes
        if board is None:
            usual *= _BLIND_FACTOR
        else:
            await self.compare(board)
        await self.probe(usual if probes is None else probes)

    async def compare(self, command: str) -> None:
        """Compare our board with what a command of the engine shows."""
        shown = read_board(command, await self.bench.send(command), self.game.size)
        if shown is None:
            raise failure(f"{command} shows no board of {self.game.size} {self.where}")
        ours = self.game.position
        wrong = [
            self.vertex(point)
            for point in range(ours.size.area)
            if any(
                (point in shown.stones(c)) != (point in ours.stones(c)) for c in Color
            )
        ]
        if wrong:
            points = ", ".join(wrong[:6])
            raise failure(f"{command} is wrong at {points} {self.where}")

    async def probe(self, count: int) -> None:
        """Try so many illegal placements, and the last move again."""
        legal = set(self.game.legal_moves())
        points = [p for p in range(self.game.size.area) if p not in legal]
        if count < len(points):
            last = [m.point for m in self.game.moves[-1:] if m.point in points]
            points = last + self.bench.random.sample(points, count)
        for point in points:
            if await self.bench.accepts(self.line(point)):
                what = f"{self.line(point)!r} is illegal and accepted"
                raise failure(f"{what} {self.where}")

    async def follow(self, vacated: frozenset[int]) -> None:
        """Play on, where it can on points that a removal has made empty."""
        for _ in range(_FOLLOWING_PLIES):
            legal = self.game.legal_moves()
            if not legal:
                return
            wanted = [point for point in legal if point in vacated] or legal
            await self.play(self.bench.random.choice(wanted))
            await self.agree()


def read_board(command: str, text: str, size: Size) -> rules.Position | None:
    """Return the stones that an answer shows, None where they cannot be read."""
    if command == "tanbo-position":
        try:
            position = notation.parse_position(text)
        except notation.PositionError:
            return None
        return position if position.size == size else None
    rows = [re.sub(r"[\s0-9|]", "", row).upper() for row in text.splitlines()]
    if command == "gogui-rules_board":
        cells = re.sub(r"[^XO.]", "", "".join(rows))
        starts = range(0, len(cells), size.width)
        rows = [cells[start : start + size.width] for start in starts]
    rows = [row for row in rows if re.fullmatch(rf"[XO.+]{{{size.width}}}", row)]
    return notation.from_rows(rows) if len(rows) == size.height else None


# Games that show what the rules do


class Case(NamedTuple):
    """A game whose last turn is of a kind."""

    setup: Setup
    moves: tuple[int, ...]


@cache
def _find_cases(setup: Setup, wanted: int) -> dict[str, list[Case]]:
    """Return random games by the kind of their last turn, the same in every run."""
    found: dict[str, list[Case]] = {kind: [] for kind in _KINDS}
    for before, moves in islice(_removals(setup), _SEARCHED_REMOVALS):
        if all(len(cases) >= wanted for cases in found.values()):
            break
        for kind in _kinds_of(before, moves[-1]):
            if len(found[kind]) < wanted:
                found[kind].append(Case(setup, moves))
    return found


def _removals(setup: Setup) -> Iterator[tuple[rules.Position, tuple[int, ...]]]:
    """Yield each removal of endless random games: the position before, the moves."""
    source = random.Random(f"{setup.name} {_SEED}")  # noqa: S311 (no secret)
    while True:
        game = Game(setup.position())
        moves: tuple[int, ...] = ()
        while game.winner is None:
            roots = sum(map(game.kernel.root_count, Color))
            point = source.choice(game.legal_moves())
            game.play(point)
            moves = (*moves, point)
            if sum(map(game.kernel.root_count, Color)) < roots:
                game.undo()
                yield game.position, moves
                game.play(point)


def _kinds_of(before: rules.Position, point: int) -> list[str]:
    """Return what is remarkable about a turn that removes something."""
    color, turn = before.to_move, rules.play(before, point)
    stones = before.stones(color) | {point}
    placed = before.with_stones(color, stones, color.opponent)
    bounded = [r for r in rules.roots(placed) if rules.is_bounded(placed, r)]
    winner = rules.winner(turn.after)
    enemies = {r for r in rules.roots(placed) if r.color is not color}
    goes_on = winner is None
    facts = (
        goes_on and turn.current_root_bounded and len(bounded) > 1,
        len(turn.removed) > 1,
        len({root.color for root in turn.removed}) > 1,
        goes_on and any(_meets_another(placed, root) for root in turn.removed),
        winner is color.opponent,
        winner is color.opponent and enemies <= set(bounded),
        winner is color,
    )
    return [kind for kind, fact in zip(_KINDS, facts, strict=True) if fact]


def _meets_another(placed: rules.Position, root: rules.Root) -> bool:
    """Tell whether only another root of its colour keeps the root from growing."""
    for stone in root.stones:
        for near in neighbours(placed.size, stone):
            if placed.is_empty(near):
                own = rules.own_neighbours(placed, root.color, near)
                if len(own) > 1 and len(root.stones.intersection(own)) == 1:
                    return True
    return False


async def replay(bench: Bench, *kinds: str) -> str:
    """Replay games that end with a turn of these kinds, compare, and play on."""
    replayed = 0
    for case in bench.cases(*kinds):
        table = await bench.table(case.setup)
        await table.play_all(case.moves[:-1])
        before = table.game.position
        await table.agree()
        await table.play(case.moves[-1])
        after = table.game.position
        await table.agree(probes=after.size.area)
        stones = before.black | before.white | {case.moves[-1]}
        await table.follow(stones - after.black - after.white)
        replayed += 1
        if bench.is_late:
            break
    return counted(replayed, "game")


async def halfway(bench: Bench) -> Table:
    """Return a game after a removal that goes on."""
    case = bench.cases("alone", "shared")[0]
    table = await bench.table(case.setup)
    await table.play_all(case.moves)
    return table
