"""The command line: ``evenhand``, and ``python -m audits``."""

from __future__ import annotations

import sys

from audits.cli.main import main

__all__ = ["run"]


def run() -> None:
    """Carry out the command that was typed, and end with its status."""
    sys.exit(main())


if __name__ == "__main__":
    run()
