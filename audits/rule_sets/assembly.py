"""The result of a rule-set audit, put together from its parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.data.values import MISSING
from audits.rule_sets.inference.permutation import Halves, LeaderInterval, PeopleCounts
from audits.rule_sets.inference.verdicts import is_evidence, judge_audit, judge_row
from audits.rule_sets.leaders.leaderboard import leaders, one_row, rank_key, support_sweep
from audits.rule_sets.leaders.tables import MAX_ROWS, cells_table, rules_table
from audits.rule_sets.options import RuleSetsOptions
from audits.rule_sets.perturbation.sampling import PerturbationScores
from audits.rule_sets.perturbation.terms import TermExchange
from audits.rule_sets.result import DECIDED_BY, Discovery, MeasureResult, RuleSetsResult
from audits.rule_sets.text import finding, on_exchanged, warnings_for
from audits.stats import Estimate, newcombe, wilson
from audits.stats.intervals import percent_level
from audits.subgroups.attributes import Attribute, rule_words
from audits.subgroups.cells import Cells
from audits.subgroups.search import FrequentRuleSets
from audits.subgroups.texts import category_shares

__all__ = ["PeopleSummary", "pack"]


@dataclass(frozen=True, eq=False)
class PeopleSummary:
    """What a result says of the people beside their counts.

    Attributes
    ----------
    rows : int
        Rows of the data.
    outcome : str
        What a favorable decision is.
    invents : bool
        Whether the model can score people who are not in the data.
    people : DataFrame
        Cell, decision and score by the user's row number; without rows where no row is kept.
    """

    rows: int
    outcome: str
    invents: bool
    people: pd.DataFrame


def pack(
    audited: PeopleSummary,
    options: RuleSetsOptions,
    notes: tuple[str, ...],
    attributes: tuple[Attribute, ...],
    cells: Cells,
    mined: FrequentRuleSets,
    table: pd.DataFrame,
    halves: Halves,
    sampled: PerturbationScores | None,
    inference: dict[str, Any],
    bias: float,
    first: LeaderInterval,
    people: PeopleCounts,
    exchanged: TermExchange | None = None,
    measures: tuple[MeasureResult, ...] = (),
    of_cells: Mapping[str, np.ndarray] | None = None,
) -> RuleSetsResult:
    """Rank, judge and word what was counted and tested."""
    plain = dataclasses.asdict(options)
    table.index.name = "number"
    rows = leaders(table, attributes, cells, plain, inference)
    seen = is_evidence(table, plain)
    judged, number = judge_audit(table, rows, cells, plain, inference, complete=mined.complete)
    about = next((row for row in rows if row.number == number), None)
    if about is None:
        about = one_row(table, number, attributes, cells, plain, inference)
    if MISSING in about.rule_set and seen.any():  # of whom something is missing says little about anyone
        key = rank_key(table, options.rank_by)[seen].sort_values(ascending=False, kind="stable")
        others = (one_row(table, int(k), attributes, cells, plain, inference) for k in key.index[:MAX_ROWS])
        better = next((row for row in others if row.material and MISSING not in row.rule_set), about)
        if better is not about:
            about, judged = better, judge_row(dict(table.loc[better.number]), plain, inference)
    if all(row.number != about.number for row in rows):  # the leaderboard holds what the verdict follows from
        rows = (*rows[: options.top - 1], about)
    discovery = _discovery(halves, people, attributes, mined, options)
    top = float(table["difference"].abs().max())
    shares = None if options.text is None else category_shares(cells, attributes, options.depth)
    sweep = support_sweep(table, attributes, options.support, mined.n_frequent, shares)
    named = {row.number for each in measures for row in each.leaderboard}
    kept = _first(table, options.rank_by, seen | table.index.isin(named))
    result = RuleSetsResult(
        options=plain,
        outcome=audited.outcome,
        judged=dataclasses.replace(judged, decided_by=f"{DECIDED_BY}{about.rule_set}"),
        finding="",
        warnings=notes,
        rows={"audited": audited.rows, "used": audited.rows, "left_out": {}},
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
        sampling=None if sampled is None else _sampling(sampled, options),
        sweep=sweep,
        measures=measures,
        rule_sets=kept,
        rules=rules_table(attributes),
        cells=cells_table(attributes, cells, sampled).assign(**(of_cells or {})),
        people=audited.people,
        shrunken=_shrunken(first, top, bias, table, cells, options.level),
        exchanged=exchanged,
    )
    said = finding(result, n_evidence=int(seen.sum()), smallest=float(mined.n.min()))
    warnings = warnings_for(
        result,
        invents=audited.invents,
        fractional=bool((np.abs(cells.n - people.n) > 1e-6).any()),
        untested=0 if options.text is None else mined.n_frequent - int(mined.same.sum()),
    )
    return dataclasses.replace(result, finding=said + on_exchanged(exchanged), warnings=(*notes, *warnings))


def _first(table: pd.DataFrame, rank_by: str, seen: np.ndarray) -> pd.DataFrame:
    if len(table) <= MAX_ROWS:
        return table
    key = rank_key(table, rank_by).to_numpy()
    return table.iloc[np.lexsort((-key, ~seen))[:MAX_ROWS]]


def _shrunken(
    first: LeaderInterval, top: float, bias: float, table: pd.DataFrame, cells: Cells, level: float
) -> Estimate:
    """The largest score, corrected for picking the largest, and an interval of what it estimates."""
    value = max(0.0, top - bias)
    method = (
        f"Newcombe {percent_level(level)}, corrected for the {first.plausible:,} of {len(table):,} groups "
        "that could have come first (locally simultaneous)"
    )
    return Estimate(value, min(first.low, value), max(first.high, value), cells.total, method)


def _discovery(
    halves: Halves,
    people: PeopleCounts,
    attributes: tuple[Attribute, ...],
    mined: FrequentRuleSets,
    options: RuleSetsOptions,
) -> Discovery:
    second = halves.second_people
    both = np.where(np.isnan(halves.first) | np.isnan(halves.second), -1.0, np.abs(halves.first))
    best = int(both.argmax())
    first = None if both[best] < 0 else float(halves.first[best])
    method = f"Newcombe {100 * (1 - options.level):.4g}%, on the half that did not pick it"
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


def _sampling(sampled: PerturbationScores, options: RuleSetsOptions) -> dict[str, Any]:
    return {
        "people": sampled.people,
        "columns": list(sampled.columns),
        "reached": sampled.reached,
        "largest_margin": float(sampled.margin.max()),
        "error": options.error,
        "confidence": options.confidence**2,
    }
