"""Processor time of the server's own process for one view of each page, in milliseconds.

``python -m benchmarks.views [--views 20]``. One visitor with 400 rows and a finished comparison opens each
page again and again. Other work on the machine changes what a view waits for, and this hardly. Needs
``requirements-dev.txt``.
"""

from __future__ import annotations

import argparse
import statistics
import time

from audits.runs.registry import AUDITS
from benchmarks.load import Visitor, workspace
from benchmarks.serving import processor, served


def main() -> None:
    """Start a server, have one comparison run, and measure page by page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--views", type=int, default=20)
    views = parser.parse_args().views
    with served() as app:
        visitor = Visitor(app.port, workspace(1, app.home).token)
        visitor.open("groups")
        while "Run audit" not in visitor.buttons:  # the data are being prepared
            time.sleep(0.5)
            visitor.open("groups")
        visitor.press("Run audit")
        while "Cancel" in visitor.buttons:
            time.sleep(0.5)
            visitor.buttons.clear()
            visitor.open("groups")
        for page in ("", *AUDITS, "monitor", "saved"):
            visitor.open(page)
            began, waits = processor(app.pid), [visitor.open(page) for _ in range(views)]
            spent = 1000 * (processor(app.pid) - began) / views
            print(f"{page or 'data':18} {spent:6.1f} ms, waited {1000 * statistics.median(waits):6.1f} ms")
        visitor.close()


if __name__ == "__main__":
    main()
