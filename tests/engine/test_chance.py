import pytest

from tanbo_engine import setups
from tanbo_engine._kernel import StopFlag
from tanbo_engine.chance import SIZES, SLOPES, SUREST, believable, slope_for
from tanbo_engine.game import Game
from tanbo_engine.player import Limits, SearchPlayer


@pytest.mark.parametrize("area", [9, 49, 50, 121, 625])
def test_a_chance_is_even_where_the_value_is_and_grows_with_it(area: int) -> None:
    chances = [believable(value / 100, area) for value in range(101)]
    assert chances == sorted(chances)
    assert chances[50] == pytest.approx(0.5)
    for one, other in zip(chances, reversed(chances), strict=True):
        assert one + other == pytest.approx(1)
    assert chances[0] == pytest.approx(1 - SUREST)
    assert chances[100] == pytest.approx(SUREST)


def test_a_slope_stretches_the_log_odds() -> None:
    # Odds of 3 to 1, to the power of the slope.
    for search, slopes in SLOPES.items():
        assert tuple(slopes) == SIZES
        for area, slope in ((49, slopes[49]), (400, slope_for(400, search))):
            odds = 3**slope
            chance = believable(0.75, area, search)
            assert chance == pytest.approx(odds / (1 + odds))
    assert believable(0.75, 49, "uct") == 0.75


def test_a_player_tells_chances_and_ranks_as_its_search_does() -> None:
    game = Game(setups.by_name("dense-7x7").position())
    limits, stop = Limits(visits=3000), StopFlag()
    report = SearchPlayer(8, 1).search(game, limits, stop)
    values = {c.visits: c.value for c in report.candidates if c.visits > 100}
    assert report.value == report.candidates[0].value
    assert all(0 < value < 1 for value in values.values())
    assert max(report.candidates, key=lambda c: c.visits) == report.candidates[0]


def test_what_is_proved_is_certain() -> None:
    game = Game(setups.by_name("dense-3x3").position())
    report = SearchPlayer(8, 1).search(game, Limits(visits=100_000), StopFlag())
    assert report.proof == -1
    assert report.value == 0
