"""What GoGui draws: the entries of its menu, checked by the reference rules."""

import random
import time
from collections import defaultdict

import pytest

from protocol.commands import TABLE
from protocol.session import Session
from tanbo_engine import rules
from tanbo_engine.points import Color, format_vertex

from .talk import Engine, ask, new_session, play_out, refusal

KINDS = {"plist", "gfx", "dboard", "varc", "param", "hstring", "hpstring", "string"}
DRAWN = ("COLOR", "CIRCLE", "MARK", "LABEL", "TEXT", "VAR")
GREEN, RED, ORANGE = "#40d060", "#ff5050", "#ffa020"


async def played(moves: int, seed: int = 3, setup: str = "dense-7x7") -> Session:
    """Return a session after random moves in which the game goes on."""
    rng = random.Random(seed)
    session = new_session(setup=setup)
    while len(session.game.moves) < moves:
        session.game.play(rng.choice(session.game.legal_moves()))
        assert session.game.winner is None
    return session


async def graphics(session: Session, line: str) -> dict[str, list[str]]:
    """Return the words behind each keyword, a colour being part of the keyword."""
    drawn: dict[str, list[str]] = defaultdict(list)
    for row in (await ask(session, line)).split("\n"):
        keyword, *words = row.split()
        assert keyword in DRAWN
        if keyword == "COLOR":
            keyword = words.pop(0)
        assert words
        drawn[keyword] += words
    return drawn


def vertices(session: Session, points: set[int] | frozenset[int]) -> set[str]:
    return {format_vertex(session.game.size, point) for point in points}


# The menu


async def entries(session: Session) -> list[tuple[str, str, str]]:
    lines = (await ask(session, "gogui-analyze_commands")).split("\n")
    return [(kind, label, line) for kind, label, line in map(_split, lines)]


def _split(line: str) -> tuple[str, str, str]:
    kind, label, command = line.split("/")
    return kind, label, command


async def test_entries_have_known_kinds_and_commands_and_labels_of_their_own() -> None:
    found = await entries(new_session())
    assert {kind for kind, _, _ in found} <= KINDS
    assert len({label for _, label, _ in found}) == len(found)
    assert all(TABLE[line.split()[0]].listed for _, _, line in found)
    # GoGui dies of a varc entry without the wildcard of a color.
    assert all("%c" in line for kind, _, line in found if kind == "varc")


@pytest.mark.parametrize("moves", [1, 12])
async def test_entries_work(moves: int) -> None:
    session = await played(moves)
    color = session.game.to_move.word[0]
    stone = format_vertex(session.game.size, min(session.game.position.black))
    for kind, _, line in await entries(session):
        for mark in ("%c", "%m"):
            line = line.replace(mark, color)
        text = await ask(session, line.replace("%p", stone).replace("%s", "1"))
        if kind in ("string", "plist", "varc"):
            assert "\n" not in text


async def test_entries_work_after_the_end() -> None:
    session = new_session(setup="dense-3x3")
    await play_out(session)
    color = session.game.to_move.word
    for kind, _, line in await entries(session):
        if kind in ("gfx", "dboard", "varc", "plist"):
            await ask(session, line.replace("%c", color).replace("%m", color))


# Roots


async def test_roots_of_a_color_each_have_a_color_with_their_growth_points() -> None:
    session = await played(12)
    position = session.game.position
    for color in Color:
        drawn = await graphics(session, f"tanbo-draw_roots {color.word}")
        roots = [root for root in rules.roots(position) if root.color is color]
        expected = [
            vertices(session, root.stones | {*rules.growth_points(position, root)})
            for root in roots
        ]
        found = [set(points) for word, points in drawn.items() if word[0] == "#"]
        assert found == expected
        growth = rules.legal_moves(position, color)
        assert set(drawn["CIRCLE"]) == vertices(session, {*growth})
        assert drawn["TEXT"][:2] == [str(len(roots)), "roots,"]


async def test_growth_points_of_both_colors_are_crossed_out_of_the_colors() -> None:
    session = await played(12)
    black, white = ({*session.game.legal_moves(color)} for color in Color)
    drawn = await graphics(session, "tanbo-draw_roots")
    assert set(drawn["MARK"]) == vertices(session, black & white)
    assert set(drawn["CIRCLE"]) == vertices(session, black ^ white)
    colored = [p for word, points in drawn.items() if word[0] == "#" for p in points]
    stones = session.game.position.black | session.game.position.white
    assert sorted(colored) == sorted(vertices(session, stones | (black ^ white)))


# Removals


@pytest.mark.parametrize("seed", range(6))
async def test_moves_that_remove_stones(seed: int) -> None:
    session = await played(10 + seed, seed)
    for color in Color:
        position = session.game.position._replace(to_move=color)
        drawn = await graphics(session, f"tanbo-draw_removals {color.word}")
        expected: dict[str, set[int]] = {GREEN: set(), RED: set(), ORANGE: set()}
        labels = []
        for point in rules.legal_moves(position):
            turn = rules.play(position, point)
            if not turn.removed:
                continue
            stones = sum(len(root.stones) for root in turn.removed)
            labels += [format_vertex(position.size, point), str(stones)]
            shade = GREEN
            if any(root.color is color for root in turn.removed):
                shade = RED if turn.current_root_bounded else ORANGE
            expected[shade].add(point)
        for shade, points in expected.items():
            assert set(drawn[shade]) == vertices(session, points)
        assert drawn["LABEL"] == labels


