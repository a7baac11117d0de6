"""Boosters' and skops files in a monitor: the audit's own numbers from plain rows, with frames or without."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load, save
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from audits.data import DataSpec, build_data, read_table
from audits.models import Subject, make_subject, model_spec
from audits.monitor.bundle import MonitorBundle
from audits.monitor.scoring import Scorer
from audits.sensitivity import SensitivityOptions, SensitivityResult, sensitivity
from tests.refused import refused

catboost = pytest.importorskip("catboost")
lightgbm = pytest.importorskip("lightgbm")
skops = pytest.importorskip("skops.io")
xgboost = pytest.importorskip("xgboost")

READ = ["town", "skill", "owner", "height", "job"]  # not in the table's order
FILES = ("m.json", "m.txt", "m.cbm", "m.skops")
QUICK = {"bootstrap": 100, "match_set": "off", "status_model": "logistic"}


def people(n: int = 700) -> pd.DataFrame:
    """Numbers with blanks, yes and no, words with blanks and with a ? that the audit reads as a blank."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "skill": rng.normal(size=n),
            "height": rng.normal(170, 10, n).round(),
            "town": rng.choice(["north", "south", "west"], n),
            "job": rng.choice(["cook", "judge", "?"], n),
            "owner": rng.random(n) < 0.4,
            "group": rng.choice(["a", "b"], n),
        }
    )
    worth = frame["skill"] + frame["height"] / 10 - 17 + frame["owner"] + (frame["town"] == "west")
    frame["hired"] = (worth + (frame["job"] == "?") + rng.normal(0, 1, n) > 0.8).astype(int)
    frame.loc[rng.random(n) < 0.15, "height"] = np.nan
    frame.loc[rng.random(n) < 0.15, "town"] = None
    return frame


def write(path: Path, frame: pd.DataFrame) -> None:
    """Fit what the ending of `path` says, and save it there."""
    x, y = frame[READ], frame["hired"]
    # levels in an order of their own, and one that nobody in the audit has
    towns = pd.Categorical(x["town"], categories=["west", "moon", "north", "south"])
    coded = x.assign(town=towns, job=pd.Categorical(x["job"], categories=["judge", "?", "cook"]))
    if path.suffix == ".json":
        trees = xgboost.XGBClassifier(n_estimators=15, enable_categorical=True, n_jobs=1)
        trees.fit(coded, y).save_model(path)
    elif path.suffix == ".txt":
        own = lightgbm.LGBMClassifier(n_estimators=15, min_child_samples=5, verbose=-1, n_jobs=1)
        own.fit(coded, y).booster_.save_model(path)
    elif path.suffix == ".cbm":
        texts = x.assign(town=x["town"].fillna(""), owner=x["owner"].astype(str))
        how = {"iterations": 15, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
        catboost.CatBoostClassifier(cat_features=["town", "job", "owner"], **how).fit(texts, y).save_model(
            path
        )
    else:
        encode = make_column_transformer(
            (OneHotEncoder(handle_unknown="ignore"), ["town", "job"]),
            (SimpleImputer(), ["height"]),
            remainder="passthrough",
        )
        skops.dump(make_pipeline(encode, RandomForestClassifier(10, random_state=0)).fit(x, y), path)


def audit(path: Path, frame: pd.DataFrame, **data: object) -> tuple[Subject, SensitivityResult]:
    given = {"features": ("skill", "height", "town", "job", "owner"), "missing": "category", **data}
    spec = DataSpec(**{"label": "hired", "favorable": 1, "protected": ("group",), **given})
    frame.to_parquet(path.with_name("people.parquet"))
    data = build_data(read_table(path.with_name("people.parquet")), spec)
    subject = make_subject(data, model_spec({"path": str(path)}), seed=0)
    return subject, sensitivity(subject, SensitivityOptions(**QUICK))


@pytest.fixture(scope="module", params=FILES)
def audited(request, tmp_path_factory) -> tuple[Subject, SensitivityResult, MonitorBundle]:
    path, frame = tmp_path_factory.mktemp("files") / request.param, people()
    write(path, frame)
    subject, found = audit(path, frame)
    return subject, found, MonitorBundle.parse(*MonitorBundle.of(found).dump())


def sent(frame: pd.DataFrame, names: tuple[str, ...]) -> list[dict[str, object]]:
    return json.loads(frame[list(names)].to_json(orient="records", double_precision=15))


def test_a_file_travels_and_gives_the_audits_numbers(audited):
    subject, found, bundle = audited
    frame = subject.data.frame.loc[found.people.index]
    rows = sent(frame, bundle.reads)
    assert {None} < {row["job"] for row in rows}, "the table says ?"
    assert bundle.audited.feeding is not None
    for scored in (bundle.score(frame), bundle.score(rows)):
        np.testing.assert_allclose(scored.score, found.people["score"], rtol=0, atol=1e-12)
        np.testing.assert_allclose(scored.sensitivity, found.people["sensitivity"], rtol=1e-9)
        np.testing.assert_array_equal(scored.flagged, found.people["flagged"])
        np.testing.assert_allclose(scored.contributions, found.contributions, rtol=1e-9, atol=1e-12)
        assert not scored.unseen
    assert (found.people["sensitivity"] > 0).mean() > 0.9
    there = frame.head(60).rename_axis(index=None).assign(town="moon")  # which the audit never saw
    scored = bundle.score(sent(there, bundle.reads))
    np.testing.assert_allclose(scored.score, subject.favorable_score(there), rtol=0, atol=1e-12)
    assert len(scored.unseen) == 60


@pytest.mark.parametrize("audited", ["m.skops"], indirect=True)
def test_a_library_works_within_the_workers_limits(audited):
    subject, found, bundle = audited
    rows = sent(subject.data.frame.loc[found.people.index].head(100), bundle.reads)
    columns, scorer = {name: [row[name] for row in rows] for name in bundle.reads}, Scorer()
    try:
        scored = scorer.score(bundle.audited.feeding["format"], bundle, columns, len(rows))
    finally:
        scorer.close()
    np.testing.assert_allclose(scored.sensitivity, found.people["sensitivity"].head(100), rtol=1e-9)


@pytest.mark.parametrize("audited", ["m.txt"], indirect=True)
def test_a_file_that_is_another_one_is_told_by_its_name(audited):
    _, _, bundle = audited
    text, weights = bundle.dump()
    arrays = load(weights)
    arrays["file"] = arrays["file"][:-1].copy()
    with refused(bundle.audited.feeding["name"]):
        MonitorBundle.parse(text, save(arrays)).score([dict.fromkeys(bundle.reads)])
