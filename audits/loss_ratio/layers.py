"""The gradient of the logistic loss of linear layers and ReLUs, written out.

Autograd gives the same numbers, but builds a graph at every step of the flow and computes losses that
nobody asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

__all__ = ["LayerGradient", "layers_of"]


def layers_of(network: Any) -> list[torch.nn.Linear] | None:
    """Return the layers of a network of linear ones with ReLUs between them and one output, else None."""
    from torch import nn

    flat: list[nn.Module] = []
    waiting = [network]
    while waiting:
        part = waiting.pop(0)
        if isinstance(part, nn.Sequential):
            waiting = [*part, *waiting]
        else:
            flat.append(part)
    linear, bends = flat[::2], flat[1::2]
    plain = len(flat) % 2 == 1 and all(type(part) is nn.Linear for part in linear)
    if not plain or not all(type(part) is nn.ReLU for part in bends) or linear[-1].out_features != 1:
        return None
    return linear  # type: ignore[return-value]


class LayerGradient:
    """Gradients (m, d) of the losses at points (m, d); `sign` (m,) is -1 for people of label 1, else 1."""

    def __init__(self, layers: list[torch.nn.Linear], sign: torch.Tensor) -> None:
        self.weights = [layer.weight.detach() for layer in layers]
        self.biases = [None if layer.bias is None else layer.bias.detach() for layer in layers]
        self.sign = sign
        self.last = self.weights[-1][0]

    def __call__(self, at: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the gradients, and the log-odds (m,) of a wrong decision."""
        import torch

        hidden: list[torch.Tensor] = []
        values = at
        for weight, bias in zip(self.weights[:-1], self.biases[:-1], strict=True):
            values = torch.nn.functional.linear(values, weight, bias).relu_()
            hidden.append(values)
        logits = torch.mv(values, self.last)
        if self.biases[-1] is not None:
            logits += self.biases[-1]
        logits *= self.sign
        gradient = torch.outer(torch.sigmoid(logits).mul_(self.sign), self.last)
        for weight, above in zip(self.weights[-2::-1], hidden[::-1], strict=True):
            gradient = torch.ops.aten.threshold_backward(gradient, above, 0) @ weight
        return gradient, logits
