import itertools
import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tanbo_engine.clock import (
    RESERVE_SECONDS,
    Clock,
    Outlook,
    Plan,
    TimeControl,
    TimeSystem,
    outlook,
    with_reserve,
)
from tanbo_engine.game import Game
from tanbo_engine.points import Color

from .support import as_plain, before_the_end, start

BLACK, WHITE = Color
AHEAD = Outlook(likely=17, longest=51, progress=1)
OUTLOOKS = [
    AHEAD,
    Outlook(likely=30, longest=90, progress=0),
    Outlook(likely=4, longest=30, progress=0.9),
    Outlook(likely=200, longest=600, progress=0.3),
]
LEAST = 0.001

ABSOLUTE = TimeControl(TimeSystem.ABSOLUTE, main=100)
BYOYOMI = TimeControl(TimeSystem.BYOYOMI, main=20, period=5, periods=3)
CANADIAN = TimeControl(TimeSystem.CANADIAN, main=20, period=30, periods=10)
FISCHER = TimeControl(TimeSystem.FISCHER, main=20, increment=2)
CAPPED = TimeControl(
    TimeSystem.FISCHER_CAPPED, main=20, increment=8, main_limit=25, move_limit=6
)
CONTROLS = [
    ABSOLUTE,
    BYOYOMI,
    CANADIAN,
    FISCHER,
    CAPPED,
    TimeControl(TimeSystem.BYOYOMI, main=0, period=1, periods=1),
    TimeControl(TimeSystem.CANADIAN, main=0, period=2, periods=25),
    TimeControl(TimeSystem.CANADIAN, main=60, period=5, periods=1),
    TimeControl(TimeSystem.FISCHER, main=1, increment=0.1),
    TimeControl(TimeSystem.FISCHER, main=1, increment=30),
]
IDS = [
    f"{c.system.value}-{c.main}+{c.period}/{c.periods}+{c.increment}" for c in CONTROLS
]


def clock_of(control: TimeControl) -> Clock:
    clock = Clock()
    clock.configure(control)
    return clock


def plan(clock: Clock, color: Color = BLACK, ahead: Outlook = AHEAD) -> Plan:
    made = clock.plan(color, ahead)
    assert made is not None
    return made


def budget(clock: Clock, color: Color = BLACK, ahead: Outlook = AHEAD) -> float:
    return plan(clock, color, ahead).target


class Referee:
    """One side's clock as a referee keeps it, who flags a side that runs out."""

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self.main = control.main
        self.period = control.period
        self.periods = control.periods
        self.flagged = False

    @property
    def left(self) -> float:
        """Time for one move without running out or losing a period."""
        overtime = self.control.system in (TimeSystem.BYOYOMI, TimeSystem.CANADIAN)
        return self.main + self.period if overtime else self.main

    def spend(self, seconds: float) -> None:
        control = self.control
        late = max(0.0, seconds - self.main)
        overtime = late > 0 or self.main == 0
        self.main = max(0.0, self.main - seconds)
        if control.system is TimeSystem.ABSOLUTE:
            self.flagged |= late > 0
        elif control.system is TimeSystem.BYOYOMI:
            while late > control.period:
                late -= control.period
                self.periods -= 1
            self.flagged |= self.periods <= 0
        elif control.system is TimeSystem.CANADIAN and overtime:
            self.period -= late
            self.periods -= 1
            self.flagged |= self.period < 0
            if self.periods == 0:
                self.period, self.periods = control.period, control.periods
        elif control.system is not TimeSystem.CANADIAN:
            self.flagged |= late > 0
            self.main = min(self.main + control.increment, control.main_limit)


# Without a clock


def test_without_time_settings_no_move_has_a_limit() -> None:
    clock = Clock()
    assert clock.plan(BLACK, AHEAD) is None
    clock.spend(BLACK, 1000)
    assert clock.plan(BLACK, AHEAD) is None
    assert clock.plan(WHITE, AHEAD) is None


def test_time_left_without_time_settings_is_absolute_time_for_both() -> None:
    clock = Clock()
    clock.set_left(WHITE, 100, 0)
    assert budget(clock, WHITE) == budget(clock_of(ABSOLUTE))
    assert budget(clock, BLACK) == budget(clock_of(ABSOLUTE))
    clock.set_left(BLACK, 10, 0)
    assert budget(clock, BLACK) < 10
    assert budget(clock, WHITE) == budget(clock_of(ABSOLUTE))


