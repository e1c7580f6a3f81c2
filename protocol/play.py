"""A game at the terminal: a person and the engine, two persons, or the engine alone.

Input may come from a pipe as well: each line is shown behind its prompt, so that the
output reads like a session.
"""

import io
import os
import shutil
import signal
import sys
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from protocol import config, narration
from protocol.narration import printable
from protocol.options import Parser, SettingsError, load
from tanbo_engine import explain, notation, rules, setups
from tanbo_engine._kernel import StopFlag
from tanbo_engine.answers import named
from tanbo_engine.api import Tanbo
from tanbo_engine.game import Game
from tanbo_engine.levels import STRONGEST
from tanbo_engine.player import Report
from tanbo_engine.points import (
    COLUMNS,
    Color,
    VertexError,
    looks_like_vertex,
)
from tanbo_engine.record import Headers, setup_of
from tanbo_engine.wording import short

_FAILURE = 1
_INTERRUPTED = 130
_NARROWEST = 20  # a terminal that says it has fewer columns is not believed
_MARGINS = 8  # row numbers and blanks on both sides of a board
_PERSONS = {
    "b": (Color.BLACK,),
    "w": (Color.WHITE,),
    "both": tuple(Color),
    "none": (),
}


class Settings(
    msgspec.Struct,
    kw_only=True,
    frozen=True,
    forbid_unknown_fields=True,
    rename="kebab",
):
    """What a person may choose; None where the engine chooses."""

    setup: config.Name = setups.DEFAULT
    color: Annotated[
        Literal["b", "w", "both", "none"],
        Meta(
            description="what you play: b (the default), w, both, or none to watch",
            extra={"expected": "b, w, both or none"},
        ),
    ] = "b"
    time: config.Seconds | None = None
    nodes: config.Visits | None = None
    level: config.Level = STRONGEST
    memory: config.Megabytes = 256
    threads: config.Threads | None = None
    seed: config.Seed | None = None


def main(arguments: Sequence[str]) -> int:
    """Play a game; return the exit status."""
    parser = Parser("tanbo-engine play", "Play Tanbo against the engine, here.")
    parser.add_settings(Settings)
    options = vars(parser.parse_args(arguments))
    file = options.pop("config", None)
    try:
        settings = load(Settings, options, file)
        tanbo = Tanbo(
            settings.setup,
            seed=settings.seed,
            memory_mb=settings.memory,
            threads=config.thread_count(settings.threads, settings.seed),
        )
    except (SettingsError, setups.UnknownSetup) as error:
        parser.error(str(error))
    except MemoryError as error:
        parser.error(f"--memory: {error}")
    if sys.stdin is None or sys.stdout is None:
        return 0
    return _play(tanbo, settings)


def _play(tanbo: Tanbo, settings: Settings) -> int:
    """Play until the person leaves; return the exit status."""
    _prepare_streams()
    screen = Screen()
    try:
        Table(tanbo, settings, screen).run()
    except KeyboardInterrupt:
        screen.say("", "Good-bye.")
        return _INTERRUPTED
    except MemoryError:
        screen.say("There is no memory for the search tree: try a smaller --memory.")
        return _FAILURE
    return 0


def _prepare_streams() -> None:
    """Let Ctrl-C be said good-bye to, and no letter be an error."""
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in (sys.stdin, sys.stdout):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if sys.stdin.isatty():
        with suppress(ImportError):  # not on every system
            import readline  # noqa: F401 (input() then edits and remembers lines)


# The screen


class Palette(NamedTuple):
    """How a board is painted; colours as numbers of ANSI's ``m``.

    Attributes:
        board: the ground.
        latest: the ground under the last move.
        stones: Black's and White's.
        legal: a point where the side to move may play.
        other: any other empty point.
        glyphs: what stands for Black, White and empty points.
    """

    board: str
    latest: str
    stones: tuple[str, str]
    legal: str
    other: str
    glyphs: str = "●●·"


