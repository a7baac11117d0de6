"""What every map owes: errors in words, small and odd groups."""

from __future__ import annotations

import numpy as np
import pytest

from audits.transport.maps import MAPS, GanOptions, NeuralOptions
from tests.refused import refused

QUICK = {
    "gan": {"options": GanOptions(iterations=20, batch=8)},
    "neural": {"options": NeuralOptions(dual_steps=10, map_steps=10, batch=16)},
}


def fit(kind: str, source, target, **more):
    return MAPS[kind].fit(source, target, rng=0, **QUICK.get(kind, {}), **more)


@pytest.mark.parametrize(
    ("source", "target", "more", "where"),
    [
        ([[np.nan]], [[1.0]], {}, "source"),
        ([[0.0]], [[np.inf], [1.0]], {}, "target"),
        (np.empty((0, 2)), [[1.0, 2.0]], {}, "source"),
        ([[0.0]], [[1.0, 2.0]], {}, "target"),
        ([0.0, 1.0], [[1.0]], {}, "source"),
        ([["a"]], [[1.0]], {}, "source"),
        ([[0.0], [1.0]], [[1.0]], {"a": [1.0]}, "a"),
        ([[0.0], [1.0]], [[1.0]], {"a": [1.0, -1.0]}, "a"),
        ([[0.0], [1.0]], [[1.0]], {"a": [0.0, 0.0]}, "a"),
        ([[0.0, 1.0]], [[1.0, 1.0]], {"feature_weights": [1.0]}, "feature_weights"),
        ([[0.0, 1.0]], [[1.0, 1.0]], {"feature_weights": [1.0, -1.0]}, "feature_weights"),
        ([[0.0, 1.0]], [[1.0, 1.0]], {"feature_weights": [0.0, 0.0]}, "feature_weights"),
    ],
)
def test_bad_groups_are_refused_in_words(source, target, more: dict, where: str):
    with refused(where):
        fit("linear", source, target, **more)


@pytest.mark.parametrize("kind", sorted(MAPS))
def test_one_person_against_many_with_constant_and_categorical_features(kind: str):
    rng = np.random.default_rng(2)
    many = np.column_stack([np.full(30, 0.3), np.eye(3)[rng.integers(0, 3, 30)] / 2])
    assert np.isfinite(fit(kind, many[:1], many).transform(many)).all()
    there = fit(kind, many, many[:1])
    moved = there.transform(many)
    assert np.isfinite(moved).all()
    assert there.transform(np.empty((0, 4))).shape == (0, 4)
    for wrong in (np.zeros((4, 3)), np.array([[0.0, np.nan, 0.0, 0.0]])):
        with refused("x"):
            there.transform(wrong)
    if kind in {"entropic", "linear", "unbalanced"}:
        np.testing.assert_allclose(moved, np.repeat(many[:1], 30, axis=0), atol=1e-9)
    if kind in {"entropic", "unbalanced"}:
        between = fit(kind, many[:20], many[20:]).transform(many)
        assert {tuple(row) for row in between} <= {tuple(row) for row in many[20:]}
