"""Every frequent rule set, counted: Algorithm 1 of the paper without its loop.

A rule set is grown attribute by attribute. All frequent rule sets of one set of attributes are extended by
all rules of a further attribute in one matrix product over cells: (rule sets x cells) @ (cells x levels),
then (levels x rules). What is not frequent is never extended, because a narrower group is smaller.

Where there are more candidates than the auditor wants to wait for, the search goes from short to long rule
sets and from large to small groups. That order looks at no decision, so the permutation test stays valid
for the part that was searched.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audits.progress import Progress, silent
from audits.subgroups.attributes import Attribute
from audits.subgroups.cells import Cells

_BLOCK = 8_000_000  # numbers in one block of memberships: 64 MB


@dataclass(frozen=True, eq=False)
class FrequentRuleSets:
    """Frequent rule sets, those with the same people merged.

    Attributes
    ----------
    rules : int array (S, m)
        Rule of each attribute, -1 where it is free.
    n, favorable : float array (S,)
        People inside, and those of them decided favorably.
    same : int array (S,)
        Rule sets that have exactly these people; the shortest is kept.
    n_candidates : int
        Rule sets by definition.
    n_counted : int
        Candidates settled: counted, or narrower than one that is too small.
    n_frequent : int
        Candidates that reach the support, before merging, groups of everyone included.
    complete : bool
        Whether every candidate is settled.
    """

    rules: np.ndarray
    n: np.ndarray
    favorable: np.ndarray
    same: np.ndarray
    n_candidates: int
    n_counted: int
    n_frequent: int
    complete: bool


def candidates(attributes: Sequence[Attribute], depth: int | None = None) -> int:
    """Count rule sets by definition: a rule or none of each attribute, at least one of a protected one.

    Examples
    --------
    >>> from audits.subgroups.attributes import category
    >>> sex = category("sex", np.array([0, 1]), ["f", "m"])
    >>> race = category("race", np.array([0, 1]), ["a", "b", "c"])
    >>> candidates([sex, race])
    20
    """

    def ways(chosen: Sequence[Attribute]) -> int:
        by_depth = [1]
        for attribute in chosen:
            by_depth = [
                (by_depth[k] if k < len(by_depth) else 0)
                + (by_depth[k - 1] * len(attribute.rules) if k else 0)
                for k in range(len(by_depth) + 1)
            ]
        return sum(by_depth[: None if depth is None else depth + 1])

    return ways(attributes) - ways([item for item in attributes if not item.protected])


def merge_same_people(
    rules: np.ndarray, sums: np.ndarray, attributes: Sequence[Attribute]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Keep one of all rule sets with the same people, under the shortest description.

    Parameters
    ----------
    rules : int array (S, m)
    sums : float array (S, 4)
        Sums of `Cells.marked`: equal marks, equal people.

    Returns
    -------
    rules, sums, same
        The kept ones in their old order, and how many each stands for.
    """
    length = np.zeros(len(rules))
    for place, attribute in enumerate(attributes):
        used = rules[:, place] >= 0
        # a further attribute weighs more than any number of values
        length[used] += 1000 + attribute.length[rules[used, place]]
    order = np.lexsort((length, sums[:, 3], sums[:, 2]))
    starts = (
        np.flatnonzero(np.r_[True, (np.diff(sums[order][:, 2:], axis=0) != 0).any(1)])
        if len(order)
        else order
    )
    same = np.diff(np.r_[starts, len(order)])
    kept = order[starts]
    again = np.argsort(kept)
    return rules[kept[again]], sums[kept[again]], same[again]


