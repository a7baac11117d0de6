"""A run as one HTML file that opens from disk, offline, with everything in it."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
import yaml
from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from plotly.offline import get_plotlyjs

from audits.figures.style import alt_text
from audits.reports.sections import SECTIONS, Exhibit
from audits.stats import EVIDENCE, INSUFFICIENT, NO_EVIDENCE
from audits.stats.words import count, number

__all__ = ["render_report", "write_report"]

_WORST_FIRST = (EVIDENCE, INSUFFICIENT, NO_EVIDENCE)
_PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "torch", "onnxruntime", "POT", "plotly")


class AuditOfRun(Protocol):
    """One audit of a run: its name in the spec and its result."""

    @property
    def name(self) -> str: ...
    @property
    def result(self) -> Any: ...


class RunLike(Protocol):
    """What a report needs of a run."""

    @property
    def evenhand(self) -> str: ...
    @property
    def spec(self) -> dict[str, Any]: ...
    @property
    def data(self) -> dict[str, Any]: ...
    @property
    def model(self) -> dict[str, Any]: ...
    @property
    def audits(self) -> tuple[AuditOfRun, ...]: ...


def write_report(run: RunLike, path: Path, *, spec_text: str = "") -> None:
    """Write the report of a finished run to `path`."""
    path.write_text(render_report(run, spec_text=spec_text), encoding="utf-8")


def render_report(run: RunLike, *, spec_text: str = "") -> str:
    """Return the report as HTML.

    Parameters
    ----------
    run : RunResult
        A finished run.
    spec_text : str
        The spec as YAML, to reproduce the run; the canonical spec without it.
    """
    environment = Environment(loader=PackageLoader("audits.reports"), autoescape=True)
    environment.filters["count"] = count
    audits = sorted(run.audits, key=lambda audit: _WORST_FIRST.index(audit.result.verdict))
    return environment.get_template("report.html.j2").render(
        run=run,
        audits=[(audit, SECTIONS[audit.name](audit.result)) for audit in audits],
        draw=_drawing,
        table=_table,
        plotly_js=Markup(get_plotlyjs()),
        spec_text=spec_text or yaml.safe_dump(run.spec, sort_keys=False, allow_unicode=True, width=100),
        versions=_versions(),
    )


def _drawing(exhibit: Exhibit, name: str) -> Markup:
    """The figure's container and the call that draws it; data cannot close the script element."""
    figure = exhibit.figure.to_plotly_json()
    text = (
        exhibit.figure.to_json()
        .replace("<", "\\u003c")
        .replace("\u2028", "\\u2028")
        .replace("\u2029", "\\u2029")
    )
    height = figure["layout"].get("height", 300)
    return Markup(
        '<div id="{name}" class="figure" role="img" aria-label="{alt}" style="height:{height}px"></div>'
        "<script>draw({name_js}, {text});</script>"
    ).format(
        name=name,
        alt=alt_text(exhibit.figure),
        height=height,
        name_js=Markup(json.dumps(name)),
        text=Markup(text),
    )


def _table(frame: pd.DataFrame) -> Markup:
    """A table with numbers worded as in the findings."""
    shown = frame.head(200)
    cells = [[_cell(value) for value in row] for row in shown.itertuples(index=False)]
    row = "<tr>{}</tr>"
    head = Markup(row).format(Markup("").join(Markup("<th scope=col>{}</th>").format(name) for name in shown))
    body = Markup("").join(
        Markup(row).format(
            Markup("").join(
                Markup("<td class=n>{}</td>" if is_number else "<td>{}</td>").format(text)
                for text, is_number in line
            )
        )
        for line in cells
    )
    return Markup("<table><thead>{}</thead><tbody>{}</tbody></table>").format(head, body)


def _cell(value: object) -> tuple[str, bool]:
    if value is None or (isinstance(value, float) and value != value):
        return "–", True
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(float(value)), True
    return str(value), False


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
