"""Sums over the cells of every rule set, for many columns at once: the engine of all inference.

Two ways to the same numbers. With few cells: membership matrix times columns. With many attributes of few
levels each: tabulate the columns over a rule set's own attributes only, then apply all rules of one
attribute after the other. The cheaper is taken, combination by combination; all that are multiplied are
multiplied together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array

from audits.subgroups.cells import Cells, memberships
from audits.threads import one_thread

_MEMBERS = 16_000_000
_COLUMNS = 128
_RESULT = 24_000_000
_GATHERED = 32  # multiplications in the time of gathering one value: it waits for memory, they do not
_BUILT = 16  # the same for an entry of the membership matrix, which few columns do not repay
_FEW = 4

Block = tuple[np.ndarray, slice, np.ndarray]
Plan = tuple[np.ndarray, np.ndarray, tuple[list[np.ndarray], np.ndarray] | None]


class GroupSums:
    """Sums over the cells of each of many rule sets; planned once, used for any columns.

    Parameters
    ----------
    cells : Cells
    rules : int array (S, m)
        Rule of each attribute, -1 where it is free.
    """

    def __init__(self, cells: Cells, rules: np.ndarray) -> None:
        self.cells, self.attributes, self.rules = cells, cells.attributes, rules
        self._members: dict[int, np.ndarray] = {}
        self._combinations = _by_combination(rules)
        self._plans: dict[bool, list[Plan]] = {}
        self._codes: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.rules)

    def blocks(self, columns: np.ndarray) -> Iterator[Block]:
        """Yield ``(rule sets, columns, sums)`` until every rule set has met every column once.

        `columns` (C, B) holds values per cell. Sums are taken in their dtype: whole numbers stay exact
        below 2^24 in float32.
        """
        for positions, names, tabulated in self._plan(few=columns.shape[1] <= _FEW):
            if tabulated is None:
                yield from self._multiply(positions, columns)
            else:
                yield from self._tabulate(positions, names, *tabulated, columns)

    def of(self, columns: np.ndarray) -> np.ndarray:
        """Return all sums at once, (S, B): for few columns."""
        found = np.empty((len(self.rules), columns.shape[1]))
        for positions, where, sums in self.blocks(np.ascontiguousarray(columns, dtype=float)):
            found[positions, where] = sums
        return found

    def _plan(self, *, few: bool) -> list[Plan]:
        if few not in self._plans:
            planned = [self._plan_of(positions, _BUILT if few else 1) for positions in self._combinations]
            multiplied = [positions for positions, _, tabulated in planned if tabulated is None]
            self._plans[few] = [each for each in planned if each[2] is not None]
            if multiplied:
                self._plans[few].append((np.concatenate(multiplied), np.empty(0, dtype=np.int64), None))
        return self._plans[few]

    def _plan_of(self, positions: np.ndarray, entry: int) -> Plan:
        part = self.rules[positions]
        names = np.flatnonzero(part[0] >= 0)
        kept, places = [], []
        for name in names:
            seen = np.bincount(part[:, name], minlength=len(self.attributes[name].rules)) > 0
            kept.append(np.flatnonzero(seen))
            places.append((np.cumsum(seen) - 1)[part[:, name]])
        if not names.size or self._tabulated_cost(names, kept) >= entry * len(positions) * len(self.cells.n):
            return positions, names, None
        return positions, names, (kept, np.ravel_multi_index(places, [len(rules) for rules in kept]))

    def _tabulated_cost(self, names: np.ndarray, kept: list[np.ndarray]) -> float:
        """Multiplications a column of the second way; picking out a rule set costs about 4."""
        levels = [self.attributes[name].rules.shape[1] for name in names]
        done, ahead = 1.0, float(np.prod(levels, dtype=float))
        cost = float(_GATHERED * len(self.cells.n))
        for rules, level in zip(kept, levels, strict=True):
            cost += done * len(rules) * ahead
            done *= len(rules)
            ahead /= level
        return cost + 4 * done if max(done, float(np.prod(levels, dtype=float))) <= _RESULT else np.inf

    def _multiply(self, positions: np.ndarray, columns: np.ndarray) -> Iterator[Block]:
        rows = max(1, min(_MEMBERS // len(self.cells.n), _RESULT // columns.shape[1]))
        whole = len(positions) * len(self.cells.n) <= _MEMBERS
        if whole and len(positions) not in self._members:  # a plan's one multiplied part, met again and again
            self._members[len(positions)] = memberships(self.cells, self.rules[positions])
        for start in range(0, len(positions), rows):
            part = positions[start : start + rows]
            inside: np.ndarray
            if whole:
                inside = self._members[len(positions)][start : start + rows].astype(columns.dtype)
            else:
                inside = memberships(self.cells, self.rules[part], dtype=columns.dtype.type)
            yield part, slice(0, columns.shape[1]), inside @ columns

    def _tabulate(
        self,
        positions: np.ndarray,
        names: np.ndarray,
        kept: list[np.ndarray],
        wanted: np.ndarray,
        columns: np.ndarray,
    ) -> Iterator[Block]:
        levels = [self.attributes[name].rules.shape[1] for name in names]
        if self._codes is None:  # attribute by attribute, as they are read
            self._codes = np.ascontiguousarray(self.cells.codes.T)
        index = np.ravel_multi_index([self._codes[name] for name in names], levels)
        size, results = int(np.prod(levels)), int(np.prod([len(rules) for rules in kept]))
        if columns.shape[1] <= _FEW:
            gathered = [np.bincount(index, column, size) for column in columns.T]
            table = np.column_stack(gathered).astype(columns.dtype)
            yield positions, slice(0, len(gathered)), self._sums_of(table, names, kept, levels)[wanted]
            return
        gather = csr_array(
            (np.ones(len(index), dtype=columns.dtype), (index, np.arange(len(index)))),
            shape=(size, len(index)),
        )
        width = int(max(1, min(_COLUMNS, _RESULT // max(results, size))))
        for start in range(0, columns.shape[1], width):
            part = slice(start, min(start + width, columns.shape[1]))
            with one_thread():  # small products: threads would spend their time waiting for each other
                table = gather @ np.ascontiguousarray(columns[:, part])
                table = self._sums_of(table, names, kept, levels)
            yield positions, part, np.take(table, wanted, axis=0)

    def _sums_of(
        self, table: np.ndarray, names: np.ndarray, kept: list[np.ndarray], levels: list[int]
    ) -> np.ndarray:
        """Apply all rules of one attribute after the other to sums by level (L1·…·Lk, B)."""
        width, before = table.shape[1], 1
        for name, rules, level in zip(names, kept, levels, strict=True):
            admitted = self.attributes[name].rules[rules].astype(table.dtype)
            table = np.matmul(admitted, table.reshape(before, level, -1))
            before *= len(rules)
        return table.reshape(before, width)


def _by_combination(rules: np.ndarray) -> list[np.ndarray]:
    """Positions of the rule sets that constrain the same attributes."""
    key = np.zeros(len(rules), dtype=np.int64)
    for column in rules.T:
        if len(key) and key.max() > 2**60:  # more attributes than bits: number the combinations so far
            key = np.unique(key, return_inverse=True)[1]
        key = 2 * key + (column >= 0)
    order = np.argsort(key, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1) if len(key) else []
