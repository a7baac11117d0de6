"""The learned fair metric, each half of the people judged by what the other half taught.

Directions learned on the very people who are then moved along them are fitted to their noise; learned on
others they may still be nothing but noise, and moving people along any direction that the model reads makes
their losses larger. So an attribute has directions only where those of one half tell its values in the other
half beyond chance; the test permutes its values among the people of that half.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from audits.data.audit_data import AuditData
from audits.data.partition import content_keys, draw_people
from audits.data.space import FeatureSpace
from audits.errors import InputError
from audits.loss_ratio.metrics.distances import FairMetrics, Told, projection_metric
from audits.models.protocol import row_weights
from audits.models.subspaces import attribute_directions, orthonormal, read_as_number
from audits.stats.permutation import holm
from audits.stats.words import p_words

__all__ = ["halves_of", "learn_on_halves", "told_by"]

_RIDGE = 1e-6  # of the spread within groups, so that directions without any can be told apart too


def learn_on_halves(
    data: AuditData,
    space: FeatureSpace,
    x: np.ndarray,
    names: Sequence[str],
    source: str,
    rng: np.random.Generator,
    *,
    level: float,
) -> FairMetrics:
    """Return the metric of each half of the people of `data`, at points `x` (n, d), learned on the other.

    Parameters
    ----------
    names : sequence of str
        Sensitive attributes.
    level : float
        Error rate with which an attribute that is told by nothing gets directions, over all attributes.

    Raises
    ------
    InputError
        If an attribute has one value only or more than 30 as groups, or its groups but one have one row
        each; if the directions are none or span everything.
    """
    values = {name: _values(data, name) for name in names}
    halves = halves_of(data, list(values.values()), rng)
    place = (halves[1] > halves[0]).astype(int)
    free, own = x.copy(), [np.zeros((0, len(space.names)))]
    for name in names:
        if name in space.columns:
            free[:, space.blocks[name]] = 0.0  # an attribute is not explained by itself or another one
            own.append(np.eye(len(space.names))[space.blocks[name]])
    found: dict[str, list[np.ndarray]] = {}
    strength = []
    for name, mine in values.items():
        _check_halves(name, mine, halves)
        found[name], z = [], []
        for half in (0, 1):
            here, there = halves[1 - half] > 0, halves[half] > 0
            directions = np.zeros((0, len(space.names)))
            if np.ptp(free[here], axis=0).any():
                learned, counts = halves[1 - half][here], halves[half][there]
                weights = None if data.weights is None else learned
                directions, _ = attribute_directions(free[here], mine[here], weights, name=name)
                sides = free[here], mine[here], free[there], mine[there]
                z.append(told_by(*sides, directions, counts, learned))
            found[name].append(directions)
        # the two halves' statistics rise and fall together, so their mean keeps the level of each
        strength.append(float(np.mean(z)) if z else -np.inf)
    from scipy.stats import norm  # slow to import, and describing a table gets as far as this module

    adjusted = holm(norm.sf(strength))
    told = tuple(
        Told(name, float(p), bool(p <= level), name in space.columns)
        for name, p in zip(names, adjusted, strict=True)
    )
    return _metrics(told, found, own, place, source)


def halves_of(data: AuditData, values: Sequence[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Return how many people of each row belong to each half (2, n), about as many of every group to both.

    Parameters
    ----------
    values : sequence of array (n,)
        Groups as text; numbers (floats) are left to chance.
    """
    weights = row_weights(data)
    whole = np.maximum(np.rint(weights), 1.0)
    groups = pd.DataFrame({k: each for k, each in enumerate(values) if each.dtype.kind != "f"})
    strata: np.ndarray = np.zeros(data.n, dtype=np.int64)
    if len(groups.columns):
        strata = groups.groupby(list(groups)).ngroup().to_numpy()
    people = np.bincount(strata, whole)
    wanted = (people + np.cumsum(people % 2) % 2) // 2  # of odd ones the first half gets more in turn
    first = draw_people(whole, content_keys(data), strata, wanted, rng) * weights / whole
    return np.stack([first, weights - first])


