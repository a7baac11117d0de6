"""The audit as a whole: known truths, options, models without gradient, bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from audits.data import DataSpec, FeatureSpace, build_data
from audits.drawing.style import alt_text
from audits.models import make_subject, model_spec
from audits.models.networks.dense import Dense, dense_of
from audits.models.networks.gradients import logits_over
from audits.results import load_result, save_result
from audits.runs.registry import AUDITS
from audits.sensitivity import SensitivityOptions, figures, sensitivity
from audits.sensitivity.match_sets.sets import QUANTILES
from audits.sensitivity.measurement.blackbox import measure_blackbox
from audits.sensitivity.measurement.gradients import AuditedModel, Status, measure
from audits.sensitivity.measurement.status_models import train_status
from audits.stats import Estimate
from tests.refused import refused
from tests.sensitivity.conftest import people, subject_of

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


def test_a_logistic_pair_equals_the_formula_on_raw_coefficients(logistic, audited_pair):
    p, space = logistic.scores, logistic.space
    # F's own coefficients, A's from the stored weights
    f = dense_of(logits_over(logistic.model, space, logistic.data.frame)).weights[0][:, 0]
    table = audited_pair.parameters
    a = table[table["array"] == "A:group.weight.0"]["value"].to_numpy()
    at = [space.blocks[name].start for name in ("skill", "height")]
    by_hand = p * (1 - p) * np.abs(f[at] * a[at]).T[:, None]
    found = audited_pair.contributions[["skill", "height"]].to_numpy().T
    np.testing.assert_allclose(found, by_hand, rtol=1e-8)
    gradient = p * (1 - p) * np.abs(f).sum()
    np.testing.assert_allclose(audited_pair.people["gradient"], gradient, rtol=1e-8)


def test_the_protected_column_is_read_only_when_asked(fed, audited_fed):
    kept = sensitivity(fed, SensitivityOptions(bootstrap=100, match_set="off"))
    assert kept.status[0].reads == ("height", "skill", "town")
    assert any("group" in warning for warning in kept.warnings)
    assert kept.contributions["group"].eq(0).all()
    assert audited_fed.status[0].given_protected
    assert audited_fed.status[0].auc.value > 0.99
    assert audited_fed.warnings
    assert audited_fed.contributions["group"].gt(0).any()


def test_both_sides_of_the_match_set_and_the_twins_decisions_are_kept(audited_fed, fed):
    """Figures 4a, 5 and 6, each against the people's table; so can the area be."""
    found, people = audited_fed.match_set, audited_fed.people
    assert [curve.name for curve in found.curves] == ["sensitivity", "gradient", "boundary"]
    assert found.by_chance.value == 0  # a logistic regression trained again is the same
    otherwise = (people["twin_decision"] != people["decision"]).to_numpy()
    assert found.mismatched.value == pytest.approx(otherwise.mean())
    assert roc_auc_score(otherwise, people["sensitivity"]) == pytest.approx(found.auc.value)
    assert (people["anew_decision"] == people["decision"]).all()
    for side, here in zip(found.sides, (~otherwise, otherwise), strict=True):
        ranked = np.sort(people["sensitivity"][here].to_numpy())
        assert (side.mean.value, side.mean.n) == (pytest.approx(ranked.mean()), here.sum())
        at = np.ceil(np.array(QUANTILES) * len(ranked) - 1e-9).astype(int) - 1
        assert side.quantiles == pytest.approx(ranked[at])
    assert found.sides[1].mean.value > found.sides[0].mean.value  # Figure 6: higher outside
    gaps = {(row.metric, row.model): row.difference.value for row in found.metrics}
    groups, y = fed.data.groups["group"].to_numpy(), np.asarray(fed.data.y)
    for metric, among in (("selection rate", y | ~y), ("true positive rate", y), ("false positive rate", ~y)):
        for model, column in (("audited", "decision"), ("augmented", "twin_decision")):
            rates = people[column][among].groupby(groups[among]).mean()
            assert gaps[metric, model] == pytest.approx(rates.max() - rates.min())
    exhibits = {each.key: each for each in AUDITS["sensitivity"].section(audited_fed).exhibits}
    assert {"match_sides", "twin_metrics"} <= set(exhibits)
    assert all(alt_text(exhibit.figure()) for exhibit in exhibits.values())


