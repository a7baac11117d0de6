"""Objects of this process as models: what they are asked for, and how their answers are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from audits.data.adapters import Reader
from audits.errors import InputError
from audits.models.outputs import class_scores
from audits.models.protocol import check_scores, class_text, need_columns

__all__ = ["InMemoryModel", "InMemoryNumber", "Output", "answers_of"]

Output = Literal["probabilities", "logits", "scores", "labels"]
"""What a model gives: of every class or of the second one; or any number, higher being better."""


@dataclass(frozen=True, eq=False)
class InMemoryModel:
    """An object that scores people.

    Attributes
    ----------
    ask : callable
        From a table in the form it was given in to the object's own answers, (n,) or (n, k).
    reader : Reader
        From the audit's rows to such a table.
    output : {"probabilities", "logits", "scores", "labels"}
        What the answers are.
    sign : float
        -1 where a lower score is better for the person.
    origin : object
        The object itself, for its gradient.
    zero : bool
        Whether its scores are decided at 0 unless a threshold is given: those of a decision function are.
    """

    name: str
    columns: tuple[str, ...]
    classes: tuple[object, ...] | None
    ask: Callable[[Any], Any]
    reader: Reader
    output: Output
    sha256: str = ""
    notes: tuple[str, ...] = ()
    sign: float = 1.0
    invents: bool = True
    zero: bool = True
    origin: Any = None

    def answers(self, frame: pd.DataFrame) -> np.ndarray:
        """Return what the object says of the rows of `frame`, as an array with one entry a row."""
        need_columns(frame, self.columns, self.name)
        return answers_of(self.ask, self.reader(frame), len(frame), self.name)

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return probabilities (n, k) of the classes; scores (n,), higher better, where there are none."""
        if frame.empty:
            return np.empty(0) if self.classes is None else np.empty((0, len(self.classes)))
        return scores_of(self.answers(frame), frame, self)


@dataclass(frozen=True, eq=False)
class InMemoryNumber(InMemoryModel):
    """An object that predicts the number which the label cuts."""

    def number(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number predicted for each row of `frame`, (n,) float64."""
        return self.sign * self.score(frame)


def scores_of(answers: np.ndarray, frame: pd.DataFrame, model: InMemoryModel) -> np.ndarray:
    """Return answers as `Model.score` does."""
    if model.output == "scores":
        return model.sign * check_scores(answers.astype(np.float64), frame, model.name)
    single = model.classes is None
    width = (answers.shape[1] if answers.ndim == 2 else 1) if single else len(model.classes or ())
    places = {class_text(value): place for place, value in enumerate(model.classes or ())}
    labels, logits = places if model.output == "labels" else None, model.output == "logits"
    if logits:
        check_scores(answers, frame, model.name)
    scores = class_scores(answers, frame, model.name, width=width, labels=labels, logits=logits)
    return scores[:, -1] if single and scores.ndim == 2 else scores


def answers_of(ask: Callable[[Any], Any], rows: Any, n: int, name: str) -> np.ndarray:
    """Return the object's answers as an array (n, …); its own failure is told with what it said."""
    try:
        said = ask(rows)
    except Exception as error:  # whatever a stranger's model raises
        words = " ".join(str(error).split())[:300]
        raise InputError(
            "model",
            f"must score the people of X, but {name} fails on them ({type(error).__name__}: {words})",
            advice="call it with X yourself; columns=[…] names what it reads, in its order",
        ) from error
    for part in ("detach", "cpu", "numpy", "to_numpy"):  # tensors, frames and series of any library
        if not isinstance(said, np.ndarray) and callable(getattr(said, part, None)):
            said = getattr(said, part)()
    found = np.asarray(said)
    if found.ndim not in {1, 2} or len(found) != n:
        raise InputError(
            "model", f"must give one answer for each of {n:,} people",
            f"{name} gives an array of shape {found.shape}",
            "where it predicts several outcomes, pass a function that gives one" if found.ndim > 2 else "",
        )  # fmt: skip
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    return found
