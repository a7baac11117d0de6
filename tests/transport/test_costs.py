"""Ground costs: by hand, against their definitions, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from audits.transport import paired_cost, pairwise_cost
from audits.transport.blocks import CostBlocks
from audits.transport.costs import COSTS
from tests.refused import refused


def defined(x, y, cost, weights) -> np.ndarray:
    """Return the four costs as their definitions say."""
    apart = np.abs(x[:, None] - y)
    l1, l2 = apart @ weights, apart**2 @ weights
    return {"l1": l1, "l1_squared": l1**2, "l2": l2**0.5, "l2_squared": l2}[cost]


@pytest.mark.parametrize("cost", COSTS)
def test_pairs_and_blocks_match_the_definitions(cost):
    """With one-hot, two-valued and constant columns, which blocks compute by one product of matrices."""
    rng = np.random.default_rng(0)
    hot = 0.5 * np.eye(3)[rng.integers(0, 3, 16)]
    people = np.hstack(
        [rng.normal(size=(16, 4)), hot, 0.3 * rng.integers(0, 2, (16, 1)), np.full((16, 1), 7)]
    )
    x, y, weights = people[:7], people[7:], rng.random(9)
    expected = defined(x, y, cost, weights)
    np.testing.assert_allclose(pairwise_cost(x, y, cost, weights), expected, rtol=1e-13)  # sums of 9 terms
    np.testing.assert_allclose(paired_cost(x, y[:7], cost, weights), np.diag(expected), rtol=1e-13)
    plain, blocks = defined(x, y, cost, np.ones(9)), CostBlocks.build(x, y, cost)
    np.testing.assert_allclose(blocks.rows(0, 7), plain, rtol=1e-12)
    np.testing.assert_allclose(blocks.transposed().matrix(), plain.T, rtol=1e-12)
    i, j = np.indices(plain.shape).reshape(2, -1)
    np.testing.assert_allclose(blocks.pairs(i, j), plain.ravel(), rtol=1e-12)


def test_bad_input_is_named():
    for function in (pairwise_cost, paired_cost):
        with refused("cost", "'l3'"):
            function([[0.0]], [[0.0]], "l3")
        with refused("feature_weights", "1.0"):
            function([[0.0]], [[0.0]], "l1", [-1.0])
    with refused("y"):
        paired_cost([[0.0], [1.0]], [[0.0]])
