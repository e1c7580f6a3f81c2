"""A scripted GTP engine that plays the first legal move and misbehaves when told to.

Run by path, in a process of its own. N counts from 1 within a game: the N-th
``genmove`` or, for ``--refuse-legal``, the N-th move that it is told to play.
"""

import argparse
import os
import signal
import subprocess
import sys
import time

from tanbo_engine import setups
from tanbo_engine.game import Game
from tanbo_engine.points import Color, Size, format_vertex, parse_vertex
from tanbo_engine.rules import Position, check_position

FOREVER = 3600
FLOOD = b"nothing that anybody wants to know\n" * 30_000
HUGE_LINE = 10_000_000
ANSWERED_BY_SILENCE = "\0"


class Refusal(Exception):  # noqa: N818
    """A command that is answered with ``?``."""


class BadEngine:
    """One game and the switches."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.setup = setups.by_name(setups.DEFAULT)
        self.is_running = True
        self.begin(self.setup.position())
        handlers = [
            self.protocol_version, self.name, self.version, self.known_command,
            self.list_commands, self.quit, self.boardsize, self.clear_board, self.komi,
            self.play, self.genmove, self.undo, self.final_score, self.showboard,
            self.time_settings,
        ]  # fmt: skip
        self.handlers = {handler.__name__: handler for handler in handlers}
        self.handlers |= {
            "tanbo-setup": self.tanbo_setup,
            "gogui-setup": self.load,
            "gogui-setup_player": self.load_player,
            "gogui-play_sequence": self.play_sequence,
            "gogui-rules_board": self.rules_board,
        }
        for name in options.no_list:
            del self.handlers[name]

    def begin(self, start: Position) -> None:
        self.game = Game(start)
        self.generated = self.played = 0

    def answer(self, line: str) -> str | None:
        """Return the response to a line, None if there is to be none."""
        words = line.partition("#")[0].split()
        number = words.pop(0) if words and words[0].isdigit() else ""
        if not words:
            return None
        if words[0] not in self.handlers:
            return f"?{number} unknown command\n\n"
        try:
            text = self.handlers[words[0]](words[1:])
        except (Refusal, ValueError) as error:
            return f"?{number} {error}\n\n"
        if text.endswith(ANSWERED_BY_SILENCE):
            return f"={number} {text[:-1]}"
        return f"={number} {text}\n\n"

    # Commands

    def protocol_version(self, args: list[str]) -> str:
        return "2"

    def name(self, args: list[str]) -> str:
        return "bad engine"

    def version(self, args: list[str]) -> str:
        return "0"

    def known_command(self, args: list[str]) -> str:
        return "true" if args[0] in self.handlers else "false"

    def list_commands(self, args: list[str]) -> str:
        return "\n".join(self.handlers)

    def quit(self, args: list[str]) -> str:
        self.is_running = False
        return ""

    def komi(self, args: list[str]) -> str:
        return ""

    def time_settings(self, args: list[str]) -> str:
        return ""

    def boardsize(self, args: list[str]) -> str:
        size = Size(int(args[0]), int(args[-1]))
        if size != self.setup.size:
            try:
                self.setup = setups.for_size(size)
            except setups.UnknownSetup:
                raise Refusal("unacceptable size") from None
        return self.clear_board(args)

    def clear_board(self, args: list[str]) -> str:
        self.begin(self.setup.position())
        return ""

    def tanbo_setup(self, args: list[str]) -> str:
        self.setup = setups.by_name(args[0])
        return self.clear_board(args)

    def load(self, args: list[str]) -> str:
        size = self.game.size
        stones: dict[str, set[int]] = {"B": set(), "W": set()}
        for color, vertex in zip(args[::2], args[1::2], strict=True):
            stones[color[0].upper()].add(parse_vertex(size, vertex))
        position = Position(size, frozenset(stones["B"]), frozenset(stones["W"]))
        check_position(position)
        self.begin(position)
        return ""

    def load_player(self, args: list[str]) -> str:
        self.begin(self.game.position._replace(to_move=color_of(args[0])))
        return ""

    def play(self, args: list[str]) -> str:
        color, vertex = color_of(args[0]), args[1]
        self.played += 1
        if color is not self.game.to_move or self.played == self.options.refuse_legal:
            raise Refusal("illegal move")
        try:
            if vertex.lower() == "pass":
                self.game.close(color)
            else:
                self.game.play(parse_vertex(self.game.size, vertex))
        except ValueError:
            raise Refusal("illegal move") from None
        return ""

    def play_sequence(self, args: list[str]) -> str:
        for index in range(0, len(args), 2):
            self.play(args[index : index + 2])
        return ""

    def undo(self, args: list[str]) -> str:
        if not self.game.moves:
            raise Refusal("cannot undo")
        self.game.undo()
        return ""

    def final_score(self, args: list[str]) -> str:
        if self.game.winner is None:
            raise Refusal("cannot score")
        return f"{self.game.winner.initial}+1"

    def showboard(self, args: list[str]) -> str:
        return "\n" + self.rules_board(args)

    def rules_board(self, args: list[str]) -> str:
        size, position = self.game.size, self.game.position
        cells = ["."] * size.area
        for color in Color:
            for point in position.stones(color):
                cells[point] = color.mark
        rows = [cells[row * size.width :][: size.width] for row in range(size.height)]
        return "\n".join(" ".join(row) for row in reversed(rows))

    def genmove(self, args: list[str]) -> str:
        color = color_of(args[0])
        if color is not self.game.to_move:
            raise Refusal("illegal move")
        self.generated += 1
        misbehaviour = self._misbehave()
        if misbehaviour is not None:
            return misbehaviour
        if self.game.winner is not None:
            if color is not self.game.winner:
                return "resign"
            self.game.close(color)
            return "pass"
        point = self.game.legal_moves()[0]
        self.game.play(point)
        return format_vertex(self.game.size, point)

    def _misbehave(self) -> str | None:
        """Do what is due at this move; return what to answer instead of a move."""
        options, now = self.options, self.generated
        if options.stray_output:
            say("thinking hard\n")
        if now == options.crash_on_move:
            crash(options)
        if now == options.stall_on_move:
            time.sleep(FOREVER)
        if options.late_on_move and now == int(options.late_on_move[0]):
            time.sleep(options.late_on_move[1])
        if now == options.garbage_on_move:
            say("Segmentation fault (just kidding)\n")
        if now == options.huge_line_on_move:
            return "A" * HUGE_LINE
        if now == options.no_newline_on_move:
            return f"C4{ANSWERED_BY_SILENCE}"
        if now == options.illegal_on_move:
            taken = min(self.game.position.black | self.game.position.white)
            return format_vertex(self.game.size, taken)
        return None


def color_of(text: str) -> Color:
    """Return the color of ``b``, ``white`` and the like."""
    return Color("bw".index(text[0].lower()))


def say(text: str) -> None:
    """Write to stdout at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def crash(options: argparse.Namespace) -> None:
    """Die with some last words."""
    sys.stderr.write("something is wrong\nAssertionError: crashed as told\n")
    sys.stderr.flush()
    os._exit(options.exit_code or 1)


