"""Drawing people: totals that are never exceeded, and shares that are kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from audits.stats import apportion, draw_counts
from audits.stats.sampling import hypergeometric


@given(
    people=st.lists(st.integers(0, 10_000), min_size=1, max_size=30),
    wanted=st.integers(0, 20_000),
    least=st.integers(0, 2),
)
def test_apportioned_places_are_all_filled_and_never_exceeded(people: list[int], wanted: int, least: int):
    found = apportion(np.array(people), wanted, least=least)
    assert found.sum() == min(wanted, sum(people))
    assert ((found >= 0) & (found <= people)).all()
    if np.minimum(people, least).sum() <= wanted:
        assert (found >= np.minimum(people, least)).all()
    if least == 0 and 0 < wanted <= sum(people):
        # largest remainders: nobody is more than one place from the exact share
        assert (np.abs(found - np.array(people) * wanted / sum(people)) < 1).all()


@pytest.mark.parametrize("scale", [1, 10**8])
def test_shuffled_decisions_of_billions_spread_as_those_of_a_hundred(scale: int):
    """A third of all people drawn: with replacement, counts would spread by a half more of their variance."""
    people = np.array([30, 50, 15, 0, 5]) * scale
    found = draw_counts(people, 33 * scale, np.random.default_rng(0), draws=5_000)
    assert (found.sum(axis=1) == 33 * scale).all()
    assert ((found >= 0) & (found <= people)).all()
    share, total = people / people.sum(), 100 * scale
    variance = 33 * scale * share * (1 - share) * (67 * scale / (total - 1))
    np.testing.assert_allclose(
        found.mean(axis=0), 33 * scale * share, atol=5 * np.sqrt(variance.max() / 5_000)
    )
    np.testing.assert_allclose(found.var(axis=0), variance, rtol=0.12)


@pytest.mark.parametrize(
    ("good", "bad", "drawn"),
    [(40, 5 * 10**9, 10**9), (2 * 10**9, 4 * 10**9, 90), (3 * 10**7, 5 * 10**9, 10**8)],
    ids=["few good ones", "few are drawn", "none are few"],
)
def test_what_is_drawn_of_billions_has_its_law(good: int, bad: int, drawn: int):
    """Against SciPy's distribution function, between values: the two mean the same law."""
    found = hypergeometric(np.full(10_000, good), bad, drawn, np.random.default_rng(1))
    assert max(drawn - bad, 0) <= found.min() <= found.max() <= min(drawn, good)
    values = np.unique(np.quantile(found, [0.03, 0.3, 0.7, 0.97]).astype(np.int64))
    seen = np.searchsorted(np.sort(found), values, side="right") / len(found)
    expected = hypergeom(good + bad, good, drawn).cdf(values)
    # four standard errors of 10,000 draws, and .004 for the laws that stand for it
    assert (np.abs(seen - expected) < 4 * np.sqrt(expected * (1 - expected) / len(found)) + 0.004).all()
