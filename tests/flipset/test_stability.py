"""Are counterparts decided as their group is, and would the same people flip again?"""

from __future__ import annotations

import numpy as np
import pytest

from audits.flipset.figures import maps
from tests.flipset.conftest import audited, draw_crowd
from tests.flipset.test_maps import two_groups

A, B = {"group": "a"}, {"group": "b"}
QUICK = {"source": A, "target": B, "permutations": 0, "bootstrap": 100}


@pytest.fixture(scope="module")
def again():
    return audited(draw_crowd(60, 50, seed=3), repeats=30, **QUICK)


def test_a_map_whose_counterparts_are_decided_otherwise_fails():
    """A generator without training sends everyone to one place: all or nobody is hired there."""
    result = audited(two_groups(300, 300), transport="gan", map={"iterations": 1}, **QUICK)
    rate, people = result.validation.rates[0], result.people
    pushed = np.average(people["counterparts_favorable"], weights=people["people"])
    assert rate.counterparts == pytest.approx(pushed)
    assert rate.group == pytest.approx(result.target_rate.value)
    gap = pytest.approx(abs(pushed - rate.group))
    check = next(check for check in result.validation.checks if check.value == gap)
    assert (check.passed, check.serious) == (False, True)
    assert any(check.trouble in warning for warning in result.warnings)
    good = audited(two_groups(300, 300), transport="linear", **QUICK)
    assert all(check.passed for check in good.validation.checks)


def test_repeats_count_everyone_in_half_of_them(again):
    found, people = again.again, again.people
    assert found.repeats == len(found.runs) == 30
    assert people["times"].mean() == pytest.approx(15)
    assert (people["flips_again"] <= people["times"] + 1e-9).all()
    share = (people["flips_again"] / people["times"]).dropna()
    assert found.nearly_always == (share >= 0.9).sum()
    assert sum(found.histogram["people"]) == found.people == len(share)
    runs = again.again_frame()
    assert found.negative.value == pytest.approx(runs["negative"].mean())
    assert found.negative.low == pytest.approx(runs["negative"].quantile(0.05))
    assert runs["ks"].max() < 1e-9  # an exact coupling reaches the whole group
    assert len(maps.repeats(again).data) == 3
