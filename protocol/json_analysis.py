"""`tanbo-engine analysis`: many positions at once, JSON lines in and out.

The event loop reads lines and checks queries as they come; a pool of threads, each with
a player of its own, searches (the kernel works without the GIL) and writes the answers.
So answers come in the order in which they are found. Formats: `protocol.json_types`.
"""

import asyncio
import heapq
import math
import secrets
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from itertools import count
from typing import Annotated, Literal, Protocol

import anyio
import anyio.to_thread
import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from protocol import analysis, config, json_types
from protocol.json_types import Action, FieldError, MoveList, Query
from protocol.options import Parser, SettingsError, load
from protocol.server import (
    MAX_LINE,
    Line,
    raise_unless_gone,
    read_ahead,
    watch,
    write_all,
)
from tanbo_engine import __version__, build_id, rules
from tanbo_engine._kernel import StopFlag
from tanbo_engine.game import Game
from tanbo_engine.machine import cores
from tanbo_engine.player import Candidate, Limits, Report, SearchPlayer, Stream
from tanbo_engine.points import Color, Size, VertexError, format_vertex, parse_vertex
from tanbo_engine.setups import Setup
from tanbo_engine.wording import counted

DEFAULT_VISITS = 10_000
"""Visits a position where neither query nor command line has a limit."""

_MOST_WORKERS = 256
_MOST_VISITS = 1_000_000_000  # of the 32 bits that the tree counts in
_COLORS = {"B": Color.BLACK, "W": Color.WHITE, "b": Color.BLACK, "w": Color.WHITE}
_SIDES = {"BLACK": Color.BLACK, "WHITE": Color.WHITE}

Answer = Struct
"""One of `json_types.OUTPUT`."""

Tell = Callable[[Answer], None]
"""Takes an answer, in any thread."""


class Settings(
    Struct, kw_only=True, frozen=True, forbid_unknown_fields=True, rename="kebab"
):
    """What a person may choose."""

    workers: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=_MOST_WORKERS,
                description="positions searched at a time (default: one a processor)",
                extra={"metavar": "N"},
            ),
        ]
        | None
    ) = None
    memory: Annotated[
        int,
        Meta(
            ge=1,
            le=1_048_576,
            description="bound of all search trees together in megabytes (default 256)",
            extra={"metavar": "MB"},
        ),
    ] = 256
    seed: config.Seed | None = None
    nodes: (
        Annotated[
            int,
            Meta(
                ge=1,
                le=_MOST_VISITS,
                description="visits a position where a query has no maxVisits "
                f"(default {DEFAULT_VISITS}; no limit if it has a maxTime)",
                extra={"metavar": "N"},
            ),
        ]
        | None
    ) = None


# Queries: from what was sent to positions


class Job:
    """One position to search.

    Attributes:
        query: whose it is.
        start: the position that the query's moves begin from.
        turn: how many of them are made.
        stop: ends the search.
    """

    def __init__(self, query: Query, start: rules.Position, turn: int) -> None:
        self.query = query
        self.start = start
        self.turn = turn
        self.stop = StopFlag()

    def game(self) -> Game:
        """Return the game up to the position."""
        game = Game(self.start)
        for move in self.query.moves[: self.turn]:
            _play(game, move)
        return game

    def only(self, game: Game) -> frozenset[int]:
        """Return the points to choose from, empty for every legal one.

        Raises:
            analysis.NoMoveLeft: no legal move is left.
        """
        allowed = self._points(game, self.query.allow_moves)
        avoided = self._points(game, self.query.avoid_moves)
        return analysis.restriction(game, allowed, avoided or ())

    @staticmethod
    def _points(game: Game, lists: Sequence[MoveList]) -> set[int] | None:
        """Return the points of the lists for the side to move; None without one."""
        meant = [each for each in lists if _COLORS[each.player] is game.to_move]
        points = {_point(game.size, move) for each in meant for move in each.moves}
        return {point for point in points if point is not None} if meant else None


def jobs_of(query: Query) -> list[tuple[int, Job]]:
    """Return the positions of a query, each behind its priority.

    Raises:
        FieldError: the query cannot be used; nothing of it will be searched.
    """
    _check_ownership(query)
    start = _start(query)
    _check_moves(query, start)
    _check_lists(query, start.size)
    turns = _turns(query)
    priorities = query.priorities or (query.priority,) * len(turns)
    if len(priorities) != len(turns):
        text = (
            f"{counted(len(priorities), 'priority', 'priorities')} for "
            f"{counted(len(turns), 'turn')}: give one for each"
        )
        raise FieldError(text, "priorities", query.id)
    jobs = [Job(query, start, turn) for turn in turns]
    return list(zip(priorities, jobs, strict=True))


