"""What goes in and out of `tanbo-engine analysis`, as msgspec Structs.

Names and habits are those of KataGo's analysis engine (its docs/Analysis_Engine.md).
`analysis_schema.json` beside this file is made from these types by scripts/schema.py.
"""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from protocol import config

ColorName = Literal["B", "W", "b", "w"]
Stone = tuple[ColorName, str]
"""A colour and a vertex, as in ``["B", "C4"]``."""

Side = Literal["BLACK", "WHITE", "SIDETOMOVE"]

Visits = config.Visits
Seconds = Annotated[float, Meta(gt=0, le=1_000_000)]
Index = Annotated[int, Meta(ge=0)]
Priority = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
BoardSide = Annotated[int, Meta(ge=1, le=99)]


# What comes in


class Override(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Values that beat those of the query itself; KaTrain sends its settings here.

    Attributes:
        max_visits: as in the query.
        max_time: as in the query.
        report_analysis_winrates_as: as in the query.
        wide_root_noise: accepted and without effect; KaTrain always sends it.
    """

    max_visits: Visits | None = None
    max_time: Seconds | None = None
    report_analysis_winrates_as: Side | None = None
    wide_root_noise: float | None = None


class MoveList(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Moves to allow or to avoid.

    Attributes:
        player: whose.
        moves: vertices; a pass is accepted and means nothing.
        until_depth: 1, the move that is analysed; deeper ones cannot be restricted.
    """

    player: ColorName
    moves: Annotated[tuple[str, ...], Meta(min_length=1)]
    until_depth: Annotated[int, Meta(ge=1)]


class Query(
    Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    """Positions of one game to analyse.

    Attributes:
        id: comes back in every answer; also what `terminate` names.
        setup: the start position's name, such as ``dense-7x7``.
        board_x_size: board width; without `setup` it chooses the size's usual one.
        board_y_size: board height.
        initial_stones: the start position instead of the set-up's, unless empty.
        initial_player: who moves first; Black by default.
        moves: what was played from the start, in turn.
        analyze_turns: how many of the moves are made in the positions to analyse, each
            of which gets an answer, named twice only one; all of them by default, that
            is one position.
        max_visits: visits a position at most.
        max_time: seconds a position at most.
        report_during_search_every: seconds between two answers on the way.
        priority: higher ones first, then in order of arrival.
        priorities: one for each of `analyze_turns`, instead of `priority`; no turn may
            be named twice then.
        allow_moves: search only these, in the positions where their player is to move.
        avoid_moves: leave these out, likewise; also of those that are allowed.
        include_policy: answer the priors as a grid, too.
        report_analysis_winrates_as: whose chances are told.
        override_settings: some of these values again, which win.
        rules: accepted and without effect, for clients that cannot leave it out.
        komi: the same.
        include_ownership: the same; only false, for nobody owns a point in Tanbo.
        include_moves_ownership: the same.
    """

    id: str
    setup: str | None = None
    board_x_size: BoardSide | None = None
    board_y_size: BoardSide | None = None
    initial_stones: tuple[Stone, ...] = ()
    initial_player: ColorName | None = None
    moves: tuple[Stone, ...] = ()
    analyze_turns: Annotated[tuple[Index, ...], Meta(min_length=1)] | None = None
    max_visits: Visits | None = None
    max_time: Seconds | None = None
    report_during_search_every: Seconds | None = None
    priority: Priority = 0
    priorities: tuple[Priority, ...] | None = None
    allow_moves: Annotated[tuple[MoveList, ...], Meta(max_length=1)] = ()
    avoid_moves: tuple[MoveList, ...] = ()
    include_policy: bool = False
    report_analysis_winrates_as: Side = "BLACK"
    override_settings: Override = Override()
    rules: Any = None
    komi: float | None = None
    include_ownership: bool = False
    include_moves_ownership: bool = False

    @property
    def visits(self) -> int | None:
        """Visits a position at most, None if the query does not say."""
        return self.override_settings.max_visits or self.max_visits

    @property
    def seconds(self) -> float | None:
        """Seconds a position at most, None if the query does not say."""
        return self.override_settings.max_time or self.max_time

    @property
    def side(self) -> Side:
        """Whose chances are told."""
        told = self.override_settings.report_analysis_winrates_as
        return told or self.report_analysis_winrates_as


class _Action(
    Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename="camel",
    tag_field="action",
):
    """What every action holds."""

    id: str


class QueryVersion(_Action, frozen=True, tag="query_version"):
    """Ask for the engine's release."""


class QueryModels(_Action, frozen=True, tag="query_models"):
    """Ask which models there are."""


class ClearCache(_Action, frozen=True, tag="clear_cache"):
    """Echoed and without effect: no search knows anything of an earlier one."""


class Terminate(_Action, frozen=True, tag="terminate"):
    """End the queries of an id, or some turns of theirs; echoed.

    Attributes:
        terminate_id: the queries' id.
        turn_numbers: the turns; all of them by default.
    """

    terminate_id: str
    turn_numbers: tuple[Index, ...] | UnsetType = UNSET


class TerminateAll(_Action, frozen=True, tag="terminate_all"):
    """End all queries, or some turns of them; echoed.

    Attributes:
        turn_numbers: the turns; all of them by default.
    """

    turn_numbers: tuple[Index, ...] | UnsetType = UNSET


Action = QueryVersion | QueryModels | ClearCache | Terminate | TerminateAll


# What goes out


class MoveInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """One move; `protocol.analysis` says what the numbers mean.

    Attributes:
        proven_winner: who wins after it, where that is proved.
    """

    move: str
    visits: int
    edge_visits: int
    weight: float
    winrate: float
    lcb: float
    utility: float
    utility_lcb: float
    score_lead: float
    score_mean: float
    score_selfplay: float
    score_stdev: float
    prior: float
    order: int
    pv: list[str]
    proven_winner: Literal["B", "W"] | UnsetType = UNSET


class RootInfo(Struct, frozen=True, kw_only=True, rename="camel"):
    """The position itself.

    Attributes:
        current_player: the side to move.
        proven_winner: who wins, where that is proved.
    """

    current_player: Literal["B", "W"]
    visits: int
    weight: float
    winrate: float
    utility: float
    score_lead: float
    score_selfplay: float
    score_stdev: float
    proven_winner: Literal["B", "W"] | UnsetType = UNSET


class Analysis(Struct, frozen=True, kw_only=True, rename="camel"):
    """What was found at one turn of a query.

    Attributes:
        is_during_search: more follows; each turn has one last answer without it.
        is_over: the game is over there: `winner` won it and no move is told.
        policy: priors row by row from the top left, -1 where no move is legal or it was
            left out, and behind them -1 for a pass, which KataGo's clients expect.
    """

    id: str
    turn_number: int
    is_during_search: bool
    move_infos: list[MoveInfo]
    root_info: RootInfo
    is_over: bool = False
    winner: Literal["B", "W"] | UnsetType = UNSET
    policy: list[float] | UnsetType = UNSET


class NoResults(Struct, frozen=True, kw_only=True, rename="camel"):
    """The last answer of a turn that was ended before anything was found."""

    id: str
    turn_number: int
    is_during_search: bool = False
    no_results: bool = True


class Version(_Action, frozen=True, kw_only=True, tag="query_version"):
    """The answer to `QueryVersion`.

    Attributes:
        version: release of this engine.
        git_hash: what `tanbo-build` answers: a hash of release and kernel.
        name: of this engine.
        seed: decides every random choice of this process.
    """

    version: str
    git_hash: str = msgspec.field(name="git_hash")
    name: str
    seed: int


class Model(Struct, frozen=True, rename="camel"):
    """What evaluates positions."""

    name: str
    internal_name: str
    version: str


class Models(_Action, frozen=True, tag="query_models"):
    """The answer to `QueryModels`."""

    models: list[Model]


class Error(Struct, frozen=True, kw_only=True):
    """A line, or one turn of a query, that cannot be answered.

    Attributes:
        error: what is wrong.
        field: where, unless the line as a whole is.
        id: the line's id, if it has one.
    """

    error: str
    field: str | UnsetType = UNSET
    id: str | UnsetType = UNSET


ECHOED = (ClearCache, Terminate, TerminateAll)
"""Actions that are their own answer."""

INPUT = (Query, QueryVersion, QueryModels, *ECHOED)
OUTPUT = (Analysis, NoResults, Version, Models, *ECHOED, Error)


class FieldError(ValueError):
    """A line that cannot be used.

    Attributes:
        answer: says why.
    """

    def __init__(
        self,
        text: str,
        field: str | UnsetType = UNSET,
        id: str | UnsetType = UNSET,  # noqa: A002 (the protocol's word)
    ) -> None:
        super().__init__(text)
        self.answer = Error(error=text, field=field, id=id)


def decode(line: bytes) -> Query | Action:
    """Return what a line asks for.

    Raises:
        FieldError: no JSON object, or a field that is wrong, unknown or missing.
    """
    try:
        raw = msgspec.json.decode(line)
    except (ValueError, RecursionError) as error:
        raise FieldError(f"not a JSON object in one line: {error}") from error
    if not isinstance(raw, dict):
        raise FieldError("not a JSON object: use {...} in one line")
    id_ = raw.get("id")
    try:
        kind: Any = Action if "action" in raw else Query
        asked: Query | Action = msgspec.convert(raw, kind)
    except msgspec.ValidationError as error:
        text = str(error)
        known = id_ if isinstance(id_, str) else UNSET
        raise FieldError(text, _field_in(text), known) from error
    return asked


def _field_in(text: str) -> str | UnsetType:
    """Return the field of the line that a complaint of msgspec is about."""
    found = re.search(r" - at `\$\.(\w+)", text) or re.search(r"field `(.*)`", text)
    return found[1] if found else UNSET


def schema() -> dict[str, Any]:
    """Return the JSON Schema of all lines: ``$defs`` has one of each kind."""
    kinds = dict.fromkeys(INPUT + OUTPUT)
    _, parts = msgspec.json.schema_components(
        list(kinds), ref_template="#/$defs/{name}"
    )
    for name, kind in (("Input", INPUT), ("Output", OUTPUT)):
        choice = [{"$ref": f"#/$defs/{struct.__name__}"} for struct in kind]
        parts[name] = {"description": f"A line of {name.lower()}.", "anyOf": choice}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tanbo-engine analysis",
        "description": "Lines of JSON, after KataGo's analysis engine.",
        "anyOf": [{"$ref": "#/$defs/Input"}, {"$ref": "#/$defs/Output"}],
        "$defs": parts,
    }
