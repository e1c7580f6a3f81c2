"""The web page: structure, numbers, hostile texts, and the viewer in a real browser."""

import contextlib
import http.client
import json
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from protocol.arena import html, statistics
from protocol.arena.html import render
from protocol.arena.ratings import cross_table, ratings
from protocol.arena.statistics import Z95
from protocol.arena.store import GameRecord, Termination
from tanbo_engine import rules
from tanbo_engine.points import Color, by_column, format_vertex, parse_vertex
from tanbo_engine.setups import by_name

SETUPS = ("dense-7x7", "dense-7x9", "classic-9x9")
HOSTILE = (
    '</script><script>alert(1)</script><img src=x onerror="a\'b">&amp;\u2028\u202e$x'
)
VOID_ELEMENTS = {"meta", "link", "input", "br"}


# Sample games


def played(
    setup: str, seed: int, plies: int | None = None
) -> tuple[tuple[str, ...], str | None]:
    """Return random moves, to the end unless `plies` is given, and who won."""
    generator = random.Random(seed)
    position = by_name(setup).position()
    moves: list[str] = []
    while rules.winner(position) is None and len(moves) != plies:
        point = generator.choice(rules.legal_moves(position))
        moves.append(format_vertex(position.size, point))
        position = rules.play(position, point).after
    winner = rules.winner(position)
    return tuple(moves), None if winner is None else winner.word


def record(
    pair: int,
    number: int,
    engines: tuple[str, str] = ("alpha", "beta"),
    *,
    setup: str = "dense-7x7",
    moves: tuple[str, ...] = ("E4", "B3"),
    winner: str | None = "black",
    termination: Termination = Termination.RESIGN,
    reason: str = "",
    seconds: Sequence[float] = (),
    limit: Sequence[float | None] = (),
) -> GameRecord:
    black, white = engines[::-1] if number else engines
    return GameRecord(
        pair=pair,
        game=number,
        opening=(),
        setup=setup,
        black=black,
        white=white,
        winner=winner,
        termination=termination,
        reason=reason,
        moves=moves,
        seconds=tuple(seconds),
        limit=tuple(limit),
    )


def random_pair(
    pair: int, engines: tuple[str, str], setup: str = "dense-7x7"
) -> list[GameRecord]:
    games = []
    for number in (0, 1):
        moves, winner = played(setup, 2 * pair + number)
        end = Termination.BOARD
        games.append(
            record(
                pair,
                number,
                engines,
                setup=setup,
                moves=moves,
                winner=winner,
                termination=end,
            )
        )
    return games


def results(wins: str, setup: str = "dense-7x7", first: int = 0) -> list[GameRecord]:
    """Return a match in which alpha wins (1) or loses (0) the games."""
    return [
        record(
            first + i // 2,
            i % 2,
            setup=setup,
            moves=("E4", "B3")[: i % 3],
            winner="black" if (won == "1") != (i % 2 == 1) else "white",
        )
        for i, won in enumerate(wins)
    ]


def field() -> list[GameRecord]:
    """Return random games of three engines on three set-ups."""
    pairings = [("alpha", "beta"), ("alpha", "gamma"), ("beta", "gamma")]
    ways = [(engines, setup) for setup in SETUPS for engines in pairings]
    return [
        game
        for pair, (engines, setup) in enumerate(ways * 2)
        for game in random_pair(pair, engines, setup)
    ]


def faults() -> list[GameRecord]:
    """Return a pair a termination, some void games, and half a pair."""
    games = []
    for pair, end in enumerate(Termination):
        winner = "black" if end.counts else None
        games += [
            record(pair, 0, winner=winner, termination=end, reason=f"it was {end}"),
            record(pair, 1),
        ]
    return games


