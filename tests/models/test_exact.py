"""Exact gradients of models that were brought along: they hold for the people audited, or are not used."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler

from audits.data import DataSpec, LabelCut, build_data, read_table
from audits.data.samples import write_samples
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.models import ModelSpec, make_subject
from audits.models.networks.dense import dense_of
from audits.models.networks.exact import TOLERANCE
from audits.models.networks.gradients import logits_over
from audits.sensitivity.monitor.networks import network_arrays, network_of

COLUMNS = ["age", "income", "job", "flag"]
TYPES = [
    (name, StringTensorType([None, 1]) if name == "job" else FloatTensorType([None, 1])) for name in COLUMNS
]


@pytest.fixture(scope="module")
def holed(people):
    frame = people.copy()
    frame.loc[frame.index[::8], "income"] = np.nan
    frame.loc[frame.index[::5], "job"] = "?"
    return frame


def pipeline(frame, estimator):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    encode = make_column_transformer(
        (numbers, ["age", "income"]), (OneHotEncoder(sparse_output=False), ["job"]), remainder="passthrough"
    )
    return make_pipeline(encode, estimator).fit(frame[COLUMNS], frame["hired"])


def network(activation="relu"):
    return MLPClassifier((6, 4), activation=activation, max_iter=60, random_state=0, tol=0)


def brought(own, how, path, data):
    if how == "skops":
        skops = pytest.importorskip("skops.io")
        path = path.with_suffix(".skops")
        skops.dump(own, path)
    else:
        path.write_bytes(to_onnx(own, initial_types=TYPES, options={"zipmap": how}).SerializeToString())
    return make_subject(data, ModelSpec(path=str(path)))


def differences(subject, frame, column, step):
    """Slope of the favorable log-odds by a number, from scores alone."""
    up, down = (subject.favorable_score(frame.assign(**{column: frame[column] + s})) for s in (step, -step))
    return (np.log(up / (1 - up)) - np.log(down / (1 - down))) / (2 * step)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("kind", "how"), [(None, "skops"), ("relu", True), ("tanh", "skops"), ("logistic", False)]
)
def test_gradients_of_pipelines_are_those_of_their_scores(holed, make_data, tmp_path, kind, how):
    own = pipeline(holed, network(kind) if kind else LogisticRegression())
    data = make_data(holed, favorable="no" if kind == "tanh" else "yes")
    subject = brought(own, how, tmp_path / "m.onnx", data)
    exact = subject.differentiable
    assert exact is not None
    logits = logits_over(exact, subject.space, data.frame)
    z = torch.tensor(subject.space.encode(data.frame), requires_grad=True)
    odds = logits(z)[:, 0]
    np.testing.assert_allclose(torch.sigmoid(odds).detach(), subject.scores, rtol=0, atol=TOLERANCE)
    odds.sum().backward()
    at = subject.space.blocks["age"].start
    slope = z.grad.numpy()[:, at] / next(part.sd for part in subject.space.parts if part.column == "age")
    # float32 scores: differences over a step of 0.25 year are good to some 1e-5; a ReLU may bend inside it
    by_hand = differences(subject, data.frame.astype({"age": float}), "age", 0.25)
    close = np.isclose(slope, by_hand, rtol=1e-2, atol=5e-4)
    assert close.mean() > (0.97 if kind == "relu" else 0.999), np.abs(slope - by_hand).max()
    dense = dense_of(logits)  # sensitivity and monitors read such networks as plain arrays
    assert dense.hidden == ((6, 4) if kind else ())
    assert set(dense.bends) == {"tanh": {"tanh"}, "logistic": {"sigmoid"}}.get(kind, set())
    outputs, hidden = dense.forward(z.detach().numpy())
    np.testing.assert_allclose(outputs[:, 0], odds.detach(), atol=1e-9)
    np.testing.assert_allclose(dense.backward(np.ones_like(outputs), hidden), z.grad, atol=1e-9)
    again = network_of(network_arrays(dense, "F"), "F")
    np.testing.assert_array_equal(again.outputs(z.detach().numpy()), outputs)


def test_the_hiring_example_has_the_statistic_of_the_network_it_is(tmp_path):
    """S 5.067, T 4.980: computed from outside with the network in torch, the same numbers to 1e-3."""
    write_samples("hiring", tmp_path)
    data = build_data(
        read_table(tmp_path / "hiring.csv"),
        DataSpec(label="qualified", favorable=(1,), protected=("gender",)),
    )
    subject = make_subject(data, ModelSpec(path=str(tmp_path / "hiring.onnx")))
    asked = {"metric": "expert", "free_features": ("hair_length",), "steps": 500, "sensitive": ("gender",)}
    options = LossRatioOptions(regularizer=50.0, step_size=0.01, inference="paper", **asked)
    found = loss_ratio(subject, options)
    assert found.statistic.value == pytest.approx(5.067, abs=1e-3)
    assert found.lower_bound == pytest.approx(4.980, abs=1e-3)
    bounded = loss_ratio(subject, dataclasses.replace(options, within_range=True))
    assert bounded.lower_bound == pytest.approx(2.79, abs=5e-3)  # numbers kept to the observed range


@pytest.mark.parametrize("what", ["mixes people's features", "trees", "cuts a number"])
def test_what_has_no_gradient(people, make_data, tmp_path, save, what):
    """A cut in the middle of a number: a network between the people would be another model."""
    read = ["age", "income"]
    if what == "cuts a number":
        path = save("""(float[n,1] age) => (float[n,1] p) <float[1,1] cut = {40}> {
            old = Greater(age, cut)
            y = Cast<to = 1>(old)
            p = Sigmoid(y)
        }""")
        spec = ModelSpec(path=str(path))
    else:
        mixing = make_pipeline(StandardScaler(), Normalizer(), LogisticRegression())
        own = RandomForestClassifier(5, random_state=0) if what == "trees" else mixing
        own.fit(people[read].to_numpy(np.float32), people["hired"])
        made = to_onnx(own, initial_types=[("X", FloatTensorType([None, 2]))], options={"zipmap": False})
        (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
        spec = ModelSpec(path=str(tmp_path / "m.onnx"), columns=tuple(read))
    assert make_subject(make_data(people, features=tuple(read)), spec).differentiable is None


def test_what_is_filled_in_for_statistics_only_has_no_gradient(holed, make_data, tmp_path):
    """Under impute the points are of people with a filled-in income, the model sees none: they differ."""
    own = pipeline(holed, LogisticRegression())
    subject = brought(own, False, tmp_path / "m.onnx", make_data(holed, missing="impute"))
    own_scores = own.predict_proba(holed[COLUMNS])[:, 1]
    np.testing.assert_allclose(subject.scores, own_scores, rtol=0, atol=2e-6)
    assert subject.differentiable is None


def test_a_regression_that_was_brought_has_its_gradient(people, make_data, tmp_path):
    read, path = ["age", "income"], tmp_path / "m.onnx"
    x, pay = people[read].to_numpy("float32"), people["income"] / 10 - people["flag"]
    own = make_pipeline(StandardScaler(), Ridge()).fit(x, pay)
    path.write_bytes(to_onnx(own, x[:1]).SerializeToString())
    cut = {"label": LabelCut("pay", at_least=4.5), "favorable": None, "features": tuple(read)}
    spec = ModelSpec(path=str(path), columns=tuple(read), predict="label")
    subject = make_subject(make_data(people.assign(pay=pay).head(60), **cut), spec)
    np.testing.assert_array_equal(subject.decisions, own.predict(x[:60]) >= 4.5)
    found = subject.regression
    numbers = found.regression()(torch.from_numpy(found.design(subject.data.frame))).detach().numpy()
    np.testing.assert_allclose(numbers[:, 0], own.predict(x[:60]), rtol=0, atol=1e-5)