def test_no_limit_can_be_set_again() -> None:
    clock = clock_of(ABSOLUTE)
    clock.configure(TimeControl(TimeSystem.NONE))
    assert clock.plan(BLACK, AHEAD) is None


# Every system


@pytest.mark.parametrize("control", CONTROLS, ids=IDS)
def test_playing_within_the_budget_never_runs_out_of_time(control: TimeControl) -> None:
    clock, referee = clock_of(control), Referee(control)
    for _ in range(60):
        think = plan(clock).maximum
        on_the_way = min(RESERVE_SECONDS, think / 4)
        clock.spend(BLACK, think + on_the_way)
        referee.spend(think + on_the_way)
        assert not referee.flagged
    if control.system is TimeSystem.BYOYOMI:
        assert referee.periods == control.periods


@pytest.mark.parametrize("control", CONTROLS, ids=IDS)
@given(data=st.data())
def test_the_budget_is_above_zero_and_never_above_what_is_left(
    control: TimeControl, data: st.DataObject
) -> None:
    clock, referee = clock_of(control), Referee(control)
    ahead = data.draw(st.sampled_from(OUTLOOKS))
    shares = st.floats(0, 1.2) | st.sampled_from([0.0, 0.5, 1.0])
    for share in data.draw(st.lists(shares, max_size=30)):
        target, maximum, _ = plan(clock, BLACK, ahead)
        assert 0 < target <= maximum <= max(LEAST, referee.left)
        assert maximum <= control.move_limit
        clock.spend(BLACK, share * referee.left)
        referee.spend(share * referee.left)
        if referee.flagged:
            break


@pytest.mark.parametrize("control", CONTROLS, ids=IDS)
@given(seconds=st.floats(0, 1000), periods=st.integers(0, 30))
def test_the_budget_is_never_above_the_time_the_front_end_says_is_left(
    control: TimeControl, seconds: float, periods: int
) -> None:
    clock = clock_of(control)
    clock.set_left(BLACK, seconds, periods)
    overtime = control.system in (TimeSystem.BYOYOMI, TimeSystem.CANADIAN)
    left = seconds + control.period if overtime and not periods else seconds
    target, maximum, _ = plan(clock)
    assert 0 < target <= maximum <= max(LEAST, left)


@pytest.mark.parametrize("control", CONTROLS, ids=IDS)
def test_the_clocks_of_both_sides_are_independent(control: TimeControl) -> None:
    clock = clock_of(control)
    untouched = budget(clock, WHITE)
    assert budget(clock, BLACK) == untouched
    clock.spend(BLACK, control.main + control.period / 2)
    clock.set_left(BLACK, 0.5, 0)
    assert budget(clock, WHITE) == untouched


@pytest.mark.parametrize("control", CONTROLS, ids=IDS)
@pytest.mark.parametrize("again", [Clock.restart, lambda c: c.configure(c.control)])
def test_a_new_game_starts_both_clocks_afresh(
    control: TimeControl, again: object
) -> None:
    clock = clock_of(control)
    fresh = budget(clock)
    for color in Color:
        clock.spend(color, control.main + control.period * 0.9)
        clock.set_left(color, 0.1, 1)
    assert callable(again)
    again(clock)
    assert [budget(clock, color) for color in Color] == [fresh, fresh]


@pytest.mark.parametrize("control", CONTROLS, ids=IDS)
def test_a_negative_time_left_counts_as_none(control: TimeControl) -> None:
    clock, none = clock_of(control), clock_of(control)
    for periods in (0, 1):
        clock.set_left(BLACK, -5, periods)
        none.set_left(BLACK, 0, periods)
        assert budget(clock) == budget(none) > 0


@pytest.mark.parametrize("control", CONTROLS[:5], ids=IDS[:5])
def test_the_time_the_front_end_says_is_left_replaces_ours(
    control: TimeControl,
) -> None:
    spent, fresh = clock_of(control), clock_of(control)
    spent.spend(BLACK, control.main * 0.9)
    for clock in (spent, fresh):
        clock.set_left(BLACK, control.main, 0)
    assert budget(spent) == budget(fresh)


# Absolute


def test_absolute_time_is_spread_over_the_moves_of_a_game() -> None:
    clock = clock_of(ABSOLUTE)
    assert 100 / 40 < budget(clock) < 100 / 10
    more = AHEAD._replace(likely=2 * AHEAD.likely)
    assert budget(clock, ahead=more) == pytest.approx(budget(clock) / 2)


