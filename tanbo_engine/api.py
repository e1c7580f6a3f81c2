"""Tanbo for scripts: a game, its rules and the search player behind one object.

    >>> from tanbo_engine.api import Tanbo
    >>> game = Tanbo("dense-7x7", seed=1)
    >>> game.play(game.best_move(visits=500))

Points are named by vertices, ``C4``; where a report holds points, `Tanbo.vertex` names
them. Everything here only composes `game`, `player`, `record` and `notation`; whoever
needs more finds the `Game` in `Tanbo.game`.
"""

import math
import secrets
import sys
import threading
from collections.abc import Generator, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import NamedTuple, NoReturn, cast

from tanbo_engine import notation, points, record, rules, setups
from tanbo_engine._kernel import StopFlag
from tanbo_engine.game import Game
from tanbo_engine.levels import LEVELS, STRONGEST, at_level, most_visits
from tanbo_engine.patience import HARMLESS
from tanbo_engine.player import (
    MOST_THREADS,
    MOST_VISITS,
    Aim,
    Limits,
    Report,
    SearchPlayer,
    Stream,
    choice_source,
    usable_threads,
)
from tanbo_engine.points import Color
from tanbo_engine.wording import counted, short

_SEED_BITS = 63
_MOST_MEGABYTES = 1_048_576
_TAKEN_OVER = (
    "another search of this object ended the analysis: close the analysis first, or "
    "use an object of its own"
)

Reports = Generator[Report, None, None]
"""Reports of a search that goes on until it ends or they are closed."""


class Root(NamedTuple):
    """A root, its points named by vertices.

    Attributes:
        color: whose.
        stones: where it stands.
        growth_points: where it can grow.
    """

    color: Color
    stones: tuple[str, ...]
    growth_points: tuple[str, ...]


