"""Explanations: they agree with the rules, and name what decides them."""

import random
import re
from collections.abc import Iterator

import pytest

from tanbo_engine import explain, notation, rulebook, rules
from tanbo_engine.answers import Explanation
from tanbo_engine.points import Color, format_vertex, parse_vertex
from tanbo_engine.rules import Position, Root

from .support import (
    EXAMPLES,
    LEGAL_EXAMPLES,
    Row,
    as_plain,
    data,
    example,
    example_id,
    kernel,
    mover,
    play_on,
    point_set,
    position_of,
    root_set,
    start,
)

VERTEX = re.compile(r"\b[A-HJ-Z][1-9][0-9]?\b")
REMOVAL = re.compile(r"(Black|White)'s root is removed: (.*?)[,.]( the new stone|$)")
THREAT = re.compile(r"(Black|White) at (\w+) would (remove|bound) it")
REFUSED = ("no_own_neighbour", "too_many_own_neighbours", "occupied")
SETUPS = ["dense-3x3", "dense-3x5", "classic-5x5", "dense-5x7", "dense-7x7"]

RootSet = set[tuple[Color, frozenset[int]]]


def random_positions(name: str, seed: int) -> Iterator[Position]:
    """Yield positions of a random game, its end among them."""
    game = kernel(name)
    style = random.Random(seed).choice(["uniform", "promising", "reckless"])
    length = len(play_on(game, seed, style))
    for _ in range(length):
        yield as_plain(game)
        game.unmake()


def color_of(word: str) -> Color:
    return next(color for color in Color if color.word == word.lower())


def removed_roots(position: Position, answer: Explanation) -> RootSet:
    """Return the roots that a text says are removed."""
    size = position.size
    matches = (REMOVAL.match(reason.text) for reason in answer.reasons)
    return {
        (color_of(match[1]), frozenset(point_set(size, VERTEX.findall(match[2]))))
        for match in matches
        if match
    }


def told_threats(
    position: Position, answer: Explanation
) -> set[tuple[Color, int, str]]:
    """Return the moves that a text says would bound a root, and what they do to it."""
    matches = (THREAT.match(reason.text) for reason in answer.reasons)
    return {
        (color_of(match[1]), parse_vertex(position.size, match[2]), match[3])
        for match in matches
        if match
    }


def brute_force(position: Position, root: Root) -> set[tuple[Color, int, str]]:
    """Return the same from the definitions, over all moves of both sides."""
    found = set()
    for color in Color:
        for point in rules.legal_moves(position, color):
            stones = position.stones(color) | {point}
            placed = position.with_stones(color, stones, color.opponent)
            grown = rules.root_at(placed, min(root.stones))
            if rules.is_bounded(placed, grown):
                after = rules.play(position._replace(to_move=color), point).after
                gone = min(root.stones) not in after.stones(root.color)
                found.add((color, point, "remove" if gone else "bound"))
    return found


def check_form(position: Position, answer: Explanation) -> None:
    """Check that an answer cites, and keeps the points that it names."""
    for reason in answer.reasons:
        assert reason.cites
        named = point_set(position.size, VERTEX.findall(reason.text))
        assert named <= reason.points
        if "root at" not in reason.text:
            assert named == reason.points
    assert set(answer.sources) == set(answer.sections)
    lines = answer.text.split("\n")
    assert all(lines)
    assert len(lines) == len(answer.reasons) + 1
    assert answer.text.isascii()
    assert "{" not in answer.text
    assert "none" not in answer.text.replace("none of its neighbours", "")


# Random positions


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SETUPS)
def test_every_point_is_explained_as_the_rules_have_it(name: str, seed: int) -> None:
    for position in random_positions(name, seed):
        for color in Color:
            for point in range(position.size.area):
                check_placement(position, point, color)


def check_placement(position: Position, point: int, color: Color) -> None:
    answer = explain.placement(position, point, color)
    check_form(position, answer)
    board = position._replace(to_move=color)
    first = answer.reasons[0].text
    if point not in rules.legal_moves(board):
        with pytest.raises(rules.IllegalMove) as refusal:
            rules.check_placement(board, color, point)
        assert " is not legal" in first
        assert answer.sections[0] == refusal.value.section
        assert not removed_roots(position, answer)
        return
    turn = rules.play(board, point)
    assert f"is legal for {color.word.capitalize()}: " in first
    assert removed_roots(position, answer) == set(turn.removed)
    assert ("R6a" in answer.sections) == turn.current_root_bounded
    winner = rules.winner(turn.after)
    wins = f"{winner.word.capitalize()} wins" if winner is not None else "wins"
    assert (wins in answer.text) == (winner is not None)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SETUPS)
def test_every_root_is_explained_as_brute_force_has_it(name: str, seed: int) -> None:
    for position in random_positions(name, seed):
        for root in rules.roots(position):
            answer = explain.root(position, max(root.stones))
            check_form(position, answer)
            stones, growth = answer.reasons[:2]
            assert stones.points == root.stones
            assert growth.points == set(rules.growth_points(position, root))
            expected = brute_force(position, root)
            assert told_threats(position, answer) == expected
            assert ("No single move" in answer.text) == (
                not expected and rules.winner(position) is None
            )


@pytest.mark.parametrize("name", SETUPS)
def test_a_game_never_lasts_longer_than_told(name: str) -> None:
    for seed in range(20):
        for left, position in enumerate(random_positions(name, seed)):
            assert left <= explain.most_turns(position)


# The examples


