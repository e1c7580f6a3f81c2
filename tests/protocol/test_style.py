"""How the engine plays as settings want it: resignation, variety, levels."""

import pytest

from protocol.session import Session
from tanbo_engine.levels import LEVELS
from tanbo_engine.player import Report

from .talk import ask, new_session, play_out, response


def pretend(session: Session, monkeypatch: pytest.MonkeyPatch, *values: float) -> None:
    """Let the next searches find these chances to win, the last one from then on."""
    search, left = session._player.think, list(values)

    async def think(*given: object, **options: object) -> Report:
        report = await search(*given, **options)  # type: ignore[arg-type]
        value = left.pop(0) if len(left) > 1 else left[0]
        return report._replace(value=value)

    monkeypatch.setattr(session._player, "think", think)


async def moves_of_both(session: Session, turns: int) -> list[str]:
    colors = ("b", "w") * turns
    return [await ask(session, f"genmove {color}") for color in colors[: 2 * turns]]


async def test_the_engine_resigns_after_three_lost_moves_in_a_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = new_session(resign=5)
    pretend(session, monkeypatch, 0.04, 0.5, 0.04, 0.5, 0.04)
    *moves, last = [
        await ask(session, f"genmove {color}") for color in ("b", "w", "b", "w", "b")
    ]
    assert last == "resign"
    assert "resign" not in moves
    assert len(session.game.moves) == 4


async def test_a_better_move_between_them_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = new_session(resign=5)
    pretend(session, monkeypatch, 0.04, 0.9, 0.04, 0.9, 0.06, 0.9, 0.04, 0.9, 0.04, 0.9)
    assert "resign" not in await moves_of_both(session, 4)


@pytest.mark.parametrize("line", ["undo", "clear_board"])
async def test_who_goes_back_begins_to_count_again(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = new_session(resign=5)
    pretend(session, monkeypatch, 0.01)
    for _ in range(6):
        assert await ask(session, "genmove b") != "resign"
        assert await ask(session, "genmove w") != "resign"
        await ask(session, line)
        if line == "undo":
            await ask(session, line)


async def test_it_never_resigns_unless_told_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = new_session()
    pretend(session, monkeypatch, 0.0)
    assert "resign" not in await moves_of_both(session, 5)


async def test_other_searches_neither_resign_nor_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = new_session(resign=5)
    pretend(session, monkeypatch, 0.01)
    for name in ("reg_genmove", "kata-search") * 4:
        assert await ask(session, f"{name} b") != "resign"
    assert await ask(session, "genmove b") != "resign"


async def test_genmove_analyze_resigns_as_genmove_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = new_session(resign=5)
    pretend(session, monkeypatch, 0.01)
    for color in "bwbw":
        assert await ask(session, f"genmove {color}") != "resign"
    text = await ask(session, "kata-genmove_analyze b 100")
    assert text.split("\n")[-1] == "play resign"


async def test_a_resigned_game_can_be_played_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = new_session(resign=50)
    pretend(session, monkeypatch, 0.01)
    for color in "bwbw":
        await ask(session, f"genmove {color}")
    assert await ask(session, "genmove b") == "resign"
    assert await ask(session, "genmove b") == "resign"
    await ask(session, "kata-set-param resign 0")
    assert await ask(session, "genmove b") != "resign"


# Variety


async def opening(seed: int, games: int = 1, **settings: object) -> list[list[str]]:
    session, played = new_session(nodes=300, seed=seed, **settings), []
    for _ in range(games):
        played.append(await moves_of_both(session, 3))
        await ask(session, "clear_board")
    return played


async def test_varied_openings_follow_from_the_seed() -> None:
    assert await opening(3, 3, variety=1) == await opening(3, 3, variety=1)


async def test_an_analysed_move_is_the_varied_one_too() -> None:
    for seed in range(8):
        moves = []
        for name in ("genmove", "lz-genmove_analyze", "kata-search_analyze"):
            session = new_session(nodes=300, seed=seed, variety=1)
            moves.append((await ask(session, f"{name} b")).split()[-1])
        assert len(set(moves)) == 1


# Levels


async def test_a_level_limits_the_visits_of_moves_and_nothing_else() -> None:
    session = new_session(nodes=None, level=3, time=0.5)
    assert (await session.choose()).visits == LEVELS[3].visits
    assert (await session.think()).visits > 32
    await ask(session, "kata-set-param nodes 5")
    assert (await session.choose()).visits == 5


async def test_a_level_is_the_same_with_the_same_seed() -> None:
    games = [await opening(5, level=1) for _ in range(2)]
    assert games[0] == games[1]


@pytest.mark.parametrize("level", [1, 2, 5])
async def test_low_levels_play_whole_games(level: int) -> None:
    session = new_session(level=level, nodes=None, resign=10, variety=0.5)
    while session.game.winner is None:
        color = session.game.to_move.word
        answer = await response(session, f"genmove {color}")
        assert answer.ok
        if answer.text == "resign":
            await play_out(session)
