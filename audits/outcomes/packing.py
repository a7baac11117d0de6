"""From numbers to the result: estimates, tables, verdict."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import norm

from audits.models import Subject
from audits.outcomes.comparison import Comparison, Side
from audits.outcomes.inference import GroupTest, Resampled, simultaneous
from audits.outcomes.matching import Matched
from audits.outcomes.measuring import Cells, Groups, Measured
from audits.outcomes.options import OutcomeTransportOptions
from audits.outcomes.result import (
    BiasRow,
    Decomposition,
    Flows,
    Matrix,
    OutcomeTransportResult,
    RoleBias,
    TieRange,
)
from audits.outcomes.words import Judged, finding, warnings_for
from audits.stats import INSUFFICIENT, Estimate, p_value, verdict
from audits.stats.intervals import percent_level

__all__ = ["Parts", "Space", "Sure", "pack"]


@dataclass(frozen=True, eq=False)
class Space:
    """A set of features: raw columns, and both sides' people encoded, (n, d) and (m, d)."""

    columns: tuple[str, ...]
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True, eq=False)
class Sure:
    """What inference found; None for what was not asked for."""

    resampled: Resampled | None
    tested: GroupTest | None
    observed: float | None
    null: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Parts:
    """Everything a result is made of."""

    comparison: Comparison
    matched: Matched
    spaces: dict[str, Space]
    groups: Groups
    measured: list[Measured]
    ranges: list[tuple[float, float, bool] | None]
    cells: Cells
    sure: Sure
    a: np.ndarray
    b: np.ndarray


def pack(subject: Subject, options: OutcomeTransportOptions, parts: Parts) -> OutcomeTransportResult:
    """Pack the result."""
    comparison = parts.comparison
    n, m = float(parts.a.sum()), float(parts.b.sum())
    distance, orders = _distances(parts, options, n if comparison.same_people else n + m)
    judged = _judge(parts, options)
    bias, by_role = _bias(parts, options)
    ties = _ties(parts)
    flows = _flows(parts)
    result = OutcomeTransportResult(
        options=dataclasses.asdict(options),
        comparison="two policies" if comparison.same_people else "two groups",
        source=comparison.source.name,
        target=comparison.target.name,
        outcome=comparison.kind,
        verdict=judged.verdict,
        finding="",
        warnings=(),
        n_source=n,
        n_target=m,
        rows={
            "audited": subject.data.n,
            "used": len(np.union1d(comparison.source.positions, comparison.target.positions)),
            "left_out": comparison.left_out,
        },
        wasserstein=distance,
        wasserstein_orders=orders,
        distance_p_value=judged.distance_p,
        group_p_value=judged.group_p,
        people_needed=judged.people_needed,
        unmatched=dict(zip(("source", "target"), parts.matched.unmatched, strict=True)),
        flows=flows,
        bias=bias,
        decomposition=_decomposition(parts, flows),
        tie_range=ties,
        by_role=by_role,
        certificate={
            "cost": float(parts.matched.cost),
            "slack": None if parts.matched.slack is None else float(parts.matched.slack),
            "method": parts.matched.method,
            "source_outcomes": len(parts.matched.x),
            "target_outcomes": len(parts.matched.y),
        },
        **_tables(subject, parts),
    )
    return dataclasses.replace(
        result,
        finding=finding(result, comparison, judged, options),
        warnings=(*comparison.warnings, *warnings_for(result, comparison, options)),
    )


def _distances(
    parts: Parts, options: OutcomeTransportOptions, n: float
) -> tuple[Estimate, dict[str, Estimate | None]]:
    """Wasserstein distance of the chosen cost, and of both orders: on a line one coupling serves both."""
    matched = parts.matched
    values = {
        "order_1": matched.mean_cost("euclidean"),
        "order_2": float(np.sqrt(matched.mean_cost("squared_euclidean"))),
    }
    chosen = "order_1" if options.cost == "euclidean" else "order_2"
    both = matched.on_a_line and matched.exact
    reach = float(norm.isf(options.level / 2))
    found = {}
    for k, (name, value) in enumerate(values.items()):
        if parts.sure.resampled is None:
            found[name] = Estimate(value, None, None, n, "no interval: not resampled")
            continue
        spread = reach * float(parts.sure.resampled.distance[k])
        upward = spread if k else max(spread, reach * _largest_error(parts))
        excess = float(parts.sure.resampled.excess[k])
        people = f"{parts.sure.resampled.pool:,} people"
        method = f"bootstrap of {people}, coupled again, {percent_level(options.level)}"
        found[name] = Estimate(value, max(value - excess - spread, 0.0), value + upward, n, method)
    return found[chosen], {name: found[name] if both or name == chosen else None for name in found}


