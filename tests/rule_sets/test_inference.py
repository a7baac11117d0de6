"""Corrected p-values, intervals and verdicts of rule sets, and the largest pair of a rival method."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import fisher_exact

from audits.rule_sets import RuleSetsOptions, rule_sets
from audits.rule_sets.inference.permutation import exact_p, maxima, observed_statistics, whole_people
from audits.rule_sets.inference.verdicts import _times_needed
from audits.subgroups.attributes import End, category, interval
from audits.subgroups.cells import count_cells
from audits.subgroups.search import Search
from audits.subgroups.sums import GroupSums
from benchmarks.papers.testsgd import rivals
from tests.rule_sets.conftest import crowd, subject_of


def people(n: int, rng: np.random.Generator):
    """Attributes and everyone's chance of a favorable decision without any effect."""
    bins = [End(str(k), str(k + 1)) for k in range(5)]
    attributes = [
        category("sex", rng.integers(0, 2, n), ["f", "m"]),
        category("race", rng.choice(4, n, p=[0.5, 0.25, 0.15, 0.1]), list("abcd")),
        interval("age", rng.integers(0, 5, n), list("01234"), bins),
    ]
    return attributes, np.full(n, 0.4)


def searched(attributes, decisions, support):
    cells = count_cells(attributes, decisions)
    search = Search(cells, support=support)
    search.run(10**7)
    return whole_people(cells), GroupSums(cells, search.found().rules)


def test_exact_p_is_fishers_test_with_the_smaller_tail_doubled():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n, total = int(rng.integers(3, 30)), 60
        good = int(rng.integers(1, 59))
        inside = int(rng.integers(max(0, n + good - total), min(n, good) + 1))
        table = [[inside, n - inside], [good - inside, total - n - good + inside]]
        tails = [fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
        found = exact_p(np.array([n]), np.array([inside]), total, good)[0]
        assert found == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-9)


def test_shuffles_by_cell_equal_shuffles_of_people():
    """The distribution of the largest z-score is that of really shuffling everyone's decision."""
    rng = np.random.default_rng(1)
    attributes, chance = people(200, rng)
    decisions = rng.random(200) < chance
    everyone, groups = searched(attributes, decisions, 0.05)
    fast = maxima(everyone, groups, draws=1000, rng=rng)
    slow = []
    for _ in range(1000):
        shuffled = rng.permutation(decisions)
        favorable = np.bincount(groups.cells.row_cell, shuffled, minlength=len(everyone.n)).astype(int)
        slow.append(np.abs(observed_statistics(type(everyone)(everyone.n, favorable), groups)[0]).max())
    # 1,000 draws each: quantiles agree within about four standard errors
    assert np.quantile(fast, [0.5, 0.9, 0.95]) == pytest.approx(np.quantile(slow, [0.5, 0.9, 0.95]), rel=0.06)


