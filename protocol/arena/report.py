"""The results in words: tables of text that a terminal, a log or a mail can hold."""

import math
from collections.abc import Sequence

from protocol.arena import ratings, statistics
from protocol.arena.store import GameRecord, Termination, builds, engines
from tanbo_engine.wording import counted


def format_report(
    games: Sequence[GameRecord],
    sprt: tuple[float, float] | None = None,
    anchor: str | None = None,
) -> str:
    """Return everything that the games say.

    Args:
        games: all records of a tournament.
        sprt: Elo of both hypotheses, for two engines.
        anchor: the engine whose rating is 0; their mean is, if None.
    """
    names = engines(games)
    if not statistics.finished_pairs(games):
        return f"{counted(len(games), 'game')}, no finished pair yet"
    parts = []
    if len(names) == 2:
        parts.append(format_match(games, names[0], names[1], sprt))
    else:
        parts += [_format_ratings(games, anchor), _format_cross_table(games, names)]
    parts += [
        _format_setups(games, names),
        _format_first_player(games),
        _format_terminations(games, names),
        _format_times(games),
        _format_duplicates(games),
        _format_builds(games),
    ]
    return "\n\n".join(part for part in parts if part)


def format_match(
    games: Sequence[GameRecord],
    first: str,
    second: str,
    sprt: tuple[float, float] | None,
) -> str:
    """Return score, Elo and SPRT of two engines."""
    score = statistics.pair_score(games, first)
    elo = statistics.elo(score)
    played = 2 * score.pairs
    wins = round(score.points)
    lost, _, even, _, won = score.counts
    lines = [
        f"{first} against {second}: {wins} : {played - wins} in "
        f"{counted(played, 'game')} "
        f"({100 * score.mean:.1f}%)",
        f"pairs won {won}, shared {even}, lost {lost}",
        f"Elo {signed(elo.difference)}, 95% {signed(elo.low)} to {signed(elo.high)}, "
        f"superior with {100 * elo.los:.1f}%",
    ]
    if sprt is not None:
        course = statistics.sprt_course(games, first, *sprt)
        test, pairs = course[-1], statistics.decided(course)
        verdict = "undecided"
        if pairs is not None:
            verdict = (
                f"{course[pairs - 1].decision} accepted after {counted(pairs, 'pair')}"
            )
        lines.append(
            f"SPRT [{test.elo0:g}, {test.elo1:g}] ({test.model} Elo, pairs): LLR "
            f"{test.llr:.2f}, bounds {test.lower:.2f} and {test.upper:.2f}, {verdict}"
        )
    return "\n".join(lines)


def signed(elo: float) -> str:
    """Return an Elo difference with its sign; an open end in words."""
    if math.isinf(elo):
        return "no upper bound" if elo > 0 else "no lower bound"
    return f"{round(elo):+d}"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows in columns, the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    )


def _format_ratings(games: Sequence[GameRecord], anchor: str | None) -> str:
    scores = ratings.cross_table(games)
    found = ratings.ratings(scores, anchor)
    rows = []
    for name, elo, error in zip(
        found.engines, found.elo, found.standard_errors(), strict=True
    ):
        total = sum(
            (score for (engine, _), score in scores.items() if engine == name),
            start=statistics.PairScore(),
        )
        rows.append(
            (
                name,
                signed(elo),
                f"{statistics.Z95 * error:.0f}",
                str(2 * total.pairs),
                f"{100 * total.mean:.1f}%",
            )
        )
    text = table(("ratings (Bradley-Terry)", "Elo", "+-95%", "games", "score"), rows)
    if len(found.groups) > 1:
        apart = "; ".join(", ".join(group) for group in found.groups)
        text += (
            f"\nNo loss or no meeting separates these groups: {apart}. "
            "Distances between them rest on one virtual draw an engine."
        )
    return text


def _format_cross_table(games: Sequence[GameRecord], names: Sequence[str]) -> str:
    scores = ratings.cross_table(games)
    rows = []
    for name in names:
        cells = [name]
        for other in names:
            score = scores.get((name, other))
            cells.append(f"{score.points:.0f}/{2 * score.pairs}" if score else "-")
        rows.append(cells)
    return table(("wins/games against", *names), rows)


def _format_setups(games: Sequence[GameRecord], names: Sequence[str]) -> str:
    setups = list(dict.fromkeys(game.setup for game in games))
    if len(setups) < 2:
        return ""
    rows = []
    for setup in setups:
        played = [game for game in games if game.setup == setup]
        scores = (statistics.pair_score(played, name) for name in names)
        rows.append(
            (setup, *(f"{score.points:.0f}/{2 * score.pairs}" for score in scores))
        )
    return table(("wins/games on", *names), rows)


def _format_first_player(games: Sequence[GameRecord]) -> str:
    score = statistics.first_player(games)
    low, high = statistics.interval(score)
    return (
        f"Black (first) won {score.points:.0f} of {2 * score.pairs} games: "
        f"{100 * score.mean:.1f}%, 95% {100 * low:.1f} to {100 * high:.1f}%"
    )


def _format_terminations(games: Sequence[GameRecord], names: Sequence[str]) -> str:
    """Return how games ended, and what each engine forfeited by."""
    counts = {
        end: sum(game.termination is end for game in games) for end in Termination
    }
    ends = ", ".join(f"{end} {count}" for end, count in counts.items() if count)
    lines = [f"games ended by: {ends}"]
    for name, forfeits in statistics.forfeits(games).items():
        lost = ", ".join(f"{end} {count}" for end, count in forfeits.items() if count)
        if lost and name in names:
            lines.append(f"{name} forfeited by: {lost}")
    return "\n".join(lines)


def _format_times(games: Sequence[GameRecord]) -> str:
    rows = [
        (
            name,
            str(use.turns),
            f"{use.mean:.3f}",
            f"{use.longest:.3f}",
            str(use.overruns),
            f"{use.longest_overrun:.3f}",
        )
        for name, use in statistics.time_use(games).items()
    ]
    head = ("seconds a move", "moves", "mean", "longest", "over limit", "worst overrun")
    return table(head, rows)


def _format_builds(games: Sequence[GameRecord]) -> str:
    """Return a warning where one name stands for several programs."""
    return "\n".join(
        f"{name} was {len(found)} programs, the results mix them: {', '.join(found)}"
        for name, found in builds(games).items()
        if len(found) > 1
    )


def _format_duplicates(games: Sequence[GameRecord]) -> str:
    found = statistics.duplicates(games)
    if not found:
        return ""
    same = sum(len(group) - 1 for group in found)
    return (
        f"{same} games repeat another one move for move: they add no evidence, and "
        "the intervals above are too narrow"
    )
