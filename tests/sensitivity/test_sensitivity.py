"""The audit as a whole: known truths, options, models without gradient, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from audits.data import DataSpec, build_data
from audits.drawing.style import alt_text
from audits.models import make_subject, model_spec
from audits.results import load_result, save_result
from audits.runs.registry import AUDITS
from audits.sensitivity import SensitivityOptions, figures, sensitivity
from audits.sensitivity.match_sets.counterfactual_model import augment
from audits.sensitivity.match_sets.sets import QUANTILES
from audits.stats.text import number
from tests.refused import refused
from tests.sensitivity.conftest import people, subject_of


def test_a_logistic_pair_equals_the_formula_on_raw_coefficients(logistic, audited_pair):
    p, space = logistic.scores, logistic.space
    z = space.encode(logistic.data.frame)
    # F's coefficients by least squares on its own log-odds, A's from the stored weights
    f = np.linalg.lstsq(np.column_stack([z, np.ones(len(z))]), np.log(p / (1 - p)), rcond=None)[0][:-1]
    table = audited_pair.parameters
    a = table[table["array"] == "A:group.weight.0"]["value"].to_numpy()
    at = [space.blocks[name].start for name in ("skill", "height")]
    by_hand = p * (1 - p) * np.abs(f[at] * a[at]).T[:, None]
    found = audited_pair.contributions[["skill", "height"]].to_numpy().T
    np.testing.assert_allclose(found, by_hand, rtol=1e-8)


def test_what_tells_the_groups_apart_leads(audited, audited_pair):
    assert audited.by_feature[0].feature == audited_pair.by_feature[0].feature == "height"
    # between two linear models every person has the same shares
    first = audited_pair.by_feature[0].share
    assert 0.5 < first.low == first.value == first.high
    shares = [item.share.value for item in audited.by_feature]
    assert sum(shares) == pytest.approx(1)
    assert audited.status[0].auc.low > 0.8
    assert audited.status[0].reads == ("height", "skill", "town")
    assert not audited.status[0].given_protected


def test_threshold_and_flags_agree(audited):
    values = audited.people["sensitivity"]
    assert audited.threshold.low < audited.threshold.value < audited.threshold.high
    assert (values > audited.threshold.value).sum() == audited.above
    assert audited.above <= 0.05 * len(values) < audited.above + 1
    assert audited.flagged.value == pytest.approx(audited.above / len(values))
    limits = audited.threshold
    at, low, high = (number(each) for each in (limits.value, limits.low, limits.high))
    assert f"{at} ({low}–{high})" in audited.finding
    assert sum(audited.histogram.people) == len(values)
    by_group = np.sum(list(audited.histogram.groups.values()), axis=0)
    np.testing.assert_allclose(by_group, audited.histogram.people)


def test_the_protected_column_is_read_only_when_asked(fed, audited_fed):
    kept = sensitivity(fed, SensitivityOptions(bootstrap=100, match_set="off"))
    assert kept.status[0].reads == ("height", "skill", "town")
    assert any("group" in warning for warning in kept.warnings)
    assert kept.contributions["group"].eq(0).all()
    assert audited_fed.status[0].given_protected
    assert audited_fed.status[0].auc.value > 0.99
    assert audited_fed.warnings
    assert audited_fed.contributions["group"].gt(0).any()


def test_the_literal_form_warns_and_falls_to_nothing(fed, audited_fed):
    literal = sensitivity(
        fed, SensitivityOptions(give_protected=True, gradient="literal", bootstrap=100, match_set="off")
    )
    assert any("Definition 3.1" in warning for warning in literal.warnings)
    assert literal.baseline.mean.value < 0.1 * audited_fed.baseline.mean.value


def test_a_match_set_stands_beside_its_rivals(audited_fed, audited):
    found = audited_fed.match_set
    assert [curve.name for curve in found.curves] == ["sensitivity", "gradient", "boundary"]
    document = audited_fed.to_json()["match_set"]
    assert document["auc"]["value"] == found.curves[0].auc.value
    assert found.by_chance.value == 0  # a logistic regression trained again is the same
    assert audited.match_set is None
    assert audited.match_set_note


def test_both_sides_of_the_match_set_and_the_twins_decisions_are_kept(audited_fed, fed):
    """Figures 4a, 5 and 6, each against the people's table; so can the area be."""
    found, people = audited_fed.match_set, audited_fed.people
    otherwise = (people["twin_decision"] != people["decision"]).to_numpy()
    assert found.mismatched.value == pytest.approx(otherwise.mean())
    assert roc_auc_score(otherwise, people["sensitivity"]) == pytest.approx(found.auc.value)
    assert (people["anew_decision"] == people["decision"]).all()
    for side, here in zip(found.sides, (~otherwise, otherwise), strict=True):
        own = people["sensitivity"][here]
        assert side.mean.value == pytest.approx(own.mean())
        assert side.mean.n == here.sum()
        ranked = np.sort(own.to_numpy())
        at = np.ceil(np.array(QUANTILES) * len(ranked) - 1e-9).astype(int) - 1
        assert side.quantiles == pytest.approx(ranked[at])
    assert found.sides[1].mean.value > found.sides[0].mean.value  # Figure 6: higher outside
    gaps = {(row.metric, row.model): row.difference.value for row in found.metrics}
    groups, y = fed.data.groups["group"].to_numpy(), np.asarray(fed.data.y)
    for metric, among in (("selection rate", y | ~y), ("true positive rate", y), ("false positive rate", ~y)):
        for model, column in (("audited", "decision"), ("augmented", "twin_decision")):
            rates = people[column][among].groupby(groups[among]).mean()
            assert gaps[metric, model] == pytest.approx(rates.max() - rates.min())
    # Figure 5: b are taller, which helps, and marked down for their group; the twin takes away the mark alone
    lead = [np.diff(people[name].groupby(groups).mean()).item() for name in ("decision", "twin_decision")]
    assert lead[1] > lead[0]
    keys = {exhibit.key for exhibit in AUDITS["sensitivity"].section(audited_fed).exhibits}
    assert {"match_sides", "twin_metrics"} <= keys
    assert alt_text(figures.match_sides(audited_fed))
    assert "augmented" in alt_text(figures.twin_metrics(audited_fed))


