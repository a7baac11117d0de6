"""Write the pages whose numbers come from results: docs/templates/**/*.md.j2 become docs/**/*.md.

An audit that is bundled with an example is read, any other is run. ``python docs/make_guide.py`` writes the
pages; so does the build of the site, which also needs the scripts that draw their figures.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
from jinja2 import Environment, FileSystemLoader, StrictUndefined

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from worked import script_of  # noqa: E402

from app.examples import RESULTS  # noqa: E402
from app.pages import QUESTIONS  # noqa: E402
from audits.data.samples import CATALOG, write_samples  # noqa: E402
from audits.drawing.style import alt_text  # noqa: E402
from audits.records import Exhibit  # noqa: E402
from audits.reports.comparison import slope_exhibit  # noqa: E402
from audits.runs.executors.inline import InlineExecutor  # noqa: E402
from audits.runs.registry import AUDITS  # noqa: E402
from audits.runs.result import AuditResult, RunResult  # noqa: E402
from audits.stats.text import count  # noqa: E402
from audits.stats.vocabulary import speaking  # noqa: E402

TEMPLATES = HERE / "templates"


@cache
def samples() -> Path:
    """Return a folder with the files of every example; it goes when the program ends."""
    folder = tempfile.TemporaryDirectory(prefix="evenhand-guide-")
    _FOLDERS.append(folder)
    write_samples("all", folder.name)
    return Path(folder.name)


_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []


@cache
def bundled() -> dict[tuple[str, str], RunResult]:
    """Return the bundled runs by example and audit."""
    runs = {}
    for file in sorted(RESULTS.glob("*.zip")):
        folder = samples() / file.stem
        with zipfile.ZipFile(file) as archive:
            archive.extractall(folder)
        run = RunResult.load(folder)
        runs[Path(run.spec["data"]["path"]).stem, run.audits[0].name] = run
    return runs


def run(example: str, audit: str, options: dict[str, Any] | None = None, **changes: Any) -> RunResult:
    """Run an audit of an example; `changes` replace sections of its spec."""
    if options is None and not changes and (example, audit) in bundled():
        return bundled()[example, audit]
    spec = {**CATALOG[example].spec, **changes, "audits": [{audit: options or {}}]}
    return InlineExecutor().submit(spec, samples()).result()


class Page:
    """What a template may use, and the scripts that draw the figures it shows."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.scripts: dict[str, str] = {}

    def figure(self, audit: AuditResult, key: str) -> str:
        """Return the HTML of an audit's figure under its title; its finding in words where no script runs."""
        with speaking(audit.words):
            exhibit = AUDITS[audit.name].section(audit.result).exhibit(key)
            return self.drawn(exhibit, exhibit.figure())

    def slope(self, run: RunResult) -> str:
        """Return the figure of the change between two models that decides."""
        changes, words = run.compared.changes, run.audits[0].words
        with speaking(words):
            exhibit = slope_exhibit(changes.audits[0], changes.across()[0].judged or changes.audits[0].judged)
            return self.drawn(exhibit, exhibit.figure())

    def drawn(self, exhibit: Exhibit, drawn: go.Figure) -> str:
        """Return the HTML of a figure, and keep its script."""
        key = f"{Path(self.name).stem}-{len(self.scripts) + 1}".replace("_", "-")
        self.scripts[f"scripts/{key}.js"] = script_of(key, json.loads(drawn.to_json()))
        up = "../" * self.name.count("/")
        end = "" if exhibit.heading.endswith("?") else "."
        return (
            f'**{exhibit.heading}{end}** {exhibit.caption}\n\n<div id="{key}" class="figure">\n'
            f'<p><em>{alt_text(drawn)}</em></p>\n</div>\n<script src="{up}scripts/{key}.js"></script>'
        )

    def verdict(self, run: RunResult) -> str:
        """Return the badge and the sentence of a run with one audit."""
        [finding] = (each for each in run.findings() if each.place == 0)
        return f"> **{finding.badge_text}.** {finding.sentence}"


def chapter(question: str) -> str:
    """Return the page of the guide about a question of the menu, under docs/."""
    return f"guide/{'-'.join(re.findall('[a-z]+', question.lower()))}.md"


def percent(share: float, digits: int = 0) -> str:
    """Write a share in percent."""
    return f"{100 * share:.{digits}f}%"


def signed(number: float, digits: int = 2) -> str:
    """Write a number with a minus, not a hyphen."""
    return f"{number:.{digits}f}".replace("-", "−")


def points(share: float, digits: int = 0) -> str:
    """Write a difference of shares in percentage points."""
    return f"{100 * abs(share):.{digits}f} points"


def rendered(pattern: str = "*.md") -> tuple[dict[str, str], dict[str, str]]:
    """Return the pages whose names match, and the scripts of their figures, by where they lie under docs/."""
    environment = Environment(  # noqa: S701 - Markdown of our own results
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "percent": percent,
        "points": points,
        "signed": signed,
        "count": count,
        "chapter": chapter,
    }
    pages, scripts = {}, {}
    for template in sorted(TEMPLATES.rglob(f"{pattern}.j2")):
        name = template.relative_to(TEMPLATES).as_posix().removesuffix(".j2")
        page = Page(name)
        text = environment.get_template(f"{name}.j2").render(
            run=run, page=page, questions=QUESTIONS, audits=AUDITS
        )
        pages[name] = text.rstrip() + "\n"
        scripts |= page.scripts
    return pages, scripts


def write() -> dict[str, str]:
    """Write the pages that changed; return the scripts of their figures."""
    pages, scripts = rendered()
    for name, text in pages.items():
        path = HERE / name
        path.parent.mkdir(exist_ok=True)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return scripts


if __name__ == "__main__":
    write()
