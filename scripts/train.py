"""Learns the evaluation and the policy from games of scripts/selfplay.py.

    .venv/bin/pip install jax optax
    .venv/bin/python scripts/train.py --out weights.bin DIR...  [--epochs 6] [--seed 0]

One model for all sizes. The features are the kernel's (`Position.features`), the model
is what chapter 6 of the kernel computes: weights of local patterns, summed in lanes
over the board, and a small network that judges the sums and some counts; for moves, a
weight of the pattern and one of the effect. Every tenth game is held out, to measure.

Writes the file of weights and, beside it, a record of how it was made
(`weights.json`). 170,000 positions take half a minute of a core and a gigabyte of
memory, so there is nothing to resume. The same data, seed, machine and versions give
the same weights. To use the weights, copy them over tanbo_engine/weights.bin; only
matches tell whether they are better.
"""

import argparse
import datetime
import importlib.metadata
import math
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import msgspec
import numpy as np
import optax
from numpy.typing import NDArray

from protocol.files import write_whole
from tanbo_engine import __version__, _kernel, selfplay, setups, weights
from tanbo_engine._kernel import ALL_PATTERNS, LANES, UNITS, Position
from tanbo_engine.game import kernel_position
from tanbo_engine.selfplay import Look, Source

HELD_OUT = 10  # one game of so many
POLICY_EPOCHS = 4
RESULT_SHARE = 0.35  # of the target of the value; the rest is what the search said
SCALE = 8192  # a lane of 1.0, as a whole number
LANE_LIMIT = 32_000
POLICY_LIMIT = 2_000
TOLERANCE = 0.01  # of a win probability: whole numbers, and the kernel's tables

Array: TypeAlias = NDArray[Any]
Tensor = Any  # an array of JAX, or of NumPy where one is enough
Model = dict[str, Tensor]
State = Any  # of the optimizer
Loss = Callable[..., Tensor]


# Positions as arrays


class Values(NamedTuple):
    """Positions to learn the value from, one a row; all seen from the side to move."""

    patterns: Array  # number of the pattern at each point
    counts: Array
    results: Array  # 1 won, 0 lost
    odds: Array  # log odds, as the search said


class Choices(NamedTuple):
    """Positions to learn the policy from, one a row, a move a column."""

    patterns: Array  # of each move
    effects: Array
    shares: Array  # of the visits
    legal: Array  # False behind the last move


class Examples(NamedTuple):
    """Positions of one set-up."""

    values: Values
    choices: Choices


class Rows:
    """Collects the positions of one set-up."""

    def __init__(self) -> None:
        self._values: list[tuple[Array, tuple[float, ...], float, float]] = []
        self._choices: list[Array] = []

    def add(self, position: Position, look: Look, winner: int) -> None:
        """Take in a position that the search left open; proofs need no learning."""
        if look.proof:
            return
        raw, counts, moves = position.features()
        chance = min(max(look.value, 0.001), 0.999)
        odds = math.log(chance / (1 - chance))
        patterns = np.frombuffer(raw, np.uint32).astype(np.int32)
        won = float(winner == position.to_move)
        self._values.append((patterns, counts, won, odds))
        if len(moves) > 1:
            visits, total = dict(look.visits), sum(count for _, count in look.visits)
            rows = [(p, e, visits.get(point, 0) / total) for point, p, e in moves]
            self._choices.append(np.array(rows, np.float32))

    def examples(self, setup: str) -> Examples:
        """Return all of them as arrays.

        Raises:
            ValueError: there are none; the message names the set-up.
        """
        if not self._choices:
            raise ValueError(f"too few open positions of {setup}: make more, or none")
        patterns, counts, results, odds = zip(*self._values, strict=True)
        most = max(len(rows) for rows in self._choices)
        padded = np.zeros((len(self._choices), most, 3), np.float32)
        legal = np.zeros((len(self._choices), most), bool)
        for i, rows in enumerate(self._choices):
            padded[i, : len(rows)] = rows
            legal[i, : len(rows)] = True
        moves = padded[:, :, :2].astype(np.int32)
        return Examples(
            Values(
                np.stack(patterns),
                np.array(counts, np.float32),
                np.array(results, np.float32),
                np.array(odds, np.float32),
            ),
            Choices(moves[:, :, 0], moves[:, :, 1], padded[:, :, 2], legal),
        )


class Data(NamedTuple):
    """What was read, by set-up: examples to learn from, and to measure by."""

    training: dict[str, Examples]
    held_out: dict[str, Examples]
    games: Counter[Source]


