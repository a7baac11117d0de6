"""Decision trees as plain arrays: what a random forest or gradient boosting trained here says, without it.

Gives scikit-learn's own outputs to the last digit: leaves are reached by the same comparisons (a forest
compares float32 values with float64 thresholds) and summed in the order of the trees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import expit, softmax

from audits.errors import InputError
from audits.models.trees.compiled import CompiledTrees
from audits.models.trees.masks import LeafMasks

__all__ = ["MOST_LEVELS", "Trees"]

MOST_LEVELS = 255
"""Codes of a category run from 0 to 254; the place after them in a set of levels is for no known one."""

_CELLS = 1_000_000
"""Pairs of a row and a tree looked at together: what is held of them stays below some 100 MB."""


_FEW = 16
"""Sums taken together from which numpy certainly adds row by row, not in pairs."""

_MANY = 2_000
"""Rows and copies of which the leaves are worth being found by bits: that has to be made ready."""


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees one after the other; a node's children come after it.

    Attributes
    ----------
    roots : (t,) int
        First node of each tree.
    feature : (m,) int
        Column that a node compares, -1 for a leaf.
    threshold : (m,) float
        Rows up to it go to the left.
    left, right : (m,) int
    missing_left : (m,) uint8
        Where a missing number goes.
    level_set : (m,) int
        Row of `level_sets` for a node that asks for categories, else -1.
    level_sets : (s, 256) uint8
        By code whether a category goes to the left; the last place is for one that is not known.
    value : (m, k) float
        What a leaf gives to each output; of boosting (m, 1), and the trees take the outputs in turn.
    start : (k,) float
        What boosting begins with; empty for a forest.
    """

    roots: np.ndarray
    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    level_set: np.ndarray
    level_sets: np.ndarray
    value: np.ndarray
    start: np.ndarray

    @property
    def kind(self) -> Literal["forest", "boosting"]:
        """Whether the trees' outputs are averaged, or added up to log-odds."""
        return "boosting" if len(self.start) else "forest"

    @property
    def width(self) -> int:
        """How many outputs there are."""
        return len(self.start) or self.value.shape[1]

    def arrays(self) -> dict[str, np.ndarray]:
        """Return everything by name."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def of(cls, arrays: Mapping[str, np.ndarray], columns: int) -> Trees:
        """Rebuild what `arrays` gave, for matrices of so many columns.

        Raises
        ------
        InputError
            If a node points to no node after it, or to no column or set of levels.
        """
        made = cls(**{each.name: arrays[each.name] for each in fields(cls)})
        made._check(columns)
        return made

    def _check(self, columns: int) -> None:
        m, k = len(self.feature), max(len(self.start), 1)
        inner = np.flatnonzero(self.feature >= 0)
        children = np.concatenate([self.left[inner], self.right[inner]])
        levels, width = self.level_set, MOST_LEVELS + 1
        lengths = {len(each) for each in (self.threshold, self.left, self.right, self.missing_left, levels)}
        good = (
            lengths == {m}
            and self.value.ndim == 2
            and len(self.value) == m
            and self.level_sets.ndim == 2
            and self.level_sets.shape[1] == width
            and len(self.roots) > 0
            and len(self.roots) % k == 0
            and (self.kind == "forest" or self.value.shape[1] == 1)
            and _within(self.roots, 0, m)
            and _within(self.feature, -1, columns)
            and _within(children, 0, m)
            and bool((children > np.concatenate([inner, inner])).all())
            and _within(levels, -1, len(self.level_sets))
        )
        if not good:
            raise InputError("bundle", "must hold trees whose nodes lead to later nodes and known columns")

    @cached_property
    def masks(self) -> LeafMasks | None:
        """What finds the leaves of many rows sooner, made when first needed; None where there is none."""
        return LeafMasks.of(self)

    @cached_property
    def compiled(self) -> CompiledTrees | None:
        """What finds the leaves of many more rows, where there is such a thing."""
        if self.kind != "forest":  # boosting compares numbers that are no float32
            return None
        return CompiledTrees.of(self.roots, self.feature, self.threshold, self.left, self.right)

    def outputs(self, x: np.ndarray) -> np.ndarray:
        """Return probabilities (n, k) of the rows of a matrix (n, d); k is 1 where there are two classes."""
        d = x.shape[1]
        at_once = max(1, _CELLS // max(len(self.roots), d))
        found = [self._outputs(self._leaves(part).T) for part in _parts(x, at_once)]
        return np.concatenate(found) if found else np.empty((0, self.width))

    def outputs_of_copies(self, x: np.ndarray, moved: Sequence[tuple[slice, Sequence[int]]]) -> np.ndarray:
        """Return probabilities (c, n, k) of n people (the first of c) and of their copies, (c, n, d).

        A copy that differs from its person in one column leaves the person's path through a tree at most
        where the tree compares that column: only from there on it is followed by itself.

        Parameters
        ----------
        moved : sequence of (slice, columns)
            Copies, and the columns of the matrix in which they differ from the people; the slices cover
            all copies but the first.
        """
        copies, n, d = x.shape
        compiled: CompiledTrees | None = vars(self).get("compiled")  # made only where it pays
        if compiled is not None and copies * n > _MANY:
            return self._outputs_once(compiled, x.reshape(-1, d)).reshape(copies, n, -1)
        if (copies * n > _MANY or "masks" in vars(self)) and self.masks is not None and n:
            made = np.empty((copies, n, self.width))
            for copies_of, people, leaves in self.masks.walk(x, moved):
                made[copies_of, people] = self._outputs(leaves)
            return made
        at_once = max(1, _CELLS // (copies * max(len(self.roots), d)))
        found = [
            self._outputs(
                np.moveaxis(self._copied_leaves(np.ascontiguousarray(x[:, at : at + at_once]), moved), -1, 0)
            )
            for at in range(0, n, at_once)
        ]
        return np.concatenate(found, axis=1) if found else np.empty((copies, 0, self.width))

    def _outputs_once(self, compiled: CompiledTrees, x: np.ndarray) -> np.ndarray:
        """Return probabilities (n, k) of rows (n, d), of equal ones found once: many a copy is its person."""
        x = np.ascontiguousarray(x)
        one = np.dtype((np.void, x.itemsize * x.shape[1]))
        _, first, whose = np.unique(x.view(one)[:, 0], return_index=True, return_inverse=True)
        parts = _parts(x[first], max(1, _CELLS // len(self.roots)))
        found = np.concatenate([self._outputs(compiled.leaves(part).T) for part in parts])
        return found[whose]

    def _leaves(self, x: np.ndarray) -> np.ndarray:
        """Return the leaf of each row (n, d) in each tree, (n, t)."""
        at = np.tile(self.roots.astype(np.intp), len(x))
        self._descend(at, np.repeat(np.arange(len(x)), len(self.roots)), x)
        return at.reshape(len(x), -1)

    def _copied_leaves(self, x: np.ndarray, moved: Sequence[tuple[slice, Sequence[int]]]) -> np.ndarray:
        """Return the leaf of each copy (c, n, d) in each tree, (c, n, t)."""
        copies, n, d = x.shape
        t = len(self.roots)
        person = np.repeat(np.arange(n), t)
        first = np.tile(self.roots.astype(np.intp), n)
        path = self._descend(first, person, x[0])[::-1]  # the deepest first
        at = np.repeat(first[None], copies, axis=0)
        if path:
            items, nodes, lefts = (np.concatenate(each) for each in zip(*path, strict=True))
            places = person[items] * d + self.feature[nodes]
            flat = x.reshape(copies, n * d)
            for which, columns in moved:
                asks = np.isin(self.feature[nodes], columns)
                own, left = nodes[asks], lefts[asks]
                turned = self._goes_left(own, flat[which].take(places[asks], axis=1)) != left
                copy, step = np.nonzero(turned)
                # of several turns of one copy the last one written stays: the one nearest to the root
                other = np.where(left, self.right[own], self.left[own])
                at[which.start + copy, items[asks][step]] = other[step]
        rows = (np.arange(copies)[:, None] * n + person).reshape(-1)
        at = at.reshape(-1)
        self._descend(at, rows, x.reshape(-1, d))
        return at.reshape(copies, n, t)

    def _descend(
        self, at: np.ndarray, rows: np.ndarray, x: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Move nodes `at` (i,) of `rows` (i,) of `x` to their leaves, in place.

        Returns for each step down which of them moved, from which nodes, and whether to the left.
        """
        flat, d, path = x.reshape(-1), x.shape[1], []
        live = np.flatnonzero(self.feature[at] >= 0)
        while live.size:
            here = at[live]
            left = self._goes_left(here, flat.take(rows[live] * d + self.feature[here]))
            path.append((live, here, left))
            there = np.where(left, self.left[here], self.right[here])
            at[live] = there
            live = live[self.feature[there] >= 0]
        return path

    def _goes_left(self, nodes: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return whether `values` (…, i) go to the left at `nodes` (i,)."""
        left = values <= self.threshold[nodes]
        if self.kind == "forest":
            return left
        gone = np.isnan(values)
        left |= gone & (self.missing_left[nodes] > 0)
        sets = self.level_set[nodes]
        asked = np.flatnonzero(sets >= 0)
        if asked.size:
            codes = np.where(gone[..., asked], MOST_LEVELS, values[..., asked]).astype(np.intp)
            left[..., asked] = self.level_sets[sets[asked], codes] > 0
        return left

    def _outputs(self, trees: np.ndarray) -> np.ndarray:
        """Return probabilities (…, k) from leaves (t, …), added up in the order of the trees."""
        if self.kind == "forest":
            total = np.stack([_in_order(own.take(trees)) for own in self.value.T], axis=-1)
            return total / len(trees)
        rounds = self.value[:, 0].take(trees).reshape(-1, self.width, *trees.shape[1:])  # (rounds, k, …)
        rounds[0] += self.start.reshape(-1, *[1] * (trees.ndim - 1))
        total = np.moveaxis(_in_order(rounds), 0, -1)
        return expit(total) if self.width == 1 else softmax(total, axis=-1)


def _in_order(values: np.ndarray) -> np.ndarray:
    """Return sums over the first axis, one value after the other.

    numpy adds a lone column up in pairs, which ends in other last digits.
    """
    if values[0].size >= _FEW:
        return np.add.reduce(values, axis=0)
    found: np.ndarray = np.add.accumulate(values, axis=0)[-1]
    return found


def _within(values: np.ndarray, low: int, high: int) -> bool:
    return values.dtype.kind in "iu" and bool(((values >= low) & (values < high)).all())


def _parts(x: np.ndarray, size: int) -> list[np.ndarray]:
    return [x[at : at + size] for at in range(0, len(x), size)]
