"""Who is measured and by which models: people, the audited model F, and the protected-status models A."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audits.checks import one_of
from audits.data import AuditData
from audits.data.outliers import check_spread
from audits.data.partition import sample_people, single_people, with_counts
from audits.errors import InputError
from audits.models import Subject
from audits.models.networks.dense import dense_of
from audits.models.networks.gradients import logits_over
from audits.progress import Progress, part
from audits.sensitivity.measurement.blackbox import measure_blackbox
from audits.sensitivity.measurement.gradients import AuditedModel, Measured, Status, measure, smoothing_noise
from audits.sensitivity.measurement.status_models import (
    StatusQuality,
    hidden_widths,
    judge_status,
    train_status,
)
from audits.sensitivity.options import SensitivityOptions

_HELD_OUT = 0.5
MAX_LEARNERS = 100_000


@dataclass(frozen=True, eq=False)
class MeasurementSetup:
    """Who is measured, at which points, who taught A, and everyone whom some cross-fit can measure."""

    subject: Subject
    everybody: AuditData
    training: AuditData
    z: np.ndarray
    weights: np.ndarray
    left_out: dict[str, int]


@dataclass(frozen=True, eq=False)
class Models:
    """F as a network where it is one, the As, and what was found out about them."""

    audited: AuditedModel | None
    why_not: str
    statuses: tuple[Status, ...]
    quality: tuple[StatusQuality, ...]


def attributes_of(subject: Subject, options: SensitivityOptions) -> tuple[str, ...]:
    """Return the protected attributes that are looked at.

    Raises
    ------
    InputError
        If there is none, or the model or the features cannot be used.
    """
    data, model = subject.data, subject.model
    if not model.invents:
        raise InputError(
            "model",
            "must be a model that can be asked, not a column of predictions: sensitivity is how the score "
            "moves with the features",
            model.name,
            "upload a model, or train one here",
        )
    if not subject.space.columns:
        raise InputError("data.features", "must not be free text only, which has no gradient", data.features)
    check_spread(data)
    asked = data.protected if options.protected is None else options.protected
    names = (asked,) if isinstance(asked, str) else tuple(dict.fromkeys(asked))
    if not names:
        raise InputError(
            "protected", "must name at least one protected attribute", advice="set data.protected"
        )
    for name in names:
        one_of("protected", name, data.protected, what="a protected attribute")
    return names


def choose_people(
    subject: Subject, options: SensitivityOptions, rng: np.random.Generator
) -> MeasurementSetup:
    """Choose who is measured: nobody who taught the audited model or A."""
    data, training, left_out = subject.data, subject.training, {}
    if training is None:
        training, data = data.split(_HELD_OUT, rng)
        left_out["rows that the protected-status model learned from"] = subject.data.n - data.n
    if options.max_people is not None and data.n > options.max_people:
        counts = np.zeros(data.n)
        rows, counts[rows] = sample_people(data, np.arange(data.n), options.max_people, rng)
        left_out[f"rows not drawn (max_people {options.max_people:,})"] = data.n - len(rows)
        data = with_counts(data, counts)
    everybody = data if subject.training is not None or options.max_people is not None else subject.data
    if data is not subject.data:
        subject = dataclasses.replace(subject, data=data)
    training = single_people(training, most=MAX_LEARNERS)  # a network learns from rows
    z = subject.space.encode(data.frame)
    return MeasurementSetup(subject, everybody, training, z, data.row_weights, left_out)


def train_models(
    people: MeasurementSetup,
    attributes: tuple[str, ...],
    options: SensitivityOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> Models:
    """Bring F into the form that is measured, train an A for each attribute, and judge it."""
    audited, why_not = _network_of(people.subject)
    hidden = hidden_widths(options.status_model, None if audited is None else audited.network)
    space, data = people.subject.space, people.subject.data
    unseen = () if options.give_protected else attributes
    statuses, quality = [], []
    for place, name in enumerate(attributes):
        stretch = part(progress, place / len(attributes), (place + 1) / len(attributes))
        status = train_status(people.training, space, name, hidden, unseen=unseen, rng=rng, progress=stretch)
        statuses.append(status)
        quality.append(
            judge_status(
                status,
                data,
                people.z,
                unseen=unseen,
                columns=space.columns,
                trained_on=people.training.n,
                level=options.level,
            )
        )
    return Models(audited, why_not, tuple(statuses), tuple(quality))


def _network_of(subject: Subject) -> tuple[AuditedModel | None, str]:
    """Return F as a network over the feature space, or why it is none."""
    model = subject.differentiable
    if model is None:
        return None, f"The {subject.model.name} has no gradient here"
    try:
        network = dense_of(logits_over(model, subject.space, subject.data.frame))
    except InputError:
        return None, f"The {model.name} is no network of linear layers with ReLU, tanh or sigmoid units"
    return AuditedModel(network, None if model.classes is None else subject.favorable_classes), ""


def measure_by(
    statuses: Sequence[Status],
    data: AuditData,
    z: np.ndarray,
    subject: Subject,
    audited: AuditedModel | None,
    options: SensitivityOptions,
    progress: Progress,
) -> Measured:
    """Measure `data` at points `z` by some As: by gradients, or by differences and swaps where F has none."""
    space, literal = subject.space, options.gradient == "literal"
    if audited is None:
        return measure_blackbox(
            data.frame,
            z,
            subject.probability_of,
            subject.model.columns,
            statuses,
            space,
            step=options.step,
            literal=literal,
            progress=progress,
        )
    noise = smoothing_noise(space.movable(), options.smooth, options.smooth_noise, seed=0)
    blocks = [space.blocks[column] for column in space.columns]
    return measure(z, audited, statuses, blocks, literal=literal, noise=noise)
