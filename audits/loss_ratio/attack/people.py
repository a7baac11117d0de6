"""Moving the audited people: by autograd where the model has a gradient, else by scoring alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from audits.data import AuditData
from audits.data.partition import sample_people, with_counts
from audits.errors import InputError, RunFailed
from audits.loss_ratio.attack.flow import Flow, gradient_flow
from audits.loss_ratio.attack.search import MAX_SCORED, WorstPoints, black_box_flow, scorings
from audits.loss_ratio.attack.targets import Answers, Target, target_of
from audits.loss_ratio.metrics.distances import FairMetrics
from audits.loss_ratio.options import LossRatioOptions
from audits.models import Subject
from audits.models.labels import NumberModel
from audits.models.networks.gradients import Differentiable, logits_over
from audits.models.subspaces import category_units
from audits.progress import Progress, part

if TYPE_CHECKING:
    import torch

AUTOGRAD = "gradient flow, exact gradients"
ESTIMATE = "estimate without gradient: finite differences on numbers, every category of each column"
OF_TREES = f"{ESTIMATE}, moves across the trees' split points"
_ROWS_AT_ONCE = 8192
_AGREEMENT = 1e-4  # a float32 network and its float64 copy differ by about 1e-7


@dataclass(frozen=True, eq=False)
class Moves:
    """Who was moved, from where, where to, and what the model says of them.

    `target` is what losses compare; `before` and `after` are the model's answers; `steps` is how many
    there were; `searched` is what the search found where there was no gradient, and `kept_inside` whether
    people then had to be kept within the observed ranges.
    """

    data: AuditData
    left_out: dict[str, int]
    start: np.ndarray
    flow: Flow
    target: Target
    before: Answers
    after: Answers
    steps: int
    method: str
    searched: WorstPoints | None = None
    kept_inside: bool = False

    @property
    def exact(self) -> bool:
        """Whether there was a gradient."""
        return self.searched is None


def curve_steps(steps: int) -> tuple[int, ...]:
    """Steps at which the ratio is kept: 10, 20, 40 … and the last.

    Examples
    --------
    >>> curve_steps(100)
    (10, 20, 40, 80, 100)
    """
    doubled = 10 * 2 ** np.arange(steps.bit_length())
    return (*doubled[doubled < steps].tolist(), steps)


def move_people(
    subject: Subject,
    metrics: FairMetrics,
    options: LossRatioOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> Moves:
    """Move the people audited, or a sample of them where everyone would take too long.

    Raises
    ------
    InputError
        If the steps diverge, or the loss does not suit what the model predicts.
    """
    model = differentiable_of(subject)
    if model is not None:
        return _by_gradient(subject, model, metrics, options, rng, progress)
    return _by_scoring(subject, metrics, options, rng, progress)


def differentiable_of(subject: Subject) -> Differentiable | None:
    """Return what gives the audited model's gradient, of a number too; None where there is none."""
    found = subject.regression if isinstance(subject.model, NumberModel) else None
    if subject.differentiable is not None or found is None:
        return subject.differentiable
    return SimpleNamespace(
        name=found.name, columns=found.columns, design=found.design, network=found.regression
    )


def _draw(
    data: AuditData, most: int, rng: np.random.Generator, reason: str
) -> tuple[np.ndarray, AuditData, dict[str, int]]:
    """Return everyone, or `most` people drawn with both outcomes in their shares, and their rows' places."""
    if data.n <= most:
        return np.arange(data.n), data, {}
    counts, outcome = np.zeros(data.n), np.asarray(data.y, dtype=np.int64)
    used, counts[used] = sample_people(data, np.arange(data.n), most, rng, strata=outcome)
    return used, with_counts(data, counts), {reason: data.n - len(used)}


