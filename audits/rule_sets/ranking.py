"""The leaderboard: ranked, gathered into different findings, filtered as the auditor moves the controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from audits.rule_sets.attributes import Attribute
from audits.rule_sets.cells import Cells, memberships
from audits.rule_sets.findings import distinct, neighbours
from audits.rule_sets.inference import exact_p
from audits.rule_sets.result import LeaderRow, RuleSetsResult, SampledScore, SweepRow
from audits.rule_sets.scoring import margin
from audits.rule_sets.tables import read_attributes_table, read_cells_table, read_rules, words_of
from audits.rule_sets.text import category_shares, reach
from audits.stats import Estimate, newcombe, power_of_difference, verdict, wilson
from audits.stats.intervals import percent_level

__all__ = ["group_neighbours", "is_evidence", "leaders", "members", "refine", "support_sweep"]

_SWEPT = (0.01, 0.05, 0.10, 0.20, 0.50)


def leaders(
    table: pd.DataFrame,
    attributes: Sequence[Attribute],
    cells: Cells,
    options: dict[str, Any],
    inference: dict[str, Any],
) -> tuple[LeaderRow, ...]:
    """Return the first different findings of a rule-set table: those with evidence first, by their score.

    By score alone (the paper's order) luck would lead: the smallest groups, and those that leave out a
    handful.
    """
    if table.empty:
        return ()
    rules = read_rules(table)
    key = table["difference"].abs() if options["rank_by"] == "score" else table["z"].abs()
    evident = is_evidence(table, options)
    # a group and the rest of everyone score alike: the smaller one names the finding
    order = np.lexsort((table["n_in"].to_numpy(), -key.round(12).to_numpy(), ~evident))
    signs = np.sign(table["difference"].to_numpy())
    found = distinct(
        cells,
        attributes,
        rules,
        signs,
        order,
        most=options["top"],
        overlap=options["overlap"],
        leftover=options["leftover"],
    )
    sizes = np.bincount(found.finding[found.finding >= 0], minlength=len(found.leaders))
    shown = table.iloc[found.leaders].reset_index(names="number")
    words = words_of(attributes, shown)
    return tuple(
        _row(item, attributes, rule_set, cells, options, inference, int(size) - 1)
        for item, rule_set, size in zip(_records(shown), words, sizes, strict=True)
    )


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def is_evidence(table: pd.DataFrame, options: dict[str, Any]) -> np.ndarray:
    """Return which rule sets differ by more than the tolerance beyond chance, bool (S,).

    An interval of a rule set that the test finds to differ leaves out 0 even where it ends there.
    """
    edge = np.maximum(table["low"].to_numpy(), -table["high"].to_numpy())
    return (table["adjusted_p"].to_numpy() <= options["level"]) & (edge >= options["tolerance"])


def refine(
    result: RuleSetsResult,
    *,
    support: float | None = None,
    tolerance: float | None = None,
    margin: float | None = None,
    attributes: Sequence[str] | None = None,
    direction: str | None = None,
    top: int | None = None,
) -> tuple[LeaderRow, ...]:
    """Return the leaderboard under other choices, from a finished result.

    Parameters
    ----------
    support : float
        A larger smallest share of people (of texts: of those with some term of each category, Eq. 3);
        p-values and intervals, corrected for more, stay valid.
    tolerance : float
        Score that the auditor tolerates: it decides which rows are evidence.
    margin : float
        Only rule sets whose margin of error is at most this.
    attributes : sequence of str
        Only rule sets that constrain all of these.
    direction : {"advantaged", "harmed"}
    top : int
        Rows.
    """
    options = dict(result.options)
    options |= {key: value for key, value in (("tolerance", tolerance), ("top", top)) if value is not None}
    table = result.rule_sets
    keep = np.ones(len(table), dtype=bool)
    if support is not None:
        keep &= _support(result) >= support * (1 - 1e-12)
    if margin is not None and "margin" in table:
        keep &= table["margin"].to_numpy() <= margin
    names = [item["name"] for item in result.attributes]
    for name in attributes or ():
        keep &= table[f"rule {names.index(name)}"].to_numpy() >= 0
    if direction is not None:
        keep &= (table["difference"].to_numpy() > 0) == (direction == "advantaged")
    own = read_attributes_table(result.attributes, result.rules)
    cells = read_cells_table(result.cells, result.people["cell"].to_numpy())
    return leaders(table[keep], own, cells, options, result.inference)


def _support(result: RuleSetsResult) -> np.ndarray:
    """Share by which a rule set is frequent, (S,)."""
    table = result.rule_sets
    if result.options["text"] is None:
        return table["support"].to_numpy()
    own = read_attributes_table(result.attributes, result.rules)
    cells = read_cells_table(result.cells, result.people["cell"].to_numpy())
    return reach(category_shares(cells, own), read_rules(table))


def group_neighbours(result: RuleSetsResult, number: int) -> pd.DataFrame:
    """Return the rule sets one step from row `number` of the rule-set table."""
    own = read_attributes_table(result.attributes, result.rules)
    cells = read_cells_table(result.cells, result.people["cell"].to_numpy())
    chosen = read_rules(result.rule_sets.loc[[number]])[0]
    return neighbours(cells, own, chosen, level=result.options["level"])


def members(result: RuleSetsResult, number: int) -> np.ndarray:
    """Return who is in row `number` of the rule-set table, bool (n,), in the order of ``people``."""
    own = read_attributes_table(result.attributes, result.rules)
    cells = read_cells_table(result.cells, result.people["cell"].to_numpy())
    inside = memberships(cells, own, read_rules(result.rule_sets.loc[[number]]))[0]
    return inside[cells.row_cell]


def support_sweep(
    table: pd.DataFrame,
    attributes: Sequence[Attribute],
    support: float,
    n_frequent: int,
    shares: Mapping[tuple[int, ...], float] | None = None,
) -> tuple[SweepRow, ...]:
    """Rule sets and the largest score at each support threshold (Table 6) from `support` up.

    Parameters
    ----------
    n_frequent : int
        Frequent rule sets at `support`: of people those of everyone, which the table leaves out, are more.
    shares : mapping of categories to share
        Of texts: by what a rule set is frequent (`category_shares`).
    """
    of_everyone = n_frequent - int((table["equal"] + 1).sum())
    own = table["support"].to_numpy() if shares is None else reach(shares, read_rules(table))
    rows = []
    for threshold in sorted({support, *(swept for swept in _SWEPT if swept > support)}):
        least = threshold * (1 - 1e-12)
        kept = table[own >= least]
        gaps = kept["difference"].abs().to_numpy()
        best = int(gaps.argmax()) if len(kept) else None
        frequent = of_everyone + int((kept["equal"] + 1).sum())
        if shares is not None:
            sizes = {chosen: prod(len(attributes[k].rules) for k in chosen) for chosen in shares}
            frequent = sum(sizes[chosen] for chosen, share in shares.items() if share >= least)
        rows.append(
            SweepRow(
                support=float(threshold),
                n_frequent=frequent,
                n_distinct=len(kept),
                rule_set=None if best is None else words_of(attributes, kept.iloc[[best]])[0],
                score=None if best is None else float(gaps[best]),
            )
        )
    return tuple(rows)


def _row(
    item: dict[str, Any],
    attributes: Sequence[Attribute],
    rule_set: str,
    cells: Cells,
    options: dict[str, Any],
    inference: dict[str, Any],
    similar: int,
) -> LeaderRow:
    level, total = options["level"], cells.total
    n, good = item["n_in"], item["favorable_n_in"]
    rest, rest_good = total - n, float(cells.favorable.sum()) - good
    gap, low, high = item["difference"], item["low"], item["high"]
    corrected = f"corrected for {inference['family']:,} rule sets ({inference['words']})"
    method = (
        f"Newcombe {percent_level(level)}, {corrected}, with 0 unless the corrected p is at most {level:g}"
    )
    score = Estimate(abs(gap), max(0.0, low, -high), max(abs(low), abs(high)), n + rest, method)
    seen = item["adjusted_p"] <= level and score.low is not None and score.low >= options["tolerance"]
    power = power_of_difference(cells.rate, options["material"], n, rest, level=inference["interval_level"])
    sampled = _sampled(item, options)
    own_margin = float(margin(item["favorable_in"], n, item["favorable_out"], rest, options["confidence"]))
    return LeaderRow(
        rule_set=rule_set,
        rules=_rules(item, attributes),
        direction="advantaged" if gap > 0 else "harmed",
        verdict=verdict(excludes_no_difference=bool(seen), power=power),
        support=item["support"],
        score=score,
        difference=Estimate(gap, low, high, n + rest, method),
        favorable_in=wilson(good, n, level=level),
        favorable_out=wilson(rest_good, rest, level=level),
        margin=own_margin if sampled is None else sampled.margin,
        confidence=options["confidence"] ** 2,
        n_in=n,
        n_out=rest,
        p_value=float(exact_p(np.array(n), np.array(good), total, good + rest_good)),
        adjusted_p=item["adjusted_p"],
        confirmed=bool(item["confirmed"]),
        sampled=sampled,
        equal=int(item["equal"]),
        similar=similar,
        number=int(item["number"]),
    )


def _sampled(item: dict[str, Any], options: dict[str, Any]) -> SampledScore | None:
    if "sampled_in" not in item:
        return None
    inside, outside = item["sampled_in"], item["sampled_out"]
    n, rest = item["sampled_n_in"], item["sampled_n_out"]
    gap = newcombe(inside * n, n, outside * rest, rest, level=options["level"])
    if gap.value is None or gap.low is None or gap.high is None:
        return None
    low, high = max(0.0, gap.low, -gap.high), max(abs(gap.low), abs(gap.high))
    score = Estimate(abs(gap.value), low, high, n + rest, gap.method)
    return SampledScore(score, inside, outside, item["margin"], options["confidence"] ** 2)


def _rules(item: dict[str, Any], attributes: Sequence[Attribute]) -> tuple[dict[str, Any], ...]:
    found = []
    for place, attribute in enumerate(attributes):
        rule = int(item[f"rule {place}"])
        if rule >= 0:
            admitted = [
                level for level, inside in zip(attribute.levels, attribute.rules[rule], strict=True) if inside
            ]
            found.append({"attribute": attribute.name, "words": attribute.words[rule], "values": admitted})
    return tuple(found)
