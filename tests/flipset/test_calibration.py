"""The verdict and the level of chance under simulation; larger: benchmarks/calibration/flipset.py."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.flipset.conftest import audited, subject_of


def study(seed: int, *, n: int = 25, m: int = 30, gap: float = 0.0):
    """Two groups alike but for `gap` in what the model demands of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n + m, 2))
    frame = pd.DataFrame(np.round(x, 1), columns=["x0", "x1"])
    frame["group"] = ["a"] * n + ["b"] * m
    frame["decision"] = (x.sum(1) - gap * (np.arange(n + m) < n) > 0).astype(int)
    return audited(
        subject_of(frame),
        source={"group": "a"},
        target={"group": "b"},
        permutations=39,
        bootstrap=100,
        rng=seed,
    )


@pytest.fixture(scope="module")
def alike():
    """40 studies of two groups that do not differ."""
    return [study(seed) for seed in range(40)]


def test_no_difference_rarely_shows_one(alike):
    """At level 5 % 7 or more of 40 have a chance of 0.3 %; alarms in 3 of 10 would be missed once in 40."""
    assert sum(result.verdict == "evidence of a difference" for result in alike) < 7


def test_chance_level_is_what_chance_gives(alike):
    """Flips of groups that do not differ lie around the level of chance: mean of 40 studies."""
    ratio = np.mean([r.negative.size + r.positive.size for r in alike]) / np.mean(
        [r.negative.expected_by_chance.value + r.positive.expected_by_chance.value for r in alike]
    )
    assert ratio == pytest.approx(1.0, abs=0.15)


def test_the_interval_of_what_lies_above_chance_covers_nothing_where_there_is_nothing(alike):
    """7 or more misses of 40 at 95 % have a chance of 0.3 %; a coverage of 70 % is missed once in 40."""
    found = [result.above_chance.excess for result in alike]
    assert sum(not item.low <= 0 <= item.high for item in found) < 7


def test_large_difference_is_seen_and_small_groups_cannot_say():
    assert study(0, n=120, m=120, gap=1.5).verdict == "evidence of a difference"
    tiny = study(1, n=9, m=9)
    assert tiny.verdict == "insufficient evidence"
    assert tiny.people_needed is None  # nine people are too few to say how many it takes
    assert tiny.above_chance.excess.low is None
    small = study(1, n=30, m=30)
    assert small.verdict == "insufficient evidence"
    assert small.people_needed > 100
    assert f"{small.people_needed:,}" in small.finding
