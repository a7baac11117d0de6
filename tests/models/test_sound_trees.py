"""Boosters' files whose trees lead out of themselves are refused before anything follows them."""

from __future__ import annotations

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


def people():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    x["c"] = pd.Categorical(rng.choice(list("uvwxyz"), 200))
    return x, rng.integers(0, 3, 200)


def boost(**options):
    x, y = people()
    options = {
        "n_estimators": 3,
        "max_depth": 3,
        "enable_categorical": True,
        "max_cat_to_onehot": 1,
        **options,
    }
    y = y if options.pop("many", False) else y > 0
    return xgboost.XGBClassifier(**options).fit(x, y).get_booster()


def light(**options):
    x, y = people()
    options = {"n_estimators": 3, "num_leaves": 5, "verbose": -1, "min_child_samples": 5, **options}
    many, plain = options.pop("many", False), options.get("linear_tree", False)
    fitted = lightgbm.LGBMClassifier(**options).fit(x.drop(columns="c") if plain else x, y if many else y > 0)
    return fitted.booster_.model_to_string()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"many": True},
        {"booster": "dart"},
        {"tree_method": "exact", "enable_categorical": False, "gamma": 1},
    ],
)
def test_what_xgboost_writes_passes(options):
    if options.get("enable_categorical") is False:
        x, y = people()
        made = xgboost.XGBClassifier(n_estimators=3, tree_method="exact", gamma=1).fit(x[["a", "b"]], y > 0)
        check_xgboost(bytes(made.get_booster().save_raw("json")))
    else:
        check_xgboost(bytes(boost(**options).save_raw("json")))


@pytest.mark.parametrize(
    "options",
    [{}, {"many": True}, {"linear_tree": True}, {"min_child_samples": 190}, {"boosting_type": "dart"}],
)
def test_what_lightgbm_writes_passes(options):
    check_lightgbm(light(**options))


@pytest.mark.parametrize(
    ("key", "place", "value"),
    [
        ("left_children", 0, 0),
        ("left_children", 0, 10**8),
        ("right_children", 0, -7),
        ("split_indices", 0, 10**8),
        ("split_indices", 0, -5),
    ],
)
def test_trees_of_xgboost_that_lead_nowhere_are_refused(tmp_path, key, place, value):
    document = json.loads(boost().save_raw("json"))
    document["learner"]["gradient_booster"]["model"]["trees"][0][key][place] = value
    path = tmp_path / "m.json"
    path.write_text(json.dumps(document))
    with refused("XGBoost model m.json", "tree 0"):
        xgboost_file.open_file(ModelFile.at(path, "XGBoost"))