def test_absolute_time_shrinks_as_it_is_spent() -> None:
    clock = clock_of(ABSOLUTE)
    budgets = []
    for _ in range(4):
        budgets.append(budget(clock))
        clock.spend(BLACK, 20)
    assert budgets == sorted(budgets, reverse=True)
    clock.spend(BLACK, 20)
    assert budget(clock) == LEAST


def test_periods_mean_nothing_under_absolute_time() -> None:
    one, two = clock_of(ABSOLUTE), clock_of(ABSOLUTE)
    one.set_left(BLACK, 50, 0)
    two.set_left(BLACK, 50, 7)
    assert budget(one) == budget(two)


# Byo-yomi


def test_in_byoyomi_a_move_may_take_the_whole_period() -> None:
    clock = clock_of(BYOYOMI)
    clock.spend(BLACK, 20)
    for _ in range(5):
        assert budget(clock) == with_reserve(5)
        clock.spend(BLACK, 4.9)


def test_a_byoyomi_period_is_a_floor_while_main_time_runs() -> None:
    assert budget(clock_of(BYOYOMI)) >= with_reserve(5)
    long = TimeControl(TimeSystem.BYOYOMI, main=1000, period=1, periods=1)
    assert budget(clock_of(long)) > with_reserve(1)


def test_the_end_of_main_time_runs_into_the_first_byoyomi_period() -> None:
    clock = clock_of(BYOYOMI)
    clock.set_left(BLACK, 0.5, 0)
    assert budget(clock) <= with_reserve(5.5)
    clock.spend(BLACK, 3)
    assert budget(clock) == with_reserve(5)


def test_time_left_in_byoyomi_is_the_rest_of_a_period() -> None:
    clock = clock_of(BYOYOMI)
    clock.set_left(BLACK, 3, 2)
    assert budget(clock) == with_reserve(3)
    clock.spend(BLACK, 1)  # in time: the period is whole again
    assert budget(clock) == with_reserve(5)


def test_an_overrun_byoyomi_still_leaves_one_period() -> None:
    clock = clock_of(BYOYOMI)
    clock.spend(BLACK, 1000)
    assert budget(clock) == with_reserve(5)


# Canadian


def test_a_canadian_period_is_shared_by_its_stones() -> None:
    clock = clock_of(CANADIAN)
    clock.spend(BLACK, 20)
    for _ in range(3):
        assert budget(clock) == with_reserve(3)
        clock.spend(BLACK, 3)


def test_saved_canadian_time_goes_to_the_stones_that_follow() -> None:
    clock = clock_of(CANADIAN._replace(main=0))
    clock.spend(BLACK, 0)
    assert budget(clock) == with_reserve(30 / 9)
    clock.spend(BLACK, 6)
    assert budget(clock) == with_reserve(24 / 8)


def test_a_canadian_period_is_whole_again_after_its_last_stone() -> None:
    clock = clock_of(CANADIAN)
    clock.spend(BLACK, 20)
    for _ in range(10):
        clock.spend(BLACK, 0.1)
    assert budget(clock) == with_reserve(3)


def test_the_move_that_ends_main_time_is_the_first_canadian_stone() -> None:
    clock = clock_of(CANADIAN)
    clock.spend(BLACK, 26)
    assert budget(clock) == with_reserve(24 / 9)


def test_a_canadian_period_whose_begin_is_a_guess_is_shared_evenly_at_most() -> None:
    # Our own books may be a stone ahead: what looks like the first of a new period
    # can be the last of the old one.
    clock = clock_of(CANADIAN)
    clock.spend(BLACK, 20)
    clock.spend(BLACK, 0)
    target, maximum, saves = plan(clock)
    assert target == maximum == with_reserve(3)
    assert not saves


def test_time_left_in_canadian_overtime_is_for_the_stones_left() -> None:
    clock = clock_of(CANADIAN)
    clock.set_left(BLACK, 8, 4)
    assert budget(clock) == with_reserve(2)
    clock.spend(BLACK, 5)
    assert budget(clock) == with_reserve(1)
    clock.set_left(BLACK, 12, 1)
    assert budget(clock) == with_reserve(12)


@pytest.mark.parametrize("control", [BYOYOMI, CANADIAN], ids=["byoyomi", "canadian"])
def test_main_time_that_is_back_has_its_whole_overtime_behind_it(
    control: TimeControl,
) -> None:
    # After an undo the front end may tell main time again.
    clock, fresh = clock_of(control), clock_of(control)
    clock.set_left(BLACK, 1, 1)
    for each in (clock, fresh):
        each.set_left(BLACK, 10, 0)
        each.spend(BLACK, 12)
    assert budget(clock) == budget(fresh)