def read(folders: list[Path]) -> Data:
    """Return the positions of all games, and what they are of.

    Raises:
        ValueError: a file is none of games, or a set-up has too few.
    """
    rows: tuple[dict[str, Rows], dict[str, Rows]] = ({}, {})
    games: Counter[Source] = Counter()
    for batch in selfplay.read(folders):
        games[batch.source] += len(batch.games)
        for game in batch.games:
            part = rows[game.number % HELD_OUT == 0]
            its = part.setdefault(batch.source.setup, Rows())
            for position, look in selfplay.positions(batch, game):
                its.add(position, look, game.winner)
    training, held_out = (
        {name: part[name].examples(name) for name in sorted(part)} for part in rows
    )
    return Data(training, held_out, games)


# Fitting


class Table(NamedTuple):
    """Which patterns have weights: one a row; row 0 is for all that are too rare."""

    numbers: Array  # of the patterns of rows 1, 2, ...
    rows: Array  # of every pattern

    @classmethod
    def of(cls, seen: Iterable[Array], least: int) -> "Table":
        """Return a table of the patterns that were seen often enough."""
        counts = sum(np.bincount(each, minlength=ALL_PATTERNS) for each in seen)
        numbers = np.flatnonzero(counts >= least)
        rows = np.zeros(ALL_PATTERNS, np.int32)
        rows[numbers] = np.arange(1, len(numbers) + 1)
        return cls(numbers, rows)


class Fitted(NamedTuple):
    """A model and the table of its patterns."""

    model: Model
    table: Table


class Plan(NamedTuple):
    """How to fit: AdamW, with a rate that falls to 0 along half a cosine."""

    epochs: int
    batch: int
    rate: float
    decay: float  # of the weights named in `decaying`
    decaying: frozenset[str]
    seed: int


