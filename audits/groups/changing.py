"""A group comparison under other thresholds, and beside another model's, without a new run."""

from __future__ import annotations

import itertools
from typing import Any, Literal

import numpy as np
import pandas as pd

from audits.checks import build
from audits.errors import InputError
from audits.groups.audit import LABEL, groups_from_people, with_sign
from audits.groups.comparison import Sorted, sort_people
from audits.groups.metrics import METRICS, Metric
from audits.groups.options import GroupsOptions
from audits.groups.result import GroupsResult
from audits.models.thresholds import Threshold, cuts
from audits.stats import Estimate
from audits.stats.intervals import weighted_sum
from audits.stats.paired_shares import paired_difference

__all__ = ["at_threshold", "beside", "decided", "since"]


def at_threshold(
    result: GroupsResult,
    threshold: Threshold,
    *,
    higher_is: Literal["favorable", "unfavorable"] = "favorable",
) -> GroupsResult:
    """Return the comparison as it would be if decisions were made at `threshold`.

    Parameters
    ----------
    threshold : float or dict
        As in a spec: one number, or ``{attribute: {value: number}}`` with a number for every value.
    higher_is : {"favorable", "unfavorable"}
        What high scores of the model mean, as results.json states under ``model``.

    Raises
    ------
    InputError
        If a group has no threshold, the attribute is not protected, or people were counted and no row kept.
    """
    if not len(result.people):
        raise InputError(
            "threshold",
            "cannot be moved: people were counted, and no row was kept",
            advice="set it in the spec and run again",
        )
    people = result.people.copy(deep=False)
    names = _protected(people)
    groups = people[[f"group: {name}" for name in names]].set_axis(names, axis="columns")
    if isinstance(threshold, dict) and not set(threshold) <= set(names):
        raise InputError("threshold", "must be by a protected attribute", ", ".join(threshold))
    cut = cuts(threshold, groups)
    score = people["score"].to_numpy(dtype=float)
    people["decision"] = score > -cut if higher_is == "unfavorable" else score >= cut
    options = build(GroupsOptions, result.options, "groups")
    audited = result.rows["audited"]
    moved = groups_from_people(people, tuple(names), options, result.outcome, audited, result.bootstrap_seed)
    return with_sign(moved, higher_is)


def beside(first: GroupsResult, second: GroupsResult) -> pd.DataFrame:
    """Return two models' rates by group on the same people, and the second minus the first.

    Returns
    -------
    DataFrame
        One row a group and rate: ``attribute``, ``group``, ``rate``, ``first`` and ``second``, each with
        ends, and ``change`` with the ends of its paired interval, which is narrower than two separate ones
        suggest. Positive: the second model's rate is higher. Levels are those of the first comparison, not
        corrected for the number of rows.

    Raises
    ------
    InputError
        If the two were not made on the same rows in the same groups.
    """
    ours, theirs = first.people, second.people
    if not len(ours):
        raise InputError("the two results", "have no rows to compare: people were counted")
    same = [column for column in ours.columns if column not in {"score", "decision"}]
    if not ours.index.equals(theirs.index) or set(same) != set(theirs.columns) - {"score", "decision"}:
        raise InputError(
            "the two results", "must be about the same rows", advice="run both on the same data and seed"
        )
    if not ours[same].equals(theirs[same]):
        raise InputError(
            "the two results", "must agree on groups and labels", advice="run both on the same data"
        )
    other = {(row.attribute, row.group): row for row in second.table}
    rows = []
    groups = {spread.attribute: _sorted(ours, spread.attribute) for spread in first.spreads}
    for row in first.table:
        if (row.attribute, row.group) not in other:
            raise InputError("the two results", "must compare the same attributes", row.attribute)
        item = groups[row.attribute]
        inside = item.group == item.names.index(row.group)
        for metric in METRICS.judged(labels=LABEL in ours):
            name = metric.name
            line: dict[str, Any] = {"attribute": row.attribute, "group": row.group, "rate": metric.words}
            for side, found in (("first", row), ("second", other[row.attribute, row.group])):
                estimate = found.metric(name) or Estimate(None, None, None, 0.0, "")
                line |= {side: estimate.value, f"{side} low": estimate.low, f"{side} high": estimate.high}
            change = _change(ours, theirs, inside & _asked(ours, metric), float(first.options["level"]))
            rows.append(line | {"change": change.value, "change low": change.low, "change high": change.high})
    return pd.DataFrame(rows)


def decided(result: GroupsResult) -> pd.Series | None:
    """Return who was decided favourably, by row; None where rows are no single people, or none is kept."""
    kept = "cluster" not in result.people and len(result.people)
    return result.people["decision"].astype(bool) if kept else None


def since(result: GroupsResult, before: np.ndarray, *, level: float) -> dict[str, Estimate]:
    """Return how the judged rates changed since other decisions on the same people, by their place.

    Parameters
    ----------
    before : array of bool, (n,)
        The other decisions, in the order of ``result.people``.
    level : float
        Error rate of each interval.

    Returns
    -------
    dict
        Place in the result (``table[sex: f].selection_rate``, ``table[sex: f].differences.selection_rate``)
        to the change, now minus before. A rate's interval is Newcombe's for paired shares; a difference's is
        recovered from those of its two groups (MOVER), which share nobody.
    """
    ours, theirs = result.people, result.people.assign(decision=np.asarray(before, dtype=bool))
    found: dict[str, Estimate] = {}
    for spread in result.spreads:
        item = _sorted(ours, spread.attribute)
        for metric in METRICS.judged(labels=LABEL in ours):
            asked = _asked(ours, metric)
            changes = {
                name: _change(theirs, ours, (item.group == j) & asked, level)
                for j, name in enumerate(item.names)
            }
            for name, change in changes.items():
                place = f"table[{spread.attribute}: {name}]"
                found[f"{place}.{metric.name}"] = change
                if name != spread.reference:
                    gap = weighted_sum([change, changes[spread.reference]], [1.0, -1.0])
                    found[f"{place}.differences.{metric.name}"] = gap
    return found


def _protected(people: pd.DataFrame) -> list[str]:
    return [name.removeprefix("group: ") for name in people.columns if name.startswith("group: ")]


def _sorted(people: pd.DataFrame, attribute: str) -> Sorted:
    """Sort people into the groups of an attribute, or of several joined by " × "."""
    known = _protected(people)
    names = next(
        found
        for k in range(1, len(known) + 1)
        for found in itertools.permutations(known, k)
        if " × ".join(found) == attribute
    )
    columns = people[[f"group: {name}" for name in names]]
    return sort_people(columns, names, people, None, np.array([0.0, 1.0]))


def _asked(people: pd.DataFrame, metric: Metric) -> np.ndarray:
    """Who a judged rate is about: everyone, or those with (without) a favourable label."""
    labels = people[LABEL].to_numpy(dtype=bool) if LABEL in people else None
    assert metric.share is not None  # noqa: S101  (only shares are judged)
    return np.asarray(metric.share(labels, people["decision"].to_numpy(dtype=bool))[1])


def _change(ours: pd.DataFrame, theirs: pd.DataFrame, inside: np.ndarray, level: float) -> Estimate:
    size = ours["people"].to_numpy(dtype=float)[inside]
    a, b = (side["decision"].to_numpy(dtype=bool)[inside] for side in (theirs, ours))
    cells = [float(size[part].sum()) for part in (a & b, a & ~b, ~a & b, ~a & ~b)]
    return paired_difference(*cells, level=level)
