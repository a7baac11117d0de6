"""What laws and guidance ask for, each an outline in ``templates/*.md.j2``. Aids, never legal advice.

Annex IV of Regulation (EU) 2024/1689, which Regulation (EU) 2026/1744 left as it was: its nine points, and
the letters of points 1 and 2. Colorado Revised Statutes, title 6, article 1, part 17: as enacted by Senate
Bill 24-205 (2024), § 6-1-1703 (3) (a) to (g) has a deployer assess impact; Senate Bill 26-189 (2026) repeals
and reenacts the part from 1 January 2027 without an assessment. Board of Governors of the Federal Reserve
System, Office of the Comptroller of the Currency and Federal Deposit Insurance Corporation, "Revised Guidance
on Model Risk Management" (SR 26-2 / OCC 2026-13, 17 April 2026), which supersedes SR 11-7 / OCC 2011-12 (4
April 2011).

A template renders to lines: ``## heading``, ``> warning``, ``~ quiet text``, ``- name | value`` (``+`` where
the name is not ours), paragraphs apart by empty lines, and places of blocks that are no text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from audits.models.metadata import accuracy_words
from audits.reports.blocks import Block, Document, Facts, Heading, Text
from audits.reports.contents import AID, assumptions, findings, head, reproduce, sections
from audits.runs.registry import AUDITS
from audits.stats.text import count, number
from audits.text import audited_words

if TYPE_CHECKING:
    from audits.runs.result import RunResult

_PLACE = re.compile(r"^\x00(\d+)$")


def outline(
    run: RunResult,
    spec_text: str = "",
    *,
    template: str,
    title: str,
    results: Sequence[dict[str, Any]] = (),
    **more: Any,
) -> Document:
    """Arrange what a run tells under what a law asks for.

    Parameters
    ----------
    template : str
        Of the outline, without its endings.
    results : sequence of dict
        What is told of each result of an audit; values that are lists of blocks are put in as they are.
    """
    put: list[Sequence[Block]] = []

    def told(value: Any) -> Any:
        """Keep a text on its line, and put blocks in their place."""
        if isinstance(value, list):
            put.append(value)
            return f"\x00{len(put) - 1}"
        return " ".join(value.replace("\x00", "").split()) if isinstance(value, str) else value

    environment = Environment(
        loader=PackageLoader("audits.reports"), undefined=StrictUndefined, finalize=told,
        trim_blocks=True, lstrip_blocks=True, autoescape=False,  # noqa: S701 - what comes out is text, not HTML
    )  # fmt: skip
    data, model = run.data, run.model
    trained = model.get("trained_on")
    lines = (
        environment.get_template(f"{template}.md.j2")
        .render(
            aid=AID,
            assumptions=assumptions(run),
            data={"notes": (), **data},
            model={"notes": (), **model},
            rule=model.get("rule") or "a decision",
            audited=audited_words(data),
            inputs=", ".join(map(str, model["columns"])) or "not known: predictions alone",
            protected=", ".join(run.spec.get("data", {}).get("protected") or []) or "none named",
            trained=None if trained is None else count(trained),
            left_out=[(reason, count(n)) for reason, n in data["excluded"].items() if n],
            imputed=[(name, count(n)) for name, n in (data.get("imputed") or {}).items() if n],
            metrics=_metrics(run),
            findings=list(findings(sections(run))),
            limits=[
                Text(AUDITS[name].limits, "quiet") for name in dict.fromkeys(each.name for each in run.audits)
            ],
            results=results,
            **more,
        )
        .splitlines()
    )
    return Document(title, head(run), (*_blocks(lines, put), *reproduce(run, spec_text)))


annex4 = functools.partial(outline, template="annex_iv", title="Annex IV evidence outline")
colorado = functools.partial(outline, template="colorado", title="Colorado outline")
sr_11_7 = functools.partial(outline, template="sr_11_7", title="Validation notes")

_KINDS = {"> ": "warning", "~ ": "quiet"}


def _blocks(lines: Sequence[str], put: Sequence[Sequence[Block]]) -> list[Block]:
    """Return the blocks that rendered lines stand for."""
    joined: list[str] = []
    for line in lines:  # what is no block of its own goes on with the line before
        begins = not line.strip() or line[:2] in {"> ", "~ ", "- ", "+ ", "##"} or _PLACE.match(line)
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
    blocks: list[Block] = []
    for mark, group in groupby(joined, key=lambda line: "-" if line[:2] in {"- ", "+ "} else line and "t"):
        if mark == "-":
            blocks.append(Facts(tuple(_fact(line) for line in group)))
        for line in group if mark == "t" else ():
            if found := _PLACE.match(line):
                blocks += put[int(found[1])]
            elif line.startswith("##"):
                blocks.append(Heading(line[3:]))
            else:
                kind = _KINDS.get(line[:2])
                blocks.append(Text(line[2:], kind) if kind else Text(line))  # type: ignore[arg-type]
    return blocks


def _fact(line: str) -> tuple[str, str]:
    """Return name and value; a name of ours holds no bar, and neither does the value of another."""
    name, _, value = (str.partition if line[0] == "-" else str.rpartition)(line[2:], " | ")
    return name, value


def _metrics(run: RunResult) -> list[Block]:
    """State how often the model is right, and of whom; say so where no label tells."""
    right = accuracy_words(run.model)
    if not right:
        told = "is none, it is the decision itself, or it is known of one decision alone"
        return [Text(f"No label tells how often decisions are right: there {told}.")]
    quality = run.model["quality"]
    rows = [("Accuracy", right)]
    for name, key in (("Area under the ROC curve", "auc"), ("Log loss", "log_loss")):
        found = quality.get(key)
        if found and found["value"] is not None:
            ends = "" if found["low"] is None else f" ({number(found['low'])} to {number(found['high'])})"
            rows.append((name, number(found["value"]) + ends))
    return [Facts(tuple(rows))]
