"""Individual, group and subgroup bias: how unlike a person those are who get the same outcome (Eq. 11 to 18).

A person's bias is the mean distance, in features, to the people whose outcomes theirs is mapped to. All
distances are looked at once, a few rows at a time, with equal people merged. Groups' means follow from that,
and their ranges over all optimal couplings (`tie_ranges`).
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from audits.outcome_transport.comparison import Comparison, Side
from audits.outcome_transport.matching import Matched
from audits.outcome_transport.resampling import lifted
from audits.outcome_transport.ties import Ends, Face, extreme, flow_extremes, ragged, whole_supplies
from audits.progress import Progress, part, silent
from audits.transport import Cost
from audits.transport.atoms import Atoms
from audits.transport.blocks import CostBlocks, threads

__all__ = [
    "Bias",
    "Cells",
    "Groups",
    "Measured",
    "People",
    "flows",
    "group_list",
    "individual_bias",
    "measure",
    "measure_flows",
    "merge",
    "tie_ranges",
]

_BLOCK = 1 << 20  # distances held at once by each thread: 8 MB


@dataclass(frozen=True, eq=False)
class People:
    """People of one side, alike ones merged: same outcome, same subgroup, same features.

    Attributes
    ----------
    points : array (p, d)
    atom, group : arrays (p,)
        Outcome and subgroup of each; rows are sorted by outcome.
    weights : array (p,)
        People each row stands for, above 0.
    of : array (n,)
        Row of each person; -1 for those who are left out.
    first : array (p,)
        Position of one person of each row.
    start : array (k + 1,)
        Rows of outcome k are ``start[k]`` up to ``start[k + 1]``.
    """

    points: np.ndarray
    atom: np.ndarray
    group: np.ndarray
    weights: np.ndarray
    of: np.ndarray
    first: np.ndarray
    start: np.ndarray

    def some(self, people: np.ndarray) -> People:
        """Keep only the rows of `people`, positions; weights stay what everybody of a row weighs."""
        kept = np.unique(self.of[people])
        place = np.full(len(self.weights), -1)
        place[kept] = np.arange(len(kept))
        of = np.full(len(self.of), -1)
        of[people] = place[self.of[people]]
        return People(
            points=self.points[kept],
            atom=self.atom[kept],
            group=self.group[kept],
            weights=self.weights[kept],
            of=of,
            first=self.first[kept],
            start=np.searchsorted(kept, self.start),
        )


def merge(atoms: Atoms, group: np.ndarray, points: np.ndarray) -> People:
    """Merge people of the outcomes `atoms` who agree in `group` (n,) and `points` (n, d)."""
    weights = atoms.shares * atoms.weights[atoms.of]
    alike = Atoms.merge(np.column_stack([atoms.of, group, points]).astype(float), weights)
    order = np.lexsort((alike.first, group[alike.first], atoms.of[alike.first]))
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    first = alike.first[order]
    return People(
        points=np.ascontiguousarray(points[first], dtype=float),
        atom=atoms.of[first],
        group=np.asarray(group)[first],
        weights=alike.weights[order],
        of=place[alike.of],
        first=first,
        start=np.searchsorted(atoms.of[first], np.arange(len(atoms.first) + 1)),
    )


@dataclass(frozen=True, eq=False)
class Bias:
    """Per source row (p,) of `People`.

    Attributes
    ----------
    value : array
        Mean distance to the counterparts (Eq. 12); NaN for the unmatched.
    parts : array (p, c)
        The same by target subgroup (Remark 3.1); rows sum to `value`.
    farthest : array
        Distance to the farthest person of the other side, matched or not (Eq. 18's denominator).
    least, most : array
        Distance to the best and the worst counterpart that an optimal coupling can give; NaN without a face.
    nearest : array of int
        Target row of the most similar counterpart; -1 for the unmatched.
    """

    value: np.ndarray
    parts: np.ndarray
    farthest: np.ndarray
    least: np.ndarray
    most: np.ndarray
    nearest: np.ndarray

    @property
    def normalised(self) -> np.ndarray:
        """Eq. 18: bias as a share of the worst case, in [0, 1]; 0 where everybody is alike."""
        worst = np.where(self.farthest > 0, self.farthest, 1.0)
        return np.minimum(self.value / worst, 1.0)


def individual_bias(
    matched: Matched,
    ours: People,
    theirs: People,
    n_groups: int,
    *,
    distance: Cost = "l2",
    face: Face | None = None,
    progress: Progress = silent,
) -> Bias:
    """Measure each source row's bias and its range over optimal couplings.

    Parameters
    ----------
    ours, theirs : People
        Of the two sides, in the same features.
    n_groups : int
        Target subgroups.
    face : Face, optional
        Tight pairs, where they are known.
    """
    plan = _plan(matched, theirs)
    blocks = CostBlocks.build(ours.points, theirs.points, distance)
    n, m = blocks.shape
    found = Bias(
        value=np.full(n, np.nan),
        parts=np.zeros((n, n_groups)),
        farthest=np.empty(n),
        least=np.full(n, np.nan),
        most=np.full(n, np.nan),
        nearest=np.full(n, -1),
    )
    ends = None if face is None else face.ends(len(matched.x))
    step = max(1, _BLOCK // m)
    starts = list(range(0, n, step))
    work = _Block(ours, theirs, plan, face, ends, blocks, found, np.eye(n_groups)[theirs.group])
    with threads() as pool:
        for done, _ in enumerate(
            _each(pool, lambda start: work.measure(start, min(start + step, n)), starts)
        ):
            progress(done / len(starts), "Measuring how unlike counterparts are")
    return found


def _each(pool: ThreadPoolExecutor, work, items: list[int]):  # type: ignore[no-untyped-def]
    """Run a few items ahead only, so that cancelling stops soon."""
    for start in range(0, len(items), 16):
        yield from pool.map(work, items[start : start + 16])


def _plan(matched: Matched, theirs: People) -> sparse.csr_array:
    """Share of each target row among the counterparts of each source outcome, (k, m)."""
    weight = matched.target.weights[theirs.atom]
    part = np.divide(theirs.weights, weight, out=np.zeros(len(weight)), where=weight > 0)
    shape = (len(part), len(matched.y))
    members = sparse.csr_array((part, theirs.atom, np.arange(len(part) + 1)), shape=shape)
    plan = sparse.csr_array(matched.shares @ members.T)
    plan.sort_indices()
    return plan


@dataclass(frozen=True, eq=False)
class _Block:
    """Work on a few source rows at a time; rows of one outcome share their counterparts."""

    ours: People
    theirs: People
    plan: sparse.csr_array
    face: Face | None
    ends: tuple[np.ndarray, np.ndarray] | None
    blocks: CostBlocks
    found: Bias
    groups: np.ndarray

    def measure(self, start: int, stop: int) -> None:
        """Fill rows `start` to `stop` of the result."""
        d = self.blocks.rows(start, stop)
        d.max(axis=1, out=self.found.farthest[start:stop])
        atoms, begin = np.unique(self.ours.atom[start:stop], return_index=True)
        for atom, low, high in zip(atoms, begin, np.append(begin[1:], stop - start), strict=True):
            rows = slice(start + low, start + high)
            self._counterparts(int(atom), d[low:high], rows)
            if self.face is not None:
                self._range(int(atom), d[low:high], rows)

    def _counterparts(self, atom: int, d: np.ndarray, rows: slice) -> None:
        where = slice(self.plan.indptr[atom], self.plan.indptr[atom + 1])
        columns, shares = self.plan.indices[where], self.plan.data[where]
        if not len(columns):
            return
        near = _columns(d, columns)
        self.found.parts[rows] = near @ (shares[:, None] * self.groups[columns])
        self.found.value[rows] = self.found.parts[rows].sum(axis=1)
        self.found.nearest[rows] = columns[near.argmin(axis=1)]

    def _range(self, atom: int, d: np.ndarray, rows: slice) -> None:
        begin, stop = self.ends[0][atom], self.ends[1][atom]  # type: ignore[index]
        if begin == stop:
            return
        low = self.theirs.start[self.face.first[begin:stop]]  # type: ignore[union-attr]
        high = self.theirs.start[self.face.last[begin:stop] + 1]  # type: ignore[union-attr]
        near = _columns(d, ragged(low, high)[1])
        self.found.least[rows], self.found.most[rows] = near.min(axis=1), near.max(axis=1)


def _columns(d: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Take some columns; without copying where they are neighbours."""
    first, last = int(columns[0]), int(columns[-1])
    return d[:, first : last + 1] if last - first + 1 == len(columns) else d[:, columns]


def flows(matched: Matched, members: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Mass (r, c) from each source subgroup to each target subgroup, as shares of all source people.

    Parameters
    ----------
    members, others : arrays (k, r), (l, c)
        People of each subgroup by outcome.
    """
    part = [
        np.divide(people, people.sum(1, keepdims=True), out=np.zeros(people.shape), where=people > 0)
        for people in (members, others)
    ]
    return part[0].T @ (matched.flow @ part[1])


_MOST_PAIRS = 6_000_000  # tight pairs of one transport problem: some seconds
_BUDGET = 8_000_000  # tight pairs of all of them: everybody first, then groups, then subgroups


@dataclass(frozen=True, eq=False)
class Groups:
    """Everybody, the groups and the subgroups of the source side: names, levels and members (g, n)."""

    names: tuple[str, ...]
    levels: tuple[str, ...]
    members: np.ndarray


def group_list(side: Side) -> Groups:
    """List everybody, each group, and each subgroup where they differ from the groups."""
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
    return Groups(tuple(names), tuple(levels), np.array(members))


@dataclass(frozen=True, eq=False)
class Measured:
    """Bias of the source side in one set of features.

    `value`, `normalised`, `least`, `most` are per person (n,), NaN where unknown; `parts` (n, c) by target
    subgroup; `nearest` (n,) is the position, on the target side, of the most similar counterpart, or -1.
    `stands` (n,) is how many of the people each one measured stands for: 1, where everybody was measured.
    """

    ours: People
    theirs: People
    bias: Bias
    value: np.ndarray
    normalised: np.ndarray
    least: np.ndarray
    most: np.ndarray
    parts: np.ndarray
    nearest: np.ndarray
    stands: np.ndarray


def measure(
    comparison: Comparison,
    matched: Matched,
    x: np.ndarray,
    y: np.ndarray,
    *,
    distance: Cost,
    face: Face | None = None,
    drawn: np.ndarray | None = None,
    progress: Progress = silent,
) -> Measured:
    """Measure individual bias with features `x` (n, d) and `y` (m, d) of the two sides' people.

    `drawn` holds the positions of those source people who are measured, everybody's counterparts among them;
    each then stands for others of the subgroup, too.
    """
    target, stands = comparison.target, np.ones(len(x))
    ours = merge(matched.source, comparison.source.subgroup, x)
    if drawn is not None:
        mass = matched.source.shares * matched.source.weights[matched.source.of]
        stands = np.zeros(len(x))
        lift = lifted(mass, drawn, comparison.source.subgroup)
        stands[drawn] = np.divide(lift, mass[drawn], out=np.zeros(len(drawn)), where=mass[drawn] > 0)
        ours = ours.some(drawn)
    theirs = merge(matched.target, target.subgroup, y)
    bias = individual_bias(
        matched, ours, theirs, len(target.subgroups), distance=distance, face=face, progress=progress
    )
    of, here = ours.of, ours.of >= 0
    nearest = np.where(here, bias.nearest[of], -1)
    return Measured(
        ours=ours,
        theirs=theirs,
        bias=bias,
        value=np.where(here, bias.value[of], np.nan),
        normalised=np.where(here, bias.normalised[of], np.nan),
        least=np.where(here, bias.least[of], np.nan),
        most=np.where(here, bias.most[of], np.nan),
        parts=np.where(here[:, None], bias.parts[of], 0.0),
        nearest=np.where(nearest >= 0, theirs.first[nearest], -1),
        stands=stands,
    )


@dataclass(frozen=True, eq=False)
class Cells:
    """Masses (r, c) between subgroups, as shares of all source people, and their range when optimal."""

    mass: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None


def measure_flows(comparison: Comparison, matched: Matched) -> Cells:
    """Measure who is mapped to whom, subgroup by subgroup."""
    people = []
    for side, atoms in ((comparison.source, matched.source), (comparison.target, matched.target)):
        count = np.zeros((len(atoms.first), len(side.subgroups)))
        np.add.at(count, (atoms.of, side.subgroup), atoms.shares * atoms.weights[atoms.of])
        people.append(count)
    mass = flows(matched, *people)
    ends = flow_extremes(matched, *people)
    if ends is None:
        return Cells(mass, None, None)
    # rounding must not push the even coupling out of its own range
    return Cells(mass, np.minimum(ends[0], mass), np.maximum(ends[1], mass))


def tie_ranges(
    matched: Matched,
    measured: Measured,
    groups: Groups,
    *,
    distance: Cost,
    face: Face | None,
    progress: Progress = silent,
) -> list[tuple[float, float, bool] | None]:
    """Smallest and largest mean bias of each group over all optimal couplings, and whether that is exact.

    Each group's range is a transport problem of its own: its people against everybody of the other side, the
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
            ends = _solve(problem, matched, distance, stretch)
            if ends is not None:
                scale = float(problem.supply.sum() / mass.sum())
                found.append((ends.low * scale, ends.high * scale, ends.exact))
                continue
        low, high = (
            float(np.average(ends[members], weights=mass[members]))
            for ends in (measured.least, measured.most)
        )
        found.append((low, high, math.isclose(low, high, rel_tol=1e-12)))  # bounds that meet are exact
    return found


@dataclass(frozen=True, eq=False)
class _Problem:
    """Rows: the group's people by outcome and features, then the others by outcome (`own` says which)."""

    points: np.ndarray
    own: np.ndarray
    atom: np.ndarray
    supply: np.ndarray
    targets: np.ndarray
    target_atom: np.ndarray
    demand: np.ndarray
    i: np.ndarray
    j: np.ndarray


def _problem(matched: Matched, measured: Measured, mass: np.ndarray, face: Face) -> _Problem | None:
    ours, theirs = measured.ours, measured.theirs
    own_mass = np.bincount(ours.of, mass, len(ours.weights))
    own = np.flatnonzero(own_mass > 0)
    rest = np.bincount(ours.atom, ours.weights - own_mass, len(matched.x))
    rest[np.abs(rest) <= 1e-12 * matched.source.weights] = 0.0
    others = np.flatnonzero(rest > 0)
    atom = np.concatenate([ours.atom[own], others])
    pairs = face.pairs(atom, theirs.start, len(matched.x), _MOST_PAIRS)
    if pairs is None:
        return None
    return _Problem(
        points=ours.points,
        own=own,
        atom=atom,
        supply=np.concatenate([own_mass[own], rest[others]]),
        targets=theirs.points,
        target_atom=theirs.atom,
        demand=theirs.weights,
        i=pairs[0],
        j=pairs[1],
    )


def _split(whole: np.ndarray, atom: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Divide each outcome's whole number (k,) among its rows (r,), by weight, into whole numbers."""
    k = len(whole)
    exact = whole[atom] * weights / np.bincount(atom, weights, k)[atom]
    units = np.maximum(np.rint(exact), 1.0)
    largest = np.lexsort((-exact, atom))
    first = largest[np.unique(atom[largest], return_index=True)[1]]  # one row of each outcome
    units[first] += (whole - np.bincount(atom, units, k))[atom[first]]
    return units


def _solve(problem: _Problem, matched: Matched, distance: Cost, progress: Progress) -> Ends | None:
    values = np.zeros(len(problem.i))
    real = problem.i < len(problem.own)
    blocks = CostBlocks.build(problem.points[problem.own], problem.targets, distance)
    values[real] = blocks.pairs(problem.i[real], problem.j[real])
    progress(0.0, "Bounding bias over all optimal couplings")
    in_order = np.argsort(problem.atom, kind="stable")  # outcomes on a line: matching in order is optimal
    rows, columns = problem.supply, problem.demand
    found = extreme(rows, columns, problem.i, problem.j, values, start=in_order, progress=progress)
    if found is not None:
        return found
    # weights that are no counts, rounded row by row, can leave a gap that nothing may cross out of balance
    supply, demand = whole_supplies(matched)
    rows, columns = (
        _split(supply, problem.atom, rows),
        _split(demand, problem.target_atom, columns),
    )
    return extreme(rows, columns, problem.i, problem.j, values, start=in_order)
