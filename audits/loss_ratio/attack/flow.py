"""The gradient-flow attack (Eq. 2.6-2.8, Algorithm 1): many people at once, forward Euler.

Each person moves along the gradient of ℓ(f(x), y) - λ d²(x, x0) from x0. The penalty's gradient is 2 λ M (x -
x0), written out; the loss's comes from autograd (of plain layers, written out too). The losses of the
original and the final points are computed in float64, so that a loss of 1e-12 is not lost to rounding; the
flow itself runs in float32, in chunks of people, and keeps nothing of the steps but the losses at the steps
asked for. Where a path slides along a kink of a ReLU, another order of the same sums can put a person a
step's length elsewhere: of 9,045 people a few end up so, whoever computes it.

Losses are the same formula in the flow and in the ratio. The gradient of linear layers and ReLUs is written
out: autograd gives the same numbers, but builds a graph at every step and computes losses that nobody asked
for.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from audits.checks import finite, one_of
from audits.errors import InputError
from audits.loss_ratio.attack.losses import Loss, loss_function, softplus
from audits.loss_ratio.metrics.distances import FairMetric
from audits.progress import Progress, part, silent
from audits.stats.text import people

if TYPE_CHECKING:
    import torch


def layers_of(network: Any) -> list[torch.nn.Linear] | None:
    """Return the layers of a network of linear ones with ReLUs between them and one output, else None."""
    from torch import nn

    modules = [part for _, part in network.named_modules(remove_duplicate=False)]
    flat = [part for part in modules if not isinstance(part, nn.Sequential)]
    linear, bends = flat[::2], flat[1::2]
    plain = len(flat) % 2 == 1 and all(type(part) is nn.Linear for part in linear)
    if not plain or not all(type(part) is nn.ReLU for part in bends) or linear[-1].out_features != 1:
        return None
    return linear


Schedule = Literal["constant", "decreasing"]
_Slope = Callable[["torch.Tensor", bool], "tuple[torch.Tensor, torch.Tensor | None]"]
_CHUNK = 1024  # positions, gradients and the metric's matrix then stay in the processor's cache
_CHUNK_ON_DEVICE = 1 << 16  # an accelerator waits for commands: the fewer the better
_MAX_GROWTH = 1e3
_REPORT_EVERY = 50
_TRIED_ROWS = 256
_HALVINGS = 20


@dataclass(frozen=True, eq=False)
class Flow:
    """Where the flow took the people.

    Attributes
    ----------
    positions : array (n, d)
        The moved points Φ(x, y).
    before, after : array (n,)
        Losses at the original and the moved points.
    distance : array (n,)
        Squared fair distance moved.
    curve : dict of int to array (n,)
        Losses after that many steps.
    fell : int
        People whose penalized loss ended below its start: the steps were too coarse for them.
    """

    positions: np.ndarray
    before: np.ndarray
    after: np.ndarray
    distance: np.ndarray
    curve: dict[int, np.ndarray]
    fell: int


def step_sizes(steps: int, step_size: float, schedule: Schedule = "constant") -> np.ndarray:
    """Step sizes (steps,): all equal, or falling as t^(-2/3) from `step_size`.

    Examples
    --------
    >>> step_sizes(3, 0.02, "decreasing").round(4).tolist()
    [0.02, 0.0126, 0.0096]
    """
    one_of("schedule", schedule, ("constant", "decreasing"))
    if schedule == "constant":
        return np.full(steps, float(step_size))
    return step_size * np.arange(1, steps + 1) ** (-2 / 3)


def gradient_flow(
    network: torch.nn.Module,
    x: np.ndarray,
    y: np.ndarray,
    metric: FairMetric,
    *,
    loss: Loss = "cross_entropy",
    regularizer: float = 50.0,
    steps: int = 500,
    step_size: float = 0.01,
    schedule: Schedule = "constant",
    bounds: tuple[np.ndarray, np.ndarray] | None = None,
    curve: tuple[int, ...] = (),
    chunk: int | None = None,
    device: str = "cpu",
    progress: Progress = silent,
) -> Flow:
    """Move every person along the gradient flow.

    Parameters
    ----------
    network : torch module
        Points (m, d) to logits (m,), (m, 1) or (m, k); to predictions under the squared loss. It must
        work on float32 and, by ``.double()``, float64.
    x : array (n, d)
        The people.
    y : array (n,)
        Their labels: bool or 0/1 for one logit, class numbers for k, numbers for the squared loss.
    metric : FairMetric
        On the same d coordinates.
    loss : {"cross_entropy", "logistic", "squared"}
        For one logit the cross-entropy is the logistic loss.
    regularizer : float >= 0
        λ, the price of squared fair distance.
    steps, step_size, schedule
        Number of Euler steps T and their sizes.
    bounds : (low, high), optional
        Arrays (d,): after each step points are put back into this box. It changes Φ.
    curve : tuple of int
        Steps after which losses are kept as well; they cost no further pass.
    chunk : int, optional
        People moved at once; it changes nothing but speed. By default 1,024 on the CPU, 65,536 elsewhere.
    device : str
        ``"cpu"`` or ``"cuda"``.

    Raises
    ------
    InputError
        If the steps are so long that the flow diverges: names a step size that does not.

    Examples
    --------
    >>> import torch
    >>> from audits.loss_ratio.metrics.distances import projection_metric
    >>> line = torch.nn.Linear(2, 1)
    >>> _ = line.weight.data.copy_(torch.tensor([[1.0, 0.0]])), line.bias.data.zero_()
    >>> metric = projection_metric(np.array([[1.0, 0.0]]), "the first feature")
    >>> flow = gradient_flow(line, np.zeros((1, 2)), np.array([1]), metric, steps=100)
    >>> bool(flow.after[0] > flow.before[0]), flow.distance.tolist()
    (True, [0.0])
    """
    x = np.ascontiguousarray(finite("x", x))
    sizes = step_sizes(steps, step_size, schedule)
    chunk = chunk or (_CHUNK if device == "cpu" else _CHUNK_ON_DEVICE)
    _check_steps(metric, regularizer, sizes, steps, schedule)
    mover = _Mover(network, metric, loss, regularizer, bounds, device)
    kept = tuple(sorted({step for step in curve if 0 < step < steps}))
    moved, before, after = np.empty_like(x), np.empty(len(x)), np.empty(len(x))
    running = {step: np.empty(len(x)) for step in kept}
    starts = range(0, len(x), chunk)
    for place, start in enumerate(starts):
        rows = slice(start, start + chunk)
        stretch = part(progress, place / len(starts), (place + 1) / len(starts))
        moved[rows], losses = mover.move(x[rows], y[rows], sizes, kept, stretch)
        for step in kept:
            running[step][rows] = losses[step]
        with np.errstate(invalid="ignore", over="ignore"):
            before[rows], after[rows] = (mover.losses(at[rows], y[rows]) for at in (x, moved))
    lost = ~np.isfinite(moved).all(axis=1) | ~np.isfinite(after)
    if lost.any():
        raise _divergence_error(
            mover, x[lost][:_TRIED_ROWS], y[lost][:_TRIED_ROWS], steps, step_size, schedule, lost
        )
    finite("loss of the model at the original points", before)
    distance = metric.squared_distance(moved, x)
    running[steps] = after
    slack = 1e-5 * (1 + np.abs(before))  # rounding of float32 positions
    fell = int(np.count_nonzero(after - regularizer * distance < before - slack))
    return Flow(moved, before, after, distance, running, fell)


class _Mover:
    """The flow of one chunk, and exact losses, with everything moved to the device once."""

    def __init__(
        self,
        network: torch.nn.Module,
        metric: FairMetric,
        loss: Loss,
        regularizer: float,
        bounds: tuple[np.ndarray, np.ndarray] | None,
        device: str,
    ) -> None:
        import torch

        self.device, self.loss = device, loss
        self.network = copy.deepcopy(network).to(device).float().requires_grad_(False)
        self.exact = copy.deepcopy(network).to(device).double().requires_grad_(False)
        self.layers = layers_of(self.network) if loss != "squared" else None
        self.penalty = torch.as_tensor(2 * regularizer * metric.matrix, dtype=torch.float32, device=device)
        self.box = None
        if bounds is not None:
            self.box = tuple(torch.as_tensor(end, dtype=torch.float32, device=device) for end in bounds)

    def move(
        self,
        x: np.ndarray,
        y: np.ndarray,
        sizes: np.ndarray,
        kept: tuple[int, ...],
        progress: Progress = silent,
    ) -> tuple[np.ndarray, dict[int, np.ndarray]]:
        """Return the moved points (m, d), float64, and the losses after the `kept` steps."""
        import torch

        start = torch.as_tensor(x, dtype=torch.float32, device=self.device)
        slope = self._slope(torch.tensor(y, device=self.device))
        shift = torch.zeros_like(start)  # kept apart: it has more digits than the point itself
        point = torch.empty_like(start)
        wanted = {step - 1: step for step in kept}
        losses: dict[int, np.ndarray] = {}
        with torch.no_grad():
            for k, size in enumerate(sizes.tolist()):
                torch.add(start, shift, out=point)
                gradient, value = slope(point, k - 1 in wanted)
                if value is not None:
                    losses[wanted[k - 1]] = value.double().cpu().numpy()
                gradient.addmm_(shift, self.penalty, alpha=-1)
                shift.add_(gradient, alpha=size)
                if self.box is not None:
                    shift = torch.clamp(start + shift, min=self.box[0], max=self.box[1]) - start
                if k % _REPORT_EVERY == 0:
                    progress(k / len(sizes), "Moving people along the gradient flow")
        return x + shift.double().cpu().numpy(), losses

    def _slope(self, y: torch.Tensor) -> _Slope:
        """Return what gives the gradients of the losses at points, and the losses if they are asked for."""
        import torch

        function = loss_function(self.loss, y)

        def by_graph(at: torch.Tensor, wanted: bool) -> tuple[torch.Tensor, torch.Tensor | None]:
            with torch.enable_grad():
                leaf = at.detach().requires_grad_(True)
                value = function(self.network(leaf))
                (gradient,) = torch.autograd.grad(value.sum(), leaf)
            return gradient, value.detach() if wanted else None

        return by_graph if self.layers is None else _slope_of_layers(self.layers, 1.0 - 2.0 * y.float())

    def losses(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Losses (m,) at points (m, d), in float64 from the weights on."""
        import torch

        with torch.inference_mode():
            points = torch.as_tensor(x, dtype=torch.float64, device=self.device)
            function = loss_function(self.loss, torch.tensor(y, device=self.device))
            return function(self.exact(points)).cpu().numpy()


