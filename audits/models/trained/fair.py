"""Fair baselines on a network: *project* (directions taken out beforehand) and *sensr*.

Both learn their sensitive subspace from the training rows: the coefficients of a logistic regression of
each protected attribute on the features span it. Project trains the usual network on what is left.
SenSR (Yurochkin, Bower, Sun, "Training individually fair ML models with sensitive subspace robustness",
ICLR 2020, Algorithm 2) trains on people moved first along the subspace and then anywhere at a price, to
where the loss is largest; the price follows the distance allowed.
"""

from __future__ import annotations

import dataclasses
import hashlib
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from audits.data.encoder import FeatureSpace
from audits.errors import InputError
from audits.models.subspaces import category_units, orthonormal, protected_directions
from audits.models.trained.mlp import HIDDEN, Network, train_layers, untrained_layers
from audits.models.trained.training import training_digest
from audits.progress import Progress, silent
from audits.threads import one_torch_thread

if TYPE_CHECKING:
    import torch

    from audits.data.audit_data import AuditData

STEPS = 2000
BATCH = 250
STEP_SIZE = 1e-3
SUBSPACE_STEPS, SUBSPACE_SIZE = 6, 1.5
FULL_STEPS, FULL_SIZE = 5, 0.02
DISTANCE = 1e-3
NAMES = {"project": "network on projected features", "sensr": "SenSR network"}


def balance_outcomes(data: AuditData) -> AuditData:
    """Return `data` with weights under which both outcomes weigh the same, and all together as before."""
    counts = data.row_weights
    y = np.asarray(data.y)
    share = np.where(y, counts[y].sum(), counts[~y].sum()) / counts.sum()
    mark = hashlib.sha256(f"{data.digest} balanced".encode()).hexdigest()
    return dataclasses.replace(data, weights=counts / (2 * share), digest=mark)


def sensitive_basis(data: AuditData, space: FeatureSpace) -> np.ndarray:
    """Orthonormal directions (d, k) that tell the protected attributes of `data`, in `category_units`.

    Raises
    ------
    InputError
        If there is no protected attribute, one has a single value or more than 30, or the directions
        span everything.
    """
    if not data.protected:
        raise InputError("data.protected", "must name at least one attribute to train a fair model")
    basis = orthonormal(protected_directions(data, space, data.protected, where="data.protected")[0])
    if basis.shape[1] >= len(space.names):
        raise InputError(
            "data.protected",
            "leaves nothing to learn from: the directions that predict the attributes span all features",
            advice="name fewer attributes, or use more features",
        )
    return basis


def train_fair_network(
    data: AuditData, kind: Literal["project", "sensr"], *, seed: int = 0, progress: Progress = silent
) -> Network:
    """Train a fair baseline, the network of `train_mlp` otherwise, on all rows of `data`.

    Same seed, same network. See the module for what the kinds are.

    Raises
    ------
    InputError
        As `sensitive_basis`, or if a feature cannot be encoded.
    """
    import torch

    space = FeatureSpace.fit(data)
    basis = sensitive_basis(data, space)
    units = category_units(space)
    x = space.encode(data.frame) * units
    y = np.asarray(data.y)
    if kind == "project":
        left = x - (x @ basis) @ basis.T
        trained = train_layers(left, y, data.weights, seed=seed, progress=progress)
        layers = torch.nn.Sequential(_projection(basis, units), *trained)
    else:
        with one_torch_thread():
            layers = _sensr(x, y, data.row_weights, basis, seed, progress)
            layers[0].weight.data *= torch.from_numpy(units.astype(np.float32))
    settings = [kind, *HIDDEN, STEPS, BATCH, STEP_SIZE, DISTANCE, seed, torch.__version__]
    digest = training_digest(data, settings)
    return Network(NAMES[kind], digest, space, layers)


def _projection(basis: np.ndarray, units: np.ndarray) -> torch.nn.Module:
    """The layer that takes the directions `basis` (d, k) out of points times `units` (d,)."""
    import torch

    d = len(basis)
    layer = torch.nn.Linear(d, d, bias=False)
    layer.weight.data = torch.from_numpy(((np.eye(d) - basis @ basis.T) * units).astype(np.float32))
    return layer.requires_grad_(False)


def _sensr(
    x: np.ndarray, y: np.ndarray, counts: np.ndarray, basis: np.ndarray, seed: int, progress: Progress
) -> Any:
    """Train on people moved to where the loss is largest, at a price λ that follows the distance."""
    import torch

    rng = np.random.default_rng(seed)
    layers = untrained_layers(x.shape[1], torch.Generator().manual_seed(seed))
    points = torch.from_numpy(x.astype(np.float32))
    labels = torch.from_numpy(y.astype(np.float32))
    directions = torch.from_numpy(np.ascontiguousarray(basis.T, dtype=np.float32))  # (k, d)
    apart = torch.eye(x.shape[1]) - directions.T @ directions
    optimizer = torch.optim.Adam(layers.parameters(), lr=STEP_SIZE)
    chances = counts / counts.sum()
    price = 2.0
    for step in range(STEPS):
        if step % 50 == 0:
            progress(step / STEPS, f"training the SenSR network, step {step:,} of {STEPS:,}")
        chosen = torch.from_numpy(rng.choice(len(x), BATCH, p=chances))
        batch, target = points[chosen], labels[chosen]
        worst, distance = _attack(layers, batch, target, directions, apart, price)
        # the price rises while people are moved further than allowed, and falls while they are not
        price = max(
            0.0, price + max(distance, DISTANCE) / max(min(distance, DISTANCE), 1e-6) * (distance - DISTANCE)
        )
        price = min(price, 1e4)
        optimizer.zero_grad()
        torch.nn.functional.binary_cross_entropy_with_logits(layers(worst).squeeze(1), target).backward()
        optimizer.step()
    return layers.requires_grad_(False)


def _attack(
    layers: torch.nn.Module,
    x: torch.Tensor,
    y: torch.Tensor,
    directions: torch.Tensor,
    apart: torch.Tensor,
    price: float,
) -> tuple[torch.Tensor, float]:
    """Move people along the subspace, then anywhere at a price: points and mean squared fair distance."""
    import torch

    def slope(at: torch.Tensor) -> torch.Tensor:
        leaf = at.detach().requires_grad_(True)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            layers(leaf).squeeze(1), y, reduction="sum"
        )
        return torch.autograd.grad(loss, leaf)[0]

    moved = torch.zeros(len(x), len(directions))
    for _ in range(SUBSPACE_STEPS):
        along = slope(x + moved @ directions) @ directions.T
        # normalized, or people the model is sure of would never move
        moved += SUBSPACE_SIZE * along / along.norm(dim=1, keepdim=True).clamp_min(1e-12)
    at = x + moved @ directions
    for _ in range(FULL_STEPS):
        at = at + FULL_SIZE * (slope(at) - 2 * min(price, 25.0) * (at - x) @ apart)
    distance = float(((at - x) @ apart).square().sum(1).mean())
    return at.detach(), distance
