"""From a tested measure to its findings, its verdict and its sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from audits.rule_sets.leaders.contributions import stated_contributions
from audits.rule_sets.leaders.leaderboard import distinct
from audits.rule_sets.leaders.tables import read_rules, words_of
from audits.rule_sets.measures.values import MeasureTest
from audits.rule_sets.result import MeasureResult, MeasureRow
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, Judgment, judge, wilson
from audits.stats.intervals import percent_level
from audits.stats.text import count, number, percent
from audits.subgroups.sums import GroupSums


def measure_columns(tested: Sequence[MeasureTest]) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return what each measure adds to the table of rule sets, and to that of cells."""
    of_rules: dict[str, np.ndarray] = {}
    of_cells: dict[str, np.ndarray] = {}
    for each in tested:
        name = each.values.name
        of_rules |= {
            f"{name} people": each.n,
            f"{name} difference": each.difference,
            f"{name} low": each.low,
            f"{name} high": each.high,
            f"{name} adjusted_p": each.adjusted_p,
        }
        of_cells |= {f"{name} people": each.cells.n, f"{name} sum": each.cells.favorable}
    return of_rules, of_cells


def measure_result(
    tested: MeasureTest,
    table: pd.DataFrame,
    groups: GroupSums,
    options: dict[str, Any],
    *,
    shared: int,
) -> MeasureResult:
    """Rank the rule sets by a measure, gather those with the same people, and judge the family.

    Parameters
    ----------
    shared : int
        Measures that share the error rate.
    """
    words, attributes = tested.values.words, groups.attributes
    level = options["level"] / shared
    known = np.flatnonzero(tested.known)
    rules = read_rules(table).astype(np.int64)
    overall = _mean(tested, tested.cells.n.sum(), tested.cells.favorable.sum(), None, options["level"])
    method = _method(tested, options["level"], shared)

    def judged_row(place: int) -> Judgment:
        return _judge(tested, place, method, options, level)

    rows: list[MeasureRow] = []
    judged = judge(Estimate(None, None, None, float(overall.n), method), immaterial=(0.0, 0.0), reason=_NONE)
    if known.size:
        evident = (tested.adjusted_p[known] <= level) & ((tested.low[known] > 0) | (tested.high[known] < 0))
        key = np.abs(tested.difference[known] if options["rank_by"] == "score" else tested.z[known])
        order = np.lexsort((tested.n[known], -key.round(12), ~evident))
        signs = np.sign(tested.difference[known])
        leaders, finding = distinct(tested.cells, rules[known], signs, order, options)
        sizes = np.bincount(finding[finding >= 0], minlength=len(leaders))
        named = words_of(attributes, table.iloc[known[leaders]])
        for leader, rule_set, size in zip(known[leaders].tolist(), named, sizes.tolist(), strict=True):
            row = _row(tested, leader, rule_set, judged_row(leader), size - 1, options)
            rows.append(replace(row, contributions=stated_contributions(tested.cells, rules[leader])))
        reach = np.maximum(tested.high[known], -tested.low[known])
        about = int(known[leaders[0]] if evident.any() else known[int(reach.argmax())])
        judged = judged_row(about)
        row = _row(tested, about, words_of(attributes, table.iloc[[about]])[0], judged, 0, options)
        said = _finding(row, judged, words, int(known.size))
    else:
        said = f"{words.name}: {_NONE}."
    return MeasureResult(
        measure=tested.values.name,
        name=words.name,
        among=words.among,
        what=words.what,
        share=words.share,
        overall=overall,
        family=int(known.size),
        critical=tested.critical,
        judged=judged,
        leaderboard=tuple(rows),
        finding=said,
    )


_NONE = "no group has enough relevant people inside and outside"


def _method(tested: MeasureTest, level: float, shared: int) -> str:
    kind = "Newcombe" if tested.values.words.share else "normal"
    measures = f" and {shared} measures" if shared > 1 else ""
    return (
        f"{kind} {percent_level(level)}, corrected for {int(tested.known.sum()):,} rule sets{measures} "
        f"(permutation maximum), with 0 unless the corrected p is at most {level / shared:.3g}"
    )


