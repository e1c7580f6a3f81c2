"""Slots on the workers of a dask scheduler: who may play, who is lost, what is kept."""

import asyncio
import multiprocessing
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest

pytest.importorskip("distributed")

import psutil  # type: ignore[import-untyped]  # distributed needs it, too
from distributed import Scheduler

from protocol.arena import cluster
from protocol.arena.cli import main
from protocol.arena.cluster import (
    ClusterSlots,
    EngineFound,
    Passport,
    Tally,
    differences,
    elect,
    fisher,
    hashes,
    is_overloaded,
    may_be_reopened,
    taken_back,
)
from protocol.arena.config import EngineEntry, Tournament
from protocol.arena.replay import verify
from protocol.arena.runner import Run, RunError, Scores
from protocol.arena.schedule import Results
from protocol.arena.store import GameRecord, Store, Termination, finished, read_games
from protocol.client import EngineCommand

ROOT = Path(__file__).resolve().parents[2]
BAD_ENGINE = ROOT / "tests" / "protocol" / "bad_engine.py"

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="SIGKILL and SIGSTOP of workers"
)


# Helpers


class Notes:
    """Progress that only remembers, and calls back after each game."""

    def __init__(self, after_game: Callable[[int], None] = lambda _: None) -> None:
        self.said: list[str] = []
        self.records: list[GameRecord] = []
        self._after_game = after_game

    def begin(self, tournament: Tournament, total: int, done: Results) -> None:
        self.total = total

    def game(self, record: GameRecord) -> None:
        self.records.append(record)
        self._after_game(len(self.records))

    def pair(self, scores: Scores) -> None:
        pass

    def say(self, text: str) -> None:
        self.said.append(text)

    def end(self) -> None:
        pass

    @property
    def text(self) -> str:
        return "\n".join(self.said)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Path]:
    """A scripted engine of its own path, so that its processes can be found."""
    path = tmp_path / "engine.py"
    shutil.copy(BAD_ENGINE, path)
    yield path
    for process in engines_of(tmp_path):
        process.kill()


