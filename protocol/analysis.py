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
scoreLead           difference in growth points that goes with the win rate
                    (`Board.lead`); also ``scoreMean`` and ``scoreSelfplay``
scoreStdev          spread of that difference (`Board.spread`)
order               rank, 0 the best
pv                  best play; only the best move's is longer than the move itself
==================  ==============================================================
"""

import math
from collections.abc import Collection, Sequence
from typing import NamedTuple

from tanbo_engine.chance import slope_for
from tanbo_engine.game import Game
from tanbo_engine.player import Candidate, Report
from tanbo_engine.points import Color, Size, format_vertex

_DEVIATIONS = 1.96
_SUREST = 0.999

# By scripts/lead.py: what growth points count for in games of this engine.
_LEAD = 1.3
_LEAD_OF_GROWTH = 0.01
_SPREAD_OF_GROWTH = 0.44


class Board(NamedTuple):
    """What a report's text needs to know of the position.

    Attributes:
        size: board size.
        growth_points: of both sides.
    """

    size: Size
    growth_points: int

    def lead(self, value: float) -> float:
        """Return the difference in growth points to expect of a win probability.

        It is the mean of such positions when the engine plays itself: a win rate told
        in points, not a forecast of the end. A proven result counts as 99.9%.
        """
        value = min(max(value, 1 - _SUREST), _SUREST)
        scale = _LEAD + _LEAD_OF_GROWTH * self.growth_points
        scale /= slope_for(self.size.area)
        return scale * math.log(value / (1 - value))

    @property
    def spread(self) -> float:
        """Standard deviation of the difference in such positions."""
        return _SPREAD_OF_GROWTH * math.sqrt(self.growth_points)


class NoMoveLeft(ValueError):  # noqa: N818
    """A restriction that leaves nothing to search.

    Attributes:
        key: ``allow`` or ``avoid``: which of the two took the last move.
    """

    def __init__(self, key: str) -> None:
        super().__init__("no legal move is left: avoid fewer or allow more")
        self.key = key


def board_of(game: Game) -> Board:
    """Return what reports on the current position need."""
    points = sum(len(game.legal_moves(color)) for color in Color)
    return Board(game.size, points)


def restriction(
    game: Game, allowed: Collection[int] | None, avoided: Collection[int]
) -> frozenset[int]:
    """Return the points that a search may choose from, empty for every legal one.

    Args:
        game: what is searched; it may be over.
        allowed: nothing but these points; all if None.
        avoided: none of these points.

    Raises:
        NoMoveLeft: no legal move is left.
    """
    legal = frozenset(game.legal_moves())
    permitted = legal if allowed is None else legal.intersection(allowed)
    left = permitted - set(avoided)
    if legal and not left:
        raise NoMoveLeft("avoid" if permitted else "allow")
    return frozenset() if left == legal else left


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
    lead = f"{board.lead(value):.3f}"
    return (
        f"utility {2 * value - 1:.6f} winrate {value:.6f} scoreMean {lead} "
        f"scoreStdev {board.spread:.3f} scoreLead {lead} "
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
