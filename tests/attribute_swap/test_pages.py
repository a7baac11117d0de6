"""The page, and its place on *Prediction sensitivity*."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app import jobs
from app.drafts import drafts
from app.workspaces.workspace import Workspace
from tests.app.test_pages import figures, prepared

MAIN = str(Path(__file__).resolve().parents[2] / "app" / "main.py")
PAGE, SENSITIVITY = "views/attribute_swap.py", "views/sensitivity.py"


@pytest.fixture
def space(space: Workspace) -> Workspace:
    """A workspace with people whose sex a model reads."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 800), "skill": rng.normal(size=800).round(2)})
    frame["hired"] = (frame["skill"] + 1.5 * (frame["sex"] == "m") + rng.normal(size=800) > 0.7).astype(int)
    path = space.add_file("people.csv", io.BytesIO(frame.to_csv(index=False).encode()))
    given = {"label": "hired", "favorable": 1, "protected": ["sex"], "features": ["sex", "skill"]}
    space.save_draft(drafts.with_data(drafts.from_files([path], "upload"), **given))
    return space


def visit(space: Workspace, page: str) -> AppTest:
    at = AppTest.from_file(MAIN, default_timeout=120)
    at.query_params["w"] = space.token
    at.run()
    return prepared(at.switch_page(page).run())


def test_the_page_runs_and_sensitivity_begins_with_it(space: Workspace) -> None:
    at = visit(space, SENSITIVITY)
    assert not at.exception
    assert "attribute_swap" in [each.proto.page for each in at.get("page_link")]
    spec = drafts.audit_spec(space.draft(), "attribute_swap", {})
    jobs.submit(space, spec, "swap").wait(120)
    at = visit(space, PAGE)
    assert not at.exception
    [result] = [each.result for each in jobs.result(space, spec).audits]
    assert result.verdict == "evidence of a difference"
    for tab in ("Who are they?", "All pairs"):
        at.session_state["tab"] = tab
        at.run()
        assert not at.exception
        assert len(figures(at)) == 2, tab
    at = visit(space, SENSITIVITY)
    said = jobs.result(space, spec).audits[0].headline.split(",")[0]
    assert any(said in each.value for each in at.text), "what it found stands there"
