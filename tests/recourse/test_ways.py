"""Several ways for one person: accepted by the model itself, as admissible as they say, tried by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import audits
from audits.data import DataSpec, build_data
from audits.models import Subject, make_subject, model_spec
from audits.recourse import RecourseResult
from audits.recourse.alternatives import downstream_of
from tests.outcome_transport.subjects import Linear, recourse_of, subject_of
from tests.refused import refused

COLUMNS = ("income", "savings", "loans", "home")


@pytest.fixture(scope="module")
def subject() -> Subject:
    rng, n = np.random.default_rng(0), 500
    frame = pd.DataFrame({"g": rng.choice(["a", "b"], n), "income": rng.normal(50, 10, n)})
    frame["savings"] = 0.2 * frame["income"] + rng.normal(0, 4, n)
    frame["loans"], frame["home"] = rng.integers(0, 6, n), rng.choice(["own", "rent"], n)
    worth = frame["income"] / 10 + frame["savings"] / 4 - frame["loans"] + (frame["home"] == "own")
    frame["ok"] = (worth - (frame["g"] == "b") + rng.normal(0, 1, n) > 5).astype(int)
    spec = DataSpec(label="ok", favorable=1, protected=("g",), features=COLUMNS)
    return make_subject(build_data(frame, spec), model_spec({"train": "logistic"}))


@pytest.fixture(scope="module")
def result(subject: Subject) -> RecourseResult:
    limits = {"loans": {"direction": "down"}, "home": {"among": ["rent"]}}
    return recourse_of(
        subject, actionable=COLUMNS, ways=3, ways_people=20, refits=2, limits=limits, resolution=0.1,
        permutations=19,
    )  # fmt: skip


def test_every_way_is_accepted_admissible_and_costs_what_it_says(
    subject: Subject, result: RecourseResult
) -> None:
    ways, data = result.ways, subject.data
    assert len(ways) > 20
    today = data.frame.loc[ways.index].reset_index(drop=True)
    frame = today.assign(**{name: ways[f"value of {name}"].to_numpy() for name in COLUMNS})
    assert (subject.model.score(frame) >= 0.5).all()  # the model's own word, outside the audit
    assert (frame["loans"] <= today["loans"]).all()
    assert ((frame["home"] == today["home"]) | (frame["home"] == "rent")).all()
    cost = (frame["home"] != today["home"]).astype(float)
    for name in ("income", "savings", "loans"):
        cost += (frame[name] - today[name]).abs() / data.frame[name].std(ddof=0)
    assert ways["cost"].to_numpy() == pytest.approx(cost.to_numpy())
    assert set(ways["survives"]) <= {0.0, 0.5, 1.0}  # two models are trained again
    assert ways["survives"].mean() > 0.5
    for _, own in ways.groupby(level=0):
        assert own["way"].tolist() == list(range(1, len(own) + 1))
        assert own["cost"].iloc[0] == own["cost"].min()
        assert not own.filter(like="value of").duplicated().any()


def test_no_way_has_a_change_that_is_not_needed(subject: Subject, result: RecourseResult) -> None:
    today = subject.data.frame.loc[result.ways.index].reset_index(drop=True)
    moved = today.assign(**{name: result.ways[f"value of {name}"].to_numpy() for name in COLUMNS})
    for name in COLUMNS:
        changed = (moved[name] != today[name]).to_numpy()
        without = subject.model.score(moved.assign(**{name: today[name]}))
        assert (without[changed] < 0.5).all()


def test_an_action_for_a_group_is_the_cheapest_that_does_nearly_as_much() -> None:
    """Nearly everyone needs 20 more at most; some who are in debt need 900, as few have."""
    rng = np.random.default_rng(2)
    saved = np.where(rng.random(1200) < 0.05, 1000.0, rng.uniform(0, 40, 1200))
    debt = np.where(rng.random(1200) < 0.01, 900.0, 0.0)
    frame = pd.DataFrame({"saved": saved, "debt": debt, "g": rng.choice(["a", "b"], 1200)})
    found = audits.audit(
        lambda rows: np.where((rows["saved"] - rows["debt"]).to_numpy() >= 20, 0.9, 0.1),
        frame[["saved", "debt"]], favorable=1, protected={"g": frame["g"]}, roles={"actionable": ["saved"]},
        audits={"recourse": {"ways": 5, "noise": 0, "permutations": 99}},
    )["recourse"]  # fmt: skip
    for row in found.group_actions:
        more = float(row.action.split()[1])
        assert row.action == f"saved: {more:g} more"
        assert more <= 25
        assert row.coverage.value >= 0.85


def test_one_action_for_a_group_is_stated_for_people_who_did_not_pick_it(result: RecourseResult) -> None:
    assert [row.group for row in result.group_actions] == ["a", "b"]
    for row in result.group_actions:
        assert row.coverage.n == row.n - max(int(row.n) // 2, 1)
        assert row.coverage.low <= row.coverage.value <= row.coverage.high
        assert row.cost > 0
        assert "loans" not in row.action or "less" in row.action


def test_what_follows_moves_by_the_slope_and_keeps_what_people_were_off_by() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0])
    off = np.array([1.0, -1.0, -1.0, 1.0])  # at right angles to x and to a constant
    frame = pd.DataFrame({"x": x, "y": 2 * x + off, "z": 6 * x + 3 * off, "group": list("abab")})
    subject = subject_of(frame, Linear(x=1.0, z=1.0), ("x",))
    after = downstream_of(subject.data, {"z": ("y",), "y": ("x",)})
    assert after.order == ("y", "z")  # what is followed comes first, however it was written down
    rows = subject.data.frame
    carried = after.carried(rows, rows.assign(x=rows["x"] + 10), {"x"})
    assert carried["y"].tolist() == pytest.approx((rows["y"] + 20).tolist())
    assert carried["z"].tolist() == pytest.approx((rows["z"] + 60).tolist())
    held = after.carried(rows, rows.assign(x=rows["x"] + 10), {"x", "y"})
    assert held["y"].tolist() == rows["y"].tolist()
    assert held["z"].tolist() == pytest.approx(rows["z"].tolist())
    with refused("recourse.follows"):
        downstream_of(subject.data, {"y": ("x",), "x": ("y",)})


def test_noise_stays_where_people_are():
    """A model with a logarithm in it is not defined for less than nobody has."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({"x": rng.exponential(1.0, 300).round(2), "g": rng.choice(["a", "b"], 300)})

    def score(rows: pd.DataFrame) -> np.ndarray:
        assert rows["x"].between(frame["x"].min(), frame["x"].max()).all()
        return 1 / (1 + np.exp(-np.log1p(rows["x"].to_numpy()) + 0.7))

    found = audits.audit(
        score, frame[["x"]], favorable=1, protected={"g": frame["g"]}, roles={"actionable": ["x"]},
        audits={"recourse": {"ways": 2, "noise": 2.0, "permutations": 99}},
    )  # fmt: skip
    assert found["recourse"].ways_summary.noisy.value < 1
