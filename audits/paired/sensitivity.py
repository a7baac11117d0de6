"""Two models' prediction sensitivity of the same people, each held against the same protected status."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from audits.data import named_with
from audits.paired.moved import Moved, People, linear_moved, mean_moved, ratio_moved, share_moved
from audits.paired.pairing import Pairing, Row, other_people, people_of, same_people
from audits.sensitivity.result import GroupSensitivity, SensitivityResult
from audits.stats.words import people_in

__all__ = ["paired"]

_GIVEN = (
    "Intervals of a multiple hold the spread of both cross-fits; the others take the protected-status "
    "models and each model's own threshold for flags as given."
)
_WHY = {
    "": "it is about each model by itself",
    "baseline.quantiles": "quantiles are not sums over people",
    "threshold": "quantiles are not sums over people",
    "status": "it is about the protected-status models, not about the model audited",
}


def paired(first: SensitivityResult, second: SensitivityResult, subjects: Any = None) -> Pairing:
    """Return how sensitivity moved from the first model to the second; see `audits.paired.pairing`."""
    tables = [result.people for result in (first, second)]
    if not same_people(*tables):
        return other_people()
    people = people_of(tables[1])
    values = [table["sensitivity"].to_numpy(dtype=float) for table in tables]
    flags = [table["flagged"].to_numpy(dtype=bool) for table in tables]
    everyone, material = np.ones(len(tables[1]), dtype=bool), float(second.options["material"]) - 1.0
    stated = (first.baseline.mean, second.baseline.mean)
    moved = mean_moved(people, everyone, *values)
    rows = [Row("baseline.mean", "mean sensitivity", *stated, moved, "number", judged=False)]
    flagged = share_moved(people, *((everyone, side) for side in flags))
    words = "share of people flagged, each by its model's own threshold"
    rows.append(Row("flagged.share", words, first.flagged, second.flagged, flagged, "share", judged=False))
    groups = None if subjects is None else subjects[1].data.groups.reindex(tables[1].index)
    then = {(row.attribute, row.group): row for row in first.groups}
    told = not any(each.at_chance for result in (first, second) for each in result.status)
    for row in second.groups:
        earlier = then.get((row.attribute, row.group))
        if groups is None or earlier is None or row.attribute not in groups:
            continue
        inside = (groups[row.attribute] == row.group).to_numpy()
        place, who = f"groups[{row.attribute}: {row.group}]", people_in(named_with(row.attribute, row.group))
        times = _times(people, inside, values, tables[1], (earlier, row))
        words = f"mean sensitivity of {who} as a multiple of everyone else's"
        rows.append(
            Row(
                f"{place}.ratio", words, earlier.ratio, row.ratio, times, "number",
                judged=told, material=material,
            )
        )  # fmt: skip
        means = mean_moved(people, inside, *values)
        words = f"mean sensitivity of {who}"
        rows.append(Row(f"{place}.mean", words, earlier.mean, row.mean, means, "number", judged=False))
        part = share_moved(people, *((inside, side) for side in flags))
        words = f"share of {who} flagged, each by its model's own threshold"
        rows.append(Row(f"{place}.flagged", words, earlier.flagged, row.flagged, part, "share", judged=False))
    rows += _features(first, second, people)
    return Pairing(tuple(rows), given=_GIVEN, why=_WHY)


def _times(
    people: People,
    inside: np.ndarray,
    values: list[np.ndarray],
    table: pd.DataFrame,
    both: tuple[GroupSensitivity, GroupSensitivity],
) -> Moved:
    """How a group's mean as a multiple of everyone else's moved, both means linearised.

    The change is that of the ratios that both audits state, and its interval holds the spread of their
    cross-fits.
    """
    sizes = table["people"].to_numpy(dtype=float) if "people" in table else np.ones(len(table))
    n, m = float(sizes[inside].sum()), float(sizes[~inside].sum())
    found, parts = [], []
    for value in values:
        mean = float(sizes[inside] @ value[inside]) / n if n else 0.0
        rest = float(sizes[~inside] @ value[~inside]) / m if m else 0.0
        exists = bool(n and m and rest > 0)
        found.append(mean / rest if exists else None)
        own, theirs = (value - mean) / max(n, 1.0), (value - rest) / max(m, 1.0)
        parts.append(np.where(inside, own, -(mean / rest) * theirs) / rest if exists else 0.0 * value)
    stated = [each.ratio.value for each in both]
    change = None if None in (*found, *stated) else float(stated[1] or 0.0) - float(stated[0] or 0.0)
    moved = linear_moved(people, np.ones(len(inside), dtype=bool), change, parts[1] - parts[0])
    spread = math.hypot(*(each.spread * (each.ratio.value or 0.0) for each in both))
    if change is None or moved.ends is None or not spread:
        return moved
    ends, middle = moved.ends, change

    def widened(level: float) -> tuple[float, float]:
        low, high = ends(level)
        extra = float(norm.isf(level / 2)) * spread
        return middle - math.hypot(middle - low, extra), middle + math.hypot(high - middle, extra)

    return dataclasses.replace(moved, ends=widened, method=f"{moved.method}, spread of cross-fits added")


def _features(first: SensitivityResult, second: SensitivityResult, people: People) -> list[Row]:
    """How each feature's part of all sensitivity moved."""
    whole = [result.people["sensitivity"].to_numpy(dtype=float) for result in (first, second)]
    then = {row.feature: row for row in first.by_feature}
    rows = []
    for row in second.by_feature:
        sides = [result.contributions for result in (first, second)]
        if row.feature not in then or any(row.feature not in side for side in sides):
            continue
        parts = (
            (side[row.feature].to_numpy(dtype=float), total) for side, total in zip(sides, whole, strict=True)
        )
        moved = ratio_moved(people, *parts)
        where = f"by_feature[{row.feature}].share"
        words = f"part of “{row.feature}” in all sensitivity"
        rows.append(Row(where, words, then[row.feature].share, row.share, moved, "share", judged=False))
    return rows
