"""A model behind an HTTP address.

What the service answers for a person is read as an ONNX file's output would be: a probability of the second
class, probabilities of all classes as a list or as ``{class: probability}``, a label, or a number.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.checks import choices
from audits.models.onnx.inputs import check_columns
from audits.models.outputs import (
    Numbers,
    class_scores,
    name_classes,
    named_by_data,
    number_sign,
    one_number,
    probabilities_of,
    read_probabilities,
    zipmap_keys,
)
from audits.models.protocol import class_text, label_values
from audits.models.service import Service

if TYPE_CHECKING:
    import pandas as pd

    from audits.data import AuditData
    from audits.models.spec import Endpoint

__all__ = ["EndpointModel", "EndpointNumbers", "load_endpoint", "load_endpoint_number"]

_TRIED_FIRST = 1000


@dataclass(frozen=True, eq=False)
class EndpointModel:
    """A classifier behind an address.

    Attributes
    ----------
    service : Service
        What is asked.
    classes : tuple or None
        Label values in the order of `score`'s columns; None where the data have no label and `score` is the
        probability of the favourable outcome.
    labels : mapping or None
        Column of each label, where the service gives labels.
    sha256 : str
        Digest of the address, the version, and the scores that the first 1,000 people got.
    notes : tuple of str
        What the user should know.
    logits : bool
        Whether the service answers log-odds.
    """

    service: Service
    classes: tuple[object, ...] | None
    labels: Mapping[str, int] | None
    sha256: str
    notes: tuple[str, ...]
    logits: bool = False
    invents: bool = True

    @property
    def name(self) -> str:
        """The model in words."""
        return self.service.name

    @property
    def columns(self) -> tuple[str, ...]:
        """What is sent of each person."""
        return self.service.columns

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of each class, (n, k) in [0, 1], rows summing to 1; (n,) without classes.

        Raises
        ------
        InputError
            If the service cannot be asked, or what it answers is no probabilities or labels.
        """
        width = 1 if self.classes is None else len(self.classes)
        if frame.empty:
            return np.empty((0, width)) if width > 1 else np.empty(0)
        answers = _numbers(self.service.ask(frame))
        return class_scores(answers, frame, self.name, width=width, labels=self.labels, logits=self.logits)


@dataclass(frozen=True, eq=False)
class EndpointNumbers(Numbers):
    """A service with one number a person as its answer."""

    service: Service
    sha256: str
    notes: tuple[str, ...]
    sign: float

    invents = True

    @property
    def name(self) -> str:  # type: ignore[override]
        """The model in words."""
        return self.service.name

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """What is sent of each person."""
        return self.service.columns

    def answers(self, frame: pd.DataFrame) -> Any:
        """Return what the service answers for rows, at least one."""
        return self.service.ask(frame)


def _open(
    options: Endpoint, data: AuditData, columns: Sequence[str] | None = None
) -> tuple[Service, Any, list[str]]:
    """Return the service, its answers for the first people of `data`, and notes on how it behaves.

    Raises
    ------
    InputError
        If its host is not allowed, or it cannot be asked.
    """
    options.check_host()
    sent = tuple(data.features if columns is None else columns)
    check_columns(sent, data, "model.columns")
    whole = frozenset(name for name in sent if data.kinds[name] == "integer")
    service = Service(options, sent, whole, data.written)
    sample = data.frame.iloc[:_TRIED_FIRST]
    answers = service.ask(sample)
    again = service.ask(sample.iloc[::-1])
    notes = [
        f"The {service.name} is asked for each score while an audit runs; another model may answer there "
        "later."
    ]
    if not _alike(answers, again[::-1]):
        notes.append(
            "Asked twice about the same people, it gave them other scores: the audit cannot be repeated, and "
            "its differences between people are partly noise of the service."
        )
    return service, answers, notes


