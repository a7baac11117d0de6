"""A person's loss, the same formula in the flow and in the ratio, and how many times as large it became."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from audits.checks import one_of

if TYPE_CHECKING:
    import torch

Loss = Literal["cross_entropy", "logistic", "squared"]

MIN_LOSS = float(np.finfo(float).eps)
"""What a loss of exactly 0 counts as: one rounding step of a probability away from certainty."""


def loss_function(loss: Loss, y: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return the function from a network's outputs to losses (m,) against the labels `y` (m,).

    One output is the log-odds of label 1, k outputs are logits of the classes 0 to k - 1; under the
    squared loss one output is the prediction itself.
    """
    import torch

    one_of("loss", loss, ("cross_entropy", "logistic", "squared"))
    sign = 1.0 - 2.0 * y.to(torch.float32) if loss != "squared" else y

    def function(output: torch.Tensor) -> torch.Tensor:
        if output.ndim == 2 and output.shape[1] == 1:
            output = output.squeeze(1)
        if loss == "squared":
            if output.ndim == 2:
                hot = torch.nn.functional.one_hot(y.long(), output.shape[1])
                return (output - hot).square().sum(1)
            return (output - y.to(output.dtype)).square()
        if output.ndim == 2:
            return torch.nn.functional.cross_entropy(output, y.long(), reduction="none")
        return softplus(sign.to(output.dtype) * output)

    return function


def softplus(x: torch.Tensor) -> torch.Tensor:
    """log(1 + e^x), with the digits of tiny values; beyond 20 torch's own switches to a straight line."""
    import torch

    return torch.nn.functional.softplus(x, threshold=40.0)


def probability_losses(p: np.ndarray, loss: Loss) -> np.ndarray:
    """Losses (n,) of the probability `p` (n,) that the model gives to the person's own label."""
    if loss == "squared":
        return np.square(1.0 - p)
    return -np.log(np.clip(p, MIN_LOSS, 1.0))


def loss_ratios(before: np.ndarray, after: np.ndarray, floor: float = 0.0) -> np.ndarray:
    """Ratios (n,) of the losses after and before, each counted as at least `floor` > 0 or a rounding step.

    Examples
    --------
    >>> loss_ratios(np.array([0.5, 0.0]), np.array([1.0, 0.0])).tolist()
    [2.0, 1.0]
    """
    least = max(floor, MIN_LOSS)
    return np.maximum(after, least) / np.maximum(before, least)
