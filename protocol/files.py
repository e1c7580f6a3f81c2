"""Files written whole: a reader sees the old one or the new one, never a part."""

import errno
import os
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file, or make it; it is on the disk when this returns.

    Raises:
        OSError: it cannot be written, or is a folder or a device.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a plain file")
    draft = path.with_name(f".{path.name}.new")
    try:
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
