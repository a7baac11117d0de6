"""More rows of a table of which some are known already: brought to what those are, a batch at a time."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pyarrow as pa

from audits.data.audit_data import AuditData
from audits.data.building.filters import kept_rows
from audits.data.building.groups import cut
from audits.data.building.outcomes import cut_label
from audits.data.files.typed_tables import convert_typed, without_dictionaries
from audits.data.frames import with_columns
from audits.data.spec import DataSpec, LabelCut
from audits.data.values import MISSING, as_text
from audits.errors import InputError

__all__ = ["columns_of_more", "more_rows", "why_no_more"]


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


def more_rows(batch: pa.RecordBatch, first: int, spec: DataSpec, like: AuditData) -> AuditData:
    """Return the people of a batch whose first row has the number `first`, as `build_data` would have them.

    Nothing is inferred from a batch: kinds and types are those of `like`, groups and levels may be others.
    Digests and counts of rows stay those of `like`.

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
    y = None
    if label is not None:
        outcome = cut_label(frame[label], spec.label) if isinstance(spec.label, LabelCut) else frame[label]
        y = _among(outcome, like.favorable)
        frame = with_columns(frame, {str(like.label): outcome})
    groups = pd.DataFrame({name: _group(frame[name], spec) for name in spec.protected}, index=frame.index)
    return dataclasses.replace(like, frame=frame, groups=groups, y=y)


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


def _among(column: pd.Series, values: tuple[object, ...]) -> np.ndarray:
    """Return which cells are one of `values` by their text (n,); each value is looked at once."""
    codes, found = pd.factorize(column)
    wanted = set(as_text(pd.Series(list(values), dtype=column.dtype)))
    hit = as_text(pd.Series(found)).isin(wanted).to_numpy(dtype=bool)
    there: np.ndarray = np.append(hit, False)[codes]
    return there


def _group(column: pd.Series, spec: DataSpec) -> pd.Series:
    edges = spec.bins.get(str(column.name))
    if edges is not None:
        return cut(column, edges).fillna(MISSING)
    codes, found = pd.factorize(column)  # each value becomes text once
    names = as_text(pd.Series(found)).to_numpy(dtype=object)
    return pd.Series(np.append(names, MISSING)[codes], index=column.index, dtype="str", name=column.name)
