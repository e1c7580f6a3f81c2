"""What a run shows: plain lines, and the live display on a fake terminal."""

import io
import re
import sys
import time
from pathlib import Path

import pytest

from protocol.arena.progress import Lines, Live, Standing, open_progress
from protocol.arena.runner import Progress, Run
from protocol.arena.schedule import Results
from protocol.arena.statistics import scores
from protocol.arena.store import GameRecord, Store, Termination, engines, finished

from .support import ScriptedSlots, result, tournament, won_by

CRASH, VOID = Termination.CRASH, Termination.VOID


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def pair_of(number: int, winner: str = "A") -> list[GameRecord]:
    return [result(number, game, winner) for game in (0, 1)]


def tell(shown: Progress, games: list[GameRecord], since: int = 0) -> None:
    """Tell a run's games, the ones before `since` as done before."""
    for count in range(since + 1, len(games) + 1):
        shown.game(games[count - 1])
        done = finished(games[:count])
        number = games[count - 1].pair
        if (number, 0) in done and (number, 1) in done:
            shown.pair(scores(games[:count], [*engines(games), "z"]))


# Plain lines


def lines_of(stream: io.StringIO) -> list[str]:
    return stream.getvalue().splitlines()


def test_lines(tmp_path: Path) -> None:
    stream = io.StringIO()
    shown = Lines(stream)
    shown.begin(tournament(tmp_path, "a", "b"), 12, {})
    games = [game for number in range(12) for game in pair_of(number)]
    games[3] = result(1, 1, "B", CRASH, reason="died")
    tell(shown, games)
    shown.say("a word")
    shown.end()
    assert lines_of(stream) == [
        "12 pairs, 0 of them played before",
        "pair 1 game 1, B - A: crash, died",
        *lines_of(stream)[2:4],
        "a word",
    ]
    number = r"[+-]\d+"
    assert re.fullmatch(
        rf"pair 10 of 12: 19 : 1, Elo {number} \({number} to {number}\)",
        lines_of(stream)[2],
    )
    assert lines_of(stream)[3].startswith("pair 12 of 12: 23 : 1, Elo ")


def test_lines_tell_void_games(tmp_path: Path) -> None:
    stream = io.StringIO()
    shown = Lines(stream)
    shown.begin(tournament(tmp_path, "a", "b"), 1, {})
    shown.game(result(0, 0, None, VOID, reason="no room"))
    assert lines_of(stream)[1:] == ["pair 0 game 0, A - B: void, no room"]


def done_before(*games: GameRecord) -> Results:
    return finished(games)


def test_lines_of_a_run_that_continues(tmp_path: Path) -> None:
    stream = io.StringIO()
    shown = Lines(stream)
    games = [*pair_of(0), *pair_of(1), *pair_of(2)]
    shown.begin(tournament(tmp_path, "a", "b"), 3, done_before(*games[:3]))
    tell(shown, games, since=3)
    # Half a pair is not done: the line of the last pair comes with the last pair.
    first, line = lines_of(stream)
    assert first == "3 pairs, 1 of them played before"
    assert line.startswith("pair 3 of 3: 6 : 0, ")


def test_lines_are_flushed(tmp_path: Path) -> None:
    flushed = []

    class Stream(io.StringIO):
        def flush(self) -> None:
            flushed.append(self.getvalue())

    shown = Lines(Stream())
    shown.say("now")
    assert flushed[-1] == "now\n"


# The standing


def standing_of(games: list[GameRecord], *commands: str, **settings: object) -> str:
    standing = Standing(tournament(Path("x"), *commands, **settings))
    assert standing.text == "no pair yet"
    standing.update(scores(games, engines(games)))
    return standing.text


def test_the_standing_of_two() -> None:
    assert re.fullmatch(
        r"2 : 0, Elo \+\d+ \([+-]\d+ to no upper bound\)",
        standing_of(pair_of(0), "a", "b"),
    )
    assert re.fullmatch(
        r"0 : 2, Elo -\d+ \(no lower bound to [+-]\d+\)",
        standing_of(pair_of(0, "B"), "a", "b"),
    )
    split = [result(0, 0, "A"), result(0, 1, "B")]
    assert standing_of(split, "a", "b").startswith("1 : 1, Elo +0 (")
    assert standing_of([result(0, 0, "A")], "a", "b").startswith("0 : 0, Elo +0 (")