def test_other_lies_of_an_xgboost_file_are_refused(tmp_path):
    path = tmp_path / "m.json"
    whole = json.loads(boost().save_raw("json"))
    for change in (
        lambda learner: learner["attributes"].update(best_iteration="999999"),
        lambda learner: learner["gradient_booster"]["model"].update(tree_info=[9, 0, 0]),
    ):
        document = json.loads(json.dumps(whole))
        change(document["learner"])
        path.write_text(json.dumps(document))
        with refused("XGBoost model m.json"):
            xgboost_file.open_file(ModelFile.at(path, "XGBoost"))
    path.write_bytes(b'{"learner":' + b"[" * 200_000 + b"]" * 200_000 + b"}")
    with refused("XGBoost model m.json", "500"):
        xgboost_file.open_file(ModelFile.at(path, "XGBoost"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"^left_child=\S+", "left_child=0"),
        (r"^left_child=\S+", "left_child=100000"),
        (r"^left_child=\S+", "left_child=-100000"),
        (r"^split_feature=\S+", "split_feature=1000000"),
        (r"^num_leaves=\d+", "num_leaves=2000000000"),
        (r"^threshold=\S+", "threshold=nan"),
    ],
)
def test_trees_of_lightgbm_that_lead_nowhere_are_refused(tmp_path, old, new):
    text = re.sub(old, new, light(), count=1, flags=re.MULTILINE)
    path = tmp_path / "m.txt"
    path.write_text(text)
    if len(text) != len(light()):
        with refused("LightGBM model m.txt"):
            lightgbm_file.open_file(ModelFile.at(path, "LightGBM"))
    starts = [found.start() for found in re.finditer(r"^Tree=", text, re.MULTILINE)]
    stops = [*starts[1:], text.index("\nend of trees") + 1]
    sizes = " ".join(str(stop - start) for start, stop in zip(starts, stops, strict=True))
    path.write_text(re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", text, flags=re.MULTILINE))
    with refused("LightGBM model m.txt", "tree 0"):
        lightgbm_file.open_file(ModelFile.at(path, "LightGBM"))


def _told(length: int) -> bytes:
    return b"L" + length.to_bytes(8, "big", signed=True)


_NAMED = b"{" + _told(1) + b"a"
_NUMBERS = b"[$d#" + _told(3) + b"\0" * 12


@pytest.mark.parametrize(
    "content",
    [
        _NAMED + b"[" * 1_000_000,
        b"{" + (_told(1) + b"a{") * 100_000,
        _NAMED + (b"[#" + _told(1)) * 100_000,
        _NAMED + b"[$d#" + _told(2**60) + b"}",
        _NAMED + b"[$d#" + _told(-1) + b"}",
        _NAMED + b"S" + _told(500) + b"x}",
        _NAMED + b"[$[#" + _told(1) + b"}",
        _NAMED + b"[#" + _told(2) + b"TQ}",
        _NAMED + b"T",
    ],
)
def test_ubjson_that_xgboost_would_follow_beyond_its_end_is_refused(tmp_path, content):
    path = tmp_path / "model.ubj"
    path.write_bytes(content)
    with refused("XGBoost model model.ubj"):
        xgboost_file.open_file(ModelFile.at(path, "XGBoost"))


def test_ubjson_as_xgboost_writes_it_passes_whatever_its_numbers_look_like(tmp_path):
    check_xgboost_file(_NAMED + _NUMBERS + _told(1) + b"b[#" + _told(2) + b"TZ" + _told(1) + b"c[i\1]}")
    brackets = b"[$d#" + _told(1000) + b"[{[{" * 1000  # numbers, not levels
    check_xgboost_file(_NAMED + brackets + b"}")
    path = tmp_path / "model.ubj"
    boost(many=True).save_model(path)
    assert xgboost_file.open_file(ModelFile.at(path, "XGBoost")).features


def _bent(tree, field: str, value: int) -> None:
    """Give the root of one of scikit-learn's trees another child or feature."""
    state = tree.__getstate__()
    state["nodes"] = state["nodes"].copy()
    state["nodes"][field][0] = value
    tree.__setstate__(state)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("DecisionTreeClassifier", "left_child", 0),
        ("DecisionTreeClassifier", "right_child", 10**8),
        ("RandomForestClassifier", "feature", 10**8),
        ("GradientBoostingClassifier", "feature", 2),
        ("HistGradientBoostingClassifier", "left", 0),
        ("HistGradientBoostingClassifier", "feature_idx", 10**8),
        ("HistGradientBoostingClassifier", "is_categorical", 1),
    ],
)
def test_trees_of_scikit_learn_that_lead_nowhere_are_refused(tmp_path, kind, field, value):
    skops = pytest.importorskip("skops.io")
    x, y = people()
    small = {"Hist": {"max_iter": 1}, "Deci": {}}.get(kind[:4], {"n_estimators": 1})
    model = getattr(sklearn.ensemble, kind, None) or getattr(sklearn.tree, kind)
    fitted = model(**small, max_depth=2).fit(x[["a", "b"]], y > 0)
    path = tmp_path / "m.skops"
    skops.dump(fitted, path)
    assert skops_file.open_file(ModelFile.at(path, "skops")).features
    if kind.startswith("Hist"):
        fitted._predictors[0][0].nodes[field][0] = value
    else:
        tree = fitted if kind.startswith("Deci") else np.ravel(fitted.estimators_)[0]
        tree.n_features_in_ = 10**9  # what the tree says of itself is not what it is given
        _bent(tree.tree_, field, value)
    skops.dump(fitted, path)
    with refused("skops model m.skops", "tree 0"):
        skops_file.open_file(ModelFile.at(path, "skops"))
