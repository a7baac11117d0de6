"""Verdicts after Holm over the audits of a run."""

from __future__ import annotations

import html
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from audits.notebook import audit
from audits.reports.html import render_report
from audits.runs.multiple_testing import adjusted_p_values, counted_together
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL, Estimate, judge


def result(value: float, half: float, p: float | None):
    estimate = Estimate(value, value - half, value + half, 400, "by hand")
    judged = judge(estimate, immaterial=(-0.1, 0.1), p_value=p)
    return SimpleNamespace(judged=judged, verdict=judged.verdict)


def across(results, level: float = 0.05):
    return [each.verdict for each in counted_together(results, [{"level": level}] * len(results))]


def test_evidence_must_outlast_the_others():
    results = [result(0.2, 0.1, 0.03), result(0.2, 0.1, 0.01), result(0.0, 0.05, 0.9)]
    assert [each.verdict for each in results] == [EVIDENCE, EVIDENCE, NO_MATERIAL]
    assert adjusted_p_values(results, [0.05] * 3) == pytest.approx([0.06, 0.03, 0.9])
    assert across(results) == [INSUFFICIENT, EVIDENCE, NO_MATERIAL]
    assert across(results, 0.10) == [EVIDENCE, EVIDENCE, NO_MATERIAL]
    # one alone keeps its verdict; without a p-value it counts as at the level
    assert across([result(0.2, 0.1, 0.05)]) == across([result(0.2, 0.1, None)]) == [EVIDENCE]
    assert across([result(0.2, 0.1, None), result(0.0, 0.05, 0.9)])[0] == INSUFFICIENT


def test_permutations_too_few_to_outlast_so_many_audits_are_told():
    """1/100 is the least p of 99 permutations, and among eight audits 0.05 / 8 may be needed."""
    results = [result(0.2, 0.1, 0.01)] + [result(0.0, 0.05, 0.9)] * 7
    few, *_ = counted_together(results, [{"level": 0.05, "permutations": 99}] * 8)
    assert few.verdict == INSUFFICIENT
    assert "159" in few.note
    enough, *_ = counted_together(
        [result(0.2, 0.1, 1 / 160), *results[1:]], [{"level": 0.05, "permutations": 159}] * 8
    )
    assert (enough.verdict, enough.note) == (EVIDENCE, "")


def test_what_can_be_chance_is_said_so_wherever_it_is_said():
    """A gap that would be evidence alone: headline, JSON, report and notebook do not state it as found."""
    rng, ok = np.random.default_rng(0), np.repeat([1, 0, 1, 0], [540, 460, 492, 508])
    table = pd.DataFrame({"sex": np.repeat(["m", "f"], 1000), "race": rng.choice(["a", "b"], 2000)})
    table = table.assign(age=rng.choice(["young", "old"], 2000))
    audits = [{"groups": {"by": [name], "material": 0.02}} for name in table]
    found = audit(None, table, predictions=ok, favorable=1, protected=[*table], audits=audits, search=False)
    first = next(each for each in found.findings() if each.place == 0)
    assert first.audit.result.verdict == EVIDENCE
    assert (first.judged.verdict, bool(first.across.doubt)) == (INSUFFICIENT, True)
    for said in (first.sentence, repr(found), found._repr_html_(), render_report(found)):
        assert first.across.doubt in html.unescape(said)
    assert first.to_json()["text"] == first.sentence
