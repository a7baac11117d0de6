"""Who has further to go: found where it is so, and not by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.outcome_transport.subjects import Linear, recourse_of, subject_of


def test_the_group_that_has_further_to_go_is_found():
    rng = np.random.default_rng(3)
    group = rng.choice(["a", "b"], 500)
    frame = pd.DataFrame({"x": rng.normal(size=500) - 1.5 * (group == "b"), "group": group})
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x",)), permutations=199)
    rows = {row.group: row for row in result.by_group}
    assert rows["b"].burden.value > rows["a"].burden.value
    assert rows["b"].burden_difference.low > 0
    assert result.burden_p_value < 0.01
    assert result.verdict == "evidence of a difference"
    assert "b people have furthest to go: mean burden" in result.finding
    assert "ranked as furthest" not in result.finding


def test_chance_alone_is_no_burden():
    rng = np.random.default_rng(4)
    p = []
    for k in range(15):
        frame = pd.DataFrame({"x": rng.normal(size=80), "group": rng.choice(["a", "b"], 80)})
        p.append(
            recourse_of(
                subject_of(frame, Linear(x=1.0), ("x",)), permutations=39, resolution=0.2, rng=k
            ).burden_p_value
        )
    assert np.mean(np.array(p) <= 0.05) < 0.3


def test_the_mean_of_one_person_is_no_groups_burden():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=200), "group": rng.choice(["a", "b"], 200)})
    frame.loc[[0, 1], "x"] = [-9.0, 2.0]
    frame.loc[[0, 1], "group"] = "far"
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x",)), permutations=19)
    rows = {row.group: row for row in result.by_group}
    assert rows["far"].burden.value > 2 * max(rows["a"].burden.value, rows["b"].burden.value)
    assert rows["far"].burden.low is None
    assert "far people" not in result.finding
    assert "people have furthest to go" in result.finding


def test_no_group_is_named_where_all_have_as_far_to_go():
    frame = pd.DataFrame({"x": [-1.0, -1.0, 1.0, 1.0, -1.0, -1.0], "group": list("ababab")})
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x",)), permutations=19)
    assert "the mean burden is the same in all groups (1." in result.finding
    assert "furthest to go" not in result.finding


def test_groups_of_one_say_nothing():
    frame = pd.DataFrame({"x": [-2.0, -1.0, -3.0, 1.0, 3.0], "group": ["a", "a", "b", "a", "b"]})
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x",)))
    assert any("One person alone" in warning for warning in result.warnings)
    assert result.verdict == "insufficient evidence"


def test_the_p_value_says_so_where_it_also_ranks_people_whom_nothing_helps():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"x": rng.normal(size=300), "z": rng.normal(size=300), "group": rng.choice(["a", "b"], 300)}
    )
    frame.loc[(frame["group"] == "b") & (frame.index % 2 == 0), "z"] = -40.0  # cannot be made up for by x
    result = recourse_of(subject_of(frame, Linear(x=1.0, z=1.0), ("x",)), permutations=99)
    assert any(row.never.value > 0 for row in result.by_group)
    never = {row.group: round(100 * row.never.value) for row in result.by_group}
    assert (
        f" No step helps {never['b']} % of b people, {never['a']} % of a people; "
        "with these ranked as furthest, p 0.01 that groups differ by chance."
    ) in result.finding