def engines_of(folder: Path, marker: str = "engine.py") -> list[psutil.Process]:
    """Return the running engines whose script or working directory is a folder's."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if marker in " ".join(process.cmdline()) and (
                str(folder) in " ".join(process.cmdline())
                or process.cwd().startswith(str(folder))
            ):
                found.append(process)
    return found


async def wait_until(condition: Callable[[], object], seconds: float = 10) -> None:
    with anyio.fail_after(seconds):
        while not condition():  # noqa: ASYNC110 (the state of other processes)
            await anyio.sleep(0.05)


def is_open(port: int) -> bool:
    """Tell whether somebody listens."""
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def tournament_of(command: str, pairs: int, **settings: object) -> Tournament:
    entries = tuple(EngineEntry(name, f"{sys.executable} {command}") for name in "AB")
    return Tournament(engine=entries, games=2 * pairs, **settings)  # type: ignore[arg-type]


async def play(
    tournament: Tournament, address: str, directory: Path, notes: Notes
) -> Run:
    """Play a tournament on a cluster; return the run."""
    store = Store(directory)
    try:
        slots = ClusterSlots(tournament, address, notes.say)
        run = Run(tournament, store, notes, slots)
        await run.play()
    finally:
        store.close()
    return run


def check_complete(directory: Path, pairs: int) -> list[GameRecord]:
    """See that every game has been recorded once and is true; return all records."""
    games = read_games(directory)
    counted = [game for game in games if game.termination.counts]
    assert set(finished(games)) == {(p, g) for p in range(pairs) for g in (0, 1)}
    taken = sum(game.termination is Termination.VOID for game in games)
    assert len(counted) == 2 * pairs + taken, "a game is doubled"
    assert verify(finished(games).values()) == []
    assert all(game.host for game in games)
    return games


@asynccontextmanager
async def scheduler() -> AsyncIterator[str]:
    """Run a scheduler in this process."""
    async with Scheduler(
        host="127.0.0.1", port=0, dashboard=False, dashboard_address="127.0.0.1:0"
    ) as running:
        yield running.address


class Workers:
    """Worker processes without a nanny: killed, they stay away."""

    def __init__(self, address: str, folder: Path) -> None:
        self._address = address
        self._folder = folder
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(
        self, name: str, cwd: Path | None = None, threads: int = 1, **environment: str
    ) -> None:
        module = "distributed.cli.dask_worker"
        command = [
            sys.executable, "-m", module, self._address, "--no-nanny", "--no-dashboard",
            "--nthreads", str(threads), "--name", name, "--host", "127.0.0.1",
            "--local-directory", str(self._folder / f"dask-{name}"),
        ]  # fmt: skip
        with (self._folder / f"{name}.log").open("wb") as log:
            self.running[name] = subprocess.Popen(
                command,
                cwd=cwd,
                env={**os.environ, **environment},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def end(self) -> None:
        for process in self.running.values():
            process.kill()
            process.wait()


@asynccontextmanager
async def workers(
    folder: Path, *names: str, cwd: Path | None = None
) -> AsyncIterator[tuple[str, Workers]]:
    """Run a scheduler with workers; wait until all of them are there."""
    async with scheduler() as address:
        crew = Workers(address, folder)
        try:
            for name in names:
                crew.start(name, cwd)
            await until_there(address, len(names))
            yield address, crew
        finally:
            crew.end()


async def until_there(address: str, count: int) -> None:
    (running,) = (s for s in Scheduler._instances if s.address == address)
    await wait_until(lambda: len(running.workers) == count, 30)


# The rules, as pure functions


def passport(build: str = "e 1", digest: str = "aa", arena: str = "1") -> Passport:
    return Passport(arena, (EngineFound("A", build, {"engine": digest}),))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (passport(), []),
        (passport(build="e 2"), ["A is 'e 2', not 'e 1'"]),
        (passport(digest="bb"), ["A: engine has sha256 bb, not sha256 aa"]),
        (passport(arena="2"), ["tanbo-engine 2, not 1"]),
        (
            Passport("1", (EngineFound("A", "e 1", {"python": "aa"}),)),
            [
                "A: engine has no such file, not sha256 aa",
                "A: python has sha256 aa, not no such file",
            ],
        ),
    ],
)
def test_differences_are_named(other: Passport, words: list[str]) -> None:
    assert differences(other, passport()) == words


def test_most_workers_decide_and_of_several_the_first() -> None:
    old, new = passport(build="old"), passport(build="new")
    assert elect([old, new, new]) == new
    assert elect([old, new]) == old


def test_a_script_counts_as_well_as_its_interpreter(tmp_path: Path) -> None:
    script = tmp_path / "e.py"
    script.write_text("1")
    command = EngineCommand.parse(f"{sys.executable} -u {script}")
    before = hashes(command)
    script.write_text("2")
    after = hashes(command)
    assert len(before) == 2
    assert {name for name in before if before[name] != after[name]} == {"e.py"}
    log = EngineCommand.parse(f"/bin/cat {script}")
    assert "e.py" not in hashes(log)


def test_fisher_is_the_exact_test() -> None:
    # The lady tasting tea: (3, 1; 1, 3), one-sided 17/70.
    assert fisher(Tally(4, 3), Tally(4, 1)) == pytest.approx(17 / 70)
    assert fisher(Tally(10, 0), Tally(10, 3)) == pytest.approx(1)
    assert fisher(Tally(10, 10), Tally(0, 0)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("one", "others", "expected"),
    [
        (Tally(20, 20), [Tally(20, 0)], True),
        (Tally(5, 5), [Tally(1000, 0)], False),  # too few
        (Tally(20, 20), [], False),  # nothing to compare with
        (Tally(20, 20), [Tally(20, 20)], False),  # the engine's fault
        (Tally(20, 6), [Tally(400, 100)], False),
        (Tally(20, 12), [Tally(20, 0)], False),  # not sure enough, at the 7th look
        (Tally(20, 15), [Tally(20, 0)], True),
        (Tally(10_000, 1500), [Tally(10_000, 1000)], False),  # clear, but not far more
        (Tally(10_000, 3000), [Tally(10_000, 1000)], True),
    ],
)
def test_overloaded(one: Tally, others: list[Tally], expected: bool) -> None:
    assert is_overloaded(one, others) is expected


@pytest.mark.parametrize("rate", [0.02, 0.2, 0.7])
def test_equal_workers_are_hardly_ever_overloaded(rate: float) -> None:
    chance = random.Random(1)
    alarms = 0
    for _ in range(200):
        games = [0, 0, 0]
        late = [0, 0, 0]
        for _ in range(200):
            worker = chance.randrange(3)
            games[worker] += 1
            if chance.random() < rate:
                late[worker] += 1
                tallies = [Tally(*pair) for pair in zip(games, late, strict=True)]
                alarms += is_overloaded(tallies.pop(worker), tallies)
    assert alarms == 0


def test_a_game_taken_back_stays_a_true_record() -> None:
    game = GameRecord(
        pair=0, game=0, opening=("B1",), setup="dense-7x7", black="A", white="B",
        winner="white", termination=Termination.TIME, reason="late",
        moves=("B1", "A2"), seconds=(1.0,),
    )  # fmt: skip
    assert verify([taken_back(game, "slow")]) == []


def test_in_a_swiss_only_the_current_round_is_reopened() -> None:
    swiss = tournament_of("x", 3, format="swiss", rounds=4, setup=("dense-7x7",))
    assert [may_be_reopened(pair, 4, swiss) for pair in range(7)] == (
        [False] * 3 + [True] * 3 + [False]
    )
    assert may_be_reopened(0, 4, tournament_of("x", 3))


# A cluster of our own


async def test_a_killed_worker_costs_no_pair_and_doubles_none(
    tmp_path: Path, engine: Path
) -> None:
    def kill_one(games: int) -> None:
        if games == 7:
            victim = multiprocessing.active_children()[0]
            assert victim.pid is not None
            os.kill(victim.pid, signal.SIGKILL)

    pairs = 10
    tournament = tournament_of(f"{engine} --late-on-move 1 0.1", pairs, concurrency=2)
    notes = Notes(kill_one)
    await play(tournament, "local", tmp_path / "out", notes)
    games = check_complete(tmp_path / "out", pairs)
    assert len(games) == 2 * pairs
    assert "is gone" in notes.text or "is lost" in notes.text
    await wait_until(lambda: not engines_of(tmp_path))
    assert multiprocessing.active_children() == []


def test_the_command_line_plays_on_a_cluster(
    tmp_path: Path, engine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = f"{sys.executable} {engine}"
    out = tmp_path / "out"
    arguments = [
        "run", "--engine", f"A={command}", "--engine", f"B={command}", "--games", "4",
        "--out", str(out), "--cluster", "local", "--concurrency", "1",
    ]  # fmt: skip
    assert main(arguments) == 0
    check_complete(out, 2)
    assert "engine.py sha256" in capsys.readouterr().err
    assert main(["verify", str(out)]) == 0


# A scheduler that is there


def test_an_unreachable_scheduler_is_one_clear_error(
    tmp_path: Path,
    engine: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = f"{sys.executable} {engine}"
    began = time.monotonic()
    for address in (f"tcp://127.0.0.1:{port}", "nonsense"):
        arguments = [
            "run", "--engine", f"A={command}", "--engine", f"B={command}",
            "--games", "2", "--out", str(tmp_path / "out"), "--cluster", address,
        ]  # fmt: skip
        assert main(arguments) == 1
        last = capsys.readouterr().err.splitlines()[-1]
        assert last.startswith(f"tanbo-arena: no dask scheduler at {address}")
    assert time.monotonic() < began + 10


async def test_without_distributed_the_extra_is_named(
    tmp_path: Path, engine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(RunError, match="pip install distributed"):
        await play(tournament_of(str(engine), 1), "local", tmp_path / "out", Notes())


async def test_a_worker_that_differs_gets_no_pairs_and_only_it(
    tmp_path: Path, engine: Path
) -> None:
    good, other, empty = (tmp_path / name for name in ("good", "other", "empty"))
    for folder in (good, other, empty):
        folder.mkdir()
    shutil.copy(engine, good)
    shutil.copy(engine, other)
    with (other / "engine.py").open("a") as file:
        file.write("# another one\n")
    async with workers(tmp_path, "good-1", "good-2", cwd=good) as (address, crew):
        crew.start("other", cwd=other)
        crew.start("empty", cwd=empty)
        await until_there(address, 4)
        notes = Notes()
        tournament = tournament_of("engine.py --late-on-move 1 0.02", 8)
        await play(tournament, address, tmp_path / "out", notes)
    games = check_complete(tmp_path / "out", 8)
    assert {game.host for game in games} == {"good-1", "good-2"}
    assert "worker other gets no pairs: differs from the others: A: engine.py" in (
        notes.text
    )
    assert "worker empty gets no pairs: A cannot play" in notes.text
    assert engines_of(tmp_path) == []


async def test_nobody_can_play(tmp_path: Path) -> None:
    async with workers(tmp_path, "one") as (address, _):
        tournament = tournament_of("no-such-engine.py", 1)
        with pytest.raises(RunError, match="no worker can play: A cannot play"):
            await play(tournament, address, tmp_path / "out", Notes())


async def test_workers_come_and_go(
    tmp_path: Path, engine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One is lost, the run waits and gives up; continued, it takes in a later one."""
    monkeypatch.setattr(cluster, "WAIT_SECONDS", 1.0)
    pairs = 16
    tournament = tournament_of(f"{engine} --late-on-move 1 0.4", pairs)
    async with workers(tmp_path, "first") as (address, crew):

        def kill(games: int) -> None:
            if games == 3:
                crew.running["first"].kill()

        notes = Notes(kill)
        with pytest.raises(RunError, match=r"no worker at tcp://.* for 1 s"):
            await play(tournament, address, tmp_path / "out", notes)
        assert "worker first is gone" in notes.text or "is lost" in notes.text
        assert "no worker: waiting for one" in notes.text
        await wait_until(lambda: not engines_of(tmp_path))

        def join(games: int) -> None:
            if games == 1:
                crew.start("third")

        monkeypatch.setattr(cluster, "WAIT_SECONDS", 30.0)
        crew.start("second", threads=2)
        notes = Notes(join)
        await play(tournament, address, tmp_path / "out", notes)
        assert "worker second plays, slots: 2" in notes.text
    games = check_complete(tmp_path / "out", pairs)
    assert len(games) == 2 * pairs
    hosts = Counter(game.host for game in games)
    assert set(hosts) == {"first", "second", "third"}
    assert hosts["first"] in (3, 4)
    await wait_until(lambda: not engines_of(tmp_path))


