"""What outcomes are compared: classes, other policies, models and files, labels and numbers behind them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression

from audits.data import DataSpec, LabelCut, build_data
from audits.models import make_subject, model_spec
from audits.models.trained.constrained import train_equal_opportunity
from audits.outcome_transport.comparison.policies import equal_opportunity
from audits.runs.documents import load_document
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import QUICK, A, B, Softmax, even, flows_of, three_classes
from tests.refused import refused

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


def test_multi_class_outcomes():
    frame, subject = three_classes()
    result = flows_of(subject, source=A, target=B, permutations=19, draws=5)
    assert result.outcome == "classes"
    assert {name.split(", ")[1] for name in result.flows.rows} <= {"low", "middle", "high"}
    assert "outcome 3" in result.people.columns
    assert all(item.exact for item in result.tie_range)
    assert result.flows.low is None
    assert result.wasserstein_orders["order_2"] is None
    # probability vectors lie on a curve, so order along x is optimal for the cost of Eq. 10
    probabilities = Softmax().score(frame)
    ours, theirs = (np.flatnonzero(frame["group"] == one) for one in "ab")
    plan = even(frame["x"].to_numpy()[ours], frame["x"].to_numpy()[theirs])
    in_order = (plan * cdist(probabilities[ours], probabilities[theirs])).sum()
    assert result.wasserstein.value <= in_order + 1e-9
    assert result.wasserstein.value == pytest.approx(in_order, rel=0.05)
    against = flows_of(subject, against="label", outcome="classes", permutations=0, draws=0)
    assert against.source == "label label"


def test_equal_opportunity_equalises_true_positive_rates():
    rng = np.random.default_rng(1)
    n = 4000
    group, y, scores = rng.integers(0, 2, n), rng.random(n) < 0.5, rng.random(n)
    scores = np.clip(scores + 0.2 * y - 0.25 * group, 0, 1)
    decided, unchanged = equal_opportunity(scores, scores >= 0.5, y, group, np.ones(n))
    rates = [decided[y & (group == g)].mean() for g in (0, 1)]
    before = [(scores >= 0.5)[y & (group == g)].mean() for g in (0, 1)]
    assert abs(before[0] - before[1]) > 0.1
    assert rates[0] == pytest.approx(rates[1], abs=2e-3)
    assert unchanged == []


def test_other_policies():
    frame = crowd(80, seed=8).assign(
        rival=lambda table: 1 - table["score"], said=lambda table: table["label"]
    )
    subject = scored(frame, features=("x", "z"))
    mirrored = flows_of(subject, against={"score": "rival"}, permutations=0, draws=0)
    assert mirrored.source == "column rival"
    said = flows_of(subject, against={"label": "said"}, permutations=0, draws=0)
    truth = flows_of(subject, against="label", outcome="decision", permutations=0, draws=0)
    assert said.wasserstein.value == truth.wasserstein.value


def test_scores_that_are_worse_when_higher_keep_their_direction():
    """A risk score compared with another: mirrored columns and thresholds give the same audit."""
    frame, features = crowd(60, seed=5, ties=False), ("x", "z")
    frame["rival"] = np.random.default_rng(2).random(len(frame))
    risky = frame.assign(score=1 - frame["score"], rival=1 - frame["rival"])
    good = flows_of(scored(frame, features=features), against={"score": "rival"}, **QUICK)
    model = model_spec({"predictions": {"score": "score", "higher_is": "unfavorable"}})
    subject = make_subject(scored(risky, features=features).data, model, threshold=0.5)
    bad = flows_of(subject, against={"score": "rival"}, **QUICK)
    assert bad.wasserstein.value == pytest.approx(good.wasserstein.value)
    assert bad.flows.rows == good.flows.rows
    assert np.array(bad.flows.share) == pytest.approx(np.array(good.flows.share))
    with refused("outcome_transport.against.higher_is"):
        flows_of(subject, against={"score": "rival", "higher_is": "favorable"}, **QUICK)


def test_a_decision_that_is_missing_is_no_decision():
    frame = crowd(40, seed=5)
    frame["said"] = frame["label"].astype(float).mask(frame.index == 7)
    with refused("outcome_transport.against.label", "40"):
        flows_of(scored(frame, features=("x", "z")), against={"label": "said"}, **QUICK)


def test_the_number_behind_a_label_is_held_against_the_number_predicted():
    """Real outcomes: the truth is the label's own number, in its unit."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.normal(size=80), "group": rng.choice(["a", "b"], 80)})
    frame["gpa"] = 3 + 0.5 * frame["x"] + rng.normal(size=80) * 0.1
    label, kinds = LabelCut("gpa", at_least=3.0), {"gpa": "continuous"}
    data = build_data(frame, DataSpec(label=label, protected=("group",), features=("x",), kinds=kinds))
    subject = make_subject(data, model_spec({"train": "logistic", "predict": "label"}), test_size=0.5)
    result = flows_of(subject, against="label", **QUICK)
    assert result.outcome == "score"
    truth, predicted = np.sort(subject.data.frame["gpa"].to_numpy()), np.sort(subject.scores)
    assert result.wasserstein.value == pytest.approx(np.abs(truth - predicted).mean())


