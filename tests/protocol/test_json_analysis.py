"""The JSON analysis engine: its queries, its pool, and the process as a whole."""

import json
import math
import os
import random
import select
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, get_args

import msgspec
import pytest

from protocol import json_types
from protocol.json_analysis import Desk, Job, Player, Pool, jobs_of, work
from protocol.json_types import Error, FieldError, Query
from tanbo_engine import setups
from tanbo_engine._kernel import StopFlag
from tanbo_engine.game import Game
from tanbo_engine.player import Candidate, Limits, Report, SearchPlayer, Stream

from .talk import ROOT, Engine, command_line

FOR_EVER = 10_000.0
MOVES = {"player": "B", "moves": ["A2", "B1", "pass"], "untilDepth": 1}
CORNERED = [["B", "A1"], ["W", "A2"], ["W", "B1"]]


def query(line: dict[str, Any]) -> Query:
    asked = json_types.decode(json.dumps({"id": "q"} | line).encode())
    assert isinstance(asked, Query)
    return asked


def wrong(line: dict[str, Any] | str) -> Error:
    """Return the answer to a line that cannot be used."""
    text = line if isinstance(line, str) else json.dumps({"id": "q"} | line)
    with pytest.raises(FieldError) as caught:
        jobs_of(json_types.decode(text.encode()))  # type: ignore[arg-type]
    return caught.value.answer


# Queries


def test_a_query_without_anything_is_the_default_start() -> None:
    [(priority, job)] = jobs_of(query({}))
    assert (priority, job.turn) == (0, 0)
    assert job.start == setups.by_name("dense-7x7").position()


def test_what_katrain_sends() -> None:
    line = {
        "rules": "japanese",
        "priority": 3,
        "analyzeTurns": [1],
        "maxVisits": 100,
        "komi": 6.5,
        "boardXSize": 9,
        "boardYSize": 9,
        "includeOwnership": False,
        "includeMovesOwnership": False,
        "includePolicy": True,
        "initialStones": [],
        "initialPlayer": "B",
        "moves": [["B", "b1"]],
        "overrideSettings": {
            "reportAnalysisWinratesAs": "WHITE",
            "maxTime": 8.0,
            "wideRootNoise": 0.04,
        },
        "reportDuringSearchEvery": 1.0,
    }
    asked = query(line)
    [(priority, job)] = jobs_of(asked)
    assert (priority, job.turn) == (3, 1)
    assert job.start == setups.by_name("classic-9x9").position()
    assert (asked.side, asked.seconds, asked.visits) == ("WHITE", 8.0, 100)


def test_turns_and_priorities() -> None:
    moves = [["B", "A2"], ["W", "B3"], ["B", "A4"]]
    line = {"moves": moves, "analyzeTurns": [3, 0], "priorities": [-1, 7]}
    jobs = jobs_of(query(line))
    assert [(priority, job.turn) for priority, job in jobs] == [(-1, 3), (7, 0)]
    assert [len(job.game().moves) for _, job in jobs] == [3, 0]


def test_a_turn_that_is_named_twice_is_analysed_once() -> None:
    line = {"moves": [["B", "A2"]], "analyzeTurns": [1, 0, 1, 0]}
    assert [job.turn for _, job in jobs_of(query(line))] == [1, 0]


def test_stones_of_its_own() -> None:
    stones = [["B", "A1"], ["b", "A2"], ["W", "G7"]]
    [(_, job)] = jobs_of(query({"initialStones": stones, "initialPlayer": "w"}))
    assert job.game().to_move.word == "white"
    assert sorted(job.start.black) == [0, 7]


