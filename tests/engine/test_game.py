import pytest

from tanbo_engine import rules
from tanbo_engine.game import Game, Move, kernel_position
from tanbo_engine.points import Color, parse_vertex

from .support import EXAMPLES, Row, example, kernel, mover, play_on, position_of, start


def finished_game(name: str = "dense-5x7", seed: int = 1) -> Game:
    game = Game(start(name))
    for point in play_on(kernel(name), seed):
        game.play(point)
    return game


def test_a_new_game_is_its_start_position() -> None:
    game = Game(start("dense-7x9"))
    assert game.position == game.start == start("dense-7x9")
    assert game.size == (7, 9)
    assert (game.to_move, game.winner, game.moves) == (Color.BLACK, None, [])


def test_a_game_may_begin_with_white() -> None:
    game = Game(position_of(example("shared_point_white")))
    sides = [game.to_move]
    game.play(game.legal_moves()[0])
    sides.append(game.to_move)
    assert sides == [Color.WHITE, Color.BLACK]


@pytest.mark.parametrize("name", ["dense-3x5", "dense-7x7", "classic-9x9"])
def test_a_whole_game_follows_the_plain_rules_and_back(name: str) -> None:
    game, position, taken = Game(start(name)), start(name), [0, 0]
    history = []
    for point in play_on(kernel(name), 2):
        history.append((position, list(taken)))
        assert game.legal_moves() == rules.legal_moves(position)
        assert game.legal_moves(Color.WHITE) == rules.legal_moves(position, Color.WHITE)
        turn = rules.play(position, point)
        position = turn.after
        for root in turn.removed:
            taken[root.color] += len(root.stones)
        game.play(point)
        assert game.position == position
        assert game.winner == rules.winner(position)
        assert [game.captured(color) for color in Color] == taken
    assert game.winner is not None
    assert sum(taken) > 0
    while history:
        before, counts = history.pop()
        move = game.undo()
        assert move.color is before.to_move
        assert game.position == before
        assert [game.captured(color) for color in Color] == counts
        assert game.winner is None
    assert game.moves == []


def test_undo_at_the_start_is_an_error() -> None:
    game = Game(start("dense-7x7"))
    with pytest.raises(IndexError):
        game.undo()
    assert game.position == start("dense-7x7")


def test_undo_returns_the_move() -> None:
    game = Game(start("dense-7x7"))
    game.play(1)
    assert game.undo() == Move(Color.BLACK, 1)
    assert game.to_move is Color.BLACK


ILLEGAL = [row for row in EXAMPLES if not row["legal"] and row["move"] != "pass"]


@pytest.mark.parametrize(
    "row",
    [row for row in ILLEGAL if row["code"] != "off_board"],
    ids=[row["name"] for row in ILLEGAL if row["code"] != "off_board"],
)
def test_an_illegal_move_is_refused_with_its_code_and_changes_nothing(row: Row) -> None:
    position = position_of(row)
    game = Game(position)
    with pytest.raises(rules.IllegalMove) as refusal:
        game.play(parse_vertex(position.size, row["move"]))
    assert refusal.value.code == row["code"]
    assert game.moves == []
    assert game.position == position
    assert game.to_move is mover(row)


@pytest.mark.parametrize("point", [-1, 49])
def test_a_point_off_the_board_is_refused(point: int) -> None:
    with pytest.raises(rules.IllegalMove) as refusal:
        Game(start("dense-7x7")).play(point)
    assert refusal.value.code == "off_board"


def test_there_is_no_passing_while_the_game_goes_on() -> None:
    game = Game(start("dense-7x7"))
    for color in Color:
        with pytest.raises(rules.IllegalMove) as refusal:
            game.close(color)
        assert (refusal.value.code, refusal.value.section) == ("pass_not_allowed", "R7")
    assert game.moves == []


def test_after_the_end_no_stone_may_be_placed() -> None:
    game = finished_game()
    assert game.legal_moves() == []
    for point in range(game.size.area):
        with pytest.raises(rules.IllegalMove) as refusal:
            game.play(point)
        assert refusal.value.code == "game_over"


def test_after_the_end_either_side_may_pass_and_undo_takes_it_back() -> None:
    game = finished_game()
    over, winner, played = game.position, game.winner, len(game.moves)
    next_color = game.to_move
    game.close(next_color)
    assert game.to_move is next_color.opponent
    game.close(next_color)
    assert game.winner is winner
    assert (game.position.black, game.position.white) == (over.black, over.white)
    assert len(game.moves) == played + 2
    assert game.undo() == game.undo() == Move(next_color, None)
    assert game.position == over
    assert game.undo().point is not None
    assert game.winner is None


def test_passes_count_as_no_placed_stones() -> None:
    game = finished_game()
    before = [game.captured(color) for color in Color]
    game.close(Color.BLACK)
    game.close(Color.WHITE)
    assert [game.captured(color) for color in Color] == before


def test_the_mover_can_lose_on_his_own_turn() -> None:
    row = example("both_last_roots_bounded_mover_loses")
    game = Game(position_of(row))
    game.play(parse_vertex(game.size, row["move"]))
    assert game.winner is mover(row).opponent
    assert game.captured(mover(row)) == 4
    assert game.captured(mover(row).opponent) == 0


def test_a_loaded_finished_position_has_its_winner() -> None:
    row = example("both_last_roots_bounded_mover_loses")
    position = position_of(row)
    point = parse_vertex(position.size, row["move"])
    game = Game(rules.play(position, point).after)
    assert game.winner is mover(row).opponent
    assert game.legal_moves() == []
    game.close(Color.BLACK)


def test_the_kernel_position_is_the_position() -> None:
    game = finished_game("dense-7x7")
    for _ in range(5):
        game.undo()
    assert game.kernel.key == kernel_position(game.position).key
