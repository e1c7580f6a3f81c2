"""The way of a line: decoded, looked up in the command table, run, answered."""

import traceback

from protocol import gtp
from protocol.commands import TABLE
from protocol.commands.table import Answer, Emit, Lines
from protocol.session import Session


class Unheard(Exception):  # noqa: N818
    """Nobody takes what goes out any more."""


async def handle(session: Session, line: str, emit: Emit | None = None) -> str | None:
    """Return the encoded response to a line, None to a blank one or a comment.

    Args:
        session: whose line it is.
        line: the line, with or without its end.
        emit: takes whole lines of a response before its end, as soon as there are
            any, and may raise `Unheard`; without it, they are returned as well.
    """
    session.transcript.received(line)
    command = gtp.decode_command(line)
    if command is None:
        return None
    answer = await _answer(session, command)
    if isinstance(answer, gtp.Response):
        return _encode(session, answer)
    if emit is not None:
        return await _write(session, command, answer, emit)
    begun: list[str] = []

    async def keep(text: str) -> None:
        begun.append(text)

    end = await _write(session, command, answer, keep)
    return "".join((*begun, end))


def refuse(session: Session, text: str) -> str:
    """Return the encoded failure of a line that cannot be read as a command."""
    return _encode(session, gtp.Response(False, text))


def _encode(session: Session, response: gtp.Response) -> str:
    text = gtp.encode_response(response)
    session.transcript.sent(text)
    return text


async def _answer(session: Session, command: gtp.Command) -> gtp.Response | Lines:
    try:
        answer = await _run(session, command)
    except gtp.GtpError as error:
        if error.reason:
            session.note(error.reason)
        return gtp.Response(False, error.text, command.id)
    except Exception as error:  # a bug: tell the user in one line, log the rest
        session.note(traceback.format_exc().rstrip())
        first_line = str(error).partition("\n")[0]
        text = f"internal error: {type(error).__name__}: {first_line}"
        return gtp.Response(False, text, command.id)
    if isinstance(answer, Lines):
        return answer
    return gtp.Response(True, answer, command.id)


async def _run(session: Session, command: gtp.Command) -> Answer:
    if not command.name:
        raise gtp.GtpError("empty command: a command name follows the id")
    entry = TABLE.get(command.name)
    if entry is None:
        raise gtp.GtpError(gtp.UNKNOWN_COMMAND)
    result = entry.call(session, command.args)
    return result if isinstance(result, (str, Lines)) else await result


async def _write(
    session: Session, command: gtp.Command, lines: Lines, emit: Emit
) -> str:
    """Write a response line by line; return the empty line that ends it."""

    async def write(line: str) -> None:
        session.transcript.sent(line)
        await emit(f"{line}\n")

    await write(gtp.encode_response(gtp.Response(True, "", command.id)).rstrip("\n"))
    try:
        await lines.write(write)
    except Unheard:
        raise
    except gtp.GtpError as error:  # too late to refuse
        session.note(error.text)
    except Exception:  # a bug
        session.note(traceback.format_exc().rstrip())
    return "\n"
