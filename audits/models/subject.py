"""The subject of every audit: data, model, threshold and feature space, and who gets which decision.

The favourable score of a person is the sum of the model's probabilities over the favourable label
values; the decision is favourable where it is at least the threshold. With a column of scores any
real scale will do, and where higher is worse for the person, the decision is favourable below the
threshold: nothing but the direction changes, so a person exactly at the threshold of a risk score
gets the unfavourable decision.
"""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.data import AuditData, FeatureSpace
from audits.data.values import text_of
from audits.errors import InputError
from audits.models.gradients import Differentiable
from audits.models.predictions import (
    HigherIs,
    Made,
    PredictedLabel,
    PredictedScore,
    check_predicted_values,
    prediction_digest,
)
from audits.models.protocol import (
    Model,
    check_scores,
    class_text,
    favorable_columns,
    label_values,
)
from audits.models.remarks import remarks
from audits.models.spec import ModelSpec, Predictions, Train, model_path
from audits.models.thresholds import Threshold, check_threshold, cuts, threshold_words
from audits.models.training import check_class_parts, check_parts, check_trainable, what_to_learn
from audits.progress import Progress, part, silent

__all__ = ["Subject", "make_subject", "subject_of", "train_model"]

ScoreKind = Literal["probability", "number", "label"]


