"""The whole audit: finding, verdicts, other tolerances, groups, black boxes, files, bad input."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.special import expit

from audits.checks import build
from audits.comparison.loss_ratio import compare
from audits.loss_ratio import LossRatioOptions, LossRatioResult, loss_ratio
from audits.loss_ratio import figures as figures
from audits.loss_ratio.attack.flow import step_sizes
from audits.loss_ratio.sections import section as loss_ratio_section
from audits.models.networks.gradients import logits_over
from audits.stats import EVIDENCE, INSUFFICIENT
from audits.stats.means import mean_test
from tests.cases import cases
from tests.loss_ratio.conftest import people, subject_of
from tests.refused import refused


@pytest.fixture(scope="module")
def found(biased) -> LossRatioResult:
    return loss_ratio(biased, LossRatioOptions())


def test_a_model_that_reads_the_trace_is_found_out(found):
    assert found.verdict == EVIDENCE
    assert found.reject
    assert found.lower_bound > 1.25
    assert found.error_ratio.reject
    assert found.features[0].feature == "hair"
    assert found.metric.dimensions == 1


def test_a_model_that_cannot_read_it_is_not_and_few_people_give_no_green_light():
    subject = subject_of(people(600, bias=0.0), features=("skill", "job", "hair"), model={"train": "project"})
    few = LossRatioOptions(metric="expert", free_features=["job"], steps=1)
    result = loss_ratio(subject, LossRatioOptions(metric="expert", directions=[{"hair": 1.0}]))
    # the directions taken out were learned from other people, so a little of the trace is left
    assert result.statistic.value < 1.2
    assert (result.judged.material, result.reject) == (False, False)
    for found in (result, loss_ratio(subject_of(people(24, bias=0.0)), few)):
        assert (found.verdict, found.judged.badge, found.people_needed) == (INSUFFICIENT, "no verdict", None)


def test_numbers_by_the_papers_formulas(found, biased):
    ratios = found.people["ratio"]
    n = len(ratios)
    assert found.statistic.value == pytest.approx(ratios.mean(), rel=1e-12)
    assert found.paper.lower_bound == pytest.approx(
        ratios.mean() - 1.6448536 * ratios.std(ddof=1) / n**0.5, rel=1e-7
    )
    assert (ratios >= 1 - 1e-5).all()
    np.testing.assert_allclose(ratios, found.people["loss after"] / found.people["loss"], rtol=1e-12)
    np.testing.assert_allclose(found.people["score"], biased.scores, atol=1e-12)
    wrong = found.people[["wrong", "wrong after"]].mean()
    assert found.error_ratio.statistic.value == pytest.approx(
        wrong["wrong after"] / wrong["wrong"], rel=1e-12
    )
    paper = loss_ratio(biased, LossRatioOptions(inference="paper"))
    assert paper.loss_test.lower_bound(0.05) == found.paper.lower_bound
    assert paper.lower_bound <= found.paper.lower_bound, (
        "the direction is learned, which the paper takes as given"
    )


def test_another_tolerance_needs_no_new_run(found, biased):
    at, anew = found.at(1.01), loss_ratio(biased, LossRatioOptions(tolerance=1.01))
    for name in ("judged", "finding", "lower_bound", "p_value", "reject", "tolerance", "error_ratio"):
        assert getattr(at, name) == getattr(anew, name), name
    assert not found.at(1000.0).reject


def test_a_model_without_gradient_is_estimated_and_says_so():
    subject = subject_of(people(120, bias=3.0), {"train": "boosting"})
    asked = {"metric": "expert", "free_features": ["hair"], "steps": 3, "step_size": 1.6, "max_people": 40}
    result = loss_ratio(subject, LossRatioOptions(**asked))
    assert result.method.startswith("estimate without gradient")
    assert result.statistic.value > 2  # the trace is free, and the model reads it
    assert (result.people["ratio"] >= 1).all()
    kept = loss_ratio(subject, LossRatioOptions(**asked, within_range=True))
    low, high = subject.data.frame["hair"].min() - 1e-9, subject.data.frame["hair"].max() + 1e-9
    for found, inside in ((result, False), (kept, True)):  # nothing keeps them within the range seen unasked
        rows = found.moves[found.moves["feature"] == "hair"]
        assert rows["after"].between(low, high).all() == inside
    learned = loss_ratio(subject, LossRatioOptions(steps=2, max_people=40))  # moved along the least of many
    assert 0 < learned.statistic.low < learned.statistic.value
    assert learned.statistic.high is learned.judged.interval.high is learned.groups[0].statistic.high is None
    assert all(row.moved.ends is None for row in compare(learned, learned, (subject, subject)).rows)


def test_a_black_box_swaps_the_category_that_decides():
    frame = people(160)
    frame["hired"] = np.where(frame["job"] == "judge", "yes", "no")
    subject = subject_of(frame, {"train": "forest"})
    result = loss_ratio(subject, LossRatioOptions(metric="expert", free_features=["job"], steps=2))
    jobs = result.moves[result.moves["feature"] == "job=judge"]
    assert (jobs["before"] + jobs["after"] == 1).all()
    assert result.error_ratio.reject


def test_the_brier_score_a_falling_step_and_metrics_from_comparable_people(biased):
    told = {"loss": "squared", "schedule": "decreasing", "within_range": True, "steps": 30}
    for metric in ("factor", "explore"):
        result = loss_ratio(biased, LossRatioOptions(metric=metric, comparable="job", factors=1, **told))
        assert "job" in result.metric.source
        p = result.people["score"].where(result.people["favorable label"], 1 - result.people["score"])
        np.testing.assert_allclose(result.people["loss"], (1 - p) ** 2, rtol=1e-9, atol=1e-15)
        assert result.statistic.value >= 1
        assert result.warnings


def test_models_compared_over_splits():
    asked = LossRatioOptions(compare=["logistic", "reductions"], splits=2, steps=10)
    result = loss_ratio(subject_of(people(400)), asked)
    first, second = result.comparison
    assert (first["model"], second["model"], first["splits"]) == ("logistic", "reductions", 2)
    assert abs(second["average_odds_difference"]["sex"]) < abs(first["average_odds_difference"]["sex"])
    assert 0.5 < first["balanced_accuracy"] < 1


def linear_ratios(x, y, theta, bias, free, regularizer, sizes) -> np.ndarray:
    """Loss ratios (n,) of a logistic model of two numbers by Eq. 2.8, when people move freely along `free`.

    A person's shift is a multiple of the weights along that direction, and another one across it.
    """
    sign = np.where(y.astype(bool), -1.0, 1.0)
    start = logits = sign * (x @ theta + bias)  # the sign of a wrong decision
    freely = (theta @ free) ** 2
    along = across = np.zeros(len(x))
    for size in sizes:
        slope = size * expit(logits)
        along, across = along + slope, across * (1 - 2 * regularizer * size) + slope
        logits = start + freely * along + (theta @ theta - freely) * across
    return np.logaddexp(0, logits) / np.logaddexp(0, start)


def test_a_metric_that_is_off_against_the_linear_case_by_hand():
    """Figure 1 at the model's own weights, from the closed form of two numbers."""
    subject = subject_of(people(300), features=("hair", "skill"))
    off = {"towards": {"skill": 2.0}, "angles": [0, 10, 20], "turn": {"hair": 1.0}}
    asked = {"metric": "expert", "free_features": ["hair"], "steps": 40, "misspecified": off}
    options = build(LossRatioOptions, asked, "loss_ratio")
    result = loss_ratio(subject, options)
    assert [row.degrees for row in result.misspecified] == [0, 10, 20]
    assert result.misspecified[0].statistic.value == pytest.approx(result.statistic.value)
    x, y = subject.space.encode(subject.data.frame), np.asarray(subject.data.y)
    layer = next(iter(logits_over(subject.differentiable, subject.space, subject.data.frame)))
    model = layer.weight.numpy()[0], layer.bias.item()
    sizes = step_sizes(40, options.step_size, options.schedule)
    for row in result.misspecified:
        free = np.array([np.cos(np.deg2rad(row.degrees)), np.sin(np.deg2rad(row.degrees))])
        by_hand = linear_ratios(x, y, *model, free, options.regularizer, sizes)
        assert row.statistic.value == pytest.approx(by_hand.mean(), rel=1e-6)
        assert row.lower_bound == pytest.approx(mean_test(by_hand).lower_bound(0.05), rel=1e-6)
    assert "misspecified" in {exhibit.key for exhibit in loss_ratio_section(result).exhibits}