def test_a_second_model_from_a_file(tmp_path):
    """Two files, one spec: both are part of what is remembered, and neither place is."""
    here, elsewhere = tmp_path, tmp_path / "moved"
    elsewhere.mkdir()
    for folder in (here, elsewhere):
        for name, file in (("hiring.csv",) * 2, ("hiring.onnx",) * 2, ("older.onnx", "hiring.onnx")):
            (folder / name).write_bytes((SAMPLES / file).read_bytes())
    options = {"against": {"path": "older.onnx"}, "permutations": 0, "draws": 0}
    document = load_document(SAMPLES / "hiring.yaml") | {"audits": [{"outcome_transport": options}]}
    spec, moved = (parse_spec(document, folder) for folder in (here, elsewhere))
    result = execute(spec).audits[0].result
    assert (result.source, result.wasserstein.value) == ("ONNX model older.onnx", 0)
    key = spec.key(spec.digests())
    assert moved.key(moved.digests()) == key
    (elsewhere / "older.onnx").write_bytes((SAMPLES / "loans.onnx").read_bytes())
    assert moved.key(moved.digests()) != key
    with refused("audits[0].outcome_transport: ONNX model older.onnx"):
        execute(moved)
    (elsewhere / "older.onnx").unlink()
    with refused("audits[0].outcome_transport.against.path"):
        moved.digests()


def test_rejected_and_accepted_scores_do_not_overlap_so_that_any_pairing_is_optimal():
    subject = scored(crowd(60, seed=7, ties=False))
    kw = {"source": "rejected", "target": "accepted"}
    plain = flows_of(subject, **kw, **QUICK)
    squared = flows_of(subject, cost="squared_euclidean", **kw, **QUICK)
    assert len(plain.warnings) > len(squared.warnings)
    assert np.array(plain.flows.share) == pytest.approx(np.array(squared.flows.share))
    assert (np.array(plain.flows.high) - np.array(plain.flows.low)).max() > 0.5
    assert np.array(squared.flows.high) == pytest.approx(np.array(squared.flows.low))


def test_level_bias_does_not_clear_a_model_that_takes_from_a_whole_group():
    """Everyone in b loses one unit of log-odds: nobody's counterparts are less like them for it."""
    rng = np.random.default_rng(1)
    group, x, z = rng.choice(["a", "b"], 600), *rng.normal(size=(2, 600))
    frame = pd.DataFrame({"x": x, "z": z, "group": group, "other": 1 / (1 + np.exp(-2 * x))})
    frame["score"] = 1 / (1 + np.exp(-2 * x + (group == "b")))
    subject = scored(frame, features=("x", "z"))
    result = flows_of(subject, against={"score": "other"}, cost="squared_euclidean", material=0.5, **QUICK)
    assert result.judged.material is False
    assert result.judged.badge == "no verdict"


