"""Rule sets of texts tested on texts into which their very terms were exchanged (section 4.3).

Few texts hold both terms of a pair, so that what the data say of most pairs is luck. But every text with some
term of both categories can be given the pair, and any other pair: the model's decisions on one text with all
combinations of terms in turn are compared within that text. Where the terms do not matter, decisions on one
text could be exchanged among the combinations, which is the permutation test: of each text for itself, and of
the farthest of all rule sets together. Texts that differ in the terms alone are one text.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from audits.models import Subject
from audits.progress import Progress, silent
from audits.results import frame_of
from audits.rule_sets.options import RuleSetsOptions
from audits.rule_sets.perturbation.sampling import decide_texts
from audits.stats import EVIDENCE, Estimate, Judgment, Verdict, judge, limit_of
from audits.stats.intervals import percent_level
from audits.stats.means import MIN, mean_test
from audits.subgroups.attributes import rule_words
from audits.subgroups.cells import Cells, memberships
from audits.subgroups.texts import MIN_TEXTS, Vocabulary, any_terms, category_shares, texts_of

_MAX_SCORED = 60_000  # texts made for all rule sets together, at most
_MAX_ROWS = 1000
_TEXTS_A_DRAW = 150_000_000  # decisions shuffled in all draws together


@dataclass(frozen=True)
class TermExchangeRow:
    """A rule set on texts with its terms exchanged in.

    Attributes
    ----------
    difference : Estimate
        Favorable share with these terms minus that of the same texts with all other combinations of the same
        categories; interval corrected for all rule sets looked at. Below 0 the terms harm.
    favorable_in, favorable_out : float
        Those two shares.
    texts : int
        Different texts that the terms were exchanged into.
    held : float
        Texts of the data that hold these very terms.
    adjusted_p : float
        Permutation p-value, corrected for all rule sets.
    """

    rule_set: str
    rules: tuple[dict[str, str], ...]
    difference: Estimate
    favorable_in: float
    favorable_out: float
    texts: int
    held: float
    adjusted_p: float
    judged: Judgment

    @property
    def verdict(self) -> Verdict:
        """What follows from the interval of `difference`."""
        return self.judged.verdict


@dataclass(frozen=True)
class TermExchange:
    """All rule sets of texts on exchanged texts: the first in rank, and what was looked at.

    Attributes
    ----------
    rows : tuple of ExchangedRow
        Those with evidence first, by the size of their difference; at most 1,000.
    tested, evident : int
        Rule sets tested, and those of them with evidence.
    untested : int
        Frequent rule sets that could not be: too few different texts, or nothing to exchange with.
    scored : int
        Texts made and scored.
    """

    rows: tuple[TermExchangeRow, ...]
    tested: int
    evident: int
    untested: int
    scored: int


@dataclass(frozen=True, eq=False)
class _Pattern:
    """Decisions (s, k) on s texts with each of k combinations of terms of the categories `chosen`."""

    chosen: tuple[int, ...]
    combinations: np.ndarray  # (k, len(chosen))
    decided: np.ndarray


def exchange(
    subject: Subject,
    vocabulary: Vocabulary,
    cells: Cells,
    options: RuleSetsOptions,
    *,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> TermExchange | None:
    """Test every frequent rule set of texts on texts into which its terms were exchanged.

    None where the model cannot score new texts, or none are asked for.
    """
    if not subject.model.invents or options.samples == 0:
        return None
    frequent = [
        chosen
        for chosen, share in category_shares(cells, options.depth).items()
        if share >= options.support * (1 - 1e-12)
    ]
    sizes = {chosen: int(np.prod([len(cells.attributes[k].rules) for k in chosen])) for chosen in frequent}
    budget = min(_MAX_SCORED, options.max_samples) // max(len(frequent), 1)
    column = str(options.text)
    rows, any_term = texts_of(subject.data, column), any_terms(cells)[cells.row_cell]
    found, untested = [], 0
    for at, chosen in enumerate(frequent):
        progress(0.7 * at / len(frequent), "Exchanging terms in the same texts")
        wanted = min(options.samples, budget // sizes[chosen])
        seeds = _seeds(rows, np.asarray(any_term[:, chosen].all(axis=1)), vocabulary, chosen, wanted, rng)
        if sizes[chosen] < 2 or len(seeds) < MIN_TEXTS:
            untested += sizes[chosen]
            continue
        found.append(_score_pattern(subject, vocabulary, rows, seeds, chosen, column))
    if not found:
        return TermExchange((), 0, 0, untested, 0)
    progress(0.7, "Testing exchanged terms")
    adjusted = _adjusted_p_values(found, options.permutations, rng)
    family = sum(len(each.combinations) for each in found)
    table = [
        _row(each, k, float(p), cells, options, family)
        for each, values in zip(found, adjusted, strict=True)
        for k, p in enumerate(values)
    ]
    table.sort(key=lambda row: (row.verdict != EVIDENCE, -abs(row.difference.value or 0.0)))
    evident = sum(row.verdict == EVIDENCE for row in table)
    scored = sum(each.decided.size for each in found)
    return TermExchange(tuple(table[:_MAX_ROWS]), family, evident, untested, scored)


def _seeds(
    rows: np.ndarray,
    held: np.ndarray,
    vocabulary: Vocabulary,
    chosen: tuple[int, ...],
    wanted: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Rows to exchange terms in, (s,): of texts that differ in those terms alone, one."""
    own = rng.permutation(np.flatnonzero(held))
    first = {place: vocabulary.terms[place][0] for place in chosen}
    seen: dict[str, int] = {}
    for row in own.tolist():
        if len(seen) >= wanted:
            break
        seen.setdefault(vocabulary.exchanged(rows[row], first).lower(), row)
    return np.array(sorted(seen.values()), dtype=int)


