"""Messages. What may hold text from the data is written as plain text, never as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

import streamlit as st

__all__ = ["bullets", "label", "note", "problem"]

_MARKS = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&:@-])")


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


def label(text: str, longest: int = 60) -> str:
    r"""Return text from the data as the label of a control, which is Markdown: short, and without marks.

    Examples
    --------
    >>> label("*a* [b](c) :red[d] $e$")
    '\\*a\\* \\[b\\]\\(c\\) \\:red\\[d\\] \\$e\\$'
    """
    flat = " ".join(text.split())
    flat = flat if len(flat) <= longest else flat[: longest - 1] + "…"
    return _MARKS.sub(r"\\\1", flat)


def _box(kind: str, sentence: str) -> None:
    mark = sha256(sentence.encode()).hexdigest()[:8]
    with st.container(key=f"{kind}-{mark}"):
        st.text(sentence)