def load_endpoint(
    options: Endpoint,
    data: AuditData,
    *,
    classes: Sequence[object] | None = None,
    columns: Sequence[str] | None = None,
    logits: bool = False,
) -> EndpointModel:
    """Ask a service about the first people of `data`, and match its answers to the label.

    Parameters
    ----------
    options : Endpoint
        From the spec.
    data : AuditData
        Its features are sent; its label values name the classes where the service does not.
    classes : sequence, optional
        Label values in the order of the service's probabilities; for a single one the "negative" value
        first, the one whose probability it gives second. Default: the keys of its answers if they are
        dictionaries, else the sorted label values of the data.
    columns : sequence of str, optional
        What is sent; the features otherwise.
    logits : bool
        Whether the service answers log-odds.

    Raises
    ------
    InputError
        If the host is not allowed, the service cannot be asked, or its answers are no probabilities or
        labels.
    """
    service, answers, notes = _open(options, data, columns)
    sample = data.frame.iloc[:_TRIED_FIRST]
    labels: dict[str, int] | None = None
    found: tuple[object, ...] | None
    if not logits and _are_labels(answers, data):
        found = tuple(classes) if classes is not None else named_by_data(data, service.name)
        labels = {class_text(value): column for column, value in enumerate(found)}
        notes.append("The service gives labels only: its scores are 0 or 1.")
    else:
        stated = zipmap_keys(answers)
        values = probabilities_of(answers, service.name) if logits else answers
        probabilities = read_probabilities(_numbers(values), sample, service.name)
        width = 2 if probabilities.ndim == 1 else probabilities.shape[1]
        if data.label is None and classes is None and probabilities.ndim == 1:
            found = None
            notes.append(
                "The data have no label: what the service answers is taken to be the probability of the "
                "favorable outcome."
            )
        else:
            found = name_classes(width, classes, stated, data, service.name)
        if classes is None and found is not None and found is not stated:
            notes.append(
                f"The service does not name its classes: they were taken to be {choices(found)}, in this "
                "order."
            )
    width = 1 if found is None else len(found)
    answers = _numbers(answers)
    scores = class_scores(answers, sample, service.name, width=width, labels=labels, logits=logits)
    return EndpointModel(service, found, labels, _digest(options, scores), tuple(notes), logits)


def load_endpoint_number(
    options: Endpoint, data: AuditData, *, columns: Sequence[str] | None = None
) -> EndpointNumbers:
    """Ask a service that gives one number a person, as `load_endpoint` asks a classifier.

    Raises
    ------
    InputError
        If the label is no cut of a number, the service cannot be asked, or it gives anything else.
    """
    sign = number_sign(data)
    service, answers, notes = _open(options, data, columns)
    numbers = one_number(answers, data.frame.iloc[:_TRIED_FIRST], service.name)
    return EndpointNumbers(service, _digest(options, numbers), tuple(notes), sign)


def _digest(options: Endpoint, scores: np.ndarray) -> str:
    """Return the SHA-256 of the address, the version, and scores (n,) or (n, k) that it gave."""
    said = hashlib.sha256(json.dumps([options.url, options.version]).encode())
    said.update(np.ascontiguousarray(scores, dtype="<f8").tobytes())
    return said.hexdigest()


def _numbers(answers: Any) -> Any:
    """Return answers by class as a matrix of all their digits; a dictionary of a model file has fewer."""
    if not isinstance(answers, list):
        return answers
    keys = list(answers[0])
    return np.array([[row[key] for key in keys] for row in answers], dtype=np.float64)


def _are_labels(answers: Any, data: AuditData) -> bool:
    """Whether answers are label values: text, truth values, or integers that are no probabilities."""
    if isinstance(answers, list) or answers.ndim == 2:
        return False
    if answers.dtype == object:
        return True
    known = {class_text(value) for value in label_values(data)}
    levels = np.unique(answers)
    return (
        answers.dtype == np.int64
        and not set(levels.tolist()) <= {0, 1}
        and {class_text(level) for level in levels.tolist()} <= known
    )


def _alike(first: Any, second: Any) -> bool:
    if isinstance(first, list) or isinstance(second, list):
        return bool(first == second)
    if first.shape != second.shape or (first.dtype == object) != (second.dtype == object):
        return False
    if first.dtype == object:
        return bool((first == second).all())
    return np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True)
