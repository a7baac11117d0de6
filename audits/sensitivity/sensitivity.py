"""The sensitivity audit: check, train A, measure, hold against the twin, pack."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from audits.checks import build, generator, one_of
from audits.data import AuditData, FeatureSpace
from audits.data.blocks import NumberBlock
from audits.errors import InputError
from audits.models import Subject
from audits.models.dense import dense_of
from audits.models.gradients import Differentiable, logits_over
from audits.models.protocol import favorable_columns, label_values, row_weights
from audits.models.thresholds import cuts
from audits.progress import Progress, part, silent
from audits.sensitivity.blackbox import measure_blackbox
from audits.sensitivity.carrying import carry
from audits.sensitivity.counterfactuals import check_known, decided_otherwise
from audits.sensitivity.encoding import describe_space, parameter_table
from audits.sensitivity.judging import (
    baseline_of,
    feature_shares,
    histogram_of,
    judge_groups,
    threshold_of,
)
from audits.sensitivity.matching import MatchSet, match_set
from audits.sensitivity.measuring import Audited, Measured, Status, measure, smoothing_noise
from audits.sensitivity.options import SensitivityOptions
from audits.sensitivity.protected import StatusQuality, hidden_widths, judge_status, train_status
from audits.sensitivity.result import SensitivityResult
from audits.sensitivity.twin import train_twins
from audits.sensitivity.words import finding, too_few, warnings_for
from audits.stats import wilson

__all__ = ["sensitivity", "sensitivity_audit"]

_HELD_OUT = 0.5


def sensitivity(
    subject: Subject,
    *,
    protected: str | tuple[str, ...] | None = None,
    status_model: Literal["like", "network", "logistic"] = "like",
    give_protected: bool = False,
    gradient: Literal["logit", "literal"] = "logit",
    smooth: int = 0,
    smooth_noise: float = 0.1,
    step: float = 0.1,
    false_alarm_rate: float = 0.05,
    threshold: float | None = None,
    level: float = 0.05,
    material: float = 1.25,
    match_set: Literal["auto", "off"] = "auto",
    counterfactuals: dict[str, str] | None = None,
    bands: int = 5,
    bootstrap: int = 300,
    max_people: int | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> SensitivityResult:
    """Would this prediction have been another, had the person belonged to another group?

    Parameters
    ----------
    subject : Subject
        Data with protected attributes, and a model that can score people who do not exist.
    rng : Generator, int or None
        Training of A and of the twin, draws of the bootstrap and of a subsample; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Other parameters are those of `SensitivityOptions`.

    Returns
    -------
    SensitivityResult
        A sensitivity of 0 says that nothing that tells the groups apart moves the prediction. It has no
        unit of its own: it is read beside the baseline of the reference people.

    Raises
    ------
    InputError
        No protected attribute or an unknown one, a group too small to learn from, a model that cannot
        score invented people or reads free text, counterfactual columns that cannot be used, an option
        out of range.
    """
    options = {
        "protected": protected,
        "status_model": status_model,
        "give_protected": give_protected,
        "gradient": gradient,
        "smooth": smooth,
        "smooth_noise": smooth_noise,
        "step": step,
        "false_alarm_rate": false_alarm_rate,
        "threshold": threshold,
        "level": level,
        "material": material,
        "match_set": match_set,
        "counterfactuals": counterfactuals,
        "bands": bands,
        "bootstrap": bootstrap,
        "max_people": max_people,
    }
    return sensitivity_audit(
        subject, build(SensitivityOptions, options, "sensitivity"), rng=rng, progress=progress
    )


@dataclass(frozen=True, eq=False)
class _People:
    """Who is measured, at which points, and who taught A."""

    subject: Subject
    training: AuditData
    z: np.ndarray
    weights: np.ndarray
    left_out: dict[str, int]


@dataclass(frozen=True, eq=False)
class _Models:
    """F as a network where it is one, the As, and what was found out about them."""

    audited: Audited | None
    why_not: str
    statuses: tuple[Status, ...]
    quality: tuple[StatusQuality, ...]


def sensitivity_audit(
    subject: Subject,
    options: SensitivityOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> SensitivityResult:
    """Run `sensitivity` with checked options: what a spec's run calls."""
    rng = generator(rng)
    attributes = _attributes(subject, options)
    check_known(subject, attributes, options)
    people = _people(subject, options, rng)
    models = _models(people, attributes, options, rng, part(progress, 0.0, 0.4))
    progress(0.4, "measuring sensitivity")
    found = _measure(people, models, options, part(progress, 0.4, 0.7))
    twin, note = _match(people, attributes, found, options, rng, part(progress, 0.7, 0.95))
    progress(0.95, "comparing groups")
    return _pack(people, attributes, models, found, twin, note, options, rng)


