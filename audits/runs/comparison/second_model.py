"""A second model on the people of the first: the same rows, compared by the same features."""

from __future__ import annotations

import dataclasses

import pandas as pd

from audits.data import AuditData
from audits.data.audit_data import UnlabeledRows
from audits.data.partition import with_counts
from audits.errors import InputError
from audits.models import Subject
from audits.models.diagnostics import remarks
from audits.models.factory import with_features
from audits.models.subject import space_of, with_doubts
from audits.stats.text import people


def of_the_second(error: InputError) -> InputError:
    """Have an error about the second model name its key of the spec."""
    theirs = error.where.split(".")[0] in {"model", "threshold"}
    return error.moved(f"compare.{error.where}") if theirs else error


def of_the_treated(error: InputError, treating: str) -> InputError:
    """Have an error of the audit that makes the second model, `treating`, name its key of the spec."""
    root, _, key = error.where.partition(".")
    return error.moved(f"compare.treated.{key}".rstrip(".")) if root == treating else error


def on_the_same_people(first: Subject, second: Subject) -> tuple[Subject, Subject, tuple[str, ...]]:
    """Narrow both to the people whom both are about, and have both compare people by the same features.

    A model that was trained here is audited on the people held out: then the other one is, too.

    Returns
    -------
    first, second : Subject
    notes : tuple of str
        What was done, in sentences.

    Raises
    ------
    InputError
        If nobody is left.
    """
    a, b = first.data, second.data
    both = a.frame.index.isin(b.frame.index), b.frame.index.isin(a.frame.index)
    if not both[0].any():
        raise InputError(
            "compare.model",
            "must share people with the first model, but there are none",
            advice="check data.keep and missing predictions",
        )
    empty = a.frame.index[:0]
    ours, theirs = (empty if data.unlabeled is None else data.unlabeled.frame.index for data in (a, b))
    more = ours.isin(theirs), theirs.isin(ours)
    features = tuple(dict.fromkeys((*a.features, *b.features)))
    notes = []
    if not (both[0].all() and both[1].all()):
        notes.append(f"Both models are audited on the {people(float(both[0].sum()))} covered by both.")
    sides = []
    common, common_others = _common_counts(a, b), _common_counts(a.unlabeled, b.unlabeled)
    for subject, mask, beside in zip((first, second), both, more, strict=True):
        data = subject.data
        kept = data if mask.all() and beside.all() else data.beside(data.take(mask), mask, beside)
        if common is not None:  # of a row, some people may have taught a model
            kept = with_counts(kept, common.loc[kept.frame.index].to_numpy())
        others = kept.unlabeled
        if others is not None and common_others is not None:
            counts = common_others.loc[others.frame.index].to_numpy()
            kept = dataclasses.replace(kept, unlabeled=dataclasses.replace(others, weights=counts))
        same = kept.digest == data.digest and kept.unlabeled is data.unlabeled
        if same and data.features == features:
            sides.append(subject)
            continue
        sides.append(_rebind(subject, dataclasses.replace(with_features(kept, features), features=features)))
    return sides[0], sides[1], tuple(notes)


def _common_counts(
    first: AuditData | UnlabeledRows | None, second: AuditData | UnlabeledRows | None
) -> pd.Series | None:
    """Return how many people of each row both are about; None where rows are people or both agree."""
    if first is None or second is None or first.weights is None or second.weights is None:
        return None
    counts = [pd.Series(data.weights, data.frame.index) for data in (first, second)]
    return None if counts[0].equals(counts[1]) else pd.concat(counts, axis=1).min(axis=1, skipna=False)


def _rebind(subject: Subject, data: AuditData) -> Subject:
    """Return the same model on other rows or features."""
    known = set(remarks(subject))
    notes = tuple(note for note in subject.notes if note not in known)
    return with_doubts(dataclasses.replace(subject, data=data, space=space_of(data), notes=notes))
