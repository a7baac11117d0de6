"""A forest or boosting trained here that a monitor carries along: plain arrays, scored in NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from audits.models.plain_trees import PlainTrees
from audits.sensitivity.blackbox import Ask
from audits.sensitivity.carried import Carried

__all__ = ["CarriedTrees"]


@dataclass(frozen=True, eq=False)
class CarriedTrees(Carried):
    """The trees, and how rows become the matrix that they read."""

    levels_as_text: ClassVar[bool] = True

    model: PlainTrees

    @property
    def columns(self) -> tuple[str, ...]:
        """Raw columns that the model reads."""
        return self.model.columns

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of the favourable outcome of raw rows, (n,)."""
        return self._favorable(self.model.score(frame))

    @property
    def ask(self) -> Ask | None:
        """Follow a moved copy only from where it leaves its person's way through a tree."""
        return lambda frame, moves: self._favorable(self.model.score_moved(frame, moves))

    def _favorable(self, scores: np.ndarray) -> np.ndarray:
        if scores.shape[-1] == 1:
            return scores[..., 0]
        return np.clip(scores[..., self.favorable].sum(axis=-1), 0.0, 1.0)

    def dump(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Return all but `favorable` and `encoding` as plain data and arrays."""
        own = {"trees": self.model.describe(), "counts": self.counts, "step": self.step}
        return own, self.model.arrays()

    @classmethod
    def restore(
        cls,
        own: Mapping[str, Any],
        arrays: Mapping[str, np.ndarray],
        favorable: np.ndarray,
        encoding: list[dict[str, Any]],
    ) -> CarriedTrees:
        """Rebuild what `dump` gave."""
        model = PlainTrees.restore(own["trees"], arrays)
        return cls(favorable, own["counts"], own["step"], encoding, model)