def test_the_standing_under_an_sprt() -> None:
    assert re.fullmatch(
        r"2 : 0, Elo \S+ \(.*\), LLR 0\.\d\d \(-2\.94, 2\.94\)",
        standing_of(pair_of(0), "a", "b", sprt=[0, 20]),
    )


def test_the_standing_of_three() -> None:
    games = [
        result(0, 0, "B", black="A", white="B"),
        result(0, 1, "B", black="B", white="A"),
        result(1, 0, "C", black="A", white="C"),
        result(1, 1, "A", black="C", white="A"),
    ]
    assert standing_of(games, "a", "b", "c") == "B 2, A 1, C 1"


# The choice


def test_plain_lines_where_there_is_no_terminal() -> None:
    assert isinstance(open_progress(io.StringIO()), Lines)


def test_a_display_on_a_terminal() -> None:
    assert isinstance(open_progress(Terminal()), Live)


def test_plain_lines_without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    stream = Terminal()
    shown = open_progress(stream)
    assert isinstance(shown, Lines)
    shown.say("x")
    assert stream.getvalue() == "x\n"


def test_stderr_is_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    open_progress().say("x")
    assert stream.getvalue() == "x\n"


# The live display


def live_run(
    monkeypatch: pytest.MonkeyPatch,
    games: list[GameRecord],
    *commands: str,
    since: int = 0,
    total: int = 3,
) -> str:
    """Return what a display has drawn at the end, without the colours."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm-256color")
    shown = open_progress()
    assert isinstance(shown, Live)
    shown.begin(
        tournament(Path("x"), *(commands or ("a", "b"))), total, finished(games[:since])
    )
    tell(shown, games, since)
    shown.say("the [end]")
    shown.end()
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())


def last_bar(drawn: str) -> str:
    return [line for line in re.split(r"[\r\n]+", drawn) if line.startswith("pairs")][
        -1
    ]


def test_the_display(monkeypatch: pytest.MonkeyPatch) -> None:
    games = [*pair_of(0), result(1, 0, "B", CRASH, reason="it [died]"), *pair_of(1)[1:]]
    drawn = live_run(monkeypatch, games)
    bar = last_bar(drawn)
    assert "2/3" in bar
    assert re.search(r"\d+ games/min", bar)
    assert "3 : 1, Elo +" in bar
    assert "A - B: it [died]" in drawn
    assert "the [end]" in drawn


def test_the_display_of_a_run_that_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    games = [*pair_of(0), *pair_of(1)]
    drawn = live_run(monkeypatch, games, since=3)
    assert "2/3" in last_bar(drawn)
    assert "4 : 0" in last_bar(drawn)


def test_names_on_the_display_are_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm-256color")
    names = ("x[/b]", "[red]y", "z")
    match = tournament(Path("x"), "a", "b", "c")
    entries = tuple(
        type(entry)(name, entry.command)
        for name, entry in zip(names, match.engine, strict=True)
    )
    shown = Live()
    shown.begin(type(match)(engine=entries), 3, {})
    games = [
        result(0, 0, names[0], black=names[0], white=names[1]),
        result(0, 1, names[0], black=names[1], white=names[0]),
    ]
    tell(shown, games)
    shown.end()
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    assert "x[/b] 2, [red]y 0, z 0" in drawn


def test_a_clock_that_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    # Some have 16 ms between their ticks, time for a whole game.
    monkeypatch.setattr(time, "monotonic", lambda: 5.0)
    monkeypatch.setattr(sys, "stderr", Terminal())
    shown = Live()
    shown.begin(tournament(Path("x"), "a", "b"), 1, {})
    shown.game(result(0, 0, "A"))
    shown.end()


def test_the_display_before_it_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    shown = Live()
    shown.say("A: engine")
    shown.end()
    assert "A: engine" in stream.getvalue()


@pytest.mark.parametrize("is_terminal", [False, True])
async def test_a_whole_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool
) -> None:
    stream = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    shown = open_progress()
    match = tournament(tmp_path, "a", "b", games=1000, sprt=[0, 100])
    slots = ScriptedSlots(2, won_by("A"))
    store = Store(tmp_path)
    await Run(match, store, shown, slots).play()
    store.close()
    assert "SPRT accepts H1" in stream.getvalue()
