"""Slots on the workers of a dask.distributed scheduler.

A worker gives as many slots as it has threads: engines take a core each, so start
workers with as many threads as games shall be played there at a time (LocalCluster: one
each). Its engines live on the worker's event loop from game to game, as those of
`LocalSlot` do. A game is one task bound to its worker.

The arena itself uses the asynchronous client: it lives on the same event loop as the
run, so nothing of dask blocks it and no thread is to be ended with it.

What holds on a worker ends with what it belongs to. The slot: its engines are ended
when the run leaves it. The worker: its plugin ends them. The run or the scheduler: no
beat comes any more, and after `SILENCE_SECONDS` the worker ends them by itself.
"""

import asyncio
import hashlib
import logging
import math
import re
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import anyio
import msgspec
from anyio.abc import TaskGroup

from protocol.arena.config import Tournament, default_concurrency
from protocol.arena.runner import Keep, LocalSlot, PlayOn, RunError, Task, preflight
from protocol.arena.store import GameRecord, Termination
from protocol.client import EngineCommand
from tanbo_engine import __version__
from tanbo_engine.wording import counted

LOCAL = "local"
"""The address that stands for a cluster of our own on this machine."""

CONNECT_SECONDS = 5.0
"""Longest wait for a scheduler."""

EXAMINE_SECONDS = 120.0
"""Longest wait until a worker has tried out every engine."""

POLL_SECONDS = 1.0
"""How often the scheduler is asked for its workers."""

BEAT_SECONDS = 5.0
"""How often a worker is told that the run goes on."""

SILENCE_SECONDS = 60.0
"""Silence after which a worker, or the run, is taken for dead by the other."""

WAIT_SECONDS = 60.0
"""How long a run without workers waits for new ones."""

CLOSE_SECONDS = 10.0
"""Longest wait for a worker to end engines, and for the cluster to close."""

MIN_TIME_LOSSES = 6
"""Fewer losses on time say nothing about a worker."""

TIME_LOSS_P = 0.001
"""Chance to take a worker for overloaded that is not, at one look."""

TIME_LOSS_RATIO = 2
"""How many times as often as elsewhere it must lose on time, whatever the chance."""

_SCRIPTED = re.compile(r"(python|pypy|java|node|perl|ruby|lua|julia|bash|sh)[\d.]*\Z")


# Which worker may play


class EngineFound(NamedTuple):
    """An engine as a worker has it.

    Attributes:
        name: how results call it.
        build: name, version and ``tanbo-build``, as far as it tells.
        files: sha256 of the program file; of the script, too, where the program is an
            interpreter. By name.
    """

    name: str
    build: str
    files: dict[str, str]


class Passport(NamedTuple):
    """What has to be the same on all workers.

    Attributes:
        arena: version of tanbo-engine, whose rules judge the games.
        engines: the engines in the order of the tournament.
    """

    arena: str
    engines: tuple[EngineFound, ...]


def differences(found: Passport, truth: Passport) -> list[str]:
    """Return in words what a worker has otherwise than the others; empty if nothing."""
    lines = []
    if found.arena != truth.arena:
        lines.append(f"tanbo-engine {found.arena}, not {truth.arena}")
    for mine, other in zip(found.engines, truth.engines, strict=True):
        if mine.build != other.build:
            lines.append(f"{mine.name} is {mine.build!r}, not {other.build!r}")
        for name in sorted({*mine.files, *other.files}):
            here, there = mine.files.get(name), other.files.get(name)
            if here != there:
                lines.append(
                    f"{mine.name}: {name} has {_shown(here)}, not {_shown(there)}"
                )
    return lines


def elect(passports: Sequence[Passport]) -> Passport:
    """Return what most workers have; of several, what was seen first."""
    counts = Counter(msgspec.json.encode(passport) for passport in passports)
    (most, _), *_ = counts.most_common(1)
    return next(p for p in passports if msgspec.json.encode(p) == most)


def _shown(digest: str | None) -> str:
    return "no such file" if digest is None else f"sha256 {digest[:12]}"


