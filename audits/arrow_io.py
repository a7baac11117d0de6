"""Tables of results as files that are mapped, not read: a page that shows ten rows holds ten rows.

Numbers and texts stay on disk, in an Arrow file without compression; the system brings in what is looked at,
once for all who look, and takes it back when memory is short. So who opens a result of a million people has
none of them in memory of his own.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

_BOOLEANS = b"evenhand.booleans"  # columns kept one byte a value: Arrow packs bits, which NumPy would unpack
_ONE_BY_ONE = (pa.types.is_floating, pa.types.is_integer)


def write_mapped(frame: pd.DataFrame, path: Path) -> None:
    """Write `frame` so that `read_mapped` maps it: one batch, each column as pandas has it in memory."""
    table = pa.Table.from_pandas(frame)
    booleans = []
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        own = frame[name].dtype if name in frame else None  # None of the index; pandas' own types stay theirs
        if own == np.bool_:
            booleans.append(name)
            column = column.cast(pa.uint8())
        elif own in (np.float64, np.float32) and column.null_count:  # NaN as a number: a null has no place
            column = pa.array(frame[name].to_numpy(), from_pandas=False)
        elif pa.types.is_string(column.type):
            column = column.cast(pa.large_string())
        table = table.set_column(place, name, column)
    metadata = {**(table.schema.metadata or {}), _BOOLEANS: json.dumps(booleans)}
    table = table.replace_schema_metadata(metadata).combine_chunks()
    partial = path.with_name(f"{path.name}.partial")
    with pa.OSFile(str(partial), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    partial.replace(path)  # whoever has the former file mapped goes on with it


def read_mapped(path: Path) -> pd.DataFrame:
    """Return what `write_mapped` wrote, its values where they are on disk.

    Raises
    ------
    ValueError
        If the file is damaged.
    """
    table = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    for column in table.columns:  # a wrong offset would lead anywhere in memory
        plain = any(check(column.type) for check in _ONE_BY_ONE)
        column.validate(full=not plain)
    frame: pd.DataFrame = table.to_pandas(split_blocks=True, ignore_metadata=False)
    for name in json.loads(table.schema.metadata[_BOOLEANS]):
        frame[name] = pd.Series(frame[name].to_numpy().view(np.bool_), index=frame.index, copy=False)
    return frame
