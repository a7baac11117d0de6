"""What a page and a result say about the model of a subject, as plain data."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from audits.models.protocol import row_weights
from audits.models.quality import accuracy, area_under_curve, log_loss

if TYPE_CHECKING:
    from audits.models.subject import Subject
    from audits.stats.estimate import Estimate

__all__ = ["model_facts"]


def model_facts(subject: Subject) -> dict[str, Any]:
    """Return what there is to know about the model, ready for JSON.

    Returns
    -------
    dict
        ``name``, ``sha256``, ``classes`` (list, or None), ``columns``, ``invents``, ``score_kind``,
        ``higher_is``, ``threshold``, ``rule`` (in words), ``trained_on`` and ``audited`` (rows),
        ``notes``, and ``quality`` on the people audited: None without a label, otherwise ``n``
        (people), ``accuracy``, ``auc`` and ``log_loss`` as estimates ``{value, low, high, n,
        method}``. Labels have no ``auc`` and only probabilities have a ``log_loss``: None there.
    """
    model = subject.model
    return {
        "name": model.name,
        "sha256": model.sha256,
        "classes": None if model.classes is None else list(model.classes),
        "columns": list(model.columns),
        "invents": model.invents,
        "score_kind": subject.score_kind,
        "higher_is": subject.higher_is,
        "threshold": subject.threshold,
        "rule": subject.rule,
        "trained_on": None if subject.training is None else subject.training.n,
        "audited": subject.data.n,
        "notes": list(subject.notes),
        "quality": _quality(subject),
    }


def _quality(subject: Subject) -> dict[str, Any] | None:
    y, weights = subject.data.y, row_weights(subject.data)
    if y is None:
        return None
    found: dict[str, Estimate | None] = {
        "accuracy": accuracy(subject.decisions, y, weights),
        "auc": None if subject.score_kind == "label" else area_under_curve(subject.scores, y, weights),
        "log_loss": log_loss(subject.scores, y, weights) if subject.score_kind == "probability" else None,
    }
    estimates = {name: None if each is None else dataclasses.asdict(each) for name, each in found.items()}
    return {"n": float(weights.sum()), **estimates}