def _turns(query: Query) -> Sequence[int]:
    """Return the turns to analyse, each once."""
    last = len(query.moves)
    asked = query.analyze_turns or (last,)
    if max(asked) > last:
        text = f"turn {max(asked)} is behind the last: use 0 to {last}"
        raise FieldError(text, "analyzeTurns", query.id)
    turns = tuple(dict.fromkeys(asked))
    if query.priorities is not None and len(turns) < len(asked):
        twice = next(turn for turn in turns if asked.count(turn) > 1)
        text = f"turn {twice} is given twice: with priorities, give each turn once"
        raise FieldError(text, "analyzeTurns", query.id)
    return turns


def _check_ownership(query: Query) -> None:
    for field, is_asked in (
        ("includeOwnership", query.include_ownership),
        ("includeMovesOwnership", query.include_moves_ownership),
    ):
        if is_asked:
            raise FieldError("nobody owns points in Tanbo: use false", field, query.id)


def _start(query: Query) -> rules.Position:
    """Return the position that the moves begin from."""
    setup = _setup(query)
    start = setup.position()
    if query.initial_stones:
        if query.setup is not None:
            text = "give setup or initialStones, not both"
            raise FieldError(text, "initialStones", query.id)
        start = _loaded(query, setup)
    if query.initial_player is not None:
        start = start._replace(to_move=_COLORS[query.initial_player])
    return start


def _setup(query: Query) -> Setup:
    width, height = query.board_x_size, query.board_y_size
    if (width is None) != (height is None):
        field = "boardXSize" if width is None else "boardYSize"
        raise FieldError("both sides of the board are needed", field, query.id)
    size = None if width is None else f"{width}x{height}"
    try:
        return config.start_setup(config.Settings(size=size, setup=query.setup))
    except SettingsError as error:
        field = "boardXSize" if query.setup is None else "setup"
        raise FieldError(str(error), field, query.id) from error


def _loaded(query: Query, setup: Setup) -> rules.Position:
    """Return the position of the initial stones, Black to move."""
    stones: dict[int, Color] = {}
    for index, stone in enumerate(query.initial_stones):
        try:
            _put(stones, setup.size, stone)
        except VertexError as error:
            raise _in_list(query, "initialStones", index, error) from error
    black, white = (
        frozenset(point for point, held in stones.items() if held is color)
        for color in Color
    )
    position = rules.Position(setup.size, black, white)
    try:
        rules.check_position(position)
    except rules.ImpossiblePosition as impossible:
        text = str(impossible)
        raise FieldError(text, "initialStones", query.id) from impossible
    return position


def _put(stones: dict[int, Color], size: Size, stone: json_types.Stone) -> None:
    point = parse_vertex(size, stone[1])
    if point in stones:
        raise VertexError(f"{stone[1].upper()} has a stone already")
    stones[point] = _COLORS[stone[0]]


def _check_moves(query: Query, start: rules.Position) -> None:
    game = Game(start)
    for index, move in enumerate(query.moves):
        try:
            _play(game, move)
        except ValueError as error:
            raise _in_list(query, "moves", index, error) from error


def _check_lists(query: Query, size: Size) -> None:
    for field, lists in (
        ("allowMoves", query.allow_moves),
        ("avoidMoves", query.avoid_moves),
    ):
        for index, each in enumerate(lists):
            if each.until_depth > 1:
                text = f"{field}[{index}]: untilDepth can be 1 only: the next move"
                raise FieldError(text, field, query.id)
            try:
                for move in each.moves:
                    _point(size, move)
            except VertexError as error:
                raise _in_list(query, field, index, error) from error


def _in_list(query: Query, field: str, index: int, error: ValueError) -> FieldError:
    return FieldError(f"{field}[{index}]: {error}", field, query.id)


def _play(game: Game, move: json_types.Stone) -> None:
    """Make a move.

    Raises:
        ValueError: no vertex, not this side's turn, or an illegal move.
    """
    color, vertex = _COLORS[move[0]], move[1]
    if game.winner is None and color is not game.to_move:
        raise ValueError(f"it is {game.to_move.word}'s turn (R2)")
    point = _point(game.size, vertex)
    if point is None:
        game.close(color)
    else:
        game.play(point)


