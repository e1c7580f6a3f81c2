"""One game between two engines, judged by our own rules.

The arena's board is the only truth: an engine's move is checked on it, and a fault is
the fault of the engine that made it, never of its opponent.
"""

from collections.abc import Sequence
from typing import NamedTuple

from protocol.arena.clocks import Control, ControlError, GameClock
from protocol.arena.schedule import Pair
from protocol.arena.store import GameRecord, Termination
from protocol.client import (
    Engine,
    EngineCommand,
    EngineDied,
    EngineError,
    Refused,
    StartFailed,
    TimedOut,
    open_engine,
)
from tanbo_engine import notation, setups
from tanbo_engine.game import Game
from tanbo_engine.points import Color, VertexError, format_vertex, parse_vertex
from tanbo_engine.rules import IllegalMove

GRACE = 5.0
"""Seconds that an answer after its time is waited for: late is not hung."""


class Terms(NamedTuple):
    """What both sides may take.

    Attributes:
        control: time control, or None.
        nodes: visits a move, or None.
        margin: seconds beyond a limit that do not lose.
        hang: seconds of silence that count as a hang where no time is set.
    """

    control: Control | None
    nodes: int | None = None
    margin: float = 0.05
    hang: float = 60.0


class GameLost(Exception):  # noqa: N818
    """A side has lost otherwise than on the board.

    Attributes:
        loser: which.
        termination: how.
        reason: the same in words.
    """

    def __init__(self, loser: Color, termination: Termination, reason: str) -> None:
        super().__init__(reason)
        self.loser = loser
        self.termination = termination
        self.reason = reason


