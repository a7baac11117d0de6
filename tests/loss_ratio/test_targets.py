"""Labels of several classes and cut from a number, by gradient, by scoring alone, and across split points."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data, data_spec
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.loss_ratio.attack.search import black_box_flow, crossing_values
from audits.loss_ratio.attack.targets import target_of
from audits.loss_ratio.metrics.distances import FairMetrics, projection_metric
from audits.models import ModelSpec, Subject, make_subject, model_spec
from tests.loss_ratio.conftest import people
from tests.refused import refused

GRADES = ("high", "low", "middle")


def workers(n: int = 400) -> pd.DataFrame:
    """`hair` traces the group and lowers pay; `grade` is pay in three levels."""
    frame = people(n)
    pay = 30 + 4 * frame["skill"] - 3 * frame["hair"] + 2 * (frame["job"] == "judge")
    frame["pay"] = (pay + np.random.default_rng(1).normal(size=n)).round(2)
    frame["grade"] = np.select([frame["pay"] <= 25, frame["pay"] <= 32], ["low", "middle"], "high")
    return frame


def subject_of(kind: str, label: object, frame: pd.DataFrame | None = None, **more: object) -> Subject:
    section = {"label": label, "protected": ["sex"], "features": ["hair", "skill", "job"], **more}
    section |= {"favorable": ["high", "middle"]} if label == "grade" else {}
    data = build_data(workers() if frame is None else frame, data_spec(section))
    return make_subject(data, model_spec({"train": kind, "predict": "label"}), test_size=0.5)


PAY = {"column": "pay", "at_least": 30}
HAIR = {"metric": "expert", "free_features": ["hair"]}


def test_classes_by_gradient():
    subject = subject_of("mlp", "grade")
    result = loss_ratio(subject, LossRatioOptions(**HAIR, steps=200))
    assert result.method == "gradient flow, exact gradients"
    p = subject.model.score(subject.data.frame)
    own = subject.data.frame["grade"].map({name: k for k, name in enumerate(GRADES)}).to_numpy()
    assert subject.model.classes == GRADES
    np.testing.assert_allclose(result.people["loss"], -np.log(p[np.arange(len(p)), own]), rtol=1e-5)
    np.testing.assert_array_equal(result.people["wrong"], p.argmax(1) != own)
    np.testing.assert_allclose(result.people["score"], p[:, [0, 2]].sum(1), rtol=1e-5)
    assert (result.people["predicted"] == np.array(GRADES)[p.argmax(1)]).all()
    assert (result.people["label"] == subject.data.frame["grade"]).all()
    assert result.options["loss"] == "cross_entropy"
    assert result.reject  # hair lowers pay


def test_a_number_by_gradient():
    subject = subject_of("logistic", PAY)
    result = loss_ratio(subject, LossRatioOptions(**HAIR))
    frame = subject.data.frame
    assert result.options["loss"] == "squared"
    # with the 500 of probabilities the error would explode
    assert result.options["steps"] == 100
    assert any("100 steps" in warning for warning in result.warnings)
    assert result.method == "gradient flow, exact gradients"
    predicted = subject.model.number(frame)
    assert np.corrcoef(predicted, frame["pay"])[0, 1] > 0.9
    loss = np.square((predicted - frame["pay"]) / frame["pay"].std(ddof=0))
    np.testing.assert_allclose(result.people["loss"], loss, rtol=1e-4, atol=1e-7)
    np.testing.assert_allclose(result.people["label"], frame["pay"])
    np.testing.assert_allclose(result.people["predicted"], predicted, rtol=1e-6)
    np.testing.assert_array_equal(result.people["wrong"], (predicted >= 30) != (frame["pay"] >= 30))
    # a squared error passes through 0, so losses count from a hundredth of the label's variance on
    floored = np.maximum(result.people["loss after"], 0.01) / np.maximum(result.people["loss"], 0.01)
    np.testing.assert_allclose(result.people["ratio"], floored)
    assert any("0.01" in warning for warning in result.warnings)
    assert result.reject


@pytest.mark.parametrize("side", ["at_most", "below", "above"])
def test_the_side_of_the_cut_decides(side):
    good = {"at_most": np.less_equal, "below": np.less, "above": np.greater}[side]
    frame = workers().round({"pay": 0})
    frame.loc[:20, "pay"] = 30.0
    subject = subject_of("logistic", {"column": "pay", side: 30}, frame)
    people = loss_ratio(subject, LossRatioOptions(**HAIR, steps=20)).people
    predicted, pay = people["predicted"], people["label"]
    np.testing.assert_array_equal(subject.data.y, good(pay, 30))
    np.testing.assert_array_equal(people["wrong"], good(predicted, 30) != good(pay, 30))
    # a number exactly at the cut is decided like a label there
    edge = np.array([30.0]) * subject.model.sign
    assert subject.decide(edge, subject.data.groups.iloc[:1])[0] == good(30.0, 30)


def test_what_does_not_fit_is_refused_in_words():
    rare = workers()
    rare["grade"] = rare["grade"].where(rare.index != 7, "top")
    skills, compare = {"features": ["pay", "skill"]}, {"steps": 1, "compare": ["mlp"]}
    with refused("loss", "'squared'"):
        loss_ratio(subject_of("logistic", PAY), LossRatioOptions(**HAIR, loss="cross_entropy"))
    with refused("compare"):
        loss_ratio(subject_of("logistic", "grade"), LossRatioOptions(**HAIR, **compare))
    with refused("threshold"):
        make_subject(
            subject_of("mlp", PAY).data, model_spec({"train": "mlp", "predict": "label"}), threshold=1
        )
    with refused("data.features"):
        subject_of("logistic", PAY, **skills)
    with refused("data.label", "'top'"):
        subject_of("logistic", "grade", rare)
    for model in ({"train": "sensr"}, {"predictions": {"score": "pay"}}):
        with refused("model.predict"):
            model_spec({**model, "predict": "label"})


def test_scoring_alone_comes_near_the_gradient_for_a_number():
    """The estimate against the exact flow of the same linear model, for people away from the edges."""
    subject = subject_of("logistic", PAY, workers(300))
    exact = loss_ratio(subject, LossRatioOptions(**HAIR, steps=20, loss_floor=0.0)).people
    metrics = FairMetrics.of(projection_metric(np.eye(4)[:1], "hair"), subject.data.n)
    target, table = target_of(subject, subject.data, None), (subject.data.frame, subject.space)
    flow = black_box_flow(target, *table, metrics, regularizer=50.0, steps=20, step_size=0.01).flow
    inside = np.abs(subject.space.encode(subject.data.frame)[:, 0]) < 1.5
    still = inside & (flow.distance < 1e-2)  # nobody's job was changed
    assert still.sum() > 70
    gained, expected = flow.after - flow.before, exact["loss after"] - exact["loss"]
    np.testing.assert_allclose(gained[still], expected[still], rtol=0.1, atol=0.01)


def test_between_split_points_nothing_changes_and_every_stretch_is_tried(tmp_path):
    """Hair tells the sex; only a narrow stretch of it is hired."""
    library, rng = pytest.importorskip("xgboost"), np.random.default_rng(0)
    sex = np.where(rng.random(240) < 0.5, "f", "m")
    hair = rng.normal(size=240).round(4) + 1.5 * (sex == "f")
    crowd = pd.DataFrame({"hair": hair, "skill": rng.normal(size=240).round(4), "sex": sex})
    crowd["hired"] = np.where((hair > 0.3) & (hair < 0.5), "yes", "no")
    x, y = crowd[["hair", "skill"]], (crowd["hired"] == "yes").astype(int)
    library.XGBClassifier(n_estimators=20, n_jobs=1).fit(x, y).save_model(tmp_path / "m.ubj")
    spec = DataSpec(label="hired", favorable=("yes",), protected=("sex",), features=("hair", "skill"))
    subject = make_subject(build_data(crowd, spec), ModelSpec(path=str(tmp_path / "m.ubj")))
    part = next(each for each in subject.space.parts if each.column == "hair")
    edges = subject.splits["hair"]
    tried = crossing_values(part, {"hair": edges[:30]})
    assert np.unique(np.searchsorted(edges[:30], tried)).size == len(edges[:30]) + 1
    asked = LossRatioOptions(**HAIR, steps=6, step_size=0.05, max_people=40)
    found = loss_ratio(subject, asked, rng=0)
    hidden = subject.model.source.opened
    object.__setattr__(hidden, "splits", lambda: None)  # as a model that does not tell them
    object.__setattr__(hidden, "model", None)
    blind = loss_ratio(dataclasses.replace(subject), asked, rng=0)
    assert blind.method != found.method
    assert found.statistic.value > blind.statistic.value
