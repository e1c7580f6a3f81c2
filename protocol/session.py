"""One connection's state: set-up, game, clock, player, and the work that takes time."""

import os
import time
from collections.abc import Callable, Collection, Coroutine, Mapping
from enum import Flag, auto
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.from_thread
import msgspec

from protocol import config, gtp
from protocol.transcript import Transcript
from tanbo_engine import __version__, clock, rules, setups
from tanbo_engine._kernel import StopFlag
from tanbo_engine.chance import MOVES_TO_RESIGN
from tanbo_engine.game import Game
from tanbo_engine.levels import STRONGEST, at_level, most_visits
from tanbo_engine.patience import FRUGAL, HARMLESS
from tanbo_engine.player import (
    Aim,
    Limits,
    Report,
    SearchPlayer,
    Stream,
    choice_source,
    run_stoppable,
)
from tanbo_engine.points import Color, Size, format_vertex
from tanbo_engine.variety import varied, varies
from tanbo_engine.wording import counted

if TYPE_CHECKING:
    from tanbo_engine.answers import Question
    from tanbo_engine.record import LoadedGame

Tell = Callable[[Report], Coroutine[Any, Any, None]]
"""Takes a report of a search that goes on; the search waits for it."""

_LIVE_SECONDS = 0.25
_PLAYER_SETTINGS = ("memory", "player", "seed", "threads")
_UNLIMITED = Limits()
_GLANCE = Limits(visits=32)


_Result = TypeVar("_Result")


class Input(Flag):
    """What may come in while a command runs."""

    LINE = auto()
    """Any line, also a blank one or a comment."""
    INTERRUPT = auto()
    """GoGui's comment ``# interrupt``."""
    END = auto()
    """No more."""


NO_INPUT = Input(0)


class Work:
    """Work that takes time, and what ends it before it is done.

    Attributes:
        ended_by: the input that ends it.
        stop: what the kernel heeds.
    """

    def __init__(self, ended_by: Input) -> None:
        self.ended_by = ended_by
        self.stop = StopFlag()
        self._ended = anyio.Event()

    @property
    def is_ended(self) -> bool:
        """Whether it was ended, be it done or not."""
        return self._ended.is_set()

    def end(self) -> None:
        """End it now."""
        self._ended.set()
        self.stop.set()

    async def wait(self) -> None:
        """Wait until it is ended, be it done or not."""
        await self._ended.wait()


