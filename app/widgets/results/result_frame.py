"""What every result page shares: the finding with its verdict on top, and what stands closed at the end."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from app.serving.documentation import page_about
from app.widgets import notices
from app.widgets.frame import page_text
from app.widgets.results.export import export_section
from audits.runs.documents import dump_yaml
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult
from audits.stats import Judgment
from audits.stats.badges import interval_text


def headline(said: str, judged: Judgment) -> None:
    """Write the badge, the sentence, and beside it the interval that the verdict follows from."""
    with st.container(key="verdict"):
        st.badge(notices.label(judged.badge_text, 200), color="gray")
    with st.container(horizontal=True, key="said"):
        with st.container(key="finding"):
            st.text(said)
        if certainty := interval_text(judged):
            with st.container(key="certainty", width=240):
                st.caption("How sure?")
                st.text(certainty)


def fine_print(found: RunResult, draft: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
    """Draw what stands closed below a result; `settings` are those beside the run's spec.

    An audit's page text ``NAME_reading`` is shown where there is one, and ``NAME_limits``, or the limits that
    the audit's record states.
    """
    name = found.audits[0].name
    reading = page_text(f"{name}_reading", "")
    limits = page_text(f"{name}_limits", AUDITS[name].limits)
    page = page_about(name)
    more = f"\n\n[Method, options and calibration]({page})" if page else ""
    sections: dict[str, Callable[[], object]] = {
        **({"How to read this": lambda: st.markdown(f"{reading}{more}")} if reading else {}),
        "What it cannot tell you": lambda: st.markdown(limits),
        "Settings used": lambda: st.code(_settings_yaml(found, settings), language=None, wrap_lines=True),
        "Export": lambda: export_section(found, draft["source"].get("sample")),
    }
    with st.container(horizontal=True, key="fine-print"):
        for title, draw in sections.items():
            with st.popover(title):
                draw()


_yaml: weakref.WeakKeyDictionary[RunResult, str] = weakref.WeakKeyDictionary()


def _settings_yaml(found: RunResult, settings: Mapping[str, Any]) -> str:
    """Return the settings of a run with one audit as YAML, written once: it takes most of a page's time."""
    if found not in _yaml:
        told = {
            "evenhand": found.evenhand,
            "audit": found.audits[0].options,
            "threshold": found.model["threshold"],
            "seed": found.spec["seed"],
            "data": found.data,
            "model": found.model,
        }
        _yaml[found] = dump_yaml({**told, **settings})
    return _yaml[found]
