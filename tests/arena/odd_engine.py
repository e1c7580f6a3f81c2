"""A scripted GTP engine with manners and whims of its own, on top of the bad engine.

It lists the time and node commands that the bad engine lacks, may write down every
line it hears, and answers what it is told to. ``odd`` of the tests' support starts it.
"""

import argparse
import sys
from pathlib import Path

from tanbo_engine.points import format_vertex
from tests.protocol import bad_engine
from tests.protocol.bad_engine import BadEngine, Refusal, color_of

MORE = ("time_left", "kata-time_settings", "kata-set-param", "tanbo-build")


class OddEngine(BadEngine):
    """The bad engine, its own switches first."""

    def __init__(self, own: argparse.Namespace, options: argparse.Namespace) -> None:
        super().__init__(options)
        self.own = own
        for name in MORE:
            self.handlers[name] = self.accept
        self.handlers["tanbo-build"] = self.build
        for name in own.refuse:
            self.handlers[name] = self.refuse
        for name in own.hide:
            del self.handlers[name]
        if own.whole_seconds:
            self.handlers["time_left"] = self.whole_time_left

    def answer(self, line: str) -> str | None:
        if self.own.log is not None:
            with Path(self.own.log).open("a") as file:
                file.write(line.lstrip("0123456789").lstrip(" "))
        return super().answer(line)

    def accept(self, args: list[str]) -> str:
        return ""

    def build(self, args: list[str]) -> str:
        return "b1"

    def refuse(self, args: list[str]) -> str:
        raise Refusal("no")

    def whole_time_left(self, args: list[str]) -> str:
        int(args[1])
        return ""

    def rules_board(self, args: list[str]) -> str:
        text = super().rules_board(args)
        return text.replace("X", ".", 1) if self.own.wrong_board else text

    def genmove(self, args: list[str]) -> str:
        if self.own.say and self.generated + 1 == int(self.own.say[0]):
            self.generated += 1
            return str(self.own.say[1])
        if not self.own.last or self.game.winner is not None:
            return super().genmove(args)
        self.generated += 1
        if color_of(args[0]) is not self.game.to_move:
            raise Refusal("illegal move")
        point = self.game.legal_moves()[-1]
        self.game.play(point)
        return format_vertex(self.game.size, point)


def main() -> int:
    """Answer until quit; what is left of the command line is the bad engine's."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--say", nargs=2, metavar=("N", "TEXT"), default=())
    parser.add_argument("--last", action="store_true", help="play the last legal move")
    parser.add_argument("--log", metavar="FILE", help="write down what it hears")
    parser.add_argument("--refuse", action="append", default=[], metavar="NAME")
    parser.add_argument("--hide", action="append", default=[], metavar="NAME")
    parser.add_argument("--whole-seconds", action="store_true")
    parser.add_argument("--wrong-board", action="store_true")
    own, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    bad_engine.BadEngine = lambda options: OddEngine(own, options)  # type: ignore[assignment,misc]
    return bad_engine.main()
