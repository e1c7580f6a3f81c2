"""Commands that tell what a search finds while it goes on.

Formats and habits: FRONT_ENDS.md section 2 (Leela Zero, KataGo) and rows 5 and 10 of
its section 0.
"""

# ruff: noqa: D103 (the table holds what each command does)

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import ClassVar, NamedTuple

from protocol import analysis, gtp
from protocol.commands.arguments import (
    COLOR,
    UNLIMITED,
    Argument,
    parse_color,
    parse_integer,
    parse_number,
    parse_point,
)
from protocol.commands.play import Think, consider, generate
from protocol.commands.table import Emit, Lines, command
from protocol.session import Input, Session, Work
from tanbo_engine.player import Candidate, Report
from tanbo_engine.points import Color
from tanbo_engine.wording import short

_SECONDS = 1.0
_LEAST_SECONDS = 0.01
_DEEPEST = 1_000_000

_COLORS = ("b", "w", "black", "white")
_IGNORED = (
    "ownership",
    "ownershipstdev",
    "movesownership",
    "movesownershipstdev",
    "pvvisits",
    "pvedgevisits",
    "noresultvalue",
)
"""Keys of KataGo, in lower case, of which nothing is told here."""


class Request(NamedTuple):
    """What an analysing command asks for.

    Attributes:
        color: the side asked about.
        only: the points to search, tell and choose from; empty for every legal one.
        interval: seconds between two reports.
        least: fewest moves to tell, as far as there are any.
        most: most moves to tell.
        root_info: tell of the position, too.
    """

    color: Color
    only: frozenset[int]
    interval: float
    least: int
    most: int
    root_info: bool

    def choose(self, report: Report) -> list[Candidate]:
        """Return the moves of a report to tell, best first; at least one."""
        told = [
            move
            for rank, move in enumerate(report.candidates)
            if move.visits or rank < self.least
        ]
        return told[: self.most]


class RequestArgument(Argument):
    """Everything behind the name of an analysing command, in any order.

    ``avoid`` and ``allow`` restrict what is searched, but at the first move only: their
    depths, and what they say of the side that is not to move, are without effect.
    Every command takes every key, for front ends send what they are used to.
    """

    least = 0
    most = UNLIMITED

    def __init__(self, usage: str, *keys: str) -> None:
        """Prepare; the keys are those that an error offers."""
        super().__init__(usage)
        self._offered = f"{', '.join(keys[:-1])} or {keys[-1]}"

    def parse(self, session: Session, tokens: Sequence[str]) -> Request:
        """Return what is asked for."""
        reading = _Reading(session, self._offered)
        words = iter(tokens)
        for word in words:
            reading.read(word, words)
        return reading.request()


_USAGE = "[COLOR] [INTERVAL] [KEY VALUE]..."
_KEYS = ("interval", "minmoves", "maxmoves", "avoid", "allow")
LZ_REQUEST = RequestArgument(_USAGE, *_KEYS)
REQUEST = RequestArgument(_USAGE, *_KEYS, "rootInfo")


