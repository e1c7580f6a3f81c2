"""The results on disk: torn lines, foreign lines, what stands and what counts."""

import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.arena import store
from protocol.arena.store import (
    GameRecord,
    Store,
    StoreError,
    Termination,
    finished,
    read_games,
    standing,
)
from protocol.files import write_whole

from .support import ROOT, played, result

VOID, INTERRUPTED = Termination.VOID, Termination.INTERRUPTED


def filled(folder: Path, *records: GameRecord) -> Path:
    """Write records; return their file."""
    results = Store(folder)
    for record in records:
        results.append(record)
    results.close()
    return folder / store.GAMES


def test_the_terminations_are_those_of_the_contract() -> None:
    words = "board resign time illegal crash hang protocol-error void interrupted"
    assert [str(end) for end in Termination] == words.split()
    assert [end for end in Termination if not end.counts] == [VOID, INTERRUPTED]
    forfeits = ["time", "illegal", "crash", "hang", "protocol-error"]
    assert [str(end) for end in Termination if end.is_forfeit] == forfeits


def test_a_record_as_the_contract_has_it(tmp_path: Path) -> None:
    record = played(3, 1, black_build="b", host="far")
    line = filled(tmp_path, record).read_bytes()
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    raw = msgspec.json.decode(line)
    keys = "pair game opening setup black white winner termination reason moves seconds"
    assert list(raw)[:11] == keys.split()
    assert set(raw) - set(keys.split()) == {
        "limit",
        "black-build",
        "white-build",
        "host",
    }
    assert (raw["winner"], raw["termination"], raw["black"]) == (
        record.winner,
        "board",
        "B",
    )


def test_records_come_back(tmp_path: Path) -> None:
    records = [
        played(0, 0),
        result(0, 1, None, VOID, reason='"\n\\ \u00e9'),
        played(1, 0, limit=(None, 0.5)),
    ]
    path = filled(tmp_path / "new" / "folder", *records)
    assert read_games(path) == records
    assert read_games(path.parent) == records
    again = Store(path.parent)
    assert again.games == [slim(record) for record in records]
    assert not again.repaired
    again.close()


def slim(record: GameRecord) -> GameRecord:
    return msgspec.structs.replace(record, moves=(), seconds=(), limit=())


def test_games_hold_what_is_appended_but_its_moves(tmp_path: Path) -> None:
    results = Store(tmp_path)
    record = played()
    results.append(record)
    assert results.games == [slim(record)]
    assert read_games(tmp_path) == [record]
    results.close()


@pytest.mark.parametrize("whole", [0, 1, 2])
def test_a_line_torn_at_every_byte(tmp_path: Path, whole: int) -> None:
    records = [result(0, 0, "A"), result(0, 1, "B", reason="\u00e9"), result(1, 0, "A")]
    path = filled(tmp_path, *records)
    data = path.read_bytes()
    starts = [0, *(i + 1 for i, byte in enumerate(data) if byte == 10)]
    for end in range(starts[whole], starts[whole + 1]):
        path.write_bytes(data[:end])
        assert read_games(path) == records[:whole]
        assert path.read_bytes() == data[:end], "reading repairs nothing"
        results = Store(tmp_path)
        assert results.repaired == (end > starts[whole])
        assert results.games == records[:whole]
        results.append(records[whole])
        results.close()
        assert path.read_bytes() == data[: starts[whole + 1]]


def test_a_torn_line_of_any_bytes(tmp_path: Path) -> None:
    path = filled(tmp_path, result(0, 0, "A"))
    with path.open("ab") as file:
        file.write(b"\0\xff{\r[nonsense")
    results = Store(tmp_path)
    assert results.repaired
    assert len(results.games) == 1
    results.close()


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[1]",
        b"null",
        b"\xff\xfe",
        b'{"pair": 1',
        msgspec.json.encode(result(0, 0, "A")).replace(b'"board"', b'"adjourned"'),
        msgspec.json.encode(result(0, 0, "A")).replace(b'"pair":0', b'"pair":"0"'),
    ],
)
def test_a_foreign_line_is_named(tmp_path: Path, line: bytes) -> None:
    path = filled(tmp_path, result(0, 0, "A"), result(0, 1, "A"))
    first, second, _ = path.read_bytes().split(b"\n")
    path.write_bytes(b"\n".join((first, line, second, b"")))
    before = path.read_bytes()
    with pytest.raises(StoreError, match=rf"^{path} line 2: "):
        read_games(path)
    with pytest.raises(StoreError, match="line 2: "):
        Store(tmp_path)
    assert path.read_bytes() == before


