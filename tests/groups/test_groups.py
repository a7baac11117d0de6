"""Group metrics against fairlearn and scikit-learn, their intervals, and the figure of the threshold."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as fair
from sklearn import metrics as sk

from audits.data import DataSpec, build_data
from audits.drawing.style import alt_text
from audits.groups import GroupsOptions, at_threshold, beside, bias_tables, groups, most_telling
from audits.groups.figures.threshold import confusion, members
from audits.groups.inference import GroupLimit, judge_difference
from audits.groups.sections import section
from audits.models import Subject, make_subject, model_spec
from audits.stats import newcombe


def subject_of(frame: pd.DataFrame, protected=("race", "sex"), **data: object) -> Subject:
    spec = DataSpec(label="y", favorable=1, protected=protected, features=("x",), **data)
    return make_subject(
        build_data(frame, spec), model_spec({"predictions": {"score": "score"}}), threshold=0.5
    )


def people(n: int = 600, seed: int = 0, gap: float = 0.2) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    race = rng.choice(["A", "B", "C"], n, p=[0.6, 0.3, 0.1])
    score = np.clip(rng.normal(0.5, 0.25, n) - gap * (race == "B"), 0, 1)
    return pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "race": race,
            "sex": rng.choice(["f", "m"], n),
            "score": score,
            "y": (rng.uniform(size=n) < score).astype(int),
        }
    )


@pytest.mark.parametrize("by", [("race",), ("race", "sex")])
def test_values_are_fairlearns_and_scikit_learns(by):
    frame = people()
    result = groups(subject_of(frame), GroupsOptions(by=(by,)))
    decided, y = (frame["score"] >= 0.5).astype(int), frame["y"]
    ours = {row.group: row for row in result.table}
    highest = max(each.selection_rate.value for each in result.table)
    for key, part in frame.groupby(list(by)):
        h = decided[part.index]
        tn, fp, fn, tp = sk.confusion_matrix(part["y"], h, labels=[0, 1]).ravel()
        for name, value in {
            "selection_rate": fair.selection_rate(part["y"], h),
            "impact_ratio": fair.selection_rate(part["y"], h) / highest,
            "true_positive_rate": sk.recall_score(part["y"], h),
            "false_positive_rate": fp / (fp + tn),
            "true_negative_rate": tn / (fp + tn),
            "false_negative_rate": fn / (fn + tp),
            "precision": sk.precision_score(part["y"], h),
            "accuracy": sk.accuracy_score(part["y"], h),
            "balanced_accuracy": sk.balanced_accuracy_score(part["y"], h),
            "mean_score": part["score"].mean(),
            "base_rate": part["y"].mean(),
        }.items():
            assert getattr(ours[" & ".join(key)], name).value == pytest.approx(value, abs=1e-12), name
    (spread,) = result.spreads
    options = {"y_true": y, "y_pred": decided, "sensitive_features": frame[list(by)]}
    for name, value in {
        "demographic_parity_difference": fair.demographic_parity_difference(**options),
        "demographic_parity_ratio": fair.demographic_parity_ratio(**options),
        "equal_opportunity_difference": fair.equal_opportunity_difference(**options),
        "equalized_odds_difference": fair.equalized_odds_difference(**options),
        "average_odds_difference": fair.equalized_odds_difference(**options, agg="mean"),
    }.items():
        found = getattr(spread, name)
        assert found.value == pytest.approx(value, abs=1e-12), name
        assert found.low <= found.value <= found.high


def test_people_needed_settle_it():
    """As many times more people in both groups, of whatever difference, leave no interval unsettled."""
    first, second, material, level = (9.0, 30.0), (900.0, 2000.0), 0.1, 0.01
    found = judge_difference(first, second, 30, limit=GroupLimit(difference=material), level=level)
    assert found.verdict == "insufficient evidence"
    times, limit = found.people_needed / 30, GroupLimit(difference=material)
    others = (second[0] * times, second[1] * times)
    for count in (first[0], *range(0, 31, 3)):
        own = (count * times, first[1] * times)
        more = judge_difference(own, others, 30 * times, limit=limit, level=level)
        settled = more.verdict != "insufficient evidence"
        assert settled or (count != first[0] and more.estimate.high - more.estimate.low > material)


def test_names_that_join_to_the_same_stay_different_groups():
    frame = people(600)
    frame["race"] = np.where(np.arange(600) % 2 == 0, "a & b", "a")
    frame["sex"] = np.where(np.arange(600) % 3 == 0, "c", "b & c")
    result = groups(subject_of(frame))
    sizes = {row.group: row.n for row in result.of("race × sex")}
    assert sizes == {"“a & b” & “c”": 100, "a & b & b & c": 200, "a & c": 100, "“a” & “b & c”": 200}
    table = beside(result, at_threshold(result, 0.7)).set_index(["attribute", "group", "rate"])
    mine = (frame["race"] == "a") & (frame["sex"] == "b & c")
    line = table.loc[("race × sex", "“a” & “b & c”", "selection rate")]
    assert line["first"] == pytest.approx((frame.loc[mine, "score"] >= 0.5).mean())
    assert line["second"] == pytest.approx((frame.loc[mine, "score"] >= 0.7).mean())
    assert np.allclose(table["change"], table["second"] - table["first"])
    assert table["change"].between(table["change low"], table["change high"]).all()
    *_, both = bias_tables(result)
    assert sorted(both.rows["people"]) == [100, 100, 200, 200]


@pytest.mark.parametrize("how", [{}, {"person": "who"}])
def test_people_of_one_score_have_no_interval_of_its_mean(how):
    frame = people().assign(who=range(600))
    frame.loc[frame["race"] == "C", "score"] = 0.25
    for row in groups(subject_of(frame, protected=("race",), **how)).table:
        assert (row.mean_score.low is None) == (row.group == "C")


def test_both_intervals_state_the_same_value_and_the_seed_decides_the_draws():
    frame = people(600, gap=0.25)
    result, again, other = (groups(subject_of(frame), rng=seed) for seed in (7, 7, 8))
    assert all(alt_text(exhibit.figure()) for exhibit in section(result).exhibits)
    assert result.to_json() == again.to_json()
    assert result.table[1].bootstrap != other.table[1].bootstrap
    shown = result.bootstrap_frame("race").set_index(["group", "figure"])
    for row in result.table:
        # a ratio to the highest rate has none: which rate is highest is not known
        [(name, estimate)] = row.bootstrap.items()
        assert name == "balanced_accuracy"
        assert estimate.value == pytest.approx(row.balanced_accuracy.value, abs=1e-12)
        assert estimate.low <= estimate.value <= estimate.high
        if row in result.of("race"):
            line = shown.loc[(row.group, "balanced accuracy")]
            assert (line["bootstrap low"], line["value low"]) == (estimate.low, row.balanced_accuracy.low)


def test_differences_hold_together_and_carry_their_verdicts():
    result = groups(subject_of(people(600)))
    looks = 3 * (2 + 1 + 5)
    assert result.simultaneous_level == pytest.approx(0.05 / looks)
    rows = {row.group: row for row in result.of("race")}
    b, a = rows["B"].selection_rate, rows["A"].selection_rate
    expected = newcombe(b.value * b.n, b.n, a.value * a.n, a.n, level=0.05 / looks)
    line = result.differences_frame("race").set_index(["group", "rate"]).loc[("B", "selection rate")]
    found = (line["difference"], line["difference low"], line["difference high"])
    assert found == pytest.approx((expected.value, expected.low, expected.high), abs=1e-12)
    assert line["verdict"] == rows["B"].differences["selection_rate"].verdict


def test_counts_are_those_of_the_decisions_at_the_threshold():
    """Scores from 1 to 10, higher is worse, many at the threshold: bars and decisions agree."""
    frame = people(400).assign(points=np.random.default_rng(0).integers(1, 11, 400))
    spec = DataSpec(label="y", favorable=1, protected=("race",), features=("x",))
    model = model_spec({"predictions": {"score": "points", "higher_is": "unfavorable"}})
    result = groups(make_subject(build_data(frame, spec), model, threshold=5.0), GroupsOptions())
    for group in most_telling(result.table)[:2]:
        found = confusion(members(result, group), 5.0, -1.0)
        assert found["yes"] == pytest.approx(group.selection_rate.value * group.n)
        assert found["yes"] + found["no"] == pytest.approx(group.n)
        good = found["true_yes"] + found["false_no"]
        assert found["true_yes"] / good == pytest.approx(group.true_positive_rate.value)
        assert found["false_yes"] / (group.n - good) == pytest.approx(group.false_positive_rate.value)


def test_scores_and_calibration_count_everybody():
    frame = people(500)
    result = groups(subject_of(frame))
    scores, calibration = result.scores_frame("race"), result.calibration_frame("race")
    for table in (scores, calibration):
        assert table.groupby("group")["people"].sum().to_dict() == frame["race"].value_counts().to_dict()
    mine = frame[(frame["race"] == "A") & (frame["score"] >= 0.3) & (frame["score"] < 0.4)]
    line = calibration[(calibration["group"] == "A") & np.isclose(calibration["from"], 0.3)].iloc[0]
    assert (line["people"], line["favorable labels"]) == (len(mine), pytest.approx(mine["y"].mean()))
    assert line["mean score"] == pytest.approx(mine["score"].mean())
