"""The learned metric: each half by what the other taught, and no verdict where nothing is told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, FeatureSpace, build_data
from audits.errors import InputError
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.loss_ratio.metrics.halves import halves_of, learn_on_halves, told_by
from audits.models.subspaces import attribute_directions, category_units
from audits.stats import INSUFFICIENT
from benchmarks.loss_ratio_worlds import WORLDS, people, subject_of, told_of


def metrics_of(biased, names=("sex",)):
    data, space = biased.data, FeatureSpace.fit(biased.data)
    x = space.encode(data.frame) * category_units(space)
    return x, learn_on_halves(data, space, x, names, "learned", np.random.default_rng(0), level=0.05)


def test_each_half_has_the_direction_that_the_other_half_taught(biased):
    x, found = metrics_of(biased)
    values = biased.data.groups["sex"].to_numpy(dtype=str)
    for half in (0, 1):
        others = found.place != half
        taught, _ = attribute_directions(x[others], values[others])
        np.testing.assert_allclose(
            np.abs(found.parts[half].basis[:, 0]), np.abs(taught[0]) / np.linalg.norm(taught[0]), atol=1e-9
        )
    assert not np.allclose(found.parts[0].basis, found.parts[1].basis)
    assert (found.told[0].told, found.nothing) == (True, "")
    assert found.told[0].p_value < 1e-6


def test_halves_hold_as_many_of_every_group():
    rng = np.random.default_rng(3)
    one, other = rng.choice(["a", "b", "c"], 501), rng.choice(["x", "y"], 501)
    data = build_data(pd.DataFrame({"x": np.arange(501)}), DataSpec(features=("x",)))
    place = halves_of(data, [one, other], rng)[1]
    assert set(place) == {0, 1}
    for first in "abc":
        for second in "xy":
            cell = place[(one == first) & (other == second)]
            assert abs(2 * cell.sum() - len(cell)) <= 1
    numbers = halves_of(data.take(np.arange(9)), [rng.normal(size=9)], rng)
    assert sorted(numbers.sum(axis=1)) == [4, 5]


def test_how_far_values_are_told_is_what_permuting_them_gives():
    """Its mean and spread over all permutations are worked out; drawn ones must agree."""
    rng = np.random.default_rng(5)
    x, others = rng.normal(size=(60, 3)), rng.normal(size=(80, 3))
    groups = np.where(x[:, 0] + rng.normal(size=60) > 0.5, "a", np.where(x[:, 1] > 0, "b", "c"))
    theirs = rng.choice(["a", "b", "c", "never seen"], 80)
    directions, _ = attribute_directions(x, groups)
    for values, told in ((groups, theirs), (x[:, 0] + rng.normal(size=60), rng.normal(size=80))):
        drawn = [
            told_by(x, values, others, rng.permutation(told), directions[:1], np.ones(80)) for _ in range(800)
        ]
        # 800 draws: 0.035 and 0.025 standard errors
        assert abs(np.mean(drawn)) < 0.12
        assert 0.9 < np.std(drawn) < 1.1


def test_counts_of_people_are_people():
    rng = np.random.default_rng(6)
    x, others, counts = rng.normal(size=(50, 2)), rng.normal(size=(40, 2)), rng.integers(1, 4, 40)
    groups, theirs = rng.choice(["a", "b"], 50), rng.choice(["a", "b"], 40)
    line = np.array([[1.0, 0.5]])
    once = told_by(x, groups, others, theirs, line, counts.astype(float))
    many = told_by(x, groups, others.repeat(counts, 0), theirs.repeat(counts), line, np.ones(counts.sum()))
    assert once == pytest.approx(many, rel=1e-9)


def test_chance_tells_no_attribute():
    for world in ("10 features, one attribute", "10 features, two attributes"):
        # 5 % of 40 is 2; more than 6 has a chance of 0.3 %. Learned on the same people it was 22 to 37
        assert told_of(world, range(40))[True] <= 6


def test_without_anything_to_move_along_there_is_no_verdict():
    told = WORLDS["10 features, one attribute"]["attributes"]
    subject = subject_of(people(500, 10, told, np.random.default_rng(3)), told, "logistic", 3)
    found = loss_ratio(subject, LossRatioOptions(steps=100))
    assert found.statistic.low > 1, "moving along noise makes losses larger all the same"
    assert found.verdict == INSUFFICIENT
    assert found.people_needed is None
    assert "nothing to move along" in found.judged.reason
    assert found.finding.endswith("so there is nothing to move along.")
    assert any("There is no verdict" in warning for warning in found.warnings)
    assert not found.metric.told[0].told
    assert found.at(1.01).verdict == INSUFFICIENT


def test_an_attribute_that_is_not_told_gives_no_direction_beside_one_that_is():
    told = {"sex": 0.5, "race": 0.5}
    frame = people(600, 4, told, np.random.default_rng(1), trace=2.0)
    found = loss_ratio(subject_of(frame, told, "logistic", 1), LossRatioOptions(steps=50))
    assert [each.told for each in found.metric.told] == [True, False]
    assert found.metric.dimensions == 1
    assert "tied to sex, or hardly" in found.finding
    assert any("do not predict race beyond chance" in warning for warning in found.warnings)
    assert found.judged.p_value >= found.metric.told[0].p_value


def test_a_group_of_one_cannot_be_told(make, make_people):
    frame = make_people(80)
    frame["sex"] = "m"
    subject = make(frame.assign(sex=["f", "f", *["m"] * 78]))
    few = subject.data.groups["sex"].eq("f").sum()
    with pytest.raises(InputError, match="one value only" if few == 0 else "two groups of at least two rows"):
        loss_ratio(subject, LossRatioOptions())
