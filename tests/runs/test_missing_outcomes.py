"""People without a decision or a label: what is known of the others has no verdict where it is no sample."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.notebook import audit
from audits.runs.comparison.two_models import compare, paired_changes
from audits.runs.execute import execute
from audits.runs.result import RunResult
from audits.runs.spec import parse_spec
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL
from tests.runs.extra_audits import RatesResult

SIDES = {"source": {"sex": "f"}, "target": {"sex": "m"}}


def run(table, folder, audits, *, label="decided", filters=None, **more):
    table.to_csv(folder / "t.csv", index=False)
    data = {"path": "t.csv", "label": label, "favorable": 1, "protected": ["sex"], "features": ["x"]}
    data |= filters or {}
    spec = {"data": data, "model": {"predictions": {"label": "decided"}}, "search": "off", "audits": audits}
    return execute(parse_spec(spec | more, folder))


def people(n=3000, gap=0.0):
    rng = np.random.default_rng(4)
    sex = rng.choice(["f", "m"], n)
    decided = (rng.random(n) < np.where(sex == "f", 0.7 - gap, 0.7)).astype(float)
    return pd.DataFrame({"sex": sex, "x": rng.normal(size=n).round(2), "decided": decided}), rng.random(n)


@pytest.mark.parametrize(
    ("gap", "missing", "verdict"),
    [
        (0.3, "rejected women", INSUFFICIENT),
        (0.0, "some women", INSUFFICIENT),
        (0.3, "some women", INSUFFICIENT),
        (0.0, "many", INSUFFICIENT),
        (0.3, "many", EVIDENCE),
        (0.0, "few", NO_MATERIAL),
    ],
)
def test_decisions_that_are_missing_by_group_leave_no_verdict(tmp_path, gap, missing, verdict):
    table, lot = people(gap=gap)
    women = table["sex"] == "f"
    hidden = {
        "rejected women": women & (table["decided"] == 0) & (lot < 0.71),
        "some women": women & (lot < 0.2),
        "many": lot < 0.1,
        "few": lot < 0.02,
    }[missing]
    found = run(
        table.assign(decided=table["decided"].mask(hidden)), tmp_path, ["groups", {"rates": {"by": "sex"}}]
    )
    groups, plugin = (each.result for each in found.audits)
    rates = {row.group: row.selection_rate.value for row in groups.table}
    if missing == "rejected women":
        assert abs(rates["f"] - rates["m"]) < 0.06
    assert groups.judged.verdict == groups.verdict == verdict
    assert {row.verdict for row in groups.table if not row.is_reference} == {verdict}
    assert bool(groups.judged.reason) == (verdict == INSUFFICIENT)
    assert groups.judged.people_needed is None
    assert isinstance(plugin, RatesResult)
    assert plugin.verdict in {EVIDENCE, NO_MATERIAL}


def selective(n=900):
    """Labels are known of the approved alone, of whom nobody can be found to be decided otherwise."""
    table, lot = people(n, gap=0.3)
    known = table["decided"] == 1
    return table.assign(y=np.where(lot < 0.85, 1.0, 0.0)).assign(y=lambda t: t["y"].where(known))


@pytest.mark.parametrize(
    ("audit", "by_label", "without"),
    [
        ("flipset", {"condition_on": "label", "permutations": 39}, {"permutations": 39}),
        ("outcome_transport", {"split_by": "label", "draws": 99}, {"draws": 99}),
    ],
)
def test_who_is_compared_by_labels_of_the_approved_has_no_verdict(tmp_path, audit, by_label, without):
    asked = [{audit: SIDES | by_label}, {audit: SIDES | without}]
    alike, all_people = (each.result for each in run(selective(600), tmp_path, asked, label="y").audits)
    assert alike.judged.verdict == alike.verdict == INSUFFICIENT
    assert alike.judged.badge == "no verdict"
    assert all_people.verdict == EVIDENCE


def test_accuracy_among_the_approved_says_nothing_of_two_models(tmp_path):
    table = selective().assign(other=1)
    compare = {"model": {"predictions": {"label": "other"}}}
    changes = run(table, tmp_path, ["groups"], label="y", compare=compare).compared.changes
    assert changes.accuracy.change.value == pytest.approx(0.0)
    assert changes.accuracy.verdict == INSUFFICIENT
    whole = table.assign(y=table["y"].fillna(1))
    changes = run(whole, tmp_path, ["groups"], label="y", compare=compare).compared.changes
    assert changes.accuracy.verdict == EVIDENCE


def two_runs(asked, n=4000):
    """Two models audited in Python on the same people, whose labels are known where the first approves."""
    table = selective(n)
    other = np.where((table["sex"] == "f") & (np.arange(n) % 5 < 2), 0.0, table["decided"])
    decisions = (each.astype(int) for each in (table["decided"], pd.Series(other)))
    told = {"favorable": 1, "protected": "sex", "audits": asked, "search": False}
    return [audit(None, table[["sex", "x"]], table["y"], predictions=each, **told) for each in decisions]


@pytest.mark.parametrize(
    "asked",
    [
        {"flipset": SIDES | {"condition_on": "label", "permutations": 39}},
        {"outcome_transport": SIDES | {"split_by": "label", "draws": 99}},
    ],
)
def test_saved_runs_compared_have_no_verdict_where_neither_has_one(tmp_path, asked):
    runs = two_runs(asked, 900)
    for place, each in enumerate(runs):
        each.save(tmp_path / str(place))
        runs[place] = RunResult.load(tmp_path / str(place))
    (change,) = compare(*runs).audits
    assert change.verdict == INSUFFICIENT
    assert change.judged.reason == runs[0].audits[0].result.judged.reason
    assert {each.verdict for each in change.rows} <= {INSUFFICIENT, None}
    assert not paired_changes(*runs)


def test_saved_runs_whose_filter_leaves_people_out_are_compared_as_two_models_of_a_run(tmp_path):
    table, lot = people(4000)
    table["second"] = (np.arange(4000) % 10 < 5).astype(float)
    gone = (table["sex"] == "f") & (table["decided"] == 0) & (lot < 0.8)
    table = table.assign(decided=table["decided"].mask(gone), y=lot.round())
    keep = {"keep": [{"column": "decided", "not_missing": True}]}
    runs = [
        run(table, tmp_path, ["groups"], label="y", filters=keep, model={"predictions": {"label": name}})
        for name in ("decided", "second")
    ]
    (change,) = compare(*runs).audits
    assert change.verdict == INSUFFICIENT
    assert EVIDENCE not in {each.verdict for each in change.rows}


def test_rates_that_need_missing_labels_are_compared_without_a_verdict():
    (change,) = compare(*two_runs("groups")).audits
    told = {each.where.rpartition(".")[2] for each in change.rows if each.verdict}
    assert told == {"selection_rate"}
    assert change.verdict == EVIDENCE
