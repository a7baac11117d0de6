"""The two rival methods against the slow obvious way."""

from __future__ import annotations

import itertools

import pytest

from audits.rule_sets import RuleSetsOptions
from benchmarks.papers.rivals import rivals
from tests.rule_sets.conftest import crowd, subject_of


def found_by(subject):
    """Return what both methods find in the decisions of `subject`."""
    return rivals(subject, RuleSetsOptions(support=0.05))


def test_largest_pair_is_the_largest_of_all_pairs():
    frame = crowd(1500, seed=4, effect=0.3)
    subject = subject_of(frame, ("sex", "race"))
    found = found_by(subject)[0]
    best = 0.0
    for names in (["sex"], ["race"], ["sex", "race"]):
        groups = [part["decision"] for _, part in frame.groupby(names) if len(part) >= 30]
        for first, second in itertools.combinations(groups, 2):
            best = max(best, abs(first.mean() - second.mean()))
    assert found.score == pytest.approx(best)
