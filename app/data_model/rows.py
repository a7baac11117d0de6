"""Which rows are used: filters, and what is done about missing values."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.data_model.named import choose
from app.drafts.drafts import as_list, with_data
from app.drafts.numbers import read_number, split_numbers
from app.tables.summary import Summary
from app.widgets import notices
from app.widgets.people.row_choice import WRAPPING
from audits.stats.text import count, in_words, several

_CONDITIONS = {
    "between": "between",
    "is one of": "in",
    "is none of": "not_in",
    "at least": "at_least",
    "at most": "at_most",
    "above": "above",
    "below": "below",
    "is missing": "missing",
    "is not missing": "not_missing",
}
_ALONE = {"missing", "not_missing"}  # conditions without values
_MAX_SHOWN = 6
_GOOD = "favorable"
_SHORT, _LONG = 18, 30  # letters of a group that a narrow column holds, and a wide one
_MISSING = {
    "category": "Keep them: missing counts as a separate value",
    "impute": "Fill them in with the median or most frequent value",
    "drop": "Leave those rows out",
}


def rows_section(draft: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Draw the missing-value policy and the row filters; return the draft."""
    data = draft["spec"]["data"]
    before = data.get("missing", "category")
    missing = choose("Missing values", _MISSING, before, f"missing-{draft['id']}", width=440)
    if missing != before:  # a look at the page changes nothing
        draft = with_data(draft, missing=missing)
    key = f"keep-{draft['id']}"
    if state.widget(key) is None:  # a fresh editor begins with what the draft holds
        state.keep(key, _as_table(data.get("keep") or ()))
    st.markdown("Keep only rows where")
    edited = st.data_editor(
        state.get(key),
        key=key,
        num_rows="dynamic",
        hide_index=True,
        column_config={
            "column": st.column_config.SelectboxColumn("column", options=list(names), width="medium"),
            "condition": st.column_config.SelectboxColumn(
                "condition", options=list(_CONDITIONS), width="small"
            ),
            "values": st.column_config.TextColumn(
                "values", help="Separated by commas; two for between", width="medium"
            ),
        },
        alt="Row filters: column, condition, values",
    )
    keep = [_rule(row) for row in edited.to_dict("records") if _whole(row)]
    return with_data(draft, keep=keep or None)


def left_out_section(summary: Summary, told: Collection[str]) -> None:
    """Say how many rows are used, which are not and why; what was `told` of the file is not told again."""
    left_out = sum(summary.excluded.values())
    used = (
        f"{count(summary.rows)} of {count(summary.rows_read)} rows are used; {count(left_out)} are left out."
    )
    st.text(used if left_out else f"All {count(summary.rows)} rows are used.")
    if any(reason.startswith("label ") for reason in summary.excluded):
        st.text("Rows without a label still count where decisions alone are compared.")
    lines = [f"{several(rows, 'row')}: {reason}" for reason, rows in summary.excluded.items() if rows]
    lines += [
        f"{several(cells, 'cell')} of {column} filled in"
        for column, cells in summary.imputed.items()
        if cells
    ]
    notices.bullets([*lines, *(note for note in summary.notes if note not in told)])
    tables = {name: sizes for name, sizes in summary.groups.items() if sizes}
    with st.grid(3, min_column_width=270):
        for name, sizes in tables.items():
            letters = max(len(size.value) for size in sizes)
            shown = {
                name: [in_words(size.value) for size in sizes],
                "people": [size.people for size in sizes],
            }
            if summary.favorable is not None:
                shown[_GOOD] = [
                    size.favorable if size.favorable is None else 100 * size.favorable for size in sizes
                ]
            st.dataframe(
                pd.DataFrame(shown),
                hide_index=True,
                height="content" if len(sizes) <= _MAX_SHOWN else 248,
                row_height=WRAPPING if letters > _LONG else None,
                column_config={
                    name: st.column_config.TextColumn(width=200 if letters > _SHORT else 120),
                    "people": st.column_config.NumberColumn(format="localized", width=70),
                    _GOOD: st.column_config.NumberColumn(format="%.1f%%", help="With a favorable label"),
                },
                alt=f"People by {name}",
            )


def _as_table(rules: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    rows = []
    for rule in rules:
        for words, key in _CONDITIONS.items():
            if key in rule:
                text = "" if key in _ALONE else _csv_line(as_list(rule[key]))
                rows.append((rule["column"], words, text))
    return pd.DataFrame(rows, columns=["column", "condition", "values"], dtype="str")


def _whole(row: Mapping[str, Any]) -> bool:
    given = [isinstance(row[name], str) and row[name] for name in ("column", "condition", "values")]
    return bool(given[0] and given[1] and (given[2] or _CONDITIONS.get(row["condition"]) in _ALONE))


def _rule(row: Mapping[str, Any]) -> dict[str, Any]:
    key = _CONDITIONS[row["condition"]]
    if key in _ALONE:
        return {"column": row["column"], key: True}
    if key in {"in", "not_in"}:
        return {"column": row["column"], key: _split(row["values"])}
    many = 2 if key == "between" else 1
    bounds = [_bound(value) for value in split_numbers(row["values"], "the row filters", many)]
    return {"column": row["column"], key: bounds if key == "between" or len(bounds) != 1 else bounds[0]}


def _bound(text: str) -> Any:
    """Return a number, or what is a date or told by the data section's check."""
    found = read_number(text)
    return text if found is None else int(found) if found.is_integer() else found


def _split(text: str) -> list[str]:
    return [part.strip() for part in next(csv.reader([text], skipinitialspace=True))]


def _csv_line(values: Sequence[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue().replace(",", ", ") if '"' not in line.getvalue() else line.getvalue()