def _by_gradient(
    subject: Subject,
    model: Differentiable,
    metrics: FairMetrics,
    options: LossRatioOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> Moves:
    import torch

    most = options.max_people or subject.data.n
    used, data, left_out = _draw(subject.data, most, rng, "not drawn into the sample (max_people)")
    target = target_of(subject, data, options.loss)
    units = category_units(subject.space)
    x = subject.space.encode(data.frame) * units
    network = logits_over(model, subject.space, data.frame, units)
    before = answers_at(network, x, target)
    apart = np.abs(before - target.raw(data.frame)).max() / max(1.0, np.abs(before).max())
    if apart > _AGREEMENT:
        raise RunFailed(
            f"The network of the {model.name} does not give the same scores as the model itself (off by "
            f"{apart:.2g})."
        )
    if options.device == "cuda" and not torch.cuda.is_available():
        raise InputError("device", "must be 'cpu': there is no usable accelerator", options.device)
    steps = options.steps_for(number=target.kind == "number")
    bounds = (x.min(axis=0), x.max(axis=0)) if options.within_range else None
    place, flowing, flows, order = metrics.place[used], target.flowing(network), [], np.arange(0)
    for k, metric in enumerate(metrics.parts):
        rows = np.flatnonzero(place == k)
        if not rows.size:
            continue
        stretch = part(progress, len(order) / data.n, (len(order) + len(rows)) / data.n)
        order = np.append(order, rows)
        flows.append(
            gradient_flow(
                flowing,
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
                progress=stretch,
            )
        )
    flow = _join_flows(flows, order)
    answers = target.answers(before), target.answers(answers_at(network, flow.positions, target))
    return Moves(data, left_out, x, flow, target, *answers, steps, AUTOGRAD)


def _join_flows(flows: Sequence[Flow], order: np.ndarray) -> Flow:
    """The flow of everyone, from those of the parts, whose people are at `order` (n,)."""
    back = np.argsort(order)
    names = ("positions", "before", "after", "distance")
    whole = {name: np.concatenate([getattr(flow, name) for flow in flows])[back] for name in names}
    curve = {step: np.concatenate([flow.curve[step] for flow in flows])[back] for step in flows[0].curve}
    return Flow(**whole, curve=curve, fell=sum(flow.fell for flow in flows))


def answers_at(network: torch.nn.Module, x: np.ndarray, target: Target) -> np.ndarray:
    """What the model says at points (m, d), as `Target.raw` gives it from rows; float64."""
    import torch

    parts = []
    with torch.inference_mode():
        for start in range(0, max(len(x), 1), _ROWS_AT_ONCE):
            outputs = network(torch.tensor(x[start : start + _ROWS_AT_ONCE], dtype=torch.float64))
            parts.append(target.read(outputs))
    return np.concatenate(parts)


def _by_scoring(
    subject: Subject,
    metrics: FairMetrics,
    options: LossRatioOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> Moves:
    steps = options.steps_for(number=isinstance(subject.model, NumberModel))
    splits = subject.splits
    each = scorings(subject.space, steps, splits)
    most = max(10, MAX_SCORED // each)
    reason = f"not drawn into the sample (a model without gradient scores each person {each} times)"
    if options.max_people is not None and options.max_people <= most:
        most, reason = options.max_people, "not drawn into the sample (max_people)"
    used, data, left_out = _draw(subject.data, most, rng, reason)
    target = target_of(subject, data, options.loss)

    theirs = dataclasses.replace(metrics, place=metrics.place[used])

    def search(within_range: bool) -> WorstPoints:
        return black_box_flow(
            target,
            data.frame,
            subject.space,
            theirs,
            regularizer=options.regularizer,
            steps=steps,
            step_size=options.step_size,
            within_range=within_range,
            splits=splits,
            progress=progress,
        )

    kept_inside = False
    try:
        found = search(options.within_range)
    except InputError as error:
        if options.within_range or error.where != "model":
            raise
        found, kept_inside = search(True), True  # a logarithm of savings below any that were ever seen
    answers = target.answers(target.raw(data.frame)), target.answers(found.raw)
    x = subject.space.encode(data.frame) * category_units(subject.space)
    method = ESTIMATE if splits is None else OF_TREES
    return Moves(data, left_out, x, found.flow, target, *answers, steps, method, found, kept_inside)
