"""Why and what if: a placement, a root, the last move or a rule, in plain language.

Built on `rules`, not on the kernel; the words of the rules are those of `rulebook`.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from tanbo_engine import rulebook, rules
from tanbo_engine.answers import (
    Explanation,
    Part,
    Phrase,
    Reason,
    Telling,
    fields,
    named,
)
from tanbo_engine.points import Color, Size, VertexError, by_column, neighbours
from tanbo_engine.rules import Position, Root, Turn
from tanbo_engine.wording import counted

# A placement


def placement(
    position: Position, point: int, color: Color | None = None
) -> Explanation:
    """Explain whether a colour (default: to move) may play at a point, and what then.

    Args:
        position: the position, whoever is to move.
        point: a point of the board.
        color: whose stone it would be.
    """
    color = position.to_move if color is None else color
    board = position._replace(to_move=color)
    telling = Telling(board, color)
    try:
        rules.check_placement(board, color, point)
    except rules.IllegalMove as refusal:
        _REFUSALS[refusal.code](telling, board, point)
    else:
        _tell_legal(telling, board, point)
        _tell_turn(telling, board, point)
    if rules.winner(position) is None:
        if position.is_empty(point):
            _tell_enemy(telling, board, point)
        if color is not position.to_move:
            telling.say(
                "R2", "It is {Enemy}'s turn; this is how things stand for {Side}."
            )
    return telling.done()


def _tell_legal(telling: Telling, board: Position, point: int) -> None:
    telling.say(
        "R3",
        "{point} is legal for {Side}: it is next to exactly one {side} stone, {own}.",
        point=[point],
        own=rules.own_neighbours(board, board.to_move, point),
    )


def off_board(error: VertexError) -> Explanation:
    """Explain why nobody may play at a vertex that the board does not have."""
    return Explanation((Reason(f"{error}.", ("R1", "R3")),))


def _refuse_after_the_end(telling: Telling, board: Position, point: int) -> None:
    telling.say(
        "R8",
        "{point} is not legal: the game is over, {loser} has no stone left.",
        point=[point],
        loser=named(next(c for c in Color if not board.stones(c))),
    )


def _refuse_occupied(telling: Telling, board: Position, point: int) -> None:
    telling.say(
        "R3",
        "{point} is not legal: it is occupied by a stone of {root}.",
        point=[point],
        root=rules.root_at(board, point),
    )


def _refuse_without_neighbour(telling: Telling, board: Position, point: int) -> None:
    around = neighbours(board.size, point)
    telling.say(
        "R3",
        "{point} is not legal for {Side}: none of its neighbours {around} holds a "
        "{side} stone, and exactly one must.",
        point=[point],
        around=around,
    )
    corners = _diagonals(board.size, point) & board.stones(board.to_move)
    if corners:
        telling.say(
            "R1 R3",
            "Stones diagonally next to it do not count: {corners}.",
            corners=corners,
        )


def _diagonals(size: Size, point: int) -> set[int]:
    """Return the points that are diagonally next to a point."""
    beside = [near for near in neighbours(size, point) if abs(near - point) == 1]
    return {
        corner
        for near in beside
        for corner in neighbours(size, near)
        if abs(corner - near) == size.width
    }


def _refuse_many_neighbours(telling: Telling, board: Position, point: int) -> None:
    own = rules.own_neighbours(board, board.to_move, point)
    telling.say(
        "R3",
        "{point} is not legal for {Side}: it is next to {count} {side} stones, {own}, "
        "and exactly one is allowed.",
        point=[point],
        count=len(own),
        own=own,
    )
    touched = dict.fromkeys(rules.root_at(board, stone) for stone in own)
    for root in touched:
        stones = [stone for stone in own if stone in root.stones]
        if len(stones) > 1:
            telling.say(
                "R4",
                "{stones} belong to one root: the stone would close a loop.",
                stones=stones,
            )
    if len(touched) > 1:
        one_each = [next(s for s in own if s in root.stones) for root in touched]
        telling.say(
            "R4",
            "{stones} belong to different roots: roots never merge.",
            stones=one_each,
        )


_REFUSALS: dict[str, Callable[[Telling, Position, int], None]] = {
    "game_over": _refuse_after_the_end,
    "occupied": _refuse_occupied,
    "no_own_neighbour": _refuse_without_neighbour,
    "too_many_own_neighbours": _refuse_many_neighbours,
}


def _tell_enemy(telling: Telling, board: Position, point: int) -> None:
    """Tell what the enemy's stones mean for the point, for him and for the mover."""
    stones = rules.own_neighbours(board, board.to_move.opponent, point)
    if not stones:
        text = "{Enemy} may not play there: no {enemy} stone is next to it."
    elif len(stones) == 1:
        text = (
            "{stones}, the one {enemy} stone next to it, does not matter for {Side}, "
            "but lets {Enemy} play there."
        )
    else:
        text = (
            "The {enemy} stones {stones} next to it do not matter for {Side}; {Enemy} "
            "may not play there, since they are more than one."
        )
    telling.say("R3", text, stones=stones)


