"""Messages. What may hold text from the data is written as plain text, never as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256

import streamlit as st

from app import state
from app.widgets.page_words import page_words

_DIFFER = re.compile(r"'[^']*'|“[^”]*”|\d[\d,.]*\d|\d")
_ALIKE, _NAMED = 3, 4

# _ and - between letters mark nothing, nor do parentheses without brackets; screen readers read backslashes
_MARKS = re.compile(r"([\\`*{}\[\]<>#+!|~$&:@]|(?<![^\W_])[_-]|[_-](?![^\W_]))")
_LINKS = re.compile(r"(?<=www)(?=\.)|(?<=:)(?=//)|(?<=@)(?=\w)", re.IGNORECASE)
"""Where Markdown sees an address without any mark: a word joiner there leaves it text."""


def problem(sentence: str, details: str = "") -> None:
    """Say in one sentence what is wrong and what to do; details for whoever looks into it."""
    _box("problem", sentence)
    if details:
        with st.expander("Copy details"):
            st.code(details, language=None, wrap_lines=True)


def kept_problem(place: str) -> None:
    """Say why the last try of a callback failed (`app.state.keep_errors`)."""
    if sentence := state.get(place):
        problem(sentence)


def note(sentence: str) -> None:
    """Say something that the reader should know."""
    _box("note", sentence)


def notes(sentences: Iterable[str]) -> None:
    """Say several things, folded; those that are alike but for a name or a number are said once."""
    said = gather_similar(sentences)
    if len(said) == 1:
        note(said[0])
    elif said:
        with st.expander(f"{len(said)} notes on these results"):
            bullets(said)


def gather_similar(sentences: Iterable[str]) -> list[str]:
    """Return sentences with three or more that differ in a name or numbers only told as one, in its place.

    Examples
    --------
    >>> gather_similar([f"'{name}' has 40 values." for name in "abcdefg"] + ["Rows were left out."])
    ["'a' has 40 values. The same applies to 'b', 'c', 'd', 'e' and 2 more.", 'Rows were left out.']
    >>> gather_similar(f"{number} rows lack '{name}'." for number, name in ((1, "a"), (2, "b"), (3, "c")))
    ["1 rows lack 'a'. The same, with other numbers, applies to 'b' and 'c'."]
    >>> gather_similar(["3 rows lack it.", "4 rows lack it."])
    ['3 rows lack it.', '4 rows lack it.']
    """
    alike: dict[str, list[str]] = {}
    for sentence in sentences:
        alike.setdefault(_DIFFER.sub("·", sentence), []).append(sentence)
    found = []
    for group in alike.values():
        if len(group) < _ALIKE:
            found += group
            continue
        first, *others = group
        names = [match[0] for other in others if (match := re.search(r"'[^']*'|“[^”]*”", other))]
        if len(names) < len(others):
            found.append(f"{first} {len(others):,} more notes say the same with other numbers.")
            continue
        more = [f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
        *most, last = [*names[:_NAMED], *more]
        same = len({re.sub(r"'[^']*'|“[^”]*”", "·", sentence) for sentence in group}) == 1
        told = "The same applies to" if same else "The same, with other numbers, applies to"
        found.append(f"{first} {told} {', '.join(most)}{' and ' if most else ''}{last}.")
    return found


def bullets(sentences: Iterable[str]) -> None:
    """Write a list of sentences."""
    lines = [f"• {page_words(' '.join(sentence.split()))}" for sentence in gather_similar(sentences)]
    if lines:
        st.text("\n".join(lines))


def label(text: str, longest: int = 60) -> str:
    r"""Return text from the data as the label of a control, which is Markdown: short, and without marks.

    Examples
    --------
    >>> label("*a* [b](c) :red[d] $e$")
    '\\*a\\* \\[b\\](c) \\:red\\[d\\] \\$e\\$'
    >>> label("work_years"), label("_emphasised_")
    ('work_years', '\\_emphasised\\_')
    """
    flat = " ".join(text.split())
    flat = flat if len(flat) <= longest else flat[: longest - 1] + "…"
    return _MARKS.sub(r"\\\1", _LINKS.sub("\u2060", flat))


def _box(kind: str, sentence: str) -> None:
    mark = sha256(sentence.encode()).hexdigest()[:8]
    with st.container(key=f"{kind}-{mark}"):
        st.text(page_words(sentence))