class Session:
    """What one controller has set up and played.

    Attributes:
        settings: as the process was started.
        setup: the current set-up.
        game: the game in progress; replaced, not emptied, by a new one.
        clock: both sides' time.
        komi: as the controller set it; Tanbo has no use for it.
        loaded: the record that the game began with, None if it began otherwise.
        questions: what was asked about the rules in this game.
        may_use_files: commands may read and write files of this machine.
        closing: `quit` has been answered; no line is handled after that.
        is_engaged: we have made a move of this game, and no one has gone back since.
        waiting: input behind the line that is handled.
        live: shown what searches for a move find, and None at their end.
        show: takes text for the side channel of GoGui, stderr.
        transcript: where it is written down.
    """

    def __init__(
        self, settings: config.Settings, transcript: Transcript | None = None
    ) -> None:
        """Set up the start position.

        Raises:
            SettingsError: the set-up or size of the settings does not exist.
            MemoryError: the machine does not have the memory of the settings.
        """
        self.settings = settings
        self.setup = config.start_setup(settings)
        self.game = Game(self.setup.position())
        self.clock = clock.Clock()
        self.komi = 0.0
        self.loaded: LoadedGame | None = None
        self.questions: list[Question] = []
        self.may_use_files = True
        self.closing = False
        self.waiting = NO_INPUT
        self.live: Callable[[Report | None], Coroutine[Any, Any, None]] | None = None
        self.show: Callable[[str], None] = _show_nobody
        self.transcript = transcript or Transcript()
        seed = _draw_seed() if settings.seed is None else settings.seed
        self._seed = seed
        self._player = _player(settings, seed)
        self._games_played = 0
        self.is_engaged = False
        self._lost_moves = dict.fromkeys(Color, 0)
        self._resignation: tuple[Color, int] | None = None
        self._work: Work | None = None
        self.note(f"tanbo-engine {__version__}, {self.setup.name}, seed {seed}")

    def note(self, remark: str) -> None:
        """Write a remark to the transcript."""
        self.transcript.note(remark)

    def change(self, changes: Mapping[str, object]) -> None:
        """Take over changed settings, all of them or none.

        Args:
            changes: values of `config.PARAMS` by name, of the right types.

        Raises:
            MemoryError: the machine does not have the memory.
        """
        settings = msgspec.structs.replace(self.settings, **changes)
        if not changes.keys().isdisjoint(_PLAYER_SETTINGS):
            seed = self._seed if settings.seed is None else settings.seed
            self._player = _player(settings, seed)
            self._seed = seed
        self.settings = settings

    def stop(self) -> None:
        """End the running work now; it answers with what it has."""
        if self._work is not None:
            self._work.end()

    def input_arrived(self, what: Input) -> None:
        """Take note of input behind the line that is handled; it may end the work."""
        self.waiting |= what
        if self._work is not None and what & self._work.ended_by:
            self._work.end()

    # The game

    @property
    def canvas_side(self) -> int | None:
        """Side of the square that a rectangle is shown on, None without canvas."""
        width, height = self.game.size
        if not self.settings.canvas or width == height:
            return None
        return max(width, height)

    def new_game(
        self, setup: setups.Setup | None = None, start: rules.Position | None = None
    ) -> None:
        """Begin a new game; `undo` does not reach behind it.

        Args:
            setup: the new set-up; the current one if None.
            start: where the game begins; at the set-up's start position if None.
        """
        setup = setup or self.setup
        game = Game(start or setup.position())
        if self.game.moves:
            self._games_played += 1
        self.setup, self.game, self.loaded = setup, game, None
        self.questions = []
        self._resignation = None
        self.clock.restart()
        self.disengage()

    def disengage(self) -> None:
        """Take it that the controller does something else than play on against us."""
        self.is_engaged = False
        self._lost_moves = dict.fromkeys(Color, 0)

    def load(self, position: rules.Position, setup: setups.Setup | None = None) -> None:
        """Begin a new game at a position that someone made up.

        Raises:
            GtpError: no game can reach the position; nothing has changed then.
        """
        try:
            rules.check_position(position)
        except rules.ImpossiblePosition as error:
            raise gtp.GtpError(str(error)) from error
        self.new_game(setup, position)

    def require_size(self, size: Size) -> None:
        """Raise `GtpError` if ``--lock-size`` forbids the size."""
        if self.settings.lock_size and size != self.game.size:
            raise gtp.GtpError(
                gtp.UNACCEPTABLE_SIZE, f"--lock-size keeps {self.game.size}"
            )

    def require_turn(self, color: Color) -> None:
        """Raise `GtpError` if the other side is to move in a game that goes on."""
        if self.game.winner is None and color is not self.game.to_move:
            raise gtp.GtpError(
                gtp.ILLEGAL_MOVE, f"it is {self.game.to_move.word}'s turn (R2)"
            )

    def play(self, color: Color, point: int | None) -> None:
        """Make a move, or a pass that closes a finished game.

        Raises:
            GtpError: ``illegal move``; nothing has changed then.
        """
        if self._is_start_stone(color, point):
            return
        self.require_turn(color)
        try:
            if point is None:
                self.game.close(color)
            else:
                self.game.play(point)
        except rules.IllegalMove as error:
            raise gtp.GtpError(gtp.ILLEGAL_MOVE, str(error)) from error

    def _is_start_stone(self, color: Color, point: int | None) -> bool:
        return (
            self.settings.accept_start_stones
            and not self.game.moves
            and point in self.game.start.stones(color)
        )

    # Work that takes time

    def begin(self, ended_by: Input = Input.INTERRUPT) -> Work:
        """Begin work, which input that is waiting may end at once."""
        self._work = Work(ended_by)
        self.input_arrived(self.waiting)
        return self._work

    async def think(self) -> Report:
        """Search within the limits of a move, to show what is found; at full strength.

        A forced move is searched, too. The game is not over. An interrupt may end it.
        """
        limits = self._limits(self.settings.nodes)._replace(early=None)
        report = await self._search(self.begin(), limits, self.live or _tell_nobody)
        if self.live is not None:
            await self.live(None)
        return report

    async def choose(
        self,
        work: Work | None = None,
        tell: Tell | None = None,
        interval: float = _LIVE_SECONDS,
        only: Collection[int] = (),
    ) -> Report:
        """Search for a move as the settings want it; the game is not over.

        Where moves are to be compared, be it to show them or to choose another than the
        best, the search is one for that; so it is with a limit of nodes.

        Args:
            work: what may end it; without one, an interrupt may.
            tell: told reports on the way, unless the move is forced, and the last one.
            interval: seconds between two of them.
            only: points to choose from; empty for every legal one.
        """
        settings, game = self.settings, self.game
        limits = self._limits(most_visits(settings.level, settings.nodes))
        if settings.level < STRONGEST:
            self._player.forget()  # a weak player has not seen what was analysed
        work = work or self.begin()
        report = await self._watched(
            work, limits, tell, interval, only, self._aim(tell)
        )
        key = game.kernel.key
        source = choice_source(self._seed, self._games_played, key)
        report = varied(report, game, settings.variety, source)
        return at_level(report, game, settings.level, source)

    def _aim(self, tell: Tell | None = None) -> Aim:
        """Return what a search for a move is for."""
        settings = self.settings
        is_compared = (
            tell is not None
            or self.live is not None
            or settings.nodes is not None
            or settings.level < STRONGEST
            or varies(self.game, settings.variety)
        )
        return Aim.COMPARE if is_compared else Aim.MOVE

    async def _watched(
        self,
        work: Work,
        limits: Limits,
        tell: Tell | None,
        interval: float,
        only: Collection[int],
        aim: Aim,
    ) -> Report:
        """Search, and tell it to who wants to know, or show it where it is shown."""
        is_forced = len(only or self.game.legal_moves()) == 1
        on_the_way = None if is_forced else tell or self.live
        report = await self._search(work, limits, on_the_way, interval, only, aim)
        if tell is not None:
            await tell(report)
        elif self.live is not None:
            await self.live(None)
        return report

    def gives_up(self, color: Color, report: Report) -> bool:
        """Tell whether it is time to resign; call it once for each own move."""
        is_lost = 100 * report.value < self.settings.resign
        self._lost_moves[color] = self._lost_moves[color] + 1 if is_lost else 0
        if self._lost_moves[color] < MOVES_TO_RESIGN:
            return False
        self.is_engaged = False
        self.resign(color)
        return True

    def resign(self, color: Color) -> None:
        """Take it that a side gives up where the game is now."""
        self._resignation = color, len(self.game.moves)

    @property
    def resigned(self) -> Color | None:
        """Who has given the game up; nobody once it goes on or back."""
        if self._resignation is None or self._resignation[1] != len(self.game.moves):
            return None
        return self._resignation[0]

    @property
    def result(self) -> str | None:
        """``B+1``, ``W+R`` and the like; None while the game goes on."""
        if self.resigned is not None:
            return f"{self.resigned.opponent.initial}+R"
        return self.game.result

    def take_back(self, count: int) -> None:
        """Take back moves, of which there must be so many."""
        self.disengage()
        for _ in range(count):
            self._resignation = None
            self.game.undo()

    @property
    def may_ponder(self) -> bool:
        """Whether to search while no input comes: the opponent thinks, too."""
        settings = self.settings
        return (
            settings.ponder
            and self.is_engaged
            and settings.level == STRONGEST
            and self.game.winner is None
        )

    async def ponder(self, work: Work) -> None:
        """Search the position until the work is ended; the next search goes on."""
        limits = Limits(visits=self.settings.nodes)
        try:
            await self._search(work, limits, aim=self._aim())
        except Exception as error:  # no memory, or a bug: the next search will tell
            self.note(f"pondering ended: {error}")
            self.is_engaged = False

    async def analyze(
        self, tell: Tell, interval: float, only: Collection[int] = ()
    ) -> None:
        """Search a game that is not over until input comes; tell reports on the way.

        At least one is told, and the last one of a search that ends by itself.

        Args:
            tell: told the reports.
            interval: seconds between two of them.
            only: points to choose from; empty for every legal one.
        """
        work, told = self.begin(Input.LINE | Input.END), False

        async def pass_on(report: Report) -> None:
            nonlocal told
            told = True
            await tell(report)

        report = await self._search(work, _UNLIMITED, pass_on, interval, only)
        if not report.visits:
            report = await self._search(Work(NO_INPUT), _GLANCE, only=only)
        if not (told and work.is_ended):
            await tell(report)
        await work.wait()

    async def _search(
        self,
        work: Work,
        limits: Limits,
        tell: Tell | None = None,
        interval: float = _LIVE_SECONDS,
        only: Collection[int] = (),
        aim: Aim = Aim.COMPARE,
    ) -> Report:
        stream = None if tell is None else Stream(_in_the_loop(tell), interval)
        began = time.monotonic()
        try:
            report = await self._player.think(
                self.game, limits, work.stop, self._games_played, stream, only, aim
            )
        except MemoryError as error:
            raise gtp.GtpError(
                f"no memory for a search tree of {self.settings.memory} MB: "
                "start the engine with a smaller --memory"
            ) from error
        line = " ".join(format_vertex(self.game.size, p) for p in report.variation)
        self.note(
            f"{counted(report.visits, 'visit')}, {time.monotonic() - began:.3f} s, "
            f"value {report.value:.3f}, proof {report.proof}, {line}"
        )
        return report

    async def run(self, work: Callable[[StopFlag], _Result]) -> _Result:
        """Run kernel work that heeds a stop flag."""
        stop = self.begin().stop
        return await run_stoppable(lambda: work(stop), stop)

    def _limits(self, nodes: int | None) -> Limits:
        """A running clock beats ``--time``; ``--nodes`` caps both."""
        game, settings = self.game, self.settings
        plan = self.clock.plan(game.to_move, clock.outlook(game))
        if plan is not None:
            early = FRUGAL if plan.saves else HARMLESS
            return Limits(plan.maximum, nodes, plan.target, early)
        if settings.time is None and settings.nodes is not None:
            return Limits(visits=nodes)
        seconds = clock.with_reserve(settings.time or config.DEFAULT_SECONDS)
        return Limits(seconds, nodes, early=HARMLESS)


def _in_the_loop(tell: Tell) -> Callable[[Report], None]:
    """Return what tells from the thread that searches."""
    return lambda report: anyio.from_thread.run(tell, report)


def _player(settings: config.Settings, seed: int) -> SearchPlayer:
    """Return the player that the settings ask for."""
    threads = config.thread_count(settings.threads, settings.seed)
    return SearchPlayer(settings.memory, seed, settings.player, threads, keep=True)


async def _tell_nobody(report: Report) -> None:
    """Tell nobody: only a search that is not told of at all may skip a forced move."""


def _show_nobody(text: str) -> None:
    """Show nothing: nobody looks."""


def _draw_seed() -> int:
    return int.from_bytes(os.urandom(8), "big") >> 1
