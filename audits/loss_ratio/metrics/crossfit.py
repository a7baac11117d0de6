"""The learned fair metric: directions from several cross-fits, and how far they may be from the true ones.

Directions learned on the very people who are then moved along them are fitted to their noise, so each fold of
the people is moved along those that the other folds teach. Learned on others they may still be nothing but
noise, and moving people along any direction that the model reads makes their losses larger. Two things stand
against that. An attribute has directions only where those of one half tell its values in the other half
beyond chance; the test permutes its values among the people of that half. And each direction has a confidence
region: the metrics of the two directions in it along which the model's
answers change least and most are kept, and the ratio's interval reaches over what both give.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from audits.data.audit_data import AuditData
from audits.data.encoder import FeatureSpace
from audits.errors import InputError
from audits.loss_ratio.metrics.distances import (
    AttributeAssociation,
    FairMetrics,
    LearnedDirections,
    projection_metric,
)
from audits.models.subspaces import attribute_directions, orthonormal, read_as_number
from audits.stats.permutation import holm
from audits.stats.text import p_words
from audits.text import join_names

FOLDS = 10
"""Folds of the people, each moved along what the others teach."""

_HALVINGS = 10
_MAX_PEOPLE = 1_000_000  # dealt one by one
_RIDGE = 1e-6  # of the spread within groups, so that directions without any can be told apart too


def learn_metric(
    data: AuditData,
    space: FeatureSpace,
    x: np.ndarray,
    names: Sequence[str],
    source: str,
    rng: np.random.Generator,
    *,
    level: float,
) -> FairMetrics:
    """Return the metric of each fold of the people of `data`, at points `x` (n, d), learned on the others.

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
        each; if no other feature differs between people; if the directions are none or span everything.
    """
    names = sorted(names)  # the order in which they are named decides no draw
    values = {name: _values(data, name) for name in names}
    weights = data.row_weights
    free, own = x.copy(), [np.zeros((0, len(space.names)))]
    for name in names:
        if name in space.columns:
            free[:, space.blocks[name]] = 0.0  # an attribute is not explained by itself or another one
            own.append(np.eye(len(space.names))[space.blocks[name]])
    if not np.ptp(free, axis=0).any():
        advice = "add features besides the protected attributes, or leave loss_ratio out"
        raise InputError("features", "must differ between people, but each has one value only", advice=advice)
    groups = list(values.values())
    halvings = [folds_of(groups, weights, 2, rng) for _ in range(_HALVINGS)]
    folds = folds_of(groups, weights, FOLDS, rng)
    found: dict[str, np.ndarray] = {}
    doubt: dict[str, list[tuple[np.ndarray, float]]] = {}
    strength = []
    for name, mine in values.items():
        for halves in halvings:
            _check_halves(name, mine, halves)
        z = [
            _fold_association(free, mine, weights - halves[:, half], halves[:, half], name)
            for halves in halvings
            for half in (0, 1)
        ]
        # the statistics of all halves rise and fall together, so their mean keeps the level of each
        strength.append(float(np.mean(z)))
        found[name] = _in_line([_directions(free, mine, weights - fold, name) for fold in folds.T])
        doubt[name] = _covariances(free, mine, weights, found[name])
    from scipy.stats import norm  # slow to import, and describing a table gets as far as this module

    adjusted = holm(norm.sf(strength))
    told = tuple(
        AttributeAssociation(name, float(p), bool(p <= level), name in space.columns)
        for name, p in zip(names, adjusted, strict=True)
    )
    lot = rng.random(len(x)) * weights
    place = (lot[:, None] >= folds.cumsum(axis=1)).sum(axis=1).clip(max=FOLDS - 1)
    return _metrics(told, found, doubt, np.vstack(own), place, source)


def folds_of(
    values: Sequence[np.ndarray], weights: np.ndarray, folds: int, rng: np.random.Generator
) -> np.ndarray:
    """Return how many of each row's people are in which fold, (n, folds), about as many of every group.

    People are dealt, not rows: those of one row lie in several folds. A row that stands for part of a person
    lies in one.

    Parameters
    ----------
    values : sequence of array (n,)
        Groups as text; numbers (floats) are left to chance.

    Examples
    --------
    >>> group = np.array(["a", "a", "b"])
    >>> dealt = folds_of([group], np.array([10.0, 30.0, 20.0]), 2, np.random.default_rng(0))
    >>> dealt.sum(axis=1).tolist(), dealt[:2].sum(axis=0).tolist()
    ([10.0, 30.0, 20.0], [20.0, 20.0])
    """
    n = len(weights)
    whole = bool((weights == np.round(weights)).all())
    if whole and weights.sum() > _MAX_PEOPLE:
        return rng.multinomial(weights.astype(np.int64), np.full(folds, 1 / folds)).astype(float)
    person = np.repeat(np.arange(n), weights.astype(int)) if whole else np.arange(n)
    order = rng.permutation(len(person))
    groups = [each[person][order] for each in values if each.dtype.kind != "f"]
    if groups:
        order = order[np.lexsort(groups[::-1])]
    dealt = np.zeros((n, folds))
    np.add.at(dealt, (person[order], np.arange(len(order)) % folds), 1.0)
    return dealt if whole else dealt * weights[:, None]


def _directions(x: np.ndarray, values: np.ndarray, weights: np.ndarray, name: str) -> np.ndarray:
    """Directions (m, d) that people teach, each row so many of them; none where nothing varies."""
    here = weights > 0
    if not np.ptp(x[here], axis=0).any():
        return np.zeros((0, x.shape[1]))
    counts = None if (weights[here] == 1).all() else weights[here]
    return attribute_directions(x[here], values[here], counts, name=name)[0]


def _fold_association(
    x: np.ndarray, values: np.ndarray, here: np.ndarray, there: np.ndarray, name: str
) -> float:
    """How far beyond chance what `here` teaches tells the values of those `there`, counts (n,) of people."""
    directions = _directions(x, values, here, name)
    if not len(directions):
        return -np.inf
    a, b = here > 0, there > 0
    return association(x[a], values[a], x[b], values[b], directions, there[b], here[a])


def _in_line(found: list[np.ndarray]) -> np.ndarray:
    """Stack the directions of all folds, (folds, m, d), where several are told apart by turning them."""
    count = min(map(len, found))
    stacked = np.stack([each[:count] for each in found])
    if count > 1:  # singular vectors: their signs, and those of like size, are arbitrary
        for each in stacked[1:]:
            left, _, right = np.linalg.svd(stacked[0] @ each.T)
            each[:] = left @ right @ each
    return stacked


def _covariances(
    x: np.ndarray, values: np.ndarray, weights: np.ndarray, found: np.ndarray
) -> list[tuple[np.ndarray, float]]:
    """Return the covariance (d, d) of each direction and its degrees of freedom.

    Of a number or two groups the sandwich of the regression that gave it (Huber, 1967; White, 1982), which
    hangs on no draw; of more groups the jackknife over the folds.
    """
    rows = found.mean(axis=0)
    total = weights.sum()
    if values.dtype.kind == "f":
        scaled = (values - values.mean()) / values.std()
        apart = scaled - weights @ scaled / total - (x - weights @ x / total) @ rows[0]
        slope = np.ones(len(x))
    elif len(levels := np.unique(values)) == 2:
        from scipy.optimize import brentq  # slow to import
        from scipy.special import expit

        score, y = x @ rows[0], values == levels[1]
        reach = float(np.abs(score).max()) + 40.0
        base = brentq(lambda start: float(weights @ (expit(score + start) - y)), -reach, reach)
        p = expit(score + base)
        apart, slope = y - p, p * (1 - p)
    else:
        moved = found - rows
        spread = (FOLDS - 1) / FOLDS * np.einsum("fmi,fmj->mij", moved, moved)
        return [(each, FOLDS - 1.0) for each in spread]
    z = np.column_stack([x, np.ones(len(x))])
    bread = (z * (weights * slope)[:, None]).T @ z + np.diag([1.0] * x.shape[1] + [1e-9])
    meat = (z * (weights * apart**2)[:, None]).T @ z
    half = np.linalg.solve(bread, meat)
    covariance = np.linalg.solve(bread, half.T)[:-1, :-1]
    return [(covariance, max(float(total) - x.shape[1], 1.0))] * len(rows)


def extremes(metrics: FairMetrics, slopes: np.ndarray, level: float) -> tuple[FairMetrics, FairMetrics]:
    """Return the metrics within the confidence region along which a model's answers change least and most.

    A direction v is moved to (I + tSG)⁻¹ v, S its covariance (`_covariances`) and G the second moment of the
    slopes: of all within the region the least and the most of vᵀGv. Where slopes have one direction, the
    region is the interval of v along it; with more, their effective number counts. A longer v is no other
    direction, so the same is done with S across what all directions of the fold span, and of the two
    the lesser and the larger vᵀGv / |v|² count.

    Parameters
    ----------
    slopes : array (k, d)
        Slopes of the model's answers at some people.
    level : float
        Error rate of the region, over all directions.
    """
    learned = metrics.learned
    assert learned is not None  # noqa: S101 - the caller has looked
    moment = slopes.T @ slopes / max(len(slopes), 1)
    least, most = learned.rows.copy(), learned.rows.copy()
    level /= learned.rows.shape[1]
    for fold, rows in enumerate(learned.rows):
        basis = orthonormal(np.vstack([learned.own, rows]))
        across = np.eye(len(basis)) - basis @ basis.T
        for m, (covariance, people) in enumerate(learned.doubt):
            regions = (covariance, across @ covariance @ across)
            ends = [v for each in regions for v in _ends_of(rows[m], each, moment, people, level)]
            change = [v @ moment @ v / (v @ v) for v in ends]
            least[fold, m], most[fold, m] = ends[np.argmin(change)], ends[np.argmax(change)]
    both = (dataclasses.replace(learned, rows=each) for each in (least, most))
    first, second = (_with_rows(metrics, each) for each in both)
    return first, second


def _ends_of(
    v: np.ndarray, covariance: np.ndarray, moment: np.ndarray, people: float, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the directions of the region along which answers change least and most."""
    from scipy.stats import f as f_distribution  # slow to import

    turn = covariance @ moment
    size = float(np.trace(turn))
    if size <= 0:
        return v, v
    freedom = max(size**2 / float(np.trace(turn @ turn)), 1.0)
    reach = freedom * float(f_distribution.isf(level, freedom, people))
    least, most = (_constrained_direction(v, turn, moment, covariance, reach, sign) for sign in (1.0, -1.0))
    return least, most


