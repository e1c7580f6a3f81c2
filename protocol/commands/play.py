"""Commands that play: moves, searches, undo, result, made-up positions."""

# ruff: noqa: D103 (the table holds what each command does)

import time
from collections.abc import Awaitable, Callable, Mapping

from protocol import gtp
from protocol.commands.arguments import COLOR, MOVE, STONES, Integer, Optional
from protocol.commands.table import command
from protocol.session import Session
from tanbo_engine import notation, record
from tanbo_engine.clock import RESERVE_SECONDS
from tanbo_engine.player import Report
from tanbo_engine.points import Color, format_vertex
from tanbo_engine.rules import Position
from tanbo_engine.wording import counted

Think = Callable[[], Awaitable[Report]]
"""Searches the current position, in which the game is not over."""

_MOST_MOVES = 1_000_000


@command(
    "play",
    COLOR,
    MOVE,
    help="Place a stone of the side to move; pass is accepted after the end only.",
    errors=(gtp.ILLEGAL_MOVE,),
)
def play(session: Session, color: Color, point: int | None) -> str:
    session.play(color, point)
    return ""


@command(
    "genmove",
    COLOR,
    help="Search, make the move and answer it; resign where --resign says so. After "
    "the end: resign for the loser, pass for the winner.",
    errors=(gtp.ILLEGAL_MOVE,),
)
async def genmove(session: Session, color: Color) -> str:
    return await generate(session, color, session.choose)


async def generate(session: Session, color: Color, think: Think) -> str:
    """Search, make the move and return it, as `genmove` does."""
    session.require_turn(color)
    winner = session.game.winner
    if winner is color:
        session.game.close(color)
    if winner is not None:
        return _farewell(color, winner)
    began = time.monotonic()
    report = await think()
    if session.gives_up(color, report):
        return "resign"
    session.game.play(report.point)
    session.clock.spend(color, time.monotonic() - began + RESERVE_SECONDS)
    session.is_engaged = True
    return format_vertex(session.game.size, report.point)


@command(
    "reg_genmove",
    COLOR,
    help="Answer what genmove would, and change nothing.",
    errors=(gtp.ILLEGAL_MOVE,),
)
async def reg_genmove(session: Session, color: Color) -> str:
    return await consider(session, color, session.choose)


async def consider(session: Session, color: Color, think: Think) -> str:
    """Search and return what `generate` would make, which is not made."""
    session.require_turn(color)
    winner = session.game.winner
    if winner is not None:
        return _farewell(color, winner)
    report = await think()
    return format_vertex(session.game.size, report.point)


def _farewell(color: Color, winner: Color) -> str:
    return "pass" if color is winner else "resign"


@command("undo", help="Take back the last move.", errors=(gtp.CANNOT_UNDO,))
def undo(session: Session) -> str:
    return gg_undo(session, 1)


@command(
    "gg-undo",
    Optional(Integer("MOVES", 0, _MOST_MOVES)),
    help="Take back a number of moves (default 1), all or none.",
    errors=(gtp.CANNOT_UNDO,),
)
def gg_undo(session: Session, count: int | None) -> str:
    count = 1 if count is None else count
    made = len(session.game.moves)
    if count > made:
        raise gtp.GtpError(
            gtp.CANNOT_UNDO, f"{counted(made, 'move')} made since the start position"
        )
    session.take_back(count)
    return ""


@command("showboard", help="Draw the board, with side to move, set-up and result.")
def showboard(session: Session) -> str:
    game = session.game
    lines = [
        "",  # the drawing begins on a line of its own
        notation.diagram(game.position),
        f"to move: {game.to_move.word}",
        f"set-up: {_setup_shown(session)}",
    ]
    if session.result is not None:
        lines.append(f"result: {session.result}")
    return "\n".join(lines)


def _setup_shown(session: Session) -> str:
    """Return the set-up of the game, which may have begun at a position of its own."""
    setup = record.setup_of(session.game.start)
    if setup is not None:
        return setup.name
    return f"none, a position of its own (clear_board: {session.setup.name})"


@command(
    "final_score",
    help="Result of a finished game, B+1 or W+1.",
    errors=(gtp.CANNOT_SCORE,),
)
def final_score(session: Session) -> str:
    result = session.game.result
    if result is None:
        raise gtp.GtpError(gtp.CANNOT_SCORE, "the game goes on")
    return result


@command(
    "set_position",
    STONES,
    help="Begin a new game with these stones, Black to move; without stones the same "
    "as clear_board.",
)
def set_position(session: Session, stones: Mapping[Color, frozenset[int]]) -> str:
    if any(stones.values()):
        place_stones(session, stones)
    else:
        session.new_game()
    return ""


def place_stones(session: Session, stones: Mapping[Color, frozenset[int]]) -> None:
    """Begin a new game with these stones on the current size, Black to move."""
    black, white = (stones[color] for color in Color)
    session.load(Position(session.game.size, black, white))
