"""Decisions in a column of a table larger than memory, as ``model.predictions`` of a spec names it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from audits.data import DataSpec
from audits.data.values import text_of
from audits.errors import InputError
from audits.models import ModelSpec
from audits.models.protocol import class_text
from audits.rule_sets.streaming import Decided

__all__ = ["decided_by"]


def decided_by(model: ModelSpec, data: DataSpec, threshold: float) -> tuple[Decided, str]:
    """Return how a batch is decided, and the favourable outcome in words.

    Raises
    ------
    InputError
        If the spec names no column of predictions, or not which predicted label is favourable.
    """
    predictions = model.predictions
    if predictions is None:
        raise InputError("model.predictions", "must name the column of scores or predicted labels")
    if predictions.label is None:
        column, worse = str(predictions.score), predictions.higher_is == "unfavorable"
        return _by_score(column, threshold, worse), "favorable"
    if data.favorable is None:
        raise InputError(
            "data.favorable", "is missing", advice="say which predicted label is good for the person"
        )
    favorable = data.favorable if isinstance(data.favorable, tuple) else (data.favorable,)
    words = " or ".join(map(text_of, favorable))
    return _by_label(predictions.label, favorable), f"{predictions.label} = {words}"


def _by_score(column: str, threshold: float, worse: bool) -> Decided:
    def check(kind: pa.DataType) -> None:
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise InputError(
                "model.predictions.score",
                f"must name a column of numbers, but {column!r} holds {kind}",
                advice="use predictions: {label: …} for predicted labels",
            )

    def favorable(batch: pa.Array) -> np.ndarray:
        scores = np.asarray(batch.to_numpy(zero_copy_only=False), dtype=float)
        _refuse("score", column, int((~np.isfinite(scores)).sum()))
        return scores < threshold if worse else scores >= threshold

    return Decided(column, check, favorable)


def _by_label(column: str, favorable: tuple[object, ...]) -> Decided:
    wanted = {class_text(value) for value in favorable}

    def decided(batch: pa.Array) -> np.ndarray:
        _refuse("label", column, batch.null_count)
        if not isinstance(batch, pa.DictionaryArray):
            batch = batch.dictionary_encode()
        good = np.array([class_text(value) in wanted for value in batch.dictionary.to_pylist()], dtype=bool)
        return good[batch.indices.to_numpy()]

    return Decided(column, lambda _: None, decided)


def _refuse(key: str, column: str, gaps: int) -> None:
    if gaps:
        raise InputError(
            f"model.predictions.{key}",
            f"must give everyone a finite prediction, but column {column!r} has none for at least {gaps:,}",
            advice="keep only people with a prediction in the file",
        )
