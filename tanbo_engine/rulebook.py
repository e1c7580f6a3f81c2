"""The rules in words: each section in short, its source, and what it answers.

Sections R1 to R10, proofs P1 to P5 and sources S1 to S14 are those of RULES.md. Every
explanation cites these entries. Only ASCII: the texts go out over GTP.
"""

from typing import NamedTuple

from tanbo_engine.wording import short


class UnknownTopic(ValueError):  # noqa: N818
    """No entry has this name or word; the message says which there are."""


class Entry(NamedTuple):
    """One section of the rules, one proof or one source.

    Attributes:
        title: what it is about, in a few words.
        text: what it says.
        source: where it comes from: numbers of sources, or that it is ours.
        words: what else it is found by.
        now: what it means in a game that goes on; `explain.rule` fills the braces.
    """

    title: str
    text: str
    source: str
    words: tuple[str, ...] = ()
    now: str = ""


_OURS = "ours, proof {}"
_LEGAL = "Now {Side} may play at {legal}."
_START = (
    "This board is {size}, from A1 to {last}, without a column I; this game began with "
    "these stones: {started_black} black and {started_white} white."
)

RULES = {
    "R1": Entry(
        "board and set-up",
        "Stones stand on the points of a rectangular board. Two points are neighbours "
        "if they are next to each other in a row or a column; a diagonal does not "
        "count. Both colours begin with single stones, black and white by turns.",
        "S1-S13",
        ("board", "neighbours", "diagonal", "setup", "set-up"),
        _START,
    ),
    "R2": Entry(
        "turn",
        "Two players. Black moves first, then both in turn; a turn is exactly one "
        "stone of one's own colour.",
        "all of S1-S14",
        ("turn",),
        "{played} played; {Side} is to move.",
    ),
    "R3": Entry(
        "placement",
        "A stone goes on an empty point that is next to exactly one stone of its own "
        "colour: not none, and not two or more, whether of one root or of several. "
        "Stones of the enemy do not matter.",
        "all of S1-S14",
        ("placement", "legal"),
        _LEGAL,
    ),
    "R4": Entry(
        "root",
        "A root is a group of stones of one colour that hang together through "
        "neighbouring points; a single stone is a root too. Because of R3 roots never "
        "close a loop, never merge, and no new ones begin. The current root is the "
        "one that the new stone joins.",
        "S1, S3, S4",
        ("root", "current", "loop", "merge"),
        "Now there are {black_roots} and {white_roots}.",
    ),
    "R5": Entry(
        "bounded",
        "A growth point of a root is an empty point next to exactly one stone of its "
        "colour on the whole board, a stone of this root. A root without a growth "
        "point is bounded. A point next to two roots of one colour serves neither; a "
        "point may serve a black and a white root at once.",
        "S1, S3, S4, S8",
        ("bounded", "growth", "eye"),
        "No root has fewer growth points now than {narrowest}: {growth}.",
    ),
    "R6a": Entry(
        "removal, first test",
        "If the new stone leaves the current root bounded, the current root is removed "
        "with it, and nothing else. This test comes first, so a bounded enemy root "
        "does not go before it, nor at all in that turn. Such a move is legal.",
        "S1, S2, S4, S8",
        ("r6", "removal", "first", "suicide"),
        "Moves of {Side} that would do this now: {own_removals}.",
    ),
    "R6b": Entry(
        "removal, second test",
        "Otherwise every other bounded root is removed, of both colours, all at once. "
        "That is done one time: there is no chain reaction, because nothing can be "
        "bounded after it (P1).",
        "S1, S2, S4, S8",
        ("r6", "removal", "chain"),
        "Moves of {Side} that would do this now: {other_removals}.",
    ),
    "R7": Entry(
        "no passing",
        "One must place a stone, even if every move removes a root of one's own. Who "
        "has a stone always has a move (P2).",
        "S3, S5-S7, S9, S11",
        ("pass", "passing"),
        _LEGAL,
    ),
    "R8": Entry(
        "end",
        "When one colour has no stone left, the other has won, on whoever's turn it "
        "happens: who removes his own last root loses, even if the enemy's last root "
        "was bounded by the same move.",
        "S1, S8",
        ("end", "win", "lose"),
        "Now there are {black_roots} and {white_roots}, so nobody has won yet.",
    ),
    "R9": Entry(
        "no draw",
        "There are no draws, and no position comes twice (P4).",
        "S2, S3, S5, S8, S9",
        ("draw", "tie", "repetition"),
        "Now there are {roots} roots and {stones} stones: the next turn makes it one "
        "stone more or fewer roots.",
    ),
    "R10": Entry(
        "not in the rules",
        "No source has a swap (pie) rule, handicap, clocks or rules for three or four "
        "players: Tanbo is for two. Nor does any speak of resigning, which programs "
        "offer as a convenience; who resigns has lost.",
        "in none of S1-S14",
        ("swap", "pie", "handicap", "clock", "players", "three", "resign"),
    ),
}
"""The rules."""

