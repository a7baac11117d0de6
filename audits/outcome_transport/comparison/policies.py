"""Outcomes of a policy: the model's, the labels, another model's, or an equal-opportunity version of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from audits.checks import choices, finite, one_of
from audits.data import AuditData
from audits.data.intersections import group_codes
from audits.errors import InputError
from audits.models import Model, Subject, train_model
from audits.models.labels import NumberModel, label_numbers
from audits.models.protocol import class_text, label_values
from audits.models.spec import ModelSpec, model_path
from audits.outcome_transport.options import OutcomeTransportOptions, Policy, Trained
from audits.progress import silent

_WHERE = "outcome_transport.against"
_FOLDS = 5  # parts in which a reference learns and says, where no rows were kept for training
_PAIR = float(np.sqrt(2.0))  # norm of (1, 0) - (0, 1): what a difference of 1 in p makes in (p, 1 - p)


@dataclass(frozen=True, eq=False)
class PolicyOutcomes:
    """A policy's outcome for every person of the data.

    Attributes
    ----------
    name : str
    kind : {"decision", "probability", "score", "classes"}
    values : array (n, c)
        Decisions as 0 and 1, favorable probabilities, scores, or class probabilities (c classes).
    favorable : bool array (n,)
        Who is decided favorably.
    """

    name: str
    kind: str
    values: np.ndarray
    favorable: np.ndarray

    @property
    def unit(self) -> float:
        """Euclidean distance that a difference of 1 makes."""
        return _PAIR if self.kind in {"decision", "probability"} else 1.0


def model_outcomes(subject: Subject, kind: str) -> PolicyOutcomes:
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
        if kind == "score" and _are_shares(subject):
            kind = "probability"
    name, decided = subject.model.name, np.asarray(subject.decisions, dtype=bool)
    if kind == "decision":
        return PolicyOutcomes(name, kind, decided[:, None].astype(float), decided)
    if kind == "classes":
        if subject.model.classes is None:
            raise InputError(
                "outcome_transport.outcome",
                f"cannot be 'classes': {name} gives one number a person",
                advice="choose 'automatic'",
            )
        return PolicyOutcomes(
            name, kind, _probabilities(subject.model.score(subject.data.frame), name), decided
        )
    values = subject.scores[:, None]
    if kind == "probability" and subject.higher_is == "unfavorable":
        values = 1 + values  # the probability of the favorable outcome: scores are negated
    return PolicyOutcomes(
        name, kind, _probabilities(values, name) if kind == "probability" else values, decided
    )


def _are_shares(subject: Subject) -> bool:
    """Whether scores of any scale can be read as probabilities, as those of a model are: all in [0, 1]."""
    sign = -1.0 if subject.higher_is == "unfavorable" else 1.0
    scores = sign * subject.scores
    return subject.data.cut is None and bool(scores.min() >= 0 and scores.max() <= 1)


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
) -> tuple[PolicyOutcomes, PolicyOutcomes, list[str]]:
    """Outcomes of the reference, of the model on the same scale, and what to beware of."""
    against = "label" if options.against is None else options.against
    if against == "label":
        return (*_labels(subject, options.outcome), [])
    if against == "equal_opportunity":
        return _equal_opportunity(subject, options)
    return _other_policy(subject, against, options)


def _labels(subject: Subject, kind: str) -> tuple[PolicyOutcomes, PolicyOutcomes]:
    data = subject.data
    if data.y is None:
        raise InputError(
            "outcome_transport.against",
            "is the label, but the data have none",
            advice="set data.label, or compare two groups with source and target",
        )
    name = f"label {data.label}"
    if kind == "classes":
        ours = model_outcomes(subject, kind)
        classes = [class_text(value) for value in subject.model.classes or label_values(data)]
        truth = np.array([class_text(value) for value in data.frame[data.label].tolist()])
        return PolicyOutcomes(name, kind, (truth[:, None] == np.array(classes)).astype(float), data.y), ours
    if kind == "automatic":
        kind = "score" if isinstance(subject.model, NumberModel) else "decision"
    if kind == "score" and data.cut is not None and subject.score_kind == "number":
        numbers = label_numbers(data) * (1 if subject.higher_is == "favorable" else -1)
        return PolicyOutcomes(name, kind, numbers[:, None], data.y), model_outcomes(subject, kind)
    model = model_outcomes(subject, kind)
    if model.kind == "score":
        raise InputError(
            "outcome_transport.outcome",
            "must be a decision or a probability to be compared with labels, but the scores have another "
            "scale",
            advice="choose 'decision'",
        )
    return PolicyOutcomes(name, model.kind, data.y[:, None].astype(float), data.y), model


def _other_policy(
    subject: Subject, policy: Policy, options: OutcomeTransportOptions
) -> tuple[PolicyOutcomes, PolicyOutcomes, list[str]]:
    kind = options.outcome
    given = [name for name in ("score", "label", "train", "path") if getattr(policy, name) is not None]
    if given not in (["label", "train"], *([name] for name in ("score", "label", "train", "path"))):
        raise InputError(
            _WHERE,
            "must have exactly one of 'score', 'label', 'train' and 'path', or 'train' with the 'label' that "
            "it learns",
            given,
        )
    if policy.higher_is is not None and policy.score is None:
        raise InputError(f"{_WHERE}.higher_is", "is for a column of scores", policy.higher_is, "leave it out")
    if policy.constraint is not None and policy.train != "logistic":
        raise InputError(
            f"{_WHERE}.constraint",
            "holds a logistic regression that is trained here",
            policy.constraint,
            "set train: logistic",
        )
    if policy.label is not None and policy.train is not None:
        return _trained_on(subject, policy, policy.train, policy.label, options)
    if policy.label is not None:
        return _decided_in_a_column(subject, policy.label)
    if policy.score is not None:
        return _scored_in_a_column(subject, policy.score, policy.higher_is or subject.higher_is, kind)
    return _another_model(subject, policy, options)


def _learn(
    subject: Subject, data: AuditData, policy: Policy, train: Trained, options: OutcomeTransportOptions
) -> tuple[Model, list[str]]:
    """Train the reference on `data`, held to its constraint if it has one; also say what that costs."""
    if policy.constraint is None:
        return train_model(data, train, subject.seed, silent), []
    from audits.models.trained.constrained import train_equal_opportunity

    group, _ = group_codes(data, options.by, "outcome_transport.by")
    model, cost = train_equal_opportunity(data, group, where=f"{_WHERE}.constraint")
    return model, [cost]


def _another_model(
    subject: Subject, policy: Policy, options: OutcomeTransportOptions
) -> tuple[PolicyOutcomes, PolicyOutcomes, list[str]]:
    """Outcomes of a model trained here or read from a file, and the audited model's of the same kind."""
    model: Model
    kind, warnings = options.outcome, list[str]()
    if policy.train is not None:
        if subject.training is None:
            raise InputError(
                f"{_WHERE}.train",
                "needs rows to train on, but the audited model was not trained here",
                advice="provide the other model as a file, or its scores as a column: {score: column}",
            )
        model, warnings = _learn(subject, subject.training, policy, policy.train, options)
        labels = False
    else:
        from audits.models.files import load

        path = model_path(policy.path or "", subject.base_dir, f"{_WHERE}.path")
        model = load(path, subject.data, ModelSpec(), number=False)
        labels = getattr(model, "labels", None) is not None
        warnings += list(getattr(model, "notes", ()))
    cut, said = _cut(subject, model.name)
    warnings += said
    scale: Literal["label", "probability"] = "label" if labels else "probability"
    other = dataclasses.replace(subject, model=model, threshold=cut, score_kind=scale, higher_is="favorable")
    if kind == "automatic" and other.score_kind != subject.score_kind:
        kind = "decision"  # on one scale in any case
    theirs, ours = model_outcomes(other, kind), model_outcomes(subject, kind)
    if theirs.values.shape[1] != ours.values.shape[1]:
        raise InputError(
            _WHERE,
            f"must give as many classes as the audited model: {theirs.name} gives "
            f"{theirs.values.shape[1]:,}, "
            f"{ours.name} {ours.values.shape[1]:,}",
            advice="compare decisions: outcome 'decision'",
        )
    if kind == "classes":
        theirs = _in_order(theirs, other, subject)
    return theirs, ours, warnings


