"""Commands of this engine alone: set-ups, positions, roots, perft, proofs."""

# ruff: noqa: D103 (the table holds what each command does)

from collections.abc import Iterable, Sequence

from protocol import gtp
from protocol.commands.arguments import COLOR, Integer, Number, Optional, Rest, Text
from protocol.commands.table import command
from protocol.session import Session
from tanbo_engine import build_id, notation, setups
from tanbo_engine._kernel import MOST_PERFT_DEPTH, StopFlag, perft
from tanbo_engine.game import kernel_position
from tanbo_engine.points import Color, Size, by_column, format_vertex
from tanbo_engine.wording import counted

_SOLVE_SECONDS = 10.0
_MOST_SECONDS = 1_000_000


@command(
    "tanbo-setup",
    Text("NAME"),
    help="Begin a new game with a set-up of tanbo-setups.",
    errors=(gtp.UNACCEPTABLE_SIZE,),
)
def setup(session: Session, name: str) -> str:
    try:
        chosen = setups.by_name(name)
    except setups.UnknownSetup as error:
        raise gtp.GtpError(str(error)) from error
    session.require_size(chosen.size)
    session.new_game(chosen)
    return ""


@command(
    "tanbo-setups",
    help="All set-ups, one a line: name, stones, and whether boardsize selects it.",
)
def list_setups(session: Session) -> str:
    return "\n".join(map(_describe, setups.offered()))


def _describe(setup: setups.Setup) -> str:
    width, height = setup.size
    each = len(setup.position().black)
    line = f"{setup.name:<14} {counted(each, 'stone')} each"
    if setups.for_size(setup.size) == setup:
        line += (
            f", boardsize {width}" if width == height else f", boardsize {setup.size}"
        )
    return line


@command(
    "tanbo-position",
    Rest("[POSITION]"),
    help="The position in one line, such as 3x3 X1O/3/O1X b; with one, begin a new "
    "game there.",
    errors=(gtp.UNACCEPTABLE_SIZE,),
)
def position(session: Session, words: Sequence[str]) -> str:
    if not words:
        return notation.format_position(session.game.position)
    try:
        wanted = notation.parse_position(" ".join(words))
        session.require_size(wanted.size)
        same_size = wanted.size == session.game.size
        chosen = session.setup if same_size else setups.for_size(wanted.size)
    except (notation.PositionError, setups.UnknownSetup) as error:
        raise gtp.GtpError(str(error)) from error
    session.load(wanted, chosen)
    return ""


@command(
    "tanbo-legal_moves",
    Optional(COLOR),
    help="Vertices where a color (default: the side to move) may play, by column and "
    "row; empty after the end.",
)
def legal_moves(session: Session, color: Color | None) -> str:
    game = session.game
    return " ".join(_vertices(game.size, game.legal_moves(color)))


@command(
    "tanbo-roots",
    help="A line a root, such as black A1,A2 : B2 (stones : growth points).",
)
def roots(session: Session) -> str:
    size = session.game.size
    lines = []
    for color, stones, growth_points in sorted(session.game.kernel.roots()):
        members = ",".join(_vertices(size, stones))
        growth = ",".join(_vertices(size, growth_points))
        lines.append(f"{Color(color).word} {members} : {growth}")
    return "\n".join(lines)


@command(
    "tanbo-perft",
    Integer("DEPTH", 0, MOST_PERFT_DEPTH),
    help="Number of move sequences of a length from the current position.",
)
async def count_sequences(session: Session, depth: int) -> str:
    start = kernel_position(session.game.position)

    def count(stop: StopFlag) -> int | None:
        sequences = perft(start, depth, stop)
        return None if stop.is_set else sequences

    counted = await session.run(count)
    if counted is None:
        raise gtp.GtpError("stopped before the count was complete: use a lower depth")
    return str(counted)


@command(
    "tanbo-solve",
    Optional(Number("SECONDS")),
    help="Who wins the current position for certain, and with which move if it is his "
    "turn; not proved if the time (default 10) does not do.",
)
async def solve(session: Session, seconds: float | None) -> str:
    from protocol.solve import unproved_text, winner_text  # here for the start-up time
    from tanbo_engine.solver import Limits, Solution, Solver

    game, memory = session.game, session.settings.memory
    limits = Limits(_SOLVE_SECONDS if seconds is None else seconds)
    if game.winner is not None:
        raise gtp.GtpError(f"the game is over: {game.winner.word} has won (R8)")
    if limits.seconds is not None and not 0 < limits.seconds <= _MOST_SECONDS:
        raise gtp.GtpError(
            f"invalid time {limits.seconds:g}: use seconds above 0, "
            f"at most {_MOST_SECONDS}"
        )

    def prove(stop: StopFlag) -> Solution:
        return Solver(game.position, memory).solve(limits, stop)

    try:
        solution = await session.run(prove)
    except MemoryError as error:
        raise gtp.GtpError(f"{error}: set a smaller memory") from error
    session.note(f"{counted(solution.nodes, 'node')}, {solution.seconds:.3f} s")
    if solution.winner is None:
        return unproved_text(solution, limits, memory)
    return winner_text(game.size, solution.winner, solution.point)


def _vertices(size: Size, points: Iterable[int]) -> list[str]:
    return [format_vertex(size, point) for point in by_column(size, list(points))]


@command(
    "tanbo-build",
    help="A hash of release, rules and kernel, which match records keep.",
)
def build(session: Session) -> str:
    return build_id()
