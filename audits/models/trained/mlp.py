"""A small neural network trained here with torch, on the `FeatureSpace` encoding of the features."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import expit, softmax

from audits.data import FeatureSpace
from audits.models.labels import class_codes
from audits.models.trained.training import OnSpace, training_digest
from audits.progress import Progress, silent
from audits.threads import one_torch_thread

if TYPE_CHECKING:
    import pandas as pd
    import torch

    from audits.data import AuditData

HIDDEN = (64, 64)
STEP_SIZE = 2e-3
PENALTY = 1e-3
MAX_EPOCHS = 200
PATIENCE = 12
VALIDATION_SHARE = 0.15
_ROWS_AT_ONCE = 8192


@dataclass(frozen=True, eq=False)
class Network(OnSpace):
    """A network trained on `columns`; `score` is the chance of the favorable outcome, or of each class.

    A level, or a missing number, that was not seen in training counts as none of the known levels
    and as the average.
    """

    layers: Any  # a torch.nn.Sequential; torch is imported only once a network is trained
    classes: tuple[object, ...] | None = None

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of the favorable outcome, (n,), or of each class, (n, k), in [0, 1]."""
        # float64 from here: in float32 everything above a logit of 17 would tie at 1
        outputs = network_outputs(self.layers, self.design(frame))
        return expit(outputs[:, 0]) if self.classes is None else softmax(outputs, axis=1)

    def network(self) -> torch.nn.Module:
        """Return a float64 copy: points (m, d) to log-odds (m, 1), or logits (m, k)."""
        return copy.deepcopy(self.layers).double()


def network_outputs(layers: torch.nn.Module, x: np.ndarray) -> np.ndarray:
    """Return what float32 `layers` give at points `x` (n, d): (n, k), float64."""
    import torch

    x = x.astype(np.float32)
    parts = []
    with one_torch_thread(), torch.inference_mode():
        for start in range(0, max(len(x), 1), _ROWS_AT_ONCE):
            parts.append(layers(torch.from_numpy(x[start : start + _ROWS_AT_ONCE])).numpy())
    return np.concatenate(parts).astype(np.float64)


def train_mlp(
    data: AuditData,
    *,
    seed: int = 0,
    classes: tuple[object, ...] | None = None,
    progress: Progress = silent,
) -> Network:
    """Train a network with two hidden layers of 64 ReLU units on all rows of `data`.

    Cross-entropy weighted by the data's counts, AdamW, at most 200 epochs; stops when the loss on
    15% of the rows, set aside by the seed and stratified by outcome, has not fallen for 12 epochs,
    and returns to the best epoch. All randomness comes from generators of its own, and it uses one
    thread, so the same seed gives the same network in every process.

    Parameters
    ----------
    data : AuditData
        Training rows with a label.
    seed : int
        Seed of the first weights, of the rows set aside and of the order of the rows.
    classes : tuple, optional
        Label values to tell apart, instead of favorable from not.
    progress : callable
        Called once an epoch; may raise `RunCancelled`.

    Raises
    ------
    InputError
        If a feature cannot be encoded (free text, identifiers).
    """
    import torch

    space = FeatureSpace.fit(data)
    layers = train_layers(
        space.encode(data.frame),
        np.asarray(data.y) if classes is None else class_codes(data, classes),
        data.weights,
        seed=seed,
        learns="favorable" if classes is None else "classes",
        progress=progress,
    )
    recipe = ["mlp", *HIDDEN, STEP_SIZE, PENALTY, seed, "cpu", torch.__version__]
    if classes is not None:
        recipe = ["mlp classes", *HIDDEN, seed, torch.__version__]
    digest = training_digest(data, recipe)
    return Network("neural network", digest, space, layers, classes)


