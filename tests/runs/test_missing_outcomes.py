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


KNOWN = {"column": "decided", "not_missing": True}


@pytest.mark.parametrize(
    ("gap", "hidden", "keep", "verdict"),
    [
        (0.3, "rejected women", None, INSUFFICIENT),
        (0.3, "rejected women", KNOWN, INSUFFICIENT),
        (0.0, "some women", None, INSUFFICIENT),
        (0.0, "many", None, INSUFFICIENT),
        (0.0, "many", KNOWN, INSUFFICIENT),
        (0.3, "many", None, EVIDENCE),
        (0.3, "many", KNOWN, EVIDENCE),
        (0.0, "few", KNOWN, NO_MATERIAL),
        (0.3, "nobody", {"column": "x", "at_least": 0}, EVIDENCE),
        (0.3, "withdrawn women", {"column": "decided", "in": [0, 1]}, EVIDENCE),
        (0.0, "labels of the rejected", {"column": "y", "not_missing": True}, INSUFFICIENT),
    ],
)
def test_decisions_that_are_missing_by_group_leave_no_verdict(tmp_path, gap, hidden, keep, verdict):
    """Known as missing, or left out by a filter on who has one."""
    table, lot = people(gap=gap)
    women, rejected = table["sex"] == "f", table["decided"] == 0
    gone = {
        "rejected women": women & rejected & (lot < 0.71),
        "some women": women & (lot < 0.2),
        "many": lot < 0.1,
        "few": lot < 0.02,
        "withdrawn women": women & (lot < 0.1),
    }.get(hidden, lot < 0)
    other = [2.0] if hidden == "withdrawn women" else []  # another end, which is known
    label = pd.Series(lot.round()).mask(rejected) if hidden.startswith("labels") else lot.round()
    table = table.assign(decided=table["decided"].mask(gone, *other), y=label)
    more = {"label": "y", "filters": {"keep": [keep]}} if keep else {}
    found = run(table, tmp_path, ["groups", {"rule_sets": {"permutations": 99}}], **more).audits
    for each in (one.result for one in found):
        assert each.judged.verdict == each.verdict == verdict
        assert (each.judged.badge == "no verdict") == bool(each.judged.reason) == (verdict == INSUFFICIENT)
        assert each.judged.people_needed is None
    assert {row.verdict for row in found[0].result.table if not row.is_reference} == {verdict}


def selective(n=900):
    """Labels are known of the approved alone, of whom nobody can be found to be decided otherwise."""
    table, lot = people(n, gap=0.3)
    known = table["decided"] == 1
    return table.assign(y=np.where(lot < 0.85, 1.0, 0.0)).assign(y=lambda t: t["y"].where(known))


@pytest.mark.parametrize(
    ("audit", "by_label", "without"),
    [
        ("flipset", {"condition_on": "label", "permutations": 19}, {"permutations": 19}),
        ("outcome_transport", {"split_by": "label", "draws": 40}, {"draws": 40}),
    ],
)
def test_who_is_compared_by_labels_of_the_approved_has_no_verdict(tmp_path, audit, by_label, without):
    asked = [{audit: SIDES | by_label}, {audit: SIDES | without}]
    alike, all_people = (each.result for each in run(selective(600), tmp_path, asked, label="y").audits)
    assert alike.judged.verdict == alike.verdict == INSUFFICIENT
    assert alike.judged.badge == "no verdict"
    assert all_people.verdict == EVIDENCE


def test_what_is_known_of_some_alone_makes_no_frontier_of_label_rates(tmp_path):
    table, lot = people(900)
    table["decided"] = table["decided"].mask((table["sex"] == "f") & (lot < 0.5))
    rates = (
        {"measure": each, "methods": ["thresholds"]} for each in ("true_positive_rate", "selection_rate")
    )
    asked = [{"mitigation": {"also": {}, "amounts": [0.05], **each}} for each in rates]
    found = run(table, tmp_path, asked, model={"train": "logistic"}).audits
    assert [bool(each.result.frontier) for each in found] == [False, True]


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


def test_saved_runs_compared_have_no_verdict_where_neither_has_one(tmp_path):
    runs = two_runs({"flipset": SIDES | {"condition_on": "label", "permutations": 19}}, 900)
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


def test_rows_with_gaps_that_leave_by_group_clear_nobody(tmp_path):
    table, lot = people()
    for gone, verdict in (((table["sex"] == "f") & (lot < 0.2), INSUFFICIENT), (lot < 0.01, NO_MATERIAL)):
        gaps = table.assign(x=table["x"].mask(gone))
        (found,) = run(gaps, tmp_path, ["groups"], filters={"missing": "drop"}).audits
        assert found.result.judged.verdict == verdict


def test_a_small_group_of_which_many_leave_is_not_cleared(tmp_path):
    """Of 8% of people, those turned down mostly have a gap: 3.6% of everyone."""
    table, lot = people(20_000)
    table["sex"] = np.where(lot < 0.08, "f", "m")
    chance = np.random.default_rng(0).random((2, len(table)))
    table["decided"] = (chance[0] < np.where(table["sex"] == "f", 0.4, 0.7)).astype(float)
    gone = (table["sex"] == "f") & (table["decided"] == 0) & (chance[1] < 0.72)
    gaps = table.assign(x=table["x"].mask(gone))
    for filters in ({"missing": "drop"}, {"keep": [{"column": "x", "not_missing": True}]}):
        (found,) = run(gaps, tmp_path, ["groups"], filters=filters).audits
        assert found.result.judged.verdict == INSUFFICIENT


