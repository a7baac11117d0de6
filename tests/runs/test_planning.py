"""A plan says what audits could see, from their own verdicts in simulated worlds."""

from __future__ import annotations

from audits.runs.plans.power import plan
from audits.runs.spec import parse_spec
from tests.refused import refused
from tests.runs.conftest import make_spec


def test_more_people_and_larger_differences_are_seen_more_often(base):
    spec = parse_spec(make_spec({"groups": {"bootstrap": 0}}), base)
    rows = {
        (row.people, row.difference): row
        for row in plan(spec, sizes=(20, 2000), differences=(0.0, 0.2), worlds=12)
    }
    assert rows[2000, 0.2].evidence.value == 1  # 20 points among 2,000 people a group
    assert rows[20, 0.2].evidence.value < 0.5
    for row in rows.values():
        shares = [row.evidence.value, row.no_material.value, row.insufficient.value]
        assert sum(shares) <= 1 + 1e-9
    # 12 worlds at level .05: four or more false alarms have a chance of .002
    assert rows[20, 0.0].evidence.value <= 3 / 12
    assert rows[2000, 0.0].evidence.value <= 3 / 12


def test_bad_numbers_are_one_sentence(base):
    spec = parse_spec(make_spec({"groups": {}}), base)
    for where, changes in {
        "sizes": {"sizes": (1,)},
        "worlds": {"worlds": 0},
        "difference": {"differences": (1.0,)},
    }.items():
        with refused(where):
            plan(spec, **changes)