def hashes(command: EngineCommand) -> dict[str, str]:
    """Return the sha256 of a command's program file, and of its script, by file name.

    Raises:
        StartFailed: there is no such program.
        OSError: it cannot be read.
    """
    program = command.resolve()
    files = [program]
    if _SCRIPTED.match(program.name.removesuffix(".exe")):
        scripts = (Path(command.cwd or "", word) for word in command.argv[1:])
        files += [script for script in scripts if script.is_file()][:1]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


# Which worker is too slow


class Tally(NamedTuple):
    """Games that a worker has played, and how many of them were lost on time."""

    games: int
    time_losses: int


def is_overloaded(one: Tally, others: Sequence[Tally]) -> bool:
    """Tell whether a worker's engines lose on time far more often than the others'.

    Games are handed to whoever is free, so every worker has the same mix of engines and
    an engine that is late everywhere does not count against any of them. The rule: at
    least `MIN_TIME_LOSSES`, at least `TIME_LOSS_RATIO` times the rate of all others
    together, and Fisher's exact test, one-sided, below `TIME_LOSS_P`; that bound is
    divided by the number of workers and shared out among the looks, as a worker is
    looked at again with each loss: the k-th gets 1 / (k (k + 1)) of it.
    """
    games = sum(tally.games for tally in others)
    losses = sum(tally.time_losses for tally in others)
    if one.time_losses < MIN_TIME_LOSSES:
        return False
    if one.time_losses * games < TIME_LOSS_RATIO * losses * one.games:
        return False
    look = one.time_losses - MIN_TIME_LOSSES + 1
    bound = TIME_LOSS_P / (len(others) + 1) / (look * (look + 1))
    return fisher(one, Tally(games, losses)) < bound


def fisher(one: Tally, rest: Tally) -> float:
    """Return the chance of so many losses or more, if all are equally prone to them."""
    games, losses = one.games + rest.games, one.time_losses + rest.time_losses
    whole = _log_choose(games, one.games)
    least = max(one.time_losses, losses - rest.games)
    return min(
        1.0,
        math.fsum(
            math.exp(
                _log_choose(losses, k)
                + _log_choose(games - losses, one.games - k)
                - whole
            )
            for k in range(least, min(one.games, losses) + 1)
        ),
    )


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


# On the worker


class _Seat:
    """A slot as its worker has it: engines, and the game that is being played."""

    def __init__(self, slot: LocalSlot) -> None:
        self.slot = slot
        self.scope: anyio.CancelScope | None = None
        self.is_free = anyio.Event()


class _Guest:
    """What one run has on a worker, all on the worker's event loop."""

    def __init__(self, tournament: Tournament, at_a_time: int) -> None:
        self._tournament = tournament
        self._at_a_time = at_a_time
        self._seats: dict[int, _Seat] = {}
        self._left: set[int] = set()
        self._beat_at = time.monotonic()
        self._end = anyio.Event()

    @property
    def has_ended(self) -> bool:
        """Whether it has been closed."""
        return self._end.is_set()

    def beat(self) -> None:
        """Take note that the run goes on."""
        self._beat_at = time.monotonic()

    async def wait_for_silence(self, seconds: float) -> None:
        """Return when the run has not been heard of for so long, or has left."""
        while (left := self._beat_at + seconds - time.monotonic()) > 0:
            with anyio.move_on_after(left):
                await self._end.wait()
                return

    async def play(self, number: int, task: Task) -> GameRecord | None:
        """Play the one game of a task on a slot; None if it is stopped."""
        if number in self._left or self.has_ended:
            return None
        if number not in self._seats:
            slot = LocalSlot(self._tournament, self._at_a_time, number)
            self._seats[number] = _Seat(slot)
        seat = self._seats[number]
        games: list[GameRecord] = []

        async def keep(record: GameRecord) -> None:
            games.append(record)

        seat.is_free = anyio.Event()
        with anyio.CancelScope() as seat.scope:
            try:
                await seat.slot.play(task, keep)
            finally:
                seat.scope = None
                seat.is_free.set()
        return games[0] if games else None

    async def leave(self, number: int) -> None:
        """Stop what is played on a slot and end its engines."""
        self._left.add(number)
        seat = self._seats.pop(number, None)
        if seat is None:
            return
        if seat.scope is not None:
            seat.scope.cancel()
            await seat.is_free.wait()
        await seat.slot.close()

    async def close(self) -> None:
        """End everything."""
        self._end.set()
        async with anyio.create_task_group() as group:
            for number in list(self._seats):
                group.start_soon(self.leave, number)


