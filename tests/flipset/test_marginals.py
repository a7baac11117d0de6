"""Marginals of a flipset: by hand, with missing values and heavy tails, and their p-values under chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp

from audits.flipset.describing import marginals
from tests.flipset.conftest import audited, subject_of


def one(values: list, flips: list[float], *, scaled: bool):
    frame = pd.DataFrame({"x": values})
    (found,) = marginals(frame, {"x": scaled}, np.array(flips), np.ones(len(frame)), np.random.default_rng(0))
    return found


def test_by_hand():
    found = one([1, 1, 2, 3], [1, 0, 0, 1], scaled=True)
    assert found.edges == (0.5, 1.5, 2.5, 3.5)
    assert found.population == (2, 1, 1)
    assert found.flipset == (1, 0, 1)
    # cumulative shares .5, .5, 1 against .5, .75, 1
    assert found.distance == pytest.approx(0.25)
    words = one(["a", "a", "b", "c"], [0, 0, 0.5, 0.5], scaled=False)
    # shares 0, .5, .5 against .5, .25, .25: half the summed gaps
    assert words.distance == pytest.approx(0.5)


def test_distance_is_the_two_sample_ks_of_whole_numbers():
    rng = np.random.default_rng(0)
    values = rng.integers(0, 20, 500)
    flips = (rng.uniform(size=500) < values / 25).astype(float)
    found = one(values.tolist(), flips.tolist(), scaled=True)
    assert found.distance == pytest.approx(ks_2samp(values[flips > 0], values).statistic)


def test_missing_numbers_are_a_value_of_their_own_and_nobody_is_lost():
    found = one([1.0, np.nan, 50.0, 3.5], [0, 1, 0, 0], scaled=True)
    assert found.edges is None
    assert found.categories[-1] == "(missing)"
    assert found.population[-1] == found.flipset[-1] == 1
    assert sum(found.population) == 4
    everyone = one([np.nan, np.nan], [1, 0], scaled=True)
    assert everyone.categories == ("(missing)",)


def test_long_tails_end_in_the_last_bar():
    values = [*range(1000), 10**9]
    found = one(values, [1.0] * 1001, scaled=True)
    assert sum(found.population) == 1001
    assert found.edges[-1] < 2000
    assert found.distance == 0


def test_random_flipsets_are_rarely_told_apart():
    """200 random subsets, three features: family-wise alarms at 5 % (16 or more have a chance of 5 %)."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("abc"))
    alarms = 0
    for _ in range(200):
        flips = np.zeros(300)
        flips[rng.choice(300, 40, replace=False)] = 1
        found = marginals(frame, dict.fromkeys("abc", True), flips, np.ones(300), rng)
        alarms += min(item.adjusted_p for item in found) <= 0.05
    assert alarms < 16


def test_missing_values_do_not_enter_the_transparency_report():
    frame = pd.DataFrame(
        {
            "x": [0.0, 1, 2, np.nan, 10, 11, 12, 13],
            "z": [0.0, 1, 2, 3, 0, 1, 2, 3],
            "group": list("aaaabbbb"),
            "decision": [0, 0, 0, 0, 1, 1, 1, 1],
        }
    )
    result = audited(
        subject_of(frame, features=("x", "z"), missing="category"),
        source={"group": "a"},
        target={"group": "b"},
        permutations=0,
    )
    report = {item.feature: item for item in result.negative.transparency}
    assert report["x"].mean_difference.n == 3
    assert report["x"].mean_sign.value == -1
    assert report["x is missing"].mean_difference.value == pytest.approx(0.25)
