"""A run as a model card in Markdown, below the YAML that model hubs read.

All nine sections of Mitchell et al. (2019), *Model Cards for Model Reporting*, FAT* 2019, Section 4, in their
order; what an audit cannot know is left for the model's owner to fill in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from audits.models.metadata import accuracy_words
from audits.reports.blocks import grid
from audits.reports.contents import AID, FINDS, sections
from audits.reports.outline import TEMPLATES
from audits.runs.documents import dump_yaml
from audits.runs.headline import findings_of
from audits.runs.registry import AUDITS
from audits.stats.text import count
from audits.text import Raw, audited_words, text_template

if TYPE_CHECKING:
    from audits.runs.result import RunResult

_MARKS = re.compile(r"([\\`*_{}\[\]<>()#+!|~$&:@-])")


def render_card(run: RunResult) -> str:
    """Return a run as a model card; text from the data cannot become markup or links.

    Its head is the metadata of a Hugging Face card: tags, and as ``model-index`` the number that each audit's
    verdict follows from.
    """
    body = text_template(TEMPLATES / "card.md.j2", _plain, count=lambda n: Raw(count(n))).render(
        run=run,
        data={"rows_trained": 0, **run.data},
        audited=audited_words(run.data),
        model={"rule": "", **run.model},
        protected=", ".join(run.spec.get("data", {}).get("protected") or []) or "none named",
        accuracy=accuracy_words(run.model),
        sections=sections(run),
        audits=AUDITS,
        grid=grid,
        aid=AID,
        finds=FINDS,
    )
    return f"---\n{dump_yaml(_metadata(run)).rstrip()}\n---\n\n{body}"


def _metadata(run: RunResult) -> dict[str, Any]:
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
    number = run.model.get("threshold", 0.5) is None and not run.model.get("classes")
    result = {
        "task": {"type": "tabular-regression" if number else "tabular-classification"},
        "dataset": {"type": "tabular", "name": ", ".join(files) or "a table in memory"},
        "metrics": metrics,
    }
    index = {"model-index": [{"name": str(run.model["name"]), "results": [result]}]} if metrics else {}
    return {"tags": ["fairness", "evenhand"], **index}


def _plain(value: Any) -> str:
    """Return text on one line with every character escaped that Markdown could read as a mark."""
    return _MARKS.sub(r"\\\1", " ".join(str(value).split()))
