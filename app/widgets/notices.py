"""Messages. What may hold text from the data is written as plain text, never as Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256

import streamlit as st

__all__ = ["bullets", "note", "problem"]


def problem(sentence: str, details: str = "") -> None:
    """Say in one sentence what is wrong and what to do; details for whoever looks into it."""
    _box("problem", sentence)
    if details:
        with st.expander("Copy details"):
            st.code(details, language=None, wrap_lines=True)


def note(sentence: str) -> None:
    """Say something that the reader should know."""
    _box("note", sentence)


def bullets(sentences: Iterable[str]) -> None:
    """Write a list of sentences."""
    lines = [f"• {' '.join(sentence.split())}" for sentence in sentences]
    if lines:
        st.text("\n".join(lines))


def _box(kind: str, sentence: str) -> None:
    mark = sha256(sentence.encode()).hexdigest()[:8]
    with st.container(key=f"{kind}-{mark}"):
        st.text(sentence)
