"""The transcript of a session: what came in, what went out, and remarks."""

import contextlib
import sys
from pathlib import Path
from typing import TextIO


class Transcript:
    """Writes ``> line``, ``< response`` and ``# remark`` lines to a file.

    Writing never fails: a file that can no longer be written ends the transcript with
    one line on stderr.
    """

    def __init__(self, file: TextIO | None = None, prefix: str = "") -> None:
        """Begin.

        Args:
            file: a line-buffered file to write to; without one, nowhere.
            prefix: begins each line, where several sessions share a file.
        """
        self._file = file
        self._prefix = prefix

    def received(self, line: str) -> None:
        """Write down a line that came in."""
        self._write("> ", line)

    def sent(self, response: str) -> None:
        """Write down a response that went out."""
        self._write("< ", response.rstrip("\n"))

    def note(self, remark: str) -> None:
        """Write down what neither side said."""
        self._write("# ", remark)

    def close(self) -> None:
        """Write no more."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.close()

    def _write(self, mark: str, text: str) -> None:
        if self._file is None:
            return
        try:
            for line in text.split("\n"):
                self._file.write(f"{self._prefix}{mark}{line}\n")
        except OSError as error:
            self._end(error)

    def _end(self, error: OSError) -> None:
        with contextlib.suppress(OSError):
            print(f"tanbo-engine: the log ends here: {error}", file=sys.stderr)
        self.close()


def open_transcript(path: str, prefix: str = "") -> Transcript:
    """Return a transcript that appends to a file.

    Args:
        path: of the file.
        prefix: begins each line.

    Raises:
        OSError: the file cannot be written.
    """
    # Open as long as the process lives; every line is flushed.
    return Transcript(
        Path(path).open("a", buffering=1, encoding="ascii", errors="backslashreplace"),
        prefix,
    )
