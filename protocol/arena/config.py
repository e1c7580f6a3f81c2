"""What a tournament is: one typed definition for command line and TOML file."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from protocol.arena import openings, schedule, statistics
from protocol.arena.clocks import Control, ControlError, PerMove, parse_clock
from protocol.options import SettingsError, load
from tanbo_engine import setups
from tanbo_engine.machine import cores
from tanbo_engine.wording import short

GAMES = 100
"""Games per pairing and set-up where none are asked for."""

PLACEHOLDERS = ("{nodes}", "{threads}", "{seed}")
"""What stands in an engine's command for what the arena gives it."""

SPRT_GAMES = 40_000
"""The same under an SPRT, which ends sooner."""


class EngineEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An engine of the tournament.

    Attributes:
        name: how results call it, unique.
        command: its command line, quoted as for a shell; ``{nodes}``, ``{threads}`` and
            ``{seed}`` stand for what the arena gives it.
    """

    name: Annotated[str, Meta(pattern=r"\A\S(.*\S)?\Z")]
    command: Annotated[str, Meta(pattern=r"\S")]


_Engines = Annotated[
    tuple[EngineEntry, ...],
    Meta(
        description="an engine and how to start it; two or more",
        extra={"metavar": 'NAME="COMMAND"', "expected": "a name and a command"},
    ),
]
_Setups = Annotated[
    tuple[str, ...],
    Meta(
        description="a start position; several may be given (default dense-7x7)",
        extra={"metavar": "NAME"},
    ),
]
_Format = Annotated[
    Literal["round-robin", "gauntlet", "swiss"],
    Meta(
        description="who meets whom: all (round-robin, the default), the first engine "
        "each other (gauntlet), or like scores (swiss)",
        extra={"metavar": "KIND", "expected": "round-robin, gauntlet or swiss"},
    ),
]
_Games = Annotated[
    int,
    Meta(
        ge=2,
        le=1_000_000,
        description=f"games per pairing and set-up, even (default {GAMES}; "
        f"{SPRT_GAMES} at most with --sprt)",
        extra={"metavar": "N"},
    ),
]
_Rounds = Annotated[
    int,
    Meta(ge=1, le=1000, description="rounds of a swiss", extra={"metavar": "N"}),
]
_Sprt = Annotated[
    tuple[float, float],
    Meta(
        description="stop when the first engine is shown to be ELO1 stronger, or not "
        "more than ELO0",
        extra={"metavar": "ELO0 ELO1", "expected": "two numbers"},
    ),
]
_Seed = Annotated[
    int,
    Meta(
        ge=0,
        le=2**63 - 1,
        description="seed of the openings (default 1)",
        extra={"metavar": "N"},
    ),
]
_Openings = Annotated[
    str,
    Meta(
        description="file of openings, a set-up and its moves a line; without one they "
        "are drawn from the seed",
        extra={"metavar": "FILE"},
    ),
]
_Plies = Annotated[
    int,
    Meta(
        ge=0,
        le=100,
        description="plies of a drawn opening (default 4)",
        extra={"metavar": "N"},
    ),
]
_Seconds = Annotated[
    float,
    Meta(
        gt=0,
        le=1_000_000,
        description="time for every move",
        extra={"metavar": "SECONDS"},
    ),
]
_Clock = Annotated[
    str,
    Meta(
        description="time for the game and what each move adds, such as 60+0.5",
        extra={"metavar": "MAIN[+INC]"},
    ),
]
_Nodes = Annotated[
    int,
    Meta(
        ge=1,
        le=1_000_000_000,
        description="visits for every move; the engine is told by {nodes} in its "
        "command or by kata-set-param",
        extra={"metavar": "N"},
    ),
]
_Margin = Annotated[
    float,
    Meta(
        ge=0,
        le=60,
        description="what a move may take beyond its limit (default 0.05)",
        extra={"metavar": "SECONDS"},
    ),
]
_Hang = Annotated[
    float,
    Meta(
        gt=0,
        le=1_000_000,
        description="silence that counts as a hang where no time is set (default 60)",
        extra={"metavar": "SECONDS"},
    ),
]
_Concurrency = Annotated[
    int,
    Meta(
        ge=1,
        le=4096,
        description="games at a time (default: one less than there are cores)",
        extra={"metavar": "N"},
    ),
]
_Directory = Annotated[
    str,
    Meta(
        description="directory of the results; the same command continues there",
        extra={"metavar": "DIR"},
    ),
]
_Page = Annotated[
    str,
    Meta(description="also write a page with all results", extra={"metavar": "FILE"}),
]
_Cluster = Annotated[
    str,
    Meta(
        description="play on the workers of a dask.distributed scheduler; local starts "
        "one here",
        extra={"metavar": "ADDRESS"},
    ),
]


class Tournament(
    msgspec.Struct,
    kw_only=True,
    frozen=True,
    forbid_unknown_fields=True,
    rename="kebab",
):
    """Everything that a run is asked for; None where the arena chooses."""

    engine: _Engines = ()
    setup: _Setups = ("dense-7x7",)
    format: _Format = "round-robin"
    games: _Games | None = None
    rounds: _Rounds | None = None
    sprt: _Sprt | None = None
    seed: _Seed = 1
    openings: _Openings | None = None
    opening_plies: _Plies = 4
    time: _Seconds | None = None
    clock: _Clock | None = None
    nodes: _Nodes | None = None
    margin: _Margin = 0.05
    hang: _Hang = 60.0
    concurrency: _Concurrency | None = None
    force: Annotated[
        bool, Meta(description="allow more games at a time than there are cores")
    ] = False
    out: _Directory | None = None
    html: _Page | None = None
    cluster: _Cluster | None = None

    @property
    def pairs(self) -> int:
        """Pairs per pairing and set-up."""
        if self.games is not None:
            return self.games // 2
        return (GAMES if self.sprt is None else SPRT_GAMES) // 2

    @property
    def names(self) -> list[str]:
        """The engines' names, in order."""
        return [entry.name for entry in self.engine]

    @property
    def control(self) -> Control | None:
        """The time control, None where only nodes limit a move."""
        if self.time is not None:
            return PerMove(self.time)
        return None if self.clock is None else parse_clock(self.clock)

    def schedule(self) -> schedule.Schedule:
        """Return who plays whom."""
        if self.format == "swiss":
            return schedule.Swiss(self.names, self.setup, self.pairs, self.rounds or 1)
        pairings = schedule.round_robin(self.names)
        if self.format == "gauntlet":
            pairings = schedule.gauntlet(self.names)
        return schedule.AllPlay(pairings, self.setup, self.pairs)

    def identity(self) -> dict[str, object]:
        """Return what must stay the same when a run continues.

        More games, another concurrency or a page are no other tournament; but in a
        swiss more games would move the numbers of the later rounds' pairs.
        """
        free = {"games", "rounds", "concurrency", "force", "out", "html", "cluster"}
        if self.format == "swiss":
            free.remove("games")
        values = msgspec.to_builtins(self)
        assert isinstance(values, dict)  # noqa: S101 (for the type checker)
        return {key: value for key, value in values.items() if key not in free}


