"""Two models' rates by group on the same people: how each rate, and each difference of groups, moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from audits.comparison.intervals import Moved, share_moved
from audits.comparison.pairs import (
    Pairing,
    Pairs,
    common,
    estimates_of,
    limit_on_rates,
    other_people,
    people_of,
    same_people,
)
from audits.data import named_with
from audits.groups.labels import LABEL, counted_in
from audits.groups.metrics import METRICS, Metric
from audits.groups.names import title_pair
from audits.groups.people import people_by
from audits.groups.result import AmountRow, GroupRow, GroupsResult
from audits.stats import Estimate
from audits.stats.text import people_in

_KEYS = ("attribute", "group")
_NONE = Estimate(None, None, None, 0.0, "")
_WHY = {
    "": "it is the largest, or a ratio, of several rates; see the change in each",
    "table": "it follows from the rates beside it; see their changes",
    "probable": "groups known by probability alone are not paired",
}


def compare(first: GroupsResult, second: GroupsResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how the rates moved from the first model to the second; see `audits.comparison.pairs`.

    Where the two are not about the same people, each rate is of its own: rows that both have are the same
    people, all others are independent.
    """
    ours, theirs = second.people, first.people
    if first.amounts is not None or second.amounts is not None:
        return _amounts(first, second)
    if not len(ours) or not len(theirs) or "squares" in ours or "squares" in theirs:
        return other_people()
    same = same_people(ours, theirs)
    present = [np.ones(len(ours), dtype=bool)] * 2
    if not same:
        if "cluster" in ours or not (ours.index.is_unique and theirs.index.is_unique):
            return other_people()
        both = ours.index.union(theirs.index)
        present = [both.isin(each.index) for each in (theirs, ours)]
        theirs, ours = theirs.reindex(both), ours.reindex(both)
        ours, theirs = (one.where(one.notna(), other) for one, other in ((ours, theirs), (theirs, ours)))
    pairs = Pairs(people_of(ours), float(second.options["material"]))
    sizes = ours["people"].to_numpy(dtype=float) if "people" in ours else np.ones(len(ours))
    rates_limit = limit_on_rates(second.options, sizes, (side["decision"] for side in (theirs, ours)))
    scores = [side["score"].to_numpy(dtype=float) for side in (theirs, ours)] if same else []
    metrics, tables = _shares(LABEL in ours and LABEL in theirs), ((theirs, present[0]), (ours, present[1]))
    looked_at = _looked_at(first) & _looked_at(second)
    rows = {(two.attribute, two.group): (one, two) for one, two in common(first.table, second.table, *_KEYS)}
    both_have = {attribute for attribute, _ in rows}
    for spread in (each for each in second.spreads if each.attribute in both_have):
        item = people_by(ours, spread.attribute)
        inside = {name: item.group == place for place, name in enumerate(item.names)}
        moved = {
            (metric.name, name): share_moved(
                pairs.people, *(_side(table, metric, mask & here) for table, here in tables)
            )
            for metric in metrics
            for name, mask in inside.items()
        }
        for name, mask in inside.items():
            pair = rows.get((spread.attribute, name))
            if pair is None:
                continue
            _rates(pairs, pair, moved, spread.reference, metrics, looked_at, rates_limit)
            if same:
                where, whom = f"{_place(pair[1])}.mean_score", _whom(spread.attribute, name)
                pairs.mean(where, f"mean score of {whom}", estimates_of(pair, "mean_score"), mask, *scores)
    return pairs.pairing(why=_WHY)


def _amounts(first: GroupsResult, second: GroupsResult) -> Pairing:
    """Pair the means of a numeric outcome, and each group's difference from the reference."""
    ours, theirs = second.people, first.people
    if first.amounts is None or second.amounts is None or not same_people(ours, theirs):
        return other_people()
    pairs = Pairs(people_of(ours), 1.0)
    scores = [side["score"].to_numpy(dtype=float) for side in (theirs, ours)]
    name = second.amounts.numbers
    both = [(one, two) for one, two in common(first.amounts.table, second.amounts.table, *_KEYS)]
    for attribute in dict.fromkeys(two.attribute for _, two in both):
        item = people_by(ours.assign(decision=False), attribute)
        rows = [pair for pair in both if pair[1].attribute == attribute]
        moved: dict[str, Moved] = {}
        for pair in rows:
            two = pair[1]
            mask = item.group == item.names.index(two.group)
            where, whom = f"{_amount_place(two)}.mean", _whom(attribute, two.group)
            moved[two.group] = pairs.mean(
                where, f"mean {name} of {whom}", estimates_of(pair, "mean"), mask, *scores
            )
        reference = next(two for _, two in rows if two.is_reference)
        for pair in rows:
            if any("mean" not in row.differences for row in pair):
                continue
            two = pair[1]
            gaps = [row.differences["mean"].estimate for row in pair]
            who, others = title_pair(attribute, two.group, reference.group)
            words = f"gap in {name} between {who} and {others}"
            pairs.gap(
                f"{_amount_place(two)}.differences.mean",
                words,
                gaps,
                moved[reference.group],
                moved[two.group],
                kind="number",
                judged=True,
                material=two.differences["mean"].limit or 1e-9,
            )
    return pairs.pairing(why={"": "percentiles and residuals are not paired; see the change in means"})


def _amount_place(row: AmountRow) -> str:
    return f"amounts.table[{row.attribute}: {row.group}]"


def _rates(
    pairs: Pairs,
    both: tuple[GroupRow, GroupRow],
    moved: dict[tuple[str, str], Moved],
    reference: str,
    metrics: list[Metric],
    looked_at: set[str],
    rates_limit: dict[str, Any],
) -> None:
    """Pair a group's rates, and how far they lie from the reference group's; ratios are of decisions."""
    attribute, name, place = both[1].attribute, both[1].group, _place(both[1])
    who = _whom(attribute, name)
    for metric in metrics:
        rates, own = [row.metric(metric.name) or _NONE for row in both], moved[metric.name, name]
        where, words = f"{place}.{metric.name}", f"{metric.words} of {who}"
        limit = {} if metric.needs_label else rates_limit
        pairs.add(where, words, rates, own, "share", judged=metric.name in looked_at, **limit)
        if metric.judged and name != reference and all(metric.name in row.differences for row in both):
            gaps = [row.differences[metric.name].estimate for row in both]
            words = f"gap in {metric.words} between {' and '.join(title_pair(attribute, name, reference))}"
            pairs.gap(
                f"{place}.differences.{metric.name}", words, gaps, moved[metric.name, reference], own, **limit
            )


def _looked_at(result: GroupsResult) -> set[str]:
    """Return the rates that verdicts look at: none that rests on labels which are withheld."""
    stated = {name for row in result.table for name in row.differences}
    return {each.name for each in METRICS if each.judged and (not each.needs_label or each.name in stated)}


def _whom(attribute: str, group: str) -> str:
    return people_in(named_with(attribute, group))


def _shares(labels: bool) -> list[Metric]:
    """Return metrics that are shares and depend on decisions."""
    return [
        metric
        for metric in METRICS
        if metric.share is not None and (labels or not metric.needs_label) and metric.name != "base_rate"
    ]


def _side(people: pd.DataFrame, metric: Metric, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whom a rate is about within a group, and who has what it counts (n,)."""
    event, among = counted_in(people, metric)
    return inside & among, event


def _place(row: GroupRow) -> str:
    return f"table[{row.attribute}: {row.group}]"
