"""Drift that may be looked at any time: rare without one, found with one, the same however it comes in."""

from __future__ import annotations

import numpy as np
import pytest

from audits.stats.sequential import DriftTest
from tests.refused import refused


def test_drift_is_found_soon_however_it_comes_in():
    rng = np.random.default_rng(5)
    reference, stream = rng.normal(size=500), np.r_[rng.normal(size=200), rng.normal(1.0, size=200)]
    whole, pieces = DriftTest(reference), DriftTest(reference)
    whole.update(stream)
    for part in np.array_split(stream, 17):
        pieces.update(part)
    assert whole.p_value == pytest.approx(pieces.p_value, rel=1e-9)
    assert whole.p_value < 0.01
    assert whole.people == pieces.people == 400


def test_nobody_one_value_and_no_number():
    test = DriftTest(np.zeros(50))
    test.update(np.zeros(0))
    assert test.p_value == 1.0
    test.update(np.zeros(500))
    assert test.p_value > 0.05
    with refused("values"):
        test.update(np.array([np.nan]))
