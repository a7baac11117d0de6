"""Documents from their outlines, ``templates/*.md.j2``.

A template renders to lines: ``## heading``, ``! finding``, ``> warning``, ``~ quiet text``, ``- name |
value`` (``+`` where the name is not ours), paragraphs apart by empty lines, and places of blocks that are
no text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audits.models.metadata import accuracy_words
from audits.reports import blocks, comparison, contents
from audits.reports.blocks import Block, Document, Facts, Heading, Text
from audits.runs.registry import AUDITS
from audits.stats.badges import ICONS
from audits.stats.text import count, number, people
from audits.text import audited_words, join_names, rows_words, text_template

if TYPE_CHECKING:
    from audits.runs.result import RunResult

TEMPLATES = Path(__file__).parent / "templates"
_PLACE = re.compile(r"^\x00(\d+)$")


def outline(run: RunResult, spec_text: str = "", *, template: str, title: str, **more: Any) -> Document:
    """Arrange what a run tells under the headings of an outline.

    Parameters
    ----------
    template : str
        Of the outline, without its endings.
    more
        What else it tells; values that are lists of blocks are put in as they are.
    """
    put: list[Sequence[Block]] = []

    def told(value: Any) -> Any:
        """Keep a text on its line, and put blocks in their place."""
        if isinstance(value, (list, Block)):
            put.append(value if isinstance(value, list) else [value])
            return f"\x00{len(put) - 1}"
        return " ".join(value.replace("\x00", "").split()) if isinstance(value, str) else value

    file = text_template(
        TEMPLATES / f"{template}.md.j2",
        told,
        count=count,
        number=number,
        people=people,
        join_names=join_names,
    )
    facts = {**_facts(run), "blocks": blocks, "contents": contents, "comparison": comparison}
    text = file.render(**facts, spec_text=spec_text, **more)
    made = f"Evenhand {run.evenhand} · model: {run.model['name']} · {rows_words(run.data)}"
    return Document(title, made, tuple(_blocks(text.splitlines(), put)))


def _facts(run: RunResult) -> dict[str, Any]:
    """Return what any outline may tell of a run."""
    data, model, ordered = run.data, run.model, contents.sections(run)
    names = list(dict.fromkeys(each.name for each in run.audits))
    trained = model.get("trained_on")
    stored = run.spec.get("model", {}).get("predictions") is not None
    sha256 = f"{model['sha256']}, of its predictions" if stored else model["sha256"]
    reads = "" if stored else ", ".join(map(str, model.get("columns", ())))  # a stored score is no input
    return {
        "run": run,
        "aid": contents.AID,
        "finds": contents.FINDS,
        "data": {
            "notes": (),
            "rows_trained": 0,
            "rows_unlabeled": 0,
            **data,
            "files": data.get("files") or (),
        },
        "model": {"notes": (), "rule": "", "threshold": 0.5, **model, "sha256": sha256},
        "rule": model.get("rule") or "a decision",
        "accuracy": accuracy_words(model),
        "audited": audited_words(data),
        "inputs": reads or "not known: predictions alone",
        "protected": ", ".join(run.spec.get("data", {}).get("protected") or []) or "none named",
        "trained": None if trained is None else count(trained),
        "left_out": [(reason, count(n)) for reason, n in data["excluded"].items() if n],
        "imputed": [(name, count(n)) for name, n in (data.get("imputed") or {}).items() if n],
        "headline": contents.headline(run),
        "sections": ordered,
        "findings": contents.findings(ordered),
        "audits": AUDITS,
        "asked": list(dict.fromkeys(AUDITS[name].question for name in names)),
        "limits": [Text(AUDITS[name].limits, "quiet") for name in names],
        "icons": ICONS,
        "badges": [finding.judged.badge for finding, _ in ordered],
        "versions": contents.versions(run),
    }


_KINDS = {"> ": "warning", "~ ": "quiet", "! ": "finding"}


def _blocks(lines: Sequence[str], put: Sequence[Sequence[Block]]) -> list[Block]:
    """Return the blocks that rendered lines stand for."""
    joined: list[str] = []
    for line in lines:  # what is no block of its own goes on with the line before
        begins = not line.strip() or line[:2] in {*_KINDS, "- ", "+ ", "##"} or _PLACE.match(line)
        goes_on = (
            joined
            and joined[-1]
            and joined[-1][:2] not in {"- ", "+ ", "##"}
            and not _PLACE.match(joined[-1])
        )
        if begins or not goes_on:
            joined.append(line.strip())
        else:
            joined[-1] += f" {line.strip()}"
    found: list[Block] = []
    for mark, group in groupby(joined, key=lambda line: "-" if line[:2] in {"- ", "+ "} else line and "t"):
        if mark == "-":
            found.append(Facts(tuple(_fact(line) for line in group)))
        for line in group if mark == "t" else ():
            if place := _PLACE.match(line):
                found += put[int(place[1])]
            elif line.startswith("##"):
                found.append(Heading(line[3:]))
            else:
                kind = _KINDS.get(line[:2])
                found.append(Text(line[2:], kind) if kind else Text(line))  # type: ignore[arg-type]
    return found


def _fact(line: str) -> tuple[str, str]:
    """Return name and value; a name of ours holds no bar, and neither does the value of another."""
    name, _, value = (str.partition if line[0] == "-" else str.rpartition)(line[2:], " | ")
    return name, value
