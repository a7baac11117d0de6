"""The parts of a report: a section an audit, an exhibit a figure."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

__all__ = ["Exhibit", "Section"]


@dataclass(frozen=True)
class Exhibit:
    """A figure, what it shows in a sentence, and its numbers."""

    caption: str
    figure: go.Figure
    table: pd.DataFrame


@dataclass(frozen=True)
class Section:
    """One audit in a report: question, exhibits, facts, and what it cannot tell."""

    title: str
    question: str
    exhibits: tuple[Exhibit, ...]
    facts: dict[str, str]
    limits: str