@pytest.mark.parametrize(
    ("line", "field", "words"),
    [
        ({"whiteHandicapBonus": "0"}, "whiteHandicapBonus", "unknown field"),
        ({"includePVVisits": True}, "includePVVisits", "unknown field"),
        ({"includeOwnership": True}, "includeOwnership", "use false"),
        ({"includeMovesOwnership": True}, "includeMovesOwnership", "use false"),
        ({"maxVisits": 0}, "maxVisits", "`int` >= 1"),
        ({"maxTime": "1"}, "maxTime", "got `str`"),
        ({"priority": 0.5}, "priority", "got `float`"),
        ({"id": 3}, "id", "got `int`"),
        ({"reportAnalysisWinratesAs": "RED"}, "reportAnalysisWinratesAs", "'RED'"),
        ({"overrideSettings": {"cpuct": 1}}, "overrideSettings", "field `cpuct`"),
        ({"setup": "dense-8x8"}, "setup", "the nearest are"),
        ({"boardXSize": 8, "boardYSize": 8}, "boardXSize", "the nearest sizes are"),
        ({"boardXSize": 7}, "boardYSize", "both sides"),
        ({"boardYSize": 7}, "boardXSize", "both sides"),
        ({"setup": "dense-7x9", "boardXSize": 7, "boardYSize": 7}, "setup", "7x7"),
        ({"moves": [["B", "A2"], ["B", "A3"]]}, "moves", "moves[1]: it is white's"),
        ({"moves": [["B", "A1"]]}, "moves", "moves[0]: A1 is occupied (R3)"),
        ({"moves": [["B", "Z9"]]}, "moves", "moves[0]: Z9 is off the board"),
        ({"moves": [["B", "pass"]]}, "moves", "moves[0]: there is no passing"),
        ({"moves": [["X", "A1"]]}, "moves", "$.moves[0][0]"),
        ({"moves": [["B"]]}, "moves", "length 2"),
        ({"initialStones": [["B", "H8"]]}, "initialStones", "[0]: H8 is off"),
        ({"initialStones": [["B", "A1"], ["W", "a1"]]}, "initialStones", "[1]: A1 has"),
        ({"initialStones": CORNERED}, "initialStones", "bounded"),
        ({"analyzeTurns": [1]}, "analyzeTurns", "use 0 to 0"),
        ({"analyzeTurns": []}, "analyzeTurns", "length >= 1"),
        (
            {"analyzeTurns": [0], "priorities": [1, 2]},
            "priorities",
            "2 priorities for 1 turn: give one for each",
        ),
        (
            {"analyzeTurns": [0, 0], "priorities": [1, 2]},
            "analyzeTurns",
            "turn 0 is given twice",
        ),
        ({"allowMoves": [MOVES | {"untilDepth": 2}]}, "allowMoves", "1 only"),
        ({"allowMoves": [MOVES, MOVES]}, "allowMoves", "length <= 1"),
        ({"avoidMoves": [MOVES | {"moves": ["H8"]}]}, "avoidMoves", "[0]: H8 is"),
        ({"avoidMoves": [{"player": "B", "moves": []}]}, "avoidMoves", "length >= 1"),
        ({"avoidMoves": {"player": "B"}}, "avoidMoves", "got `object`"),
        ({"action": "dance"}, "action", "'dance'"),
        ({"action": "terminate"}, "terminateId", "missing required"),
        ({"action": "query_version", "moves": []}, "moves", "unknown field"),
    ],
)  # fmt: skip
def test_errors_name_the_field(line: dict[str, Any], field: str, words: str) -> None:
    answer = wrong(line)
    assert answer.field == field
    assert words in answer.error
    assert answer.id == (msgspec.UNSET if field == "id" else "q")


@pytest.mark.parametrize("line", ["", "{", "[]", "7", "null", "{} {}", "[" * 100_000])
def test_lines_that_are_no_object(line: str) -> None:
    answer = wrong(line)
    assert "not a JSON object" in answer.error
    assert (answer.field, answer.id) == (msgspec.UNSET, msgspec.UNSET)


def test_no_line_ends_the_process() -> None:
    rng = random.Random(3)
    bench = Bench()
    good = b'{"id":"a","moves":[["B","A2"]],"overrideSettings":{"maxTime":1e9}}'
    lines = [b'{"id":"\\ud800"}', b'{"id":"a","x\\n`":1}', b"\xef\xbb\xbf{}"]
    for _ in range(3000):
        line = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            line[rng.randrange(len(line))] = rng.choice(b'{}[]",:\\0u\xff\x00dn')
        lines.append(bytes(line))
    for changed in lines:
        bench.desk.take(changed)
    bench.finish()
    assert not any("internal" in answer.get("error", "") for answer in bench.answers)


# The pool, with a player that finds what it is told to


