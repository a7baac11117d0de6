"""A column of predictions as the model: scores or decisions that are already in the data."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from audits.checks import choices, one_of
from audits.errors import InputError
from audits.models.protocol import class_text, row_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from audits.data import AuditData

HigherIs = Literal["favorable", "unfavorable"]
Made = Literal["held_out", "in_sample", "unknown"]
"""Which people the predictions are for: unseen in training, seen in training, or unknown."""


class _PredictionColumn:
    """A column that holds what a model said: nobody else can be scored."""

    column: str
    classes = None
    invents = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column it reads."""
        return (self.column,)


@dataclass(frozen=True, eq=False)
class PredictedScore(_PredictionColumn):
    """A column of scores on any real scale.

    With `higher_is` ``"unfavorable"`` (a risk score) the score is negated, so that higher is better
    for the person as everywhere else; negation is exact, no tie is made or broken.
    """

    column: str
    higher_is: HigherIs
    sha256: str

    @property
    def name(self) -> str:
        """The model in words."""
        return f"scores in column {self.column!r}"

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the scores, higher better for the person, (n,) float64."""
        column = _column(frame, self.column, "score")
        if not pd.api.types.is_numeric_dtype(column):  # truth values count as 0 and 1
            raise no_numbers(self.column)
        values = column.to_numpy(np.float64)
        bad = ~np.isfinite(values)
        if bad.any():
            raise no_prediction(
                "score", self.column, "infinite scores", bad.sum(), len(frame), row_words(frame, bad)
            )
        return -values if self.higher_is == "unfavorable" else values


@dataclass(frozen=True, eq=False)
class PredictedLabel(_PredictionColumn):
    """A column of predicted labels: the score is 1 where it is a favorable value, else 0."""

    column: str
    favorable: tuple[object, ...]
    sha256: str

    @property
    def name(self) -> str:
        """The model in words."""
        return f"predicted labels in column {self.column!r}"

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return 1.0 for a favorable predicted label and 0.0 for any other, (n,)."""
        column = _column(frame, self.column, "label")
        wanted = {class_text(value) for value in self.favorable}
        codes, levels = pd.factorize(column)
        return np.array([class_text(level) in wanted for level in levels], dtype=np.float64)[codes]


def check_predicted_values(values: Sequence[object], labels: Sequence[object], column: str) -> None:
    """Raise `InputError` if predicted labels are none of the label values they are compared with.

    Parameters
    ----------
    values, labels : sequence
        Distinct predicted values; values that they may take.
    column : str
        The column of predictions, for the message.
    """
    known = {class_text(label) for label in labels}
    unknown = [value for value in values if class_text(value) not in known]
    if unknown:
        raise InputError(
            "model.predictions.label",
            f"must hold the same values as the label ({choices(labels)}), but column {column!r} also holds "
            f"{choices(sorted(unknown, key=str))}",
            advice="recode the column with data.recode, or use predictions: {score: …} for scores",
        )


def prediction_digest(data: AuditData, column: str, recipe: Sequence[str]) -> str:
    """Return the SHA-256 of the predictions in `column`, as hexadecimal text."""
    _column(data.frame, column, recipe[0])
    values = pd.util.hash_pandas_object(data.frame[column], index=True).to_numpy()
    return hashlib.sha256("\n".join(recipe).encode() + values.astype("<u8").tobytes()).hexdigest()


def _column(frame: pd.DataFrame, name: str, key: str) -> pd.Series:
    """Return the column of predictions without a gap, or raise what is wrong with it."""
    one_of(f"model.predictions.{key}", name, frame.columns, what="a column of the data")
    missing = frame[name].isna().to_numpy()
    if missing.any():
        found = "no prediction (a missing value)"
        raise no_prediction(key, name, found, missing.sum(), len(frame), row_words(frame, missing))
    return frame[name]


def no_numbers(column: str) -> InputError:
    """Return what is wrong with a column of scores that are no numbers."""
    return InputError(
        "model.predictions.score",
        f"must name a column of numbers, but {column!r} does not hold numbers",
        advice="use predictions: {label: …} for predicted labels",
    )


def no_prediction(
    key: str, column: str, found: str, people: int, everyone: int, rows: str = ""
) -> InputError:
    """Return what is wrong with a column of predictions in which some `people` have none that is finite."""
    return InputError(
        f"model.predictions.{key}",
        f"must give everyone a finite prediction, but column {column!r} has {found} for {people:,} "
        f"of {everyone:,} people{f' ({rows})' if rows else ''}",
        advice="keep only people with a prediction, for example with data.keep: "
        f"[{{column: {column}, not_missing: true}}]",
    )
