"""Trees as plain arrays say what scikit-learn says: to the last digit, on every kind of value."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load, save

from audits.data import DataSpec, build_data
from audits.models import Subject, make_subject, model_spec
from audits.models.trained.pipelines import prepare
from audits.models.trees import plain as trees
from audits.models.trees.plain import PlainTrees, plain_trees
from tests.refused import refused


def people(n: int = 900) -> pd.DataFrame:
    """Numbers with blanks, a date, yes and no, words with blanks, and 300 jobs, most of them rare."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.integers(18, 80, n).astype(float), "debt": np.exp(rng.normal(7, 2, n))})
    frame["since"] = pd.Timestamp("2001-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), unit="D")
    frame["owner"] = rng.random(n) < 0.4
    frame["town"] = rng.choice(["north", "south", "west", "east"], n)
    frame["job"] = [f"job {k}" for k in rng.zipf(1.4, n) % 300]
    frame["group"] = rng.choice(["a", "b"], n)
    frame.loc[rng.random(n) < 0.15, "debt"] = np.nan
    frame.loc[rng.random(n) < 0.15, "town"] = None
    worth = frame["age"] / 20 + frame["owner"] + (frame["town"] == "west") - frame["debt"].isna()
    frame["grade"] = pd.cut(worth + rng.normal(0, 1, n), [-9, 2, 3.2, 99], labels=["c", "b", "a"]).astype(str)
    frame["hired"] = (worth + rng.normal(0, 1, n) > 3).astype(int)
    return frame


def subject_of(kind: str, label: str = "hired", favorable: object = 1, **model: str) -> Subject:
    told = {"protected": ("group",), "features": ("age", "debt", "since", "owner", "town", "job")}
    spec = DataSpec(label=label, favorable=favorable, missing="category", **told)
    return make_subject(build_data(people(), spec), model_spec({"train": kind, **model}), seed=0)


@pytest.fixture(scope="module", params=["forest", "boosting"])
def subject(request: pytest.FixtureRequest) -> Subject:
    return subject_of(request.param)


def plain_of(subject: Subject) -> PlainTrees:
    """Take the model apart, and put it together from what is written down."""
    model = subject.model
    taken = plain_trees(model.pipeline, model.numbers, model.levels)
    return PlainTrees.restore(taken.describe(), load(save(taken.arrays())))


def by_scikit_learn(subject: Subject, frame: pd.DataFrame) -> np.ndarray:
    """Return what the fitted pipeline itself says, (n, k), or (n,) where that is a number."""
    model = subject.model
    asked = prepare(frame, model.numbers, model.levels)
    return getattr(model.pipeline, "predict" if hasattr(model, "number") else "predict_proba")(asked)


def strangers(frame: pd.DataFrame) -> pd.DataFrame:
    """People with blanks everywhere, values far out, and levels that nobody had."""
    rng, n = np.random.default_rng(5), len(frame)
    made = frame.copy()
    for name in frame.columns.drop("owner"):
        made[name] = frame[name].to_numpy()[rng.permutation(n)]
    made.loc[made.index[: n // 4], ["age", "since"]] = [np.nan, pd.NaT]
    made.loc[made.index[n // 5 : n // 3], "age"] = 1e30
    made.loc[made.index[n // 3 : n // 2], ["town", "job"]] = ["moon", "astronaut"]
    made.loc[made.index[n // 2 :], "debt"] = -1e9
    return made


def test_scores_are_those_of_scikit_learn_and_need_none_of_it(subject: Subject, monkeypatch):
    plain, asked = plain_of(subject), [subject.data.frame, strangers(subject.data.frame)]
    expected = [by_scikit_learn(subject, frame)[:, 1] for frame in asked]
    for library in ("sklearn", "torch", "onnxruntime"):
        monkeypatch.setitem(sys.modules, library, None)
    for pairs in (trees._PAIRS, 1700):  # many people are taken in parts
        monkeypatch.setattr(trees, "_PAIRS", pairs)
        for frame, scores in zip(asked, expected, strict=True):
            np.testing.assert_array_equal(plain.score(frame)[:, 0], scores)
    assert plain.score(subject.data.frame.iloc[:0]).shape == (0, 1)


def test_values_exactly_at_a_threshold_go_the_same_way(subject: Subject):
    """And those of the neighboring floats; a forest rounds a value to float32 before it compares."""
    plain, frame = plain_of(subject), subject.data.frame
    [column] = [each for each in plain.inputs if each.column == "debt"]
    cuts = np.unique(plain.trees.threshold[plain.trees.feature == column.places[0]])[:150]
    cuts = cuts[np.isfinite(cuts)]  # an infinite one tells missing numbers from others
    raw = cuts * column.scale + column.mean
    near = np.concatenate([raw, np.nextafter(raw, np.inf), np.nextafter(raw, -np.inf), raw * (1 + 3e-8)])
    asked = frame.iloc[np.arange(len(near)) % len(frame)].assign(debt=near)
    np.testing.assert_array_equal(plain.score(asked)[:, 0], by_scikit_learn(subject, asked)[:, 1])
    read = np.unique(plain._matrix(asked)[:, column.places[0]].astype(float))
    assert np.isin(cuts, read).sum() >= (20 if not plain.trees.is_forest else 0)


def test_models_of_several_labels_too():
    subject = subject_of("boosting", "grade", "a", predict="label")
    asked = strangers(subject.data.frame)
    np.testing.assert_allclose(plain_of(subject).score(asked), by_scikit_learn(subject, asked), atol=1e-15)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("left", np.zeros_like),  # would go round in circles
        ("right", lambda each: each + 10**6),
        ("feature", lambda each: each + 50),
        ("feature", lambda each: each.astype(float)),
        ("value", lambda each: each[:-1]),
        ("roots", lambda each: each[:0]),
        ("level_sets", lambda each: each[:, :9]),
        ("", {"levels": ["x"]}),
        ("", {"places": [0]}),
    ],
)
def test_damaged_trees_and_columns_that_do_not_fit_are_refused(subject: Subject, name, change):
    taken = plain_of(subject)
    arrays, described = taken.arrays(), taken.describe()
    if name:
        arrays[f"trees.{name}"] = change(arrays[f"trees.{name}"])
    else:
        described[-1].update(change)
    with refused("bundle"):
        PlainTrees.restore(described, arrays)
