"""Groups compared with everyone else: small ones prove nothing by luck, and lose nothing by being small."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from audits.data import AuditData
from audits.models import Subject
from audits.sensitivity.inference import GroupsJudgment, judge_groups, ratio_p_value
from audits.sensitivity.options import SensitivityOptions
from audits.sensitivity.text import too_few
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL

N = 840


def judged(logistic: Subject, values: np.ndarray, sizes: dict[str, int], seed: int = 0) -> GroupsJudgment:
    """Judge the first people as groups of the given sizes, the rest as one."""
    data: AuditData = logistic.data.take(np.arange(N) % logistic.data.n)
    names = [name for name, size in sizes.items() for _ in range(size)]
    groups = pd.DataFrame({"group": names + ["rest"] * (N - len(names))}, index=data.groups.index)
    data = dataclasses.replace(data)
    vars(data)["groups"] = groups
    options = SensitivityOptions()
    rng = np.random.default_rng(seed)
    return judge_groups(values, values > 3, data, np.ones(N), ("group",), options, rng)


def test_two_people_who_are_alike_are_no_evidence(logistic):
    values = np.random.default_rng(0).lognormal(0, 0.5, N)
    values[:2] = 2.0, 2.001
    found = judged(logistic, values, {"two": 2, "eleven": 11})
    two = next(group for group in found.groups if group.group == "two")
    assert two.ratio.value > 1.5
    assert (two.ratio.low, two.ratio.high, two.mean.low) == (None, None, None)
    assert two.ratio.method == "no interval below 10 people"
    assert found.looks == 2, "the two people are no look"
    assert found.verdict != EVIDENCE
    (said,) = too_few(found)
    assert "two (2)" in said


def test_people_of_one_value_are_evidence_only_if_they_are_many_and_permutations_agree(logistic):
    values = np.full(N, 1.0)
    values[N // 2 :] = 2.0
    values[:60] = 2.0  # a spread of none, and more than half of everyone has this value
    found = judged(logistic, values, {"sixty": 60})
    sixty = next(group for group in found.groups if group.group == "sixty")
    assert found.verdict == EVIDENCE, "sixty of sixty above is not by chance"
    assert sixty.ratio.low > 1
    values[:20] = 1.0
    found = judged(logistic, values, {"sixty": 60})
    sixty = next(group for group in found.groups if group.group == "sixty")
    assert found.verdict != EVIDENCE
    assert sixty.ratio.low <= 1 <= sixty.ratio.high
    found = judged(logistic, values, {"none": 20, "twelve": 12})
    twelve = next(group for group in found.groups if group.group == "twelve")
    assert twelve.ratio.low is twelve.ratio.high is None
    assert found.verdict != EVIDENCE


def test_a_small_group_that_differs_is_found(logistic):
    rng = np.random.default_rng(1)
    values = rng.lognormal(0, 0.5, N)
    values[:25] *= 2.0
    found = judged(logistic, values, {"moved": 25, "alike": 25})
    moved, alike = (next(each for each in found.groups if each.group == name) for name in ("moved", "alike"))
    assert found.verdict == EVIDENCE
    assert moved.ratio.low > 1
    assert alike.ratio.low <= 1 <= alike.ratio.high
    assert "permutations" in moved.ratio.method


def test_studentised_permutations_by_hand():
    values, inside = np.array([1.0, 2.0, 4.0, 8.0]), np.array([True, True, False, False])

    def statistic(members):
        one, other = values[members], values[~members]
        error = np.hypot(one.std() / one.mean(), other.std() / other.mean())  # n - 1 is 1
        return np.log(one.mean() / other.mean()) / error

    every = [np.isin(np.arange(4), pair) for pair in combinations(range(4), 2)]
    reached = np.mean([statistic(members) <= statistic(inside) + 1e-12 for members in every])
    p = ratio_p_value(values, np.ones(4), inside, np.random.default_rng(0), draws=4000)
    # 4,000 draws: 0.012 two standard errors, doubled
    assert p == pytest.approx(2 * reached, abs=0.03)
    mirrored = ratio_p_value(values, np.ones(4), ~inside, np.random.default_rng(0), draws=4000)
    assert mirrored == pytest.approx(p, abs=0.03)


def test_few_of_one_value_are_not_cleared(logistic):
    rng = np.random.default_rng(1)
    values = 1 + 0.01 * rng.random(N)
    values[:12] = 1.005
    assert judged(logistic, values, {"twelve": 12}).verdict == INSUFFICIENT
    values[:12] += 1e-4 * rng.random(12)
    assert judged(logistic, values, {"twelve": 12}).verdict == NO_MATERIAL
