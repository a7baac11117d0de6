"""Bringing data: a bundled example, an upload, or a file of the server's data folder."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import streamlit as st

from app import examples, jobs, state
from app.data_model.questions import FIRST_QUESTION
from app.drafts import drafts
from app.workspaces.workspace import MAX_FILE_MB, Workspace
from audits.data.samples import CATALOG


def example_cards(space: Workspace) -> None:
    """Draw the bundled examples; one click loads data, spec and model."""
    with st.grid(3, min_column_width=270, border=False):
        for name, sample in CATALOG.items():
            with st.container(border=True, height="stretch", key=f"card-{name}"):
                st.markdown(f"**{sample.title}**")
                if (found := examples.finding(name)) is not None:
                    st.html(_picture(found))
                st.text(sample.sentence)
                st.space("stretch")
                st.button(
                    "Open this example",
                    key=f"open-{name}",
                    on_click=_begin,
                    args=(space, lambda sample=sample: drafts.from_sample(space, sample)),
                    kwargs={"then": "views/glance.py"},
                )


def _picture(found: examples.ExampleFinding) -> str:
    """Return two bars below what they measure: the group of the finding, and everyone."""
    bars = ((found.group, found.rate, "focus"), ("everyone", found.everyone, ""))
    rows = "".join(
        f"<dt>{html.escape(name)}</dt><dd class='{kind}'><i style='width:{100 * rate:.0f}%'></i>"
        f"<b>{100 * rate:.0f}%</b></dd>"
        for name, rate, kind in bars
    )
    return f"<p class='example-measure'>{html.escape(found.measure)}</p><dl class='example-bars'>{rows}</dl>"


def file_sources(space: Workspace) -> None:
    """Draw the upload and, where the server has a data folder, the picker."""
    turn = state.remember("uploads", lambda: 0)
    key = f"upload-{turn}"
    st.file_uploader(
        "CSV, TSV, Parquet, Arrow, XLSX or JSON lines; several files with the same columns are read as one",
        accept_multiple_files=True,
        max_upload_size=MAX_FILE_MB,
        key=key,
        on_change=_take_upload,
        args=(space, key, turn),
    )
    folder = drafts.server_folder()
    if folder is not None:
        _server_picker(space, folder)


def _server_picker(space: Workspace, folder: Path) -> None:
    files = drafts.server_files(folder) if folder.is_dir() else []
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox(
            "Or a file on the server", files, index=None, key="server-file", placeholder="Choose a file"
        )
        st.button(
            "Open",
            key="open-server",
            disabled=chosen is None,
            on_click=_begin,
            args=(space, lambda: _new([drafts.server_file(folder, str(chosen))], "server")),
        )


def _store_files(space: Workspace, files: Iterable[Any]) -> list[Path]:
    found = [space.add_file(file.name, file) for file in files]
    for path in found:
        state.note("brought", space, path.parent.name)
    return found


def _take_upload(space: Workspace, key: str, turn: int) -> None:
    with state.uploads(key) as files:
        if files:
            state.keep("uploads", turn + 1)  # a fresh uploader, for other files
            _begin(space, lambda: _new(_store_files(space, files), "upload"))


def _new(paths: list[Path], kind: str) -> dict[str, Any]:
    """Return the draft of a table of which the questions are still to be asked."""
    return drafts.from_files(paths, kind) | {"question": FIRST_QUESTION}


@state.keep_errors("source problem")
def _begin(space: Workspace, make: Callable[[], dict[str, Any]], then: str = "") -> None:
    """Start over with other data, on the page `then`; what is wrong with them is told on the page."""
    draft = make()
    space.save_draft(draft)
    if then:  # read while the page is drawn
        jobs.data(space, draft["spec"])
    state.forget_addresses()
    state.select("")
    state.keep("then", then)
