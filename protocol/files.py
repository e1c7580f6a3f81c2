"""Files read and written whole: never a part, and never without an end."""

import errno
import os
from pathlib import Path


def read_whole(path: Path, most: int) -> bytes:
    """Return what a file holds, which may come from a pipe.

    Args:
        path: the file.
        most: bytes; a device may never end.

    Raises:
        OSError: it cannot be read, or holds more.
    """
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most >> 20} MB", str(path))
    return data


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file, or make it; it is on the disk when this returns.

    A reader sees the old one or the new one.

    Raises:
        OSError: it cannot be written, or is a folder or a device.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a plain file", str(path))
    draft = path.with_name(f".{path.name}.new")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
