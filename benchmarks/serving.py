"""The app served with a home of its own, for what is measured and drawn of it, and the pages that it has."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CHROMIUM", "FLAGS", "PAGES", "ROOT", "Served", "served"]

ROOT = Path(__file__).resolve().parents[1]
CHROMIUM = (
    os.environ.get("CHROMIUM")
    or shutil.which("chromium-headless-shell")
    or shutil.which("chromium")
    or "/usr/bin/chromium-headless-shell"
)
"""Debian's Chromium; without its window, where that is installed: the same pages then take .6 of the time."""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_VIEWS = {path.stem for path in (ROOT / "app" / "views").glob("*.py")} - {"__init__", "admin"}
PAGES = ("data_model", *sorted(_VIEWS - {"data_model"}))
"""The pages of every visitor by their place in the address; the first has none of its own."""


@dataclass
class Served:
    """An app that answers, and its web process."""

    url: str
    pid: int

    def page(self, name: str, query: str = "") -> str:
        """Return the address of a page."""
        return f"{self.url}/{'' if name == PAGES[0] else name}?{query}"


@contextmanager
def served() -> Iterator[Served]:
    """Start the app with a home of its own, and end it."""
    with tempfile.TemporaryDirectory() as home, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        command = [sys.executable, "-m", "streamlit", "run", "app/server.py"]
        options = [f"--server.port={port}", "--server.address=127.0.0.1"]
        environment = {**os.environ, "EVENHAND_HOME": home}
        server = subprocess.Popen(command + options, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        try:
            _await(f"http://127.0.0.1:{port}/api/v1/health")
            yield Served(f"http://127.0.0.1:{port}", server.pid)
        finally:
            server.terminate()
            server.wait(20)


def _await(url: str) -> None:
    """Wait until the app answers."""
    for _ in range(300):
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the app did not start")
