"""The page, and its place on *Prediction sensitivity*."""

from __future__ import annotations

import numpy as np
import pandas as pd

from app import jobs
from app.drafts import drafts
from app.workspaces.workspace import Workspace
from tests.app.test_outcome_pages import brought
from tests.app.test_pages import figures, prepared


def test_the_page_runs_and_sensitivity_begins_with_it(space: Workspace) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], 800), "skill": rng.normal(size=800).round(2)})
    frame["hired"] = (frame["skill"] + 1.5 * (frame["sex"] == "m") + rng.normal(size=800) > 0.7).astype(int)
    given = {"label": "hired", "favorable": 1, "protected": ["sex"], "features": ["sex", "skill"]}
    at = brought(space, frame, data=given)
    prepared(at.switch_page("views/sensitivity.py").run())
    assert not at.exception
    assert "attribute_swap" in [each.proto.page for each in at.get("page_link")]
    spec = drafts.audit_spec(space.draft(), "attribute_swap", {})
    jobs.submit(space, spec, "swap").wait(120)
    prepared(at.switch_page("views/attribute_swap.py").run())
    [found] = jobs.result(space, spec).audits
    assert found.result.verdict == "evidence of a difference"
    for tab in ("Who are they?", "All pairs"):
        at.session_state["tab"] = tab
        at.run()
        assert not at.exception
        assert len(figures(at)) == 2, tab
    prepared(at.switch_page("views/sensitivity.py").run())
    said = found.headline.split(",")[0]
    assert any(said in each.value for each in at.text), "what it found stands there"