def told_by(
    x: np.ndarray,
    values: np.ndarray,
    others: np.ndarray,
    theirs: np.ndarray,
    directions: np.ndarray,
    weights: np.ndarray,
    learned: np.ndarray | None = None,
) -> float:
    """Return how far beyond chance `directions` (m, d), learned on points `x`, tell the values of others.

    In standard deviations of what permuting the others' values gives (a combinatorial central limit theorem):
    about 0 if they tell nothing. Groups are told by the nearest mean along the directions, numbers by their
    product.

    Parameters
    ----------
    x, values : array (k, d), (k,)
        Those learned from.
    others, theirs, weights : array (n, d), (n,), (n,)
        Those told, and the people whom each stands for.
    learned : array (k,), optional
        People whom each of those learned from stands for; one by default.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(200, 2))
    >>> group = np.where(x[:, 0] > 0, "a", "b")
    >>> first, every = np.array([[1.0, 0.0]]), np.ones(100)
    >>> told_by(x[:100], group[:100], x[100:], group[100:], first, every) > 5
    True
    """
    seen, score = x @ directions.T, others @ directions.T
    learned = np.ones(len(x)) if learned is None else learned
    if values.dtype.kind == "f":
        fit = score @ np.array([np.cov(part, values, aweights=learned)[0, 1] for part in seen.T])
        total = weights.sum()
        one, other = fit - weights @ fit / total, theirs - weights @ theirs / total
        spread = np.sqrt((weights @ one**2) * (weights @ other**2) / max(total - 1, 1))
        return float(weights @ (one * other) / spread) if spread > 0 else 0.0
    levels, codes = np.unique(values, return_inverse=True)
    known = np.isin(theirs, levels)
    own = [codes == k for k in range(len(levels))]
    means = np.stack([np.average(seen[each], axis=0, weights=learned[each]) for each in own])
    within = np.atleast_2d(np.cov((seen - means[codes]).T, aweights=learned))
    within = within + _RIDGE * max(float(np.trace(within)), 1e-300) * np.eye(len(within))
    pull = np.linalg.solve(within, means.T)  # (m, k)
    fit = score[known] @ pull - 0.5 * np.einsum("km,mk->k", means, pull)
    group, people = np.searchsorted(levels, theirs[known]), weights[known]
    total = people.sum()
    shares = np.bincount(group, people, len(levels)) / max(total, 1e-300)
    fit = fit - (fit @ shares)[:, None]  # what a person adds to every group tells nothing
    fit = fit - people @ fit / max(total, 1e-300)
    variance = total * (people @ fit**2 @ shares) / max(total - 1, 1)
    reached = people @ fit[np.arange(len(fit)), group]
    return float(reached / np.sqrt(variance)) if variance > 0 else 0.0


def _metrics(
    told: tuple[Told, ...],
    found: dict[str, list[np.ndarray]],
    own: list[np.ndarray],
    place: np.ndarray,
    source: str,
) -> FairMetrics:
    """Put the directions of the attributes that are told together, or of all where none is."""
    missed = [each for each in told if not each.told]
    named = " and ".join(each.attribute for each in missed)
    nothing = len(missed) == len(told) and not any(each.itself for each in told)
    kept = [each.attribute for each in told if each.told or nothing]
    chances = ", ".join(p_words(each.p_value) for each in missed)
    doubts, why = [], ""
    if nothing:
        why = (
            f"the features do not predict {named} beyond chance (p {chances}), so there is nothing to move "
            "along"
        )
    elif missed:
        doubts.append(
            f"The features do not predict {named} beyond chance in people held out (p {chances}): no "
            "direction is tied to it."
        )
    parts, narrowed = [], False
    for half in (0, 1):
        vectors = np.vstack([*own, *(found[name][half] for name in kept)])
        if orthonormal(vectors).shape[1] >= vectors.shape[1] and any(
            len(found[name][half]) > 1 for name in kept
        ):
            vectors = np.vstack([*own, *(found[name][half][:1] for name in kept)])
            narrowed = True
        parts.append(projection_metric(vectors, source, where="sensitive"))
    if narrowed:
        doubts.append(
            f"The directions that tell all groups of {' and '.join(kept)} apart span every feature; of each "
            "attribute only the one along which its groups lie furthest apart counts as sensitive."
        )
    return FairMetrics(tuple(parts), place, source, told, tuple(doubts), why)


def _values(data: AuditData, name: str) -> np.ndarray:
    """Groups as text, or numbers as floats."""
    if read_as_number(data, name):
        return data.frame[name].to_numpy(dtype=float, na_value=np.nan)
    return data.groups[name].to_numpy(dtype=object).astype(str)


def _check_halves(name: str, values: np.ndarray, halves: np.ndarray) -> None:
    if values.dtype.kind == "f" or len(np.unique(values)) < 2:
        return  # one value is told by `attribute_directions`
    if min(len(np.unique(values[half > 0])) for half in halves) < 2:
        raise InputError(
            "sensitive",
            "must have two groups of at least two rows each, so that half of the people can tell them, but "
            f"{name!r} has not",
            advice="choose another attribute, or bring more rows",
        )
