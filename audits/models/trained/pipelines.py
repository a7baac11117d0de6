"""Scores of pipelines that are trained here: the same digits as scikit-learn gives, sooner for few people.

Whatever the rows, its `ColumnTransformer` takes 4 ms and its trees 5 more, and searches ask about a few
people ten thousand times. Columns are therefore encoded here, a forest is asked tree by tree, and boosting
as arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy import sparse

from audits.data.values import MISSING, as_text, number_column
from audits.models.protocol import need_columns
from audits.models.trees.plain import PlainTrees, TreeColumn, pipeline_columns, plain_trees
from audits.threads import one_thread

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

_CELLS = 2_000_000  # of a matrix that is made here: scikit-learn's may be sparse all along
_PAIRS = 100_000  # of a row and a tree, up to which arrays are sooner than scikit-learn's own code


@dataclass(frozen=True, eq=False)
class OnPipeline:
    """A model with a fitted `pipeline` of the columns that it reads as `numbers` and as `levels`."""

    name: str
    columns: tuple[str, ...]
    sha256: str
    pipeline: Pipeline
    numbers: tuple[str, ...]
    levels: tuple[str, ...]

    invents = True

    def matrix(self, frame: pd.DataFrame) -> Any:
        """Return what the last step reads of raw rows, (n, m): an array, or a sparse one."""
        columns = self._columns
        width = sum(len(each.places) for each in columns)
        if not columns or len(frame) * width > _CELLS:
            with one_thread():
                return self.pipeline[:-1].transform(prepare(frame, self.numbers, self.levels))
        made = np.empty((len(frame), width))
        for each in columns:
            made[:, list(each.places)] = each.encode(frame[each.column])
        return sparse.csr_matrix(made) if self.pipeline[0].sparse_output_ else made

    def design(self, frame: pd.DataFrame) -> np.ndarray:
        """Return what the last step reads as a full matrix: of a linear model, what its gradient is by."""
        need_columns(frame, self.columns, self.name)
        made = self.matrix(frame)
        return np.asarray(made.toarray() if hasattr(made, "toarray") else made, dtype=np.float64)

    def chances(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the probability of each class, (n, k)."""
        trees = self._boosting
        if trees is not None and len(frame) * len(trees.trees.roots) <= _PAIRS:
            found = trees.score(frame)
            return np.concatenate([1 - found, found], axis=1)
        read, last = self.matrix(frame), self.pipeline[-1]
        with one_thread():
            if not hasattr(last, "estimators_"):
                return last.predict_proba(read)
            with np.errstate(over="ignore"):
                x = np.ascontiguousarray(read, dtype=np.float32)  # what trees of scikit-learn compare
            return sum(each.tree_.predict(x) for each in last.estimators_) / len(last.estimators_)

    def value(self, frame: pd.DataFrame) -> np.ndarray:
        """Return the number predicted, (n,)."""
        with one_thread():
            return self.pipeline[-1].predict(self.matrix(frame))

    @cached_property
    def _columns(self) -> tuple[TreeColumn, ...]:
        """How each column is encoded; none for boosting, which brings levels into an order of its own."""
        if hasattr(self.pipeline[-1], "_predictors"):
            return ()
        return pipeline_columns(self.pipeline, self.numbers, self.levels)

    @cached_property
    def _boosting(self) -> PlainTrees | None:
        """A boosting of two classes as arrays; of more of them the last digit would be another."""
        last = self.pipeline[-1]
        if not hasattr(last, "_predictors") or len(getattr(last, "classes_", ())) != 2:
            return None
        return plain_trees(self.pipeline, self.numbers, self.levels)


def prepare(frame: pd.DataFrame, numbers: tuple[str, ...], levels: tuple[str, ...]) -> pd.DataFrame:
    """Return `numbers` as float64 (missing is NaN, dates are days) and `levels` as text."""
    values: dict[str, np.ndarray] = {name: number_column(frame[name]) for name in numbers}
    values |= {name: as_text(frame[name]).fillna(MISSING).to_numpy(dtype=object) for name in levels}
    return pd.DataFrame(values, index=frame.index)