# What a move does


def last_move(before: Position, point: int) -> Explanation:
    """Explain what a move did.

    Args:
        before: the position before the move, its player to move.
        point: where the stone was placed; legal.
    """
    telling = Telling(before, before.to_move)
    telling.say(
        "R3",
        "{Side} played {point}, next to exactly one {side} stone, {own}.",
        point=[point],
        own=rules.own_neighbours(before, before.to_move, point),
    )
    _tell_turn(telling, before, point)
    return telling.done()


def _tell_turn(telling: Telling, before: Position, point: int) -> None:
    turn = rules.play(before, point)
    telling.say(
        "R4",
        "It joins {root}; with it the current root is {stones}.",
        root=_joined(before, point),
        stones=turn.current_root.stones,
    )
    if turn.current_root_bounded:
        _tell_own_removal(telling, before, point, turn)
    else:
        _tell_other_removals(telling, before, point, turn)
    _tell_end(telling, before, turn)


def _tell_own_removal(
    telling: Telling, before: Position, point: int, turn: Turn
) -> None:
    placed = _placed(before, point)
    current = turn.current_root
    telling.say("R5", "The current root is bounded: it has no growth point left.")
    _tell_dead_neighbours(telling, placed, current)
    telling.say(
        "R6a",
        "{Side}'s root is removed: {stones}, the new stone with it, and nothing else. "
        "The move is legal all the same.",
        stones=current.stones,
    )
    for root in rules.roots(placed):
        if root != current and rules.is_bounded(placed, root):
            telling.say(
                "R6a P1",
                "{root} is bounded too, as {cause}, but stays: the current root is "
                "tested first and goes alone. It can grow again at {growth}.",
                root=root,
                cause=_cause(before, point, root),
                growth=rules.growth_points(turn.after, root),
            )
    if rules.legal_moves(before) == [point]:
        telling.say(
            "R7",
            "No other move is legal for {Side}, so {point} must be played.",
            point=[point],
        )


def _tell_other_removals(
    telling: Telling, before: Position, point: int, turn: Turn
) -> None:
    placed = _placed(before, point)
    telling.say(
        "R5",
        "The current root is not bounded: it can grow at {growth}.",
        growth=rules.growth_points(placed, turn.current_root),
    )
    for root in turn.removed:
        cause = _cause(before, point, root)
        telling.say("R5", "{root} is bounded: {cause}.", root=root, cause=cause)
        lost = rules.growth_points(before, root)
        _tell_dead_neighbours(telling, placed, root, lost)
        telling.say(
            "R6b",
            "{owner}'s root is removed: {stones}.",
            owner=named(root.color),
            stones=root.stones,
        )
    if turn.removed:
        telling.say("R6b P1", "That is all: no root is bounded after it.")
    else:
        telling.say("R6b", "No other root is bounded, so nothing is removed.")


def _cause(before: Position, point: int, root: Root) -> Phrase:
    """Return how a root, not the current one, loses its last growth points."""
    placed = _placed(before, point)
    lost = rules.growth_points(before, root)
    crowded = {
        growth: rules.own_neighbours(placed, root.color, growth)
        for growth in lost
        if growth != point
    }
    causes = []
    if point in lost:
        last = "" if crowded else "last "
        causes.append(f"the stone at {{point}} takes its {last}growth point")
    if crowded:
        causes.append("a second {color} stone ends its growth at {crowded}")
    parts: dict[str, Part] = {
        "point": [point],
        "crowded": crowded,
        "color": root.color.word,
    }
    return Phrase(" and ".join(causes), parts)


