"""The compiled prover: keys, values, limits."""

import itertools
import random
import threading
import time

import pytest

from tanbo_engine import rules
from tanbo_engine._kernel import Position, StopFlag
from tanbo_engine._prover import Prover
from tanbo_engine.game import kernel_position
from tanbo_engine.points import Color, Size

from .support import as_plain, before_the_end, kernel, play_on, start

MB = 1 << 20
ALL = 1 << 40


def proved(position: Position, memory: int = 8 * MB) -> Prover:
    """Return a prover that is done with a position."""
    prover = Prover(position.width, position.height, memory)
    prover.start(position)
    assert not prover.run(ALL, StopFlag())
    return prover


def images(position: rules.Position) -> list[rules.Position]:
    """Return what a position is in every mirror, turned, and in swapped colours."""
    width, height = position.size
    found = []
    for flip_x, flip_y, turn, swap in itertools.product((False, True), repeat=4):
        if turn and width != height:
            continue
        stones: list[frozenset[int]] = []
        for color in Color:
            moved = set()
            for y, x in (divmod(stone, width) for stone in position.stones(color)):
                to = (width - 1 - x if flip_x else x, height - 1 - y if flip_y else y)
                to = to[::-1] if turn else to
                moved.add(to[1] * width + to[0])
            stones.append(frozenset(moved))
        mover = position.to_move
        if swap:
            stones.reverse()
            mover = mover.opponent
        found.append(rules.Position(position.size, stones[0], stones[1], mover))
    return found


def positions_of(name: str) -> set[rules.Position]:
    """Return every position of a small set-up in which the game goes on."""
    found: set[rules.Position] = set()
    todo = [start(name)]
    while todo:
        position = todo.pop()
        if position not in found and rules.winner(position) is None:
            found.add(position)
            todo += [
                rules.play(position, point).after
                for point in rules.legal_moves(position)
            ]
    return found


def stones_by_turn(position: rules.Position) -> list[list[int]]:
    """Return the stones of the side to move, then the others."""
    mover = position.to_move
    return [sorted(position.stones(color)) for color in (mover, mover.opponent)]


def key_before(position: rules.Position, point: int) -> int:
    """Return the prover's key of what a move leads to, 0 if that is the end."""
    prover = Prover(*position.size, MB)
    prover.start(kernel_position(position))
    keys = {child[0]: child[1] for child in prover.children()}
    return keys.get(point, 0)


class TooLarge(Exception):  # noqa: N818
    """Trying everything would take too long."""


def plain_mover_wins(
    position: rules.Position, known: dict[rules.Position, bool]
) -> bool:
    """Try everything by the plain rules, up to some thousand positions."""
    won = rules.winner(position)
    if won is not None:
        return won is position.to_move
    if position not in known:
        if len(known) > 1500:
            raise TooLarge
        known[position] = False  # for the count; no position comes again (P4)
        known[position] = any(
            not plain_mover_wins(rules.play(position, point).after, known)
            for point in rules.legal_moves(position)
        )
    return known[position]


@pytest.mark.parametrize(
    ("name", "proof"),
    [("dense-3x3", -1), ("dense-3x5", -1), ("dense-3x7", -1), ("classic-5x5", 1)],
)
def test_the_known_winners(name: str, proof: int) -> None:
    prover = proved(kernel(name), 32 * MB)
    assert prover.proof == proof
    assert (prover.best_move >= 0) == (proof == 1)


def test_a_key_stands_for_a_position_and_its_images_alone() -> None:
    names: dict[int, list[list[int]]] = {}
    for position in positions_of("dense-3x3"):
        for point in rules.legal_moves(position):
            after = rules.play(position, point).after
            key = key_before(position, point)
            if key == 0:
                continue
            name = min(map(stones_by_turn, images(after)))
            assert names.setdefault(key, name) == name
    assert len({str(name) for name in names.values()}) == len(names) > 50


@pytest.mark.parametrize("name", ["dense-3x5", "classic-5x5", "classic-7x7"])
def test_images_have_the_same_keys_and_the_same_winner(name: str) -> None:
    for seed in range(4):
        position = as_plain(before_the_end(name, seed, 6))
        proofs, keys = set(), set()
        for image in images(position):
            prover = Prover(*image.size, MB)
            prover.start(kernel_position(image))
            keys.add(str(sorted(child[1] for child in prover.children())))
            prover.run(ALL, StopFlag())
            proofs.add(prover.proof)
        assert len(proofs) == len(keys) == 1


