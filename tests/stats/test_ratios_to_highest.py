"""Ratios to the highest share: by hand, with nobody and nobody selected, and their coverage together."""

from __future__ import annotations

import numpy as np
import pytest

from audits.stats import share_ratio
from audits.stats.ratios import ratios_to_highest


def test_of_two_groups_it_is_the_ratio_of_two_and_four_fifths_are_told_exactly():
    for low, high in ((30, 50), (32, 40), (60, 75), (72, 90)):
        ratios, smallest = ratios_to_highest(np.array([low, high]), np.array([100, 100]))
        one = share_ratio(low, 100, high, 100)
        assert ratios[0].value == smallest.value == one.value == (0.8 if low > 30 else pytest.approx(0.6))
        assert low > 30 or (ratios[0].low, ratios[0].high) == pytest.approx((one.low, one.high))
        assert ratios[1].value == 1.0


def test_the_highest_seen_need_not_be_the_highest():
    """3 of 5 people is the highest share seen, and says little: nobody is surely below anyone."""
    ratios, _ = ratios_to_highest(np.array([40, 45, 3]), np.array([100, 100, 5]))
    assert [round(ratio.value, 3) for ratio in ratios] == [0.667, 0.75, 1.0]
    assert all(ratio.high == 1.0 for ratio in ratios)
    assert ratios[2].low < 0.8


def test_nobody_and_nobody_selected():
    ratios, smallest = ratios_to_highest(np.array([0, 0]), np.array([3, 0]))
    assert all(ratio.value is None for ratio in (*ratios, smallest))
    ratios, smallest = ratios_to_highest(np.array([0, 3, 0]), np.array([3, 100, 0]))
    assert (ratios[0].value, ratios[0].low, ratios[0].high) == (0.0, 0.0, 1.0)
    assert 0 < ratios[1].low < 0.8, "nobody of three says little: the other may be far below"
    assert ratios[2].value is None
    assert smallest.value == 0.0
