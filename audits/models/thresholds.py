"""Decision thresholds: one for everyone, or one for each value of a protected attribute."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.checks import choices, one_of
from audits.data.values import find_level, text_of
from audits.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

Threshold = float | Mapping[str, Mapping[str, float]]
_MAX_NAMED = 6


def check_threshold(threshold: Any, groups: pd.DataFrame, kind: str) -> Threshold:
    """Return the threshold as a float, or as {attribute: {value as text: float}}.

    Parameters
    ----------
    threshold : number or mapping
        As the user gave it.
    groups : DataFrame (n, protected)
        Everyone's values of the protected attributes, as text.
    kind : {"probability", "label", "number"}
        What is compared: a probability needs a threshold in [0, 1], a label one in (0, 1] (it
        changes nothing), other numbers any.

    Raises
    ------
    InputError
        If a number is outside its range; for groups, if not one protected attribute is named, or a
        value of it has no threshold.
    """
    if not isinstance(threshold, Mapping):
        return _number("threshold", threshold, kind)
    if len(threshold) != 1:
        raise InputError(
            "threshold", "must be a number or name exactly one protected attribute", list(threshold)
        )
    attribute, by_value = next(iter(threshold.items()))
    one_of("threshold", attribute, groups.columns, what="a protected attribute")
    if not isinstance(by_value, Mapping):
        raise InputError(f"threshold.{attribute}", "must give a number for each value", by_value)
    levels = np.unique(groups[attribute].to_numpy(dtype=str)).tolist()
    given = {}
    for value, number in by_value.items():
        # a YAML yes arrives as True; a value that nobody in this data has does no harm
        level = (
            find_level(f"threshold.{attribute}", value, levels) if isinstance(value, bool) else text_of(value)
        )
        given[level] = _number(f"threshold.{attribute}.{level}", number, kind)
    missing = [level for level in levels if level not in given]
    if missing:
        raise InputError(
            f"threshold.{attribute}",
            f"must give a number for every value, but lacks {choices(missing)}",
            advice="add them",
        )
    return {str(attribute): given}


def _number(where: str, value: object, kind: str) -> float:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        raise InputError(where, "must be a number", value)
    number = float(value)
    if not math.isfinite(number):
        raise InputError(where, "must be finite", value)
    if kind == "probability" and not 0 <= number <= 1:
        raise InputError(where, "must lie in [0, 1], as the model gives probabilities", value)
    if kind == "label" and not 0 < number <= 1:
        raise InputError(where, "must lie in (0, 1], as the model gives labels", value, "leave it at 0.5")
    return number


def cuts(threshold: Threshold, groups: pd.DataFrame) -> float | np.ndarray:
    """Return the threshold that applies to each row: one number, or (n,) by the row's group."""
    if not isinstance(threshold, Mapping):
        return threshold
    [(attribute, by_value)] = threshold.items()
    found = groups[attribute].map(dict(by_value)).to_numpy(np.float64)
    unknown = np.isnan(found)
    if unknown.any():
        values = groups[attribute][unknown].unique()
        raise InputError(
            f"threshold.{attribute}", f"must give a number for every value, but lacks {choices(values)}"
        )
    return found


def threshold_words(threshold: Threshold) -> str:
    """Word a threshold: ``0.5``, or ``0.5 (race Caucasian), 0.4 (race Hispanic)``."""
    if not isinstance(threshold, Mapping):
        return f"{threshold:.12g}"
    [(attribute, by_value)] = threshold.items()
    words = [f"{number:.12g} ({attribute} {value})" for value, number in by_value.items()]
    return ", ".join(words[:_MAX_NAMED]) + (" …" if len(words) > _MAX_NAMED else "")
