"""Eq. 15 as it is written: people in between, against the logits put together by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

from audits.models import Subject
from tests.outcome_transport.subjects import Linear, mixed, recourse_of, subject_of
from tests.refused import refused

STEPS = (0.0, 0.4, 1.0)


@pytest.fixture(scope="module")
def logistic() -> Subject:
    return mixed(n=200, seed=2)


def test_scores_in_between_are_those_of_the_equation(logistic):
    """A logistic model's log-odds of Eq. 15 are the mean of the person's and the counterpart's own."""
    result = recourse_of(logistic, steps=STEPS, interpolation="literal", resolution=0.2)
    assert any("Eq. 15" in warning for warning in result.warnings)
    n, scores, decided = len(result.people), logistic.scores, logistic.decisions
    start, goal = (logit(result.scores[alpha].to_numpy(dtype=float)) for alpha in ("0", "1"))
    for alpha in (0.2, 0.4, 0.8):
        between = logit(result.scores[f"{alpha:g}"].to_numpy(dtype=float))
        assert between == pytest.approx((1 - alpha) * start + alpha * goal, abs=1e-3)  # kept in float32
    # at α = 1 the log-odds are the accepted counterparts' mean log-odds, matched in the order of scores
    theirs = np.sort(logit(scores[decided]))
    m, order = len(theirs), np.argsort(start, kind="stable")
    for rank in (0, n // 2, n - 1):
        upper, lower = (
            np.minimum((np.arange(m) + 1) / m, (rank + 1) / n),
            np.maximum(np.arange(m) / m, rank / n),
        )
        share = np.clip(upper - lower, 0, 1)
        assert goal[order[rank]] == pytest.approx(float(n * share @ theirs), abs=1e-3)
    # at 0 nobody has moved, and the network's score is the model's
    assert result.scores["0"].to_numpy() == pytest.approx(scores[~decided], abs=1e-6)


def test_what_cannot_be_in_between_is_refused(logistic):
    frame = pd.DataFrame({"x": [-2.0, -1.0, 1.0, 3.0], "group": ["a", "b", "a", "b"]})
    other = subject_of(frame, Linear(x=1.0), ("x",))
    with refused("recourse.interpolation"):
        recourse_of(other, interpolation="literal")
    with refused("recourse.interpolation"):
        recourse_of(logistic, interpolation="literal", limits={"money": {"direction": "up"}})
