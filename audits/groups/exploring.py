"""Other thresholds on the same people: what accuracy and gap would be, and thresholds that close a gap.

Everything here describes the people audited; nothing is tested. Thresholds are on the scale of the user's
scores.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd

from audits.errors import InputError
from audits.groups.audit import LABEL
from audits.groups.result import GroupsResult

__all__ = ["PRESETS", "gap_and_accuracy", "preset_thresholds", "trade_off"]

Direction = Literal["favorable", "unfavorable"]

PRESETS: dict[str, str] = {
    "equal rates": "Every group is decided favorably as often as all people are now",
    "four fifths": "No group is decided favorably less than four fifths as often as the most favored",
    "equal opportunity": "Of those with a favorable label, as many of every group as of all now",
}
"""What each preset does, in words."""

_POINTS, _FOUR_FIFTHS = 61, 0.8
_BESIDE = 1e-4  # beyond all scores, where nobody or everybody is accepted


def gap_and_accuracy(result: GroupsResult, attribute: str) -> tuple[float, float | None]:
    """Return the largest difference of two groups' selection rates, and the accuracy of all decisions.

    The accuracy is None where the data have no label.
    """
    people, sizes = result.people, result.people["people"].to_numpy(dtype=float)
    decided = people["decision"].to_numpy(dtype=bool)
    return _gap(decided, sizes, _codes(people, attribute)), _accuracy(decided, people, sizes)


def trade_off(result: GroupsResult, attribute: str, *, higher_is: Direction = "favorable") -> pd.DataFrame:
    """Return gap and accuracy at one threshold for everybody, over the thresholds that change something.

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
    people = _kept(result)
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
    people = _kept(result)
    sign = -1.0 if higher_is == "unfavorable" else 1.0
    score = people["score"].to_numpy(dtype=float)
    sizes = people["people"].to_numpy(dtype=float)
    decided = people["decision"].to_numpy(dtype=bool)
    groups = people[f"group: {attribute}"].to_numpy(dtype=str)
    asked = np.ones(len(people), dtype=bool)
    if preset == "equal opportunity":
        if LABEL not in people:
            raise InputError("preset", "needs a label to equalise by", preset, "choose another one")
        asked = people[LABEL].to_numpy(dtype=bool)
    names = list(dict.fromkeys(groups))
    rates = {
        name: float(np.average(decided[inside], weights=sizes[inside]))
        for name in names
        if (inside := asked & (groups == name)).any()
    }
    floor = _FOUR_FIFTHS * max(rates.values(), default=0.0)
    share = float(np.average(decided[asked], weights=sizes[asked])) if asked.any() else 0.0
    found = {}
    for name in names:
        own = groups == name
        if name not in rates or (preset == "four fifths" and rates[name] >= floor):
            place = _first_accepted(score[own], decided[own])
            cut = _between(np.unique(score[own]), place)
        else:
            inside = own & asked
            wanted = floor if preset == "four fifths" else share
            place = _first_for(score[inside], sizes[inside], wanted, at_least=preset == "four fifths")
            cut = _between(np.unique(score[inside]), place)
        found[str(name)] = sign * cut
    return found


def _kept(result: GroupsResult) -> pd.DataFrame:
    if not len(result.people):
        raise InputError("threshold", "cannot be moved: people were counted, and no row was kept")
    return result.people


def _codes(people: pd.DataFrame, attribute: str) -> np.ndarray:
    columns = [f"group: {name}" for name in attribute.split(" × ")]
    return np.asarray(people.groupby(columns, sort=False).ngroup())


def _gap(decided: np.ndarray, sizes: np.ndarray, codes: np.ndarray) -> float:
    rates = np.bincount(codes, sizes * decided) / np.bincount(codes, sizes)
    return float(rates.max() - rates.min())


def _accuracy(decided: np.ndarray, people: pd.DataFrame, sizes: np.ndarray) -> float | None:
    if LABEL not in people:
        return None
    return float(np.average(decided == people[LABEL].to_numpy(dtype=bool), weights=sizes))


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
