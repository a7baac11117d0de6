"""Definition 3.2 by hand, against finite differences, and what must not change it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.special import expit, softmax

from audits.models.networks.dense import Dense
from audits.sensitivity.measurement.gradients import AuditedModel, Status, measure

D = 5
BLOCKS = [slice(0, 1), slice(1, 3), slice(3, 5)]


def draw(rng: np.random.Generator, *widths: int) -> Dense:
    weights = tuple(rng.normal(size=pair) for pair in pairwise(widths))
    return Dense(weights, tuple(rng.normal(size=width) for width in widths[1:]))


def models(seed: int, groups: int = 2, classes: int = 0) -> tuple[AuditedModel, Status]:
    rng = np.random.default_rng(seed)
    good = np.arange(classes) < 2 if classes else None
    audited = AuditedModel(draw(rng, D, 6, classes or 1), good)
    names = tuple(f"g{k}" for k in range(groups))
    return audited, Status("group", names, draw(rng, D, 4, 1 if groups == 2 else groups))


def test_two_logistic_models_by_hand():
    # F = expit(0.5 z1 - z2), A = expit(2 z1 + 3 z2): PS = p (1 - p) (|0.5| * |2| + |-1| * |3|)
    audited = AuditedModel(Dense((np.array([[0.5], [-1.0]]),), (np.zeros(1),)))
    status = Status("sex", ("f", "m"), Dense((np.array([[2.0], [3.0]]),), (np.zeros(1),)))
    z = np.array([[0.0, 0.0], [2.0, 0.0]])
    found = measure(z, audited, [status], [slice(0, 1), slice(1, 2)])
    p = expit(np.array([0.0, 1.0]))
    np.testing.assert_allclose(found.sensitivity, p * (1 - p) * 4)
    np.testing.assert_allclose(found.contributions[0], [0.25, 0.75])
    np.testing.assert_allclose(found.influence, p * (1 - p) * 1.5)
    literal = measure(z, audited, [status], [slice(0, 1), slice(1, 2)], literal=True)
    a = expit(np.array([0.0, 4.0]))
    np.testing.assert_allclose(literal.sensitivity, p * (1 - p) * 4 * a * (1 - a))


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 4]), st.sampled_from([0, 3]), st.booleans())
def test_sensitivity_equals_central_differences(seed: int, groups: int, classes: int, literal: bool):
    audited, status = models(seed, groups, classes)
    z = np.random.default_rng(seed).normal(size=(4, D))
    group = status.probabilities(z).argmax(1) if groups > 2 else np.ones(4, dtype=int)
    # where a probability rounds towards 1, differences of its log odds have no digits left to compare
    assume(status.probabilities(z).max() < 1 - 1e-4)

    def score(x: np.ndarray) -> np.ndarray:
        out = audited.network.outputs(x)
        return expit(out[:, 0]) if not classes else softmax(out, axis=1)[:, audited.favorable].sum(1)

    def odds(x: np.ndarray) -> np.ndarray:
        p = status.probabilities(x)[np.arange(len(x)), group]
        return p if literal else np.log(p) - np.log1p(-p)

    def slopes(function) -> np.ndarray:
        steps = 1e-6 * np.eye(D)
        return np.abs([(function(z + step) - function(z - step)) / 2e-6 for step in steps]).T

    by_hand = slopes(score) * slopes(odds)
    found = measure(z, audited, [status], BLOCKS, literal=literal)
    np.testing.assert_allclose(found.sensitivity, by_hand.sum(1), rtol=1e-4, atol=1e-7)
    parts = np.column_stack([by_hand[:, block].sum(1) for block in BLOCKS])
    np.testing.assert_allclose(found.contributions, parts, rtol=1e-4, atol=1e-7)


def test_the_logit_does_not_saturate_where_the_literal_form_is_zero():
    audited, _ = models(0)
    sure = Status("sex", ("f", "m"), Dense((np.full((D, 1), 200.0),), (np.zeros(1),)))
    z = np.ones((3, D))
    assert measure(z, audited, [sure], BLOCKS, literal=True).sensitivity.max() == 0
    assert measure(z, audited, [sure], BLOCKS).sensitivity.min() > 0
    three = Status("sex", ("f", "m", "x"), Dense((200.0 * np.eye(D)[:, :3],), (np.array([90.0, 0.0, 0.0]),)))
    assert measure(z, audited, [three], BLOCKS, literal=True).sensitivity.max() < 1e-30
    assert np.isfinite(measure(z, audited, [three], BLOCKS).sensitivity).all()
    assert measure(z, audited, [three], BLOCKS).sensitivity.min() > 0


def test_several_attributes_give_the_largest():
    audited, first = models(4)
    _, second = models(5)
    z = np.random.default_rng(4).normal(size=(50, D))
    both = measure(z, audited, [first, second], BLOCKS)
    alone = [measure(z, audited, [each], BLOCKS).sensitivity for each in (first, second)]
    np.testing.assert_allclose(both.sensitivity, np.maximum(*alone))
    np.testing.assert_allclose(both.contributions.sum(1), both.sensitivity)


def test_smoothing_averages_gradients_before_their_size_is_taken():
    # A's only unit has its kink at 0: half the noisy points see slope 2, half 0
    audited = AuditedModel(Dense((np.array([[1.0]]),), (np.zeros(1),)))
    bent = Dense((np.array([[2.0]]), np.array([[1.0]])), (np.zeros(1), np.zeros(1)))
    status = Status("g", ("a", "b"), bent)
    noise = np.array([[0.5], [-0.5]])
    found = measure(np.zeros((1, 1)), audited, [status], [slice(0, 1)], noise=noise)
    p = expit(np.array([0.5, -0.5]))
    assert found.sensitivity[0] == pytest.approx(np.mean(p * (1 - p)) * 1.0)
