"""From numbers to the result: estimates, tables, verdict."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import sparse

from audits.models import Subject
from audits.outcome_transport.comparison.sides import Side
from audits.outcome_transport.inference import (
    BiasJudgments,
    ResultParts,
    distances,
    judge_all,
    weighted_mean,
)
from audits.outcome_transport.matching.resampling import simultaneous
from audits.outcome_transport.options import OutcomeTransportOptions
from audits.outcome_transport.result import (
    SHARES,
    BiasRow,
    CouplingFrame,
    Decomposition,
    Flows,
    Matrix,
    OutcomeTransportResult,
    RoleBias,
    TieRange,
)
from audits.outcome_transport.text import finding, warnings_for
from audits.stats import Estimate, wilson
from audits.stats.intervals import percent_level


def pack(subject: Subject, options: OutcomeTransportOptions, parts: ResultParts) -> OutcomeTransportResult:
    """Pack the result."""
    comparison = parts.comparison
    n, m = float(parts.a.sum()), float(parts.b.sum())
    distance, orders = distances(parts, options)
    found = judge_all(parts, options, distance)
    bias = _bias(parts, options, found)
    groups = [row.difference for row in bias if row.difference is not None]
    ties = _ties(parts)
    flows = _flows(parts, options.level)
    result = OutcomeTransportResult(
        options=dataclasses.asdict(options),
        comparison="two policies" if comparison.same_people else "two groups",
        source=comparison.source.name,
        target=comparison.target.name,
        outcome=comparison.kind,
        judged=found.judged,
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
        distance_p_value=parts.distance_p,
        group_p_value=None if parts.tested is None else parts.tested.p_value,
        group_p_value_everywhere=min(
            (one.p_value for one in groups if one.p_value is not None), default=None
        ),
        unmatched=dict(zip(("source", "target"), parts.matched.unmatched, strict=True)),
        flows=flows,
        bias=bias,
        decomposition=_decomposition(parts, flows),
        tie_range=ties,
        by_role=_roles(parts, options),
        certificate=CouplingFrame(
            cost=float(parts.matched.cost),
            slack=None if parts.matched.slack is None else float(parts.matched.slack),
            method=parts.matched.method,
            source_outcomes=len(parts.matched.x),
            target_outcomes=len(parts.matched.y),
        ),
        **_tables(subject, parts),
    )
    return dataclasses.replace(
        result,
        finding=finding(result, comparison, found, options),
        warnings=(*comparison.warnings, *warnings_for(result, comparison, options)),
    )


def _bias(parts: ResultParts, options: OutcomeTransportOptions, found: BiasJudgments) -> tuple[BiasRow, ...]:
    tested, normalised = parts.tested, parts.measured[0].normalised
    adjusted = () if tested is None else tested.adjusted.tolist()
    p_values = dict(zip(parts.comparison.source.groups, adjusted, strict=False))
    rows = []
    for group, level, members, mean in _estimates(parts, 0, options.level):
        judged = level == "group"
        rows.append(
            BiasRow(
                group=group,
                level=level,
                mean=mean,
                normalised=weighted_mean(normalised, parts.mass, members),
                total=None if mean.value is None else float(members @ parts.mass) * mean.value,
                adjusted_p=p_values.get(group) if judged else None,
                difference=found.groups.get(group) if judged else None,
            )
        )
    return tuple(rows)


def _roles(parts: ResultParts, options: OutcomeTransportOptions) -> tuple[RoleBias, ...]:
    return tuple(
        RoleBias(role, group, level, space.columns, mean, _quantiles(parts, s, members))
        for s, (role, space) in enumerate(parts.spaces.items())
        if role != "all"
        for group, level, members, mean in _estimates(parts, s, options.level)
    )


def _quantiles(parts: ResultParts, s: int, members: np.ndarray) -> tuple[float, ...]:
    """Quantiles of the members' individual bias; none where nobody of them is matched."""
    value, weights = parts.measured[s].value, parts.mass * parts.measured[s].stands
    known = members & np.isfinite(value) & (weights > 0)
    if not known.any():
        return ()
    found = np.quantile(value[known], SHARES, weights=weights[known], method="inverted_cdf")
    return tuple(found.tolist())


def _estimates(parts: ResultParts, s: int, level: float) -> Iterator[tuple[str, str, np.ndarray, Estimate]]:
    """Yield name, level, members (n,) and mean bias of each group in a set of features."""
    groups, value, stands = parts.groups, parts.measured[s].value, parts.measured[s].stands
    size, drawn = groups.members @ parts.a, (stands == 0).any()
    known = [weighted_mean(value, parts.mass * stands, members) for members in groups.members]
    low = high = [np.nan] * len(known)
    method = parts.no_interval
    if parts.resampled is not None:
        means = np.array([np.nan if mean is None else mean for mean in known])
        moves = parts.resampled.moves[:, s] * _by_drawing(parts, s, means)
        low, high = (end.tolist() for end in simultaneous(means, moves, size, level))
        people = f"{parts.resampled.pool:,} people"
        method = f"bootstrap of {people}, coupled again, {percent_level(level)} for all groups together"
        method += f"; mean of {int((stands > 0).sum()):,} people drawn" if drawn else ""
    for k, members in enumerate(groups.members):
        first, last = (None if np.isnan(end[k]) else end[k] for end in (low, high))
        n = float((members & (stands > 0)).sum() if drawn else size[k])
        how = method if first is not None or parts.resampled is None else "no interval: nobody differs"
        yield groups.names[k], groups.levels[k], members, Estimate(known[k], first, last, n, how)


