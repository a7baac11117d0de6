"""Thresholds moved, chosen to close a gap, and models laid side by side, against counts by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.groups import at_threshold, beside, groups, most_telling
from audits.groups.options import GroupsOptions
from audits.groups.threshold_change import preset_thresholds, trade_off
from audits.models import ModelSpec, Predictions, make_subject, model_spec
from audits.stats.paired_shares import paired_difference
from tests.groups.test_groups import people
from tests.refused import refused


def audit(
    frame: pd.DataFrame,
    threshold: object = 0.5,
    column: str = "score",
    protected: tuple[str, ...] = ("race", "sex"),
    **model: object,
):
    spec = DataSpec(label="y", favorable=1, protected=protected, features=("x",))
    predictions = model_spec({"predictions": {"score": column, **model}})
    return groups(make_subject(build_data(frame, spec), predictions, threshold=threshold))


@pytest.mark.parametrize(
    ("threshold", "higher_is"),
    [(0.3, "favorable"), ({"race": {"A": 0.6, "B": 0.4, "C": 0.5}}, "unfavorable")],
)
def test_a_moved_threshold_is_a_fresh_run(threshold, higher_is):
    frame = people(400).round({"score": 1})  # ties with the threshold
    result = audit(frame, higher_is=higher_is)
    before = result.people.copy()
    moved = at_threshold(result, threshold, higher_is=higher_is)
    pd.testing.assert_frame_equal(result.people, before)  # it stays as it was
    fresh = audit(frame, threshold, higher_is=higher_is)
    assert moved.to_json() == fresh.to_json()
    pd.testing.assert_frame_equal(moved.people, fresh.people)


def test_other_rows_and_unnamed_groups_are_refused():
    frame = people(100)
    result = audit(frame, protected=("race",))
    for other in (frame.iloc[:80], frame.assign(y=1 - frame["y"])):
        with refused("the two results"):
            beside(result, audit(other, protected=("race",)))
    with refused("threshold.race", "'B'", "'C'"):
        at_threshold(result, {"race": {"A": 0.5}})
    with refused("threshold", "'age'"):
        at_threshold(result, {"age": {"A": 0.5}})


def test_paired_interval_is_newcombes():
    """Newcombe (1998), Table II, 36/12/2/0: 0.0569 to 0.3404."""
    gap = paired_difference(36, 12, 2, 0)
    assert gap.value == pytest.approx(0.2, abs=1e-12)
    assert (gap.low, gap.high) == pytest.approx((0.0569, 0.3404), abs=5e-5)
    assert paired_difference(0, 0, 0, 0).value is None


def test_the_finding_names_an_error_rate_where_only_that_differs():
    """Equal selection rates, opposite error rates: the finding must not be about selection."""
    frame = pd.DataFrame({"x": range(1600), "sex": ["f", "m"] * 800, "y": np.arange(1600) // 2 % 2})
    frame["score"] = np.where((frame["y"] == 1) == (frame["sex"] == "f"), 0.9, 0.1)
    result = audit(frame, protected=("sex",))
    assert result.verdict == "evidence of a difference"
    row, _, rate = most_telling(result.table)
    assert (row.group, rate) == ("m", "true_positive_rate")
    assert result.judged.people_of == "people in “m” with a favorable label"


def compared(higher_is: str):
    rng = np.random.default_rng(7)
    group = rng.choice(["a", "b", "c"], 300, p=[0.5, 0.3, 0.2])
    score = np.clip(rng.normal(0.55, 0.18, 300) - 0.15 * (group == "b"), 0.01, 0.99).round(3)
    if higher_is == "unfavorable":
        score = (1 - score).round(3)
    frame = pd.DataFrame({"group": group, "score": score, "y": (rng.random(300) < 0.5).astype(int)})
    data = build_data(frame, DataSpec(label="y", favorable=1, protected=("group",), features=()))
    spec = ModelSpec(predictions=Predictions(score="score", higher_is=higher_is))
    return groups(make_subject(data, spec, threshold=0.5), GroupsOptions(by=("group",), bootstrap=0))


@pytest.mark.parametrize("higher_is", ["favorable", "unfavorable"])
def test_each_point_is_the_comparison_at_its_threshold_and_presets_reach_what_they_say(higher_is):
    result = compared(higher_is)
    for row in trade_off(result, "group", higher_is=higher_is).iloc[::60].itertuples():
        moved = at_threshold(result, row.threshold, higher_is=higher_is)
        rates_there = [each.selection_rate.value for each in moved.table]
        assert row.gap == pytest.approx(100 * (max(rates_there) - min(rates_there)), abs=1e-9)
        right = moved.people["decision"].astype(bool) == moved.people["favorable label"].astype(bool)
        assert row.accuracy == pytest.approx(right.mean(), abs=1e-9)
    people = result.people
    before = people.groupby("group: group")["decision"].mean()
    step = 1 / people.groupby("group: group").size()  # one person more or less
    positive = people["favorable label"].astype(bool)

    def rates(preset, asked=slice(None)):
        found = preset_thresholds(result, "group", preset, higher_is=higher_is)
        moved = at_threshold(result, {"group": found}, higher_is=higher_is).people[asked]
        return moved.groupby("group: group")["decision"].mean()

    assert (abs(rates("equal rates") - people["decision"].mean()) <= step).all()
    after, low = rates("four fifths"), before < 0.8 * before.max()
    assert after.min() >= 0.8 * before.max() - 1e-12
    assert low.any()  # else nothing is shown
    assert (after[~low] == before[~low]).all()
    assert (after[low] - step[low] < 0.8 * before.max()).all()  # no more than it takes
    share, few = people["decision"][positive].mean(), 1 / positive.groupby(people["group: group"]).sum()
    assert (abs(rates("equal opportunity", positive) - share) <= few).all()
