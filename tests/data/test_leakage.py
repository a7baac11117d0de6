"""Features that give the label away: by hand, against a slow search, and on real data."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.data.preprocessing.leakage import _cut_errors, telling_features

Y = np.repeat([True, False], 100)


def test_levels_that_tell_the_label():
    action = np.where(Y, np.resize(["granted", "bought"], 200), "rejected")
    one_wrong = np.where(np.arange(200) == 3, "rejected", action)
    two_wrong = np.where(np.arange(200) < 2, "rejected", action)
    frame = pd.DataFrame({"action": action, "one": one_wrong, "two": two_wrong, "same": "x"})
    assert telling_features(frame, list(frame), Y) == ["action", "one"]


def test_missing_values_tell_too():
    frame = pd.DataFrame({"date": np.where(Y, None, "2024-01-01"), "number": np.where(Y, np.nan, 1.0)})
    assert telling_features(frame, list(frame), Y) == ["date", "number"]


def test_a_cut_through_numbers_tells_the_label():
    numbers = np.linspace(0, 1, 200)
    frame = pd.DataFrame({"up": numbers, "down": -numbers, "bent": np.abs(numbers - 0.5)})
    assert telling_features(frame, list(frame), Y) == ["up", "down"]


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


NUMBERS = st.sampled_from([np.nan, 0.0, 1.0, 2.0, 3.5, np.inf])


@settings(max_examples=25)
@given(st.lists(st.tuples(NUMBERS, st.booleans()), min_size=1, max_size=30))
def test_the_best_cut_against_every_cut(rows: list[tuple[float, bool]]):
    numbers, y = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    known = ~np.isnan(numbers)
    cuts = [-np.inf, *np.unique(numbers[known])]
    wrong = [((numbers[known] > cut) != (y[known] ^ turn)).sum() for cut in cuts for turn in (False, True)]
    absent = min(y[~known].sum(), (~y[~known]).sum())
    assert _cut_errors(numbers, y, np.ones(len(y))) == min(wrong) + absent


def test_dates_and_having_a_value_at_all_tell_too():
    told = np.arange(600) < 200
    frame = pd.DataFrame(
        {
            "decided": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(np.where(told, 0, 90) + np.arange(600) % 60, "D"),
            "officer": np.where(told, [f"officer {k % 80}" for k in range(600)], None),
            "born": pd.Timestamp("1980-01-01") + pd.to_timedelta(np.arange(600) * 7 % 400, "D"),
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
        {
            "told": told,
            "not quite": more,
            "noise": rng.normal(size=n),
            "cut": y + rng.random(n) / 2,
            "word": np.where(told == 1, "yes", "no"),
            "id": np.arange(n).astype(str),
        }
    )
    assert telling_features(frame, list(frame.columns), y) == ["told", "cut", "word"]