_MANY_COLORS = Palette(
    "48;5;179", "48;5;137", ("38;5;16", "1;38;5;231"), "1;38;5;58", "38;5;143"
)
_FEW_COLORS = Palette("42", "45", ("30", "1;97"), "30", "32")


class Screen:
    """Where a person reads: its width and, if it has colours, its palette."""

    def __init__(self) -> None:
        self.palette = _choose_palette()

    @property
    def columns(self) -> int:
        """How many letters a line holds; asked anew, for windows change."""
        return shutil.get_terminal_size().columns

    def say(self, *lines: str, hang: int = 0) -> None:
        """Print lines, wrapped to the width; what is wrapped hangs by some blanks."""
        width = max(_NARROWEST, self.columns - 1)
        for line in lines:
            print(textwrap.fill(line, width, subsequent_indent=" " * hang))

    @contextmanager
    def passing(self, text: str) -> Iterator[None]:
        """Show a text while something goes on, where it can be wiped out again."""
        if self.palette is None:
            yield
            return
        print(text, end="", flush=True)
        try:
            yield
        finally:
            print("\r\033[K", end="", flush=True)

    def draw(self, position: rules.Position, latest: int | None) -> None:
        """Print the board, closely set if the terminal is narrow."""
        width = position.size.width
        gap = "" if 2 * width + _MARGINS > self.columns else " "
        edge = "" if self.palette is None else " "  # beside the coloured ground
        letters = f"   {edge}{gap.join(COLUMNS[:width])}"
        print(letters)
        for number, points in reversed(list(enumerate(_rows(position, latest), 1))):
            if self.palette is None:
                row = _plain(points, gap)
            else:
                row = _painted(points, gap, self.palette)
            print(f"{number:2}{edge}{row}{edge}{number}")
        print(letters)


class _Point(NamedTuple):
    """A point as it is drawn: index of its glyph, and what distinguishes it."""

    kind: int
    is_legal: bool
    is_latest: bool


def _rows(position: rules.Position, latest: int | None) -> list[list[_Point]]:
    """Return the points of each row, from the bottom."""
    legal = set(rules.legal_moves(position))
    marks = "".join(reversed(notation.rows(position)))
    points = [
        _Point("XO.".index(mark), point in legal, point == latest)
        for point, mark in enumerate(marks)
    ]
    width = position.size.width
    return [points[at : at + width] for at in range(0, len(points), width)]


def _plain(points: Sequence[_Point], gap: str) -> str:
    """Return a row as `notation.diagram` has it, the last move in brackets."""
    row = f" {gap.join('XO.'[point.kind] for point in points)} "
    latest = [column for column, point in enumerate(points) if point.is_latest]
    if not latest or not gap:
        return row
    at = 2 * latest[0]
    return f"{row[:at]}({row[at + 1]}){row[at + 3 :]}"


def _painted(points: Sequence[_Point], gap: str, palette: Palette) -> str:
    """Return a row on a coloured ground."""
    ground = f"\033[0;{palette.board}m"
    cells = []
    for kind, is_legal, is_latest in points:
        empty = palette.legal if is_legal else palette.other
        paint = (*palette.stones, empty)[kind]
        under = palette.latest if is_latest else palette.board
        cells.append(f"\033[{under};{paint}m{palette.glyphs[kind]}{ground}")
    return f"{ground} {gap.join(cells)} \033[0m"


def _choose_palette() -> Palette | None:
    """Return the palette of this terminal; None without colours, or if unwanted."""
    kind = os.environ.get("TERM", "dumb")
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or kind == "dumb":
        return None
    has_many = "256" in kind or bool(os.environ.get("COLORTERM"))
    palette = _MANY_COLORS if has_many else _FEW_COLORS
    try:
        palette.glyphs.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return palette._replace(glyphs="XO.")
    return palette


# The game


class _Word(NamedTuple):
    """A word that may be typed: what stands behind it, what it does."""

    usage: str
    help: str
    run: Callable[["Table", str], None]


