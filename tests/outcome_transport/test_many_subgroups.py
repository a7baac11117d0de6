"""Of many subgroups the largest are drawn apart and the others together; nobody is lost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import audits
from audits.outcome_transport import figures


def test_many_subgroups_are_drawn_with_all_their_people():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"place": rng.choice([f"district {k}" for k in range(20)], 500)})
    frame["skill"] = rng.normal(size=500)
    found = audits.audit(
        lambda table: (table["skill"] > 0).astype(float) * 0.8 + 0.1,
        frame,
        (rng.random(500) < 0.5).astype(int),
        favorable=1,
        protected="place",
        audits={"outcome_transport": {"by": ["place"], "draws": 0, "permutations": 0}},
    )["outcome_transport"]
    assert len(found.flows.rows) > figures.MAX_SIDE
    drawn = figures._flows(found)
    assert len(drawn.rows) == len(drawn.columns) == figures.MAX_SIDE
    assert np.sum(drawn.mass) == pytest.approx(np.sum(found.flows.mass))
    assert np.sum(drawn.share, axis=1) == pytest.approx(1.0)
    assert all(key == [] for key in drawn.keys[-1]), "who stand together are not clicked apart"
