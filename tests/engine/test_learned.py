import math

import pytest

from . import learned
from .support import STYLES, as_plain, kernel, play_on

READ = learned.read_weights()
NAMES = ["dense-3x5", "classic-5x5", "dense-7x7", "classic-9x9", "dense-5x11"]

TABLE_ERROR = 1 / 4 / 512 + 1e-6
"""The kernel looks the logistic function up in steps of 1/256; its slope is at most
1/4."""


def test_neighbourhoods_and_patterns_are_as_many_as_the_file_may_name() -> None:
    assert len(learned.QUAD_NUMBERS) == 3081
    assert max(READ.lanes) < 38 * 3081
    assert len(READ.lanes) > 1000


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", NAMES)
def test_value_and_policy_are_those_of_the_description(name: str, style: str) -> None:
    checked = 0
    for seed in range(3):
        position = kernel(name)
        moves = play_on(kernel(name), seed, style)
        for turn, point in enumerate(moves):
            if turn % max(1, len(moves) // 8) == seed:
                plain = as_plain(position)
                odds = learned.log_odds(plain, READ)
                value = 1 / (1 + math.exp(-odds))
                assert position.evaluate() == pytest.approx(value, abs=TABLE_ERROR)
                weights = learned.move_weights(plain, READ)
                assert dict(position.move_weights()) == pytest.approx(weights)
                checked += 1
            position.make(point)
    assert checked > 5


def test_the_largest_board_is_judged_so_too() -> None:
    position = kernel("dense-23x25")
    for point in play_on(kernel("dense-23x25"), 1)[:150]:
        position.make(point)
    plain = as_plain(position)
    value = 1 / (1 + math.exp(-learned.log_odds(plain, READ)))
    assert position.evaluate() == pytest.approx(value, abs=TABLE_ERROR)
    weights = learned.move_weights(plain, READ)
    assert dict(position.move_weights()) == pytest.approx(weights)
