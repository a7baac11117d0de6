"""``app``: the pages, served from wherever the package lies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from typer import Option

from audits.errors import InputError

_PACKAGE = Path(__file__).resolve().parents[1]
_STOPS = 8.0  # seconds; a container is killed after ten


def _pages_folder() -> Path:
    """Return the folder that holds the pages: inside the installed package, or beside it in a checkout."""
    installed = _PACKAGE / "pages"
    return installed if (installed / "app").is_dir() else _PACKAGE.parent


def pages(
    port: int = 8501,
    address: Annotated[str, Option(help="0.0.0.0 lets other machines in")] = "127.0.0.1",
) -> tuple[int, str]:
    """Serve the pages on this machine."""
    missing = [name for name in ("streamlit", "starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise InputError(
            "the pages", f"need {', '.join(missing)}", advice="install them with: pip install 'evenhand[app]'"
        )
    folder = _pages_folder()
    variables = {**os.environ, **_settings(folder)}
    # the pages' own package is on the path of this server and its processes, and of nobody else
    paths = [str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
    variables["PYTHONPATH"] = os.pathsep.join(paths)
    command = [sys.executable, "-m", "streamlit", "run", str(folder / "app" / "server.py")]
    options = [f"--server.port={port}", f"--server.address={address}"]
    print(f"Evenhand on http://{address}:{port}", file=sys.stderr, flush=True)
    with subprocess.Popen([*command, *options], env=variables) as server:
        try:
            return server.wait(), ""
        except KeyboardInterrupt:  # SIGTERM, too, as a container is stopped by: the server ends what it began
            server.terminate()
            try:
                server.wait(_STOPS)
            except subprocess.TimeoutExpired:
                server.kill()
            return 0, ""


def _settings(folder: Path) -> dict[str, str]:
    """Return the settings of the pages as streamlit reads them from the environment."""
    path = folder / "config.toml"
    path = path if path.is_file() else folder / ".streamlit" / "config.toml"
    settings = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: value for name, value in _flat(settings, "STREAMLIT") if name not in os.environ}


def _flat(value: Mapping[str, Any], name: str) -> Iterator[tuple[str, str]]:
    for key, item in value.items():
        words = "".join(f"_{letter}" if letter.isupper() else letter for letter in key)
        below = f"{name}_{words}".upper()
        if isinstance(item, Mapping):
            yield from _flat(item, below)
        else:
            yield below, item if isinstance(item, str) else json.dumps(item)