SAMPLES: dict[str, Callable[[], list[GameRecord]]] = {
    "nothing": list,
    "one game": lambda: results("1"),
    "one pair": lambda: results("10"),
    "all won": lambda: results("1" * 20),
    "all lost": lambda: results("0" * 20),
    "a match": lambda: results("1101011100101111" * 4),
    "two set-ups": lambda: results("11011000") + results("1111", "dense-7x9", 4),
    "half pairs on two set-ups": lambda: [
        record(0, 0),
        record(1, 0, setup="dense-7x9"),
    ],
    "only void": lambda: [record(0, 0, winner=None, termination=Termination.VOID)],
    "a field": field,
    "half pairs of three": lambda: [record(0, 0), record(1, 0, ("beta", "gamma"))],
    "no loss among three": lambda: (
        results("1111") + [record(9, number, ("gamma", "delta")) for number in (0, 1)]
    ),
    "faults": faults,
    "hostile": lambda: [
        record(
            0,
            number,
            (HOSTILE, "beta"),
            setup=HOSTILE,
            moves=(HOSTILE,),
            reason=HOSTILE,
        )
        for number in (0, 1)
    ],
    "one name": lambda: [record(0, 0, ("alpha", "alpha"))],
}


@pytest.fixture(params=SAMPLES)
def games(request: pytest.FixtureRequest) -> list[GameRecord]:
    return SAMPLES[request.param]()


# Reading a page


