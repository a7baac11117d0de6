"""Blue College, section 4.1: disparate impact sees nothing, the distance does."""

from __future__ import annotations

import pytest

from benchmarks.samples import admissions
from tests.outcome_transport.conftest import scored
from tests.outcome_transport.subjects import QUICK, flows_of


def test_blue_college_distance_is_the_theory():
    """§4.1: equal rates, yet √2 · 2 · rule · (1 − rule) apart."""
    people = admissions.generate(200, years=2, rule=0.25).rename(columns={"chance": "score"})
    people = people[["gpa", "school", "score"]].astype({"score": float})
    subject = scored(people, protected=("school",), features=("gpa",))
    for named in ({}, {"outcome": "probability"}):
        result = flows_of(subject, source={"school": "A"}, target={"school": "B"}, **named, **QUICK)
        assert result.wasserstein.value == pytest.approx(admissions.wasserstein(0.25), abs=1e-12)
