"""A report as one HTML file that opens from disk, offline, with everything in it.

It has to fit into a mail: what all figures have in common is written once, numbers that are drawn carry the
digits that a screen can show (those in tables stay exact), and tables are cut until the file is small enough.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from audits.drawing.style import KEPT_HERE, NARROWED_JS, TURNED_JS, alt_text, finish
from audits.records import resolve
from audits.report_kinds import BY_CATEGORY, Template
from audits.reports import blocks
from audits.reports.blocks import Document, Figure
from audits.reports.outline import outline
from audits.stats.vocabulary import DataWords, speaking

if TYPE_CHECKING:
    from audits.runs.result import RunResult

MAX_BYTES = 6_000_000
"""The file stays below it."""

_ROWS = (200, 100, 40, 15)
"""Rows of a table that are written, fewer where the file would be too large."""

_DIGITS = 6
_WIDE = 9  # columns, from which a table is printed smaller
_OUTLINES = {
    "full": ("full", "Audit report"),
    "executive": ("executive", "Audit summary"),
    "comparison": ("comparison", "Two models compared"),
    "annex4": ("annex_iv", "Annex IV evidence outline"),
    "colorado": ("colorado", "Colorado outline"),
    "sr_11_7": ("sr_11_7", "Validation notes"),
}
# what these want is loaded where it is asked for: Fisher's test alone takes longer than a small run
_WITH_TABLES = {
    "ll144": "audits.reports.laws.local_law_144:ll144",
    "four_fifths": "audits.reports.laws.uniform_guidelines:four_fifths",
}


def render_report(run: RunResult, **asked: Any) -> str:
    """Return a report as HTML; arguments as for `arrange`, and what it raises."""
    words = next((audit.words for audit in run.audits), DataWords())
    with speaking(words):  # figures are drawn last
        return html_of(arrange(run, **asked))


def arrange(run: RunResult, template: Template = "full", spec_text: str = "", **by_category: Any) -> Document:
    """Return what a report holds, before it is HTML or PDF.

    Parameters
    ----------
    run : RunResult
        A finished run.
    template : str
        One of `audits.report_kinds.TEMPLATES`.
    spec_text : str
        The spec as YAML, to reproduce the run; the canonical spec without it.
    by_category
        What `audits.reports.laws.local_law_144.category_tables` takes, where tables are by category.

    Raises
    ------
    InputError
        If what those take is wrong.
    """
    if template in BY_CATEGORY:
        arranged: Callable[..., Document] = resolve(_WITH_TABLES[template])
        return arranged(run, spec_text, **by_category)
    name, title = _OUTLINES[template]
    return outline(run, spec_text, template=name, title=title)


def html_of(document: Document) -> str:
    """Return a document as HTML; Plotly's library is in it, once, if there is a figure."""
    loader = PackageLoader("audits.reports")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.tests["of"] = isinstance
    drawn = any(isinstance(block, Figure) for block in document.blocks)
    template = finish(go.Figure(), height=100, alt="").layout.template.to_plotly_json()
    text = ""
    for most in _ROWS:
        text = environment.get_template("report.html.j2").render(
            document=document,
            blocks=blocks,
            draw=_drawing,
            most=most,
            wide=_WIDE,
            plotly_js=Markup(get_plotlyjs()) if drawn else "",
            template=Markup(_script(template)),
            config=Markup(_script(KEPT_HERE)),
            narrowed_js=Markup(NARROWED_JS),
            turned_js=Markup(TURNED_JS),
        )
        if len(text.encode()) < MAX_BYTES:
            break
    return text


def _drawing(block: Figure) -> Markup:
    """The figure's container and the call that draws it; data cannot close the script element."""
    made = block.exhibit.figure()
    figure = json.loads(made.to_json(), parse_float=_round_pixels)
    figure["layout"].pop("template", None)  # all figures have the one that is written above them
    height = figure["layout"].get("height", 300)
    return Markup(
        '<div class="scroll{broad}"><div id="{name}" class="figure" role="img" aria-label="{alt}"'
        ' style="height:{height}px"></div></div><script>draw({name_js}, {text});</script>'
    ).format(
        name=block.name,
        broad=" broad" if block.exhibit.wide and "narrow" not in made.layout.meta else "",
        alt=alt_text(made),
        height=height,
        name_js=Markup(json.dumps(block.name)),
        text=Markup(_script(figure)),
    )


def _round_pixels(text: str) -> float:
    """Return a number with the digits that can be seen where it is drawn."""
    return float(f"{float(text):.{_DIGITS}g}")


def _script(value: Any) -> str:
    """Return plain data as JavaScript that no text in it can leave."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
