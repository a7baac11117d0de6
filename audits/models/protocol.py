"""What a model is to every audit, and how its classes are matched to the favorable outcome."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from audits.checks import choices
from audits.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from audits.data import AuditData

_NUMBER = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?")


@runtime_checkable
class Model(Protocol):
    """Anything that scores people."""

    @property
    def name(self) -> str:
        """In words for the user: "logistic regression", "ONNX model hiring.onnx"."""

    @property
    def classes(self) -> tuple[object, ...] | None:
        """Label values in the order of `score`'s columns.

        None: `score` is one number a person, and higher is better for the person.
        """

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that the model reads."""

    @property
    def invents(self) -> bool:
        """Whether it can score rows that nobody in the data has; False for a predictions column."""

    @property
    def sha256(self) -> str:
        """Digest of what decides the scores: the file, or everything that training depends on."""

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return scores of the rows of `frame`, (n,) or (n, k), float64."""


def class_text(value: object) -> str:
    """Return the text under which a label value is compared: 1, 1.0, True, "1" and "1.0" agree.

    Examples
    --------
    >>> [class_text(value) for value in (1, 1.0, True, "1", " 1.0", "true", ">50K", 0.5, "A91")]
    ['1', '1', '1', '1', '1', '1', '>50K', '0.5', 'A91']
    """
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        text = value.strip()
        if text.lower() in {"true", "false"}:
            return "1" if text.lower() == "true" else "0"
        if not _NUMBER.fullmatch(text):
            return text
        value = float(text) if any(sign in text for sign in ".eE") else int(text)
    if isinstance(value, (bool, int, float, np.bool_, np.number)):
        return _number_text(value)
    return str(value)


def _number_text(value: object) -> str:
    if isinstance(value, (int, np.integer)):  # True is 1; a long integer keeps every digit
        return str(int(value))
    number = float(value)  # type: ignore[arg-type]
    return str(int(number)) if np.isfinite(number) and number == int(number) else repr(number)


def label_values(data: AuditData) -> tuple[object, ...]:
    """Return the distinct label values of the data, sorted as numbers if all are, else as text."""
    if data.label is None:
        return ()
    values = data.frame[data.label].dropna().unique().tolist()
    if all(isinstance(value, (bool, int, float)) for value in values):
        return tuple(sorted(values))
    return tuple(sorted(values, key=str))


def row_words(frame: pd.DataFrame, bad: np.ndarray, *, most: int = 3) -> str:
    """Word which rows of `frame` a (n,) mask picks: ``rows 3, 17, 20 …``."""
    rows = frame.index[bad]
    shown = ", ".join(str(row) for row in rows[:most])
    return f"row{'s' if len(rows) > 1 else ''} {shown}{' …' if len(rows) > most else ''}"


def need_columns(frame: pd.DataFrame, columns: Iterable[str], name: str) -> None:
    """Raise `InputError` unless `frame` has all the columns that the model `name` reads."""
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise InputError("frame", f"lacks columns that the {name} reads: {choices(missing)}")


def check_scores(scores: np.ndarray, frame: pd.DataFrame, name: str) -> np.ndarray:
    """Return scores, (n,) or (n, k), as float64; raise `InputError` that counts what is not finite."""
    scores = np.asarray(scores, dtype=np.float64)
    bad = ~np.isfinite(scores)
    if bad.ndim == 2:
        bad = bad.any(axis=1)
    if bad.any():
        raise InputError(
            "model",
            f"must give everyone a finite score, but {name} gives {int(bad.sum()):,} of {len(bad):,} people "
            f"NaN or an infinite score ({row_words(frame, bad)})",
            advice="look for missing values in the columns that it reads; set data.missing to 'drop', or "
            "export the model together with its imputation step",
        )
    return scores


def favorable_columns(
    classes: Sequence[object], favorable: Sequence[object], labels: Sequence[object], name: str
) -> np.ndarray:
    """Return which columns of `score` are favorable, (k,) bool.

    Parameters
    ----------
    classes : sequence
        The model's label values, in the order of its columns.
    favorable : sequence
        Label values that are good for the person, as the user gave them.
    labels : sequence
        Label values that occur in the data; empty without a label.
    name : str
        The model, for messages.

    Raises
    ------
    InputError
        If a label value of the data, or a favorable value, is none of the model's classes, or if
        the favorable values are none or all of them.
    """
    if not favorable:
        raise InputError(
            "data.favorable", "is missing", advice="say which label value is good for the person"
        )
    known = [class_text(value) for value in classes]
    unknown = [value for value in [*labels, *favorable] if class_text(value) not in known]
    if unknown:
        raise InputError(
            "model.classes",
            f"must cover the label values of the data, but {name} has the classes {choices(classes)} "
            f"and the data also {choices(dict.fromkeys(unknown))}",
            advice="give model.classes: the label values in the order of the model's outputs",
        )
    wanted = {class_text(value) for value in favorable}
    chosen = np.array([value in wanted for value in known])
    if chosen.all():
        raise InputError(
            "data.favorable",
            f"must leave out at least one of the classes of {name} ({choices(classes)})",
            tuple(favorable),
        )
    return chosen
