"""The app served with a home of its own, for what is measured and drawn of it, and the pages that it has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import urllib3
from urllib3.util import Retry

from tests.free_port import free_port

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = (
    os.environ.get("CHROMIUM")
    or shutil.which("chromium-headless-shell")
    or shutil.which("chromium")
    or "/usr/bin/chromium-headless-shell"
)
"""Debian's Chromium; without its window, where that is installed: the same pages then take .6 of the time."""
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
_VIEWS = {path.stem for path in (ROOT / "app" / "views").glob("*.py")} - {"__init__", "admin"}
PAGES = ("data_model", *sorted(_VIEWS - {"data_model"}))
"""The pages of every visitor by their place in the address; the first has none of its own."""


@dataclass
class Served:
    """An app that answers, its web process, and the home folder, where ``server.log`` has what it says."""

    url: str
    pid: int
    home: Path = Path()

    def page(self, name: str, query: str = "") -> str:
        """Return the address of a page."""
        return f"{self.url}/{'' if name == PAGES[0] else name}?{query}"


@contextmanager
def served(home: Path | None = None, **settings: str) -> Iterator[Served]:
    """Start the app, in a home of its own if none is given, and end it; a setting may name its {port}."""
    with tempfile.TemporaryDirectory() as folder:
        home, port = home or Path(folder), free_port()
        command = [sys.executable, "-m", "streamlit", "run", "app/server.py", f"--server.port={port}"]
        known = {name: value.replace("{port}", str(port)) for name, value in settings.items()}
        known = {**os.environ, "EVENHAND_HOME": str(home), **known}
        command += ["--server.address=127.0.0.1", "--server.headless=true"]
        with (home / "server.log").open("wb") as log:
            server = subprocess.Popen(command, cwd=ROOT, env=known, stdout=log, stderr=log)
        app = Served(f"http://127.0.0.1:{port}", server.pid, home)
        answer = Retry(600, backoff_factor=0.2, backoff_max=0.2, status_forcelist=[503])
        try:
            try:
                urllib3.request("GET", f"{app.url}/api/v1/ready", retries=answer, timeout=2)
            except urllib3.exceptions.MaxRetryError as error:
                error.add_note((home / "server.log").read_text()[-2000:])
                raise
            yield app
        finally:
            server.terminate()
            server.wait(30)


@contextmanager
def browsing() -> Iterator[Browser]:
    """Start Chromium, and end it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