def _plugin(guest: _Guest, silence: float) -> Any:  # noqa: ANN401 (distributed's)
    """Return what ends a guest with its worker, or when the run is silent."""
    from distributed import WorkerPlugin

    class Plugin(WorkerPlugin):
        def __init__(self) -> None:
            self.guest = guest

        def setup(self, worker: Any) -> None:  # noqa: ANN401
            self._watch = asyncio.create_task(self._wait(worker))

        async def _wait(self, worker: Any) -> None:  # noqa: ANN401
            await guest.wait_for_silence(silence)
            if guest.has_ended:
                return
            name = next(n for n, plugin in worker.plugins.items() if plugin is self)
            await worker.plugin_remove(name=name)

        async def teardown(self, worker: Any) -> None:  # noqa: ANN401
            await guest.close()

    return Plugin()


class _Arrival(NamedTuple):
    """What a worker answers when a run arrives.

    Attributes:
        name: the worker's name, a text or a number.
        passport: what it has; None if an engine cannot play there.
        reason: why it cannot.
    """

    name: object
    passport: Passport | None
    reason: str = ""


async def _arrive(
    session: str,
    tournament: Tournament,
    at_a_time: int,
    silence: float,
    dask_worker: Any = None,  # noqa: ANN401
) -> _Arrival:
    """Try out every engine on a worker and open a guest there."""
    try:
        found = await preflight(tournament)
        engines = tuple(
            EngineFound(one.name, one.build, hashes(EngineCommand.parse(entry.command)))
            for one, entry in zip(found, tournament.engine, strict=True)
        )
    except (RunError, OSError) as error:  # raised, dask would log all of it
        return _Arrival(dask_worker.name, None, str(error))
    plugin: Any = _plugin(_Guest(tournament, at_a_time), silence)
    await dask_worker.plugin_add(plugin=plugin, name=session)
    return _Arrival(dask_worker.name, Passport(__version__, engines))


async def _beat(session: str, dask_worker: Any = None) -> bool:  # noqa: ANN401
    """Tell a worker that the run goes on; it tells whether it knows the run."""
    plugin = dask_worker.plugins.get(session)
    if plugin is not None:
        plugin.guest.beat()
    return plugin is not None


async def _leave(session: str, number: int, dask_worker: Any = None) -> None:  # noqa: ANN401
    """End what is on a slot of a worker."""
    plugin = dask_worker.plugins.get(session)
    if plugin is not None:
        await plugin.guest.leave(number)


async def _depart(session: str, dask_worker: Any = None) -> None:  # noqa: ANN401
    """End all that the run has on a worker."""
    if session in dask_worker.plugins:
        await dask_worker.plugin_remove(name=session)


class _Order(NamedTuple):
    """One game to play, as it goes to the worker."""

    session: str
    slot: int
    task: Task


async def _play(order: bytes) -> bytes:
    """Play a game on the worker that this runs on: the task that dask sees.

    Returns:
        The record; nothing if the game was stopped or the run is unknown here.
    """
    from distributed import get_worker

    session, slot, task = msgspec.msgpack.decode(order, type=_Order)
    plugin: Any = get_worker().plugins.get(session)
    record = None if plugin is None else await plugin.guest.play(slot, task)
    return b"" if record is None else msgspec.msgpack.encode(record)


# In the arena


class SlotLost(Exception):  # noqa: N818
    """Nothing more can be played on a slot; its pair is open again."""


