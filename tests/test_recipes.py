"""Each recipe of docs/models.md is run as written; what it wrote is loaded, and scores are compared."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from audits.data import build_data, data_spec, read_table
from audits.models import make_subject, model_spec

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"```python (\S+)\n(.*?)```", PAGE, flags=re.DOTALL))
FLOAT32 = 2e-6


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 70, 200),
            "income": rng.normal(size=200).round(3),
            "job": rng.choice(["cook", "judge", "nurse"], 200),
        }
    )
    y = (X["income"] + (X["job"] == "judge") + 0.3 * rng.normal(size=200) > 0.3).astype(int).to_numpy()
    return X, y, np.where(rng.random(200) < 0.5, "f", "m")


def run(name, folder, monkeypatch, **known):
    """Carry out a recipe in `folder` and return its names."""
    monkeypatch.chdir(folder)
    names = dict(known)
    exec(compile(RECIPES[name], f"docs/models.md: {name}", "exec"), names)
    return names


def scores_of_file(name, people, folder, features, **told):
    """Return the scores that an audit gets from the file, for everyone in file and spec order."""
    X, y, sex = people
    X.assign(y=y, sex=sex).to_csv(folder / "people.csv", index=False)
    section = {"label": "y", "favorable": 1, "protected": ["sex"], "features": features}
    data = build_data(read_table(folder / "people.csv"), data_spec(section))
    return make_subject(data, model_spec({"path": name, **told}), base_dir=folder).scores


def test_sklearn_pipeline_with_texts(people, tmp_path, monkeypatch):
    X, y, _ = people
    steps = make_column_transformer(
        (StandardScaler(), ["age", "income"]), (OneHotEncoder(handle_unknown="ignore"), ["job"])
    )
    model = make_pipeline(steps, LogisticRegression()).fit(X, y)
    run("sklearn", tmp_path, monkeypatch, model=model, X=X)
    found = scores_of_file("model.onnx", people, tmp_path, list(X))
    np.testing.assert_allclose(found, model.predict_proba(X)[:, 1], rtol=0, atol=FLOAT32)


def test_sklearn_on_a_matrix(people, tmp_path, monkeypatch):
    X, y, _ = people
    X = X[["age", "income"]]
    model = LogisticRegression().fit(X.to_numpy(), y)
    run("sklearn-matrix", tmp_path, monkeypatch, model=model, X=X)
    found = scores_of_file("model.onnx", people, tmp_path, list(X), columns=list(X))
    np.testing.assert_allclose(found, model.predict_proba(X.to_numpy())[:, 1], rtol=0, atol=FLOAT32)


def test_boosting_is_audited_in_python(people, tmp_path, monkeypatch):
    X, y, sex = people
    X = X.astype({"job": "category"})
    model = HistGradientBoostingClassifier(max_iter=15, categorical_features="from_dtype").fit(X, y)
    found = run("sklearn-boosting", tmp_path, monkeypatch, model=model, X=X, y=y, sex=sex)["results"]
    np.testing.assert_allclose(found.subject.scores, model.predict_proba(X)[:, 1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("recipe", ["torch", "torch-older"])
def test_torch(people, tmp_path, monkeypatch, recipe):
    X = people[0][["age", "income"]]
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Linear(2, 1), torch.nn.Sigmoid())
    run(recipe, tmp_path, monkeypatch, network=network, X=X)
    assert not (tmp_path / "model.onnx.data").exists()
    found = scores_of_file("model.onnx", people, tmp_path, list(X), columns=list(X))
    with torch.no_grad():
        own = network(torch.from_numpy(X.to_numpy(np.float32)))[:, 0].numpy()
    np.testing.assert_allclose(found, own, rtol=0, atol=FLOAT32)


def booster(name, X, y):
    """Return a small model of a library that may be missing, fitted with categories."""
    if name == "xgboost":
        kind = pytest.importorskip("xgboost").XGBClassifier
        return kind(n_estimators=10, enable_categorical=True, n_jobs=1).fit(X, y)
    if name == "lightgbm":
        kind = pytest.importorskip("lightgbm").LGBMClassifier
        return kind(n_estimators=10, min_child_samples=5, verbose=-1, n_jobs=1).fit(X, y)
    kind = pytest.importorskip("catboost").CatBoostClassifier
    told = {"cat_features": ["job"], "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    return kind(iterations=10, **told).fit(X, y)


BOOSTERS = [("xgboost", "model.json"), ("lightgbm", "model.txt"), ("catboost", "model.cbm")]


@pytest.mark.parametrize(("recipe", "file"), BOOSTERS)
def test_boosters_from_their_own_files(people, tmp_path, monkeypatch, recipe, file):
    X, y, _ = people
    typed = X.astype({"job": "category"})
    model = booster(recipe, typed, y)
    run(recipe, tmp_path, monkeypatch, model=model)
    found = scores_of_file(file, people, tmp_path, list(X))
    np.testing.assert_allclose(found, model.predict_proba(typed)[:, 1], rtol=0, atol=FLOAT32)
