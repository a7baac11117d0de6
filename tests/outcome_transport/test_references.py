"""A reference policy trained on another label, and what two-valued outcomes leave unsaid."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from audits.data import DataSpec, build_data
from audits.models import make_subject, model_spec
from audits.models.trained.constrained import train_equal_opportunity
from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import QUICK, flows_of
from tests.refused import refused


def _people(n: int = 400) -> pd.DataFrame:
    frame = crowd(n, seed=3, ties=False)
    rng = np.random.default_rng(3)
    return frame.assign(other=(frame["x"] + 0.3 * rng.normal(size=n) > 0).astype(int))


def test_a_reference_learns_another_label_for_a_column_of_predictions():
    """It never says of people from whom it learned."""
    frame = _people()
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
