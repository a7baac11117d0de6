"""Ground costs: by hand, against plain loops, and block by block."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from audits.transport import paired_cost, pairwise_cost
from audits.transport.blocks import CostBlocks, threads
from audits.transport.costs import COSTS
from tests.refused import refused


def loops(x, y, cost, weights) -> np.ndarray:
    """Return the four costs as their definitions say, one number at a time."""
    out = np.zeros((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            l1 = sum(w * abs(p - q) for w, p, q in zip(weights, x[i], y[j], strict=True))
            l2 = sum(w * (p - q) ** 2 for w, p, q in zip(weights, x[i], y[j], strict=True))
            out[i, j] = {"l1": l1, "l1_squared": l1**2, "l2": l2**0.5, "l2_squared": l2}[cost]
    return out


@pytest.mark.parametrize(
    ("cost", "by_hand"), [("l1", 10), ("l1_squared", 100), ("l2_squared", 34), ("l2", 34**0.5)]
)
def test_weights_multiply_the_difference_under_l1_and_its_square_under_l2(cost, by_hand):
    assert paired_cost([[0.0, 0.0]], [[3.0, 4.0]], cost, [2, 1]) == pytest.approx(by_hand, rel=1e-15)


@pytest.mark.parametrize("cost", COSTS)
def test_pairs_match_plain_loops(cost):
    rng = np.random.default_rng(0)
    x, y, weights = rng.normal(size=(7, 5)), rng.normal(size=(9, 5)), rng.random(5)
    expected = loops(x, y, cost, weights)
    np.testing.assert_allclose(pairwise_cost(x, y, cost, weights), expected, rtol=1e-13)  # sums of 5 terms
    np.testing.assert_allclose(paired_cost(x, y[:7], cost, weights), np.diag(expected), rtol=1e-13)


TABLE = arrays(float, st.tuples(st.integers(1, 6), st.just(4)), elements=st.floats(-50, 50, width=32))


@given(x=TABLE, y=TABLE, cost=st.sampled_from(COSTS), two=st.sampled_from([0.5, 1.0, 0.3]))
def test_blocks_match_the_full_matrix_with_one_hot_columns_too(x, y, cost, two):
    hot = np.random.default_rng(len(x)).integers(0, 2, size=(len(x) + len(y), 5)) * two
    x, y = np.hstack([x, hot[: len(x)]]), np.hstack([y, hot[len(x) :]])
    blocks = CostBlocks.build(x, y, cost)
    expected = pairwise_cost(x, y, cost)
    scale = expected.max() + 1.0
    np.testing.assert_allclose(blocks.rows(0, len(x)), expected, rtol=1e-12, atol=1e-13 * scale)
    np.testing.assert_allclose(blocks.transposed().matrix(), expected.T, rtol=1e-12, atol=1e-13 * scale)
    i, j = np.indices(expected.shape).reshape(2, -1)
    np.testing.assert_allclose(blocks.pairs(i, j), expected.ravel(), rtol=1e-12, atol=1e-13 * scale)


def test_each_visits_every_row_once_and_in_order():
    x, y = np.arange(700.0)[:, None], np.arange(1000.0)[:, None]
    with threads() as pool:
        seen = CostBlocks.build(x, y, "l1").each(lambda start, costs: (start, costs[:, 0]), pool)
    assert len(seen) > 1
    assert np.array_equal(np.concatenate([first for _, first in seen]), np.arange(700.0))
    assert [start for start, _ in seen] == sorted(start for start, _ in seen)


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (([[0.0]], [[0.0, 1.0]]), ("y",)),
        (([0.0], [[0.0]]), ("x",)),
        ((np.empty((0, 2)), [[0.0, 1.0]]), ("x",)),
        (([[0.0]], [[np.nan]]), ("y",)),
        (([[0.0]], [[0.0]], "l3"), ("cost", "'l3'")),
        (
            ([[0.0]], [[0.0]], "l1", [1.0, 2.0]),
            ("feature_weights",),
        ),
        (([[0.0]], [[0.0]], "l1", [-1.0]), ("feature_weights", "1.0")),
    ],
)
@pytest.mark.parametrize("function", [pairwise_cost, paired_cost])
def test_bad_input_is_named(function, arguments, refusal):
    with refused(*refusal):
        function(*arguments)


def test_paired_costs_need_as_many_rows():
    with refused("y"):
        paired_cost([[0.0], [1.0]], [[0.0]])
