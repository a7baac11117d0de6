"""Filters on what decides: what is left of people is no sample, and has no verdict."""

from __future__ import annotations

import pytest

from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL
from tests.runs.test_missing_outcomes import people, run


@pytest.mark.parametrize(
    ("keep", "gap", "hidden", "verdict"),
    [
        ({"column": "decided", "not_missing": True}, 0.3, "rejected women", INSUFFICIENT),
        ({"column": "decided", "in": [0, 1]}, 0.3, "rejected women", INSUFFICIENT),
        ({"column": "decided", "not_missing": True}, 0.0, "few", NO_MATERIAL),
        ({"column": "decided", "not_missing": True}, 0.0, "many", INSUFFICIENT),
        ({"column": "decided", "not_missing": True}, 0.3, "many", EVIDENCE),
        ({"column": "x", "at_least": 0}, 0.3, "nobody", EVIDENCE),
    ],
)
@pytest.mark.parametrize("audit", ["groups", "rule_sets"])
def test_a_filter_on_the_decision_clears_nobody(tmp_path, audit, keep, gap, hidden, verdict):
    table, lot = people(gap=gap)
    women = table["sex"] == "f"
    gone = {
        "rejected women": women & (table["decided"] == 0) & (lot < 0.71),
        "few": lot < 0.02,
        "many": lot < 0.1,
        "nobody": lot < 0,
    }[hidden]
    table = table.assign(decided=table["decided"].mask(gone), y=lot.round())
    found = run(table, tmp_path, [{audit: {}}], label="y", filters={"keep": [keep]}).audits[0].result
    assert found.judged.verdict == verdict
    assert (found.judged.badge == "no verdict") == (verdict == INSUFFICIENT)


def test_whom_filters_leave_out_of_a_group_every_audit_says(tmp_path):
    table, lot = people()
    table["x"] = lot + (table["sex"] == "f")
    audits = ["groups", {"rule_sets": {"permutations": 99}}]
    gaps = table.assign(x=table["x"].where(table["x"] < 1.5))
    for rows, leaves in ((table, {"keep": [{"column": "x", "at_most": 1.5}]}), (gaps, {"missing": "drop"})):
        for each in run(rows, tmp_path, audits, filters=leaves).audits:
            assert "sex = m" in each.result.warnings[0]
