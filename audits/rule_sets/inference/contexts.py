"""Groups narrowed by ordinary columns are compared with the others in the same context.

Men in department F differ from everyone for what the department does to all who apply there; compared with
the others of department F they do not. Shuffling all decisions would break the tie of decision and context,
so such rule sets are tested exactly (Fisher's test within the context), with Holm over all of them.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.stats import norm

from audits.rule_sets.inference.permutation import Halves, PeopleCounts, exact_p, split_halves
from audits.stats import holm
from audits.subgroups.cells import Cells
from audits.subgroups.search import FrequentRuleSets
from audits.subgroups.sums import GroupSums


class Contexts:
    """Whom each rule set (S,) is compared with: the others of its context, or everyone else."""

    def __init__(self, cells: Cells, rules: np.ndarray) -> None:
        ordinary = np.array([not attribute.protected for attribute in cells.attributes])
        context = np.where(ordinary, rules, -1)
        self.narrowed: np.ndarray = np.asarray((context >= 0).any(axis=1))
        patterns, place = np.unique(context, axis=0, return_inverse=True)
        self._place = place.reshape(-1)
        self._groups = GroupSums(cells, rules)
        self._contexts = GroupSums(cells, patterns)

    def counts(self, people: PeopleCounts) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Favorable people and people inside, and of those compared with, (S,) each."""
        columns = np.column_stack([people.n, people.favorable])
        n, favorable = self._groups.of(columns).T
        everyone, good = self._contexts.of(columns)[self._place].T
        return favorable, n, good - favorable, everyone - n


def compared_in_context(
    cells: Cells, mined: FrequentRuleSets, support: float
) -> tuple[FrequentRuleSets, Contexts | None]:
    """Return the rule sets that as many of the same context can be compared with as a group needs, and who.

    None without ordinary columns: everyone is then compared with everyone else.
    """
    if all(attribute.protected for attribute in cells.attributes):
        return mined, None
    people = PeopleCounts(cells.n, cells.favorable)
    contexts = Contexts(cells, mined.rules)
    others = contexts.counts(people)[3]
    kept = (others >= support * cells.total * (1 - 1e-12)) | ~contexts.narrowed & (others > 1 - 1e-9)
    fields = {name: getattr(mined, name)[kept] for name in ("rules", "n", "favorable", "same")}
    mined = dataclasses.replace(mined, **fields)
    return mined, Contexts(cells, mined.rules)


def tests_of(counts: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return exact p-values, differences of shares and z-scores of rule sets, (S,) each."""
    good, n, rest_good, rest = counts
    p = exact_p(n, good, n + rest, good + rest_good)
    with np.errstate(invalid="ignore", divide="ignore"):
        gap = good / n - rest_good / rest
    return p, gap, np.sign(gap) * norm.isf(np.maximum(p, 1e-300) / 2)


def confirm_in_context(
    people: PeopleCounts, contexts: Contexts, *, level: float, rng: np.random.Generator
) -> tuple[Halves, float]:
    """Find on one random half of the people, confirm on the other.

    Returns
    -------
    halves : Halves
    bias : float
        How far the largest difference lies above the truth because it was picked as the largest: what the
        largest of the first half loses on the second, over the square root of 2, as noise on all people is
        that much smaller than on half of them.
    """
    first, second = split_halves(people, rng)
    one, other = contexts.counts(first), contexts.counts(second)
    p_first, gap_first, _ = tests_of(one)
    p_second, gap_second, _ = tests_of(other)
    discovered = holm(p_first) <= level
    confirmed = np.zeros(len(p_first), dtype=bool)
    if discovered.any():
        same = np.sign(gap_first[discovered]) == np.sign(gap_second[discovered])
        confirmed[discovered] = (holm(p_second[discovered]) <= level) & same
    size = np.where(np.isnan(gap_first) | np.isnan(gap_second), -1.0, np.abs(gap_first))
    best = int(size.argmax())
    lost = size[best] - np.sign(gap_first[best]) * gap_second[best] if size[best] >= 0 else 0.0
    halves = Halves(discovered, confirmed, gap_first, gap_second, other, second)
    return halves, max(0.0, float(lost)) / np.sqrt(2)
