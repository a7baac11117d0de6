"""The steps of ONNX graphs that are standard layers, carried out in torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

__all__ = ["STEPS", "Step", "Unfit", "linear"]

Step = Callable[..., "torch.Tensor"]


class Unfit(ValueError):
    """The graph holds something that is no standard layer."""


def linear(x: torch.Tensor, about: dict[str, Any]) -> torch.Tensor:
    """Return the scores (n, k) of a linear classifier or regressor."""
    import torch

    weights = torch.tensor(np.array(about["coefficients"], dtype=np.float64))
    rows = weights.reshape(-1, x.shape[1])
    found = x @ rows.T
    offsets = about.get("intercepts")
    return found if not offsets else found + torch.tensor(np.array(offsets, dtype=np.float64))


def _gemm(x: list[Any], about: dict[str, Any], _: Any) -> torch.Tensor:
    left = x[0].T if about.get("transA") else x[0]
    right = x[1].T if about.get("transB") else x[1]
    found = about.get("alpha", 1.0) * (left @ right)
    return found if len(x) < 3 or x[2] is None else found + about.get("beta", 1.0) * x[2]


def _scaled(x: list[Any], about: dict[str, Any], _: Any) -> torch.Tensor:
    import torch

    offset, scale = (
        torch.tensor(np.array(about.get(key, d))) for key, d in (("offset", 0.0), ("scale", 1.0))
    )
    return (x[0] - offset.double()) * scale.double()


def _concat(x: list[Any], about: dict[str, Any], _: Any) -> torch.Tensor:
    import torch

    rows = max(each.shape[0] for each in x)
    return torch.cat([each.expand(rows, *each.shape[1:]) for each in x], dim=about.get("axis", 1))


def _vectorised(x: list[Any], _: dict[str, Any], __: Any) -> torch.Tensor:
    import torch

    return torch.cat([each.reshape(len(each), -1) for each in x], dim=1)


def _reshaped(x: list[Any], _: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    shape = [int(size) for size in raw[1]]
    shape = [x[0].shape[place] if size == 0 else size for place, size in enumerate(shape)]
    if shape and shape[0] not in {-1, x[0].shape[0]} and math.prod(shape) != x[0].numel():
        shape[0] = -1  # exporters write the number of rows of the example
    return x[0].reshape(shape)


def _squeezed(x: list[Any], about: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    axes = raw[1].tolist() if len(raw) > 1 and raw[1] is not None else about.get("axes", [])
    found = x[0]
    for axis in sorted((int(each) for each in axes), reverse=True):
        found = found.squeeze(axis)
    return found


def _unsqueezed(x: list[Any], about: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    axes = raw[1].tolist() if len(raw) > 1 and raw[1] is not None else about.get("axes", [])
    found = x[0]
    for axis in sorted(int(each) for each in axes):
        found = found.unsqueeze(axis)
    return found


def _sliced(x: list[Any], about: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    if about:  # before opset 10
        starts, ends = about["starts"], about["ends"]
        axes, steps = about.get("axes", range(len(starts))), [1] * len(starts)
    else:
        starts, ends = raw[1].tolist(), raw[2].tolist()
        axes = raw[3].tolist() if len(raw) > 3 and raw[3] is not None else range(len(starts))
        steps = raw[4].tolist() if len(raw) > 4 and raw[4] is not None else [1] * len(starts)
    found = x[0]
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step < 1:
            raise Unfit
        index = [slice(None)] * found.ndim
        index[axis] = slice(start, min(end, found.shape[axis]), step)
        found = found[tuple(index)]
    return found


def _picked(x: list[Any], about: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    import torch

    axis = about.get("axis", 0)
    places = raw[1]
    if axis == 0:
        raise Unfit
    found = x[0].index_select(axis, torch.tensor(np.atleast_1d(places).astype(np.int64)))
    return found if np.ndim(places) else found.squeeze(axis)


def _extracted(x: list[Any], _: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    import torch

    return x[0].index_select(-1, torch.tensor(raw[1].ravel().astype(np.int64)))


def _regressed(x: list[Any], about: dict[str, Any], _: Any) -> torch.Tensor:
    if about.get("post_transform", b"NONE") != b"NONE":
        raise Unfit
    return linear(x[0], about)


def _summed(x: list[Any], about: dict[str, Any], raw: list[Any]) -> torch.Tensor:
    axes = raw[1].tolist() if len(raw) > 1 and raw[1] is not None else about.get("axes", [])
    if 0 in axes or not axes:
        raise Unfit
    return x[0].sum(dim=tuple(axes), keepdim=bool(about.get("keepdims", 1)))


STEPS: dict[str, Step] = {
    "Relu": lambda x, _, __: x[0].relu(),
    "Sigmoid": lambda x, _, __: x[0].sigmoid(),
    "Tanh": lambda x, _, __: x[0].tanh(),
    "Neg": lambda x, _, __: -x[0],
    "Identity": lambda x, _, __: x[0],
    "Cast": lambda x, _, __: x[0],
    "Dropout": lambda x, _, __: x[0],
    "Add": lambda x, _, __: x[0] + x[1],
    "Sub": lambda x, _, __: x[0] - x[1],
    "Mul": lambda x, _, __: x[0] * x[1],
    "Div": lambda x, _, __: x[0] / x[1],
    "Sum": lambda x, _, __: sum(x[1:], x[0]),
    "MatMul": lambda x, _, __: x[0] @ x[1],
    "Gemm": _gemm,
    "Concat": _concat,
    "FeatureVectorizer": _vectorised,
    "Reshape": _reshaped,
    "Flatten": lambda x, about, __: x[0].flatten(about.get("axis", 1)),
    "Squeeze": _squeezed,
    "Unsqueeze": _unsqueezed,
    "Slice": _sliced,
    "Gather": _picked,
    "ArrayFeatureExtractor": _extracted,
    "Scaler": _scaled,
    "ReduceSum": _summed,
    "LinearRegressor": _regressed,
}
