"""The result of a rule-set audit, put together from its parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from audits.data.values import MISSING
from audits.models import Subject
from audits.rule_sets.family import RuleSetFamily
from audits.rule_sets.inference.permutation import Halves
from audits.rule_sets.inference.verdicts import is_evidence, judge_audit, judge_row
from audits.rule_sets.leaders.leaderboard import leaders, one_row, rank_key, support_sweep
from audits.rule_sets.leaders.tables import (
    MAX_ROWS,
    RuleSetTests,
    cells_table,
    people_table,
    rule_sets_table,
    rules_table,
)
from audits.rule_sets.measures.findings import measure_columns, measure_result
from audits.rule_sets.measures.values import MeasureTest
from audits.rule_sets.options import RuleSetsOptions
from audits.rule_sets.perturbation.sampling import PerturbationScores
from audits.rule_sets.perturbation.terms import TermExchange
from audits.rule_sets.result import DECIDED_BY, Discovery, LeaderRow, MeasureResult, RuleSetsResult
from audits.rule_sets.text import finding, on_exchanged, warnings_for
from audits.stats import Estimate, Judgment, newcombe, wilson
from audits.stats.intervals import percent_level
from audits.subgroups.attributes import rule_words
from audits.subgroups.texts import category_shares
from audits.text import begun


def pack(
    subject: Subject,
    options: RuleSetsOptions,
    notes: tuple[str, ...],
    family: RuleSetFamily,
    tests: RuleSetTests,
    sampled: PerturbationScores | None,
    exchanged: TermExchange | None,
    measured: Sequence[MeasureTest],
) -> RuleSetsResult:
    """Rank, judge and word what was counted and tested."""
    cells, mined, inference = family.cells, family.mined, tests.inference
    plain, data = dataclasses.asdict(options), subject.data
    table = rule_sets_table(family, tests, sampled)
    cannot_clear = family.cannot_clear(options)
    if cannot_clear and mined.complete:
        notes = (*notes, f"{begun(cannot_clear)}: nothing was searched by it alone.")
    measured = [replace(each, cannot_clear=each.cannot_clear or cannot_clear) for each in measured]
    measures = tuple(
        measure_result(each, table, family.groups, plain, shared=len(measured)) for each in measured
    )
    of_rules, of_cells = measure_columns(measured)
    table = table.assign(**of_rules)
    table.index.name = "number"
    rows = leaders(table, cells, plain, inference)
    seen = is_evidence(table, plain)
    about, judged = _about(table, rows, family, plain, inference, cannot_clear)
    if all(row.number != about.number for row in rows):  # the leaderboard holds what the verdict follows from
        rows = (*rows[: options.top - 1], about)
    top = float(table["difference"].abs().max())
    shares = None if options.text is None else category_shares(cells, options.depth)
    shrunken = _shrunken(tests, top, family, options.level)
    people = people_table(subject, cells)
    result = RuleSetsResult(
        options=plain,
        outcome=subject.outcome,
        judged=replace(judged, decided_by=f"{DECIDED_BY}{about.rule_set}"),
        finding="",
        warnings=notes,
        rows={"audited": data.rows, "used": data.rows, "left_out": {}},
        n=cells.total,
        favorable=wilson(float(cells.favorable.sum()), cells.total, level=options.level),
        attributes=tuple(
            {
                "name": item.name,
                "levels": list(item.levels),
                "rules": len(item.rules),
                "protected": item.protected,
            }
            for item in cells.attributes
        ),
        n_candidates=mined.n_candidates,
        n_counted=mined.n_counted,
        n_frequent=mined.n_frequent,
        n_distinct=len(mined.n),
        complete=mined.complete,
        leaderboard=rows,
        inference=inference,
        top_score=top,
        shrunken_score=float(shrunken.value or 0.0),
        discovery=_discovery(tests.halves, family, options),
        sampling=None if sampled is None else _sampling(sampled, options),
        sweep=support_sweep(table, cells.attributes, options.support, mined.n_frequent, shares),
        measures=measures,
        rule_sets=_kept(table, options.rank_by, seen, measures),
        rules=rules_table(cells.attributes),
        cells=cells_table(cells, sampled).assign(**of_cells),
        people=people if data.gathered is None else people.iloc[:0],
        shrunken=shrunken,
        exchanged=exchanged,
    )
    said = finding(result, n_evidence=int(seen.sum()), smallest=float(mined.n.min()))
    warnings = warnings_for(
        result,
        invents=subject.model.invents,
        fractional=bool((np.abs(cells.n - family.people.n) > 1e-6).any()),
        untested=0 if options.text is None else mined.n_frequent - int(mined.same.sum()),
    )
    return replace(result, finding=said + on_exchanged(exchanged), warnings=(*notes, *warnings))


def _about(
    table: pd.DataFrame,
    rows: Sequence[LeaderRow],
    family: RuleSetFamily,
    options: dict[str, Any],
    inference: dict[str, Any],
    cannot_clear: str,
) -> tuple[LeaderRow, Judgment]:
    """Return the row that the verdict follows from; of those with evidence one of people who are known."""

    def row_of(number: int) -> LeaderRow:
        return one_row(table, number, family.cells, options, inference)

    judged, number = judge_audit(table, rows, family.cells, options, inference, cannot_clear=cannot_clear)
    about = next((row for row in rows if row.number == number), None) or row_of(number)
    seen = is_evidence(table, options)
    if MISSING in about.rule_set and seen.any():  # of whom something is missing says little about anyone
        key = rank_key(table, options["rank_by"])[seen].sort_values(ascending=False, kind="stable")
        others = map(row_of, key.index[:MAX_ROWS].tolist())
        better = next((row for row in others if row.material and MISSING not in row.rule_set), None)
        if better is not None:
            return better, judge_row(dict(table.loc[better.number]), options, inference)
    return about, judged


def _kept(
    table: pd.DataFrame, rank_by: str, seen: np.ndarray, measures: Sequence[MeasureResult]
) -> pd.DataFrame:
    """Return the first rule sets of a long table, those with evidence or a finding by a measure first."""
    if len(table) <= MAX_ROWS:
        return table
    named = {row.number for each in measures for row in each.leaderboard}
    key = rank_key(table, rank_by).to_numpy()
    return table.iloc[np.lexsort((-key, ~(seen | table.index.isin(named))))[:MAX_ROWS]]


def _shrunken(tests: RuleSetTests, top: float, family: RuleSetFamily, level: float) -> Estimate:
    """The largest score, corrected for picking the largest, and an interval of what it estimates.

    The bias is that of whichever group comes first on a half, often a small one: a large group that is
    surely apart owes less to luck, and no less is stated than its interval allows.
    """
    first = tests.first
    value = max(0.0, top - tests.bias, first.low)
    method = (
        f"Newcombe {percent_level(level)}, corrected for the {first.plausible:,} of {len(tests.z):,} groups "
        "that could have come first (locally simultaneous)"
    )
    return Estimate(value, min(first.low, value), max(first.high, value), family.cells.total, method)


def _discovery(halves: Halves, family: RuleSetFamily, options: RuleSetsOptions) -> Discovery:
    second = halves.second_people
    both = np.where(np.isnan(halves.first) | np.isnan(halves.second), -1.0, np.abs(halves.first))
    best = int(both.argmax())
    first = None if both[best] < 0 else float(halves.first[best])
    method = f"Newcombe {100 * (1 - options.level):.4g}%, on the half that did not pick it"
    score = Estimate(None, None, None, float(second.total), method)
    if first is not None:
        gap = newcombe(*(float(part[best]) for part in halves.counts), level=options.level)
        if gap.value is not None and gap.low is not None and gap.high is not None:
            sign = 1.0 if first >= 0 else -1.0
            low, high = sorted((sign * gap.low, sign * gap.high))
            score = Estimate(sign * gap.value, low, high, gap.n, method)
    return Discovery(
        n_first=family.people.total - second.total,
        n_second=second.total,
        discovered=int(halves.discovered.sum()),
        confirmed=int(halves.confirmed.sum()),
        rule_set=rule_words(family.cells.attributes, family.mined.rules[best : best + 1])[0],
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
