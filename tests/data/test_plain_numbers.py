"""Columns read as numbers at once are those that their distinct values give, cell by cell."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audits.data.io import columns
from audits.data.io.plain_numbers import plain_numbers

_PLAIN = ["1", "-3", "-0", "0", "2.5", "-0.5", ".5", "-.5", "5.", "1e5", "1E-3", "1e+2", ""]
_ODD = [
    *["007", "-07", "00.5", "+4", "1.234", "12.345", "1,5", "1,234", "-", "--", ".", "..", "NA", "nan"],
    *["inf", "1e", "e5", "1.2.3", "1-2", "2024-01-05"],
    *["5 ", " 6", "0x10", "1e400", "-1e-320", "abc", "٣"],
    *["123456789012345678", "1234567890123456789", "9007199254740993", "9007199254740992.5"],
]


def _array(cells: list[str], cut: int) -> pa.ChunkedArray:
    """Return cells in two chunks, the second of which begins inside its buffers."""
    later = pa.array(["besides", *cells[cut:]], pa.string()).slice(1)
    return pa.chunked_array([pa.array(cells[:cut], pa.string()), later])


@settings(max_examples=20)
@given(
    pool=st.lists(st.sampled_from(_PLAIN), min_size=1, max_size=5),
    odd=st.lists(st.sampled_from(_ODD), max_size=2),
    order=st.lists(st.integers(0, 50), min_size=1, max_size=12),
    cut=st.integers(0, 12),
    markers=st.sampled_from([None, ("NA",), ("5.",), ("", "?")]),
    comma=st.booleans(),
    decimal=st.sampled_from([None, ".", ","]),
)
def test_numbers_are_those_of_the_distinct_values(pool, odd, order, cut, markers, comma, decimal):
    cells = [(pool + odd)[place % len(pool + odd)] for place in order]
    table = {"a": _array(cells, cut), "b": _array(["1,5", "2.5"] * len(cells), 1)}
    made = columns.convert_texts(table, markers=markers, comma=comma, decimal=decimal)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "plain_numbers", lambda *_, **__: None)
        slow = columns.convert_texts(table, markers=markers, comma=comma, decimal=decimal)
    assert list(made) == list(slow)
    for name, each in slow.items():
        found = made[name]
        assert found.values.dtype == each.values.dtype
        if each.values.dtype.kind == "f":
            np.testing.assert_array_equal(found.values, each.values)
            np.testing.assert_array_equal(np.signbit(found.values), np.signbit(each.values))
        else:
            assert found.values.equals(each.values)
        assert (dict(found.missing), found.notes) == (dict(each.missing), each.notes)
        assert found.markers.plain() == each.markers.plain()


def test_plain_numbers_are_read_at_once():
    assert plain_numbers(_array(["1", "-20", "0"], 1)).tolist() == [1, -20, 0]
    gaps = plain_numbers(_array(["1", "", "3"], 2))
    assert gaps.dtype == np.float64
    np.testing.assert_array_equal(gaps, [1, np.nan, 3])
    assert plain_numbers(_array(["0.5", "-1e-3"], 1)).tolist() == [0.5, -0.001]
    assert plain_numbers(_array(["007", "1"], 1)) is None  # a code: too rare among the random columns above
