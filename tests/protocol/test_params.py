import json

import pytest

from protocol.config import PARAMS, Settings
from protocol.options import fields
from tanbo_engine.player import usable_threads

from .talk import ask, new_session, refusal


async def test_params_are_settings() -> None:
    names = (await ask(new_session(), "kata-list-params")).split()
    assert names == list(PARAMS)
    assert set(names) <= set(fields(Settings))


async def test_get_and_set() -> None:
    session = new_session(nodes=40, seed=1, memory=8)
    assert await ask(session, "kata-get-param nodes") == "40"
    assert await ask(session, "kata-get-param time") == "none"
    await ask(session, "kata-set-param maxVisits 70")
    await ask(session, "kata-set-param time 0.5")
    await ask(session, "kata-set-param player uct")
    assert await ask(session, "kata-get-param ponder") == "false"
    await ask(session, "kata-set-param ponderingEnabled true")
    assert await ask(session, "kata-get-param ponder") == "true"
    await ask(session, "kata-set-param ponder 0")
    await ask(session, "kata-set-param numSearchThreads 2")
    assert await ask(session, "kata-get-param threads") == str(usable_threads(2))
    await ask(session, "kata-set-param threads none")
    assert json.loads(await ask(session, "kata-get-params")) == {
        "time": 0.5,
        "nodes": 70,
        "level": 10,
        "variety": 0.0,
        "resign": 0.0,
        "ponder": False,
        "memory": 8,
        "threads": 1,
        "player": "uct",
        "seed": 1,
    }
    await ask(session, "kata-set-param maxTime none")
    assert session.settings.time is None
    await ask(session, "genmove b")


async def test_threads_are_all_cores_or_one_with_a_seed() -> None:
    session = new_session(seed=None)
    cores, three = str(usable_threads()), str(usable_threads(3))
    for name in ("threads", "numSearchThreads"):
        assert await ask(session, f"kata-get-param {name}") == cores
    await ask(session, "kata-set-param seed 5")
    assert await ask(session, "kata-get-param threads") == "1"
    await ask(session, "kata-set-param numSearchThreads 3")
    assert await ask(session, "kata-get-param numSearchThreads") == three
    assert "[string] threads 3" in await ask(session, "tanbo-params")
    assert (await session.think()).visits >= 40
    await ask(session, "kata-set-param seed none")
    assert await ask(session, "kata-get-param threads") == three
    await ask(session, "kata-set-param threads none")
    assert await ask(session, "kata-get-param threads") == cores
    assert json.loads(await ask(session, "kata-get-params"))["threads"] == int(cores)
    assert session.settings.threads is None


@pytest.mark.parametrize(
    ("settings", "threads"),
    [
        ({"seed": None}, usable_threads()),
        ({"seed": 1}, 1),
        ({"seed": None, "threads": 3}, usable_threads(3)),
        ({"seed": 1, "threads": 256}, usable_threads()),
    ],
)
def test_the_player_searches_with_so_many_threads(
    settings: dict[str, object], threads: int
) -> None:
    searchers = new_session(**settings)._player._searchers
    assert set(searchers) == {"alphabeta", "puct"}
    assert {each.search.workers for each in searchers.values()} == {threads}


async def test_nodes_limit_the_next_search() -> None:
    session = new_session()
    await ask(session, "kata-set-param nodes 123")
    assert (await session.think()).visits == 123


async def test_a_seed_decides_from_then_on() -> None:
    sessions = [new_session(seed=seed, nodes=200) for seed in (1, 2)]
    for session in sessions:
        await ask(session, "kata-set-param seed 7")
    moves = [await ask(session, "genmove b") for session in sessions]
    assert moves[0] == moves[1]


@pytest.mark.parametrize(("text", "value"), [(".5", 0.5), ("1.", 1.0), ("5e-1", 0.5)])
async def test_decimals_as_the_clock_commands_take_them(
    text: str, value: float
) -> None:
    session = new_session()
    for name in ("time", "variety", "resign"):
        await ask(session, f"kata-set-param {name} {text}")
        assert await ask(session, f"kata-get-param {name}") == str(value)


