"""The report of a tournament as one web page that needs nothing else.

Every number is from `statistics` and `ratings`; this module only words, tabulates and
draws. The tables and plots are plain HTML and SVG. The replay viewer is a script that
draws positions from vertices and from the removals worked out here with the kernel.
Template, style and script are files in ``page/``.

All text of records is cleaned and escaped in `markup`; a content security policy allows
no script but the page's own.
"""

import base64
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from string import Template
from typing import NamedTuple, TypeAlias

from protocol.arena import statistics
from protocol.arena.frames import board_data, board_of, replayed_moves
from protocol.arena.markup import (
    clean,
    elo_range,
    elo_text,
    likelihood,
    name_html,
    number_text,
    page_file,
    percent,
    script_json,
    seconds_text,
    signed,
    table_html,
    text_html,
)
from protocol.arena.plots import interval_plot, sprt_plot
from protocol.arena.ratings import Ratings, cross_table, ratings
from protocol.arena.statistics import Z95, PairScore, Sprt
from protocol.arena.store import GameRecord, Termination, engines
from tanbo_engine.wording import counted

MAX_GAMES = 2000
"""Games that the viewer keeps; `_replayed` says which."""

_MAX_ROWS = 100
"""Rows of the lists of single games; what is left out is counted."""

_FORFEITS = tuple(end for end in Termination if end.is_forfeit)
_WITHOUT_RESULT = tuple(end for end in Termination if not end.counts)

_Endings: TypeAlias = defaultdict[str, Counter[Termination]]


def render(
    title: str,
    games: Sequence[GameRecord],
    sprt: tuple[float, float] | None = None,
    anchor: str | None = None,
) -> str:
    """Return the report of some games as a whole HTML page.

    Two engines are shown as a match, seen from the one that was given first. Other
    numbers of engines are shown with joint ratings.

    Args:
        title: the heading.
        games: all records, in the order in which the games ended.
        sprt: Elo of H0 and of H1, to show the test of a match.
        anchor: the engine whose joint rating is 0; their mean is, if None.

    Raises:
        ValueError: the anchor is in none of the games, or the test is impossible.
    """
    report = _Report(games, sprt, anchor)
    sections = list(_sections(report))
    script = page_file("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(page_file("page.html")).substitute(
        title=text_html(title),
        policy=f"script-src 'sha256-{digest}'",
        style=page_file("page.css"),
        summary=_summary(report),
        contents=_contents(sections),
        sections="\n".join(section.html for section in sections),
        replay_note=_replay_note(report),
        data=script_json(_replay_data(report)),
        script=script,
    )


class _Entry(NamedTuple):
    """A game of the page.

    Attributes:
        name: what links call it, ``12.0``; unique.
        game: its record.
        counts: whether it is in a finished pair and so in the statistics.
    """

    name: str
    game: GameRecord
    counts: bool


class _Section(NamedTuple):
    """A part of the page with a place in its contents."""

    anchor: str
    title: str
    html: str


class _Report:
    """The games and what several sections need to know of them."""

    def __init__(
        self,
        games: Sequence[GameRecord],
        sprt: tuple[float, float] | None,
        anchor: str | None,
    ) -> None:
        self.games = games
        self.sprt = sprt
        self.anchor = anchor
        self.pairs = statistics.finished_pairs(games)
        self.entries = _entries(games, self.pairs)
        self.replayed = _replayed(self.entries)
        self.setups = list(dict.fromkeys(game.setup for game in games))
        self.engines = engines(games)

    @property
    def is_match(self) -> bool:
        """Whether exactly two engines play."""
        return len(self.engines) == 2

    @cached_property
    def ratings(self) -> Ratings:
        """The joint ratings."""
        return ratings(cross_table(self.games), self.anchor)

    @cached_property
    def course(self) -> list[Sprt]:
        """The state of the test after each finished pair; empty without a test."""
        if self.sprt is None:
            return []
        return statistics.sprt_course(self.games, self.engines[0], *self.sprt)

    def score(self, setup: str | None = None) -> PairScore:
        """Return the results of the match, or of one set-up of it."""
        return statistics.pair_score(self.on(setup), self.engines[0])

    def on(self, setup: str | None) -> Sequence[GameRecord]:
        """Return the games of a set-up, all for None."""
        if setup is None:
            return self.games
        return [game for game in self.games if game.setup == setup]

    @cached_property
    def links(self) -> dict[int, str]:
        """Return how to write each game, by `id`: a link if the viewer has it."""
        kept = {entry.name for entry in self.replayed}
        return {
            id(entry.game): f'<a href="#game-{entry.name}">{entry.name}</a>'
            if entry.name in kept
            else entry.name
            for entry in self.entries
        }


