"""The GAN map's training loop: batches, the curve, early stopping, and knowing when it has diverged."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from audits.errors import InputError
from audits.models.networks.dense import in_one
from audits.transport.maps.options import GanOptions
from audits.transport.maps.protocol import CheckedGroups, Sample, TrainingPoint, one_thread
from audits.transport.maps.validation import ks_distances, mean_cost
from audits.transport.maps.wgan import Wgan, moving_cost

_EVERY = 100  # passes between two points of the training curve
_VALIDATED = 2000  # people of each group behind a point
_RUNAWAY = 100.0  # times what pairing at random, or the untrained generator, costs: no map costs that much


def split(
    people: CheckedGroups, options: GanOptions, rng: np.random.Generator
) -> tuple[CheckedGroups, CheckedGroups]:
    """Part the people to train on from those to validate on: some of the former without early stopping."""
    source = _split_group("source", people.a, options, rng)
    target = _split_group("target", people.b, options, rng)
    training, validation = (
        CheckedGroups(people.x[i], people.y[j], _shares(people.a[i]), _shares(people.b[j]))
        for i, j in zip(source, target, strict=True)
    )
    return training, validation


def _shares(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum()


def _split_group(
    where: str, weights: np.ndarray, options: GanOptions, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the people of a group to train on and to validate on."""
    order = rng.permutation(np.flatnonzero(weights))
    if not options.early_stopping:
        return order, order[:_VALIDATED]
    out = round(options.held_out * len(order))
    if out == 0 or out == len(order):
        raise InputError(
            where,
            f"is too small a group to hold out {options.held_out:.0%} of for early stopping",
            len(order),
            "turn early stopping off or change held_out",
        )
    return np.sort(order[out:]), order[:out][:_VALIDATED]


class GanTraining:
    """The training loop and what it has found so far."""

    def __init__(self, sample: Sample, options: GanOptions) -> None:
        people, self.weights, self.watch, self.progress, rng = sample
        training, self.validation = split(people, options, rng)
        self.gan, self.options, self.rng = Wgan(self.weights, options, rng), options, rng
        self.x, self.y = training.x.astype(np.float32), training.y.astype(np.float32)
        self._draw_source, self._draw_target = drawer(training.a, rng), drawer(training.b, rng)
        at_random = mean_cost(
            *(
                rows[rng.choice(len(rows), _VALIDATED, p=p)]
                for rows, p in ((training.x, training.a), (training.y, training.b))
            ),
            cost=options.cost,
            feature_weights=self.weights,
        )
        self._at_random = at_random if at_random > 0 else 1.0
        self._bound = _RUNAWAY * max(
            self._at_random, self._validation_cost(self.gan.counterparts(self.validation.x))
        )
        self.history: list[TrainingPoint] = []
        self.best, self.best_at, self._best_score = self.gan.generator, 0, math.inf
        self.diverged_at: int | None = None
        self.settled = False

    @one_thread()
    def train(self) -> None:
        """Run the schedule, or up to divergence or the end of patience."""
        done, total = 0, self.options.iterations
        while done < total and self.diverged_at is None and not self.settled:
            passes = min(_EVERY, total - done)
            losses = self._passes(passes)
            sound = np.isfinite(losses).all(axis=1)
            if not sound.all():
                self.diverged_at = done + int(np.argmin(sound)) + 1
                return
            done += passes
            self._record(done, losses)
        if not self.options.early_stopping:
            self.best, self.best_at = self.gan.generator, done

    def _passes(self, count: int) -> np.ndarray:
        """Losses (count, 2) of critic and generator; the rest is NaN once they are no longer finite."""
        gan, size, steps = self.gan, self.options.batch, self.options.critic_steps
        source = self._draw_source((count, steps + 1, size))
        target = self._draw_target((count, steps, size))
        losses = np.full((count, 2), np.nan)
        for i in range(count):
            generated, _ = gan.generate(self.x.take(source[i, :steps].reshape(-1), axis=0))
            for j in range(steps):
                real = self.y.take(target[i, j], axis=0)
                critic_loss = gan.critic_step(real, generated[j * size : (j + 1) * size])
            losses[i] = critic_loss, gan.generator_step(self.x.take(source[i, steps], axis=0))
            if not math.isfinite(losses[i, 1]):
                break
        return losses

    def _record(self, done: int, losses: np.ndarray) -> None:
        z = self.gan.counterparts(self.validation.x)
        cost = self._validation_cost(z)
        if not (np.isfinite(z).all() and cost <= self._bound):
            self.diverged_at = done
            return
        ks = float(ks_distances(z, *self.validation[1:]).mean())
        critic_loss, generator_loss = losses.mean(axis=0).tolist()
        point = TrainingPoint(done, critic_loss, generator_loss, cost, ks)
        self.history.append(point)
        if self.options.early_stopping:
            self._keep_best(done, ks + self.options.cost_share * cost / self._at_random)
        self.watch(point)
        self.progress(
            done / self.options.iterations,
            f"training the GAN: iteration {done:,} of {self.options.iterations:,}",
        )

    def _validation_cost(self, z: np.ndarray) -> float:
        """Mean cost of moving the validation people to `z`."""
        costs = moving_cost(self.validation.x, z, self.options.cost, self.weights)[0]
        return float(self.validation.a @ costs)

    def _keep_best(self, done: int, score: float) -> None:
        if score < self._best_score:
            self._best_score, self.best, self.best_at = score, in_one(self.gan.generator)[0], done
        self.settled = done - self.best_at >= self.options.patience


def drawer(weights: np.ndarray, rng: np.random.Generator) -> Callable[[tuple[int, ...]], np.ndarray]:
    """Return what draws positions of people, of any shape, with chances `weights`."""
    n = len(weights)
    if np.ptp(weights) == 0:
        return lambda shape: rng.integers(0, n, shape)
    edges = np.cumsum(weights)
    edges /= edges[-1]
    return lambda shape: np.searchsorted(edges, rng.random(shape), side="right")
