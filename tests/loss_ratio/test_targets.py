"""Labels of several classes and labels cut from a number: trained here, brought as ONNX, or any callable."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.loss_ratio.attack.search import black_box_flow
from audits.loss_ratio.attack.targets import target_of
from audits.loss_ratio.metrics.distances import FairMetrics, projection_metric
from audits.models import Subject, make_subject, model_spec
from tests.refused import refused

GRADES = ("high", "low", "middle")


def workers(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """`hair` traces the group and lowers pay; `grade` is pay in three levels."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    frame = pd.DataFrame({"hair": 1.5 * sex + rng.normal(size=n), "skill": rng.normal(size=n)})
    frame["job"] = rng.choice(["cook", "judge"], n)
    frame["sex"] = np.where(sex == 1, "f", "m")
    pay = 30 + 4 * frame["skill"] - 3 * frame["hair"] + 2 * (frame["job"] == "judge") + rng.normal(size=n)
    frame["pay"] = pay.round(2)
    frame["grade"] = pd.cut(frame["pay"], [-np.inf, 25, 32, np.inf], labels=["low", "middle", "high"]).astype(
        str
    )
    return frame.set_index(pd.RangeIndex(1, n + 1, name="row"))


def subject_of(kind: str, label: object, frame: pd.DataFrame | None = None, **more: object) -> Subject:
    section = {
        "label": label,
        "protected": ["sex"],
        "features": ["hair", "skill", "job"],
        **({"favorable": ["high", "middle"]} if label == "grade" else {}),
        **more,
    }
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


@pytest.mark.parametrize(
    ("cut", "good"),
    [
        ({"at_most": 30}, lambda pay: pay <= 30),
        ({"below": 30}, lambda pay: pay < 30),
        ({"above": 30}, lambda pay: pay > 30),
    ],
)
def test_the_side_of_the_cut_decides(cut, good):
    frame = workers()
    frame["pay"] = frame["pay"].round()
    frame.loc[:20, "pay"] = 30.0
    subject = subject_of("logistic", {"column": "pay", **cut}, frame)
    result = loss_ratio(subject, LossRatioOptions(**HAIR, steps=20))
    predicted, pay = result.people["predicted"], result.people["label"]
    np.testing.assert_array_equal(subject.data.y, good(pay))
    np.testing.assert_array_equal(result.people["wrong"], good(predicted) != good(pay))
    # a number exactly at the cut is decided like a label there
    edge = np.array([30.0]) * subject.model.sign
    assert subject.decide(edge, subject.data.groups.iloc[:1])[0] == good(30.0)


def test_what_does_not_fit_is_refused_in_words():
    with refused("loss", "'squared'"):
        loss_ratio(subject_of("logistic", PAY), LossRatioOptions(**HAIR, loss="cross_entropy"))
    with refused("compare"):
        loss_ratio(subject_of("logistic", "grade"), LossRatioOptions(**HAIR, steps=1, compare=["mlp"]))
    data = build_data(workers(), data_spec({"label": PAY, "protected": ["sex"], "features": ["skill"]}))
    with refused("threshold"):
        make_subject(data, model_spec({"train": "mlp", "predict": "label"}), threshold=0.7)
    with refused("data.features"):
        subject_of("logistic", PAY, features=["pay", "skill"])
    with refused("model.predict", "'sensr'"):
        model_spec({"train": "sensr", "predict": "label"})
    with refused("model.predict"):
        model_spec({"predictions": {"score": "pay"}, "predict": "label"})
    rare = workers()
    rare["grade"] = rare["grade"].where(rare.index != 7, "top")
    with refused("data.label", "'top'"):
        subject_of("logistic", "grade", rare)


def test_trees_of_a_number_are_estimated():
    subject = subject_of("boosting", PAY, workers(80))
    result = loss_ratio(subject, LossRatioOptions(**HAIR, steps=3, step_size=1.6))
    assert result.method.startswith("estimate without gradient")
    assert result.statistic.value > 1.3
    assert (result.people["ratio"] >= 1).all()


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
