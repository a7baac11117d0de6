"""The whole audit: finding, verdicts, other tolerances, groups, black boxes, files, bad input."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from audits.checks import build
from audits.drawing.style import alt_text
from audits.loss_ratio import LossRatioOptions, LossRatioResult, loss_ratio
from audits.loss_ratio import figures as figures
from audits.loss_ratio.attack.flow import step_sizes
from audits.loss_ratio.metrics.distances import FairMetrics, projection_metric
from audits.loss_ratio.ratio_tests import turned_metrics
from audits.loss_ratio.sections import section as loss_ratio_section
from audits.models.networks.gradients import logits_over
from audits.stats import EVIDENCE, INSUFFICIENT
from audits.stats.means import mean_test
from benchmarks.papers.heat_map import linear_ratios, turned
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


def test_a_model_that_cannot_read_it_is_not(make, make_people):
    subject = make(make_people(600, bias=0.0), features=("skill", "job", "hair"), model={"train": "project"})
    result = loss_ratio(subject, LossRatioOptions(metric="expert", directions=[{"hair": 1.0}]))
    # the directions taken out were learned from other people, so a little of the trace is left
    assert result.statistic.value < 1.2
    assert (result.verdict, result.judged.material) == (INSUFFICIENT, False)
    assert not result.reject


def test_few_people_give_no_green_light(make, make_people):
    result = loss_ratio(
        make(make_people(24, bias=0.0)), LossRatioOptions(metric="expert", free_features=["job"], steps=1)
    )
    assert result.verdict == INSUFFICIENT
    assert (result.judged.badge, result.people_needed) == ("no verdict", None)


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
    for tolerance in (1.01, 2.0):
        at, anew = found.at(tolerance), loss_ratio(biased, LossRatioOptions(tolerance=tolerance))
        for name in ("judged", "finding", "lower_bound", "p_value", "reject", "tolerance", "error_ratio"):
            assert getattr(at, name) == getattr(anew, name), name
    assert not found.at(1000.0).reject


def test_every_person_is_counted_and_groups_hold_everybody(found, biased):
    assert found.rows == {"audited": biased.data.n, "used": biased.data.n, "left_out": {}}
    assert sum(item.statistic.n for item in found.groups) == biased.data.n
    assert sum(bar.people for bar in found.histogram) == biased.data.n
    assert list(found.people.index) == list(biased.data.frame.index)
    assert found.worst[0] == found.people["ratio"].idxmax()


def test_weights_are_people(make, make_people):
    frame = make_people(300)
    counts = np.random.default_rng(0).integers(1, 4, 300)
    predictions = {"train": "logistic"}
    once = make(frame.assign(w=counts), predictions, weights="w", features=("hair", "skill", "job"))
    data = once.data.take(np.repeat(np.arange(once.data.n), once.data.weights.astype(int)))
    data = dataclasses.replace(data, weights=None, frame=data.frame.reset_index(drop=True).rename_axis("row"))
    many = dataclasses.replace(once, data=data)
    options = {"metric": "expert", "free_features": ["hair"]}
    one, other = loss_ratio(once, LossRatioOptions(**options)), loss_ratio(many, LossRatioOptions(**options))
    assert one.statistic.n == other.statistic.n
    assert one.lower_bound == pytest.approx(other.lower_bound, rel=1e-6)
    assert one.error_ratio.p_value == pytest.approx(other.error_ratio.p_value, rel=1e-6)


@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_a_model_without_gradient_is_estimated_and_says_so(make, make_people, kind):
    subject = make(make_people(120, bias=3.0), {"train": kind})
    result = loss_ratio(
        subject, LossRatioOptions(metric="expert", free_features=["hair"], steps=3, step_size=1.6)
    )
    assert result.method.startswith("estimate without gradient")
    assert result.statistic.value > 2  # the trace is free, and the model reads it
    moved = result.moves[result.moves["feature"] == "hair"]
    low, high = subject.data.frame["hair"].min(), subject.data.frame["hair"].max()
    assert not moved["after"].between(low, high).all(), "nothing keeps them within the range seen"
    kept = loss_ratio(
        subject,
        LossRatioOptions(
            metric="expert", free_features=["hair"], steps=3, step_size=1.6, within_range=True, max_people=40
        ),
    )
    rows = kept.moves[kept.moves["feature"] == "hair"]
    assert rows["after"].between(low - 1e-9, high + 1e-9).all()
    assert (result.people["ratio"] >= 1).all()


def test_a_black_box_swaps_the_category_that_decides(make, make_people):
    frame = make_people(160)
    frame["hired"] = np.where(frame["job"] == "judge", "yes", "no")
    subject = make(frame, {"train": "forest"})
    result = loss_ratio(subject, LossRatioOptions(metric="expert", free_features=["job"], steps=2))
    jobs = result.moves[result.moves["feature"] == "job=judge"]
    assert (jobs["before"] + jobs["after"] == 1).all()
    assert result.error_ratio.reject


def test_the_brier_score_and_a_falling_step(biased):
    result = loss_ratio(
        biased, LossRatioOptions(loss="squared", schedule="decreasing", within_range=True, steps=50)
    )
    p = result.people["score"].where(result.people["favorable label"], 1 - result.people["score"])
    np.testing.assert_allclose(result.people["loss"], (1 - p) ** 2, rtol=1e-9, atol=1e-15)
    assert result.warnings


def test_metrics_from_comparable_people(biased):
    for metric in ("factor", "explore"):
        result = loss_ratio(biased, LossRatioOptions(metric=metric, comparable="job", factors=1, steps=50))
        assert "job" in result.metric.source
        assert result.statistic.value >= 1


def test_a_long_tail_of_few_people_is_told(make, make_people):
    jobs = {"metric": "expert", "free_features": ["job"], "steps": 3}  # which the model hardly reads
    few = loss_ratio(
        make(make_people(160, bias=0.3, seed=1), {"train": "boosting"}), LossRatioOptions(**jobs)
    )
    assert few.loss_test.long_tailed
    assert any("80 people" in warning for warning in few.warnings)
    short = loss_ratio(make(make_people(400)), LossRatioOptions(steps=10))
    assert not short.loss_test.long_tailed


def test_models_compared_over_splits(make, make_people):
    result = loss_ratio(
        make(make_people(400)), LossRatioOptions(compare=["logistic", "reductions"], splits=2, steps=10)
    )
    first, second = result.comparison
    assert (first["model"], first["splits"]) == ("logistic", 2)
    assert abs(second["average_odds_difference"]["sex"]) < abs(first["average_odds_difference"]["sex"])
    assert 0.5 < first["balanced_accuracy"] < 1
    assert list(result.comparison_frame()["model"]) == ["logistic", "reductions"]


@pytest.mark.parametrize("turn", [None, {"hair": 1.0}])
def test_a_metric_that_is_off_against_the_linear_case_by_hand(make, make_people, turn):
    """Figure 1 at the model's own weights, from the closed form of two numbers."""
    subject = make(make_people(300), features=("hair", "skill"))
    options = build(
        LossRatioOptions,
        {
            "metric": "expert",
            "free_features": ["hair"],
            "steps": 40,
            "misspecified": {"towards": {"skill": 2.0}, "angles": [0, 10, 20]}
            | ({} if turn is None else {"turn": turn}),
        },
        "loss_ratio",
    )
    result = loss_ratio(subject, options)
    both = [-20, -10, 0, 10, 20] if turn is None else [0, 10, 20]  # the sign of a basis vector says nothing
    assert [row.degrees for row in result.misspecified] == both
    straight = next(row for row in result.misspecified if row.degrees == 0)
    assert straight.statistic.value == pytest.approx(result.statistic.value)
    x = subject.space.encode(subject.data.frame)
    layer = next(iter(logits_over(subject.differentiable, subject.space, subject.data.frame)))
    theta, intercept = layer.weight.numpy(), layer.bias.numpy()
    sizes = step_sizes(40, options.step_size, options.schedule)
    for row in result.misspecified:
        by_hand = linear_ratios(
            x,
            np.asarray(subject.data.y),
            theta,
            intercept,
            turned(np.array([1.0, 0.0]), row.degrees),
            regularizer=options.regularizer,
            sizes=sizes,
        )[0]
        assert row.statistic.value == pytest.approx(by_hand.mean(), rel=1e-6)
        assert row.lower_bound == pytest.approx(mean_test(by_hand).lower_bound(0.05), rel=1e-6)
    assert "20 degrees" in alt_text(figures.misspecified_metric(result))
    assert "misspecified" in {exhibit.key for exhibit in loss_ratio_section(result).exhibits}


