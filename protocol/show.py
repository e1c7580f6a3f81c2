"""A recorded game as text: every position, each move and what it removed."""

import io
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from protocol import narration
from protocol.narration import printable
from protocol.options import Parser
from tanbo_engine import notation, rules
from tanbo_engine.answers import named
from tanbo_engine.game import Game, Move
from tanbo_engine.record import MOST_BYTES, LoadedGame, RecordError, load_sgf, read_sgf

_FAILURE = 1


def main(arguments: Sequence[str]) -> int:
    """Print a game of the command line; return the exit status."""
    parser = Parser(
        "tanbo-engine show",
        "Print an SGF file's game: the board after each move. Of several games it "
        "prints the first.",
    )
    parser.add_argument("file", metavar="FILE", help="the file; - reads stdin")
    parser.add_argument("--last", action="store_true", help="the final position only")
    options = parser.parse_args(arguments)
    try:
        loaded = _load(options.file)
    except RecordError as error:
        print(f"{parser.prog}: {options.file}: {error}", file=sys.stderr)
        return _FAILURE
    if isinstance(sys.stdout, io.TextIOWrapper):  # names may hold any letters
        sys.stdout.reconfigure(errors="replace")
    for line in lines(loaded, last=options.last):
        print(line)
    return 0


def _load(name: str) -> LoadedGame:
    if name != "-":
        return load_sgf(Path(name))
    if sys.stdin is None:
        raise RecordError("there is no stdin")
    return read_sgf(sys.stdin.buffer.read(MOST_BYTES + 1))


def lines(loaded: LoadedGame, *, last: bool = False) -> Iterator[str]:
    """Yield the lines of a game as text.

    Args:
        loaded: the game.
        last: leave out all positions but the final one.
    """
    yield from _heading(loaded)
    game, position = loaded.game, loaded.game.start
    final = len(game.moves)
    if final == 0 or not last:
        yield from ("", notation.diagram(position))
    for number, move in enumerate(game.moves, 1):
        told, position = _turn(position, move)
        if number == final or not last:
            yield from ("", f"{number}. {told}")
            yield from _indented(loaded.comments.get(number, ""))
            yield _marked(position, move.point)
    yield from ("", _state(game))


def _heading(loaded: LoadedGame) -> Iterator[str]:
    headers, game = loaded.headers, loaded.game
    yield headers.setup or f"a position on {game.size}"
    facts = {
        "Black": headers.black,
        "White": headers.white,
        "Result": headers.result,
        "Date": headers.date,
        "Event": headers.event,
        "Time": " + ".join(filter(None, (headers.time, headers.overtime))),
    }
    for name, text in facts.items():
        if text:
            yield f"{name}: {printable(text)}"
    for note in loaded.notes:
        yield f"Note: {note}"
    yield from _indented(headers.comment)


def _turn(position: rules.Position, move: Move) -> tuple[str, rules.Position]:
    """Return a move in words and the position after it."""
    if move.point is None:
        return f"{named(move.color)} passes.", position
    told = narration.turn(position, move.point)
    return told, rules.play(position, move.point).after


def _marked(position: rules.Position, point: int | None) -> str:
    """Return the board with a point in brackets."""
    if point is None:
        return notation.diagram(position)
    row, column = divmod(point, position.size.width)
    drawn = notation.diagram(position).split("\n")
    line = position.size.height - row  # line 0 has the letters
    at = 3 + 2 * column  # behind the row's number
    cells = drawn[line]
    drawn[line] = f"{cells[: at - 1]}({cells[at]}){cells[at + 2 :]}"
    return "\n".join(drawn)


def _state(game: Game) -> str:
    if game.winner is not None:
        return narration.victory(game.winner)
    return f"{named(game.to_move)} is to move."


def _indented(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield f"    {printable(line)}".rstrip()