class _Reading:
    """The words of a request as they are read; the last one of a kind counts."""

    def __init__(self, session: Session, offered: str) -> None:
        self._offered = offered
        self._game = session.game
        self._color = session.game.to_move
        self._interval = _SECONDS
        self._least = 1
        self._most = UNLIMITED
        self._root_info = False
        self._allowed: set[int] | None = None
        self._avoided: set[int] = set()

    def read(self, word: str, behind: Iterator[str]) -> None:
        """Read a word and what belongs to it."""
        key = word.lower()
        if key in _COLORS:
            self._color = parse_color(word)
        elif key[0] in "0123456789.":
            self._interval = _seconds(word)
        elif key in _IGNORED:
            _truth(key, behind)
        elif key in self._KEYS:
            self._KEYS[key](self, key, behind)
        else:
            raise gtp.GtpError(f"unknown key {short(word)!r}: use {self._offered}")

    def request(self) -> Request:
        """Return all that was read."""
        return Request(
            self._color,
            self._only(),
            self._interval,
            self._least,
            self._most,
            self._root_info,
        )

    def _only(self) -> frozenset[int]:
        try:
            return analysis.restriction(self._game, self._allowed, self._avoided)
        except ValueError as error:
            raise gtp.GtpError(str(error)) from error

    def _read_interval(self, key: str, behind: Iterator[str]) -> None:
        self._interval = _seconds(_next(key, behind))

    def _read_least(self, key: str, behind: Iterator[str]) -> None:
        self._least = max(1, parse_integer(_next(key, behind), 0, UNLIMITED))

    def _read_most(self, key: str, behind: Iterator[str]) -> None:
        self._most = parse_integer(_next(key, behind), 1, UNLIMITED)

    def _read_root_info(self, key: str, behind: Iterator[str]) -> None:
        self._root_info = _truth(key, behind)

    def _read_allowed(self, key: str, behind: Iterator[str]) -> None:
        points = self._restriction(key, behind)
        if points is not None:
            self._allowed = (self._allowed or set()) | points

    def _read_avoided(self, key: str, behind: Iterator[str]) -> None:
        self._avoided |= self._restriction(key, behind) or set()

    def _restriction(self, key: str, behind: Iterator[str]) -> set[int] | None:
        """Return the points of ``COLOR V,V,... DEPTH``; None for the other side."""
        color = parse_color(_next(key, behind))
        vertices = _next(key, behind).split(",")
        size = self._game.size
        named = [vertex for vertex in vertices if vertex.lower() != "pass"]
        points = {parse_point(size, vertex) for vertex in named}
        parse_integer(_next(key, behind), 1, _DEEPEST)
        return points if color is self._game.to_move else None

    _KEYS: ClassVar[dict[str, Callable[["_Reading", str, Iterator[str]], None]]] = {
        "interval": _read_interval,
        "minmoves": _read_least,
        "maxmoves": _read_most,
        "avoid": _read_avoided,
        "allow": _read_allowed,
        "rootinfo": _read_root_info,
    }


def _next(key: str, behind: Iterator[str]) -> str:
    word = next(behind, None)
    if word is None:
        raise gtp.GtpError(gtp.SYNTAX_ERROR, f"{key} needs a value")
    return word


def _seconds(text: str) -> float:
    """Return an interval, which is given in hundredths of a second."""
    hundredths = parse_number(text)
    if hundredths < 0:
        raise gtp.GtpError(
            f"invalid interval {short(text)}: use hundredths of a second"
        )
    return max(_LEAST_SECONDS, hundredths / 100)


def _truth(key: str, behind: Iterator[str]) -> bool:
    word = _next(key, behind)
    if word.lower() not in ("true", "false"):
        raise gtp.GtpError(f"invalid value {short(word)!r} of {key}: use true or false")
    return word.lower() == "true"


# Analysis: until input comes


_ANALYSIS = "Tell the best moves every INTERVAL hundredths of a second (default 100) "
_UNTIL = (
    "until input comes; keys: interval, minmoves, maxmoves, avoid and allow (COLOR "
    "VERTEX,VERTEX DEPTH: the search leaves the others out, at its first move only, "
    "whatever the depth)"
)
_WITHOUT_EFFECT = (
    "ownership, movesOwnership, pvVisits and their like are accepted without effect"
)


@command(
    "lz-analyze",
    LZ_REQUEST,
    help=f"{_ANALYSIS}{_UNTIL}. Win rates are 0 to 10000. Keys of kata-analyze are "
    "accepted without effect.",
    errors=(gtp.ILLEGAL_MOVE,),
)
def lz_analyze(session: Session, request: Request) -> Lines:
    return _analyze(session, request, analysis.lz_line)


@command(
    "kata-analyze",
    REQUEST,
    help=f"{_ANALYSIS}{_UNTIL}, rootInfo; {_WITHOUT_EFFECT}. Win rates are 0 to 1.",
    errors=(gtp.ILLEGAL_MOVE,),
)
def kata_analyze(session: Session, request: Request) -> Lines:
    return _analyze(session, request, _kata_form(request))


@command(
    "analyze",
    REQUEST,
    help="The same as kata-analyze, for old front ends; not in list_commands.",
    errors=(gtp.ILLEGAL_MOVE,),
    listed=False,
)
def analyze(session: Session, request: Request) -> Lines:
    return kata_analyze(session, request)


