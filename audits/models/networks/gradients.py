"""Models with a gradient: their logits as a torch module over the points of a `FeatureSpace`.

A differentiable model says how it turns raw rows into numbers (`design`) and what network reads those
(`network`). Between the points of a feature space and the design lies a map that is affine in every
number and category and piecewise affine in ranks. It is found by asking `design` about the values of each
column in turn, and folded into the network, so that the logits exist between two categories too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from audits.data.encoder import FeatureSpace
from audits.data.encoder_blocks import Block, LevelBlock, NumberBlock
from audits.data.frames import with_columns
from audits.errors import InputError
from audits.models.networks.dense import Ramps
from audits.models.protocol import Model

if TYPE_CHECKING:
    import torch

_EPOCH = pd.Timestamp("1970-01-01")


@runtime_checkable
class Differentiable(Model, Protocol):
    """A model with a gradient.

    ``network()`` of ``design(frame)`` are the log-odds (n, 1) of the favorable outcome where `classes`
    is None, else logits (n, k) in the order of `classes`. Each column of the design depends on one raw
    column only, and is affine in it where that holds numbers.
    """

    def design(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the numbers (n, k) that the network reads; what is unknown counts as in `score`."""

    def network(self) -> torch.nn.Module:
        """Return a float64 copy of the network."""


def logits_over(
    model: Differentiable, space: FeatureSpace, frame: pd.DataFrame, units: np.ndarray | None = None
) -> torch.nn.Module:
    """Return the model's logits as a float64 torch module over points (m, d) of `space`.

    Parameters
    ----------
    frame : DataFrame
        Any raw rows, at least one: other columns' values while one column's are asked about.
    units : array (d,), optional
        The module then takes points of `space` times these; 1 for ranks.

    Raises
    ------
    InputError
        If the model reads a column that the space does not hold.
    """
    outside = [column for column in model.columns if column not in space.columns]
    if outside:
        raise InputError(
            "data.features",
            f"must hold every column that the {model.name} reads, so that people can be moved",
            outside,
        )
    base = frame.iloc[[0]]
    constant = model.design(base)[0].copy()
    linear = np.zeros((len(space.names), constant.size))
    ramps: list[tuple[NumberBlock, int, np.ndarray]] = []
    for block in space.parts:
        if block.column not in model.columns:
            continue
        design = model.design(_probe_rows(base, block))
        own = (design != model.design(base)[0]).any(axis=0)  # the design's columns that read this one
        at = space.blocks[block.column].start
        intercept, slopes, bends = _fit(block, design)
        constant[own] = intercept[own]
        linear[at : at + len(slopes), own] = slopes[:, own]
        if bends is not None:
            ramps.append((block, at, np.where(own, bends, 0.0)))  # type: ignore[arg-type]
    if units is not None:
        linear /= units[:, None]
    return _compose(linear, constant, ramps, model.network())


def linear_layer(weights: np.ndarray, bias: np.ndarray) -> torch.nn.Linear:
    """Return a float64 layer from `weights` (k, d) and `bias` (k,): points (m, d) to (m, k)."""
    import torch

    layer = torch.nn.Linear(weights.shape[1], weights.shape[0], dtype=torch.float64)
    layer.weight.data = torch.tensor(np.ascontiguousarray(weights, dtype=np.float64))
    layer.bias.data = torch.tensor(np.asarray(bias, dtype=np.float64))
    return layer


def _probe_rows(base: pd.DataFrame, block: Block) -> pd.DataFrame:
    """Return rows like `base` with the values of one column at which a block of the design is known."""
    missing = pd.Series([None])
    if isinstance(block, LevelBlock) or len(block.levels):
        values = block.levels
    elif block.kind == "datetime":
        days = pd.Series([block.mean, block.mean + block.sd])
        values = (_EPOCH + pd.to_timedelta(days * 86_400e6, unit="us")).astype(base[block.column].dtype)
    else:
        values = pd.Series([block.mean, block.mean + block.sd])
    if isinstance(block, NumberBlock) and len(block.names) == 2:
        values = pd.concat([values, missing.astype(values.dtype)], ignore_index=True)
    rows = base.iloc[np.zeros(len(values), dtype=int)].reset_index(drop=True)
    return with_columns(rows, {block.column: values.reset_index(drop=True)})


