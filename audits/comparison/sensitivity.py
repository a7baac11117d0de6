"""Two models' prediction sensitivity of the same people, each compared with the same protected status."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from audits.comparison.intervals import Moved, People, linear_moved
from audits.comparison.pairs import (
    Pairing,
    Pairs,
    common,
    estimates_of,
    groups_of,
    other_people,
    people_of,
    same_people,
)
from audits.sensitivity.result import GroupSensitivity, SensitivityResult

_GIVEN = (
    "Intervals of a multiple include the spread of both cross-fits. The others take the protected-status "
    "models and each model's own threshold for flags as given."
)
_WHY = {
    "": "it is about each model on its own",
    "baseline.quantiles": "quantiles are not sums over people",
    "threshold": "quantiles are not sums over people",
    "status": "it is about the protected-status models, not about the model audited",
}


def compare(first: SensitivityResult, second: SensitivityResult, subjects: Any = None) -> Pairing:
    """Return how sensitivity moved from the first model to the second; see `audits.comparison.pairs`."""
    tables = [result.people for result in (first, second)]
    if not same_people(*tables):
        return other_people()
    both, pairs = (first, second), Pairs(people_of(tables[1]), float(second.options["material"]) - 1.0)
    values = [table["sensitivity"].to_numpy(dtype=float) for table in tables]
    flags = [table["flagged"].to_numpy(dtype=bool) for table in tables]
    everyone = np.ones(len(tables[1]), dtype=bool)
    pairs.mean("baseline.mean", "mean sensitivity", estimates_of(both, "baseline.mean"), everyone, *values)
    by_own = "flagged, each by the model's own threshold"
    flagged = [(everyone, side) for side in flags]
    pairs.share("flagged.share", f"share of people {by_own}", estimates_of(both, "flagged"), *flagged)
    told = not any(each.at_chance for result in both for each in result.status)
    for rows, inside, who in groups_of(first, second, subjects, tables[1].index):
        place = f"groups[{rows[1].attribute}: {rows[1].group}]"
        times = _times(pairs.people, inside, values, tables[1], rows)
        words = f"mean sensitivity of {who} as a multiple of everyone else's"
        pairs.add(f"{place}.ratio", words, estimates_of(rows, "ratio"), times, "number", judged=told)
        pairs.mean(f"{place}.mean", f"mean sensitivity of {who}", estimates_of(rows, "mean"), inside, *values)
        flagged = [(inside, side) for side in flags]
        pairs.share(f"{place}.flagged", f"share of {who} {by_own}", estimates_of(rows, "flagged"), *flagged)
    for rows in common(first.by_feature, second.by_feature, "feature"):
        name = rows[1].feature
        if all(name in result.contributions for result in both):
            parts = [result.contributions[name].to_numpy(dtype=float) for result in both]
            words, sides = f"part of “{name}” in all sensitivity", zip(parts, values, strict=True)
            pairs.ratio(f"by_feature[{name}].share", words, estimates_of(rows, "share"), *sides, kind="share")
    return pairs.pairing(given=_GIVEN, why=_WHY)


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
