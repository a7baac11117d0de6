"""A table of people of whom one can be opened: by a click on the row, or by its number."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from app import jobs, state
from app.tables.handles import DataHandle
from app.tables.listed import Order, PeopleTable, RawCells
from app.tables.protocol import pack
from app.widgets.download import download
from app.widgets.people.selected import clickable, let_go, only_selected
from app.widgets.results.figure_card import figure_card, number_columns
from app.workspaces.workspace import Workspace
from audits.drawing.selected import selected_among, selected_bins
from audits.stats.text import count, people
from audits.stats.vocabulary import vocabulary

WRAPPING = 66
"""Pixels of a row, more than 4 rem, in which what is longer than its column is wide goes on below."""
_LONG, _WIDE = 36, 250  # letters that go on below, and pixels of their column

_MAX_SHOWN = 1000


def choose_row(
    people: PeopleTable,
    key: str,
    person: str,
    *,
    alt: str,
    order: Order | None = None,
    beside: RawCells | None = None,
    formats: Mapping[str, Any] | None = None,
    of: Sequence[Hashable] | None = None,
    label: str = "One person, by row number",
    number: str = "",
    among: bool = True,
) -> Hashable | None:
    """Draw a table of people, whose index is the user's row number, and return the row chosen, if one is.

    Of a long table the first 1,000 people are drawn and listed in the choice below it, where the number of
    any other can be typed; all are in the file. Nothing of the others is kept for the page.

    Parameters
    ----------
    people : Listed
        Makes the table: here for the page, and in another process for the file.
    key : str
        Of the table; names the file to download, too.
    person : str
        Key of the choice, kept in the address.
    order : Order, optional
        Whom it shows first; by default those who come first in it.
    beside : RawCells, optional
        Further columns, fetched for those who are shown, and for the file.
    formats : mapping, optional
        Column configuration beyond that of numbers.
    of : sequence, optional
        The rows that can be opened; all by default.
    number : str
        The column of which it is shown where the people selected lie.
    among : bool
        Whether the table holds others than the people selected, who are then left out.
    """
    table = people()
    selected = only_selected(table) if among else None
    only = None
    if selected is not None:
        show_selected(table, selected, key, number)
        table, only = selected, selected.index
    if table.empty:
        return None
    first = table.head(_MAX_SHOWN) if order is None else table.iloc[order.places(table, _MAX_SHOWN)]
    shown = _with(first, beside)
    rows = [str(row) for row in shown.index]
    opened = {str(row): row for row in (shown.index if of is None else of) if row in table.index}
    typed = of is None and len(table) > len(shown)
    name = "row"
    while name in shown:  # data may have columns of that name
        name += " number" if name == "row" else "_"
    clickable_table(
        shown.rename_axis(index=name).reset_index(),  # streamlit tells of no click on an index
        key,
        lambda place: _open(person, None if place is None else rows[place], opened),
        **_room(shown, {name: st.column_config.Column(name, pinned=True), **(formats or {})}),
        alt=alt,
    )
    if len(table) > len(shown):
        st.text(f"The first {len(shown):,} of {len(table):,} people are shown; the file holds them all.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            label,
            list(opened),
            index=None,
            placeholder=f"Click a row above, or {'type a number' if typed else 'choose one'} here",
            accept_new_options=typed,
            width=360,
            on_change=lambda: let_go(key),
            **state.choice(person),
        )
        make = partial(_file, state.workspace(), people, only, order, beside)
        download("People (CSV)", f"{key}.csv", "text/csv", make, what=key, key=f"csv-{key}")
    if chosen is None or chosen in opened:
        return None if chosen is None else opened[chosen]
    found = next(iter(table.index[table.index.astype(str) == chosen.strip()]), None)
    if found is None:
        st.text(f"Nobody in the table has the row number {chosen[:40]}.")
    return found


def _with(table: pd.DataFrame, beside: RawCells | None) -> pd.DataFrame:
    found = table if beside is None else pd.concat([table, _whole(beside(table.index))], axis=1)
    return _in_words(found).rename_axis(index="row")


def _in_words(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose decisions are called as the data call them."""
    words = vocabulary()
    if not words.yes or not words.no:
        return table
    said = {True: words.yes, False: words.no, "favorable": words.yes, "unfavorable": words.no}
    decided = [name for name in ("decision", "first decision", "second decision") if name in table]
    return table.assign(**{name: [said.get(each, each) for each in table[name]] for name in decided})


