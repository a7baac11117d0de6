"""Group metrics against fairlearn and scikit-learn, by hand, under simulation, and with bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as fair
from sklearn import metrics as sk

from audits.data import DataSpec, build_data
from audits.groups import (
    GroupsOptions,
    at_threshold,
    beside,
    bias_tables,
    groups,
)
from audits.groups.inference import GroupLimit, judge_difference
from audits.models import Subject, make_subject, model_spec


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


def test_without_label_only_selection_is_known():
    frame = people()
    spec = DataSpec(protected=("race",), features=("x",))
    subject = make_subject(
        build_data(frame, spec), model_spec({"predictions": {"score": "score"}}), threshold=0.5
    )
    result = groups(subject)
    assert result.table[0].true_positive_rate is None
    assert result.spreads[0].equalized_odds_difference is None


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
    *_, both = bias_tables(result)
    assert sorted(both.rows["people"]) == [100, 100, 200, 200]


@pytest.mark.parametrize("how", [{}, {"person": "who"}])
def test_people_of_one_score_have_no_interval_of_its_mean(how):
    frame = people().assign(who=range(600))
    frame.loc[frame["race"] == "C", "score"] = 0.25
    for row in groups(subject_of(frame, protected=("race",), **how)).table:
        assert (row.mean_score.low is None) == (row.group == "C")


def test_the_histogram_of_a_risk_score_lies_where_its_scores_do():
    frame = people().assign(risk=lambda table: 1 - table["score"])
    spec = DataSpec(label="y", favorable=1, protected=("race",), features=("x",))
    predictions = {"predictions": {"score": "risk", "higher_is": "unfavorable"}}
    result = groups(make_subject(build_data(frame, spec), model_spec(predictions), threshold=0.5))
    assert (result.score_edges[0], result.score_edges[-1]) == (-1.0, 0.0)
    assert all(row.mean_score.value < 0 for row in result.table)
    assert all(sum(row.score_counts) == row.n for row in result.table)
