"""The learned metric: each fold by what the others taught, and its doubt in the interval."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from audits.data import FeatureSpace
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.loss_ratio.metrics.crossfit import (
    FOLDS,
    _covariances,
    association,
    extremes,
    folds_of,
    learn_metric,
)
from audits.models.subspaces import attribute_directions, category_units
from audits.stats import EVIDENCE, INSUFFICIENT
from benchmarks.loss_ratio_worlds import WORLDS, people, subject_of, tied
from tests.refused import refused


def metrics_of(biased, names=("sex",)):
    data, space = biased.data, FeatureSpace.fit(biased.data)
    x = space.encode(data.frame) * category_units(space)
    return x, learn_metric(data, space, x, names, "learned", np.random.default_rng(0), level=0.05)


def test_each_fold_has_the_direction_that_the_others_taught(biased):
    x, found = metrics_of(biased)
    dealt = folds_of(
        [biased.data.groups["sex"].to_numpy(dtype=str)], np.ones(len(x)), FOLDS, np.random.default_rng(0)
    )
    assert dealt.sum() == len(x)
    assert len(found.parts) == FOLDS == len(set(found.place))
    for part, rows in zip(found.parts, found.learned.rows, strict=True):
        taught = rows[0] / np.linalg.norm(rows[0])
        np.testing.assert_allclose(np.abs(part.basis[:, 0]), np.abs(taught), atol=1e-9)
    assert not np.allclose(found.parts[0].basis, found.parts[1].basis)
    assert (found.told[0].told, found.nothing) == (True, "")
    assert found.told[0].p_value < 1e-6


def test_folds_deal_people_not_rows():
    rng = np.random.default_rng(3)
    group, counts = np.array(["a"] * 4 + ["b"] * 3), np.array([500.0, 1, 40, 3, 200, 2, 60])
    dealt = folds_of([group], counts, 2, rng)
    np.testing.assert_array_equal(dealt.sum(axis=1), counts)
    for name in "ab":
        assert abs(np.subtract(*dealt[group == name].sum(axis=0))) <= 1
    many = np.array([folds_of([group], counts, 2, rng)[0, 0] for _ in range(400)])
    # hypergeometric: 250.4 expected of the row of 500 among 544, standard deviation 3.2
    assert abs(many.mean() - 250.0) < 1.0
    assert 2.5 < many.std() < 4.0
    parts = folds_of([group], 0.55 * np.ones(7), 2, rng)  # a part of a person stays whole
    assert set(np.unique(parts)) == {0.0, 0.55}
    numbers = folds_of([rng.normal(size=9)], np.ones(9), 2, rng)
    assert sorted(numbers.sum(axis=0)) == [4, 5]


def test_the_ends_of_the_region_are_those_of_an_interval_where_slopes_have_one_direction(biased):
    _, found = metrics_of(biased)
    slope = np.zeros(found.learned.rows.shape[2])
    slope[:2] = 1.0, 0.5
    least, most = extremes(found, slope[None], 0.05)
    rows, (covariance, freedom) = found.learned.rows[:, 0], found.learned.doubt[0]
    along = rows @ slope
    spread = []
    for v in rows:  # a longer v is no other direction
        apart = slope - (v @ slope) / (v @ v) * v
        spread.append(np.sqrt(apart @ covariance @ apart))
    reach = stats.t.isf(0.025, freedom) * np.array(spread)
    assert (reach < np.abs(along)).all()
    for ends, sign in ((least, -1), (most, 1)):
        moved = ends.learned.rows[:, 0]
        np.testing.assert_allclose(moved @ slope, along + sign * np.sign(along) * reach, rtol=1e-5)
        np.testing.assert_allclose(((moved - rows) * rows).sum(axis=1), 0.0, atol=1e-9)


def test_the_covariance_of_a_direction_is_that_of_drawing_people_anew():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    for values in (np.where(x[:, 0] + rng.normal(size=400) > 0, "a", "b"), x[:, 0] + rng.normal(size=400)):
        v = attribute_directions(x, values)[0]
        ((covariance, _),) = _covariances(x, values, np.ones(400), np.repeat(v[None], FOLDS, axis=0))
        drawn = []
        for _ in range(150):
            some = rng.integers(0, 400, 400)
            drawn.append(attribute_directions(x[some], values[some])[0][0])
        # across the direction: along it a number's own scale, drawn again too, plays no part
        np.testing.assert_allclose(np.sqrt(covariance[1, 1]), np.std(drawn, axis=0)[1], rtol=0.25)


def test_a_tie_that_the_model_uses_is_evidence_whatever_the_seed():
    subject = tied(1.5, "x0", np.random.default_rng(0))
    found = [loss_ratio(subject, LossRatioOptions(steps=200), rng=seed) for seed in range(4)]
    assert {each.verdict for each in found} == {EVIDENCE}
    values = [each.statistic.value for each in found]
    assert max(values) - min(values) < 0.1 * min(values)
    assert all(each.statistic.low < each.loss_test.interval(0.05).low for each in found)


def test_how_far_values_are_told_is_what_permuting_them_gives():
    """Its mean and spread over all permutations are worked out; drawn ones must agree."""
    rng = np.random.default_rng(5)
    x, others = rng.normal(size=(60, 3)), rng.normal(size=(80, 3))
    groups = np.where(x[:, 0] + rng.normal(size=60) > 0.5, "a", np.where(x[:, 1] > 0, "b", "c"))
    theirs = rng.choice(["a", "b", "c", "never seen"], 80)
    directions, _ = attribute_directions(x, groups)
    for values, told in ((groups, theirs), (x[:, 0] + rng.normal(size=60), rng.normal(size=80))):
        drawn = [
            association(x, values, others, rng.permutation(told), directions[:1], np.ones(80))
            for _ in range(800)
        ]
        # 800 draws: 0.035 and 0.025 standard errors
        assert abs(np.mean(drawn)) < 0.12
        assert 0.9 < np.std(drawn) < 1.1


def test_counts_of_people_are_people():
    rng = np.random.default_rng(6)
    x, others, counts = rng.normal(size=(50, 2)), rng.normal(size=(40, 2)), rng.integers(1, 4, 40)
    groups, theirs = rng.choice(["a", "b"], 50), rng.choice(["a", "b"], 40)
    line = np.array([[1.0, 0.5]])
    once = association(x, groups, others, theirs, line, counts.astype(float))
    many = association(
        x, groups, others.repeat(counts, 0), theirs.repeat(counts), line, np.ones(counts.sum())
    )
    assert once == pytest.approx(many, rel=1e-9)


def test_without_anything_to_move_along_there_is_no_verdict():
    told = WORLDS["10 features, one attribute"]["attributes"]
    subject = subject_of(people(500, 10, told, np.random.default_rng(3)), told, "logistic", 3)
    found = loss_ratio(subject, LossRatioOptions(steps=100))
    assert found.statistic.low > 1, "moving along noise makes losses larger all the same"
    assert found.verdict == INSUFFICIENT
    assert found.people_needed is None
    assert not found.metric.told[0].told
    assert found.at(1.01).verdict == INSUFFICIENT


def test_an_attribute_that_is_not_told_gives_no_direction_beside_one_that_is():
    told = {"sex": 0.5, "race": 0.5}
    frame = people(600, 4, told, np.random.default_rng(1), trace=2.0)
    found = loss_ratio(subject_of(frame, told, "logistic", 1), LossRatioOptions(steps=50))
    assert [each.told for each in found.metric.told] == [True, False]
    assert found.metric.dimensions == 1
    assert found.judged.p_value >= found.metric.told[0].p_value


def test_a_group_of_one_cannot_be_told(make, make_people):
    frame = make_people(80)
    frame["sex"] = "m"
    subject = make(frame.assign(sex=["f", "f", *["m"] * 78]))
    with refused("sensitive"):
        loss_ratio(subject, LossRatioOptions())
