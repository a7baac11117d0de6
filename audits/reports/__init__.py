"""Results arranged for readers: one self-contained HTML file."""

from audits.reports.html import render_report, write_report

__all__ = ["render_report", "write_report"]
