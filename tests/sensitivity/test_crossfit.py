"""One verdict over seeds, but where an interval ends at the limit; pairing claims no more than the audits."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from audits.comparison.sensitivity import compare
from audits.sensitivity import SensitivityOptions, SensitivityResult, sensitivity
from audits.sensitivity.measurement import crossfit
from tests.sensitivity.conftest import people, subject_of

SEEDS, FITS = 4, crossfit.FEW_ROWS_FITS


@pytest.fixture(scope="module")
def found() -> list[SensitivityResult]:
    """Audits of 480 people held out, which end near the limit of 1.25 times."""
    subject = subject_of(people(1600))
    assert subject.data.n == 480
    options = SensitivityOptions(bootstrap=100, match_set="off", status_model="network")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crossfit, "FEW_ROWS_FITS", FITS)
        return [sensitivity(subject, options, rng=seed) for seed in range(SEEDS)]


def test_seeds_give_one_verdict_but_at_the_limit(found):
    ends = np.array([[each.judged.interval.low, each.judged.interval.high] for each in found])
    spread = np.ptp(ends, axis=0).max()
    limits = (found[0].judged.immaterial_low, 1.0, found[0].judged.immaterial_high)
    nearest = min(np.abs(ends - limit).min() for limit in limits)
    assert len({each.verdict for each in found}) == 1 or nearest <= spread
    # the spread that is stated is what another seed gives: values differ by less than one fit's spread
    for place in zip(*(sorted(each.groups, key=lambda row: row.group) for each in found), strict=True):
        logs = np.log([row.ratio.value for row in place])
        assert np.ptp(logs) < 2 * min(row.spread for row in place)


def test_a_pairing_holds_the_spread_of_cross_fits(found):
    subject = subject_of(people(1600))
    both = compare(found[0], found[1], (subject, subject)).rows
    row = next(each for each in both if each.where.endswith("ratio"))
    assert row.moved.value == pytest.approx(row.second.value - row.first.value)
    interval = row.moved.interval(0.05)
    flat = [
        dataclasses.replace(each, groups=tuple(dataclasses.replace(g, spread=0.0) for g in each.groups))
        for each in found[:2]
    ]
    bare = next(each for each in compare(*flat, (subject, subject)).rows if each.where == row.where)
    assert interval.low < bare.moved.interval(0.05).low
    assert row.judged == (not any(each.at_chance for each in (*found[0].status, *found[1].status)))
