"""Changes on the same people: worked cases, slow obvious versions, and what chance may do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from audits.comparison.intervals import People, share_moved
from audits.stats.paired_shares import paired_difference


def moved(first: np.ndarray, second: np.ndarray) -> Any:
    everyone = np.ones(len(first), dtype=bool)
    return share_moved(People.counted(np.ones(len(first))), (everyone, first), (everyone, second))


@pytest.mark.parametrize("cells", [(40, 15, 5, 40), (3, 0, 0, 2), (0, 4, 1, 200)])
def test_a_share_of_the_same_independent_people_has_newcombes_interval(cells: tuple[int, ...]) -> None:
    both, second_only, first_only, neither = cells
    first = np.repeat([True, False, True, False], cells)
    second = np.repeat([True, True, False, False], cells)
    for level in (0.05, 0.001):
        found = moved(first, second).interval(level)
        known = paired_difference(both, second_only, first_only, neither, level=level)
        ends = (float(known.value or 0), float(known.low or 0), float(known.high or 0))
        assert (found.value, found.low, found.high) == pytest.approx(ends, abs=1e-12)


def test_the_p_value_is_the_level_at_which_the_interval_begins_to_hold_0() -> None:
    first, second = np.arange(100) < 55, np.isin(np.arange(100), np.r_[0:40, 55:60])
    share = moved(first, second)
    p, mcnemar = share.p_value(), stats.binomtest(5, 20).pvalue
    assert 0.3 * mcnemar < p < 3 * mcnemar
    below, above = share.interval(p * 1.01), share.interval(p * 0.99)
    assert float(below.high or 0) < 0 <= float(above.high or 0)