class Page(HTMLParser):
    """A page taken apart; raises where elements do not nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.source = text
        self.tables: dict[str, list[list[str]]] = {}
        self.ids: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self._caption = ""
        self._seen: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open
        data = text.partition('<script type="application/json" id="data">')[2]
        self.data: dict[str, Any] = json.loads(data.partition("</script>")[0])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, dict(attrs))
        if tag not in VOID_ELEMENTS:
            self._open.append(tag)
        if tag == "caption":
            self._caption = ""
        if tag == "tr":
            self.tables[self._caption].append([])
        if tag in ("td", "th"):
            self.tables[self._caption][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._note(tag, dict(attrs))

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("b", "bdi", "span"):
            self._seen.append("\n")
        assert self._open.pop() == tag, self.getpos()
        if tag == "caption":
            self.tables[self._caption] = []

    def handle_data(self, data: str) -> None:
        if self._open:
            self.texts.setdefault(self._open[-1], []).append(data)
            if self._open[-1] not in ("script", "style"):
                self._seen.append(data)
        if "caption" in self._open:
            self._caption += data
        elif {"td", "th"} & {*self._open}:
            self.tables[self._caption][-1][-1] += data

    def _note(self, tag: str, attributes: dict[str, str | None]) -> None:
        self.elements.append((tag, attributes))
        if "id" in attributes:
            self.ids.append(str(attributes["id"]))

    @property
    def text(self) -> str:
        """Everything a reader sees, without style and script, blanks as one."""
        return " ".join("".join(self._seen).split())

    def table(self, caption: str) -> list[list[str]]:
        """Return the rows, heads included, of the table whose caption begins so."""
        (found,) = (
            rows for name, rows in self.tables.items() if name.startswith(caption)
        )
        return found


def page(
    games: Sequence[GameRecord],
    sprt: tuple[float, float] | None = None,
    anchor: str | None = None,
) -> Page:
    return Page(render("A test", games, sprt, anchor))


def elo(value: float) -> str:
    if abs(value) < 0.05:
        return "0.0"
    return f"{value:+.1f}".replace("-", "\N{MINUS SIGN}")


def percent(share: float) -> str:
    return f"{100 * share:.1f}%"


# Structure


def test_elements_nest_and_ids_are_unique(games: list[GameRecord]) -> None:
    found = page(games, sprt=(0, 20))
    assert len(found.ids) == len({*found.ids})


def test_nothing_is_fetched(games: list[GameRecord]) -> None:
    found = page(games)
    for tag, attributes in found.elements:
        assert "src" not in attributes, tag
        href = attributes.get("href") or "#"
        assert href.startswith("#") or (tag == "link" and href.startswith("data:"))
    assert "@import" not in found.source
    assert "url(" not in found.source


def test_links_lead_somewhere(games: list[GameRecord]) -> None:
    found = page(games)
    shown = {f"game-{game[0]}" for game in found.data["games"]}
    for _, attributes in found.elements:
        href = attributes.get("href")
        if href and href.startswith("#"):
            assert href[1:] in {*found.ids, *shown}


def test_tables_have_captions_and_heads(games: list[GameRecord]) -> None:
    found = page(games)
    tags = [tag for tag, _ in found.elements]
    assert tags.count("table") == tags.count("caption") == len(found.tables)
    heads = [attributes for tag, attributes in found.elements if tag == "th"]
    assert all(head["scope"] in ("row", "col", "colgroup") for head in heads)
    for rows in found.tables.values():
        assert len({len(row) for row in rows[-2:]}) == 1


def test_open_ends_are_words(games: list[GameRecord]) -> None:
    found = page(games, sprt=(0, 20))
    assert not re.search(r"\b(inf|infinity|nan|None)\b", found.text)
    shapes = [
        value for _, attributes in found.elements for value in attributes.values()
    ]
    assert not any(re.search(r"\b(inf|nan)\b", value or "") for value in shapes)


def test_the_tables_do_not_need_the_script() -> None:
    text = render("A test", field())
    assert "<noscript>" in text
    assert text.index("</table>") < text.index("<script")


def test_the_page_allows_no_script_but_its_own() -> None:
    source = render("A test", [])
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', source)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert re.search(r"script-src 'sha256-[\w+/]{43}='$", policy[1])


# Hostile texts


def test_texts_of_records_are_escaped() -> None:
    source = render(HOSTILE, SAMPLES["hostile"](), anchor=HOSTILE)
    found = Page(source)
    assert source.count("<script") == 2
    assert "<img" not in source
    assert "\u2028" not in source.partition('id="data">')[2]
    assert found.data["engines"][0] == HOSTILE
    assert found.data["games"][0][6] == HOSTILE
    assert found.table("Games won with either")[1][0] == HOSTILE
    assert "".join(found.texts["h1"]) == HOSTILE


def test_what_html_cannot_hold_is_replaced() -> None:
    source = render("A test", [record(0, 0, ("a\x00b\x1b[1m\ud800", "beta"))])
    assert "a\ufffdb\ufffd[1m\ufffd" in source
    source.encode()


def test_long_reasons_are_cut() -> None:
    crash = record(0, 0, termination=Termination.CRASH, reason="x" * 10**6)
    assert len(render("A test", [crash])) < 100_000


# Numbers


def test_no_games() -> None:
    found = page([], sprt=(0, 20), anchor="alpha")
    assert "No games yet." in found.text
    assert not found.tables


def test_a_match_shows_score_elo_and_superiority() -> None:
    games = SAMPLES["a match"]()
    score = statistics.pair_score(games, "alpha")
    shown = statistics.elo(score)
    low, high = statistics.interval(score)
    text = page(games).text
    assert "alpha is stronger than beta" in text
    for part in (
        percent(score.mean),
        f"{score.points:g} won, {2 * score.pairs - score.points:g} lost",
        f"95%: {percent(low)} to {percent(high)}",
        f" {elo(shown.difference)} ",
        f"95%: {elo(shown.low)} to {elo(shown.high)}",
        f" {percent(shown.los)} ",
        f" {score.counts[4]} pairs ",
    ):
        assert part in text


@pytest.mark.parametrize("wins", ["1" * 20, "0" * 20])
def test_a_clean_sweep_is_at_least_or_at_most(wins: str) -> None:
    shown = statistics.elo(statistics.pair_score(results(wins), "alpha"))
    text = page(results(wins)).text
    if wins[0] == "1":
        assert f"95%: at least {elo(shown.low)}" in text
        assert " > 99.9% " in text
    else:
        assert f"95%: at most {elo(shown.high)}" in text
        assert " < 0.1% " in text


def test_the_first_engine_is_the_schedule_s_whoever_finished_first() -> None:
    games = results("11")[::-1]
    assert "alpha against beta, seen from alpha" in page(games).text


def test_the_sequential_test_is_shown_pair_by_pair() -> None:
    games = SAMPLES["a match"]()
    test = statistics.sprt(statistics.pair_score(games, "alpha"), 0, 20)
    found = page(games, sprt=(0, 20))
    assert "H0: 0 Elo, H1: 20 Elo, logistic model" in found.text
    assert "undecided" in found.text
    assert f"{test.llr:+.2f}" in found.text
    assert f"{test.upper:+.2f}" in found.text
    (curve,) = (a for tag, a in found.elements if tag == "polyline")
    assert len(str(curve["points"]).split()) == 32 + 1


def test_the_sequential_test_is_decided_where_it_first_reaches_a_bound() -> None:
    games = results("11" * 20 + "00" * 8)
    states = [
        statistics.sprt(statistics.pair_score(games[: 2 * n], "alpha"), 0, 100).decision
        for n in range(1, 29)
    ]
    assert states[-1] == "continue"
    found = page(games, sprt=(0, 100)).text
    assert "H1 accepted" in found
    assert f"after {states.index('H1') + 1} pairs" in found


def test_a_field_shows_joint_ratings() -> None:
    games = field()
    table = ratings(cross_table(games), "beta")
    found = page(games, anchor="beta", sprt=(0, 20))
    rows = found.table("Ratings")[1:]
    errors = [f"± {Z95 * error:.1f}" for error in table.standard_errors()]
    assert [row[0] for row in rows] == list(table.engines)
    assert [row[1] for row in rows] == [elo(value) for value in table.elo]
    assert [row[2] for row in rows] == errors
    difference, error = table.difference(*table.engines[:2])
    assert rows[0][3] == f"{elo(difference)} ± {Z95 * error:.1f}"
    for row in rows:
        score = statistics.pair_score(games, row[0])
        assert row[4:] == [str(2 * score.pairs), percent(score.mean)]
    assert "beta is 0 by definition" in found.text
    assert "needs exactly two engines" in found.text


def test_an_anchor_that_did_not_play_is_refused() -> None:
    with pytest.raises(ValueError, match="nobody"):
        page(field(), anchor="nobody")


def test_engines_that_cannot_be_compared_are_named() -> None:
    text = page(SAMPLES["no loss among three"]()).text
    assert "The games do not compare all engines" in text


def test_the_cross_table_has_every_pairing() -> None:
    games = field()
    table = cross_table(games)
    head, *rows = page(games).table("Score of the engine on the left")
    for row in rows:
        for name, cell in zip(head[1:], row[1:], strict=True):
            if name == row[0]:
                assert cell == ""
                continue
            score = table[row[0], name]
            lost = 2 * score.pairs - score.points
            assert cell == f"{percent(score.mean)} {score.points:g}\u2013{lost:g}"


def test_set_ups_are_compared() -> None:
    games = field()
    head, *rows = page(games).table("Score of each engine by set-up")
    assert head[1:] == list(SETUPS)
    for row in rows:
        for setup, cell in zip(SETUPS, row[1:], strict=True):
            own = [game for game in games if game.setup == setup]
            score = statistics.pair_score(own, row[0])
            assert cell.startswith(percent(score.mean))


def test_a_match_on_two_set_ups_shows_the_elo_of_each() -> None:
    games = SAMPLES["two set-ups"]()
    _, dense, wide = page(games).table("Results by set-up")
    score = statistics.pair_score(games[:8], "alpha")
    assert dense[:2] == ["dense-7x7", "4"]
    assert dense[4] == elo(statistics.elo(score).difference)
    assert wide[0] == "dense-7x9"
    assert wide[5].startswith("at least +")


def test_the_first_player_is_measured() -> None:
    games = field()
    found = page(games)
    _, total, *parts = found.table("Black's results")
    score = statistics.first_player(games)
    low, high = statistics.interval(score)
    shown = statistics.elo(score)
    assert total[1:] == [
        str(score.pairs),
        percent(score.mean),
        f"{percent(low)} to {percent(high)}",
        elo(shown.difference),
        f"{elo(shown.low)} to {elo(shown.high)}",
    ]
    assert [row[0] for row in parts] == list(SETUPS)
    for name, *cells in found.table("Games won with either")[1:]:
        own = statistics.colours(games)[name]
        assert cells == [
            f"{own.black_wins} of {own.black_games}",
            f"{own.white_wins} of {own.white_games}",
        ]


def test_terminations_are_counted_for_each_engine() -> None:
    games = faults()
    _, head, *rows = page(games).table("How the games of each engine ended")
    ends = [end for end in Termination if end.is_forfeit]
    assert head[6:11] == ends
    for row in rows:
        forfeited = statistics.forfeits(games)[row[0]]
        assert row[6:11] == [str(forfeited[end]) for end in ends]
        assert row[11:] == ["1", "1"]
        # Beta's resignations and forfeits are alpha's wins, and the other way round.
        won, lost = sum(map(int, row[1:4])), sum(map(int, row[4:11]))
        assert won + lost == len(games) - 2


def test_forfeits_and_void_games_are_listed_and_void_ones_do_not_count() -> None:
    games = faults()
    found = page(games)
    rows = found.table("Games that ended by a fault")[1:]
    odd = [
        game
        for game in games
        if game.termination.is_forfeit or not game.termination.counts
    ]
    assert [row[0] for row in rows] == [f"{game.pair}.{game.game}" for game in odd]
    assert [row[3] for row in rows] == [game.termination for game in odd]
    assert [row[5] for row in rows] == [game.reason for game in odd]
    assert [row[1] for row in rows[-2:]] == ["nobody", "nobody"]
    assert "14 games in 7 pairs count · 2 games of unfinished pairs" in found.text
    counted = {game[0] for game in found.data["games"] if game[10]}
    assert len(counted) == 14
    assert "7.0" not in counted


def test_a_game_played_again_keeps_its_name_and_the_void_one_gets_another() -> None:
    void = record(0, 0, winner=None, termination=Termination.VOID)
    found = page([void, *results("10")])
    assert [(game[0], game[10]) for game in found.data["games"]] == [
        ("0.0.2", 0),
        ("0.0", 1),
        ("0.1", 1),
    ]


def test_duplicates_are_listed() -> None:
    games = results("110110100111")
    found = page(games)
    groups = statistics.duplicates(games)
    repeats = sum(len(group) - 1 for group in groups)
    assert f"{repeats} games of 12 repeat an earlier one" in found.text
    rows = found.table("Games that went alike")[1:]
    assert sorted(row[2] for row in rows) == sorted(str(len(g)) for g in groups)


def test_time_and_overruns_are_tabled() -> None:
    games = [
        record(
            0, number, seconds=(0.0125, 0.5, 1.5, 0.25), limit=(0.02, 0.25, 1.0, None)
        )
        for number in (0, 1)
    ]
    _, _, alpha, _ = page(games).table("Time used and overrun")
    used = statistics.time_use(games)["alpha"]
    assert alpha[1] == str(used.turns) == "4"
    assert alpha[2:4] == [f"{1000 * used.mean:.3g} ms", f"{used.longest:.2f} s"]
    assert alpha[4:] == ["2", "50.0%", "375 ms", "500 ms"]


# The viewer's data


def expected_removals(game: GameRecord) -> dict[str, str]:
    position = by_name(game.setup).position()
    found = {}
    for number, vertex in enumerate(game.moves, 1):
        turn = rules.play(position, parse_vertex(position.size, vertex))
        removed = [stone for root in turn.removed for stone in root.stones]
        gone = by_column(position.size, removed)
        if gone:
            found[str(number)] = " ".join(
                format_vertex(position.size, point) for point in gone
            )
        position = turn.after
    return found


@pytest.mark.parametrize(
    "setup", [*SETUPS, "dense-5x7", "classic-5x5", "classic-13x13"]
)
def test_removals_are_those_of_the_rules(setup: str) -> None:
    games = [
        game
        for pair in range(5)
        for game in random_pair(pair, ("alpha", "beta"), setup)
    ]
    data = page(games).data
    assert any(game[9] for game in data["games"])
    for game, shown in zip(games, data["games"], strict=True):
        assert shown[8].split() == list(game.moves)
        assert shown[9] == expected_removals(game)
        assert shown[11] == ""


def test_start_stones_are_those_of_the_set_up() -> None:
    (setup,) = page(results("1", "dense-7x9")).data["setups"]
    start = by_name("dense-7x9").position()
    assert (setup["width"], setup["height"]) == (7, 9)
    for color in Color:
        stones = {parse_vertex(start.size, v) for v in setup["stones"][color].split()}
        assert stones == start.stones(color)


@pytest.mark.parametrize("move", ["A1", "Z99", "pass", ""])
def test_a_record_that_cannot_be_replayed_says_where(move: str) -> None:
    (shown,) = page([record(0, 0, moves=("E4", move, "B3"))]).data["games"]
    assert shown[8] == "E4"
    assert shown[11] == f"Move 2 ({move}) is not legal there."


def test_an_unknown_set_up_is_shown_without_a_board() -> None:
    (shown,) = page([record(0, 0, setup="hexagonal")]).data["games"]
    assert shown[8] == ""
    assert shown[11]


def test_too_many_games_leave_out_the_oldest_that_ended_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(html, "MAX_GAMES", 4)
    crash = record(0, 0, termination=Termination.CRASH)
    found = page([crash, *results("10101010", first=1)])
    assert [game[0] for game in found.data["games"]] == ["0.0", "3.1", "4.0", "4.1"]
    assert "The viewer keeps 4 of 9 games" in found.text


# The viewer in a browser


class Shown(NamedTuple):
    """What the viewer shows; vertices by colour."""

    stones: tuple[set[str], set[str]]
    removed: tuple[set[str], set[str]]
    growth: tuple[set[str], set[str]]
    caption: str
    href: str


SHOWN = """
    const at = (rule) => [...document.querySelectorAll("#board " + rule)]
      .map((element) => element.dataset.vertex);
    const both = (rule) => ["black", "white"].map((color) => at(rule + color));
    return [both(".roots:not(.removed) .stone."), both(".removed .stone."),
      both(".growth."), document.getElementById("caption").textContent,
      document.getElementById("link").getAttribute("href")];
