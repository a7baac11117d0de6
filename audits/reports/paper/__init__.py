"""The reports' figures on paper, drawn by ReportLab from the same Plotly figures that a screen shows."""

from audits.reports.paper.picture import drawing_of

__all__ = ["drawing_of"]
