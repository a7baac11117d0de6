"""Verdicts on rule sets: each follows from its interval and its test, both corrected for the whole family."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from audits.rule_sets.result import LeaderRow
from audits.stats import EVIDENCE, Estimate, Judgment, judge
from audits.stats.intervals import percent_level
from audits.stats.power import times_to_settle
from audits.stats.shares import newcombe_ends
from audits.stats.verdicts import limits_of, outlasts_run, place_of_evidence
from audits.stats.vocabulary import vocabulary
from audits.subgroups.cells import Cells

_MIN = 1e-9  # limit


def is_evidence(table: pd.DataFrame, options: Mapping[str, Any]) -> np.ndarray:
    """Return which rule sets differ by more than the tolerance beyond chance, bool (S,), as `judge` says."""
    edge = np.maximum(table["low"].to_numpy(), -table["high"].to_numpy())
    return (table["adjusted_p"].to_numpy() <= options["level"]) & (edge > options["tolerance"])


def difference_of(item: Mapping[str, Any], level: float, inference: Mapping[str, Any]) -> Estimate:
    """Return a rule set's difference from those it is compared with, the interval corrected for all."""
    method = (
        f"Newcombe {percent_level(level)}, corrected for {inference['family']:,} rule sets "
        f"({inference['words']}), with 0 unless the corrected p is at most {level:g}"
    )
    gap, low, high = (float(item[name]) for name in ("difference", "low", "high"))
    return Estimate(gap, low, high, float(item["n_in"] + item["n_out"]), method)


def judge_row(
    item: Mapping[str, Any],
    options: Mapping[str, Any],
    inference: Mapping[str, Any],
    *,
    cannot_clear: str = "",
) -> Judgment:
    """Judge one rule set of the table; `people_needed` is of the people inside, all others growing alike."""
    tolerance, (least, most) = options["tolerance"], _limit(item, options)
    times = _times_needed(item, options, inference["interval_level"])
    return judge(
        difference_of(item, options["level"], inference),
        none=(-tolerance, tolerance),
        immaterial=(least, most),
        p_value=float(item["adjusted_p"]),
        level=options["level"],
        people_needed=None if times is None else math.ceil(times * item["n_in"]),
        cannot_clear=cannot_clear,
    )


def judge_audit(
    table: pd.DataFrame,
    rows: Sequence[LeaderRow],
    cells: Cells,
    options: Mapping[str, Any],
    inference: Mapping[str, Any],
    *,
    cannot_clear: str,
) -> tuple[Judgment, int]:
    """Judge the family: by its first finding that lasts, or by the rule set whose interval reaches farthest.

    Returns
    -------
    judged, number
        `people_needed` is of everyone. And the row of the table that it is about.
    """
    evident = [row for row in rows if row.verdict == EVIDENCE]
    if evident:
        level = options["level"]
        number = min(
            evident,
            key=lambda row: place_of_evidence(row.material, outlasts=outlasts_run(row.adjusted_p, level)),
        ).number
        return judge_row(dict(table.loc[number]), options, inference), number
    low, high = table["low"].to_numpy(), table["high"].to_numpy()
    limits = _limits(table, options)
    least, most = np.minimum(limits[0], -_MIN), np.maximum(limits[1], _MIN)
    number = int(table.index[_first_of_largest(np.maximum(high / most, low / least))])
    item = dict(table.loc[number])
    judged = judge_row(item, options, inference, cannot_clear=cannot_clear)
    if judged.people_needed is None:
        return judged, number
    widest = dict(table.iloc[_first_of_largest((high - low) / np.minimum(most, -least))])
    times = [_times_needed(each, options, inference["interval_level"]) for each in (item, widest)]
    needed = None if None in times else math.ceil(max(filter(None, times)) * cells.total)
    return replace(judged, people_needed=needed, people_of=f"{vocabulary().people} in all"), number


def _first_of_largest(lengths: np.ndarray) -> int:
    """Return the first place of the largest; a group and the others differ by their rounding alone."""
    return int(lengths.round(9).argmax())


def _limits(table: pd.DataFrame, options: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the differences (S,) of rule sets that are immaterial: the least and the most."""
    names = ("n_in", "n_out", "favorable_n_in", "favorable_out")
    n, rest, good, rate = (table[name].to_numpy(dtype=float) for name in names)
    overall = (good + rate * rest) / (n + rest)
    low, high = limits_of(
        options["material"], options.get("material_on", "either"), rate=rate, overall=overall
    )
    return np.minimum(low, -options["tolerance"]), np.maximum(high, options["tolerance"])


def _limit(item: Mapping[str, Any], options: Mapping[str, Any]) -> tuple[float, float]:
    low, high = _limits(pd.DataFrame([item]), options)
    return float(low[0]), float(high[0])


def _times_needed(item: Mapping[str, Any], options: Mapping[str, Any], level: float) -> float | None:
    """How many times as many people make the interval no longer than the material difference."""
    low, high = _limit(item, options)
    material = min(-low, high)
    if material <= 0:  # nobody else gets the favorable decision, so there is no ratio
        return None
    good, n = float(item["favorable_n_in"]), float(item["n_in"])
    rest = float(item["favorable_out"] * item["n_out"]), float(item["n_out"])

    def length(times: float) -> float:
        low, high = newcombe_ends(*(np.array([times * part]) for part in (good, n, *rest)), level=level)
        return float(high[0] - low[0])

    times = times_to_settle(length, material)
    # where the interval was drawn out to 0 it is longer than Newcombe's
    return None if times is None else max(times, ((item["high"] - item["low"]) / material) ** 2)
