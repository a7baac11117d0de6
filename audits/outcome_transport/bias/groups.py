"""Bias of everyone, of groups and of subgroups: how unlike those are whose outcomes are mapped to theirs.

Means of people's bias (`bias`), and their ranges over all optimal couplings (`tie_ranges`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from audits.outcome_transport.bias.people import Bias, DistinctPeople, flows, individual_bias, merge
from audits.outcome_transport.comparison.sides import Side, TwoSides
from audits.outcome_transport.matching.optimal_face import Face, flow_extremes, whole_supplies
from audits.outcome_transport.matching.outcomes import OutcomePlan
from audits.outcome_transport.matching.resampling import with_subgroup_totals
from audits.progress import Progress, part, silent
from audits.transport import Cost
from audits.transport.blocks import CostBlocks
from audits.transport.extremes import Ends, extreme

_MAX_PAIRS = 6_000_000  # tight pairs of one transport problem: some seconds


_BUDGET = 8_000_000  # tight pairs of all of them: everyone first, then groups, then subgroups


@dataclass(frozen=True, eq=False)
class SourceGroups:
    """Everyone, the groups and the subgroups of the source side: names, levels and members (g, n)."""

    names: tuple[str, ...]
    levels: tuple[str, ...]
    members: np.ndarray


def group_list(side: Side) -> SourceGroups:
    """List everyone, each group, and each subgroup where they differ from the groups."""
    n = len(side.positions)
    names, levels, members = ["everybody"], ["all"], [np.ones(n, dtype=bool)]
    for level, code, labels in (
        ("group", side.group, side.groups),
        ("subgroup", side.subgroup, side.subgroups),
    ):
        if level == "subgroup" and labels == side.groups:
            continue
        for k, name in enumerate(labels):
            names.append(name)
            levels.append(level)
            members.append(code == k)
    return SourceGroups(tuple(names), tuple(levels), np.array(members))


@dataclass(frozen=True, eq=False)
class FeatureSetBias:
    """Bias of the source side in one set of features.

    `value`, `normalised`, `least`, `most` are per person (n,), NaN where unknown; `parts` (n, c) by target
    subgroup; `nearest` (n,) is the position, on the target side, of the most similar counterpart, or -1.
    `stands` (n,) is how many of the people each one measured stands for: 1, where everyone was measured.
    """

    ours: DistinctPeople
    theirs: DistinctPeople
    bias: Bias
    value: np.ndarray
    normalised: np.ndarray
    least: np.ndarray
    most: np.ndarray
    parts: np.ndarray
    nearest: np.ndarray
    stands: np.ndarray


def measure(
    comparison: TwoSides,
    matched: OutcomePlan,
    x: np.ndarray,
    y: np.ndarray,
    *,
    distance: Cost,
    face: Face | None = None,
    drawn: np.ndarray | None = None,
    progress: Progress = silent,
) -> FeatureSetBias:
    """Measure individual bias with features `x` (n, d) and `y` (m, d) of the two sides' people.

    `drawn` holds the positions of those source people who are measured, everyone's counterparts among them;
    each then stands for others of the subgroup, too.
    """
    target, stands = comparison.target, np.ones(len(x))
    ours = merge(matched.source, comparison.source.subgroup, x)
    if drawn is not None:
        mass = matched.source.shares * matched.source.weights[matched.source.of]
        stands = np.zeros(len(x))
        lift = with_subgroup_totals(mass, drawn, comparison.source.subgroup)
        stands[drawn] = np.divide(lift, mass[drawn], out=np.zeros(len(drawn)), where=mass[drawn] > 0)
        ours = ours.some(drawn)
    theirs = merge(matched.target, target.subgroup, y)
    bias = individual_bias(
        matched, ours, theirs, len(target.subgroups), distance=distance, face=face, progress=progress
    )
    of, here = ours.of, ours.of >= 0
    nearest = np.where(here, bias.nearest[of], -1)
    return FeatureSetBias(
        ours=ours,
        theirs=theirs,
        bias=bias,
        **{
            name: np.where(here, getattr(bias, name)[of], np.nan)
            for name in ("value", "normalised", "least", "most")
        },
        parts=np.where(here[:, None], bias.parts[of], 0.0),
        nearest=np.where(nearest >= 0, theirs.first[nearest], -1),
        stands=stands,
    )


@dataclass(frozen=True, eq=False)
class CellMasses:
    """Masses (r, c) between subgroups, as shares of all source people, and their range when optimal."""

    mass: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None


def measure_flows(comparison: TwoSides, matched: OutcomePlan) -> CellMasses:
    """Measure who is mapped to whom, subgroup by subgroup."""
    people = []
    for side, atoms in ((comparison.source, matched.source), (comparison.target, matched.target)):
        count = np.zeros((len(atoms.first), len(side.subgroups)))
        np.add.at(count, (atoms.of, side.subgroup), atoms.shares * atoms.weights[atoms.of])
        people.append(count)
    mass = flows(matched, *people)
    ends = flow_extremes(matched, *people)
    if ends is None:
        return CellMasses(mass, None, None)
    # rounding must not push the even coupling out of its own range
    return CellMasses(mass, np.minimum(ends[0], mass), np.maximum(ends[1], mass))


def tie_ranges(
    matched: OutcomePlan,
    measured: FeatureSetBias,
    groups: SourceGroups,
    *,
    distance: Cost,
    face: Face | None,
    progress: Progress = silent,
) -> list[tuple[float, float, bool] | None]:
    """Smallest and largest mean bias of each group over all optimal couplings, and whether that is exact.

    Each group's range is a transport problem of its own: its people against everyone of the other side, the
    rest of each outcome's people counting nothing. None without a face, or for a group of no weight.
    """
    found: list[tuple[float, float, bool] | None] = []
    spent = 0
    weights = matched.source.shares * matched.source.weights[matched.source.of]
    for k, members in enumerate(groups.members):
        progress(k / len(groups.members), "Bounding bias over all optimal couplings")
        mass = weights * members
        if face is None or mass.sum() <= 0:
            found.append(None)
            continue
        problem = _problem(matched, measured, mass, face)
        if problem is not None and spent + len(problem.i) <= _BUDGET:
            spent += len(problem.i)
            stretch = part(progress, k / len(groups.members), (k + 1) / len(groups.members))
            ends = _solve(problem, matched, measured, distance, stretch)
            if ends is not None:
                scale = float(problem.supply.sum() / mass.sum())
                found.append((ends.low * scale, ends.high * scale, True))
                continue
        low, high = (
            float(np.average(ends[members], weights=mass[members]))
            for ends in (measured.least, measured.most)
        )
        found.append((low, high, math.isclose(low, high, rel_tol=1e-12)))  # bounds that meet are exact
    return found


@dataclass(frozen=True, eq=False)
class _Problem:
    """Rows: the group's people by outcome and features (`own` says which), then the others by outcome."""

    own: np.ndarray
    atom: np.ndarray
    supply: np.ndarray
    i: np.ndarray
    j: np.ndarray