class Searcher:
    """A player that waits until it may go on, or is stopped."""

    def __init__(self) -> None:
        self.may_go_on = threading.Event()
        self.begun: list[str] = []

    def search(
        self,
        game: Game,
        limits: Limits,
        stop: StopFlag,
        salt: int = 0,
        stream: Stream | None = None,
        only: Collection[int] = (),
    ) -> Report:
        point = game.legal_moves()[0]
        moves = (Candidate(point, 1, 0.75, 0.5, 0),)
        report = Report(point, 0.75, 1, 0.0, 0, (point,), moves, False)
        if stream is not None and stream.interval < math.inf:
            stream.tell(report)
        while not stop.is_set and not self.may_go_on.wait(0.005):
            pass
        return report._replace(visits=0) if limits.visits == 99 else report


class Bench:
    """A pool of fake players, a desk before it, and the answers."""

    def __init__(self, workers: int = 1, player: Player | None = None) -> None:
        self.answers: list[Any] = []
        self.player = Searcher()
        players = [player or self.player] * workers
        self.pool = Pool(players, lambda one, job: work(one, job, 7, self.tell))
        self.desk = Desk(self.pool, self.tell, 5)

    def tell(self, answer: msgspec.Struct) -> None:
        self.answers.append(json.loads(msgspec.json.encode(answer)))

    def ask(self, **line: object) -> None:
        self.desk.take(json.dumps(line).encode())

    def finish(self) -> list[Any]:
        self.player.may_go_on.set()
        self.pool.finish()
        return self.answers

    def wait_for(self, answers: int) -> None:
        end = time.monotonic() + 5
        while len(self.answers) < answers:
            assert time.monotonic() < end, self.answers
            time.sleep(0.002)


def names(answers: Iterable[Any]) -> list[str]:
    return [answer["id"] for answer in answers]


def test_higher_priorities_first_then_in_order_of_arrival() -> None:
    bench = Bench()
    bench.ask(id="first", reportDuringSearchEvery=1)
    bench.wait_for(1)
    for number, priority in enumerate([0, 5, -1, 5, 0]):
        bench.ask(id=f"{number}", priority=priority)
    assert names(bench.finish())[1:] == ["first", "1", "3", "0", "4", "2"]


def test_terminate_ends_what_runs_and_what_waits() -> None:
    bench = Bench()
    bench.ask(id="runs", reportDuringSearchEvery=1)
    bench.wait_for(1)
    moves = [["B", "A2"], ["W", "B3"]]
    bench.ask(id="waits", moves=moves, analyzeTurns=[0, 1, 2])
    bench.ask(id="stays")
    bench.ask(id="t1", action="terminate", terminateId="waits", turnNumbers=[0, 2])
    bench.ask(id="t2", action="terminate", terminateId="nobody")
    bench.ask(id="t3", action="terminate", terminateId="runs")
    bench.wait_for(7)
    nothing = {"isDuringSearch": False, "noResults": True}
    assert bench.answers[1:5] == [
        {
            "id": "t1",
            "action": "terminate",
            "terminateId": "waits",
            "turnNumbers": [0, 2],
        },
        {"id": "waits", "turnNumber": 0} | nothing,
        {"id": "waits", "turnNumber": 2} | nothing,
        {"id": "t2", "action": "terminate", "terminateId": "nobody"},
    ]
    assert sorted(names(bench.answers[5:7])) == ["runs", "t3"]
    assert names(bench.finish()[7:]) == ["waits", "stays"]


def test_terminate_all() -> None:
    bench = Bench(workers=2)
    for number in range(6):
        bench.ask(id=f"{number}", reportDuringSearchEvery=1)
    bench.wait_for(2)
    bench.ask(id="t", action="terminate_all")
    bench.pool.finish()
    finals = [a for a in bench.answers if a.get("isDuringSearch") is False]
    assert sorted(names(finals)) == [f"{number}" for number in range(6)]
    assert sum("noResults" in answer for answer in finals) == 4


def test_a_search_without_visits_has_no_results() -> None:
    bench = Bench()
    bench.ask(id="a", maxVisits=99)
    assert bench.finish() == [
        {"id": "a", "turnNumber": 0, "isDuringSearch": False, "noResults": True}
    ]


def test_a_player_that_fails_is_told_and_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    class Failing(Searcher):
        errors: tuple[Exception, ...] = (MemoryError(), OSError("what\never"))

        def search(self, *_: object, **__: object) -> Report:
            error, *rest = self.errors
            self.errors = tuple(rest)
            raise error

    bench = Bench(player=Failing())
    bench.ask(id="a")
    bench.ask(id="b")
    answers = bench.finish()
    assert names(answers) == ["a", "b"]
    assert "--memory" in answers[0]["error"]
    assert "internal error: OSError: what" in answers[1]["error"]
    assert "Traceback" in capsys.readouterr().err


