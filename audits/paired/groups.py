"""Two models' rates by group on the same people: how each rate, and each difference of groups, moved."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from audits.data import named_with
from audits.groups.comparison import Sorted, sort_people
from audits.groups.labels import LABEL, labels_of
from audits.groups.metrics import METRICS, Metric
from audits.groups.result import GroupRow, GroupsResult
from audits.paired.moved import Moved, People, apart, mean_moved, share_moved
from audits.paired.pairing import Pairing, Row, other_people, same_people
from audits.stats import Estimate
from audits.stats.design import make_design
from audits.stats.words import people_in

__all__ = ["paired"]

_NONE = Estimate(None, None, None, 0.0, "")
_WHY = {
    "": "it is the largest, or a ratio, of several rates: see how each of them moved",
    "table": "it follows from the rates beside it: see how those moved",
    "probable": "groups known by probability alone are not paired",
}


def paired(first: GroupsResult, second: GroupsResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how the rates moved from the first model to the second; see `audits.paired.pairing`.

    Where the two are not about the same people, each rate is of its own: rows that both have are the same
    people, all others are independent.
    """
    ours, theirs = second.people, first.people
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
    people, rows = _people(ours), []
    known = {(row.attribute, row.group): row for row in first.table}
    now = {(row.attribute, row.group): row for row in second.table}
    material = float(second.options["material"])
    for spread in second.spreads:
        item = _by(ours, spread.attribute)
        inside = {name: item.group == place for place, name in enumerate(item.names)}
        moved = {
            (metric.name, name): share_moved(
                people,
                *(
                    _side(table, metric, mask & here)
                    for table, here in zip((theirs, ours), present, strict=True)
                ),
            )
            for metric in _shares(LABEL in ours)
            for name, mask in inside.items()
        }
        for name, mask in inside.items():
            key = (spread.attribute, name)
            if key not in known or key not in now:
                continue
            pair = known[key], now[key]
            rows += list(_rates(pair, moved, spread.reference, people, material, LABEL in ours))
            if not same:
                continue
            scores = [side["score"].to_numpy(dtype=float) for side in (theirs, ours)]
            rows.append(
                Row(
                    f"{_place(pair[1])}.mean_score", f"mean score of {_whom(spread.attribute, name)}",
                    pair[0].mean_score, pair[1].mean_score, mean_moved(people, mask, *scores), "number",
                    judged=False,
                )
            )  # fmt: skip
    return Pairing(tuple(rows), why=_WHY)


def _rates(
    pair: tuple[GroupRow, GroupRow],
    moved: dict[tuple[str, str], Moved],
    reference: str,
    people: People,
    material: float,
    labels: bool,
) -> Iterator[Row]:
    """Yield a group's rates, and how far they lie from the reference group's."""
    attribute, name, place = pair[1].attribute, pair[1].group, _place(pair[1])
    for metric in _shares(labels):
        first, second = (row.metric(metric.name) or _NONE for row in pair)
        words = f"{metric.words} of {_whom(attribute, name)}"
        yield Row(
            f"{place}.{metric.name}", words, first, second, moved[metric.name, name], "share",
            judged=metric.judged, material=material,
        )  # fmt: skip
        if metric.judged and name != reference and all(metric.name in row.differences for row in pair):
            first, second = (row.differences[metric.name].estimate for row in pair)
            gap = apart(moved[metric.name, reference], moved[metric.name, name], people)
            both = f"{_whom(attribute, name)} and {_whom(attribute, reference)}"
            words = f"gap in {metric.words} between {both}"
            where = f"{place}.differences.{metric.name}"
            yield Row(where, words, first, second, gap, "gap", material=material)


def _whom(attribute: str, group: str) -> str:
    return people_in(named_with(attribute, group))


def _by(people: pd.DataFrame, attribute: str) -> Sorted:
    """Sort people into the groups of an attribute, or of several joined by " × "."""
    known = [name.removeprefix("group: ") for name in people.columns if name.startswith("group: ")]
    orders = (order for k in range(1, len(known) + 1) for order in itertools.permutations(known, k))
    names = next(order for order in orders if " × ".join(order) == attribute)
    columns = people[[f"group: {name}" for name in names]]
    return sort_people(columns, names, people, None, np.array([0.0, 1.0]))


def _shares(labels: bool) -> list[Metric]:
    """Return metrics that are shares and depend on decisions."""
    return [
        metric
        for metric in METRICS
        if metric.share is not None and (labels or not metric.needs_label) and metric.name != "base_rate"
    ]


def _side(people: pd.DataFrame, metric: Metric, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whom a rate is about within a group, and who has what it counts (n,)."""
    labels = labels_of(people)
    assert metric.share is not None  # noqa: S101  (`_shares` has no other)
    y = None if labels is None else labels.favorable
    event, among = metric.share(y, people["decision"].to_numpy(dtype=bool))
    if metric.needs_label and labels is not None:
        inside = inside & labels.known
    return inside & np.asarray(among, dtype=bool), np.asarray(event, dtype=bool)


def _people(table: pd.DataFrame) -> People:
    if "cluster" not in table:
        return People.counted(table["people"].to_numpy(dtype=float))
    weights, cluster, strata = (table[name].to_numpy() for name in ("people", "cluster", "stratum"))
    return People.sampled(make_design(len(table), weights=weights, cluster=cluster, strata=strata))


def _place(row: GroupRow) -> str:
    return f"table[{row.attribute}: {row.group}]"