def _attributes(subject: Subject, options: SensitivityOptions) -> tuple[str, ...]:
    data, model = subject.data, subject.model
    if not model.invents:
        raise InputError(
            "model",
            "must be able to score people who do not exist: sensitivity is how the score moves with the "
            "features",
            model.name,
            "bring the model itself, or train one here",
        )
    if not subject.space.columns:
        raise InputError("data.features", "must not be free text alone: it has no gradient", data.features)
    asked = data.protected if options.protected is None else options.protected
    names = (asked,) if isinstance(asked, str) else tuple(dict.fromkeys(asked))
    if not names:
        raise InputError(
            "protected", "must name at least one protected attribute", advice="set data.protected"
        )
    for name in names:
        one_of("protected", name, data.protected, what="a protected attribute")
    return names


def _people(subject: Subject, options: SensitivityOptions, rng: np.random.Generator) -> _People:
    """Choose who is measured: nobody who taught the audited model or A."""
    data, training, left_out = subject.data, subject.training, {}
    if training is None:
        training, data = data.split(_HELD_OUT, rng)
        left_out["rows that the protected-status model learned from"] = training.n
    if options.max_people is not None and data.n > options.max_people:
        left_out[f"rows not drawn (max_people {options.max_people:,})"] = data.n - options.max_people
        data = data.take(np.sort(rng.choice(data.n, options.max_people, replace=False)))
    if data is not subject.data:
        subject = dataclasses.replace(subject, data=data)
    return _People(subject, training, subject.space.encode(data.frame), row_weights(data), left_out)


