"""What mkdocs builds beside the written pages, from the records: a page an audit, the reference, the gallery.

A hook of mkdocs.yml. Nothing of it is kept: `make docs` makes it again.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

import make_guide  # noqa: E402
import plotly.offline  # noqa: E402
import worked  # noqa: E402
from mkdocs.structure.files import File  # noqa: E402

from audits.options import options_of  # noqa: E402
from audits.runs.registry import AUDITS  # noqa: E402
from audits.runs.version import VERSION  # noqa: E402
from audits.stats.vocabulary import speaking  # noqa: E402

WORKED = [
    path for path in sorted((ROOT / "examples").glob("*.py")) if path.read_text("utf-8").startswith("# %%")
]
"""Examples that are shown with what they answer."""

TEXTS = ROOT / "assets" / "texts"
SCRIPTS: dict[str, str] = {}
"""What draws the figures of the guide."""

PAIR = {"source": {"gender": "female"}, "target": {"gender": "male"}}
SHOWN = {
    "flipset": {**PAIR, "permutations": 19},
    "explain": {**PAIR, "explainers": ["work_years"]},
    "barycenter": {"permutations": 0},
    "outcome_transport": {"by": ["gender"]},
    "recourse": {"steps": [0, 0.5, 1]},
    "rule_sets": {"protected": ["gender"], "samples": 0, "permutations": 99},
}
"""What the gallery asks of audits on the bundled hiring example, where that is more than their defaults."""


def on_config(config):
    """Name version and repository, write the guide, and begin the chapter of audits with a page for each."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    config.repo_url = project.get("urls", {}).get("Repository")
    config.site_name = f"Evenhand {VERSION}"
    config.site_description = project["description"]
    SCRIPTS.update(make_guide.write())
    [chapter] = (each["Audits"] for each in config.nav if "Audits" in each)
    chapter[:0] = [f"audits/{name}.md" for name in AUDITS.ours]
    return config


def on_files(files, config):
    for name in AUDITS.ours:
        files.append(File.generated(config, f"audits/{name}.md", content=audit_page(name)))
    files.append(File.generated(config, "reference.md", content=reference()))
    files.append(File.generated(config, "changes.md", content=(ROOT / "CHANGELOG.md").read_text("utf-8")))
    page, scripts = gallery()
    scripts |= {**SCRIPTS, "scripts/plotly.js": plotly.offline.get_plotlyjs()}
    files.append(File.generated(config, "gallery.md", content=page))
    for path in WORKED:
        cells = worked.executed(path)
        page, drawn = worked.page(path.stem, cells)
        scripts |= drawn
        files.append(File.generated(config, f"worked/{path.stem}.md", content=page))
        files.append(File.generated(config, f"worked/{path.stem}.ipynb", content=worked.notebook(cells)))
    for name, text in scripts.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown, page, config, files):  # noqa: ARG001
    """Name files that are not in the site instead of linking them; a block's name is its title."""
    folder = posixpath.dirname(page.file.src_uri)

    def named(link: re.Match[str]) -> str:
        outside = posixpath.normpath(posixpath.join(folder, link[2])).startswith("..")
        return f"`{link[1]}`" if outside else link[0]

    text = re.sub(r"\[([^\]]+)\]\((\.\./[^)]+)\)", named, markdown)
    titled = re.sub(r"^```(\w+) ([\w.-]+)$", r'```\1 title="\2"', text, flags=re.MULTILINE)
    if 'class="figure"' not in titled:
        return titled
    loaded = f'<script src="{"../" * page.file.src_uri.count("/")}scripts/plotly.js"></script>'
    return re.sub(r"^# .+$", rf"\g<0>\n\n{loaded}", titled, count=1, flags=re.MULTILINE)


