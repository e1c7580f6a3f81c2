"""The way of a line: decoded, looked up in the command table, run, answered."""

import traceback

from protocol import gtp
from protocol.commands import TABLE
from protocol.session import Session


async def handle(session: Session, line: str) -> str | None:
    """Return the encoded response to a line, None to a blank one or a comment."""
    session.transcript.received(line)
    command = gtp.decode_command(line)
    if command is None:
        return None
    return _encode(session, await _answer(session, command))


def refuse(session: Session, text: str) -> str:
    """Return the encoded failure of a line that cannot be read as a command."""
    return _encode(session, gtp.Response(False, text))


def _encode(session: Session, response: gtp.Response) -> str:
    text = gtp.encode_response(response)
    session.transcript.sent(text)
    return text


async def _answer(session: Session, command: gtp.Command) -> gtp.Response:
    try:
        text = await _run(session, command)
    except gtp.GtpError as error:
        if error.reason:
            session.note(error.reason)
        return gtp.Response(False, error.text, command.id)
    except Exception as error:  # a bug: tell the user in one line, log the rest
        session.note(traceback.format_exc().rstrip())
        first_line = str(error).partition("\n")[0]
        text = f"internal error: {type(error).__name__}: {first_line}"
        return gtp.Response(False, text, command.id)
    return gtp.Response(True, text, command.id)


async def _run(session: Session, command: gtp.Command) -> str:
    if not command.name:
        raise gtp.GtpError("empty command: a command name follows the id")
    entry = TABLE.get(command.name)
    if entry is None:
        raise gtp.GtpError(gtp.UNKNOWN_COMMAND)
    result = entry.call(session, command.args)
    return result if isinstance(result, str) else await result
