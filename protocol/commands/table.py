"""The command table, filled by the decorator `command`.

`list_commands`, the dispatch, the README's table and the tests all read it.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, TypeVar

from protocol import gtp
from protocol.commands.arguments import Argument, unquoted
from protocol.session import Session

Emit = Callable[[str], Awaitable[None]]
"""Takes text that goes out at once."""


class Lines(NamedTuple):
    """A response that is written line by line; nothing can refuse it any more.

    Attributes:
        write: writes the lines, each without its newline, by calling what it is given.
    """

    write: Callable[[Emit], Awaitable[None]]


Answer = str | Lines
"""The text of a response, or how it will be written."""

Handler = Callable[..., Answer | Awaitable[Answer]]
"""Called with the session and the parsed arguments; returns the answer."""

_Handler = TypeVar("_Handler", bound=Handler)


class Entry(NamedTuple):
    """One command.

    Attributes:
        name: what a line begins with.
        arguments: what follows; one that may be left out has only such ones behind it.
        handler: does it.
        help: one line on what it does and answers.
        errors: the fixed error texts it may answer besides ``syntax error``.
        listed: `list_commands` names it.
    """

    name: str
    arguments: tuple[Argument, ...]
    handler: Handler
    help: str
    errors: tuple[str, ...]
    listed: bool = True

    @property
    def usage(self) -> str:
        """The command line in short, ``play COLOR VERTEX``."""
        return " ".join((self.name, *(argument.usage for argument in self.arguments)))

    def call(
        self, session: Session, tokens: Sequence[str]
    ) -> Answer | Awaitable[Answer]:
        """Parse the arguments and run the handler.

        Raises:
            GtpError: ``syntax error`` for a wrong number of arguments, or what the
                arguments and the handler say.
        """
        if any(argument.is_file for argument in self.arguments):
            tokens = unquoted(tokens)
        least = sum(argument.least for argument in self.arguments)
        most = sum(argument.most for argument in self.arguments)
        if not least <= len(tokens) <= most:
            raise gtp.GtpError(gtp.SYNTAX_ERROR, f"usage: {self.usage}")
        values = []
        for argument in self.arguments:
            values.append(argument.parse(session, tokens[: argument.most]))
            tokens = tokens[argument.most :]
        return self.handler(session, *values)


TABLE: dict[str, Entry] = {}
"""Every command by name, in the order of `list_commands`, which may leave some out."""


def command(
    name: str,
    *arguments: Argument,
    help: str,  # noqa: A002 (the word of argparse)
    errors: tuple[str, ...] = (),
    listed: bool = True,
) -> Callable[[_Handler], _Handler]:
    """Enter the decorated function into the table; see `Entry` for the arguments."""

    def enter(handler: _Handler) -> _Handler:
        TABLE[name] = Entry(name, arguments, handler, help, errors, listed)
        return handler

    return enter
