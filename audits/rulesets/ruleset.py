"""The rule-set audit: check, count, search, test, sample, rank, pack."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import norm

from audits.checks import build, generator
from audits.data import AuditData
from audits.errors import InputError
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.rulesets.attributes import Attribute, read_attributes
from audits.rulesets.cells import Cells, count_cells
from audits.rulesets.comparisons import Comparison, largest_pair, linear_threshold
from audits.rulesets.findings import rule_words
from audits.rulesets.inference import (
    Halves,
    People,
    adjusted,
    confirm,
    critical,
    exact_p,
    maxima,
    shrinkage,
    whole_people,
)
from audits.rulesets.mining import Mined, Search, candidates
from audits.rulesets.options import Edges, RuleSetsOptions
from audits.rulesets.ranking import is_evidence, leaders, support_sweep
from audits.rulesets.result import Discovery, RuleSetsResult
from audits.rulesets.sampling import Sampled, sample
from audits.rulesets.scoring import standardized
from audits.rulesets.sums import GroupSums
from audits.rulesets.tables import (
    MOST_ROWS,
    Tests,
    cells_table,
    people_table,
    rule_sets_table,
    rules_table,
)
from audits.rulesets.text import TERMS, Vocabulary, any_rule, mine_texts, sample_texts, text_attributes
from audits.rulesets.words import finding, warnings_for
from audits.stats import (
    EVIDENCE,
    INSUFFICIENT,
    NO_EVIDENCE,
    Estimate,
    Verdict,
    benjamini_hochberg,
    holm,
    newcombe,
    power_of_difference,
    wilson,
)
from audits.stats.shares import newcombe_ends
from audits.stats.verdicts import POWER

__all__ = ["count_candidates", "rule_sets", "rule_sets_audit"]

_HALF_DRAWS = 399
_SPLIT_SUMS = 4_000_000
_MOST_PEOPLE = 10**12
_WORDS = {
    "max": "permutation maximum",
    "holm": "Holm",
    "bh": "Benjamini-Hochberg",
}


def rule_sets(
    subject: Subject,
    *,
    protected: tuple[str, ...] | None = None,
    text: str | None = None,
    terms: dict[str, tuple[str, ...]] | None = None,
    context: tuple[str, ...] = (),
    support: float = 0.05,
    bins: int | dict[str, int | Edges] = 10,
    binning: Literal["width", "quantile"] = "width",
    categories: Literal["subsets", "values"] = "subsets",
    intervals: Literal["runs", "thresholds", "bins"] = "runs",
    depth: int | None = None,
    max_candidates: int = 2_000_000,
    samples: int = 1000,
    error: float = 0.05,
    confidence: float = 0.95,
    max_samples: int = 500_000,
    permutations: int = 999,
    correction: Literal["max", "holm", "bh"] = "max",
    level: float = 0.05,
    tolerance: float = 0.0,
    material: float = 0.10,
    top: int = 20,
    overlap: float = 0.5,
    rank_by: Literal["score", "evidence"] = "score",
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> RuleSetsResult:
    """Find the groups, described by rules on protected attributes, that the model decides differently.

    Parameters
    ----------
    subject : Subject
        Data, model and threshold under audit.
    rng : Generator, int or None
        Draws of permutations, halves and perturbations; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Other parameters are those of `RuleSetsOptions`.

    Returns
    -------
    RuleSetsResult
        A score of 0 says that a group is decided as everyone else is; its direction says whether the people
        inside are advantaged or harmed.

    Raises
    ------
    InputError
        No attribute to make rules of, one with too many values, or no group as large as the support.

    Notes
    -----
    Definition 4.1, Algorithms 1 and 2, Theorem 4.2 of Zhang, Wang, Sun, Sun (2022).
    """
    options = {
        "protected": protected,
        "text": text,
        "terms": terms,
        "context": context,
        "support": support,
        "bins": bins,
        "binning": binning,
        "categories": categories,
        "intervals": intervals,
        "depth": depth,
        "max_candidates": max_candidates,
        "samples": samples,
        "error": error,
        "confidence": confidence,
        "max_samples": max_samples,
        "permutations": permutations,
        "correction": correction,
        "level": level,
        "tolerance": tolerance,
        "material": material,
        "top": top,
        "overlap": overlap,
        "rank_by": rank_by,
    }
    return rule_sets_audit(subject, build(RuleSetsOptions, options, "rule_sets"), rng=rng, progress=progress)


def rule_sets_audit(
    subject: Subject,
    options: RuleSetsOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> RuleSetsResult:
    """Run `rule_sets` with checked options: what a spec's run calls."""
    for_tests, for_halves, for_splits, for_samples, for_linear = generator(rng).spawn(5)
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
    cells = count_cells(
        [item.codes for item in attributes],
        [len(item.levels) for item in attributes],
        decisions,
        data.weights,
    )
    progress(0.05, "Counting rule sets")
    if vocabulary is None:
        search = Search(cells, attributes, support=options.support, depth=options.depth)
        search.run(options.max_candidates, part(progress, 0.05, 0.25))
        mined = search.found()
    else:
        mined = mine_texts(cells, attributes, options)
    if not len(mined.n):
        raise _nothing_frequent(cells, attributes, options)
    people = whole_people(cells)
    groups = GroupSums(cells, attributes, mined.rules)
    tests, inference = _test(people, groups, mined, options, for_tests, part(progress, 0.25, 0.5))
    halves = confirm(
        people, groups, draws=min(options.permutations, _HALF_DRAWS), level=options.level, rng=for_halves,
        progress=part(progress, 0.5, 0.75),
    )  # fmt: skip
    splits = int(np.clip(_SPLIT_SUMS // len(groups), 16, 96))
    bias = shrinkage(people, groups, splits=splits, rng=for_splits)
    sampling = part(progress, 0.75, 0.95)
    if vocabulary is None:
        sampled = sample(subject, groups, mined.n, options, rng=for_samples, progress=sampling)
    else:
        sampled = sample_texts(subject, vocabulary, groups, options, rng=for_samples, progress=sampling)
    progress(0.95, "Ranking groups")
    others: tuple[Comparison | None, ...] = ()
    if vocabulary is None:
        others = (
            largest_pair(cells, attributes, level=options.level),
            linear_threshold(
                people, cells, attributes, support=options.support, level=options.level, rng=for_linear
            ),
        )
    table = rule_sets_table(attributes, cells, mined, tests, halves, sampled)
    return _pack(
        subject,
        options,
        notes,
        attributes,
        cells,
        mined,
        table,
        halves,
        sampled,
        inference,
        bias,
        people,
        tuple(item for item in others if item is not None),
    )


def _test(
    people: People,
    groups: GroupSums,
    mined: Mined,
    options: RuleSetsOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[Tests, dict[str, Any]]:
    """Test every rule set, and widen every interval, for having looked at all of them."""
    cells = groups.cells
    total, good = cells.total, float(cells.favorable.sum())
    z = (mined.favorable - mined.n * cells.rate) * standardized(mined.n, total, cells.rate)
    null = maxima(people, groups, draws=options.permutations, rng=rng, progress=progress)
    family = len(mined.n)
    if options.correction == "max":
        corrected = adjusted(z, null)
        interval_level = 2 * float(norm.sf(critical(null, options.level)))
    elif options.correction == "holm":
        corrected = holm(exact_p(mined.n, mined.favorable, total, good))
        interval_level = options.level / family
    else:
        corrected = benjamini_hochberg(exact_p(mined.n, mined.favorable, total, good))
        # intervals of the selected, at the false coverage rate: Benjamini, Yekutieli (2005)
        interval_level = options.level * max(1, int((corrected <= options.level).sum())) / family
    interval_level = max(interval_level, 1e-12)
    low, high = newcombe_ends(
        mined.favorable, mined.n, good - mined.favorable, total - mined.n, level=interval_level
    )
    inference = {
        "correction": options.correction,
        "words": _WORDS[options.correction],
        "permutations": options.permutations,
        "family": family,
        "critical": float(norm.isf(interval_level / 2)),
        "interval_level": interval_level,
        "chance_maximum": float(np.median(null)),
    }
    return Tests(z, corrected, low, high), inference


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
        "must leave at least one group with somebody in it and somebody outside",
        options.support,
        f"give at most {np.floor(share * 1e4) / 1e4:g}, the share of the largest group"
        if share
        else "name other attributes",
    )


def _pack(
    subject: Subject,
    options: RuleSetsOptions,
    notes: tuple[str, ...],
    attributes: tuple[Attribute, ...],
    cells: Cells,
    mined: Mined,
    table: pd.DataFrame,
    halves: Halves,
    sampled: Sampled | None,
    inference: dict[str, Any],
    bias: float,
    people: People,
    others: tuple[Comparison, ...],
) -> RuleSetsResult:
    data, plain = subject.data, dataclasses.asdict(options)
    table.index.name = "number"
    rows = leaders(table, attributes, cells, plain, inference)
    seen = is_evidence(table, plain)
    judged, needed = _judge(bool(seen.any()), cells, mined, options, inference)
    discovery = _discovery(halves, people, attributes, mined, options)
    outcome = "favorable" if data.label is None else f"{data.label} = {' or '.join(map(str, data.favorable))}"
    top = float(table["difference"].abs().max())
    sweep = support_sweep(table, attributes, options.support, mined.n_frequent)
    kept = _first(table, options.rank_by, seen)
    warnings = warnings_for(
        constant=cells.rate in (0.0, 1.0),
        favorable=cells.rate == 1.0,
        complete=mined.complete,
        n_counted=mined.n_counted,
        n_candidates=mined.n_candidates,
        sampled=sampled is not None,
        invents=subject.model.invents,
        samples=options.samples,
        reached=sampled is None or sampled.reached,
        fractional=bool((np.abs(cells.n - people.n) > 1e-6).any()),
        discovery=discovery,
        judged=judged,
        top_confirmed=rows[0].confirmed,
        dropped=len(kept) if len(kept) < len(table) else 0,
        untested=mined.n_frequent - int(mined.same.sum()) if options.text is not None else 0,
    )
    return RuleSetsResult(
        options=plain,
        outcome=outcome,
        verdict=judged,
        finding=finding(
            rows,
            outcome,
            judged,
            noun="people" if options.text is None else "texts",
            family=len(table),
            n_evidence=int(seen.sum()),
            smallest=float(mined.n.min()),
            material=options.material,
            tolerance=options.tolerance,
            needed=needed,
        ),
        warnings=(*notes, *warnings),
        rows={"audited": data.n, "used": data.n, "left_out": {}},
        n=cells.total,
        favorable=wilson(float(cells.favorable.sum()), cells.total, level=options.level),
        attributes=tuple(
            {
                "name": item.name,
                "levels": list(item.levels),
                "rules": len(item.rules),
                "protected": item.protected,
            }
            for item in attributes
        ),
        n_candidates=mined.n_candidates,
        n_counted=mined.n_counted,
        n_frequent=mined.n_frequent,
        n_distinct=len(mined.n),
        complete=mined.complete,
        leaderboard=rows,
        inference=inference,
        top_score=top,
        shrunken_score=max(0.0, top - bias),
        discovery=discovery,
        people_needed=needed,
        sampling=None if sampled is None else _sampling(sampled, options),
        sweep=sweep,
        comparisons=others,
        rule_sets=kept,
        rules=rules_table(attributes),
        cells=cells_table(attributes, cells, sampled),
        people=people_table(subject, cells),
    )


def _first(table: pd.DataFrame, rank_by: str, seen: np.ndarray) -> pd.DataFrame:
    if len(table) <= MOST_ROWS:
        return table
    key = table["difference" if rank_by == "score" else "z"].abs().to_numpy()
    return table.iloc[np.lexsort((-key, ~seen))[:MOST_ROWS]]


def _judge(
    seen: bool, cells: Cells, mined: Mined, options: RuleSetsOptions, inference: dict[str, Any]
) -> tuple[Verdict, int | None]:
    """One of three verdicts; without power in the smallest group, also the people that would be needed."""
    if seen:
        return EVIDENCE, None
    total, level = cells.total, inference["interval_level"]
    # the harder of the two ends: a small group, or nearly everyone
    share = float(min(mined.n.min(), total - mined.n.max()) / total)

    def power(people: float) -> float:
        return power_of_difference(
            cells.rate, options.material, share * people, (1 - share) * people, level=level
        )

    if power(total) >= POWER:
        return NO_EVIDENCE, None
    low, high = total, 2 * total
    while power(high) < POWER and high < _MOST_PEOPLE:
        low, high = high, 2 * high
    while high - low > 0.005 * low:
        middle = (low + high) / 2
        low, high = (middle, high) if power(middle) < POWER else (low, middle)
    return INSUFFICIENT, int(np.ceil(high))


def _discovery(
    halves: Halves, people: People, attributes: tuple[Attribute, ...], mined: Mined, options: RuleSetsOptions
) -> Discovery:
    second = halves.second_people
    both = np.where(np.isnan(halves.first) | np.isnan(halves.second), -1.0, np.abs(halves.first))
    best = int(both.argmax())
    first = None if both[best] < 0 else float(halves.first[best])
    method = f"Newcombe {100 * (1 - options.level):.4g} %, on the half that did not pick it"
    score = Estimate(None, None, None, float(second.total), method)
    if first is not None:
        n, good = halves.counts[0][best], halves.counts[1][best]
        gap = newcombe(good, n, float(second.favorable.sum()) - good, second.total - n, level=options.level)
        if gap.value is not None and gap.low is not None and gap.high is not None:
            sign = 1.0 if first >= 0 else -1.0
            low, high = sorted((sign * gap.low, sign * gap.high))
            score = Estimate(sign * gap.value, low, high, gap.n, method)
    return Discovery(
        n_first=people.total - second.total,
        n_second=second.total,
        discovered=int(halves.discovered.sum()),
        confirmed=int(halves.confirmed.sum()),
        rule_set=rule_words(attributes, mined.rules[best : best + 1])[0],
        score_first=None if first is None else abs(first),
        score_second=score,
    )


def _sampling(sampled: Sampled, options: RuleSetsOptions) -> dict[str, Any]:
    return {
        "people": sampled.people,
        "columns": list(sampled.columns),
        "reached": sampled.reached,
        "largest_margin": float(sampled.margin.max()),
        "error": options.error,
        "confidence": options.confidence**2,
    }


def count_candidates(data: AuditData, options: RuleSetsOptions) -> int:
    """Return how many rule sets the options make of the data by definition, before anything is run.

    Raises
    ------
    InputError
        As `rule_sets` would.
    """
    attributes, _ = read_attributes(data, options)
    return candidates(attributes, options.depth)
