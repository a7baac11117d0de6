"""The fair metric that the options ask for, on the encoded features of the people audited.

*Factor* and *explore* (Mukherjee, Yurochkin, Banerjee, Sun, "Two simple ways to learn
individual fairness metrics from data", ICML 2020): the directions in which comparable people differ most,
and the metric that best tells comparable pairs from others.

Where nobody has chosen, and people may move freely in every direction that the model reads, any two of them
are alike and there is no test; so attributes are taken in turn while a direction that matters is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from audits.checks import one_of
from audits.data.audit_data import AuditData
from audits.data.encoder import FeatureSpace
from audits.errors import InputError
from audits.loss_ratio.metrics.crossfit import learn_metric
from audits.loss_ratio.metrics.distances import (
    FairMetric,
    FairMetrics,
    direction_of,
    matrix_metric,
    projection_metric,
)
from audits.loss_ratio.options import LossRatioOptions
from audits.models.subspaces import read_as_number
from audits.stats.sampling import as_people


def choose_metric(
    data: AuditData, space: FeatureSpace, x: np.ndarray, options: LossRatioOptions, rng: np.random.Generator
) -> FairMetrics:
    """Return the fair metric of everyone.

    Parameters
    ----------
    x : array (n, d)
        The rows of `data` as points of `space` times `category_units`.

    Raises
    ------
    InputError
        If the options do not fit together or the data: an unknown attribute, feature or column, nothing
        given by the expert, a sensitive subspace that is empty or spans everything.
    """
    _check(options)
    if options.metric == "expert":
        return FairMetrics.of(_expert(space, options), data.n)
    if options.metric == "learned":
        return _learn_metric(data, space, x, options, rng)
    single, _ = as_people(data.row_weights)  # alike people count as often in one row as in several
    values, x = _comparable(data, options)[single], x[single]
    if options.metric == "factor":
        found = factor_directions(x, values, options.factors)
        ways = "direction" if options.factors == 1 else f"{options.factors} directions"
        source = f"the {ways} in which people of the same {options.comparable} differ most"
        return FairMetrics.of(projection_metric(found, source), data.n)
    first, second, alike = pairs_of(values, rng)
    source = f"the metric that best tells pairs of the same {options.comparable} from others"
    return FairMetrics.of(explore_metric(x[first] - x[second], alike, source), data.n)


def _check(options: LossRatioOptions) -> None:
    expert = bool(options.free_features or options.directions or options.matrix is not None)
    if expert != (options.metric == "expert"):
        raise InputError(
            "metric",
            "must be 'expert' if and only if free_features, directions or a matrix are given",
            options.metric,
        )
    if options.matrix is not None and (options.free_features or options.directions):
        raise InputError(
            "matrix", "cannot be combined with others: it already says what every direction costs"
        )
    if (options.comparable is not None) != (options.metric in {"factor", "explore"}):
        raise InputError(
            "comparable",
            "must name a column if and only if metric is 'factor' or 'explore'",
            options.comparable,
        )


def _expert(space: FeatureSpace, options: LossRatioOptions) -> FairMetric:
    d = len(space.names)
    if options.matrix is not None:
        if {len(options.matrix), *map(len, options.matrix)} != {d}:
            raise InputError(
                "matrix",
                f"must have {d} rows and {d} columns, one for each encoded feature",
                advice=f"in this order: {', '.join(space.names[:20])}{' …' if d > 20 else ''}",
            )
        return matrix_metric(np.array(options.matrix), "a matrix given by an expert", where="matrix")
    vectors = []
    for feature in options.free_features:
        one_of("free_features", feature, space.columns, what="a feature")
        vectors.append(np.eye(d)[space.blocks[feature]])
    for coefficients in options.directions:
        vectors.append(direction_of(coefficients, space.names, where="directions")[None])
    told = [*options.free_features, *(["given directions"] if options.directions else [])]
    return projection_metric(np.vstack(vectors), f"given by an expert: {', '.join(told)}", where="metric")


def _learn_metric(
    data: AuditData, space: FeatureSpace, x: np.ndarray, options: LossRatioOptions, rng: np.random.Generator
) -> FairMetrics:
    names = data.protected if options.sensitive is None else options.sensitive
    if not names:
        raise InputError("sensitive", "must name at least one protected attribute")
    for name in names:
        _check_sensitive(data, name)
    stated = [name for name in names if name in space.columns]
    told = [f"{name} {_read_as(data, name)}".rstrip() for name in names]
    source = f"what predicts {' and '.join(told)} from the other features, learned on other people"
    if stated:
        as_features = "itself as a feature" if len(stated) == 1 else "themselves as features"
        source += f", and {' and '.join(stated)} {as_features}"
    return learn_metric(data, space, x, names, source, rng, level=options.level)


def sensitive_columns(data: AuditData) -> tuple[str, ...]:
    """What `sensitive` may name: protected attributes, and columns of numbers other than the label."""
    outcome = {data.label, None if data.cut is None else data.cut.column}
    numbers = [
        name
        for name, kind in data.kinds.items()
        if kind in {"continuous", "integer"} and name not in {*data.protected, *outcome}
    ]
    return (*data.protected, *(name for name in numbers if name in data.frame))


def _check_sensitive(data: AuditData, name: str) -> None:
    what = "a protected attribute or a column of numbers"
    one_of("sensitive", name, sensitive_columns(data), what=what)
    if name not in data.protected and not read_as_number(data, name):
        raise InputError(
            "sensitive",
            "must name a number known for everyone, or a protected attribute, whose gaps are a group",
            name,
            "add it to data.protected, or leave out the rows without it (data.keep)",
        )


def _read_as(data: AuditData, name: str) -> str:
    """How a number was read, in brackets; nothing for an attribute that knows no other way."""
    if data.kinds[name] not in {"continuous", "integer"}:
        return ""
    return "(as a number, by least squares)" if read_as_number(data, name) else "(by its groups)"


def _comparable(data: AuditData, options: LossRatioOptions) -> np.ndarray:
    column = one_of("comparable", options.comparable, list(data.frame.columns), what="a column of the data")
    return data.frame[column].astype("string").fillna("(missing)").to_numpy(dtype=object).astype(str)


_MAX_PAIRS = 5000


def factor_directions(x: np.ndarray, comparable: np.ndarray, factors: int) -> np.ndarray:
    """The `factors` directions (k, d) in which people of the same comparable group differ most.

    Comparable people deserve the same treatment, so what varies among them should not matter (FACTOR).

    Raises
    ------
    InputError
        If no two people are comparable, or they differ in fewer directions.
    """
    _, codes, sizes = np.unique(comparable, return_inverse=True, return_counts=True)
    kept = sizes[codes] > 1
    if not kept.any():
        raise InputError("comparable", "must put at least two people into one group")
    means = np.stack([np.bincount(codes, column) for column in x.T], axis=1) / sizes[:, None]
    apart = (x - means[codes])[kept]
    _, spread, right = np.linalg.svd(apart, full_matrices=False)
    found = int((spread > 1e-8 * max(spread[0], 1e-300)).sum())
    if found < factors:
        raise InputError(
            "factors",
            f"must be at most {found}: comparable people differ in no more directions than that",
            factors,
        )
    return right[:factors]


def pairs_of(
    comparable: np.ndarray, rng: np.random.Generator, most: int = _MAX_PAIRS
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw pairs of people: positions of first and second (m,), and whether they are comparable.

    About half are comparable (in the same group), half are not.

    Raises
    ------
    InputError
        If there are no comparable, or only comparable, pairs.
    """
    _, codes, sizes = np.unique(comparable, return_inverse=True, return_counts=True)
    if len(sizes) < 2 or sizes.max() < 2:
        raise InputError(
            "comparable", "must make at least two groups, one of them of two people or more", len(sizes)
        )
    order = np.argsort(codes, kind="stable")
    starts = np.cumsum(sizes) - sizes
    first = rng.choice(np.flatnonzero(sizes[codes] > 1), most // 2)
    group = codes[first]
    place = np.empty(len(codes), dtype=np.int64)
    place[order] = np.arange(len(codes)) - np.repeat(starts, sizes)
    step = 1 + rng.integers(0, sizes[group] - 1)
    second = order[starts[group] + (place[first] + step) % sizes[group]]  # another of the same group
    ours = rng.integers(0, len(codes), most)
    theirs = rng.integers(0, len(codes), most)
    differ = np.flatnonzero(codes[ours] != codes[theirs])[: most // 2]
    alike = np.r_[np.ones(len(first), dtype=bool), np.zeros(len(differ), dtype=bool)]
    return np.r_[first, ours[differ]], np.r_[second, theirs[differ]], alike


def explore_metric(differences: np.ndarray, alike: np.ndarray, source: str) -> FairMetric:
    """Metric under which pairs judged alike are near (EXPLORE): P(alike) = 2 / (1 + exp(d²)).

    Maximum likelihood over all symmetric positive semidefinite matrices, as M = LᵀL; scaled so that its
    largest eigenvalue is 1, and λ means the same as with a projection.

    Parameters
    ----------
    differences : array (m, d)
        First minus second person of each pair.
    alike : array (m,) of bool
        Whether they were judged alike; both answers must occur.

    Raises
    ------
    InputError
        If only one of the answers occurs.
    """
    from scipy.optimize import minimize  # slow to import, and describing a table gets as far as this module

    if alike.all() or not alike.any():
        raise InputError("comparable", "must give pairs that are alike and pairs that are not")
    d = differences.shape[1]
    usual = float(np.square(differences).sum(axis=1).mean()) or 1.0
    best = minimize(
        _explore_objective(differences, alike),
        (np.eye(d) / np.sqrt(usual)).ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 500},
    )
    root = best.x.reshape(d, d)
    matrix = root.T @ root
    return matrix_metric(matrix / np.linalg.norm(matrix, 2), source, where="comparable")


def _explore_objective(
    differences: np.ndarray, alike: np.ndarray
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """Mean negative log-likelihood of L (flat), and its gradient, with a slight pull towards 0."""
    from scipy.special import expit

    m, d = differences.shape
    ridge = 1e-4

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        root = flat.reshape(d, d)
        seen = differences @ root.T
        far = np.maximum(np.square(seen).sum(axis=1), 1e-12)
        # -log(2 / (1 + e^D)), and -log(1 - 2 / (1 + e^D)) = -log tanh(D / 2)
        tanh = np.tanh(far / 2)
        values = np.where(alike, np.logaddexp(0, far) - np.log(2), -np.log(tanh))
        # d/dD of the second: -(1 - tanh²) / (2 tanh) = -1 / sinh(D)
        slope = np.where(alike, expit(far), -(1 - tanh**2) / (2 * tanh))
        gradient = 2 * (slope[:, None] * seen).T @ differences / m + 2 * ridge * root
        return float(values.mean() + ridge * np.square(root).sum()), gradient.ravel()

    return objective


def usual_options(data: AuditData) -> dict[str, Any] | None:
    """Return options that run on `data`; None where no choice of them would.

    The protected attributes whose traces leave a direction that matters, the first ones first; where none
    does, those that the model reads are free themselves.
    """
    if not data.protected or not data.features or data.y is None:
        return None
    kept: list[str] = []
    for name in data.protected:
        if _leaves_one(data, [*kept, name]):
            kept.append(name)
    if kept:
        return {"sensitive": kept}
    read = [name for name in data.protected if name in data.features]
    if not read or len(read) == len(data.features):
        return None
    return {"metric": "expert", "free_features": read}


def _leaves_one(data: AuditData, names: Sequence[str]) -> bool:
    """Whether a direction is left beside what tells `names`, and those among them that are features."""
    others = [name for name in data.features if name not in names]
    if not others:
        return False
    # the columns of a category add up to one, so nothing told from them points along their sum
    if any(data.kinds[name] == "categorical" for name in others):
        return True
    free = sum(1 + bool(data.frame[name].hasnans) for name in others)
    told = sum(1 if read_as_number(data, name) else data.groups[name].nunique() - 1 for name in names)
    return told < free