def _entries(
    games: Sequence[GameRecord], pairs: Iterable[tuple[GameRecord, GameRecord]]
) -> list[_Entry]:
    """Name the games; of several with the same numbers the one that counts is first."""
    counting = {id(game) for game in chain(*pairs)}
    used: Counter[str] = Counter()
    names: dict[int, str] = {}
    for game in sorted(games, key=lambda game: id(game) not in counting):
        number = f"{game.pair}.{game.game}"
        used[number] += 1
        names[id(game)] = number if used[number] == 1 else f"{number}.{used[number]}"
    return [_Entry(names[id(game)], game, id(game) in counting) for game in games]


def _replayed(entries: Sequence[_Entry]) -> list[_Entry]:
    """Return the games for the viewer: forfeits and games without a result, then new.

    Of each kind the newest come first, until `MAX_GAMES` are chosen.
    """
    ranked = sorted(
        range(len(entries)),
        key=lambda i: (_is_regular(entries[i].game), -i),
    )
    return [entries[i] for i in sorted(ranked[:MAX_GAMES])]


def _is_regular(game: GameRecord) -> bool:
    return game.termination.counts and not game.termination.is_forfeit


# The parts of the page


def _sections(report: _Report) -> Iterator[_Section]:
    """Yield what the page shows between its summary and the viewer."""
    if not report.games:
        return
    if report.is_match:
        yield _match(report)
        if report.sprt is not None:
            yield _sprt(report)
    else:
        yield _ratings(report)
    yield _cross_table(report)
    if len(report.setups) > 1:
        yield _setups(report)
    yield _first_player(report)
    yield _terminations(report)
    yield _forfeits(report)
    yield _duplicates(report)
    yield _time(report)


def _contents(sections: Iterable[_Section]) -> str:
    links = [(section.anchor, section.title) for section in sections]
    return "".join(
        f'<li><a href="#{anchor}">{title}</a></li>'
        for anchor, title in [*links, ("replay", "Replay")]
    )


def _section(anchor: str, title: str, *parts: str) -> _Section:
    body = "\n".join(part for part in parts if part)
    html = (
        f'<section id="{anchor}" aria-labelledby="{anchor}-title">\n'
        f'<h2 id="{anchor}-title">{title}</h2>\n<div>\n{body}\n</div>\n</section>'
    )
    return _Section(anchor, title, html)


def _summary(report: _Report) -> str:
    """Return the first lines: what was played and what came out."""
    if not report.games:
        return '<p class="lead">No games yet.</p>'
    lead = _match_lead(report) if report.is_match else _field_lead(report)
    return f'<p class="lead">{lead}</p>\n<p class="scope">{_scope(report)}</p>'


def _match_lead(report: _Report) -> str:
    engine, other = map(name_html, report.engines)
    score = report.score()
    if not score.pairs:
        return f"{engine} against {other}: no pair is finished yet."
    low, high = statistics.interval(score)
    if low > 0.5:
        return f"{engine} is stronger than {other}."
    if high < 0.5:
        return f"{engine} is weaker than {other}."
    return f"No difference shown between {engine} and {other}."


def _field_lead(report: _Report) -> str:
    if not report.pairs:
        return "No pair is finished yet."
    table = report.ratings
    if len(table.engines) < 2:
        return f"{name_html(table.engines[0])} has no opponent."
    difference, error = table.difference(table.engines[0], table.engines[1])
    return (
        f"{name_html(table.engines[0])} leads {name_html(table.engines[1])} "
        f"by {difference:.1f} ± {Z95 * error:.1f} Elo."
    )


def _scope(report: _Report) -> str:
    """Return how many games there are and which of them count."""
    counting = 2 * len(report.pairs)
    voids = sum(not game.termination.counts for game in report.games)
    waiting = len(report.games) - counting - voids
    setups = ", ".join(map(name_html, report.setups))
    parts = [
        f"{counted(counting, 'game')} in {counted(len(report.pairs), 'pair')} count"
    ]
    if waiting:
        parts.append(f"{counted(waiting, 'game')} of unfinished pairs")
    if voids:
        parts.append(f"{counted(voids, 'game')} without a result")
    return f"{setups} · " + " · ".join(parts)


# Two engines


