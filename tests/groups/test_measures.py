"""Metrics of your own or of a package: values by hand, intervals, classes, bad functions."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, jaccard_score, roc_auc_score

import evenhand
from audits.groups import Metric, at_threshold, metrics
from audits.groups.measures import MetricDraws, measure_groups
from audits.groups.metrics import METRICS, Labels, Rows
from audits.runs.executors.inline import InlineExecutor
from audits.runs.gates.gate import GateFailed
from tests.installed import installed
from tests.refused import refused
from tests.runs.conftest import make_spec, write_people


def people(n: int = 400, seed: int = 1) -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"skill": rng.normal(size=n), "sex": np.where(np.arange(n) % 2, "f", "m")})
    return frame, (frame["skill"] + rng.normal(size=n) > 0).astype(int)


def audit(metrics: dict, options: dict | None = None, *, n: int = 400, times: int = 1, **more: object):
    """Audit people of whom each has so many rows."""
    frame, y = people(n)
    model = LogisticRegression().fit(frame[["skill"]], y)
    asked = {"groups": {"bootstrap": 60, **(options or {})}}
    told = {"favorable": 1, "protected": "sex", "columns": ["skill"], "search": False, **more}
    rows = np.repeat(np.arange(n), times)
    frame, y = frame.iloc[rows].reset_index(drop=True), y.iloc[rows].reset_index(drop=True)
    told |= {"person": rows} if times > 1 else {}
    return evenhand.audit(model, frame, y, audits=asked, metrics=metrics, **told), frame, y, model


def harm(labels, decisions, scores):
    """Cost of errors; not a share."""
    return 5 * np.mean(~labels & decisions) + np.mean(labels & ~decisions)


def test_values_are_those_of_the_function_on_each_group():
    found, frame, y, model = audit({"harm": harm, "f1": f1_score}, {"metrics": ["roc_auc_score"]})
    chance = model.predict_proba(frame[["skill"]])[:, 1]
    rows = {row.group: row for row in found["groups"].table}
    for group, row in rows.items():
        inside = (frame["sex"] == group).to_numpy()
        labels, score = (y == 1).to_numpy()[inside], chance[inside]
        assert row.added["harm"].value == pytest.approx(harm(labels, score >= 0.5, score))
        assert row.added["f1"].value == pytest.approx(f1_score(labels, score >= 0.5))
        assert row.added["roc_auc_score"].value == pytest.approx(roc_auc_score(labels, score))
    first, other = sorted(rows.values(), key=lambda row: not row.is_reference)
    gap = other.differences["harm"].estimate
    assert gap.value == pytest.approx(other.added["harm"].value - first.added["harm"].value)
    assert gap.high - gap.low > other.added["harm"].high - other.added["harm"].low  # two groups, corrected
    assert found["groups"].simultaneous_level == pytest.approx(0.05 / 6)  # three rates, three further metrics
    assert "harm" not in {metric.name for metric in METRICS}  # this call's alone
    found.check([{"metric": "differences.harm", "at_most": 5.0}])
    with pytest.raises(GateFailed, match="harm"):
        found.check([{"metric": "harm", "at_most": 0.0}])


def test_few_people_of_a_skewed_metric_are_not_accused():
    """Both groups alike, log-normal: a small one that has not met the tail is no evidence."""
    cost = [Metric(name="cost", words="cost", measure=lambda _l, _d, s: float(s.mean()))]
    accused, group = 0, np.repeat([0, 1], [30, 500])
    for world in range(20):
        rng = np.random.default_rng([world, 30])
        rows = Rows(group, np.ones(530, bool), rng.lognormal(size=530), np.ones(530), None)
        own, other = measure_groups(cost, rows, 2, rng, draws=60)["cost"]
        gap = own.minus(other).estimate(0.05)
        accused += gap.high < 0 or gap.low > 0
    assert accused <= 4  # 1 is expected at 5%; more than 4 of 20 by chance once in 400


def test_rows_of_one_person_are_no_evidence_of_their_own():
    once, again = (audit({"harm": harm}, {"bootstrap": 200}, n=200, times=times)[0] for times in (1, 5))
    for first, second in zip(once["groups"].table, again["groups"].table, strict=True):
        one, five = first.added["harm"], second.added["harm"]
        assert five.value == pytest.approx(one.value)
        assert five.high - five.low == pytest.approx(one.high - one.low, rel=0.3)  # not /√5


def test_sampling_weights_need_a_function_that_takes_them():
    weights = np.linspace(1, 3, 400)
    told = {"weights": {"column": weights, "kind": "sampling"}}
    with refused("audits['groups'].metrics['harm']", "sample_weight"):
        audit({"harm": harm}, **told)
    found, frame, y, model = audit({"f1": f1_score}, **told)
    row = found["groups"].table[0]
    inside, chosen = (frame["sex"] == row.group).to_numpy(), model.predict(frame[["skill"]])
    expected = f1_score(y[inside], chosen[inside], sample_weight=weights[inside])
    assert row.added["f1"].value == pytest.approx(expected)


def test_evidence_in_a_further_metric_is_a_verdict_of_its_own_and_keeps_the_rates_from_clearing():
    rng = np.random.default_rng(4)
    woman = np.arange(6000) % 2 == 1
    high, wide = rng.choice([-1, 1], (2, 6000))
    score = np.clip(0.5 + 0.3 * high + 0.15 * woman * wide, 0, 1)
    told = {"scores": score, "protected": "sex", "search": False, "threshold": 0.5}
    told["audits"] = {"groups": {"bootstrap": 60}}
    spread = {"words": "spread", "measure": lambda y, d, s: s.std(), "needs_label": False, "limit": 0.01}
    frame = pd.DataFrame({"sex": np.where(woman, "f", "m")})
    alone = evenhand.audit(None, frame, **told)["groups"]
    beside = evenhand.audit(None, frame, metrics={"spread": Metric(name="spread", **spread)}, **told)[
        "groups"
    ]
    gap = next(row for row in beside.table if not row.is_reference).differences["spread"]
    assert (gap.verdict, gap.material) == ("evidence of a difference", True)
    assert (alone.verdict, beside.verdict) == ("no material difference", "insufficient evidence")
    assert beside.judged.reason
    assert beside.warnings


def test_an_equivalence_limit_is_in_the_metrics_own_unit():
    wide, *_ = audit({"harm": harm}, {"limits": {"harm": 50.0}})
    narrow, *_ = audit({"harm": harm}, {"limits": {"harm": 1e-6}})
    gaps = [
        next(row for row in found["groups"].table if not row.is_reference).differences["harm"]
        for found in (wide, narrow)
    ]
    assert gaps[0].estimate.value == gaps[1].estimate.value
    assert [gap.verdict for gap in gaps] == ["no material difference", "insufficient evidence"]
    assert gaps[1].people_needed > 1e6
    moved = at_threshold(narrow["groups"], 0.6)  # without the function, which was this call's alone
    assert moved.further == ()
    with refused("audits['groups'].limits"):
        audit({"harm": harm}, {"limits": {"hram": 1.0}})


@pytest.mark.parametrize(
    ("metric", "refusal"),
    [
        (lambda labels: 1.0, ("audits['groups'].metrics['mine']",)),
        (lambda labels, decisions, scores: 1 / 0, ("audits['groups'].metrics['mine']",)),
        (lambda labels, decisions, scores: [1.0, 2.0], ("audits['groups'].metrics['mine']",)),
        (lambda labels, decisions, scores: float("nan"), ("audits['groups'].metrics['mine']",)),
        ("f1", ("metrics['mine']",)),
    ],
)
def test_a_function_that_cannot_be_used_is_refused_with_its_name(metric: object, refusal: str):
    with refused(*refusal) as caught:
        audit({"mine": metric})
    assert "mine" in str(caught.value)


def test_classes_are_compared_by_the_models_own_decision():
    rng = np.random.default_rng(2)
    frame, _ = people(900)
    place = np.clip(np.round(frame["skill"] + rng.normal(size=900)).astype(int) + 1, 0, 2)
    y = np.array(["low", "mid", "top"])[place]
    model = LogisticRegression().fit(frame[["skill"]], y)
    told = {"favorable": "top", "protected": "sex", "columns": ["skill"], "search": False}
    asked = {"groups": {"bootstrap": 0, "classes": True}}
    found = evenhand.audit(model, frame, y, audits=asked, **told)["groups"]
    predicted = model.predict(frame[["skill"]])
    other = next(row for row in found.table if not row.is_reference)
    for row, name in itertools.product(found.table, ("low", "mid", "top")):
        inside = (frame["sex"] == row.group).to_numpy()
        right, recall = predicted[inside & (y == name)] == name, row.added[f"recall of {name}"]
        assert row.added[f"predicted {name}"].value == pytest.approx(np.mean(predicted[inside] == name))
        assert (recall.value, recall.n) == (pytest.approx(right.mean()), len(right))
        assert {f"predicted {name}", f"recall of {name}"} <= set(other.differences)
    first = found.table[0]
    assert first.selection_rate.value == first.added["predicted top"].value  # argmax, no cut
    with refused("audits['groups'].classes"):
        audit({}, {"classes": True})


MODULE = """
from audits.groups.metrics import Metric

