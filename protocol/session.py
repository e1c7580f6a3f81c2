"""One connection's state: set-up, game, clock, player, and the work that takes time."""

import os
import time
from collections.abc import Callable
from typing import TypeVar

from protocol import config, gtp
from protocol.transcript import Transcript
from tanbo_engine import __version__, clock, rules, setups
from tanbo_engine._kernel import StopFlag
from tanbo_engine.game import Game
from tanbo_engine.player import Limits, Report, SearchPlayer, run_stoppable
from tanbo_engine.points import Color, Size, format_vertex

_Result = TypeVar("_Result")


class Session:
    """What one controller has set up and played.

    Attributes:
        settings: as the process was started.
        setup: the current set-up.
        game: the game in progress; replaced, not emptied, by a new one.
        clock: both sides' time.
        komi: as the controller set it; Tanbo has no use for it.
        closing: `quit` has been answered; no line is handled after that.
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
        self.closing = False
        self.transcript = transcript or Transcript()
        seed = _draw_seed() if settings.seed is None else settings.seed
        self._player = SearchPlayer(settings.memory, seed)
        self._games_played = 0
        self._stop = StopFlag()
        self.note(f"tanbo-engine {__version__}, {self.setup.name}, seed {seed}")

    def note(self, remark: str) -> None:
        """Write a remark to the transcript."""
        self.transcript.note(remark)

    def stop(self) -> None:
        """End the running search or count now; it answers with what it has."""
        self._stop.set()

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
        self.setup, self.game = setup, game
        self.clock.restart()

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

    async def think(self) -> Report:
        """Search the current position, in which the game is not over."""
        self._stop = StopFlag()
        began = time.monotonic()
        try:
            report = await self._player.think(
                self.game, self._limits(), self._stop, self._games_played
            )
        except MemoryError as error:
            raise gtp.GtpError(
                f"no memory for a search tree of {self.settings.memory} MB: "
                "start the engine with a smaller --memory"
            ) from error
        line = " ".join(format_vertex(self.game.size, p) for p in report.variation)
        self.note(
            f"{report.visits} visits, {time.monotonic() - began:.3f} s, "
            f"value {report.value:.3f}, proof {report.proof}, {line}"
        )
        return report

    async def run(self, work: Callable[[StopFlag], _Result]) -> _Result:
        """Run kernel work that heeds a stop flag."""
        stop = self._stop = StopFlag()
        return await run_stoppable(lambda: work(stop), stop)

    def _limits(self) -> Limits:
        """A running clock beats ``--time``; ``--nodes`` caps both."""
        game, settings = self.game, self.settings
        seconds = self.clock.budget(game.to_move, game.size.area)
        if seconds is None and (settings.time is not None or settings.nodes is None):
            seconds = clock.with_reserve(settings.time or config.DEFAULT_SECONDS)
        return Limits(seconds, settings.nodes)


def _draw_seed() -> int:
    return int.from_bytes(os.urandom(8), "big") >> 1