def test_any_model_and_any_directions_can_be_turned(make, make_people):
    subject = make(make_people(100), {"train": "boosting"}, features=("hair", "skill", "job"))
    asked = {"towards": {"skill": 1.0, "job=cook": -1.0}, "angles": [0, 15]}
    options = build(LossRatioOptions, {"steps": 1, "misspecified": asked}, "loss_ratio")
    rows = loss_ratio(subject, options).misspecified
    assert [row.degrees for row in rows] == [-15, 0, 15]
    assert all(row.statistic.value >= 1 for row in rows)
    metric = FairMetrics.of(projection_metric(np.eye(len(subject.space.names))[:1], "hair"), subject.data.n)
    for wrong, refusal in (
        ({"towards": {"hair": 1.0}}, ("loss_ratio.misspecified.towards",)),
        ({"towards": {"skill": 1.0}, "turn": {"skill": 1.0}}, ("loss_ratio.misspecified.turn",)),
        ({"towards": {"height": 1.0}}, ("loss_ratio.misspecified.towards",)),
    ):
        asked = build(LossRatioOptions, {"misspecified": wrong}, "loss_ratio").misspecified
        with refused(*refusal):
            turned_metrics(metric, asked, 5.0, subject.space.names)


@pytest.mark.parametrize(
    ("options", "refusal"),
    [
        ({"tolerance": 1.0}, ("loss_ratio.tolerance",)),
        ({"tolerance": 0.8}, ("loss_ratio.tolerance",)),
        ({"step_size": 0.05}, ("step_size", "0.01")),
        (
            {"sensitive": ["sexx"]},
            ("sensitive", "'sexx'", "'sex'"),
        ),
        ({"metric": "expert"}, ("metric", "'expert'")),
        ({"metric": "expert", "free_features": ["hair", "skill", "job"]}, ("metric",)),
        ({"metric": "expert", "matrix": [[1.0]]}, ("matrix",)),
        ({"metric": "factor"}, ("comparable",)),
        ({"loss": "hinge"}, ("loss_ratio.loss",)),
        ({"metric": "factor", "comparable": "job", "factors": 9}, ("factors",)),
        ({"metric": "explore", "comparable": "jobb"}, ("comparable", "'job'")),
        ({"metric": "expert", "free_features": ["hair"], "odds_slack": 0}, ("loss_ratio.odds_slack",)),
        ({"level": 0.7}, ("loss_ratio.level",)),
    ],
)
def test_bad_options(biased, options, refusal):
    with refused(*refusal):
        loss_ratio(biased, LossRatioOptions(**options))


def test_bad_subjects(make, make_people):
    frame = make_people(200)
    frame["score"] = np.linspace(0, 1, 200)
    with refused("model"):
        loss_ratio(make(frame, {"predictions": {"score": "score"}}), LossRatioOptions())
    subject = make(frame, features=("hair", "skill"))
    unlabeled = dataclasses.replace(subject, data=dataclasses.replace(subject.data, label=None, y=None))
    with refused("data.label"):
        loss_ratio(unlabeled, LossRatioOptions())
    one = dataclasses.replace(subject, data=subject.data.take(subject.data.y))
    with refused("data.label"):
        loss_ratio(one, LossRatioOptions())
    lonely = dataclasses.replace(
        subject, data=subject.data.take((subject.data.groups["sex"] == "f").to_numpy())
    )
    with refused("sensitive", "'sex'"):
        loss_ratio(lonely, LossRatioOptions())
