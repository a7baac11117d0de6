"""A table of people: a click opens those who can be opened, nobody is left out of the choice or uncounted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app.tables.listed import Order
from app.widgets.people import row_choice


def page() -> None:
    from types import SimpleNamespace

    import pandas as pd
    import streamlit as st

    from app.tables.listed import PeopleTable, RawCells
    from app.widgets.people import row_choice

    class Fetched:  # a frame as of data that lie in another process
        @property
        def loc(self):
            return self

        def __getitem__(self, wanted):
            st.text(f"fetched {len(wanted[0])}")
            return pd.DataFrame({"place": "a"}, index=wanted[0])

    table = pd.DataFrame({"score": range(1500)}, index=range(7, 1507))
    found = SimpleNamespace(audits=(SimpleNamespace(name="any", result=SimpleNamespace(people=table)),))
    beside = RawCells(SimpleNamespace(frame=Fetched()), {"place": "town"})
    chosen = row_choice.choose_row(PeopleTable(found, "people"), "crowd", "who", alt="A crowd", beside=beside)
    st.text(f"opened {chosen}")


def test_a_long_table_says_how_many_are_shown_and_opens_everyone() -> None:
    for asked, said in (("", "opened 7"), ("1506", "opened 1506"), ("9999", "opened None")):
        at = AppTest.from_function(page)
        if asked:
            at.query_params["who"] = asked
        at.run()
        assert not at.exception
        shown = [text.value for text in at.text]
        assert not asked or said in shown
        assert any("1,000" in each and "1,500" in each for each in shown)
        assert len(at.dataframe[0].value) == len(at.selectbox[0].options) == 1000
        assert list(at.dataframe[0].value.columns) == ["row", "score", "town"]
        assert "fetched 1000" in shown, "nothing is fetched of those who are not shown"


@pytest.mark.parametrize(("falling", "lacking"), [(False, 0.3), (True, 0.995)])
def test_an_order_is_that_of_the_sorted_table_with_ties_and_missing_numbers(falling: bool, lacking: float):
    rng = np.random.default_rng(4)
    values = np.where(rng.random(2000) < lacking, np.nan, rng.integers(0, 40, 2000) / 4)
    table = pd.DataFrame({"ratio": values}, index=rng.permutation(2000))
    by_pandas = table.sort_values("ratio", ascending=not falling, kind="stable").index
    for most in (1, 30, 9000):
        assert table.index[Order("ratio", falling=falling).places(table, most)].equals(by_pandas[:most])


def named_rows() -> None:
    from types import SimpleNamespace

    import pandas as pd

    from app.tables.listed import PeopleTable, RawCells
    from app.widgets.people import row_choice

    table = pd.DataFrame({"row": [0.5, 0.75], "row number": [3.0, 4.0]}, index=[7, 9])
    cells = {"from": ["a district " * 5, "b"], "income": [16_900.0, None]}
    found = SimpleNamespace(audits=(SimpleNamespace(name="any", result=SimpleNamespace(people=table)),))
    beside = RawCells(SimpleNamespace(frame=pd.DataFrame(cells, table.index)), {name: name for name in cells})
    row_choice.choose_row(PeopleTable(found, "people"), "crowd", "who", alt="A crowd", beside=beside)


def test_columns_called_row_stay_long_texts_go_on_below_and_gaps_make_no_fractions() -> None:
    at = AppTest.from_function(named_rows).run()
    assert not at.exception
    shown = at.dataframe[0]
    first, *others = shown.value.columns
    assert others == ["row", "row number", "from", "income"]
    assert shown.value[first].tolist() == [7, 9]
    assert shown.proto.row_height == row_choice.WRAPPING > 4 * 16, "cells break lines above 4 rem"
    assert shown.value["income"].dtype == "Int64"
    assert shown.value["row"].dtype == float
