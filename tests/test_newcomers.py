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
from sklearn.linear_model import LogisticRegression

import audits
from audits.data import DataSpec, build_data
from audits.errors import InputError
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.cases import cases
from tests.refused import refused

GOOD = {
    "data": {
        "path": "people.csv",
        "label": "paid",
        "favorable": 1,
        "protected": ["sex"],
        "features": ["age", "hours"],
    },
    "model": {"predictions": {"score": "score"}},
    "audits": [{"groups": {"bootstrap": 0}}],
}
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


def data(**changes):
    return {"data": {**GOOD["data"], **changes}}


def model(section):
    return {"model": section}


def audited(*items):
    return {"audits": list(items)}


SPECS = [
    *cases(__file__, "newcomers_specs.yaml"),
]


@pytest.mark.parametrize(("change", "answer"), SPECS, ids=[answer[:40] for _, answer in SPECS])
def test_specs(folder, change, answer):
    spec = {**copy.deepcopy(GOOD), **change}
    with pytest.raises(InputError) as told:
        execute(parse_spec(spec, folder))
    said = str(told.value)
    assert answer in said
    assert not INTERNAL.search(said), said


def fitted():
    frame = people()
    return LogisticRegression().fit(frame[["age", "hours"]], frame["paid"])


def call(*given, **named):
    frame = people()
    X = frame[["sex", "age", "hours"]]
    defaults = {"favorable": 1, "protected": "sex", "audits": {"groups": {"bootstrap": 0}}}
    if not given:
        given = (fitted(), X, frame["paid"])
    return audits.audit(*given, **{**defaults, **named})


X = people()[["sex", "age", "hours"]]
Y = people()["paid"]
PYTHON = [
    (lambda: audits.audit(fitted(), X, Y, sensitive_features="sex"), "sensitive_features is not an argument of evenhand.audit; write protected='COLUMN'"),
    (lambda: audits.audit(fitted(), X, Y, y_prob=[1]), "write evenhand.audit(None, X, y, scores=…)"),
    (lambda: audits.audit(fitted(), X, Y, pos_label=1), "write favorable=VALUE"),
    (lambda: audits.audit(fitted(), X, Y, privileged_groups=[{}]), "audits={'flipset': {'source'"),
    (lambda: audits.audit(fitted(), X, Y, "sex"), "evenhand.audit takes model, X, y by place, and the rest by name, got 'sex'"),
    (lambda: audits.audit(fitted()), "X is missing; write evenhand.audit(model, X, y, favorable=…, protected=…)"),
    (lambda: audits.audit(fitted(), X, Y, favorable=1), "protected is missing: it names the groups to compare"),
    (lambda: audits.audit(fitted(), X, Y, protected="sex"), "favorable is missing: which value of y is good"),
    (lambda: call(favorable="yes"), "favorable must be a label value, got 'yes'; choose 0 or 1"),
    (lambda: call(protected="gender"), "protected must be a column of X, got 'gender'"),
    (lambda: call("LogisticRegression", X, Y), "model must be the model itself or the path of its file, got"),
    (lambda: call(LogisticRegression, X, Y), "model must be a fitted model, not its class"),
    (lambda: call(LogisticRegression(), X, Y), "it is not fitted); fit it first"),
    (lambda: call(X, fitted(), Y), "the model comes first"),
    (lambda: call(fitted(), "people.csv", Y), "read it first: X = pandas.read_csv('people.csv')"),
    (lambda: call(fitted(), "s3://bucket/x.csv", Y), "addresses are not opened"),
    (lambda: call(fitted(), pl.from_pandas(X).lazy(), Y), "collect it first: X.collect()"),
    (lambda: call(fitted(), X.to_dict("list"), Y), "make it a frame first: pandas.DataFrame(X)"),
    (lambda: call(fitted(), X, Y[:5].to_numpy()), "y must have one entry for each of the 120 rows of X, got 5"),
    (lambda: call(fitted(), X, Y.sample(frac=1, random_state=0)), "y must have the index of X"),
    (lambda: call(fitted(), X.drop(columns="age"), Y), "X must hold the columns that the model was fitted on, but lacks 'age'"),
    (lambda: call(fitted(), X["age"].to_numpy(), Y), "give one row per person and one column per feature"),
    (lambda: call(audits="equalized_odds"), "audits must be the name of an audit, got 'equalized_odds'; write 'groups'"),
    (lambda: call(audits={"groups": {"by": "sex"}}), "audits['groups'].by must be a list, got 'sex'; write by: [sex]"),
    (lambda: call(None, X, Y), "model must be given in exactly one way, but there is none"),
    (lambda: call(None, X, Y, predictions=np.linspace(0, 1, 120)), "predictions must be predicted labels, but they look like scores"),
    (lambda: call(lambda table: np.zeros(3), X, Y), "model must give one answer for each of 120 people"),
    (lambda: call(lambda table: table["nowhere"], X, Y), "fails on them (KeyError: 'nowhere')"),
    (lambda: call(threshold=50), "threshold must lie in [0, 1]"),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "answer"), PYTHON, ids=[answer[:40] for _, answer in PYTHON])
def test_python(mistake, answer):
    with pytest.raises(InputError) as told:
        mistake()
    said = str(told.value)
    assert answer in said
    if "fails on them" not in said:  # what the model itself said stands there
        assert not INTERNAL.search(said), said
    assert not re.search(r"\bdata\.|model\.predictions", said), said


def test_polars_where_pandas_was_expected():
    table = pl.from_pandas(people())
    made = build_data(table, DataSpec(label="paid", favorable=1, protected=("sex",), features=("age",)))
    assert made.n == 120


def test_what_was_noticed_while_reading_is_told_with_a_failure(tmp_path):
    with pd.ExcelWriter(tmp_path / "people.xlsx") as book:
        people().to_excel(book, sheet_name="first", index=False)
        people().rename(columns={"sex": "gender"}).to_excel(book, sheet_name="second", index=False)
    spec = {**copy.deepcopy(GOOD), **data(path="people.xlsx", protected=["gender"])}
    with refused("data.protected") as told:
        execute(parse_spec(spec, tmp_path))
    assert "Noticed while reading:" in str(told.value)
    assert "second" in str(told.value)
