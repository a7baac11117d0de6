"""A run as a model card in Markdown, below the YAML that model hubs read.

All nine sections of Mitchell et al. (2019), *Model Cards for Model Reporting*, FAT* 2019, Section 4, in their
order; what an audit cannot know is left for the model's owner to fill in.
"""

from __future__ import annotations

import re
from typing import Any

from audits.models.metadata import accuracy_words
from audits.reports.blocks import Grid, grid
from audits.reports.contents import AID, FINDS, RunLike, sections
from audits.runs.documents import dump_yaml
from audits.runs.headline import findings_of
from audits.runs.registry import AUDITS
from audits.stats.words import count

__all__ = ["render_card"]

_MARKS = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&:@-])")
_OWNER = "*To be filled in by the model's owner.*"
_MOST_ROWS = 50


def render_card(run: RunLike) -> str:
    """Return a run as a model card; text from the data cannot become markup or links.

    Its head is the metadata of a Hugging Face card: tags, and as ``model-index`` the number that each audit's
    verdict follows from.
    """
    data, model = run.data, run.model
    lines = [
        "---",
        dump_yaml(_metadata(run)).rstrip(),
        "---",
        "",
        f"# Model card: {_plain(model['name'])}",
        "",
        f"> {AID}",
        "",
        "## Model details",
        "",
        f"* Model: {_plain(model['name'])}",
        f"* SHA-256: `{model['sha256']}`",
        f"* Decision: {_plain(model.get('rule') or 'not stated')}",
        f"* Audited with Evenhand {run.evenhand}",
        "* Developer, date, version, type, resources, citation, licence, contact: " + _OWNER,
        "",
        "## Intended use",
        "",
        "* Primary uses, primary users, uses out of scope: " + _OWNER,
        "",
        "## Factors",
        "",
        f"* Protected attributes: "
        f"{_plain(', '.join(run.spec.get('data', {}).get('protected') or []) or 'none named')}",
        "* Instruments, environments and other factors: " + _OWNER,
        "",
        "## Metrics",
        "",
        *(f"* {name}: {_plain(value)}" for name, value in _metrics(run)),
        "* Uncertainty: every number has its interval and the method that made it; verdicts are corrected "
        "for all that was compared",
        "* Why these metrics and this threshold: " + _OWNER,
        "",
        "## Evaluation data",
        "",
        f"* {count(data['rows_audited'])} rows audited of {count(data['rows_read'])} read",
        *(f"* Left out, {_plain(reason)}: {count(n)}" for reason, n in data["excluded"].items()),
        f"* SHA-256: `{data['sha256']}`",
        "* Why these data, and how they were prepared: " + _OWNER,
        "",
        "## Training data",
        "",
        f"* {count(data['rows_trained'])} rows of the same source" if data.get("rows_trained") else _OWNER,
        "",
        "## Quantitative analyses",
        "",
        "Worst first. Numbers in brackets are intervals.",
        "",
    ]
    lines += _analyses(run)
    lines += ["## Ethical considerations", "", _OWNER, ""]
    lines += ["## Caveats and recommendations", "", FINDS, "", "* Recommendations: " + _OWNER, ""]
    return "\n".join(lines)


def _analyses(run: RunLike) -> list[str]:
    """What each audit found, with the table behind it."""
    lines: list[str] = []
    for finding, section in sections(run):
        audit, said = finding.audit, finding.sentence
        lines += [
            f"### {_plain(section.title)}",
            "",
            f"**{_plain(finding.badge_text)}.** {_plain(f'{said} {finding.across.note}'.rstrip())}",
            "",
            *([_plain(audit.result.finding), ""] if audit.result.finding != said else []),
        ]
        lines += [f"* {_plain(warning)}" for warning in audit.result.warnings]
        lines += [""] if audit.result.warnings else []
        table = grid(audit.result.to_frame(), most=_MOST_ROWS)
        lines += [*_table(table), ""] if table.rows else []
        lines += [_plain(AUDITS[audit.name].limits), ""]
    return lines


def _metrics(run: RunLike) -> list[tuple[str, str]]:
    """How often the model is right and of whom, where a label tells."""
    right = accuracy_words(run.model)
    return [("Accuracy", right)] if right else [("Performance", "the data hold no label to compare with")]


def _metadata(run: RunLike) -> dict[str, Any]:
    """What a hub indexes; an audit without a number has no entry."""
    files = [str(file["name"]) for file in run.data.get("files", [])]
    found = [
        (each, (each.audit.result.to_json().get("interval") or {}).get("value")) for each in findings_of(run)
    ]
    metrics = [
        {"type": f"evenhand_{each.audit.name}", "name": each.sentence, "value": value}
        for each, value in found
        if value is not None
    ]
    result = {
        "task": {"type": "tabular-classification"},
        "dataset": {"type": "tabular", "name": ", ".join(files) or "a table in memory"},
        "metrics": metrics,
    }
    index = {"model-index": [{"name": str(run.model["name"]), "results": [result]}]} if metrics else {}
    return {"tags": ["fairness", "evenhand"], **index}


def _table(shown: Grid) -> list[str]:
    def line(cells: tuple[str, ...]) -> str:
        return f"| {' | '.join(cells)} |"

    rows = [line(tuple(_plain(cell.text) for cell in row)) for row in shown.rows]
    head = line(tuple(_plain(name) for name in shown.head))
    more = [f"\n{shown.whole - len(rows):,} more rows are in the tables."] if shown.whole > len(rows) else []
    return [head, line(("---",) * len(shown.head)), *rows, *more]


def _plain(text: str) -> str:
    """Return `text` on one line with every character escaped that Markdown could read as a mark."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