def _constrained_direction(
    v: np.ndarray, turn: np.ndarray, moment: np.ndarray, covariance: np.ndarray, reach: float, sign: float
) -> np.ndarray:
    """Return (I + tSG)⁻¹ v at the end of the region: squared distance tGvᵀ S tGv = `reach`, by bisection."""
    far = 1e6 if sign > 0 else (1 - 1e-9) / float(np.abs(np.linalg.eigvals(turn)).max())
    low, high, eye, found = 0.0, far, np.eye(len(v)), v
    scale = 1.0 / float(np.trace(turn)) if sign > 0 else 1.0
    for _ in range(60):
        t = (low + high) / 2
        found = np.linalg.solve(eye + sign * t * scale * turn, v)
        pull = t * scale * (moment @ found)
        low, high = (t, high) if pull @ covariance @ pull < reach else (low, t)
    return found


def association(
    x: np.ndarray,
    values: np.ndarray,
    others: np.ndarray,
    theirs: np.ndarray,
    directions: np.ndarray,
    weights: np.ndarray,
    counts: np.ndarray | None = None,
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
    counts : array (k,), optional
        People whom each of those learned from stands for.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(200, 2))
    >>> group = np.where(x[:, 0] > 0, "a", "b")
    >>> first, every = np.array([[1.0, 0.0]]), np.ones(100)
    >>> association(x[:100], group[:100], x[100:], group[100:], first, every) > 5
    True
    """
    seen, score = x @ directions.T, others @ directions.T
    counts = np.ones(len(x)) if counts is None else counts
    if values.dtype.kind == "f":
        center = np.average(values, weights=counts)
        fit = score @ ((counts * (values - center)) @ (seen - np.average(seen, axis=0, weights=counts)))
        total = weights.sum()
        one, other = fit - weights @ fit / total, theirs - weights @ theirs / total
        spread = np.sqrt((weights @ one**2) * (weights @ other**2) / max(total - 1, 1))
        return float(weights @ (one * other) / spread) if spread > 0 else 0.0
    levels, codes = np.unique(values, return_inverse=True)
    known = np.isin(theirs, levels)
    means = np.stack(
        [np.average(seen[codes == k], axis=0, weights=counts[codes == k]) for k in range(len(levels))]
    )
    apart = seen - means[codes]
    within = (apart * counts[:, None]).T @ apart / max(counts.sum() - 1, 1)
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
    told: tuple[AttributeAssociation, ...],
    found: dict[str, np.ndarray],
    doubt: dict[str, list[tuple[np.ndarray, float]]],
    own: np.ndarray,
    place: np.ndarray,
    source: str,
) -> FairMetrics:
    """Put the directions (folds, m, d) of the attributes that are told together, or of all where none is."""
    missed = [each for each in told if not (each.told or each.itself)]
    named = join_names([each.attribute for each in missed])
    nothing = len(missed) == len(told)
    kept = [each.attribute for each in told if each.told or nothing]
    chances = ", ".join(p_words(each.p_value) for each in missed)
    doubts, why = [], ""
    if nothing:
        why = (
            f"the features do not predict {named} better than chance (p {chances}), so there is nothing to "
            "move along"
        )
    elif missed:
        doubts.append(
            f"In people held out, the features do not predict {named} better than chance (p {chances}), so "
            f"no direction is tied to {'it' if len(missed) == 1 else 'them'}."
        )
    none = np.zeros((FOLDS, 0, own.shape[1]))
    rows = np.concatenate([none, *(found[name] for name in kept)], axis=1)
    doubted = [each for name in kept for each in doubt[name]]
    spans = max(orthonormal(np.vstack([own, each])).shape[1] for each in rows) >= own.shape[1]
    if spans and any(found[name].shape[1] > 1 for name in kept):
        rows = np.concatenate([none, *(found[name][:, :1] for name in kept)], axis=1)
        doubted = [each for name in kept for each in doubt[name][:1]]
        doubts.append(
            f"The directions that tell all groups of {' and '.join(kept)} apart span every feature. For "
            "each attribute, only the one along which its groups are furthest apart counts as sensitive."
        )
    metrics = FairMetrics((), place, source, told, tuple(doubts), why)
    return _with_rows(metrics, LearnedDirections(own, rows, tuple(doubted)))


def _with_rows(metrics: FairMetrics, learned: LearnedDirections) -> FairMetrics:
    """Return the metrics whose directions are these."""
    parts = tuple(
        projection_metric(np.vstack([learned.own, rows]), metrics.source, where="sensitive")
        for rows in learned.rows
    )
    return dataclasses.replace(metrics, parts=parts, learned=learned)


def _values(data: AuditData, name: str) -> np.ndarray:
    """Groups as text, or numbers as floats."""
    if read_as_number(data, name):
        return data.frame[name].to_numpy(dtype=float, na_value=np.nan)
    return data.groups[name].to_numpy(dtype=object).astype(str)


def _check_halves(name: str, values: np.ndarray, halves: np.ndarray) -> None:
    if values.dtype.kind == "f" or len(np.unique(values)) < 2:
        return  # one value is told by `attribute_directions`
    if min(len(np.unique(values[half > 0])) for half in halves.T) < 2:
        raise InputError(
            "sensitive",
            "must have two groups of at least two rows each, so that half of the people can tell them "
            "apart, but "
            f"{name!r} has not",
            advice="choose another attribute, or bring more rows",
        )