def _match(report: _Report) -> _Section:
    score = report.score()
    if not score.pairs:
        return _section("result", "Result", "<p>No pair is finished yet.</p>")
    engine, other = map(name_html, report.engines)
    low, high = statistics.interval(score)
    elo = statistics.elo(score)
    lost = 2 * score.pairs - score.points
    figures = [
        (
            "Score",
            percent(score.mean),
            f"{score.points:g} won, {lost:g} lost · 95%: "
            f"{percent(low)} to {percent(high)}",
        ),
        ("Elo", elo_text(elo.difference), f"95%: {elo_range(elo.low, elo.high)}"),
        (
            "Likelihood of superiority",
            likelihood(elo.los),
            "probability that the difference is above 0",
        ),
    ]
    if report.course:
        figures.append(_sprt_figure(report.course))
    return _section(
        "result",
        "Result",
        f"<p>{engine} against {other}, seen from {engine}.</p>",
        _figures(figures),
        _pair_bar(score, engine),
    )


def _sprt_figure(course: Sequence[Sprt]) -> tuple[str, str, str]:
    verdict, when = "undecided", len(course)
    decided = statistics.decided(course)
    if decided is not None:
        verdict, when = f"{course[decided - 1].decision} accepted", decided
    note = f"after {counted(when, 'pair')} · {_hypotheses(course[-1])}"
    return "Sequential test", verdict, note


def _hypotheses(test: Sprt) -> str:
    return (
        f"H0:&nbsp;{test.elo0:g}&nbsp;Elo, H1:&nbsp;{test.elo1:g}&nbsp;Elo, "
        f"{test.model} model"
    )


def _figures(figures: Iterable[tuple[str, str, str]]) -> str:
    return (
        '<dl class="figures">'
        + "".join(
            f'<div><dt>{term}</dt><dd class="figure">{value}</dd><dd>{note}</dd></div>'
            for term, value, note in figures
        )
        + "</dl>"
    )


def _pair_bar(score: PairScore, engine: str) -> str:
    """Return the pairs by their points, as a bar and in words."""
    parts = [
        ("both", f"{engine} won both", score.counts[4]),
        ("half", "one each", score.counts[2]),
        ("none", f"{engine} lost both", score.counts[0]),
    ]
    parts += [
        ("half", f"{i / 2:g} points", score.counts[i])
        for i in (1, 3)
        if score.counts[i]
    ]
    bars, x = [], 0.0
    for kind, _, count in parts:
        width = 100 * count / score.pairs
        bars.append(
            f'<rect class="{kind}" x="{x:.3f}%" width="{width:.3f}%" height="100%"/>'
        )
        x += width
    legend = "".join(
        f'<li><span class="key {kind}"></span>{label}: '
        f"<b>{counted(count, 'pair')}</b></li>"
        for kind, label, count in parts
    )
    return (
        f'<figure class="pairs"><svg aria-hidden="true" height="14">{"".join(bars)}'
        f"</svg><figcaption><ul>{legend}</ul></figcaption></figure>"
    )


def _sprt(report: _Report) -> _Section:
    """Return the course of the test."""
    course = report.course
    if not course:
        return _section("sprt", "Sequential test", "<p>No pair is finished yet.</p>")
    last = course[-1]
    state = (
        f"{_hypotheses(last)}. After {counted(len(course), 'pair')} the log-likelihood "
        f"ratio (LLR) is {signed(last.llr, 2)}; the bounds are "
        f"{signed(last.lower, 2)} for H0 and {signed(last.upper, 2)} for H1."
    )
    decided = statistics.decided(course)
    if decided is not None:
        state += (
            f" The first bound was reached after {counted(decided, 'pair')}: "
            f"{course[decided - 1].decision} accepted."
        )
    plot = sprt_plot([test.llr for test in course], last.lower, last.upper)
    return _section("sprt", "Sequential test", f"<p>{state}</p>", plot)


# Several engines