@dataclass(frozen=True, eq=False)
class Subject:
    """What every audit takes first.

    Attributes
    ----------
    data : AuditData
        The people audited; where a model was trained here, the part it has not seen.
    model : Model
        What scores them.
    threshold : float or mapping
        On the scale of the user's scores; or one for each value of a protected attribute.
    space : FeatureSpace
        Fitted on all people audited.
    training : AuditData or None
        The rows that the model was trained on here.
    notes : tuple of str
        What the user should know about the model, in sentences.
    score_kind : {"number", "probability", "label"}
        Whether the scores are any numbers, probabilities of the favourable outcome, or 0 and 1.
    higher_is : {"favorable", "unfavorable"}
        Direction of the user's scores. `favorable_score` is always higher for the better: with
        ``"unfavorable"`` it is the user's score negated, and `threshold` stays on the user's scale.
    made : {"held_out", "in_sample", "unknown"}
        Whether the people audited were in the model's training: they were not, where it was trained here.
    train, seed
        How the model was trained here, to train it again on other rows; None for a model brought along, and
        for one that predicts the label itself.
    base_dir : Path
        Folder that files named in an audit's options are relative to.
    """

    data: AuditData
    model: Model
    threshold: Threshold
    space: FeatureSpace
    training: AuditData | None = None
    notes: tuple[str, ...] = ()
    score_kind: ScoreKind = "number"
    higher_is: HigherIs = "favorable"
    train: Train | None = None
    seed: int = 0
    base_dir: Path = Path()
    made: Made = "unknown"

    def favorable_score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the score of each row of `frame`, (n,) float64, higher better for the person.

        Raises
        ------
        InputError
            If the model cannot score the rows, gives a score that is not finite, or has classes
            that do not cover the label values of the data.
        """
        scores = check_scores(self.model.score(frame), frame, self.model.name)
        if self.model.classes is None:
            return scores
        # the digits of summed probabilities may pass 1
        return np.clip(scores[:, self.favorable_classes].sum(axis=1), 0.0, 1.0)

    @cached_property
    def favorable_classes(self) -> np.ndarray:
        """Which columns of the scores of a model with classes are favourable, (k,) bool."""
        classes = self.model.classes or ()
        return favorable_columns(classes, self.data.favorable, label_values(self.data), self.model.name)

    def decide(self, score: np.ndarray, groups: pd.DataFrame) -> np.ndarray:
        """Return who gets the favourable decision, (n,) bool.

        Parameters
        ----------
        score : (n,) float
            As `favorable_score` gives it.
        groups : DataFrame (n, protected)
            Values of the protected attributes as text; read only where thresholds differ by group.
        """
        cut = cuts(self.threshold, groups)
        return score > -cut if self.higher_is == "unfavorable" else score >= cut

    @cached_property
    def scores(self) -> np.ndarray:
        """Favourable scores of the people audited, (n,)."""
        return self.favorable_score(self.data.frame)

    @cached_property
    def decisions(self) -> np.ndarray:
        """Who of the people audited gets the favourable decision, (n,) bool."""
        return self.decide(self.scores, self.data.groups)

    @cached_property
    def differentiable(self) -> Differentiable | None:
        """The model with its gradient, checked on the people audited; None where it has none."""
        if isinstance(self.model, Differentiable):
            return self.model
        if not self.model.classes or not self.model.invents:
            return None
        from audits.models.exact import differentiable

        return differentiable(self.model, self.favorable_classes, self.scores, self.data.frame, self.space)

    @cached_property
    def regression(self) -> Any:
        """Of a model of a number what gives `design` and `regression`, checked; None where nothing does."""
        if not hasattr(self.model, "number") or hasattr(self.model, "regression"):
            return self.model if hasattr(self.model, "regression") else None
        try:
            from audits.models.exact import regression_of

            return regression_of(self.model, self.data.frame, self.space)
        except ModuleNotFoundError:  # without torch nothing has a gradient
            return None

    @cached_property
    def splits(self) -> dict[str, np.ndarray] | None:
        """The numbers at which a model of trees splits each column, sorted; None for what is no trees."""
        from audits.models.split_points import split_points

        return split_points(self.model, self.data.frame, self.space) if self.model.invents else None

    @property
    def outcome(self) -> str:
        """The favourable outcome in words: ``two_year_recid = 0``, ``gpa >= 3``, or ``favorable``."""
        data = self.data
        column = self.model.column if isinstance(self.model, PredictedLabel) else None
        name = data.label or column
        if name is None:
            return "favorable"
        if (
            len(data.favorable) == 1 and data.favorable[0] is True
        ):  # a cut label says it itself; 1 is not True
            return name
        said = data.labels.get(name, {})
        values = [text_of(value) for value in data.favorable]
        return f"{name} = {' or '.join(said.get(value, value) for value in values)}"

    @property
    def rule(self) -> str:
        """The decision rule in words: "favourable where the score is at least 0.5"."""
        if self.score_kind == "label":
            return "favorable where the predicted label is"
        what = "probability of the favorable outcome" if self.score_kind == "probability" else "score"
        relation = "below" if self.higher_is == "unfavorable" else "at least"
        return f"favorable where the {what} is {relation} {threshold_words(self.threshold)}"


def make_subject(
    data: AuditData,
    model_spec: ModelSpec,
    *,
    threshold: Threshold = 0.5,
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
    threshold : float or {attribute: {value: float}}
        In [0, 1] for probabilities, any number for a column of scores. By group: every value of
        one protected attribute.
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
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise InputError("seed", "must be a whole number from 0 to 4,294,967,295", seed)
    progress(0.0, "preparing the model")
    training, notes = None, []
    learns = what_to_learn(data, label=model_spec.predict is not None)
    retrained: Train | None = None
    kind: ScoreKind = "probability"
    higher_is: HigherIs = "favorable"
    made: Made = "unknown" if model_spec.train is None else "held_out"
    levels = data.groups
    if model_spec.train is not None:
        check_trainable(data, text=model_spec.train == "text")
        training, data = data.split(test_size, seed)
        check_parts(training, data)
        share = part(progress, 0.05, 0.9)
        if learns == "favorable":
            model = train_model(training, model_spec.train, seed, share)
            retrained = model_spec.train
        elif learns == "classes":
            from audits.models.classes import train_classes

            check_class_parts(training, data)
            model = train_classes(training, model_spec.train, seed=seed, progress=share)
        else:
            from audits.models.numbers import train_number

            model = train_number(training, model_spec.train, seed=seed, progress=share)
        notes.append(
            f"The {model.name} was trained on {training.n:,} rows; the audit uses the {data.n:,} held out."
        )
    elif model_spec.path is not None:
        from audits.models.files import load_file

        path = model_path(model_spec.path, base_dir)
        model = load_file(path, data, model_spec, number=learns == "number")
        data, added = _with_what_it_reads(data, model)
        notes += [*getattr(model, "notes", ()), *added]
        kind = "probability" if getattr(model, "labels", None) is None else "label"
    elif model_spec.endpoint is not None and learns == "number":
        from audits.models.numbers import load_endpoint_number

        model = load_endpoint_number(model_spec.endpoint, data, columns=_sent(model_spec))
        data, added = _with_what_it_reads(data, model)
        notes += [*model.notes, *added]
    elif model_spec.endpoint is not None:
        from audits.models.endpoint import load_endpoint

        model = load_endpoint(
            model_spec.endpoint,
            data,
            classes=model_spec.classes,
            columns=_sent(model_spec),
            logits=model_spec.output == "logits",
        )
        data, added = _with_what_it_reads(data, model)
        notes += [*model.notes, *added]
        kind = "probability" if model.labels is None else "label"
    elif model_spec.predictions is not None:
        higher_is, made = model_spec.predictions.higher_is, model_spec.predictions.made or "unknown"
        kind = "number" if model_spec.predictions.label is None else "label"
        data, model, notes = _from_column(data, model_spec.predictions)
    if learns == "number" and data.cut is not None:
        from audits.models.labels import cut_threshold

        kind = "number"
        threshold, higher_is = cut_threshold(threshold, data.cut)
        notes.append(f"Decisions are favorable where the number predicted is {data.cut.side}.")
    everybody, data = data.n, data.audited
    if data.n < everybody:
        notes.append(f"Only {data.n:,} of {everybody:,} people are audited, as was asked for.")
    progress(0.9, "scoring everyone")
    subject = subject_of(
        data,
        model,
        threshold=check_threshold(threshold, levels, kind),
        score_kind=kind,
        higher_is=higher_is,
        made=made,
        notes=tuple(notes),
        training=training,
        train=retrained,
        seed=seed,
        base_dir=base_dir,
    )
    progress(1.0, "the model is ready")
    return subject


def subject_of(
    data: AuditData,
    model: Model,
    *,
    threshold: Threshold,
    score_kind: ScoreKind,
    higher_is: HigherIs = "favorable",
    made: Made = "unknown",
    notes: tuple[str, ...] = (),
    training: AuditData | None = None,
    train: Train | None = None,
    seed: int = 0,
    base_dir: Path = Path(),
) -> Subject:
    """Put data and a model together, score everyone, and note what the scores give reason to doubt."""
    space = _space(data)
    subject = Subject(
        data, model, threshold, space, training, notes, score_kind, higher_is, train, seed, base_dir, made
    )
    known = {"scores": subject.scores, "decisions": subject.decisions}
    subject = dataclasses.replace(subject, notes=(*subject.notes, *remarks(subject)))
    vars(subject).update(known)  # the notes alone differ: nobody is scored twice
    return subject


def train_model(training: AuditData, kind: Train, seed: int, progress: Progress) -> Model:
    """Train a model of one of the kinds that `ModelSpec.train` names on all rows of `training`."""
    if kind == "mlp":
        from audits.models.mlp import train_mlp

        return train_mlp(training, seed=seed, progress=progress)
    if kind == "project" or kind == "sensr":
        from audits.models.fair import train_fair_network

        return train_fair_network(training, kind, seed=seed, progress=progress)
    if kind == "reductions":
        from audits.models.reductions import train_reductions

        return train_reductions(training, seed=seed, progress=progress)
    progress(0.0, "training the model")
    if kind == "text":
        from audits.models.text import train_text

        return train_text(training, seed=seed)
    from audits.models.baselines import train_baseline

    return train_baseline(training, kind, seed=seed)


def _sent(spec: ModelSpec) -> tuple[str, ...] | None:
    return spec.columns if isinstance(spec.columns, tuple) else None  # `ModelSpec.check` refused a mapping


def _with_what_it_reads(data: AuditData, model: Model) -> tuple[AuditData, list[str]]:
    """Return the data with all that a model reads among its features, so that people can be moved by it."""
    read = [name for name in model.columns if name not in data.features]
    if not read:
        return data, []
    digest = hashlib.sha256(f"{data.digest} with {read}".encode()).hexdigest()
    note = f"Added to the features, as the model reads them: {', '.join(map(repr, read))}."
    return dataclasses.replace(data, features=(*data.features, *read), digest=digest), [note]


def _space(data: AuditData) -> FeatureSpace:
    """Fit the feature space; without a feature that is more than free text, people have no place: empty."""
    if all(data.kinds[name] == "text" for name in data.features):
        return FeatureSpace((), (), {}, {}, ())
    return FeatureSpace.fit(data)


def _from_column(data: AuditData, predictions: Predictions) -> tuple[AuditData, Model, list[str]]:
    """Return the data, its features without the predictions, the model, and notes."""
    model: Model
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
    if column == data.label:
        notes.append(
            f"The predictions are the label {column!r} itself: the audit is of what happened, not of a model."
        )
    if column in data.features:
        # the prediction is about the person, it does not describe them
        digest = hashlib.sha256(f"{data.digest} without {column}".encode()).hexdigest()
        features = tuple(name for name in data.features if name != column)
        data = dataclasses.replace(data, features=features, digest=digest)
        notes.append(f"The predictions in {column!r} are not used as a feature.")
    return data, model, notes
