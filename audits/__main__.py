"""The command line: ``python -m audits``."""

from __future__ import annotations

import sys

from audits.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