def _ratings(report: _Report) -> _Section:
    if not report.pairs:
        return _section("ratings", "Ratings", "<p>No pair is finished yet.</p>")
    table = report.ratings
    errors = [Z95 * error for error in table.standard_errors()]
    scores = [statistics.pair_score(report.games, name) for name in table.engines]
    rows = []
    for i, (name, score) in enumerate(zip(table.engines, scores, strict=True)):
        ahead = ""
        if i + 1 < len(table.engines):
            difference, error = table.difference(name, table.engines[i + 1])
            ahead = f"{elo_text(difference)} ± {Z95 * error:.1f}"
        rows.append(
            [
                name_html(name),
                elo_text(table.elo[i]),
                f"± {errors[i]:.1f}",
                ahead,
                str(2 * score.pairs),
                percent(score.mean) if score.pairs else "",
            ]
        )
    head = ["Engine", "Elo", "95%", "Ahead of the next", "Games", "Score"]
    zero = "the mean of all engines is 0"
    if report.anchor is not None:
        zero = f"{name_html(report.anchor)} is 0 by definition"
    note = f"<p>Bradley-Terry ratings of all games together; {zero}.</p>"
    return _section(
        "ratings",
        "Ratings",
        note,
        _rating_plot(table, errors),
        table_html("Ratings, the strongest first", head, rows),
        _groups_note(table),
        _sprt_note(report),
    )


def _groups_note(table: Ratings) -> str:
    if len(table.groups) == 1:
        return ""
    groups = "; ".join(", ".join(map(name_html, group)) for group in table.groups)
    return (
        '<p class="note">The games do not compare all engines: between the groups '
        f"{groups} one side has not scored, or nothing has been played. The distances "
        "between these groups are finite only because each engine is given one "
        "virtual draw.</p>"
    )


def _sprt_note(report: _Report) -> str:
    if report.sprt is None:
        return ""
    return '<p class="note">A sequential test needs exactly two engines.</p>'


def _rating_plot(table: Ratings, errors: Sequence[float]) -> str:
    rows = [
        (name_html(name), elo, elo - error, elo + error)
        for name, elo, error in zip(table.engines, table.elo, errors, strict=True)
    ]
    return interval_plot("Rating in Elo with 95% intervals", rows)


def _cross_table(report: _Report) -> _Section:
    """Return everyone's results against everyone, the strongest first."""
    names: Sequence[str] = report.engines
    if not report.is_match and report.pairs:
        names = report.ratings.engines
    table = cross_table(report.games)
    empty = PairScore()
    rows = [
        [name_html(name)]
        + [
            _cross_cell(table.get((name, other), empty)) if name != other else _SELF
            for other in names
        ]
        for name in names
    ]
    return _section(
        "cross-table",
        "Cross table",
        table_html(
            "Score of the engine on the left against the one above: "
            "share of points, games won and lost",
            ["Engine", *map(name_html, names)],
            rows,
            "cross",
        ),
        "<p>A pair is one opening played twice, colours swapped; only whole pairs "
        "count.</p>",
    )


_SELF = '<span class="self" role="img" aria-label="itself"></span>'


def _cross_cell(score: PairScore) -> str:
    if not score.pairs:
        return '<span class="zero">no pair</span>'
    lost = 2 * score.pairs - score.points
    # The tint follows the score; the text says the same without it.
    return (
        f'<span class="score" style="--score:{100 * score.mean:.1f}%">'
        f"<b>{percent(score.mean)}</b> {score.points:g}&ndash;{lost:g}</span>"
    )


# The other tables


def _setups(report: _Report) -> _Section:
    """Return the results by set-up."""
    if report.is_match:
        scores = [(setup, report.score(setup)) for setup in report.setups]
        rows = [[name_html(setup), *_score_cells(score)] for setup, score in scores]
        plot = interval_plot(
            "Elo with 95% intervals by set-up",
            _elo_rows([*scores, ("all", report.score())]),
        )
        table = table_html("Results by set-up", ["Set-up", *_SCORE_HEAD], rows)
        return _section("set-ups", "Set-ups", plot, table)
    names = report.ratings.engines
    rows = [
        [name_html(name)]
        + [
            _cross_cell(statistics.pair_score(report.on(setup), name))
            for setup in report.setups
        ]
        for name in names
    ]
    head = ["Engine", *map(name_html, report.setups)]
    caption = "Score of each engine by set-up: share of points, games won and lost"
    return _section("set-ups", "Set-ups", table_html(caption, head, rows, "cross"))


_SCORE_HEAD = ["Pairs", "Score", "95%", "Elo", "95%"]


def _score_cells(score: PairScore) -> list[str]:
    """Return the cells below `_SCORE_HEAD`."""
    if not score.pairs:
        return ["0", *[""] * 4]
    low, high = statistics.interval(score)
    elo = statistics.elo(score)
    return [
        str(score.pairs),
        percent(score.mean),
        f"{percent(low)} to {percent(high)}",
        elo_text(elo.difference),
        elo_range(elo.low, elo.high),
    ]