class Tanbo:
    """A game from a start position, and a player who can be asked about it.

    Attributes:
        game: start position and moves so far.
    """

    def __init__(
        self,
        setup: str = setups.DEFAULT,
        *,
        seed: int | None = None,
        memory_mb: int = 256,
        threads: int = 1,
    ) -> None:
        """Begin a game.

        Args:
            setup: name of the set-up, such as ``dense-7x9`` or ``classic-19x19``.
            seed: with the same seed, moves and limit of visits a search finds the
                same on every machine; drawn if None.
            memory_mb: bound of the search tree, which takes it at the first search.
            threads: how many search, one a core at most; with more than one, seeds
                repeat nothing.

        Raises:
            setups.UnknownSetup: the message lists the nearest good names.
            MemoryError: the machine does not have that much.
            TypeError: the set-up is no text.
            ValueError: a seed, memory or number of threads that is none.
        """
        start = _start(setup)
        if seed is not None:
            _require_whole("seed", seed, 0, (1 << _SEED_BITS) - 1)
        _require_whole("memory_mb", memory_mb, 1, _MOST_MEGABYTES)
        _require_whole("threads", threads, 1, MOST_THREADS)
        self._seed = secrets.randbits(_SEED_BITS) if seed is None else seed
        self._player = SearchPlayer(
            memory_mb, self._seed, threads=usable_threads(threads)
        )
        self._games = 0
        self._stop = StopFlag()
        self.game = Game(start)

    @classmethod
    def from_sgf(
        cls, data: bytes | str, *, seed: int | None = None, memory_mb: int = 256
    ) -> "Tanbo":
        """Begin with the game of an SGF file, at its end.

        Raises:
            record.RecordError: it is no game of Tanbo; the message says where.
            TypeError: it is neither text nor bytes.
        """
        if not isinstance(data, bytes | str):
            raise TypeError(f"an SGF file is text or bytes, not {data!r}")
        raw = data.encode() if isinstance(data, str) else data
        tanbo = cls(seed=seed, memory_mb=memory_mb)
        tanbo.game = record.read_sgf(raw).game
        return tanbo

    def restart(self, setup: str | None = None) -> None:
        """Begin another game: from a set-up, or from the same start.

        Raises:
            setups.UnknownSetup: nothing has changed then.
        """
        self.game = Game(self.game.start if setup is None else _start(setup))
        self._games += 1

    def __str__(self) -> str:
        """Return the board with its coordinates."""
        return notation.diagram(self.game.position)

    def __repr__(self) -> str:
        """Return set-up or size, number of moves, and who is to move or has won."""
        setup = record.setup_of(self.game.start)
        name = self.game.size if setup is None else setup.name
        moves = counted(len(self.game.moves), "move")
        state = self.result or f"{self.to_move.word} to move"
        return f"<Tanbo {name}, {moves}, {state}>"

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: a search cannot be."""
        raise TypeError(
            "a Tanbo can be neither copied nor pickled: keep its sgf(), "
            "from which Tanbo.from_sgf() makes another"
        )

    # Points and vertices

    def vertex(self, point: int) -> str:
        """Return the vertex of a point.

        Raises:
            ValueError: there is no such point on this board.
        """
        _require_whole("point", point, 0, self.game.size.area - 1)
        return points.format_vertex(self.game.size, point)

    def point(self, vertex: str) -> int:
        """Return the point of a vertex, in either case.

        Raises:
            points.VertexError: not a vertex of this board.
            TypeError: no text.
        """
        _require_text("vertex", vertex, "C4")
        return points.parse_vertex(self.game.size, vertex)

    def _vertices(self, some: Sequence[int]) -> tuple[str, ...]:
        ordered = points.by_column(self.game.size, list(some))
        return tuple(self.vertex(point) for point in ordered)

    # The game

    def play(self, *moves: str | int) -> None:
        """Make moves, by vertex or point, beginning with the side to move.

        Raises:
            points.VertexError: not a vertex of this board; no move is made then.
            rules.IllegalMove: with the reason; no move is made then.
            TypeError: neither vertex nor point; no move is made then.
        """
        made = len(self.game.moves)
        try:
            for move in moves:
                self.game.play(self._placed(move))
        except (TypeError, ValueError):
            while len(self.game.moves) > made:
                self.game.undo()
            raise

    def _placed(self, move: object) -> int:
        """Return the point of a move."""
        if isinstance(move, str):
            return self.point(move)
        if not isinstance(move, int) or isinstance(move, bool):
            raise TypeError(
                f"a move is a vertex such as 'C4', or a point, not {move!r}"
            )
        return move

    def undo(self) -> str | None:
        """Take back the last move; return its vertex, None for a pass.

        Raises:
            IndexError: no move has been made.
        """
        point = self.game.undo().point
        return None if point is None else self.vertex(point)

    @property
    def to_move(self) -> Color:
        """The side to move."""
        return self.game.to_move

    @property
    def winner(self) -> Color | None:
        """The winner, None while the game goes on."""
        return self.game.winner

    @property
    def result(self) -> str | None:
        """``B+1`` or ``W+1``, None while the game goes on."""
        return self.game.result

    @property
    def position(self) -> rules.Position:
        """The position now, as a value for `rules` and `explain`."""
        return self.game.position

    def legal_moves(self, color: Color | None = None) -> tuple[str, ...]:
        """Return where a colour (default: to move) may play; nothing after the end.

        Raises:
            TypeError: no `Color`.
        """
        if color is not None:
            points.check_color(color)
        return self._vertices(self.game.legal_moves(color))

    def roots(self) -> list[Root]:
        """Return the roots of both sides."""
        return [
            Root(Color(color), self._vertices(stones), self._vertices(growth))
            for color, stones, growth in self.game.kernel.roots()
        ]

    # The player

    def best_move(
        self, *, seconds: float | None = None, visits: int | None = None
    ) -> str:
        """Return the best move that can be found, as a vertex.

        Without `visits` that is the strongest player's, which knows little of the other
        moves; with them `search` says what it is worth.

        Raises:
            ValueError: no limit is given or a wrong one, or the game is over.
        """
        aim = Aim.MOVE if visits is None else Aim.COMPARE
        return self.vertex(self._search(_limits(seconds, visits), aim).point)

    def search(
        self,
        *,
        seconds: float | None = None,
        visits: int | None = None,
        stop: StopFlag | None = None,
    ) -> Report:
        """Search the position for the side to move, and return what was found.

        Args:
            seconds: thinking time.
            visits: descents of the tree; whichever limit comes first ends the search.
            stop: ends it with what it has when set, also if that was before it began;
                `stop` sets it as well.

        Raises:
            ValueError: no limit is given or a wrong one, or the game is over.
        """
        return self._search(_limits(seconds, visits), stop=stop)

    def _search(
        self,
        limits: Limits,
        aim: Aim = Aim.COMPARE,
        stop: StopFlag | None = None,
    ) -> Report:
        if limits.seconds is None and limits.visits is None:
            raise ValueError("a search needs a limit: seconds or visits")
        self._require_going_on()
        return self._player.search(
            self.game, limits, self._new_stop(stop), self._games, aim=aim
        )

    def choose(
        self,
        *,
        seconds: float | None = None,
        visits: int | None = None,
        level: int = STRONGEST,
        stop: StopFlag | None = None,
    ) -> Report:
        """Return what a player of a level does: a report with the move it would make.

        A search by time may end before, when nothing could change its move any more.

        Args:
            seconds: thinking time.
            visits: descents of the tree.
            level: one of `levels.LEVELS`, which may limit the visits further.
            stop: as of `search`.

        Raises:
            ValueError: no limit is given or a wrong one, there is no such level, or the
                game is over.
        """
        _require_whole("level", level, min(LEVELS), STRONGEST)
        seconds, visits, *_ = _limits(seconds, visits)
        limits = Limits(seconds, most_visits(level, visits), early=HARMLESS)
        is_best = level == STRONGEST and limits.visits is None
        aim = Aim.MOVE if is_best else Aim.COMPARE
        report = self._search(limits, aim, stop)
        source = choice_source(self._seed, self._games, self.game.kernel.key)
        return at_level(report, self.game, level, source)

    def analyze(
        self,
        *,
        seconds: float | None = None,
        visits: int | None = None,
        interval: float = 0.1,
    ) -> Reports:
        """Search in the background; yield what is found up to now, the end's last.

        Leaving the loop (or closing the generator) stops the search, and `stop` ends it
        with a last report. One search at a time: another one of this object takes over,
        and whoever reads on here is told so by an error. Moves made meanwhile do not
        change what is analyzed.

        Args:
            seconds: thinking time, without limit if None.
            visits: descents of the tree, as many as it can count if None.
            interval: seconds between two reports; a slow reader gets the newest one.

        Raises:
            ValueError: a limit is wrong, or the game is over.
            RuntimeError: raised by the generator after another search took over.
        """
        self._require_going_on()
        limits = _limits(seconds, MOST_VISITS if visits is None else visits)
        _require_time("interval", interval, above=True)
        return self._reports(Game(self.position), limits, interval)

    def _reports(self, game: Game, limits: Limits, interval: float) -> Reports:
        found: SimpleQueue[Report | None] = SimpleQueue()
        last: Future[Report] = Future()
        stop, salt = self._new_stop(), self._games
        stream = Stream(found.put, interval)

        def work() -> None:
            try:
                report = self._player.search(game, limits, stop, salt, stream)
                if self._stop is stop:
                    last.set_result(report)
                else:
                    last.set_exception(RuntimeError(_TAKEN_OVER))
            except BaseException as error:  # the reader gets it
                last.set_exception(error)
            finally:
                found.put(None)

        # A daemon: a script may end while it holds the generator.
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            while (report := _newest(found)) is not None:
                yield report
            yield last.result()
        finally:
            stop.set()
            thread.join()

    def stop(self) -> None:
        """End the search that goes on, from another thread or a signal handler.

        It answers with what it has found.
        """
        self._stop.set()

    def _new_stop(self, stop: StopFlag | None = None) -> StopFlag:
        """Stop the search that may still go on; return the flag of the next one.

        Raises:
            TypeError: `stop` is something else; nothing has changed then.
        """
        if not isinstance(stop, StopFlag | None):
            raise TypeError(f"stop is a StopFlag, not {stop!r}")
        self._stop.set()
        self._stop = stop or StopFlag()
        return self._stop

    def _require_going_on(self) -> None:
        if self.winner is not None:
            raise ValueError(f"the game is over: {self.result}")

    # Records

    def sgf(self, headers: record.Headers | None = None) -> str:
        """Return the game as SGF.

        Args:
            headers: players, date and the like; set-up and result are filled in where
                they are empty.
        """
        headers = headers or record.Headers()
        setup = record.setup_of(self.game.start)
        name = "" if setup is None else setup.name
        return record.sgf(
            self.game,
            headers._replace(
                setup=headers.setup or name, result=headers.result or self.result or ""
            ),
        )


def _start(setup: object) -> rules.Position:
    """Return the start position of a set-up's name."""
    return setups.by_name(_require_text("setup", setup, setups.DEFAULT)).position()