def test_copies_differ_in_the_protected_column_alone(fed):
    training = fed.training
    doubled = augment(training, ("group",))
    assert doubled.n == 2 * training.n
    first, second = doubled.frame.iloc[: training.n], doubled.frame.iloc[training.n :].sort_index()
    assert (doubled.frame["group"].value_counts() == training.n).all()
    ordered = first.sort_index()
    assert (ordered["group"] != second["group"]).all()
    pd.testing.assert_frame_equal(ordered.drop(columns="group"), second.drop(columns="group"))
    assert doubled.y.mean() == pytest.approx(training.y.mean())
    assert (doubled.groups["group"].to_numpy() == doubled.frame["group"].to_numpy()).all()


@pytest.mark.parametrize("train", ["boosting", "mlp"])
def test_finite_differences_agree_with_gradients_or_say_what_they_are(train: str):
    subject = subject_of(people(900), train)
    found = sensitivity(subject, SensitivityOptions(bootstrap=100, match_set="off", status_model="logistic"))
    assert found.estimated == (train == "boosting")
    assert found.by_feature[0].feature == "height"


def test_finite_differences_of_a_logistic_model_equal_its_gradient(logistic):
    from audits.sensitivity.measurement.blackbox import measure_blackbox
    from audits.sensitivity.measurement.gradients import AuditedModel, measure
    from audits.sensitivity.measurement.status_models import train_status

    space, data = logistic.space, logistic.data
    z = space.encode(data.frame)
    rng = np.random.default_rng(0)
    status = train_status(logistic.training, space, "group", (), unseen=("group",), rng=rng)
    from audits.models.networks.dense import dense_of
    from audits.models.networks.gradients import logits_over

    audited = AuditedModel(dense_of(logits_over(logistic.model, space, data.frame)))
    blocks = [space.blocks[name] for name in space.columns]
    exact = measure(z, audited, [status], blocks)
    rough = measure_blackbox(
        data.frame, z, logistic.favorable_score, logistic.model.columns, [status], space, step=0.02
    )
    for name in ("skill", "height"):
        place = space.columns.index(name)
        a, b = exact.contributions[:, place], rough.contributions[:, place]
        inner = (z[:, space.blocks[name].start] > z[:, space.blocks[name].start].min() + 0.3) & (
            z[:, space.blocks[name].start] < z[:, space.blocks[name].start].max() - 0.3
        )
        # height moves by whole centimetres, a tenth of a deviation: a curvature of 1e-3
        np.testing.assert_allclose(a[inner], b[inner], rtol=5e-3)


