"""What a subject's scores give reason to doubt, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import choices
from audits.errors import InputError
from audits.models.quality import area_under_curve, by_design
from audits.models.thresholds import threshold_words
from audits.stats.ranks import outscoring

_ACCURATE, _RANKED = 0.995, 0.999  # accuracy and area from which on people may be those of the training
_MIN = 50
_HARDLY = 0.01  # of people beyond a threshold that nobody can have meant


def _of_gaps(subject: Any) -> list[str]:
    """Say what became of people whose missing number a model was given that was not made for any."""
    model, data = subject.model, subject.data
    if getattr(getattr(model, "source", None), "takes_gaps", True):
        return []
    remarks = []
    given = data.written.restore(data.frame[list(model.columns)])
    for name in model.columns:
        gaps = given[name].isna().to_numpy()
        if not gaps.any() or not pd.api.types.is_numeric_dtype(given[name].dtype):
            continue
        got = int(subject.decisions[gaps].sum())
        others = "" if gaps.all() else f" ({subject.decisions[~gaps].mean():.0%} of the others do)"
        remarks.append(
            f"{int(gaps.sum()):,} people have no value of {name!r}: the {model.name} was given NaN there, "
            f"for which it has no rule, and {got:,} of them get the favorable decision{others}. Set "
            "data.missing to 'drop' to leave them out, or export the model together with its imputation step."
        )
    return remarks


def not_cut(subject: Any) -> bool:
    """Whether the threshold is one of another scale than the scores.

    It is beyond 1 where no score is, or 0.5, that of probabilities, and has nearly all scores on one side.
    """
    scale = subject.score_kind == "number" and subject.data.cut is None and subject.data.numeric is None
    threshold, largest = subject.threshold, np.abs(subject.scores).max()
    if not scale or isinstance(threshold, Mapping):
        return False
    if largest <= 1:
        return bool(abs(threshold) > 1)
    if threshold != 0.5:
        return False
    favorable = float(np.average(subject.decisions, weights=subject.data.row_weights))
    return min(favorable, 1 - favorable) < _HARDLY


def why_not_clear(subject: Any) -> str:
    """Return why no audit of these predictions can find no material difference; empty where it can.

    They are of people whom the model was trained on, or, where nothing is said, so good that they may be:
    nearly always right, and far more often than whoever gives everyone the commoner label. A column that is
    the label itself is no model. Or they are scores of any scale, cut where nobody chose.
    """
    data = subject.data
    if not_cut(subject):
        return f"the threshold of {threshold_words(subject.threshold)} is not on the scale of the scores"
    training, counted = subject.training, data.weights is not None and data.design is None
    # of counts a row's people are divided between both parts
    learned = training is not None and not counted and data.frame.index.isin(training.frame.index).any()
    if learned or subject.made == "in_sample":
        return "the model was trained on these people"
    if subject.made != "unknown" or data.y is None or getattr(subject.model, "column", None) == data.label:
        return ""
    weights = data.row_weights
    rarer = min(weights[data.y].sum(), weights[~data.y].sum())
    wrong = weights[subject.decisions != data.y].sum()
    if weights.sum() < _MIN or not rarer:
        return ""
    told = "the model may have been trained on these people:"
    if wrong <= min((1 - _ACCURATE) * weights.sum(), 0.25 * rarer):
        return f"{told} it is right about {1 - wrong / weights.sum():.1%} of them"
    area = None if subject.score_kind == "label" else outscoring(subject.scores, np.asarray(data.y), weights)
    if area is not None and area >= _RANKED:
        return f"{told} its scores rank them almost perfectly (AUC {area:.4f})"
    return ""


def remarks(subject: Any) -> list[str]:
    """Return what the scores themselves give reason to doubt, in sentences."""
    scores, decisions, data = subject.scores, subject.decisions, subject.data
    remarks = []
    alike = decisions.all() or not decisions.any()
    everyone = subject.everyone if alike else subject  # who has no label may be decided on otherwise
    if alike and (everyone.decisions.all() or not everyone.decisions.any()):
        low, high = sorted((float(everyone.scores.min()), float(everyone.scores.max())))
        if subject.higher_is == "unfavorable":
            low, high = -high, -low
        run = f"the scores run from {low:.4g} to {high:.4g}" if low < high else f"every score is {low:.4g}"
        remarks.append(
            f"Everyone gets the {'favorable' if everyone.decisions.all() else 'unfavorable'} decision: "
            f"the rule is {subject.rule}, and {run}."
        )
    remarks += _of_gaps(subject)
    if not_cut(subject):
        remarks.append(
            f"The threshold of {threshold_words(subject.threshold)} is not on the scale of the scores, so no "
            "audit clears these decisions: set one that is."
        )
    elif why := subject.cannot_clear:
        advice = "" if subject.made == "in_sample" else " If it was not, say so: made is held_out."
        remarks.append(
            f"{why[0].upper()}{why[1:]}. On people used for training, accuracy is too high and groups can "
            f"look more equal than they are, so no audit clears these predictions.{advice}"
        )
    ranked = None if data.y is None else outscoring(scores, data.y, data.row_weights)
    if data.y is not None and ranked is not None and ranked < 0.5:
        area = (
            area_under_curve(scores, data.y, data.row_weights)
            if data.design is None
            else by_design(data.design, scores, decisions, data.y)[1]
        )
        backwards = area.high is not None and area.high < 0.5
        if backwards and getattr(subject.model, "assumed", False):
            raise InputError(
                "model.classes", f"is needed: with {choices(subject.model.classes)} in this order, which "
                f"{subject.model.name} does not say, scores rank people the wrong way round (area under the "
                f"curve {area.value:.2f})",
                advice="name the label values in the order of the model's outputs",
            )  # fmt: skip
        if backwards:
            remarks.append(
                f"The scores rank people the wrong way round (area under the curve {area.value:.2f}): people "
                "with a favorable label tend to score lower. Check data.favorable and "
                + ("model.predictions.higher_is." if not subject.model.invents else "model.classes.")
            )
    return remarks
