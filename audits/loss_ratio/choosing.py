"""The fair metric that the options ask for, on the encoded features of the people audited."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audits.checks import one_of
from audits.data.audit_data import AuditData
from audits.data.space import FeatureSpace
from audits.errors import InputError
from audits.loss_ratio.learning import explore_metric, factor_directions, pairs_of
from audits.loss_ratio.metrics import FairMetric, direction_of, matrix_metric, projection_metric
from audits.loss_ratio.options import LossRatioOptions
from audits.models.subspaces import protected_directions, read_as_number

__all__ = ["choose_metric", "sensitive_columns"]


def choose_metric(
    data: AuditData, space: FeatureSpace, x: np.ndarray, options: LossRatioOptions, rng: np.random.Generator
) -> FairMetric:
    """Return the fair metric.

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
        return _expert(space, options)
    if options.metric == "learned":
        return _learned(data, space, options)
    values = _comparable(data, options)
    if options.metric == "factor":
        found = factor_directions(x, values, options.factors)
        ways = "direction" if options.factors == 1 else f"{options.factors} directions"
        source = f"the {ways} in which people of the same {options.comparable} differ most"
        return projection_metric(found, source)
    first, second, alike = pairs_of(values, rng)
    source = f"the metric that best tells pairs of the same {options.comparable} from others"
    return explore_metric(x[first] - x[second], alike, source)


def _check(options: LossRatioOptions) -> None:
    expert = bool(options.free_features or options.directions or options.matrix is not None)
    if expert != (options.metric == "expert"):
        raise InputError(
            "metric",
            "must be 'expert' exactly where free_features, directions or a matrix are given",
            options.metric,
        )
    if options.matrix is not None and (options.free_features or options.directions):
        raise InputError("matrix", "must stand alone: it already says what every direction costs")
    if (options.comparable is not None) != (options.metric in {"factor", "explore"}):
        raise InputError(
            "comparable",
            "must name a column exactly where metric is 'factor' or 'explore'",
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


def _learned(data: AuditData, space: FeatureSpace, options: LossRatioOptions) -> FairMetric:
    names = data.protected if options.sensitive is None else options.sensitive
    if not names:
        raise InputError("sensitive", "must name at least one protected attribute")
    for name in names:
        _check_sensitive(data, name)
    stated = [name for name in names if name in space.columns]
    vectors, doubts = protected_directions(data, space, names)
    told = [f"{name} {_read_as(data, name)}".rstrip() for name in names]
    source = f"what predicts {' and '.join(told)} from the other features"
    if stated:
        source += f", and {' and '.join(stated)} itself as a feature"
    return replace(projection_metric(vectors, source, where="sensitive"), doubts=doubts)


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