def test_actions() -> None:
    bench = Bench()
    bench.ask(id="v", action="query_version")
    bench.ask(id="m", action="query_models")
    bench.ask(id="c", action="clear_cache")
    version, models, clear = bench.finish()
    assert (version["name"], version["seed"]) == ("tanbo-engine", 5)
    assert [model["name"] for model in models["models"]] == ["tanbo-engine"]
    assert clear == {"id": "c", "action": "clear_cache"}


# What the numbers say


def answer_to(line: dict[str, Any]) -> dict[str, Any]:
    answers: list[msgspec.Struct] = []
    [(_, job)] = jobs_of(query(line))
    work(SearchPlayer(4, 1), job, 200, answers.append)
    found: dict[str, Any] = msgspec.to_builtins(answers[-1])
    return found


@pytest.mark.parametrize(
    ("side", "is_mover"), [("BLACK", False), ("WHITE", True), ("SIDETOMOVE", True)]
)
def test_whose_chances(side: str, is_mover: bool) -> None:
    white_moves = {"moves": [["B", "A2"]], "maxVisits": 300}
    mover = answer_to(white_moves | {"reportAnalysisWinratesAs": "SIDETOMOVE"})
    answer = answer_to(white_moves | {"reportAnalysisWinratesAs": side})
    assert answer["rootInfo"]["currentPlayer"] == "W"
    ours = [answer["rootInfo"], *answer["moveInfos"]]
    for told, reference in zip(
        ours, [mover["rootInfo"], *mover["moveInfos"]], strict=True
    ):
        expected = reference["winrate"] if is_mover else 1 - reference["winrate"]
        assert told["winrate"] == pytest.approx(expected)
        sign = 1 if is_mover else -1
        assert told["scoreLead"] == pytest.approx(sign * reference["scoreLead"])
    best = answer["moveInfos"][0]
    assert (best["lcb"] <= best["winrate"]) is is_mover
    assert best["pv"][0] == best["move"]


def test_limits_of_query_and_command_line() -> None:
    assert answer_to({})["rootInfo"]["visits"] == 200
    assert answer_to({"maxVisits": 30})["rootInfo"]["visits"] == 30
    override = {"maxVisits": 30, "overrideSettings": {"maxVisits": 20}}
    assert answer_to(override)["rootInfo"]["visits"] == 20


def test_policy_on_a_rectangle() -> None:
    # The start is the same upside down, so there are moves.
    moves = [["B", "A2"], ["W", "B3"]]
    line = {"setup": "dense-5x7", "moves": moves, "includePolicy": True}
    answer = answer_to(line)
    policy = answer["policy"]
    assert len(policy) == 36
    assert sum(prior for prior in policy if prior >= 0) == pytest.approx(1, abs=1e-3)
    rows = [policy[start : start + 5] for start in range(0, 35, 5)]
    for move in answer["moveInfos"]:
        column, row = "ABCDE".index(move["move"][0]), int(move["move"][1:])
        assert rows[7 - row][column] == move["prior"]
    assert policy[-1] == -1
    assert "policy" not in answer_to({})


def test_allowed_and_avoided_moves() -> None:
    others = {"player": "B", "moves": ["A2"], "untilDepth": 1}
    played = [["B", "A2"]]
    for line, found in (
        ({"allowMoves": [MOVES]}, {"A2", "B1"}),
        ({"allowMoves": [MOVES], "avoidMoves": [others]}, {"B1"}),
    ):
        told: dict[str, Any] = answer_to(line | {"includePolicy": True})
        assert {move["move"] for move in told["moveInfos"]} == found
        assert told["rootInfo"]["visits"] == 200
        assert sum(prior >= 0 for prior in told["policy"]) == len(found)
    everything = {move["move"] for move in answer_to({})["moveInfos"]}
    left = {move["move"] for move in answer_to({"avoidMoves": [others]})["moveInfos"]}
    assert everything - left == {"A2"}
    told = answer_to({"moves": played, "allowMoves": [MOVES]})
    assert len(told["moveInfos"]) > 2


