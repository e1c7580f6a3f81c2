"""The command line: the GTP server and what else ``tanbo-engine`` can do.

Little is imported at the top: start-up time counts, GoGui starts four copies at once.
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from protocol.options import Parser

_INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    # Not where a shell has it ignored.
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, signal.SIG_DFL):
        signal.signal(signal.SIGINT, _end_interrupted)
    arguments = sys.argv[1:] if arguments is None else arguments
    name = "tanbo-engine"
    if arguments and arguments[0] in _SUBCOMMANDS:
        name = f"{name} {arguments[0]}"
    try:
        return _run(arguments)
    except ImportError as error:  # above all the kernel guard, which says what to do
        print(error, file=sys.stderr)
        return 1
    except ConnectionError:  # the reader has gone: tanbo-engine bench | head -1
        _forget_output()
        return 0
    except OSError as error:  # the disk behind stdout is full, the terminal gone
        _forget_output()
        print(f"{name}: {error.strerror}", file=sys.stderr)
        return 1


def _run(arguments: Sequence[str]) -> int:
    """Run a command; raise `OSError` where its output cannot be written."""
    try:
        if arguments and arguments[0] in _SUBCOMMANDS:
            return _SUBCOMMANDS[arguments[0]](arguments[1:])
        return _serve(arguments)
    finally:
        if sys.stdout is not None:
            sys.stdout.flush()


def _end_interrupted(signum: int, frame: FrameType | None) -> NoReturn:
    """End on Ctrl-C at once, wherever it strikes; nothing is left unwritten."""
    os._exit(_INTERRUPTED)


def _forget_output() -> None:
    """Let what is left in stdout go nowhere, or Python would complain at its end."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _serve(arguments: Sequence[str]) -> int:
    """Serve GTP on stdin and stdout."""
    import anyio

    from protocol import config
    from protocol.options import SettingsError, load
    from protocol.server import serve
    from protocol.session import Session
    from protocol.transcript import Transcript, open_transcript

    parser = _server_parser()
    options = vars(parser.parse_args(arguments))
    file = options.pop("config", None)
    try:
        settings = load(config.Settings, options, file, config.EXCLUSIVE)
        log = settings.log
        transcript = Transcript() if log is None else open_transcript(log)
        session = Session(settings, transcript)
    except SettingsError as error:
        parser.error(str(error))
    except MemoryError as error:
        parser.error(f"--memory: {error}")
    except OSError as error:
        parser.error(f"cannot write the log {log}: {error.strerror}")
    if sys.stdin is not None and sys.stdout is not None:
        anyio.run(serve, session)
    return 0


def _server_parser() -> "Parser":
    from protocol import config
    from protocol.options import Parser
    from tanbo_engine import __version__

    parser = Parser(
        "tanbo-engine",
        "Engine for Mark Steere's game Tanbo; speaks GTP on stdin and stdout.",
        "Other uses: tanbo-engine play; tanbo-engine bench [--json]; "
        "tanbo-engine perft --setup NAME --depth N; "
        "tanbo-engine solve --setup NAME; tanbo-engine show FILE; "
        "tanbo-engine analysis; tanbo-engine serve --port P.",
    )
    parser.add_settings(config.Settings)
    parser.add_argument(
        "--version", action="version", version=f"tanbo-engine {__version__}"
    )
    return parser


def _bench(arguments: Sequence[str]) -> int:
    """Measure the engine; print it for people or programs."""
    from protocol.options import Parser

    parser = Parser("tanbo-engine bench", "Signature and speed of this engine.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)

    import msgspec

    from tanbo_engine import bench

    if options.json:
        print(msgspec.json.encode(bench.run()).decode())
    else:
        print(bench.format_results(bench.run(_progress)))
    return 0


def _progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _perft(arguments: Sequence[str]) -> int:
    """Count move sequences from a start position; print the number."""
    from protocol.options import Parser
    from tanbo_engine import setups

    parser = Parser("tanbo-engine perft", "Number of move sequences of a length.")
    parser.add_argument("--setup", default=setups.DEFAULT, metavar="NAME")
    parser.add_argument("--depth", required=True, metavar="N")
    options = parser.parse_args(arguments)

    import anyio

    from protocol.commands.arguments import parse_integer
    from protocol.gtp import GtpError
    from tanbo_engine._kernel import MOST_PERFT_DEPTH, StopFlag, perft
    from tanbo_engine.game import kernel_position
    from tanbo_engine.player import run_stoppable

    try:
        depth = parse_integer(options.depth, 0, MOST_PERFT_DEPTH)
        start = kernel_position(setups.by_name(options.setup).position())
    except (GtpError, setups.UnknownSetup) as error:
        parser.error(str(error))
    stop = StopFlag()
    print(anyio.run(run_stoppable, lambda: perft(start, depth, stop), stop))
    return 0


def _show(arguments: Sequence[str]) -> int:
    """Print a recorded game."""
    from protocol import show

    return show.main(arguments)


def _solve(arguments: Sequence[str]) -> int:
    """Prove who wins a position, or check such a proof."""
    from protocol import solve

    return solve.main(arguments)


def _play(arguments: Sequence[str]) -> int:
    """Play with a person at the terminal."""
    from protocol import play

    return play.main(arguments)


def _analysis(arguments: Sequence[str]) -> int:
    """Analyse positions: JSON lines on stdin and stdout."""
    from protocol import json_analysis

    return json_analysis.main(arguments)


def _serve_tcp(arguments: Sequence[str]) -> int:
    """Serve GTP on TCP connections."""
    from protocol import tcp

    return tcp.main(arguments)


_SUBCOMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "bench": _bench,
    "perft": _perft,
    "solve": _solve,
    "play": _play,
    "show": _show,
    "analysis": _analysis,
    "serve": _serve_tcp,
}