def _fit(block: Block, design: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return intercept (k,), slopes by encoded column (c, k), and bends (levels - 1, k) where ranks bend."""
    if isinstance(block, LevelBlock):
        return np.zeros(design.shape[1]), 2.0 * design, None  # an entry of 0.5 is the level
    known = design[:-1] if len(block.names) == 2 else design
    if len(known) == 1:  # one level seen: nothing to move along
        known = np.repeat(known, 2, axis=0)
    rises = np.diff(known, axis=0)
    bends = None
    if not len(block.levels):
        intercept, slope = known[0], rises[0]
    elif np.allclose(rises, rises[0], rtol=1e-9, atol=1e-12):
        intercept, slope = known[0] + block.mean * rises[0], block.sd * rises[0]
    else:
        intercept, slope, bends = known[0], np.zeros_like(known[0]), rises
    slopes = slope[None]
    if len(block.names) == 2:
        filled = intercept + block.fill * slope
        if bends is not None:
            ranks = _ramp(np.array([block.fill * block.sd + block.mean]), len(bends))
            filled = filled + (ranks @ bends)[0]
        slopes = np.vstack([slope, design[-1] - filled])
    return intercept, slopes, bends


def _ramp(rank: np.ndarray, pieces: int) -> np.ndarray:
    """How far `rank` (m,) has come on each stretch between two levels, (m, pieces); the outer ones go on."""
    along = rank[:, None] - np.arange(pieces)
    low, high = np.zeros(pieces), np.ones(pieces)
    low[0], high[-1] = -np.inf, np.inf
    return np.clip(along, low, high)


def _compose(
    linear: np.ndarray,
    constant: np.ndarray,
    ramps: list[tuple[NumberBlock, int, np.ndarray]],
    network: torch.nn.Module,
) -> torch.nn.Module:
    """Put the map in front of the network; a first linear layer takes it in."""
    import torch
    from torch import nn

    weights = np.vstack([linear, *(bends for _, _, bends in ramps)])
    layers = list(network) if isinstance(network, nn.Sequential) else [network]
    first = linear_layer(weights.T, constant)
    head = layers[0]
    if isinstance(head, nn.Linear):
        del layers[0]
        head = head.double()
        bias = torch.zeros(1) if head.bias is None else head.bias.data
        joined = nn.Linear(weights.shape[0], head.out_features, dtype=torch.float64)
        joined.weight.data = head.weight.data @ first.weight.data
        joined.bias.data = head.weight.data @ first.bias.data + bias
        first = joined
    if not ramps:
        return nn.Sequential(first, *layers).double().requires_grad_(False)
    parts = [
        (at, block.sd, block.mean - j, -np.inf if j == 0 else 0.0, np.inf if j == len(bends) - 1 else 1.0)
        for block, at, bends in ramps
        for j in range(len(bends))
    ]
    columns, *numbers = (np.array(each) for each in zip(*parts, strict=True))
    bent = _ramps_module(Ramps(columns, *(each.astype(float) for each in numbers)))
    return nn.Sequential(bent, first, *layers).double().requires_grad_(False)


def _ramps_module(ramps: Ramps) -> torch.nn.Module:
    import torch

    class RampsLayer(torch.nn.Module):
        """Points with the ramps of their ranks appended, (m, d) -> (m, d + r)."""

        def __init__(self) -> None:
            super().__init__()
            self.ramps = ramps
            for name, values in vars(ramps).items():
                self.register_buffer(name, torch.from_numpy(values))

        def forward(self, z: torch.Tensor) -> torch.Tensor:
            columns, scales, shifts, lows, highs = self.buffers()
            return torch.cat([z, torch.clamp(z[:, columns] * scales + shifts, lows, highs)], dim=1)

    return RampsLayer()
