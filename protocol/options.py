"""Settings from a command line and a TOML file, as one msgspec Struct defines them.

The Struct's fields are options and keys; their Meta holds bounds, description and, in
``extra``, a ``metavar`` and the values they take in words (``expected``).
"""

import argparse
import math
import re
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    NamedTuple,
    NoReturn,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec
from msgspec import Meta

from protocol.files import read_whole
from tanbo_engine.wording import short

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

WRONG_USAGE = 2
"""Exit status after a wrong option."""

_MOST_BYTES = 1 << 20  # of a TOML file

_DECIMAL = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}

_Struct = TypeVar("_Struct", bound=msgspec.Struct)


class SettingsError(ValueError):
    """A setting is wrong; the message is one line for the user."""


class _Formatter(argparse.HelpFormatter):
    """The usual help, at a fixed width: asking the terminal is slow to import."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=80)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def __init__(self, prog: str, description: str, epilog: str | None = None) -> None:
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            allow_abbrev=False,
            formatter_class=_Formatter,
        )

    def _print_message(
        self, message: str, file: "SupportsWrite[str] | None" = None
    ) -> None:
        """Print help, and let it be known where that cannot be written."""
        if file is not None:
            file.write(message)

    def error(self, message: str) -> NoReturn:
        """Print the line and exit."""
        self.exit(WRONG_USAGE, f"{self.prog}: {message}; see {self.prog} --help\n")

    def add_settings(self, struct: type[msgspec.Struct]) -> None:
        """Add an option for every field of a Struct, and ``--config``."""
        for field in fields(struct).values():
            self._add_field(field)
        self.add_argument(
            "--config",
            metavar="FILE",
            default=argparse.SUPPRESS,
            help="TOML file with the same names as keys; the command line wins",
        )

    def _add_field(self, field: "Field") -> None:
        flag, absent = f"--{field.name}", argparse.SUPPRESS
        shown = str(field.meta.description)
        if field.kind is bool:
            self.add_argument(
                flag, dest=field.name, action="store_true", default=absent, help=shown
            )
        else:
            # argparse knows neither "no nargs" as a value nor a metavar for several.
            width = field.width
            several: dict[str, Any] = {} if width is None else {"nargs": width}
            self.add_argument(
                flag,
                dest=field.name,
                action="append" if field.is_list else "store",
                default=absent,
                metavar=field.metavar if width is None else None,
                help=shown,
                **several,
            )


class Field(NamedTuple):
    """A setting as command line and file see it.

    Attributes:
        name: on the command line (behind ``--``) and in the file.
        kind: its type: int, float, bool, str, or a tuple.
        meta: bounds and description.
    """

    name: str
    kind: Any
    meta: Meta

    @property
    def is_list(self) -> bool:
        """Whether it may be given several times."""
        return get_origin(self.kind) is tuple and Ellipsis in get_args(self.kind)

    @property
    def has_entries(self) -> bool:
        """Whether it is a list of tables of its own."""
        return self.is_list and get_args(self.kind)[0] is not str

    @property
    def width(self) -> int | None:
        """How many values one option takes; None for one, or for any number."""
        if get_origin(self.kind) is not tuple or self.is_list:
            return None
        return len(get_args(self.kind))

    @property
    def metavar(self) -> str:
        """What stands for its value in help texts."""
        return str((self.meta.extra or {}).get("metavar", self.name.upper()))

    @property
    def expected(self) -> str:
        """The values it takes, in words."""
        given = (self.meta.extra or {}).get("expected")
        text = str(given or _KINDS.get(self.kind, "a list of texts"))
        if self.meta.ge is not None:
            return f"{text} from {self.meta.ge} to {self.meta.le}"
        if self.meta.gt is not None:
            return f"{text} above {self.meta.gt}, at most {self.meta.le}"
        return text


@cache
def fields(struct: type[msgspec.Struct]) -> dict[str, Field]:
    """Return every setting of a Struct by name."""
    hints = get_type_hints(struct, include_extras=True)
    found = {}
    for field in msgspec.structs.fields(struct):
        hint = hints[field.name]
        if get_origin(hint) is not Annotated:  # it may be None as well
            hint = get_args(hint)[0]
        kind, meta = get_args(hint)
        found[field.encode_name] = Field(field.encode_name, kind, meta)
    return found


def load(
    struct: type[_Struct],
    options: Mapping[str, object],
    file: str | None = None,
    exclusive: Collection[str] = (),
) -> _Struct:
    """Return the settings of the command line and, behind them, of a TOML file.

    Args:
        struct: what they are.
        options: what the command line gives, by name; numbers may be text.
        file: a TOML file with the same names as keys.
        exclusive: names of which one on the command line beats all in the file.

    Raises:
        SettingsError: the file cannot be read, an unknown key, or a wrong value.
    """
    known = fields(struct)
    values = {
        name: convert(known[name], value, f"{file}: {name}", strict=True)
        for name, value in ({} if file is None else _read(known, file)).items()
    }
    if not options.keys().isdisjoint(exclusive):
        for name in exclusive:
            values.pop(name, None)
    for name, value in options.items():
        values[name] = convert(known[name], value, f"--{name}", strict=False)
    return msgspec.convert(values, struct)


def _read(known: Mapping[str, Field], file: str) -> dict[str, object]:
    """Return a TOML file's settings."""
    import tomllib  # here for the start-up time: few runs have a file

    try:
        table = tomllib.loads(read_whole(Path(file), _MOST_BYTES).decode())
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:  # not UTF-8, or not TOML
        raise SettingsError(f"{file} is not a TOML file: {error}") from error
    for key in table:
        if key not in known:
            raise SettingsError(
                f"{file}: unknown key {short(key)!r}: use {', '.join(known)}"
            )
    return table


def decimal(text: str) -> float:
    """Return the finite number of a text such as ``2``, ``.5`` or ``1e-3``.

    Raises:
        ValueError: it is none.
    """
    if re.fullmatch(_DECIMAL, text) and math.isfinite(value := float(text)):
        return value
    raise ValueError(f"no decimal number: {short(text)!r}")


def _with_numbers(field: Field, value: object) -> object:
    """Return a value with its texts read as decimals where its kind has those.

    Raises:
        ValueError: one of them is none.
    """
    if field.width is not None and isinstance(value, list):
        pairs = zip(get_args(field.kind), value, strict=True)
        return [_with_number(kind, part) for kind, part in pairs]
    return _with_number(field.kind, value)


def _with_number(kind: object, value: object) -> object:
    return decimal(value) if kind is float and isinstance(value, str) else value


def convert(field: Field, value: object, where: str, *, strict: bool) -> object:
    """Return a value of a field's type and within its bounds.

    Args:
        field: what it is for.
        value: what was given; without `strict` a number may be text.
        where: what was given it, for the error.
        strict: take no text for a number.

    Raises:
        SettingsError: it is not one.
    """
    try:
        given = value if strict else _with_numbers(field, value)
        return msgspec.convert(given, Annotated[field.kind, field.meta], strict=strict)
    except (msgspec.ValidationError, ValueError) as error:
        if field.has_entries and isinstance(value, list):  # which one, and what of it
            text = f"{where}: expected {field.expected}: {error}"
            raise SettingsError(text) from error
        got = short(_written(value)) if strict else repr(short(str(value)))
        raise SettingsError(f"{where}: expected {field.expected}, got {got}") from error


def _written(value: object) -> str:
    """Return a value as JSON or TOML has it: ``true``, and texts in quotes."""
    if isinstance(value, float):  # JSON knows no inf
        return str(value)
    return msgspec.json.encode(value).decode()
