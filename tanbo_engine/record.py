"""Games as SGF files; sgfmill's grammar does tokens, quoting and wrapping.

Tanbo has no number in the SGF standard: files say ``GM[1]`` so that Go programs show
them, ``RU[Tanbo]``, and the set-up's name in ``GN``. Start stones are ``AB`` and
``AW``; a rectangle is ``SZ[7:9]``, columns first.

What is read may come from any program, so reading forgives what leaves no doubt: the
points of FF1 (``B[C4]``), the long names of FF3 (``SiZe``), passes after the end,
missing parentheses, files without start stones. Everything else is one `RecordError`
that says where.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tanbo_engine import __version__, points, rules, setups
from tanbo_engine.game import Game
from tanbo_engine.points import Color, Size
from tanbo_engine.wording import short

_Properties = dict[str, list[bytes]]
"""A node: raw values by property."""

MOST_BYTES = 1 << 22
"""The largest file that is read."""

_STANDARD_SIZE = 19
_LARGEST_WITH_TT = 19  # up to here FF3 may write a pass as tt
_FILLERS = b"\0\x1a \t\r\n"  # what old systems put behind the end of a text

_COLORS = {"B": Color.BLACK, "W": Color.WHITE}
_STONES = {"AE": None, "AB": Color.BLACK, "AW": Color.WHITE}


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
        time: main time in seconds.
        overtime: what follows the main time, in words.
    """

    setup: str = ""
    black: str = ""
    white: str = ""
    result: str = ""
    date: str = ""
    event: str = ""
    comment: str = ""
    time: str = ""
    overtime: str = ""


_PROPERTIES = Headers("GN", "PB", "PW", "RE", "DT", "EV", "C", "TM", "OT")


class LoadedGame(NamedTuple):
    """What a file holds.

    Attributes:
        game: start position and moves of the main line.
        headers: the rest of the root node; `setup` is empty where the start stones
            are those of no set-up.
        comments: texts of moves, by their number from 1.
        notes: what is odd in the file, for people.
    """

    game: Game
    headers: Headers
    comments: dict[int, str]
    notes: tuple[str, ...] = ()

    @property
    def resigned(self) -> Color | None:
        """Who gave up at the end, as the file's result tells; None if nobody did."""
        match = re.fullmatch(r"([BW])\+R(esign)?", self.headers.result, re.IGNORECASE)
        if match is None or self.game.winner is not None:
            return None
        return _COLORS[match[1].upper()].opponent


class RecordError(ValueError):
    """A file that is no game of Tanbo; the message says what is wrong and where."""


# Writing


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
        where = b"" if move.point is None else _format_point(size, move.point)
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
    for name, value in zip(_PROPERTIES, headers, strict=True):
        if value:
            node[name] = [escape_text(value.encode())]
    for color in Color:
        stones = sorted(game.start.stones(color))
        if stones:
            node[f"A{color.initial}"] = [_format_point(game.size, p) for p in stones]
    if game.start.to_move is Color.WHITE:
        node["PL"] = [b"W"]
    return node


def _format_point(size: Size, point: int) -> bytes:
    """Return a point as SGF writes it: column, then row from the top, a to y."""
    row, column = divmod(point, size.width)
    return bytes((ord("a") + column, ord("a") + size.height - 1 - row))


# Reading


def load_sgf(path: Path, setup: setups.Setup | None = None) -> LoadedGame:
    """Return the game of a file; see `read_sgf`.

    Raises:
        RecordError: as `read_sgf`, and where there is no file that can be read.
    """
    try:
        if not path.is_file():  # a pipe or a device may never end
            raise RecordError("not a plain file" if path.exists() else "no such file")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise RecordError(f"cannot be read: {error.strerror}") from error
    return read_sgf(data, setup)