@command("stop", help="End an analysis, as any other line does, and pondering.")
def stop(session: Session) -> str:
    session.disengage()
    return ""


Form = Callable[[analysis.Board, Report, Sequence[Candidate]], str]


def _kata_form(request: Request) -> Form:
    return analysis.root_line if request.root_info else analysis.kata_line


def _analyze(session: Session, request: Request, form: Form) -> Lines:
    session.require_turn(request.color)

    async def write(emit: Emit) -> None:
        if session.game.winner is None:
            board = analysis.board_of(session.game)

            async def tell(report: Report) -> None:
                await emit(form(board, report, request.choose(report)))

            await session.analyze(tell, request.interval, request.only)
        else:
            await session.begin(Input.LINE | Input.END).wait()

    return Lines(write)


# Moves: searches within the limits of the game


_MOVE = "Search as {} does, tell the best moves on the way"
_PLAY = "and then play VERTEX"


@command(
    "lz-genmove_analyze",
    LZ_REQUEST,
    help=f"{_MOVE.format('genmove')} as lz-analyze does, {_PLAY}.",
    errors=(gtp.ILLEGAL_MOVE,),
)
def lz_genmove_analyze(session: Session, request: Request) -> Lines:
    return _choose(session, request, analysis.lz_line, generate)


@command(
    "kata-genmove_analyze",
    REQUEST,
    help=f"{_MOVE.format('genmove')} as kata-analyze does, {_PLAY}.",
    errors=(gtp.ILLEGAL_MOVE,),
)
def kata_genmove_analyze(session: Session, request: Request) -> Lines:
    return _choose(session, request, _kata_form(request), generate)


@command(
    "genmove_analyze",
    REQUEST,
    help="The same as kata-genmove_analyze, for old front ends; not in list_commands.",
    errors=(gtp.ILLEGAL_MOVE,),
    listed=False,
)
def genmove_analyze(session: Session, request: Request) -> Lines:
    return kata_genmove_analyze(session, request)


@command(
    "kata-search",
    COLOR,
    help="The same as reg_genmove.",
    errors=(gtp.ILLEGAL_MOVE,),
)
async def kata_search(session: Session, color: Color) -> str:
    return await consider(session, color, session.choose)


@command(
    "kata-search_cancellable",
    COLOR,
    help="The same, but any input ends it; the answer is cancelled then.",
    errors=(gtp.ILLEGAL_MOVE,),
)
async def kata_search_cancellable(session: Session, color: Color) -> str:
    work = session.begin(Input.LINE)
    vertex = await consider(session, color, lambda: session.choose(work))
    return "cancelled" if _is_cancelled(session, work) else vertex


@command(
    "kata-search_analyze",
    REQUEST,
    help=f"{_MOVE.format('kata-search')} as kata-analyze does, {_PLAY}.",
    errors=(gtp.ILLEGAL_MOVE,),
)
def kata_search_analyze(session: Session, request: Request) -> Lines:
    return _choose(session, request, _kata_form(request), consider)


@command(
    "kata-search_analyze_cancellable",
    REQUEST,
    help="The same, but any input ends it; the last line is play cancelled then.",
    errors=(gtp.ILLEGAL_MOVE,),
)
def kata_search_analyze_cancellable(session: Session, request: Request) -> Lines:
    return _choose(session, request, _kata_form(request), consider, Input.LINE)


def _choose(
    session: Session,
    request: Request,
    form: Form,
    answer: Callable[[Session, Color, Think], Awaitable[str]],
    ended_by: Input = Input.INTERRUPT,
) -> Lines:
    session.require_turn(request.color)
    board = analysis.board_of(session.game)

    async def write(emit: Emit) -> None:
        work = session.begin(ended_by)

        async def tell(report: Report) -> None:
            await emit(form(board, report, request.choose(report)))

        async def think() -> Report:
            return await session.choose(work, tell, request.interval, request.only)

        vertex = await answer(session, request.color, think)
        is_cancelled = Input.LINE in ended_by and _is_cancelled(session, work)
        await emit(f"play {'cancelled' if is_cancelled else vertex}")

    return Lines(write)


def _is_cancelled(session: Session, work: Work) -> bool:
    """Tell whether input ended a search; after the end of a game there is none."""
    return work.is_ended and session.game.winner is None
