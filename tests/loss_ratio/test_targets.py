"""Labels of several classes and labels cut from a number: trained here, brought as ONNX, or any callable."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.special import log_softmax, softmax

from audits.__main__ import main
from audits.data import DataSpec, FeatureSpace, build_data, data_spec
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


@pytest.mark.parametrize("kind", ["logistic", "mlp"])
def test_classes_by_gradient(kind):
    subject = subject_of(kind, "grade")
    result = loss_ratio(subject, LossRatioOptions(**HAIR))
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


def test_classes_of_a_linear_model_move_as_by_hand():
    subject = subject_of("logistic", "grade")
    result = loss_ratio(subject, LossRatioOptions(**HAIR, regularizer=7, steps=30, step_size=0.02))
    layer = subject.model.network()
    weights, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    design = subject.model.design(subject.data.frame)  # hair, skill scaled by the training people; jobs 0/1
    own = subject.data.frame["grade"].map({name: k for k, name in enumerate(GRADES)}).to_numpy()
    # in the audit's space hair and skill have other units: those of the people audited
    scaler = subject.model.pipeline[0].transformers_[0][1][0]
    ratio = np.r_[[subject.data.frame[name].std(ddof=0) for name in ("hair", "skill")] / scaler.scale_, 1, 1]
    price = np.array([0.0, 1.0, 1.0, 1.0])
    shift = np.zeros_like(design)
    for _ in range(30):
        p = softmax((design + shift * ratio) @ weights.T + bias, axis=1)
        p[np.arange(len(p)), own] -= 1
        shift += 0.02 * ((p @ weights) * ratio - 2 * 7 * shift * price)
    after = -log_softmax((design + shift * ratio) @ weights.T + bias, axis=1)[np.arange(len(own)), own]
    np.testing.assert_allclose(result.people["loss after"], after, rtol=1e-4)


@pytest.mark.parametrize("kind", ["logistic", "mlp"])
def test_a_number_by_gradient(kind):
    subject = subject_of(kind, PAY)
    result = loss_ratio(subject, LossRatioOptions(**HAIR, steps=100))
    frame = subject.data.frame
    assert result.options["loss"] == "squared"
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


@pytest.mark.parametrize(("kind", "label"), [("forest", "grade"), ("boosting", PAY)])
def test_trees_of_classes_and_numbers_are_estimated(kind, label):
    subject = subject_of(kind, label, workers(120))
    result = loss_ratio(subject, LossRatioOptions(**HAIR, steps=3, step_size=1.6))
    assert result.method.startswith("estimate without gradient")
    assert result.statistic.value > 1.3
    assert (result.people["ratio"] >= 1).all()


@pytest.mark.parametrize("label", ["grade", PAY])
def test_scoring_alone_comes_near_the_gradient_for_classes_and_numbers(label):
    """The estimate against the exact flow of the same linear model, for people away from the edges."""
    subject = subject_of("logistic", label)
    exact = loss_ratio(subject, LossRatioOptions(**HAIR, steps=20, loss_floor=0.0))
    target = target_of(subject, subject.data, None)
    flow = black_box_flow(
        target,
        subject.data.frame,
        subject.space,
        FairMetrics.of(projection_metric(np.eye(4)[:1], "hair"), subject.data.n),
        regularizer=50.0,
        steps=20,
        step_size=0.01,
    ).flow
    inside = np.abs(subject.space.encode(subject.data.frame)[:, 0]) < 1.5
    still = flow.distance < 1e-2  # nobody's job was changed
    assert (inside & still).sum() > 100
    gained = flow.after - flow.before
    np.testing.assert_allclose(
        gained[inside & still],
        (exact.people["loss after"] - exact.people["loss"])[inside & still],
        rtol=0.1,
        atol=0.01,
    )


class Grader:
    """A stranger's model, in Python: probabilities of three grades from hair and skill."""

    name = "grader"
    classes = GRADES
    columns = ("hair", "skill")
    invents = True
    sha256 = "0" * 64

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        pay = 4 * frame["skill"].to_numpy() - 3 * frame["hair"].to_numpy()
        return softmax(np.column_stack([pay, -pay, np.zeros(len(pay))]) / 3, axis=1)


def test_a_python_callable_is_a_black_box():
    data = build_data(
        workers(200),
        DataSpec(label="grade", favorable=("high",), protected=("sex",), features=("hair", "skill")),
    )
    subject = Subject(data, Grader(), 0.5, FeatureSpace.fit(data), score_kind="probability")
    result = loss_ratio(subject, LossRatioOptions(**HAIR))
    assert result.method.startswith("estimate without gradient")
    assert result.reject