def read_sgf(data: bytes, setup: setups.Setup | None = None) -> LoadedGame:
    """Return the main line of the first game in an SGF file.

    Args:
        data: the file.
        setup: where a file without start stones most likely begins, unless it names
            a set-up; after these the size's default set-up is the most likely.

    Raises:
        RecordError: no SGF, too much of it, no size of a set-up, or moves that are
            not Tanbo's.
    """
    if len(data) > MOST_BYTES:
        raise RecordError(f"more than {MOST_BYTES >> 20} MB are no game record")
    nodes = _main_line(data)
    notes = _notes(nodes[0], _count_games(data))
    try:
        return _Reader(nodes).read(setup)._replace(notes=notes)
    except RecordError as error:
        raise RecordError("; ".join((str(error), *notes))) from error


def setup_of(start: rules.Position) -> setups.Setup | None:
    """Return the set-up that has these start stones, whoever is to move."""
    for setup in setups.offered():
        if setup.size == start.size:
            position = setup.position()
            if (position.black, position.white) == (start.black, start.white):
                return setup
    return None


class _Reader:
    """Makes a game of the nodes of a main line."""

    def __init__(self, nodes: Sequence[_Properties]) -> None:
        self._nodes = nodes
        self._texts = _Texts(nodes[0])
        self._headers = Headers(
            *(self._texts.simple(nodes[0], name) for name in _PROPERTIES)
        )
        self._size = _read_size(nodes[0])
        moving = (i for i, node in enumerate(nodes) if _mover(node) is not None)
        self._first = next(moving, len(nodes) - 1)
        """Index of the first node with a move; of the last node if none has one."""

    def read(self, preferred: setups.Setup | None) -> LoadedGame:
        """Return the game from the first set-up that its moves fit."""
        errors = []
        for setup in self._setups(preferred):
            try:
                return self._read(setup)
            except RecordError as error:
                errors.append(error)
        raise errors[0]

    def _setups(self, preferred: setups.Setup | None) -> list[setups.Setup]:
        """Return the set-ups that may be meant without start stones, best first."""
        with _at(f"size {self._size}"):
            usual = setups.for_size(self._size)
        try:
            named = setups.by_name(self._headers.setup)
        except setups.UnknownSetup:  # a name that somebody gave the game
            named = None
        likely = dict.fromkeys((named, preferred, usual, *setups.offered()))
        return [s for s in likely if s is not None and s.size == self._size]

    def _read(self, setup: setups.Setup) -> LoadedGame:
        """Return the game with what else the file says."""
        game = Game(self._start(setup))
        comments: dict[int, str] = {}
        for index, node in enumerate(self._nodes):
            if index > self._first:
                _check_later_node(game, index + 1, node)
            _make_moves(game, index + 1, node)
            text = self._texts.long(node, "C")
            if text:
                before = comments.get(len(game.moves))
                comments[len(game.moves)] = f"{before}\n\n{text}" if before else text
        known = setup_of(game.start)
        headers = self._headers._replace(
            setup="" if known is None else known.name, comment=comments.pop(0, "")
        )
        return LoadedGame(game, headers, comments)

    def _start(self, setup: setups.Setup) -> rules.Position:
        """Return the position before the first move."""
        stones: dict[int, Color] | None = None
        for number, node in enumerate(self._nodes[: self._first + 1], 1):
            for name, text in _stone_values(node):
                stones = {} if stones is None else stones
                with _at(_place(number, name, text)):
                    _put(stones, self._size, _STONES[name], text)
        size = self._size
        start = setup.position() if stones is None else _position(size, stones)
        return start._replace(to_move=self._side_to_move(start))

    def _side_to_move(self, start: rules.Position) -> Color:
        """Return what PL says, else Black; in positions of no set-up the first mover.

        Programs of Go leave PL out where the colour of the first move tells it.
        """
        nodes = self._nodes[: self._first + 1]
        mover = _mover(nodes[-1])
        told = [_read_side(number, node) for number, node in enumerate(nodes, 1)]
        if mover not in (None, told[-1]):  # beside a move it says who is next
            told[-1] = None
        for side in reversed(told):
            if side is not None:
                return side
        if mover is None or setup_of(start) is not None:
            return Color.BLACK
        return mover


