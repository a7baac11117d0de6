"""Accuracy against the gap over thresholds, and thresholds by group that close a gap."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.groups import at_threshold, groups
from audits.groups.options import GroupsOptions
from audits.groups.threshold_change import preset_thresholds, trade_off
from audits.models import ModelSpec, Predictions, make_subject


def compared(higher_is: str = "favorable", label: bool = True):
    rng = np.random.default_rng(7)
    group = rng.choice(["a", "b", "c"], 300, p=[0.5, 0.3, 0.2])
    score = np.clip(rng.normal(0.55, 0.18, 300) - 0.15 * (group == "b"), 0.01, 0.99).round(3)
    if higher_is == "unfavorable":
        score = (1 - score).round(3)
    frame = pd.DataFrame({"group": group, "score": score, "y": (rng.random(300) < 0.5).astype(int)})
    section = {"protected": ["group"], "features": []} | ({"label": "y", "favorable": 1} if label else {})
    data = build_data(frame if label else frame.drop(columns="y"), data_spec(section))
    spec = ModelSpec(predictions=Predictions(score="score", higher_is=higher_is))
    return groups(make_subject(data, spec, threshold=0.5), GroupsOptions(by=("group",), bootstrap=0))


@pytest.fixture(scope="module", params=["favorable", "unfavorable"])
def both(request):
    return compared(request.param), request.param


def test_each_point_is_the_comparison_at_its_threshold_and_presets_reach_what_they_say(both):
    result, higher_is = both
    for row in trade_off(result, "group", higher_is=higher_is).iloc[::30].itertuples():
        moved = at_threshold(result, row.threshold, higher_is=higher_is)
        rates_there = [each.selection_rate.value for each in moved.table]
        assert row.gap == pytest.approx(100 * (max(rates_there) - min(rates_there)), abs=1e-9)
        right = moved.people["decision"].astype(bool) == moved.people["favorable label"].astype(bool)
        assert row.accuracy == pytest.approx(right.mean(), abs=1e-9)
    people = result.people
    before = people.groupby("group: group")["decision"].mean()
    step = 1 / people.groupby("group: group").size()  # one person more or less

    def rates(preset, asked=None):
        found = preset_thresholds(result, "group", preset, higher_is=higher_is)
        moved = at_threshold(result, {"group": found}, higher_is=higher_is).people
        moved = moved if asked is None else moved[asked]
        return moved.groupby("group: group")["decision"].mean()

    assert (abs(rates("equal rates") - people["decision"].mean()) <= step).all()
    after = rates("four fifths")
    assert after.min() >= 0.8 * before.max() - 1e-12
    low = before < 0.8 * before.max()
    assert low.any()  # else nothing is shown
    assert (after[~low] == before[~low]).all()
    assert (after[low] - step[low] < 0.8 * before.max()).all()  # no more than it takes
    positive = people["favorable label"].astype(bool)
    share, few = people["decision"][positive].mean(), 1 / positive.groupby(people["group: group"]).sum()
    assert (abs(rates("equal opportunity", positive) - share) <= few).all()