def test_moves_that_leave_nothing_to_search_are_told_for_their_turn() -> None:
    allowed = MOVES | {"moves": ["A1"]}
    told = answer_to({"allowMoves": [allowed]})
    assert told["error"].startswith("turn 0: no legal move is left")
    assert (told["id"], told["field"]) == ("q", "allowMoves")
    told = answer_to({"allowMoves": [MOVES], "avoidMoves": [MOVES]})
    assert told["field"] == "avoidMoves"


def test_a_finished_game() -> None:
    line = {"boardXSize": 3, "boardYSize": 3, "initialStones": [["W", "A1"]]}
    answer = answer_to(line)
    assert (answer["isOver"], answer["winner"]) == (True, "W")
    assert answer["moveInfos"] == []
    assert answer["rootInfo"]["winrate"] == 0
    assert answer["rootInfo"]["provenWinner"] == "W"
    closed = answer_to(line | {"moves": [["B", "pass"], ["W", "pass"]]})
    assert (closed["winner"], closed["turnNumber"]) == ("W", 2)


def test_a_proof_names_the_winner() -> None:
    answer = answer_to({"setup": "dense-3x3", "maxVisits": 10_000})
    root = answer["rootInfo"]
    assert root["winrate"] == {"B": 1, "W": 0}[root["provenWinner"]]
    assert not answer["isOver"]


# The schema


def test_the_schema_is_current() -> None:
    script = ROOT / "scripts" / "schema.py"
    done = subprocess.run([sys.executable, str(script), "--check"], check=False)
    assert done.returncode == 0


def test_every_attribute_is_in_the_schema() -> None:
    parts = json_types.schema()["$defs"]
    assert {kind.__name__ for kind in get_args(json_types.Action)} < parts.keys()
    assert parts["Query"]["required"] == ["id"]
    assert parts["Query"]["additionalProperties"] is False
    assert "priorities" in parts["Query"]["description"]


def check_answer(answer: dict[str, Any]) -> str:
    """Check an answer's fields and types; return its kind."""
    kind: Any = json_types.Error
    if "action" in answer:
        kind = {
            "query_version": json_types.Version,
            "query_models": json_types.Models,
        }.get(answer["action"], json_types.Action)
    elif "noResults" in answer:
        kind = json_types.NoResults
    elif "moveInfos" in answer:
        kind = json_types.Analysis
    read = msgspec.convert(answer, kind)
    # Nothing is in it that its type does not know.
    assert msgspec.to_builtins(read) == answer
    return type(read).__name__


# The process


def talk(lines: Iterable[Any], *options: str) -> list[Any]:
    """Run the engine on some lines; return its answers."""
    text = "".join(
        f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines
    )
    with Engine("analysis", "--workers", "2", "--seed", "1", *options) as engine:
        status, out, err = engine.finish(text.encode())
    assert (status, err) == (0, "")
    return [json.loads(line) for line in out.splitlines()]


MANY_SIZES = ("dense-5x7", "dense-7x7", "dense-7x9", "classic-9x9", "dense-11x11")
MALFORMED = ("{", '{"id":"m","maxVisits":-1}', '{"id":"m","x":1}', "nonsense", "[]")


def test_two_hundred_queries_and_what_is_wrong_between_them() -> None:
    rng = random.Random(1)
    lines: list[Any] = []
    for number in range(200):
        line = {
            "id": f"{number}",
            "setup": rng.choice(MANY_SIZES),
            "maxVisits": rng.randint(1, 600),
            "priority": rng.randint(-2, 2),
            "includePolicy": rng.random() < 0.5,
        }
        lines += [line, "", rng.choice(MALFORMED)]
    answers = talk(lines)
    kinds = Counter(map(check_answer, answers))
    assert kinds == {"Analysis": 200, "Error": 200}
    found = {answer["id"]: answer for answer in answers if "error" not in answer}
    assert len(found) == 200
    for line in lines[::3]:
        assert found[line["id"]]["rootInfo"]["visits"] <= line["maxVisits"]


def test_answers_follow_from_the_seed_whoever_gives_them() -> None:
    lines = [{"id": f"{number}", "maxVisits": 300} for number in range(8)]
    answers = talk(lines)
    for answer in answers:
        assert answer | {"id": ""} == answers[0] | {"id": ""}


def test_reports_on_the_way() -> None:
    line = {"id": "a", "maxTime": 0.5, "reportDuringSearchEvery": 0.1}
    answers = talk([line])
    assert [answer["isDuringSearch"] for answer in answers[-2:]] == [True, False]
    assert 3 <= len(answers) <= 6
    visits = [answer["rootInfo"]["visits"] for answer in answers]
    assert visits == sorted(visits)