def test_a_reference_learns_another_label_for_a_column_of_predictions():
    """It never says of people from whom it learned."""
    frame, rng = crowd(400, seed=3, ties=False), np.random.default_rng(3)
    frame["other"] = (frame["x"] + 0.3 * rng.normal(size=400) > 0).astype(int)
    subject = scored(frame, features=("x", "z"))
    result = flows_of(subject, against={"train": "logistic", "label": "other"}, outcome="decision", **QUICK)
    assert result.source == "logistic model of other"
    assert any("5" in warning for warning in result.warnings)
    # the slow way, fold by fold
    fold = np.random.default_rng(subject.seed).permutation(len(frame)) % 5
    features, said = frame[["x", "z"]].to_numpy(), np.empty(len(frame))
    for k in range(5):
        model = LogisticRegression().fit(features[fold != k], frame["other"][fold != k])
        said[fold == k] = model.predict(features[fold == k])
    assert (result.people["outcome"].to_numpy() == said).mean() > 0.98
    assert (result.people["outcome"].to_numpy() == frame["other"]).mean() > 0.8


def test_equal_opportunity_by_zafars_constraint_against_a_general_solver():
    """The regression that a constrained optimiser finds, and no covariance among the favorable."""
    rng = np.random.default_rng(8)
    n = 600
    group = rng.choice(["a", "b", "c"], n)
    frame = pd.DataFrame(
        {"x": rng.normal(size=n) + 0.8 * (group == "a"), "z": rng.normal(size=n) + (group == "b")}
    )
    frame = frame.assign(v=rng.normal(size=n) + frame["x"], group=group)
    frame["label"] = (frame["x"] + 0.5 * frame["z"] + rng.logistic(size=n) > 0).astype(int)
    spec = DataSpec(label="label", favorable=1, protected=("group",), features=("x", "z", "v"))
    subject = make_subject(build_data(frame, spec), model_spec({"train": "logistic"}), test_size=0.4)
    learned = subject.training
    codes = np.unique(learned.groups["group"].to_numpy(), return_inverse=True)[1]
    model, cost = train_equal_opportunity(learned, codes, where="here")
    assert "2 of 2" in cost
    x, y = model.design(learned.frame), np.asarray(learned.y)
    distance = x @ model.pipeline[-1].coef_[0]
    for code in range(3):
        member = (codes[y] == code).astype(float)
        assert abs(np.cov(member, distance[y], bias=True)[0, 1]) < 1e-10
    apart = [np.cov((codes[y] == k).astype(float), x[y].T, bias=True)[0, 1:] for k in range(3)]

    def loss(theta: np.ndarray) -> float:
        logits = x @ theta[:3] + theta[3]
        return float(np.logaddexp(0, np.where(y, -logits, logits)).sum() + 0.5 * theta[:3] @ theta[:3])

    held = [{"type": "eq", "fun": lambda theta, a=a: float(a @ theta[:3])} for a in apart[:2]]
    found = minimize(
        loss, np.zeros(4), method="SLSQP", constraints=held, options={"maxiter": 500, "ftol": 1e-12}
    )
    assert found.success
    ours = [*model.pipeline[-1].coef_[0], float(model.pipeline[-1].intercept_[0])]
    assert ours == pytest.approx(found.x, abs=2e-3)
    # from a spec, for the label and for another column
    against = {"train": "logistic", "constraint": "equal_opportunity"}
    fair = flows_of(subject, against=against, **QUICK)
    assert fair.source == "logistic regression with equal opportunity"
    assert fair.people["outcome"].to_numpy() == pytest.approx(model.score(subject.data.frame))
    other = flows_of(subject, against={**against, "label": "label"}, **QUICK)
    assert other.wasserstein.value == pytest.approx(fair.wasserstein.value, abs=1e-6)
    with refused("outcome_transport.against.constraint"):
        flows_of(subject, against={"train": "forest", "constraint": "equal_opportunity"}, **QUICK)