def _whole(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells with whole numbers as such, of which a gap elsewhere in the column has made fractions."""
    fractions = cells.select_dtypes("float")
    whole = [name for name in fractions if fractions[name].dropna().mod(1).eq(0).all()]
    return cells.astype(dict.fromkeys(whole, "Int64"))


def _room(shown: pd.DataFrame, columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return heights and columns of a table: texts that are long go on below in theirs."""
    long = [str(each) for each in shown if _letters(shown[each]) > _LONG]
    wide = {each: st.column_config.Column(width=_WIDE) for each in long}
    high = WRAPPING if long else 35
    return {
        "height": min(38 + high * len(shown), 388),
        "row_height": high,
        "column_config": {**number_columns(shown), **wide, **columns},
    }


def _letters(values: pd.Series) -> int:
    """Return how long the longest text of a column is; 0 of numbers."""
    if not pd.api.types.is_string_dtype(values.dtype) and not isinstance(values.dtype, pd.CategoricalDtype):
        return 0
    return max((len(each) for each in values.dropna() if isinstance(each, str)), default=0)


def _file(
    space: Workspace, people: PeopleTable, only: pd.Index | None, order: Order | None, beside: RawCells | None
) -> bytes:
    """Have all people written as CSV, put in order and with their further columns."""
    arguments = {
        "table": people.table,
        "arguments": dict(people.arguments),
        "rows": pack(people.rows),
        "only": pack(only),
        "order": None if order is None else asdict(order),
        "beside": None if beside is None else dict(beside.names),
    }
    data = beside.data if beside is not None and isinstance(beside.data, DataHandle) else None
    return jobs.export(space, people.found, "people", arguments, data)


def show_selected(table: pd.DataFrame, selected: pd.DataFrame, key: str, number: str) -> None:
    """Say how many of the people of a table are selected, and draw where they lie among all."""
    sizes = table["people"] if "people" in table else pd.Series(1.0, index=table.index)
    inside = table.index.isin(selected.index)
    some = count(float(sizes[inside].sum()))
    st.text(
        f"{some} of these {people(float(sizes.sum()))} {'is' if some == '1' else 'are'} selected; the "
        "table shows them alone. Intervals and verdicts stay those of the whole audit."
    )
    if number and inside.any():
        name = f"{number}, of those who have one" if table[number].isna().any() else number
        bins = selected_bins(table[number], inside, sizes.to_numpy(dtype=float))
        figure_card(f"{key}-selected", selected_among(bins, name), lambda: bins)


def clickable_table(table: pd.DataFrame, name: str, opens: Callable[[int | None], None], **look: Any) -> None:
    """Draw a table of which a click on a row, by its mark or any of its cells, calls `opens` with its place.

    None where the click took the choice back, or is of a table that has become shorter.
    """
    key = clickable(name)
    st.dataframe(
        table,
        key=key,
        hide_index=True,
        on_select=lambda: opens(_clicked_row(key, len(table))),
        selection_mode=("single-row", "single-cell"),
        **look,
    )


def _clicked_row(key: str, rows: int) -> int | None:
    """Return the row of the table `key` that was clicked last; None beyond the `rows` that are drawn."""
    selection = state.widget(key)["selection"]
    marked, cells = list(selection["rows"]), [row for row, _ in selection.get("cells", ())]
    before = state.get(f"clicked {key}", ([], []))
    state.keep(f"clicked {key}", (marked, cells))
    latest = cells if cells and (cells != before[1] or not marked) else marked
    return latest[0] if latest and latest[0] < rows else None


def _open(person: str, row: str | None, opened: Mapping[str, Hashable]) -> None:
    state.set_widget(person, row if row in opened else None)
