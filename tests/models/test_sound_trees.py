"""Boosters' files whose trees lead out of themselves are refused before anything follows them."""

from __future__ import annotations

import functools
import json
import re

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
import sklearn.tree

from audits.models.native import lightgbm_file, skops_file, xgboost_file
from audits.models.native.opened import ModelFile
from audits.models.native.structure import check_lightgbm, check_xgboost, check_xgboost_file
from tests.refused import refused

lightgbm = pytest.importorskip("lightgbm")
xgboost = pytest.importorskip("xgboost")


def people(words=True):
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    if words:
        x["c"] = pd.Categorical(rng.choice(list("uvwxyz"), 200))
    return x, rng.integers(0, 3, 200)


def boost(*, many=False, words=True, **options):
    x, y = people(words)
    options = {"n_estimators": 3, "max_depth": 3, "max_cat_to_onehot": 1, "n_jobs": 1, **options}
    model = xgboost.XGBClassifier(enable_categorical=words, **options)
    return model.fit(x, y if many else y > 0).get_booster()


def light(*, many=False, words=True, **options):
    x, y = people(words)
    options = {"n_estimators": 3, "num_leaves": 5, "min_child_samples": 5, "n_jobs": 1, **options}
    model = lightgbm.LGBMClassifier(verbose=-1, **options)
    return model.fit(x, y if many else y > 0).booster_.model_to_string()


@pytest.fixture(scope="module")
def written() -> tuple[str, str]:
    """What XGBoost writes, and LightGBM."""
    return boost().save_raw("json").decode(), light()


def test_what_xgboost_and_lightgbm_write_passes():
    exact = {"words": False, "tree_method": "exact", "gamma": 1}
    for options in ({}, {"many": True}, {"booster": "dart"}, exact):
        check_xgboost(bytes(boost(**options).save_raw("json")))
    linear, stump = {"words": False, "linear_tree": True}, {"min_child_samples": 190}
    for options in ({"many": True}, linear, stump, {"boosting_type": "dart"}):
        check_lightgbm(light(**options))


def opened(path, content):
    """Read a file as the reader of its ending does."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    if path.suffix == ".txt":
        return lightgbm_file.open_file(ModelFile.at(path, "LightGBM"))
    return xgboost_file.open_file(ModelFile.at(path, "XGBoost"))


TREE = ("gradient_booster", "model", "trees", 0)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ((*TREE, "left_children", 0), 0),
        ((*TREE, "left_children", 0), 10**8),
        ((*TREE, "right_children", 0), -7),
        ((*TREE, "split_indices", 0), 10**8),
        ((*TREE, "split_indices", 0), -5),
        (("attributes", "best_iteration"), "999999"),
        (("gradient_booster", "model", "tree_info"), [9, 0, 0]),
    ],
)
def test_trees_of_xgboost_that_lead_nowhere_are_refused(written, tmp_path, place, value):
    document = json.loads(written[0])
    at = functools.reduce(lambda inner, key: inner[key], place[:-1], document["learner"])
    at[place[-1]] = value
    with refused("XGBoost model m.json", *(["tree 0"] if TREE[-2] in place else [])):
        opened(tmp_path / "m.json", json.dumps(document))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"^left_child=\S+", "left_child=0"),
        (r"^left_child=\S+", "left_child=-100000"),
        (r"^split_feature=\S+", "split_feature=1000000"),
        (r"^num_leaves=\d+", "num_leaves=2000000000"),
        (r"^threshold=\S+", "threshold=nan"),
    ],
)
def test_trees_of_lightgbm_that_lead_nowhere_are_refused(written, tmp_path, old, new):
    text = re.sub(old, new, written[1], count=1, flags=re.MULTILINE)
    starts = [found.start() for found in re.finditer(r"^Tree=", text, re.MULTILINE)]
    stops = [*starts[1:], text.index("\nend of trees") + 1]
    sizes = " ".join(str(stop - start) for start, stop in zip(starts, stops, strict=True))
    text = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", text, flags=re.MULTILINE)
    with refused("LightGBM model m.txt", "tree 0"):
        opened(tmp_path / "m.txt", text)


def _told(length: int) -> bytes:
    return b"L" + length.to_bytes(8, "big", signed=True)


_NAMED = b"{" + _told(1) + b"a"
_NUMBERS = b"[$d#" + _told(3) + b"\0" * 12


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.json", b'{"learner":' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
        ("m.ubj", _NAMED + b"[" * 1_000_000),
        ("m.ubj", b"{" + (_told(1) + b"a{") * 100_000),
        ("m.ubj", _NAMED + b"[$d#" + _told(2**60) + b"}"),
        ("m.ubj", _NAMED + b"[$d#" + _told(-1) + b"}"),
        ("m.ubj", _NAMED + b"S" + _told(500) + b"x}"),
        ("m.ubj", _NAMED + b"[$[#" + _told(1) + b"}"),
        ("m.ubj", _NAMED + b"[#" + _told(2) + b"TQ}"),
        ("m.ubj", _NAMED + b"T"),
    ],
)
def test_what_xgboost_would_follow_too_deep_or_beyond_its_end_is_refused(tmp_path, name, content):
    with refused(f"XGBoost model {name}"):
        opened(tmp_path / name, content)


def test_ubjson_as_xgboost_writes_it_passes_whatever_its_numbers_look_like(tmp_path):
    check_xgboost_file(_NAMED + _NUMBERS + _told(1) + b"b[#" + _told(2) + b"TZ" + _told(1) + b"c[i\1]}")
    brackets = b"[$d#" + _told(1000) + b"[{[{" * 1000  # numbers, not levels
    check_xgboost_file(_NAMED + brackets + b"}")
    assert opened(tmp_path / "model.ubj", bytes(boost(many=True).save_raw("ubj"))).features


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("DecisionTreeClassifier", "left_child", 0),
        ("RandomForestClassifier", "feature", 10**8),
        ("GradientBoostingClassifier", "right_child", 10**8),
        ("HistGradientBoostingClassifier", "left", 0),
        ("HistGradientBoostingClassifier", "feature_idx", 10**8),
        ("HistGradientBoostingClassifier", "is_categorical", 1),
    ],
)
def test_trees_of_scikit_learn_that_lead_nowhere_are_refused(tmp_path, kind, field, value):
    skops = pytest.importorskip("skops.io")
    x, y = people(words=False)
    small = {"Hist": {"max_iter": 1}, "Deci": {}}.get(kind[:4], {"n_estimators": 1})
    model = getattr(sklearn.ensemble, kind, None) or getattr(sklearn.tree, kind)
    fitted = model(**small, max_depth=2).fit(x, y > 0)
    path = tmp_path / "m.skops"
    skops.dump(fitted, path)
    assert skops_file.open_file(ModelFile.at(path, "skops")).features
    if kind.startswith("Hist"):
        fitted._predictors[0][0].nodes[field][0] = value
    else:
        tree = fitted if kind.startswith("Deci") else np.ravel(fitted.estimators_)[0]
        tree.n_features_in_ = 10**9  # what the tree says of itself is not what it is given
        state = tree.tree_.__getstate__()
        state["nodes"] = state["nodes"].copy()
        state["nodes"][field][0] = value
        tree.tree_.__setstate__(state)
    skops.dump(fitted, path)
    with refused("skops model m.skops", "tree 0"):
        skops_file.open_file(ModelFile.at(path, "skops"))
