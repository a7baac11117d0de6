"""Badge, sentence and interval say the same, whatever the seed; what was not found is not absent."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

import evenhand
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.loss_ratio.inference import Grounds, GroupRatio, judge_ratio, spanning, stand
from audits.stats import EVIDENCE, INSUFFICIENT, Estimate
from audits.stats.means import MeanTest, mean_test
from audits.stats.paired_ratio import PairedRatio
from audits.stats.text import number
from benchmarks.calibration.loss_ratio import WORLDS, people, subject_of, tied
from tests.loss_ratio import conftest as own
from tests.refused import refused

ASKED = {"tolerance": 1.25, "level": 0.05, "material": 1.25}
MOVED = Grounds("only in directions tied to sex")


@pytest.mark.parametrize(
    ("mean", "n", "verdict", "material"),
    [
        (2.0, 400, EVIDENCE, True),
        (1.4, 2000, EVIDENCE, None),
        (1.05, 400, INSUFFICIENT, False),
        (1.27, 4000, INSUFFICIENT, False),
        (1.4, 60, INSUFFICIENT, None),
        (1.4, 9, INSUFFICIENT, None),
    ],
)
def test_a_verdict_follows_from_the_interval(mean, n, verdict, material):
    test = MeanTest(n, mean, 1.0, 0.0)
    judged = judge_ratio([test], MOVED, **ASKED)
    assert (judged.verdict, judged.material) == (verdict, material)
    assert judged.interval == test.interval(0.05)
    finding = stand([test], [PairedRatio(80, 10, 0, n)], MOVED, **ASKED).finding
    low, high = judged.interval.low, judged.interval.high
    assert low is None or f"({number(low)}–{number(high)})" in finding
    assert judged.people_needed is None or f"{judged.people_needed:,} people" in finding
    assert judged.people_needed is None or judged.people_needed > n


def test_a_search_that_finds_little_clears_nobody():
    for n, deviation in ((12, 0.0), (12, 0.2), (60, 0.2), (50_000, 0.0)):
        quiet = judge_ratio([MeanTest(n, 1.02, deviation, 0.0)], MOVED, **ASKED)
        assert (quiet.verdict, quiet.badge, quiet.people_needed) == (INSUFFICIENT, "no verdict", None)
        assert quiet.material is (False if deviation or n >= 60 else None)
        assert quiet.reason
    # where a tenth of people have another ratio, a third of samples of ten alike do not show it
    alike = judge_ratio([mean_test(np.full(10, 1.3))], MOVED, **ASKED)
    assert (alike.verdict, alike.material, alike.interval.low) == (INSUFFICIENT, None, None)


def test_a_cell_that_carries_a_columns_spread_is_named():
    """Of a model trained elsewhere: here it would not have been trained."""
    subject = own.subject_of(own.people(300))
    frame = subject.data.frame.copy()
    frame.loc[frame.index[7], "hair"] = -1e308
    subject = dataclasses.replace(subject, data=dataclasses.replace(subject.data, frame=frame))
    with refused("data.features", "'hair'", "1e+308"):
        loss_ratio(subject, LossRatioOptions())


def test_what_lies_between_categories_alone_is_no_evidence():
    for reached, verdict in ((1.2, INSUFFICIENT), (1.3, EVIDENCE)):
        searched = dataclasses.replace(MOVED, reached=reached)
        assert judge_ratio([MeanTest(500, 2.0, 1.0, 0.0)], searched, **ASKED).verdict == verdict


def test_the_interval_holds_what_every_direction_in_doubt_gives():
    tests = [MeanTest(400, mean, 0.5, 0.0) for mean in (1.5, 1.05, 1.9)]
    found = stand(tests, [PairedRatio(80, 10, 0, 310)] * 3, MOVED, **ASKED)
    interval = found.judged.interval
    ends = tests[1].interval(0.05).low, tests[2].interval(0.05).high
    assert (interval.value, interval.low, interval.high) == (1.5, *ends)
    assert (found.judged.verdict, judge_ratio(tests[:1], MOVED, **ASKED).verdict) == (INSUFFICIENT, EVIDENCE)
    assert found.loss.lower_bound == tests[1].lower_bound(0.05)
    assert (found.loss.p_value, found.loss.reject) == (tests[1].p_value(1.25), False)
    assert spanning([Estimate(500.0, -795.0, 1795.0, 11.0, "of 11 people")]).low == 0  # as no ratio is below
    apart = [MeanTest(10**6, mean, 0.5, 0.0) for mean in (2.0, 1.5, 2.5)]
    p = 2 * norm.sf(1.5 * norm.isf(0.025))  # how far the directions reach errs at the level, too
    assert judge_ratio(apart, MOVED, **ASKED).p_value == pytest.approx(p, rel=0.05)


def test_an_average_names_the_group_that_it_hides():
    """Nine in ten people are not touched; one in ten, all of one group, have twice the error."""
    everyone, errors = [MeanTest(1000, 1.1, 0.3, 0.0)], [PairedRatio(80, 10, 0, 1000)]
    of_group = GroupRatio("age", "old", Estimate(2.0, 1.9, 2.1, 100, "normal"))
    others = GroupRatio("age", "young", Estimate(1.0, 1.0, 1.0, 900, "normal"))

    def seen(group=of_group, grounds=MOVED, **asked):
        return stand(everyone, errors, grounds, (group, others), **{**ASKED, **asked}).judged

    assert seen().verdict == INSUFFICIENT
    assert "old" in seen().see
    assert seen().see in seen().badge_text
    assert not seen(dataclasses.replace(of_group, reached=1.0)).see  # no row that could be written down
    assert not seen(tolerance=1.95).see
    assert not seen(grounds=dataclasses.replace(MOVED, told_p=0.5)).see


def test_labels_missing_of_one_group_leave_no_verdict_at_any_tolerance():
    frame = own.people(800)
    model = LogisticRegression().fit(frame[["hair", "skill"]], frame["hired"])
    known = (frame["sex"] == "m") | (np.random.default_rng(0).random(800) < 0.6)
    verdicts = {}
    for told, y in {"all": frame["hired"], "some": frame["hired"].where(known)}.items():
        found = evenhand.audit(
            model, frame, y, favorable="yes", protected="sex", columns=["hair", "skill"], audits="loss_ratio"
        )["loss_ratio"]
        verdicts[told] = [each.judged.verdict for each in (found, found.at(1.1), found.at(found.tolerance))]
    assert verdicts == {"all": [EVIDENCE] * 3, "some": [INSUFFICIENT] * 3}


def test_a_tie_that_the_model_uses_is_evidence_whatever_the_seed():
    subject = tied(1.5, "x0", np.random.default_rng(0))
    found = [loss_ratio(subject, LossRatioOptions(steps=100), rng=seed) for seed in range(2)]
    assert {each.verdict for each in found} == {EVIDENCE}
    values = [each.statistic.value for each in found]
    assert max(values) - min(values) < 0.1 * min(values)
    assert all(each.statistic.low < each.loss_test.interval(0.05).low for each in found)


def test_without_anything_to_move_along_there_is_no_verdict():
    told = WORLDS["10 features, one attribute"][2]
    subject = subject_of(people(500, 10, told, np.random.default_rng(3)), told, "logistic", 3)
    found = loss_ratio(subject, LossRatioOptions(steps=100))
    assert found.statistic.low > 1, "moving along noise makes losses larger all the same"
    assert found.verdict == INSUFFICIENT
    assert found.people_needed is None
    assert not found.metric.told[0].told
    assert found.at(1.01).verdict == INSUFFICIENT
