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


def shown(at: AppTest) -> list[str]:
    return [text.value for text in at.text]


def test_a_long_table_says_how_many_are_shown_and_opens_everyone() -> None:
    at = AppTest.from_function(page).run()
    assert not at.exception
    assert any("1,000" in each and "1,500" in each for each in shown(at))
    assert len(at.dataframe[0].value) == 1000
    assert list(at.dataframe[0].value.columns) == ["row", "score", "town"]
    assert "fetched 1000" in shown(at), "nothing is fetched of those who are not shown"
    assert len(at.selectbox[0].options) == 1000
    for asked, said in (("1506", "opened 1506"), ("9999", "opened None")):
        at = AppTest.from_function(page)
        at.query_params["who"] = asked
        at.run()
        assert not at.exception
        assert said in shown(at)
    assert any("9999" in each for each in shown(at))


@pytest.mark.parametrize(
    ("rows", "cells", "opened"),
    [([0], [], "7"), ([1], [], None), ([5], [], None), ([], [], None), ([0], [(2, "age")], "9")],
)
def test_a_click_opens_only_who_can_be_opened(
    monkeypatch: pytest.MonkeyPatch, rows: list[int], cells: list[tuple[int, str]], opened: str | None
) -> None:
    kept: dict[str, object] = {"crowd": {"selection": {"rows": rows, "cells": cells}}}
    monkeypatch.setattr(row_choice.state, "widget", kept.get)
    monkeypatch.setattr(row_choice.state, "get", kept.get)
    monkeypatch.setattr(row_choice.state, "keep", kept.__setitem__)
    monkeypatch.setattr(row_choice.state, "set_widget", kept.__setitem__)
    row_choice._open("crowd", "who", ["7", "8", "9"], {"7": 7, "9": 9})
    assert kept["who"] == opened


@pytest.mark.parametrize(("falling", "lacking"), [(False, 0.3), (True, 0.3), (True, 0.995)])
def test_an_order_is_that_of_the_sorted_table_with_ties_and_missing_numbers(falling: bool, lacking: float):
    rng = np.random.default_rng(4)
    values = np.where(rng.random(5000) < lacking, np.nan, rng.integers(0, 40, 5000) / 4)
    table = pd.DataFrame({"ratio": values}, index=rng.permutation(5000))
    order = Order("ratio", falling=falling)
    by_pandas = table.sort_values("ratio", ascending=not falling, kind="stable").index
    assert table.index[order.places(table)].equals(by_pandas)
    for most in (1, 30, 1000, 9000):
        assert table.index[order.places(table, most)].equals(by_pandas[:most])


def named_rows() -> None:
    from types import SimpleNamespace

    import pandas as pd

    from app.tables.listed import PeopleTable
    from app.widgets.people import row_choice

    table = pd.DataFrame({"row": [1.0, 2.0], "row number": [3.0, 4.0]}, index=[7, 9])
    found = SimpleNamespace(audits=(SimpleNamespace(name="any", result=SimpleNamespace(people=table)),))
    row_choice.choose_row(PeopleTable(found, "people"), "crowd", "who", alt="A crowd")


def test_columns_of_the_data_that_are_called_row_stay_beside_the_row_number() -> None:
    at = AppTest.from_function(named_rows).run()
    assert not at.exception
    first, *others = at.dataframe[0].value.columns
    assert others == ["row", "row number"]
    assert at.dataframe[0].value[first].tolist() == [7, 9]


def test_long_texts_go_on_below_and_gaps_make_no_fractions_of_whole_numbers() -> None:
    def page_of_long_texts() -> None:
        from types import SimpleNamespace

        import pandas as pd

        from app.tables.listed import PeopleTable, RawCells
        from app.widgets.people import row_choice

        people = pd.DataFrame({"score": [0.5, 0.75]}, index=[7, 8])
        cells = {"from": ["a district " * 5, "b"], "income": [16_900.0, None]}
        found = SimpleNamespace(audits=(SimpleNamespace(name="any", result=SimpleNamespace(people=people)),))
        beside = RawCells(
            SimpleNamespace(frame=pd.DataFrame(cells, people.index)), {name: name for name in cells}
        )
        row_choice.choose_row(PeopleTable(found, "people"), "crowd", "who", alt="A crowd", beside=beside)

    at = AppTest.from_function(page_of_long_texts).run()
    assert not at.exception
    assert at.dataframe[0].proto.row_height == row_choice.WRAPPING > 4 * 16, "cells break lines above 4 rem"
    assert at.dataframe[0].value["income"].dtype == "Int64"
    assert at.dataframe[0].value["score"].dtype == float