def test_finite_differences_of_a_logistic_model_equal_its_gradient(logistic):
    space, data = logistic.space, logistic.data
    z = space.encode(data.frame)
    rng = np.random.default_rng(0)
    status = train_status(logistic.training, space, "group", (), unseen=("group",), rng=rng)
    audited = AuditedModel(dense_of(logits_over(logistic.model, space, data.frame)))
    exact = measure(z, audited, [status], [space.blocks[name] for name in space.columns])
    asked = logistic.favorable_score, logistic.model.columns
    rough = measure_blackbox(data.frame, z, *asked, [status], space, step=0.02)
    for name in ("skill", "height"):
        place, own = space.columns.index(name), z[:, space.blocks[name].start]
        inner = (own > own.min() + 0.3) & (own < own.max() - 0.3)
        a, b = exact.contributions[inner, place], rough.contributions[inner, place]
        # height moves by whole centimetres, a tenth of a deviation: a curvature of 1e-3
        np.testing.assert_allclose(a, b, rtol=5e-3)


def test_swaps_by_hand():
    frame = pd.DataFrame({"town": ["n", "n", "s", "w"], "g": ["a", "b", "a", "b"]})
    space = FeatureSpace.fit(build_data(frame, DataSpec(protected=("g",), features=("town",))))
    chances = {"n": 0.1, "s": 0.3, "w": 0.6}
    status = Status("g", ("a", "b"), Dense((np.array([[2.0], [0.0], [-4.0]]),), (np.zeros(1),)))

    def score(rows: pd.DataFrame) -> np.ndarray:
        return rows["town"].map(chances).to_numpy(dtype=float)

    found = measure_blackbox(frame, space.encode(frame), score, ("town",), [status], space, step=0.1)
    # A's log-odds: n 1, s 0, w -2. Person 1 (n): others s and w, one person each: (.2 * 1 + .5 * 3) / 2
    assert found.sensitivity[0] == pytest.approx((0.2 * 1 + 0.5 * 3) / 2)
    # person 3 (s): others n (two people) and w (one)
    assert found.sensitivity[2] == pytest.approx((2 * 0.2 * 1 + 1 * 0.3 * 2) / 3)


def test_three_groups_and_two_attributes():
    frame, rng = people(600), np.random.default_rng(1)
    frame["region"] = np.where(frame["town"] == "west", "W", np.where(rng.random(600) < 0.5, "X", "Y"))
    subject = subject_of(frame, protected=("group", "region"))
    found = sensitivity(subject, SensitivityOptions(bootstrap=100, status_model="network"))
    assert [status.attribute for status in found.status] == ["group", "region"]
    apart = {item.group: item.auc.value for item in found.status[1].groups}
    assert apart["W"] > 0.95  # the town gives it away; X and Y are a coin
    assert abs(apart["X"] - 0.7) < 0.15
    assert (sorted(apart), len(found.groups)) == (["W", "X", "Y"], 5)


def test_a_brought_model_teaches_a_on_half_the_people():
    features = ("work_years", "hair_length")
    spec = DataSpec(label="qualified", favorable=1, protected=("gender",), features=features)
    data = build_data(pd.read_csv(SAMPLES / "hiring.csv"), spec)
    subject = make_subject(data, model_spec({"path": str(SAMPLES / "hiring.onnx")}))
    found = sensitivity(subject, SensitivityOptions(bootstrap=100))
    assert not found.estimated, "its file is a logistic regression: exact gradients"
    assert found.rows["left_out"] == {"rows that the protected-status model learned from": 1000}
    assert found.rows["used"] + 1000 == found.rows["audited"] == 2000
    # hair alone tells the genders in truth (work differs by 6 of 5 deviations): both lead
    assert found.status[0].auc.low > 0.7


def test_few_people_settle_nothing_and_are_told_how_many_would(tmp_path: Path):
    frame = people(240, seed=3)
    frame.loc[::7, "town"] = None
    few = sensitivity(subject_of(frame), SensitivityOptions(bootstrap=100, material=1.02))
    assert few.verdict == "insufficient evidence"
    assert few.people_needed > 72
    assert f"{few.people_needed:,} people" in few.finding
    save_result(few, tmp_path, "x")
    assert load_result(type(few), tmp_path, "x").encoding == few.encoding, "a missing category too"


