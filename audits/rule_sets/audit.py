"""The rule-set audit: check, count, search, test, sample, rank, pack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import false_discovery_control, norm

from audits.checks import check_options, generator
from audits.data import AuditData
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.rule_sets.assembly import pack
from audits.rule_sets.family import RuleSetFamily, find_family
from audits.rule_sets.inference.contexts import confirm_in_context, tests_of
from audits.rule_sets.inference.permutation import (
    adjusted_p_values,
    agreeing,
    confirm,
    critical,
    first_interval,
    maxima,
    observed_statistics,
    shrinkage,
    touching,
)
from audits.rule_sets.leaders.tables import RuleSetTests
from audits.rule_sets.measures.values import Function, compared_values, measure_people, shared_draws
from audits.rule_sets.options import RuleSetsOptions
from audits.rule_sets.perturbation.sampling import sample, sample_texts
from audits.rule_sets.perturbation.terms import exchange
from audits.rule_sets.result import RuleSetsResult
from audits.stats import holm
from audits.stats.selective import UnknownOutcomes
from audits.stats.shares import newcombe_ends
from audits.subgroups.binning import read_attributes
from audits.subgroups.cells import count_cells
from audits.subgroups.search import candidates
from audits.subgroups.texts import TERMS, Vocabulary, text_attributes

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
    labeled, subject = subject, subject.everyone  # measures are of people with a label, first among all
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
    cells = count_cells(attributes, decisions, data.weights)
    values = measure_people(labeled, cells, options.measures, functions or {})
    unknown = labeled.unknown_labels(level=options.level) if values else UnknownOutcomes()
    progress(0.05, "Counting rule sets")
    family = find_family(cells, options, part(progress, 0.05, 0.25))
    tests = _test(family, options, streams[:3], part(progress, 0.25, 0.75))
    told, exchanged = part(progress, 0.75, 0.85), None
    if vocabulary is None:
        sampled = sample(subject, family.groups, family.mined.n, options, rng=streams[3], progress=told)
    else:
        sampled = sample_texts(subject, vocabulary, family.groups, options, rng=streams[3], progress=told)
        told = part(progress, 0.85, 0.88)
        exchanged = exchange(subject, vocabulary, cells, options, rng=streams[5], progress=told)
    measured = compared_values(
        values,
        family.groups,
        draws=shared_draws(options.permutations, len(values), options.level),
        level=options.level,
        rng=streams[6],
        progress=part(progress, 0.88, 0.95),
    )
    progress(0.95, "Ranking groups")
    measured = tuple(
        each
        if each.values.name == "amount"  # which needs no label
        else replace(each, withheld=unknown.withheld, cannot_clear=unknown.cannot_clear or each.cannot_clear)
        for each in measured
    )
    return pack(subject, options, (*unknown.note(), *notes), family, tests, sampled, exchanged, measured)


def _test(
    family: RuleSetFamily,
    options: RuleSetsOptions,
    streams: Sequence[np.random.Generator],
    progress: Progress,
) -> RuleSetTests:
    """Test every rule set, on everyone and on halves, and the one that came first for having come first."""
    for_tests, for_halves, for_splits = streams
    people, groups, level = family.people, family.groups, options.level
    if family.contexts is None:
        null = maxima(
            people, groups, draws=options.permutations, rng=for_tests, progress=part(progress, 0.0, 0.5)
        )
        halves = confirm(
            people, groups, draws=min(options.permutations, _HALF_DRAWS), level=level, rng=for_halves,
            progress=part(progress, 0.5, 1.0),
        )  # fmt: skip
        splits = int(np.clip(_SPLIT_SUMS // len(groups), 16, 96))
        bias = shrinkage(people, groups, splits=splits, rng=for_splits)
    else:
        null = np.zeros(options.permutations)
        halves, bias = confirm_in_context(people, family.contexts, level=level, rng=for_halves)
    first = first_interval(people, groups, family.counts, null, level=level, rng=for_splits)
    return RuleSetTests(*_corrected(family, options, null), halves, first, bias)


def _corrected(
    family: RuleSetFamily, options: RuleSetsOptions, null: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
    """Return z-scores, p-values and ends of intervals (S,), for having looked at all; and how, in numbers."""
    counts, correction = family.counts, options.correction
    p, gaps, z = tests_of(counts)
    if family.contexts is None:
        z = observed_statistics(family.people, family.groups)[0]
    elif correction == "max":
        correction = "holm"
    if correction == "max":
        corrected = adjusted_p_values(z, null)
        interval_level = 2 * float(norm.sf(critical(null, options.level)))
        if not null.any():  # decisions that are all alike can be shuffled to nothing else
            interval_level = options.level / len(p)
    elif correction == "holm":
        corrected = holm(p)
        interval_level = options.level / len(p)
    else:
        corrected = false_discovery_control(p)  # Benjamini, Hochberg (1995)
        # intervals of the selected, at the false coverage rate: Benjamini, Yekutieli (2005)
        interval_level = options.level * max(1, int((corrected <= options.level).sum())) / len(p)
    interval_level = max(interval_level, 1e-12)
    low, high = newcombe_ends(*counts, level=interval_level)
    if correction == "max":
        held = (corrected <= options.level) & (low <= 0) & (high >= 0)
        corrected[held] = adjusted_p_values(touching(*(side[held] for side in counts)), null)
    inference = {
        "correction": correction,
        "words": _WORDS[correction],
        "permutations": options.permutations,
        "family": len(p),
        "critical": float(norm.isf(interval_level / 2)),
        "interval_level": interval_level,
        "chance_maximum": float(np.median(null)),
    }
    return z, corrected, *agreeing(gaps, low, high, corrected <= options.level), inference


def count_candidates(data: AuditData, options: RuleSetsOptions) -> int:
    """Return how many rule sets the options make of the data by definition, before anything is run.

    Raises
    ------
    InputError
        As `rule_sets` would.
    """
    attributes, _ = read_attributes(data, options)
    return candidates(attributes, options.depth)
