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


@pytest.mark.parametrize(
    ("shares", "material_on", "material", "cost"),
    [
        ((200, 600), "either", True, "euclidean"),  # 2 and 6%: a third of the other rate
        ((200, 600), "either", True, "squared_euclidean"),
        ((200, 600), "difference", False, "euclidean"),
        ((1000, 1050), "either", False, "euclidean"),  # a ratio of 0.95
        ((5200, 5600), "either", False, "squared_euclidean"),
    ],
)
def test_decisions_are_held_to_their_rates_and_where_rare_to_a_ratio(shares, material_on, material, cost):
    frame = pd.DataFrame({"group": list("aaaabbbb"), "decided": [1, 1, 0, 0] * 2, "x": [0, 1] * 4})
    frame["people"] = [n for some in shares for n in (some, some, 10_000 - some, 10_000 - some)]
    spec = DataSpec(label="decided", favorable=(1,), protected=("group",), features=("x",), weights="people")
    subject = make_subject(build_data(frame, spec), ModelSpec(predictions=Predictions(label="decided")))
    asked = {"outcome": "decision", "material_on": material_on, "cost": cost, "permutations": 99}
    for source, target in ((A, B), (B, A)):
        judged = flows_of(subject, source=source, target=target, draws=100, **asked).judged
        assert judged.material is material
        assert (judged.badge == "difference") is material


@pytest.mark.parametrize(("people", "stated"), [(1, False), (5, False), (12, False), (60, True)])
def test_few_who_are_all_alike_have_no_interval(people, stated):
    """Of five people, one in five of whom is biased, the bootstrap held in 63 of 100 samples."""
    low, _ = simultaneous(np.array([0.2]), np.zeros((40, 1)), np.array([float(people)]), 0.05)
    assert np.isfinite(low[0]) == stated


def test_a_planted_difference_is_found():
    frame = crowd(400, seed=2, ties=False)
    worse = frame.assign(score=frame["score"] * np.where(frame["group"] == "a", 0.5, 1.0))
    found = flows_of(scored(worse), source=A, target=B, draws=50)
    assert found.verdict == "evidence of a difference"
    assert found.wasserstein.low > 0.1
    rng, p_values = np.random.default_rng(0), []
    for k in range(4):  # nothing is planted
        other = scored(frame.assign(group=rng.permutation(frame["group"])))
        p_values.append(flows_of(other, source=A, target=B, draws=0, permutations=39, rng=k).distance_p_value)
    assert np.sum(np.array(p_values) <= 0.05) < 2