@pytest.mark.parametrize(
    "name", ["dense-3x5", "dense-3x7", "classic-5x5", "dense-5x7", "dense-7x7"]
)
def test_late_positions_agree_with_trying_everything(name: str) -> None:
    proofs = []
    for seed in range(14):
        position = before_the_end(name, seed, 3 + seed % 6)
        try:
            wins = plain_mover_wins(as_plain(position), {})
        except TooLarge:
            continue
        prover = proved(position, 8 * MB if seed % 2 else MB // 2)
        assert prover.proof == (1 if wins else -1)
        if wins:
            position.make(prover.best_move)
            assert not plain_mover_wins(as_plain(position), {})
        proofs.append(prover.proof)
    assert {1, -1} <= set(proofs)


def test_a_table_that_is_too_small_costs_time_only() -> None:
    prover = proved(kernel("dense-3x7"), MB // 2)
    assert prover.table_use == 1
    assert prover.proof == -1
    assert prover.moves > 1.5 * proved(kernel("dense-3x7"), 32 * MB).moves


def test_work_can_be_cut_in_slices() -> None:
    whole, parts = proved(kernel("dense-3x5")), Prover(3, 5, 8 * MB)
    parts.start(kernel("dense-3x5"))
    while parts.run(1, StopFlag()):
        pass
    assert (parts.proof, parts.moves) == (whole.proof, whole.moves)


def test_what_is_known_is_kept_for_the_next_position() -> None:
    position = kernel("dense-3x5")
    prover = proved(position)
    first = prover.moves
    prover.start(position)
    prover.run(ALL, StopFlag())
    assert prover.proof == -1
    assert prover.moves < first / 100


def test_a_path_without_room_ends_the_work() -> None:
    prover = Prover(19, 19, MB // 4)
    prover.start(kernel("dense-19x19"))
    assert not prover.run(ALL, StopFlag())
    assert prover.proof == 0
    prover.start(before_the_end("dense-19x19", 1, 1))
    prover.run(ALL, StopFlag())
    assert prover.proof != 0


def test_no_room_for_the_first_position() -> None:
    prover = Prover(7, 7, 256)
    prover.start(kernel("dense-7x7"))
    assert not prover.run(ALL, StopFlag())
    assert (prover.proof, prover.refuted, prover.children()) == (0, (0, 0), [])


def test_a_flag_ends_the_work_from_another_thread() -> None:
    stop, prover = StopFlag(), Prover(7, 7, 8 * MB)
    prover.start(kernel("dense-7x7"))

    def stop_at_work() -> None:
        while not prover.moves:
            time.sleep(0.001)
        stop.set()

    threading.Thread(target=stop_at_work).start()
    assert prover.run(ALL, stop)
    assert prover.proof == 0
    before = prover.moves
    assert prover.run(ALL, stop)
    assert prover.moves == before


def test_the_position_is_not_changed_and_may_change() -> None:
    position = kernel("dense-3x5")
    prover = Prover(3, 5, MB)
    prover.start(position)
    play_on(position, 1)
    assert position.check() == ""
    prover.run(ALL, StopFlag())
    assert prover.proof == -1


def test_children_tell_key_proof_and_effort() -> None:
    position = kernel("classic-5x5")
    prover = proved(position, 32 * MB)
    children = prover.children()
    assert sorted(child[0] for child in children) == position.legal_moves(0)
    proofs = {point: proof for point, _, proof, _ in children}
    assert proofs[prover.best_move] == 1
    assert all(effort > 0 for _, _, proof, effort in children if proof != 0)
    position.make(children[0][0])
    assert prover.refuted == (sum(p == -1 for p in proofs.values()), 4)


def test_a_move_that_wins_at_once_comes_alone() -> None:
    source = random.Random(1)
    for _ in range(20):
        position = before_the_end("dense-3x5", source.randrange(1000), 1)
        prover = proved(position)
        if prover.proof == 1:
            assert len(prover.children()) == 1
            assert prover.children()[0][1:3] == (0, 1)
            return
    pytest.fail("no such position")


def test_before_the_start_nothing_is_known() -> None:
    prover = Prover(3, 3, MB)
    assert not prover.run(1, StopFlag())
    assert (prover.proof, prover.best_move, prover.children()) == (0, -1, [])


def test_what_cannot_be_proved() -> None:
    prover = Prover(3, 3, MB)
    with pytest.raises(ValueError, match="over"):
        prover.start(before_the_end("dense-3x3", 1, 0))
    with pytest.raises(ValueError, match="3x3"):
        prover.start(kernel("dense-3x5"))
    with pytest.raises(MemoryError, match="MB"):
        Prover(3, 3, 1 << 60)


def test_sizes_of_all_sorts() -> None:
    for size in (Size(3, 3), Size(9, 5), Size(7, 9), Size(25, 25)):
        black, white = frozenset({0}), frozenset({size.area - 1})
        position = rules.Position(size, black, white)
        prover = Prover(*size, MB)
        prover.start(kernel_position(position))
        assert len({child[1] for child in prover.children()}) == (
            1 if size.width == size.height else 2
        )
