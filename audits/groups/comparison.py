"""One attribute: its groups' rates with intervals, differences from the reference, and their spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from audits.data import group_name
from audits.errors import InputError
from audits.groups.metrics import Counts, confusion_counts, rates
from audits.groups.options import GroupsOptions
from audits.groups.resampling import bootstrap_intervals
from audits.groups.result import Calibration, Difference, GroupRow, Spread
from audits.stats import (
    EVIDENCE,
    INSUFFICIENT,
    NO_EVIDENCE,
    Estimate,
    Verdict,
    people_needed,
    power_of_difference,
    verdict,
    weighted_sum,
    wilson,
)
from audits.stats.intervals import cautious_difference, largest_gap, percent_level, share_ratio

__all__ = ["Sorted", "compare", "joined_names", "sort_people"]

_JUDGED = ("selection_rate", "true_positive_rate", "false_positive_rate")
_CALIBRATION_BINS = 10


@dataclass(frozen=True, eq=False)
class Sorted:
    """People of one attribute (or intersection) in groups, largest group first."""

    attribute: str
    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]  # of each attribute in the intersection
    attributes: tuple[str, ...]
    counts: Counts
    group: np.ndarray
    score: np.ndarray
    sizes: np.ndarray
    y: np.ndarray | None
    score_counts: np.ndarray  # (k, bins)


def sort_people(
    columns: pd.DataFrame,
    attributes: tuple[str, ...],
    people: pd.DataFrame,
    y: np.ndarray | None,
    edges: np.ndarray,
) -> Sorted:
    """Sort people into the groups that occur, largest first."""
    sizes = people["people"].to_numpy(dtype=float)
    code, levels = _codes(columns)
    order = np.argsort(-np.bincount(code, sizes), kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    group = rank[code]
    values = tuple(levels[k] for k in order)
    score = people["score"].to_numpy(dtype=float)
    k = len(values)
    bins = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, len(edges) - 2)
    return Sorted(
        attribute=" × ".join(attributes),
        names=tuple(joined_names(values, attributes)),
        values=values,
        attributes=attributes,
        counts=confusion_counts(group, people["decision"].to_numpy(dtype=bool), y, sizes, k),
        group=group,
        score=score,
        sizes=sizes,
        y=y,
        score_counts=np.bincount(group * (len(edges) - 1) + bins, sizes, k * (len(edges) - 1)).reshape(k, -1),
    )


def joined_names(values: Sequence[tuple[str, ...]], attributes: Sequence[str] = ()) -> list[str]:
    """Return a name for each group of values; values are quoted where names would be the same.

    In an intersection of `attributes` a value that says nothing by itself (a number, yes or no) is named with
    its attribute.

    Examples
    --------
    >>> joined_names([("a", "b"), ("a & b", "c"), ("a", "b & c")])
    ['a & b', '“a & b” & “c”', '“a” & “b & c”']
    >>> joined_names([("1", "f"), ("0", "f")], ("black", "sex")), joined_names([("1",), ("0",)], ("black",))
    (['black 1 & f', 'black 0 & f'], ['1', '0'])
    """
    if len(attributes) > 1:
        names = [group_name(dict(zip(attributes, item, strict=True))) for item in values]
    else:
        names = [" & ".join(item) for item in values]
    times = Counter(names)
    return [
        " & ".join(f"“{part}”" for part in item) if times[name] > 1 else name
        for name, item in zip(names, values, strict=True)
    ]


def _codes(columns: pd.DataFrame) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Return the place of each row's values (n,) among those that occur, and these, sorted."""
    parts = [pd.factorize(columns[name], sort=True) for name in columns]
    joined = np.zeros(len(columns), dtype=np.int64)
    for code, values in parts:
        joined = joined * len(values) + code
    present, place = np.unique(joined, return_inverse=True)
    each = np.unravel_index(present, [len(values) for _, values in parts])
    levels = [
        tuple(str(values[k]) for (_, values), k in zip(parts, row, strict=True))
        for row in zip(*each, strict=True)
    ]
    return place, levels


