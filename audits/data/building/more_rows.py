"""More rows of a table of which some are known already: brought to what those are, a batch at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from audits.data.audit_data import AuditData
from audits.data.building.filters import kept_rows
from audits.data.building.groups import cut
from audits.data.files.typed_tables import convert_typed, without_dictionaries
from audits.data.frames import with_columns
from audits.data.spec import DataSpec, LabelCut
from audits.data.values import MISSING, as_text
from audits.errors import InputError

__all__ = ["MoreRows", "columns_of_more", "more_rows", "why_no_more"]


@dataclass(frozen=True, eq=False)
class MoreRows:
    """Rows of a batch that are audited, with their groups, and how many of the batch are not."""

    frame: pd.DataFrame
    groups: pd.DataFrame
    left_out: int


def why_no_more(spec: DataSpec) -> str:
    """Return the key of what cannot be done to a batch as to all rows; empty where everything can."""
    asked = {
        "data.weights": spec.weights is not None,
        "data.missing": spec.missing != "category",
        "data.among": bool(spec.among),
        "data.recode": bool(spec.recode),
        "data.labels": bool(spec.labels),
    }
    return next((key for key, there in asked.items() if there), "")


def columns_of_more(spec: DataSpec, features: tuple[str, ...]) -> list[str]:
    """Return the columns that `more_rows` reads for people described by `features`."""
    label = spec.label.column if isinstance(spec.label, LabelCut) else spec.label
    kept = [rule.column for rule in spec.keep]
    return list(dict.fromkeys([*features, *spec.protected, *kept, *([label] if label else [])]))


def more_rows(batch: pa.RecordBatch, first: int, spec: DataSpec, like: AuditData) -> MoreRows:
    """Return the people of a batch whose first row has the number `first`, as `build_data` would have them.

    Nothing is inferred from a batch: kinds and types are those of `like`, groups and levels may be others.

    Raises
    ------
    InputError
        If a column of the batch cannot have the type that it has in `like`.
    """
    table = without_dictionaries(pa.Table.from_batches([batch]))
    converted, _ = convert_typed(table, markers=spec.read.missing)
    index = pd.RangeIndex(first, first + batch.num_rows, name="row")
    frame = pd.DataFrame({name: each.values.set_axis(index) for name, each in converted.items()}, index=index)
    frame = with_columns(frame, {name: _alike(frame[name], like.frame[name]) for name in frame.columns})
    kept = kept_rows(frame, spec.keep)[0]
    label = spec.label.column if isinstance(spec.label, LabelCut) else spec.label
    if label is not None:
        kept &= frame[label].notna().to_numpy()
    if not kept.all():
        frame = frame[kept]
    groups = pd.DataFrame({name: _group(frame[name], spec) for name in spec.protected}, index=frame.index)
    return MoreRows(frame, groups, int((~kept).sum()))


def _alike(column: pd.Series, known: pd.Series) -> pd.Series:
    """Return a column in the type of the known one; a number may be whole in one and not in the other."""
    if column.dtype == known.dtype:
        return column
    numbers = (pd.api.types.is_numeric_dtype(each.dtype) for each in (column, known))
    if all(numbers):
        return column
    if isinstance(known.dtype, pd.StringDtype) or column.isna().all():
        return as_text(column) if isinstance(known.dtype, pd.StringDtype) else column
    row = column.index[int(np.argmax(column.notna().to_numpy()))]
    raise InputError(
        f"column {column.name!r}",
        f"must be {known.dtype} everywhere, but is {column.dtype} from row {row} on",
    )


def _group(column: pd.Series, spec: DataSpec) -> pd.Series:
    edges = spec.bins.get(str(column.name))
    texts = as_text(column) if edges is None else cut(column, edges)
    return texts.fillna(MISSING)