def test_swaps_by_hand():
    from audits.models.networks.dense import Dense
    from audits.sensitivity.measurement.blackbox import measure_blackbox
    from audits.sensitivity.measurement.gradients import Status

    frame = pd.DataFrame({"town": ["n", "n", "s", "w"], "g": ["a", "b", "a", "b"]})
    data = build_data(frame, DataSpec(protected=("g",), features=("town",)))
    from audits.data import FeatureSpace

    space = FeatureSpace.fit(data)
    chances = {"n": 0.1, "s": 0.3, "w": 0.6}
    status = Status("g", ("a", "b"), Dense((np.array([[2.0], [0.0], [-4.0]]),), (np.zeros(1),)))
    found = measure_blackbox(
        data.frame,
        space.encode(data.frame),
        lambda rows: rows["town"].map(chances).to_numpy(dtype=float),
        ("town",),
        [status],
        space,
        step=0.1,
    )
    # A's log-odds: n 1, s 0, w -2. Person 1 (n): others s and w, one person each: (.2 * 1 + .5 * 3) / 2
    assert found.sensitivity[0] == pytest.approx((0.2 * 1 + 0.5 * 3) / 2)
    # person 3 (s): others n (two people) and w (one)
    assert found.sensitivity[2] == pytest.approx((2 * 0.2 * 1 + 1 * 0.3 * 2) / 3)


def test_weights_count_as_rows():
    frame = people(700)
    frame["count"] = np.random.default_rng(0).integers(1, 4, 700)
    subject = subject_of(frame, weights="count")
    weighted = sensitivity(subject, SensitivityOptions(bootstrap=100))
    # people are held out, not rows: some of a row's people taught the model
    assert weighted.baseline.mean.n == subject.data.weights.sum()
    assert weighted.baseline.mean.n == pytest.approx(0.3 * frame["count"].sum(), abs=2)
    assert weighted.flagged.n > weighted.rows["used"]
    assert sum(weighted.histogram.people) == pytest.approx(weighted.flagged.n)


def test_three_groups_and_two_attributes():
    frame = people(1500)
    rng = np.random.default_rng(1)
    frame["region"] = np.where(frame["town"] == "west", "W", np.where(rng.random(1500) < 0.5, "X", "Y"))
    subject = subject_of(frame, protected=("group", "region"))
    found = sensitivity(subject, SensitivityOptions(bootstrap=100, status_model="network"))
    assert [status.attribute for status in found.status] == ["group", "region"]
    assert [item.group for item in found.status[1].groups] == ["W", "X", "Y"]
    assert len(found.groups) == 5
    apart = {item.group: item.auc.value for item in found.status[1].groups}
    assert apart["W"] > 0.95  # the town gives it away; X and Y are a coin
    assert abs(apart["X"] - 0.7) < 0.15