def test_two_logistic_regressions_say_who_is_close_to_one_half_and_get_no_verdict(audited_pair, audited):
    def ratio(found):
        p = found.people["score"]
        return found.people["sensitivity"] / (p * (1 - p))

    assert ratio(audited_pair).max() == pytest.approx(ratio(audited_pair).min(), rel=1e-9)
    assert (audited_pair.verdict, audited_pair.people_needed) == ("insufficient evidence", None)
    # unless asked otherwise the protected-status model is a network, and the slopes differ
    assert audited.status[0].kind == "network of 64 and 64 ReLU units"
    assert ratio(audited).max() > 1.5 * ratio(audited).min()
    assert audited.by_feature[0].feature == audited_pair.by_feature[0].feature == "height"
    assert sum(item.share.value for item in audited.by_feature) == pytest.approx(1)


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"protected": "grop"}, ("protected", "'grop'", "'group'")),
        ({"protected": ()}, ("protected",)),
        ({"gradient": "logits"}, ("sensitivity.gradient",)),
        ({"threshold": float("nan")}, ("sensitivity.threshold",)),
        ({"material": 1.0}, ("sensitivity.material",)),
    ],
)
def test_bad_options_are_named(logistic, options, refusal):
    with refused(*refusal):
        sensitivity(logistic, SensitivityOptions(**options))


def test_subjects_that_cannot_be_audited_say_why():
    lonely = people(200).assign(group=["a"] * 196 + ["b"] * 4, score=0.5)
    stored = subject_of(lonely)
    stored = make_subject(stored.data, model_spec({"predictions": {"score": "score"}}))
    for subject, *tells in (
        (stored, "model"),
        (subject_of(lonely), "protected", "10"),
        (subject_of(people(300), features=("group",)), "protected"),
    ):
        with refused(*tells):
            sensitivity(subject, SensitivityOptions())


def test_people_of_whom_all_are_alike_have_no_threshold_above():
    frame = people(300).assign(skill=1.0, height=170.0, town="north")
    found = sensitivity(subject_of(frame), SensitivityOptions(bootstrap=100))
    assert (found.verdict, found.judged.interval.value) == ("insufficient evidence", None)
    json.dumps(found.to_json(), allow_nan=False)
    for name in ("histogram", "groups", "features", "match_curves", "calibration"):
        assert alt_text(getattr(figures, name)(found))


@pytest.mark.parametrize("ends", [(11.0, 5.45, 21.0), (0.05, 0.0, 0.1), (1.05, 1.02, 1.09)])
def test_the_deciding_group_is_within_the_figure(audited, ends):
    """Of Adult's married people, 11 times as sensitive, dot and upper end lay beyond the axis."""
    ratio = Estimate(*ends, 100.0, "drawn")
    group = replace(audited.groups[0], ratio=ratio)
    told = replace(audited, groups=(group, audited.groups[1]), judged=replace(audited.judged, interval=ratio))
    figure = figures.groups(told)
    low, high = (10**end for end in figure.layout.xaxis.range)
    assert all(low * 0.999 <= end <= high for end in figure.data[0].x)
    assert low <= 0.8 < 1.25 <= high
    assert 1.0 in figure.layout.xaxis.tickvals


def test_max_people_draws_people_and_counts_who_is_left_out(logistic):
    counts = replace(logistic, data=replace(logistic.data, weights=1.0 + np.arange(logistic.data.n) % 7))
    found = sensitivity(counts, SensitivityOptions(max_people=100, bootstrap=100))
    assert found.people["people"].sum() == found.judged.interval.n == 100
    assert sum(found.rows["left_out"].values()) + len(found.people) == found.rows["audited"]


def test_threshold_and_flags_agree(audited):
    values, limit = audited.people["sensitivity"], audited.threshold
    assert limit.low < limit.value < limit.high
    assert (values > limit.value).sum() == audited.above
    assert audited.above <= 0.05 * len(values) < audited.above + 1
    assert audited.flagged.value == pytest.approx(audited.above / len(values))
    np.testing.assert_allclose(np.sum([*audited.histogram.groups.values()], axis=0), audited.histogram.people)
    assert sum(audited.histogram.people) == len(values)
