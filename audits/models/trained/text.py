"""A model of free text trained here: words and pairs of words, weighted, into a logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import sklearn
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from audits.errors import InputError
from audits.models.protocol import need_columns
from audits.models.trained.training import training_digest
from audits.threads import one_thread

if TYPE_CHECKING:
    import pandas as pd

    from audits.data.audit_data import AuditData

_MIN_TEXTS = 2  # a word of one text alone teaches nothing about others
_MAX_WORDS = 200_000


@dataclass(frozen=True, eq=False)
class TextModel:
    """A pipeline trained on the text in `column`; `score` gives the probability of the favorable label.

    A missing text counts as one without words, and so does a text all of whose words are new.
    """

    column: str
    sha256: str
    pipeline: Pipeline
    name: str = "logistic regression on words"
    classes: None = None
    invents: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        """The one column it reads."""
        return (self.column,)

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of the favorable label, (n,) in [0, 1]."""
        need_columns(frame, self.columns, self.name)
        if frame.empty:
            return np.empty(0)
        with one_thread():
            return self.pipeline.predict_proba(frame[self.column].fillna("").astype(str))[:, 1]


def text_feature(data: AuditData) -> str:
    """Return the one text column among the features.

    Raises
    ------
    InputError
        Unless exactly one feature is free text.
    """
    found = [name for name in data.features if data.kinds[name] == "text"]
    if len(found) != 1:
        raise InputError(
            "data.features",
            f"must hold exactly one column of free text to train on words, but hold {len(found)}",
            list(data.features),
            "name the text column in data.features and set data.kinds: {COLUMN: text}",
        )
    return found[0]


def train_text(data: AuditData, *, seed: int = 0) -> TextModel:
    """Train on all rows of `data`: tf-idf of words and pairs of words, ridge-penalized logistic regression.

    Raises
    ------
    InputError
        If no feature, or more than one, is text, or no word occurs in two texts.
    """
    column = text_feature(data)
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=_MIN_TEXTS, max_features=_MAX_WORDS, sublinear_tf=True)
    pipeline = make_pipeline(words, LogisticRegression(C=10.0, max_iter=1000, random_state=seed))
    weights = {} if data.weights is None else {"logisticregression__sample_weight": data.weights}
    try:
        with one_thread():
            pipeline.fit(data.frame[column].fillna("").astype(str), data.y, **weights)
    except ValueError as error:
        if "vocabulary" not in str(error) and "no terms remain" not in str(error).lower():
            raise
        raise InputError(f"column {column!r}", "must hold words that occur in at least two texts") from None
    return TextModel(column, training_digest(data, ["text", seed, sklearn.__version__]), pipeline)
