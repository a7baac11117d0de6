"""Installing the example package of an audit, as pip does it, into a folder of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[1] / "example_audit"


def install_example(folder: Path) -> Path:
    """Return a folder for the import path that holds the package with its entry point."""
    source, site = folder / "source", folder / "site"
    for path in EXAMPLE.rglob("*"):  # a copy: building leaves files beside the source
        if path.suffix in {".py", ".toml"}:
            target = source / path.relative_to(EXAMPLE)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    options = ["--no-deps", "--no-build-isolation", "--target", str(site)]
    done = subprocess.run([*pip, *options, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(site.glob("*.dist-info/entry_points.txt")), "no entry point was installed"
    return site