class _Texts:
    """Texts of a file, whose root node may tell the encoding."""

    def __init__(self, root: _Properties) -> None:
        self._encodings = (_first_text(root, "CA"), "utf-8")

    def simple(self, node: _Properties, name: str) -> str:
        """Return a text of one line, empty if there is none."""
        from sgfmill.sgf_grammar import simpletext_value

        return self._decode(simpletext_value(node.get(name, [b""])[0]))

    def long(self, node: _Properties, name: str) -> str:
        """Return a text that may have several lines, empty if there is none."""
        from sgfmill.sgf_grammar import text_value

        return self._decode(text_value(node.get(name, [b""])[0]))

    def _decode(self, raw: bytes) -> str:
        """Decode as the file says, else as it is likely."""
        for encoding in self._encodings:
            try:
                text = raw.decode(encoding)
            except (LookupError, ValueError):  # no such encoding, or another one
                continue
            return text.encode("utf-8", "replace").decode()  # no lone surrogates
        return raw.decode("latin-1")


def _main_line(data: bytes) -> list[_Properties]:
    """Return the nodes of the first game's main line, values as they stand.

    The main line ends at the first closing parenthesis: up to there every variation
    entered is a first one. What is broken behind that does no harm.
    """
    from sgfmill.sgf_grammar import tokenise

    tokens, end = tokenise(data)
    if not tokens:
        raise RecordError("no game found: SGF begins with (;")
    nodes: list[_Properties] = []
    name: str | None = None
    for kind, token in tokens:
        if (kind, token) == ("D", b")"):
            break
        with _at(f"node {len(nodes)}"):
            name = _take(nodes, name, kind, token)
    else:
        tail = data[end:].strip(_FILLERS)
        if tail:
            raise RecordError(f"node {len(nodes)}: cannot read {_excerpt(tail)!r}")
    for number, node in enumerate(nodes, 1):
        for name, values in node.items():
            if not values:
                raise RecordError(f"node {number}: {name} has no value")
    return nodes


def _take(
    nodes: list[_Properties], name: str | None, kind: str, token: bytes
) -> str | None:
    """Add a token to the nodes.

    Args:
        nodes: all up to now.
        name: the property that values belong to; empty in a node without any so far,
            None outside nodes.
        kind: D for a delimiter, I for a property, V for a value.
        token: its text.

    Returns:
        The next `name`.
    """
    if kind == "D":
        if token == b"(":
            return None
        nodes.append({})
        return ""
    if name is None:
        raise RecordError(f"{_excerpt(token)!r} outside a node")
    if kind == "V":
        if not name:
            raise RecordError(f"the value {_excerpt(token)!r} belongs to no property")
        nodes[-1][name].append(token)
        return name
    if not token:  # sgfmill takes the small letters out: AddBlack is AB
        raise RecordError("a property's name has no capital letter")
    nodes[-1].setdefault(token.decode(), [])
    return token.decode()


def _count_games(data: bytes) -> int:
    """Return how many games a file holds; what is broken ends the last of them."""
    from sgfmill.sgf_grammar import tokenise

    tokens, end = tokenise(data)
    games = 0
    while tokens:
        games += 1
        is_whole = tokens[-1] == ("D", b")")
        tokens, end = tokenise(data, end) if is_whole else ([], end)
    return games


def _notes(root: _Properties, games: int) -> tuple[str, ...]:
    game = _first_text(root, "GM")
    notes = [] if game in ("", "1") else [f"the file says GM[{short(game)}]"]
    if games > 1:
        notes.append(f"this is the first of {games} games in the file")
    return tuple(notes)


def _read_size(root: _Properties) -> Size:
    text = _first_text(root, "SZ")
    if not text:
        return Size(_STANDARD_SIZE, _STANDARD_SIZE)
    match = re.fullmatch(r"([0-9]{1,2})(?::([0-9]{1,2}))?", text, re.ASCII)
    if match is None:
        raise RecordError(f"{_place(1, 'SZ', text)}: a size is N or WIDTH:HEIGHT")
    return Size(int(match[1]), int(match[2] or match[1]))


def _read_side(number: int, node: _Properties) -> Color | None:
    """Return the side to move that PL tells; None if empty, as GoGui writes it."""
    text = _first_text(node, "PL")
    if not text:
        return None
    color = _COLORS.get(text[0].upper())
    if color is None:
        raise RecordError(f"{_place(number, 'PL', text)}: a side is B or W")
    return color


