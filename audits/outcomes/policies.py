"""Outcomes of a policy: the model's, the labels, another model's, or an equal-opportunity version of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from audits.checks import finite, one_of
from audits.errors import InputError
from audits.models import Subject
from audits.models.protocol import class_text, label_values
from audits.outcomes.groups import group_codes
from audits.outcomes.options import OutcomeTransportOptions, Policy

__all__ = ["Outcomes", "equal_opportunity", "model_outcomes", "reference_outcomes"]

_PAIR = float(np.sqrt(2.0))  # norm of (1, 0) - (0, 1): what a difference of 1 in p makes in (p, 1 - p)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """A policy's outcome for every person of the data.

    Attributes
    ----------
    name : str
    kind : {"decision", "probability", "score", "classes"}
    values : array (n, c)
        Decisions as 0 and 1, favourable probabilities, scores, or class probabilities (c classes).
    favorable : bool array (n,)
        Who is decided favourably.
    """

    name: str
    kind: str
    values: np.ndarray
    favorable: np.ndarray

    @property
    def unit(self) -> float:
        """Euclidean distance that a difference of 1 makes."""
        return _PAIR if self.kind in {"decision", "probability"} else 1.0


def model_outcomes(subject: Subject, kind: str) -> Outcomes:
    """Outcomes of the audited model.

    Raises
    ------
    InputError
        If the model does not give what `kind` asks for.
    """
    kinds = {"probability": "probability", "number": "score", "label": "decision"}
    if kind == "automatic":
        many = subject.model.classes is not None and len(subject.model.classes) > 2
        kind = "classes" if many and subject.score_kind == "probability" else kinds[subject.score_kind]
    name, decided = subject.model.name, np.asarray(subject.decisions, dtype=bool)
    if kind == "decision":
        return Outcomes(name, kind, decided[:, None].astype(float), decided)
    if kind == "classes":
        if subject.model.classes is None:
            raise InputError(
                "outcome_transport.outcome",
                f"cannot be 'classes': {name} gives one number a person",
                advice="choose 'automatic'",
            )
        return Outcomes(name, kind, _probabilities(subject.model.score(subject.data.frame), name), decided)
    values = subject.scores[:, None]
    return Outcomes(name, kind, _probabilities(values, name) if kind == "probability" else values, decided)


def _probabilities(values: np.ndarray, name: str) -> np.ndarray:
    values = finite("outcomes", values)
    outside = int(((values < 0) | (values > 1)).any(axis=1).sum())
    if outside:
        raise InputError(
            "outcome_transport.outcome",
            f"says probabilities, which must lie in [0, 1], but {name} gives {outside:,} of "
            f"{len(values):,} people another number",
            advice="compare scores instead: outcome 'score'",
        )
    return values


def reference_outcomes(
    subject: Subject, options: OutcomeTransportOptions
) -> tuple[Outcomes, Outcomes, list[str]]:
    """Outcomes of the reference, of the model on the same scale, and what to beware of."""
    against = "label" if options.against is None else options.against
    if against == "label":
        return (*_labels(subject, options.outcome), [])
    if against == "equal_opportunity":
        return _equal_opportunity(subject, options)
    return _other_policy(subject, against, options.outcome)


def _labels(subject: Subject, kind: str) -> tuple[Outcomes, Outcomes]:
    data = subject.data
    if data.y is None:
        raise InputError(
            "outcome_transport.against",
            "is the label, but the data name none",
            advice="set data.label, or compare two groups with source and target",
        )
    name = f"label {data.label}"
    if kind == "classes":
        ours = model_outcomes(subject, kind)
        classes = [class_text(value) for value in subject.model.classes or label_values(data)]
        truth = np.array([class_text(value) for value in data.frame[data.label].tolist()])
        return Outcomes(name, kind, (truth[:, None] == np.array(classes)).astype(float), data.y), ours
    model = model_outcomes(subject, "decision" if kind == "automatic" else kind)
    if model.kind == "score":
        raise InputError(
            "outcome_transport.outcome",
            "must be a decision or a probability to be held against labels, but the scores have another "
            "scale",
            advice="choose 'decision'",
        )
    return Outcomes(name, model.kind, data.y[:, None].astype(float), data.y), model


def _other_policy(subject: Subject, policy: Policy, kind: str) -> tuple[Outcomes, Outcomes, list[str]]:
    given = [name for name in ("score", "label", "train") if getattr(policy, name) is not None]
    where = "outcome_transport.against"
    if len(given) != 1:
        raise InputError(where, "must have exactly one of 'score', 'label' and 'train'", given)
    data = subject.data
    if policy.train is not None:
        if subject.training is None:
            raise InputError(
                f"{where}.train",
                "needs rows to train on, but the audited model was not trained here",
                advice="bring the other model's scores as a column: {score: column}",
            )
        from audits.models.baselines import train_baseline

        model = train_baseline(subject.training, policy.train)
        other = dataclasses.replace(subject, model=model, score_kind="probability", higher_is="favorable")
        return model_outcomes(other, kind), model_outcomes(subject, kind), []
    column = one_of(f"{where}.{given[0]}", getattr(policy, given[0]), data.frame.columns, what="a column")
    if policy.label is not None:
        good = {class_text(value) for value in data.favorable}
        favorable = np.array([class_text(value) in good for value in data.frame[column].tolist()])
        reference = Outcomes(f"column {column}", "decision", favorable[:, None].astype(float), favorable)
        return reference, model_outcomes(subject, "decision"), []
    try:
        values = finite(f"{where}.score", data.frame[column].to_numpy(dtype=float, na_value=np.nan))[:, None]
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where}.score", "must be a column of numbers", column) from None
    ours = model_outcomes(subject, kind)
    if ours.kind == "classes":
        ours = model_outcomes(subject, "probability")
    if ours.kind == "probability":
        values = _probabilities(values, f"column {column}")
    favorable = subject.decide(values[:, 0], data.groups)
    if ours.kind == "decision":
        values = favorable[:, None].astype(float)
    return Outcomes(f"column {column}", ours.kind, values, favorable), ours, []


def _equal_opportunity(
    subject: Subject, options: OutcomeTransportOptions
) -> tuple[Outcomes, Outcomes, list[str]]:
    data = subject.data
    if data.y is None:
        raise InputError(
            "outcome_transport.against", "needs labels for equal opportunity", advice="set data.label"
        )
    group, names = group_codes(data, options.by, "outcome_transport.by")
    weights = np.ones(data.n) if data.weights is None else data.weights
    favorable, lost = equal_opportunity(subject.scores, subject.decisions, data.y, group, weights)
    warnings = [
        "The equal-opportunity version keeps the model's scores and gives each group its own threshold, "
        "found on the audited people themselves."
    ]
    if lost:
        warnings.append(
            f"Without a favorable label among them, {', '.join(names[k] for k in lost)} keep the "
            f"model's decisions."
        )
    model = model_outcomes(subject, "decision")
    name = f"equal-opportunity version of the {subject.model.name}"
    return Outcomes(name, "decision", favorable[:, None].astype(float), favorable), model, warnings


def equal_opportunity(
    scores: np.ndarray, decisions: np.ndarray, y: np.ndarray, group: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, list[int]]:
    """Decide by a threshold for each group that brings its true positive rate nearest the overall one.

    Returns
    -------
    decisions : bool array (n,)
    unchanged : list of int
        Groups without anybody of a favourable label.

    References
    ----------
    Hardt, Price, Srebro (2016), Equality of opportunity in supervised learning, section 4; without
    randomisation, so that ties of scores leave a remainder.
    """
    decided = np.asarray(decisions, dtype=bool).copy()
    positive = np.asarray(y, dtype=bool)
    wanted = float(weights[positive & decided].sum() / max(weights[positive].sum(), 1e-300))
    unchanged = []
    for code in np.unique(group):
        here = group == code
        worthy = here & positive
        if not worthy.any():
            unchanged.append(int(code))
            continue
        levels, which = np.unique(-scores[worthy], return_inverse=True)
        mass = np.bincount(which, weights[worthy]).cumsum()
        rates = np.append(0.0, mass / mass[-1])  # above all scores, or at each of them
        cut = np.append(np.inf, -levels)[int(np.abs(rates - wanted).argmin())]
        decided[here] = scores[here] >= cut
    return decided, unchanged