def _cut(subject: Subject, name: str) -> tuple[Any, list[str]]:
    """Return from which score a reference decides favorably: as the audited model where that has shares."""
    if subject.score_kind == "probability":
        return subject.threshold, []
    return 0.5, [f"The {name} decides favorably at a probability of 0.5 or more."]


def _trained_on(
    subject: Subject, policy: Policy, train: Trained, column: str, options: OutcomeTransportOptions
) -> tuple[PolicyOutcomes, PolicyOutcomes, list[str]]:
    """Outcomes of a model that learned another label, of people whom it has not seen, and the audited one's.

    Where no rows were kept for training, as with a column of predictions, it learns from some of the people
    audited and says of the others, in turn.
    """
    data = _with_label(subject.data, column)
    (cut, warnings), kind = _cut(subject, f"{train} model"), options.outcome
    if subject.training is not None:
        parts = [(_with_label(subject.training, column), np.arange(data.n))]
    else:
        fold = np.random.default_rng(subject.seed).permutation(data.n) % _FOLDS
        parts = [(data.take(np.flatnonzero(fold != k)), np.flatnonzero(fold == k)) for k in range(_FOLDS)]
        warnings.append(
            f"The reference learned {column} from the people audited, in {_FOLDS} parts. It predicts each "
            "part from the others."
        )
    scores, favorable = np.empty(data.n), np.empty(data.n, dtype=bool)
    for learned, rows in parts:
        model, cost = _learn(subject, learned, policy, train, options)
        warnings += cost if rows is parts[0][1] else []
        told = {"threshold": cut, "score_kind": "probability", "higher_is": "favorable"}
        other = dataclasses.replace(subject, data=data.take(rows), model=model, **told)
        scores[rows], favorable[rows] = other.scores, other.decisions
    if kind == "automatic" and subject.score_kind != "probability":
        kind = "decision"  # on one scale in any case
    ours = model_outcomes(subject, kind)
    if ours.kind == "classes":
        ours = model_outcomes(subject, "decision")
    if ours.kind == "score":
        raise InputError(
            "outcome_transport.outcome",
            "must be a decision or a probability to be compared with a model of another label",
            kind,
            "choose 'decision'",
        )
    values = favorable.astype(float) if ours.kind == "decision" else scores
    held = " with equal opportunity" if policy.constraint is not None else ""
    return (
        PolicyOutcomes(f"{train} model of {column}{held}", ours.kind, values[:, None], favorable),
        ours,
        warnings,
    )


