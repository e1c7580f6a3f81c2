"""A Tanbo engine of the eleven required commands, right or with one fault.

Run by path, in a process of its own; the one argument is the name of a fault.
"""

import io
import sys
import time

from tanbo_engine import rules, setups
from tanbo_engine.points import Color, Size, format_vertex, neighbours, parse_vertex
from tanbo_engine.rules import Position, Root, Turn

COMMANDS = (
    *("protocol_version", "name", "version", "known_command", "list_commands", "quit"),
    *("boardsize", "clear_board", "komi", "play", "genmove"),
)
FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
LINE_END = "\r\n" if FAULT == "crlf" else "\n"


class Refusal(Exception):  # noqa: N818
    """A command that is answered with ``?``."""


class Engine:
    """One game."""

    def __init__(self) -> None:
        self.position = self.start = setups.by_name("dense-7x7").position()

    def answer(self, name: str, args: list[str]) -> str:
        """Return the response's text."""
        fixed = {"protocol_version": "2", "name": "minimal", "version": "1"}
        fixed |= {"list_commands": "\n".join(COMMANDS), "quit": "", "komi": ""}
        if name in fixed and not (name == "komi" and FAULT == "komi"):
            return fixed[name]
        if name == "known_command":
            return "true" if args[0] in COMMANDS else "false"
        if name in ("boardsize", "clear_board", "play", "genmove"):
            return str(getattr(self, name)(*args))
        raise Refusal("unknown command")

    def boardsize(self, *sides: str) -> str:
        """Take the usual set-up of a size."""
        try:
            size = Size(int(sides[0][:5]), int(sides[-1][:5]))
            self.start = setups.for_size(size).position()
        except (setups.UnknownSetup, ValueError, IndexError):
            raise Refusal("unacceptable size") from None
        return self.clear_board()

    def clear_board(self) -> str:
        """Begin again."""
        self.position = self.start
        if FAULT == "a-stone-less":
            self.position = self.start._replace(
                black=self.start.black - {min(self.start.black)}
            )
        return ""

    def play(self, color: str, vertex: str) -> str:
        """Make a move."""
        self.require_turn(color)
        if vertex.lower() == "pass":
            if rules.winner(self.position) is None or FAULT == "no-pass":
                raise Refusal("illegal move")
            self.position = self.position._replace(to_move=side(color).opponent)
            return ""
        try:
            self.move(parse_vertex(self.position.size, vertex))
        except ValueError:
            text = "Illegal move!" if FAULT == "own-words" else "illegal move"
            raise Refusal(text) from None
        return ""

    def genmove(self, color: str) -> str:
        """Make the last legal move."""
        self.require_turn(color)
        winner = rules.winner(self.position)
        if winner is not None:
            wins = (side(color) is winner) != (FAULT == "proud-loser")
            return "pass" if wins else "resign"
        point = rules.legal_moves(self.position)[-1]
        if FAULT != "forgets":
            self.move(point)
        return "pass" if FAULT == "passes" else format_vertex(self.start.size, point)

    def move(self, point: int) -> None:
        """Place a stone, by rules of which one may be wrong."""
        self.position = TURNS.get(FAULT, rules.play)(self.position, point).after

    def require_turn(self, color: str) -> None:
        """Refuse the wrong colour."""
        if side(color) is not self.position.to_move:
            if FAULT != "any-turn":
                raise Refusal("illegal move")
            self.position = self.position._replace(to_move=side(color))


def side(text: str) -> Color:
    """Return the colour of ``b``, ``White`` and the like."""
    for color in Color:
        if text.lower() in (color.word, color.word[0]):
            return color
    raise Refusal("invalid color")


# Wrong rules


def without_clause(position: Position, root: Root) -> bool:
    """Tell whether a root is bounded if its own colour were no hindrance (R5)."""
    return not any(
        position.is_empty(point)
        and len(root.stones.intersection(neighbours(position.size, point))) == 1
        for point in range(position.size.area)
    )


def removing(position: Position, point: int, which: str) -> Turn:
    """Make a turn that removes too much or too little (R6)."""
    turn, color = rules.play(position, point), position.to_move
    stones = position.stones(color) | {point}
    placed = position.with_stones(color, stones, color.opponent)
    bounded = [root for root in rules.roots(placed) if rules.is_bounded(placed, root)]
    others = [root for root in bounded if point not in root.stones]
    if which == "all":
        gone = bounded
    elif which == "enemies-first" and others:
        gone = others
    elif which == "enemies" and not turn.current_root_bounded:
        gone = [root for root in others if root.color is not color]
    else:
        return turn
    for root in gone:
        stones = placed.stones(root.color) - root.stones
        placed = placed.with_stones(root.color, stones, color.opponent)
    return turn._replace(after=placed)


TURNS = {
    "all-bounded": lambda position, point: removing(position, point, "all"),
    "capture-first": lambda position, point: removing(position, point, "enemies-first"),
    "enemies-only": lambda position, point: removing(position, point, "enemies"),
}


def main() -> None:
    """Answer until quit or the end of the input."""
    engine = Engine()
    if FAULT == "without-clause":
        rules.is_bounded = without_clause
    if FAULT == "plays-on":
        rules.winner = lambda position: None
    if FAULT == "banner":
        sys.stdout.write("Welcome!\n")
    # As other languages read it: Python would take CR LF for the end of a line.
    for line in io.TextIOWrapper(sys.stdin.buffer, newline="\n", errors="replace"):
        respond(engine, line)
    if FAULT == "outlives-input":
        time.sleep(3600)


def respond(engine: Engine, line: str) -> None:
    """Answer one line."""
    text = line.partition("#")[0]
    words = text.rstrip("\n").split(" " if FAULT == "keeps-cr" else None)
    number = words.pop(0) if words and words[0].isdigit() else ""
    if not words and FAULT != "answers-blanks":
        return
    try:
        status, answer = "=", engine.answer(words[0] if words else "", words[1:])
    except (Refusal, TypeError) as error:
        status, answer = "?", str(error)
    number = "" if FAULT == "no-ids" else number
    blank = "" if FAULT == "no-blank" else " "
    ends = LINE_END * (3 if FAULT == "two-empty-lines" else 2)
    sys.stdout.write(f"{status}{number}{blank}{answer}{ends}")
    sys.stdout.flush()
    if words == ["quit"]:
        sys.exit()


if __name__ == "__main__":
    main()