def test_rows_of_one_person_leave_as_one(tmp_path):
    """Of 300 people with 30 rows each, 1 in 10 of either sex have none of their decisions known."""
    rng = np.random.default_rng(0)
    sex, hidden = rng.choice(["f", "m"], 300), rng.random(300) < 0.1
    table = pd.DataFrame({"who": np.arange(300), "sex": sex, "x": 0.0, "hidden": hidden})
    table = pd.concat([table] * 30, ignore_index=True)
    table["decided"] = rng.random(9000) < np.where(table["sex"] == "f", 0.2, 0.5)
    table["decided"] = table["decided"].astype(float).mask(table["hidden"])
    filters = {"person": "who", "keep": [{"column": "decided", "not_missing": True}]}
    (found,) = run(table, tmp_path, ["groups"], filters=filters).audits
    assert found.result.judged.verdict == EVIDENCE


@pytest.mark.parametrize("missing", ["decided", "second"])
def test_a_filter_on_either_models_decisions_withholds_both_and_their_change(tmp_path, missing):
    """Neither model differs by sex, but a filter drops four in five women whom the first turns down."""
    table, lot = people(6000)
    table["second"] = (np.random.default_rng(0).random(6000) < 0.7).astype(float)
    gone = (table["sex"] == "f") & (table["decided"] == 0) & (lot < 0.8)
    table[missing] = table[missing].mask(gone)
    found = run(
        table.assign(y=lot.round()),
        tmp_path,
        ["groups"],
        label="y",
        filters={"keep": [{"column": missing, "not_missing": True}]},
        compare={"model": {"predictions": {"label": "second"}}},
    )
    (change,) = found.compared.changes.audits
    verdicts = [each.verdict for each in change.rows if each.verdict]
    assert verdicts
    assert {change.verdict, *verdicts} == {INSUFFICIENT}
    for each in (found, found.compared.second):
        assert each.audits[0].result.judged.verdict == INSUFFICIENT


@pytest.mark.parametrize(
    ("form", "known", "verdict"),
    [("label", "approved", INSUFFICIENT), ("score", "approved", INSUFFICIENT), ("label", "chance", EVIDENCE)],
)
def test_a_second_model_known_of_the_approved_alone_has_no_verdict(tmp_path, form, known, verdict):
    """As many women as men are approved, so that only the first decision tells of whom it is known."""
    rng = np.random.default_rng(0)
    score = np.repeat(rng.random(1500).round(3), 2)
    table = pd.DataFrame({"sex": ["f", "m"] * 1500, "x": rng.normal(size=3000).round(2), "score": score})
    table["decided"] = (score >= 0.5).astype(float)
    kept = table["decided"] == 1 if known == "approved" else rng.random(3000) < 0.5
    table["second"] = pd.Series((rng.random(3000) < 0.7).astype(float)).where(kept)
    found = run(
        table.assign(y=rng.integers(0, 2, 3000)),
        tmp_path,
        ["groups"],
        label="y",
        filters={"keep": [{"column": "second", "not_missing": True}]},
        model={"predictions": {"label": "decided"} if form == "label" else {"score": "score"}},
        compare={"model": {"predictions": {"label": "second"}}},
    )
    (change,) = found.compared.changes.audits
    assert change.verdict == verdict
    assert {EVIDENCE in {each.verdict for each in change.rows}} == {verdict == EVIDENCE}
    if known == "approved":
        assert found.compared.changes.accuracy.verdict == INSUFFICIENT
        assert found.compared.second.audits[0].result.judged.badge == "no verdict"


def test_a_hundred_missing_of_very_many_hold_no_verdict_up(tmp_path):
    table, lot = people(400_000, gap=0.3)
    gone = table["decided"].mask((table["sex"] == "f") & (lot < 0.0008))
    assert 100 < gone.isna().sum() < 400
    (found,) = run(table.assign(decided=gone), tmp_path, ["groups"]).audits
    assert found.result.judged.verdict == EVIDENCE


@pytest.mark.parametrize(
    ("gap", "open_year", "hidden", "verdict"),
    [(0.3, 2025, 0.0, EVIDENCE), (0.0, 2025, 0.0, NO_MATERIAL), (0.0, 2024, 0.1, INSUFFICIENT)],
)
def test_missing_decisions_count_among_those_whom_no_other_filter_leaves_out(
    tmp_path, gap, open_year, hidden, verdict
):
    """Those of another year may be missing; of the year audited they may not."""
    (asked, lot), (other, _) = people(gap=gap), people(20_000)
    asked["decided"] = asked["decided"].mask(lot < hidden)
    if open_year == 2025:
        other = other.assign(decided=np.nan)[(other["sex"] == "f") | (other["x"] > 0)]
    table = pd.concat([asked.assign(year=2024), other.assign(year=2025)])
    keep = [{"column": "year", "in": [2024]}, {"column": "decided", "not_missing": True}]
    (found,) = run(table, tmp_path, ["groups"], filters={"keep": keep}).audits
    assert found.result.judged.verdict == verdict


def test_no_difference_is_small_where_nothing_can_be_cleared(tmp_path):
    table, lot = people(60_000, gap=0.05)
    gone = (table["sex"] == "f") & (lot < 0.2)
    for column, told in ((table["x"], False), (table["x"].mask(gone), None)):
        (found,) = run(table.assign(x=column), tmp_path, ["groups"], filters={"missing": "drop"}).audits
        assert (found.result.judged.verdict, found.result.judged.material) == (EVIDENCE, told)
        assert (found.result.judged.badge == "small difference") == (told is False)
        assert {row.material for row in found.result.table if not row.is_reference} == {told}
        assert found.result.finding[0].isdigit() == (told is False), "that it may be larger comes first"