def test_a_brought_model_teaches_a_on_half_the_people():
    samples = Path(__file__).resolve().parents[2] / "sample_data"
    frame = pd.read_csv(samples / "hiring.csv")
    data = build_data(
        frame,
        DataSpec(
            label="qualified", favorable=1, protected=("gender",), features=("work_years", "hair_length")
        ),
    )
    subject = make_subject(data, model_spec({"path": str(samples / "hiring.onnx")}))
    found = sensitivity(subject, SensitivityOptions(bootstrap=100))
    assert not found.estimated, "its file is a logistic regression: exact gradients"
    assert found.rows["left_out"] == {"rows that the protected-status model learned from": 1000}
    assert found.rows["used"] + 1000 == found.rows["audited"] == 2000
    assert found.match_set_note
    # hair alone tells the genders in truth (work differs by 6 of 5 deviations): both lead
    assert found.status[0].auc.low > 0.7


def test_few_people_settle_nothing_and_are_told_how_many_would():
    few = sensitivity(subject_of(people(240, seed=3)), SensitivityOptions(bootstrap=100, material=1.02))
    assert few.verdict == "insufficient evidence"
    assert few.people_needed > 72
    assert f"{few.people_needed:,} people" in few.finding


def test_two_logistic_regressions_say_who_is_close_to_one_half_and_get_no_verdict(audited_pair, audited):
    found = audited_pair
    p = found.people["score"]
    ratio = found.people["sensitivity"] / (p * (1 - p))
    assert ratio.max() == pytest.approx(ratio.min(), rel=1e-9)
    assert (found.verdict, found.people_needed) == ("insufficient evidence", None)
    # unless asked otherwise the protected-status model is a network, and the slopes differ
    assert audited.status[0].kind == "network of 64 and 64 ReLU units"
    p = audited.people["score"]
    ratio = audited.people["sensitivity"] / (p * (1 - p))
    assert ratio.max() > 1.5 * ratio.min()


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"protected": "grop"}, ("protected", "'grop'", "'group'")),
        ({"protected": ()}, ("protected",)),
        ({"false_alarm_rate": 0}, ("sensitivity.false_alarm_rate",)),
        ({"threshold": float("nan")}, ("sensitivity.threshold",)),
        ({"gradient": "logits"}, ("sensitivity.gradient",)),
        ({"material": 1.0}, ("sensitivity.material",)),
    ],
)
def test_bad_options_are_named(logistic, options, refusal):
    with refused(*refusal):
        sensitivity(logistic, SensitivityOptions(**options))


def test_subjects_that_cannot_be_audited_say_why():
    frame = people(200).assign(score=0.5)
    data = build_data(frame, DataSpec(label="hired", favorable=1, protected=("group",), features=("skill",)))
    column = make_subject(data, model_spec({"predictions": {"score": "score"}}))
    with refused("model"):
        sensitivity(column, SensitivityOptions())
    lonely = people(200)
    lonely["group"] = ["a"] * 196 + ["b"] * 4
    with refused("protected", "10"):
        sensitivity(subject_of(lonely), SensitivityOptions())
    only = subject_of(people(300), features=("group",))
    with refused("protected"):
        sensitivity(only, SensitivityOptions())


def test_people_of_whom_all_are_alike_have_no_threshold_above():
    frame = people(300)
    frame["skill"], frame["height"], frame["town"] = 1.0, 170.0, "north"
    found = sensitivity(subject_of(frame), SensitivityOptions(bootstrap=100))
    assert found.above == 0
    assert (found.verdict, found.judged.interval.value) == ("insufficient evidence", None)
    json.dumps(found.to_json(), allow_nan=False)
    for draw in (
        figures.histogram,
        figures.groups,
        figures.features,
        figures.match_curves,
        figures.calibration,
    ):
        assert alt_text(draw(found))


def test_max_people_counts_who_is_left_out(logistic):
    found = sensitivity(logistic, SensitivityOptions(max_people=100, bootstrap=100))
    assert found.rows["used"] == len(found.people) == 100
    assert sum(found.rows["left_out"].values()) + 100 == found.rows["audited"]


def test_missing_categories_survive_the_store(tmp_path: Path):
    frame = people(300)
    frame.loc[::7, "town"] = None
    result = sensitivity(subject_of(frame), SensitivityOptions(protected="group"))
    save_result(result, tmp_path, "x")
    assert load_result(type(result), tmp_path, "x").encoding == result.encoding