async def test_a_worker_that_freezes_is_given_up(
    tmp_path: Path, engine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "SILENCE_SECONDS", 1.0)
    monkeypatch.setattr(cluster, "BEAT_SECONDS", 0.3)
    monkeypatch.setattr(cluster, "CLOSE_SECONDS", 1.0)
    async with workers(tmp_path, "ice", "fire") as (address, crew):

        def freeze(games: int) -> None:
            if games == 5:
                crew.running["ice"].send_signal(signal.SIGSTOP)

        notes = Notes(freeze)
        tournament = tournament_of(f"{engine} --late-on-move 1 0.05", 10)
        await play(tournament, address, tmp_path / "out", notes)
        check_complete(tmp_path / "out", 10)
        assert "worker ice gets no pairs: has not answered for 1 s" in notes.text
        # Awake again, it finds that nobody has spoken to it.
        crew.running["ice"].send_signal(signal.SIGCONT)
        await wait_until(lambda: not engines_of(tmp_path))
        assert crew.running["ice"].poll() is None


SLOWED = """
import os, sys
import engine

class Slowed(engine.BadEngine):
    def __init__(self, options):
        super().__init__(options)
        self.handlers["kata-time_settings"] = self.time_settings

engine.BadEngine = Slowed
sys.argv += os.environ.get("BURDEN", "").split()
engine.main()
"""


