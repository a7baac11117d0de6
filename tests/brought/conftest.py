"""The example package beside the project, in this process and in those that it starts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from audits.runs import registry
from tests.brought.installing import install_example


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_example(tmp_path_factory.mktemp("brought"))


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