def read_line(engine: Engine) -> dict[str, Any]:
    assert engine.process.stdout is not None
    data = b""
    while not data.endswith(b"\n"):
        byte = engine.process.stdout.read(1)
        assert byte
        data += byte
    answer: dict[str, Any] = json.loads(data)
    return answer


def test_terminate_in_mid_search() -> None:
    with Engine("analysis", "--workers", "1") as engine:
        long = {"id": "a", "maxTime": FOR_EVER, "reportDuringSearchEvery": 0.05}
        engine.send(json.dumps(long).encode() + b"\n" + b'{"id":"b"}\n')
        assert read_line(engine)["isDuringSearch"]
        began = time.monotonic()
        engine.send(b'{"id":"t","action":"terminate","terminateId":"a"}\n')
        answers: list[dict[str, Any]] = []
        while not answers or answers[-1]["id"] != "b":
            answers.append(read_line(engine))
        assert time.monotonic() - began < 1
        last = [a for a in answers if a.get("isDuringSearch") is False]
        assert names(last) == ["a", "b"]
        assert last[0]["rootInfo"]["visits"] > 0
        assert engine.finish() == (0, "", "")


def test_the_queue_is_finished_after_the_input() -> None:
    began = time.monotonic()
    answers = talk([{"id": f"{n}", "maxTime": 0.2} for n in range(6)])
    assert sorted(names(answers)) == [f"{n}" for n in range(6)]
    assert time.monotonic() - began > 0.55


@pytest.mark.skipif(not hasattr(select, "poll"), reason="needs poll")
@pytest.mark.parametrize("input_ended", [False, True])
def test_a_closed_output_ends_everything(input_ended: bool) -> None:
    with Engine("analysis", "--workers", "1") as engine:
        lines = [{"id": f"{n}", "maxTime": FOR_EVER} for n in range(3)]
        first = {"id": "v", "action": "query_version"}
        text = "".join(json.dumps(line) + "\n" for line in (*lines, first))
        engine.send(text.encode())
        assert read_line(engine)["id"] == "v"
        assert engine.process.stdin is not None
        assert engine.process.stdout is not None
        if input_ended:
            engine.process.stdin.close()
        engine.process.stdout.close()
        assert engine.process.wait(2) == 0
        assert engine.process.stderr is not None
        assert engine.process.stderr.read() == b""


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-"])
def test_streams_that_were_never_open(closed: str) -> None:
    done = subprocess.run(
        [
            "/bin/sh",
            "-c",
            f'exec "$0" -m protocol analysis {closed}',
            sys.executable,
        ],
        input=b'{"id":"a"}\n',
        capture_output=True,
        cwd=ROOT,
        timeout=10,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_long_lines_and_a_last_one_without_an_end() -> None:
    lines = ['{"id":"' + "x" * (2 << 20) + '"}', '{"id":"a"}\r', " ", '{"id":"b"}']
    with Engine("analysis") as engine:
        status, out, _ = engine.finish("\n".join(lines).encode())
    answers = [json.loads(line) for line in out.splitlines()]
    assert status == 0
    assert "line too long" in answers[0]["error"]
    assert sorted(names(answers[1:])) == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--workers", "0"], "--workers: expected a whole number from 1 to 256"),
        (["--workers", "9", "--memory", "8"], "need at least --memory 9, got 8"),
        (["x"], "unrecognized arguments: x"),
    ],
)
def test_wrong_options(arguments: list[str], words: str) -> None:
    status, out, err = command_line("analysis", *arguments)
    assert (status, out) == (2, "")
    assert words in err


def test_the_gtp_server_imports_none_of_it() -> None:
    code = (
        "import sys; from protocol.cli import main; main([])\n"
        "print({'protocol.json_types', 'protocol.json_analysis', 'protocol.tcp'}"
        " & set(sys.modules))"
    )
    with Engine(code=code) as engine:
        assert engine.finish(b"name\n")[1].endswith("set()\n")


def test_a_job_is_only_its_own() -> None:
    [(_, one), (_, two)] = jobs_of(
        query({"moves": [["B", "A2"]], "analyzeTurns": [0, 1]})
    )
    assert isinstance(one, Job)
    one.stop.set()
    assert not two.stop.is_set
