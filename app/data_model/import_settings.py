"""How the file was read, and what to read differently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app.drafts.drafts import as_list, with_data
from app.tables.handles import TableHandle
from app.widgets import notices
from audits.stats.text import several

_SEPARATORS = {"Detect": None, "Comma": ",", "Semicolon": ";", "Tab": "tab", "Bar": "|", "Space": " "}
_HEADERS = {"Detect": None, "First row holds the names": True, "No header": False}
_DECIMALS = {"Detect": None, "Comma": ",", "Point": "."}


def reading_section(draft: dict[str, Any], table: TableHandle | None) -> dict[str, Any]:
    """Say how the file was read, offer to read it differently; return the draft, changed if asked to."""
    if table is not None:
        notices.bullets(table.report.sentences())
    key = f"reading-{draft['id']}"
    box = st.expander("Import settings", expanded=table is None, key=key, on_change="rerun")
    if not box.open:
        return draft
    with box:
        return _options(draft)


def _options(draft: dict[str, Any]) -> dict[str, Any]:
    old: Mapping[str, Any] = draft["spec"]["data"].get("read") or {}
    with st.form(f"read-{draft['id']}", border=False):
        left, middle, right = st.columns(3)
        separator = left.selectbox(
            "Separator", list(_SEPARATORS), index=_place(_SEPARATORS, old.get("separator"))
        )
        header = middle.selectbox("Header", list(_HEADERS), index=_place(_HEADERS, old.get("header")))
        encoding = right.text_input("Encoding", old.get("encoding") or "", placeholder="Detect", max_chars=40)
        missing = left.text_input(
            "Missing markers",
            ", ".join(old.get("missing") or ()),
            placeholder="Detect",
            help="Separated by commas. Only these texts count as missing.",
        )
        skip = middle.text_input(
            "Lines to skip at the top",
            ", ".join(map(str, as_list(old.get("skip_rows")))),
            placeholder="Detect",
            help="One number, or one for each file, separated by commas.",
        )
        names = right.text_input(
            "Column names",
            ", ".join(old.get("names") or ()),
            placeholder="From the file",
            help="Separated by commas, one for each column. For a file without a header, or to replace it.",
        )
        decimal = left.selectbox(
            "Decimal mark",
            list(_DECIMALS),
            index=_place(_DECIMALS, old.get("decimal")),
            help="1.234,50 has a decimal comma, 1,234.50 a decimal point.",
        )
        sheet = middle.text_input("Sheet", old.get("sheet") or "", placeholder="The first")
        if not st.form_submit_button("Read again"):
            return draft
    read = {
        "separator": _SEPARATORS[separator],
        "header": _HEADERS[header],
        "encoding": encoding.strip() or None,
        "missing": _parts(missing),
        "skip_rows": _numbers(skip),
        "names": _parts(names),
        "decimal": _DECIMALS[decimal],
        "sheet": sheet.strip() or None,
    }
    return with_data(draft, read={key: value for key, value in read.items() if value is not None} or None)


def preview_section(table: TableHandle) -> None:
    """Show the first rows as read."""
    rows, columns = table.shape
    first = table.first
    st.dataframe(first, height=245, alt=f"First {len(first)} rows as read")
    with st.container(key="quiet-preview"):
        some = f"; the first {len(first):,} are shown" if len(first) < rows else ""
        st.text(f"{several(rows, 'row')} and {several(columns, 'column')}{some}.")


def _place(options: Mapping[str, Any], value: Any) -> int:
    value = "tab" if value == "\t" else value
    return list(options.values()).index(value) if value in options.values() else 0


def _parts(text: str) -> list[str] | None:
    return [part.strip() for part in text.split(",")] if text.strip() else None


def _numbers(text: str) -> Any:
    parts = _parts(text)
    if parts is None:
        return None
    values = [
        int(part) if part.isdecimal() else part for part in parts
    ]  # what is no number is told by the reader
    return values[0] if len(values) == 1 else values
