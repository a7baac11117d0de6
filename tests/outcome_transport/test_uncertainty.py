"""How sure an outcome-transport audit is: verdicts, intervals, groups too small for either."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.models import ModelSpec, make_subject
from audits.models.spec import Predictions
from audits.outcome_transport import figures as figures
from audits.outcome_transport.matching.resampling import simultaneous
from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import A, B, flows_of


def test_a_planted_difference_is_found_and_none_is_not():
    frame = crowd(400, seed=2, ties=False)
    worse = frame.assign(score=frame["score"] * np.where(frame["group"] == "a", 0.5, 1.0))
    found = flows_of(scored(worse), source=A, target=B, draws=50)
    assert found.verdict == "evidence of a difference"
    assert found.wasserstein.low > 0.1
    rng = np.random.default_rng(0)
    seen = [
        flows_of(
            scored(frame.assign(group=rng.permutation(frame["group"]))),
            source=A,
            target=B,
            draws=0,
            permutations=39,
            rng=k,
        ).distance_p_value
        for k in range(12)
    ]
    assert np.mean(np.array(seen) <= 0.05) < 0.3


@pytest.mark.parametrize("alone", ["a", "b"])
def test_a_side_of_one_person_has_no_interval(alone):
    """Resampling one person always gives the same one: the interval would be that of the other side alone."""
    frame = crowd(40, seed=1, ties=False).assign(group="b" if alone == "a" else "a")
    frame.loc[0, "group"] = alone
    result = flows_of(scored(frame), source=A, target=B, draws=20, permutations=19)
    assert result.wasserstein.value > 0
    assert result.wasserstein.low is None
    assert all(row.mean.low is None for row in result.bias)
    assert result.flows.sampling_low is None
    assert any(f"“{alone}”" in text for text in result.warnings)


def test_the_interval_of_two_people_does_not_hide_the_others():
    frame = crowd(60, seed=12)
    frame.loc[[40, 41], "group"] = "c"
    result = flows_of(scored(frame), against="label", outcome="decision", draws=20, permutations=0)
    few = next(row for row in result.bias if row.group == "c")
    edge = figures.bias(result).layout.xaxis.range[1]
    assert (
        few.mean.high
        > edge
        > max(row.mean.high for row in result.bias if row.level != "subgroup" and row.n > 2)
    )


@pytest.mark.parametrize(
    ("shares", "material_on", "material"),
    [
        ((0.02, 0.06), "either", True),  # a third of the other rate, 4 points apart
        ((0.02, 0.06), "difference", False),
        ((0.100, 0.105), "either", False),  # a ratio of 0.95
        ((0.52, 0.56), "either", False),
    ],
)
@pytest.mark.parametrize("cost", ["euclidean", "squared_euclidean"])
def test_decisions_are_held_to_their_rates_and_where_rare_to_a_ratio(shares, material_on, material, cost):
    n = 20_000
    decided = np.concatenate([np.arange(n) < share * n for share in shares]).astype(int)
    frame = pd.DataFrame({"group": np.repeat(["a", "b"], n), "decided": decided, "x": np.tile([0, 1], n)})
    data = build_data(frame, DataSpec(label="decided", favorable=(1,), protected=("group",), features=("x",)))
    subject = make_subject(data, ModelSpec(predictions=Predictions(label="decided")))
    for source, target in ((A, B), (B, A)):
        asked = {
            "source": source,
            "target": target,
            "outcome": "decision",
            "material_on": material_on,
            "cost": cost,
        }
        judged = flows_of(subject, **asked, permutations=99, draws=100).judged
        assert judged.material is material
        assert (judged.badge == "difference") is material


@pytest.mark.parametrize(("people", "stated"), [(1, False), (5, False), (12, False), (60, True)])
def test_few_who_are_all_alike_have_no_interval(people, stated):
    """Of five people, one in five of whom is biased, the bootstrap held in 63 of 100 samples."""
    low, _ = simultaneous(np.array([0.2]), np.zeros((40, 1)), np.array([float(people)]), 0.05)
    assert np.isfinite(low[0]) == stated
