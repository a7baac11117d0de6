"""Predictions of people whom the model may have been trained on can show a difference, never clear."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.models import ModelSpec, make_subject
from audits.models.spec import Predictions, model_spec
from audits.notebook import audit
from audits.runs.clearance import without_clearance
from audits.runs.registry import AUDITS
from tests.refused import refused

N = 2000


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Skill says the label with much noise; `fitted` knows the noise, `honest` does not."""
    rng = np.random.default_rng(0)
    skill, noise = rng.normal(size=(2, N))
    label, sex, honest = skill + noise > 0, rng.choice(["f", "m"], N), 1 / (1 + np.exp(-skill))
    scores = {"fitted": np.where(label, 0.8, 0.2), "honest": honest, "always": 1.0}
    rare = (rng.random(N) > 0.003).astype(int)
    points = (100 * honest).clip(0.6)
    return pd.DataFrame(
        {"skill": skill, "sex": sex, "y": label.astype(int), "rare": rare, "points": points, **scores}
    )


def subject(table, score, made=None, label="y", threshold=0.5):
    data = build_data(table, DataSpec(label=label, favorable=1, protected=("sex",), features=("skill",)))
    model = ModelSpec(predictions=Predictions(score=score, made=made))
    return make_subject(data, model, threshold=threshold)


def found(subject):
    result = AUDITS["groups"].run(subject, AUDITS["groups"].options(), rng=0)
    return without_clearance(result, subject.cannot_clear)


@pytest.mark.parametrize(
    ("score", "made", "threshold", "clears"),
    [
        ("fitted", None, 0.5, False),
        ("fitted", "held_out", 0.5, True),
        ("fitted", "in_sample", 0.5, False),
        ("honest", None, 0.5, True),
        ("honest", "in_sample", 0.5, False),
        # one of a hundred and more is below 0.5 points of 100, and nobody can have meant to decide so
        ("points", None, 0.5, False),
        ("points", None, 50, True),
        ("honest", None, 50, False),  # and nobody 50, of 1
    ],
)
def test_neither_scores_in_sample_nor_on_another_scale_clear(table, score, made, threshold, clears):
    one = subject(table, score, made, threshold=threshold)
    result = found(one)
    assert (one.cannot_clear == "") == clears
    assert result.judged.badge == ("no material difference" if clears else "no verdict")
    assert result.verdict == ("no material difference" if clears else "insufficient evidence")
    assert (one.cannot_clear in result.finding) or clears
    few = found(subject(table.head(400), score, made, threshold=threshold))  # whom more would not settle
    assert few.judged.badge == ("cannot tell yet" if clears else "no verdict")
    assert ("settle" in few.finding) == (few.judged.people_needed is not None) == clears


def test_evidence_and_the_label_itself_are_what_they_are_in_sample(table):
    unfair = table.assign(fitted=np.where(table["sex"] == "f", 0.4 * table["fitted"], table["fitted"]))
    result = found(subject(unfair, "fitted", "in_sample"))
    assert result.verdict == "evidence of a difference"
    assert result.warnings
    assert not subject(table, "y").cannot_clear
    assert not subject(table, "always", label="rare").cannot_clear  # right about 99.7%


def test_a_model_audited_on_its_training_rows_clears_nothing(table):
    data = build_data(table, DataSpec(label="y", favorable=1, protected=("sex",), features=("skill",)))
    held_out = make_subject(data, ModelSpec(train="logistic"))
    assert not held_out.cannot_clear
    assert dataclasses.replace(held_out, data=held_out.training).cannot_clear


def test_it_can_be_said_in_python_and_of_a_file(table):
    told = {"favorable": 1, "protected": "sex", "audits": "groups", "threshold": 0.5}
    people = (table[["skill", "sex"]], table["y"])
    scores = table["fitted"]
    made = [audit(None, *people, scores=scores, made=each, **told) for each in ("unknown", "held_out")]
    verdicts = [each["groups"].verdict for each in made]
    assert verdicts == ["insufficient evidence", "no material difference"]
    assert model_spec({"path": "m.onnx", "made": "held_out"}).made == "held_out"
    with refused("model.made"):
        model_spec({"train": "logistic", "made": "held_out"})


def test_a_threshold_off_the_scale_is_one_of_people_not_of_rows():
    """A row of two stands for one person of a thousand."""
    rows = pd.DataFrame({"sex": ["f", "m"] * 2, "points": [70.0, 60.0, 0.1, 80.0], "n": [500, 497, 1, 2]})
    people = rows.loc[rows.index.repeat(rows["n"])].drop(columns="n").reset_index(drop=True)
    asked = model_spec({"predictions": {"score": "points"}})
    for table, weights in ((rows, "n"), (people, None)):
        data = build_data(table, DataSpec(protected=("sex",), weights=weights))
        assert make_subject(data, asked).cannot_clear