def _limits(seconds: float | None, visits: int | None) -> Limits:
    """Return limits that a search can keep."""
    if seconds is not None:
        _require_time("seconds", seconds)
    if visits is not None:
        _require_whole("visits", visits, 1, MOST_VISITS)
    return Limits(seconds, visits)


def _require_time(name: str, value: object, *, above: bool = False) -> None:
    """Raise `ValueError` for what is no finite number, below 0, or 0 with `above`."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if (
        not is_number
        or not 0 <= cast("float", value) <= sys.float_info.max
        or (above and value == 0)
    ):
        least, shown = "above 0" if above else "0 or more", short(repr(value))
        raise ValueError(f"{name} must be a finite number, {least}, not {shown}")


def _require_whole(
    name: str, value: object, least: int, most: int | None = None
) -> None:
    """Raise `ValueError` for what is no whole number, or out of bounds."""
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    top = math.inf if most is None else most
    if not is_whole or not least <= cast("int", value) <= top:
        bounds = f"from {least}" + ("" if most is None else f" to {most}")
        raise ValueError(f"{name} must be a whole number {bounds}, not {value!r}")


def _require_text(name: str, value: object, example: str) -> str:
    """Return a text; raise `TypeError` for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"a {name} is a text such as {example!r}, not {value!r}")
    return value


def _newest(queue: SimpleQueue[Report | None]) -> Report | None:
    """Wait for something in the queue; return the last thing in it."""
    item = queue.get()
    while not queue.empty():
        item = queue.get()
    return item
