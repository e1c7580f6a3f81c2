"""Several workers in one tree, and the player that gives them threads."""

import gc
import os
import sys
import threading
import time
from typing import Any

import pytest

from tanbo_engine._kernel import PUCT, PUCT0, UCT, Position, Search, StopFlag
from tanbo_engine.game import Game
from tanbo_engine.player import (
    Aim,
    Limits,
    Report,
    SearchPlayer,
    Stream,
    usable_threads,
)

from .support import as_plain, before_the_end, kernel, start, stop_after

MB = 1 << 20
BATCH = 4  # visits that a worker may make before it looks at the limits again
MANY = 4_000_000_000
WORKERS = pytest.mark.parametrize("workers", [2, 4])


def run_all(search: Search, until: int, stop: StopFlag | None = None) -> int:
    """Search with every worker in a thread of its own; return the visits made."""
    flag, done = stop or StopFlag(), []
    threads = [
        threading.Thread(
            target=lambda worker=k: done.append(search.run(MANY, flag, worker, until))
        )
        for k in range(search.workers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(done) == search.workers
    return sum(done)


def workers_at(
    position: Position, workers: int, memory: int = 32 * MB, kind: int = PUCT
) -> Search:
    search = Search(memory, kind, workers)
    search.start(position, 1)
    return search


@WORKERS
@pytest.mark.parametrize("kind", [PUCT, UCT, PUCT0], ids=["puct", "uct", "puct0"])
@pytest.mark.parametrize("name", ["dense-7x7", "classic-9x9", "dense-11x11"])
def test_no_visit_is_lost(name: str, kind: int, workers: int) -> None:
    search = workers_at(kernel(name), workers, kind=kind)
    until = 6000
    done = run_all(search, until)
    assert until <= done < until + BATCH * workers
    assert search.visits == done == sum(move[1] for move in search.moves())
    assert all(0 <= move[2] <= 1 for move in search.moves())
    assert search.check_tree() == ""


@WORKERS
@pytest.mark.parametrize("memory", [1, MB // 4])
def test_a_full_tree_stays_sound(memory: int, workers: int) -> None:
    search = workers_at(kernel("dense-11x11"), workers, memory)
    done = run_all(search, 30_000)
    assert search.is_full
    assert search.visits == done == sum(move[1] for move in search.moves())
    assert search.check_tree() == ""


@WORKERS
def test_the_end_of_the_game_is_proved_soundly(workers: int) -> None:
    verdicts = []
    for seed in range(60):
        position = before_the_end("dense-5x7", seed, 1 + seed % 5)
        search = workers_at(position, workers)
        run_all(search, 100_000)
        alone = workers_at(position, 1)
        alone.run(100_000, StopFlag())
        assert search.proof == alone.proof != 0
        assert search.check_tree() == ""
        verdicts.append(search.proof)
    assert set(verdicts) == {1, -1}


@WORKERS
def test_a_tree_of_several_workers_is_used_again(workers: int) -> None:
    position = kernel("dense-7x7")
    search = workers_at(position, workers, MB)
    moves = 0
    while position.winner < 0:
        before = search.visits
        run_all(search, before + 3000)
        assert search.check_tree() == ""
        point, visits, *_ = search.moves()[0]
        position.make(point)
        moves += 1
        if position.winner < 0:
            search.start(position, moves, 0, [point])
            assert search.visits == visits
            assert search.check_tree() == ""
    assert moves > 10


@WORKERS
def test_a_flag_stops_every_worker(workers: int) -> None:
    search, stop = workers_at(kernel("classic-19x19"), workers), StopFlag()
    ender = threading.Thread(target=stop_after, args=(search, 1000, stop))
    ender.start()
    done = run_all(search, MANY, stop)
    ender.join()
    assert search.visits == done >= 1000
    assert run_all(search, MANY, stop) == 0
    assert search.check_tree() == ""


def test_reports_can_be_read_while_workers_search() -> None:
    search, stop = workers_at(kernel("dense-7x7"), 2), StopFlag()
    thread = threading.Thread(target=run_all, args=(search, MANY, stop))
    thread.start()
    for _ in range(100):
        assert all(0 <= move[2] <= 1 for move in search.moves())
        assert 0 <= search.value <= 1
        assert search.principal_variation()[0] in kernel("dense-7x7").legal_moves(0)
        assert search.best_move() in kernel("dense-7x7").legal_moves(0)
        assert len(search.variations()) == len(search.moves())
    stop.set()
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize("workers", [0, -1, 257])
def test_workers_that_cannot_be_are_refused(workers: int) -> None:
    with pytest.raises(ValueError, match="workers are 1 to 256"):
        Search(MB, PUCT, workers)


@pytest.mark.parametrize("worker", [-1, 2])
def test_there_is_no_other_worker(worker: int) -> None:
    search = workers_at(kernel("dense-3x5"), 2)
    with pytest.raises(ValueError, match="there is no worker"):
        search.run(1, StopFlag(), worker)


# The player


def player(threads: int, *, keep: bool = False) -> SearchPlayer:
    return SearchPlayer(32, 1, "auto", threads, keep=keep)


def new_game(name: str = "dense-7x7") -> Game:
    return Game(start(name))


@WORKERS
@pytest.mark.parametrize("visits", [1, 50, 5000])
def test_a_limit_of_visits_is_met(visits: int, workers: int) -> None:
    for _ in range(10):
        report = player(workers).search(new_game(), Limits(visits=visits), StopFlag())
        assert visits <= report.visits < visits + BATCH * workers
        told = sum(move.visits for move in report.candidates)
        assert 0 <= report.visits - told <= BATCH * workers  # one may be late to rest


@WORKERS
def test_a_limit_of_time_is_met(workers: int) -> None:
    report = player(workers).search(new_game(), Limits(seconds=0.2), StopFlag())
    assert 0.2 <= report.seconds < 5
    assert report.visits > 100


def test_no_limit_is_no_reason_to_make_no_move() -> None:
    game = new_game()
    for limits in (Limits(seconds=0), Limits(visits=0)):
        report = player(4).search(game, limits, StopFlag())
        assert report.point in game.legal_moves()


def test_a_set_flag_ends_a_search_of_several_threads() -> None:
    stop = StopFlag()
    stream = Stream(lambda _: stop.set(), 0.05)
    report = player(3).search(new_game(), Limits(seconds=600), stop, stream=stream)
    assert report.seconds < 60


def test_a_proof_ends_a_search_of_several_threads() -> None:
    for seed in range(10):
        game = Game(as_plain(before_the_end("dense-5x7", seed, 4)))
        if len(game.legal_moves()) == 1:
            continue  # played without a thought
        report = player(3).search(game, Limits(seconds=600), StopFlag())
        assert report.proof in (1, -1)


def test_a_game_with_a_kept_tree_and_threads_comes_to_its_end() -> None:
    game, own = new_game("dense-5x7"), player(3, keep=True)
    while game.winner is None:
        told: list[Report] = []
        limits, stream = Limits(visits=2000), Stream(told.append, 0.001)
        report = own.search(game, limits, StopFlag(), stream=stream)
        assert report.visits >= 2000 or report.proof != 0
        for each in (*told, report):
            assert each.point == each.variation[0] == each.candidates[0].point
            assert all(move.variation[0] == move.point for move in each.candidates)
        assert all(
            0 <= move.value <= 1 for each in [*told, report] for move in each.candidates
        )
        game.play(report.point)


def helpers() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name.startswith("tanbo-search")]


def test_threads_are_used_again_and_end_with_the_player() -> None:
    gc.collect()
    before = set(helpers())
    own = player(4)
    for _ in range(30):
        own.search(new_game(), Limits(visits=200), StopFlag())
        assert len(set(helpers()) - before) <= 3
    threads = set(helpers()) - before
    del own
    gc.collect()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority")
def test_helpers_stay_behind_the_thread_that_looks_at_the_clock() -> None:
    gc.collect()
    before = set(helpers())
    own = player(3)
    own.search(new_game(), Limits(visits=200), StopFlag())
    usual = os.getpriority(os.PRIO_PROCESS, 0)
    behind = [
        os.getpriority(os.PRIO_PROCESS, thread.native_id or 0)
        for thread in set(helpers()) - before
    ]
    assert behind
    assert set(behind) == {min(usual + 10, 19)}


def test_one_thread_needs_no_helper() -> None:
    gc.collect()
    before = set(helpers())
    for aim in Aim:
        SearchPlayer(8, 1).search(new_game(), Limits(visits=200), StopFlag(), aim=aim)
    assert not set(helpers()) - before


def test_a_very_short_search_is_made_by_one_thread() -> None:
    gc.collect()
    before = set(helpers())
    own = player(4)
    own.search(new_game(), Limits(seconds=0.01), StopFlag())
    assert not set(helpers()) - before
    own.search(new_game(), Limits(seconds=0.1), StopFlag())
    assert set(helpers()) - before


class Failing:
    """A search whose workers fail, some of them."""

    def __init__(self, search: Search, bad: set[int]) -> None:
        self.search, self.bad, self.running = search, bad, 0

    def run(self, visits: int, stop: StopFlag, worker: int = 0, until: int = 0) -> int:
        self.running += 1
        try:
            if worker in self.bad:
                raise OverflowError(f"worker {worker}")
            while worker and not stop.is_set:
                time.sleep(0.001)
            return visits if worker == 0 else 0
        finally:
            self.running -= 1

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.search, name)


class Late:
    """A search whose other workers go on for a while when they are told to end."""

    def __init__(
        self, search: Search, seconds: float, error: Exception | None = None
    ) -> None:
        self.search, self.seconds, self.error = search, seconds, error
        self.running = 0

    def run(self, visits: int, stop: StopFlag, worker: int = 0, until: int = 0) -> int:
        if worker == 0:
            return self.search.run(visits, stop, 0, until)
        self.running += 1
        while not stop.is_set:
            time.sleep(0.001)
        time.sleep(self.seconds)
        self.running -= 1
        if self.error is not None:
            raise self.error
        return 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self.search, name)


@pytest.mark.parametrize("bad", [{1}, {2}, {3}, {1, 3}, {0}, {0, 2}])
def test_an_exception_of_a_thread_comes_out_when_all_are_at_rest(bad: set[int]) -> None:
    own = player(4)
    searcher = own._searchers["puct"]
    failing = Failing(searcher.search, bad)  # type: ignore[arg-type]
    searcher.search = failing  # type: ignore[assignment]
    with pytest.raises(OverflowError, match=f"worker {min(bad)}"):
        own.search(new_game(), Limits(seconds=0.05), StopFlag())
    assert failing.running == 0
    searcher.search = failing.search
    assert own.search(new_game(), Limits(visits=100), StopFlag()).visits >= 100


def test_a_thread_that_is_late_to_rest_delays_the_next_search_only() -> None:
    own = player(3)
    searcher = own._searchers["puct"]
    late = Late(searcher.search, 0.5)  # type: ignore[arg-type]
    searcher.search = late  # type: ignore[assignment]
    report = own.search(new_game(), Limits(seconds=0.05), StopFlag())
    assert report.seconds < 0.45
    assert late.running == 2
    searcher.search = late.search
    assert own.search(new_game(), Limits(seconds=0.05), StopFlag()).seconds > 0.3
    assert late.running == 0


def test_a_late_failure_comes_out_of_the_next_search() -> None:
    own = player(2)
    searcher = own._searchers["puct"]
    late = Late(searcher.search, 0.2, OverflowError("late"))  # type: ignore[arg-type]
    searcher.search = late  # type: ignore[assignment]
    own.search(new_game(), Limits(seconds=0.05), StopFlag())
    searcher.search = late.search
    with pytest.raises(OverflowError, match="late"):
        own.search(new_game(), Limits(seconds=0.05), StopFlag())
    assert own.search(new_game(), Limits(visits=100), StopFlag()).visits >= 100


def test_the_cores_that_may_be_used_are_counted() -> None:
    assert 1 <= usable_threads() <= 256
    assert usable_threads(1) == 1
    assert usable_threads(256) == usable_threads()
