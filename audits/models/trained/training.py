"""What every model trained here shares: enough rows, and a digest of all that decides its scores."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from audits.checks import choices
from audits.errors import InputError
from audits.models.protocol import label_values, need_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from audits.data import AuditData, FeatureSpace

MIN_OF_AN_OUTCOME = 5
MIN_TO_LEARN = 2  # one to fit, one to see when to stop
UNREADABLE = ("text", "identifier")


@dataclass(frozen=True, eq=False)
class OnSpace:
    """A model that reads points of the `space` of its columns."""

    name: str
    sha256: str
    space: FeatureSpace

    invents = True

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return self.space.columns

    def design(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the points (n, d) that the model reads; what is unknown counts as none or average."""
        need_columns(frame, self.columns, self.name)
        return self.space.encode(frame, unknown="zero")


def check_trainable(data: AuditData, *, text: bool = False) -> None:
    """Raise `InputError` unless a model can be trained on a part of `data` and judged on the rest.

    That takes a label, at least one feature, no feature that is free text or an identifier, and at
    least 5 people with each outcome. A model of `text` reads free text.
    """
    if data.y is None and data.number is None:
        raise _no_label()
    if not data.features:
        raise InputError("data.features", "must name at least one column to train on")
    unreadable = [name for name in data.features if data.kinds[name] in UNREADABLE]
    if unreadable and not text:
        raise InputError(
            "data.features",
            "must not hold free text or identifiers when a model is trained here",
            unreadable,
            "leave them out or set their kinds",
        )
    if data.y is None:
        if data.n < 2 * MIN_OF_AN_OUTCOME:
            raise InputError(
                "data",
                f"must hold at least {2 * MIN_OF_AN_OUTCOME} people to train a model and judge it",
                data.n,
                "bring more rows, or a trained model",
            )
        return
    good, bad = int(data.y.sum()), int((~data.y).sum())
    if min(good, bad) == 0:
        kind = "favorable" if good else "unfavorable"
        raise InputError(
            "data.label",
            f"must take both outcomes to train a model, but all {data.n:,} people have the {kind} one",
            advice="check data.label, data.favorable and data.keep",
        )
    if min(good, bad) < MIN_OF_AN_OUTCOME:
        raise InputError(
            "data",
            f"must hold at least {MIN_OF_AN_OUTCOME} people with each outcome to train a model and judge "
            f"it on others, but {good:,} have the favorable and {bad:,} the unfavorable one",
            advice="bring more rows, or a trained model",
        )


def check_parts(training: AuditData, held_out: AuditData) -> None:
    """Raise `InputError` if the split left too few people with an outcome to learn from."""
    if training.y is None:
        return
    y = np.asarray(training.y)
    if min(y.sum(), (~y).sum()) < MIN_TO_LEARN:
        raise InputError(
            "data.test_size",
            f"must leave at least {MIN_TO_LEARN} people with each outcome to train on, but of "
            f"{training.n:,} people {int(y.sum()):,} have the favorable one ({held_out.n:,} are held out)",
            advice="choose a smaller data.test_size, or bring more rows",
        )


def check_class_parts(training: AuditData, held_out: AuditData) -> None:
    """Raise `InputError` unless every value of the label has a few people to learn from."""
    if training.label is None:
        return
    counts = training.frame[training.label].value_counts()
    values = held_out.frame[training.label].dropna().unique().tolist()
    few = [value for value in dict.fromkeys([*counts.index, *values]) if counts.get(value, 0) < MIN_TO_LEARN]
    if few:
        raise InputError(
            "data.label",
            f"must have at least {MIN_TO_LEARN} people with each value to train on, but {choices(few)} "
            f"{'has' if len(few) == 1 else 'have'} fewer",
            advice="join rare values with data.recode, or leave out model.predict",
        )


def what_to_learn(data: AuditData, *, label: bool) -> Literal["favorable", "classes", "number"]:
    """Return what a model predicts: favorable or not, or if the `label` each value or the number behind it.

    Raises
    ------
    InputError
        If there is no label.
    """
    if data.numeric is not None:
        return "number"
    if not label:
        return "favorable"
    if data.label is None:
        raise _no_label()
    if data.cut is not None:
        return "number"
    return "classes" if len(label_values(data)) > 2 else "favorable"


def _no_label() -> InputError:
    return InputError(
        "data.label", "is missing", advice="name the column that a model should learn to predict"
    )


def training_digest(training: AuditData, recipe: Sequence[object]) -> str:
    """Return the SHA-256 that stands for a model trained here, as hexadecimal text.

    It covers everything that decides the scores: content and roles of the training data and which of
    its rows were trained on (`AuditData.digest`), the kind of model, the seed and the libraries.
    """
    parts = [training.digest, *recipe, np.__version__]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
