"""Prediction sensitivity of many people at once: one forward and one backward pass for each model.

Definition 3.2, PS(x) = |grad A(x)| . |grad F(x)| over the points of a `FeatureSpace`: numbers in standard
deviations, a category as a pair of entries of 0.5. F's gradient is that of its probability of the
favorable outcome. A's is that of the log-odds of a group against the rest: of the second group where
there are two (either gives the same), of the likeliest group where there are more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from audits.models.networks.dense import Dense

CHUNK = 1024
"""Rows a pass: their points and gradients stay in a core's cache."""

_LAST_DIGITS = 1e-9


@dataclass(frozen=True, eq=False)
class AuditedModel:
    """The audited model F as a network.

    Attributes
    ----------
    network : Dense
        One output, the log-odds of the favorable outcome; or logits of several classes.
    favorable : (k,) bool, optional
        Which of several classes are favorable.
    """

    network: Dense
    favorable: np.ndarray | None = None

    def head(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the probability (n,) and its derivative by the outputs (n, k)."""
        if self.favorable is None:
            p = expit(outputs[:, 0])
            return p, (p * (1.0 - p))[:, None]
        shares = softmax(outputs)
        p = shares @ self.favorable.astype(outputs.dtype)
        return p, shares * (self.favorable - p[:, None])


@dataclass(frozen=True, eq=False)
class Status:
    """A protected-status model A (Definition 3.1) as a network.

    Attributes
    ----------
    attribute : str
    groups : tuple of str
        Values in the order of the classes; two groups have one output, the log-odds of the second.
    network : Dense
    """

    attribute: str
    groups: tuple[str, ...]
    network: Dense

    def probabilities(self, z: np.ndarray) -> np.ndarray:
        """Return the probability of each group, (n, k)."""
        out = self.network.outputs(z)
        if out.shape[1] == 1:
            second = expit(out[:, 0])
            return np.column_stack([1.0 - second, second])
        return softmax(out)

    def head(self, outputs: np.ndarray, *, literal: bool) -> np.ndarray:
        """Return the derivative of what A's gradient is taken of by the outputs, (n, k)."""
        if outputs.shape[1] == 1:
            if not literal:
                return np.ones_like(outputs)
            p = expit(outputs)
            return p * (1.0 - p)
        likeliest = np.argmax(outputs, axis=1)
        rows = np.arange(len(outputs))
        if literal:
            shares = softmax(outputs)
            own = shares[rows, likeliest]
            seed = -own[:, None] * shares
            seed[rows, likeliest] += own
            return seed
        # log p - log(1 - p) by the other logits: minus their softmax among themselves, which cannot saturate
        others = outputs.copy()
        others[rows, likeliest] = -np.inf
        seed = -softmax(others)
        seed[rows, likeliest] = 1.0
        return seed


@dataclass(frozen=True, eq=False)
class Measured:
    """What one pass says about n people.

    Attributes
    ----------
    score : (n,)
        F's probability of the favorable outcome.
    by_attribute : (n, a)
        Sensitivity for each protected-status model.
    contributions : (n, c)
        Parts of the largest of them by raw column; they sum to the person's sensitivity.
    influence : (n,)
        |grad F| summed over the encoded columns: the rival that knows nothing of groups.
    """

    score: np.ndarray
    by_attribute: np.ndarray
    contributions: np.ndarray
    influence: np.ndarray

    @property
    def sensitivity(self) -> np.ndarray:
        """Largest sensitivity of each person, (n,)."""
        return self.by_attribute.max(axis=1)


def measure(
    z: np.ndarray,
    audited: AuditedModel,
    statuses: Sequence[Status],
    blocks: Sequence[slice],
    *,
    literal: bool = False,
    noise: np.ndarray | None = None,
) -> Measured:
    """Return sensitivities and their parts at points `z` (n, d).

    Parameters
    ----------
    blocks : sequence of slice
        Encoded columns of each raw column, in order and without gaps.
    noise : (s, d), optional
        Shifts over which gradients are averaged, the same for everyone: neither the order of rows nor
        the size of a batch changes a result.
    """
    starts = [block.start for block in blocks]
    chunks = (z[start : start + CHUNK] for start in range(0, max(len(z), 1), CHUNK))
    found = [_chunk(part, audited, statuses, starts, literal, noise) for part in chunks]
    return Measured(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def softmax(outputs: np.ndarray) -> np.ndarray:
    """Return shares of rows, (n, k): as SciPy's to the last digit, without what it does to find a library."""
    shares = np.exp(outputs - outputs.max(axis=1, keepdims=True))
    return shares / shares.sum(axis=1, keepdims=True)


def exceeds(sensitivity: np.ndarray, threshold: float) -> np.ndarray:
    """Return who lies above the threshold, (n,) bool: by more than the last digits.

    The threshold is often someone's own sensitivity, whose last digit follows the size of the batch.
    """
    return sensitivity > threshold * (1.0 + _LAST_DIGITS)


def smoothing_noise(space_numbers: np.ndarray, draws: int, scale: float, seed: int) -> np.ndarray | None:
    """Return SmoothGrad's shifts (draws, d): normal on columns of numbers, else 0; None for no draws."""
    if not draws:
        return None
    shifts = np.random.default_rng(seed).normal(0.0, scale, (draws, len(space_numbers)))
    return shifts * space_numbers


def _chunk(
    z: np.ndarray,
    audited: AuditedModel,
    statuses: Sequence[Status],
    starts: list[int],
    literal: bool,
    noise: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    score, by_score = _score_gradient(z, audited)
    if noise is not None:
        by_score = np.mean([_score_gradient(z + shift, audited)[1] for shift in noise], axis=0)
    by_score = np.abs(by_score)
    parts, sums = [], []
    for status in statuses:
        if noise is None:
            by_status = status_gradient(z, status, literal)
        else:
            by_status = np.mean([status_gradient(z + shift, status, literal) for shift in noise], axis=0)
        part = np.add.reduceat(by_score * np.abs(by_status), starts, axis=1)  # (n, d) -> (n, c)
        parts.append(part)
        sums.append(part.sum(axis=1))
    if len(parts) == 1:
        return score, sums[0][:, None], parts[0], by_score.sum(axis=1)
    by_attribute = np.column_stack(sums)
    largest = by_attribute.argmax(axis=1)
    contributions = np.stack(parts)[largest, np.arange(len(z))]
    return score, by_attribute, contributions, by_score.sum(axis=1)


def _score_gradient(z: np.ndarray, audited: AuditedModel) -> tuple[np.ndarray, np.ndarray]:
    outputs, hidden = audited.network.forward(z)
    score, seed = audited.head(outputs)
    return score, audited.network.backward(seed, hidden)


def status_gradient(z: np.ndarray, status: Status, literal: bool) -> np.ndarray:
    """Return the gradient of what one A says of points (n, d), (n, d)."""
    outputs, hidden = status.network.forward(z)
    return status.network.backward(status.head(outputs, literal=literal), hidden)
