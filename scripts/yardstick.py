"""Measures the kernel's uniformly random games against the same in hand-written C.

    .venv/bin/python scripts/yardstick.py [--floor 0.95] [SETUP ...]

The C program (yardstick.c) is compiled into a temporary folder. The two take turns in
short rounds of the same number of games, so that both meet the same machine; counted
is the processor time of their one thread. With --floor the exit status is 1 if the
kernel's median speed is a smaller share of C's on some set-up.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tanbo_engine import _kernel, notation, setups
from tanbo_engine.game import kernel_position

SOURCE = Path(__file__).with_suffix(".c")
# The kernel's flags (pyproject.toml).
COMPILE = ("cc", "-O3", "-ffp-contract=off")
SETUPS = ("dense-7x7", "classic-9x9", "dense-11x11", "classic-19x19")
MIN_ROUNDS = 7
ROUND_SECONDS = 0.25
WARM_UP_GAMES = 2000
# Both must play the same game: their mean lengths agree to this share.
TOLERANCE = 0.02


class Round(NamedTuple):
    """Some games: moves made, games that Black won, seconds of processor time."""

    games: int
    moves: int
    black_wins: int
    seconds: float

    @property
    def speed(self) -> float:
        """Moves per second."""
        return self.moves / self.seconds


Player = Callable[[int, int], Round]
"""Plays a number of games with a seed."""


def compile_c(folder: Path) -> Path:
    """Compile the C program into a folder and return its path."""
    program = folder / "yardstick"
    subprocess.run([*COMPILE, "-o", program, SOURCE], check=True)
    return program


def c_player(process: subprocess.Popen[str]) -> Player:
    """Return the player that asks a running C program."""

    def play(games: int, seed: int) -> Round:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the C program was started without pipes")
        process.stdin.write(f"{games} {seed}\n")
        process.stdin.flush()
        moves, black_wins, microseconds = map(int, process.stdout.readline().split())
        return Round(games, moves, black_wins, microseconds / 1e6)

    return play


def kernel_player(setup: setups.Setup) -> Player:
    """Return the player that asks the kernel, in this process."""
    position = kernel_position(setup.position())

    def play(games: int, seed: int) -> Round:
        begin = time.thread_time()
        moves, black_wins, _ = _kernel.random_games(position, games, seed)
        return Round(games, moves, black_wins, time.thread_time() - begin)

    return play


def measure(program: Path, setup: setups.Setup, rounds: int) -> list[list[Round]]:
    """Play the rounds of one set-up: first C's, then the kernel's."""
    command = [str(program), *notation.rows(setup.position())]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        players = (c_player(process), kernel_player(setup))
        warm_up = [play(WARM_UP_GAMES, 0) for play in players]
        games = round(WARM_UP_GAMES * ROUND_SECONDS / warm_up[0].seconds)
        played: list[list[Round]] = [[], []]
        for seed in range(1, rounds + 1):
            for play, results in zip(players, played, strict=True):
                results.append(play(games, seed))
    return played


def report(setup: setups.Setup, played: list[list[Round]]) -> float:
    """Print the line of one set-up and return the kernel's share of C's speed.

    Raises:
        SystemExit: the two do not play the same game.
    """
    speeds = [median(result.speed for result in results) for results in played]
    games = [sum(result.games for result in results) for results in played]
    lengths = [
        sum(result.moves for result in results) / count
        for results, count in zip(played, games, strict=True)
    ]
    black = [
        sum(result.black_wins for result in results) / count
        for results, count in zip(played, games, strict=True)
    ]
    share = speeds[1] / speeds[0]
    columns = [
        *(f"{speed:11,.0f} {1e9 / speed:6.2f}" for speed in speeds),
        f"{share:8.3f}",
        *(
            f"{length:7.2f} {won:5.1%}"
            for length, won in zip(lengths, black, strict=True)
        ),
    ]
    print(f"{setup.name:14}", " ".join(columns), flush=True)
    if abs(lengths[1] / lengths[0] - 1) > TOLERANCE:
        sys.exit(f"{setup.name}: the mean lengths differ, so one of the two is wrong")
    return share


def parse_arguments() -> argparse.Namespace:
    """Return the command line's settings."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "setups", nargs="*", metavar="SETUP", help=f"default: {' '.join(SETUPS)}"
    )
    parser.add_argument(
        "--floor", type=float, default=0.0, help="least share of C's speed to accept"
    )
    parser.add_argument(
        "--rounds", type=int, default=9, help="rounds each, %(default)s; at least 7"
    )
    arguments = parser.parse_args()
    if arguments.rounds < MIN_ROUNDS:
        parser.error(f"--rounds must be at least {MIN_ROUNDS}")
    try:
        names = arguments.setups or SETUPS
        arguments.setups = [setups.by_name(name) for name in names]
    except setups.UnknownSetup as error:
        parser.error(str(error))
    return arguments


def main() -> int:
    """Measure every set-up; return the exit status."""
    arguments = parse_arguments()
    print(
        f"{'':14} {'C moves/s':>11} {'ns':>6} {'kernel m/s':>11} {'ns':>6} "
        f"{'kernel/C':>8} {'moves per game, Black wins (C, kernel)':>27}"
    )
    with tempfile.TemporaryDirectory() as folder:
        program = compile_c(Path(folder))
        shares = [
            report(setup, measure(program, setup, arguments.rounds))
            for setup in arguments.setups
        ]
    return int(min(shares) < arguments.floor)


if __name__ == "__main__":
    sys.exit(main())
