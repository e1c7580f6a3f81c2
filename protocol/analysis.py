"""Reports of a search as front ends read them: `lz-analyze` and `kata-analyze`.

Formats: FRONT_ENDS.md section 2. A report is one line; each move in it ends with its
``pv``, because Sabaki reads everything behind that word as moves. Everything is told
from the side to move.

What the fields of Go engines mean here:

==================  ==============================================================
visits, edgeVisits  descents that began with the move; also the ``weight``
winrate             probability that the side to move wins
lcb                 lower end of its 95% interval, as if each visit were a game
utility             2 x winrate - 1; ``utilityLcb`` the same of lcb
prior               share of attention before the search
scoreLead           expected difference in growth points (`expected_lead`); also
                    ``scoreMean`` and ``scoreSelfplay``
scoreStdev          spread of that difference (`lead_spread`)
order               rank, 0 the best
pv                  best play; only the best move's is longer than the move itself
==================  ==============================================================
"""

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

from tanbo_engine.game import Game
from tanbo_engine.player import Candidate, Report
from tanbo_engine.points import Color, Size, format_vertex

_DEVIATIONS = 1.96
_BASE_SCALE = 4.0
_GROWTH_SCALE = 0.15
_SUREST = 0.999


class Board(NamedTuple):
    """What a report's text needs to know of the position.

    Attributes:
        size: board size.
        scale: lead in growth points that makes a win e times as likely as a loss.
    """

    size: Size
    scale: float


def board_of(game: Game) -> Board:
    """Return what reports on the current position need."""
    points = sum(len(game.legal_moves(color)) for color in Color)
    return Board(game.size, _BASE_SCALE + _GROWTH_SCALE * points)


def restriction(
    game: Game, allowed: Collection[int] | None, avoided: Collection[int]
) -> frozenset[int]:
    """Return the points that a search may choose from, empty for every legal one.

    Args:
        game: what is searched; it may be over.
        allowed: nothing but these points; all if None.
        avoided: none of these points.

    Raises:
        ValueError: no legal move is left.
    """
    legal = frozenset(game.legal_moves())
    left = (legal if allowed is None else legal.intersection(allowed)) - set(avoided)
    if legal and not left:
        raise ValueError("no legal move is left: avoid fewer or allow more")
    return frozenset() if left == legal else left


def expected_lead(value: float, scale: float) -> float:
    """Return the difference in growth points that a win probability stands for.

    The inverse of the kernel's static evaluation, which is logistic in the lead, at
    the present number of growth points. A proven result counts as 99.9%.
    """
    value = min(max(value, 1 - _SUREST), _SUREST)
    return scale * math.log(value / (1 - value))


def lead_spread(scale: float) -> float:
    """Return the standard deviation of the logistic distribution of that scale."""
    return scale * math.pi / math.sqrt(3)


def lower_bound(move: Candidate) -> float:
    """Return the lower end of the 95% interval of a move's win probability."""
    if move.proof:
        return move.value
    if not move.visits:
        return 0.0
    spread = math.sqrt(move.value * (1 - move.value) / move.visits)
    return max(0.0, move.value - _DEVIATIONS * spread)


def lz_line(board: Board, report: Report, moves: Sequence[Candidate]) -> str:
    """Return a report as `lz-analyze` tells it: shares in ten-thousandths.

    Args:
        board: of the position that was searched.
        report: what was found.
        moves: those of its candidates that are told, best first.
    """
    return " ".join(
        f"info move {format_vertex(board.size, move.point)} visits {move.visits} "
        f"winrate {_share(move.value)} prior {_share(move.prior)} "
        f"lcb {_share(lower_bound(move))} order {order} "
        f"pv {_variation(board, move)}"
        for order, move in enumerate(moves)
    )


def kata_line(board: Board, report: Report, moves: Sequence[Candidate]) -> str:
    """Return a report as `kata-analyze` tells it: shares as decimals.

    Args:
        board: of the position that was searched.
        report: what was found.
        moves: those of its candidates that are told, best first.
    """
    return " ".join(
        f"info move {format_vertex(board.size, move.point)} visits {move.visits} "
        f"edgeVisits {move.visits} {_kata_value(board, move.value)} "
        f"prior {move.prior:.6f} {_kata_bound(lower_bound(move))} "
        f"weight {move.visits:.1f} order {order} "
        f"pv {_variation(board, move)}"
        for order, move in enumerate(moves)
    )


def root_line(board: Board, report: Report, moves: Sequence[Candidate]) -> str:
    """Return the same, with what `kata-analyze` tells of the position behind it."""
    return (
        f"{kata_line(board, report, moves)} rootInfo visits {report.visits} "
        f"{_kata_value(board, moves[0].value)} weight {report.visits:.1f}"
    )


def _kata_value(board: Board, value: float) -> str:
    lead = f"{expected_lead(value, board.scale):.3f}"
    return (
        f"utility {2 * value - 1:.6f} winrate {value:.6f} scoreMean {lead} "
        f"scoreStdev {lead_spread(board.scale):.3f} scoreLead {lead} "
        f"scoreSelfplay {lead}"
    )


def _kata_bound(bound: float) -> str:
    return f"lcb {bound:.6f} utilityLcb {2 * bound - 1:.6f}"


def _share(value: float) -> int:
    """Return a share as Leela Zero writes it."""
    return round(value * 10_000)


def _variation(board: Board, move: Candidate) -> str:
    """Return the best play that begins with a move, as far as the search knows it."""
    points = move.variation or (move.point,)
    return " ".join(format_vertex(board.size, point) for point in points)
