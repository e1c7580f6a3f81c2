import math
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tanbo_engine import _kernel, weights
from tanbo_engine._kernel import LANES

from .support import kernel

GOOD = weights.FILE.read_bytes()
COUNT = int.from_bytes(GOOD[8:12], "little")
NUMBERS = 12
REST = NUMBERS + COUNT * (4 + 2 * LANES + 2)
PATTERNS = 38 * 3081
NETWORK = 4 * (15 + 15 * 16 + 16 + 16 + 1 + 1)


def judged() -> tuple[float, list[tuple[int, float]]]:
    position = kernel("dense-7x7")
    return position.evaluate(), position.move_weights()


JUDGED = judged()


@pytest.fixture(autouse=True)
def _the_weights_are_as_before() -> Iterator[None]:
    yield
    weights.load()
    assert judged() == JUDGED


def signed(body: bytes) -> bytes:
    return body + zlib.crc32(body).to_bytes(4, "little")


def with_number(number: int) -> bytes:
    body = bytearray(GOOD[:-4])
    body[NUMBERS : NUMBERS + 4] = struct.pack("<I", number)
    return signed(bytes(body))


def with_count(count: int) -> bytes:
    return signed(GOOD[:8] + struct.pack("<I", count) + GOOD[12:-4])


def flipped(at: int) -> bytes:
    return GOOD[:at] + bytes([GOOD[at] ^ 1]) + GOOD[at + 1 :]


def parts() -> list[bytes]:
    ends = [NUMBERS, 4 * COUNT, 2 * LANES * COUNT, 2 * COUNT]
    ends = [sum(ends[: k + 1]) for k in range(4)]
    return [GOOD[a:b] for a, b in zip(ends, [*ends[1:], -4], strict=True)]


def with_network(first: bytes) -> bytes:
    at = len(GOOD) - 4 - NETWORK
    return signed(GOOD[:at] + first + GOOD[at + len(first) : -4])


BAD = {
    "empty": (b"", "is no file of weights"),
    "another file": (b"\x89PNG" + GOOD[4:], "is no file of weights"),
    "an older format": (b"TANBO-W0" + GOOD[8:], "is no file of weights"),
    "the magic alone": (GOOD[:8], "is damaged"),
    "half": (GOOD[: len(GOOD) // 2], "is damaged"),
    "one byte less": (GOOD[:-1], "is damaged"),
    "one byte more": (GOOD + b"\0", "is damaged"),
    "count flipped": (flipped(8), "is damaged"),
    "weight flipped": (flipped(REST - 1), "is damaged"),
    "network flipped": (flipped(len(GOOD) - 10), "is damaged"),
    "checksum flipped": (flipped(len(GOOD) - 1), "is damaged"),
    "no such pattern": (with_number(PATTERNS), f"no pattern has the number {PATTERNS}"),
    "the last number": (with_number(2**32 - 1), "no pattern has the number 4294967295"),
    "nothing but magic": (signed(GOOD[:8]), "bytes of other weights instead of"),
    "one pattern less": (with_count(COUNT - 1), "bytes of other weights instead of"),
    "one pattern more": (with_count(COUNT + 1), "bytes of other weights instead of"),
    "patterns galore": (with_count(2**32 - 1), "do not belong together"),
    "network short": (signed(GOOD[:-5]), "bytes of other weights instead of"),
    "infinite": (with_network(struct.pack("<f", math.inf)), "is no number"),
    "not a number": (with_network(struct.pack("<f", math.nan)), "is no number"),
    "no scale": (signed(GOOD[:-8] + bytes(4)), "its scale not > 0"),
    "network long": (signed(GOOD[:-4] + b"\0"), "bytes of other weights instead of"),
}


def refused(file: Path) -> str:
    with pytest.raises(weights.BadWeights) as raised:
        weights.load(file)
    assert judged() == JUDGED
    message = str(raised.value)
    assert str(file) in message
    assert "\n" not in message
    assert message.endswith(
        "; install tanbo-engine again, or write the file with scripts/train.py"
    )
    return message


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    data, words = BAD[name]
    file = tmp_path / "weights.bin"
    file.write_bytes(data)
    assert words in refused(file)


def test_no_file_is_refused_in_one_line(tmp_path: Path) -> None:
    assert "cannot read" in refused(tmp_path / "none.bin")
    assert "cannot read" in refused(tmp_path)


def test_the_parts_make_the_file_that_is_packed_of_them() -> None:
    assert weights.pack(*parts()) == GOOD


def test_other_weights_judge_otherwise_and_unnamed_patterns_are_worth_nothing(
    tmp_path: Path,
) -> None:
    *_, rest = parts()
    file = tmp_path / "weights.bin"
    file.write_bytes(
        weights.pack(b"", b"", b"", bytes(len(rest) - 4) + struct.pack("<f", 1))
    )
    weights.load(file)
    value, moves = judged()
    assert value == 0.5
    assert {weight for _, weight in moves} == {1.0}


def shorter(part: int) -> Callable[[list[bytes]], list[bytes]]:
    return lambda all_: [row[:-1] if k == part else row for k, row in enumerate(all_)]


@pytest.mark.parametrize("part", range(4))
def test_the_kernel_takes_no_parts_of_other_sizes(part: int) -> None:
    with pytest.raises(ValueError, match=r"belong together|instead of"):
        _kernel.load_weights(*shorter(part)(parts()))
    assert judged() == JUDGED


def run(code: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


WITHOUT_WEIGHTS = """
from tanbo_engine._kernel import PUCT, PUCT0, UCT, Position, Search, StopFlag
position = Position(3, 3, [0], [8], 0)
for work in (position.evaluate, position.move_weights, lambda: Search(1, PUCT)):
    try:
        work()
    except RuntimeError as error:
        print(error)
for kind in (UCT, PUCT0):
    search = Search(1, kind)
    search.start(position, 1)
    print(search.run(5, StopFlag()) > 0)
"""


def test_without_weights_the_kernel_refuses_what_needs_them() -> None:
    done = run(WITHOUT_WEIGHTS)
    said = ["import tanbo_engine.weights first"] * 3 + ["True"] * 2
    assert (done.returncode, done.stdout.splitlines(), done.stderr) == (0, said, "")


def test_an_installation_without_the_file_says_so(tmp_path: Path) -> None:
    package = tmp_path / "tanbo_engine"
    shutil.copytree(weights.FILE.parent, package)
    (package / "weights.bin").unlink()
    done = run("import tanbo_engine.game", tmp_path)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    file = package / "weights.bin"
    assert last.startswith(f"tanbo_engine.weights.BadWeights: cannot read {file}: ")
