"""A table of people: a click opens those who can be opened, nobody is left out of the choice or uncounted."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from app.widgets import row_choice


def page() -> None:
    import pandas as pd
    import streamlit as st

    from app.widgets import row_choice

    table = pd.DataFrame({"score": range(1500)}, index=range(7, 1507))
    chosen = row_choice.choose_row(table, "crowd", "who", alt="A crowd")
    st.text(f"opened {chosen}")


def shown(at: AppTest) -> list[str]:
    return [text.value for text in at.text]


def test_a_long_table_says_how_many_are_shown_and_opens_everyone() -> None:
    at = AppTest.from_function(page).run()
    assert not at.exception
    assert "The first 1,000 of 1,500 people are shown; the file holds them all." in shown(at)
    assert len(at.dataframe[0].value) == 1000
    at.selectbox[0].select("1506").run()
    assert "opened 1506" in shown(at)


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