def _tell_dead_neighbours(
    telling: Telling, position: Position, root: Root, told: Collection[int] = ()
) -> None:
    """Tell which empty points next to a root, save those told, do not count."""
    around = {
        near for stone in root.stones for near in neighbours(position.size, stone)
    }
    dead = {
        point: own
        for point in around
        if position.is_empty(point)
        and point not in told
        and len(own := rules.own_neighbours(position, root.color, point)) > 1
    }
    if dead:
        telling.say(
            "R5",
            "Empty neighbours that do not count, each next to two or more {color} "
            "stones: {dead}.",
            color=root.color.word,
            dead=dead,
        )


def _tell_end(telling: Telling, before: Position, turn: Turn) -> None:
    winner = rules.winner(turn.after)
    if winner is None:
        return
    if winner is before.to_move:
        telling.say("R8", "{Enemy} has no stone left: {Side} wins.")
    else:
        telling.say(
            "R8", "{Side} has no stone left: {Enemy} wins, on {Side}'s own turn."
        )


def _placed(before: Position, point: int) -> Position:
    """Return the position with the new stone, before anything is removed."""
    mover = before.to_move
    return before.with_stones(mover, before.stones(mover) | {point}, mover.opponent)


def _joined(before: Position, point: int) -> Root:
    """Return the root that a stone at a legal point joins."""
    (stone,) = rules.own_neighbours(before, before.to_move, point)
    return rules.root_at(before, stone)


# A root


class Threat(NamedTuple):
    """A single move that would bound a root.

    Attributes:
        color: who would make it.
        point: where.
        removes: whether the root would go; a root that is bounded together with the
            current root stays.
        turn: what the move would do.
    """

    color: Color
    point: int
    removes: bool
    turn: Turn


def threats(position: Position, root: Root, color: Color) -> list[Threat]:
    """Return the moves of a colour that would bound a root, as the board stands."""
    board = position._replace(to_move=color)
    # Only a move at a growth point or next to it can end it.
    near = set(range(board.size.area)).intersection(
        *(
            {point, *neighbours(board.size, point)}
            for point in rules.growth_points(board, root)
        )
    )
    found = []
    for point in by_column(board.size, list(near)):
        if not _is_legal(board, point):
            continue
        placed = _placed(board, point)
        grown = rules.root_at(placed, min(root.stones))
        if rules.is_bounded(placed, grown):
            turn = rules.play(board, point)
            found.append(Threat(color, point, grown in turn.removed, turn))
    return found


def _is_legal(board: Position, point: int) -> bool:
    try:
        rules.check_placement(board, board.to_move, point)
    except rules.IllegalMove:
        return False
    return True


def root(position: Position, point: int) -> Explanation:
    """Explain a root: stones, growth points, and what would bound it next turn.

    Args:
        position: the position.
        point: any of the root's stones.
    """
    own = rules.root_at(position, point)
    telling = Telling(position, own.color)
    telling.say(
        "R4",
        "{Side}'s root with {count}: {stones}.",
        count=counted(len(own.stones), "stone"),
        stones=own.stones,
    )
    _tell_growth(telling, position, own)
    _tell_dead_neighbours(telling, position, own)
    if rules.winner(position) is not None:
        telling.say("R8", "The game is over: nothing will bound it.")
        return telling.done()
    found = [threat for color in Color for threat in threats(position, own, color)]
    for threat in found:
        _tell_threat(telling, position, own, threat)
    if not found:
        telling.say("R5", "No single move of either side would bound it.")
    to_move = named(position.to_move)
    telling.say("R2", "{to_move} is to move.", to_move=to_move)
    return telling.done()


def _tell_growth(telling: Telling, position: Position, own: Root) -> None:
    growth = rules.growth_points(position, own)
    telling.say(
        "R5",
        "It has {count}: {growth}.",
        count=counted(len(growth), "growth point"),
        growth=growth,
    )
    shared = {}
    for point in growth:
        stones = rules.own_neighbours(position, own.color.opponent, point)
        if len(stones) == 1:
            shared[point] = stones
    if shared:
        telling.say(
            "R3 R5",
            "{Enemy} shares {shared}: he may play there too.",
            shared=shared,
        )
    else:
        telling.say("R3 R5", "No growth point is shared with {Enemy}.")