def compare(
    item: Sorted, options: GroupsOptions, level: float, rng: np.random.Generator
) -> tuple[list[GroupRow], Spread]:
    """Rates of every group, judged against the reference at the corrected `level`."""
    k = len(item.names)
    reference = _reference(item, options)
    shares = rates(item.counts)
    estimates = {
        name: [wilson(float(a), float(b), level=options.level) for a, b in zip(*pair, strict=True)]
        for name, pair in shares.items()
    }
    best = int(np.argmax(np.divide(*shares["selection_rate"])))
    resampled = bootstrap_intervals(item.counts, best, rng, draws=options.bootstrap, level=options.level)
    rows = []
    for j in range(k):
        judged = [] if j == reference else [name for name in _JUDGED if name in shares]
        differences = {name: _difference(shares[name], j, reference, options, level) for name in judged}
        rates_of = {name: values[j] for name, values in estimates.items()}
        shown: dict[str, Any] = {name: rates_of.get(name) for name in _FIELDS}
        balanced = None
        if "true_positive_rate" in rates_of:
            balanced = weighted_sum(
                [rates_of["true_positive_rate"], rates_of["true_negative_rate"]], [0.5, 0.5]
            )
        rows.append(
            GroupRow(
                attribute=item.attribute,
                group=item.names[j],
                n=float(item.counts.n[j]),
                is_reference=j == reference,
                **shown,
                balanced_accuracy=balanced,
                mean_score=_mean_score(item, j, options.level),
                impact_ratio=_impact_ratio(item.counts, j, best, options.level),
                verdict=None if j == reference else _worst(differences),
                differences=differences,
                calibration=_calibration(item, j, options.level),
                score_counts=tuple(item.score_counts[j].tolist()),
                bootstrap=resampled[j],
            )
        )
    return rows, _spread(item, shares, reference, options.level)


_FIELDS = (
    "selection_rate",
    "true_positive_rate",
    "false_positive_rate",
    "true_negative_rate",
    "false_negative_rate",
    "precision",
    "accuracy",
    "base_rate",
)


def _impact_ratio(counts: Counts, j: int, best: int, level: float) -> Estimate:
    n, selected = counts.n, counts.selected
    if j == best and selected[best] > 0:
        return Estimate(1.0, 1.0, 1.0, float(n[j]), "the highest rate by itself")
    return share_ratio(float(selected[j]), float(n[j]), float(selected[best]), float(n[best]), level=level)


def _reference(item: Sorted, options: GroupsOptions) -> int:
    """Position of the reference group: the one asked for, else the largest."""
    wanted = {
        name: str(value) for name, value in (options.reference or {}).items() if name in item.attributes
    }
    if set(wanted) != set(item.attributes):
        return 0
    values = tuple(wanted[name] for name in item.attributes)
    if values not in item.values:
        raise InputError(
            "groups.reference",
            "must be a group with people in it",
            " & ".join(values),
            f"choose one of {', '.join(item.names[:8])}",
        )
    return item.values.index(values)


def _difference(
    pair: tuple[np.ndarray, np.ndarray], j: int, reference: int, options: GroupsOptions, level: float
) -> Difference:
    a, n = float(pair[0][j]), float(pair[1][j])
    b, m = float(pair[0][reference]), float(pair[1][reference])
    gap = cautious_difference(a, n, b, m, level=level)
    if gap.low is None or gap.high is None:
        return Difference(gap, INSUFFICIENT, None)
    share = (a + b) / (n + m)
    power = power_of_difference(share, options.material, n, m, level=level)
    judged = verdict(excludes_no_difference=gap.low > 0 or gap.high < 0, power=power)
    needed = people_needed(share, options.material, level=level) if judged == INSUFFICIENT else None
    return Difference(gap, judged, needed)


def _worst(differences: dict[str, Difference]) -> Verdict:
    verdicts = {item.verdict for item in differences.values()}
    return EVIDENCE if EVIDENCE in verdicts else INSUFFICIENT if INSUFFICIENT in verdicts else NO_EVIDENCE