def _by_drawing(parts: ResultParts, s: int, means: np.ndarray) -> np.ndarray:
    """By how much intervals are wider (g,) where only drawn people were measured; 1 otherwise."""
    value, stands = parts.measured[s].value, parts.measured[s].stands
    spread = parts.resampled.moves[:, s].std(axis=0)  # type: ignore[union-attr]
    error = np.zeros(len(means))
    for k, members in enumerate(parts.groups.members if (stands == 0).any() else ()):
        here = members & np.isfinite(value) & (stands > 0)
        if here.any():
            weights = (parts.mass * stands)[here]
            left = 1 - here.sum() / members.sum()
            apart = (weights * (value[here] - means[k])) ** 2
            error[k] = np.sqrt(max(left, 0.0) * apart.sum()) / weights.sum()
    return np.sqrt(1 + np.divide(error, spread, out=np.zeros(len(error)), where=spread > 0) ** 2)


def _ties(parts: ResultParts) -> tuple[TieRange, ...]:
    found = []
    for k, ends in enumerate(parts.ranges):
        value = weighted_mean(parts.measured[0].value, parts.a, parts.groups.members[k])
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


def _flows(parts: ResultParts, level: float) -> Flows:
    cells = parts.cells
    total = cells.mass.sum(axis=1, keepdims=True)
    source, target = parts.comparison.source, parts.comparison.target
    ends = [
        None
        if end is None
        else _matrix(np.divide(end, total, out=np.zeros(end.shape), where=total > 0).clip(0.0, 1.0))
        for end in (cells.low, cells.high)
    ]
    share = _rows_to_one(cells.mass)
    people = np.bincount(source.subgroup, parts.a, len(source.subgroups))
    sampling = _sampling(parts, share, people, level)
    return Flows(
        rows=source.subgroups,
        columns=target.subgroups,
        share=_matrix(share),
        mass=_matrix(cells.mass),
        low=ends[0],
        high=ends[1],
        sampling_low=sampling[0],
        sampling_high=sampling[1],
        row_people=tuple(people.tolist()),
        column_people=tuple(np.bincount(target.subgroup, parts.b, len(target.subgroups)).tolist()),
    )


def _sampling(
    parts: ResultParts, share: np.ndarray, people: np.ndarray, level: float
) -> tuple[Matrix | None, Matrix | None]:
    """Intervals of the shares that hold for all cells together; those of all or nobody get Wilson's."""
    if parts.resampled is None:
        return None, None
    moves = parts.resampled.flows
    behind = np.repeat(people, share.shape[1])
    ends = np.stack(simultaneous(share.ravel(), moves.reshape(len(moves), -1), behind, level))
    still = (moves.std(axis=0) <= 1e-12).ravel() | ~np.isfinite(ends[0])
    # all or nobody: of such a share draws only show the tail of a blur
    extreme = np.minimum(share, 1 - share).ravel() <= 1e-6
    for cell in np.flatnonzero(still | extreme):
        found = wilson(float(share.ravel()[cell] * behind[cell]), float(behind[cell]), level=level)
        low, high = found.low or 0.0, 1.0 if found.high is None else found.high
        ends[:, cell] = (low, high) if still[cell] else (min(low, ends[0, cell]), max(high, ends[1, cell]))
    low, high = (end.reshape(share.shape).clip(0.0, 1.0) for end in ends)
    return _matrix(low), _matrix(high)


def _decomposition(parts: ResultParts, flows: Flows) -> Decomposition:
    source, measured = parts.comparison.source, parts.measured[0]
    known = np.isfinite(measured.value)
    if not known.any():
        return Decomposition((), (), (), ())
    amount = np.zeros((len(flows.rows), len(flows.columns)))
    np.add.at(amount, source.subgroup[known], (parts.mass[:, None] * measured.parts)[known])
    size = np.bincount(source.subgroup[known], parts.mass[known], len(flows.rows))[:, None]
    amount = np.divide(amount, size, out=np.zeros(amount.shape), where=size > 0)
    return Decomposition(flows.rows, flows.columns, _matrix(amount), _matrix(_rows_to_one(amount)))


def _tables(subject: Subject, parts: ResultParts) -> dict[str, pd.DataFrame]:
    comparison, matched, measured = parts.comparison, parts.matched, parts.measured[0]
    rows = subject.data.frame.index
    theirs = rows[comparison.target.positions]
    nearest = pd.Series(theirs).convert_dtypes().reindex(measured.nearest).array  # -1 is nobody
    people = _side_table(subject, comparison.source, parts.a, matched.source.of, comparison.unit).assign(
        bias=measured.value,
        normalised=measured.normalised,
        least=measured.least,
        most=measured.most,
        counterpart=nearest,
        matched=matched.matched_share[matched.source.of],
    )
    others = _side_table(subject, comparison.target, parts.b, matched.target.of, comparison.unit)
    links = sparse.coo_array(matched.shares)
    return {  # people as the table has them
        "people": people.iloc[np.argsort(comparison.source.positions)],
        "counterparts": others.iloc[np.argsort(comparison.target.positions)],
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