def _elo_rows(
    scores: Iterable[tuple[str, PairScore]],
) -> list[tuple[str, float, float, float]]:
    """Return rows of `interval_plot`, of those with a finished pair."""
    found = [(name, statistics.elo(score)) for name, score in scores if score.pairs]
    return [(name_html(name), e.difference, e.low, e.high) for name, e in found]


def _first_player(report: _Report) -> _Section:
    """Return what it is worth to be Black, and the engines' results by colour."""
    scores = [("All set-ups", statistics.first_player(report.games))]
    if len(report.setups) > 1:
        scores += [
            (setup, statistics.first_player(report.on(setup)))
            for setup in report.setups
        ]
    else:
        scores = [(report.setups[0], scores[0][1])]
    rows = [[name_html(name), *_score_cells(score)] for name, score in scores]
    colours = statistics.colours(report.games)
    by_colour = [
        [
            name_html(name),
            f"{own.black_wins} of {own.black_games}",
            f"{own.white_wins} of {own.white_games}",
        ]
        for name in report.engines
        if (own := colours.get(name)) is not None
    ]
    return _section(
        "first-player",
        "First player",
        "<p>Black moves first. Both engines of a pair play Black once, so their "
        "strengths cancel.</p>",
        table_html("Black's results", ["Set-up", *_SCORE_HEAD], rows),
        table_html(
            "Games won with either colour",
            ["Engine", "As Black", "As White"],
            by_colour,
        )
        if by_colour
        else "",
    )


def _terminations(report: _Report) -> _Section:
    """Return how the games of each engine ended, all games."""
    regular = (Termination.BOARD, Termination.RESIGN)
    won, lost, none = _endings(report.games)
    forfeited = statistics.forfeits(report.games)
    rows = [
        [
            name_html(name),
            *(number_text(won[name][end]) for end in regular),
            number_text(sum(won[name][end] for end in _FORFEITS)),
            *(number_text(lost[name][end]) for end in regular),
            *(number_text(forfeited[name][end]) for end in _FORFEITS),
            *(number_text(none[name][end]) for end in _WITHOUT_RESULT),
        ]
        for name in report.engines
    ]
    head = ["Engine", "board", "resign", "forfeit"]
    head += [str(end) for end in (*regular, *_FORFEITS, *_WITHOUT_RESULT)]
    groups = [
        ("", 1),
        ("Won", 3),
        ("Lost", 2),
        ("Forfeited", len(_FORFEITS)),
        ("No result", len(_WITHOUT_RESULT)),
    ]
    table = table_html(
        "How the games of each engine ended, all games", head, rows, "", groups
    )
    return _section("terminations", "Terminations", table)


def _endings(games: Iterable[GameRecord]) -> tuple[_Endings, _Endings, _Endings]:
    """Return how each engine won, lost, and had no result."""
    won: _Endings = defaultdict(Counter)
    lost: _Endings = defaultdict(Counter)
    none: _Endings = defaultdict(Counter)
    for game in games:
        sides = (game.black, game.white)
        if game.winner is None:
            for name in sides:
                none[name][game.termination] += 1
        else:
            winner, loser = sides if game.winner == "black" else sides[::-1]
            won[winner][game.termination] += 1
            lost[loser][game.termination] += 1
    return won, lost, none


def _forfeits(report: _Report) -> _Section:
    """List the games that a fault ended and those without a result."""
    odd = [game for game in report.games if not _is_regular(game)]
    if not odd:
        text = "<p>No game was forfeited, void or interrupted.</p>"
        return _section("forfeits", "Forfeits", text)
    forfeited = [game for game in odd if game.termination.is_forfeit]
    results = sum(game.termination.counts for game in report.games)
    text = (
        f"<p>{counted(len(forfeited), 'game')} of {results} with a result "
        f"{'was' if len(forfeited) == 1 else 'were'} forfeited, "
        f"{counted(len(odd) - len(forfeited), 'game')} had no result.</p>"
    )
    rows = [
        [
            report.links[id(game)],
            _loser(game),
            name_html(game.setup),
            str(game.termination),
            str(len(game.moves)),
            text_html(game.reason),
        ]
        for game in odd[-_MAX_ROWS:]
    ]
    head = ["Game", "Lost by", "Set-up", "Ended by", "Moves", "Reason"]
    caption = "Games that ended by a fault or without a result"
    if len(odd) > _MAX_ROWS:
        caption += f"; the last {_MAX_ROWS} of {len(odd)}"
    table = table_html(caption, head, rows, "texts")
    return _section("forfeits", "Forfeits", text, table)


