"""A verdict follows from one interval: every case, and its error rates by simulation."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.stats import (
    EVIDENCE,
    INSUFFICIENT,
    NO_MATERIAL,
    Condition,
    Estimate,
    judge,
    judge_across,
    judge_conditions,
    worst_of,
)
from audits.stats.badges import limit_words
from audits.stats.verdicts import limit_of, limits_of

ENDS = st.integers(-10_000, 10_000).map(lambda whole: whole / 10_000)
LIMITS = st.integers(100, 5_000).map(lambda whole: whole / 10_000)


def estimate(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, low, high, 100, "by hand")


@settings(max_examples=60)
@given(ENDS, ENDS, LIMITS, st.none() | st.floats(0, 1))
def test_the_verdict_is_a_function_of_the_interval(a, b, material, p):
    low, high = min(a, b), max(a, b)
    judged = judge(estimate(low, high), immaterial=(-material, material), p_value=p)
    excludes = low > 0 or high < 0
    inside = -material <= low and high <= material
    assert (judged.material is False) == inside
    if judged.verdict == EVIDENCE:
        assert excludes
        assert p is None or p <= 0.05
        assert (judged.material is True) == (not inside and (low >= material or high <= -material))
        assert judged.badge == ("small difference" if inside else "difference")
    elif judged.verdict == NO_MATERIAL:
        assert not excludes
        assert -material <= low <= high <= material
    else:
        assert not (excludes and (p is None or p <= 0.05))
        assert excludes or low < -material or high > material
    mirrored = judge(estimate(-high, -low), immaterial=(-material, material), p_value=p)
    assert (mirrored.verdict, mirrored.material) == (judged.verdict, judged.material)


def test_a_tolerance_and_ratios():
    ratio = Estimate(1.6, 1.3, 1.9, 100, "by hand")
    assert judge(ratio, none=(0, 1.25), immaterial=(-math.inf, 1.25)).verdict == EVIDENCE
    assert judge(ratio, none=(0, 1.5), immaterial=(-math.inf, 1.5)).verdict == INSUFFICIENT
    assert judge(ratio, none=(0, 2.0), immaterial=(-math.inf, 2.0)).verdict == NO_MATERIAL
    assert judge(ratio, none=1.0, immaterial=(0.8, 1.25)).material is True
    rounded = estimate(-0.05, 0.4 - 0.3)  # a tenth, but for the last digit
    assert judge(rounded, immaterial=(-0.1, 0.1)).verdict == NO_MATERIAL


def test_without_an_interval_and_on_estimates_alone_it_is_insufficient():
    limit = {"immaterial": (-0.1, 0.1)}
    judged = judge(Estimate(None, None, None, 0, "nobody"), **limit, reason="there is nobody")
    assert (judged.verdict, judged.reason) == (INSUFFICIENT, "there is nobody")
    sure = judge(estimate(0.3, 0.4), **limit, people_needed=9, only_estimated="a search found it")
    assert (sure.verdict, sure.reason, sure.people_needed) == (INSUFFICIENT, "a search found it", None)
    # nobody is asked for more people than there are
    wide = estimate(-0.4, 0.4)
    assert judge(wide, **limit, people_needed=2_675_481_674_054_380_544).people_needed is None
    assert judge(wide, **limit, people_needed=5000).people_needed == 5000


def test_the_part_that_an_audit_rests_on():
    small = judge(estimate(0.01, 0.05), immaterial=(-0.1, 0.1))
    large = judge(estimate(0.15, 0.35), immaterial=(-0.1, 0.1))
    none = judge(estimate(-0.02, 0.02), immaterial=(-0.1, 0.1))
    unclear = judge(estimate(-0.2, 0.2), immaterial=(-0.1, 0.1))
    assert worst_of([none, unclear, small, large]) is large
    assert worst_of([none, unclear, small]) is small
    assert worst_of([none, unclear]) is unclear
    assert judge_across(large, 0.2).verdict == INSUFFICIENT
    assert judge_across(none, 0.2) is none


def test_conditions_decide_whatever_their_order():
    average = Condition(name="average", interval=estimate(-0.05, 0.05), immaterial=(-0.1, 0.1))
    mothers = Condition(name="level: mothers", interval=estimate(-0.5, -0.3), immaterial=(-0.2, 0.2))
    fathers = Condition(name="level: fathers", interval=estimate(0.05, 0.3), immaterial=(-0.2, 0.2))
    ratio = Condition(
        name="ratio", interval=estimate(0.7, 0.9), none=1.0, immaterial=(0.8, 1.25), accuses=False
    )
    for found in (judge_conditions(each) for each in permutations([average, mothers, fathers])):
        assert (found.verdict, found.decided_by, found.badge) == (EVIDENCE, "level: mothers", "difference")
    # what is surely material comes before what is surer to be there
    sure = Condition(name="average", interval=estimate(0.08, 0.11), immaterial=(-0.1, 0.1))
    for p, decider in ((1e-4, "level: mothers"), (0.04, "average")):  # and stands in a run of other audits
        told = [replace(sure, p_value=1e-16), replace(mothers, p_value=p)]
        assert judge_conditions(told).decided_by == decider
        assert judge_conditions(told).p_value == (p if decider != "average" else 1e-16)
    assert judge_conditions([average]).badge == "no material difference"
    opened = judge_conditions([average, ratio], people_needed=900)
    assert (opened.verdict, opened.decided_by, opened.badge) == (INSUFFICIENT, "ratio", "cannot tell yet")
    # evidence inside the limit of differences is no small one where the ratio is not inside its own
    small = Condition(name="average", interval=estimate(-0.05, -0.02), immaterial=(-0.1, 0.1))
    assert judge_conditions([small]).badge == "small difference"
    assert judge_conditions([small, ratio]).badge == "difference"
    for words in ({"cannot_clear": "it only fails"}, {"only_estimated": "a guess"}):
        for each in ([average], [average, ratio]):  # and no number of people would settle it
            withheld = judge_conditions(each, people_needed=900, **words)
            assert (withheld.verdict, withheld.badge) == (INSUFFICIENT, "no verdict")
    assert judge_conditions([small], cannot_clear="it only fails").badge == "difference"  # nor is any small


def test_evidence_at_a_level_is_held_to_the_auditors_own_limit() -> None:
    """A level has twice the limit to clear; what is found there is as large as the auditor's limit says."""
    average = Condition(name="average", interval=estimate(-0.05, 0.05), immaterial=(-0.1, 0.1))
    found, cleared = (
        judge_conditions(
            [average, Condition(name="level", interval=level, immaterial=(-0.2, 0.2), times=2.0)]
        )
        for level in (estimate(0.15, 0.35), estimate(-0.01, 0.19))
    )
    assert (found.verdict, found.decided_by, found.material) == (EVIDENCE, "level", True)
    assert (found.immaterial_low, found.immaterial_high, found.times) == (-0.1, 0.1, 1.0)
    assert (cleared.verdict, cleared.decided_by, cleared.times) == (NO_MATERIAL, "level", 2.0)
    assert limit_words(cleared) == limit_words(judge_conditions([average]))


@pytest.mark.parametrize("on", ["difference", "ratio", "either"])
def test_many_limits_are_those_of_each(on: str) -> None:
    rates, overall = np.array([0.0, 0.05, 0.15, 0.5, 0.9]), np.array([0.0, 0.06, 0.19, 0.45, 0.9])
    low, high = limits_of(0.02, on, rate=rates, overall=overall)
    each = [limit_of(0.02, on, rate=a, overall=b) for a, b in zip(rates, overall, strict=True)]
    assert [tuple(pair) for pair in np.transpose([low, high])] == each
    assert each[0] == (-0.02, 0.02), "where nobody is favored there is no ratio"
