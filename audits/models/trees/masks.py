"""Leaves of many rows at once, by bits: QuickScorer (Lucchese et al., SIGIR 2015), in NumPy.

Every test of a tree that fails rules out the leaves to its left; of the leaves that no failed test rules out
the leftmost is the row's. What a value of one column rules out of a tree is looked up: the tests on a column
that fail are those below its value. So a copy that differs from its person in one column needs that column
looked up anew, and the rest of the person's leaves kept from before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from typing import Literal, Protocol

import numpy as np

__all__ = ["LeafMasks"]

_BITS = 64
_WIDTHS = (8, 16, 32, _BITS)  # of a word that holds all leaves of small trees
_MOST_PLACES = 10_000_000  # in the table of where a value stands in each tree: 80 MB
_MOST_WORDS = 24  # of 64 leaves in a tree; of more, following a row down is as quick
_CELLS = 60_000  # words of rows in trees looked at together: what is held of them stays in the cache
_EVERY = ~np.uint64(0)


class _Nodes(Protocol):
    """What is read of trees, as `audits.models.trees.arrays.Trees` has it."""

    @property
    def kind(self) -> Literal["forest", "boosting"]: ...
    @property
    def roots(self) -> np.ndarray: ...
    @property
    def feature(self) -> np.ndarray: ...
    @property
    def threshold(self) -> np.ndarray: ...
    @property
    def left(self) -> np.ndarray: ...
    @property
    def right(self) -> np.ndarray: ...
    @property
    def missing_left(self) -> np.ndarray: ...
    @property
    def level_set(self) -> np.ndarray: ...
    @property
    def level_sets(self) -> np.ndarray: ...


@dataclass(frozen=True, eq=False)
class _Column:
    """What the values of one column of the matrix rule out.

    Attributes
    ----------
    cuts : (c,)
        Its thresholds in all trees, rising; empty for a column of categories.
    is_levels : bool
    rows : (t, cells)
        By tree and by cell of a value (how many cuts lie below it; c + 1 where it is missing; for categories
        its code) the leaves that are left; of trees of several words, the row of `masks` that says so.
    masks : (rows, words), optional
    """

    cuts: np.ndarray
    is_levels: bool
    rows: np.ndarray
    masks: np.ndarray | None

    def left(self, values: np.ndarray) -> np.ndarray:
        """Return the leaves that values leave of each tree, (t, n) or (t, n, words); n is 1 of equal ones."""
        if (values == values[0]).all():
            values = values[:1]
        gone = np.isnan(values)
        if self.is_levels:
            cells = np.where(gone, self.rows.shape[1] - 1, values).astype(np.intp)
        else:
            cells = np.searchsorted(self.cuts, values, side="left")
            cells[gone] = len(self.cuts) + 1
        found = self.rows.take(cells, axis=1)
        return found if self.masks is None else self.masks.take(found, axis=0)


@dataclass(frozen=True, eq=False)
class LeafMasks:
    """Trees made ready; `columns` are those that any of them asks about, by place in the matrix.

    Attributes
    ----------
    every : (t,) or (t, words)
        All leaves of each tree, as bits: in a word, or eight words of 64 or a multiple.
    leaves : (leaves,) int
        Nodes that are leaves, tree by tree, from left to right.
    first : (t,) int
        Where a tree's begin.
    """

    columns: dict[int, _Column]
    every: np.ndarray
    leaves: np.ndarray
    first: np.ndarray

    @classmethod
    def of(cls, trees: _Nodes) -> LeafMasks | None:
        """Make trees ready; None where that would take too much memory, or not pay."""
        size = np.diff(np.append(trees.roots, len(trees.feature)))
        if (np.diff(trees.roots) <= 0).any() or trees.roots[0] != 0:
            return None
        tree = np.repeat(np.arange(len(trees.roots)), size)
        if not _are_trees(trees, tree):
            return None
        low, middle, leaves, first = _spans(trees, tree)
        most = int(np.diff(np.append(first, len(leaves))).max())
        words = 1 if most <= _BITS else 8 * -(-most // (8 * _BITS))
        asks = np.flatnonzero(trees.feature >= 0)
        if words > _MOST_WORDS or len(trees.roots) * len(asks) > _MOST_PLACES:
            return None
        sizes = np.diff(np.append(first, len(leaves)))
        bits = next(size for size in _WIDTHS if most <= size or size == _BITS)
        every = _words(sizes, words).astype(f"u{bits // 8}")
        columns = {}
        for place in np.unique(trees.feature[asks]).tolist():
            nodes = asks[trees.feature[asks] == place]
            made = _column(trees, nodes, tree[nodes], low[nodes], middle[nodes], every)
            if made is None:
                return None
            columns[place] = made
        return cls(columns, every[:, 0] if words == 1 else every, leaves, first)

    def walk(
        self, x: np.ndarray, moved: Sequence[tuple[slice, Sequence[int]]]
    ) -> Iterator[tuple[int | slice, slice, np.ndarray]]:
        """Yield leaves of n people (copy 0) and of their copies, (c, n, d): copy, people, nodes (t, people).

        Of few people all copies come together, and nodes are (t, c, n).

        Parameters
        ----------
        moved : sequence of (slice, columns)
            Copies, and the columns of the matrix in which they differ from the people.
        """
        n = x.shape[1]
        at_once = max(1, _CELLS // self.every.size)
        if len(x) * n <= at_once:
            left = self._together(x, moved)
            nodes = self._nodes(left.reshape(len(left), -1, *self.every.shape[1:]))
            yield slice(0, len(x)), slice(0, n), nodes.reshape(-1, len(x), n)
            return
        for start in range(0, n, at_once):
            people = slice(start, min(start + at_once, n))
            for copy, left in self._left(x[:, people], moved):
                nodes = self._nodes(left)
                yield copy, people, np.broadcast_to(nodes, (len(nodes), people.stop - start))

    def _nodes(self, left: np.ndarray) -> np.ndarray:
        """Return the leaf of each row, (t, n), from those that nothing rules out."""
        nodes: np.ndarray = self.leaves.take(_lowest(left) + self.first[:, None])
        return nodes

    def _without(
        self, x: np.ndarray, moved: Sequence[tuple[slice, Sequence[int]]]
    ) -> tuple[list[list[int]], list[np.ndarray], np.ndarray]:
        """Return which columns each group of copies differs in, and what `_without_each` says of people."""
        own = {place: column.left(x[0, :, place]) for place, column in self.columns.items()}
        groups = [[place for place in places if place in self.columns] for _, places in moved]
        return groups, *_without_each(own, groups, self.every[:, None])

    def _together(self, x: np.ndarray, moved: Sequence[tuple[slice, Sequence[int]]]) -> np.ndarray:
        """Return the leaves that nothing rules out, of people and copies, (t, c, n) or (t, c, n, words)."""
        groups, rest, base = self._without(x, moved)
        copies, n = x.shape[:2]
        left = np.empty((len(self.every), copies, n, *self.every.shape[1:]), dtype=self.every.dtype)
        left[:, 0] = base
        for (which, _), places, others in zip(moved, groups, rest, strict=True):
            left[:, which] = others[:, None]
            for place in places:
                there = self.columns[place].left(x[which, :, place].reshape(-1))  # of one where all are equal
                many = (-1, n) if there.shape[1] > 1 else (1, 1)
                left[:, which] &= there.reshape(len(there), *many, *there.shape[2:])
        return left

    def _left(
        self, x: np.ndarray, moved: Sequence[tuple[slice, Sequence[int]]]
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Yield of each copy the leaves that nothing rules out."""
        groups, rest, base = self._without(x, moved)
        yield 0, base
        for (which, _), places, others in zip(moved, groups, rest, strict=True):
            for copy in range(which.start, which.stop):
                there = (self.columns[place].left(x[copy, :, place]) for place in places)
                yield copy, reduce(np.bitwise_and, there, others)


