"""A model looked at as it arrives: which column feeds what, and what it says of the first people."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.data.values import is_missing, plain_value, text_of
from audits.models.factory import make_subject
from audits.models.formats import format_of
from audits.models.spec import model_path

if TYPE_CHECKING:
    from audits.data import AuditData
    from audits.models.spec import ModelSpec
    from audits.models.subject import Subject
    from audits.models.thresholds import Threshold

_PEOPLE = 5
_TRIED = 1000


@dataclass(frozen=True)
class Feed:
    """One column that a model reads.

    Attributes
    ----------
    input : str
        Name of the input or feature in the file; of a matrix, with the place in it.
    column : str
        The column that feeds it.
    first : str
        What it is given of the first person; "" where that is missing.
    """

    input: str
    column: str
    first: str


@dataclass(frozen=True)
class ModelReport:
    """What a model was found to be.

    Attributes
    ----------
    name, format : str
        In words; "ONNX", "XGBoost", …, "endpoint", or "predictions" of a column.
    sha256 : str
    feeds : tuple of Feed
    classes : tuple or None
        Label values in the order of its outputs; None where it gives a number or one chance.
    scores : tuple of float
        Favorable scores of the first five people.
    notes : tuple of str
        How inputs and outputs were read, in sentences.
    favored : float or None
        Share of people with the favorable decision, of a column of predictions.
    """

    name: str
    format: str
    sha256: str
    feeds: tuple[Feed, ...]
    classes: tuple[object, ...] | None
    scores: tuple[float, ...]
    notes: tuple[str, ...]
    favored: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; classes as JSON has them, or as text."""
        classes = None if self.classes is None else list(map(plain_value, self.classes))
        return {**asdict(self), "classes": classes}


def check_model(
    data: AuditData, spec: ModelSpec, *, base_dir: Path = Path(), threshold: Threshold = 0.5
) -> ModelReport:
    """Open a model that was brought along and have it score the first people; look at stored predictions.

    Call it only from a worker process: the file is a stranger's. At most the first 1,000 people are scored.

    Parameters
    ----------
    data : AuditData
        Its columns feed the model.
    spec : ModelSpec
        With `path`, `endpoint` or `predictions`.
    base_dir : Path
        Where relative paths start.
    threshold : Threshold
        From which predictions of a column are favorable.

    Raises
    ------
    InputError
        If the model is refused, or cannot score these people: the sentence that an audit would end with.
    """
    if spec.predictions is not None:
        subject, kind = make_subject(data, spec, threshold=threshold), "predictions"
    else:
        subject = make_subject(data.take(np.arange(min(data.n, _TRIED))), spec, base_dir=base_dir)
        kind = "endpoint" if spec.path is None else format_of(model_path(spec.path, base_dir))
    model = subject.model
    return ModelReport(
        model.name,
        kind,
        model.sha256,
        feeds_of(subject),
        None if model.classes is None else tuple(model.classes),
        tuple(subject.scores[:_PEOPLE].tolist()),
        subject.notes,
        _favored(subject) if kind == "predictions" and data.numeric is None else None,
    )


def _favored(subject: Subject) -> float:
    return float(np.average(subject.decisions, weights=subject.data.weights))


def feeds_of(subject: Subject) -> tuple[Feed, ...]:
    """Return which column of the data feeds which input of the model, with the first person's values."""
    model, data = subject.model, subject.data
    if not model.invents or not model.columns:
        return ()
    given = data.written.restore(data.frame.iloc[:1][list(model.columns)])
    first = {
        str(name): "" if is_missing(given[name].iloc[0]) else text_of(given[name].iloc[0])
        for name in given.columns
    }
    return tuple(Feed(name, column, first[column]) for name, column in _pairs(model))


def _pairs(model: Any) -> list[tuple[str, str]]:
    """Return inputs of the file with their columns; a model without named inputs is fed by column."""
    source: Any = getattr(model, "source", None)
    if hasattr(source, "inputs"):
        return [
            (each.name if len(each.columns) == 1 else f"{each.name}[{place}]", column)
            for each in source.inputs
            for place, column in enumerate(each.columns)
        ]
    if hasattr(source, "pairs"):
        return [(feature.name, column) for feature, column in source.pairs]
    return [(column, column) for column in model.columns]