# Fischer


def test_the_increment_comes_after_the_move() -> None:
    clock = clock_of(TimeControl(TimeSystem.FISCHER, main=1, increment=30))
    assert budget(clock) < 1
    clock.spend(BLACK, 0.5)
    assert budget(clock) > 20


def test_a_long_fischer_game_lives_on_its_increment() -> None:
    clock = clock_of(FISCHER)
    spent = []
    for _ in range(300):
        spent.append(budget(clock))
        clock.spend(BLACK, spent[-1])
    assert spent[0] > 2
    assert spent[-1] == pytest.approx(2, abs=0.01)


def test_saved_fischer_time_grows_to_its_limit_only() -> None:
    clock, full = clock_of(CAPPED), clock_of(CAPPED)
    for _ in range(10):
        clock.spend(BLACK, 0.1)
    full.set_left(BLACK, 25, 0)
    assert budget(clock) == budget(full)


def test_uncapped_fischer_time_grows_without_limit() -> None:
    clock = clock_of(FISCHER)
    for _ in range(1000):
        clock.spend(BLACK, 0)
    assert budget(clock) > 50


def test_a_capped_fischer_move_has_its_own_limit() -> None:
    assert budget(clock_of(CAPPED)) == with_reserve(6)


# The reserve


@pytest.mark.parametrize(
    ("seconds", "thinking"),
    [(10, 9.97), (1, 0.97), (0.15, 0.12), (0.1, 0.08), (0.01, 0.008), (0, LEAST)],
)
def test_the_reserve_is_30_milliseconds_or_a_fifth(
    seconds: float, thinking: float
) -> None:
    assert with_reserve(seconds) == pytest.approx(thinking)


def test_more_time_never_means_less_thinking() -> None:
    source = random.Random(1)
    times = sorted(source.expovariate(1) for _ in range(200))
    for less, more in itertools.pairwise(with_reserve(time) for time in times):
        assert less <= more


def test_the_words_of_the_systems_are_those_of_kata_time_settings() -> None:
    assert [system.value for system in TimeSystem] == [
        "none",
        "absolute",
        "byoyomi",
        "canadian",
        "fischer",
        "fischer-capped",
    ]


def test_time_told_without_settings_is_forgotten_with_the_game() -> None:
    clock = Clock()
    clock.set_left(BLACK, 5, 0)
    assert clock.plan(BLACK, AHEAD) is not None
    clock.restart()
    assert clock.plan(BLACK, AHEAD) is None


# The outlook


@pytest.mark.parametrize(
    ("name", "moves"), [("dense-7x7", 29), ("classic-9x9", 31), ("classic-13x13", 79)]
)
def test_the_moves_to_come_are_about_those_of_measured_games(
    name: str, moves: int
) -> None:
    game = Game(start(name))
    assert outlook(game).likely == pytest.approx(moves, rel=0.1)
    assert outlook(game).longest > 2.5 * moves
    assert outlook(game).progress == 0


def test_fewer_moves_are_to_come_as_a_game_goes_on_but_always_some() -> None:
    game = Game(start("dense-7x7"))
    outlooks = [outlook(game)]
    while game.winner is None:
        game.play(game.legal_moves()[0])
        outlooks.append(outlook(game))
    for before, after in itertools.pairwise(outlooks):
        assert after.likely <= before.likely
        assert after.longest <= before.longest
        assert before.progress <= after.progress <= 1
    assert outlooks[-1].likely >= 3


def test_a_made_up_position_begins_with_less_to_come() -> None:
    late = Game(as_plain(before_the_end("dense-7x7", 1, 10)))
    fresh = Game(start("dense-7x7"))
    assert outlook(late).likely < outlook(fresh).likely / 2
    assert outlook(late).progress > 0.3


# Whole games


@pytest.mark.parametrize("ahead", OUTLOOKS[:2])
def test_a_move_in_the_middle_gets_more_of_what_is_left(ahead: Outlook) -> None:
    shares = [
        budget(clock_of(ABSOLUTE), ahead=ahead._replace(progress=progress))
        for progress in (0, 0.3, 0.6, 1)
    ]
    assert shares == sorted(shares)
    assert shares[-1] < 2.1 * shares[0]


