"""What a label holds beside favorable or not: its classes, or the number it was cut from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from audits.data import LabelCut
from audits.data.values import number_column
from audits.errors import InputError
from audits.models.predictions import HigherIs
from audits.models.protocol import Model, class_text
from audits.models.thresholds import Threshold

if TYPE_CHECKING:
    from audits.data import AuditData


@runtime_checkable
class NumberModel(Model, Protocol):
    """A model of the number that the label is cut from."""

    def number(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number predicted for each row of `frame`, (n,) float64, in the label's units."""


def label_numbers(data: AuditData) -> np.ndarray:
    """Return the true number of each person, cut into a label or taken as it is, (n,) float64.

    Raises
    ------
    InputError
        If no column of numbers is named.
    """
    if data.number is None:
        raise InputError(
            "data.label",
            "must be a column of numbers, for a model that predicts a number",
            data.label,
            "write label: {column: …, at_least: …}, or add outcome: numeric",
        )
    return number_column(data.frame[data.number])


def cut_rule(cut: LabelCut) -> tuple[float, HigherIs]:
    """Return the threshold on a predicted number, and whether higher is favorable.

    A threshold from which on a decision is favorable, or below which where lower is better; moved by one
    rounding step where the cut itself is on the other side.

    Examples
    --------
    >>> cut_rule(LabelCut("gpa", at_least=3.0))
    (3.0, 'favorable')
    >>> cut_rule(LabelCut("debt", at_most=100.0)) == (float(np.nextafter(100.0, np.inf)), "unfavorable")
    True
    """
    if cut.at_least is not None:
        return float(cut.at_least), "favorable"
    if cut.above is not None:
        return float(np.nextafter(cut.above, np.inf)), "favorable"
    if cut.below is not None:
        return float(cut.below), "unfavorable"
    return float(np.nextafter(float(cut.at_most or 0.0), np.inf)), "unfavorable"


def cut_threshold(threshold: Threshold | None, cut: LabelCut) -> tuple[float, HigherIs]:
    """Return `cut_rule`; raise `InputError` if the spec names a threshold of its own."""
    if threshold is not None and threshold != 0.5:
        raise InputError(
            "threshold",
            "does not apply to a model that predicts a number: the label's own cut decides",
            threshold,
            "leave it out",
        )
    return cut_rule(cut)


def class_codes(data: AuditData, classes: tuple[object, ...]) -> np.ndarray:
    """Return the position of each person's label among `classes`, (n,); -1 for one that is none of them."""
    places = {class_text(value): place for place, value in enumerate(classes)}
    texts = [class_text(value) for value in data.frame[data.label].tolist()]
    return np.array([places.get(text, -1) for text in texts], dtype=np.int64)


def number_matrix(rows: Any) -> np.ndarray:
    """Return a table of numbers, in whatever form, as a matrix (n, k) of float64."""
    if isinstance(rows, np.ndarray):
        return rows.astype(np.float64)
    frame = rows if isinstance(rows, pd.DataFrame) else rows.to_pandas()
    return np.column_stack([number_column(frame.iloc[:, place]) for place in range(frame.shape[1])])