TOPICS = {
    "sizes": Entry(
        "why these board sizes",
        "The dense set-up has a stone on every other point, black and white by turns, "
        "from corner to corner. So both sides are odd, and there are as many black "
        "stones as white ones exactly if at least one side is 3 more than a multiple "
        "of 4: 5x7, 7x7, 7x9, 11x11. On 5x5, 9x9 or 13x13 Black would have one more "
        "(on 9x9 13 to 12). Classic set-ups have fewer stones, always equally many.",
        "S1 for the sizes; the reason is ours, RULES.md section 4",
        ("size",),
        _START,
    ),
    "P1": Entry(
        "nothing stays bounded",
        "After every turn each root has a growth point, so one removal is enough. A "
        "removal takes whole roots: a growth point of a root that stays is still empty "
        "and still next to one stone of its colour. If the current root alone goes, "
        "the position before the move is back without it.",
        _OURS.format("P1"),
    ),
    "P2": Entry(
        "there is always a move",
        "Each root has a growth point (P1), and to play there is legal.",
        _OURS.format("P2") + "; S3 and S7 state it",
    ),
    "P3": Entry(
        "both colours never vanish together",
        "R6a removes stones of the mover alone, and R6b leaves his current root.",
        _OURS.format("P3"),
    ),
    "P4": Entry(
        "no repetition",
        "A turn lowers the number of roots, or keeps it and raises the number of "
        "stones by one. Roots never increase, so no position comes twice.",
        _OURS.format("P4"),
    ),
    "P5": Entry(
        "length of a game",
        "On A points with s stones the next removal comes within A - s turns, since "
        "stones increase until then and never fill the board. Each removal costs a "
        "root. From r single stones that makes at most "
        "(r - 1)A - (r(r + 1)/2 - 1) turns.",
        _OURS.format("P5"),
        ("length", "long"),
        "This game began on {size} with {started_roots} roots, so it lasts at most "
        "{most} turns; {played} played, at most {left} can follow.",
    ),
}
"""What follows from the rules."""

SOURCES = {
    "S1": "rules-assistant page in Spanish, quoting the designer's description of 2026",
    "S2": "Dutch Wikipedia, a translation of S6",
    "S3": "marksteeregames.com, the designer's rules of 1993, read in part",
    "S4": "zillions-of-games.com, game 1456, the text of S3 with the removals",
    "S5": "gamerz.net, the designer's answers to frequent questions, read in part",
    "S6": "iggamecenter.com, rules; a Russian copy at renju.in",
    "S7": "itsyourturn.com, help page on Tanbo",
    "S8": "igfip.com, complete short rules",
    "S9": "di.fc.ul.pt/~jpn/gv/tanbo.htm, an older wording",
    "S10": "the old English Wikipedia article, from copies, with its examples",
    "S11": "German Wikipedia",
    "S12": "mokun.tripod.com/xo/tanbo.htm, the 19x19 set-up",
    "S13": "AbstractPlay, the program tanbo.ts of 2026",
    "S14": "other public programs that play Tanbo",
}
"""Where the rules were read."""

ENTRIES = (
    RULES
    | TOPICS
    | {name: Entry("source", text, name) for name, text in SOURCES.items()}
)
"""All that can be cited or asked for, by name."""


def find(topic: str) -> list[str]:
    """Return the names of the entries for a name or a word, in either case.

    Raises:
        UnknownTopic: there is none.
    """
    wanted = topic.lower()
    found = [
        name
        for name, entry in ENTRIES.items()
        if wanted == name.lower() or wanted in entry.words
    ]
    if not found:
        raise UnknownTopic(
            f"no rule {short(topic)!r}: use R1 to R10, P1 to P5, S1 to S14 or a word "
            "such as sizes, pass, draw, length, swap, players or resign"
        )
    return found


def contents() -> list[str]:
    """Return a line for each rule and for each thing that follows from them."""
    return [
        f"{name} {entry.title} [{entry.source}]"
        for name, entry in (RULES | TOPICS).items()
    ]
