"""What a page and a result say about the model of a subject, as plain data."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.data.preprocessing.leakage import telling_features, telling_words
from audits.models.quality import accuracy, area_under_curve, by_design, log_loss
from audits.stats.estimate import Estimate
from audits.stats.text import people, percent

if TYPE_CHECKING:
    from audits.models.subject import Subject

_MADE = {
    "held_out": "on rows not used for training",
    "in_sample": "on rows used for training, so it will be lower on others",
    "unknown": "on rows that may have been used for training",
}


def model_facts(subject: Subject) -> dict[str, Any]:
    """Return what there is to know about the model, ready for JSON.

    Returns
    -------
    dict
        ``name``, ``sha256``, ``classes`` (list, or None), ``columns``, ``invents``, ``score_kind``,
        ``higher_is``, ``threshold``, ``rule`` (in words), ``trained_on`` and ``audited`` (rows),
        ``notes``, and ``quality`` on the people audited: None without a label, otherwise ``n``
        (people), ``made`` (whether they were in the model's training), ``accuracy``, ``auc`` and
        ``log_loss`` as estimates ``{value, low, high, n, method}``. Labels have no ``auc`` and only
        probabilities have a ``log_loss``: None there. A label that is the decision measures nothing, nor
        do labels known of one decision alone; ``unlabeled`` people have none.
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
        "threshold": None if subject.data.numeric is not None else subject.threshold,
        "rule": subject.rule,
        "trained_on": None if subject.training is None else subject.training.n,
        "audited": subject.data.rows,
        "notes": [*subject.notes, *_without_label(subject), *_at_threshold(subject), *_told_by(subject)],
        "quality": _quality(subject),
    }


def _without_label(subject: Subject) -> list[str]:
    """Say how many more the model decides on, whose label is not known."""
    more = subject.everyone.data.rows - subject.data.rows
    if subject.data.unlabeled is None or not more:
        return []
    said = f"{more:,} more rows have" if more > 1 else "1 more row has"
    return [f"{said} no label: they are decided on, too, and count where no label is needed."]


def _told_by(subject: Subject) -> list[str]:
    """Say which features each tell a stored decision, and may be that decision in other words."""
    data = subject.data
    if subject.model.invents or data.numeric is not None:
        return []
    features = [name for name in data.features if name in data.frame]
    names = telling_features(data.frame, features, np.asarray(subject.decisions, dtype=bool), data.weights)
    if not names:
        return []
    return [
        f"{telling_words(names, 'the decision')}: leave out what is that decision in other words, or people "
        "are compared by it."
    ]


def _at_threshold(subject: Subject) -> list[str]:
    """Say how many people lie exactly at the usual threshold, where a library may decide otherwise."""
    usual = subject.model.invents and subject.score_kind == "probability" and not subject.by_class
    if not usual or subject.threshold != 0.5 or subject.data.numeric is not None:
        return []
    there = float(subject.data.row_weights[subject.scores == 0.5].sum())
    if not there:
        return []
    verb = "have" if there != 1 else "has"
    return [
        f"{people(there)} {verb} a probability of exactly 0.5, which is favorable here; predict may differ."
    ]


def accuracy_words(facts: Mapping[str, Any]) -> str:
    """Word the accuracy of `model_facts` with its interval and of whom it is; empty without a label.

    Examples
    --------
    >>> told = {"value": 0.75, "low": 0.7, "high": 0.8, "n": 300.0}
    >>> accuracy_words({"quality": {"made": "in_sample", "accuracy": told}})
    '75% (70–80%), on rows used for training, so it will be lower on others'
    """
    quality = facts.get("quality")
    if not quality or quality["accuracy"]["value"] is None:
        return ""
    found, n = quality["accuracy"], quality["accuracy"]["n"]
    low, high = percent(found["low"], n).removesuffix("%"), percent(found["high"], n)
    made = _MADE[quality.get("made", "unknown")]
    of = " in telling favorable from not" if len(facts.get("classes") or ()) > 2 else ""
    known = f", of the {people(n)} whose label is known" if quality.get("unlabeled") else ""
    return f"{percent(found['value'], n)} ({low}–{high}){of}{known}, {made}"


def _quality(subject: Subject) -> dict[str, Any] | None:
    y, weights = subject.data.y, subject.data.row_weights
    if y is None:
        return None
    scores, decisions, design = subject.scores, subject.decisions, subject.data.design
    unlabeled = subject.everyone.data.size - subject.data.size
    why = ""
    if not subject.model.invents and np.array_equal(decisions, y):
        why = "a decision against itself is no measure"
    elif unlabeled and len(set(decisions)) == 1 < len(set(subject.everyone.decisions)):
        why = "labels are known of people with one decision alone"
    if why:
        right, area, loss = Estimate(None, None, None, float(weights.sum()), why), None, None
    elif design is not None:
        right, area, loss = by_design(design, scores, decisions, y)
    else:
        right, area = accuracy(decisions, y, weights), area_under_curve(scores, y, weights)
        loss = log_loss(scores, y, weights)  # of no probabilities it is none, and left out
    found: dict[str, Estimate | None] = {
        "accuracy": right,
        "auc": None if subject.score_kind == "label" else area,
        "log_loss": loss if subject.score_kind == "probability" else None,
    }
    estimates = {name: None if each is None else dataclasses.asdict(each) for name, each in found.items()}
    more = {"unlabeled": float(unlabeled)} if unlabeled else {}
    return {"n": float(weights.sum()), **more, "made": subject.made, **estimates}
