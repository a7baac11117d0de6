"""Where trees split, in the table's own columns: whatever steps stand before, scores change nowhere else."""

from __future__ import annotations

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import skops.io
import xgboost
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType, StringTensorType
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import audits
from audits.models import ModelSpec, make_subject
from tests.models.conftest import audit_data

READ = ["age", "income", "job"]


@pytest.fixture(scope="module")
def crowd():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(18, 80, 160), "income": rng.normal(30, 9, 160).round(2)})
    frame["job"] = rng.choice(["cook", "clerk", "smith"], 160)
    frame["sex"] = rng.choice(["f", "m"], 160)
    worth = (frame["age"] - 45) / 15 + (frame["income"] - 30) / 9 + rng.normal(size=160)
    return frame.assign(hired=(worth > 0.5).astype(int)).rename_axis("row")


def encoded(step="passthrough"):
    return make_column_transformer((OneHotEncoder(), ["job"]), (step, ["age", "income"]))


def forest():
    return RandomForestClassifier(4, random_state=0)


def in_memory(crowd, model, read=READ, **changed):
    x = crowd[read].assign(**changed)
    told = {"favorable": 1, "protected": {"sex": crowd["sex"]}, "audits": {"groups": {"bootstrap": 0}}}
    return audits.audit(model.fit(x, crowd["hired"]), x, crowd["hired"], **told).subject


def check(subject, columns=("age", "income")):
    for column in columns:
        edges = subject.splits[column]
        assert (np.diff(edges) > 0).all()
        along = np.linspace(0.0, 90.0, 901)
        rows = subject.data.frame.iloc[[0] * len(along)].reset_index(drop=True)
        scores = subject.favorable_score(rows.assign(**{column: along}))
        changes = np.flatnonzero(np.diff(scores))
        assert len(changes) > 1
        near = np.searchsorted(edges, along[changes] - 1e-4)
        assert (near < len(edges)).all()
        assert (edges[near] <= along[changes + 1] + 1e-4).all()


def test_of_estimators_and_boosters_in_memory(crowd):
    check(in_memory(crowd, make_pipeline(encoded(StandardScaler()), forest())))
    boosting = HistGradientBoostingClassifier(max_iter=4, categorical_features="from_dtype")
    check(in_memory(crowd, boosting, job=crowd["job"].astype("category")))
    trees = GradientBoostingClassifier(n_estimators=2)
    quiet = {"verbose": 0, "thread_count": 1, "allow_writing_files": False}
    for model in (
        BaggingClassifier(trees, 3, max_features=1, random_state=0),
        VotingClassifier([("a", forest()), ("b", forest())], voting="soft"),
        xgboost.XGBClassifier(n_estimators=4, n_jobs=1),
        lightgbm.LGBMClassifier(n_estimators=4, verbose=-1, n_jobs=1),
        catboost.CatBoostClassifier(iterations=4, **quiet),
    ):
        check(in_memory(crowd, model, READ[:2]))


def test_of_what_is_no_tree_or_no_straight_line(crowd):
    assert in_memory(crowd, LogisticRegression(), READ[:2]).splits is None
    mixed = VotingClassifier([("a", forest()), ("b", LogisticRegression())], voting="soft")
    assert in_memory(crowd, mixed, READ[:2]).splits is None
    bent = make_column_transformer((FunctionTransformer(np.log), ["age"]), ("passthrough", ["income"]))
    subject = in_memory(crowd, make_pipeline(bent, forest()), READ[:2])
    assert list(subject.splits) == ["income"]
    check(subject, ["income"])


def test_of_files_and_of_trees_trained_here(crowd, tmp_path):
    own = make_pipeline(encoded(), forest()).fit(crowd[READ], crowd["hired"])
    kinds = [FloatTensorType, FloatTensorType, StringTensorType]
    types = [(name, kind([None, 1])) for name, kind in zip(READ, kinds, strict=True)]
    graph = to_onnx(own, initial_types=types, options={"zipmap": False})
    (tmp_path / "m.onnx").write_bytes(graph.SerializeToString())
    skops.io.dump(own, tmp_path / "m.skops")
    data = audit_data(crowd, favorable=1, features=tuple(READ))
    for name in ("m.onnx", "m.skops"):
        check(make_subject(data, ModelSpec(path=str(tmp_path / name))))
    for kind in ("forest", "boosting"):
        check(make_subject(data, ModelSpec(train=kind)))