def _with_label(data: AuditData, column: str) -> AuditData:
    """Return `data` with another column as its label, of the same favorable values."""
    favorable = _favorable(data, column)
    return dataclasses.replace(
        data,
        label=column,
        y=favorable,
        cut=None,
        features=tuple(name for name in data.features if name != column),
    )


def _favorable(data: AuditData, name: str) -> np.ndarray:
    """Whether a column says a favorable decision (n,)."""
    column = one_of(f"{_WHERE}.label", name, data.frame.columns, what="a column")
    missing = int(data.frame[column].isna().sum())
    if missing:
        raise InputError(
            f"{_WHERE}.label",
            f"must have a decision for everyone, but {missing:,} of {data.n:,} values are missing",
            column,
            "leave those rows out with data.keep",
        )
    good = {class_text(value) for value in data.favorable}
    return np.array([class_text(value) in good for value in data.frame[column].tolist()])


def _in_order(theirs: PolicyOutcomes, other: Subject, subject: Subject) -> PolicyOutcomes:
    """Columns of `theirs` in the order of the audited model's classes."""
    names, wanted = (
        [class_text(value) for value in one.model.classes or label_values(one.data)]
        for one in (other, subject)
    )
    if sorted(names) != sorted(wanted):
        raise InputError(_WHERE, f"must have the audited model's classes ({choices(wanted)})", names)
    order = [names.index(name) for name in wanted]
    return dataclasses.replace(theirs, values=theirs.values[:, order])


