"""Long tables are written as pandas writes them, byte for byte."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.runs.long_csv import write_long

_ROWS = 7


def _column(values: st.SearchStrategy, kind: str) -> st.SearchStrategy[pd.Series]:
    return st.lists(values, min_size=_ROWS, max_size=_ROWS).map(lambda cells: pd.Series(cells, dtype=kind))


_texts = st.one_of(st.none(), st.sampled_from(["", "a,b", 'say "it"', "two\nlines", " x ", "\r"]), st.text())
_columns = st.one_of(
    _column(st.floats(), "float64"),
    _column(
        st.sampled_from([0.0, -0.0, 1e-3, 9.9e-4, 1e15, 123456.7, 1e9 - 0.5, 1e10 + 0.5, np.nan, 1e16, 1e22]),
        "float64",
    ),
    _column(st.integers(-(2**63), 2**63 - 1), "int64"),
    _column(st.booleans(), "bool"),
    _column(_texts.filter(lambda text: text is None or text.isprintable() or len(text) < 3), "str"),
)


@settings(max_examples=400)
@given(st.lists(_columns, min_size=2, max_size=4), st.booleans())
def test_what_is_written_is_what_pandas_writes(tmp_path_factory, columns, index):
    frame = pd.DataFrame({f'col"{place}': column for place, column in enumerate(columns)})
    frame.index = pd.RangeIndex(1, _ROWS + 1, name="row")
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    assert write_long(frame, path, index=index)
    assert path.read_bytes() == frame.to_csv(index=index, lineterminator="\n").encode()


@pytest.mark.parametrize("values", [pd.Categorical(["a", "b"]), pd.to_datetime(["2024-01-01"] * 2), [1, "a"]])
def test_other_columns_are_left_to_pandas(tmp_path, values):
    path = tmp_path / "table.csv"
    assert not write_long(pd.DataFrame({"x": values, "y": [1, 2]}), path, index=False)
    assert not path.exists()
