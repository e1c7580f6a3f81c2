"""The engine's settings: one typed definition for command line and TOML file."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta

from tanbo_engine import setups
from tanbo_engine.points import Size

DEFAULT_SECONDS = 1.0
"""Thinking time a move when neither time nor nodes are set."""

_KINDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
_SIZE = r"([0-9]{1,2})(?:[xX:]([0-9]{1,2}))?"


class SettingsError(ValueError):
    """A setting is wrong; the message is one line for the user."""


Name = Annotated[
    str, Meta(description="start position, such as dense-7x7 or classic-9x9")
]
SizeText = Annotated[str, Meta(description="board size, width x height, such as 7x9")]
Seconds = Annotated[
    float,
    Meta(
        gt=0,
        le=1_000_000,
        description="thinking time a move in seconds where no clock runs "
        f"(default {DEFAULT_SECONDS:g}; no limit if --nodes is given)",
        extra={"metavar": "SECONDS"},
    ),
]
Visits = Annotated[
    int,
    Meta(
        ge=1,
        le=1_000_000_000,
        description="visits a move at most",
        extra={"metavar": "N"},
    ),
]
Megabytes = Annotated[
    int,
    Meta(
        ge=1,
        le=1_048_576,
        description="bound of the search tree in megabytes (default 256)",
        extra={"metavar": "MB"},
    ),
]
Seed = Annotated[
    int,
    Meta(
        ge=0,
        le=2**63 - 1,
        description="seed of every random choice (default: drawn and logged)",
        extra={"metavar": "N"},
    ),
]
File = Annotated[
    str,
    Meta(description="append a transcript to this file", extra={"metavar": "FILE"}),
]


class Settings(
    msgspec.Struct,
    kw_only=True,
    frozen=True,
    forbid_unknown_fields=True,
    rename="kebab",
):
    """What a person may choose; None where the engine chooses."""

    size: SizeText | None = None
    setup: Name | None = None
    canvas: Annotated[
        bool, Meta(description="show a rectangular board on a square, for GoGui")
    ] = False
    lock_size: Annotated[bool, Meta(description="refuse every other board size")] = (
        False
    )
    time: Seconds | None = None
    nodes: Visits | None = None
    memory: Megabytes = 256
    seed: Seed | None = None
    accept_start_stones: Annotated[
        bool,
        Meta(
            description="accept play of stones that stand at the start, "
            "for boards that begin empty"
        ),
    ] = False
    log: File | None = None


class Field(NamedTuple):
    """A setting as command line and file see it.

    Attributes:
        name: on the command line (behind ``--``) and in the file.
        kind: its type: int, float, bool or str.
        meta: bounds and description.
    """

    name: str
    kind: type
    meta: Meta

    @property
    def expected(self) -> str:
        """The values it takes, in words."""
        text = _KINDS[self.kind]
        if self.meta.ge is not None:
            return f"{text} from {self.meta.ge} to {self.meta.le}"
        if self.meta.gt is not None:
            return f"{text} above {self.meta.gt}, at most {self.meta.le}"
        return text


@cache
def fields() -> dict[str, Field]:
    """Return every setting by name."""
    hints = get_type_hints(Settings, include_extras=True)
    found = {}
    for field in msgspec.structs.fields(Settings):
        hint = hints[field.name]
        if get_origin(hint) is not Annotated:  # it may be None as well
            hint = get_args(hint)[0]
        kind, meta = get_args(hint)
        found[field.encode_name] = Field(field.encode_name, kind, meta)
    return found


def load(options: Mapping[str, object], file: str | None = None) -> Settings:
    """Return the settings of the command line and, behind them, of a TOML file.

    Args:
        options: what the command line gives, by name; numbers may be text.
        file: a TOML file with the same names as keys.

    Raises:
        SettingsError: the file cannot be read, an unknown key, or a wrong value.
    """
    values = {
        name: _convert(name, value, f"{file}: {name}", strict=True)
        for name, value in ({} if file is None else _read(file)).items()
    }
    for name, value in options.items():
        values[name] = _convert(name, value, f"--{name}", strict=False)
    return msgspec.convert(values, Settings)


def start_setup(settings: Settings) -> setups.Setup:
    """Return the set-up to begin with.

    Raises:
        SettingsError: an unknown set-up or size, or a set-up of another size.
    """
    size = None if settings.size is None else _parse_size(settings.size)
    try:
        if settings.setup is None and size is not None:
            return setups.for_size(size)
        chosen = setups.by_name(settings.setup or setups.DEFAULT)
    except setups.UnknownSetup as error:
        raise SettingsError(str(error)) from error
    if size not in (None, chosen.size):
        raise SettingsError(f"the set-up {chosen.name} has not the size {size}")
    return chosen


def _read(file: str) -> dict[str, object]:
    """Return a TOML file's settings."""
    import tomllib  # here for the start-up time: few runs have a file

    try:
        with Path(file).open("rb") as stream:
            table = tomllib.load(stream)
    except OSError as error:
        raise SettingsError(f"cannot read {file}: {error.strerror}") from error
    except ValueError as error:  # not UTF-8, or not TOML
        raise SettingsError(f"{file} is not a TOML file: {error}") from error
    for key in table:
        if key not in fields():
            raise SettingsError(
                f"{file}: unknown key {key[:40]!r}: use {', '.join(fields())}"
            )
    return table


def _convert(name: str, value: object, where: str, *, strict: bool) -> object:
    field = fields()[name]
    try:
        return msgspec.convert(value, Annotated[field.kind, field.meta], strict=strict)
    except msgspec.ValidationError as error:
        raise SettingsError(
            f"{where}: expected {field.expected}, got {str(value)[:40]!r}"
        ) from error


def _parse_size(text: str) -> Size:
    match = re.fullmatch(_SIZE, text)
    if match is None:
        raise SettingsError(f"invalid size {text[:20]!r}: use WxH, such as 7x9")
    return Size(int(match[1]), int(match[2] or match[1]))