def _score_pattern(
    subject: Subject,
    vocabulary: Vocabulary,
    rows: np.ndarray,
    seeds: np.ndarray,
    chosen: tuple[int, ...],
    column: str,
) -> _Pattern:
    counts = [range(len(vocabulary.terms[place])) for place in chosen]
    combinations = np.array(list(itertools.product(*counts)))
    made = [
        vocabulary.with_terms(rows[row], chosen, terms)
        for row in seeds.tolist()
        for terms in combinations.tolist()
    ]
    decided = decide_texts(subject, column, made, np.repeat(seeds, len(combinations)))
    return _Pattern(chosen, combinations, np.asarray(decided, dtype=bool).reshape(len(seeds), -1))


def _adjusted_p_values(found: Sequence[_Pattern], draws: int, rng: np.random.Generator) -> list[np.ndarray]:
    """P-values (k,) of each pattern's combinations, corrected for all of all patterns by the largest."""
    observed, moving = [], []
    for each in found:
        share = each.decided.mean(axis=1, keepdims=True)
        spread = float(np.sqrt((share * (1 - share)).sum()))
        apart = (each.decided - share).sum(axis=0)
        observed.append(np.abs(apart) / spread if spread > 0 else np.zeros(len(apart)))
        mixed = each.decided[((share > 0) & (share < 1)).ravel()]
        if len(mixed):
            moving.append((mixed.astype(np.int8), float(mixed.mean(axis=1).sum()), spread))
    if not moving:
        return [np.ones(len(values)) for values in observed]
    size = sum(mixed.size for mixed, _, _ in moving)
    draws = int(max(199, min(draws, _TEXTS_A_DRAW // size)))
    largest = np.zeros(draws)
    for mixed, middle, spread in moving:
        for draw in range(draws):
            sums = rng.permuted(mixed, axis=1).sum(axis=0, dtype=np.int64)
            largest[draw] = max(largest[draw], float(np.abs(sums - middle).max()) / spread)
    ranked = np.sort(largest)
    return [
        (1 + draws - np.searchsorted(ranked, values * (1 - 1e-9), side="left")) / (draws + 1)
        for values in observed
    ]


def _row(
    each: _Pattern,
    k: int,
    p: float,
    cells: Cells,
    options: RuleSetsOptions,
    family: int,
) -> TermExchangeRow:
    attributes = cells.attributes
    decided, others = each.decided, each.decided.shape[1] - 1
    rest = (decided.sum(axis=1) - decided[:, k]) / others
    apart = decided[:, k] - rest
    level = options.level / family
    plain = mean_test(apart).interval(level)
    # all alike: so many others, at either end, may be missed
    if plain.low == plain.high and len(apart) >= MIN:
        missed, value = 1 - (level / 2) ** (1 / len(apart)), float(apart[0])
        ends = {"low": value - missed * (1 + value), "high": value + missed * (1 - value)}
        plain = replace(plain, **ends, method=f"binomial, all texts alike, {percent_level(level)}")
    low, high = plain.low, plain.high
    if low is not None and high is not None and p > options.level:  # what the test leaves open, so does it
        low, high = min(low, 0.0), max(high, 0.0)
    words = percent_level(options.level)
    method = f"{plain.method.replace(percent_level(level), words)}, all rule sets together"
    difference = Estimate(plain.value, low, high, float(len(decided)), method)
    rules = np.full((1, len(attributes)), -1)
    rules[0, list(each.chosen)] = each.combinations[k]
    chosen = list(zip(each.chosen, each.combinations[k].tolist(), strict=True))
    held = memberships(cells, rules)[0]
    rates = float(decided[:, k].mean()), float(rest.mean())
    least, most = limit_of(
        options.material, options.material_on, rate=rates[1], overall=float(np.mean(rates))
    )
    return TermExchangeRow(
        rule_set=rule_words(attributes, rules)[0],
        rules=tuple(
            {"attribute": attributes[place].name, "words": attributes[place].words[term]}
            for place, term in chosen
        ),
        difference=difference,
        favorable_in=rates[0],
        favorable_out=rates[1],
        texts=len(decided),
        held=float(cells.n[held].sum()),
        adjusted_p=p,
        judged=judge(
            difference,
            none=(-options.tolerance, options.tolerance),
            immaterial=(min(least, -options.tolerance), max(most, options.tolerance)),
            p_value=p,
            level=options.level,
        ),
    )


def exchanged_frame(found: TermExchange | None) -> pd.DataFrame:
    """Return the rule sets on exchanged texts as a table."""
    columns: dict[Any, str] = {
        "rule set": "rule_set",
        ("difference", "low", "high"): "difference",
        "favorable with these terms": "favorable_in",
        "favorable with others": "favorable_out",
        "texts": "texts",
        "texts that hold them": "held",
        "adjusted p": "adjusted_p",
        "verdict": "verdict",
    }
    return frame_of(() if found is None else found.rows, columns)
