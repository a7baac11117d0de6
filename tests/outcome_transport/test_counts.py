"""Weights are counts: what a table of counts says about chance is what its people, one by one, say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.stats.group_means import group_means
from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import A, B, Linear, flows_of, recourse_of, subject_of


def counted(rows: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A table of 10 to 19 people a row, and the same people one by one."""
    frame = crowd(rows, seed=seed)
    frame["weight"] = np.random.default_rng(seed).integers(10, 20, rows)
    people = frame.loc[frame.index.repeat(frame["weight"])].reset_index(drop=True)
    return frame, people.drop(columns="weight")


@pytest.mark.parametrize(
    ("ask", "cost"),
    [({"source": A, "target": B}, "squared_euclidean"), ({"against": "label"}, "euclidean")],
)
def test_intervals_of_counts_are_those_of_the_people(ask, cost):
    frame, people = counted(40, seed=4)
    ours = flows_of(scored(frame, weights="weight"), **ask, cost=cost)
    theirs = flows_of(scored(people), **ask, cost=cost)
    assert ours.wasserstein.value == pytest.approx(theirs.wasserstein.value)
    # 200 draws: an interval's width is known to about 5%; of rows kept together it is nearly four times that
    width = [one.wasserstein.high - one.wasserstein.low for one in (ours, theirs)]
    assert width[0] == pytest.approx(width[1], rel=0.35)
    spread = [np.array([row.mean.high - row.mean.low for row in one.bias]) for one in (ours, theirs)]
    assert spread[0] == pytest.approx(spread[1], rel=0.35)
    assert ours.distance_p_value == pytest.approx(theirs.distance_p_value, abs=0.1)
    assert ours.group_p_value == pytest.approx(theirs.group_p_value, abs=0.1)


def test_p_values_of_counts_are_those_of_the_people():
    """A difference that 40 rows cannot show, and the 600 people in them can."""
    frame, people = counted(40, seed=4)
    higher = 0.15 * (frame["group"] == "a")
    frame["score"] += higher
    people["score"] += 0.15 * (people["group"] == "a")
    for table, data in ((frame, {"weights": "weight"}), (people, {}), (frame, {})):
        found = flows_of(scored(table, **data), source=A, target=B, draws=0).distance_p_value
        assert (found <= 0.01) == (len(table) > 40 or bool(data))
    bias = np.random.default_rng(0).normal(size=40) + higher.to_numpy() * 2
    group, options = (frame["group"] == "a").to_numpy().astype(int), {"level": 0.05, "permutations": 199}
    weight = frame["weight"].to_numpy(dtype=float)
    each = np.repeat(np.arange(40), frame["weight"])
    tests = [
        group_means(b, w, g, rng=np.random.default_rng(1), **options)
        for b, w, g in ((bias, weight, group), (bias[each], np.ones(len(each)), group[each]))
    ]
    assert tests[0].p_value == pytest.approx(tests[1].p_value, abs=0.02)
    assert tests[0].p_value <= 0.02


def test_the_burden_of_counts_is_that_of_the_people():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": np.r_[rng.uniform(-3, -0.2, 30), rng.uniform(0.2, 3, 30)]})
    frame["group"] = rng.permutation(["a", "b"] * 30)
    frame.loc[(frame["group"] == "a") & (frame["x"] < 0), "x"] -= 0.3
    frame["weight"] = rng.integers(10, 20, 60)
    people = frame.loc[frame.index.repeat(frame["weight"])].reset_index(drop=True)
    subjects = [
        subject_of(table[["x", "group", *extra]], Linear(x=1.0), ("x",), **data)
        for table, extra, data in (
            (frame, ["weight"], {"weights": "weight"}),
            (people, [], {}),
            (frame, [], {}),
        )
    ]
    by_counts, by_people, by_rows = (
        recourse_of(subject, fewest=False).burden_p_value for subject in subjects
    )
    assert by_counts == pytest.approx(by_people, abs=0.01)
    assert by_counts <= 0.01 < 0.05 < by_rows
