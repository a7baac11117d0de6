"""Are counterparts decided as their group is, and would the same people flip again?"""

from __future__ import annotations

import numpy as np
import pytest

from audits.flipset.counterparts.validation import rate_allowance
from audits.flipset.figures import maps
from audits.results import load_result, save_result
from tests.flipset.conftest import audited, draw_crowd
from tests.flipset.test_maps import two_groups

A, B = {"group": "a"}, {"group": "b"}
QUICK = {"source": A, "target": B, "permutations": 0, "bootstrap": 100}


@pytest.fixture(scope="module")
def again():
    return audited(draw_crowd(60, 50, seed=3), repeats=30, **QUICK)


def test_an_exact_coupling_is_decided_as_its_group_is(again):
    """Proposition 2: the counterparts are the group."""
    for rate in again.validation.rates:
        assert rate.counterparts == pytest.approx(rate.group)
    assert [rate.name for rate in again.validation.rates] == ["b", "a"]


def test_a_map_whose_counterparts_are_decided_otherwise_fails():
    """A generator without training sends everyone to one place: all or nobody is hired there."""
    result = audited(two_groups(400, 400), transport="gan", map={"iterations": 1}, **QUICK)
    rate = result.validation.rates[0]
    people = result.people
    pushed = (people["counterparts_favorable"] * people["people"]).sum() / people["people"].sum()
    assert rate.counterparts == pytest.approx(pushed)
    assert rate.group == pytest.approx(result.target_rate.value)
    gap = pytest.approx(abs(pushed - rate.group))
    check = next(check for check in result.validation.checks if check.value == gap)
    assert not check.passed
    assert check.serious
    assert any(check.trouble in warning for warning in result.warnings)
    good = audited(two_groups(400, 400), transport="linear", **QUICK)
    assert all(check.passed for check in good.validation.checks)


def test_the_allowance_is_what_chance_gives():
    """Two samples of one group: at most 5% of 2,000 worlds are off by more (6.4% has a chance of .2%)."""
    rng = np.random.default_rng(0)
    for rate, n, m in ((0.3, 400, 300), (0.02, 100, 200), (0.5, 50, 50)):
        pushed, group = rng.binomial(n, rate, 2000) / n, rng.binomial(m, rate, 2000) / m
        allowed = np.array([rate_allowance(value, n, m, 1) for value in group])
        assert (np.abs(pushed - group) > allowed).mean() <= 0.064
    assert rate_allowance(0.26, 10_000, 10_000, 2) < 0.26 - 0.198  # a GAN's counterparts in the hiring data


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


def test_other_seeds_and_other_maps(tmp_path):
    subject = two_groups(40, 40)
    seeds = audited(
        subject,
        transport="gan",
        map={"iterations": 20},
        repeats=3,
        repeat_people=False,
        reverse=False,
        **QUICK,
    )
    assert set(seeds.people["times"]) == {3}
    assert len({run["ks"] for run in seeds.again.runs}) > 1  # a seed each
    both = audited(subject, repeats=4, repeat_maps=["exact", "linear"], **QUICK)
    assert [run["map"] for run in both.again.runs] == ["exact", "linear"] * 2
    save_result(both, tmp_path, "x")
    assert load_result(type(both), tmp_path, "x").again == both.again
    alone = audited(subject, **QUICK)
    assert alone.again is None
    assert alone.negative == both.negative  # repeats change no other number
