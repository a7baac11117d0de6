"""Columns of predictions as the model, and which way round a score counts."""

from __future__ import annotations

import numpy as np
import pytest

from audits.data import DataSpec, build_data
from audits.models import ModelSpec, Predictions, make_subject, model_facts
from tests.refused import refused


@pytest.fixture
def scored(people):
    """People with a risk score of 1 to 10 (higher is worse) and a predicted label."""
    risk = 1 + (80 - people["age"]) * 9 // 62
    return people.assign(risk=risk, predicted=np.where(people["age"] > 45, "yes", "no"))


def by_label(data, column="predicted"):
    return make_subject(data, ModelSpec(predictions=Predictions(label=column)))


def by_score(data, column="risk", higher_is="unfavorable", threshold=5):
    asked = Predictions(score=column, higher_is=higher_is)
    return make_subject(data, ModelSpec(predictions=asked), threshold=threshold)


def test_below_the_threshold_of_a_risk_score_is_favourable_and_at_it_is_not(make_data, scored):
    subject = by_score(make_data(scored))
    risk = subject.data.frame["risk"]
    assert (risk == 5).any(), "the tie must occur"
    np.testing.assert_array_equal(subject.decisions, risk < 5)
    np.testing.assert_array_equal(subject.scores, -risk)
    assert subject.rule == "favorable where the score is below 5"
    assert subject.threshold == 5.0


def test_a_missing_prediction_is_not_filled_in(scored):
    """By default the column is a feature like others until it is read as what a model said."""
    scored.loc[scored.index[:30], ["risk", "income"]] = None
    spec = DataSpec(label="hired", favorable=("yes",), protected=("sex",), missing="impute")
    data = build_data(scored, spec, decisions=["risk"])
    assert "risk" in data.features
    assert data.imputed == {"income": 30}
    with refused("model.predictions.score", "30 of 400"):
        by_score(data)


def test_a_predicted_label_decides_by_itself(make_data, scored):
    for favorable, expected in (("yes", scored["age"] > 45), ("no", scored["age"] <= 45)):
        subject = by_label(make_data(scored, favorable=favorable))
        np.testing.assert_array_equal(subject.decisions, expected)
        assert subject.rule.endswith(f" {favorable}")


@pytest.mark.parametrize("written", [[0.0, 1.0], ["0", "1"], [False, True]])
def test_predicted_labels_match_however_they_are_written(make_data, scored, written):
    hired = (scored["hired"] == "yes").astype(int)
    frame = scored.assign(hired=hired, predicted=np.array(written)[hired.to_numpy()])
    subject = by_label(make_data(frame, favorable=1))
    np.testing.assert_array_equal(subject.decisions, hired == 1)


def test_predictions_are_no_features_and_invent_nobody(make_data, scored):
    data = make_data(scored)
    assert "risk" in data.features
    subject = by_score(data)
    assert "risk" not in subject.data.features
    assert "risk" not in subject.space.columns
    assert subject.data.digest != data.digest
    assert not subject.model.invents
    moved = scored.assign(risk=scored["risk"].where(scored.index != 17, 3 + scored["risk"] % 2))
    others = (by_score(data, higher_is="favorable"), by_score(make_data(moved)))
    assert len({each.model.sha256 for each in (subject, by_score(data, threshold=4), *others)}) == 3
    assert any("'risk'" in note for note in subject.notes)
    with refused("model.predictions.score", "'risk'"):
        subject.favorable_score(data.frame.drop(columns="risk"))


def test_a_score_that_looks_wrong_is_told(make_data, scored):
    data = make_data(scored)
    told = {
        "higher_is": by_score(data, higher_is="favorable"),  # the wrong way round
        "1 to 10": by_score(data, threshold=0.5),  # a threshold that nobody is below
        "neither": by_score(data),
    }
    for word in ("higher_is", "1 to 10"):
        assert [name for name, one in told.items() if any(word in note for note in one.notes)] == [word]


def test_who_has_no_label_because_of_the_decision_is_decided_on_too(make_data, scored):
    known = scored["risk"] < 5
    subject = by_score(make_data(scored.assign(hired=scored["hired"].where(known))))
    assert subject.decisions.all(), "all who have a label"
    assert len(subject.everyone.decisions) == len(scored)
    assert subject.everyone.decisions.sum() == known.sum()
    facts = model_facts(subject)
    assert any(str((~known).sum()) in note for note in facts["notes"])
    assert facts["quality"]["accuracy"]["value"] is None  # it hangs on the decision who has a label
    some = scored.assign(hired=scored["hired"].where(scored.index % 3 > 0))
    quality = model_facts(by_score(make_data(some)))["quality"]
    assert quality["unlabeled"] == (scored.index % 3 == 0).sum()
    assert quality["accuracy"]["value"] is not None
    nobody = by_score(make_data(scored.drop(columns="hired"), label=None, favorable=None))
    np.testing.assert_array_equal(nobody.decisions, known)
    assert model_facts(nobody)["quality"] is None


def test_auditing_the_label_itself_is_told(make_data, scored):
    subject = by_label(make_data(scored), "hired")
    assert any("'hired'" in note for note in subject.notes)
    assert model_facts(subject)["quality"]["accuracy"]["value"] is None  # it would be 1, and no measure


def test_a_feature_that_tells_the_decision_is_named(make_data, scored):
    risk = scored["risk"]
    words = np.where(risk < 5, "low", np.where(risk < 8, "high", "very high"))
    asked = ((scored, ("income",)), (scored.assign(words=words), ("income", "words")))
    told = [model_facts(by_score(make_data(frame, features=features)))["notes"] for frame, features in asked]
    assert len(told[1]) == len(told[0]) + 1


@pytest.mark.parametrize(
    ("values", "ask", "refusal"),
    [
        ([np.nan, 1.0], by_score, ("score", "'column'", "1 of 400")),
        ([np.inf, 1.0], by_score, ("score", "1 of 400")),
        (["high", "low"], by_score, ("score", "'column'")),
        ([None, "yes"], by_label, ("label", "1 of 400")),
        (["maybe", "yes"], by_label, ("label", "'no'", "'yes'", "'column'")),
        (None, by_score, ("score", "'column'")),
    ],
)
def test_columns_that_are_no_predictions_are_refused(make_data, people, values, ask, refusal):
    first, others = values or (None, None)
    frame = people if values is None else people.assign(column=[first, *[others] * (len(people) - 1)])
    with refused(f"model.predictions.{refusal[0]}", *refusal[1:]):
        ask(make_data(frame, features=("age",)), "column")
