"""Tables of results on disk: the same as in memory, looked at where they lie, and never taken on trust."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from audits.arrow_io import read_mapped, write_mapped


def frames():
    mixed = {
        "numbers": [1.0, np.nan, 3.0],
        "texts": ["x", None, "ä"],
        "known": [True, False, True],
        "booleans": [True, None, False],
        "days": pd.to_datetime(["2020-01-01", None, "2021-01-01"]),
        "small": np.array([1, 2, 3], dtype=np.int8),
        "nothing": pd.Series([None] * 3, dtype=object),
        "levels": pd.Categorical(["u", "v", "u"]),
        "nullable": pd.array([True, None, True], dtype="boolean"),
        "counts": pd.array([1, None, 3], dtype="Int64"),
    }
    return {
        "mixed": pd.DataFrame(mixed).set_axis(pd.Index([3, 7, 9], name="row")),
        "empty": pd.DataFrame(),
        "nobody": pd.DataFrame({"a": pd.Series(dtype=float), "b": pd.Series(dtype=bool)}),
        "named": pd.DataFrame({"a": [1.0, np.nan]}, index=pd.Index(["é", "b"], name="name")),
    }


def test_damage_is_told_and_leads_nowhere(tmp_path):
    path = tmp_path / "t.arrow"
    offsets = pa.py_buffer(np.array([0, 2**40, 5, 3], dtype="i8").tobytes())
    wrong = pa.LargeStringArray.from_buffers(3, offsets, pa.py_buffer(b"abc"))
    table = pa.table({"a": wrong}).replace_schema_metadata({b"evenhand.booleans": json.dumps([])})
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(ValueError, match="offset"):
        read_mapped(path)
    write_mapped(frames()["mixed"], path)
    held, whole = read_mapped(path), path.read_bytes()
    write_mapped(frames()["empty"], path)
    pd.testing.assert_frame_equal(held, frames()["mixed"], check_dtype=False)
    for cut in (0, 10, 50, len(whole) // 2, len(whole) - 9):
        path.write_bytes(whole[:cut])
        with pytest.raises(ValueError, match=r"\w"):
            read_mapped(path)
