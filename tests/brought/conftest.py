"""The example package beside the project, in this process and in those that it starts."""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from audits.runs import registry

EXAMPLE = Path(__file__).resolve().parents[1] / "example_audit"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for the import path that holds the package and its entry point, as pip leaves them."""
    folder = tmp_path_factory.mktemp("site")
    facts = tomllib.loads((EXAMPLE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for package in EXAMPLE.glob("*/"):
        shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    told = folder / f"evenhand_top_scores-{facts['version']}.dist-info"
    told.mkdir()
    named = f"Metadata-Version: 2.1\nName: {facts['name']}\nVersion: {facts['version']}\n"
    (told / "METADATA").write_text(named)
    [(group, points)] = facts["entry-points"].items()
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (told / "entry_points.txt").write_text("\n".join(lines))
    return folder


@pytest.fixture
def beside(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Have this process and its children find the package; afterwards it is forgotten."""
    monkeypatch.setenv("PYTHONPATH", str(site))
    monkeypatch.syspath_prepend(str(site))
    _forget()
    yield site
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    registry._entries.cache_clear()
    registry._plugin_record.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "evenhand_top_scores"]:
        del sys.modules[name]
