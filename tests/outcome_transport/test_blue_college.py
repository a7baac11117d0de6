"""Blue College, section 4.1: disparate impact sees nothing, the distance does."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.papers.blue_college import blue_college
from benchmarks.samples import admissions
from tests.outcome_transport.conftest import scored
from tests.outcome_transport.subjects import QUICK, flows_of


@pytest.mark.parametrize("rule", [0.1, 0.25, 0.5])
def test_blue_college_distance_is_the_theory(rule):
    """§4.1: equal rates, yet √2 · 2 · rule · (1 − rule) apart."""
    people = admissions.generate(200, years=2, rule=rule).rename(columns={"chance": "score"})
    subject = scored(
        people[["gpa", "school", "score"]].assign(score=people["score"] + 0.0),
        protected=("school",),
        features=("gpa",),
    )
    result = flows_of(subject, source={"school": "A"}, target={"school": "B"}, **QUICK)
    assert result.wasserstein.value == pytest.approx(admissions.wasserstein(rule), abs=1e-12)
    named = flows_of(subject, source={"school": "A"}, target={"school": "B"}, outcome="probability", **QUICK)
    assert named.wasserstein.value == pytest.approx(admissions.wasserstein(rule), abs=1e-12)


def test_blue_college_simulation():
    table = blue_college(years=20, n=200)
    last = table[table["year"] == 20]
    assert last["impact_so_far"].between(0.85, 1.2).all()
    assert np.allclose(last["distance_so_far"], last["limit"])
    assert last["distance_so_far"].is_monotonic_increasing  # it shrinks with the rule