def controls() -> st.SearchStrategy[TimeControl]:
    """Return controls of every system, from hardly any time to a lot."""
    times = st.floats(0, 0.2) | st.floats(0, 5) | st.floats(0, 4000)
    counts = st.integers(1, 40)
    none = st.just(float("inf"))
    overtime = st.tuples(times, times, counts)
    # Below 0.1 s the reserve of a single move is less than 20 ms (CONTRACT.md).
    byoyomi = st.tuples(times, st.floats(0.1, 90), counts)
    fischer = st.tuples(times, st.just(0.0), st.just(0), times)
    capped = st.tuples(
        *(times, st.just(0.0), st.just(0), times),
        *(none | st.floats(0.2, 4000), none | st.floats(0.05, 100)),
    )
    numbers: dict[TimeSystem, st.SearchStrategy[tuple[float, ...]]] = {
        TimeSystem.ABSOLUTE: st.tuples(times),
        TimeSystem.BYOYOMI: byoyomi,
        TimeSystem.CANADIAN: overtime,
        TimeSystem.FISCHER: fischer,
        TimeSystem.FISCHER_CAPPED: capped,
    }
    return st.sampled_from(list(numbers)).flatmap(
        lambda system: numbers[system].map(
            lambda given: TimeControl(system, *given)  # type: ignore[arg-type]
        )
    )


def survives(control: TimeControl, delays: list[float], *, told: bool | None) -> bool:
    """Play a long game on a clock; tell whether its end comes before the flag.

    Args:
        control: the time control.
        delays: seconds on the way, for each move in turn.
        told: whether the front end tells the time left; None plays without thinking,
            10 ms a move and 20 ms on the way.
    """
    start_of_game = Outlook(likely=30, longest=90, progress=0)
    clock, referee = clock_of(control), Referee(control)
    for made in range(90):
        ahead = Outlook(
            max(4, 30 - made), max(30, start_of_game.longest - made), min(1, made / 30)
        )
        think = 0.010 if told is None else plan(clock, ahead=ahead).maximum
        delay = 0.020 if told is None else delays[made % len(delays)]
        clock.spend(BLACK, think + RESERVE_SECONDS)
        referee.spend(think + delay)
        if referee.flagged:
            return False
        if told:
            in_overtime = referee.main <= 0 and control.period > 0
            left = referee.period if in_overtime else referee.main
            clock.set_left(BLACK, left, referee.periods if in_overtime else 0)
    return True


@settings(max_examples=300, deadline=None)
@given(
    control=controls(),
    delays=st.lists(st.floats(0, 0.020) | st.just(0.020), min_size=1, max_size=5),
    told=st.booleans(),
)
def test_no_game_is_lost_on_time_that_a_quick_mover_would_not_lose(
    control: TimeControl, delays: list[float], told: bool
) -> None:
    assume(survives(control, delays, told=None))
    assert survives(control, delays, told=told)


def ways_told(clock: Clock, ways: list[float], think: float = 0.1) -> float:
    """Return what is left after moves of whose clock the front end tells."""
    left = clock.control.main - 0.0001
    clock.set_left(BLACK, left, 0)
    for way in ways:
        clock.spend(BLACK, think + RESERVE_SECONDS)
        left -= think + way
        clock.set_left(BLACK, left, 0)
    return left


def test_the_way_to_the_front_end_is_learned_where_it_tells_the_time_left() -> None:
    clock = Clock()
    clock.configure(TimeControl(TimeSystem.ABSOLUTE, 60.0))
    assert clock.way == RESERVE_SECONDS
    ways_told(clock, [0.001, 0.002])
    assert clock.way == RESERVE_SECONDS  # too few to tell
    ways_told(clock, [0.001] * 3)
    assert clock.way == pytest.approx(0.003 + 2 * 0.002)
    ways_told(clock, [0.001] * 8)
    assert clock.way == pytest.approx(0.003 + 2 * 0.001)
    ways_told(clock, [0.5])
    assert clock.way == RESERVE_SECONDS


def test_whole_seconds_and_our_own_books_tell_nothing_of_the_way() -> None:
    clock = Clock()
    clock.configure(TimeControl(TimeSystem.ABSOLUTE, 60.0))
    for left in range(59, 50, -1):
        clock.set_left(BLACK, float(left), 0)
        clock.spend(BLACK, 0.97)
        clock.spend(BLACK, 0.0)
    assert clock.way == RESERVE_SECONDS


def test_a_short_way_leaves_more_for_the_moves() -> None:
    control = TimeControl(TimeSystem.ABSOLUTE, 5.0)
    slow, quick = clock_of(control), clock_of(control)
    left = ways_told(quick, [0.001] * 4)
    slow.set_left(BLACK, left, 0)
    assert plan(quick).target > 1.3 * plan(slow).target
    assert plan(quick).maximum <= left - RESERVE_SECONDS
