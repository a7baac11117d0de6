"""The recourse audit: by hand, against the slow way, and what it gives back."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from audits.data import FeatureSpace
from audits.models import Subject
from audits.recourse.figures import groups
from audits.recourse.figures.people import cut_off
from audits.runs.registry import AUDITS
from audits.stats.text import percent
from tests.outcome_transport.subjects import Linear, mixed, recourse_of, subject_of


@pytest.fixture
def by_hand() -> Subject:
    """Rejected at x = -2 and -1, accepted at x = 1 and 3; the score's order pairs them so."""
    frame = pd.DataFrame(
        {"x": [-2.0, -1.0, 1.0, 3.0], "z": [0.5, 0.5, 0.5, 1.5], "group": ["a", "b", "a", "b"]}
    )
    return subject_of(frame, Linear(x=1.0), ("x",))


def test_by_hand(by_hand):
    result = recourse_of(by_hand, steps=(0, 0.5, 0.75, 1), resolution=0.25)
    # -2 goes to 1: -0.5 half way, so it needs α = 0.75 (0.25); -1 goes to 3: 1 half way, exactly 0 at 0.25
    assert [row.reclassified.value for row in result.by_alpha] == [0, 0.5, 1, 1]
    assert result.people["alpha"].tolist() == [0.75, 0.25]
    sd = np.std([-2, -1, 1, 3])
    assert result.people["cost"].tolist() == pytest.approx([2.25 / sd, 1 / sd])
    changes = {row.alpha: row.mean_change.value for row in result.changes}
    assert changes == pytest.approx({0: 0, 0.5: 1.75, 0.75: 2.625, 1: 3.5})
    last = result.paths[result.paths["alpha"] == 1]
    assert last["value of x"].tolist() == pytest.approx([1, 3])
    assert result.people["fewest"].tolist() == [1, 1]
    assert [row.group for row in result.by_group] == ["a", "b"]
    assert result.verdict == "insufficient evidence"
    assert cut_off(result) == by_hand.threshold, "not the lowest score that is seen to be accepted"


def test_mass_that_splits_goes_to_the_mean():
    """One rejected person against two accepted ones: the barycenter (Eq. 15)."""
    frame = pd.DataFrame({"x": [-1.0, 1.0, 4.0], "group": ["a", "a", "b"]})
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x",)), steps=(0.0, 0.5, 1.0))
    values = result.paths.set_index("alpha")["value of x"]
    assert values.tolist() == pytest.approx([-1, 0.75, 2.5])


def test_against_the_slow_way():
    """One person at a time: plan by hand, interpolate, decode, score."""
    subject = mixed(seed=2)  # where no whole number is half-way, which the last digits would round
    result = recourse_of(subject, steps=(0, 0.3, 1), fewest=False)
    scores, decided = subject.scores, subject.decisions
    space = FeatureSpace.fit(subject.data, result.columns)
    z = space.encode(subject.data.frame)
    order, theirs = (
        np.flatnonzero(each)[np.argsort(scores[each], kind="stable")] for each in (~decided, decided)
    )
    n, m = len(order), len(theirs)
    for rank, person in enumerate(order):
        upper, lower = (
            np.minimum((np.arange(m) + 1) / m, (rank + 1) / n),
            np.maximum(np.arange(m) / m, rank / n),
        )
        goal = n * np.clip(upper - lower, 0, 1) @ z[theirs]
        row = space.decode((0.7 * z[person] + 0.3 * goal)[None])
        frame = subject.data.frame.iloc[[person]].assign(**{name: row[name].to_numpy() for name in row})
        mine = result.paths.loc[subject.data.frame.index[person]]
        mine = mine[mine["alpha"] == 0.3].iloc[0]
        assert mine["score"] == pytest.approx(float(subject.favorable_score(frame)[0]), abs=1e-9)


def test_cost_weights_scale_the_burden(by_hand):
    one = recourse_of(by_hand).people["cost"]
    other = recourse_of(by_hand, cost_weights={"x": 3.0}).people["cost"]
    assert other.to_numpy() == pytest.approx(3 * one.to_numpy())


def test_the_title_of_what_it_would_take_states_what_its_bars_show():
    """A match has more x, a z that harms, and a w that nobody can change: x alone helps, all of it not."""
    rng, accepted = np.random.default_rng(0), np.arange(60) % 2 == 1
    frame = pd.DataFrame(
        {"x": rng.uniform(-0.9, 0.9, 60), "z": 2.0 * accepted, "w": np.where(accepted, 1.0, -1.0)}
    )
    frame.loc[accepted, "x"] = 2.0 + rng.uniform(0, 0.5, 30)
    frame["group"] = rng.choice(["a", "b"], 60)
    result = recourse_of(subject_of(frame, Linear(x=1.0, z=-1.0, w=0.8), ("x", "z")))
    lost = next(trace for trace in groups.changes_needed(result).data if trace.name == "no part")
    rows = sorted(result.by_group, key=lambda row: (row.never.value or 0.0, row.n))  # as they are drawn
    share = np.average(list(lost.x), weights=[row.n for row in rows]) / 100
    assert groups.never_helped(result) == pytest.approx(share)
    assert groups.never_helped(result) < result.never.value, "some are helped by columns alone"
    for shown_share, linked in zip(lost.x, lost.meta, strict=True):  # a click picks those whom it counts
        group, *missing = json.loads(linked)
        people = result.people[result.people["group"].isin(group["in"])]
        picked = people[[term["column"] for term in missing if term["missing"]]].isna().all(axis=1)
        assert shown_share == pytest.approx(100 * picked.mean())
    heading = AUDITS["recourse"].section(result).exhibits[0].heading
    assert (percent(share, result.n_rejected) in heading) == (share > 0)
