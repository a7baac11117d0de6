"""Columns read as numbers at once are those that their distinct values give, cell by cell."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from audits.data.io import columns

PLAIN = ["1", "-3", "-0", "2.5", "-.5", "5.", "1e5", "1E-3", ""]
ODD = [
    *["1", "007", "-07", "00.5", "+4", "1.234", "12.345", "1,5", "1,234", "-", ".", "..", "NA", "nan", "inf"],
    *["1e", "e5", "1.2.3", "1-2", "2024-01-05", "5 ", " 6", "0x10", "1e400", "-1e-320", "abc", "٣"],
    *["123456789012345678", "1234567890123456789", "9007199254740993", "9007199254740992.5"],
]


def _chunks(cells: list[str]) -> pa.ChunkedArray:
    """Return cells in two chunks, the second of which begins inside its buffers."""
    later = pa.array(["besides", *cells[2:]], pa.string()).slice(1)
    return pa.chunked_array([pa.array(cells[:2], pa.string()), later])


@pytest.mark.parametrize(
    ("markers", "comma", "decimal", "first"),
    [(None, False, None, 0), (("NA",), True, None, 3), (("", "5."), True, ",", 7), (None, True, ".", 3)],
)
def test_numbers_are_those_of_the_distinct_values(markers, comma, decimal, first, monkeypatch):
    tables = [{odd: _chunks([*PLAIN[first:], odd])} for odd in ODD]
    told = {"markers": markers, "comma": comma, "decimal": decimal}
    made = [columns.convert_texts(table, **told) for table in tables]
    monkeypatch.setattr(columns, "plain_numbers", lambda *_, **__: None)
    slowly = [columns.convert_texts(table, **told) for table in tables]
    for fast, slow in zip(made, slowly, strict=True):
        for name, each in slow.items():
            found = fast[name]
            assert found.values.dtype == each.values.dtype
            if each.values.dtype.kind == "f":
                np.testing.assert_array_equal(found.values, each.values)
                np.testing.assert_array_equal(np.signbit(found.values), np.signbit(each.values))
            else:
                assert found.values.equals(each.values)
            assert (dict(found.missing), found.notes) == (dict(each.missing), each.notes)
            assert found.markers.plain() == each.markers.plain()