def _slope_of_layers(layers: list[torch.nn.Linear], sign: torch.Tensor) -> _Slope:
    """Return the slopes of cross-entropy written out; `sign` (m,) is -1 for people of label 1, else 1."""
    import torch

    linear, last = torch.nn.functional.linear, layers[-1]

    def by_layers(at: torch.Tensor, wanted: bool) -> tuple[torch.Tensor, torch.Tensor | None]:
        hidden = [at]
        for layer in layers[:-1]:
            hidden.append(linear(hidden[-1], layer.weight, layer.bias).relu_())
        logits = linear(hidden[-1], last.weight, last.bias).squeeze(1) * sign  # of a wrong decision
        gradient = torch.outer(torch.sigmoid(logits).mul_(sign), last.weight[0])
        for layer, values in zip(layers[-2::-1], hidden[:0:-1], strict=True):
            gradient = torch.ops.aten.threshold_backward(gradient, values, 0) @ layer.weight
        return gradient, softplus(logits) if wanted else None

    return by_layers


def _check_steps(
    metric: FairMetric, regularizer: float, sizes: np.ndarray, steps: int, schedule: Schedule
) -> None:
    """Refuse steps under which the penalty alone throws people further away at every step.

    Along an eigenvector of M with eigenvalue m a step of size ε multiplies the distance from x0 by
    1 - 2 λ m ε: the size of it must not stay at 1 or above, nor grow far before the steps get short.
    """
    pull = 2 * regularizer * metric.largest
    growth = np.abs(1 - pull * sizes)
    if sizes[-1] * pull < 2 and np.prod(np.maximum(growth, 1.0)) <= _MAX_GROWTH:
        return
    safe = _rounded_down(1.0 / pull)
    raise InputError(
        "step_size",
        f"makes the flow diverge: with regularizer {regularizer:g}, {steps} {schedule} steps overshoot the "
        "starting point by more each time",
        float(sizes[0]),
        f"a step size of {safe:g} does not",
    )


def _divergence_error(
    mover: _Mover,
    x: np.ndarray,
    y: np.ndarray,
    steps: int,
    step_size: float,
    schedule: Schedule,
    lost: np.ndarray,
) -> InputError:
    """Find, by trying, a step size under which the people lost stay finite."""
    what = f"makes the flow diverge: {people(lost.sum())} of {len(lost):,} would end at infinity"
    for halving in range(1, _HALVINGS + 1):
        size = _rounded_down(step_size / 2**halving)
        points, _ = mover.move(x, y, step_sizes(steps, size, schedule), ())
        if np.isfinite(points).all() and np.isfinite(mover.losses(points, y)).all():
            return InputError("step_size", what, step_size, f"a step size of {size:g} does not")
    return InputError(
        "step_size", what, step_size, "no shorter step helps: the model's loss is not finite there"
    )


def _rounded_down(value: float) -> float:
    """`value` cut to two digits, so that a message can name it."""
    unit = 10.0 ** (np.floor(np.log10(value)) - 1)
    return float(np.floor(value / unit * (1 + 1e-12)) * unit)
