"""How sure an outcome-transport audit is: verdicts, ties, groups too small for either."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.models import ModelSpec, make_subject
from audits.models.spec import Predictions
from audits.outcome_transport import figures as figures
from audits.outcome_transport.matching.resampling import simultaneous
from audits.stats import EVIDENCE
from audits.stats.group_means import group_means, judge_groups
from benchmarks.calibration.outcome_transport import world
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
        ((0.02, 0.06), "either", True, "euclidean"),  # a third of the other rate, 4 points apart
        ((0.06, 0.02), "either", True, "squared_euclidean"),
        ((0.02, 0.06), "difference", False, "euclidean"),
    ],
)
def test_decisions_are_held_to_their_rates_and_where_rare_to_a_ratio(shares, material_on, material, cost):
    decided = np.concatenate([np.arange(3_000) < share * 3_000 for share in shares]).astype(int)
    frame = pd.DataFrame({"group": np.repeat(["a", "b"], 3_000), "decided": decided, "x": [0, 1] * 3_000})
    data = build_data(frame, DataSpec(label="decided", favorable=(1,), protected=("group",), features=("x",)))
    subject = make_subject(data, ModelSpec(predictions=Predictions(label="decided")))
    asked = {"outcome": "decision", "material_on": material_on, "cost": cost, "permutations": 19, "draws": 40}
    judged = flows_of(subject, source=A, target=B, **asked).judged
    assert judged.material is material
    assert (judged.badge == "difference") is material


def test_a_planted_difference_is_found():
    frame = crowd(400, seed=2, ties=False)
    worse = frame.assign(score=frame["score"] * np.where(frame["group"] == "a", 0.5, 1.0))
    found = flows_of(scored(worse), source=A, target=B, draws=50)
    assert found.verdict == "evidence of a difference"
    assert found.wasserstein.low > 0.1


def test_the_same_outcomes_under_two_policies_are_no_evidence_about_bias():
    """Everyone can be mapped to oneself, with no bias, or to everyone else; a is spread out, b alike."""
    label, group = np.tile([0, 1], 120), np.repeat(["a", "b"], 120)
    x = np.random.default_rng(4).normal(size=240) * np.where(group == "a", 4, 0.1)
    frame = pd.DataFrame({"x": x, "group": group, "score": label, "label": label})
    result = flows_of(scored(frame), against="label", draws=20)
    assert result.wasserstein.value == 0
    assert result.group_p_value <= 0.05
    assert result.group_p_value_everywhere > 0.5
    assert result.verdict == "insufficient evidence"
    assert result.people_needed is None


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


def _worlds(crowd: str, outcomes: str, number: int):
    return [world(crowd, outcomes, 50_000 + seed) for seed in range(number)]


def test_bias_that_differs_in_every_coupling_is_found():
    """One coupling: a difference by half. Ties leave room, so that it takes a larger one to hold in all."""
    assert all(one.verdict == EVIDENCE for one in _worlds("spread_2", "unique", 2))
    assert all(one.verdict == EVIDENCE for one in _worlds("spread_10", "pairs", 1))


def test_what_ties_leave_open_is_no_evidence():
    """Half as much bias again in the even coupling, and in another optimal one none at all."""
    found = _worlds("spread_2", "fives", 3)
    assert sum(one.group_p_value <= 0.05 for one in found) >= 2
    assert not any(one.verdict == EVIDENCE for one in found)


@pytest.mark.parametrize(("people", "stated"), [(1, False), (12, False), (60, True)])
def test_few_who_are_all_alike_have_no_interval(people, stated):
    """Of five people, one in five of whom is biased, the bootstrap held in 63 of 100 samples."""
    low, _ = simultaneous(np.array([0.2]), np.zeros((40, 1)), np.array([float(people)]), 0.05)
    assert np.isfinite(low[0]) == stated


def test_bias_of_a_role_from_drawn_people_is_that_of_all_within_its_interval(monkeypatch):
    frame = crowd(300, seed=4, ties=False)
    subject = scored(frame, roles={"actionable": ("x",), "mutable": ("z",), "immutable": ()})
    asked = {"source": A, "target": B, "outcome": "decision", "permutations": 0, "draws": 20}
    whole = flows_of(subject, **asked)
    monkeypatch.setattr("audits.outcome_transport.audit._MAX_DISTANCES", 7_500)
    some = flows_of(subject, **asked)
    assert [row.mean.value for row in some.bias] == [row.mean.value for row in whole.bias]
    for ours, theirs in zip(some.by_role, whole.by_role, strict=True):
        if ours.role != "immutable":  # the group itself, which is the same distance for everyone
            assert ours.bias.n < theirs.bias.n
            assert ours.bias.low <= theirs.bias.value <= ours.bias.high
