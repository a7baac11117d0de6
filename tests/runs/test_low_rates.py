"""Where few are favored, no audit of decisions calls an adverse ratio immaterial, or clears one unseen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.models import make_subject, model_spec
from audits.runs.execute import carry_out
from audits.runs.spec import audit_request
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL
from audits.stats.badges import limit_words
from tests.attribute_swap.test_attribute_swap import Rule, subject_of, swap

PAIR = {"source": {"race": "Black"}, "target": {"race": "white"}}
QUICK: dict[str, dict[str, Any]] = {
    "explain": {**PAIR, "explainers": ["town"]},
    "flipset": {**PAIR, "permutations": 59},
    "barycentre": {"by": ["race"], "permutations": 99},
    "rule_sets": {"permutations": 199},
}


def result_of(name: str, counts: dict[str, tuple[int, int]], **options: Any) -> Any:
    """Audit people of whom so many of so many a group are called back, alike in both towns."""
    people = [(race, "ns"[k % 2], int(k < yes)) for race, (yes, n) in counts.items() for k in range(n)]
    frame = pd.DataFrame(people, columns=["race", "town", "called"])
    spec = DataSpec(label="called", favorable=1, protected=("race",), features=("town",))
    subject = make_subject(build_data(frame, spec), model_spec({"predictions": {"label": "called"}}))
    return carry_out(audit_request(name, QUICK.get(name, {}) | options, name), 0, subject, 0).result


@pytest.mark.parametrize("name", ["groups", "explain", "rule_sets"])
def test_a_limit_on_the_ratio_alone_is_the_one_that_is_stated(name: str):
    small = result_of(name, {"Black": (3280, 4000), "white": (3800, 4000)}, material_on="ratio")
    assert (small.judged.badge, small.judged.interval.value) == ("small difference", pytest.approx(-0.13))
    assert (small.judged.immaterial_low, small.judged.immaterial_high) == pytest.approx((-0.19, 0.2375))
    clear = result_of(name, {"Black": (106, 120), "white": (110, 120)}, material_on="ratio")
    assert clear.judged.verdict == NO_MATERIAL
    for result in (small, clear):
        assert "10 points" not in result.finding


@pytest.mark.parametrize("name", QUICK)
def test_an_adverse_ratio_is_never_small_and_never_cleared(name: str):
    """Call-backs of 6.45 against 9.65% are 3.2 points and a ratio of .67."""
    counts = {"Black": (157, 2435), "white": (235, 2435)}
    judged = result_of(name, counts).judged
    assert judged.verdict != NO_MATERIAL
    assert judged.badge != "small difference"
    assert max(-judged.immaterial_low, judged.immaterial_high) < 0.05
    assert limit_words(judged).startswith("ratio"), "nobody chose these points"
    if judged.verdict == EVIDENCE:
        assert result_of(name, counts, material_on="difference").judged.badge == "small difference"


@pytest.mark.parametrize("name", ["explain", "rule_sets"])
def test_equal_low_rates_are_cleared_by_the_people_that_are_said_to_be_needed(name: str):
    counts = dict.fromkeys(("Black", "white"), (20, 1000))
    few = result_of(name, counts).judged
    assert few.verdict == INSUFFICIENT
    assert few.people_needed > 2000
    n = few.people_needed // (2 if name == "rule_sets" else 1)
    assert result_of(name, dict.fromkeys(counts, (round(0.02 * n), n))).judged.verdict == NO_MATERIAL
    assert result_of(name, counts, material_on="difference").judged.verdict == NO_MATERIAL


def test_a_third_of_the_few_who_lose_are_no_small_share():
    """2.4 of 7.2% lose by the change: the net share is small, and the ratio .67."""
    frame = pd.DataFrame({"sex": np.tile(["female", "male"], 5000), "rank": np.arange(10_000) // 2 / 5000})
    model = Rule(("sex", "rank"), lambda each: each["rank"] < np.where(each["sex"] == "male", 0.072, 0.048))
    result = swap(subject_of(frame, model), attribute=["sex"])
    assert result.judged.badge == "difference"
    assert swap(subject_of(frame, model), attribute=["sex"], material_on="difference").judged.badge == (
        "small difference"
    )
