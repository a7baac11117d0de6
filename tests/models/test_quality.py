"""Quality of a model: worked by hand, against scikit-learn, against the slow obvious version."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from audits.data import DataSpec, build_data
from audits.models import make_subject, model_facts, model_spec
from audits.models.quality import accuracy, area_under_curve, by_design, log_loss
from audits.stats.design import make_design


@pytest.mark.parametrize("seed", range(4))
def test_the_area_counts_pairs(seed):
    rng = np.random.default_rng(seed)
    scores, y, weights = rng.integers(0, 7, 30).astype(float), rng.random(30) < 0.4, rng.integers(1, 4, 30)
    found = area_under_curve(scores, y, weights.astype(float))
    assert found.value == pytest.approx(roc_auc_score(y, scores, sample_weight=weights), abs=1e-12)
    assert 0 <= found.low < found.value < found.high <= 1
    turned = area_under_curve(-scores, y, weights.astype(float))
    assert (turned.value, turned.low) == pytest.approx((1 - found.value, 1 - found.high), abs=1e-9)


def test_accuracy_and_log_loss_by_hand():
    scores, y = np.array([0.9, 0.2, 0.6]), np.array([True, False, False])
    right = accuracy(scores >= 0.5, y, np.array([1.0, 1.0, 2.0]))
    assert (right.value, right.n) == (0.5, 4)
    found = log_loss(scores, y, np.array([1.0, 1.0, 2.0]))
    assert found.value == pytest.approx(-(np.log(0.9) + np.log(0.8) + 2 * np.log(0.4)) / 4)
    assert found.n == 4
    repeated = log_loss(scores[[0, 1, 2, 2]], y[[0, 1, 2, 2]], np.ones(4))
    assert (found.low, found.high) == pytest.approx((repeated.low, repeated.high))
    wrong = log_loss(np.array([0.0, 1.0]), np.array([True, True]), np.ones(2))
    assert wrong.value == pytest.approx(36.04 / 2, abs=0.01)  # much, but not infinity


def test_rows_of_one_person_and_weights_do_not_make_a_model_surer():
    """One row of each of 60 people, copied five times, tells what the 60 tell, and no more."""
    rng = np.random.default_rng(5)
    y = rng.random(60) < 0.5
    scores = 1 / (1 + np.exp(-rng.normal(y * 1.0, 1.0)))
    alone = by_design(make_design(60), scores, scores >= 0.5, y)
    five = np.repeat(np.arange(60), 5)
    design = make_design(300, cluster=five)
    together = by_design(design, scores[five], scores[five] >= 0.5, y[five])
    plain = (accuracy(scores >= 0.5, y, np.ones(60)), area_under_curve(scores, y, np.ones(60)))
    for one, many in zip(alone, together, strict=True):
        assert many.value == pytest.approx(one.value)
        assert many.high - many.low == pytest.approx(one.high - one.low, rel=0.03)
    assert alone[0].value == plain[0].value
    assert alone[1].value == pytest.approx(plain[1].value)
    assert alone[1].high - alone[1].low == pytest.approx(plain[1].high - plain[1].low, rel=0.15)
    heavy = by_design(make_design(60, weights=1 + 9.0 * (scores > 0.5)), scores, scores >= 0.5, y)
    assert heavy[0].value == pytest.approx(np.average((scores >= 0.5) == y, weights=1 + 9.0 * (scores > 0.5)))


def test_a_design_with_one_label_or_one_cluster_has_no_interval():
    scores, some = np.array([0.2, 0.7, 0.6]), np.array([True, False, True])
    assert by_design(make_design(3), scores, scores >= 0.5, np.ones(3, dtype=bool))[1].value is None
    one = by_design(make_design(3, cluster=np.zeros(3)), scores, scores >= 0.5, some)
    assert [each.low for each in one[1:]] == [None, None]


def test_accuracy_follows_the_design_of_the_data():
    x, t = [0.2, 0.8] * 50, [0, 1, 1, 0] * 25
    rows = pd.DataFrame({"x": x, "t": t, "g": ["a", "b"] * 50, "id": np.arange(100) // 5})
    found = []
    for more in ({}, {"person": "id"}):
        spec = DataSpec(label="t", favorable=(1,), protected=("g",), features=("x",), **more)
        subject = make_subject(build_data(rows, spec), model_spec({"predictions": {"score": "x"}}))
        found.append(model_facts(subject)["quality"]["accuracy"])
    assert found[0]["value"] == found[1]["value"]
    assert [each["method"].startswith("Korn–Graubard") for each in found] == [False, True]


def test_log_loss_of_few_people_and_of_people_all_alike_has_no_interval():
    """The normal interval holds in 74 of 100 samples of three people, and in 88 of ten."""
    assert log_loss(np.linspace(0.1, 0.9, 9), np.arange(9) % 2 == 0, np.ones(9)).low is None
    alike = log_loss(np.full(12, 0.98), np.ones(12, dtype=bool), np.ones(12))
    assert (alike.value, alike.low) == (pytest.approx(-np.log(0.98)), None)


@pytest.mark.parametrize("rows", [1, 2])
def test_log_loss_allows_for_mistakes_that_few_people_did_not_show(rows: int):
    """At 98%, 2% are wrong. A third of samples of 60 have no mistake: their intervals had hardly a width."""
    rng, held = np.random.default_rng(3), 0
    for _ in range(100):
        scores = np.where(rng.random(60) < 0.5, 0.02, 0.98)
        y = rng.random(60) < scores
        scores += rng.uniform(-1e-3, 1e-3, 60)
        who = np.repeat(np.arange(60), rows)
        found = log_loss(scores, y, np.ones(60))
        if rows > 1:
            found = by_design(make_design(len(who), cluster=who), scores[who], scores[who] > 0.5, y[who])[2]
        held += found.low <= -0.98 * np.log(0.98) - 0.02 * np.log(0.02) <= found.high
    assert held >= 93


@pytest.mark.shared
def test_compas_models_are_as_good_as_published_ones(shared_data):
    """About 67%, as in Table 2 of the prediction-sensitivity paper (66.7)."""
    from benchmarks.papers.individual_fairness import compas

    subject = make_subject(compas(), model_spec({"train": "boosting"}))
    quality = model_facts(subject)["quality"]
    assert [quality[name]["value"] for name in ("accuracy", "auc")] == pytest.approx([0.67, 0.73], abs=0.03)
    assert subject.training.n + subject.data.n == 6172