class _Worker:
    """A worker as the run sees it.

    Attributes:
        address: where the scheduler knows it.
        threads: how many slots it gives.
        name: how records and messages call it: its name if it is a text.
        passport: what it has, once it has been examined.
        is_admitted: whether it was found to have what the others have.
        is_stopped: whether it gets none because of a fault of its own.
        gone: set when it gets none any more, for whatever reason.
        slots: how many of its slots are open.
        games: records of what it has played.
    """

    def __init__(self, address: str, threads: int) -> None:
        self.address = self.name = address
        self.threads = threads
        self.passport: Passport | None = None
        self.is_admitted = self.is_stopped = False
        self.gone = anyio.Event()
        self.reason = ""
        self.slots = 0
        self.games: list[GameRecord] = []

    @property
    def has_pairs(self) -> bool:
        """Whether it gets pairs."""
        return self.is_admitted and not self.gone.is_set()

    @property
    def machine(self) -> str:
        """Where it runs."""
        return urlsplit(self.address).hostname or self.address

    @property
    def tally(self) -> Tally:
        """How many games it has played, and how many were lost on time."""
        late = sum(game.termination in _ON_TIME for game in self.games)
        return Tally(len(self.games), late)


_ON_TIME = (Termination.TIME, Termination.HANG)


class ClusterSlots:
    """The slots of every worker of a scheduler, while they come and go."""

    def __init__(
        self, tournament: Tournament, address: str, say: Callable[[str], None]
    ) -> None:
        """Prepare; nothing is connected yet.

        Args:
            tournament: what is played. Its concurrency, if given, is the most slots.
            address: of a scheduler, such as ``tcp://host:8786``, or ``local``.
            say: takes what the user should know.
        """
        self._tournament = tournament
        self._address = address
        self._say = say
        self._session = f"tanbo-arena-{uuid.uuid4().hex}"
        self._workers: dict[str, _Worker] = {}
        self._players: list[_Worker] = []
        self._deaf_since: float | None = None
        self._truth: Passport | None = None
        self._numbers = 0
        self._open = 0
        self._is_over = False
        self._judging = anyio.Lock()
        self._news = anyio.Event()
        self._client: Any = None
        self._group: TaskGroup

    async def serve(self, play_on: PlayOn) -> None:
        """Give every slot to `play_on`, those of later workers too.

        Raises:
            RunError: there is no scheduler, no worker that can play, or none is left.
        """
        async with self._connected() as self._client:
            try:
                async with anyio.create_task_group() as self._group:
                    await self._watch(play_on)
                    self._group.cancel_scope.cancel()
            finally:
                await self._quietly(self._depart_from_all())

    # Connecting

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[Any]:
        """Connect to the scheduler; on leaving, close what was opened."""
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise RunError(
                "--cluster needs dask.distributed: pip install distributed"
            ) from None
        cluster: Any = None
        client: Any = None
        try:
            address = self._address
            if address == LOCAL:
                start: Any = LocalCluster  # which has no types
                cluster = start(
                    n_workers=self._tournament.concurrency or default_concurrency(),
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address=None,
                    # Its server for metrics is there all the same, on port 8787.
                    scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
                    silence_logs=logging.CRITICAL,  # we say what there is to say
                    memory_limit=0,
                    preload=[_IGNORE_INTERRUPT],
                    asynchronous=True,
                )
                await cluster
                address = cluster.scheduler_address
            client = await self._connect(Client, address)
            yield client
        finally:
            if client is not None:
                await self._quietly(client.close())
            if cluster is not None:
                await self._quietly(cluster.close())

    async def _connect(self, client_type: Any, address: str) -> Any:  # noqa: ANN401
        client = client_type(
            address, asynchronous=True, set_as_default=False, timeout=CONNECT_SECONDS
        )
        try:
            with anyio.fail_after(2 * CONNECT_SECONDS):
                return await client
        except (OSError, ValueError) as error:
            await self._quietly(client.close())
            reason = str(error) or f"no answer within {2 * CONNECT_SECONDS:g} s"
            raise RunError(
                f"no dask scheduler at {address}: {reason.splitlines()[0]}; start one "
                "with `dask scheduler` and give its address, such as tcp://host:8786"
            ) from error

    async def _quietly(self, closing: Awaitable[object]) -> None:
        """Wait for the end of something, not for ever, whoever interrupts."""
        with anyio.move_on_after(CLOSE_SECONDS, shield=True), suppress(Exception):
            await closing

    async def _depart_from_all(self) -> None:
        """End what the run has on workers that are still there."""
        known = [w.address for w in self._workers.values()]
        if known:
            await self._client.run(
                _depart, self._session, workers=known, on_error="ignore"
            )

    # Watching the workers

    async def _watch(self, play_on: PlayOn) -> None:
        """Take in workers and drop lost ones until everything has been played."""
        deadline = None
        while not self._is_over or self._open:
            self._news = anyio.Event()
            if not self._is_over:
                await self._look()
                self._fill(play_on)
            if any(worker.has_pairs for worker in self._workers.values()):
                deadline = None
            elif deadline is None:
                deadline = anyio.current_time() + WAIT_SECONDS
                self._say(f"no worker: waiting for one, {WAIT_SECONDS:g} s at most")
            elif anyio.current_time() > deadline and not self._is_over:
                what = "no answer" if self._deaf_since else "no worker"
                raise RunError(
                    f"{what} at {self._address} for {WAIT_SECONDS:g} s; what has been "
                    "played is stored: the same command continues"
                )
            with anyio.move_on_after(POLL_SECONDS):
                await self._news.wait()

    async def _look(self) -> None:
        """Compare the scheduler's workers with those that are known."""
        try:
            with anyio.fail_after(CONNECT_SECONDS):
                threads: dict[str, int] = await self._client.nthreads()
        except Exception:  # dask's own errors have no common base
            threads = self._deaf()
        else:
            self._deaf_since = None
        for address in [known for known in self._workers if known not in threads]:
            self._lose(self._workers[address], "is gone")
        machines = Counter[str]()
        for address, count in threads.items():
            machines[_Worker(address, 0).machine] += count
        new = [
            _Worker(address, count)
            for address, count in threads.items()
            if address not in self._workers
        ]
        for worker in new:
            self._workers[worker.address] = worker
        if self._truth is None:
            await self._begin(new, machines)
            return
        for worker in new:
            self._group.start_soon(self._take_in, worker, machines[worker.machine])

    def _deaf(self) -> dict[str, int]:
        """Return the workers of a silent scheduler: none after a while."""
        now = anyio.current_time()
        self._deaf_since = self._deaf_since or now
        if now - self._deaf_since < SILENCE_SECONDS / 2:
            return {worker.address: worker.threads for worker in self._workers.values()}
        return {}

    async def _begin(
        self, first: Sequence[_Worker], machines: Mapping[str, int]
    ) -> None:
        """Examine the workers that are there first; what most have is to be had.

        Raises:
            RunError: on none of them the engines can play.
        """
        async with anyio.create_task_group() as group:
            for worker in first:
                group.start_soon(self._examine, worker, machines[worker.machine])
        passports = [worker.passport for worker in first if worker.passport is not None]
        if not passports:
            if first:
                raise RunError(f"no worker can play: {first[0].reason}")
            return
        self._truth = elect(passports)
        for engine in self._truth.engines:
            files = ", ".join(f"{k} {_shown(v)}" for k, v in engine.files.items())
            self._say(f"{engine.name}: {engine.build}, {files}")
        for worker in first:
            self._admit(worker)

    async def _take_in(self, worker: _Worker, at_a_time: int) -> None:
        await self._examine(worker, at_a_time)
        self._admit(worker)
        self._news.set()

    async def _examine(self, worker: _Worker, at_a_time: int) -> None:
        """Let a worker try out the engines."""
        try:
            with anyio.fail_after(EXAMINE_SECONDS):
                arrival: _Arrival = await self._run(
                    worker.address,
                    _arrive,
                    self._session,
                    self._tournament,
                    at_a_time,
                    SILENCE_SECONDS,
                )
        except TimeoutError:
            self._stop(worker, f"not ready within {EXAMINE_SECONDS:g} s")
        except Exception as error:  # whatever it is, it happened there
            self._stop(worker, _in_words(error))
        else:
            if isinstance(arrival.name, str):
                worker.name = arrival.name
            worker.passport = arrival.passport
            if worker.passport is None:
                self._stop(worker, arrival.reason)
            else:
                self._group.start_soon(self._keep_alive, worker)

    def _admit(self, worker: _Worker) -> None:
        """Let a worker have pairs, if it has what the others have."""
        if worker.passport is None or self._truth is None or worker.gone.is_set():
            return
        if lines := differences(worker.passport, self._truth):
            self._stop(worker, "differs from the others: " + "; ".join(lines))
            return
        self._say(f"worker {worker.name} plays, slots: {worker.threads}")
        worker.is_admitted = True
        self._players.append(worker)

    def _fill(self, play_on: PlayOn) -> None:
        """Open the slots that may be open."""
        most = self._tournament.concurrency or math.inf
        for worker in self._workers.values():
            while (
                worker.has_pairs and worker.slots < worker.threads and self._open < most
            ):
                slot = ClusterSlot(self, worker, self._numbers)
                self._numbers += 1
                self._open += 1
                worker.slots += 1
                self._group.start_soon(self._serve_slot, play_on, slot, worker)

    async def _serve_slot(
        self, play_on: PlayOn, slot: "ClusterSlot", worker: _Worker
    ) -> None:
        try:
            await play_on(slot)
            self._is_over = True  # a slot waits while another may give a pair back
        except SlotLost:
            pass
        finally:
            self._open -= 1
            worker.slots -= 1
            self._news.set()

    async def _keep_alive(self, worker: _Worker) -> None:
        """Tell a worker again and again that the run goes on."""
        heard = anyio.current_time()
        while not worker.gone.is_set():
            with suppress(Exception), anyio.fail_after(SILENCE_SECONDS / 2):
                if not await self._run(worker.address, _beat, self._session):
                    self._lose(worker, "was restarted")
                    return
                heard = anyio.current_time()
            if anyio.current_time() > heard + SILENCE_SECONDS:
                self._stop(worker, f"has not answered for {SILENCE_SECONDS:g} s")
                return
            with anyio.move_on_after(BEAT_SECONDS):
                await worker.gone.wait()

    def _lose(self, worker: _Worker, reason: str) -> None:
        """Let a worker go that is not there any more; it may come again."""
        if self._workers.get(worker.address) is worker:
            del self._workers[worker.address]
        if worker.gone.is_set():
            return
        worker.reason = reason
        worker.gone.set()
        self._say(f"worker {worker.name} {reason}")
        self._news.set()

    def _stop(self, worker: _Worker, reason: str) -> None:
        """Give a worker no more pairs until it has been restarted."""
        if worker.gone.is_set():
            return
        worker.reason = reason
        worker.is_stopped = True
        worker.gone.set()
        self._say(f"worker {worker.name} gets no pairs: {reason}")
        self._group.start_soon(
            self._quietly_run, worker.address, _depart, self._session
        )
        self._news.set()

    async def _run(
        self, where: str, function: Callable[..., Awaitable[object]], *arguments: object
    ) -> Any:  # noqa: ANN401
        """Run a function on a worker, beside its tasks, and return its answer."""
        answers = await self._client.run(function, *arguments, workers=[where])
        return answers[where]

    async def _quietly_run(
        self, where: str, function: Callable[..., Awaitable[object]], *arguments: object
    ) -> None:
        await self._quietly(self._run(where, function, *arguments))

    # For the slots

    async def play(self, worker: _Worker, slot: int, task: Task) -> GameRecord:
        """Play the one game of a task on a worker.

        Raises:
            SlotLost: the worker is lost, stopped, or cannot play.
        """
        if worker.gone.is_set():
            raise SlotLost(worker.reason)
        pair, (game,) = task.pair.number, task.games
        future = self._client.submit(
            _play,
            msgspec.msgpack.encode(_Order(self._session, slot, task)),
            key=f"tanbo-game-{pair}-{game}-{uuid.uuid4().hex}",
            workers=[worker.address],
            allow_other_workers=False,
            retries=0,
            pure=False,
        )
        data: bytes | None = None
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(_cancel_after, group, worker.gone)
                data = await self._result(worker, future)
                group.cancel_scope.cancel()
        finally:
            if data is None:
                await self._quietly(future.cancel())
        if not data:
            raise SlotLost(worker.reason)
        record = msgspec.msgpack.decode(data, type=GameRecord)
        return msgspec.structs.replace(record, host=worker.name)

    async def _result(self, worker: _Worker, future: Any) -> bytes | None:  # noqa: ANN401
        """Return what a task returns, None if it fails: the worker's end."""
        from distributed import KilledWorker

        try:
            data: bytes = await future.result()
        except (CancelledError, KilledWorker, OSError) as error:
            self._lose(worker, f"is lost: {_in_words(error)}")
        except Exception as error:  # whatever it is, it happened there
            self._stop(worker, _in_words(error))
        else:
            return data
        return None

    async def enter(self, worker: _Worker, record: GameRecord, keep: Keep) -> None:
        """Keep a game, unless its worker cannot be trusted.

        Raises:
            SlotLost: the worker has been stopped.
        """
        async with self._judging:
            if worker.is_stopped:
                raise SlotLost(worker.reason)
            if not record.termination.counts:
                # No fault of an engine: what would be tried again here would fail, too.
                self._stop(worker, f"cannot play: {record.reason}")
                raise SlotLost(worker.reason)
            await keep(record)
            worker.games.append(record)
            if record.termination in _ON_TIME and self._is_overloaded(worker):
                await self._set_aside(worker, record.pair, keep)
                raise SlotLost(worker.reason)

    def _is_overloaded(self, worker: _Worker) -> bool:
        others = [
            other.tally
            for other in self._players
            if other is not worker and not other.is_stopped
        ]
        return is_overloaded(worker.tally, others)

    async def _set_aside(self, worker: _Worker, pair: int, keep: Keep) -> None:
        """Stop an overloaded worker and take back its games, which are played again."""
        games, late = worker.tally
        told = f"{late} of {counted(games, 'game')}"
        reason = f"its engines lose on time far more often: {told}"
        self._stop(worker, reason)
        spoilt = [
            game
            for game in worker.games
            if may_be_reopened(game.pair, pair, self._tournament)
        ]
        self._say(
            f"{counted(len(spoilt), 'game')} of worker {worker.name} are set aside"
        )
        if len(spoilt) < games:
            self._say("those of earlier rounds stay: later pairings rest on them")
        with anyio.CancelScope(shield=True):
            for game in spoilt:
                await keep(taken_back(game, f"worker {worker.name}: {reason}"))

    async def leave(self, worker: _Worker, slot: int) -> None:
        """End the engines of a slot."""
        if not worker.gone.is_set() or worker.is_stopped:
            await self._quietly_run(worker.address, _leave, self._session, slot)