"""

SWITCHES = (
    "headless no-sandbox disable-gpu disable-quic no-first-run disable-dev-shm-usage "
    "disable-background-networking disable-component-update disable-sync"
)


class Browser:
    """Chromium without a window, driven through chromedriver's HTTP interface."""

    def __init__(self, port: int, profile: Path) -> None:
        self._port = port
        self._path = "/session"
        switches = [*SWITCHES.split(), f"user-data-dir={profile}"]
        wanted = {
            "goog:chromeOptions": {"args": [f"--{switch}" for switch in switches]},
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        session = self._call("", {"capabilities": {"alwaysMatch": wanted}})
        self._path += "/" + msgspec.convert(session, dict[str, Any])["sessionId"]

    def close(self) -> None:
        self._call("", None, "DELETE")

    def open(self, url: str) -> None:
        self._call("/url", {"url": url})

    def run(self, script: str, *arguments: object) -> object:
        return self._call("/execute/sync", {"script": script, "args": arguments})

    def resize(self, width: int, height: int) -> None:
        size = {
            "width": width,
            "height": height,
            "deviceScaleFactor": 2,
            "mobile": True,
        }
        command = {"cmd": "Emulation.setDeviceMetricsOverride", "params": size}
        self._call("/goog/cdp/execute", command)

    def console(self) -> object:
        """Return what pages have written to the console since the last call."""
        return self._call("/se/log", {"type": "browser"})

    def click(self, name: str) -> None:
        self.run("document.getElementById(arguments[0]).click()", name)

    def shown(self) -> Shown:
        return msgspec.convert(self.run(SHOWN), Shown)

    def _call(self, path: str, body: object, method: str = "POST") -> object:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        with contextlib.closing(connection):
            text = None if body is None else json.dumps(body)
            connection.request(method, self._path + path, text)
            with connection.getresponse() as response:
                answer: object = json.load(response)["value"]
        assert not (isinstance(answer, dict) and "error" in answer), answer
        return answer


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    driver = shutil.which("chromedriver")
    if driver is None or shutil.which("chromium") is None:
        pytest.skip("needs chromium and chromedriver (Debian: chromium-driver)")
    command = [driver, "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ready = (
                re.search(r"success.* port (\d+)", line) for line in process.stdout
            )
            port = next(int(match[1]) for match in ready if match)
            browser = Browser(port, tmp_path_factory.mktemp("profile"))
            yield browser
            browser.close()
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return where a page of random games and hostile names lies."""
    games = field() + [
        record(90, number, (HOSTILE * 3, "beta"), reason=HOSTILE) for number in (0, 1)
    ]
    file = tmp_path_factory.mktemp("page") / "report.html"
    file.write_text(render("A test", games), "utf-8")
    return file.as_uri()


def vertices(position: rules.Position, points: Sequence[int]) -> set[str]:
    return {format_vertex(position.size, point) for point in points}


def test_the_viewer_steps_through_a_game_as_the_rules_say(
    browser: Browser, address: str
) -> None:
    game = field()[3]
    browser.open(f"{address}#game-{game.pair}.{game.game}")
    browser.click("growth")
    position = by_name(game.setup).position()
    removals = expected_removals(game)
    assert removals
    for number in range(len(game.moves) + 1):
        removed: list[set[str]] = [set(), set()]
        if number:
            point = parse_vertex(position.size, game.moves[number - 1])
            turn = rules.play(position, point)
            for root in turn.removed:
                removed[root.color] |= vertices(position, sorted(root.stones))
            position = turn.after
            browser.click("next")
        shown = browser.shown()
        for color in Color:
            stones = vertices(position, sorted(position.stones(color)))
            assert shown.stones[color] == stones
            assert shown.removed[color] == removed[color]
            if rules.winner(position) is None:
                growth = vertices(position, rules.legal_moves(position, color))
                assert shown.growth[color] == growth
        assert ("It removes" in shown.caption) == any(removed)
    assert shown.caption.startswith(f"Move {len(game.moves)} of {len(game.moves)}")
    assert browser.run("return document.getElementById('next').disabled") is True
    assert browser.console() == []


def test_a_link_leads_to_a_move_and_says_what_it_removes(
    browser: Browser, address: str
) -> None:
    game = field()[3]
    number, gone = next(iter(expected_removals(game).items()))
    name = f"{game.pair}.{game.game}"
    browser.open(f"{address}#game-{name}/move-{number}")
    shown = browser.shown()
    assert shown.removed[0] | shown.removed[1] == {*gone.split()}
    assert all(vertex in shown.caption for vertex in gone.split())
    browser.run("location.hash = arguments[0]", f"#game-{name}/move-9999")
    browser.run("return new Promise(requestAnimationFrame)")
    assert browser.shown().href == f"#game-{name}/move-{len(game.moves)}"
    assert browser.console() == []


def test_games_are_filtered(browser: Browser, address: str) -> None:
    browser.open(address)
    choose = """
        const select = document.getElementById(arguments[0]);
        select.value = arguments[1];
        select.dispatchEvent(new Event("change"));
        return document.querySelectorAll("#games a").length;
    """
    games = field()
    alpha = [game for game in games if "alpha" in (game.black, game.white)]
    won = [
        game
        for game in alpha
        if {"black": game.black}.get(str(game.winner), game.white) == "alpha"
    ]
    assert browser.run(choose, "by-engine", "0") == len(alpha)
    assert browser.run(choose, "by-result", "won") == len(won)
    wide = [game for game in won if game.setup == "dense-7x9"]
    assert browser.run(choose, "by-setup", "1") == len(wide)
    assert browser.console() == []


def test_a_phone_shows_the_page_without_scrolling_sideways(
    browser: Browser, address: str
) -> None:
    browser.resize(390, 844)
    browser.open(f"{address}#game-90.0/move-2")
    assert browser.run("return document.documentElement.scrollWidth") == 390
    assert browser.console() == []
