"""Moving the audited people: by autograd where the model has a gradient, else by scoring alone.

What a person's loss compares is the model's answer with the label, whichever of three kinds that is.
*favorable*: the probability of the favourable outcome against whether the label is favourable. *classes*:
the probabilities of all values of the label against the person's own (k > 2); the favourable ones then
matter for groups of people only. *number*: the number predicted against the one that the label is cut from,
both in standard deviations of the label, so that its loss has no unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from scipy.special import expit, logit, softmax

from audits.checks import finite
from audits.data import AuditData
from audits.errors import InputError, RunFailed
from audits.loss_ratio.flow import LEAST_LOSS, Flow, Loss, gradient_flow, probability_losses
from audits.loss_ratio.metrics import FairMetric, Metrics
from audits.loss_ratio.options import LossRatioOptions
from audits.loss_ratio.search import MOST_SCORED, SEARCH_STEPS, Found, black_box_flow, scorings
from audits.models import Subject
from audits.models.labels import NumberModel, class_codes, label_numbers
from audits.models.networks.gradients import Differentiable, logits_over
from audits.models.protocol import class_text
from audits.models.subspaces import category_units
from audits.progress import Progress, part

if TYPE_CHECKING:
    import torch

__all__ = [
    "AUTOGRAD",
    "ESTIMATE",
    "OF_TREES",
    "Answers",
    "Moved",
    "Target",
    "curve_steps",
    "move_people",
    "target_of",
]


Kind = Literal["favorable", "classes", "number"]


@dataclass(frozen=True, eq=False)
class Answers:
    """What the model says of people (n,): favourable scores, what it predicts, and whether that is wrong.

    `predicted` is the class of the largest probability, or the number; None where the score says it all.
    """

    scores: np.ndarray
    predicted: np.ndarray | None
    wrong: np.ndarray


@dataclass(frozen=True, eq=False)
class Target:
    """The label as losses need it, for the people of `data`.

    Attributes
    ----------
    kind : {"favorable", "classes", "number"}
    y : array (n,)
        Bool, class numbers, or numbers in standard deviations.
    loss : {"cross_entropy", "logistic", "squared"}
    classes : tuple
        Values of the label, for "classes".
    centre, unit : float
        Mean and standard deviation of the label's number, for "number".
    """

    subject: Subject
    data: AuditData
    kind: Kind
    y: np.ndarray
    loss: Loss
    classes: tuple[object, ...] = ()
    centre: float = 0.0
    unit: float = 1.0

    def raw(self, frame: pd.DataFrame) -> np.ndarray:
        """Return what the model gives: favourable scores (n,), probabilities (n, k) or numbers (n,)."""
        if self.kind == "favorable":
            return self.subject.favorable_score(frame)
        if self.kind == "classes":
            return finite("scores of the model", self.subject.model.score(frame))
        return finite("numbers of the model", self.subject.model.number(frame))  # type: ignore[attr-defined]

    @property
    def bounded(self) -> bool:
        """Whether the model gives chances."""
        return self.kind != "number"

    def odds(self, raw: np.ndarray) -> np.ndarray:
        """Return what `raw` gave as log-odds (n, 1), logarithms of chances (n, k), or numbers (n, 1)."""
        if self.kind == "number":
            return raw[:, None]
        if self.kind == "classes":
            return np.log(np.clip(raw, LEAST_LOSS, 1.0))
        return logit(np.clip(raw, LEAST_LOSS, 1.0 - LEAST_LOSS))[:, None]

    def of_odds(self, odds: np.ndarray) -> np.ndarray:
        """Return what `raw` gives from what `odds` made of it."""
        if self.kind == "number":
            return odds[:, 0]
        return softmax(odds, axis=1) if self.kind == "classes" else expit(odds[:, 0])

    def losses(self, raw: np.ndarray) -> np.ndarray:
        """Return the losses (n,) of what `raw` gave."""
        if self.kind == "number":
            return np.square((raw - self.centre) / self.unit - self.y)
        if self.kind == "favorable":
            right = np.where(self.y, raw, 1.0 - raw)
            return probability_losses(right, self.loss)
        if self.loss == "squared":
            return np.square(raw - np.eye(len(self.classes))[self.y]).sum(axis=1)
        return probability_losses(raw[np.arange(len(raw)), self.y], self.loss)

    def answers(self, raw: np.ndarray) -> Answers:
        """Return scores, predictions and mistakes of what `raw` gave."""
        subject, data = self.subject, self.data
        if self.kind == "classes":
            best = raw.argmax(axis=1)
            names = np.array([class_text(value) for value in self.classes], dtype=object)
            scores = np.clip(raw[:, subject.favorable_classes].sum(axis=1), 0.0, 1.0)
            return Answers(scores, names[best], best != self.y)
        scores = raw
        if self.kind == "number" and subject.higher_is == "unfavorable":
            scores = -raw
        wrong = subject.decide(scores, data.groups) != np.asarray(data.y)
        return Answers(scores, raw if self.kind == "number" else None, wrong)

    def flowing(self, network: torch.nn.Module) -> torch.nn.Module:
        """Return the network whose outputs the flow's loss takes: logits, probabilities or unit numbers."""
        from torch import nn

        if self.kind == "number":
            scale = nn.Linear(1, 1).double()
            scale.weight.data.fill_(1.0 / self.unit)
            scale.bias.data.fill_(-self.centre / self.unit)
            return nn.Sequential(network, scale)
        if self.loss != "squared":
            return network
        return nn.Sequential(network, nn.Sigmoid() if self.kind == "favorable" else nn.Softmax(dim=1))

    def read(self, outputs: torch.Tensor) -> np.ndarray:
        """Return from a network's own outputs (m, k) what `raw` gives from rows."""
        import torch

        if self.kind == "classes":
            return torch.softmax(outputs, dim=1).numpy()
        return (torch.sigmoid(outputs) if self.kind == "favorable" else outputs).squeeze(1).numpy()