def _judge(tested: MeasureTest, place: int, method: str, options: dict[str, Any], level: float) -> Judgment:
    # a loss has no scale on which a size that matters could be known
    scaled = tested.values.words.share or tested.values.name == "calibration_error"
    most = options["material"] if scaled else 0.0
    total = float(tested.cells.n.sum())
    return judge(
        Estimate(
            float(tested.difference[place]),
            float(tested.low[place]),
            float(tested.high[place]),
            total,
            method,
        ),
        immaterial=(-most, most),
        p_value=float(tested.adjusted_p[place]),
        level=level,
        only_estimated=tested.withheld,
        cannot_clear=tested.cannot_clear,
    )


def _row(
    tested: MeasureTest, place: int, rule_set: str, judged: Judgment, similar: int, options: dict[str, Any]
) -> MeasureRow:
    n, total = float(tested.n[place]), float(tested.total[place])
    rest, rest_total = float(tested.cells.n.sum()) - n, float(tested.cells.favorable.sum()) - total
    inside, outside = tested.squares[place], tested.all_squares - tested.squares[place]
    return MeasureRow(
        rule_set=rule_set,
        verdict=judged.verdict,
        inside=_mean(tested, n, total, inside, options["level"]),
        outside=_mean(tested, rest, rest_total, outside, options["level"]),
        difference=judged.interval,
        n_in=n,
        n_out=rest,
        adjusted_p=float(tested.adjusted_p[place]),
        number=place,
        similar=similar,
    )


def _mean(tested: MeasureTest, n: float, total: float, squares: float | None, level: float) -> Estimate:
    """A mean with its own interval: Wilson's of a share, else the normal one."""
    n, total = float(n), float(total)
    if n <= 0:
        return Estimate(None, None, None, 0.0, "no relevant people")
    if tested.values.words.share:
        return wilson(total, n, level=level)
    if n < 2:
        return Estimate(total / n, None, None, n, "no interval for one person")
    squares = tested.all_squares if squares is None else float(squares)
    error = float(np.sqrt(max(squares - total**2 / n, 0.0) / (n - 1) / n))
    reach = float(norm.isf(level / 2)) * error
    return Estimate(total / n, total / n - reach, total / n + reach, n, f"normal {percent_level(level)}")


def _finding(row: MeasureRow, judged: Judgment, words: Any, family: int) -> str:
    """Say which group the model errs on differently, how much, and how sure that is."""
    inside, outside = (
        percent(each.value, each.n) if words.share else number(each.value)
        for each in (row.inside, row.outside)
    )
    among = words.among.replace("people", "person", 1) if count(row.n_in) == "1" else words.among
    sizes = f"{count(row.n_in)} {among} with {row.rule_set}", f"the other {count(row.n_out)}"
    who = (
        f"of {sizes[0]}, {inside} {words.what}; of {sizes[1]}, {outside}"
        if words.share
        else f"{words.what} {inside} of {sizes[0]}, {outside} of {sizes[1]}"
    )
    scale, unit = (100, " points") if words.share else (1, "")
    ends = [number(scale * float(end or 0.0)) for end in (row.difference.low, row.difference.high)]
    reach = f"{number(scale * float(row.difference.value or 0.0))}{unit} ({ends[0]} to {ends[1]})"
    reach = reach.replace("-", "−")
    if judged.verdict == EVIDENCE:
        small = "" if judged.material is not False else ", less than your limit"
        return f"{words.name}: {who}: {reach}, corrected for {family:,} groups{small}."
    if judged.verdict == NO_MATERIAL:
        return f"{words.name}: no group differs materially. Nearest to your limit: {who}: {reach}."
    return (
        f"{words.name}: none of {family:,} groups differs by more than chance. Least certain: {who}: {reach}."
    )
