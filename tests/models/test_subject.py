"""Thresholds, the favorable score, facts about the model, and the models on real data."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest

from audits.data import FeatureSpace
from audits.errors import RunCancelled
from audits.models import ModelSpec, Predictions, Subject, make_subject, model_facts, model_spec
from audits.models.protocol import class_text, favorable_columns
from audits.models.thresholds import check_threshold, cuts
from tests.cases import cases
from tests.refused import refused

SCORED = ModelSpec(predictions=Predictions(score="income"))


@pytest.mark.parametrize("higher_is", ["favorable", "unfavorable"])
def test_thresholds_by_group_decide_each_group_and_turn_with_the_direction(data, higher_is):
    spec = ModelSpec(predictions=Predictions(score="income", higher_is=higher_is))
    subject = make_subject(data, spec, threshold={"sex": {"f": 45, "m": 55.5}})
    at, turned = (np.where(data.frame["sex"] == sex, 45, 55.5) for sex in ("f", "m"))
    above = higher_is == "favorable"
    np.testing.assert_array_equal(subject.decisions, (data.frame["income"] >= at) == above)
    assert [each for each in ("45 (sex f)", "55.5 (sex m)") if each not in subject.rule] == []
    swapped = data.groups.replace({"f": "m", "m": "f"})
    decided = subject.decide(subject.scores, swapped)
    np.testing.assert_array_equal(decided, (data.frame["income"] >= turned) == above)
    assert model_facts(subject)["quality"]["log_loss"] is None  # of a score on any scale


@pytest.mark.parametrize(
    ("threshold", "refusal"),
    [
        ({"sex": {"f": 0.5}}, ("threshold.sex", "'m'")),
        ({"sex": {}}, ("threshold.sex", "'f'", "'m'")),
        ({"gender": {"f": 0.5}}, ("threshold", "'gender'")),
        ({"sex": {"f": 0.5, "m": 0.5}, "job": {}}, ("threshold",)),
        (float("nan"), ("threshold",)),
    ],
)
def test_a_wrong_threshold_is_named(data, threshold, refusal):
    with refused(*refusal):
        make_subject(data, SCORED, threshold=threshold)


def test_a_threshold_lies_in_the_range_of_the_scores_and_its_groups_match_as_text(make_data, people):
    data = make_data(people, protected=("flag",), features=("age", "income"))
    assert check_threshold(55, data.groups, "number") == 55.0
    with refused("threshold", "55"):
        check_threshold(55, data.groups, "probability")
    with refused("threshold"):
        check_threshold(0, data.groups, "label")
    asked = {"flag": {0: 0.5, 1: 0.6}}
    assert check_threshold(asked, data.groups, "number") == {"flag": {"0": 0.5, "1": 0.6}}
    with refused("threshold.flag", "'other'"):
        cuts({"flag": {"0": 0.5}}, pd.DataFrame({"flag": ["0", "other"]}))


def test_a_group_only_among_the_trained_on_still_needs_no_luck(make_data, people):
    """A value that one person has needs a threshold whichever part of the split that person is in."""
    data, halves = make_data(people.assign(sex=["x", *people["sex"][1:]])), {"sex": {"f": 0.5, "m": 0.5}}
    for seed in range(3):
        with refused("threshold.sex", "'x'"):
            make_subject(data, ModelSpec(train="logistic"), threshold=halves, seed=seed)


class Fixed:
    """A model whose class probabilities are columns of the frame."""

    name, columns, classes, invents, sha256 = "fixed", ("p0", "p1", "p2"), ("b", "a", "c"), True, "0" * 64

    def score(self, frame):
        return frame[list(self.columns)].to_numpy()


def test_a_score_is_the_sum_of_the_favorable_classes_and_favorable_at_the_threshold(make_data):
    """1 - 0.9 is 0.09999999999999998, and 0.7 + 0.1 is 0.7999999999999999."""
    hundredths = np.arange(1, 100)
    frame = pd.DataFrame({"p0": 1.0 - hundredths / 100, "p1": hundredths / 200, "p2": hundredths / 200})
    frame = frame.assign(y=np.resize(["a", "b", "c"], 99), sex=np.resize(["f", "m"], 99))

    def subject(favorable):
        told = {"label": "y", "favorable": favorable, "features": ("p0",), "kinds": {"y": "categorical"}}
        data = make_data(frame, **told)
        return Subject(data, Fixed(), 0.5, FeatureSpace.fit(data))

    for favorable, columns in ((("a",), ["p1"]), (("b", "c"), ["p0", "p2"]), (("a", "c"), ["p1", "p2"])):
        np.testing.assert_allclose(subject(favorable).scores, frame[columns].sum(axis=1), atol=1e-12)
    first = subject(("b",))
    for cut in range(1, 100):
        at = dataclasses.replace(first, threshold=cut / 100)
        np.testing.assert_array_equal(at.decisions, 100 - hundredths >= cut)
    tiny = pd.DataFrame({"p0": [1e-17, 1 - 1e-16], "p1": [1.0, 1e-16], "p2": [0.0, 0.0]})
    np.testing.assert_array_equal(first.favorable_score(tiny), tiny["p0"])


@pytest.mark.parametrize(
    ("classes", "favorable", "labels", "refusal"),
    [
        ((0, 1), (1,), (1, 2), ("model.classes",)),
        ((0, 1), ("yes",), (), ("model.classes", "'yes'")),
        ((0, 1), (), (0, 1), ("data.favorable",)),
        ((0, 1), (0, 1), (0, 1), ("data.favorable",)),
    ],
)
def test_classes_that_do_not_fit_the_label_are_refused(classes, favorable, labels, refusal):
    """German credit's 1 and 2 must not pass for a model's 0 and 1 because they share a 1."""
    with refused(*refusal):
        favorable_columns(classes, favorable, labels, "m")
    assert favorable_columns((0, 1), ("1.0",), ("0.0", "1.0"), "m").tolist() == [False, True]


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, "1", True), (1, 1.0, True), (1, True, True), ("True", 1, True), (np.int64(3), "3.0", True),
        (np.bool_(False), "0", True), (">50K", " >50K ", True), ("A91", "a91", False), (1, 1.5, False),
        ("1_0", 10, False), ("nan", float("nan"), True), ("12345678901234567", "12345678901234568", False),
        (b"yes", "yes", True), ("1e3", 1000, True), ("yes", True, False), (2**60 + 1, float(2**60), False),
    ],
)  # fmt: skip
def test_label_values_are_compared_as_text(left, right, same):
    assert (class_text(left) == class_text(right)) is same


@pytest.mark.parametrize(("section", "refusal"), cases(__file__, "refused_models.yaml"))
def test_a_wrong_model_section_is_one_sentence(section, refusal):
    with refused(*refusal) as caught:
        model_spec(section)
    assert "\n" not in str(caught.value)


def test_a_model_file_is_looked_up_beside_the_spec(data, tmp_path):
    with refused("model.path", "'m.onnx'"):
        make_subject(data, ModelSpec(path="m.onnx"), base_dir=tmp_path)
    (tmp_path / "folder.onnx").mkdir()
    with refused("model.path"):
        make_subject(data, ModelSpec(path="folder.onnx"), base_dir=tmp_path)


def test_facts_are_plain_and_hold_what_a_page_shows(data):
    subject = make_subject(data, ModelSpec(train="logistic"), threshold={"sex": {"f": 0.5, "m": 0.4}})
    facts = model_facts(subject)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["trained_on"] + facts["audited"] == data.n
    assert facts["threshold"] == {"sex": {"f": 0.5, "m": 0.4}}
    right = int((subject.decisions == subject.data.y).sum())
    assert facts["quality"]["accuracy"]["value"] == pytest.approx(right / subject.data.n)
    for name in ("accuracy", "auc", "log_loss"):
        estimate = facts["quality"][name]
        assert set(estimate) == {"value", "low", "high", "n", "method"}
        assert estimate["low"] < estimate["value"] < estimate["high"]
        assert estimate["n"] == subject.data.n


def test_progress_rises_to_one_and_cancels(data):
    told = []
    make_subject(data, ModelSpec(train="mlp"), progress=lambda fraction, doing: told.append(fraction))
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)

    def cancel(fraction, doing):
        if doing.lower().startswith("training"):
            raise RunCancelled

    with pytest.raises(RunCancelled):
        make_subject(data, ModelSpec(train="mlp"), progress=cancel)
