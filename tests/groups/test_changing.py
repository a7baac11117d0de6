"""Thresholds moved and models laid side by side, against fresh runs and counts by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.groups import at_threshold, beside, groups, most_telling
from audits.models import make_subject, model_spec
from audits.stats.paired_shares import paired_difference
from tests.groups.test_groups import people
from tests.refused import refused


def audit(frame: pd.DataFrame, threshold: object = 0.5, column: str = "score", **model: object):
    spec = DataSpec(label="y", favorable=1, protected=("race", "sex"), features=("x",))
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


def test_two_models_by_hand():
    frame = pd.DataFrame(
        {
            "x": range(8),
            "race": list("AAAABBBB"),
            "sex": list("ffffmmmm"),
            "y": [1, 1, 0, 0, 1, 1, 0, 0],
            "score": [0.9, 0.9, 0.9, 0.1, 0.9, 0.1, 0.1, 0.1],
            "other": [0.9, 0.1, 0.9, 0.1, 0.9, 0.9, 0.9, 0.1],
        }
    )
    found = beside(audit(frame), audit(frame, column="other")).set_index(["attribute", "group", "rate"])
    row = found.loc["race", "B", "selection rate"]
    assert (row["first"], row["second"], row["change"]) == (0.25, 0.75, 0.5)
    assert found.loc["race", "B", "true positive rate"]["change"] == 0.5
    assert found.loc["race", "A", "true positive rate"]["change"] == -0.5
    assert found.loc["race × sex", "A & f", "false positive rate"]["change"] == 0.0
    assert (found["change low"] <= found["change"]).all()
    assert (found["change"] <= found["change high"]).all()


def test_models_on_other_rows_are_not_compared():
    frame = people(200)
    with refused("the two results"):
        beside(audit(frame), audit(frame.iloc[:150]))
    with refused("the two results"):
        beside(audit(frame), audit(frame.assign(y=1 - frame["y"])))


def test_a_threshold_must_name_every_group():
    with refused("threshold.race", "'B'", "'C'"):
        at_threshold(audit(people(200)), {"race": {"A": 0.5}})
    with refused("threshold", "'age'"):
        at_threshold(audit(people(200)), {"age": {"A": 0.5}})


def test_paired_interval_is_newcombes():
    """Newcombe (1998), Table II, 36/12/2/0: 0.0569 to 0.3404."""
    gap = paired_difference(36, 12, 2, 0)
    assert gap.value == pytest.approx(0.2, abs=1e-12)
    assert (gap.low, gap.high) == pytest.approx((0.0569, 0.3404), abs=5e-5)
    assert paired_difference(0, 0, 0, 0).value is None


def test_the_finding_names_an_error_rate_where_only_that_differs():
    """Equal selection rates, opposite error rates: the finding must not be about selection."""
    n = 400
    frame = pd.DataFrame({"x": range(4 * n), "sex": ["f", "m"] * (2 * n)})
    frame["race"] = "A"
    frame["y"] = np.arange(4 * n) // 2 % 2
    good = frame["y"].to_numpy() == 1
    women = (frame["sex"] == "f").to_numpy()
    frame["score"] = np.where(good == women, 0.9, 0.1)
    spec = DataSpec(label="y", favorable=1, protected=("sex",), features=("x",))
    subject = make_subject(
        build_data(frame, spec), model_spec({"predictions": {"score": "score"}}), threshold=0.5
    )
    result = groups(subject)
    assert result.verdict == "evidence of a difference"
    row, _, rate = most_telling(result.table)
    assert (row.group, rate) == ("m", "true_positive_rate")