def _models(
    people: _People,
    attributes: tuple[str, ...],
    options: SensitivityOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> _Models:
    audited, why_not = _audited(people.subject)
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
    return _Models(audited, why_not, tuple(statuses), tuple(quality))


def _audited(subject: Subject) -> tuple[Audited | None, str]:
    """Return F as a network over the feature space, or why it is none."""
    model = subject.model
    if not isinstance(model, Differentiable):
        return None, f"The {model.name} has no gradient here"
    try:
        network = dense_of(logits_over(model, subject.space, subject.data.frame))
    except InputError:
        return None, f"The {model.name} is no network of linear layers and ReLUs"
    return Audited(network, _good(subject)), ""


def _measure(people: _People, models: _Models, options: SensitivityOptions, progress: Progress) -> Measured:
    space, literal = people.subject.space, options.gradient == "literal"
    if models.audited is None:
        return measure_blackbox(
            people.subject.data.frame,
            people.z,
            people.subject.favorable_score,
            people.subject.model.columns,
            models.statuses,
            space,
            step=options.step,
            literal=literal,
            progress=progress,
        )
    noise = smoothing_noise(_numbers(space), options.smooth, options.smooth_noise, seed=0)
    blocks = [space.blocks[column] for column in space.columns]
    return measure(people.z, models.audited, models.statuses, blocks, literal=literal, noise=noise)


def _numbers(space: FeatureSpace) -> np.ndarray:
    """Which encoded columns hold numbers that can move a little, (d,) of 0 and 1."""
    movable = np.zeros(len(space.names))
    for block in space.parts:
        if isinstance(block, NumberBlock) and block.kind != "boolean":
            movable[space.blocks[block.column].start] = 1.0
    return movable


def _match(
    people: _People,
    attributes: tuple[str, ...],
    found: Measured,
    options: SensitivityOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[MatchSet | None, str]:
    if options.match_set == "off":
        return None, "Not asked for."
    subject = people.subject
    distance = np.abs(found.score - cuts(subject.threshold, subject.data.groups))
    held: dict[str, Any] = {
        "weights": people.weights,
        "bands": options.bands,
        "draws": options.bootstrap,
        "level": options.level,
        "rng": rng,
    }
    if options.counterfactuals:
        progress(0.0, "deciding on the counterfactuals")
        otherwise, words = decided_otherwise(subject, attributes[0], options.counterfactuals)
        measured = found.sensitivity, found.influence, distance
        return match_set(*measured, otherwise, twin=words, source="counterfactuals", **held), ""
    twins = train_twins(subject, attributes, int(rng.integers(2**31)), progress)
    if isinstance(twins, str):
        return None, twins
    made = match_set(
        found.sensitivity,
        found.influence,
        distance,
        twins.decisions != subject.decisions,
        twin=twins.words,
        by_chance=twins.by_chance != subject.decisions,
        **held,
    )
    return made, ""


def _pack(
    people: _People,
    attributes: tuple[str, ...],
    models: _Models,
    found: Measured,
    twin: MatchSet | None,
    note: str,
    options: SensitivityOptions,
    rng: np.random.Generator,
) -> SensitivityResult:
    subject, weights, values = people.subject, people.weights, found.sensitivity
    data, space = subject.data, subject.space
    threshold = threshold_of(values, weights, options)
    flagged = values > (threshold.value or 0.0)
    above, n = float(weights @ flagged), float(weights.sum())
    baseline = baseline_of(values, weights, options.level)
    judged = judge_groups(values, flagged, data, weights, attributes, options, rng.spawn(1)[0])
    estimated = ""
    if models.audited is None:
        estimated = (
            f"{models.why_not}: its slopes are finite differences ({options.step:g} standard deviations, "
            f"at least one "
            "whole step) and swaps of categories, not gradients."
        )
    reads = tuple(
        column
        for column in space.columns
        if column in subject.model.columns or any(column in each.reads for each in models.quality)
    )
    return SensitivityResult(
        options=dataclasses.asdict(options),
        protected=attributes,
        method=_method(options, models),
        estimated=models.audited is None,
        model={"name": subject.model.name, "sha256": subject.model.sha256, "threshold": subject.threshold},
        verdict=judged.verdict,
        finding=finding(judged, baseline, threshold, above, n, options),
        warnings=too_few(judged)
        + warnings_for(
            options,
            models.quality,
            baseline,
            threshold,
            estimated,
            tuple(name for name in attributes if name in subject.model.columns),
            tuple(name for name in attributes if name not in space.columns),
        ),
        rows={
            "audited": subject.data.n + sum(people.left_out.values()),
            "used": data.n,
            "left_out": people.left_out,
        },
        people_needed=judged.people_needed,
        status=models.quality,
        baseline=baseline,
        threshold=threshold,
        false_alarm_rate=above / n,
        above=above,
        flagged=wilson(above, n, level=options.level),
        groups=judged.groups,
        by_feature=feature_shares(found.contributions, space.columns, flagged, weights, options, rng),
        histogram=histogram_of(values, data, weights, attributes, threshold.value or 0.0),
        match_set=twin,
        match_set_note=note,
        reads=reads,
        status_groups={each.attribute: list(each.groups) for each in models.statuses},
        encoding=describe_space(space),
        people=_people_table(subject, found, flagged),
        contributions=pd.DataFrame(found.contributions, index=data.frame.index, columns=list(space.columns)),
        parameters=parameter_table(models.audited, models.statuses),
        carried=None if models.audited else carry(subject, people.z, options.step),
    )


def _good(subject: Subject) -> np.ndarray | None:
    """Which of the model's classes are favourable, (k,) bool; None for a model with one score."""
    model, data = subject.model, subject.data
    if model.classes is None:
        return None
    return favorable_columns(model.classes, data.favorable, label_values(data), model.name)


def _people_table(subject: Subject, found: Measured, flagged: np.ndarray) -> pd.DataFrame:
    cut = cuts(subject.threshold, subject.data.groups)
    return pd.DataFrame(
        {
            "sensitivity": found.sensitivity,
            "flagged": flagged,
            "score": subject.scores,
            "decision": subject.decisions,
            "gradient": found.influence,
            "distance": np.abs(subject.scores - cut),
        },
        index=subject.data.frame.index,
    )


def _method(options: SensitivityOptions, models: _Models) -> str:
    at = "log-odds" if options.gradient == "logit" else "probability (literal form)"
    how = "finite differences and category swaps" if models.audited is None else "gradients"
    smooth = f", averaged over {options.smooth} draws of noise" if options.smooth and models.audited else ""
    return f"{how}{smooth}; protected status at its {at}"
