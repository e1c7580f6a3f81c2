"""Commands that keep games: SGF in and out."""

# ruff: noqa: D103 (the table holds what each command does)

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from protocol import gtp
from protocol.commands.arguments import UNLIMITED, FileName, Integer, Optional, Text
from protocol.commands.table import command
from protocol.files import write_whole
from protocol.session import Session
from tanbo_engine import record, setups
from tanbo_engine.game import Game, Move
from tanbo_engine.record import Headers, LoadedGame, RecordError
from tanbo_engine.wording import short

_NAME_SHOWN = 80


_EXPLANATIONS = "explanations"
_QUOTES = "A file name with blanks goes in double quotes"
_HINT = f"{_QUOTES[0].lower()}{_QUOTES[1:]}"


class _MoveNumber(Integer):
    """A number that may be the rest of a file name with blanks."""

    def parse(self, session: Session, tokens: Sequence[str]) -> int:
        """Return the number."""
        try:
            return super().parse(session, tokens)
        except gtp.GtpError as error:
            raise gtp.GtpError(f"{error}; {_HINT}") from error


@command(
    "loadsgf",
    FileName("FILE"),
    Optional(_MoveNumber("MOVE", 1, UNLIMITED)),
    help="Begin with the game of an SGF file, up to the position before a move "
    f"(default: its end). {_QUOTES}.",
    errors=(gtp.CANNOT_LOAD_FILE,),
)
def loadsgf(session: Session, name: str, before: int | None) -> str:
    _require_files(session)
    try:
        loaded = record.load_sgf(Path(name), session.setup)
        session.require_size(loaded.game.size)
    except RecordError as error:
        raise gtp.GtpError(gtp.CANNOT_LOAD_FILE, str(error)) from error
    except gtp.GtpError as error:
        raise gtp.GtpError(gtp.CANNOT_LOAD_FILE, error.reason) from error
    session.new_game(_setup(session, loaded), loaded.game.start)
    session.loaded = loaded
    for move in loaded.game.moves[: None if before is None else before - 1]:
        session.play(*move)
    if loaded.resigned is not None and session.game.moves == loaded.game.moves:
        session.resign(loaded.resigned)
    for note in loaded.notes:
        session.note(note)
    return ""


@command(
    "printsgf",
    Optional(FileName("FILE|-")),
    Optional(Text(_EXPLANATIONS)),
    help="The game as SGF; with a file, write it there; with the word explanations, "
    "alone or behind the file, what was asked about it stands as comments (a file of "
    f"that name is ./explanations). {_QUOTES}.",
)
def printsgf(session: Session, name: str | None, extra: str | None) -> str:
    if name == _EXPLANATIONS and extra is None:
        name, extra = None, name
    if extra not in (None, _EXPLANATIONS):
        raise gtp.GtpError(
            f"unknown word {short(extra)!r} behind the file: use explanations; {_HINT}"
        )
    text = _sgf(session, _explanations(session) if extra else {})
    if name is None or name == "-":
        return text
    _require_files(session)
    try:
        # The file behind a link is meant, not the link.
        write_whole(Path(os.path.realpath(name)), text.encode())
    except OSError as error:
        raise gtp.GtpError(
            f"cannot write {short(name, _NAME_SHOWN)}: {error.strerror}"
        ) from error
    return ""


def _require_files(session: Session) -> None:
    if not session.may_use_files:
        raise gtp.GtpError("no files here: commands that use them are refused")


def _setup(session: Session, loaded: LoadedGame) -> setups.Setup:
    """Return what `clear_board` goes back to: for made-up positions as set_position."""
    if loaded.headers.setup:
        return setups.by_name(loaded.headers.setup)
    size = loaded.game.size
    return session.setup if size == session.game.size else setups.for_size(size)


def _explanations(session: Session) -> dict[int, str]:
    """Return what was asked and answered, by the number of moves made before.

    Questions about positions that were taken back are left out.
    """
    game = Game(session.game.start)
    positions = [game.position]
    for move in session.game.moves:
        if move.point is None:
            game.close(move.color)
        else:
            game.play(move.point)
        positions.append(game.position)
    texts: dict[int, str] = {}
    for question in session.questions:
        turn = question.turn
        if turn < len(positions) and question.position == positions[turn]:
            text = f"{question.text}\n{question.answer.text}"
            texts[turn] = f"{texts[turn]}\n\n{text}" if turn in texts else text
    return texts


def _sgf(session: Session, explanations: Mapping[int, str]) -> str:
    """Return the game as SGF, with what its file says as far as that still holds."""
    game, loaded = session.game, session.loaded
    headers, comments = Headers(), dict[int, str]()
    if loaded is not None:
        shared = _count_shared(game.moves, loaded.game.moves)
        headers = loaded.headers
        comments = {n: text for n, text in loaded.comments.items() if n <= shared}
        if game.moves != loaded.game.moves:
            headers = headers._replace(result="")
    setup = record.setup_of(game.start)
    headers = headers._replace(setup="" if setup is None else setup.name)
    if session.resigned is not None or not headers.result:
        headers = headers._replace(result=session.result or "")
    for number, text in explanations.items():
        if number:
            old = comments.get(number)
            comments[number] = f"{old}\n\n{text}" if old else text
        else:
            old = headers.comment
            headers = headers._replace(comment=f"{old}\n\n{text}" if old else text)
    return record.sgf(game, headers, comments)


def _count_shared(moves: Sequence[Move], others: Sequence[Move]) -> int:
    """Return how many moves two games have in common before they part."""
    pairs = enumerate(zip(moves, others, strict=False))
    parting = (number for number, (one, other) in pairs if one != other)
    return next(parting, min(len(moves), len(others)))
