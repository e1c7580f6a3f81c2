"""Commands that show and change settings while the engine runs, after KataGo's.

What there is to change, its types and bounds come from `config.Settings`.
"""

# ruff: noqa: D103 (the table holds what each command does)

from collections.abc import Collection, Mapping, Sequence

import msgspec

from protocol import config, gtp
from protocol.commands.arguments import Rest, Text
from protocol.commands.table import command
from protocol.options import SettingsError, convert, fields
from protocol.session import Session
from tanbo_engine.levels import LEVELS
from tanbo_engine.player import KINDS
from tanbo_engine.wording import short

_UNSET = "none"
"""What stands for a setting that the engine chooses."""

_DEFAULTS = config.Settings()

_CHOICES: Mapping[str, Collection[object]] = {"level": LEVELS, "player": KINDS}
"""Settings that GoGui's dialog offers all values of."""


@command("kata-list-params", help="Settings that can be changed, blank-separated.")
def list_params(session: Session) -> str:
    return " ".join(config.PARAMS)


@command(
    "kata-get-param",
    Text("PARAM"),
    help="Value of a setting; none where the engine chooses, but of threads how many.",
)
def get_param(session: Session, name: str) -> str:
    return _text(_value(session, _known(name)))


@command("kata-get-params", help="All of them as a JSON object.")
def get_params(session: Session) -> str:
    values = {name: _value(session, name) for name in config.PARAMS}
    return msgspec.json.encode(values).decode()


@command(
    "kata-set-param",
    Text("PARAM"),
    Text("VALUE"),
    help="Change a setting of kata-list-params, or by KataGo's word ("
    f"{', '.join(config.PARAM_ALIASES)}); none lets the engine choose.",
)
def set_param(session: Session, name: str, value: str) -> str:
    return _change(session, {name: value}, strict=False)


@command(
    "kata-set-params",
    Rest("JSON", least=1),
    help="Change several settings, a JSON object, all or none.",
)
def set_params(session: Session, words: Sequence[str]) -> str:
    text = " ".join(words)
    try:
        values = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise gtp.GtpError(f"no JSON object: {error}") from error
    if not isinstance(values, dict):
        raise gtp.GtpError('use a JSON object, such as {"nodes": 1000}')
    _refuse_doubles(text)
    return _change(session, values, strict=True)


def _refuse_doubles(text: str) -> None:
    """Raise `GtpError` where a valid JSON object has a key twice: which one is meant?

    msgspec takes the last one without a word.
    """
    import json  # here for the start-up time

    def check(pairs: list[tuple[str, object]]) -> None:
        seen = set()
        for name, _ in pairs:
            if name in seen:
                raise gtp.GtpError(f"{short(name)!r} is given twice: give it once")
            seen.add(name)

    json.loads(text, object_pairs_hook=check, parse_int=float)


@command(
    "tanbo-params",
    Rest("[PARAM VALUE]"),
    help="The same settings as GoGui's parameter dialog asks and sets them; without "
    "VALUE, as the dialog sends an empty field, the engine chooses.",
)
def gogui_params(session: Session, words: Sequence[str]) -> str:
    if not words:
        return "\n".join(_dialog_line(session, name) for name in config.PARAMS)
    value = " ".join(words[1:]) or _UNSET
    return _change(session, {words[0]: value}, strict=False)


def _dialog_line(session: Session, name: str) -> str:
    field = fields(config.Settings)[name]
    if field.kind is bool:
        return f"[bool] {name} {int(getattr(session.settings, name))}"
    choices = _CHOICES.get(name)
    kind = "string" if choices is None else "/".join(("list", *map(str, choices)))
    # What is not set stays so when the dialog sends back what it shows.
    return f"[{kind}] {name} {_text(getattr(session.settings, name))}"


def _change(session: Session, values: Mapping[str, object], *, strict: bool) -> str:
    """Check all values, then change all of them."""
    changes: dict[str, object] = {}
    words: dict[str, str] = {}
    for word, value in values.items():
        name = _known(word)
        if name in words:
            raise gtp.GtpError(
                f"{words[name]} and {word} are the same setting: give one of them"
            )
        words[name] = word
        if name == "memory" and not session.may_use_files:
            raise gtp.GtpError("the memory of a connection is fixed")
        try:
            changes[name] = _parsed(name, value, strict=strict)
        except SettingsError as error:
            raise gtp.GtpError(str(error)) from error
    try:
        session.change(changes)
    except MemoryError as error:
        raise gtp.GtpError(f"memory: {error}") from error
    return ""


def _parsed(name: str, value: object, *, strict: bool) -> object:
    if value is None or value == _UNSET:
        if getattr(_DEFAULTS, name) is None:
            return None
        expected = fields(config.Settings)[name].expected
        raise SettingsError(f"{name}: expected {expected}: {_UNSET} is no value of it")
    return convert(fields(config.Settings)[name], value, name, strict=strict)


def _known(word: str) -> str:
    name = config.PARAM_ALIASES.get(word, word)
    if name not in config.PARAMS:
        raise gtp.GtpError(
            f"no parameter {short(word)!r}: use {', '.join(config.PARAMS)}"
        )
    return name


def _value(session: Session, name: str) -> object:
    if name == "threads":
        return config.thread_count(session.settings.threads, session.settings.seed)
    return getattr(session.settings, name)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return _UNSET if value is None else str(value)