def _largest_error(parts: Parts) -> float:
    """Bound the standard error of the distance of order 1 between two groups; 0 for the same people.

    Its first-order variance is that of the dual potentials, which change no faster than the outcome does, so
    that their variance is at most the outcomes' own. The bootstrap falls below where distances are near 0.
    """
    if parts.comparison.same_people:
        return 0.0
    variance = 0.0
    for side, weights in ((parts.comparison.source, parts.a), (parts.comparison.target, parts.b)):
        apart = side.outcomes - np.average(side.outcomes, axis=0, weights=weights)
        spread = float(np.average((apart**2).sum(axis=1), weights=weights))
        variance += spread * float(weights @ weights) / float(weights.sum()) ** 2
    return float(np.sqrt(variance))


def _judge(parts: Parts, options: OutcomeTransportOptions) -> Judged:
    """Two groups are judged by the distance of their outcomes, two policies by how groups' bias differs."""
    sure, level = parts.sure, options.level
    distance_p = None if sure.null is None or sure.observed is None else p_value(sure.observed, sure.null)
    group_p = None if sure.tested is None else sure.tested.p_value
    if parts.comparison.same_people:
        if sure.tested is None:
            return Judged(INSUFFICIENT, distance_p, group_p, None)
        judged = verdict(excludes_no_difference=sure.tested.p_value <= level, power=sure.tested.power)
        people = _people(sure.tested.people_needed)
        return Judged(judged, distance_p, group_p, people if judged == INSUFFICIENT else None)
    if sure.null is None or distance_p is None:
        return Judged(INSUFFICIENT, distance_p, group_p, None)
    material = options.material * _unit(parts)
    # chance gives distances that fall with the square root of the people
    critical = float(np.quantile(sure.null, 1 - level))
    error = (
        0.0 if sure.resampled is None else float(sure.resampled.distance[int(options.cost != "euclidean")])
    )
    error = max(error, float(sure.null.std()), 1e-300)
    able = 1 / (len(sure.null) + 1) <= level
    power = float(norm.cdf((material - critical) / error)) if able else 0.0
    judged = verdict(excludes_no_difference=distance_p <= level, power=power)
    small = min(len(parts.a), len(parts.b))
    needed = _people(float(small * ((critical + norm.isf(0.2) * error) / material) ** 2))
    return Judged(judged, distance_p, group_p, needed if judged == INSUFFICIENT and able else None)


def _people(number: float) -> int | None:
    return int(np.ceil(number)) if np.isfinite(number) and 0 < number < 1e12 else None


def _unit(parts: Parts) -> float:
    """Distance that the auditor's material difference is a share of."""
    if parts.comparison.kind != "score":
        return float(np.sqrt(2.0))
    both = np.concatenate([parts.comparison.source.outcomes, parts.comparison.target.outcomes])[:, 0]
    weights = np.concatenate([parts.a, parts.b])
    return float(np.sqrt(np.average((both - np.average(both, weights=weights)) ** 2, weights=weights))) or 1.0


def _bias(parts: Parts, options: OutcomeTransportOptions) -> tuple[tuple[BiasRow, ...], tuple[RoleBias, ...]]:
    groups, level = parts.groups, options.level
    rows, roles = [], []
    size = groups.members @ parts.a
    count = groups.members.sum(axis=1)
    tested = parts.sure.tested
    adjusted = iter([] if tested is None else tested.adjusted.tolist())
    for s, (name, space) in enumerate(parts.spaces.items()):
        means, low, high, method = _means(parts, s, count, level)
        for k, group in enumerate(groups.names):
            mean = None if np.isnan(means[k]) else float(means[k])
            ends = [None if np.isnan(end[k]) else float(end[k]) for end in (low, high)]
            if name in {"actionable", "mutable", "immutable"}:
                estimate = Estimate(mean, ends[0], ends[1], float(size[k]), method)
                roles.append(RoleBias(name, group, groups.levels[k], space.columns, estimate))
            if s == 0:
                rows.append(
                    BiasRow(
                        group=group,
                        level=groups.levels[k],
                        n=float(size[k]),
                        mean=mean,
                        low=ends[0],
                        high=ends[1],
                        normalised=_weighted(parts.measured[0].normalised, parts.a, groups.members[k]),
                        total=None if mean is None else float(size[k]) * mean,
                        adjusted_p=next(adjusted, None) if groups.levels[k] == "group" else None,
                        method=method,
                    )
                )
    return tuple(rows), tuple(roles)


