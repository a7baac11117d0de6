"""How a subject comes by its model: trained here, a file, an address, or a column of predictions."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audits.checks import check_seed, choices
from audits.data import AuditData
from audits.data.outliers import check_spread
from audits.data.partition import cell_counts, single_people
from audits.data.values import text_of
from audits.errors import InputError, is_installed, not_installed
from audits.models.predictions import (
    PredictedLabel,
    PredictedScore,
    check_predicted_values,
    prediction_digest,
)
from audits.models.protocol import Model, class_text, label_values
from audits.models.spec import ModelSpec, Predictions, Train, model_path
from audits.models.subject import Subject, subject_of
from audits.models.thresholds import Threshold, check_threshold
from audits.models.trained.training import check_class_parts, check_parts, check_trainable, what_to_learn
from audits.progress import Progress, part, silent
from audits.stats.text import people

_LEARNS_WITH = {
    "mlp": ("torch",),
    "project": ("torch",),
    "sensr": ("torch",),
    "reductions": ("sklearn", "fairlearn"),
}
"""Packages of extras that a kind of model is trained with; every other kind with scikit-learn alone."""
_MAX_LEARNERS = 100_000  # people in a table of counts that are learned from one by one
_FAIR = ("project", "sensr", "reductions")
_UNSCALED = ("forest", "boosting", "text")  # what they learn does not depend on how far a number lies


def make_subject(
    data: AuditData,
    model_spec: ModelSpec,
    *,
    threshold: Threshold | None = None,
    seed: int = 0,
    test_size: float = 0.3,
    base_dir: Path = Path(),
    progress: Progress = silent,
) -> Subject:
    """Train, load or read the model and put it together with the data.

    Parameters
    ----------
    data : AuditData
        All people. Where a model is trained here, it learns from a part, and the subject holds
        the rest.
    model_spec : ModelSpec
        Where the model comes from.
    threshold : float or {attribute: {value: float}}, optional
        0.5 where it is left out; of a model with more than two classes its own decision. In [0, 1] for
        probabilities, any number for a column of scores. By group: every value of one protected attribute.
    seed : int
        Seed of the split (stratified by label) and of training.
    test_size : float in (0, 1)
        Share of people held out when a model is trained here.
    base_dir : Path
        Where relative paths start: the folder of the spec file.
    progress : callable
        Told what is being done; may raise `RunCancelled`.

    Raises
    ------
    InputError
        If the spec, the file, the column, the threshold or the data cannot be used: one outcome
        only, too few rows to train, scores that are not finite, classes that do not match.
    """
    model_spec.check()
    check_seed(seed)
    progress(0.0, "preparing the model")
    learns = what_to_learn(data, label=model_spec.predict is not None)
    levels = data.groups
    number = learns == "number"
    if model_spec.train is not None:
        found = _train_subject(data, model_spec.train, learns, test_size, seed, part(progress, 0.05, 0.9))
    elif model_spec.path is not None:
        from audits.models.files import load

        path = model_path(model_spec.path, base_dir)
        found = _uploaded_subject(data, load(path, data, model_spec, number=number), model_spec)
    elif model_spec.endpoint is not None:
        from audits.models import endpoint

        asked = endpoint.load(model_spec.endpoint, data, model_spec, number=number)
        found = _uploaded_subject(data, asked, model_spec)
    else:
        found = _from_column(data, model_spec.predictions)  # type: ignore[arg-type]  # `check` saw to one
    data, model, about = found
    if number and data.cut is not None:
        from audits.models.labels import cut_threshold

        about["score_kind"] = "number"
        threshold, about["higher_is"] = cut_threshold(threshold, data.cut)
        about["notes"].append(f"Decisions are favorable where the number predicted is {data.cut.side}.")
    if data.numeric is not None:
        data = _numeric(data, model, threshold, about)
        threshold = None
    audited = data.audited
    if audited.n < data.n:
        about["notes"].append(f"Only {audited.n:,} of {data.n:,} people are audited, as requested.")
    progress(0.9, "scoring everyone")
    cut = 0.5 if threshold is None else threshold
    subject = subject_of(
        audited,
        model,
        threshold=check_threshold(cut, levels, about["score_kind"]),
        seed=seed,
        base_dir=base_dir,
        by_class=threshold is None and len(model.classes or ()) > 2,
        **{**about, "notes": tuple(about["notes"])},
    )
    progress(1.0, "the model is ready")
    return subject


def _numeric(data: AuditData, model: Model, threshold: Threshold | None, about: dict[str, Any]) -> AuditData:
    """Set what a subject needs whose outcome is a number; return the data, which name it."""
    assert data.numeric is not None  # noqa: S101 - the caller has looked
    if threshold is not None and threshold != 0.5:
        raise InputError(
            "threshold", "does not apply to a numeric outcome", threshold,
            "leave it out, or cut the outcome: label: {column: …, at_least: …}",
        )  # fmt: skip
    about["score_kind"] = "number"
    about["higher_is"] = "favorable" if data.numeric.favorable == "high" else "unfavorable"
    if data.numeric.column is not None or isinstance(model, PredictedLabel):
        return data
    name = getattr(model, "column", "number")
    return dataclasses.replace(data, numeric=dataclasses.replace(data.numeric, name=name))


_Found = tuple[AuditData, Model, dict[str, Any]]
"""The people audited, the model, and further fields of the subject."""


def _train_subject(
    data: AuditData, kind: Train, learns: str, test_size: float, seed: int, progress: Progress
) -> _Found:
    for package in _LEARNS_WITH.get(kind, ("sklearn",)):
        if not is_installed(package):
            raise not_installed("model.train", package)
    check_trainable(data, text=kind == "text")
    if kind not in _UNSCALED:
        check_spread(data)
    training, data = data.split(test_size, seed)
    check_parts(training, data)
    model: Model
    if learns == "favorable":
        model = train_model(training, kind, seed, progress)
    elif learns == "classes":
        check_class_parts(training, data)
        model = train_model(training, kind, seed, progress, classes=label_values(training))
    else:
        from audits.models.trained.numbers import train_number

        model = train_number(_learners(training, kind), kind, seed=seed, progress=progress)
    held_out = f"the audit uses the {data.people:,.0f} held out"
    note = f"The {model.name} was trained on {people(training.people)}; {held_out}."
    again = kind if learns == "favorable" else None
    about = {"notes": [note], "score_kind": "probability", "made": "held_out", "training": training}
    return data, model, {**about, "train": again}


def _uploaded_subject(data: AuditData, model: Model, spec: ModelSpec) -> _Found:
    read = [name for name in model.columns if name not in data.features]
    added = (
        [f"Added to the features, because the model reads them: {', '.join(map(repr, read))}."]
        if read
        else []
    )
    data = with_features(data, read)  # so that people can be moved by all that it reads
    kind = "probability" if getattr(model, "labels", None) is None else "label"
    notes = [*getattr(model, "notes", ()), *added]
    return data, model, {"notes": notes, "score_kind": kind, "made": spec.made or "unknown"}


def train_model(
    training: AuditData,
    kind: Train,
    seed: int,
    progress: Progress,
    *,
    classes: tuple[object, ...] | None = None,
) -> Model:
    """Train a model of one of the kinds that `ModelSpec.train` names on all people of `training`.

    It tells favorable from not, or the `classes` of a label. The same people give the same model, in any
    order of rows and features, as rows or as counts.
    """
    training = _learners(training, kind)
    if kind == "mlp":
        from audits.models.trained.mlp import train_mlp

        return train_mlp(training, seed=seed, classes=classes, progress=progress)
    if kind == "project" or kind == "sensr":
        from audits.models.trained.fair import train_fair_network

        return train_fair_network(training, kind, seed=seed, progress=progress)
    if kind == "reductions":
        from audits.models.trained.reductions import train_reductions

        return train_reductions(training, seed=seed, progress=progress)
    progress(0.0, "training the model")
    if kind == "text":
        from audits.models.trained.text import train_text

        return train_text(training, seed=seed)
    from audits.models.trained.baselines import train_baseline

    return train_baseline(training, kind, seed=seed, classes=classes)


def _learners(training: AuditData, kind: Train) -> AuditData:
    """Return who is learned from, in an order that their content decides.

    A regression weighs rows; what draws, cuts or counts rows needs one for each person. Groups made later
    tell nobody apart but to a fair model, which learns to be fair to them.
    """
    if kind not in _FAIR:
        training = training.without_custom_groups
    if kind == "logistic":
        return cell_counts(training)
    return single_people(training, most=_MAX_LEARNERS)


def with_features(data: AuditData, more: Sequence[str]) -> AuditData:
    """Return the data with further columns among the features."""
    read = [name for name in more if name not in data.features]
    if not read:
        return data
    digest = hashlib.sha256(f"{data.digest} with {read}".encode()).hexdigest()
    return dataclasses.replace(data, features=(*data.features, *read), digest=digest)


def _from_column(data: AuditData, predictions: Predictions) -> _Found:
    """Return the model of a column of predictions, which is no feature then."""
    model: Model
    if data.numeric is not None:
        predictions = _of_numbers(predictions, data)
    if predictions.score is not None:
        column, recipe = predictions.score, ["score", predictions.score, predictions.higher_is]
        sha256 = prediction_digest(data, column, recipe)
        model = PredictedScore(column, predictions.higher_is, sha256)
    else:
        column = str(predictions.label)
        sha256 = prediction_digest(data, column, ["label", column, *map(text_of, data.favorable)])
        if not data.favorable:
            raise InputError(
                "data.favorable", "is missing", advice="say which predicted label is good for the person"
            )
        predicted = data.frame[column].dropna().unique().tolist()
        if data.label is not None:
            check_predicted_values(predicted, label_values(data), column)
        elif not {class_text(value) for value in data.favorable} & {class_text(value) for value in predicted}:
            raise InputError(
                "data.favorable",
                f"must be a value in the column of predictions {column!r}",
                list(data.favorable),
                f"it holds {choices(predicted)}",
            )
        model = PredictedLabel(column, data.favorable, sha256)
    notes = []
    if column in {data.label, None if data.numeric is None else data.numeric.column}:
        notes.append(
            f"The predictions are the label {column!r} itself, so this audits what happened, not a model."
        )
    if column in data.features:
        data = data.without_feature(column)
        held = "predictions" if predictions.label is None else "decisions"
        notes.append(f"{column!r} holds the {held}, so it is not a feature.")
    kind = "number" if predictions.label is None else "label"
    about = {"notes": notes, "score_kind": kind, "made": predictions.made or "unknown"}
    return data, model, {**about, "higher_is": predictions.higher_is}


def _of_numbers(predictions: Predictions, data: AuditData) -> Predictions:
    """Return where predictions of a numeric outcome stand: which end is good, the data say."""
    assert data.numeric is not None  # noqa: S101 - the caller has looked
    if predictions.score is None:
        raise InputError(
            "model.predictions",
            "must name a column of numbers where the outcome is numeric",
            predictions.label,
            f"write predictions: {{score: {predictions.label}}}",
        )
    low = data.numeric.favorable == "low"
    if predictions.higher_is == "unfavorable" and not low:
        raise InputError(
            "model.predictions.higher_is",
            "is set by data.favorable for a numeric outcome",
            advice="write favorable: low under data",
        )
    return dataclasses.replace(predictions, higher_is="unfavorable" if low else "favorable")