def fit(loss: Loss, model: Model, sets: list[tuple[Array, ...]], plan: Plan) -> Model:
    """Return a model that makes a loss small.

    Args:
        loss: of a model and some rows of the arrays of a set.
        model: to begin with.
        sets: arrays of equal length each; every batch is of one set, in random order.
        plan: how.
    """
    order = [
        i
        for i, arrays in enumerate(sets)
        for _ in range(len(arrays[0]) // plan.batch or 1)
    ]
    optimizer = optax.adamw(
        optax.cosine_decay_schedule(plan.rate, plan.epochs * len(order)),
        weight_decay=plan.decay,
        mask={name: name in plan.decaying for name in model},
    )

    def step(model: Model, state: State, *rows: Array) -> tuple[Model, State]:
        changes, state = optimizer.update(jax.grad(loss)(model, *rows), state, model)
        return optax.apply_updates(model, changes), state

    fast, state = jax.jit(step), optimizer.init(model)
    random = np.random.default_rng(plan.seed)
    for _ in range(plan.epochs):
        random.shuffle(order)
        mixed = [random.permutation(len(arrays[0])) for arrays in sets]
        for i in order:
            chosen, mixed[i] = mixed[i][: plan.batch], mixed[i][plan.batch :]
            rows = [array[chosen] for array in sets[i]]
            model, state = fast(model, state, *rows)
    return model


def mean(measure: Loss, model: Model, arrays: tuple[Array, ...]) -> float:
    """Return the mean over all rows, taken piece by piece to save memory."""
    size, total, fast = 4096, 0.0, jax.jit(measure)
    for i in range(0, len(arrays[0]), size):
        piece = [array[i : i + size] for array in arrays]
        total += float(fast(model, *piece)) * len(piece[0])
    return total / len(arrays[0])


def weights_at(table: Tensor, rows: Tensor) -> Tensor:
    """Return the weights in some rows; those of row 0 are 0, and stay so."""
    return table.at[0].set(0.0)[rows]


# The value


def value_odds(model: Model, rows: Tensor, counts: Tensor) -> Tensor:
    """Return log odds of the side to move, as `learned_value` of the kernel does."""
    lanes = weights_at(model["lanes"], rows).sum(1) * (7 / math.sqrt(rows.shape[1]))
    inputs = jnp.concatenate([lanes, counts], 1)
    units = jax.nn.relu(inputs @ model["hidden"] + model["hidden_bias"])
    return inputs @ model["linear"] + units @ model["output"] + model["output_bias"]


def value_loss(model: Model, rows: Tensor, counts: Tensor, targets: Tensor) -> Tensor:
    """Return the cross entropy of what should come out and what does."""
    odds = value_odds(model, rows, counts)
    return jnp.mean(jnp.logaddexp(0, odds) - targets * odds)


def search_loss(slope: float, values: Values) -> float:
    """Return the cross entropy of the results and the search, with a slope."""
    odds = values.odds * slope
    return float(np.mean(np.logaddexp(0, odds) - values.results * odds))


def calibrate(values: Values) -> float:
    """Return how many times larger the search's log odds should have been."""
    slopes = np.arange(0.4, 6, 0.1)
    return float(min(slopes, key=lambda slope: search_loss(slope, values)))


def targets(values: Values, slope: float) -> Array:
    """Return what the value should be: between the result and the calibrated search."""
    said = 1 / (1 + np.exp(-values.odds * slope))
    mixed = RESULT_SHARE * values.results + (1 - RESULT_SHARE) * said
    return mixed.astype(np.float32)


def fit_value(data: Data, slopes: dict[str, float], epochs: int, seed: int) -> Fitted:
    """Return the model of the value."""
    sets = {name: examples.values for name, examples in data.training.items()}
    table = Table.of((values.patterns.ravel() for values in sets.values()), 3)
    first, second, third = jax.random.split(jax.random.PRNGKey(seed), 3)
    inputs = LANES + next(iter(sets.values())).counts.shape[1]
    start = {
        "lanes": 0.02 * jax.random.normal(first, (len(table.numbers) + 1, LANES)),
        "linear": jnp.zeros(inputs).at[0].set(1.0),
        "hidden": jax.random.normal(second, (inputs, UNITS)) * (0.5 / inputs**0.5),
        "hidden_bias": jnp.zeros(UNITS),
        "output": 0.2 * jax.random.normal(third, (UNITS,)),
        "output_bias": jnp.zeros(()),
    }
    rows: list[tuple[Array, ...]] = [
        (table.rows[its.patterns], its.counts, targets(its, slopes[name]))
        for name, its in sets.items()
    ]
    plan = Plan(epochs, 1024, 2e-3, 0.3, frozenset({"lanes"}), seed)
    return Fitted(fit(value_loss, start, rows, plan), table)


# The policy


def log_weights(model: Model, its: Choices) -> Tensor:
    """Return how promising moves are, as `learned_weight` of the kernel does."""
    promise = (
        weights_at(model["patterns"], its.patterns) + model["effects"][its.effects]
    )
    return jnp.where(its.legal, promise, -1e9)


def policy_loss(model: Model, *arrays: Tensor) -> Tensor:
    """Return the cross entropy of the shares of visits and the policy."""
    its = Choices(*arrays)
    return -jnp.mean(
        (its.shares * jax.nn.log_softmax(log_weights(model, its), 1)).sum(1)
    )


def agreement(model: Model, *arrays: Tensor) -> Tensor:
    """Return how often the most visited move is the most promising one."""
    its = Choices(*arrays)
    return jnp.mean(log_weights(model, its).argmax(1) == its.shares.argmax(1))


def in_rows(table: Table, its: Choices) -> Choices:
    """Return the same with rows of a table instead of patterns' numbers."""
    return its._replace(patterns=table.rows[its.patterns])


def fit_policy(data: Data, epochs: int, seed: int) -> Fitted:
    """Return the model of the policy."""
    sets = [examples.choices for examples in data.training.values()]
    table = Table.of((its.patterns[its.legal] for its in sets), 5)
    start = {
        "patterns": jnp.zeros(len(table.numbers) + 1),
        "effects": jnp.zeros(_kernel.ALL_EFFECTS),
    }
    rows: list[tuple[Array, ...]] = [in_rows(table, its) for its in sets]
    plan = Plan(epochs, 512, 1e-2, 0.02, frozenset(start), seed)
    return Fitted(fit(policy_loss, start, rows, plan), table)


# The file, and the record beside it


def whole(numbers: Tensor, unit: int, limit: int) -> Array:
    """Return numbers in whole units, 16 bits each."""
    rounded = np.clip(np.round(np.asarray(numbers) * unit), -limit, limit)
    return rounded.astype("<i2")


def pack(value: Fitted, policy: Fitted) -> bytes:
    """Return the file of weights."""
    lanes = np.zeros((ALL_PATTERNS, LANES), "<i2")
    lanes[value.table.numbers] = whole(value.model["lanes"][1:], SCALE, LANE_LIMIT)
    moves = np.zeros(ALL_PATTERNS, "<i2")
    promise = policy.model["patterns"][1:]
    moves[policy.table.numbers] = whole(promise, _kernel.STEPS, POLICY_LIMIT)
    used = np.flatnonzero(lanes.any(1) | (moves != 0))
    effects = whole(policy.model["effects"], _kernel.STEPS, POLICY_LIMIT)
    order = ("linear", "hidden", "hidden_bias", "output", "output_bias")
    network = [np.ravel(value.model[name]) for name in order]
    others = np.concatenate([*network, [SCALE]]).astype("<f4")
    return weights.pack(
        used.astype("<u4").tobytes(),
        lanes[used].tobytes(),
        moves[used].tobytes(),
        effects.tobytes() + others.tobytes(),
    )


def kernel_difference(value: Fitted, names: Iterable[str], seed: int) -> float:
    """Return by how much the loaded kernel differs from the model, at most.

    In the win probability of positions of random games, of every set-up.
    """
    draw, worst = Random(seed), 0.0  # noqa: S311
    for name in names:
        position = kernel_position(setups.by_name(name).position())
        seen = []
        while position.winner < 0:
            patterns, counts, moves = position.features()
            seen.append((patterns, counts, position.evaluate()))
            position.make(draw.choice(moves)[0])
        raw, every, chances = zip(*seen, strict=True)
        numbers = np.frombuffer(b"".join(raw), np.uint32).reshape(len(seen), -1)
        rows = value.table.rows[numbers]
        odds = value_odds(value.model, rows, np.array(every, np.float32))
        apart = np.abs(1 / (1 + np.exp(-odds)) - np.array(chances))
        worst = max(worst, float(apart.max()))
    return worst


class Measured(msgspec.Struct, frozen=True):
    """How good the models are in the games of one set-up that were held out.

    Attributes:
        learned: positions learnt from.
        held_out: positions that the rest is measured by.
        value: cross entropy of results and value, nats.
        search: the same of the calibrated search, which saw more.
        slope: of that calibration.
        policy: cross entropy of the shares of visits and the policy, nats.
        agreement: how often both like the same move best.
    """

    learned: int
    held_out: int
    value: float
    search: float
    slope: float
    policy: float
    agreement: float


def measure(
    learned: Examples, held_out: Examples, value: Fitted, policy: Fitted, slope: float
) -> Measured:
    """Return how good the models are in the games of one set-up."""
    its = held_out.values
    rows = (value.table.rows[its.patterns], its.counts, its.results)
    choices = in_rows(policy.table, held_out.choices)
    return Measured(
        len(learned.values.results),
        len(its.results),
        round(mean(value_loss, value.model, rows), 4),
        round(search_loss(slope, its), 4),
        round(slope, 1),
        round(mean(policy_loss, policy.model, choices), 4),
        round(mean(agreement, policy.model, choices), 4),
    )


class Played(msgspec.Struct, frozen=True):
    """Games that were read."""

    games: int
    source: Source


class Record(msgspec.Struct, frozen=True):
    """How weights were made.

    Attributes:
        weights: `weights.file_id` of the file.
        date: when, UTC.
        seed: of all that was random.
        epochs: how often the data were gone through.
        folders: that they were read from.
        data: what they are.
        measured: how good the models are, by set-up.
        kernel_difference: largest difference of win probabilities, model and kernel.
        versions: of all that took part.
    """

    weights: str
    date: str
    seed: int
    epochs: int
    folders: list[str]
    data: list[Played]
    measured: dict[str, Measured]
    kernel_difference: float
    versions: dict[str, str]


def versions() -> dict[str, str]:
    """Return the versions of all that takes part."""
    found = {
        name: importlib.metadata.version(name) for name in ("jax", "numpy", "optax")
    }
    return {"tanbo-engine": __version__, "python": platform.python_version()} | found


def main(arguments: list[str]) -> int:
    """Learn, write the weights and the record; return the exit status."""
    parser = argparse.ArgumentParser(description="Learns from games of self-play.")
    parser.add_argument("folders", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE")
    parser.add_argument("--epochs", type=int, default=6, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    options = parser.parse_args(arguments)
    try:
        data = read(options.folders)
    except ValueError as error:
        parser.error(str(error))
    tell(f"{sum(data.games.values())} games read")
    slopes = {name: calibrate(its.values) for name, its in data.training.items()}
    value = fit_value(data, slopes, options.epochs, options.seed)
    tell("the value is learnt")
    policy = fit_policy(data, POLICY_EPOCHS, options.seed)
    tell("the policy is learnt")
    write_whole(options.out, pack(value, policy))
    weights.load(options.out)
    record = Record(
        weights.file_id(options.out),
        datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        options.seed,
        options.epochs,
        [str(folder) for folder in options.folders],
        [Played(games, source) for source, games in data.games.items()],
        {
            name: measure(data.training[name], its, value, policy, slopes[name])
            for name, its in data.held_out.items()
        },
        round(kernel_difference(value, data.training, options.seed), 5),
        versions(),
    )
    text = msgspec.json.format(msgspec.json.encode(record)) + b"\n"
    write_whole(options.out.with_suffix(".json"), text)
    for name, its in record.measured.items():
        tell(f"{name}: {its}")
    if record.kernel_difference > TOLERANCE:
        tell("these weights are useless: the kernel computes something else")
        return 1
    return 0


def tell(text: str) -> None:
    """Write a line of progress."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