def audit_page(name: str) -> str:
    """Return an audit's page: question, method, options, exhibits, how to read it, limits, calibration."""
    audit = AUDITS[name]
    module = audit.options.__module__.rpartition(".")[0]
    parts = [
        f"# {audit.title}\n\n*{audit.question}* In a spec: `{name}`.{chapter(name)}",
        text(f"{name}_question"),
        f"## Method\n\n{prose(sys.modules[module].__doc__ or '')}",
        f"## Options\n\n{options_table(audit.options)}",
        section("How to read it", text(f"{name}_reading")),
        f"## What it cannot tell\n\n{text(f'{name}_limits') or audit.limits}",
        f"## Calibration\n\n{calibration(name)}",
        f"## In Python\n\nThe module is `{module}`, and its result is a `{audit.result_type.__qualname__}`: "
        "see the [reference](../reference.md).",
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def chapter(name: str) -> str:
    """Return where the guide explains what an audit is for; empty where it does not."""
    asked = [question for question, names in make_guide.QUESTIONS.items() if name in names]
    return "".join(
        f" In the guide: [{each.partition(' ')[2]}](../{make_guide.chapter(each)})." for each in asked
    )


def section(title: str, body: str) -> str:
    """Return a section, or nothing where it would be empty."""
    return f"## {title}\n\n{body}" if body else ""


def text(name: str) -> str:
    """Return a text of the pages; empty where there is none."""
    path = TEXTS / f"{name}.md"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def prose(docstring: str) -> str:
    """Return a docstring as Markdown: double backticks single."""
    return re.sub(r"``([^`]+)``", r"`\1`", "\n".join(line.strip(" ") if not line.startswith("  ") else line
                                                     for line in docstring.strip().splitlines()))  # fmt: skip


def options_table(kind: type) -> str:
    """Return a table of every option: default, values or bounds, help; from the fields."""
    lines = ["| option | default | values | meaning |", "|---|---|---|---|"]
    for each in options_of(kind):
        default = (
            "must be given" if each.required else "" if each.default is None else f"`{plain(each.default)}`"
        )
        values = ", ".join(f"`{choice}`" for choice in each.choices) or " ".join(
            filter(None, [each.bounds, each.unit])
        )
        help_ = " ".join(each.help.split()).replace("|", "\\|")
        lines.append(f"| `{each.name}` | {default} | {values} | {help_} |")
    return "\n".join(lines)


def plain(value: object) -> str:
    """Return a default as a spec writes it."""
    return json.dumps(value, default=lambda item: getattr(item, "__dict__", str(item))).replace("|", "\\|")


def calibration(name: str) -> str:
    """Return the rows of docs/calibration.md about an audit, or where to find them all."""
    whole = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
    own = re.search(rf"^## {name}\n\n(.*?)(?=^## |\Z)", whole, flags=re.DOTALL | re.MULTILINE)
    if own is None:
        return "Its intervals and tests are part of the [calibration](../calibration.md)."
    return own[1].strip()


def reference() -> str:
    """Return the reference of what is public, from docstrings."""
    lines = ["# Reference", "", "## From a notebook or a test", ""]
    lines += [
        "::: audits.notebook.audit",
        "",
        "::: audits.runs.gates.check.check",
        "",
        "::: audits.findings.Findings",
        "",
    ]
    lines += ["## Data and models", ""]
    for name in ("audits.data.io.reader.read_table", "audits.data.preprocessing.build.build_data",
                 "audits.data.spec.DataSpec",
                 "audits.models.spec.ModelSpec", "audits.models.factory.make_subject"):  # fmt: skip
        lines += [f"::: {name}", ""]
    lines += ["## Audits", ""]
    for name in AUDITS.ours:
        audit = AUDITS[name]
        for what in (
            str(audit.runs),
            f"{audit.options.__module__}:{audit.options.__qualname__}",
            str(audit.result),
        ):
            lines += [f"::: {what.replace(':', '.')}", ""]
    return "\n".join(lines)


def gallery() -> tuple[str, dict[str, str]]:
    """Return the gallery's page and its scripts: the figures of the bundled hiring example, live."""
    from audits.data.samples import write_samples
    from audits.runs.executors.inline import InlineExecutor

    folder = Path(tempfile.mkdtemp(prefix="evenhand-gallery-"))
    try:
        write_samples("hiring", folder)
        spec = {
            "data": {"path": "hiring.csv", "label": "qualified", "favorable": 1, "protected": ["gender"],
                     "features": ["work_years", "hair_length"], "roles": {"actionable": ["work_years"]}},
        }  # fmt: skip
        audits = []
        for name in AUDITS.ours:
            model = {"train": "logistic"} if name == "mitigation" else {"path": "hiring.onnx"}
            asked = {**spec, "model": model, "audits": [{name: SHOWN.get(name, {})}]}
            audits += InlineExecutor().submit(asked, folder).result().audits
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    lines = ["# Gallery", "", "Figures of the bundled hiring example, as pages and reports show them.", ""]
    scripts = {}
    for found in audits:
        lines += [f"## {AUDITS[found.name].title}", "", found.headline, ""]
        with speaking(found.words):
            for exhibit in AUDITS[found.name].section(found.result).exhibits:
                key = re.sub(r"\W+", "-", f"{found.name}-{exhibit.key}")
                lines += [
                    f"### {exhibit.heading}",
                    "",
                    exhibit.caption,
                    "",
                    f'<div id="{key}" class="figure"></div>',
                ]
                lines += [f'<script src="scripts/{key}.js"></script>', ""]
                drawn = json.loads(exhibit.figure().to_json())
                scripts[f"scripts/{key}.js"] = worked.script_of(key, drawn)
    return "\n".join(lines), scripts
