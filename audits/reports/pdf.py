"""A report as PDF: its HTML printed by the Chromium, Chrome or Edge of this machine, without network.

The browser runs in a process that has left the network, sees the report and its own files alone, and ends
with the print. ``EVENHAND_CHROME`` names another browser of the family.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audits.errors import InputError, RunFailed
from audits.runs.executors import sandbox

if TYPE_CHECKING:
    from audits.runs.result import RunResult

_NAMES = (
    "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
    "microsoft-edge", "chrome", "msedge",
)  # fmt: skip
_PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--no-pdf-header-footer", "--run-all-compositor-stages-before-draw", "--virtual-time-budget=20000",
)  # fmt: skip
_SECONDS = 120
_CONFINED = """
import json, os, sys
from pathlib import Path
from audits.runs.executors import sandbox
command, reads, writes = json.loads(sys.argv[1])
sandbox.leave_network()
sandbox.enter(sandbox.Bounds(
    memory=4 << 30, open_files=4096, file_bytes=200 << 20, programs=True,
    network=True,  # sockets between its own processes: the network itself is left
    reads=tuple(map(Path, reads)), writes=tuple(map(Path, writes)),
))
os.execv(command[0], command)
"""
_SEES = (
    "/etc/fonts", "/etc/alternatives", "/etc/chromium", "/etc/chromium.d", "/opt", "/proc", "/sys", "/dev",
    "/var/cache/fontconfig",
)  # fmt: skip


def render_pdf(run: RunResult, **told: Any) -> bytes:
    """Return a report as PDF; arguments as for `audits.reports.html.render_report`.

    Raises
    ------
    InputError
        As there, and where there is no browser to print with.
    RunFailed
        If the browser does not print it.
    """
    from audits.reports.html import render_report  # late: who prints a page that is there draws nothing

    with tempfile.TemporaryDirectory(prefix="evenhand-print-") as folder:
        page, printed = Path(folder) / "report.html", Path(folder) / "report.pdf"
        page.write_text(render_report(run, **told), encoding="utf-8")
        print_pdf(page, printed)
        return printed.read_bytes()


def browser() -> str | None:
    """Return the program of a browser that prints; None where there is none."""
    named = os.environ.get("EVENHAND_CHROME", "").strip()
    if named:
        return shutil.which(named)
    found = (shutil.which(name) for name in (*_NAMES, *_PLACES))
    return next((each for each in found if each), None)


def print_pdf(page: Path, printed: Path) -> None:
    """Print the HTML file `page` to `printed`.

    Raises
    ------
    InputError
        Where there is no browser to print with.
    RunFailed
        If the browser does not print it.
    """
    program = browser()
    if program is None:
        raise InputError(
            "the format",
            "needs Chromium, Chrome or Edge to print, but none was found",
            "pdf",
            "install one, name it in EVENHAND_CHROME, or open the HTML report and print it",
        )
    with tempfile.TemporaryDirectory(prefix="evenhand-browser-") as home:
        target = Path(home) / "printed.pdf"
        command = [program, *_FLAGS, f"--user-data-dir={home}", f"--print-to-pdf={target}", page.as_uri()]
        reads = (str(page.parent), str(Path(program).resolve().parent), *_SEES)
        asked = [sys.executable, "-P", "-c", _CONFINED, json.dumps([command, reads, [home, "/dev"]])]
        try:
            done = subprocess.run(
                asked,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=sandbox.environment(Path(home), PYTHONPATH=os.pathsep.join(filter(None, sys.path))),
                timeout=_SECONDS,
                check=False,
                start_new_session=True,
            )
        except subprocess.TimeoutExpired:
            raise RunFailed(f"The browser did not print the report within {_SECONDS} seconds.") from None
        if not target.is_file() or not target.stat().st_size:
            said = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
            raise RunFailed(f"The browser {program} did not print the report: {said[0][:300]}")
        shutil.move(target, printed)
