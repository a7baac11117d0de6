"""An ONNX file that a monitor carries along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from audits.sensitivity.carried import Carried

if TYPE_CHECKING:
    from audits.models.onnx import OnnxModel

__all__ = ["CarriedOnnx"]


@dataclass(frozen=True, eq=False)
class CarriedOnnx(Carried):
    """The file, and how it is fed.

    Attributes
    ----------
    content : bytes
        The ONNX file. It is opened at the first score: in a server only in a worker process.
    feeding : dict
        From `OnnxModel.feeding`.
    """

    content: bytes = field(repr=False)
    feeding: dict[str, Any]

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that the model reads."""
        return tuple(self.feeding["columns"])

    @cached_property
    def model(self) -> OnnxModel:
        """The opened file."""
        from audits.models.onnx import reopen_onnx  # the runtime is loaded only where one is asked

        return reopen_onnx(self.content, self.feeding)

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of the favourable outcome of raw rows, (n,)."""
        return np.clip(self.model.score(frame)[:, self.favorable].sum(axis=1), 0.0, 1.0)

    def dump(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return all but `favorable` and `encoding` as plain data and arrays."""
        own = {"feeding": self.feeding, "counts": self.counts, "step": self.step}
        return own, {"onnx": np.frombuffer(self.content, dtype=np.uint8)}

    @classmethod
    def restore(
        cls,
        own: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        favorable: np.ndarray,
        encoding: list[dict[str, Any]],
    ) -> CarriedOnnx:
        """Rebuild what `dump` gave."""
        content = arrays["onnx"].tobytes()
        return cls(favorable, own["counts"], own["step"], encoding, content, own["feeding"])