class Search:
    """A search for frequent rule sets that can be continued.

    Parameters
    ----------
    cells : Cells
    support : float in (0, 1]
        Smallest share of people.
    depth : int, optional
        Most rules.

    Notes
    -----
    `run` counts a number of candidates; calling it again goes on where it stopped, and what a larger
    number finds begins with what a smaller one finds.
    """

    def __init__(self, cells: Cells, *, support: float, depth: int | None = None) -> None:
        self.cells, self.attributes = cells, cells.attributes
        self.depth = len(self.attributes) if depth is None else min(depth, len(self.attributes))
        # a share such as 0.05 of 100 people must not miss 5 by a rounding
        self.least = support * cells.total * (1 - 1e-12)
        self.n_counted = self.n_frequent = 0
        self._found: list[tuple[np.ndarray, np.ndarray]] = []
        self._weights = cells.marked()
        self._heap: list[tuple[int, float, int, tuple[int, ...], np.ndarray]] = []
        self._serial = 0
        self._push((), np.empty((1, 0), dtype=np.int16), np.array([cells.total]))

    @property
    def complete(self) -> bool:
        """Whether every candidate has been counted."""
        return not self._heap

    def run(self, most: int, progress: Progress = silent) -> None:
        """Count further rule sets until `most` are counted in all, or none is left."""
        while self._heap and self.n_counted < most:
            progress(min(self.n_counted / most, 1.0), f"Counting rule sets: {self.n_counted:,}")
            _, _, _, chosen, rules = heapq.heappop(self._heap)
            self._extend(chosen, rules)

    def found(self) -> FrequentRuleSets:
        """Merge what was found so far."""
        size = len(self.attributes)
        if not self.n_frequent:
            empty = np.empty(0)
            nobody = np.empty((0, size), dtype=np.int16)
            return FrequentRuleSets(nobody, empty, empty, empty, *self._counts())
        rules = np.concatenate([item[0] for item in self._found])
        sums = np.concatenate([item[1] for item in self._found])
        compared = sums[:, 0] < self.cells.total - 0.5 * self.cells.n.min()
        rules, sums, same = merge_same_people(rules[compared], sums[compared], self.attributes)
        return FrequentRuleSets(rules, sums[:, 0], sums[:, 1], same, *self._counts())

    def _counts(self) -> tuple[int, int, int, bool]:
        total = candidates(self.attributes, self.depth)
        return total, total if self.complete else self.n_counted, self.n_frequent, self.complete

    def _push(self, chosen: tuple[int, ...], rules: np.ndarray, n: np.ndarray) -> None:
        if len(chosen) >= self.depth or (chosen and chosen[-1] == len(self.attributes) - 1) or not len(rules):
            return
        order = np.argsort(-n, kind="stable")
        step = max(1, _BLOCK // len(self.cells.n))
        for start in range(0, len(order), step):
            part = order[start : start + step]
            self._serial += 1
            heapq.heappush(self._heap, (len(chosen), -float(n[part[0]]), self._serial, chosen, rules[part]))

    def _extend(self, chosen: tuple[int, ...], rules: np.ndarray) -> None:
        """Count all extensions of `rules` (F, d) over `chosen` by the rules of every later attribute."""
        codes = self.cells.codes
        # cells that agree in the chosen attributes are one: as many as the prefix can tell apart
        place = np.zeros(len(codes), dtype=np.int64)
        for name in chosen:
            place = place * self.attributes[name].rules.shape[1] + codes[:, name]
        _, first, place = np.unique(place, return_index=True, return_inverse=True)
        inside = np.ones((len(rules), len(first)))
        for name, column in zip(chosen, rules.T, strict=True):
            inside *= self.attributes[name].rules[:, codes[first, name]][column]
        for after in range(chosen[-1] + 1 if chosen else 0, len(self.attributes)):
            attribute = self.attributes[after]
            if len(attribute.rules):
                self._add((*chosen, after), rules, self._sums(inside, place, len(first), after))

    def _sums(self, inside: np.ndarray, place: np.ndarray, size: int, after: int) -> np.ndarray:
        """People, favorable ones and marks of every rule set with every rule of `after`, (F, 4, r)."""
        admitted = self.attributes[after].rules
        levels = admitted.shape[1]
        index = place * levels + self.cells.codes[:, after]
        spread = [
            np.bincount(index, weights, minlength=size * levels).reshape(size, levels)
            for weights in self._weights.T
        ]
        by_level = inside @ np.concatenate(spread, axis=1)
        return (by_level.reshape(-1, levels) @ admitted.T.astype(float)).reshape(len(inside), 4, -1)

    def _add(self, chosen: tuple[int, ...], rules: np.ndarray, sums: np.ndarray) -> None:
        frequent = sums[:, 0] >= self.least
        before, rule = np.nonzero(frequent)
        longer = np.column_stack([rules[before], rule]).astype(np.int16)
        kept = sums[before, :, rule]
        if any(self.attributes[name].protected for name in chosen):
            self.n_counted += frequent.size
            self.n_frequent += len(before)
            full = np.full((len(before), len(self.attributes)), -1, dtype=np.int16)
            full[:, list(chosen)] = longer
            self._found.append((full, kept))
        self._push(chosen, longer, kept[:, 0])
