"""A record's exhibits on a page: all in their order, and those replaced that the page names."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page() -> None:
    import pandas as pd
    import plotly.graph_objects as go
    import streamlit as st

    from app.widgets.results.exhibits import show_facts, show_section
    from audits.drawing import style
    from audits.records import Exhibit, Section

    def exhibit(key: str) -> Exhibit:
        def figure() -> go.Figure:
            st.session_state[f"drawn {key}"] = True
            return style.finish(go.Figure(go.Bar(x=[1])), height=100, alt="One bar")

        return Exhibit(key, f"What is {key}", f"Look at *{key}*.", figure, lambda: pd.DataFrame({key: [1]}))

    section = Section("All", tuple(map(exhibit, ("one", "two", "three"))), {"People": "12"})
    show_section(
        section,
        instead={"two": lambda found: st.text(f"by hand: {found.key}"), "three": None, "four": None},
        prefix="all-",
    )
    show_facts(section)


def test_a_page_draws_every_exhibit_and_names_those_it_replaces() -> None:
    at = AppTest.from_function(page).run()
    assert not at.exception
    assert [found.value for found in at.subheader] == ["What is one"]
    assert [found.value for found in at.text] == ["Look at *one*.", "by hand: two", "• People: 12"]
    assert at.session_state["drawn one"]
    assert "drawn two" not in at.session_state  # a figure that the page replaces is not even made
    assert "drawn three" not in at.session_state
