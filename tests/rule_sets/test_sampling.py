"""Perturbed people: one attribute by one step, never into another group, enough for every rule set."""

from __future__ import annotations

import numpy as np
import pytest

from audits.checks import build
from audits.data import DataSpec, build_data
from audits.models import Subject, make_subject, model_spec
from audits.rule_sets import RuleSetsOptions, rule_sets
from audits.rule_sets.leaders.leaderboard import leaders
from audits.rule_sets.leaders.tables import read_counted
from audits.subgroups.binning import read_attributes
from audits.subgroups.perturbation import perturb, perturbable
from tests.rule_sets.conftest import crowd


@pytest.fixture(scope="module")
def subject() -> Subject:
    """A logistic model of a decision that follows income, job, hours and a rank."""
    frame = crowd(3000, seed=2)
    rng = np.random.default_rng(3)
    frame["job"] = rng.choice(["cook", "judge", "nurse"], 3000)
    frame["hours"] = rng.integers(10, 60, 3000)
    frame["rank"] = rng.choice(["low", "middle", "high"], 3000)
    frame.loc[rng.random(3000) < 0.1, "hours"] = np.nan
    logit = frame["income"] + 0.05 * (frame["hours"].fillna(35) - 35) + (frame["sex"] == "m")
    frame["decision"] = (rng.random(3000) < 1 / (1 + np.exp(-logit))).astype(int)
    spec = DataSpec(
        label="decision",
        favorable=1,
        protected=("sex", "race", "age"),
        features=("income", "job", "hours", "rank", "sex"),
        kinds={"hours": "integer", "rank": "ordinal", "job": "categorical"},
        orders={"rank": ("low", "middle", "high")},
        bins={"age": (18, 38, 58, 78)},
    )
    return make_subject(build_data(frame, spec), model_spec({"train": "logistic"}))


def test_one_attribute_moves_by_one_step(subject):
    columns = ("hours", "income", "job", "rank")
    rows, seen = np.arange(subject.data.n).repeat(5), subject.data.frame
    before = seen.iloc[rows].reset_index(drop=True)
    after = perturb(subject, rows, columns, np.random.default_rng(0))
    assert (after.dtypes == before.dtypes).all()
    changed = (after != before) & ~(after.isna() & before.isna())
    assert changed.sum(axis=1).max() == 1
    assert not changed[[name for name in before if name not in columns]].to_numpy().any()
    # a missing value stays missing, an end of the range may stand still; all else moves
    assert (changed.sum(axis=1) == 1).mean() > 0.85
    assert set((after["hours"] - before["hours"])[changed["hours"]].unique()) == {-1.0, 1.0}
    assert after["hours"].isna().equals(before["hours"].isna())
    assert after["hours"].dropna().between(seen["hours"].min(), seen["hours"].max()).all()
    width = 0.01 * (seen["income"].max() - seen["income"].min())
    moves = (after["income"] - before["income"])[changed["income"]].abs()
    assert (moves.max(), np.median(moves)) == pytest.approx((width, width))
    ranks = {"low": 0, "middle": 1, "high": 2}
    move = (after["rank"].map(ranks) - before["rank"].map(ranks))[changed["rank"]]
    assert set(move.unique()) == {-1, 1}
    # a category takes each other value as often as people have it
    drawn = after["job"][changed["job"] & (before["job"] == "cook")].value_counts(normalize=True)
    others = seen["job"][seen["job"] != "cook"].value_counts(normalize=True)
    assert drawn["judge"] == pytest.approx(others["judge"], abs=0.05)


def test_every_rule_set_has_enough_and_its_margin_is_reached(subject):
    result = rule_sets(subject, RuleSetsOptions(support=0.05, samples=500, error=0.06, permutations=99))
    table = result.rule_sets
    assert result.sampling["reached"]
    assert table["margin"].max() <= 0.06
    assert min(table["sampled_n_in"].min(), table["sampled_n_out"].min()) >= 499
    z = 1.959964
    expected = z * np.sqrt(table["sampled_in"] * (1 - table["sampled_in"]) / table["sampled_n_in"])
    expected += z * np.sqrt(table["sampled_out"] * (1 - table["sampled_out"]) / table["sampled_n_out"])
    assert table["margin"].to_numpy() == pytest.approx(expected.to_numpy(), rel=1e-6)
    # a step is small, so sampled and exact scores differ by little more than the sampling error
    gap = (table["sampled_in"] - table["sampled_out"]) - table["difference"]
    assert gap.abs().max() < 0.1
    row = result.leaderboard[0]
    assert row.margin == row.sampled.margin
    assert row.confidence == pytest.approx(0.9025)
    # the paper's order: what was found on the sample
    cells = read_counted(result)
    rows = leaders(table, cells, {**result.options, "rank_by": "sampled"}, result.inference)
    order = [(row.verdict != "evidence of a difference", -row.sampled.score.value) for row in rows]
    assert order == sorted(order)
    assert [row.number for row in rows] != [row.number for row in result.leaderboard]


def test_pool_gives_what_sampling_rule_set_by_rule_set_gives(subject):
    """The paper's loop: draw from the group, perturb, ask the model; within both errors of the pool."""
    result = rule_sets(subject, RuleSetsOptions(support=0.05, samples=4000, error=0.05, permutations=99))
    attributes, _ = read_attributes(subject.data, build(RuleSetsOptions, {}, "rule_sets"))
    columns = perturbable(subject, attributes)
    rng = np.random.default_rng(5)
    for row in result.leaderboard[:4]:
        mask = np.ones(subject.data.n, dtype=bool)
        for rule in row.rules:
            mask &= subject.data.groups[rule["attribute"]].isin(rule["values"]).to_numpy()
        for side, share in ((mask, row.sampled.favorable_in), (~mask, row.sampled.favorable_out)):
            rows = rng.choice(np.flatnonzero(side), 4000)
            frame = perturb(subject, rows, columns, rng)
            slow = subject.decide(subject.favorable_score(frame), subject.data.groups.iloc[rows]).mean()
            assert slow == pytest.approx(share, abs=4 * np.sqrt(2 * 0.25 / 4000))
