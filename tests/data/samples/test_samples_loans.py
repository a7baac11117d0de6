"""The loans set: one planted harm, nothing else, and the model as a file."""

from __future__ import annotations

import math

import numpy as np
import onnxruntime as ort
import pandas as pd
import pytest

from benchmarks.samples import loans
from benchmarks.samples.loans import LOG_ODDS, PLANTED, THRESHOLD


def _onnx_scores(applications: pd.DataFrame) -> np.ndarray:
    session = ort.InferenceSession(loans.onnx_model())
    feed = {}
    for column in session.get_inputs():
        values = applications[column.name]
        text = column.type == "tensor(string)"
        feed[column.name] = (
            values.astype(object).where(values.notna(), "").to_numpy(object)
            if text
            else values.to_numpy(np.float32)
        ).reshape(-1, 1)
    return session.run(None, feed)[0].ravel()


def _slow_score(person: dict) -> float:
    points = LOG_ODDS.base
    for column, term in LOG_ODDS.numbers.items():
        value = term.missing if math.isnan(person[column]) else person[column]
        points += term.weight * math.log(1 + value / term.unit)
    for column, table in LOG_ODDS.categories.items():
        points += table.get(person[column], 0.0)
    if person["age"] < 30:
        points += LOG_ODDS.under_30
        if person["sex"] == "female" and person["ethnicity"] == "Velian":
            points -= 0.7
    return 1 / (1 + math.exp(-points))


def test_score_equals_a_person_at_a_time_and_the_onnx_file() -> None:
    applications = loans.generate(300, rng=3).applications
    slow = [_slow_score(person) for person in applications.to_dict("records")]
    assert applications["model_score"].to_numpy() == pytest.approx(slow, abs=1e-12)
    # float32: seven digits of a log-odds that stays below 10
    assert _onnx_scores(applications) == pytest.approx(slow, abs=2e-6)


def test_the_penalty_falls_on_the_planted_group_alone() -> None:
    drawn = loans.generate(80_000, rng=11)
    a, truth = drawn.applications, drawn.truth
    where = PLANTED.where
    member = (a["sex"] == where["sex"]) & (a["ethnicity"] == where["ethnicity"]) & (a["age"] < 30)
    assert truth["planted"].equals(member)
    assert (truth.loc[~member, "model_score"] == truth.loc[~member, "score_without_penalty"]).all()
    logit = np.log(truth["model_score"] / (1 - truth["model_score"]))
    fair = np.log(truth["score_without_penalty"] / (1 - truth["score_without_penalty"]))
    assert (fair - logit)[member].to_numpy() == pytest.approx(
        np.full(member.sum(), PLANTED.penalty), abs=1e-9
    )
    approved, approved_fair = truth["model_score"] >= THRESHOLD, truth["score_without_penalty"] >= THRESHOLD
    assert (truth["refused_by_penalty"] == (approved_fair & ~approved)).all()
    # some 1,900 members: five standard errors, and the stored shares' own 0.0016
    tolerance = 5 * np.hypot(0.5 / np.sqrt(member.sum()), 0.0016)
    assert approved[member].mean() == pytest.approx(PLANTED.approved, abs=tolerance)
    assert approved_fair[member].mean() == pytest.approx(PLANTED.approved_without, abs=tolerance)