def _without_each(
    masks: Mapping[int, np.ndarray], groups: Sequence[Sequence[int]], every: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the leaves that no column but those of each group rules out, and those that none does."""
    grouped = {place for group in groups for place in group}
    alone = [mask for place, mask in masks.items() if place not in grouped]
    own = [reduce(np.bitwise_and, [masks[place] for place in group], every) for group in groups]
    before = [*accumulate(own, np.bitwise_and, initial=reduce(np.bitwise_and, alone, every))]
    after = [*accumulate(own[:0:-1], np.bitwise_and, initial=every)][::-1]
    return [a & b for a, b in zip(before, after, strict=False)], before[-1]


def _lowest(left: np.ndarray) -> np.ndarray:
    """Return the place of the lowest bit that is set, of words (t, n) or rows of words (t, n, words)."""
    if left.ndim == 2:
        return _zeros(left).astype(np.intp)
    there = (left != 0).view(np.uint64)  # a byte a word, eight words in one
    word = (_zeros(there[..., -1]) >> 3).astype(np.intp)  # divisions take several times as long
    word += 8 * (there.shape[-1] - 1)
    for place in range(there.shape[-1] - 2, -1, -1):
        own = there[..., place]
        word = np.where(own != 0, (_zeros(own) >> 3) + np.intp(8 * place), word)
    first = np.arange(0, left.size, left.shape[-1]).reshape(word.shape)
    return (word << 6) + _zeros(left.reshape(-1).take(first + word))


def _zeros(words: np.ndarray) -> np.ndarray:
    """Return how many zeros follow the lowest bit that is set, uint8."""
    found: np.ndarray = np.bitwise_count(~words & (words - words.dtype.type(1)))
    return found


def _words(numbers: np.ndarray, words: int) -> np.ndarray:
    """Return rows of words with so many lowest bits set, (i, words)."""
    numbers = numbers[:, None] - _BITS * np.arange(words)
    shift = np.clip(numbers, 0, _BITS - 1).astype(np.uint64)
    some = (np.uint64(1) << shift) - np.uint64(1)
    return np.where(numbers >= _BITS, _EVERY, some)


def _are_trees(trees: _Nodes, tree: np.ndarray) -> bool:
    """Tell whether every node but the roots is the child of one node, of its own tree."""
    inner = np.flatnonzero(trees.feature >= 0)
    children = np.concatenate([trees.left[inner], trees.right[inner]])
    others = np.setdiff1d(np.arange(len(tree)), trees.roots)
    one_each = len(children) == len(others) and bool((np.sort(children) == others).all())
    return one_each and bool((tree[children] == tree[np.concatenate([inner, inner])]).all())


def _spans(trees: _Nodes, tree: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return where each node's leaves begin within its tree, and its right child's; all leaves in order.

    The last of what is returned is where each tree's leaves begin. Children come after their parents: sizes
    are summed from the last node up, places given from the first down.
    """
    left, right, leaf = trees.left.tolist(), trees.right.tolist(), (trees.feature < 0).tolist()
    sizes = [1] * len(leaf)
    for node in range(len(leaf) - 1, -1, -1):
        if not leaf[node]:
            sizes[node] = sizes[left[node]] + sizes[right[node]]
    low = [0] * len(leaf)
    for node, is_leaf in enumerate(leaf):
        if not is_leaf:
            low[left[node]] = low[node]
            low[right[node]] = low[node] + sizes[left[node]]
    begins, lengths = np.array(low), np.array(sizes)
    middle = begins + np.where(trees.feature < 0, 0, lengths[trees.left])
    leaves = np.flatnonzero(trees.feature < 0)
    leaves = leaves[np.lexsort((begins[leaves], tree[leaves]))]
    first = np.searchsorted(tree[leaves], np.arange(len(trees.roots)))
    return begins, middle, leaves, first


def _column(
    trees: _Nodes,
    nodes: np.ndarray,
    tree: np.ndarray,
    low: np.ndarray,
    middle: np.ndarray,
    every: np.ndarray,
) -> _Column | None:
    """Make one column ready from the nodes that ask about it; None where some ask for levels and some not."""
    t, words = every.shape
    sets = trees.level_set[nodes]
    is_levels = bool((sets >= 0).all())
    if not is_levels and (sets >= 0).any():
        return None
    # leaves that are left where a test fails: all but those of the left child
    kept = ~(_words(middle, words) & ~_words(low, words))
    all_kept = np.full((1, words), _EVERY)
    cuts = np.empty(0) if is_levels else np.unique(trees.threshold[nodes])
    rows = np.empty((t, trees.level_sets.shape[1] if is_levels else len(cuts) + 2), dtype=np.intp)
    masks, at = [], 0
    for each in range(t):
        own = np.flatnonzero(tree == each)
        if is_levels:
            fails = trees.level_sets[sets[own]] == 0  # (nodes, codes)
            made = np.bitwise_and.reduce(
                np.where(fails[:, :, None], kept[own, None], _EVERY), axis=0, initial=_EVERY
            )
            made, place = np.unique(made, axis=0, return_inverse=True)
            rows[each] = place.reshape(-1) + at
        else:
            own = own[np.argsort(trees.threshold[nodes[own]], kind="stable")]
            made = np.bitwise_and.accumulate(np.concatenate([all_kept, kept[own]]), axis=0)
            # a value fails the tests whose thresholds lie below it
            below = np.searchsorted(trees.threshold[nodes[own]], np.append(cuts, np.inf), side="left")
            rows[each, :-1] = at + below
            right = own if trees.kind == "forest" else own[trees.missing_left[nodes[own]] == 0]
            gone = np.bitwise_and.reduce(kept[right], axis=0, initial=_EVERY)
            made = np.concatenate([made, gone[None]])
            rows[each, -1] = at + len(made) - 1
        masks.append((made & every[each]).astype(every.dtype))
        at += len(made)
    if words == 1:
        return _Column(cuts, is_levels, np.concatenate(masks)[:, 0].take(rows), None)
    return _Column(cuts, is_levels, rows, np.concatenate(masks))