def _mean_score(item: Sorted, j: int, level: float) -> Estimate:
    mine = item.group == j
    weight, score = item.sizes[mine], item.score[mine]
    n = float(weight.sum())
    mean = float(weight @ score / n)
    method = f"Student t {percent_level(level)}"
    if n < 2:
        return Estimate(mean, None, None, n, "no interval for one person")
    spread = float(np.sqrt(weight @ (score - mean) ** 2 / (n - 1) / n))
    reach = float(-stdtrit(n - 1, level / 2)) * spread
    return Estimate(mean, mean - reach, mean + reach, n, method)


def _calibration(item: Sorted, j: int, level: float) -> Calibration | None:
    """Ten equal bins of a score that is a probability."""
    if item.y is None or item.score.min() < 0 or item.score.max() > 1:
        return None
    mine = item.group == j
    edges = np.linspace(0, 1, _CALIBRATION_BINS + 1)
    place = np.clip((item.score[mine] * _CALIBRATION_BINS).astype(np.int64), 0, _CALIBRATION_BINS - 1)
    weight = item.sizes[mine]
    n = np.bincount(place, weight, _CALIBRATION_BINS)
    favorable = np.bincount(place, weight * item.y[mine], _CALIBRATION_BINS)
    total = np.bincount(place, weight * item.score[mine], _CALIBRATION_BINS)
    return Calibration(
        edges=tuple(edges.tolist()),
        n=tuple(n.tolist()),
        mean_score=tuple(float(s / c) if c > 0 else None for s, c in zip(total, n, strict=True)),
        favorable_rate=tuple(
            wilson(float(a), float(c), level=level) for a, c in zip(favorable, n, strict=True)
        ),
    )


def _spread(
    item: Sorted, shares: dict[str, tuple[np.ndarray, np.ndarray]], reference: int, level: float
) -> Spread:
    selection = largest_gap(*shares["selection_rate"], level=level)
    ratio = _smallest_ratio(*shares["selection_rate"], level=level)
    opportunity = odds = average = None
    if "true_positive_rate" in shares:
        # two spreads are looked at together
        hits, alarms = (largest_gap(*shares[name], level=level / 2) for name in _JUDGED[1:])
        opportunity = largest_gap(*shares["true_positive_rate"], level=level)
        method = f"simultaneous Newcombe {percent_level(level)}, both rates of all pairs"
        odds = replace(_larger(hits, alarms), method=method)
        average = replace(_mean(hits, alarms), method=method)
    return Spread(item.attribute, item.names[reference], selection, ratio, opportunity, odds, average)


def _smallest_ratio(count: np.ndarray, n: np.ndarray, *, level: float) -> Estimate:
    """Smallest selection rate divided by the largest, with the interval corrected for the pairs."""
    share = count / n
    low, high = int(np.argmin(share)), int(np.argmax(share))
    pairs = len(n) * (len(n) - 1)
    return share_ratio(
        float(count[low]), float(n[low]), float(count[high]), float(n[high]), level=level / max(pairs, 1)
    )


def _larger(a: Estimate, b: Estimate) -> Estimate:
    """The larger of two spreads; its interval holds when both of theirs do."""
    if a.value is None or b.value is None:
        return a if b.value is None else b
    return Estimate(
        max(a.value, b.value),
        max(a.low or 0.0, b.low or 0.0),
        max(a.high or 1.0, b.high or 1.0),
        max(a.n, b.n),
        a.method,
    )


def _mean(a: Estimate, b: Estimate) -> Estimate:
    """The mean of two spreads; its interval holds when both of theirs do."""
    if a.value is None or b.value is None:
        return Estimate(None, None, None, max(a.n, b.n), a.method)
    ends = [0.5 * ((x or 0.0) + (y or 0.0)) for x, y in ((a.low, b.low), (a.high, b.high))]
    return Estimate(0.5 * (a.value + b.value), ends[0], ends[1], max(a.n, b.n), a.method)
