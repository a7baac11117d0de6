"""A gap's parts by feature: closed forms, efficiency, features that are ignored, doubled or interact."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import evenhand
from audits.explain import ExplainResult
from audits.explain.sections import section
from audits.results import load_result, save_result
from tests.refused import refused

GROUPS = {"source": {"g": "x"}, "target": {"g": "y"}}


class Scorer:
    """A model of two classes whose probability is a function of the columns."""

    classes_ = np.array([0, 1])

    def __init__(self, function: Callable[[pd.DataFrame], np.ndarray]) -> None:
        self.function = function

    def predict_proba(self, frame: pd.DataFrame) -> np.ndarray:
        chance = np.asarray(self.function(frame), dtype=float)
        return np.column_stack([1 - chance, chance])


def people(n: int = 300, seed: int = 0, columns: str = "abc") -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.uniform(-1, 1, n) for name in columns})
    frame["g"] = np.where(rng.random(n) < 0.4, "x", "y")
    frame.loc[frame["g"] == "x", "a"] += 0.5
    return frame


def attributed(function: Callable, frame: pd.DataFrame, weights=None, **more: object) -> ExplainResult:
    asked = {"explain": {**GROUPS, "draws": 200, "attribution": True, **more}}
    told = {"favorable": 1, "protected": "g", "columns": list("abc"), "search": False}
    told |= {} if weights is None else {"weights": weights}
    return evenhand.audit(Scorer(function), frame, np.arange(len(frame)) % 2, audits=asked, **told)["explain"]


def straight(frame: pd.DataFrame) -> pd.Series:
    return 0.5 + 0.1 * frame["a"]


def parts(result: ExplainResult) -> dict[str, float]:
    assert result.attribution is not None
    return {each.feature: each.part.value for each in result.attribution.features}


def test_an_additive_model_has_each_features_own_difference_of_means():
    frame = people()
    found = attributed(lambda x: 0.4 + 0.1 * x["a"] + 0.05 * np.sin(3 * x["b"]), frame)
    inside = frame["g"] == "x"
    own = pd.DataFrame({"a": 0.1 * frame["a"], "b": 0.05 * np.sin(3 * frame["b"]), "c": 0.0})
    expected = own[inside].mean() - own[~inside].mean()
    assert parts(found) == pytest.approx(expected.to_dict(), abs=1e-12)
    assert found.attribution.features[0].feature == "a"
    assert found.attribution.gap.value == pytest.approx(expected.sum(), abs=1e-12)
    ignored = {each.feature: each.part for each in found.attribution.features}["c"]
    assert ignored.low <= 0.0 <= ignored.high


def exact(function: Callable, frame: pd.DataFrame, names: str) -> dict[str, float]:
    """The slow obvious value: every coalition, every pair of people."""
    source, target = (frame[frame["g"] == each].reset_index(drop=True) for each in "xy")
    pairs = pd.merge(source, target, how="cross", suffixes=("", "_y"))

    def worth(coalition: tuple[str, ...]) -> float:
        rows = {each: pairs[each if each in coalition else f"{each}_y"] for each in names}
        return float(np.mean(function(pd.DataFrame(rows))))

    d, found = len(names), dict.fromkeys(names, 0.0)
    for name in names:
        rest = [each for each in names if each != name]
        for k in range(d):
            weight = math.factorial(k) * math.factorial(d - k - 1) / math.factorial(d)
            for chosen in itertools.combinations(rest, k):
                found[name] += weight * (worth((*chosen, name)) - worth(chosen))
    return found


def test_an_interaction_is_shared_as_shapleys_value_shares_it():
    frame = people(300)
    frame.loc[frame["g"] == "x", "b"] += 0.4

    def function(x: pd.DataFrame) -> np.ndarray:
        return 0.3 + 0.2 * (x["a"] > 0.2) * (x["b"] > 0.1) + 0.02 * x["c"] * x["a"]

    found = attributed(function, frame)
    wanted = exact(function, frame, "abc")
    for each in found.attribution.features:
        assert each.part.value == pytest.approx(wanted[each.feature], abs=5 * each.monte_carlo + 1e-12)
        assert each.part.low < wanted[each.feature] < each.part.high
        assert each.monte_carlo < 0.02


def test_it_is_asked_for_and_kept(tmp_path):
    found = attributed(straight, people(200))
    save_result(found, tmp_path, "explain")
    assert load_result(ExplainResult, tmp_path, "explain").attribution == found.attribution
    part = found.to_json()["attribution"]
    assert part["features"][0]["part"].keys() >= {"value", "low", "high", "n", "method"}
    assert "attribution" in {each.key for each in section(found).exhibits}
    plain = attributed(straight, people(200), attribution=False)
    assert plain.attribution is None
    assert plain.judged == found.judged  # moves no other number
    assert "attribution" not in {each.key for each in section(plain).exhibits}


def test_few_people_have_no_interval_and_stored_predictions_no_attribution():
    frame = people(24).assign(g=["x"] * 8 + ["y"] * 16)
    found = attributed(straight, frame)
    assert {each.part.low for each in found.attribution.features} == {None}
    with refused("audits['explain'].attribution"):
        attributed(straight, frame, outcome="label")
    asked = {"explain": {**GROUPS, "attribution": True}}
    told = {"scores": np.linspace(0, 1, 24), "protected": "g", "threshold": 0.5, "search": False}
    with refused("audits['explain'].attribution"):
        evenhand.audit(None, frame, audits=asked, **told)


def test_counts_are_people():
    frame, sizes = people(120), np.tile([1, 3], 60)
    counted = attributed(straight, frame, sizes)
    single = attributed(straight, frame.loc[frame.index.repeat(sizes)].reset_index(drop=True))
    assert parts(counted) == pytest.approx(parts(single), abs=1e-9)
    widths = [
        each.attribution.features[0].part.high - each.attribution.features[0].part.low
        for each in (counted, single)
    ]
    assert widths[0] == pytest.approx(widths[1], rel=0.05)
