"""Moving the audited people: by autograd where the model has a gradient, else by scoring alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from audits.data import AuditData
from audits.errors import InputError, RunFailed
from audits.individual.blackbox import MOST_SCORED, black_box_flow, scorings
from audits.individual.flow import Flow, gradient_flow
from audits.individual.losses import probability_losses
from audits.individual.metrics import FairMetric
from audits.individual.options import LossRatioOptions
from audits.models import Subject
from audits.models.gradients import Differentiable, logits_over
from audits.models.subspaces import category_units
from audits.progress import Progress

if TYPE_CHECKING:
    import torch

__all__ = ["AUTOGRAD", "ESTIMATE", "Moved", "curve_steps", "move_people"]

AUTOGRAD = "gradient flow by autograd"
ESTIMATE = "estimate without gradient: finite differences on numbers, best single change of a category"
_ROWS_AT_ONCE = 8192
_AGREEMENT = 1e-4  # a float32 network and its float64 copy differ by about 1e-7


@dataclass(frozen=True, eq=False)
class Moved:
    """Who was moved (positions among the audited), from where, where to, and who is misclassified.

    `scores_before`, `scores_after` are favourable scores; `after` are raw rows of a model without
    gradient, else None; `exact` says that there was a gradient.
    """

    used: np.ndarray
    left_out: dict[str, int]
    start: np.ndarray
    flow: Flow
    scores_before: np.ndarray
    scores_after: np.ndarray
    wrong_before: np.ndarray
    wrong_after: np.ndarray
    after: pd.DataFrame | None
    method: str
    exact: bool


def curve_steps(steps: int) -> tuple[int, ...]:
    """Steps at which the ratio is kept: 10, 20, 40 … and the last.

    Examples
    --------
    >>> curve_steps(100)
    (10, 20, 40, 80, 100)
    """
    found = []
    at = 10
    while at < steps:
        found.append(at)
        at *= 2
    return (*found, steps)


def move_people(
    subject: Subject,
    metric: FairMetric,
    options: LossRatioOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> Moved:
    """Move the people audited, or a sample of them where everyone would take too long.

    Raises
    ------
    InputError
        If the model has a gradient for another outcome than favourable or not, the steps diverge, or
        the box of observed ranges is asked for without a gradient (it holds there anyway).
    """
    if isinstance(subject.model, Differentiable) and subject.model.classes is None:
        return _by_gradient(subject, subject.model, metric, options, rng, progress)
    return _by_scoring(subject, metric, options, rng, progress)


def _draw(
    data: AuditData, most: int, rng: np.random.Generator, reason: str
) -> tuple[np.ndarray, dict[str, int]]:
    """Positions of everyone, or of `most` people drawn with both outcomes in their shares."""
    if data.n <= most:
        return np.arange(data.n), {}
    y = np.asarray(data.y)
    good, bad = np.flatnonzero(y), np.flatnonzero(~y)
    first = min(max(1, round(most * good.size / data.n)), most - 1)
    picked = np.r_[
        rng.choice(good, min(first, good.size), False), rng.choice(bad, min(most - first, bad.size), False)
    ]
    return np.sort(picked), {reason: data.n - picked.size}


def _by_gradient(
    subject: Subject,
    model: Differentiable,
    metric: FairMetric,
    options: LossRatioOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> Moved:
    import torch

    most = options.max_people or subject.data.n
    used, left_out = _draw(subject.data, most, rng, "not drawn into the sample (max_people)")
    data = subject.data.take(used)
    units = category_units(subject.space)
    x = subject.space.encode(data.frame) * units
    network = logits_over(model, subject.space, data.frame, units)
    before = _probabilities(network, x)
    apart = float(np.abs(before - subject.scores[used]).max())
    if apart > _AGREEMENT:
        raise RunFailed(
            f"The network of the {model.name} gives other scores than the model itself (by {apart:.2g})."
        )
    if options.device == "cuda" and not torch.cuda.is_available():
        raise InputError("device", "must be 'cpu': there is no usable accelerator", options.device)
    squared = options.loss == "squared"
    flow = gradient_flow(
        torch.nn.Sequential(network, torch.nn.Sigmoid()) if squared else network,
        x,
        np.asarray(data.y),
        metric,
        loss=options.loss,
        regularizer=options.regularizer,
        steps=options.steps,
        step_size=options.step_size,
        schedule=options.schedule,
        bounds=(x.min(axis=0), x.max(axis=0)) if options.within_range else None,
        curve=curve_steps(options.steps),
        device=options.device,
        progress=progress,
    )
    after = _probabilities(network, flow.positions)
    y = np.asarray(data.y)
    wrong = [subject.decide(scores, data.groups) != y for scores in (before, after)]
    return Moved(used, left_out, x, flow, before, after, wrong[0], wrong[1], None, AUTOGRAD, True)


def _probabilities(network: torch.nn.Module, x: np.ndarray) -> np.ndarray:
    """Favourable scores (n,) at points (n, d), float64."""
    import torch

    parts = [np.empty(0)]
    with torch.inference_mode():
        for start in range(0, len(x), _ROWS_AT_ONCE):
            logits = network(torch.tensor(x[start : start + _ROWS_AT_ONCE], dtype=torch.float64))
            parts.append(torch.sigmoid(logits.squeeze(1)).numpy())
    return np.concatenate(parts)


def _by_scoring(
    subject: Subject,
    metric: FairMetric,
    options: LossRatioOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> Moved:
    each = scorings(subject.space, options.steps)
    most = max(10, MOST_SCORED // each)
    reason = f"not drawn into the sample (a model without gradient scores each person {each} times)"
    if options.max_people is not None and options.max_people <= most:
        most, reason = options.max_people, "not drawn into the sample (max_people)"
    used, left_out = _draw(subject.data, most, rng, reason)
    data = subject.data.take(used)
    y = np.asarray(data.y)

    def losses_of(frame: pd.DataFrame) -> np.ndarray:
        scores = subject.favorable_score(frame)
        return probability_losses(np.where(y, scores, 1.0 - scores), options.loss)

    flow, after = black_box_flow(
        losses_of,
        data.frame,
        subject.space,
        metric,
        regularizer=options.regularizer,
        steps=options.steps,
        step_size=options.step_size,
        progress=progress,
    )
    scores = [subject.favorable_score(frame) for frame in (data.frame, after)]
    wrong = [subject.decide(each_scores, data.groups) != y for each_scores in scores]
    x = subject.space.encode(data.frame) * category_units(subject.space)
    return Moved(used, left_out, x, flow, scores[0], scores[1], wrong[0], wrong[1], after, ESTIMATE, False)
