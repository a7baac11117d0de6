"""The learned metric: each fold by what the others taught, and its doubt in the interval."""

from __future__ import annotations

import numpy as np

from audits.data import FeatureSpace
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.loss_ratio.metrics.crossfit import (
    FOLDS,
    folds_of,
    learn_metric,
)
from audits.models.subspaces import category_units
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


def test_a_tie_that_the_model_uses_is_evidence_whatever_the_seed():
    subject = tied(1.5, "x0", np.random.default_rng(0))
    found = [loss_ratio(subject, LossRatioOptions(steps=100), rng=seed) for seed in range(2)]
    assert {each.verdict for each in found} == {EVIDENCE}
    values = [each.statistic.value for each in found]
    assert max(values) - min(values) < 0.1 * min(values)
    assert all(each.statistic.low < each.loss_test.interval(0.05).low for each in found)


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
