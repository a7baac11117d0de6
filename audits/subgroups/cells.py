"""People counted per cell of the rules' attributes: all that rates, permutations and halves need.

A cell is one combination of levels that someone has. A rule set is a union of cells, so everything
about it is a sum over cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audits.subgroups.attributes import Attribute

_DENSE = 2**22


@dataclass(frozen=True, eq=False)
class Cells:
    """Occupied cells.

    Attributes
    ----------
    attributes : tuple of Attribute, (m,)
    codes : int array (C, m)
        Level of every attribute.
    n : float array (C,)
        People (total weight), positive.
    favorable : float array (C,)
        Those of them who are decided favorably.
    row_cell : int array (n,)
        Cell of every row of the data; empty for a table that is read back.
    """

    attributes: tuple[Attribute, ...]
    codes: np.ndarray
    n: np.ndarray
    favorable: np.ndarray
    row_cell: np.ndarray

    @property
    def total(self) -> float:
        """People in all cells."""
        return float(self.n.sum())

    @property
    def rate(self) -> float:
        """Favorable share of everyone."""
        return float(self.favorable.sum() / self.n.sum())

    def marked(self) -> np.ndarray:
        """Return people, favorable ones and two random marks of every cell, (C, 4).

        Two groups with equal sums of both marks are the same people: sums stay below 2^53, so they are
        exact, and a coincidence is as good as impossible. No number of a result depends on the marks.
        """
        rng = np.random.default_rng(20221)
        marks = rng.integers(1, min(2**38, 2**53 // len(self.n)), (len(self.n), 2))
        return np.column_stack([self.n, self.favorable, marks.astype(float)])


def count_cells(
    attributes: Sequence[Attribute], favorable: np.ndarray, weights: np.ndarray | None = None
) -> Cells:
    """Count people and favorable decisions per occupied cell.

    Parameters
    ----------
    favorable : array (n,)
        Favorable decisions, bool (or people decided favorably, without weights).
    weights : array (n,), optional
        People a row stands for.
    """
    index = np.zeros(len(favorable), dtype=np.int64)
    radix = 1
    # cells stand in an order that the order of attributes does not decide, nor any draw with it
    for attribute in sorted(attributes, key=lambda each: each.name):
        size = len(attribute.levels)
        if radix * size > 2**62:  # squeeze out the empty combinations before they overflow
            found, index = np.unique(index, return_inverse=True)
            radix = len(found)
        index = index * size + attribute.codes
        radix *= size
    if radix <= _DENSE:
        occupied = np.bincount(index, minlength=radix) > 0
        place = np.cumsum(occupied) - 1
        row_cell = place[index]
        first = np.empty(int(occupied.sum()), dtype=np.int64)
        first[row_cell[::-1]] = np.arange(len(index))[::-1]
    else:
        _, first, row_cell = np.unique(index, return_index=True, return_inverse=True)
    count = len(first)
    n = np.bincount(row_cell, weights, minlength=count).astype(float)
    good = np.asarray(favorable, dtype=float) if weights is None else favorable * weights
    table = np.column_stack([attribute.codes[first] for attribute in attributes]).astype(np.int64)
    return Cells(tuple(attributes), table, n, np.bincount(row_cell, good, minlength=count), row_cell)


def memberships(cells: Cells, rules: np.ndarray, *, dtype: type = bool) -> np.ndarray:
    """Return which cells each rule set holds, (S, C); `rules` (S, m) has -1 where an attribute is free."""
    inside: np.ndarray = np.ones((len(rules), len(cells.n)), dtype=dtype)
    for place, attribute in enumerate(cells.attributes):
        used = np.flatnonzero(rules[:, place] >= 0)
        if used.size:
            by_cell: np.ndarray = attribute.rules.astype(dtype)[:, cells.codes[:, place]]
            inside[used] *= by_cell[rules[used, place]]
    return inside
