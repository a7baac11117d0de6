"""The command line: ``evenhand``, and ``python -m audits``."""

from __future__ import annotations

import gc
import sys

from audits.cli.main import main

_NEW_OBJECTS = 100_000  # before garbage is looked for; 700 (2,000 from Python 3.13) unless told


def run() -> None:
    """Carry out the command that was typed, and end with its status."""
    # what is imported stays: looking through all of it for garbage takes a seventh of a small command's time
    gc.set_threshold(_NEW_OBJECTS)
    status = main()
    if "duckdb" not in sys.modules:  # which takes what is never collected for leaked, and says so at length
        gc.freeze()
    sys.exit(status)


if __name__ == "__main__":
    run()