def train_layers(
    x: np.ndarray,
    y: np.ndarray,
    weights: np.ndarray | None = None,
    *,
    seed: int = 0,
    learns: Learns = "favorable",
    progress: Progress = silent,
) -> torch.nn.Sequential:
    """Train a network on points `x` (n, d) as `train_mlp` does.

    It `learns` the log-odds of `y` being true, one logit for each of the classes 0 to k - 1 in `y`, or by
    least squares the numbers `y`, which should have a spread of about 1.
    """
    import torch

    counts = np.ones(len(x)) if weights is None else weights / weights.mean()
    rows = tuple(torch.from_numpy(part.astype(np.float32)) for part in (x, y, counts))
    rng = np.random.default_rng(seed)
    outputs = int(np.max(y)) + 1 if learns == "classes" else 1
    parts = _set_aside(np.zeros(len(y), dtype=bool) if learns == "number" else y, rng)
    with one_torch_thread():
        layers = untrained_layers(x.shape[1], torch.Generator().manual_seed(seed), outputs)
        _fit(layers, rows, parts, rng, _losses_of(learns), progress)  # type: ignore[arg-type]
    return layers


def untrained_layers(width: int, generator: torch.Generator, outputs: int = 1) -> torch.nn.Sequential:
    """Return the untrained network, He-initialized from `generator` alone."""
    from torch import nn

    parts: list[nn.Module] = []
    for before, after in pairwise((width, *HIDDEN, outputs)):
        layer = nn.utils.skip_init(nn.Linear, before, after)
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu", generator=generator)
        nn.init.zeros_(layer.bias)
        parts += [layer, nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def _fit(
    layers: torch.nn.Sequential,
    rows: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    parts: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
    losses: Losses,
    progress: Progress,
) -> None:
    """Train `layers` in place on (x, y, weights), up to the epoch of the best state."""
    import torch

    train, held = parts
    batch = min(256, max(16, len(train) // 32))
    optimizer = torch.optim.AdamW(layers.parameters(), lr=STEP_SIZE, weight_decay=PENALTY)
    best, best_epoch, best_state = np.inf, 0, copy.deepcopy(layers.state_dict())
    for epoch in range(1, MAX_EPOCHS + 1):
        progress((epoch - 1) / MAX_EPOCHS, f"training the network, epoch {epoch}")
        for chosen in np.array_split(rng.permutation(train), -(-len(train) // batch)):
            optimizer.zero_grad()
            _loss(layers, rows, chosen, losses).backward()
            optimizer.step()
        with torch.inference_mode():
            loss = float(_loss(layers, rows, held, losses))
        if loss < best:
            best, best_epoch, best_state = loss, epoch, copy.deepcopy(layers.state_dict())
        elif epoch - best_epoch >= PATIENCE:
            break
    layers.load_state_dict(best_state)
    layers.requires_grad_(False)


def _set_aside(y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return positions to train on and to validate on, at least one of each outcome in both."""
    parts = []
    for outcome in np.unique(y)[::-1]:
        rows = rng.permutation(np.flatnonzero(y == outcome))
        count = max(1, round(VALIDATION_SHARE * rows.size))
        parts.append((rows[count:], rows[:count]))
    return np.concatenate([train for train, _ in parts]), np.concatenate([held for _, held in parts])


def _loss(
    layers: torch.nn.Sequential, rows: tuple[Any, Any, Any], chosen: np.ndarray, losses: Losses
) -> torch.Tensor:
    """Return the mean weighted loss of the `chosen` rows."""
    import torch

    at = torch.from_numpy(chosen)
    x, y, weights = (part[at] for part in rows)
    return (losses(layers(x), y) * weights).sum() / weights.sum()


Losses = Callable[["torch.Tensor", "torch.Tensor"], "torch.Tensor"]
Learns = Literal["favorable", "classes", "number"]


def _losses_of(learns: Learns) -> Losses:
    """Return what gives the loss of each row from the outputs (m, k) and what is learned (m,)."""
    from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

    return {
        "favorable": lambda out, y: binary_cross_entropy_with_logits(out.squeeze(1), y, reduction="none"),
        "classes": lambda out, y: cross_entropy(out, y.long(), reduction="none"),
        "number": lambda out, y: (out.squeeze(1) - y).square(),
    }[learns]