def may_be_reopened(pair: int, now: int, tournament: Tournament) -> bool:
    """Tell whether a pair can be played again while another one is played.

    A round of a swiss rests on the results of those before it.
    """
    if tournament.format != "swiss":
        return True
    size = tournament.schedule().total // (tournament.rounds or 1)
    return pair // size == now // size


def taken_back(game: GameRecord, reason: str) -> GameRecord:
    """Return the record that takes a game back."""
    return msgspec.structs.replace(
        game,
        winner=None,
        termination=Termination.VOID,
        reason=reason,
        moves=game.opening,
        seconds=(),
        limit=(),
    )


class ClusterSlot:
    """A slot of a worker."""

    def __init__(self, cluster: ClusterSlots, worker: _Worker, number: int) -> None:
        self._cluster = cluster
        self._worker = worker
        self._number = number

    async def play(self, task: Task, keep: Keep) -> None:
        """Play the games of a task in turn, each a task of dask.

        Raises:
            SlotLost: the worker is lost or stopped; what was kept stays.
        """
        for game in task.games:
            one = task._replace(games=(game,))
            record = await self._cluster.play(self._worker, self._number, one)
            await self._cluster.enter(self._worker, record, keep)

    async def close(self) -> None:
        """End the engines that the worker has for the slot."""
        await self._cluster.leave(self._worker, self._number)


async def _cancel_after(group: TaskGroup, event: anyio.Event) -> None:
    await event.wait()
    group.cancel_scope.cancel()


def _in_words(error: Exception) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"tanbo-engine is not installed there: {error}"
    if isinstance(error, RunError):
        return str(error)
    return f"{type(error).__name__}: {error}"


# A worker of our own must not end by the Ctrl-C that the terminal sends to all.
_IGNORE_INTERRUPT = """\
import signal
def dask_setup(worker):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
"""