@pytest.mark.parametrize("seed", range(6))
async def test_roots_in_danger(seed: int) -> None:
    session = await played(10 + seed, seed)
    drawn = await graphics(session, "tanbo-draw_danger")
    circles: set[int] = set()
    mover = session.game.to_move
    for shade, color in ((RED, mover), (ORANGE, mover.opponent)):
        position = session.game.position._replace(to_move=color)
        stones: set[int] = set()
        for point in rules.legal_moves(position):
            removed = rules.play(position, point).removed
            hit = {s for r in removed if r.color is not color for s in r.stones}
            stones |= hit
            circles |= {point} if hit else set()
        assert set(drawn[shade]) == vertices(session, stones)
    assert set(drawn["CIRCLE"]) == vertices(session, circles)


# Searches


@pytest.mark.parametrize("moves", [6, 7])
async def test_values_are_seen_from_black(moves: int) -> None:
    session = await played(moves)
    best = await ask(session, f"reg_genmove {session.game.to_move.word}")
    text = await ask(session, "tanbo-draw_values")
    rows = [[float(word) for word in row.split()] for row in text.split("\n")]
    assert [len(row) for row in rows] == [7] * 7
    values = {p: rows[6 - p // 7][p % 7] for p in range(49)}
    assert all(-1 <= value <= 1 for value in values.values())
    legal = session.game.legal_moves()
    assert all(value == 0 for p, value in values.items() if p not in legal)
    assert any(values[point] for point in legal)
    assert best in vertices(session, {p for p in legal if values[p]})


async def test_values_of_a_proven_position() -> None:
    session = new_session(nodes=5000)
    await ask(session, "tanbo-position 3x5 2X/1OX/OOX/XOX/X2 w")  # B5 wins
    assert (await ask(session, "tanbo-draw_values")).split("\n")[0] == (
        "0.000 -1.000 0.000 0.000 0.000"
    )


async def test_values_on_a_canvas() -> None:
    for size, rows in (("5x7", 7), ("9x7", 9)):
        session = new_session(size=size, canvas=True)
        text = await ask(session, "tanbo-draw_values")
        table = [[float(word) for word in row.split()] for row in text.split("\n")]
        assert [len(row) for row in table] == [rows] * rows
        width, height = session.game.size
        assert not any(any(row) for row in table[: rows - height])
        assert not any(any(row[width:]) for row in table)


async def test_best_moves_and_variations() -> None:
    session = await played(5)
    drawn = await graphics(session, "tanbo-draw_moves")
    best = await ask(session, "reg_genmove w")
    assert drawn["LABEL"][0] == best
    assert drawn["#3ce03c"][0] == best
    drawn = await graphics(session, "tanbo-draw_variation")
    assert drawn["VAR"][:2] == ["W", best]
    assert drawn["TEXT"][:2] == ["40", "visits,"]
    line = (await ask(session, "tanbo-variation w")).split()
    assert drawn["VAR"][1::2] == line
    assert drawn["VAR"][::2] == [("W", "B")[n % 2] for n in range(len(line))]
    assert await refusal(session, "tanbo-variation b") == "illegal move"


# Live graphics, interrupt, title


async def test_live_graphics_are_a_parameter() -> None:
    session = new_session()
    shown: list[str] = []
    session.show = shown.append
    assert await ask(session, "tanbo-live_graphics") == "[bool] live_graphics 0"
    await ask(session, "genmove b")
    assert not shown
    assert await ask(session, "tanbo-live_graphics live_graphics 1") == ""
    assert await ask(session, "tanbo-live_graphics") == "[bool] live_graphics 1"
    await ask(session, "genmove w")
    assert shown[-1] == "gogui-gfx: CLEAR\n"
    await ask(session, "tanbo-live_graphics live_graphics 0")
    shown.clear()
    await ask(session, "genmove b")
    assert not shown
    for words in ("live_graphics", "live_graphics 2", "x 1", "1"):
        line = f"tanbo-live_graphics {words}"
        assert await refusal(session, line) == "syntax error"


def test_live_graphics_while_thinking() -> None:
    with Engine("--time", "0.9") as engine:
        engine.ask("tanbo-live_graphics live_graphics 1")
        engine.ask("genmove b")
        _, _, err = engine.finish()
    *blocks, clear = err.split("\n\n")
    assert clear == "gogui-gfx: CLEAR\n"
    assert 2 <= len(blocks) <= 4
    for block in blocks:
        first, variation, text = block.split("\n")
        assert first == "gogui-gfx:"
        assert variation.startswith("VAR B ")
        assert text.startswith("TEXT ")


async def test_interrupt_and_title() -> None:
    session = new_session(setup="classic-9x9")
    assert await ask(session, "gogui-interrupt") == ""
    assert await ask(session, "gogui-title") == "Tanbo, classic-9x9"


async def test_drawing_takes_no_time_worth_mentioning() -> None:
    session = new_session(setup="dense-23x25")
    began = time.monotonic()
    for line in ("tanbo-draw_roots", "tanbo-draw_removals b", "tanbo-draw_danger"):
        await ask(session, line)
    assert time.monotonic() - began < 2
