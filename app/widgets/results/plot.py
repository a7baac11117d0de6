"""A figure on a page, by a component of ours: Streamlit's own draws each twice, and no Sankey is clicked."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

from app import state
from app.figure_cache import as_json
from app.serving.plotly_script import SCRIPT
from audits.drawing.style import alt_text
from audits.runs.version import VERSION

_PACKAGE, _COMPONENT = "evenhand", "figure"
_NAME = f"{_PACKAGE}.{_COMPONENT}"
_ASSETS = Path(__file__).resolve().parents[3] / "assets"


def plot(
    figure: go.Figure, name: str, *, on_click: Callable[[int, int], None] | None = None, tools: bool = True
) -> None:
    """Draw `figure`, as wide as there is room.

    Parameters
    ----------
    name : str
        Unique on the page, and of the picture that the camera below the figure makes.
    on_click : callable, optional
        Called with the number of a trace, and of its point that is clicked, where its `meta` lists people.
    tools : bool
        Whether the figure has tools at all.
    """
    key = f"figure-{name}"

    def clicked() -> None:
        told = (state.widget(key) or {}).get("clicked")  # from a browser, which may say anything
        trace, point = (told.get("trace"), told.get("point")) if isinstance(told, dict) else (None, None)
        if on_click and isinstance(trace, int) and isinstance(point, int) and min(trace, point) >= 0:
            on_click(trace, point)

    given = {
        "script": SCRIPT,
        "name": name,
        "alt": alt_text(figure),
        "tools": tools,
        "clicks": on_click is not None,
    }
    data = f'{json.dumps(given)[:-1]}, "figure": {as_json(figure)}}}'.encode()
    _component()(key=key, data=data, on_clicked_change=clicked)


_mounting: weakref.WeakKeyDictionary[BidiComponentManager, Callable[..., Any]] = weakref.WeakKeyDictionary()


def _component() -> Callable[..., Any]:
    """Return the component, which the running server must know: as a file, for pages run no other script."""
    manager = get_bidi_component_manager()
    if manager not in _mounting:
        manifest = ComponentManifest(_PACKAGE, VERSION, [ComponentConfig(_COMPONENT, "component")])
        manager.register_from_manifest(manifest, _ASSETS)
        _mounting[manager] = st.components.v2.component(_NAME, js="figure.js", isolate_styles=False)
    return _mounting[manager]
