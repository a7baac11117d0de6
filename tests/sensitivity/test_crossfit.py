"""One verdict over seeds, but where an interval ends at the limit; pairing claims no more than the audits."""

from __future__ import annotations

import dataclasses

import pytest

from audits.comparison.sensitivity import compare
from audits.sensitivity import SensitivityOptions, SensitivityResult, sensitivity
from audits.sensitivity.measurement import crossfit
from tests.sensitivity.conftest import people, subject_of

SEEDS, FITS = 4, crossfit.FEW_ROWS_FITS


@pytest.fixture(scope="module")
def found() -> list[SensitivityResult]:
    """Audits of 240 people held out by two seeds."""
    options = SensitivityOptions(bootstrap=100, match_set="off", status_model="network")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crossfit, "FEW_ROWS_FITS", FITS)
        return [sensitivity(subject_of(people(800)), options, rng=seed) for seed in range(2)]


def test_a_pairing_holds_the_spread_of_cross_fits(found):
    subject = subject_of(people(800))
    both = compare(found[0], found[1], (subject, subject)).rows
    row = next(each for each in both if each.where.endswith("ratio"))
    assert row.moved.value == pytest.approx(row.second.value - row.first.value)
    flat = [
        dataclasses.replace(each, groups=tuple(dataclasses.replace(g, spread=0.0) for g in each.groups))
        for each in found
    ]
    bare = next(each for each in compare(*flat, (subject, subject)).rows if each.where == row.where)
    assert row.moved.interval(0.05).low < bare.moved.interval(0.05).low
    assert row.judged == (not any(each.at_chance for each in (*found[0].status, *found[1].status)))
