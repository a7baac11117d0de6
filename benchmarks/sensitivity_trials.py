"""Sections 5 and 6: the paper's experiments, on data from known causes and on copies.

Two features and a label come from scikit-learn's `make_classification`, as the paper says; how many
points, and how far apart the classes lie, it does not say. In the unbiased data (Figure 3b) gender is a
coin; in the biased data (Figure 3a) it follows the label: P(woman) is .25 for positive, .75 for negative.
F learns from the biased data, its unbiased twin from the unbiased, and A tells gender in the biased data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit
from sklearn.datasets import make_classification

from audits.models.networks.dense import Dense
from audits.models.networks.fitting import Training, fit_dense
from audits.sensitivity.matching.sets import MatchSet, match_set
from audits.sensitivity.measuring.gradients import Audited, Status, measure

__all__ = ["AugmentedTrial", "SyntheticTrial", "augmented_trial", "synthetic_trial"]

WOMAN = {True: 0.25, False: 0.75}
"""P(woman) by whether the label is positive, Figure 3a."""


@dataclass(frozen=True, eq=False)
class SyntheticTrial:
    """One trial: how good the models are, and the match set."""

    accuracy: float
    twin_accuracy: float
    matched: MatchSet


def synthetic_trial(
    rng: np.random.Generator,
    *,
    n: int = 5000,
    separation: float = 1.0,
    training: Training | None = None,
    literal: bool = False,
    draws: int = 100,
) -> SyntheticTrial:
    """Carry out the experiment once: half of `n` points to learn from, half to test.

    Parameters
    ----------
    separation : float
        Distance of the classes, `make_classification`'s ``class_sep``.
    training : Training, optional
        By default the paper's network: one hidden layer ("a single hidden layer", section 6.2) of 32, 40
        epochs of Adam at 0.001.
    literal : bool
        A's gradient at its probability.
    """
    x, label = make_classification(
        n,
        n_features=2,
        n_informative=2,
        n_redundant=0,
        n_clusters_per_class=1,
        class_sep=separation,
        random_state=int(rng.integers(2**31)),
    )
    x = (x - x.mean(0)) / x.std(0)
    fair = rng.random(n) < 0.5
    biased = rng.random(n) < np.where(label == 1, WOMAN[True], WOMAN[False])
    z = np.column_stack([x, biased.astype(float)])
    half = n // 2
    rows, test = slice(None, half), slice(half, None)
    audited, twin, status = (
        _fit(points[rows], target[rows], rng, training)
        for points, target in (
            (z, label),
            (np.column_stack([x, fair.astype(float)]), label),
            (z, biased.astype(int)),
        )
    )
    return _trial(audited, twin, status, z[test], label[test], rng, literal=literal, draws=draws)


@dataclass(frozen=True, eq=False)
class AugmentedTrial:
    """The models of one trial of section 6, and its test people.

    Attributes
    ----------
    audited, twin, status : Dense
        F, its twin learned from copies with the attribute flipped, and A.
    z, label : arrays (n, d), (n,)
        Test people.
    column : int
        Where in `z` the binary protected attribute is.
    """

    audited: Dense
    twin: Dense
    status: Dense
    z: np.ndarray
    label: np.ndarray
    column: int

    def judge(
        self,
        rng: np.random.Generator,
        *,
        augment_test: bool = False,
        literal: bool = False,
        draws: int = 100,
    ) -> SyntheticTrial:
        """Hold sensitivity against the match set, on the test people or also on their copies (Table 2)."""
        z, label = self.z, self.label
        if augment_test:
            z, label = _flipped(z, self.column), np.tile(label, 2)
        models = (self.audited, self.twin, self.status)
        return _trial(*models, z, label, rng, literal=literal, draws=draws)


def augmented_trial(
    x: np.ndarray,
    label: np.ndarray,
    column: int,
    rng: np.random.Generator,
    *,
    training: Training,
    test_share: float = 0.2,
) -> AugmentedTrial:
    """Train the models of section 6 once: the twin learns from rows copied with `column` flipped.

    Parameters
    ----------
    x : (n, d)
        Points in which `column` is the binary protected attribute, 0 or 1.
    label : (n,) of int
    """
    order = rng.permutation(len(x))
    held = round(test_share * len(x))
    test, rows = order[:held], order[held:]
    audited = _fit(x[rows], label[rows], rng, training)
    twin = _fit(_flipped(x[rows], column), np.tile(label[rows], 2), rng, training)
    status = _fit(x[rows], x[rows, column].astype(int), rng, training)
    return AugmentedTrial(audited, twin, status, x[test], label[test], column)


def _flipped(points: np.ndarray, column: int) -> np.ndarray:
    """The points, and below them their copies with the attribute flipped, (2n, d)."""
    copies = points.copy()
    copies[:, column] = 1.0 - copies[:, column]
    return np.concatenate([points, copies])


def _fit(x: np.ndarray, target: np.ndarray, rng: np.random.Generator, training: Training | None) -> Dense:
    usual = Training((32,), 40, None, 1e-3, 0.0)
    return fit_dense(x, target, 2, rng, training=training or replace(usual, batch=min(256, len(x) // 8)))


def _trial(
    audited: Dense,
    twin: Dense,
    status: Dense,
    z: np.ndarray,
    label: np.ndarray,
    rng: np.random.Generator,
    *,
    literal: bool,
    draws: int,
) -> SyntheticTrial:
    blocks = [slice(k, k + 1) for k in range(z.shape[1])]
    model = Status("protected", ("0", "1"), status)
    found = measure(z, Audited(audited), (model,), blocks, literal=literal)
    other = expit(twin.outputs(z)[:, 0])
    matched = match_set(
        found.sensitivity,
        found.influence,
        np.abs(found.score - 0.5),
        (other >= 0.5) != (found.score >= 0.5),
        twin="the experiment's twin",
        draws=draws,
        rng=rng,
    )
    right = label == 1
    return SyntheticTrial(
        float(np.mean((found.score >= 0.5) == right)), float(np.mean((other >= 0.5) == right)), matched
    )