def target_of(subject: Subject, data: AuditData, loss: Loss | None) -> Target:
    """Return what losses compare for the people of `data`, a part of the subject's.

    Parameters
    ----------
    loss : str, optional
        By default squared for a number, else cross-entropy.

    Raises
    ------
    InputError
        If the loss does not suit what the model predicts, or a person's label is none of its classes.
    """
    model = subject.model
    if isinstance(model, NumberModel):
        if loss not in {None, "squared"}:
            raise InputError("loss", f"must be 'squared', as the {model.name} predicts a number", loss)
        everyone = label_numbers(subject.data)
        centre = float(np.average(everyone, weights=subject.data.weights))
        unit = float(np.sqrt(np.average(np.square(everyone - centre), weights=subject.data.weights)))
        if unit == 0:
            raise InputError("data.label", f"must vary, but everyone audited has {centre:g}")
        y = (label_numbers(data) - centre) / unit
        return Target(subject, data, "number", y, "squared", (), centre, unit)
    chosen: Loss = loss or "cross_entropy"
    classes: Any = model.classes
    if classes is None or len(classes) <= 2:
        return Target(subject, data, "favorable", np.asarray(data.y), chosen)
    codes = class_codes(data, classes)
    if (codes < 0).any():
        raise InputError(
            "model.classes", f"must hold every label of the people audited, but {model.name} lacks some"
        )
    return Target(subject, data, "classes", codes, chosen, classes)


AUTOGRAD = "gradient flow, exact gradients"
ESTIMATE = "estimate without gradient: finite differences on numbers, every category of each column"
OF_TREES = f"{ESTIMATE}, moves across the trees' split points"
_ROWS_AT_ONCE = 8192
_AGREEMENT = 1e-4  # a float32 network and its float64 copy differ by about 1e-7


@dataclass(frozen=True, eq=False)
class Searched:
    """What a search without gradient did.

    Attributes
    ----------
    shorter : array (n,)
        Losses that its first way had found.
    reached : array (n,)
        Losses that the model itself has at the nearest row of the best such point.
    steps : int
        Of the first way.
    kept_inside : bool
        Whether people had to be kept within the observed ranges.
    """

    shorter: np.ndarray
    reached: np.ndarray
    steps: int
    kept_inside: bool


@dataclass(frozen=True, eq=False)
class Moved:
    """Who was moved (positions among the audited), from where, where to, and what the model says of them.

    `target` is what losses compare; `before` and `after` are the model's answers; `steps` is how many
    there were; `exact` says that there was a gradient, `searched` what the search did where there was none.
    """

    used: np.ndarray
    left_out: dict[str, int]
    start: np.ndarray
    flow: Flow
    target: Target
    before: Answers
    after: Answers
    steps: int
    method: str
    exact: bool
    searched: Searched | None = None


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
    metrics: Metrics,
    options: LossRatioOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> Moved:
    """Move the people audited, or a sample of them where everyone would take too long.

    Raises
    ------
    InputError
        If the steps diverge, or the loss does not suit what the model predicts.
    """
    model = subject.model
    if subject.differentiable is not None:
        return _by_gradient(subject, subject.differentiable, metrics, options, rng, progress)
    if isinstance(model, NumberModel) and subject.regression is not None:
        return _by_gradient(subject, _Regression(subject.regression), metrics, options, rng, progress)
    return _by_scoring(subject, metrics, options, rng, progress)


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
    model: Differentiable | _Regression,
    metrics: Metrics,
    options: LossRatioOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> Moved:
    import torch

    most = options.max_people or subject.data.n
    used, left_out = _draw(subject.data, most, rng, "not drawn into the sample (max_people)")
    data = subject.data.take(used)
    target = target_of(subject, data, options.loss)
    units = category_units(subject.space)
    x = subject.space.encode(data.frame) * units
    network = logits_over(model, subject.space, data.frame, units)  # type: ignore[arg-type]
    before = _answers_at(network, x, target)
    apart = np.abs(before - target.raw(data.frame)).max() / max(1.0, np.abs(before).max())
    if apart > _AGREEMENT:
        raise RunFailed(
            f"The network of the {model.name} gives other scores than the model itself (by {apart:.2g})."
        )
    if options.device == "cuda" and not torch.cuda.is_available():
        raise InputError("device", "must be 'cpu': there is no usable accelerator", options.device)
    steps = options.steps_for(number=target.kind == "number")
    bounds = (x.min(axis=0), x.max(axis=0)) if options.within_range else None

    def moved(rows: np.ndarray, metric: FairMetric, report: Progress) -> Flow:
        return gradient_flow(
            target.flowing(network),
            x[rows],
            target.y[rows],
            metric,
            loss=target.loss,
            regularizer=options.regularizer,
            steps=steps,
            step_size=options.step_size,
            schedule=options.schedule,
            bounds=bounds,
            curve=curve_steps(steps),
            device=options.device,
            progress=report,
        )

    flow = _joined([moved(*each) for each in _parts(metrics, used, progress)], metrics.place[used])
    after = _answers_at(network, flow.positions, target)
    answers = target.answers(before), target.answers(after)
    return Moved(used, left_out, x, flow, target, *answers, steps, AUTOGRAD, True)