def _onnx(path: Path, model: object, width: int) -> str:
    onnx = pytest.importorskip("onnx")
    from skl2onnx import to_onnx

    kinds = {"zipmap": False} if hasattr(model, "predict_proba") else {}
    onnx.save(to_onnx(model, np.zeros((2, width), np.float32), options=kinds or None), path)
    return path.name


def test_onnx_of_classes_and_of_a_number_through_the_command_line(tmp_path, capsys):
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.linear_model import LogisticRegression

    frame = workers(200)
    x = frame[["hair", "skill"]].to_numpy(np.float32)
    frame.to_csv(tmp_path / "people.csv", index=False)
    _onnx(tmp_path / "grade.onnx", LogisticRegression().fit(x, frame["grade"]), 2)
    _onnx(tmp_path / "pay.onnx", GradientBoostingRegressor(n_estimators=30).fit(x, frame["pay"]), 2)
    for name, label, favorable in (("grade", "grade", ["high"]), ("pay", PAY, None)):
        data = {"path": "people.csv", "label": label, "protected": ["sex"], "features": ["hair", "skill"]}
        spec = {
            "data": {**data, **({"favorable": favorable} if favorable else {})},
            "model": {"path": f"{name}.onnx", "predict": "label", "columns": ["hair", "skill"]},
            "audits": [{"loss_ratio": {**HAIR, "steps": 20}}],
        }
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(spec))
        out = tmp_path / f"{name}-out"
        assert main(["run", str(tmp_path / f"{name}.yaml"), "--out", str(out), "--executor", "inline"]) == 0
        found = yaml.safe_load((out / "results.json").read_text())["audits"][0]
        assert found["verdict"] == "evidence of a difference"
        exact = name == "grade"  # a logistic regression; the other is trees
        assert found["method"].startswith("gradient flow" if exact else "estimate without gradient")
    # without the word the number is refused, and told how
    spec["model"].pop("predict")
    (tmp_path / "wrong.yaml").write_text(yaml.safe_dump(spec))
    capsys.readouterr()
    assert main(["run", str(tmp_path / "wrong.yaml"), "--executor", "inline"]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["logistic", "boosting"])
def test_squared_errors_have_fewer_steps_unless_told(kind):
    subject = subject_of(kind, PAY, workers(400 if kind == "logistic" else 40))
    result = loss_ratio(subject, LossRatioOptions(**HAIR))
    assert result.options["steps"] == 100
    assert any("100 steps" in warning for warning in result.warnings)
    if kind == "logistic":
        same = loss_ratio(subject, LossRatioOptions(**HAIR, steps=100))
        pd.testing.assert_frame_equal(same.people, result.people)
        assert any("100 steps" in warning for warning in same.warnings)
        assert result.curve[-1].steps == 100
        # with those of probabilities the error explodes
        assert (
            loss_ratio(subject, LossRatioOptions(**HAIR, steps=500)).statistic.value
            > 100 * result.statistic.value
        )
        assert loss_ratio(subject_of(kind, "grade"), LossRatioOptions(**HAIR)).options["steps"] == 500


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


def test_two_values_are_favourable_or_not_as_ever():
    frame = workers().assign(good=lambda table: np.where(table["pay"] > 30, "yes", "no"))
    with_word = subject_of("logistic", "good", frame, favorable="yes")
    without = make_subject(with_word.data, model_spec({"train": "logistic"}))
    assert with_word.model.classes is None
    assert type(with_word.model) is type(without.model)


def test_weights_are_people_for_numbers_too():
    frame = workers(300)
    frame["w"] = np.random.default_rng(0).integers(1, 4, 300)
    once = subject_of("logistic", PAY, frame, weights="w")
    data = once.data.take(np.repeat(np.arange(once.data.n), once.data.weights.astype(int)))
    data = dataclasses.replace(data, weights=None, frame=data.frame.reset_index(drop=True).rename_axis("row"))
    many = dataclasses.replace(once, data=data)
    one, other = (
        loss_ratio(once, LossRatioOptions(**HAIR, steps=50)),
        loss_ratio(many, LossRatioOptions(**HAIR, steps=50)),
    )
    assert one.lower_bound == pytest.approx(other.lower_bound, rel=1e-6)