def load_tournament(
    options: Mapping[str, object], file: str | None = None
) -> Tournament:
    """Return the tournament of a command line and a TOML file, checked as a whole.

    Raises:
        SettingsError: with what is wrong and what would be right.
    """
    given = dict(options)
    if "engine" in given:
        texts = given["engine"]
        assert isinstance(texts, list)  # noqa: S101 (argparse appends)
        given["engine"] = [_parse_entry(str(text)) for text in texts]
    tournament = load(Tournament, given, file)
    try:
        names = tuple(setups.by_name(name).name for name in tournament.setup)
    except setups.UnknownSetup as error:
        raise SettingsError(str(error)) from error
    tournament = msgspec.structs.replace(tournament, setup=names)
    _check(tournament)
    return tournament


def default_concurrency(threads: int = 1) -> int:
    """Return how many games at a time leave a core for the arena and the system."""
    return max(1, cores() // threads - 1)


class OpeningBook:
    """The openings of a tournament by set-up and number."""

    def __init__(self, tournament: Tournament) -> None:
        """Read the openings file, if there is one.

        Raises:
            openings.OpeningError: it cannot be used.
        """
        self._seed = tournament.seed
        self._plies = tournament.opening_plies
        self._read: dict[str, list[tuple[str, ...]]] | None = None
        if tournament.openings is not None:
            self._read = openings.read_openings(
                Path(tournament.openings), tournament.setup
            )

    def opening(self, setup: str, number: int) -> tuple[str, ...]:
        """Return an opening; a file begins again after its last one."""
        if self._read is not None:
            return self._read[setup][number % len(self._read[setup])]
        return openings.random_opening(
            setups.by_name(setup), self._seed, number, self._plies
        )


def check_hypotheses(elo0: float, elo1: float) -> None:
    """Refuse hypotheses of an SPRT that are none.

    Raises:
        SettingsError: with what is wrong and what would be right.
    """
    if not elo0 < elo1:
        raise SettingsError("sprt: ELO0 must be below ELO1, for example 0 20")
    try:
        statistics.sprt(statistics.PairScore(), elo0, elo1)
    except ValueError as error:
        raise SettingsError(f"sprt: {error}") from error


def _parse_entry(text: str) -> dict[str, str]:
    name, equals, command = text.partition("=")
    if not equals or not name.strip() or not command.strip():
        raise SettingsError(
            f'--engine: expected NAME="COMMAND", got {short(text)!r}, for example '
            'A="scripts/engine --nodes 1000"'
        )
    return {"name": name.strip(), "command": command.strip()}


def _check(tournament: Tournament) -> None:
    names = tournament.names
    if len(names) < 2:
        raise SettingsError('give two engines or more: --engine NAME="COMMAND" each')
    if not tournament.setup:
        raise SettingsError("give a setup or more")
    _check_unique("engine name", names)
    _check_unique("setup", tournament.setup)
    if tournament.games is not None and tournament.games % 2:
        raise SettingsError("games must be even: the two games of a pair swap colours")
    if tournament.time is not None and tournament.clock is not None:
        raise SettingsError("give time or clock, not both")
    if (tournament.rounds is not None) != (tournament.format == "swiss"):
        raise SettingsError("rounds and format = swiss go together")
    if not tournament.out:
        raise SettingsError("give out: the directory of the results")
    if tournament.html is not None:
        _check_page(Path(tournament.html))
    for entry in tournament.engine:
        _check_placeholders(entry)
    _check_sprt(tournament)
    try:
        _ = tournament.control
    except ControlError as error:
        raise SettingsError(str(error)) from error


def _check_page(page: Path) -> None:
    """See before the first game, not after the last, that a page can be written."""
    if page.is_dir():
        raise SettingsError(f"html: {page} is a directory, not a file to write")
    if page.exists() and not page.is_file():
        raise SettingsError(f"html: {page} is not a plain file")
    if not page.absolute().parent.is_dir():
        raise SettingsError(f"html: there is no directory {page.absolute().parent}")


def _check_placeholders(entry: EngineEntry) -> None:
    for word in re.findall(r"\{\w+\}", entry.command):
        if word not in PLACEHOLDERS:
            raise SettingsError(
                f"engine {entry.name}: {word} stands for nothing: use "
                f"{', '.join(PLACEHOLDERS)}"
            )


def _check_sprt(tournament: Tournament) -> None:
    if tournament.sprt is None:
        return
    if len(tournament.engine) != 2:
        raise SettingsError("sprt compares two engines, not more")
    check_hypotheses(*tournament.sprt)


def _check_unique(what: str, values: Sequence[str]) -> None:
    for value in values:
        if values.count(value) > 1:
            raise SettingsError(f"the {what} {value!r} is given twice")