async def test_an_overloaded_worker_is_named_and_its_pairs_are_played_again(
    tmp_path: Path, engine: Path
) -> None:
    slowed = engine.with_name("slowed_engine.py")
    slowed.write_text(SLOWED)
    pairs = 50
    tournament = tournament_of(str(slowed), pairs, time=0.25)
    async with workers(tmp_path, "swift") as (address, crew):
        crew.start("burdened", BURDEN="--late-on-move 1 0.35")
        await until_there(address, 2)
        notes = Notes()
        await play(tournament, address, tmp_path / "out", notes)
    games = check_complete(tmp_path / "out", pairs)
    assert "worker burdened gets no pairs: its engines lose on time" in notes.text
    spoilt = [game for game in games if game.host == "burdened"]
    voids = [game for game in spoilt if game.termination is Termination.VOID]
    assert len(spoilt) == 2 * len(voids) >= 12
    assert all("worker burdened: its engines lose" in game.reason for game in voids)
    assert {game.host for game in finished(games).values()} == {"swift"}
    await wait_until(lambda: not engines_of(tmp_path))


# The end


async def test_a_killed_scheduler_ends_the_run_and_the_engines(
    tmp_path: Path, engine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "SILENCE_SECONDS", 2.0)
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 1.0)
    monkeypatch.setattr(cluster, "CLOSE_SECONDS", 1.0)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard",
        "--host", "127.0.0.1", "--port", str(port),
        "--dashboard-address", "127.0.0.1:0",
    ]  # fmt: skip
    address = f"tcp://127.0.0.1:{port}"
    crew = Workers(address, tmp_path)
    running = await anyio.open_process(command, stdout=None, stderr=None)
    try:
        await wait_until(lambda: is_open(port), 20)
        crew.start("one")

        def kill(games: int) -> None:
            if games == 3:
                running.kill()

        monkeypatch.setattr(cluster, "WAIT_SECONDS", 20.0)
        notes = Notes(kill)
        tournament = tournament_of(f"{engine} --late-on-move 1 0.1", 20)
        began = asyncio.create_task(play(tournament, address, tmp_path / "out", notes))
        await wait_until(lambda: notes.records, 20)
        monkeypatch.setattr(cluster, "WAIT_SECONDS", 1.0)
        with pytest.raises(RunError, match="no answer at"):
            await asyncio.wait_for(began, 20)
        await wait_until(lambda: not engines_of(tmp_path))
    finally:
        crew.end()
        if running.returncode is None:
            running.kill()
        await running.aclose()
    assert len(read_games(tmp_path / "out")) in (3, 4)


