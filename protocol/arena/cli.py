"""The command line of ``tanbo-arena``: run, report, verify, check."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
import msgspec

from protocol.arena import progress, replay, runner
from protocol.arena.config import Tournament, check_hypotheses, load_tournament
from protocol.arena.openings import OpeningError
from protocol.arena.report import format_report
from protocol.arena.store import (
    TOURNAMENT,
    GameRecord,
    Store,
    StoreError,
    builds,
    engines,
    has_torn_line,
    read_games,
    standing,
)
from protocol.client import EngineError
from protocol.files import write_whole
from protocol.options import WRONG_USAGE, Parser, SettingsError
from tanbo_engine.wording import counted

_USAGE = """\
usage: tanbo-arena run --engine NAME="COMMAND" --engine NAME="COMMAND" --out DIR ...
       tanbo-arena report DIR [--html FILE]
       tanbo-arena verify DIR
       tanbo-arena check "COMMAND"
each with --help"""

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        return _flushed(_obey(arguments))
    except (SettingsError, StoreError, OpeningError, runner.RunError) as error:
        print(f"tanbo-arena: {error}", file=sys.stderr)
    except EngineError as error:
        print(f"tanbo-arena: {error}", file=sys.stderr)
    except BrokenPipeError:  # as in: tanbo-arena report DIR | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        where = "" if error.filename is None else f"{error.filename}: "
        print(f"tanbo-arena: {where}{error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 1


def _obey(arguments: Sequence[str]) -> int:
    """Run the command, or print which there are."""
    command = _COMMANDS.get(arguments[0]) if arguments else None
    if command is not None:
        return command(arguments[1:])
    wants_help = arguments[:1] in (["-h"], ["--help"])
    print(_USAGE, file=sys.stdout if wants_help else sys.stderr)
    return 0 if wants_help else WRONG_USAGE


def _flushed(status: int) -> int:
    """Flush stdout where a reader that has gone can be forgiven."""
    if sys.stdout is not None:
        sys.stdout.flush()
    return status


def _run(arguments: Sequence[str]) -> int:
    parser = Parser("tanbo-arena run", "Play a tournament between GTP engines.")
    parser.add_settings(Tournament)
    options = vars(parser.parse_args(arguments))
    tournament = load_tournament(options, options.pop("config", None))
    shown = progress.open_progress()
    concurrency = 0  # as many as the workers have threads
    if tournament.cluster in (None, "local"):
        concurrency = runner.choose_concurrency(tournament, shown.say)
    assert tournament.out is not None  # noqa: S101 (load_tournament asks for it)
    directory = Path(tournament.out)
    store = Store(directory)
    try:
        if store.games:
            _check_same(tournament, directory)
            _check_engines(tournament, store)
        if store.repaired:
            shown.say("a torn last line was cut off: that game is played again")
        interrupted = anyio.run(_play, tournament, store, shown, concurrency)
        games = standing(read_games(directory))
        print(format_report(games, tournament.sprt))
        _write_pages(tournament, games)
    finally:
        store.close()
    return _INTERRUPTED if interrupted else 0


async def _play(
    tournament: Tournament, store: Store, shown: runner.Progress, concurrency: int
) -> bool:
    slots = await _choose_slots(tournament, store, shown, concurrency)
    identity = msgspec.json.encode(tournament.identity())
    write_whole(store.directory / TOURNAMENT, msgspec.json.format(identity) + b"\n")
    run = runner.Run(tournament, store, shown, slots)
    await run.play()
    return run.interrupted


async def _choose_slots(
    tournament: Tournament, store: Store, shown: runner.Progress, concurrency: int
) -> runner.Slots:
    """Return the slots of this machine or of a cluster, whose workers try out first."""
    if tournament.cluster is not None:
        from protocol.arena.cluster import ClusterSlots

        return ClusterSlots(tournament, tournament.cluster, shown.say)
    found = await runner.preflight(tournament)
    _check_builds(found, store)
    for engine in found:
        shown.say(f"{engine.name}: {engine.build}, {engine.program}")
    return runner.LocalSlots(tournament, concurrency)


def _check_same(tournament: Tournament, directory: Path) -> None:
    """Refuse to continue another tournament's results."""
    path = directory / TOURNAMENT
    if not path.exists():
        return
    try:
        before = msgspec.json.decode(path.read_bytes(), type=dict[str, object])
    except msgspec.DecodeError as error:
        raise SettingsError(f"{path}: {error}") from error
    now = msgspec.json.decode(msgspec.json.encode(tournament.identity()))
    for key in now:
        if before.get(key) != now[key]:
            raise SettingsError(
                f"{directory} holds a tournament with another {key} "
                f"({_shown(before.get(key))}, now {_shown(now[key])}): continue with "
                "the same, or choose another --out"
            )