def jaccard(labels, decisions, people):
    return float(people[labels & decisions].sum() / people[labels | decisions].sum())

JACCARD = Metric(name="jaccard", words="Jaccard index", function=jaccard)
"""
SPEC = make_spec({"groups": {}})


@pytest.fixture
def folder(tmp_path: Path):
    write_people(tmp_path / "people.csv")
    told = {"group": metrics.GROUP, "name": "jaccard", "found": metrics._plugin_metrics}
    with installed(tmp_path, "jaccard_metric:JACCARD", MODULE, **told):
        yield tmp_path


def test_an_installed_metric_is_in_results_and_table(folder: Path):
    run = InlineExecutor().submit(SPEC, folder).result()
    found = run.audits[0].result
    people = pd.read_csv(folder / "people.csv").assign(chosen=lambda table: table["score"] >= 0.5)
    by_name = {row["group"]: row["added"]["jaccard"] for row in found.to_json()["table"]}
    for name, own in people.groupby("group"):
        estimate = next(each for group, each in by_name.items() if name in str(group))
        assert estimate["value"] == pytest.approx(jaccard_score(own["paid"], own["chosen"]))
        # the slow obvious jackknife, one person after the other
        rest = [own.drop(row) for row in own.index]
        without = np.array([jaccard_score(some["paid"], some["chosen"]) for some in rest])
        spread = np.sqrt((len(own) - 1) / len(own) * ((without - without.mean()) ** 2).sum())
        half = (estimate["high"] - estimate["low"]) / 2
        assert half == pytest.approx(stats.t.isf(0.025, len(own) - 1) * spread)
    assert "Jaccard index" in found.to_frame().to_csv()


def test_intervals_that_cannot_be_had_are_not_made_up():
    """Of five against five whose decisions are nearly always right, two in three were cleared."""

    def accuracy(y, d, n):
        return n[y == d].sum() / n.sum()

    metric = metrics.Metric(name="own", words="own", function=accuracy)
    for cells, stated in (([4, 1, 4, 0], False), ([10, 0, 10, 0], False), ([9, 1, 9, 1], True)):
        found = metrics.by_jackknife(metric, np.array(cells, dtype=float), 0.05)
        assert (found.low is not None) == stated
        assert found.value == pytest.approx((cells[0] + cells[2]) / sum(cells))
    ones, few = np.ones(100), np.random.default_rng(0).normal(size=100)
    holes = np.where(np.arange(100) % 3, 0.4, np.nan)
    for value, n, drawn in ((1.0, 50, ones), (0.4, 6, few), (0.4, 60, holes), (0.4, 60, np.empty(0))):
        assert MetricDraws(value, float(n), n - 1.0, drawn).estimate(0.05).low is None


def test_neither_order_nor_form_of_the_table_moves_an_interval():
    rng, n = np.random.default_rng(8), 300
    group, score = rng.integers(0, 2, n), rng.integers(0, 4, n) / 4
    label = rng.random(n) < 0.2 + score / 2
    cells = np.unique(np.column_stack([group, score, label]), axis=0, return_index=True, return_counts=True)

    def gap(order: np.ndarray, sizes: np.ndarray) -> list[float]:
        labels = Labels(label[order], np.ones(len(order), dtype=bool))
        rows = Rows(group[order], score[order] >= 0.5, score[order], sizes, labels)
        metric = [Metric(name="harm", words="harm", measure=harm)]
        own, other = measure_groups(metric, rows, 2, np.random.default_rng(1), draws=100)["harm"]
        found = own.minus(other).estimate(0.05)
        return [found.value, found.low, found.high]

    expected = gap(np.arange(n), np.ones(n))
    np.testing.assert_allclose(gap(rng.permutation(n), np.ones(n)), expected, rtol=1e-12)
    np.testing.assert_allclose(gap(cells[1], cells[2].astype(float)), expected, rtol=1e-12)
