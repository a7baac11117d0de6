"""Gaps of a feature that are filled in: people with the same invented value are not alike."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL
from tests.runs.test_missing_outcomes import SIDES, run

FILLED = {"missing": "impute", "features": ["x", "z"]}


def people(gaps, *, apart=0.0, n=3000):
    """Decisions follow from x alone, of which women may have less; z says nothing."""
    rng = np.random.default_rng(0)
    woman, lot = rng.random(n) < 0.5, rng.random(n)
    x = rng.normal(size=n) - apart * woman
    decided = (x + 0.5 * apart + 0.3 * rng.normal(size=n) > 0).astype(int)
    gone = {"women": woman & (lot < 0.3), "all": lot < 0.3, "few": lot < 0.03, "none": lot < 0}[gaps]
    z, label = rng.normal(size=n).round(2), np.where(rng.random(n) < 0.3, 1 - decided, decided)
    x = np.where(gone, np.nan, x.round(2))
    return pd.DataFrame({"sex": np.where(woman, "f", "m"), "x": x, "z": z, "decided": decided, "y": label})


@pytest.mark.parametrize(
    ("audit", "gaps", "apart", "verdict"),
    [
        ({"rule_sets": {"context": ["x"]}}, "women", 0.0, INSUFFICIENT),  # evidence, if invented values count
        ({"explain": SIDES | {"explainers": ["x"]}}, "none", 0.5, NO_MATERIAL),
        ({"explain": SIDES | {"explainers": ["x"]}}, "all", 0.5, INSUFFICIENT),
        ({"explain": SIDES | {"explainers": ["x"]}}, "women", 0.5, INSUFFICIENT),
        ({"explain": SIDES | {"explainers": ["z"]}}, "women", 0.5, EVIDENCE),  # compares nobody by x
        (
            {"flipset": SIDES | {"permutations": 19, "max_people": 100, "bootstrap": 100}},
            "women",
            0.5,
            INSUFFICIENT,
        ),
        ("groups", "women", 0.5, EVIDENCE),
    ],
)
def test_who_is_compared_by_invented_values_is_not_judged(tmp_path, audit, gaps, apart, verdict):
    (found,) = run(people(gaps, apart=apart), tmp_path, [audit], label="y", filters=FILLED).audits
    judged = found.result.judged
    assert judged.verdict == verdict
    withheld = gaps in {"women", "all"} and verdict == INSUFFICIENT
    assert (judged.badge == "no verdict") == withheld
    assert bool(judged.missing) == withheld
    assert "x" in found.result.warnings[0].split() if withheld else True


def test_gaps_that_are_not_filled_are_judged(tmp_path):
    asked, filters = [{"explain": SIDES | {"explainers": ["z"]}}], FILLED | {"missing": "category"}
    (found,) = run(people("all", apart=0.5), tmp_path, asked, label="y", filters=filters).audits
    assert found.result.judged.verdict == EVIDENCE


@pytest.mark.parametrize(("outcome", "withheld"), [("decision", False), ("label", True)])
def test_a_model_trained_here_is_judged_by_what_it_was_given(tmp_path, outcome, withheld):
    people("women", apart=0.5).to_csv(tmp_path / "t.csv", index=False)
    data = {"path": "t.csv", "label": "y", "favorable": 1, "protected": ["sex"], **FILLED}
    audit = {"explain": SIDES | {"explainers": ["x"], "outcome": outcome}}
    spec = {"data": data, "model": {"train": "logistic"}, "search": "off", "audits": [audit]}
    (found,) = execute(parse_spec(spec, tmp_path)).audits
    assert bool(found.result.judged.missing) == withheld


def test_the_search_looks_at_no_feature_that_was_filled(tmp_path):
    """The groups are decided alike, so that their rates are cleared and the run searches."""
    found = run(people("women"), tmp_path, ["groups"], label="y", filters=FILLED, search="on")
    assert found.search is not None
    assert found.search.result.options["context"] == ("z",)
    assert found.search.result.judged.verdict != EVIDENCE