@dataclass(frozen=True, eq=False)
class _Regression:
    """A model of a number seen as a `Differentiable` one, whose network gives the number."""

    model: Any

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def columns(self) -> tuple[str, ...]:
        return self.model.columns

    def design(self, frame: pd.DataFrame) -> np.ndarray:
        return self.model.design(frame)

    def network(self) -> torch.nn.Module:
        return self.model.regression()


def _answers_at(network: torch.nn.Module, x: np.ndarray, target: Target) -> np.ndarray:
    """What the model says at points (m, d), as `Target.raw` gives it from rows; float64."""
    import torch

    parts = []
    with torch.inference_mode():
        for start in range(0, len(x), _ROWS_AT_ONCE):
            outputs = network(torch.tensor(x[start : start + _ROWS_AT_ONCE], dtype=torch.float64))
            parts.append(target.read(outputs))
    return np.concatenate(parts)


def _by_scoring(
    subject: Subject,
    metrics: Metrics,
    options: LossRatioOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> Moved:
    steps = options.steps_for(number=isinstance(subject.model, NumberModel))
    splits = subject.splits
    each = scorings(subject.space, steps, splits)
    most = max(10, MOST_SCORED // each)
    reason = f"not drawn into the sample (a model without gradient scores each person {each} times)"
    if options.max_people is not None and options.max_people <= most:
        most, reason = options.max_people, "not drawn into the sample (max_people)"
    used, left_out = _draw(subject.data, most, rng, reason)
    data = subject.data.take(used)
    target = target_of(subject, data, options.loss)

    def search(within_range: bool) -> list[Found]:
        found = []
        for rows, metric, report in _parts(metrics, used, progress):
            theirs = data.take(rows)
            found.append(
                black_box_flow(
                    target_of(subject, theirs, options.loss),
                    theirs.frame,
                    subject.space,
                    metric,
                    regularizer=options.regularizer,
                    steps=steps,
                    step_size=options.step_size,
                    within_range=within_range,
                    splits=splits,
                    progress=report,
                )
            )
        return found

    kept_inside = False
    try:
        found = search(options.within_range)
    except InputError as error:
        if options.within_range or error.where != "model":
            raise
        found, kept_inside = search(True), True  # a logarithm of savings below any that were ever seen
    place = metrics.place[used]
    flow = _joined([each.flow for each in found], place)
    shorter, reached, after = (
        _in_order([getattr(each, name) for each in found], place) for name in ("shorter", "reached", "raw")
    )
    answers = target.answers(target.raw(data.frame)), target.answers(after)
    x = subject.space.encode(data.frame) * category_units(subject.space)
    tried = min(steps, SEARCH_STEPS)
    method = ESTIMATE if splits is None else OF_TREES
    searched = Searched(shorter, reached, tried, kept_inside)
    return Moved(used, left_out, x, flow, target, *answers, steps, method, False, searched)


def _parts(
    metrics: Metrics, used: np.ndarray, progress: Progress
) -> list[tuple[np.ndarray, FairMetric, Progress]]:
    """People (bool or positions among those used), their metric, and its stretch of the progress."""
    place, found = metrics.place[used], []
    for k, metric in enumerate(metrics.parts):
        rows = np.flatnonzero(place == k)
        if rows.size:
            share = np.searchsorted(np.sort(place), [k, k + 1]) / len(place)
            found.append((rows, metric, part(progress, float(share[0]), float(share[1]))))
    return found


def _in_order(parts: Sequence[np.ndarray], place: np.ndarray) -> np.ndarray:
    """Rows of the parts' people, back in the order of everybody."""
    order = np.argsort(place, kind="stable")
    together = np.concatenate(parts)
    found = np.empty_like(together)
    found[order] = together
    return found


def _joined(flows: Sequence[Flow], place: np.ndarray) -> Flow:
    """The flow of everybody, from those of the parts."""
    if len(flows) == 1:
        return flows[0]
    whole = {
        name: _in_order([getattr(flow, name) for flow in flows], place)
        for name in ("positions", "before", "after", "distance")
    }
    curve = {step: _in_order([flow.curve[step] for flow in flows], place) for step in flows[0].curve}
    return Flow(**whole, curve=curve, fell=sum(flow.fell for flow in flows))
