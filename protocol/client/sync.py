"""What an engine is told to be at a position: no more than it does not know yet."""

import re
from collections.abc import Callable
from itertools import takewhile
from typing import NamedTuple

from protocol.client.errors import Refused
from tanbo_engine import setups
from tanbo_engine.game import Game, Move
from tanbo_engine.points import Color, VertexError, format_vertex, parse_vertex
from tanbo_engine.rules import Position

_CHANGES_BOARD = re.compile(
    r"(?!reg_).*genmove.*|(rectangular_)?boardsize|clear_board|play|(gg-)?undo|loadsgf"
    r"|set_position|gogui-(play_sequence|setup|setup_player)|tanbo-(setup|position)"
    r"|(fixed|set_free|place_free)_handicap"
)


class Known(NamedTuple):
    """What the engine was told: start and moves, as a `Game` keeps them."""

    start: Position
    moves: list[Move]


def wanted_by(target: Game | Position) -> Known:
    """Return what an engine must know to be there."""
    if isinstance(target, Position):
        return Known(target, [])
    return Known(target.start, list(target.moves))


def after_move(known: Known | None, color: Color, answer: str) -> Known | None:
    """Return what the engine knows after its own move; None if that is no move."""
    if known is None or answer == "resign":
        return known
    point = None
    if answer != "pass":
        try:
            point = parse_vertex(known.start.size, answer)
        except VertexError:
            return None
    known.moves.append(Move(color, point))
    return known


def changes_board(command: str) -> bool:
    """Tell whether a command may leave another position behind."""
    return _CHANGES_BOARD.fullmatch(command) is not None


class Guide:
    """Knows the ways of an engine to a position."""

    def __init__(self, label: str, knows: Callable[[str], bool]) -> None:
        """Prepare.

        Args:
            label: how errors call the engine.
            knows: whether it lists a command.
        """
        self._label = label
        self._knows = knows

    def difference(self, known: Known | None, wanted: Known) -> list[str]:
        """Return the commands that lead from what the engine was told to the wanted.

        Everything is said, where it is not certain what it was told, and where no move
        is shared.

        Raises:
            Refused: it lists none that loads the position.
        """
        if known is None or known.start != wanted.start:
            return self._whole(wanted)
        # Mostly one move is new: whole lists compare faster than their items.
        shared = len(known.moves)
        if wanted.moves[:shared] != known.moves:
            pairs = zip(known.moves, wanted.moves, strict=False)
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        undone = len(known.moves) - shared
        if undone and not (shared and self._knows("undo")):
            return self._whole(wanted)
        return ["undo"] * undone + self._plays(wanted, shared)

    def _whole(self, wanted: Known) -> list[str]:
        return [*self._opening(wanted.start), *self._plays(wanted, 0)]

    def _opening(self, start: Position) -> list[str]:
        """Return the commands that begin a game at a start position."""
        named = (s for s in setups.offered() if s.size == start.size)
        setup = next((s for s in named if s.position() == start), None)
        if setup is not None and self._knows("tanbo-setup"):
            return [f"tanbo-setup {setup.name}", "clear_board"]
        commands = [self._boardsize(*start.size), "clear_board"]
        if setup is None or setups.for_size(start.size) != setup:
            commands += self._stones(start, is_setup=setup is not None)
        return commands

    def _boardsize(self, width: int, height: int) -> str:
        if width == height:
            return f"boardsize {width}"
        if self._knows("rectangular_boardsize"):
            return f"rectangular_boardsize {width} {height}"
        return f"boardsize {width} {height}"

    def _stones(self, start: Position, *, is_setup: bool) -> list[str]:
        """Return the commands that put a position's stones on the board.

        An engine that lists none may still have a set-up that is not the usual one of
        its size: its own options may have chosen it.
        """
        loader = next(filter(self._knows, ("gogui-setup", "set_position")), None)
        turn = []
        if self._knows("gogui-setup_player"):
            turn = [f"gogui-setup_player {start.to_move.initial}"]
        if loader is None or (start.to_move is not Color.BLACK and not turn):
            if is_setup:
                return []
            text = "it lists no command that loads this position"
            raise Refused(self._label, "gogui-setup", text)
        stones = (
            f"{color.initial} {format_vertex(start.size, point)}"
            for color in Color
            for point in sorted(start.stones(color))
        )
        return [" ".join((loader, *stones)), *turn]

    def _plays(self, wanted: Known, first: int) -> list[str]:
        """Return the commands that make the moves from a number on."""
        size = wanted.start.size
        moves = [
            f"{color.initial} {'pass' if point is None else format_vertex(size, point)}"
            for color, point in wanted.moves[first:]
        ]
        if len(moves) > 1 and self._knows("gogui-play_sequence"):
            return [" ".join(("gogui-play_sequence", *moves))]
        return [f"play {move}" for move in moves]
