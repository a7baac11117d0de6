"""Partial pooling: between own and common share, and what main effects say."""

from __future__ import annotations

import numpy as np
import pytest

from audits.stats import wilson
from audits.stats.pooling import pooled_shares


def test_small_groups_are_drawn_further_than_large_ones():
    count, n = np.array([1, 80, 60, 60, 0, 300_000]), np.array([10, 100, 100, 100, 0, 1_000_000])
    few, many, *_, none, very = pooled_shares(count, n, np.zeros((6, 0)), np.random.default_rng(0))
    assert 0.1 < few.value < 0.5
    assert abs(few.value - 0.1) > abs(many.value - 0.8)
    assert many.value < 0.8
    assert none.value is None
    own = wilson(300_000, 1_000_000)
    assert (very.low, very.high) == (pytest.approx(own.low, abs=2e-4), pytest.approx(own.high, abs=2e-4))


def test_main_effects_say_what_a_group_of_nobody_like_it_would():
    """Rates add up on the log odds: the empty-handed cell is drawn to its row and column, not to the mean."""
    design = np.array([[a == 1, b == 1, b == 2] for a in (0, 1) for b in (0, 1, 2)], dtype=float)
    odds = design @ np.array([2.0, -1.0, -2.0])
    n = np.array([400, 400, 400, 400, 400, 3])
    count = np.round(n / (1 + np.exp(-odds)))
    count[-1] = 3
    *_, last = pooled_shares(count, n, design, np.random.default_rng(0))
    *_, plain = pooled_shares(count, n, np.zeros((6, 0)), np.random.default_rng(0))
    assert 0.5 < last.value < plain.value < 1.0
    assert "main effects" in last.method
    assert "main effects" not in plain.method
