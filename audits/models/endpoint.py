"""A model behind an HTTP address.

What the service answers for a person is read as an ONNX file's output would be: a probability of the second
class, probabilities of all classes as a list or as ``{class: probability}``, a label, or a number.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.data.values import truth_values
from audits.models.columns import check_columns
from audits.models.outputs import Classifier, Regressor, classifier, number_sign, one_number
from audits.models.protocol import class_text, label_values
from audits.models.service import Service

if TYPE_CHECKING:
    from audits.data import AuditData
    from audits.models.spec import Endpoint, ModelSpec

_TRIED_FIRST = 1000


def load(options: Endpoint, data: AuditData, spec: ModelSpec, *, number: bool) -> Classifier | Regressor:
    """Ask a service about the first people of `data`, and match its answers to the label.

    Parameters
    ----------
    options : Endpoint
        From the spec.
    data : AuditData
        Its features are sent, or `ModelSpec.columns`; its label values name the classes where the service
        does not: neither by the keys of its answers nor by `ModelSpec.classes`.
    number : bool
        Whether the service gives the number that the label cuts.

    Returns
    -------
    Classifier or Regressor
        Its digest is of the address, the version, and the scores that the first 1,000 people got.

    Raises
    ------
    InputError
        If the host is not allowed, the service cannot be asked, or its answers are no probabilities, labels
        or numbers.
    """
    options.check_host()
    sent = tuple(spec.columns or data.features)
    check_columns(sent, data, "model.columns")
    whole = frozenset(name for name in sent if data.kinds[name] == "integer")
    given = data.written.restore(data.frame[list(sent)])
    truths = frozenset(str(name) for name, texts in given.items() if truth_values(texts) is not texts)
    service = Service(options, sent, whole, truths, data.written)
    sample = data.frame.iloc[:_TRIED_FIRST]
    sign = number_sign(data) if number else 1.0
    answers, keys = service.answers(sample)
    notes = [
        f"The {service.name} is asked for each score while an audit runs. Another model may answer at that "
        "address later."
    ]
    if not _same_scores(answers, service.ask(sample.iloc[::-1])[::-1]):
        notes.append(
            "Asked twice about the same people, it gave different scores. The audit cannot be repeated, "
            "and differences between people are partly noise from the service."
        )
    if number:
        own = one_number(answers, sample, service.name)
        return Regressor(source=_with_digest(service, own), notes=tuple(notes), sign=sign)
    logits = spec.output == "logits"
    made = classifier(
        service,
        data,
        answers,
        classes=spec.classes,
        stated=keys,
        labels=not logits and _are_labels(answers, data),
        logits=logits,
        notes=notes,
    )
    return dataclasses.replace(made, source=_with_digest(service, made.read(answers, sample)))


def _with_digest(service: Service, scores: np.ndarray) -> Service:
    """Return the service with the SHA-256 of its address, version, and scores (n,) or (n, k) that it gave."""
    said = hashlib.sha256(json.dumps([service.options.url, service.options.version]).encode())
    said.update(np.ascontiguousarray(scores, dtype="<f8").tobytes())
    return dataclasses.replace(service, sha256=said.hexdigest())


def _are_labels(answers: Any, data: AuditData) -> bool:
    """Whether answers are label values: text, truth values, or integers that are no probabilities."""
    if answers.ndim == 2 or answers.dtype == object:
        return bool(answers.ndim == 1)
    known = {class_text(value) for value in label_values(data)}
    levels = np.unique(answers)
    return (
        answers.dtype == np.int64
        and not known <= {"0", "1"}
        and {class_text(level) for level in levels.tolist()} <= known
    )


def _same_scores(first: np.ndarray, second: np.ndarray) -> bool:
    if first.shape != second.shape or (first.dtype == object) != (second.dtype == object):
        return False
    if first.dtype == object:
        return bool((first == second).all())
    return np.allclose(first, second, rtol=1e-9, atol=1e-12, equal_nan=True)