def _point(size: Size, vertex: str) -> int | None:
    """Return the point of a vertex; None for a pass.

    Raises:
        VertexError: it is neither.
    """
    return None if vertex.lower() == "pass" else parse_vertex(size, vertex)


# Answers: from reports to what is told


class _Chances:
    """What a win probability of the side to move means for the side that is told."""

    def __init__(
        self, value: float, board: analysis.Board, *, is_flipped: bool
    ) -> None:
        self.winrate = 1 - value if is_flipped else value
        self.utility = 2 * self.winrate - 1
        self.lead = board.lead(self.winrate)


class View:
    """A position as its query wants it told."""

    def __init__(self, job: Job, game: Game) -> None:
        self._job = job
        self._game = game
        self._board = analysis.board_of(game)
        told = _SIDES.get(job.query.side, game.to_move)
        self._is_flipped = told is not game.to_move

    def over(self, winner: Color) -> json_types.Analysis:
        """Return the answer to a finished game."""
        proof = 1 if winner is self._game.to_move else -1
        root = self._root(float(proof > 0), 0, proof)
        return self._analysis(root, is_over=True, winner=_initial(winner))

    def found(self, report: Report, *, is_last: bool) -> json_types.Analysis:
        """Return what a report says, which has visits."""
        root = self._root(report.value, report.visits, report.proof)
        told = [move for move in report.candidates if move.visits]
        moves = [self._move(order, move) for order, move in enumerate(told)]
        wants = self._job.query.include_policy
        policy = self._policy(report) if wants else UNSET
        return self._analysis(root, moves, policy, is_during_search=not is_last)

    def _analysis(
        self,
        root: json_types.RootInfo,
        moves: Sequence[json_types.MoveInfo] = (),
        policy: list[float] | UnsetType = UNSET,
        *,
        is_during_search: bool = False,
        is_over: bool = False,
        winner: Literal["B", "W"] | UnsetType = UNSET,
    ) -> json_types.Analysis:
        return json_types.Analysis(
            id=self._job.query.id,
            turn_number=self._job.turn,
            is_during_search=is_during_search,
            move_infos=list(moves),
            root_info=root,
            is_over=is_over,
            winner=winner,
            policy=policy,
        )

    def _root(self, value: float, visits: int, proof: int) -> json_types.RootInfo:
        chances = self._chances(value)
        return json_types.RootInfo(
            current_player=_initial(self._game.to_move),
            visits=visits,
            weight=float(visits),
            winrate=chances.winrate,
            utility=chances.utility,
            score_lead=chances.lead,
            score_selfplay=chances.lead,
            score_stdev=self._board.spread,
            proven_winner=self._proven(proof),
        )

    def _move(self, order: int, move: Candidate) -> json_types.MoveInfo:
        chances = self._chances(move.value)
        bound = self._chances(analysis.lower_bound(move))
        return json_types.MoveInfo(
            move=format_vertex(self._game.size, move.point),
            visits=move.visits,
            edge_visits=move.visits,
            weight=float(move.visits),
            winrate=chances.winrate,
            lcb=bound.winrate,
            utility=chances.utility,
            utility_lcb=bound.utility,
            score_lead=chances.lead,
            score_mean=chances.lead,
            score_selfplay=chances.lead,
            score_stdev=self._board.spread,
            prior=move.prior,
            order=order,
            pv=self._vertices(move.variation or (move.point,)),
            proven_winner=self._proven(move.proof),
        )

    def _chances(self, value: float) -> _Chances:
        return _Chances(value, self._board, is_flipped=self._is_flipped)

    def _proven(self, proof: int) -> Literal["B", "W"] | UnsetType:
        if not proof:
            return UNSET
        mover = self._game.to_move
        return _initial(mover if proof > 0 else mover.opponent)

    def _policy(self, report: Report) -> list[float]:
        """Return the priors row by row from the top, then -1 for a pass."""
        width, height = self._game.size
        priors = {move.point: move.prior for move in report.candidates}
        rows = reversed(range(height))
        points = [row * width + column for row in rows for column in range(width)]
        return [*(priors.get(point, -1.0) for point in points), -1.0]

    def _vertices(self, points: Sequence[int]) -> list[str]:
        return [format_vertex(self._game.size, point) for point in points]


def _initial(color: Color) -> Literal["B", "W"]:
    return "B" if color is Color.BLACK else "W"


# The pool


class Player(Protocol):
    """What searches: `SearchPlayer`, or a test's."""

    def search(
        self,
        game: Game,
        limits: Limits,
        stop: StopFlag,
        salt: int = 0,
        stream: Stream | None = None,
        only: Collection[int] = (),
    ) -> Report:
        """Search a game that is not over; blocks."""


