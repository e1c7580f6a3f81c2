"""Run the engine as ``python -m protocol``."""

import sys

from protocol.cli import main

if __name__ == "__main__":
    sys.exit(main())
