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


def by_score(data, column="risk", higher_is="unfavorable", **options):
    return make_subject(
        data, ModelSpec(predictions=Predictions(score=column, higher_is=higher_is)), **options
    )


def test_below_the_threshold_of_a_risk_score_is_favourable_and_at_it_is_not(make_data, scored):
    subject = by_score(make_data(scored), threshold=5)
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
        by_score(data, threshold=5)


def test_a_predicted_label_decides_by_itself(make_data, scored):
    for favorable, expected in (("yes", scored["age"] > 45), ("no", scored["age"] <= 45)):
        data = make_data(scored, favorable=favorable)
        subject = make_subject(data, ModelSpec(predictions=Predictions(label="predicted")))
        np.testing.assert_array_equal(subject.decisions, expected)
        assert subject.rule.endswith(f" {favorable}")


@pytest.mark.parametrize("written", [[0, 1], [0.0, 1.0], ["0", "1"], [False, True], ["0.0", "1.0"]])
def test_predicted_labels_match_however_they_are_written(make_data, scored, written):
    hired = (scored["hired"] == "yes").astype(int)
    frame = scored.assign(hired=hired, predicted=np.array(written)[hired.to_numpy()])
    subject = make_subject(
        make_data(frame, favorable=1), ModelSpec(predictions=Predictions(label="predicted"))
    )
    np.testing.assert_array_equal(subject.decisions, hired == 1)


def test_predictions_are_no_features_and_invent_nobody(make_data, scored):
    data = make_data(scored)
    assert "risk" in data.features
    subject = by_score(data, threshold=5)
    assert "risk" not in subject.data.features
    assert "risk" not in subject.space.columns
    assert subject.data.digest != data.digest
    assert not subject.model.invents
    assert any("'risk'" in note for note in subject.notes)
    with refused("model.predictions.score", "'risk'"):
        subject.favorable_score(data.frame.drop(columns="risk"))


def test_a_score_the_wrong_way_round_is_told(make_data, scored):
    wrong = by_score(make_data(scored), higher_is="favorable", threshold=5)
    assert any("higher_is" in note for note in wrong.notes)
    right = by_score(make_data(scored), threshold=5)
    assert not any("higher_is" in note for note in right.notes)


def test_a_threshold_outside_the_scores_is_told(make_data, scored):
    subject = by_score(make_data(scored), threshold=0.5)
    assert any("1 to 10" in note for note in subject.notes)


def test_who_has_no_label_because_of_the_decision_is_decided_on_too(make_data, scored):
    known = scored["risk"] < 5
    frame = scored.astype({"hired": object})
    frame.loc[~known, "hired"] = None
    subject = by_score(make_data(frame), threshold=5)
    assert subject.decisions.all(), "all who have a label"
    assert len(subject.everyone.decisions) == len(frame)
    assert subject.everyone.decisions.sum() == known.sum()
    assert any(str((~known).sum()) in note for note in model_facts(subject)["notes"])


def test_auditing_the_label_itself_is_told(make_data, scored):
    subject = make_subject(make_data(scored), ModelSpec(predictions=Predictions(label="hired")))
    assert any("'hired'" in note for note in subject.notes)
    assert model_facts(subject)["quality"]["accuracy"]["value"] is None  # it would be 1, and no measure


def test_accuracy_is_of_those_whose_label_is_known_and_none_where_that_hangs_on_the_decision(
    make_data, scored
):
    spec = ModelSpec(predictions=Predictions(score="risk", higher_is="unfavorable"))
    some = scored.assign(hired=scored["hired"].where(scored.index % 3 > 0))
    quality = model_facts(make_subject(make_data(some), spec, threshold=5))["quality"]
    assert quality["unlabeled"] == (scored.index % 3 == 0).sum()
    assert quality["accuracy"]["value"] is not None
    hanging = scored.assign(hired=scored["hired"].where(scored["risk"] < 5))
    quality = model_facts(make_subject(make_data(hanging), spec, threshold=5))["quality"]
    assert quality["accuracy"]["value"] is None


def test_a_feature_that_tells_the_decision_is_named(make_data, scored):
    risk = scored["risk"]
    words = np.where(risk < 5, "low", np.where(risk < 8, "high", "very high"))
    spec = ModelSpec(predictions=Predictions(score="risk", higher_is="unfavorable"))
    notes = [
        len(model_facts(make_subject(make_data(frame, features=features), spec, threshold=5))["notes"])
        for frame, features in ((scored, ("income",)), (scored.assign(words=words), ("income", "words")))
    ]
    assert notes[1] == notes[0] + 1


def test_without_a_label_decisions_can_still_be_audited(make_data, scored):
    data = make_data(scored.drop(columns="hired"), label=None, favorable=None)
    subject = by_score(data, threshold=5)
    np.testing.assert_array_equal(subject.decisions, scored["risk"] < 5)
    assert model_facts(subject)["quality"] is None


def test_digests_follow_the_column_its_values_and_its_direction(make_data, scored):
    digest = by_score(make_data(scored), threshold=5).model.sha256
    assert by_score(make_data(scored), threshold=4).model.sha256 == digest
    assert by_score(make_data(scored), threshold=5, higher_is="favorable").model.sha256 != digest
    changed = scored.assign(risk=scored["risk"].where(scored.index != 17, 3 + scored["risk"] % 2))
    assert by_score(make_data(changed), threshold=5).model.sha256 != digest


# ---- what is refused


def test_missing_scores_are_counted(make_data, scored):
    frame = scored.astype({"risk": float})
    frame.loc[[2, 8], "risk"] = np.nan
    data = make_data(frame, features=("age",))
    with refused("model.predictions.score", "'risk'", "400"):
        by_score(data, threshold=5)
    frame.loc[[2, 8], "risk"] = [np.inf, 3.0]
    with refused("model.predictions.score", "400"):
        by_score(make_data(frame, features=("age",)), threshold=5)


def test_missing_labels_are_counted(make_data, scored):
    frame = scored.astype({"predicted": object})
    frame.loc[3, "predicted"] = None
    data = make_data(frame, features=("age",))
    with refused("model.predictions.label", "400"):
        make_subject(data, ModelSpec(predictions=Predictions(label="predicted")))


def test_text_is_no_score_and_strange_values_are_no_labels(make_data, scored):
    with refused("model.predictions.score", "'job'"):
        by_score(make_data(scored), "job", threshold=5)
    with refused("model.predictions.label", "'no'", "'yes'", "'job'"):
        make_subject(make_data(scored), ModelSpec(predictions=Predictions(label="job")))


def test_an_absent_column_is_named_with_the_nearest(make_data, scored):
    with refused("model.predictions.score", "'rsik'", "'risk'"):
        by_score(make_data(scored), "rsik", threshold=5)
