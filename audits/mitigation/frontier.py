"""Accuracy against the gap of groups: ways to treat a model, each judged on the same held-out people.

A point is one model: as it was, with a threshold for each group, fitted with weights, by reductions, or
trained again for its worst rule set. All learn from the training rows alone. The intervals of all points hold
together, so that they hold for the one that is chosen among them.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from audits.checks import one_of
from audits.data import AuditData
from audits.errors import InputError, is_installed
from audits.mitigation.group_weights import group_cuts, reweighing_weights
from audits.mitigation.options import MitigationOptions
from audits.mitigation.result import FrontierPoint, model_words
from audits.models import Model, Subject, train_model
from audits.progress import Progress, part
from audits.stats import Estimate, largest_gap, wilson

SHARES = (0.5, 1.0)
"""How far thresholds and weights go: half-way, and all the way."""

BOUNDS = (0.02, 0.08)
"""How far a group's rate may be from everyone's in reductions."""

_MIN_SHARE, _MIN_PEOPLE = 0.02, 20  # of the held-out people, for a group to count


@dataclass(frozen=True, eq=False)
class Candidate:
    """One way to treat the model.

    Attributes
    ----------
    method : str
    strength : float
        Share of the way, bound, or samples added.
    subject : Subject
        The held-out people with the treated model.
    estimator : object
        What was fitted, where it is the user's own; None of a model trained here.
    """

    method: str
    strength: float
    subject: Subject
    estimator: Any = None


class Maker(Protocol):
    """What trains models of one kind again."""

    def retrained(self, training: AuditData, progress: Progress) -> tuple[Model, Any]:
        """Return the model trained on other rows, and the estimator behind it."""

    def treated(self, options: MitigationOptions, by: str, progress: Progress) -> Iterator[Candidate]:
        """Yield the candidates of all methods but retraining."""


@dataclass(frozen=True, eq=False)
class TrainedHere:
    """Models of a kind that Evenhand trains; `subject` holds the held-out people and the training rows."""

    subject: Subject

    def retrained(self, training: AuditData, progress: Progress) -> tuple[Model, Any]:
        """Train the same kind on other rows."""
        assert self.subject.train is not None  # noqa: S101 - the audit has looked
        return train_model(training, self.subject.train, self.subject.seed, progress), None

    def treated(self, options: MitigationOptions, by: str, progress: Progress) -> Iterator[Candidate]:
        """Yield thresholds by group, reweighed training, and for a logistic regression reductions."""
        subject, training = self.subject, self.subject.training
        assert training is not None  # noqa: S101 - the audit has looked
        if "thresholds" in options.methods and not isinstance(subject.threshold, dict):
            for share in SHARES:
                cuts = thresholds_of(subject, by, options.measure, share)
                yield Candidate("thresholds", share, dataclasses.replace(subject, threshold=cuts))
        for place, share in enumerate(SHARES if "reweighing" in options.methods else ()):
            model = self.retrained(_reweighed(training, by, share), part(progress, place / 4, 0.5))[0]
            yield Candidate("reweighing", share, subject_on(subject, subject.data, model))
        logistic = subject.train == "logistic" and is_installed("fairlearn")
        for bound in BOUNDS if "reductions" in options.methods and logistic else ():
            from audits.models.trained.reductions import train_reductions

            alone = dataclasses.replace(training, protected=(by,), groups=training.groups[[by]])
            model = train_reductions(alone, seed=subject.seed, allowed=bound, measure=options.measure)
            yield Candidate("reductions", bound, subject_on(subject, subject.data, model))


def subject_on(subject: Subject, data: AuditData, model: Model) -> Subject:
    """The subject with other people or another model; nothing remembered of the old ones."""
    return Subject(
        data,
        model,
        subject.threshold,
        subject.space,
        subject.training,
        score_kind=subject.score_kind,
        train=subject.train,
        seed=subject.seed,
        made=subject.made,
    )


def thresholds_of(subject: Subject, by: str, measure: str, share: float) -> dict[str, dict[str, float]]:
    """Return thresholds of every group, learned from the training rows; 0.5 where it has nobody there."""
    training = subject.training
    assert training is not None  # noqa: S101 - the audit has looked
    start = float(subject.threshold)  # type: ignore[arg-type]  # one number: the caller has looked
    found = group_cuts(
        subject.favorable_score(training.frame),
        np.asarray(training.y),
        training.groups[by].to_numpy(dtype=str),
        measure=measure,
        share=share,
        threshold=start,
        sizes=training.weights,
    )
    values = {*training.groups[by].unique(), *subject.everyone.data.groups[by].unique()}
    return {by: {str(name): min(max(found.get(str(name), start), 0.0), 1.0) for name in values}}


def _reweighed(training: AuditData, by: str, share: float) -> AuditData:
    """Return the training rows weighted so that label and group are nearly independent.

    Weights, not draws: the same people give the same model, whatever the order and form of their rows.
    """
    sizes = training.row_weights
    weights = (
        sizes * reweighing_weights(np.asarray(training.y), training.groups[by].to_numpy(str), sizes) ** share
    )
    mark = hashlib.sha256(f"{training.digest} reweighed by {by} {share:g}".encode()).hexdigest()
    return dataclasses.replace(
        training, weights=weights * (sizes.sum() / weights.sum()), design=None, digest=mark
    )


def group_attribute(data: AuditData, options: MitigationOptions) -> str | None:
    """Return the attribute whose groups the frontier compares: the one asked for, else the first with two.

    Raises
    ------
    InputError
        If it is not protected.
    """
    if options.by is not None:
        return str(one_of("mitigation.by", options.by, data.protected, what="a protected attribute"))
    with_groups = (name for name in data.protected if _sizable(data, name)[1].sum() >= 2)
    return next(with_groups, data.protected[0] if data.protected else None)


def _sizable(data: AuditData, by: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the names of groups, which of them are large enough to be compared, and each row's group."""
    names, code = np.unique(data.groups[by].to_numpy(dtype=str), return_inverse=True)
    people = np.bincount(code, data.weights)
    return names, people >= max(_MIN_PEOPLE, _MIN_SHARE * people.sum()), code