def _shown(value: object) -> str:
    """Return a setting for people; an engine is its name and command."""
    if isinstance(value, dict):
        return "=".join(
            repr(part) if " " in str(part) else str(part) for part in value.values()
        )
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return "none" if value is None else str(value)


def _check_engines(tournament: Tournament, store: Store) -> None:
    """Refuse results of engines that the tournament does not have."""
    for name in engines(store.games):
        if name not in tournament.names:
            raise SettingsError(
                f"{store.directory} has games of an engine {name!r}, the tournament "
                "has none: choose another --out"
            )


def _check_builds(found: Sequence[runner.Identity], store: Store) -> None:
    """Refuse to mix the results of two programs under one name."""
    for engine in found:
        for build in builds(store.games).get(engine.name, ()):
            if build != engine.build:
                raise SettingsError(
                    f"{engine.name} is another program now: {engine.build}, the games "
                    f"in {store.directory} are of {build}: choose another --out"
                )


def _write_pages(tournament: Tournament, games: Sequence[GameRecord]) -> None:
    """Write the SGF files that are missing, and the page."""
    directory = Path(str(tournament.out))
    for game in games:
        if not replay.sgf_path(directory, game).exists():
            replay.write_sgf(directory, game, directory.name)
    if tournament.html is not None:
        page = Path(tournament.html)
        _write_page(page, directory.name, games, tournament.sprt)


def _write_page(
    path: Path,
    title: str,
    games: Sequence[GameRecord],
    sprt: tuple[float, float] | None,
    anchor: str | None = None,
) -> None:
    from protocol.arena.html import render

    write_whole(path, render(title, games, sprt, anchor).encode())


def _report(arguments: Sequence[str]) -> int:
    parser = Parser("tanbo-arena report", "Say what the games of a run say.")
    parser.add_argument("results", metavar="DIR", help="of a run, or its games.jsonl")
    parser.add_argument("--sprt", nargs=2, type=float, metavar=("ELO0", "ELO1"))
    parser.add_argument("--anchor", metavar="NAME", help="engine whose rating is 0")
    parser.add_argument("--html", metavar="FILE", help="also write a page")
    options = parser.parse_args(arguments)
    games = standing(read_games(Path(options.results)))
    names = {name for game in games for name in (game.black, game.white)}
    if options.sprt and len(names) > 2:
        raise SettingsError(f"--sprt compares two engines, here are {len(names)}")
    if options.anchor is not None and options.anchor not in names:
        raise SettingsError(
            f"--anchor: no engine {options.anchor!r}: use {', '.join(sorted(names))}"
        )
    sprt = tuple(options.sprt) if options.sprt else None
    if sprt is not None:
        check_hypotheses(*sprt)
    if options.html:
        title = Path(options.results).resolve().name
        _write_page(Path(options.html), title, games, sprt, options.anchor)
    print(format_report(games, sprt, options.anchor))
    return 0


def _verify(arguments: Sequence[str]) -> int:
    parser = Parser("tanbo-arena verify", "Play every game again by the slow rules.")
    parser.add_argument("results", metavar="DIR", help="of a run, or its games.jsonl")
    path = Path(parser.parse_args(arguments).results)
    games = read_games(path)
    faults = replay.verify(games)
    if has_torn_line(path):
        print("the last line is torn: its game does not count, run plays it again")
    for fault in faults:
        print(fault)
    print(f"{counted(len(standing(games)), 'game')}, {counted(len(faults), 'fault')}")
    return int(bool(faults))


def _check(arguments: Sequence[str]) -> int:
    from protocol.arena import check

    parser = Parser("tanbo-arena check", "See whether an engine can play Tanbo by GTP.")
    parser.add_argument("command", metavar="COMMAND", help="how to start it, quoted")
    parser.add_argument("--quick", action="store_true", help="ten seconds, not sixty")
    options = parser.parse_args(arguments)

    async def work() -> list[check.Verdict]:
        return await check.check(options.command, quick=options.quick)

    verdicts = anyio.run(work)
    print(check.format_verdicts(verdicts))
    return int(not check.passed(verdicts))


_COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "run": _run,
    "report": _report,
    "verify": _verify,
    "check": _check,
}


if __name__ == "__main__":
    sys.exit(main())