def _problem(matched: OutcomePlan, measured: FeatureSetBias, mass: np.ndarray, face: Face) -> _Problem | None:
    ours, theirs = measured.ours, measured.theirs
    own_mass = np.bincount(ours.of, mass, len(ours.weights))
    own = np.flatnonzero(own_mass > 0)
    rest = np.bincount(ours.atom, ours.weights - own_mass, len(matched.x))
    rest[np.abs(rest) <= 1e-12 * matched.source.weights] = 0.0
    others = np.flatnonzero(rest > 0)
    atom = np.concatenate([ours.atom[own], others])
    pairs = face.pairs(atom, theirs.start, len(matched.x), _MAX_PAIRS)
    supply = np.concatenate([own_mass[own], rest[others]])
    return None if pairs is None else _Problem(own, atom, supply, *pairs)


def _split(whole: np.ndarray, atom: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Divide each outcome's whole number (k,) among its rows (r,), by weight, into whole numbers."""
    k = len(whole)
    exact = whole[atom] * weights / np.bincount(atom, weights, k)[atom]
    units = np.maximum(np.rint(exact), 1.0)
    largest = np.lexsort((-exact, atom))
    first = largest[np.unique(atom[largest], return_index=True)[1]]  # one row of each outcome
    units[first] += (whole - np.bincount(atom, units, k))[atom[first]]
    return units


def _solve(
    problem: _Problem, matched: OutcomePlan, measured: FeatureSetBias, distance: Cost, progress: Progress
) -> Ends | None:
    theirs, i, j = measured.theirs, problem.i, problem.j
    values, real = np.zeros(len(i)), i < len(problem.own)
    blocks = CostBlocks.build(measured.ours.points[problem.own], theirs.points, distance)
    values[real] = blocks.pairs(i[real], j[real])
    found = extreme(problem.supply, theirs.weights, i, j, values, progress=progress)
    if found is not None:
        return found
    # weights that are no counts, rounded row by row, can leave a gap that nothing may cross out of balance
    supply, demand = whole_supplies(matched)
    rows, columns = _split(supply, problem.atom, problem.supply), _split(demand, theirs.atom, theirs.weights)
    return extreme(rows, columns, i, j, values)
