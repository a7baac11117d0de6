"""The rule-set audit: check, count, search, test, sample, rank, pack."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from audits.checks import check_options, generator
from audits.data import AuditData
from audits.errors import InputError
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.rule_sets.assembly import PeopleSummary, pack
from audits.rule_sets.inference.contexts import compared_in_context, confirm_in_context, tests_of
from audits.rule_sets.inference.permutation import (
    PeopleCounts,
    adjusted_p_values,
    agreeing,
    confirm,
    critical,
    first_interval,
    maxima,
    shrinkage,
    touching,
    whole_people,
    z_scores,
)
from audits.rule_sets.leaders.tables import RuleSetTests, people_table, rule_sets_table
from audits.rule_sets.measures.findings import measure_columns, measure_result
from audits.rule_sets.measures.values import Function, Values, compared_values, measure_people, shared_draws
from audits.rule_sets.options import RuleSetsOptions
from audits.rule_sets.perturbation.sampling import PerturbationScores, sample, sample_texts
from audits.rule_sets.perturbation.terms import TermExchange, exchange
from audits.rule_sets.result import RuleSetsResult
from audits.stats import benjamini_hochberg, holm
from audits.stats.shares import newcombe_ends
from audits.subgroups.attributes import Attribute
from audits.subgroups.binning import read_attributes
from audits.subgroups.cells import Cells, count_cells
from audits.subgroups.search import Search, candidates
from audits.subgroups.sums import GroupSums
from audits.subgroups.texts import TERMS, Vocabulary, any_rule, mine_texts, text_attributes

__all__ = ["count_candidates", "rule_sets"]

_HALF_DRAWS = 399
_SPLIT_SUMS = 4_000_000
_WORDS = {
    "max": "permutation maximum",
    "holm": "Holm",
    "bh": "Benjamini-Hochberg",
}


def rule_sets(
    subject: Subject,
    options: RuleSetsOptions | None = None,
    *,
    functions: Mapping[str, Function] | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> RuleSetsResult:
    """Find the groups, described by rules on protected attributes, that the model decides differently.

    Parameters
    ----------
    subject : Subject
        Data, model and threshold under audit.
    options : RuleSetsOptions
        What the auditor chose; the defaults where it is left out.
    functions : mapping of name to callable, optional
        Further measures: ``function(subject)`` returns a number for each person, (n,), NaN for those whom it
        is not about; groups are compared by its mean.
    rng : Generator, int or None
        Draws of permutations, halves and perturbations; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Returns
    -------
    RuleSetsResult
        A score of 0 says that a group is decided as everyone else is; its direction says whether the people
        inside are advantaged or harmed.

    Raises
    ------
    InputError
        No attribute to make rules of, one with too many values, or no group as large as the support; a
        measure that needs a label or probabilities that are not there, or a function without a number.

    Notes
    -----
    Definition 4.1, Algorithms 1 and 2, Theorem 4.2 of Zhang, Wang, Sun, Sun (2022).
    """
    options = check_options(RuleSetsOptions, options, "rule_sets")
    streams = generator(rng).spawn(7)
    data = subject.data
    progress(0.0, "Scoring people")
    decisions = np.asarray(subject.decisions, dtype=bool)
    vocabulary: Vocabulary | None = None
    notes: tuple[str, ...] = ()
    if options.text is not None:
        vocabulary = Vocabulary(TERMS if options.terms is None else options.terms)
        attributes = text_attributes(data, options.text, vocabulary)
    else:
        attributes, notes = read_attributes(data, options)
    sizes = [len(item.levels) for item in attributes]
    cells = count_cells([item.codes for item in attributes], sizes, decisions, data.weights)

    values = measure_people(subject, cells, options.measures, functions or {})

    def sampler(groups: GroupSums, n: np.ndarray, told: Progress) -> PerturbationScores | None:
        if vocabulary is None:
            return sample(subject, groups, n, options, rng=streams[3], progress=told)
        return sample_texts(subject, vocabulary, groups, options, rng=streams[3], progress=told)

    def exchanger(told: Progress) -> TermExchange | None:
        if vocabulary is None:
            return None
        return exchange(subject, vocabulary, attributes, cells, options, rng=streams[5], progress=told)

    audited = PeopleSummary(
        rows=data.rows,
        outcome=subject.outcome,
        invents=subject.model.invents,
        people=people_table(subject, cells)
        if data.gathered is None
        else people_table(subject, cells).iloc[:0],
    )
    return audit_cells(
        audited, attributes, cells, options, notes, streams, sampler, progress, exchanger, values
    )


def audit_cells(
    audited: PeopleSummary,
    attributes: tuple[Attribute, ...],
    cells: Cells,
    options: RuleSetsOptions,
    notes: tuple[str, ...],
    streams: Sequence[np.random.Generator],
    sampler: Callable[[GroupSums, np.ndarray, Progress], PerturbationScores | None],
    progress: Progress,
    exchanger: Callable[[Progress], TermExchange | None],
    values: Sequence[Values],
) -> RuleSetsResult:
    """Search, test, sample and rank what was counted; nothing here looks at rows but the measures' values."""
    for_tests, for_halves, for_splits = streams[:3]
    progress(0.05, "Counting rule sets")
    if options.text is None:
        search = Search(cells, attributes, support=options.support, depth=options.depth)
        search.run(options.max_candidates, part(progress, 0.05, 0.25))
        mined = search.found()
    else:
        mined = mine_texts(cells, attributes, options)
    if not len(mined.n):
        raise _nothing_frequent(cells, attributes, options)
    mined, contexts = compared_in_context(cells, attributes, mined, options.support)
    if not len(mined.n):
        raise _nothing_frequent(cells, attributes, options)
    people = whole_people(cells)
    groups = GroupSums(cells, attributes, mined.rules)
    good = float(cells.favorable.sum())
    counts = mined.favorable, mined.n, good - mined.favorable, cells.total - mined.n
    if contexts is not None:
        counts = contexts.counts(PeopleCounts(cells.n, cells.favorable))
    tests, inference, null = _test(
        people, groups, counts, options, for_tests, part(progress, 0.25, 0.5), narrowed=contexts is not None
    )
    if contexts is None:
        halves = confirm(
            people, groups, draws=min(options.permutations, _HALF_DRAWS), level=options.level, rng=for_halves,
            progress=part(progress, 0.5, 0.75),
        )  # fmt: skip
        splits = int(np.clip(_SPLIT_SUMS // len(groups), 16, 96))
        bias = shrinkage(people, groups, splits=splits, rng=for_splits)
    else:
        halves, bias = confirm_in_context(people, contexts, level=options.level, rng=for_halves)
    first = first_interval(people, groups, counts, null, level=options.level, rng=for_splits)
    sampled = sampler(groups, mined.n, part(progress, 0.75, 0.85))
    exchanged = exchanger(part(progress, 0.85, 0.88))
    tested = compared_values(
        values,
        groups,
        draws=shared_draws(options.permutations, len(values), options.level),
        level=options.level,
        rng=streams[-1],
        progress=part(progress, 0.88, 0.95),
    )
    progress(0.95, "Ranking groups")
    table = rule_sets_table(attributes, cells, mined, counts, tests, halves, sampled)
    of_rules, of_cells = measure_columns(tested)
    measures = tuple(
        measure_result(
            each,
            table,
            groups,
            dataclasses.asdict(options),
            shared=len(tested),
            complete=mined.complete,
        )
        for each in tested
    )
    if contexts is not None:
        table = table.assign(narrowed=contexts.narrowed)
    return pack(
        audited,
        options,
        notes,
        attributes,
        cells,
        mined,
        table.assign(**of_rules),
        halves,
        sampled,
        inference,
        bias,
        first,
        people,
        exchanged,
        measures,
        of_cells,
    )


def _test(
    people: PeopleCounts,
    groups: GroupSums,
    counts: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    options: RuleSetsOptions,
    rng: np.random.Generator,
    progress: Progress,
    *,
    narrowed: bool,
) -> tuple[RuleSetTests, dict[str, Any], np.ndarray]:
    """Test every rule set, and widen every interval, for having looked at all of them."""
    p, gaps, z = tests_of(counts)
    family, correction = len(p), options.correction
    null = np.zeros(options.permutations)
    if narrowed:
        correction = "holm" if correction == "max" else correction
    else:
        z = z_scores(people, groups)
        null = maxima(people, groups, draws=options.permutations, rng=rng, progress=progress)
    if correction == "max":
        corrected = adjusted_p_values(z, null)
        interval_level = 2 * float(norm.sf(critical(null, options.level)))
        if not null.any():  # decisions that are all alike can be shuffled to nothing else
            interval_level = options.level / family
    elif correction == "holm":
        corrected = holm(p)
        interval_level = options.level / family
    else:
        corrected = benjamini_hochberg(p)
        # intervals of the selected, at the false coverage rate: Benjamini, Yekutieli (2005)
        interval_level = options.level * max(1, int((corrected <= options.level).sum())) / family
    interval_level = max(interval_level, 1e-12)
    low, high = newcombe_ends(*counts, level=interval_level)
    if correction == "max":
        held = (corrected <= options.level) & (low <= 0) & (high >= 0)
        corrected[held] = adjusted_p_values(touching(*(side[held] for side in counts)), null)
    low, high = agreeing(gaps, low, high, corrected <= options.level)
    inference = {
        "correction": correction,
        "words": _WORDS[correction],
        "permutations": options.permutations,
        "family": family,
        "critical": float(norm.isf(interval_level / 2)),
        "interval_level": interval_level,
        "chance_maximum": float(np.median(null)),
    }
    return RuleSetTests(z, corrected, low, high), inference, null


def _nothing_frequent(
    cells: Cells, attributes: tuple[Attribute, ...], options: RuleSetsOptions
) -> InputError:
    if options.text is not None:
        held = [cells.n[any_rule(item)[cells.codes[:, place]]].sum() for place, item in enumerate(attributes)]
        n = np.array(held)
    else:
        search = Search(cells, attributes, support=1e-12, depth=1)
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


def count_candidates(data: AuditData, options: RuleSetsOptions) -> int:
    """Return how many rule sets the options make of the data by definition, before anything is run.

    Raises
    ------
    InputError
        As `rule_sets` would.
    """
    attributes, _ = read_attributes(data, options)
    return candidates(attributes, options.depth)