@pytest.mark.parametrize(("options", "refusal"), cases(__file__, "refused_options.yaml"))
def test_bad_options(biased, options, refusal):
    with refused(*refusal):
        loss_ratio(biased, build(LossRatioOptions, options, "loss_ratio"))


def test_bad_subjects():
    frame = people(200).assign(score=np.linspace(0, 1, 200))
    with refused("model"):
        loss_ratio(subject_of(frame, {"predictions": {"score": "score"}}), LossRatioOptions())
    subject = subject_of(frame, features=("hair", "skill"))
    data = subject.data
    for other, where in (
        (dataclasses.replace(data, label=None, y=None), "data.label"),
        (data.take(data.y), "data.label"),
        (data.take((data.groups["sex"] == "f").to_numpy()), "sensitive"),
    ):
        with refused(where):
            loss_ratio(dataclasses.replace(subject, data=other), LossRatioOptions())


def test_every_person_is_counted_and_every_figure_drawn(found, biased):
    assert found.rows == {"audited": biased.data.n, "used": biased.data.n, "left_out": {}}
    assert sum(item.statistic.n for item in found.groups) == biased.data.n
    assert sum(bar.people for bar in found.histogram) == biased.data.n
    assert found.worst[0] == found.people["ratio"].idxmax()
    for exhibit in loss_ratio_section(found).exhibits:
        assert exhibit.figure().layout.meta["alt"]
        assert len(exhibit.table())
    told = loss_ratio_section(found).exhibits[0].table()
    assert ((told["low"] <= told["ratio"]) & (told["ratio"] <= told["high"])).all(), (
        "each beside its own ends"
    )
