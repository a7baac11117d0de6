"""A group comparison under other thresholds, and beside another model's, without a new run.

What accuracy and gap other thresholds give, and thresholds that close a gap, describe the people audited:
nothing is tested. Thresholds are on the scale of the user's scores.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pandas as pd

from audits.checks import build
from audits.errors import InputError
from audits.groups.audit import groups_from_people, with_sign
from audits.groups.labels import LABEL, counted_in, labels_of
from audits.groups.metrics import METRICS
from audits.groups.options import GroupsOptions
from audits.groups.people import people_by, protected_names
from audits.groups.result import GroupsResult
from audits.models.thresholds import Threshold, cuts
from audits.stats import Estimate, exceeds
from audits.stats.estimate import estimate_cells
from audits.stats.intervals import weighted_sum
from audits.stats.paired_shares import paired_difference
from audits.stats.ratios import references_among
from audits.stats.verdicts import FOUR_FIFTHS


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
    people = _stored_people(result).copy(deep=False)
    names = protected_names(people)
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
        raise InputError("the two results", "have no rows to compare, because people were counted")
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
    groups = {spread.attribute: people_by(ours, spread.attribute) for spread in first.spreads}
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
                line |= estimate_cells(side, estimate)
            change = _change(
                ours, theirs, inside & counted_in(ours, metric)[1], float(first.options["level"])
            )
            rows.append(line | estimate_cells("change", change))
    return pd.DataFrame(rows)


def decisions_by_row(result: GroupsResult) -> pd.Series | None:
    """Return who was decided favorably, by row; None where rows are no single people, or none is kept."""
    kept = "cluster" not in result.people and len(result.people) and "decision" in result.people
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
        item = people_by(ours, spread.attribute)
        for metric in METRICS.judged(labels=LABEL in ours):
            asked = counted_in(ours, metric)[1]
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


def _change(ours: pd.DataFrame, theirs: pd.DataFrame, inside: np.ndarray, level: float) -> Estimate:
    size = ours["people"].to_numpy(dtype=float)[inside]
    a, b = (side["decision"].to_numpy(dtype=bool)[inside] for side in (theirs, ours))
    cells = [float(size[part].sum()) for part in (a & b, a & ~b, ~a & b, ~a & ~b)]
    return paired_difference(*cells, level=level)


Direction = Literal["favorable", "unfavorable"]

PRESETS: dict[str, str] = {
    "equal rates": "Every group gets the favorable decision as often as everyone does now",
    "four fifths": "No group gets the favorable decision less than four-fifths as often as the most favored",
    "equal opportunity": "Among people with a favorable label, every group gets it as often as everyone "
    "does now",
}
"""What each preset does, in words."""

_POINTS = 61
_BESIDE = 1e-4  # beyond all scores, where nobody or everyone is accepted


def gap_and_accuracy(result: GroupsResult, attribute: str) -> tuple[float, float | None]:
    """Return the largest difference of two groups' selection rates, and the accuracy of all decisions.

    The accuracy is None where the data have no label.
    """
    people, sizes = result.people, result.people["people"].to_numpy(dtype=float)
    decided = people["decision"].to_numpy(dtype=bool)
    return _gap(decided, sizes, _codes(people, attribute)), _accuracy(decided, people, sizes)


def trade_off(result: GroupsResult, attribute: str, *, higher_is: Direction = "favorable") -> pd.DataFrame:
    """Return gap and accuracy at one threshold for everyone, over the thresholds that change something.

    Parameters
    ----------
    attribute : str
        A protected attribute.
    higher_is : {"favorable", "unfavorable"}
        What high scores mean on the user's scale.

    Returns
    -------
    DataFrame
        Columns ``threshold``, ``gap`` (of selection rates, in points), ``accuracy`` (a share; missing without
        labels) and ``selection rate``; one row a threshold, from low to high.

    Raises
    ------
    InputError
        If people were counted, and no row was kept.
    """
    people = _stored_people(result)
    sizes, score = people["people"].to_numpy(dtype=float), people["score"].to_numpy(dtype=float)
    codes, rows = _codes(people, attribute), []
    for cut in np.unique(np.quantile(score, np.linspace(0, 1, _POINTS), method="inverted_cdf")):
        decided = score > cut if higher_is == "unfavorable" else score >= cut
        rows.append(
            (
                -cut if higher_is == "unfavorable" else cut,
                100 * _gap(decided, sizes, codes),
                _accuracy(decided, people, sizes),
                float(np.average(decided, weights=sizes)),
            )
        )
    table = pd.DataFrame(rows, columns=["threshold", "gap", "accuracy", "selection rate"])
    return table.astype(float).sort_values("threshold", ignore_index=True)


def preset_thresholds(
    result: GroupsResult, attribute: str, preset: str, *, higher_is: Direction = "favorable"
) -> dict[str, float]:
    """Return a threshold for each group of an attribute, as near to a preset as its people's scores allow.

    Parameters
    ----------
    preset : {"equal rates", "four fifths", "equal opportunity"}
        See `PRESETS`. Four fifths lowers thresholds only, of groups that fall below.

    Raises
    ------
    InputError
        If people were counted; for equal opportunity also if there is no label.
    """
    people = _stored_people(result)
    sign = -1.0 if higher_is == "unfavorable" else 1.0
    score = people["score"].to_numpy(dtype=float)
    sizes = people["people"].to_numpy(dtype=float)
    decided = people["decision"].to_numpy(dtype=bool)
    groups = people[f"group: {attribute}"].to_numpy(dtype=str)
    asked = np.ones(len(people), dtype=bool)
    if preset == "equal opportunity":
        if LABEL not in people:
            raise InputError("preset", "needs a label to equalize by", preset, "choose another one")
        asked = people[LABEL].to_numpy(dtype=bool)
    names = list(dict.fromkeys(groups))
    members = {name: inside for name in names if (inside := asked & (groups == name)).any()}
    rates = {
        name: float(np.average(decided[inside], weights=sizes[inside])) for name, inside in members.items()
    }
    large = references_among(np.array([sizes[inside].sum() for inside in members.values()]))
    floor = FOUR_FIFTHS * max((list(rates.values())[place] for place in large), default=0.0)
    share = float(np.average(decided[asked], weights=sizes[asked])) if asked.any() else 0.0
    found = {}
    for name in names:
        own = groups == name
        if name not in rates or (preset == "four fifths" and not exceeds(floor, rates[name])):
            place = _first_accepted(score[own], decided[own])
            cut = _between(np.unique(score[own]), place)
        else:
            inside = own & asked
            wanted = floor if preset == "four fifths" else share
            place = _first_for(score[inside], sizes[inside], wanted, at_least=preset == "four fifths")
            cut = _between(np.unique(score[inside]), place)
        found[str(name)] = sign * cut
    return found


def _stored_people(result: GroupsResult) -> pd.DataFrame:
    if not len(result.people):
        raise InputError(
            "threshold",
            "cannot be moved, because people were counted and no row was kept",
            advice="set it in the spec and run again",
        )
    return result.people


def _codes(people: pd.DataFrame, attribute: str) -> np.ndarray:
    columns = [f"group: {name}" for name in attribute.split(" × ")]
    return np.asarray(people.groupby(columns, sort=False).ngroup())


def _gap(decided: np.ndarray, sizes: np.ndarray, codes: np.ndarray) -> float:
    rates = np.bincount(codes, sizes * decided) / np.bincount(codes, sizes)
    return float(rates.max() - rates.min())


def _accuracy(decided: np.ndarray, people: pd.DataFrame, sizes: np.ndarray) -> float | None:
    labels = labels_of(people)
    if labels is None:
        return None
    return float(np.average(decided == labels.favorable, weights=sizes * labels.known))


def _first_accepted(score: np.ndarray, decided: np.ndarray) -> int:
    """Return which of the scores, from low to high, is the first that is accepted now."""
    values = np.unique(score)
    return int(np.searchsorted(values, score[decided].min())) if decided.any() else len(values)


def _first_for(score: np.ndarray, sizes: np.ndarray, share: float, *, at_least: bool) -> int:
    """Return which score must be the first accepted for a share nearest to `share`, or not below it."""
    _, place = np.unique(score, return_inverse=True)
    accepted = np.append(np.bincount(place, sizes)[::-1].cumsum()[::-1] / sizes.sum(), 0.0)
    if at_least:
        return int(np.flatnonzero(accepted >= share - 1e-12)[-1])
    return int(np.abs(accepted - share).argmin())


def _between(values: np.ndarray, first: int) -> float:
    """Return a number of few digits between the last score that is refused and the first that is accepted."""
    low = values[first - 1] if first else values[0] - _BESIDE * max(1.0, abs(values[0]))
    high = values[first] if first < len(values) else values[-1] + _BESIDE * max(1.0, abs(values[-1]))
    middle = float((low + high) / 2)
    brief = (float(f"{middle:.{digits}g}") for digits in range(2, 12))
    return next((each for each in brief if low < each < high), middle)
