"""A program that is started, watched and ended, with all that it started itself."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import Process

from protocol.client.channel import Channel
from protocol.client.errors import StartFailed

_CHUNK = 1 << 16
_TAIL = 8192
_DEATH_SECONDS = 1.0
_ON_WINDOWS = sys.platform == "win32"


@dataclass(frozen=True)
class EngineCommand:
    """How to start an engine; no shell is involved.

    Attributes:
        argv: the program and its arguments.
        cwd: working directory of the engine; the caller's if None.
        env: environment variables on top of the caller's.
        label: how errors call the engine; the program's file name if not given.
    """

    argv: tuple[str, ...]
    cwd: Path | None = None
    env: Mapping[str, str] | None = None
    label: str = ""

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", Path(self.argv[0]).stem)

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        label: str = "",
    ) -> "EngineCommand":
        """Return the command of a line that is quoted as for a shell.

        Raises:
            StartFailed: the line is empty or a quotation is not closed.
        """
        try:
            # Backslashes separate folders on Windows.
            argv = shlex.split(text.replace("\\", "\\\\") if _ON_WINDOWS else text)
        except ValueError as error:
            what = f"{text!r} is no command line: {error}"
            raise StartFailed(label, "", what) from error
        if not argv:
            raise StartFailed(label, "", "the command line is empty")
        return cls(tuple(argv), cwd, env, label)

    @property
    def environment(self) -> dict[str, str]:
        """All environment variables the engine gets."""
        return {**os.environ, **(self.env or {})}

    def resolve(self) -> Path:
        """Return the program's absolute path; a relative one is from the caller's cwd.

        Raises:
            StartFailed: there is no such program.
        """
        program = self.argv[0]
        if Path(program).name == program:
            found = shutil.which(program, path=self.environment.get("PATH"))
            if found is None:
                raise StartFailed(self.label, "", f"no program {program!r} in PATH")
            return Path(found).absolute()
        path = Path(program).expanduser().absolute()
        if not path.is_file():
            hint = "; put quotes round a path with blanks" if self.argv[1:] else ""
            raise StartFailed(self.label, "", f"no program {str(path)!r}{hint}")
        return path


class _Tail:
    """The end of what a process writes to stderr, drained by a daemon thread.

    A thread, because it must go on between commands, when no task of ours runs; not a
    file, because an engine may fill a disk. This side keeps the writing end open too,
    so that it can always wake the thread, whoever else holds the pipe.
    """

    _STOP = b"\0"

    def __init__(self) -> None:
        self._source, self.sink = os.pipe()
        self._kept = b""
        self._is_stopping = False
        self._thread = threading.Thread(target=self._drain, name="stderr", daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        """What is kept."""
        return self._kept.replace(self._STOP, b"").decode("utf-8", "replace")

    def stop(self) -> None:
        """Take in what is there, then end the thread and close the pipe; idempotent."""
        if self._is_stopping:
            return
        self._is_stopping = True
        os.write(self.sink, self._STOP)
        self._thread.join(_DEATH_SECONDS)
        os.close(self.sink)

    def _drain(self) -> None:
        chunk = b""
        while not (self._is_stopping and self._STOP in chunk):
            chunk = os.read(self._source, _CHUNK)
            self._kept = (self._kept + chunk)[-_TAIL:]
        os.close(self._source)


class EngineProcess:
    """A program in a session of its own, so that its whole group can be ended."""

    def __init__(self, process: Process, errors: _Tail) -> None:
        """Use `spawn`."""
        self._process = process
        self._errors = errors
        self._is_group_killed = False

    @classmethod
    async def spawn(cls, command: EngineCommand) -> "EngineProcess":
        """Start the program.

        Raises:
            StartFailed: it cannot be run.
        """
        argv = [str(command.resolve()), *command.argv[1:]]
        errors = _Tail()
        try:
            # Cancelled halfway, the process would be nobody's.
            with anyio.CancelScope(shield=True):
                process = await anyio.open_process(
                    argv,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors.sink,
                    cwd=command.cwd,
                    env=command.environment,
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            errors.stop()
            what = f"cannot run {argv[0]!r}: {error}"
            raise StartFailed(command.label, "", what) from error
        return cls(process, errors)

    @property
    def pid(self) -> int:
        """Process id, which is the id of the group, too."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """Exit code, negative for a signal; None while it runs."""
        return self._process.returncode

    @property
    def stderr_tail(self) -> str:
        """The last 8 KiB it wrote to stderr."""
        return self._errors.text

    def channel(self) -> Channel:
        """Return the channel over its stdin and stdout; call it once."""
        source, sink = self._process.stdout, self._process.stdin
        if source is None or sink is None:
            raise RuntimeError("the process was started without pipes")
        return Channel(source, sink, lambda: self.exit_code is not None)

    async def wait(self, seconds: float) -> bool:
        """Wait for the end of the process; tell whether it came.

        It polls: the waiting of some versions of asyncio lasts until the pipes are
        closed, which a grandchild may delay for ever.
        """
        deadline = anyio.current_time() + seconds
        pause = 0.001
        while self.exit_code is None and anyio.current_time() < deadline:
            await anyio.sleep(pause)
            pause = min(2 * pause, 0.05)
        return self.exit_code is not None

    async def autopsy(self) -> tuple[int | None, str]:
        """Return exit code and stderr tail once the output has ended."""
        if await self.wait(_DEATH_SECONDS):
            self._kill_group()
            self._errors.stop()
        return self.exit_code, self.stderr_tail

    async def close(self, polite: bool, patience: float) -> None:
        """End the process and its group, and release what it took.

        Input closed, SIGTERM, SIGKILL; it is not cancelled and lasts four times the
        patience at most.

        Args:
            polite: say ``quit`` and wait; otherwise begin with SIGTERM.
            patience: seconds for each step.
        """
        with anyio.CancelScope(shield=True):
            try:
                await self._close_input(polite, patience)
                if polite:
                    await self.wait(patience)
                if self.exit_code is None:
                    self._terminate_group()
                    await self.wait(patience)
            finally:  # Ctrl-C gets through the shield
                self._kill_group()
                self._errors.stop()
            if await self.wait(patience):
                await self._process.aclose()

    async def _close_input(self, polite: bool, patience: float) -> None:
        if self._process.stdin is None:
            return
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            with anyio.move_on_after(patience):
                if polite:
                    await self._process.stdin.send(b"quit\n")
            await self._process.stdin.aclose()

    def _terminate_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.terminate()
            else:
                os.killpg(self.pid, signal.SIGTERM)

    def _kill_group(self) -> None:
        """Kill whatever is left of the group; once, as the number may be reused."""
        if self._is_group_killed:
            return
        self._is_group_killed = True
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self.pid, signal.SIGKILL)