def _means(
    parts: Parts, s: int, count: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
    members = parts.groups.members
    value = parts.measured[s].value
    known = [_weighted(value, parts.a, one) for one in members]
    means = np.array([np.nan if mean is None else mean for mean in known])
    if parts.sure.resampled is None:
        unknown = np.full(len(means), np.nan)
        return means, unknown, unknown, "no interval: not resampled"
    low, high = simultaneous(means, parts.sure.resampled.moves[:, s], count, level)
    people = f"{parts.sure.resampled.pool:,} people"
    method = f"bootstrap of {people}, coupled again, {percent_level(level)} for all groups together"
    return means, low, high, method


def _weighted(value: np.ndarray, weights: np.ndarray, members: np.ndarray) -> float | None:
    known = members & np.isfinite(value)
    return float(np.average(value[known], weights=weights[known])) if known.any() else None


def _ties(parts: Parts) -> tuple[TieRange, ...]:
    found = []
    for k, ends in enumerate(parts.ranges):
        value = _weighted(parts.measured[0].value, parts.a, parts.groups.members[k])
        if ends is None or value is None:
            continue
        # rounding must not push the even coupling out of its own range
        low, high = min(ends[0], value), max(ends[1], value)
        found.append(TieRange(parts.groups.names[k], parts.groups.levels[k], value, low, high, ends[2]))
    return tuple(found)


def _matrix(values: np.ndarray) -> Matrix:
    return tuple(tuple(row) for row in values.tolist())


def _rows_to_one(values: np.ndarray) -> np.ndarray:
    total = values.sum(axis=1, keepdims=True)
    return np.divide(values, total, out=np.zeros(values.shape), where=total > 0)


def _flows(parts: Parts) -> Flows:
    cells = parts.cells
    total = cells.mass.sum(axis=1, keepdims=True)
    source, target = parts.comparison.source, parts.comparison.target
    ends = [
        None
        if end is None
        else _matrix(np.divide(end, total, out=np.zeros(end.shape), where=total > 0).clip(0.0, 1.0))
        for end in (cells.low, cells.high)
    ]
    return Flows(
        rows=source.subgroups,
        columns=target.subgroups,
        share=_matrix(_rows_to_one(cells.mass)),
        mass=_matrix(cells.mass),
        low=ends[0],
        high=ends[1],
        row_people=tuple(np.bincount(source.subgroup, parts.a, len(source.subgroups)).tolist()),
        column_people=tuple(np.bincount(target.subgroup, parts.b, len(target.subgroups)).tolist()),
    )


def _decomposition(parts: Parts, flows: Flows) -> Decomposition:
    source, measured = parts.comparison.source, parts.measured[0]
    known = np.isfinite(measured.value)
    amount = np.zeros((len(flows.rows), len(flows.columns)))
    np.add.at(amount, source.subgroup[known], (parts.a[:, None] * measured.parts)[known])
    size = np.bincount(source.subgroup[known], parts.a[known], len(flows.rows))[:, None]
    amount = np.divide(amount, size, out=np.zeros(amount.shape), where=size > 0)
    return Decomposition(flows.rows, flows.columns, _matrix(amount), _matrix(_rows_to_one(amount)))


def _tables(subject: Subject, parts: Parts) -> dict[str, pd.DataFrame]:
    comparison, matched, measured = parts.comparison, parts.matched, parts.measured[0]
    rows = subject.data.frame.index
    theirs = rows[comparison.target.positions]
    nearest = pd.array(theirs.to_numpy()[measured.nearest], dtype="Int64")
    nearest[measured.nearest < 0] = pd.NA
    people = _side_table(subject, comparison.source, parts.a, matched.source.of, comparison.unit).assign(
        bias=measured.value,
        normalised=measured.normalised,
        least=measured.least,
        most=measured.most,
        counterpart=nearest,
        matched=matched.matched_share[matched.source.of],
    )
    links = sparse.coo_array(matched.shares)
    return {
        "people": people,
        "counterparts": _side_table(subject, comparison.target, parts.b, matched.target.of, comparison.unit),
        "links": pd.DataFrame({"source_atom": links.row, "target_atom": links.col, "share": links.data}),
    }


def _side_table(
    subject: Subject, side: Side, weights: np.ndarray, atom: np.ndarray, unit: float
) -> pd.DataFrame:
    outcomes = side.outcomes / unit
    shown = (
        {"outcome": outcomes[:, 0]}
        if outcomes.shape[1] == 1
        else {f"outcome {k + 1}": outcomes[:, k] for k in range(outcomes.shape[1])}
    )
    return pd.DataFrame(
        {
            "group": np.array(side.groups, dtype=object)[side.group],
            "subgroup": np.array(side.subgroups, dtype=object)[side.subgroup],
            **shown,
            "people": weights,
            "atom": atom,
        },
        index=subject.data.frame.index[side.positions],
    )
