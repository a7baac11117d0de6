"""`FeatureSpace`: the numeric space in which distances, transport and gradients live."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from audits.checks import finite, one_of
from audits.data.audit_data import AuditData
from audits.data.encoder_blocks import Block, NumberBlock, level_block, number_block, restored_block
from audits.errors import InputError

MAX_LEVELS = 200


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """A fitted encoder between raw rows and points, (n, d) of float64.

    Numbers, dates and ranks are z-scored (ddof 0, weighted where the rows are; a constant column is
    0); two-valued (boolean) columns are 0 and 1; categories have 0.5 at their level, so that a change of
    category costs 1 under L1. A missing number is 0 (a missing two-valued cell 0.5) with 1 in a
    further column; a missing category is a level of its own.

    Attributes
    ----------
    columns : tuple of str
        The raw columns.
    names : tuple of str
        The encoded columns (d,): ``"age"``, ``"workclass=Private"``, ``"age is missing"``.
    blocks : mapping of str to slice
        Which encoded columns belong to a raw one.

    Examples
    --------
    >>> import pandas as pd
    >>> from audits.data import DataSpec, build_data
    >>> frame = pd.DataFrame({"age": [20, 40], "job": ["cook", "judge"], "sex": ["f", "m"]})
    >>> space = FeatureSpace.fit(build_data(frame, DataSpec(protected=("sex",))))
    >>> space.names
    ('age', 'job=cook', 'job=judge')
    >>> space.encode(frame).tolist()
    [[-1.0, 0.5, 0.0], [1.0, 0.0, 0.5]]
    """

    columns: tuple[str, ...]
    names: tuple[str, ...]
    blocks: Mapping[str, slice]
    parts: tuple[Block, ...]

    @classmethod
    def fit(cls, data: AuditData, features: Sequence[str] | None = None) -> FeatureSpace:
        """Fit to the rows of `data`, on `features` or on all that `data` names, sorted.

        Raises
        ------
        InputError
            If there are no features or no rows; for an unknown column, one of text or identifiers,
            or a categorical one with more than 200 levels.
        """
        # a seed gives first weights and draws by place, which no order of the table should decide
        columns = tuple(sorted(data.features) if features is None else features)
        if not columns:
            raise InputError("features", "must name at least one column")
        if data.n == 0:
            raise InputError("features", "cannot be scaled: there are no rows")
        return cls._of(tuple(_fit_block(data, column) for column in columns))

    @classmethod
    def _of(cls, parts: tuple[Block, ...]) -> FeatureSpace:
        columns = tuple(part.column for part in parts)
        names = tuple(name for part in parts for name in part.names)
        ends = np.cumsum([len(part.names) for part in parts]).tolist()
        starts = [0, *ends][:-1]
        blocks = {column: slice(a, b) for column, a, b in zip(columns, starts, ends, strict=True)}
        return cls(columns, names, blocks, parts)

    def encode(self, frame: pd.DataFrame, *, unknown: Literal["error", "zero"] = "error") -> np.ndarray:
        """Return the points (n, d) of raw rows; C-contiguous.

        Parameters
        ----------
        frame : DataFrame (n, any columns)
            Must hold the raw columns.
        unknown : {"error", "zero"}
            What a level, or a missing value in a column, becomes that the fitted rows did not have:
            an error, or zeros (no level; the mean of a number).

        Raises
        ------
        InputError
            For an absent column, an infinite value, or an unknown one.
        """
        one_of("unknown", unknown, ("error", "zero"))
        if not self.columns:
            raise InputError(
                "data.features",
                "must name at least one column, because this compares people by them",
                advice="with only label, predictions and groups, run groups, rule_sets or outcome_transport",
            )
        absent = [column for column in self.columns if column not in frame.columns]
        if absent:
            raise InputError("frame", f"must hold the column {absent[0]!r}", list(frame.columns))
        z = np.empty((len(frame), len(self.names)))
        for part in self.parts:
            z[:, self.blocks[part.column]] = part.encode(frame[part.column], unknown=unknown)
        return z

    def described(self) -> list[dict[str, Any]]:
        """Return the space as plain data, one entry a raw column, from which `restored` builds it again."""
        return [part.described() for part in self.parts]

    @classmethod
    def restored(cls, entries: Iterable[Mapping[str, Any]], *, texts: bool = False) -> FeatureSpace:
        """Build the space again that `described` described.

        Parameters
        ----------
        texts : bool
            Have levels as their texts, as rows from outside name them, not of the type that they had.

        Raises
        ------
        KeyError, TypeError, ValueError
            If the description is none.
        """
        return cls._of(tuple(restored_block(entry, texts=texts) for entry in entries))

    def movable(self) -> np.ndarray:
        """Return which encoded columns hold numbers that can move a little, (d,) of 0 and 1."""
        found = np.zeros(len(self.names))
        for part in self.parts:
            found[self.blocks[part.column].start] = isinstance(part, NumberBlock) and part.kind != "boolean"
        return found

    def decode(self, z: np.ndarray) -> pd.DataFrame:
        """Return admissible raw rows for any points (n, d), with the fitted columns' dtypes.

        Numbers are clipped to the range seen, whole ones (integers, ranks) rounded first; a block
        of levels becomes its largest entry's level; a cell is missing where its marker is >= 0.5.

        Raises
        ------
        InputError
            If `z` has another shape or holds NaN or infinity.
        """
        z = np.asarray(z, dtype=float)
        if z.ndim != 2 or z.shape[1] != len(self.names):
            raise InputError("z", f"must have shape (n, {len(self.names)})", z.shape)
        finite("z", z)
        return pd.DataFrame({part.column: part.decode(z[:, self.blocks[part.column]]) for part in self.parts})


def _fit_block(data: AuditData, column: str) -> Block:
    one_of("features", column, data.frame.columns, what="a column of the data")
    kind = data.kinds[column]
    raw = data.frame[column]
    if kind in {"text", "identifier"}:
        raise InputError(
            f"features: {column!r}",
            f"is {'free text' if kind == 'text' else 'an identifier'} and has no distance",
            advice="leave it out, or override its kind in data.kinds",
        )
    if kind != "categorical":
        return number_block(raw, kind, order=data.orders.get(column, ()), weights=data.weights)
    levels = raw.nunique()
    if levels > MAX_LEVELS:
        raise InputError(
            f"features: {column!r}",
            f"has {levels:,} categories where at most {MAX_LEVELS} are compared",
            advice="leave it out, recode it to fewer, or set its kind in data.kinds",
        )
    return level_block(raw)
