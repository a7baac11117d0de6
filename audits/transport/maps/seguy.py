"""Training of the neural map in torch: the stochastic dual, then the regression (see `neural`)."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from audits.errors import InputError
from audits.models.networks.dense import Dense
from audits.threads import one_torch_thread
from audits.transport.maps.networks import glorot, predict
from audits.transport.maps.options import NeuralOptions
from audits.transport.maps.pairs import pair_costs
from audits.transport.maps.protocol import Sample, TrainingPoint
from audits.transport.maps.validation import ks_distances
from audits.transport.maps.wgan import moving_cost

_EVERY = 50  # steps between two points of the training curve
_VALIDATED = 2000  # people of each group behind a point
_STRAIGHT = 10.0  # s / ε from which the entropic F goes on as a straight line
_AVERAGED = 1024  # people over whom averages of costs are taken
_REGRESSED, _PROJECTED = 256, 4096  # source people in a regression step, target people they are projected on


@dataclass
class TrainingOutcome:
    """What training leaves behind; see `NeuralMap` for the fields."""

    network: Dense
    device: str
    history: tuple[TrainingPoint, ...] = ()
    marginal_error: float | None = None
    diverged_at: int | None = None


def train(sample: Sample, unit: float, options: NeuralOptions) -> TrainingOutcome:
    """Train potentials, then the map; `unit` is what costs are divided by."""
    device = _device(options.device)
    with one_torch_thread():  # sums over people must not depend on how many threads share them
        session = _Session(sample, unit, options, device)
        trained = TrainingOutcome(session.network(), str(device))
        total = options.dual_steps + options.map_steps
        steps = session.dual_steps()
        for done in range(1, total + 1):
            if done == options.dual_steps + 1:
                trained.marginal_error = session.marginal_error()
                steps = session.map_steps()
            loss = next(steps)
            if not math.isfinite(loss):
                trained.diverged_at = done
                return trained
            if done % _EVERY == 0 or done == total:
                point = session.point(done, loss, mapping=done > options.dual_steps)
                trained.history += (point,)
                sample.watch(point)
                doing = "training the map" if done > options.dual_steps else "pricing the groups"
                sample.progress(done / total, f"{doing}: step {done:,} of {total:,}")
        trained.network = session.network()
    if not all(np.isfinite(each).all() for each in (*trained.network.weights, *trained.network.biases)):
        trained.diverged_at = total
    return trained


def _device(name: str) -> torch.device:
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InputError("device", "must be a torch device such as 'cpu' or 'cuda'", name) from None
    if device.type == "cpu":
        return device
    with contextlib.suppress(RuntimeError, AssertionError, NotImplementedError):
        torch.zeros(1, device=device)
        return device
    return torch.device("cpu")


class _Session:
    """Data, networks and steps of one training."""

    def __init__(self, sample: Sample, unit: float, options: NeuralOptions, device: torch.device) -> None:
        people, weights, _, _, rng = sample
        self.people, self.weights, self.unit, self.options, self.rng = people, weights, unit, options, rng
        self.epsilon, self.device, d = options.share, device, people.x.shape[1]
        pairs = pair_costs(people.x, people.y, cost=options.cost, weights=weights, dtype=np.float32)

        def there(array: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(array, dtype=np.float32)).to(device)

        # networks learn best from inputs around 0
        self.x_mean, y_mean = people.a @ people.x, people.b @ people.y
        self.x, self.y = there(people.x - self.x_mean), there(people.y - y_mean)
        self.squares = there(pairs.x_squares), there(pairs.y_squares)
        self.gaps = there(pairs.x_gaps), there(pairs.y_gaps)
        self.shift = there(y_mean - self.x_mean)

        def network(constant: np.ndarray) -> list[torch.Tensor]:
            """Weights and biases of a network whose output is `constant` whatever its input."""
            made = glorot((d, options.width, options.width, len(constant)), rng)
            made.weights[-1][:], made.biases[-1][:] = 0, constant
            return [
                there(each).requires_grad_()
                for pair in zip(made.weights, made.biases, strict=True)
                for each in pair
            ]

        # prices start at 0, the map at the shift between the means
        self.u, self.v, self.map = (
            network(each) for each in (np.zeros(1), np.zeros(1), y_mean - self.x_mean)
        )
        self.base = self._averages()
        self.seen = self._draws(_VALIDATED, _VALIDATED)

    def dual_steps(self) -> Iterator[float]:
        """Lower minus the dual, a step at a time; yields it in units of cost."""
        optimiser, schedule = self._adam([*self.u, *self.v], self.options.dual_steps)
        while True:
            i, j = self._draws(self.options.batch, self.options.batch)
            u, v = _run(self.u, self.x[i]), _run(self.v, self.y[j]).T
            loss = self._penalty((u + v - self._costs(i, j)) / self.epsilon).mean() - u.mean() - v.mean()
            _descend(loss, optimiser, schedule)
            yield loss.item() * self.unit

    def map_steps(self) -> Iterator[float]:
        """Fit the map to the barycentric projection, a step at a time; yields the squared error."""
        optimiser, schedule = self._adam(self.map, self.options.map_steps)
        with torch.no_grad():
            u, v = _run(self.u, self.x), _run(self.v, self.y)
        everyone = torch.arange(len(self.y), device=self.device)
        weights = torch.from_numpy(self.people.b).float().to(self.device)
        while True:
            i, j = self._draws(_REGRESSED, _PROJECTED)
            shares = torch.ones(1, device=self.device)
            if len(self.y) <= _PROJECTED:  # everyone, instead of some of them
                j, shares = everyone, weights
            density = self._density((u[i] + v[j].T - self._costs(i, j)) / self.epsilon) * shares
            mass = density.sum(1, keepdim=True)
            projected = density @ self.y[j] / mass.clamp(min=1e-30) + self.shift
            share = mass / mass.mean().clamp(min=1e-30)
            moved = _run(self.map, self.x[i])
            loss = (share * (moved + self.x[i] - projected) ** 2).mean()
            _descend(loss, optimiser, schedule)
            yield loss.item()

    def point(self, done: int, loss: float, *, mapping: bool) -> TrainingPoint:
        """One point of the training curve."""
        if not mapping:
            return TrainingPoint(done, loss, None, None, None)
        i, j = (rows.cpu().numpy() for rows in self.seen)
        x = self.people.x[i]
        z = predict(self.network(), x, residual=True)
        cost = float(moving_cost(x, z, self.options.cost, self.weights)[0].mean())
        return TrainingPoint(done, None, loss, cost, float(ks_distances(z, self.people.y[j]).mean()))

    def marginal_error(self) -> float:
        """Mean of |mass − 1| over validation people of both groups."""
        i, j = self.seen
        with torch.no_grad():
            u, v = _run(self.u, self.x[i]), _run(self.v, self.y[j]).T
            density = self._density((u + v - self._costs(i, j)) / self.epsilon)
            return float((density.mean(1) - 1).abs().mean() + (density.mean(0) - 1).abs().mean()) / 2

    def network(self) -> Dense:
        """The map's network, for people as they are instead of less their mean."""
        arrays = [each.detach().cpu().numpy().copy() for each in self.map]
        arrays[1] -= self.x_mean @ arrays[0]
        return Dense(tuple(arrays[::2]), tuple(arrays[1::2]))

    def _adam(self, networks: list[torch.Tensor], steps: int) -> tuple[Optimizer, LRScheduler]:
        optimiser = torch.optim.Adam(networks, lr=self.options.learning_rate)
        return optimiser, torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)

    def _draws(self, sources: int, targets: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Positions of people drawn with chances in proportion to their weights."""
        drawn = (
            self.rng.choice(len(weights), count, p=weights)
            for weights, count in ((self.people.a, sources), (self.people.b, targets))
        )
        i, j = (torch.from_numpy(rows).to(self.device) for rows in drawn)
        return i, j

    @torch.no_grad()
    def _averages(self) -> tuple[torch.Tensor, torch.Tensor]:
        """What each source and each target person costs on average, over at most 1,024 of the other group."""
        zero = torch.zeros(1, device=self.device)
        self.base = zero.expand(len(self.x)), zero.expand(len(self.y))
        i, j = self._draws(_AVERAGED, _AVERAGED)
        by_source = torch.cat([self._costs(rows, j).mean(1) for rows in self._all(len(self.x))])
        by_target = torch.cat([self._costs(i, rows).mean(0) for rows in self._all(len(self.y))])
        return by_source, by_target - by_source[i].mean()

    def _all(self, n: int) -> tuple[torch.Tensor, ...]:
        return torch.arange(n, device=self.device).split(_AVERAGED)

    @torch.no_grad()
    def _costs(self, i: torch.Tensor, j: torch.Tensor) -> torch.Tensor:
        """Costs / unit of the pairs (len(i), len(j)), less the averages; see `PairCosts.rows`."""
        x, y = self.squares[0][i], self.squares[1][j]
        out = torch.addmm((x * x).sum(1, keepdim=True) + (y * y).sum(1), x, y.T, alpha=-2).clamp_(min=0)
        x, y = self.gaps[0][i], self.gaps[1][j]
        for k in range(x.shape[1]):
            out += (x[:, k, None] - y[:, k]).abs_()
        if self.options.cost == "l1_squared":
            out *= out
        elif self.options.cost == "l2":
            out.sqrt_()
        return out / self.unit - self.base[0][i, None] - self.base[1][j]

    def _penalty(self, slack: torch.Tensor) -> torch.Tensor:
        """F(s) for ``slack = s / ε``."""
        if self.options.regularisation == "l2":
            return self.epsilon * slack.clamp(min=0) ** 2 / 4
        bent = torch.exp(slack.clamp(max=_STRAIGHT))
        return self.epsilon * bent * (1 + (slack - _STRAIGHT).clamp(min=0))

    def _density(self, slack: torch.Tensor) -> torch.Tensor:
        """F'(s), the plan's density."""
        if self.options.regularisation == "l2":
            return slack.clamp(min=0) / 2
        return torch.exp(slack.clamp(max=_STRAIGHT))


def _run(network: list[torch.Tensor], rows: torch.Tensor) -> torch.Tensor:
    """Run a network given as weights and biases, layer by layer."""
    signal = torch.addmm(network[1], rows, network[0])
    for weight, bias in zip(network[2::2], network[3::2], strict=True):
        signal = torch.addmm(bias, torch.relu(signal), weight)
    return signal


def _descend(loss: torch.Tensor, optimiser: Optimizer, schedule: LRScheduler) -> None:
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    schedule.step()