def parse_options() -> argparse.Namespace:
    """Return the switches."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    for fault in ("crash", "stall", "illegal", "garbage", "huge-line", "no-newline"):
        parser.add_argument(f"--{fault}-on-move", type=int, metavar="N")
    parser.add_argument("--late-on-move", type=float, nargs=2, metavar=("N", "SECONDS"))
    parser.add_argument("--refuse-legal", type=int, metavar="N")
    parser.add_argument("--no-list", action="append", default=[], metavar="NAME")
    parser.add_argument("--exit-code", type=int, default=0)
    for switch in (
        "crash-at-start", "ignore-quit", "ignore-sigterm", "flood-stderr",
        "child-holds-stdout", "stray-output",
    ):  # fmt: skip
        parser.add_argument(f"--{switch}", action="store_true")
    return parser.parse_args()


def main() -> int:
    """Answer until quit or the end of input; return the exit code."""
    options = parse_options()
    if options.crash_at_start:
        crash(options)
    if options.ignore_sigterm:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.child_holds_stdout:
        sleep = f"import time; time.sleep({FOREVER})"
        subprocess.Popen([sys.executable, "-S", "-c", sleep], stdin=subprocess.DEVNULL)
    engine = BadEngine(options)
    for line in sys.stdin:
        if options.flood_stderr:
            sys.stderr.buffer.write(FLOOD)
        reply = engine.answer(line)
        if reply is not None:
            say(reply)
        if options.flood_stderr:
            sys.stderr.buffer.write(FLOOD)
        if not (engine.is_running or options.ignore_quit):
            break
    if options.ignore_quit:
        time.sleep(FOREVER)
    return int(options.exit_code)


if __name__ == "__main__":
    # Past Popen's warning about the child that is left behind on purpose.
    status = main()
    sys.stdout.flush()
    os._exit(status)
