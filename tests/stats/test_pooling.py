"""Partial pooling: between own and common share, main effects, and coverage over groups."""

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


def test_intervals_cover_over_groups_and_have_a_smaller_error():
    """15 worlds of 8 groups of 40: 95% less 3 Monte-Carlo errors, and a smaller squared error."""
    rng = np.random.default_rng(7)
    design = np.array([[a == 1, b == 1, b == 2, b == 3] for a in (0, 1) for b in range(4)], dtype=float)
    held, error, raw = 0, 0.0, 0.0
    for _ in range(15):
        truth = 1 / (1 + np.exp(0.4 - design @ rng.normal(0, 0.5, 4) - rng.normal(0, 0.5, 8)))
        count = rng.binomial(40, truth)
        found = pooled_shares(count, np.full(8, 40), design, rng)
        held += sum(item.low <= true <= item.high for item, true in zip(found, truth, strict=True))
        error += sum((item.value - true) ** 2 for item, true in zip(found, truth, strict=True))
        raw += ((count / 40 - truth) ** 2).sum()
    assert held >= 107  # of 120
    assert error < raw