def test_what_an_interval_leaves_out_is_what_the_corrected_p_says():
    """Small random tables: 0 lies outside just where p is at most the level, and evidence is there."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, correction = int(rng.integers(6, 60)), ("max", "holm", "bh")[seed % 3]
        frame = pd.DataFrame({"a": rng.choice(list("xyz"), n), "b": rng.choice(["p", "q"], n)})
        harmed = (frame["a"] == "x") & (seed % 2 == 0)
        frame["decision"] = (rng.random(n) < np.where(harmed, 0.05, 0.8)).astype(int)
        frame.loc[[0, 1, 2, 3], ["a", "b", "decision"]] = [["x", "p", 0], ["y", "q", 1]] * 2
        options = RuleSetsOptions(support=0.02, permutations=99, correction=correction)
        found = rule_sets(subject_of(frame, ("a", "b")), options)
        table = found.rule_sets
        differs = table["adjusted_p"] <= 0.05
        apart = (table["low"] > 0) | (table["high"] < 0)
        beside = (table["low"] >= 0) | (table["high"] <= 0)
        assert not (apart & ~differs).any()
        assert (beside | ~differs).all()
        assert correction != "max" or (apart == differs).all()
        assert ((table["low"] <= table["difference"]) & (table["difference"] <= table["high"])).all()
        assert (found.verdict == "evidence of a difference") == differs.any()
        for row in found.leaderboard:
            assert (row.verdict == "evidence of a difference") == (row.adjusted_p <= 0.05)


FAST = {"permutations": 99, "samples": 0}


def test_a_run_is_told_the_finding_that_outlasts_its_correction():
    """A group of 40 leads the list with 27 points, p .02; the verdict rests on 12, of 1,000, p 5e-7."""
    decided = np.repeat([1, 0, 1, 0], [560, 440, 440, 560])
    few = np.append(np.flatnonzero(decided)[::166][:6], np.flatnonzero(decided == 0)[::50][:34])
    frame = pd.DataFrame({"a": "y", "b": np.repeat(["p", "q"], 1000), "decision": decided})
    frame.loc[few, "a"] = "x"
    found = rule_sets(subject_of(frame, ("a", "b")), RuleSetsOptions(support=0.01, correction="holm", **FAST))
    assert [row.rule_set for row in found.leaderboard] == ["a = x", "b = p"]
    assert [row.verdict for row in found.leaderboard] == ["evidence of a difference"] * 2
    assert (
        found.judged.p_value == found.leaderboard[1].adjusted_p < 0.05 / 20 < found.leaderboard[0].adjusted_p
    )


def test_the_largest_score_is_corrected_to_no_less_than_its_interval_holds():
    """A half of the people is apart; of 60 small groups one always leads a half by luck."""
    rng = np.random.default_rng(0)
    b, a = (rng.integers(0, most, 2000) for most in (2, 60))
    frame = pd.DataFrame({"a": a.astype(str), "b": np.where(b, "p", "q")})
    frame["decision"] = (rng.random(2000) < 0.3 + 0.3 * b).astype(int)
    found = rule_sets(subject_of(frame, ("a", "b")), RuleSetsOptions(support=0.005, depth=1, **FAST))
    assert 0.24 < found.shrunken.low <= found.shrunken_score == found.shrunken.value <= found.top_score


def test_a_search_that_stopped_or_covers_no_group_of_an_attribute_cannot_say_that_nothing_matters():
    subject = subject_of(crowd(40_000, seed=4), ("sex", "race"))
    whole = rule_sets(subject, RuleSetsOptions(support=0.05, **FAST))
    part = rule_sets(subject, RuleSetsOptions(support=0.05, max_candidates=5, **FAST))
    assert (whole.verdict, whole.complete) == ("no material difference", True)
    assert (part.verdict, part.complete) == ("insufficient evidence", False)
    assert any("max_candidates" in warning for warning in part.warnings)
    frame = crowd(40_000, seed=4).assign(town=(np.arange(40_000) % 40).astype(str))
    for support, badge in ((0.05, "no verdict"), (0.02, "no material difference")):
        by_town = rule_sets(subject_of(frame, ("sex", "town")), RuleSetsOptions(support=support, **FAST))
        assert by_town.judged.badge == badge


def test_largest_pair_is_the_largest_of_all_pairs():
    frame, best = crowd(1500, seed=4, effect=0.3), 0.0
    found, *_ = rivals(subject_of(frame, ("sex", "race")), RuleSetsOptions(support=0.05)).values()
    for names in (["sex"], ["race"], ["sex", "race"]):
        groups = [part["decision"] for _, part in frame.groupby(names) if len(part) >= 30]
        for first, second in itertools.combinations(groups, 2):
            best = max(best, abs(first.mean() - second.mean()))
    assert found[0] == pytest.approx(best)


def test_people_needed_make_intervals_as_short_as_what_matters():
    subject = subject_of(crowd(400, seed=4), ("sex", "race"))
    result = rule_sets(subject, RuleSetsOptions(support=0.05, **FAST))
    times = result.judged.people_needed / result.n
    level = result.inference["interval_level"]
    for _, item in result.rule_sets.iterrows():
        more = item.copy()
        more[["n_in", "favorable_n_in", "n_out"]] *= times
        more["low"] = more["high"] = 0.0
        assert _times_needed(more, result.options, level) < 1.02