def _stone_values(node: _Properties) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of all values that put up or take away stones."""
    for name in _STONES:
        for value in node.get(name, ()):
            text = _plain(value)
            if text:
                yield name, text


def _put(stones: dict[int, Color], size: Size, color: Color | None, text: str) -> None:
    """Put stones on the points of a value; no colour takes them away."""
    for point in _read_points(size, text):
        if color is None:
            stones.pop(point, None)
        elif stones.setdefault(point, color) is not color:
            vertex = points.format_vertex(size, point)
            raise RecordError(f"{vertex} holds a {color.opponent.word} stone already")


def _position(size: Size, stones: Mapping[int, Color]) -> rules.Position:
    """Return the position of some stones, which a game must be able to reach."""
    black, white = (
        frozenset(point for point, held in stones.items() if held is color)
        for color in Color
    )
    position = rules.Position(size, black, white)
    with _at("start stones"):
        rules.check_position(position)
    return position


def _check_later_node(game: Game, number: int, node: _Properties) -> None:
    """Refuse set-up properties behind the first move, unless they change nothing."""
    for name, text in _stone_values(node):
        raise RecordError(
            f"{_place(number, name, text)}: stones put up after move {len(game.moves)}"
        )
    side = _read_side(number, node)
    if (
        _mover(node) is None
        and game.winner is None
        and side not in (None, game.to_move)
    ):
        raise RecordError(f"node {number}: PL says otherwise, but {_turn(game)}")


def _mover(node: _Properties) -> Color | None:
    """Return the colour of a node's first move."""
    return next((_COLORS[name] for name in node if name in _COLORS), None)


def _make_moves(game: Game, number: int, node: _Properties) -> None:
    """Make the moves of a node in their order; there should be one at most."""
    for name, values in node.items():
        if name not in _COLORS:
            continue
        for value in values:
            move, text = len(game.moves) + 1, _plain(value)
            with _at(f"move {move}, {_place(number, name, text)}"):
                _make(game, _COLORS[name], text)


def _make(game: Game, color: Color, text: str) -> None:
    size = game.size
    if not text or (text == "tt" and min(size) <= _LARGEST_WITH_TT):
        game.close(color)
        return
    point = _read_point(size, text)
    if game.winner is None and color is not game.to_move:
        raise RecordError(_turn(game))
    game.play(point)


def _turn(game: Game) -> str:
    return f"it is {game.to_move.word}'s turn (R2)"


def _read_points(size: Size, text: str) -> Iterator[int]:
    """Yield the points of ``cd``, or of a rectangle such as ``aa:cd``."""
    first, _, last = text.partition(":")
    one = divmod(_read_point(size, first), size.width)
    other = divmod(_read_point(size, last or first), size.width)
    (bottom, top), (left, right) = map(sorted, zip(one, other, strict=True))
    for row in range(bottom, top + 1):
        for column in range(left, right + 1):
            yield row * size.width + column


def _read_point(size: Size, text: str) -> int:
    """Return the point of ``cd``, or of a vertex such as ``C4`` (FF1)."""
    if points.looks_like_vertex(text):
        return points.parse_vertex(size, text)
    if re.fullmatch("[a-z]{2}", text):
        column, line = (ord(letter) - ord("a") for letter in text)
        if column < size.width and line < size.height:
            return (size.height - 1 - line) * size.width + column
    raise RecordError(f"no point of a {size} board")


def _first_text(node: _Properties, name: str) -> str:
    """Return a property's first value as plain text, empty if there is none."""
    return _plain(node.get(name, [b""])[0])


def _plain(raw: bytes) -> str:
    """Return a value that is no prose, in one line of printable characters."""
    text = raw.decode("latin-1").strip()
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _excerpt(raw: bytes) -> str:
    return short(raw.decode("latin-1"))


def _place(number: int, name: str, text: str) -> str:
    return f"node {number}, {name}[{short(text)}]"


@contextmanager
def _at(place: str) -> Iterator[None]:
    """Say where it was that something could not be used."""
    try:
        yield
    except ValueError as error:
        raise RecordError(f"{place}: {error}") from error
