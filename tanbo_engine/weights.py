"""The weights of the learned evaluation and policy: a data file, loaded at import.

The file, little endian: `MAGIC`; the number of patterns, uint32; for each pattern its
number (uint32), then for each its lanes (`LANES` int16), then for each its policy
weight (int16); the weights of effects and of the network, as the kernel keeps them; the
CRC-32 of all before it. ``scripts/train.py`` writes it.
"""

import zlib
from pathlib import Path

from tanbo_engine import _kernel

MAGIC = b"TANBO-W1"
LANES = _kernel.LANES
FILE = Path(__file__).with_name("weights.bin")

_CHECKSUM_BYTES = 4


class BadWeights(ImportError):  # noqa: N818
    """The file is missing, damaged, or no weights for this kernel."""


def pack(numbers: bytes, lanes: bytes, policy: bytes, rest: bytes) -> bytes:
    """Return the file of weights; the parts are those of the kernel's `load_weights`.

    Args:
        numbers: uint32 each, the numbers of the patterns that have weights.
        lanes: `LANES` int16 for each of them.
        policy: an int16 for each of them.
        rest: weights of effects and of the network.
    """
    count = len(numbers) // 4
    body = MAGIC + count.to_bytes(4, "little") + numbers + lanes + policy + rest
    return body + zlib.crc32(body).to_bytes(_CHECKSUM_BYTES, "little")


def file_id(file: Path = FILE) -> str:
    """Return what tells a file of weights from others: 12 hex digits."""
    import hashlib  # here for the start-up time

    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]


def load(file: Path = FILE) -> None:
    """Give the kernel the weights of a file.

    Raises:
        BadWeights: one line that says what is wrong and how to mend it; the kernel
            keeps the weights that it had.
    """
    remedy = "install tanbo-engine again, or write the file with scripts/train.py"
    try:
        data = file.read_bytes()
    except OSError as error:
        raise BadWeights(f"cannot read {file}: {error.strerror}; {remedy}") from error
    if not data.startswith(MAGIC):
        raise BadWeights(f"{file} is no file of weights; {remedy}")
    body, checksum = data[:-_CHECKSUM_BYTES], data[-_CHECKSUM_BYTES:]
    if zlib.crc32(body).to_bytes(_CHECKSUM_BYTES, "little") != checksum:
        raise BadWeights(f"{file} is damaged; {remedy}")
    start = len(MAGIC) + 4
    count = int.from_bytes(data[start - 4 : start], "little")
    sizes = (4 * count, 2 * LANES * count, 2 * count)
    parts = []
    for size in sizes:
        parts.append(body[start : start + size])
        start += size
    numbers, lanes, policy = parts
    try:
        _kernel.load_weights(numbers, lanes, policy, body[start:])
    except ValueError as error:
        raise BadWeights(f"{file} does not fit this kernel: {error}; {remedy}") from (
            error
        )


load()
