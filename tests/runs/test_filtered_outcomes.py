"""Filters on a decision that is missing: who is left is no sample, and has no verdict."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL
from tests.runs.test_missing_outcomes import people, run


@pytest.mark.parametrize(
    ("keep", "gap", "hidden", "verdict"),
    [
        ({"column": "decided", "not_missing": True}, 0.3, "rejected women", INSUFFICIENT),
        ({"column": "decided", "not_missing": True}, 0.0, "few", NO_MATERIAL),
        ({"column": "decided", "not_missing": True}, 0.0, "many", INSUFFICIENT),
        ({"column": "decided", "not_missing": True}, 0.3, "many", EVIDENCE),
        ({"column": "x", "at_least": 0}, 0.3, "nobody", EVIDENCE),
        ({"column": "decided", "in": [0, 1]}, 0.3, "withdrawn women", EVIDENCE),
    ],
)
def test_a_filter_on_the_decision_clears_nobody(tmp_path, keep, gap, hidden, verdict):
    table, lot = people(gap=gap)
    women = table["sex"] == "f"
    gone = {
        "rejected women": women & (table["decided"] == 0) & (lot < 0.71),
        "few": lot < 0.02,
        "many": lot < 0.1,
        "nobody": lot < 0,
        "withdrawn women": women & (lot < 0.1),
    }[hidden]
    other = [2.0] if hidden == "withdrawn women" else []  # another end, which is known
    table = table.assign(decided=table["decided"].mask(gone, *other), y=lot.round())
    audits = ["groups", {"rule_sets": {"permutations": 199}}]
    for each in run(table, tmp_path, audits, label="y", filters={"keep": [keep]}).audits:
        assert each.result.judged.verdict == verdict, each.name
        assert (each.result.judged.badge == "no verdict") == (verdict == INSUFFICIENT)


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


@pytest.mark.parametrize("form", ["label", "score"])
@pytest.mark.parametrize(("known", "verdict"), [("approved", INSUFFICIENT), ("chance", EVIDENCE)])
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


def test_a_filter_on_labels_of_the_approved_alone_leaves_no_verdict(tmp_path):
    table, lot = people(gap=0.0)
    table["y"] = pd.Series(lot.round()).where(table["decided"] == 1)
    keep = {"keep": [{"column": "y", "not_missing": True}]}
    (found,) = run(table, tmp_path, ["groups"], label="y", filters=keep).audits
    assert found.result.judged.verdict == INSUFFICIENT


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
