"""Time controls: what engines are told and what is left on the clocks."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.arena.clocks import (
    Clock,
    Control,
    ControlError,
    GameClock,
    PerMove,
    parse_clock,
)
from tanbo_engine.points import Color

BLACK, WHITE = Color
KATA = ("kata-time_settings", "time_settings")
PLAIN = ("time_settings", "time_left")


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("60", Clock(60, 0)),
        ("60+0.5", Clock(60, 0.5)),
        ("0.25+0", Clock(0.25, 0)),
        ("007+1", Clock(7, 1)),
        (".5+.1", Clock(0.5, 0.1)),
        ("5.", Clock(5, 0)),
    ],
)
def test_clocks_as_text(text: str, clock: Clock) -> None:
    assert parse_clock(text) == clock


@pytest.mark.parametrize(
    "text",
    [
        *("", "0", "0+1", "-1", "60+", "+1", "60+-1", "1+1+1", ".", ".+1"),
        *("1e3", "inf", "nan", "5 ", "5m", "\u0663"),
    ],
)
def test_no_clocks(text: str) -> None:
    with pytest.raises(ControlError) as told:
        parse_clock(text)
    assert str(told.value) == (
        f"invalid clock {text!r}: use MAIN or MAIN+INCREMENT in seconds, such as 60 or "
        "60+0.5"
    )


@pytest.mark.parametrize(
    ("control", "commands", "settings"),
    [
        (PerMove(0.25), KATA, "kata-time_settings byoyomi 0 0.25 1"),
        (PerMove(2.0), KATA, "kata-time_settings byoyomi 0 2 1"),
        (PerMove(2.0), PLAIN, "time_settings 0 2 1"),
        (Clock(60, 0.5), KATA, "kata-time_settings fischer 60 0.5"),
        (Clock(60.5, 0), KATA, "kata-time_settings absolute 60.5"),
        (Clock(60, 0), PLAIN, "time_settings 60 0 0"),
    ],
)
def test_what_engines_are_told(
    control: Control, commands: tuple[str, ...], settings: str
) -> None:
    assert control.settings(commands) == settings


@pytest.mark.parametrize(
    ("control", "commands", "words"),
    [
        (PerMove(0.25), PLAIN, r"0\.25 s a move needs kata-time_settings: .* whole"),
        (PerMove(1), (), "1 s a move cannot be told: no time_settings in its commands"),
        (Clock(60, 1), PLAIN, r"60 s a game \+ 1 s a move needs kata-time_settings"),
        (Clock(0.5, 0), PLAIN, r"0\.5 s a game needs kata-time_settings: .* whole"),
        (Clock(60, 0), ("time_left",), "60 s a game cannot be told: no time_settings"),
    ],
)
def test_what_cannot_be_told(
    control: Control, commands: tuple[str, ...], words: str
) -> None:
    with pytest.raises(ControlError, match=words):
        control.settings(commands)


SECONDS = st.one_of(
    st.integers(1, 1_000_000).map(float),
    st.integers(1, 10**9).map(lambda n: n / 1000),
)


@given(SECONDS, st.one_of(st.just(0.0), SECONDS))
def test_engines_are_told_the_very_number(main: float, increment: float) -> None:
    for control in (PerMove(main), Clock(main, increment)):
        words = control.settings(KATA).split()[2:]
        assert all(set(word) <= set("0123456789.") for word in words), words
        wanted: list[Any] = [0, main, 1]
        if isinstance(control, Clock):
            wanted = [main, increment] if increment else [main]
        assert [float(word) for word in words] == wanted


def test_no_control() -> None:
    clock = GameClock(None)
    clock.spend(BLACK, 1000)
    assert clock.limit(BLACK) is None
    assert clock.time_left(WHITE, KATA) is None


def test_time_for_every_move_is_no_clock() -> None:
    clock = GameClock(PerMove(0.5))
    for seconds in (0.1, 0.6, 0.5):
        assert clock.limit(BLACK) == 0.5
        assert clock.limit(WHITE) == 0.5
        assert clock.time_left(BLACK, KATA) is None
        clock.spend(BLACK, seconds)


def test_a_clock_for_each_side() -> None:
    clock = GameClock(Clock(10, 0.5))
    assert clock.limit(BLACK) == clock.limit(WHITE) == 10
    clock.spend(BLACK, 4)
    assert clock.limit(BLACK) == 6.5
    assert clock.limit(WHITE) == 10
    clock.spend(WHITE, 10)
    assert clock.limit(WHITE) == 0.5
    clock.spend(BLACK, 6.53)  # within the margin, or the game would be over
    assert clock.limit(BLACK) == 0.5


def test_a_clock_without_increment_runs_out() -> None:
    clock = GameClock(Clock(1, 0))
    clock.spend(WHITE, 1.02)
    assert clock.limit(WHITE) == 0
    assert clock.time_left(WHITE, KATA) == "w 0.00 0"


def test_what_is_left_in_words() -> None:
    clock = GameClock(Clock(10, 0))
    clock.spend(BLACK, 3.333)
    assert clock.time_left(BLACK, (*KATA, "time_left")) == "b 6.67 0"
    assert clock.time_left(WHITE, (*KATA, "time_left")) == "w 10.00 0"


def test_an_engine_of_whole_seconds_is_told_whole_seconds() -> None:
    # GTP: "int time"; decimals are for those that list kata-time_settings.
    clock = GameClock(Clock(10, 0))
    clock.spend(BLACK, 3.333)
    assert clock.time_left(BLACK, PLAIN) == "b 6 0"


def test_controls_in_words() -> None:
    assert str(PerMove(0.1)) == "0.1 s a move"
    assert str(Clock(60, 0)) == "60 s a game"
    assert str(Clock(60, 0.5)) == "60 s a game + 0.5 s a move"
