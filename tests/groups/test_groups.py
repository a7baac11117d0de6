"""Group metrics against fairlearn and scikit-learn, by hand, under simulation, and with bad input."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from fairlearn import metrics as fair
from scipy import stats
from sklearn import metrics as sk
from sklearn.metrics import f1_score

from audits.data import DataSpec, build_data
from audits.errors import InputError
from audits.groups import (
    METRICS,
    GroupsOptions,
    Metric,
    at_threshold,
    beside,
    bias_tables,
    groups,
)
from audits.groups.inference import GroupLimit, judge_difference, most_telling
from audits.models import Subject, make_subject, model_spec
from tests.refused import refused


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
    decided = (frame["score"] >= 0.5).astype(int)
    sensitive = frame[list(by)]
    y = frame["y"]
    ours = {row.group: row for row in result.table}
    for key, part in frame.groupby(list(by)):
        row = ours[" & ".join(key)]
        h = decided[part.index]
        tn, fp, fn, tp = sk.confusion_matrix(part["y"], h, labels=[0, 1]).ravel()
        expected = {
            "selection_rate": fair.selection_rate(part["y"], h),
            "true_positive_rate": sk.recall_score(part["y"], h),
            "false_positive_rate": fp / (fp + tn),
            "true_negative_rate": tn / (fp + tn),
            "false_negative_rate": fn / (fn + tp),
            "precision": sk.precision_score(part["y"], h),
            "accuracy": sk.accuracy_score(part["y"], h),
            "balanced_accuracy": sk.balanced_accuracy_score(part["y"], h),
            "mean_score": part["score"].mean(),
            "base_rate": part["y"].mean(),
        }
        expected["impact_ratio"] = expected["selection_rate"] / max(
            each.selection_rate.value for each in result.table
        )
        for name, value in expected.items():
            assert getattr(row, name).value == pytest.approx(value, abs=1e-12), name
    (spread,) = result.spreads
    options = {"y_true": y, "y_pred": decided, "sensitive_features": sensitive}
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


def test_weights_stand_for_people():
    frame = people(200)
    frame["w"] = np.random.default_rng(0).integers(1, 4, 200)
    weighted = groups(subject_of(frame, weights="w"))
    repeated = groups(subject_of(frame.loc[frame.index.repeat(frame["w"])].reset_index(drop=True)))
    # sums in another order: equal up to rounding
    pd.testing.assert_frame_equal(weighted.to_frame(), repeated.to_frame(), rtol=1e-12)


def test_without_label_only_selection_is_known():
    frame = people()
    spec = DataSpec(protected=("race",), features=("x",))
    subject = make_subject(
        build_data(frame, spec), model_spec({"predictions": {"score": "score"}}), threshold=0.5
    )
    result = groups(subject)
    assert result.table[0].true_positive_rate is None
    assert result.spreads[0].equalized_odds_difference is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": ("age",)}, "groups.by must be a protected attribute, got 'age'"),
        ({"reference": {"race": "Z"}, "by": ("race",)}, "groups.reference must be a group with people in it"),
        ({"level": 2.0}, "groups.level must be less than or equal to 0.5, got 2.0"),
    ],
)
def test_bad_input_is_one_sentence(options, message):
    with pytest.raises(InputError) as caught:
        groups(subject_of(people(60)), GroupsOptions(**options))
    assert message in str(caught.value)


def test_insufficient_evidence_always_says_how_many_people_are_needed():
    """Large groups alike by one attribute, small ones by the other: the finding is about the former."""
    rng = np.random.default_rng(5)
    n = 4000
    frame = pd.DataFrame(
        {
            "x": 0.0,
            "race": rng.choice(["A", "B"], n),
            "sex": np.where(np.arange(n) < 30, "m", "f"),
            "score": np.where(np.arange(n) % 2 == 0, 0.9, 0.1),
            "y": np.arange(n) // 2 % 2,
        }
    )
    result = groups(subject_of(frame), GroupsOptions(by=("race", "sex")))
    assert result.verdict == "insufficient evidence"
    assert most_telling(result.table)[0].attribute == "race"  # not one of the 30
    for row in result.table:
        for gap in row.differences.values():
            assert (gap.people_needed is not None) == (gap.verdict == "insufficient evidence")
            assert gap.people_needed is None or gap.people_needed > row.n


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


def test_a_metric_of_anyones_stands_beside_ours():
    frame = people(200)
    own = "f1 of this test"  # one that no installed package has
    f1 = Metric(name=own, words=own, function=lambda y, d, n: f1_score(y, d, sample_weight=n))
    with refused("metric 'both'"):
        Metric(name="both", words="both")
    METRICS.add(f1)
    try:
        with refused("metric"):
            METRICS.add(f1)
        result = groups(subject_of(frame), GroupsOptions(by=("race",), bootstrap=0))
        table = result.to_frame().set_index("group")
    finally:
        METRICS.remove(own)
    for row in result.table:
        mine = frame["race"] == row.group
        y, d = frame.loc[mine, "y"], frame.loc[mine, "score"] >= 0.5
        assert row.metric(own).value == pytest.approx(f1_score(y, d))
        assert table.loc[row.group, own] == row.metric(own).value
        # the slow obvious jackknife, one person after the other
        without = [f1_score(y.drop(k), d.drop(k)) for k in y.index]
        spread = np.sqrt((len(y) - 1) / len(y) * ((without - np.mean(without)) ** 2).sum())
        half = (row.metric(own).high - row.metric(own).low) / 2
        assert half == pytest.approx(stats.t.isf(0.025, len(y) - 1) * spread)


def test_names_that_join_to_the_same_stay_different_groups():
    frame = people(600)
    frame["race"] = np.where(np.arange(600) % 2 == 0, "a & b", "a")
    frame["sex"] = np.where(np.arange(600) % 3 == 0, "c", "b & c")
    result = groups(subject_of(frame))
    rows = result.of("race × sex")
    sizes = {row.group: row.n for row in rows}
    assert sizes == {"“a & b” & “c”": 100, "a & b & b & c": 200, "a & c": 100, "“a” & “b & c”": 200}
    moved = at_threshold(result, 0.7)
    table = beside(result, moved).set_index(["attribute", "group", "rate"])
    mine = (frame["race"] == "a") & (frame["sex"] == "b & c")
    was, now = ((frame.loc[mine, "score"] >= cut).mean() for cut in (0.5, 0.7))
    line = table.loc[("race × sex", "“a” & “b & c”", "selection rate")]
    assert (line["first"], line["second"]) == (pytest.approx(was), pytest.approx(now))
    assert line["change"] == pytest.approx(now - was)
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
