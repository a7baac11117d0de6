"""Verdicts follow from the one interval stated; the first score's interval covers what it is about."""

from __future__ import annotations

from audits.rule_sets import RuleSetsOptions, rule_sets
from audits.rule_sets.inference.verdicts import _times_needed
from tests.rule_sets.conftest import crowd, subject_of

FAST = {"permutations": 99, "samples": 0}


def test_a_stopped_search_cannot_say_that_nothing_matters():
    subject = subject_of(crowd(40_000, seed=4), ("sex", "race"))
    whole = rule_sets(subject, RuleSetsOptions(support=0.05, **FAST))
    part = rule_sets(subject, RuleSetsOptions(support=0.05, max_candidates=5, **FAST))
    assert (whole.verdict, whole.complete) == ("no material difference", True)
    assert (part.verdict, part.complete) == ("insufficient evidence", False)
    assert any("max_candidates" in warning for warning in part.warnings)


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
