"""Newcomers' mistakes in specs and in Python: what each answer says, where, and the line to write."""

# ruff: noqa: E501  (a mistake a line)

from __future__ import annotations

import copy
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

import audits
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.cases import cases
from tests.refused import refused

DATA = {
    "path": "people.csv",
    "label": "paid",
    "favorable": 1,
    "protected": ["sex"],
    "features": ["age", "hours"],
}
MODEL = {"predictions": {"score": "score"}}
GOOD = {"data": DATA, "model": MODEL, "audits": [{"groups": {"bootstrap": 0}}]}
INTERNAL = re.compile(
    r"\[key\]|dataclass|instance of|pydantic|__|NoneType|Traceback|DataSpec|ModelSpec|LabelCut|Predictions\b"
    r"|FlipsetOptions|valid (tuple|dictionary|string)|KeyError|TypeAdapter|AuditData|FeatureSpace"
)


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], 120),
            "age": rng.integers(18, 70, 120),
            "hours": rng.integers(1, 60, 120),
            "paid": rng.integers(0, 2, 120),
            "score": rng.random(120).round(3),
        }
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("newcomers")
    people().to_csv(folder / "people.csv", index=False)
    return folder


@pytest.mark.parametrize(("change", "answer"), cases(__file__, "newcomers_specs.yaml"))
def test_specs(folder, change, answer):
    with refused(*answer) as told:
        execute(parse_spec({**copy.deepcopy(GOOD), **change}, folder))
    assert not INTERNAL.search(str(told.value)), str(told.value)


X = people()[["sex", "age", "hours"]]
Y, HOURS = people()["paid"], pd.Series(np.random.default_rng(1).normal(size=120))


def fitted():
    return LogisticRegression().fit(X[["age", "hours"]], Y)


def call(*given, **named):
    defaults = {"favorable": 1, "protected": "sex", "audits": {"groups": {"bootstrap": 0}}}
    return audits.audit(*(given or (fitted(), X, Y)), **{**defaults, **named})


PYTHON = [
    (lambda: audits.audit(fitted(), X, Y, sensitive_features="sex"), ("sensitive_features", "protected='COLUMN'")),
    (lambda: audits.audit(fitted(), X, Y, y_prob=[1]), ("y_prob", "evenhand.audit(None, X, y, scores=…)")),
    (lambda: audits.audit(fitted(), X, Y, "sex"), ("evenhand.audit", "model, X, y", "'sex'")),
    (lambda: audits.audit(fitted()), ("X", "evenhand.audit(model, X, y, favorable=…, protected=…)")),
    (lambda: audits.audit(fitted(), X, Y, favorable=1), ("protected", "protected='COLUMN'")),
    (lambda: call(favorable="yes"), ("favorable", "'yes'", "0", "1")),
    (lambda: call("LogisticRegression", X, Y), ("model", "'LogisticRegression'", "evenhand.audit(None, X, y, predictions")),
    (lambda: call(fitted(), "people.csv", Y), ("X", "X = pandas.read_csv('people.csv')")),
    (lambda: call(fitted(), pl.from_pandas(X).lazy(), Y), ("X", "LazyFrame", "X.collect()")),
    (lambda: call(fitted(), X, Y[:5].to_numpy()), ("y", "120", "5")),
    (lambda: call(fitted(), X, Y.sample(frac=1, random_state=0)), ("y", "y.to_numpy()")),
    (lambda: call(fitted(), X.drop(columns="age"), Y), ("X", "'age'")),
    (lambda: call(audits="equalized_odds"), ("audits", "'equalized_odds'", "'groups'")),
    (lambda: call(None, X, Y), ("model", "predictions=", "scores=")),
    (lambda: call(None, X, Y, predictions=np.linspace(0, 1, 120)), ("predictions", "scores=…")),
    (lambda: call(lambda table: np.zeros(3), X, Y), ("model", "120", "(3,)")),
    (lambda: call(threshold=50), ("threshold", "[0, 1]", "50")),
    (lambda: call(lambda table: 1 / 0, X, Y), ("model", "(ZeroDivisionError: ")),
    (lambda: call(control_features="age"), ("control_features", "'explain'")),
    (lambda: call(audits={"groups": {"control_features": ["age"]}}), ("audits['groups'].control_features", "audits={'explain'")),
    (lambda: call(LogisticRegression, X, Y), ("model", "LogisticRegression().fit")),
    (lambda: call(LogisticRegression(), X, Y), ("model", "fit")),
    (lambda: call(make_pipeline(TfidfVectorizer(), LogisticRegression()).fit(X["sex"] + "ex", Y), X[["sex"]], Y), ("model", "X['sex']")),
    (lambda: call("model.pkl", X, Y), ("model", "skops.io.dump(model, 'model.skops')")),
    (lambda: call(fitted(), X.mask(X["age"] > 60), Y), ("model", "missing")),
    (lambda: call(LinearRegression().fit(X[["age"]], HOURS), X, HOURS), ("favorable", "{'at_least': ")),
    (lambda: call(favorable=None), ("favorable", "favorable=1")),
    (lambda: call(fitted(), X, Y.map({0: "no", 1: "yes"}), favorable=None), ("favorable", "favorable='yes'")),
    (lambda: call(favorable=2), ("favorable", "0 or 1")),
    (lambda: call(protected=["gender"]), ("protected", "protected={'gender': values}")),
    (lambda: call(protected="ages"), ("protected", "'age'")),
    (lambda: call(fitted(), X.assign(town=[b"a", b"b"] * 60), Y, protected="town"), ("protected", "decode")),
    (lambda: call(weights=np.full(120, 0.5)), ("weights", "'kind': 'sampling'")),
    (lambda: call(fitted(), X[:0], Y[:0], protected="age"), ("X",)),
    (lambda: call(metrics=["f1"]), ("metrics", "{'NAME': FUNCTION}")),
    (lambda: call(seed="one"), ("seed",)),
    (lambda: call(fitted(), X.set_index(pd.Index([k if k % 2 else f"p{k}" for k in range(120)])), Y.to_numpy()), ("the table",)),
    (lambda: call(fitted(), X.set_index(pd.interval_range(0, 120)), Y.to_numpy()), ("the table",)),
    (lambda: call(LogisticRegression().fit(np.ones((120, 2)), Y), np.ones((120, 2)), Y, protected={"sex": X["sex"]}, audits="loss_ratio"), ("audits['loss_ratio']: features",)),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "answer"), PYTHON)
def test_python(mistake, answer):
    with refused(*answer) as told:
        mistake()
    said = str(told.value)
    assert not INTERNAL.search(said), said
    assert "np." not in said
    assert "type()" not in said
    assert not re.search(r"\bdata\.|model\.predictions", said), said


def test_what_was_noticed_while_reading_is_told_with_a_failure(tmp_path):
    with pd.ExcelWriter(tmp_path / "people.xlsx") as book:
        people().to_excel(book, sheet_name="first", index=False)
        people().rename(columns={"sex": "gender"}).to_excel(book, sheet_name="second", index=False)
    spec = {**GOOD, "data": {**DATA, "path": "people.xlsx", "protected": ["gender"]}}
    with refused("data.protected") as told:
        execute(parse_spec(spec, tmp_path))
    assert "second" in str(told.value)
