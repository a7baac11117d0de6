"""A slider that moves in the browser, which holds every step of the figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audits.drawing.style import INK

__all__ = ["frame_slider"]


def frame_slider(names: Sequence[str], labels: Sequence[str], active: int) -> dict[str, Any]:
    """Return a slider with a step for each of the frames `names`; the label of the chosen one is written."""
    at_once = {"mode": "immediate", "frame": {"duration": 0, "redraw": True}, "transition": {"duration": 0}}
    return {
        "active": active,
        "steps": [
            {"method": "animate", "args": [[name], at_once], "label": label}
            for name, label in zip(names, labels, strict=True)
        ],
        "font": {"color": "rgba(0,0,0,0)"},  # only the step chosen is written
        "currentvalue": {"xanchor": "right", "font": {"size": 14, "color": INK}},
        "pad": {"t": 46, "b": 0},
        "ticklen": 4,
        "minorticklen": 0,
    }