def _loser(game: GameRecord) -> str:
    if game.winner is None:
        return '<span class="zero">nobody</span>'
    return name_html(game.white if game.winner == "black" else game.black)


def _duplicates(report: _Report) -> _Section:
    groups = sorted(statistics.duplicates(report.games), key=len, reverse=True)
    if not groups:
        text = "<p>No two games of finished pairs went alike.</p>"
        return _section("duplicates", "Duplicates", text)
    repeats = sum(len(group) - 1 for group in groups)
    text = (
        f"<p>{counted(repeats, 'game')} of {2 * len(report.pairs)} "
        f"{'repeats' if repeats == 1 else 'repeat'} an earlier one move for move and "
        "say nothing new. More random openings help.</p>"
    )
    rows = [
        [
            name_html(group[0].setup),
            str(len(group[0].moves)),
            str(len(group)),
            " ".join(report.links[id(game)] for game in group[:8])
            + (" …" if len(group) > 8 else ""),
        ]
        for group in groups[:_MAX_ROWS]
    ]
    caption = "Games that went alike"
    if len(groups) > _MAX_ROWS:
        caption += f"; the largest {_MAX_ROWS} of {len(groups)} groups"
    table = table_html(caption, ["Set-up", "Moves", "Games", "Which"], rows, "texts")
    return _section("duplicates", "Duplicates", text, table)


def _time(report: _Report) -> _Section:
    used = statistics.time_use(report.games)
    rows = []
    for name in report.engines:
        own = used[name]
        rows.append(
            [
                name_html(name),
                str(own.turns),
                seconds_text(own.mean),
                seconds_text(own.longest),
                number_text(own.overruns),
                percent(own.overruns / own.turns) if own.turns else "",
                seconds_text(own.mean_overrun) if own.overruns else "",
                seconds_text(own.longest_overrun) if own.overruns else "",
            ]
        )
    head = ["Engine", "turns", "mean", "longest"]
    head += ["turns", "share", "mean", "longest"]
    groups = [("", 1), ("Time a move", 3), ("Beyond the limit", 4)]
    return _section(
        "time",
        "Time",
        "<p>From the request for a move to the reply. Beyond the limit means longer "
        "than allowed, whether or not the margin forgave it.</p>",
        table_html("Time used and overrun", head, rows, "", groups),
        _builds(report),
    )


def _builds(report: _Report) -> str:
    """Return what the programs call themselves, if any record tells."""
    found: dict[str, dict[str, None]] = {name: {} for name in report.engines}
    for game in report.games:
        sides = ((game.black, game.black_build), (game.white, game.white_build))
        for name, build in sides:
            if build:
                found[name][build] = None
    if not any(found.values()):
        return ""
    rows = [
        [name_html(name), "<br>".join(map(text_html, own))]
        for name, own in found.items()
    ]
    return table_html("Programs", ["Engine", "Build"], rows, "texts")


# The replay viewer's data


def _replay_note(report: _Report) -> str:
    """Tell which games the viewer has, if not all."""
    if len(report.replayed) == len(report.entries):
        return ""
    return (
        f'<p class="note">The viewer keeps {len(report.replayed)} of '
        f"{len(report.entries)} games: those that were forfeited or had no result "
        "first, then the newest. The tables count all.</p>"
    )


def _replay_data(report: _Report) -> dict[str, object]:
    """Return what the script draws.

    A game is a list, so that thousands stay small: name, set-up, black, white (as
    indices), winner (0 Black, 1 White, -1 none), termination, reason, plies of the
    opening, vertices, removed vertices by move number, whether it counts, and what
    cannot be replayed.
    """
    names = {name: i for i, name in enumerate(report.engines)}
    places = {name: i for i, name in enumerate(report.setups)}
    boards = [board_of(name) for name in report.setups]
    ends = list(Termination)
    games = []
    for name, game, counts in report.replayed:
        vertices, removed, problem = replayed_moves(
            boards[places[game.setup]], game.moves
        )
        games.append(
            [
                name,
                places[game.setup],
                names[game.black],
                names[game.white],
                -1 if game.winner is None else int(game.winner == "white"),
                ends.index(game.termination),
                clean(game.reason),
                len(game.opening),
                " ".join(vertices),
                removed,
                int(counts),
                problem,
            ]
        )
    return {
        "engines": [clean(name) for name in report.engines],
        "setups": [
            board_data(name, board)
            for name, board in zip(report.setups, boards, strict=True)
        ],
        "ends": [str(end) for end in ends],
        "forfeits": [end.is_forfeit for end in ends],
        "games": games,
    }
