"""What follows from an action: columns that move along, as the auditor drew which follows which.

A column is fitted by least squares to those that it follows, over everybody; what it was off by for a person
stays with them. When a person changes a column, each column that follows moves by what the fit says, one
after the other. A column that the person changes on purpose follows nothing. That the drawing is right, and
that effects are linear and alike for all, is assumed: data cannot show it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import numpy as np
import pandas as pd

from audits.checks import one_of
from audits.data import AuditData, FeatureSpace
from audits.errors import InputError

__all__ = ["Downstream", "downstream_of"]


@dataclass(frozen=True, eq=False)
class Downstream:
    """Fits of the columns that follow others, in an order in which causes come first.

    Attributes
    ----------
    order : tuple of str
        The columns that follow.
    spaces : dict of column to FeatureSpace
        Of those that each follows.
    slopes : dict of column to array
        Change of the column for a change by 1 in each encoded column that it follows.
    whole : dict of column to bool
        Whether it holds whole numbers only.
    """

    order: tuple[str, ...]
    spaces: dict[str, FeatureSpace]
    slopes: dict[str, np.ndarray]
    whole: dict[str, bool]

    def carried(self, today: pd.DataFrame, moved: pd.DataFrame, chosen: set[str]) -> pd.DataFrame:
        """Return `moved` rows with what follows from the change; columns `chosen` on purpose stay put."""
        found = moved.copy()
        for name in self.order:
            if name in chosen:
                continue
            space = self.spaces[name]
            shift = (space.encode(found) - space.encode(today)) @ self.slopes[name]
            values = today[name].to_numpy(dtype=float, na_value=np.nan) + shift
            if self.whole[name]:
                values = np.rint(values)
                kept = np.where(np.isnan(values), 0, values).astype(np.int64)
                if not np.isnan(values).any():
                    found[name] = pd.Series(kept, index=found.index).astype(today[name].dtype)
                    continue
            found[name] = pd.Series(values, index=found.index)
        return found


def downstream_of(data: AuditData, follows: Mapping[str, tuple[str, ...]]) -> Downstream:
    """Fit what follows from what.

    Raises
    ------
    InputError
        For an unknown column, one that follows but is no number, or a drawing that goes round in a circle.
    """
    for name, causes in follows.items():
        one_of("recourse.follows", name, data.features, what="a feature")
        if data.kinds[name] not in {"continuous", "integer"}:
            raise InputError("recourse.follows", f"can move numbers only, but {name!r} is {data.kinds[name]}")
        for cause in causes:
            one_of(f"recourse.follows.{name}", cause, data.features, what="a feature")
    try:
        ordered = [name for name in TopologicalSorter(follows).static_order() if name in follows]
    except CycleError as error:
        circle = " → ".join(error.args[1])
        raise InputError("recourse.follows", f"must not go round in a circle: {circle}") from None
    spaces, slopes = {}, {}
    for name in ordered:
        spaces[name] = FeatureSpace.fit(data, tuple(follows[name]))
        x = spaces[name].encode(data.frame)
        y = data.frame[name].to_numpy(dtype=float, na_value=np.nan)
        known = ~np.isnan(y)
        root = np.sqrt(np.ones(data.n) if data.weights is None else data.weights)[known]
        design = np.column_stack([np.ones(known.sum()), x[known]]) * root[:, None]
        slopes[name] = np.linalg.lstsq(design, y[known] * root, rcond=None)[0][1:]
    whole = {name: pd.api.types.is_integer_dtype(data.frame[name].dtype) for name in ordered}
    return Downstream(tuple(ordered), spaces, slopes, whole)
