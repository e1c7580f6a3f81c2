"""Commands about the protocol itself and the board: what every controller needs."""

# ruff: noqa: D103 (the table holds what each command does)

from protocol import gtp
from protocol.commands.arguments import SIZE, Optional, SizeArgument, Text, parse_number
from protocol.commands.table import TABLE, command
from protocol.session import Session
from tanbo_engine import __version__, setups
from tanbo_engine.points import Size
from tanbo_engine.wording import short


@command("protocol_version", help="Version of GTP: 2.")
def protocol_version(session: Session) -> str:
    return "2"


@command("name", help="Name of the engine.")
def name(session: Session) -> str:
    return "tanbo-engine"


@command("version", help="Release of the engine.")
def version(session: Session) -> str:
    return __version__


@command(
    "known_command", Text("COMMAND"), help="Whether a command exists: true or false."
)
def known_command(session: Session, name: str) -> str:
    return "true" if name in TABLE else "false"


@command("list_commands", help="All commands, one a line.")
def list_commands(session: Session) -> str:
    return "\n".join(entry.name for entry in TABLE.values() if entry.listed)


@command(
    "help",
    Optional(Text("COMMAND")),
    help="How to use a command, or all of them, a line each.",
)
def show_help(session: Session, name: str | None) -> str:
    if name is not None and name not in TABLE:
        raise gtp.GtpError(f"no command {short(name)!r}: list_commands has all names")
    entries = TABLE.values() if name is None else [TABLE[name]]
    return "\n".join(f"{entry.usage}: {entry.help}" for entry in entries)


@command("quit", help="Answer and end the engine.")
def close(session: Session) -> str:
    session.closing = True
    return ""


@command(
    "boardsize",
    SIZE,
    help="Begin a new game on a size: N, W H, W:H or WxH. The current size keeps its "
    "set-up, another size gets its default set-up.",
    errors=(gtp.UNACCEPTABLE_SIZE,),
)
def boardsize(session: Session, size: Size) -> str:
    if size == session.game.size or _is_canvas(session, size):
        session.new_game()
        return ""
    session.require_size(size)
    try:
        setup = setups.for_size(size)
    except setups.UnknownSetup as error:
        raise gtp.GtpError(gtp.UNACCEPTABLE_SIZE, str(error)) from error
    session.new_game(setup)
    return ""


def _is_canvas(session: Session, size: Size) -> bool:
    """Tell whether GoGui means the square that it shows our rectangle on."""
    return size.width == size.height == session.canvas_side


@command(
    "rectangular_boardsize",
    SizeArgument("WIDTH HEIGHT", least=2),
    help="The same as boardsize, width first.",
    errors=(gtp.UNACCEPTABLE_SIZE,),
)
def rectangular_boardsize(session: Session, size: Size) -> str:
    return boardsize(session, size)


@command("clear_board", help="Begin a new game with the set-up's start stones.")
def clear_board(session: Session) -> str:
    session.new_game()
    return ""


@command("komi", Text("NUMBER"), help="Accepted and without effect: Tanbo has no komi.")
def komi(session: Session, text: str) -> str:
    try:
        session.komi = parse_number(text)
    except gtp.GtpError as error:
        raise gtp.GtpError(gtp.SYNTAX_ERROR, error.text) from error
    return ""
