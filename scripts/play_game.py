"""Plays a scripted game between two engines and prints it: a model for own scripts.

    .venv/bin/python scripts/play_game.py ["BLACK COMMAND" ["WHITE COMMAND" [SETUP]]]

The board is `tanbo_engine`'s, so any GTP engine can be on either side.
"""

import sys
from pathlib import Path

from protocol.client import EngineError, SimpleEngine
from tanbo_engine import notation, setups
from tanbo_engine.game import Game
from tanbo_engine.points import parse_vertex

ENGINE = f"'{Path(__file__).resolve().parent / 'engine'}' --nodes 500"


def play(black: str, white: str, setup: str) -> Game:
    """Play a game until it is over or a side resigns; return it."""
    game = Game(setups.by_name(setup).position())
    with SimpleEngine(black) as first, SimpleEngine(white) as second:
        while game.winner is None:
            engine = (first, second)[game.to_move]
            engine.sync(game)
            move = engine.genmove(game.to_move, timeout=60).move
            print(f"{len(game.moves) + 1}. {game.to_move.word} {move}")
            if move == "resign":
                break
            game.play(parse_vertex(game.size, move))
    return game


def main(arguments: list[str]) -> int:
    """Play with the given engines; return the exit status."""
    if len(arguments) > 3:
        sys.exit(__doc__)
    defaults = [ENGINE, ENGINE, setups.DEFAULT]
    black, white, setup = [*arguments, *defaults[len(arguments) :]]
    try:
        game = play(black, white, setup)
    except (EngineError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(notation.diagram(game.position))
    winner = game.to_move.opponent if game.winner is None else game.winner
    print(f"{winner.word} wins")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
