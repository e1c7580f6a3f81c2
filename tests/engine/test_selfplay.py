"""Games of self-play: what they hold, and that they are written and read unchanged."""

import gzip
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from tanbo_engine import build_id, selfplay, setups, weights
from tanbo_engine.game import Game
from tanbo_engine.selfplay import BadBatch, Batch, SelfGame, Source

SETUPS = ["dense-3x7", "dense-7x7", "classic-9x9"]


def source(setup: str = "dense-7x7", *, steady: bool = False) -> Source:
    return selfplay.this_engine(setup, 20, 5, steady=steady)


def batch(setup: str = "dense-7x7", *, steady: bool = False) -> Batch:
    its = source(setup, steady=steady)
    return Batch(its, [selfplay.play(its, number) for number in range(3)])


@pytest.mark.parametrize("search", selfplay.SEARCHES)
def test_each_search_plays_whole_games(search: str) -> None:
    its = selfplay.this_engine("dense-5x7", 300, 5, steady=True, search=search)
    games = [selfplay.play(its, number) for number in range(2)]
    assert all(replay("dense-5x7", game).winner == game.winner for game in games)
    assert all(0 <= look.value <= 1 for game in games for look in game.looks)
    assert selfplay.decode(selfplay.encode(Batch(its, games))) == Batch(its, games)


def replay(setup: str, game: SelfGame) -> Game:
    played = Game(setups.by_name(setup).position())
    for point in game.moves:
        played.play(point)
    return played


def best(game: SelfGame) -> list[bool]:
    """Tell for each look whether its best move was played."""
    moves = game.moves[game.opening :]
    return [
        look.visits[0][0] == move
        for look, move in zip(game.looks, moves, strict=True)
        if look.visits
    ]


@pytest.mark.parametrize("setup", SETUPS)
def test_a_game_is_legal_and_ends_with_its_winner(setup: str) -> None:
    for game in batch(setup).games:
        assert replay(setup, game).winner == game.winner
        assert len(game.moves) == game.opening + len(game.looks)
        most = max(6, setups.by_name(setup).size.area // 4)
        assert 2 <= game.opening <= most


def test_the_same_source_and_number_give_the_same_game_and_others_another() -> None:
    its = source()
    game = selfplay.play(its, 1)
    assert selfplay.play(its, 1) == game
    other = msgspec.structs.replace(its, seed=6)
    assert selfplay.play(its, 2).moves != game.moves
    assert selfplay.play(other, 1).moves != game.moves


def test_the_positions_are_those_that_were_searched() -> None:
    its = batch("dense-7x7")
    for game in its.games:
        follow = Game(setups.by_name("dense-7x7").position())
        for point in game.moves[: game.opening]:
            follow.play(point)
        moves = iter(game.moves[game.opening :])
        for position, look in selfplay.positions(its, game):
            assert position.key == follow.kernel.key
            assert 0 <= look.value <= 1
            assert {point for point, _ in look.visits} <= set(follow.legal_moves())
            assert sum(count for _, count in look.visits) <= its.source.visits
            follow.play(next(moves))
        assert follow.winner is not None


def test_a_steady_game_follows_the_search_after_its_opening() -> None:
    assert all(all(best(game)) for game in batch(steady=True).games)


def test_other_games_leave_the_search_now_and_then() -> None:
    followed = Counter(each for game in batch().games for each in best(game))
    assert followed[False] > 0
    assert followed[True] > followed[False]


def test_a_source_names_engine_and_weights() -> None:
    its = source()
    assert its.build == build_id()
    assert its.weights == weights.file_id()


def test_a_batch_is_written_and_read_unchanged() -> None:
    its = batch("dense-3x7")
    data = selfplay.encode(its)
    assert selfplay.decode(data) == its
    assert selfplay.encode(its) == data
    assert len(gzip.decompress(data).splitlines()) == 1 + len(its.games)


def test_what_is_no_batch_is_refused() -> None:
    data = selfplay.encode(batch("dense-3x7"))
    wrong = msgspec.structs.replace(source(), format=selfplay.FORMAT + 1)
    for bad in (b"", b"text", data[:-20], gzip.compress(b""), gzip.compress(b"{}\n")):
        with pytest.raises(BadBatch, match="no file of self-play"):
            selfplay.decode(bad)
    with pytest.raises(BadBatch, match="format 2, not 1"):
        selfplay.decode(selfplay.encode(Batch(wrong, [])))


def test_folders_are_read_in_order_and_a_bad_file_is_named(tmp_path: Path) -> None:
    its = batch("dense-3x7")
    for folder in ("a", "b"):
        file = tmp_path / folder / "dense-3x7" / f"000000{selfplay.SUFFIX}"
        file.parent.mkdir(parents=True)
        file.write_bytes(selfplay.encode(its))
    (tmp_path / "b" / "dense-3x7" / ".000020.jsonl.gz.new").write_bytes(b"half")
    folders = [tmp_path / "a", tmp_path / "b"]
    assert list(selfplay.read(folders)) == [its, its]
    file.write_bytes(b"text")
    with pytest.raises(BadBatch, match=r"b/dense-3x7/000000\.jsonl\.gz: no file"):
        list(selfplay.read(folders))
    with pytest.raises(BadBatch, match="has no games"):
        list(selfplay.read([tmp_path]))
