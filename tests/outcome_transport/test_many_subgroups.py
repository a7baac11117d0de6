"""Of many subgroups the largest are drawn apart and the others together; nobody is lost."""

from __future__ import annotations

import re

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


def test_groups_whose_long_names_begin_alike_are_told_apart():
    rng = np.random.default_rng(3)
    long = "employees of the regional hospital trust working in {} care and rehabilitation services"
    place = rng.choice([long.format("outpatient"), long.format("inpatient"), "others"], 300)
    found = audits.audit(
        lambda table: (table["skill"] > 0).astype(float),
        pd.DataFrame({"place": place, "skill": rng.normal(size=300)}),
        rng.integers(0, 2, 300),
        favorable=1,
        protected="place",
        audits={"outcome_transport": {"by": ["place"], "draws": 0, "permutations": 0}},
    )["outcome_transport"]
    for name, subgroup in zip(figures._flows(found).rows, found.flows.rows, strict=True):
        told = name.split(" (")[0].split(", ")
        group = next(each for each in re.findall(r"\w+", subgroup) if each.endswith(("patient", "others")))
        assert group in told[0]
        assert subgroup.endswith(f", {told[1]}")
