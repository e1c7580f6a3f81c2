"""The controller: an engine is told no more of a game than it does not know."""

import pytest

from protocol.client import (
    Refused,
)
from tanbo_engine import notation, setups
from tanbo_engine.game import Game

from .engines import (
    BLACK,
    Mock,
    game_of,
    started,
)

ALL = (
    "tanbo-setup",
    "undo",
    "gogui-setup",
    "gogui-setup_player",
    "gogui-play_sequence",
    "rectangular_boardsize",
    "set_position",
)


@pytest.mark.parametrize(
    ("setup", "commands", "lines"),
    [
        ("dense-7x7", ALL, ["tanbo-setup dense-7x7", "clear_board"]),
        ("dense-7x7", (), ["boardsize 7", "clear_board"]),
        (
            "dense-7x9",
            ("rectangular_boardsize",),
            ["rectangular_boardsize 7 9", "clear_board"],
        ),
        ("dense-7x9", (), ["boardsize 7 9", "clear_board"]),
        ("classic-9x9", (), ["boardsize 9", "clear_board"]),
        ("classic-7x7", (), ["boardsize 7", "clear_board"]),
        (
            "classic-7x7",
            ("set_position",),
            ["boardsize 7", "clear_board", "set_position B A1 B G7 W G1 W A7"],
        ),
        (
            "classic-7x7",
            ("gogui-setup", "gogui-setup_player"),
            [
                "boardsize 7",
                "clear_board",
                "gogui-setup B A1 B G7 W G1 W A7",
                "gogui-setup_player B",
            ],
        ),
    ],
)
async def test_sync_to_a_setup(
    setup: str, commands: tuple[str, ...], lines: list[str]
) -> None:
    mock = Mock(default="= ")
    engine = await started(mock, *commands)
    start = setups.by_name(setup).position()
    await engine.sync(start)
    assert mock.heard == lines
    await engine.sync(Game(start))
    assert mock.heard == lines


POSITION = notation.parse_position("7x7 X6/7/7/7/7/7/6O w")


async def test_sync_to_a_position() -> None:
    mock = Mock(default="= ")
    engine = await started(mock, *ALL)
    await engine.sync(POSITION)
    assert mock.heard == [
        "boardsize 7",
        "clear_board",
        "gogui-setup B A7 W G1",
        "gogui-setup_player W",
    ]


@pytest.mark.parametrize("commands", [(), ("set_position",), ("gogui-setup",)])
async def test_sync_to_a_position_that_cannot_be_loaded(
    commands: tuple[str, ...],
) -> None:
    mock = Mock(default="= ")
    engine = await started(mock, *commands)
    with pytest.raises(Refused, match="lists no command that loads"):
        await engine.sync(POSITION)
    assert mock.heard == []


async def test_sync_sends_the_difference() -> None:
    mock = Mock(default="= ")
    engine = await started(mock, "tanbo-setup", "undo")
    game = game_of("dense-7x7", "A2", "C2", "A4")
    await engine.sync(game)
    opening = ["tanbo-setup dense-7x7", "clear_board"]
    assert mock.heard == [*opening, "play B A2", "play W C2", "play B A4"]

    mock.heard.clear()
    await engine.sync(game)
    assert mock.heard == []
    game.undo()
    game.undo()
    game.play(game.legal_moves()[0])
    vertex = "B1"
    await engine.sync(game)
    assert mock.heard == ["undo", "undo", f"play W {vertex}"]

    mock.heard.clear()
    await engine.sync(game_of("dense-7x7"))
    assert mock.heard == opening


async def test_sync_without_undo_and_with_a_sequence() -> None:
    mock = Mock(default="= ")
    engine = await started(mock, "gogui-play_sequence")
    game = game_of("dense-7x7", "A2", "C2")
    await engine.sync(game)
    everything = ["boardsize 7", "clear_board", "gogui-play_sequence B A2 W C2"]
    assert mock.heard == everything
    mock.heard.clear()
    game.undo()
    await engine.sync(game)
    assert mock.heard == ["boardsize 7", "clear_board", "play B A2"]


async def test_sync_knows_what_genmove_made() -> None:
    mock = Mock(default="= ")
    engine = await started(mock, "tanbo-setup")
    game = game_of("dense-7x7")
    await engine.sync(game)
    mock.heard.clear()
    mock.expect("genmove B", "= a2")
    await engine.genmove(BLACK, timeout=1)
    game = game_of("dense-7x7", "A2", "C2")
    await engine.sync(game)
    assert mock.heard == ["genmove B", "play W C2"]
    mock.expect("genmove B", "= resign")
    await engine.genmove(BLACK, timeout=1)
    await engine.sync(game)
    assert mock.heard == ["genmove B", "play W C2", "genmove B"]


@pytest.mark.parametrize("line", ["play B B1", "tanbo-setup dense-7x7", "undo"])
async def test_sync_starts_over_after_other_commands(line: str) -> None:
    mock = Mock(default="= ")
    engine = await started(mock)
    game = game_of("dense-7x7", "A2")
    await engine.sync(game)
    everything = list(mock.heard)
    await engine.send("time_left", "B", "10", "0")
    await engine.sync(game)
    assert len(mock.heard) == len(everything) + 1
    await engine.send(*line.split())
    mock.heard.clear()
    await engine.sync(game)
    assert mock.heard == everything


async def test_sync_starts_over_after_a_refusal() -> None:
    mock = Mock(default="= ")
    engine = await started(mock)
    await engine.sync(game_of("dense-7x7", "A2"))
    everything = list(mock.heard)
    mock.expect("play W C2", "? illegal move")
    with pytest.raises(Refused, match="play W C2"):
        await engine.sync(game_of("dense-7x7", "A2", "C2"))
    mock.heard.clear()
    await engine.sync(game_of("dense-7x7", "A2"))
    assert mock.heard == everything