async def test_several_at_once_are_all_or_none() -> None:
    session = new_session()
    await ask(session, 'kata-set-params {"nodes": 9, "player": "puct0"}')
    assert (session.settings.nodes, session.settings.player) == (9, "puct0")
    before = session.settings
    text = await refusal(session, 'kata-set-params {"nodes": 8, "memory": "x"}')
    assert text.startswith("memory: expected a whole number from 1")
    assert session.settings == before


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("kata-get-param colour", "no parameter 'colour': use time, nodes"),
        ("kata-set-param nodes 0", "nodes: expected a whole number from 1"),
        (
            "kata-set-param memory none",
            "memory: expected a whole number from",
        ),
        (
            "kata-set-param level none",
            "level: expected a whole number from 1",
        ),
        ("kata-set-param level 11", "level: expected a whole number from 1 to 10"),
        ("kata-set-param variety 2", "variety: expected a number from 0 to 1"),
        ("kata-set-param resign 51", "resign: expected a number from 0 to 50"),
        ("kata-set-param threads 0", "threads: expected a whole number from 1 to 256"),
        ("kata-set-param threads 257", "threads: expected a whole number from 1 to"),
        ("kata-set-param numSearchThreads all", "threads: expected a whole number"),
        ("kata-set-param ponder maybe", "ponder: expected true or false"),
        ('kata-set-params {"ponder": 1}', "ponder: expected true or false, got 1"),
        (
            'kata-set-params {"time": true}',
            "time: expected a number above 0, at most 1000000, got true",
        ),
        (
            'kata-set-params {"time": "0.3"}',
            'time: expected a number above 0, at most 1000000, got "0.3"',
        ),
        ("kata-set-param memory 1000000", "memory: this machine has no "),
        (
            "kata-set-param player best",
            "player: expected auto, puct, alphabeta, puct0 or uct",
        ),
        ("tanbo-params level", "level: expected a whole number from 1 to 10"),
        ("kata-set-param variety 0x1", "variety: expected a number from 0 to 1"),
        (
            'kata-set-params {"time": 1, "maxTime": 2}',
            "time and maxTime are the same setting: give one of them",
        ),
        ('kata-set-params {"nodes": 1, "nodes": 2}', "'nodes' is given twice"),
        (
            "kata-get-param " + "x" * 41,
            f"no parameter '{'x' * 40}...': use time",
        ),
        (
            "kata-get-param analysisWideRootNoise",
            "no parameter 'analysisWideRootNoise'",
        ),
        ("kata-set-params", "syntax error"),
        ("kata-set-params nodes", "no JSON object: "),
        ("kata-set-params " + "[" * 5000, "no JSON object: "),
        ("kata-set-params [1]", "use a JSON object, such as"),
        ("tanbo-params nodes many", "nodes: expected a whole number"),
    ],
)
async def test_errors(line: str, text: str) -> None:
    session = new_session()
    before = session.settings
    assert (await refusal(session, line)).startswith(text)
    assert session.settings == before


async def test_gogui_asks_and_sets() -> None:
    session = new_session(nodes=40, seed=1, memory=8)
    assert (await ask(session, "tanbo-params")).split("\n") == [
        "[string] time none",
        "[string] nodes 40",
        "[list/1/2/3/4/5/6/7/8/9/10] level 10",
        "[string] variety 0.0",
        "[string] resign 0.0",
        "[bool] ponder 0",
        "[string] memory 8",
        "[string] threads none",
        "[list/auto/puct/alphabeta/puct0/uct] player auto",
        "[string] seed 1",
    ]
    await ask(session, "tanbo-params nodes 50")
    await ask(session, "tanbo-params ponder 1")
    assert "[bool] ponder 1" in await ask(session, "tanbo-params")
    assert session.settings.ponder is True
    await ask(session, "tanbo-params time")
    assert (session.settings.nodes, session.settings.time) == (50, None)


async def test_the_memory_of_a_connection_is_fixed() -> None:
    session = new_session()
    session.may_use_files = False
    assert "fixed" in await refusal(session, "kata-set-param memory 9")