def _tell_threat(
    telling: Telling, position: Position, own: Root, threat: Threat
) -> None:
    board = position._replace(to_move=threat.color)
    current = threat.turn.current_root
    if own.stones <= current.stones:
        text = (
            "{who} at {point} would remove it: as the current root it would have no "
            "growth point left."
        )
    elif threat.removes:
        text = "{who} at {point} would remove it: {cause}."
    else:
        text = (
            "{who} at {point} would bound it, as {cause}, but not remove it: the "
            "current root, {current}, would be bounded too and go alone."
        )
    telling.say(
        "R6a" if threat.turn.current_root_bounded else "R6b",
        text,
        who=named(threat.color),
        point=[threat.point],
        cause=_cause(board, threat.point, own),
        current=current,
    )


# A rule


class Situation(NamedTuple):
    """Where a game stands: its start, the position now, how many turns lie between."""

    start: Position
    position: Position
    turns: int


def rule(topic: str, situation: Situation) -> Explanation:
    """Explain a rule, with what it means on this board now.

    Args:
        topic: a name such as ``R6`` or ``P5``, or a word such as ``pass``.
        situation: the game.

    Raises:
        rulebook.UnknownTopic: no rule has this name or word.
    """
    position = situation.position
    winner = rules.winner(position)
    telling = Telling(position, position.to_move)
    for name in rulebook.find(topic):
        entry = rulebook.ENTRIES[name]
        telling.say(name, f"{entry.title.capitalize()}: {entry.text}")
        if entry.now and winner is None:
            names = fields(entry.now) & _FACTS.keys()
            facts = {fact: _FACTS[fact](situation) for fact in names}
            telling.say(name, entry.now, **facts)
    if winner is not None:
        telling.say("R8", "This game is over: {who} has won.", who=named(winner))
    return telling.done()


def most_turns(position: Position) -> int:
    """Return how many turns a game can last from here at most (RULES.md P5)."""
    if rules.winner(position) is not None:
        return 0
    area = position.size.area
    later = range(2, len(rules.roots(position)))
    return area - len(_stones(position)) + sum(area - roots for roots in later)


def _stones(position: Position) -> frozenset[int]:
    return position.black | position.white


def _roots_of(position: Position, color: Color) -> str:
    number = sum(root.color is color for root in rules.roots(position))
    return counted(number, f"{color.word} root")


def _narrowest(position: Position) -> Root:
    """Return a root that no other has fewer growth points than."""
    return min(
        rules.roots(position), key=lambda root: len(rules.growth_points(position, root))
    )


def _removing(position: Position, *, own: bool) -> set[int]:
    """Return the moves that would remove the current root, or else other roots."""
    return {
        threat.point
        for root in rules.roots(position)
        for threat in threats(position, root, position.to_move)
        if threat.removes and threat.turn.current_root_bounded is own
    }


_FACTS: dict[str, Callable[[Situation], Part]] = {
    "size": lambda now: str(now.start.size),
    "last": lambda now: [now.start.size.area - 1],
    "started_black": lambda now: len(now.start.black),
    "started_white": lambda now: len(now.start.white),
    "started_roots": lambda now: len(rules.roots(now.start)),
    "most": lambda now: most_turns(now.start),
    "left": lambda now: most_turns(now.position),
    "played": lambda now: counted(now.turns, "turn"),
    "legal": lambda now: rules.legal_moves(now.position),
    "black_roots": lambda now: _roots_of(now.position, Color.BLACK),
    "white_roots": lambda now: _roots_of(now.position, Color.WHITE),
    "roots": lambda now: len(rules.roots(now.position)),
    "stones": lambda now: len(_stones(now.position)),
    "narrowest": lambda now: _narrowest(now.position),
    "growth": lambda now: rules.growth_points(now.position, _narrowest(now.position)),
    "own_removals": lambda now: _removing(now.position, own=True),
    "other_removals": lambda now: _removing(now.position, own=False),
}
"""What the sentences ``now`` of `rulebook` may hold."""
