"""Commands of GoGui: its ruler, set-up, navigation and tools menu.

Reply formats: FRONT_ENDS.md section 1.
"""

# ruff: noqa: D103 (the table holds what each command does)

from collections.abc import Mapping, Sequence

from protocol import gtp
from protocol.commands.arguments import COLOR, MOVES, STONES, Placement
from protocol.commands.play import place_stones
from protocol.commands.table import command
from protocol.session import Session
from tanbo_engine import notation
from tanbo_engine.answers import named
from tanbo_engine.points import Color, Size, format_vertex

_OUTSIDE_COLOR = "#303030"

_ANALYZE_COMMANDS = """\
plist/Legal moves/tanbo-legal_moves %c
gfx/Roots/tanbo-draw_roots
gfx/Roots of a color/tanbo-draw_roots %c
gfx/Moves that remove stones/tanbo-draw_removals %c
gfx/Roots in danger/tanbo-draw_danger
plist/Best move/reg_genmove %m
gfx/Best moves/tanbo-draw_moves
dboard/Evaluation of each move/tanbo-draw_values
gfx/Principal variation/tanbo-draw_variation
varc/Principal variation as text/tanbo-variation %c
hpstring/Explain a point/tanbo-explain %p
hpstring/Explain a root/tanbo-explain_root %p
hpstring/Explain the last move/tanbo-explain_last
hstring/Rules/tanbo-rules
param/Live graphics while thinking/tanbo-live_graphics
param/Settings/tanbo-params
hstring/Roots as text/tanbo-roots
string/Position/tanbo-position
hstring/Board/showboard
hstring/Set-ups/tanbo-setups
string/Result/gogui-rules_final_result
string/Who wins for certain (seconds)/tanbo-solve %s
string/Perft (depth)/tanbo-perft %s"""


@command("gogui-rules_game_id", help="Name of the game: Tanbo.")
def rules_game_id(session: Session) -> str:
    return "Tanbo"


@command(
    "gogui-rules_board_size",
    help="N for a square board or with --canvas, else W H.",
)
def rules_board_size(session: Session) -> str:
    width, height = session.game.size
    if width == height:
        return str(width)
    return str(session.canvas_side or f"{width} {height}")


@command(
    "gogui-rules_board",
    help="Rows from the top: X black, O white, . empty, ? outside (--canvas).",
)
def rules_board(session: Session) -> str:
    rows = notation.rows(session.game.position)
    side = session.canvas_side
    if side is not None:
        width, height = session.game.size
        rows = ["?" * side] * (side - height) + [
            row + "?" * (side - width) for row in rows
        ]
    return "\n".join(" ".join(row) for row in rows)


@command(
    "gogui-rules_board_gfx",
    help="With --canvas: GoGui graphics that darken the outside.",
)
def rules_board_gfx(session: Session) -> str:
    side = session.canvas_side
    if side is None:
        return ""
    width, height = session.game.size
    square = Size(side, side)
    outside = (
        format_vertex(square, row * side + column)
        for row in range(side)
        for column in range(side)
        if row >= height or column >= width
    )
    return f"COLOR {_OUTSIDE_COLOR} {' '.join(outside)}"


@command(
    "gogui-rules_legal_moves",
    help="Vertices where the side to move may play; empty after the end.",
)
def rules_legal_moves(session: Session) -> str:
    game = session.game
    return " ".join(format_vertex(game.size, point) for point in game.legal_moves())


@command("gogui-rules_side_to_move", help="black or white.")
def rules_side_to_move(session: Session) -> str:
    return session.game.to_move.word


@command("gogui-rules_final_result", help="The result in words.")
def rules_final_result(session: Session) -> str:
    winner, loser = session.game.winner, session.resigned
    if loser is not None:
        return f"{named(loser.opponent)} wins: {named(loser)} has resigned"
    return "undecided" if winner is None else f"{named(winner)} wins"


@command(
    "gogui-rules_captured_count",
    help="How many white stones have been removed, then how many black ones.",
)
def rules_captured_count(session: Session) -> str:
    game = session.game
    return f"{game.captured(Color.WHITE)} {game.captured(Color.BLACK)}"


@command("gogui-title", help="Title of GoGui's window.")
def title(session: Session) -> str:
    return f"Tanbo, {session.setup.name}"


@command(
    "gogui-interrupt",
    help="Empty; its presence says that the comment line # interrupt ends a search "
    "with the best move so far.",
)
def interrupt(session: Session) -> str:
    return ""


@command("gogui-analyze_commands", help="Entries of GoGui's analyze menu.")
def analyze_commands(session: Session) -> str:
    return _ANALYZE_COMMANDS


@command(
    "gogui-play_sequence",
    MOVES,
    help="Play moves, all or none.",
    errors=(gtp.ILLEGAL_MOVE,),
)
def play_sequence(session: Session, moves: Sequence[Placement]) -> str:
    made = len(session.game.moves)
    try:
        for color, point in moves:
            session.play(color, point)
    except gtp.GtpError:
        while len(session.game.moves) > made:
            session.game.undo()
        raise
    return ""


@command(
    "gogui-setup",
    STONES,
    help="Begin a new game with exactly these stones, Black to move.",
)
def setup(session: Session, stones: Mapping[Color, frozenset[int]]) -> str:
    place_stones(session, stones)
    return ""


@command(
    "gogui-setup_player",
    COLOR,
    help="Begin a new game at the current position with this side to move.",
)
def setup_player(session: Session, color: Color) -> str:
    session.load(session.game.position._replace(to_move=color))
    return ""
