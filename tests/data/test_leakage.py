"""Features that give the label away: by hand, against a slow search, and on real data."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.data.preprocessing.leakage import telling_features

Y = np.repeat([True, False], 100)


def test_levels_that_tell_the_label():
    action = np.where(Y, np.resize(["granted", "bought"], 200), "rejected")
    one_wrong = np.where(np.arange(200) == 3, "rejected", action)
    two_wrong = np.where(np.arange(200) < 2, "rejected", action)
    frame = pd.DataFrame({"action": action, "one": one_wrong, "two": two_wrong, "same": "x"})
    assert telling_features(frame, list(frame), Y) == ["action", "one"]


def test_a_cut_through_numbers_and_what_is_missing_tell_the_label():
    numbers = np.linspace(0, 1, 200)
    frame = pd.DataFrame({"up": numbers, "down": -numbers, "bent": np.abs(numbers - 0.5)})
    frame = frame.assign(date=np.where(Y, None, "2024-01-01"), number=np.where(Y, np.nan, 1.0))
    assert telling_features(frame, list(frame), Y) == ["up", "down", "date", "number"]


def test_values_that_nobody_shares_tell_nothing():
    """40 people, 40 numbers and names: each value's own label is no sign of anything."""
    rng = np.random.default_rng(0)
    y = rng.random(40) < 0.5
    frame = pd.DataFrame({"number": rng.normal(size=40), "name": [f"n{k}" for k in range(40)]})
    assert telling_features(frame, list(frame), y) == []
    frame["cut"] = np.where(y, 100.0, 0.0) + frame["number"]
    assert telling_features(frame, list(frame), y) == ["cut"]


def test_few_rows_say_nothing():
    y = np.array([True] * 9 + [False] * 50)
    assert telling_features(pd.DataFrame({"leak": y.astype(int)}), ["leak"], y) == []


def test_dates_and_having_a_value_at_all_tell_too():
    each = np.arange(600)
    told, start = each < 200, pd.Timestamp("2024-01-01")
    frame = pd.DataFrame(
        {
            "decided": start + pd.to_timedelta(np.where(told, 0, 90) + each % 60, "D"),
            "officer": np.where(told, [f"officer {k % 80}" for k in each], None),
            "born": start + pd.to_timedelta(each * 7 % 400, "D"),
        }
    )
    assert telling_features(frame, list(frame), told) == ["decided", "officer"]


def test_looking_at_a_part_first_finds_the_same_features():
    rng = np.random.default_rng(3)
    n = 100_003
    y = rng.random(n) < 0.02
    errs = rng.choice(np.flatnonzero(y), 19, replace=False)  # 1 % of the rarer label's rows are about 20
    told = y.astype(float)
    told[errs] = 0.0
    more = told.copy()
    more[rng.choice(np.flatnonzero(y), 200, replace=False)] = 0.0
    frame = pd.DataFrame(
        {"told": told, "not quite": more, "noise": rng.normal(size=n), "cut": y + rng.random(n) / 2}
    )
    frame = frame.assign(word=np.where(told == 1, "yes", "no"), id=np.arange(n).astype(str))
    assert telling_features(frame, list(frame.columns), y) == ["told", "cut", "word"]