def frontier_of(
    candidates: Sequence[Candidate], by: str, options: MitigationOptions
) -> tuple[tuple[FrontierPoint, ...], str]:
    """Return accuracy and gap of each candidate, and which groups are too small to count, in words."""
    data = _among_whom(candidates[0].subject, options.measure).data
    names, counts, code = _sizable(data, by)
    if counts.sum() < 2:
        raise InputError(
            "mitigation.by", f"must have two groups of at least {_MIN_PEOPLE} held-out people", by,
            "choose another attribute, or hold out more",
        )  # fmt: skip
    level = options.level / len(candidates)
    points = [_point(each, options.measure, code, counts, data.row_weights, level) for each in candidates]
    small = ", ".join(names[~counts])
    return _with_efficient(points), small


def _among_whom(subject: Subject, measure: str) -> Subject:
    return subject.everyone if measure == "selection_rate" else subject


def _point(
    each: Candidate, measure: str, code: np.ndarray, counts: np.ndarray, sizes: np.ndarray, level: float
) -> FrontierPoint:
    y, decided = np.asarray(each.subject.data.y), _among_whom(each.subject, measure).decisions
    among = {"selection_rate": np.ones(len(code), bool), "true_positive_rate": y}.get(measure, ~y)
    k = len(counts)
    chosen, whole = (np.bincount(code, sizes * who, k)[counts] for who in (decided & among, among))
    agree, people = each.subject.decisions == y, each.subject.data.row_weights
    right = wilson(float(people[agree].sum()), float(people.sum()), level=level)
    name = model_words(each.method, each.strength)
    return FrontierPoint(name, each.method, each.strength, right, largest_gap(chosen, whole, level=level))


def _with_efficient(points: Sequence[FrontierPoint]) -> tuple[FrontierPoint, ...]:
    """Mark the points that no other beats in both accuracy and gap."""

    def value(estimate: Estimate) -> float:
        return float(estimate.value or 0.0)

    right, gap = (np.array([value(getattr(each, name)) for each in points]) for name in ("accuracy", "gap"))
    better = (right[None] >= right[:, None]) & (gap[None] <= gap[:, None])
    strictly = (right[None] > right[:, None]) | (gap[None] < gap[:, None])
    beaten = (better & strictly).any(axis=1)
    return tuple(
        dataclasses.replace(each, efficient=not bool(out))
        for each, out in zip(points, np.asarray(beaten), strict=True)
    )


def least_gap(models: Sequence[tuple[Estimate, Estimate]], accuracy_lost: float) -> int:
    """Return the place of the smallest gap among the models that lose so much accuracy at most.

    Parameters
    ----------
    models : sequence of (Estimate, Estimate)
        Accuracy and gap of each, first of the model as it was.
    """
    right = [accuracy.value or 0.0 for accuracy, _ in models]
    kept = [
        (abs(gap.value), -right[place], place)
        for place, (_, gap) in enumerate(models)
        if gap.value is not None and right[place] >= right[0] - accuracy_lost - 1e-12
    ]
    return min(kept)[-1] if kept else 0
