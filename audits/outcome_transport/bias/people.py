"""Individual bias: how unlike a person those are who get the same outcome (Eq. 11 to 18).

A person's bias is the mean distance, in features, to the people whose outcomes theirs is mapped to. All
distances are looked at once, a few rows at a time, with equal people merged.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from audits.outcome_transport.matching.optimal_face import Face, ragged_ranges
from audits.outcome_transport.matching.outcomes import OutcomePlan
from audits.progress import Progress, silent
from audits.transport import Cost
from audits.transport.atoms import Atoms
from audits.transport.blocks import CostBlocks, threads

_BLOCK = 1 << 20  # distances held at once by each thread: 8 MB


@dataclass(frozen=True, eq=False)
class DistinctPeople:
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

    def some(self, people: np.ndarray) -> DistinctPeople:
        """Keep only the rows of `people`, positions; weights stay what everyone of a row weighs."""
        kept = np.unique(self.of[people])
        place = np.full(len(self.weights), -1)
        place[kept] = np.arange(len(kept))
        of = np.full(len(self.of), -1)
        of[people] = place[self.of[people]]
        return DistinctPeople(
            points=self.points[kept],
            atom=self.atom[kept],
            group=self.group[kept],
            weights=self.weights[kept],
            of=of,
            first=self.first[kept],
            start=np.searchsorted(kept, self.start),
        )


def merge(atoms: Atoms, group: np.ndarray, points: np.ndarray) -> DistinctPeople:
    """Merge people of the outcomes `atoms` who agree in `group` (n,) and `points` (n, d)."""
    weights = atoms.shares * atoms.weights[atoms.of]
    alike = Atoms.merge(np.column_stack([atoms.of, group, points]).astype(float), weights)
    order = np.lexsort((alike.first, group[alike.first], atoms.of[alike.first]))
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    first = alike.first[order]
    return DistinctPeople(
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
    """Per source row (p,) of `DistinctPeople`.

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
        """Eq. 18: bias as a share of the worst case, in [0, 1]; 0 where everyone is alike."""
        worst = np.where(self.farthest > 0, self.farthest, 1.0)
        return np.minimum(self.value / worst, 1.0)


def individual_bias(
    matched: OutcomePlan,
    ours: DistinctPeople,
    theirs: DistinctPeople,
    n_groups: int,
    *,
    distance: Cost = "l2",
    face: Face | None = None,
    progress: Progress = silent,
) -> Bias:
    """Measure each source row's bias and its range over optimal couplings.

    Parameters
    ----------
    ours, theirs : MergedPeople
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


def _plan(matched: OutcomePlan, theirs: DistinctPeople) -> sparse.csr_array:
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

    ours: DistinctPeople
    theirs: DistinctPeople
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
        near = _columns(d, ragged_ranges(low, high)[1])
        self.found.least[rows], self.found.most[rows] = near.min(axis=1), near.max(axis=1)


def _columns(d: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Take some columns; without copying where they are neighbors."""
    first, last = int(columns[0]), int(columns[-1])
    return d[:, first : last + 1] if last - first + 1 == len(columns) else d[:, columns]


def flows(matched: OutcomePlan, members: np.ndarray, others: np.ndarray) -> np.ndarray:
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
