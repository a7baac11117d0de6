"""A table of people: a click opens those who can be opened, nobody is left out of the choice or uncounted."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from app.widgets import row_choice


def page() -> None:
    import pandas as pd
    import streamlit as st

    from app.widgets import row_choice

    table = pd.DataFrame({"score": range(1500)}, index=range(7, 1507))

    def cells(rows):
        st.text(f"fetched {len(rows)}")
        return pd.DataFrame({"town": "a"}, index=rows)

    chosen = row_choice.choose_row(lambda: table, "crowd", "who", alt="A crowd", beside=cells)
    st.text(f"opened {chosen}")


def shown(at: AppTest) -> list[str]:
    return [text.value for text in at.text]


def test_a_long_table_says_how_many_are_shown_and_opens_everyone() -> None:
    at = AppTest.from_function(page).run()
    assert not at.exception
    assert "The first 1,000 of 1,500 people are shown; the file holds them all." in shown(at)
    assert len(at.dataframe[0].value) == 1000
    assert list(at.dataframe[0].value.columns) == ["score", "town"]
    assert "fetched 1000" in shown(at), "nothing is fetched of those who are not shown"
    assert len(at.selectbox[0].options) == 1000
    for asked, said in (("1506", "opened 1506"), ("9999", "opened None")):
        at = AppTest.from_function(page)
        at.query_params["who"] = asked
        at.run()
        assert not at.exception
        assert said in shown(at)
    assert "Nobody in the table has the row number 9999." in shown(at)


def test_the_file_holds_everybody_with_their_cells_and_one_header(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_choice, "_TOGETHER", 400)
    table = pd.DataFrame({"score": range(1500)}, index=range(7, 1507))
    whole = row_choice._file(lambda: table, None, lambda rows: pd.DataFrame({"town": "=a"}, index=rows))
    read = pd.read_csv(io.BytesIO(whole), index_col="row")
    assert read["score"].tolist() == list(range(1500))
    assert read.index.tolist() == list(table.index)
    assert set(read["town"]) == {"'=a"}
    some = row_choice._file(lambda: table, pd.Index([9, 1000]), None)
    assert pd.read_csv(io.BytesIO(some))["row"].tolist() == [9, 1000]


@pytest.mark.parametrize(("clicked", "opened"), [(0, "7"), (1, None), (2, "9"), (5, None), (None, None)])
def test_a_click_opens_only_who_can_be_opened(
    monkeypatch: pytest.MonkeyPatch, clicked: int | None, opened: str | None
) -> None:
    kept: dict[str, object] = {"crowd": {"selection": {"rows": [] if clicked is None else [clicked]}}}
    monkeypatch.setattr(row_choice.state, "widget", kept.get)
    monkeypatch.setattr(row_choice.state, "get", kept.get)
    monkeypatch.setattr(row_choice.state, "keep", kept.__setitem__)
    monkeypatch.setattr(row_choice.state, "set_widget", kept.__setitem__)
    row_choice._open("crowd", "who", ["7", "8", "9"], {"7": 7, "9": 9})
    assert kept["who"] == opened


def test_a_click_anywhere_in_a_row_opens_it_and_the_latest_click_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: dict[str, object] = {}
    monkeypatch.setattr(row_choice.state, "widget", kept.get)
    monkeypatch.setattr(row_choice.state, "get", kept.get)
    monkeypatch.setattr(row_choice.state, "keep", kept.__setitem__)
    opened = []
    for rows, cells in (
        ([], [(2, "age")]),
        ([4], [(2, "age")]),
        ([4], [(0, "sex")]),
        ([], []),
        ([], [(9, "age")]),
    ):
        kept["crowd"] = {"selection": {"rows": rows, "cells": cells}}
        opened.append(row_choice.clicked_row("crowd", 5))
    assert opened == [2, 4, 0, None, None]
