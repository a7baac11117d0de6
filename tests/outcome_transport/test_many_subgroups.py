"""Of many subgroups the largest are drawn apart and the others together; nobody is lost."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import audits
from audits.outcome_transport import figures


def test_many_subgroups_are_drawn_with_all_their_people():
    rng = np.random.default_rng(3)
    n = 500
    place = rng.choice([f"district {k}" for k in range(20)], n)
    frame = pd.DataFrame({"place": place, "skill": rng.normal(size=n)})
    hired = (rng.random(n) < 0.5).astype(int)
    decided = (frame["skill"] + rng.normal(size=n) > 0).astype(int)
    found = audits.audit(
        lambda table: (table["skill"] > 0).astype(float) * 0.8 + 0.1,
        frame.assign(decided=decided),
        hired,
        favorable=1,
        protected="place",
        audits={"outcome_transport": {"by": ["place"], "draws": 0, "permutations": 0}},
    )["outcome_transport"]
    assert len(found.flows.rows) > figures.MAX_SIDE
    drawn = figures._flows(found)
    assert len(drawn.rows) == len(drawn.columns) == figures.MAX_SIDE
    assert np.sum(drawn.mass) == pytest.approx(np.sum(found.flows.mass))
    for row in drawn.share:
        assert sum(row) == pytest.approx(1.0)
    assert all(key == [] for key in drawn.keys[-1]), "who stand together are not clicked apart"
    assert figures.sankey(found).layout.height < 1000
