"""The sensitive subspace: directions along which protected attributes can be told from the features.

After Yurochkin, Bower, Sun, "Training individually fair ML models with sensitive subspace robustness"
(ICLR 2020): the coefficients of a logistic regression of each protected attribute on the features span
it; a number is regressed linearly, also where it is cut into bins, which are for groups of people. Where
an attribute is a feature itself, its own columns belong to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from audits.data.audit_data import AuditData
from audits.data.encoder import FeatureSpace
from audits.data.encoder_blocks import LevelBlock
from audits.errors import InputError
from audits.stats.text import p_words
from audits.threads import one_thread

MAX_VALUES = 30
RANK_TOLERANCE = 1e-8
_FEW_LEVELS = 12
_DOUBTFUL = 0.05


def category_units(space: FeatureSpace) -> np.ndarray:
    """Factors (d,) to points in which a category's column is 0 or 1, as in the papers, not 0 or 0.5.

    Lengths and angles, and with them what a gradient flow does, depend on the units; those of `space`
    (0.5 for a category) suit a distance.
    """
    units = np.ones(len(space.names))
    for part in space.parts:
        if isinstance(part, LevelBlock):
            units[space.blocks[part.column]] = 2.0
    return units


def protected_directions(
    data: AuditData, space: FeatureSpace, names: Sequence[str], *, where: str = "sensitive"
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Directions (m, d) that tell the attributes `names`, and doubts about them in sentences.

    Directions are among points of `space` times `category_units`.

    An attribute of k groups gives k - 1 directions, one that is `read_as_number` gives one. Where those of
    all attributes would span everything, each attribute keeps the one along which its groups lie furthest
    apart, and a doubt says so.

    Raises
    ------
    InputError
        As `attribute_directions`; names `where`.
    """
    x = space.encode(data.frame) * category_units(space)
    own, told, doubts = [np.zeros((0, len(space.names)))], [], []
    for name in names:
        if name in space.columns:
            x[:, space.blocks[name]] = 0.0  # an attribute is not explained by itself or another one
            own.append(np.eye(len(space.names))[space.blocks[name]])
    for name in names:
        if np.ptp(x, axis=0).any():
            found, p = attribute_directions(x, _values(data, name), data.weights, name=name, where=where)
            told.append(found)
            if p > _DOUBTFUL:
                doubts.append(
                    f"The features do not predict {name} beyond chance (p = {p_words(p)}): the directions "
                    "tied to it may be noise, and the result then says little about it."
                )
    vectors = np.vstack([*own, *told])
    if orthonormal(vectors).shape[1] >= len(space.names) and any(len(found) > 1 for found in told):
        vectors = np.vstack([*own, *(found[:1] for found in told)])
        doubts.append(
            f"The directions that tell all groups of {' and '.join(names)} apart span every feature. For "
            "each attribute, only the one along which its groups are furthest apart counts as sensitive."
        )
    return vectors, tuple(doubts)


def read_as_number(data: AuditData, name: str) -> bool:
    """Whether directions come from an attribute's own numbers, not from its groups.

    They do for a number that is cut into bins, takes more than 12 values or is not protected, unless the
    number is unknown for someone: then the groups count, among them those of unknown number.
    """
    if data.kinds[name] not in {"continuous", "integer"}:
        return False
    whole = name not in data.protected or name in data.bins or data.groups[name].nunique() > _FEW_LEVELS
    return whole and bool(np.isfinite(_numbers(data, name)).all())


def _numbers(data: AuditData, name: str) -> np.ndarray:
    return data.frame[name].to_numpy(dtype=float, na_value=np.nan)


def _values(data: AuditData, name: str) -> np.ndarray:
    """Groups as text, or numbers as floats."""
    if read_as_number(data, name):
        return _numbers(data, name)
    return data.groups[name].to_numpy(dtype=object).astype(str)


def attribute_directions(
    x: np.ndarray,
    values: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    name: str = "the attribute",
    where: str = "sensitive",
) -> tuple[np.ndarray, float]:
    """Directions (m, d) along which an attribute is predicted from points (n, d), and the test behind them.

    Parameters
    ----------
    x : array (n, d)
        Features, those that state the attribute itself left out (zero columns do no harm).
    values : array (n,)
        The attribute: text or bools for groups (k values give k - 1 directions), floats for a continuous
        one (1 direction).
    weights : array (n,), optional
        People a row stands for.

    Returns
    -------
    directions : array (m, d)
        Those along which the groups lie furthest apart, counting people, first.
    p : float
        Likelihood-ratio test that the features say nothing about the attribute: above 0.05 the
        directions may be noise.

    Raises
    ------
    InputError
        If the attribute has one value only, or more than 30 as groups.

    Notes
    -----
    Ridge-penalized (C = 1, as scikit-learn's default), so that separable groups have a direction too.
    """
    from scipy.stats import chi2  # slow to import, and describing a table gets as far as this module
    from sklearn.linear_model import LogisticRegression, Ridge

    values = np.asarray(values)
    counts = np.ones(len(x)) if weights is None else weights
    freedom = int(np.linalg.matrix_rank(x - x.mean(axis=0)))
    if values.dtype.kind == "f":
        if np.ptp(values) == 0:
            raise InputError(where, f"must vary, but {name!r} has one value only")
        scaled = (values - values.mean()) / values.std()
        line = Ridge(alpha=1.0).fit(x, scaled, sample_weight=counts)
        left = counts @ np.square(scaled - line.predict(x))
        start = counts @ np.square(scaled - np.average(scaled, weights=counts))
        gain = float(counts.sum() * np.log(start / max(left, 1e-300)))
        return np.atleast_2d(line.coef_), float(chi2.sf(gain, max(freedom, 1)))
    levels, codes = np.unique(values, return_inverse=True)
    if not 2 <= len(levels) <= MAX_VALUES:
        rule = "has one value only" if len(levels) < 2 else f"has {len(levels):,} values"
        raise InputError(
            where,
            f"must have 2 to {MAX_VALUES} groups, but {name!r} {rule}",
            advice="choose another attribute, or cut it with data.bins",
        )
    with one_thread():
        model = LogisticRegression(max_iter=2000, tol=1e-6).fit(x, values, sample_weight=weights)
    shares = np.bincount(codes, counts) / counts.sum()
    own = model.predict_log_proba(x)[np.arange(len(x)), codes]
    gain = float(2 * counts @ (own - np.log(shares)[codes]))
    p = float(chi2.sf(gain, max(freedom, 1) * (len(levels) - 1)))
    if len(levels) == 2:
        return model.coef_, p
    apart = np.sqrt(shares)[:, None] * (model.coef_ - shares @ model.coef_)
    _, sizes, right = np.linalg.svd(apart, full_matrices=False)
    count = min(len(levels) - 1, len(sizes))
    return sizes[:count, None] * right[:count], p


def orthonormal(vectors: np.ndarray) -> np.ndarray:
    """Orthonormal basis (d, k) of the span of the rows of `vectors` (m, d); zero rows add nothing.

    Rows are first scaled to length 1, so that no attribute is lost beside one with larger coefficients.
    """
    vectors = np.atleast_2d(np.asarray(vectors, dtype=float))
    lengths = np.linalg.norm(vectors, axis=1)
    kept = vectors[lengths > 0] / lengths[lengths > 0, None]
    if not len(kept):
        return np.zeros((vectors.shape[1], 0))
    _, sizes, right = np.linalg.svd(kept, full_matrices=False)
    return np.ascontiguousarray(right[sizes > RANK_TOLERANCE * sizes[0]].T)
