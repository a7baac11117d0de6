"""Drawing people: totals that are never exceeded, and shares that are kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.stats import apportion, draw_counts


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


@pytest.mark.parametrize("scale", [1.0, 1e9])
def test_drawn_counts_have_the_mean_and_spread_of_their_law(scale: float):
    """Hypergeometric where people are few, multinomial where replacement changes nothing."""
    people = np.array([30.0, 50.0, 20.0]) * scale
    found = draw_counts(people, 40, np.random.default_rng(0), draws=20_000)
    assert (found.sum(axis=1) == 40).all()
    share = people / people.sum()
    correction = (100 - 40) / 99 if scale == 1 else 1.0
    np.testing.assert_allclose(found.mean(axis=0), 40 * share, atol=0.1)
    np.testing.assert_allclose(found.var(axis=0), 40 * share * (1 - share) * correction, rtol=0.05)


def test_everyone_drawn_is_everyone():
    assert draw_counts(np.array([3.0, 0.0, 4.0]), 7, np.random.default_rng(0)).tolist() == [3, 0, 4]