class Contestant:
    """An engine of one slot: its process, started when needed, replaced after a fault.

    Attributes:
        name: how results call it.
        build: what its program calls itself.
    """

    def __init__(self, name: str, command: EngineCommand, terms: Terms) -> None:
        """Describe it; nothing is started yet."""
        self.name = name
        self.build = ""
        self._command = command
        self._terms = terms
        self._engine: Engine | None = None

    @property
    def engine(self) -> Engine:
        """The running engine; call `begin` first."""
        if self._engine is None:
            raise RuntimeError(f"{self.name} has not been started")
        return self._engine

    async def begin(self, start: Game) -> None:
        """Bring it to the start of a new game, in a new process if it has none.

        Raises:
            EngineError: it fails; it has no process any more then.
            ControlError: the time control cannot be told to it.
        """
        try:
            if self._engine is None:
                self._engine = await open_engine(self._command)
                self.build = await _build(self._engine)
                await self._tell_nodes(self._engine)
            self._engine.forget()
            await self._engine.sync(start)
            await self._compare_board(self._engine, start)
            if self._terms.control is not None:
                settings = self._terms.control.settings(self._engine.commands)
                name, *arguments = settings.split()
                await self._engine.send(name, *arguments)
        except EngineError:
            await self.drop()
            raise

    async def drop(self) -> None:
        """End its process, if there is one; the next game gets a new one."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()

    async def _tell_nodes(self, engine: Engine) -> None:
        """Tell the visits a move, unless the command line does."""
        if self._terms.nodes is not None and engine.knows("kata-set-param"):
            await engine.send("kata-set-param", "maxVisits", str(self._terms.nodes))

    async def _compare_board(self, engine: Engine, game: Game) -> None:
        if not engine.knows("gogui-rules_board"):
            return
        shown = "".join(mark for mark in await engine.send("gogui-rules_board"))
        marks = "".join(mark for mark in shown if mark in "XO.")
        if marks != "".join(notation.rows(game.position)):
            raise Refused(
                self.name, "gogui-rules_board", "its board is not the start position"
            )


async def _build(engine: Engine) -> str:
    """Return name, version and build of an engine, as far as it tells."""
    words = [engine.name, engine.version]
    if engine.knows("tanbo-build"):
        words.append(await engine.send("tanbo-build"))
    return " ".join(word for word in words if word)


async def play_game(
    pair: Pair,
    number: int,
    opening: Sequence[str],
    players: tuple[Contestant, Contestant],
    terms: Terms,
) -> GameRecord:
    """Play one game of a pair and return its record.

    Args:
        pair: the pair.
        number: 0 or 1, the game of the pair.
        opening: vertices played before the engines take over.
        players: Black, White.
        terms: what a move may take.
    """
    table = _Table(setups.by_name(pair.setup), opening, players, terms)
    winner: Color | None
    try:
        winner, termination, reason = await table.play()
    except GameLost as lost:
        winner, termination, reason = (
            lost.loser.opponent,
            lost.termination,
            lost.reason,
        )
        if lost.termination.is_forfeit:
            # After a fault nobody knows what is in its pipe.
            await players[lost.loser].drop()
    return GameRecord(
        pair=pair.number,
        game=number,
        opening=tuple(opening),
        setup=pair.setup,
        black=players[0].name,
        white=players[1].name,
        winner=winner.word,
        termination=termination,
        reason=reason,
        moves=tuple(table.vertices),
        seconds=tuple(table.seconds),
        limit=tuple(table.limits),
        black_build=players[0].build,
        white_build=players[1].build,
    )


class _Table:
    """A game in progress: board, clocks, both engines."""

    def __init__(
        self,
        setup: setups.Setup,
        opening: Sequence[str],
        players: tuple[Contestant, Contestant],
        terms: Terms,
    ) -> None:
        self._start = Game(setup.position())
        self._game = Game(setup.position())
        for vertex in opening:
            self._game.play(parse_vertex(self._game.size, vertex))
        self._players = players
        self._terms = terms
        self._clock = GameClock(terms.control)
        self.seconds: list[float] = []
        self.limits: list[float | None] = []

    @property
    def vertices(self) -> list[str]:
        """Every move so far."""
        return [
            format_vertex(self._game.size, move.point)
            for move in self._game.moves
            if move.point is not None
        ]

    async def play(self) -> tuple[Color, Termination, str]:
        """Play to the end; return the winner and how.

        Raises:
            GameLost: a side resigns or is at fault.
        """
        for color in Color:
            await self._prepare(color)
        while (winner := self._game.winner) is None:
            await self._turn(self._game.to_move)
        loser = winner.opponent
        return winner, Termination.BOARD, f"{loser.word} has no stone left"

    async def _prepare(self, color: Color) -> None:
        """Start an engine and show it the opening."""
        player = self._players[color]
        try:
            await player.begin(self._start)
            await player.engine.sync(self._game)
        except EngineError as error:
            if isinstance(error, StartFailed) and not isinstance(
                error.__cause__, EngineError
            ):  # nothing was started: not the fault of who plays
                raise OSError(str(error)) from error
            raise _fault(color, error) from error
        except ControlError as error:
            raise GameLost(color, Termination.PROTOCOL_ERROR, str(error)) from error

    async def _turn(self, color: Color) -> None:
        limit = self._clock.limit(color)
        self.limits.append(limit)
        try:
            point = await self._answer(color, limit)
            self._game.play(point)
        except IllegalMove as error:
            reason = f"illegal move: {error}"
            raise GameLost(color, Termination.ILLEGAL, reason) from error
        opponent = color.opponent
        if self._game.winner is None:
            try:
                await self._players[opponent].engine.sync(self._game)
            except EngineError as error:
                raise _fault(opponent, error) from error

    async def _answer(self, color: Color, limit: float | None) -> int:
        """Let a side move; return its point."""
        engine = self._players[color].engine
        wait = self._terms.hang
        if limit is not None:
            wait = limit + self._terms.margin + min(GRACE, self._terms.hang)
        try:
            left = self._clock.time_left(color, engine.commands)
            if left is not None and engine.knows("time_left"):
                await engine.send("time_left", *left.split())
            answer = await engine.genmove(color, wait)
        except EngineError as error:
            if isinstance(error, TimedOut):
                self.seconds.append(error.seconds)
            raise _fault(color, error) from error
        self.seconds.append(answer.seconds)
        self._clock.spend(color, answer.seconds)
        if limit is not None and answer.seconds > limit + self._terms.margin:
            reason = f"took {answer.seconds:.3f} s of {limit:.3f} s"
            raise GameLost(color, Termination.TIME, reason)
        return self._point(color, answer.move)

    def _point(self, color: Color, move: str) -> int:
        if move == "resign":
            raise GameLost(color, Termination.RESIGN, f"{color.word} resigns")
        if move == "pass":
            reason = "illegal move: there is no passing (R7)"
            raise GameLost(color, Termination.ILLEGAL, reason)
        try:
            return parse_vertex(self._game.size, move)
        except VertexError as error:
            reason = f"illegal move: {error}"
            raise GameLost(color, Termination.ILLEGAL, reason) from error


def _fault(color: Color, error: EngineError) -> GameLost:
    """Return the loss that an engine's failure is."""
    cause = error.__cause__ if isinstance(error, StartFailed) else error
    if isinstance(cause, TimedOut):
        termination = Termination.HANG
    elif isinstance(cause, EngineDied):
        termination = Termination.CRASH
    else:
        termination = Termination.PROTOCOL_ERROR
    return GameLost(color, termination, str(error))
