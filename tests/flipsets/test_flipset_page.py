"""The flipset page with a learned map: chosen, run in the real executor, shown with its checks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import work
from app.workspace import Workspace, issue_token

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workspace]:
    """Give the app a home of its own, and a workspace in it."""
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    work.close()
    yield Workspace(issue_token())
    work.close()


def run_with(space: Workspace, method: str, **numbers: int) -> tuple[AppTest, object]:
    """Open the hiring example, choose a method, run it, and return the page and the result."""
    at = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
    at.query_params["w"] = space.token
    at.run().button(key="open-hiring").click().run()
    at.switch_page("views/flipsets.py").run()
    at.selectbox(key="method").select(method).run()
    for key, value in {"shuffles": 9, **numbers}.items():
        at.number_input(key=key.replace("_", "-")).set_value(value).run()
    at.button(key="run").click().run()
    record = space.runs()[0]
    run = work.executor().run(record["id"])
    assert run is not None
    assert run.wait(240)
    at.run()
    assert not at.exception
    return at, run.result().audits[0].result


def test_a_linear_map_shows_its_checks_and_arrows(space: Workspace) -> None:
    at, result = run_with(space, "linear")
    assert at.container(key="finding").text[0].value == result.finding
    headers = [header.value for header in at.subheader]
    assert {"Can this map be trusted?", "People and their counterparts", "Compared at equal values"} <= set(
        headers
    )
    checks = next(frame.value for frame in at.dataframe if "passed" in frame.value.columns)
    assert checks["check"].tolist() == [check["check"] for check in result.validation["checks"]]
    assert not result.boundary.empty  # the hiring model reads the two features alone


def test_a_map_that_fails_says_so_before_anything_else(space: Workspace) -> None:
    at, result = run_with(space, "gan", gan_iterations=100)
    assert not result.validation["trusted"]
    said = [element.value for element in at.text]
    assert said.index(result.warnings[0]) < said.index(result.finding)
    assert result.warnings[0].startswith("This map cannot be trusted")
    assert result.training
