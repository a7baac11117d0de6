"""What holds in every optimal coupling, and what only the even one says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.outcome_transport import audit as module
from audits.stats import Judgment
from audits.stats.group_means import group_means, judge_groups
from tests.outcome_transport.conftest import crowd, scored
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
    tested = group_means(
        bias, np.ones(4000), group, level=0.05, permutations=99, rng=np.random.default_rng(0)
    )
    assert tested is not None
    apart = tested.difference

    def judged(reach: float) -> Judgment:
        found = judge_groups(
            tested, material=1.0, ranges=(apart - reach, apart + reach), open_reason="it is open"
        )[0]
        assert found is not None
        alone = judge_groups(tested, material=1.0)[0]
        assert found.p_value >= alone.p_value
        assert found.interval.high - found.interval.low == pytest.approx(
            alone.interval.high - alone.interval.low + 2 * reach
        )
        return found

    assert judged(0.6).verdict == "no material difference"
    assert judged(1.2).verdict == "insufficient evidence"
    assert judged(1.2).people_needed is None
    assert judged(1.2).reason == "it is open"


def test_bias_of_a_role_from_drawn_people_is_that_of_all_within_its_interval(monkeypatch):
    frame = crowd(600, seed=4, ties=False)
    roles = {"actionable": ("x",), "mutable": ("z",), "immutable": ()}
    kw = {"source": {"group": "a"}, "target": {"group": "b"}, "outcome": "decision", "permutations": 0}
    whole = flows_of(scored(frame, roles=roles), draws=40, **kw)
    monkeypatch.setattr(module, "_MAX_DISTANCES", 30_000)
    some = flows_of(scored(frame, roles=roles), draws=40, **kw)
    assert [row.mean.value for row in some.bias] == [row.mean.value for row in whole.bias]
    for ours, theirs in zip(some.by_role, whole.by_role, strict=True):
        if ours.role == "immutable":  # the group itself, which is the same distance for everyone
            continue
        assert ours.bias.n < theirs.bias.n
        assert ours.bias.method != theirs.bias.method
        assert ours.bias.low <= theirs.bias.value <= ours.bias.high
        assert ours.bias.value != theirs.bias.value
        assert ours.bias.high - ours.bias.low > 0.9 * (theirs.bias.high - theirs.bias.low)
