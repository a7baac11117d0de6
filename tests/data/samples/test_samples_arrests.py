"""The arrests set against its theory, worked by hand with fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from benchmarks.samples import arrests


def test_theory_equals_the_sums_worked_by_hand() -> None:
    # Ranks of S at 1 arrest: 1/4 to 7/16; at 2: to 37/64; at 3: to 175/256.
    # Ranks of S' at 0 arrests: to 1/2, at 1: to 3/4.
    half, edges = Fraction(1, 2), [Fraction(1, 2), Fraction(37, 64), Fraction(175, 256), Fraction(3, 4)]
    one = half * Fraction(3, 16)  # S at 1 with the coin on high, beside 0 arrests
    two = half - Fraction(7, 16)  # S at 2, beside 0 arrests
    coin = [half * (edges[k + 1] - edges[k]) for k in range(3)]
    flips = one + two + sum(coin)  # S at 2, 3, 4 beside 1 arrest with the coin on low
    mean = (one * 1 + two * 2 + coin[0] * 1 + coin[1] * 2 + coin[2] * 3) / flips
    result = arrests.theory()
    assert (float(flips), round(float(mean), 3)) == (0.28125, 1.646)  # as published
    assert result.flips_to_low == pytest.approx(float(flips), abs=1e-12)
    assert result.flips_to_high == pytest.approx(0, abs=1e-12)
    assert result.mean_difference == pytest.approx(float(mean), abs=1e-12)
    # Proposition 2: the net flips are the difference of the rates
    assert result.high_risk_north - result.high_risk_south == pytest.approx(result.flips_to_low, abs=1e-12)


def test_a_large_sample_paired_by_rank_meets_the_theory() -> None:
    n = 400_000
    people = arrests.generate(n, rng=3)
    order = np.random.default_rng(0).permutation(2 * n)  # ties fall at random
    people = people.iloc[order].sort_values("prior_arrests", kind="stable")
    north, south = (people[people["group"] == name].reset_index() for name in ("north", "south"))
    to_low = (north["high_risk"] == 1) & (south["high_risk"] == 0)
    to_high = (north["high_risk"] == 0) & (south["high_risk"] == 1)
    truth = arrests.theory()
    # the two rates are independent: their standard errors add up to less than 0.0011; five of them
    assert to_low.mean() == pytest.approx(truth.flips_to_low, abs=0.0055)
    assert to_high.sum() == 0
    gap = (north["prior_arrests"] - south["prior_arrests"])[to_low]
    assert gap.mean() == pytest.approx(
        truth.mean_difference, abs=0.02
    )  # the steps' edges move by 0.001 of rank
