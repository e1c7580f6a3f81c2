"""Games as SGF files (written here; sgfmill's grammar does quoting and wrapping).

Tanbo has no number in the SGF standard: files say ``GM[1]`` so that Go programs show
them, ``RU[Tanbo]``, and the set-up's name in ``GN``. Start stones are ``AB`` and
``AW``; a rectangle is ``SZ[7:9]``, columns first.
"""

from collections.abc import Mapping
from typing import NamedTuple

from tanbo_engine import __version__
from tanbo_engine.game import Game
from tanbo_engine.points import Color, Size

_Properties = dict[str, list[bytes]]


class Headers(NamedTuple):
    """What a file says of a game besides its moves; empty texts are left out.

    Attributes:
        setup: name of the set-up.
        black: name of the black player.
        white: name of the white player.
        result: ``B+1``, ``W+R``, ``B+T``, ``W+F``, ``Void`` and the like.
        date: ``2026-11-29``.
        event: what the game was played for.
        comment: text of the start position.
    """

    setup: str = ""
    black: str = ""
    white: str = ""
    result: str = ""
    date: str = ""
    event: str = ""
    comment: str = ""


def sgf(game: Game, headers: Headers, comments: Mapping[int, str] | None = None) -> str:
    """Return a game as SGF.

    Args:
        game: start position and moves.
        headers: the rest of the root node.
        comments: texts of moves, by their number from 1.
    """
    from sgfmill import sgf_grammar  # here for the start-up time

    size = game.size
    texts = comments or {}
    tree = sgf_grammar.Coarse_game_tree()
    tree.sequence.append(_root(game, headers))
    for number, move in enumerate(game.moves, 1):
        where = b"" if move.point is None else _point(size, move.point)
        node = {move.color.initial: [where]}
        if number in texts:
            node["C"] = [sgf_grammar.escape_text(texts[number].encode())]
        tree.sequence.append(node)
    text: bytes = sgf_grammar.serialise_game_tree(tree)
    return text.decode()


def _root(game: Game, headers: Headers) -> _Properties:
    from sgfmill.sgf_grammar import escape_text

    width, height = game.size
    side = str(width) if width == height else f"{width}:{height}"
    node: _Properties = {
        "FF": [b"4"],
        "GM": [b"1"],
        "CA": [b"UTF-8"],
        "AP": [f"tanbo-engine:{__version__}".encode()],
        "SZ": [side.encode()],
        "RU": [b"Tanbo"],
    }
    names = ("GN", "PB", "PW", "RE", "DT", "EV", "C")
    for name, value in zip(names, headers, strict=True):
        if value:
            node[name] = [escape_text(value.encode())]
    for color in Color:
        stones = sorted(game.start.stones(color))
        if stones:
            node[f"A{color.initial}"] = [_point(game.size, point) for point in stones]
    if game.start.to_move is Color.WHITE:
        node["PL"] = [b"W"]
    return node


def _point(size: Size, point: int) -> bytes:
    """Return a point as SGF writes it: column, then row from the top, a to y."""
    row, column = divmod(point, size.width)
    return bytes((ord("a") + column, ord("a") + size.height - 1 - row))
