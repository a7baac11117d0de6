"""The second interval of ratios and balanced accuracies, and differences that hold together."""

from __future__ import annotations

import numpy as np
import pytest

from audits.groups import groups
from audits.groups.comparison import bootstrap_intervals
from audits.groups.metrics import Counts
from audits.stats import newcombe
from audits.stats.cell_bootstrap import percentile_interval
from tests.groups.test_groups import people, subject_of


def counts(cells: list[list[float]]) -> Counts:
    """From true positives, false negatives, false positives, true negatives of each group."""
    tp, fn, fp, tn = np.array(cells, dtype=float).T
    return Counts(tp + fn + fp + tn, tp + fp, tp, fp, tn, fn)


def test_both_intervals_state_the_same_value_and_the_seed_decides_the_draws():
    frame = people(1500, gap=0.25)
    result, again, other = (groups(subject_of(frame), rng=seed) for seed in (7, 7, 8))
    assert result.to_json() == again.to_json()
    assert result.table[1].bootstrap != other.table[1].bootstrap
    for row in result.table:
        # a ratio to the highest rate has none: which rate is highest is not known
        [(name, estimate)] = row.bootstrap.items()
        assert name == "balanced_accuracy"
        assert estimate.value == pytest.approx(row.balanced_accuracy.value, abs=1e-12)
        assert estimate.low <= estimate.value <= estimate.high
    shown = result.bootstrap_frame("race").set_index(["group", "figure"])
    row = next(row for row in result.table if row.group == "B")
    line = shown.loc[("B", "balanced accuracy")]
    assert line["bootstrap low"] == row.bootstrap["balanced_accuracy"].low
    assert line["value low"] == row.balanced_accuracy.low


def test_what_has_no_value_has_no_bootstrap():
    found = bootstrap_intervals(
        counts([[5, 0, 0, 0], [2, 1, 3, 3]]), np.random.default_rng(0), draws=50, level=0.05
    )
    assert found[0] == {}, "nobody has an unfavorable label"
    assert set(found[1]) == {"balanced_accuracy"}
    assert percentile_interval(0.5, np.full(100, np.nan), 9, level=0.05).low is None
    assert percentile_interval(1.0, np.ones(100), 4, level=0.05).low is None, "they have shown no spread"


def test_differences_hold_together_and_carry_their_verdicts():
    result = groups(subject_of(people(600)))
    looks = 3 * (2 + 1 + 5)
    assert result.simultaneous_level == pytest.approx(0.05 / looks)
    rows = {row.group: row for row in result.of("race")}
    frame = result.differences_frame("race").set_index(["group", "rate"])
    assert len(frame) == 6
    b, a = rows["B"].selection_rate, rows["A"].selection_rate
    expected = newcombe(b.value * b.n, b.n, a.value * a.n, a.n, level=0.05 / looks)
    line = frame.loc[("B", "selection rate")]
    assert line["difference"] == pytest.approx(expected.value, abs=1e-12)
    assert (line["difference low"], line["difference high"]) == pytest.approx(
        (expected.low, expected.high), abs=1e-12
    )
    assert line["verdict"] == rows["B"].differences["selection_rate"].verdict


def test_scores_and_calibration_count_everybody():
    frame = people(500)
    result = groups(subject_of(frame))
    scores, calibration = result.scores_frame("race"), result.calibration_frame("race")
    sizes = frame["race"].value_counts().to_dict()
    assert scores.groupby("group")["people"].sum().to_dict() == sizes
    assert calibration.groupby("group")["people"].sum().to_dict() == sizes
    mine = frame[(frame["race"] == "A") & (frame["score"] >= 0.3) & (frame["score"] < 0.4)]
    line = calibration[(calibration["group"] == "A") & np.isclose(calibration["from"], 0.3)].iloc[0]
    assert (line["people"], line["favorable labels"]) == (len(mine), pytest.approx(mine["y"].mean()))
    assert line["mean score"] == pytest.approx(mine["score"].mean())
