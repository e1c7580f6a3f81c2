"""Commands that explain: a placement, a root, the last move, the rules."""

# ruff: noqa: D103 (the table holds what each command does)

from protocol import gtp
from protocol.commands.arguments import COLOR, Optional, Text
from protocol.commands.table import command
from protocol.session import Session
from tanbo_engine import explain, points, rulebook
from tanbo_engine.answers import Explanation, Question
from tanbo_engine.game import Game
from tanbo_engine.points import Color, format_vertex

_MOST_QUESTIONS = 1000
"""Questions kept a game; a front end may ask at every move of the mouse."""


@command(
    "tanbo-explain",
    Text("VERTEX"),
    Optional(COLOR),
    help="Why a color (default: the side to move) may or may not play there, and what "
    "the move would remove.",
)
def explain_placement(session: Session, text: str, color: Color | None) -> str:
    game = session.game
    color = game.to_move if color is None else color
    return _answer(
        session,
        f"tanbo-explain {text.upper()} {color.word}",
        _explain_vertex(session, text, color),
    )


def _explain_vertex(session: Session, text: str, color: Color) -> Explanation:
    game = session.game
    if text.lower() == "pass":
        return explain.rule("R7", _situation(game))
    try:
        point = points.parse_vertex(game.size, text)
    except points.VertexError as error:
        if points.looks_like_vertex(text):
            return explain.off_board(error)
        raise gtp.GtpError(f"{error}, or pass") from error
    return explain.placement(game.position, point, color)


@command(
    "tanbo-explain_root",
    Text("VERTEX"),
    help="The root of a stone: its growth points, which of them the enemy shares, and "
    "which moves would bound it next turn.",
)
def explain_root(session: Session, text: str) -> str:
    game = session.game
    try:
        point = points.parse_vertex(game.size, text)
    except points.VertexError as error:
        raise gtp.GtpError(str(error)) from error
    position = game.position
    vertex = format_vertex(game.size, point)
    if position.is_empty(point):
        raise gtp.GtpError(f"{vertex} is empty: name a point with a stone of the root")
    question = f"tanbo-explain_root {vertex}"
    return _answer(session, question, explain.root(position, point))


@command(
    "tanbo-explain_last",
    help="What the last stone joined and what it removed, and why.",
)
def explain_last(session: Session) -> str:
    game = session.game
    stones = _placed(game)
    if not stones:
        raise gtp.GtpError("no move has been made: play one first")
    before = Game(game.start)
    for point in stones[:-1]:
        before.play(point)
    answer = explain.last_move(before.position, stones[-1])
    return _answer(session, "tanbo-explain_last", answer)


@command(
    "tanbo-rules",
    Optional(Text("RULE")),
    help="A rule in short, with its source and what it means on this board: R1 to R10, "
    "or a word such as sizes, pass, draw, length, swap; without one, the list.",
)
def explain_rule(session: Session, topic: str | None) -> str:
    if topic is None:
        return "\n".join(rulebook.contents())
    try:
        answer = explain.rule(topic, _situation(session.game))
    except rulebook.UnknownTopic as error:
        raise gtp.GtpError(str(error)) from error
    return _answer(session, f"tanbo-rules {topic}", answer)


@command(
    "tanbo-explanations",
    help="What was asked in this game, each at its turn, with the answers.",
)
def list_explanations(session: Session) -> str:
    lines = []
    for question in session.questions:
        lines.append(f"turn {question.turn}: {question.text}")
        lines += [f"  {line}" for line in question.answer.text.split("\n")]
    return "\n".join(lines)


def _answer(session: Session, text: str, answer: Explanation) -> str:
    """Keep a question with the game, once a position, and return the answer's text."""
    game = session.game
    question = Question(len(game.moves), game.position, text, answer)
    if question not in session.questions:
        session.questions.append(question)
        del session.questions[:-_MOST_QUESTIONS]
    return answer.text


def _placed(game: Game) -> list[int]:
    """Return the points of all moves but the passes that closed a finished game."""
    return [move.point for move in game.moves if move.point is not None]


def _situation(game: Game) -> explain.Situation:
    return explain.Situation(game.start, game.position, len(_placed(game)))