@pytest.mark.parametrize("row", LEGAL_EXAMPLES, ids=example_id)
def test_a_move_is_explained_before_and_after_it(row: Row) -> None:
    position = position_of(row)
    point = parse_vertex(position.size, row["move"])
    expected = root_set(position.size, row["removed_roots"])
    bounded = root_set(position.size, row["bounded_before_removal"])
    for answer in (
        explain.placement(position, point),
        explain.last_move(position, point),
    ):
        check_form(position, answer)
        assert removed_roots(position, answer) == expected
        assert point_set(position.size, row["own_neighbours"]) <= answer.points
        for _, stones in bounded:
            assert stones <= answer.points
        for section in row["rule"].split(","):
            assert section in {*answer.sections, "R1"}


@pytest.mark.parametrize(
    "row", [row for row in EXAMPLES if row["code"] in REFUSED], ids=example_id
)
def test_a_refusal_is_explained(row: Row) -> None:
    position = position_of(row)
    point = parse_vertex(position.size, row["move"])
    answer = explain.placement(position, point, mover(row))
    check_form(position, answer)
    assert answer.reasons[0].cites == ("R3",)
    assert point in answer.points
    assert point_set(position.size, row.get("own_neighbours", [])) <= answer.points


def test_a_root_with_a_loop_beside_another_root_tells_both() -> None:
    position = notation.from_rows([".....", ".XX..", ".X.X.", ".....", "O...."])
    answer = explain.placement(position, parse_vertex(position.size, "C3"))
    assert [reason.text for reason in answer.reasons[1:3]] == [
        "B3 and C4 belong to one root: the stone would close a loop.",
        "B3 and D3 belong to different roots: roots never merge.",
    ]


def test_both_ways_to_lose_growth_points_at_once() -> None:
    row = example("current_and_two_others_only_current_goes")
    position = position_of(row)
    told = explain.placement(position, parse_vertex(position.size, "D4")).text
    assert "a second black stone ends its growth at E4 (next to D4 and E5)" in told
    assert "the stone at D4 takes its last growth point" in told
    assert told.count("but stays: the current root is tested first") == 2


def test_a_large_root_is_named_by_its_first_stone() -> None:
    row = example("bamboo_two_others")
    position = position_of(row)
    answer = explain.last_move(position, parse_vertex(position.size, row["move"]))
    assert "White's root at B1 is bounded" in answer.text


# Rules in words


def at_start(name: str) -> explain.Situation:
    return explain.Situation(start(name), start(name), 0)


@pytest.mark.parametrize("topic", [*rulebook.ENTRIES, "R6"])
def test_every_entry_can_be_told_now_and_after_the_end(topic: str) -> None:
    situation = at_start("dense-7x7")
    answer = explain.rule(topic.lower(), situation)
    assert topic in {*answer.sections, "R6"}
    assert answer.text.isascii()
    assert "{" not in answer.text
    ended = situation._replace(position=situation.position._replace(white=frozenset()))
    assert "Black has won. [R8]" in explain.rule(topic, ended).text


def test_words_lead_to_rules() -> None:
    assert rulebook.find("removal") == rulebook.find("R6") == ["R6a", "R6b"]
    words = [word for entry in rulebook.ENTRIES.values() for word in entry.words]
    once = [word for word in words if word not in ("r6", "removal")]
    assert len(once) == len(set(once))
    assert not set(once) & {name.lower() for name in rulebook.ENTRIES}
    for word in words:
        assert word == word.lower()
        assert rulebook.find(word.upper())


@pytest.mark.parametrize("topic", ["", "R", "R11", "P6", "S15", "x" * 5000])
def test_other_words_are_refused_with_those_there_are(topic: str) -> None:
    with pytest.raises(rulebook.UnknownTopic, match="use R1 to R10, P1 to P5") as error:
        rulebook.find(topic)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("row", data("start_positions"), ids=example_id)
def test_the_length_bound_is_the_one_of_the_rules(row: Row) -> None:
    name, bound = row["name"], row["length_bound"]
    assert explain.most_turns(start(name)) == bound
    assert f"at most {bound} turns" in explain.rule("length", at_start(name)).text


def test_rules_name_what_they_mean_now() -> None:
    row = example("own_other_root_bounded_by_shared_point")
    position = position_of(row)
    answer = explain.rule("R6", explain.Situation(position, position, 0))
    own, other = answer.reasons[1], answer.reasons[3]
    assert own.points == point_set(position.size, ["A2"])
    assert other.points == point_set(position.size, ["A3", "B2"])
    legal = explain.rule("pass", explain.Situation(position, position, 0)).points
    assert legal == set(rules.legal_moves(position))


def test_removals_now_are_those_of_brute_force() -> None:
    for seed in range(4):
        for position in random_positions("dense-5x7", seed):
            told = explain.rule("R6", explain.Situation(position, position, 0)).reasons
            if rules.winner(position) is not None:
                continue
            turns = {p: rules.play(position, p) for p in rules.legal_moves(position)}
            own = {p for p, turn in turns.items() if turn.current_root_bounded}
            assert told[1].points == own
            assert told[3].points == {p for p in turns if turns[p].removed} - own


def test_the_narrowest_root_is_named() -> None:
    position = position_of(example("current_and_two_others_only_current_goes"))
    answer = explain.rule("R5", explain.Situation(position, position, 0))
    vertices = {format_vertex(position.size, point) for point in answer.points}
    assert vertices in ({"E4", "E5"}, {"D4", "D5"})
