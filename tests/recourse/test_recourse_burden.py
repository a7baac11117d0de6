"""Who has further to go: found where it is so, and not by chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.stats.text import number
from tests.outcome_transport.subjects import Linear, recourse_of, subject_of


def test_the_group_that_has_further_to_go_is_found():
    rng = np.random.default_rng(3)
    group = rng.choice(["a", "b"], 500)
    frame = pd.DataFrame({"x": rng.normal(size=500) - 1.5 * (group == "b"), "group": group})
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x",)), permutations=999)
    rows = {row.group: row for row in result.by_group}
    assert rows["b"].burden.value > rows["a"].burden.value
    assert rows["b"].burden_difference.low > 0
    assert result.burden_p_value < 0.01
    assert result.verdict == "evidence of a difference"
    assert "“b”" in result.finding
    judged = rows["b"].burden_judged
    assert judged.interval == rows["b"].burden_difference
    assert judged.verdict == "evidence of a difference"
    assert judged.material
    assert f" {number(judged.interval.value)} (" in result.finding


def test_those_whom_no_step_helps_may_have_another_way():
    """Towards the matched counterpart; someone else's values can still help."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"x": rng.normal(size=300), "z": rng.normal(size=300), "group": rng.choice(["a", "b"], 300)}
    )
    never_at_all = (frame["group"] == "b") & (frame.index % 2 == 0)
    frame.loc[never_at_all, "z"] = -40.0  # cannot be made up for by x
    frame.loc[(frame["group"] == "a") & (frame.index % 3 == 0), "z"] = -2.0
    subject = subject_of(frame, Linear(x=1.0, z=1.0), ("x",))
    result = recourse_of(subject, permutations=99)
    people, never = result.people, result.people["alpha"].isna()
    assert result.never.value == pytest.approx(never.mean())
    assert people.loc[~never, "by_any_accepted"].isna().all()
    # the slow way: the largest x of any accepted person
    accepted = frame[np.asarray(subject.decisions)]
    best = accepted["x"].max() + frame.loc[people.index, "z"] >= 0
    assert people.loc[never, "by_any_accepted"].tolist() == best[never].tolist()
    assert 0 < best[never].sum() < never.sum()
    assert result.never_but_reachable.value == pytest.approx(best[never].mean())
    assert f" {never.sum()} of " in result.finding
    assert f" {best[never].sum()} of " in result.finding


def test_no_group_is_named_where_all_have_as_far_to_go_or_one_is_a_single_person():
    frame = pd.DataFrame({"x": [-1.0, -1.0, 1.0, 1.0, -1.0, -1.0], "group": list("ababab")})
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x",)), permutations=19)
    assert not result.by_group[0].burden_judged.material
    frame = pd.DataFrame({"x": [-2.0, -1.0, -3.0, 1.0, 3.0], "group": ["a", "a", "b", "a", "b"]})
    result = recourse_of(subject_of(frame, Linear(x=1.0), ("x",)))
    assert any("“b”" in warning for warning in result.warnings)
    assert result.verdict == "insufficient evidence"