async def test_ctrl_c_finishes_the_running_pairs(tmp_path: Path, engine: Path) -> None:
    def interrupt(games: int) -> None:
        if games == 1:
            os.kill(os.getpid(), signal.SIGINT)

    async with workers(tmp_path, "one") as (address, _):
        tournament = tournament_of(f"{engine} --late-on-move 1 0.1", 20)
        run = await play(tournament, address, tmp_path / "out", Notes(interrupt))
        assert run.interrupted
        await wait_until(lambda: not engines_of(tmp_path))
    assert len(read_games(tmp_path / "out")) == 2


async def test_ctrl_c_twice_ends_the_engines_on_the_workers(
    tmp_path: Path, engine: Path
) -> None:
    command = f"{engine} --stall-on-move 2 --ignore-sigterm"
    async with workers(tmp_path, "one", "two") as (address, crew):
        began = asyncio.create_task(
            play(tournament_of(command, 9), address, tmp_path / "out", notes := Notes())
        )
        await wait_until(lambda: notes.text.count("plays") == 2, 20)
        await wait_until(lambda: len(engines_of(tmp_path)) == 4)
        os.kill(os.getpid(), signal.SIGINT)
        await wait_until(lambda: "finishing 2 pairs" in notes.text)
        os.kill(os.getpid(), signal.SIGINT)
        assert (await asyncio.wait_for(began, 15)).interrupted
        assert engines_of(tmp_path) == []
        assert all(worker.poll() is None for worker in crew.running.values())
    assert read_games(tmp_path / "out") == []


async def test_a_killed_arena_leaves_no_engine_on_the_workers(
    tmp_path: Path, engine: Path
) -> None:
    command = f"{sys.executable} {engine} --stall-on-move 2"
    script = f"""
import sys
from protocol.arena import cli, cluster
cluster.SILENCE_SECONDS, cluster.BEAT_SECONDS = 2, 0.5
sys.exit(cli.main(["run", "--engine", "A={command}", "--engine", "B={command}",
    "--games", "4", "--out", {str(tmp_path / "out")!r}, "--cluster", sys.argv[1]]))
"""
    async with workers(tmp_path, "one") as (address, crew):
        arguments = [sys.executable, "-c", script, address]
        arena = await anyio.open_process(arguments, stdout=None, stderr=None)

        def engines() -> list[psutil.Process]:
            return [p for p in engines_of(tmp_path) if p.pid != arena.pid]

        try:
            await wait_until(lambda: len(engines()) == 2, 20)
            await anyio.sleep(2.5)  # longer than the silence: the beats are heard
            assert len(engines()) == 2
        finally:
            arena.kill()
            await arena.aclose()
        await wait_until(lambda: not engines(), 8)
        assert crew.running["one"].poll() is None