def _decided_in_a_column(subject: Subject, name: str) -> tuple[PolicyOutcomes, PolicyOutcomes, list[str]]:
    favorable = _favorable(subject.data, name)
    reference = PolicyOutcomes(f"column {name}", "decision", favorable[:, None].astype(float), favorable)
    return reference, model_outcomes(subject, "decision"), []


def _scored_in_a_column(
    subject: Subject, name: str, higher_is: str, kind: str
) -> tuple[PolicyOutcomes, PolicyOutcomes, list[str]]:
    data = subject.data
    where = f"{_WHERE}.score"
    column = one_of(where, name, data.frame.columns, what="a column")
    try:
        values = finite(where, data.frame[column].to_numpy(dtype=float, na_value=np.nan))[:, None]
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(where, "must be a column of numbers", column) from None
    ours = model_outcomes(
        subject, "decision" if kind == "automatic" and subject.score_kind == "label" else kind
    )
    if ours.kind == "classes":
        ours = model_outcomes(subject, "probability")
    if kind == "automatic" and subject.score_kind == "number" and not ((values >= 0) & (values <= 1)).all():
        ours = model_outcomes(subject, "score")
    if subject.score_kind == "probability" and ours.kind != "score":
        values = _probabilities(values, f"column {column}")
        values = 1 - values if higher_is == "unfavorable" else values
    elif subject.score_kind == "number" and higher_is != subject.higher_is:
        raise InputError(
            f"{_WHERE}.higher_is",
            "must be that of the audited scores, because both are on one scale",
            higher_is,
            "compare decisions: provide them as a column with against: {label: column}",
        )
    elif higher_is == "unfavorable":
        values = -values
    favorable = subject.decide(values[:, 0], data.groups)
    if ours.kind == "decision":
        values = favorable[:, None].astype(float)
    elif ours.kind == "probability":
        values = _probabilities(
            values + (subject.score_kind == "number" and higher_is == "unfavorable"), name
        )
    return PolicyOutcomes(f"column {column}", ours.kind, values, favorable), ours, []


def _equal_opportunity(
    subject: Subject, options: OutcomeTransportOptions
) -> tuple[PolicyOutcomes, PolicyOutcomes, list[str]]:
    data = subject.data
    if data.y is None:
        raise InputError(
            "outcome_transport.against", "needs labels for equal opportunity", advice="set data.label"
        )
    group, names = group_codes(data, options.by, "outcome_transport.by")
    favorable, lost = equal_opportunity(subject.scores, subject.decisions, data.y, group, data.row_weights)
    warnings = [
        "The equal-opportunity version keeps the model's scores and gives each group its own threshold, "
        "chosen on the people audited."
    ]
    if lost:
        warnings.append(
            f"Because they have nobody with a favorable label, {', '.join(names[k] for k in lost)} keep the "
            f"model's decisions."
        )
    model = model_outcomes(subject, "decision")
    name = f"equal-opportunity version of the {subject.model.name}"
    return PolicyOutcomes(name, "decision", favorable[:, None].astype(float), favorable), model, warnings


def equal_opportunity(
    scores: np.ndarray, decisions: np.ndarray, y: np.ndarray, group: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, list[int]]:
    """Decide by a threshold for each group that brings its true positive rate nearest the overall one.

    Returns
    -------
    decisions : bool array (n,)
    unchanged : list of int
        Groups without anyone of a favorable label.

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