def test_a_record_of_a_later_version_is_read(tmp_path: Path) -> None:
    path = filled(tmp_path, result(0, 0, "A"))
    path.write_bytes(path.read_bytes().replace(b'{"pair"', b'{"later":[1],"pair"'))
    assert len(read_games(path)) == 1


def test_no_results(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"no results: .*/none/?.* does not exist"):
        read_games(tmp_path / "none")
    with pytest.raises(StoreError, match=r"no results: .*games\.jsonl does not exist"):
        read_games(tmp_path)
    filled(tmp_path)
    assert read_games(tmp_path) == []


def test_every_append_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def synced(number: int) -> None:
        sizes.append(os.fstat(number).st_size)

    results = Store(tmp_path)
    monkeypatch.setattr(os, "fsync", synced)
    wanted = []
    for game in (0, 1):
        results.append(result(0, game, "A"))
        wanted.append((tmp_path / store.GAMES).stat().st_size)
    assert sizes == wanted
    results.close()


def test_a_repair_is_on_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = filled(tmp_path, result(0, 0, "A"))
    size = path.stat().st_size
    path.write_bytes(path.read_bytes() + b"torn")
    sizes: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda fd: sizes.append(os.fstat(fd).st_size))
    Store(tmp_path).close()
    assert sizes == [size]


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_what_was_appended_survives_a_kill(tmp_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from protocol.arena.store import Store\n"
        "from tests.arena.support import result\n"
        f"results = Store(Path({str(tmp_path)!r}))\n"
        "results.append(result(0, 0, 'A'))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == -9
    assert read_games(tmp_path) == [result(0, 0, "A")]


# What stands


def test_the_last_record_of_a_game_stands() -> None:
    games = [
        result(0, 0, "A"),
        result(0, 1, "A"),
        result(1, 0, "A"),
        result(0, 0, None, VOID),
        result(0, 1, None, VOID),
        result(0, 0, "B"),
    ]
    assert standing(games) == [games[2], games[4], games[5]]
    assert finished(games) == {(1, 0): games[2], (0, 0): games[5]}
    assert standing([]) == []


RECORDS = st.lists(
    st.builds(
        result,
        st.integers(0, 3),
        st.integers(0, 1),
        st.just("A"),
        st.sampled_from([Termination.BOARD, Termination.CRASH, VOID, INTERRUPTED]),
    )
)


@given(RECORDS)
def test_standing_and_finished(games: list[GameRecord]) -> None:
    stand = standing(games)
    keys = [(game.pair, game.game) for game in stand]
    assert len(keys) == len(set(keys))
    assert set(keys) == {(game.pair, game.game) for game in games}
    places = [max(i for i, g in enumerate(games) if g is game) for game in stand]
    assert places == sorted(places)
    assert standing(stand) == stand
    counts = [game for game in stand if game.termination.counts]
    assert list(finished(games).values()) == counts


# Whole files


def test_write_whole_replaces(tmp_path: Path) -> None:
    path = tmp_path / "page"
    write_whole(path, b"old")
    write_whole(path, b"new\0")
    assert path.read_bytes() == b"new\0"
    assert list(tmp_path.iterdir()) == [path]


def test_write_whole_syncs_before_it_replaces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page"
    write_whole(path, b"old")
    seen: list[tuple[int, bytes]] = []

    def synced(number: int) -> None:
        seen.append((os.fstat(number).st_size, path.read_bytes()))

    monkeypatch.setattr(os, "fsync", synced)
    write_whole(path, b"newer")
    assert seen == [(5, b"old")]
    assert path.read_bytes() == b"newer"


def test_write_whole_fails_without_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page"
    write_whole(path, b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
