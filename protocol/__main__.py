"""Run the engine as ``python -m protocol``."""

import signal
import sys

# Ctrl-C while the rest is loaded ends the process without a traceback.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

if __name__ == "__main__":
    from protocol.cli import main

    sys.exit(main())