class Table:
    """A game between two sides, each a person or the engine."""

    def __init__(self, tanbo: Tanbo, settings: Settings, screen: Screen) -> None:
        self._tanbo = tanbo
        self._screen = screen
        self._say = screen.say
        self._persons = _PERSONS[settings.color]
        self._seconds = settings.time
        if settings.time is None and settings.nodes is None:
            self._seconds = config.DEFAULT_SECONDS
        self._visits = settings.nodes
        self._level = settings.level
        self._resigned: Color | None = None
        self._sure: Color | None = None
        """Who is proved to win, while the moves made since then keep it so."""
        self._is_leaving = False

    def run(self) -> None:
        """Play and talk until the person leaves."""
        self._greet()
        while not self._is_leaving:
            if self._is_engines_turn:
                self._move_engine()
                continue
            line = self._read()
            if line is None:
                self._leave("")
            elif line:
                self._obey(line)

    def _greet(self) -> None:
        self._say("Tanbo, a game by Mark Steere.")
        if self._persons:
            sides = " and ".join(map(self._side, self._persons))
            example = self._tanbo.legal_moves()[0]
            self._say(f"You play {sides}. Type a vertex such as {example}, or help.")
        else:
            self._say("The engine plays both sides; Ctrl-C ends it.")
        self._show_board()

    def _side(self, color: Color) -> str:
        """Return a colour as a person sees it on the board."""
        is_plain = self._screen.palette is None
        return f"{named(color)} ({color.mark})" if is_plain else named(color)

    @property
    def _is_over(self) -> bool:
        return self._tanbo.winner is not None or self._resigned is not None

    @property
    def _is_engines_turn(self) -> bool:
        return not self._is_over and self._tanbo.to_move not in self._persons

    def _read(self) -> str | None:
        """Return the next line without its ends, None if there is no more."""
        who = "Game over" if self._is_over else named(self._tanbo.to_move)
        try:
            line = input(f"{who}> ").strip()
        except EOFError:
            print()
            return None
        if not sys.stdin.isatty():
            print(printable(line))
        return line

    def _obey(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        word = _ALIASES.get(word.lower(), word.lower())
        rest = rest.strip()
        if word in _WORDS:
            if rest and " " not in _WORDS[word].usage:
                self._say(f"{word} stands alone: nothing goes behind it.")
            else:
                _WORDS[word].run(self, rest)
        elif word == "pass" or looks_like_vertex(line):
            self._move_person(line)
        else:
            self._say(
                f"{_shown(line)} is neither a vertex nor a word of mine: try help."
            )

    # Moves

    def _move_person(self, text: str) -> None:
        if self._is_over:
            self._say(_OVER)
            return
        game = self._tanbo.game
        mover = game.to_move
        try:
            if looks_like_vertex(text):
                self._tanbo.play(text)
            else:
                game.close(mover)
        except (VertexError, rules.IllegalMove) as error:
            self._say(_sentence(error))
            return
        self._keep_proof(mover, 0)
        self._after_move()

    def _move_engine(self) -> None:
        color = named(self._tanbo.to_move)
        # Without a person, Ctrl-C is the only way out.
        told = f"{color} is thinking ..."
        is_ended = self._interruptible(bool(self._persons))
        with is_ended as stop, self._screen.passing(told):
            report = self._tanbo.choose(
                seconds=self._seconds,
                visits=self._visits,
                level=self._level,
                stop=stop,
            )
        remark = f" ({self._chance(report)})"
        proofs = {move.point: move.proof for move in report.candidates}
        self._keep_proof(self._tanbo.to_move, proofs[report.point])
        self._tanbo.play(report.point)
        self._after_move(remark)

    def _keep_proof(self, mover: Color, proof: int) -> None:
        """Note what a move that is made leaves of what is proved."""
        if proof:
            self._sure = mover if proof > 0 else mover.opponent
        elif self._sure is mover:  # he may have thrown it away
            self._sure = None

    def _chance(self, report: Report) -> str:
        """Return the mover's chance in words; only what is proved is certain."""
        is_lost = self._sure is self._tanbo.to_move.opponent
        proof = report.proof or -int(is_lost)
        if proof:
            return "a sure win" if proof > 0 else "lost against best play"
        return f"{min(max(round(100 * report.value), 1), 99)}% to win"

    def _after_move(self, remark: str = "") -> None:
        """Tell the move; show the board unless the engine answers at once."""
        if self._is_engines_turn and self._persons:
            self._tell_last(remark)
        else:
            self._show_board(remark)

    @contextmanager
    def _interruptible(self, is_wanted: bool = True) -> Iterator[StopFlag]:
        """Let Ctrl-C end the thinking, and the game only if it is typed again.

        What it sets holds for a search that has not begun as well.
        """
        usual, stop = signal.getsignal(signal.SIGINT), StopFlag()
        if not is_wanted or usual is not signal.default_int_handler:
            yield stop
            return

        def end_thinking(*_: object) -> None:
            signal.signal(signal.SIGINT, usual)
            stop.set()

        signal.signal(signal.SIGINT, end_thinking)
        try:
            yield stop
        finally:
            signal.signal(signal.SIGINT, usual)

    def _search(self, stop: StopFlag) -> Report:
        return self._tanbo.search(seconds=self._seconds, visits=self._visits, stop=stop)

    def _last_turn(self) -> tuple[rules.Position, int] | None:
        """Return the position before the last move, and its point."""
        moves = self._tanbo.game.moves
        if not moves or moves[-1].point is None:
            return None
        before = Game(self._tanbo.game.start)
        for move in moves[:-1]:
            if move.point is not None:
                before.play(move.point)
        return before.position, moves[-1].point

    def _tell_last(self, remark: str) -> None:
        last = self._last_turn()
        if last is not None:
            self._say(narration.turn(*last, remark))

    def _show_board(self, remark: str = "") -> None:
        last = self._last_turn()
        self._tell_last(remark)
        position = self._tanbo.position
        print()
        self._screen.draw(position, None if last is None else last[1])
        print()
        self._say(self._state())

    def _state(self) -> str:
        """Return where the game stands, in words."""
        tanbo = self._tanbo
        if self._resigned is not None:
            winner = self._resigned.opponent
            return f"{named(self._resigned)} has resigned: {named(winner)} has won."
        if tanbo.winner is not None:
            return narration.victory(tanbo.winner)
        growth = ", ".join(
            f"{named(color)} {len(tanbo.legal_moves(color))}" for color in Color
        )
        number = len(tanbo.game.moves) + 1
        mover = named(tanbo.to_move)
        return f"Move {number}, {mover} to move. Growth points: {growth}."

    # Words

    def _hint(self, _: str) -> None:
        if self._is_over:
            self._say(_OVER)
            return
        with self._interruptible() as stop, self._screen.passing("Thinking ..."):
            report = self._search(stop)
        line = " ".join(self._tanbo.vertex(point) for point in report.variation)
        best = self._tanbo.vertex(report.point)
        self._say(f"{best} looks best ({self._chance(report)}). It may go on: {line}")

    def _undo(self, _: str) -> None:
        """Go back to the person's last decision."""
        if self._resigned is not None:
            self._resigned = None
            self._say("The resignation is taken back.")
            return
        moves = self._tanbo.game.moves
        own = [n for n, move in enumerate(moves) if move.color in self._persons]
        if not own:
            self._say("There is no move of yours to take back.")
            return
        self._sure = None
        taken = [self._tanbo.undo() for _ in moves[own[-1] :]]
        vertices = " and ".join(vertex for vertex in reversed(taken) if vertex)
        self._say(f"Taken back: {vertices}.")
        self._show_board()

    def _moves(self, _: str) -> None:
        legal = "" if self._is_over else " ".join(self._tanbo.legal_moves())
        mover = named(self._tanbo.to_move)
        self._say(f"{mover} may play {legal}" if legal else _OVER)

    def _roots(self, _: str) -> None:
        for root in self._tanbo.roots():
            stones, growth = " ".join(root.stones), " ".join(root.growth_points)
            line = f"{named(root.color)} {stones}: can grow at {growth}"
            self._say(line, hang=2)

    def _why(self, text: str) -> None:
        """Explain a point or, without one, the last move."""
        position, last = self._tanbo.position, self._last_turn()
        if text:
            try:
                point = self._tanbo.point(text)
            except VertexError as error:
                self._say(_sentence(error))
                return
            empty = position.is_empty(point)
            tell = explain.placement if empty else explain.root
            self._say(*tell(position, point).text.split("\n"))
        elif last is not None:
            self._say(*explain.last_move(*last).text.split("\n"))
        else:
            self._say("Name a point, as in: why C4")

    def _board(self, _: str) -> None:
        self._show_board()

    def _save(self, name: str) -> None:
        if len(name) > 1 and name[0] == name[-1] and name[0] in "\"'":
            name = name[1:-1]
        if not name:
            self._say("Name a file, as in: save game.sgf")
            return
        text = self._tanbo.sgf(self._headers())
        try:
            with Path(name).expanduser().open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            self._say(f"{_shown(name)} is there already: choose another name.")
        except (OSError, RuntimeError, ValueError) as error:  # also odd names
            reason = getattr(error, "strerror", None) or error
            self._say(f"{_shown(name)} cannot be written: {reason}.")
        else:
            self._say(f"Saved in {_shown(name)}.")

    def _headers(self) -> Headers:
        black, white = (
            "" if color in self._persons else "tanbo-engine" for color in Color
        )
        result = ""
        if self._resigned is not None:
            result = f"{self._resigned.opponent.initial}+R"
        today = time.strftime("%Y-%m-%d")
        return Headers(black=black, white=white, date=today, result=result)

    def _new(self, name: str) -> None:
        try:
            self._tanbo.restart(name or None)
        except setups.UnknownSetup as error:
            self._say(_sentence(error))
            return
        self._resigned = self._sure = None
        setup = setup_of(self._tanbo.game.start)
        self._say(f"A new game: {'' if setup is None else setup.name}.")
        self._show_board()

    def _resign(self, _: str) -> None:
        if not self._is_over:
            self._resigned = self._tanbo.to_move
        self._say(self._state())

    def _help(self, _: str) -> None:
        self._say("A vertex such as C4 places a stone there. Other words:")
        for word in _WORDS.values():
            self._say(f"  {word.usage:12} {word.help}", hang=15)
        self._say("Ctrl-C makes the engine move at once; where you type, it leaves.")

    def _leave(self, _: str) -> None:
        self._is_leaving = True
        self._say("Good-bye.")


_OVER = "The game is over: try new, undo, save or quit."
_ALIASES = {"?": "help", "q": "quit", "exit": "quit"}

_WORDS = {
    word.usage.partition(" ")[0]: word
    for word in (
        _Word("hint", "what looks best, at full strength", Table._hint),
        _Word("undo", "take back your last move and the answer", Table._undo),
        _Word("moves", "where the side to move may play", Table._moves),
        _Word("roots", "the roots and where they can grow", Table._roots),
        _Word("why [C4]", "explain a point or a root, or the last move", Table._why),
        _Word("board", "show the board again", Table._board),
        _Word("save FILE", "keep the game as SGF", Table._save),
        _Word("new [SETUP]", "begin again, also from another start", Table._new),
        _Word("resign", "give up this game", Table._resign),
        _Word("help", "this list", Table._help),
        _Word("quit", "leave", Table._leave),
    )
}


# Text


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


def _shown(text: str) -> str:
    """Return the beginning of what was typed, to be printed."""
    return printable(short(text))
