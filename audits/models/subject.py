"""The subject of every audit: data, model, threshold and feature space, and who gets which decision.

The favorable score of a person is the sum of the model's probabilities over the favorable label
values; the decision is favorable where it is at least the threshold. Without a threshold, the decision
of a model with more than two classes is its own: favorable where its most probable class is. With a
column of scores any real scale will do, and where higher is worse for the person, the decision is
favorable below the threshold: nothing but the direction changes, so a person exactly at the threshold
of a risk score gets the unfavorable decision.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from audits.data import AuditData, FeatureSpace, group_name
from audits.data.partition import content_order, table_keys
from audits.data.spec import NumericOutcome
from audits.data.values import text_of
from audits.errors import InputError
from audits.models.diagnostics import remarks, why_not_clear
from audits.models.networks.gradients import Differentiable
from audits.models.predictions import (
    HigherIs,
    Made,
    PredictedLabel,
)
from audits.models.protocol import (
    Model,
    check_scores,
    favorable_columns,
    label_values,
)
from audits.models.spec import Train
from audits.models.thresholds import Threshold, cuts, threshold_words
from audits.stats.selective import OutcomeSide, UnknownOutcomes, decision_side, unknown_outcomes
from audits.stats.text import people_in

ScoreKind = Literal["probability", "number", "label"]
_BALANCED = 16  # encoded columns that a draw of rows is balanced by


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
        Whether the scores are any numbers, probabilities of the favorable outcome, or 0 and 1.
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
    by_class : bool
        Whether the decision is the model's own: favorable where its most probable class is. `favorable_score`
        is then the largest probability of a favorable class, as a share of that and the largest other one.
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
    by_class: bool = False

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
        return self.favorable_of(scores)

    def favorable_of(self, scores: np.ndarray) -> np.ndarray:
        """Return the score (n,) of rows whose classes have the probabilities `scores`, (n, k)."""
        if not self.by_class:
            return self._favorable_probability(scores)
        sides = (self.favorable_classes, ~self.favorable_classes)
        likely, others = (scores[:, side].max(axis=1) for side in sides)
        share = likely / (likely + others)
        chosen = self.favorable_classes[scores.argmax(axis=1)]  # of equal ones the first, as `predict` has it
        return np.where(chosen, np.maximum(share, 0.5), np.minimum(share, np.nextafter(0.5, 0.0)))

    def _favorable_probability(self, scores: np.ndarray) -> np.ndarray:
        # the digits of summed probabilities may pass 1; and 1 - 0.9 is 0.1 to a threshold of 0.1
        found = np.clip(scores[:, self.favorable_classes].sum(axis=1), 0.0, 1.0)
        plain = found.round(12)
        meant = (np.abs(found - plain) <= np.finfo(float).eps) & (plain > 0) & (plain < 1)
        return np.where(meant, plain, found)

    @cached_property
    def favorable_classes(self) -> np.ndarray:
        """Which columns of the scores of a model with classes are favorable, (k,) bool."""
        classes = self.model.classes or ()
        return favorable_columns(classes, self.data.favorable, label_values(self.data), self.model.name)

    def decide(self, score: np.ndarray, groups: pd.DataFrame) -> np.ndarray:
        """Return who gets the favorable decision, (n,) bool.

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
        """Favorable scores of the people audited, (n,)."""
        return self.favorable_score(self.data.frame)

    @cached_property
    def everyone(self) -> Subject:
        """The same model about everyone it decides on, people without a label too, and no labels."""
        data = self.data
        if data.unlabeled is None:
            return self
        column = None if self.model.invents else getattr(self.model, "column", None)
        if column is not None:
            known = data.unlabeled.frame[column].notna().to_numpy()
            if data.numeric is not None and not known.any():
                return self  # the outcome itself, which stays unknown
            data = data.with_unlabeled(known)
        return dataclasses.replace(self, data=data.everyone)

    def one_row_each(self, rng: np.random.Generator, *others: Subject) -> Subject:
        """The same model about one row of each person, drawn as `AuditData.one_row_each` says.

        In every group the rows drawn have about the decisions, scores, labels and features that all have.

        Parameters
        ----------
        others : Subject
            Other models on the same rows, to which the draw is as fair.
        """
        rows = self.data.everyone.frame.index
        told = [each._told for each in (self, *others)]  # a row without a decision is as the mean
        told = [each if each.index.equals(rows) else each.reindex(rows, fill_value=0.0) for each in told]
        return dataclasses.replace(self, data=self.data.one_row_each(rng, np.column_stack(told)))

    @property
    def _told(self) -> pd.DataFrame:
        """What is known of the rows of everyone decided on, each column in standard deviations."""
        subject, labels = self.everyone, self.data.y
        data = subject.data
        encoded = np.empty((data.n, 0))
        if self.space.columns:
            encoded = self.space.encode(data.frame, unknown="zero")
        widest = np.argsort(-encoded.std(axis=0).round(9), kind="stable")[:_BALANCED]
        told = pd.DataFrame(encoded[:, widest], data.frame.index).assign(score=subject.scores)
        if data.numeric is None:  # the rejected alone, too, as for what they could change
            told = told.join(told.mul(~subject.decisions, axis=0).add_prefix("rejected "))
            told["decision"] = subject.decisions.astype(float)
        if labels is not None:
            told["label"] = np.append(labels, np.full(data.n - len(labels), labels.mean()))
        spread = told.std(ddof=0).clip(lower=1e-9)
        return (told - told.mean()) / spread * np.where(told.columns == "decision", 2.0, 1.0)

    def unknown_labels(self, *, level: float) -> UnknownOutcomes:
        """Return whose label is not known, and whether that goes with a decision or a group."""
        if self.data.unlabeled is None:
            return UnknownOutcomes()
        data, decided = self.everyone.data, self.everyone.decisions
        known = np.arange(data.n) < self.data.n
        sides = [decision_side(decided, known), *_group_sides(data)]
        return unknown_outcomes(known, _people(data), sides, level=level)

    def unknown_decisions(self, *, level: float) -> UnknownOutcomes:
        """Return whose decision is missing where decisions are a column, and whether that goes with a group.

        Whoever has neither label nor decision is in none of the audits.
        """
        whole = self.data.everyone
        if self.data.numeric is not None or self.everyone.data.n == whole.n:
            return UnknownOutcomes()
        known = whole.frame[getattr(self.model, "column")].notna().to_numpy()  # noqa: B009 - no model's else
        found = unknown_outcomes(known, _people(whole), _group_sides(whole), level=level)
        return dataclasses.replace(found, what="decision")

    @property
    def unseen_fills(self) -> tuple[str, ...]:
        """Columns with cells that `data.missing: impute` filled, and that the decisions did not come from.

        A model that was trained here is given what they were filled with.
        """
        return () if self.training is not None else tuple(self.data.written.filled)

    def unknown_cells(self, column: str, *, level: float) -> UnknownOutcomes:
        """Return of whom a column was filled in, and whether that goes with a group."""
        rows, _ = self.data.written.filled[column]
        known = ~self.data.frame.index.isin(rows)
        found = unknown_outcomes(known, _people(self.data), _group_sides(self.data), level=level)
        return dataclasses.replace(found, what=f"value of {column}")

    @cached_property
    def in_order(self) -> Subject:
        """The same people in the order of what they are: no draw depends on how the table was sorted."""
        data, training = self.data, self.training
        order = content_order(data, self.scores)
        more, others = data.unlabeled, data.without_label
        if more is not None and others is not None:
            more = more.beside(order, data.n, content_order(others, table_keys(others)))
        taken = dataclasses.replace(data.take(order), unlabeled=more)
        if training is not None:
            training = training.take(content_order(training))
        found = dataclasses.replace(self, data=taken, training=training)
        vars(found)["scores"] = self.scores[order]
        return found

    @cached_property
    def decisions(self) -> np.ndarray:
        """Who of the people audited gets the favorable decision, (n,) bool.

        Raises
        ------
        InputError
            If the outcome is a number that nothing cuts.
        """
        if self.data.numeric is not None:
            raise needs_cut(self.data.numeric)
        return self.decide(self.scores, self.data.groups)

    @property
    def numbers(self) -> np.ndarray:
        """What a numeric outcome gives each person, in its own unit and direction (n,)."""
        return self.scores if self.higher_is == "favorable" else -self.scores

    @property
    def of_model(self) -> bool:
        """Whether the number audited is what a model predicts, not what people got."""
        column = getattr(self.model, "column", None)
        return column is None or (self.data.number is not None and column != self.data.number)

    @property
    def probabilities(self) -> np.ndarray:
        """Scores of the people audited, (n,): of a model with classes the probability of a favorable one."""
        return self.probability_of(self.data.frame) if self.by_class else self.scores

    def probability_of(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the favorable score (n,); of a model with classes the probability of a favorable one."""
        if not self.by_class:
            return self.favorable_score(frame)
        return self._favorable_probability(check_scores(self.model.score(frame), frame, self.model.name))

    @cached_property
    def cannot_clear(self) -> str:
        """Why no audit can find no material difference here: predictions may be in sample; else empty."""
        return why_not_clear(self)

    @cached_property
    def differentiable(self) -> Differentiable | None:
        """The model with its gradient, checked on the people audited; None where it has none."""
        if isinstance(self.model, Differentiable):
            return self.model
        if hasattr(self.model, "number") or not self.model.invents:
            return None
        from audits.models.networks.exact import exact

        favorable = np.array([False, True]) if self.model.classes is None else self.favorable_classes
        return exact(self.model, favorable, self.probabilities, self.data.frame, self.space)

    @cached_property
    def regression(self) -> Any:
        """Of a model of a number what gives `design` and `regression`, checked; None where nothing does."""
        if not hasattr(self.model, "number") or hasattr(self.model, "regression"):
            return self.model if hasattr(self.model, "regression") else None
        from audits.models.networks.exact import exact

        numbers = self.model.number(self.data.frame)
        return exact(self.model, None, numbers, self.data.frame, self.space)

    @cached_property
    def splits(self) -> dict[str, np.ndarray] | None:
        """The numbers at which a model of trees splits each column, sorted; None for what is no trees."""
        from audits.models.trees.split_points import split_points

        return split_points(self.model, self.data.frame, self.space) if self.model.invents else None

    @property
    def outcome(self) -> str:
        """The favorable outcome in words: ``two_year_recid = 0``, ``gpa >= 3``, or ``favorable``."""
        data = self.data
        if data.numeric is not None:
            return data.numeric.name
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
        """The decision rule in words: "favorable where the score is at least 0.5"."""
        if self.data.numeric is not None:
            return f"no decision but a number: {self.data.numeric.favorable} is good for the person"
        if self.score_kind == "label":
            return f"favorable where the predicted label is {self.outcome.rpartition(' = ')[2]}"
        if self.by_class:
            return f"favorable where the most probable class is ({self.outcome})"
        what = "probability of the favorable outcome" if self.score_kind == "probability" else "score"
        relation = "below" if self.higher_is == "unfavorable" else "at least"
        return f"favorable where the {what} is {relation} {threshold_words(self.threshold)}"


def _group_sides(data: AuditData) -> list[OutcomeSide]:
    """Return every group of every protected attribute, against the others."""
    return [
        OutcomeSide((column == each).to_numpy(), people_in(group_name({str(name): each})), len(values))
        for name, column in ((name, data.groups[name]) for name in data.protected)
        for values in [column.unique().tolist()]
        for each in values
    ]


def _people(data: AuditData) -> np.ndarray:
    """Return how many independent people each row stands for, (n,): persons and clusters are one each."""
    if data.design is None:
        return data.row_weights
    _, place, rows = np.unique(data.design.cluster, return_inverse=True, return_counts=True)
    return 1.0 / rows[place]


def subject_of(data: AuditData, model: Model, **about: Any) -> Subject:
    """Put data and a model together, score everyone, and note what the scores give reason to doubt.

    Parameters
    ----------
    about
        Further fields of `Subject`: `threshold` and `score_kind` at least.
    """
    return with_doubts(Subject(data=data, model=model, space=space_of(data), **about))


def needs_cut(numeric: NumericOutcome, where: str = "data.outcome") -> InputError:
    """Return the refusal of whatever needs decisions, at `where`, of an outcome that is a number."""
    side = "at_least" if numeric.favorable == "high" else "at_most"
    return InputError(
        where,
        f"needs a favorable and an unfavorable side, but the outcome {numeric.name!r} is numeric",
        advice=f"cut it: leave out outcome and write label: {{column: {numeric.name}, {side}: …}}",
    )


def with_doubts(subject: Subject) -> Subject:
    """Score everyone, and add to the notes what the scores give reason to doubt."""
    if subject.data.numeric is not None:
        notes = [f"{why[0].upper()}{why[1:]}." for why in [subject.cannot_clear] if why]
        return dataclasses.replace(subject, notes=(*subject.notes, *notes))
    known = {"scores": subject.scores, "decisions": subject.decisions}
    subject = dataclasses.replace(subject, notes=(*subject.notes, *remarks(subject)))
    vars(subject).update(known)  # the notes alone differ: nobody is scored twice
    return subject


def space_of(data: AuditData) -> FeatureSpace:
    """Fit the feature space; without a feature that is more than free text, people have no place: empty."""
    if all(data.kinds[name] == "text" for name in data.features):
        return FeatureSpace((), (), {}, ())
    return FeatureSpace.fit(data)
