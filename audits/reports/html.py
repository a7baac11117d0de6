"""A report as one HTML file that opens from disk, offline, with everything in it."""

from __future__ import annotations

import json
from pathlib import Path

from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from audits.figures.style import alt_text
from audits.reports.blocks import Cell, Document, Figure, Grid
from audits.reports.contents import RunLike, Template, executive, full
from audits.reports.laws import annex4, ll144
from audits.stats import EVIDENCE

__all__ = ["TEMPLATES", "arrange", "html_of", "render_report", "write_report"]

TEMPLATES = {"full": full, "executive": executive, "ll144": ll144, "annex4": annex4}


def write_report(run: RunLike, path: Path, *, spec_text: str = "") -> None:
    """Write the full report of a finished run to `path`."""
    path.write_text(render_report(run, spec_text=spec_text), encoding="utf-8")


def render_report(run: RunLike, *, template: Template = "full", spec_text: str = "") -> str:
    """Return a report as HTML.

    Parameters
    ----------
    run : RunResult
        A finished run.
    template : {"full", "executive", "ll144", "annex4"}
        All of it; two pages; tables as Local Law 144 asks for; an outline for Annex IV of the EU AI Act.
    spec_text : str
        The spec as YAML, to reproduce the run; the canonical spec without it.
    """
    return html_of(arrange(run, template, spec_text))


def arrange(run: RunLike, template: Template = "full", spec_text: str = "") -> Document:
    """Return what a report holds, before it is HTML or PDF."""
    return TEMPLATES[template](run, spec_text)


def html_of(document: Document) -> str:
    """Return a document as HTML; Plotly's library is in it, once, if there is a figure."""
    environment = Environment(loader=PackageLoader("audits.reports"), autoescape=True)
    drawn = any(isinstance(block, Figure) for block in document.blocks)
    return environment.get_template("report.html.j2").render(
        document=document,
        kind=lambda block: type(block).__name__,
        draw=_drawing,
        table=_table,
        evidence=EVIDENCE,
        plotly_js=Markup(get_plotlyjs()) if drawn else "",
    )


def _drawing(block: Figure) -> Markup:
    """The figure's container and the call that draws it; data cannot close the script element."""
    figure = block.exhibit.figure
    text = figure.to_json().replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    height = figure.to_plotly_json()["layout"].get("height", 300)
    return Markup(
        '<div id="{name}" class="figure" role="img" aria-label="{alt}" style="height:{height}px"></div>'
        "<script>draw({name_js}, {text});</script>"
    ).format(
        name=block.name,
        alt=alt_text(figure),
        height=height,
        name_js=Markup(json.dumps(block.name)),
        text=Markup(text),
    )


def _table(shown: Grid) -> Markup:
    """A table with numbers worded as in the findings; the exact ones are in ``data-exact``."""
    head = Markup("").join(Markup("<th scope=col>{}</th>").format(name) for name in shown.head)
    body = Markup("").join(
        Markup("<tr>{}</tr>").format(Markup("").join(map(_cell, row))) for row in shown.rows
    )
    label = Markup(' aria-label="{}"').format(shown.name) if shown.name else ""
    table = Markup("<table{}><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(label, head, body)
    if shown.whole > len(shown.rows):
        note = f"The first {len(shown.rows):,} of {shown.whole:,} rows; the CSV tables hold all."
        table += Markup("<p class=quiet>{}</p>").format(note)
    return table


def _cell(cell: Cell) -> Markup:
    if not cell.exact:
        return Markup("<td>{}</td>").format(cell.text)
    exact = " ".join("-" if value is None else repr(value) for value in cell.exact)
    return Markup('<td class=n data-exact="{}">{}</td>').format(exact, cell.text)
