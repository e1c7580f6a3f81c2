"""Records played again: by the slow rules to verify them, and as SGF files."""

from collections.abc import Iterable
from pathlib import Path

from protocol.arena.store import GameRecord, Termination
from protocol.files import write_whole
from tanbo_engine import record, rules, setups
from tanbo_engine.game import Game
from tanbo_engine.points import Color, VertexError, parse_vertex
from tanbo_engine.wording import counted

SGF_FOLDER = "sgf"

_MARKS = {Termination.BOARD: "1", Termination.RESIGN: "R", Termination.TIME: "T"}

_ON_ONES_TURN = (Termination.RESIGN, Termination.ILLEGAL, Termination.TIME)
"""Ways in which only the side to move can lose."""


def verify(games: Iterable[GameRecord]) -> list[str]:
    """Play every game again by `tanbo_engine.rules`.

    Args:
        games: all records in their order; a void one takes back a game before it.

    Returns:
        What is wrong, a line a fault; empty if every record is true.
    """
    faults = []
    seen: dict[tuple[int, int], GameRecord] = {}
    for game in games:
        where = f"pair {game.pair} game {game.game}"
        fault = _fault(game)
        if fault:
            faults.append(f"{where}: {fault}")
        if not game.termination.counts:
            seen.pop((game.pair, game.game), None)
            continue
        if (game.pair, game.game) in seen:
            faults.append(f"{where}: recorded twice")
        seen[game.pair, game.game] = game
        other = seen.get((game.pair, 1 - game.game))
        if other is not None and not _is_pair(game, other):
            faults.append(f"{where}: not its other game with colours swapped")
    return faults


def write_sgf(directory: Path, game: GameRecord, event: str = "") -> None:
    """Write a game to ``DIR/sgf/PAIR-GAME.sgf``, replacing an older one."""
    folder = directory / SGF_FOLDER
    folder.mkdir(exist_ok=True)
    write_whole(sgf_path(directory, game), to_sgf(game, event).encode())


def sgf_path(directory: Path, game: GameRecord) -> Path:
    """Return where a game's SGF file is."""
    return directory / SGF_FOLDER / f"{game.pair:06}-{game.game}.sgf"


def to_sgf(game: GameRecord, event: str = "") -> str:
    """Return a record as SGF."""
    played = Game(setups.by_name(game.setup).position())
    for vertex in game.moves:
        played.play(parse_vertex(played.size, vertex))
    headers = record.Headers(
        setup=game.setup,
        black=game.black,
        white=game.white,
        result=result(game),
        event=event,
        comment=f"{game.termination}: {game.reason}; opening of "
        f"{counted(len(game.opening), 'ply', 'plies')}",
    )
    return record.sgf(played, headers)


def result(game: GameRecord) -> str:
    """Return the result as SGF has it: B+1, W+R, B+T, W+F, Void."""
    if game.winner is None:
        return "Void"
    return f"{game.winner[0].upper()}+{_MARKS.get(game.termination, 'F')}"


def _is_pair(game: GameRecord, other: GameRecord) -> bool:
    """Tell whether two games differ in the colours only."""
    return (game.black, game.white, game.setup, game.opening) == (
        other.white,
        other.black,
        other.setup,
        other.opening,
    )


def _fault(game: GameRecord) -> str:
    """Return what is wrong with one record, or an empty text."""
    if game.game not in (0, 1):
        return "a pair has games 0 and 1"
    try:
        position = setups.by_name(game.setup).position()
    except setups.UnknownSetup as error:
        return str(error)
    for number, vertex in enumerate(game.moves, 1):
        try:
            position = rules.play(position, parse_vertex(position.size, vertex)).after
        except (rules.IllegalMove, VertexError) as error:
            return f"move {number} {vertex}: {error}"
    if tuple(game.moves[: len(game.opening)]) != tuple(game.opening):
        return "the moves do not begin with the opening"
    winner = rules.winner(position)
    if (game.termination is Termination.BOARD) != (winner is not None):
        state = "goes on" if winner is None else "is over"
        return f"ended by {game.termination}, but the game {state} on the board"
    if winner is not None and game.winner != winner.word:
        return f"{winner.word} has won on the board, not {game.winner}"
    if game.termination.counts != (game.winner in {color.word for color in Color}):
        return f"ended by {game.termination} with the winner {game.winner}"
    own = game.termination in _ON_ONES_TURN
    if own and game.winner == position.to_move.word:
        return f"{game.winner} was to move: the other side cannot have lost so"
    return ""
