"""What holds in every optimal coupling, and what only the even one says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.stats.group_means import group_means, judge_groups
from tests.outcome_transport.conftest import scored
from tests.outcome_transport.subjects import flows_of


def _spread_and_tight(n: int = 120) -> pd.DataFrame:
    """Group a is spread out, group b is all alike: in the even coupling a's bias is larger."""
    rng = np.random.default_rng(4)
    group = np.repeat(["a", "b"], n)
    x = np.where(group == "a", rng.normal(size=2 * n) * 4, rng.normal(size=2 * n) * 0.1)
    return pd.DataFrame({"x": x, "group": group})


def test_the_same_outcomes_under_two_policies_are_no_evidence_about_bias():
    """Everyone can be mapped to oneself, with no bias at all, as well as to everyone else."""
    label = np.tile([0, 1], 120)
    result = flows_of(scored(_spread_and_tight().assign(score=label, label=label)), against="label", draws=20)
    assert result.wasserstein.value == 0
    assert result.group_p_value <= 0.05
    assert result.group_p_value_everywhere > 0.5
    assert result.verdict == "insufficient evidence"
    assert result.people_needed is None


def test_a_unique_coupling_is_judged_as_before():
    rng = np.random.default_rng(1)
    frame = _spread_and_tight()
    frame["score"], frame["other"] = rng.random(240), rng.random(240)
    result = flows_of(
        scored(frame, features=("x",)), against={"score": "other"}, cost="squared_euclidean", draws=20
    )
    assert all(item.high - item.low < 1e-9 for item in result.tie_range)
    assert result.group_p_value_everywhere == result.group_p_value <= 0.05
    assert result.verdict == "evidence of a difference"


def test_room_for_a_material_difference_is_no_all_clear():
    """What other couplings leave open widens the interval; beyond what matters no number of people helps."""
    bias, group = np.random.default_rng(0).normal(10, 1, 4000), np.tile([0, 1], 2000)
    how = {"level": 0.05, "permutations": 99, "rng": np.random.default_rng(0)}
    tested = group_means(bias, np.ones(4000), group, **how)
    alone, apart = judge_groups(tested, material=1.0)[0], tested.difference
    width = alone.interval.high - alone.interval.low
    for reach, verdict in ((0.6, "no material difference"), (1.2, "insufficient evidence")):
        found = judge_groups(
            tested, material=1.0, ranges=(apart - reach, apart + reach), open_reason="it is open"
        )[0]
        assert found.interval.high - found.interval.low == pytest.approx(width + 2 * reach)
        assert (found.verdict, found.people_needed) == (verdict, None)
    assert found.reason == "it is open"