class Pool:
    """Jobs in a queue and players that do them, each in a thread of its own."""

    def __init__(
        self, players: Sequence[Player], work: Callable[[Player, Job], None]
    ) -> None:
        """Start the threads.

        Args:
            players: each does one job at a time.
            work: does a job; it must not raise.
        """
        self._work = work
        self._queue: list[tuple[int, int, Job]] = []
        self._arrivals = count()
        self._running: set[Job] = set()
        self._changed = threading.Condition()
        self._is_closed = False
        for player in players:
            threading.Thread(target=self._serve, args=(player,), daemon=True).start()

    def add(self, jobs: Sequence[tuple[int, Job]]) -> None:
        """Queue jobs: higher priorities first, then in order of arrival."""
        with self._changed:
            for priority, job in jobs:
                heapq.heappush(self._queue, (-priority, next(self._arrivals), job))
            self._changed.notify_all()

    def end(self, is_meant: Callable[[Job], bool]) -> list[Job]:
        """End jobs; those that run do so with what they have.

        Returns:
            Those that had not begun, which nobody does any more.
        """
        with self._changed:
            ended = [entry[2] for entry in self._queue if is_meant(entry[2])]
            self._queue = [entry for entry in self._queue if not is_meant(entry[2])]
            heapq.heapify(self._queue)
            for job in self._running:
                if is_meant(job):
                    job.stop.set()
            self._changed.notify_all()
        return ended

    def finish(self) -> None:
        """Wait until all jobs are done, then end the threads."""
        with self._changed:
            self._changed.wait_for(lambda: not self._queue and not self._running)
            self._is_closed = True
            self._changed.notify_all()

    def _serve(self, player: Player) -> None:
        """Do jobs; runs in a thread."""
        while (job := self._take()) is not None:
            self._work(player, job)
            with self._changed:
                self._running.remove(job)
                self._changed.notify_all()

    def _take(self) -> Job | None:
        """Wait for a job, or None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._is_closed)
            if self._is_closed:
                return None
            job = heapq.heappop(self._queue)[2]
            self._running.add(job)
            return job


def work(player: Player, job: Job, nodes: int | None, tell: Tell) -> None:
    """Search a position and tell what is found; whatever fails is told as an error."""
    try:
        _search(player, job, nodes, tell)
    except MemoryError:
        text = "no memory for the search tree: use less --memory or fewer --workers"
        tell(json_types.Error(error=text, id=job.query.id))
    except Exception as error:
        tell(_bug(error, job.query.id))


def _bug(error: Exception, id_: str | UnsetType = UNSET) -> json_types.Error:
    """Return what is told of an error of our own: the other queries go on."""
    traceback.print_exc()
    return json_types.Error(
        error=f"internal error: {type(error).__name__}: {error}", id=id_
    )


def _search(player: Player, job: Job, nodes: int | None, tell: Tell) -> None:
    game = job.game()
    view = View(job, game)
    if game.winner is not None:
        tell(view.over(game.winner))
        return
    try:
        only = job.only(game)
    except analysis.NoMoveLeft as error:
        text, field = f"turn {job.turn}: {error}", f"{error.key}Moves"
        tell(json_types.Error(error=text, field=field, id=job.query.id))
        return
    # With a stream a move without a choice is searched, too: its value is asked for.
    interval = job.query.report_during_search_every or math.inf
    stream = Stream(lambda found: tell(view.found(found, is_last=False)), interval)
    limits = _limits(job.query, nodes)
    report = player.search(game, limits, job.stop, stream=stream, only=only)
    tell(view.found(report, is_last=True) if report.visits else _nothing(job))


def _limits(query: Query, nodes: int | None) -> Limits:
    usual = DEFAULT_VISITS if query.seconds is None else _MOST_VISITS
    return Limits(query.seconds, query.visits or nodes or usual)


def _nothing(job: Job) -> json_types.NoResults:
    return json_types.NoResults(id=job.query.id, turn_number=job.turn)


# The way of a line


class Desk:
    """Takes lines in: queries go to the pool, actions are done."""

    def __init__(self, pool: Pool, tell: Tell, seed: int) -> None:
        """Open.

        Args:
            pool: does what is asked for.
            tell: takes answers.
            seed: told by `query_version`.
        """
        self._pool = pool
        self._tell = tell
        self._seed = seed

    def take(self, line: Line) -> None:
        """Take a line; whatever is wrong with it is answered."""
        if line is None:
            text = f"line too long: use at most {MAX_LINE} bytes"
            self._tell(json_types.Error(error=text))
        elif line.strip():
            try:
                self._do(json_types.decode(line))
            except FieldError as error:
                self._tell(error.answer)
            except Exception as error:
                self._tell(_bug(error))

    def _do(self, asked: Query | Action) -> None:
        if isinstance(asked, Query):
            self._pool.add(jobs_of(asked))
            return
        self._tell(self._acknowledge(asked))
        if isinstance(asked, (json_types.Terminate, json_types.TerminateAll)):
            for job in self._pool.end(_ended_by(asked)):
                self._tell(_nothing(job))

    def _acknowledge(self, asked: Action) -> Answer:
        if isinstance(asked, json_types.QueryVersion):
            return json_types.Version(
                id=asked.id,
                version=__version__,
                git_hash=build_id(),
                name="tanbo-engine",
                seed=self._seed,
            )
        if isinstance(asked, json_types.QueryModels):
            model = json_types.Model("tanbo-engine", "tanbo-engine", __version__)
            return json_types.Models(id=asked.id, models=[model])
        return asked


def _ended_by(
    asked: json_types.Terminate | json_types.TerminateAll,
) -> Callable[[Job], bool]:
    turns = None if asked.turn_numbers is UNSET else asked.turn_numbers
    meant = asked.terminate_id if isinstance(asked, json_types.Terminate) else None

    def is_meant(job: Job) -> bool:
        return meant in (None, job.query.id) and (turns is None or job.turn in turns)

    return is_meant


class _Output:
    """Writes answers, a line each, for any thread.

    Attributes:
        failures: why they could not be written.
    """

    def __init__(self, descriptor: int, gone: Callable[[], None]) -> None:
        """Prepare.

        Args:
            descriptor: where to.
            gone: called, in some thread, each time that nobody reads it any more.
        """
        self._descriptor = descriptor
        self._gone = gone
        self.failures: list[OSError] = []
        self._lock = threading.Lock()

    def tell(self, answer: Answer) -> None:
        """Write an answer."""
        line = msgspec.json.encode(answer) + b"\n"
        try:
            with self._lock:
                write_all(self._descriptor, line)
        except OSError as error:
            self.failures.append(error)
            self._gone()


async def serve(settings: Settings, source: int = 0, sink: int = 1) -> None:
    """Answer every line of the source; at its end, finish what is queued.

    Ends at once when nobody reads the sink any more.

    Args:
        settings: checked by `main`.
        source: descriptor to read.
        sink: descriptor to write.

    Raises:
        OSError: the sink cannot be written.
    """
    loop = asyncio.get_running_loop()
    inbox = read_ahead(source, lambda _: None)

    def abandon() -> None:
        inbox.close()
        pool.end(lambda _: True)

    def gone() -> None:
        with suppress(RuntimeError):  # the loop is closed: the process is ending
            loop.call_soon_threadsafe(abandon)

    seed = secrets.randbits(63) if settings.seed is None else settings.seed
    output = _Output(sink, gone)
    pool = Pool(
        [SearchPlayer(memory, seed, "puct") for memory in _shares(settings)],
        lambda player, job: work(player, job, settings.nodes, output.tell),
    )
    watch(sink, abandon)
    desk = Desk(pool, output.tell, seed)
    while await inbox.has_line():
        desk.take(inbox.take())
    await anyio.to_thread.run_sync(pool.finish)
    raise_unless_gone(output.failures)


def _shares(settings: Settings) -> list[int]:
    """Return the memory of each worker in megabytes.

    Raises:
        SettingsError: less than one for each.
    """
    workers = settings.workers or min(cores(), _MOST_WORKERS)
    share = settings.memory // workers
    if not share:
        raise SettingsError(
            f"{counted(workers, 'worker')} need at least --memory {workers}, "
            f"got {settings.memory}"
        )
    return [share] * workers


def main(arguments: Sequence[str]) -> int:
    """Run the command line; return the exit status."""
    parser = Parser(
        "tanbo-engine analysis",
        "Analyses many positions at once: JSON lines on stdin and stdout, after "
        "KataGo's analysis engine.",
    )
    parser.add_settings(Settings)
    options = vars(parser.parse_args(arguments))
    file = options.pop("config", None)
    try:
        settings = load(Settings, options, file)
        _shares(settings)
    except SettingsError as error:
        parser.error(str(error))
    if sys.stdin is not None and sys.stdout is not None:
        anyio.run(serve, settings)
    return 0
