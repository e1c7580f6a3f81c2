"""Codec of the Go Text Protocol, version 2: lines to commands, responses to text.

Symmetric, so that the engine and a controller of engines share it. The rules and their
sources are in FRONT_ENDS.md sections 0 and 5.
"""

from typing import NamedTuple

from tanbo_engine.wording import short

MAX_ID = 2**31 - 1

ILLEGAL_MOVE = "illegal move"
CANNOT_UNDO = "cannot undo"
UNACCEPTABLE_SIZE = "unacceptable size"
UNKNOWN_COMMAND = "unknown command"
SYNTAX_ERROR = "syntax error"
CANNOT_SCORE = "cannot score"
CANNOT_LOAD_FILE = "cannot load file"
"""Error texts that controllers compare: they stand alone, nothing is appended."""

_CONTROL = bytes(code for code in range(128) if code < 32 or code == 127)
_DROPPED = _CONTROL.replace(b"\t", b"")
_TAB_TO_BLANK = bytes.maketrans(b"\t", b" ")
_TO_PRINTABLE = bytes.maketrans(
    _CONTROL, bytes(b" "[0] if code == b"\t"[0] else b"?"[0] for code in _CONTROL)
)


class GtpError(Exception):
    """A command that fails: what the response says and, for the log, why.

    Attributes:
        text: the response, one line.
        reason: more than a fixed error text may say; empty if there is no more.
    """

    def __init__(self, text: str, reason: str = "") -> None:
        super().__init__(text)
        self.text = text
        self.reason = reason


class Command(NamedTuple):
    """A command line: optional id, name, arguments.

    The name is empty in a line that holds an id alone.
    """

    id: int | None
    name: str
    args: tuple[str, ...] = ()


class Response(NamedTuple):
    """The answer to one command; `text` may have several lines."""

    ok: bool
    text: str
    id: int | None = None


class ResponseError(ValueError):
    """The text is not a GTP response; the message says why."""


def decode_command(line: str) -> Command | None:
    """Return the command of a line, None where the line is blank or a comment.

    Control characters are dropped, a tab is a blank, ``#`` begins a comment. What is
    not ASCII becomes ``?``, so that no word changes its meaning; only a byte order
    mark, which some editors put first, is forgotten. An id may touch the name
    (``12name``); digits beyond the largest id belong to the name.
    """
    kept = line.removeprefix("\ufeff").partition("#")[0]
    code = kept.encode("ascii", "replace")
    text = code.translate(_TAB_TO_BLANK, _DROPPED).decode("ascii").strip(" ")
    if not text:
        return None
    number, text = _split_id(text)
    name, *args = text.split() or [""]
    return Command(number, name, tuple(args))


def encode_command(command: Command) -> str:
    """Return the line of a command, with its newline."""
    words = [] if command.id is None else [str(command.id)]
    return " ".join((*words, command.name, *command.args)) + "\n"


def encode_response(response: Response) -> str:
    r"""Return the text of a response, with the empty line that ends it.

    The blank after the status is always there and lines without text are left out,
    because both mislead clients. A text that begins with ``\n`` starts on a line of
    its own. Only printable ASCII goes out.
    """
    status = "=" if response.ok else "?"
    number = "" if response.id is None else str(response.id)
    first, *others = (_printable(line) for line in response.text.split("\n"))
    kept = (line for line in others if line.strip(" "))
    return "\n".join((f"{status}{number} {first}", *kept)) + "\n\n"


def decode_response(text: str) -> Response:
    """Return the response that a text up to its empty line holds.

    Raises:
        ResponseError: it does not begin with ``=`` or ``?``, or its id is too large.
    """
    body = text.replace("\r", "").removesuffix("\n").removesuffix("\n")
    if not body.startswith(("=", "?")):
        raise ResponseError(f"a response begins with = or ?, not {short(body)!r}")
    number, after = _split_id(body[1:])
    if after[:1].isdigit():
        raise ResponseError(f"the id {short(after)} is above {MAX_ID}")
    return Response(body[0] == "=", after.removeprefix(" "), number)


def _split_id(text: str) -> tuple[int | None, str]:
    """Return the id at the front of a text, if there is a valid one, and the rest."""
    rest = text.lstrip("0123456789")
    digits = text[: len(text) - len(rest)]
    # int() refuses some thousands of digits with an error of its own.
    significant = digits.lstrip("0")
    if digits and len(significant) <= 10 and int(significant or "0") <= MAX_ID:
        return int(significant or "0"), rest
    return None, text


def _printable(line: str) -> str:
    """Return a line with tabs as blanks and ``?`` for what is not printable ASCII."""
    return line.encode("ascii", "replace").translate(_TO_PRINTABLE).decode("ascii")
