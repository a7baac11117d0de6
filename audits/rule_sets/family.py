"""The rule sets that an audit looks at together, and the people whom they are about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audits.errors import InputError
from audits.progress import Progress
from audits.rule_sets.inference.contexts import Contexts, compared_in_context
from audits.rule_sets.inference.permutation import PeopleCounts, whole_people
from audits.rule_sets.options import RuleSetsOptions
from audits.subgroups.cells import Cells
from audits.subgroups.search import FrequentRuleSets, Search
from audits.subgroups.sums import GroupSums
from audits.subgroups.texts import any_terms, mine_texts
from audits.text import join_names


@dataclass(frozen=True, eq=False)
class RuleSetFamily:
    """The different frequent rule sets, which p-values and intervals are corrected for.

    Attributes
    ----------
    cells : Cells
    mined : FrequentRuleSets
    people : PeopleCounts
        Whole people, for shuffling and halving.
    groups : GroupSums
    contexts : Contexts or None
        Where some are narrowed by ordinary columns: with whom each is compared.
    counts : tuple of float arrays (S,)
        Favorable people and people inside, and of those compared with.
    """

    cells: Cells
    mined: FrequentRuleSets
    people: PeopleCounts
    groups: GroupSums
    contexts: Contexts | None
    counts: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]

    def cannot_clear(self, options: RuleSetsOptions) -> str:
        """Say why equal groups clear nobody: some were not looked at, or none of an attribute; else empty."""
        if not self.mined.complete:
            return "the search stopped before covering every group"
        least = options.support * self.cells.total * (1 - 1e-12)
        small = [
            item.name
            for item, codes in zip(self.cells.attributes, self.cells.codes.T, strict=True)
            if item.protected
            and len(item.rules)
            and (item.rules @ np.bincount(codes, self.cells.n, len(item.levels))).max() < least
        ]
        if not small or options.text is not None:
            return ""
        return f"no group by {join_names(small, 'or')} holds {100 * options.support:.3g}% of people"


def find_family(cells: Cells, options: RuleSetsOptions, progress: Progress) -> RuleSetFamily:
    """Search the rule sets that are frequent enough, and that enough others can be compared with.

    Raises
    ------
    InputError
        If there is none.
    """
    if options.text is None:
        search = Search(cells, support=options.support, depth=options.depth)
        search.run(options.max_candidates, progress)
        mined = search.found()
    else:
        mined = mine_texts(cells, options)
    contexts = None
    if len(mined.n):
        mined, contexts = compared_in_context(cells, mined, options.support)
    if not len(mined.n):
        raise _nothing_frequent(cells, options)
    good = float(cells.favorable.sum())
    counts = mined.favorable, mined.n, good - mined.favorable, cells.total - mined.n
    if contexts is not None:
        counts = contexts.counts(PeopleCounts(cells.n, cells.favorable))
    groups = GroupSums(cells, mined.rules)
    return RuleSetFamily(cells, mined, whole_people(cells), groups, contexts, counts)


def _nothing_frequent(cells: Cells, options: RuleSetsOptions) -> InputError:
    if options.text is not None:
        n = cells.n @ any_terms(cells)
    else:
        search = Search(cells, support=1e-12, depth=1)
        search.run(10**9)
        n = search.found().n
    share = float(n.max() / cells.total) if len(n) else 0.0
    return InputError(
        "rule_sets.support",
        "must leave at least one group with people both in it and outside it",
        options.support,
        f"give at most {np.floor(share * 1e4) / 1e4:g}, the share of the largest group"
        if share
        else "name other attributes",
    )
