"""What an explain audit found: the finding, what is left of the gap, and each value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.drawn import drawn, presented
from app.widgets import notices
from app.widgets.results.exhibits import show_section
from app.widgets.results.result_frame import earlier_figure, fine_print, headline
from app.workspaces.workspace import Workspace
from audits.explain import ExplainResult, figures, text
from audits.explain.record import AUDIT
from audits.runs.result import RunResult

__all__ = ["show_earlier", "show_result"]


def show_result(found: RunResult, _: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished audit, top to bottom."""
    result: ExplainResult = found.audits[0].result
    _headline(result)
    for warning in result.warnings:
        notices.note(warning)
    show_section(presented(AUDIT, result), prefix="explain-")
    fine_print(found, draft, "explain", **{"people compared": result.rows})


def _headline(result: ExplainResult) -> None:
    how = f"{text.interval_words(result.judged)} · {result.judged.interval.method}"
    headline(text.headline(result), result.judged, result.finding, how)


def show_earlier(result: ExplainResult) -> None:
    """Draw the head of an earlier result."""
    _headline(result)
    earlier_figure(drawn(figures.left, result))
