"""Dates as rules: everyone is in the bin that the words say."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.rule_sets import RuleSetsOptions
from audits.subgroups.binning import read_attributes
from tests.refused import refused
from tests.rule_sets.conftest import crowd, subject_of


def dated(moments, **options):
    """Return the attribute `since` made of dates, and the dates."""
    frame = crowd(len(moments)).assign(since=pd.Series(moments).to_numpy())
    frame["sex"] = np.where(frame.index % 2, "f", "m")
    data = subject_of(frame, ("sex",), kinds={"since": "datetime"}).data
    attributes, _ = read_attributes(data, RuleSetsOptions(context=("since",), **options))
    return attributes[1], data.frame["since"]


def said(words: str, moments: pd.Series) -> np.ndarray:
    """Who the words of a rule mean, read from the words alone."""
    if words in {"since missing", "since known"}:
        return (moments.isna() if words == "since missing" else moments.notna()).to_numpy()
    inside = moments.notna()
    for sign, end in re.findall(r"since (<|≤|≥|>|=) (.+)$", words):
        compare = {"<": "lt", "≤": "le", "≥": "ge", "=": "eq"}[sign]
        inside &= getattr(moments, compare)(pd.Timestamp(end))
    for low in re.findall(r"^(.+) ≤ since", words):
        inside &= moments >= pd.Timestamp(low)
    return inside.to_numpy()


@settings(max_examples=10)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 80),
    exponent=st.integers(0, 17),
    binning=st.sampled_from(["width", "quantile"]),
    intervals=st.sampled_from(["runs", "thresholds", "bins"]),
    bins=st.integers(2, 12),
)
def test_every_rule_holds_whom_its_words_say(seed, n, exponent, binning, intervals, bins):
    rng = np.random.default_rng(seed)
    ticks = 1_600_000_000_000_000 + rng.integers(0, 10**exponent + 1, n)
    moments = pd.Series(ticks.astype("datetime64[us]")).mask(rng.random(n) < 0.3)
    moments[0] = pd.Timestamp("2020-09-13 12:26:40")
    attribute, read = dated(moments, binning=binning, intervals=intervals, bins=bins)
    assert len(attribute.levels) <= bins + int(read.isna().any())
    for words, rule in zip(attribute.words, attribute.rules, strict=True):
        assert (rule[attribute.codes] == said(words, read)).all(), words


def test_edges_of_dates_are_refused():
    with refused("rule_sets.bins.since"):
        dated(pd.date_range("2024-01-01", periods=50), bins={"since": (1.0, 2.0, 3.0)})


def test_a_column_of_one_range_is_not_called_a_column_of_one_value():
    """Of 200 people 195 have no prior arrest: quantiles make one range of all, though values differ."""
    frame = crowd(200).assign(sex=np.where(np.arange(200) % 2, "f", "m"), same=0, rare=0)
    frame.loc[:4, "rare"] = [1, 2, 3, 7, 12]
    data = subject_of(frame, ("sex",), kinds={"same": "integer", "rare": "integer"}).data
    options = RuleSetsOptions(context=("same", "rare"), binning="quantile", bins=4)
    attributes, notes = read_attributes(data, options)
    assert [len(each.rules) for each in attributes[1:]] == [0, 0]
    assert notes[0].replace("same”", "rare”") != notes[1]
