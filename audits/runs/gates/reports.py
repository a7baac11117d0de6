"""What a gate said, in the forms that build services show: JUnit, Markdown, annotations."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree as ET

from audits.runs.gates.gate import GateCheck, GateJudgment, Statement
from audits.stats import INSUFFICIENT
from audits.text import begun, rows_words

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MAX_ANNOTATIONS = 10
"""The most that GitHub shows of a step."""


def junit_xml(judged: GateJudgment) -> str:
    """Return a gate's judgement as JUnit XML: a test case for every verdict and every number under a rule.

    What the gate stops is a failure, with the part's own numbers; what it waives, does not judge, or lets
    pass for insufficient evidence is a skipped test with the reason.
    """
    waived = {id(item): waiver for item, waiver in judged.waived}
    stopped = {id(item) for item in judged.stopped}
    cases = [*judged.stated, *judged.checks]
    skipped = [item for item in cases if id(item) not in stopped and _why_skipped(item, waived)]
    counts = {
        "tests": str(len(cases)),
        "failures": str(len(stopped)),
        "skipped": str(len(skipped)),
        "errors": "0",
    }
    suite = ET.Element("testsuite", {"name": "evenhand", **counts})
    for item in cases:
        where = item.where.lstrip(".") or "verdict"
        classname = f"evenhand.{item.audit}.{item.place}"
        case = ET.SubElement(suite, "testcase", classname=classname, name=_xml(where), time="0")
        if id(item) in stopped:
            kind = "rule" if isinstance(item, GateCheck) else "verdict"
            ET.SubElement(case, "failure", message=item.verdict, type=kind).text = _xml(item.finding)
        elif why := _why_skipped(item, waived):
            ET.SubElement(case, "skipped", message=_xml(f"{why}: {item.finding}"))
    root = ET.Element("testsuites", counts)
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _why_skipped(item: Statement, waived: dict[int, Any]) -> str:
    if id(item) in waived:
        waiver = waived[id(item)]
        return f"waived until {waiver.until} ({waiver.reason})"
    if isinstance(item, GateCheck):
        return item.verdict if item.state == "not judged" else ""
    return item.verdict if item.verdict == INSUFFICIENT else ""


def markdown(judged: GateJudgment, result: Any) -> str:
    """Return a gate's judgement as Markdown, for a job's summary or a merge request."""
    document = result.to_json()
    lines = ["## Fairness audit", "", _headline(judged), ""]
    lines += _table(
        ("does not pass", "why", "numbers"),
        [(item.name, item.verdict, item.finding) for item in judged.stopped],
    )
    lines += _table(
        ("waived", "until", "reason", "numbers"),
        [(item.name, waiver.until, waiver.reason, item.finding) for item, waiver in judged.waived],
    )
    lines += _table(("not judged", "why"), [(item.name, item.finding) for item in judged.not_judged])
    checks = [item for item in judged.checks if item.state == "kept"]
    rules = _table(("rule", "", "numbers"), [(item.name, item.verdict, item.finding) for item in checks])
    lines += ["<details><summary>other rules</summary>", "", *rules, "</details>", ""] if rules else []
    lines += _table(
        ("audit", "verdict", "after correction for all audits", "finding"),
        [
            (entry["audit"], entry["verdict"], entry["verdict_across"], entry["finding"])
            for entry in document["audits"]
        ],
    )
    compared = document.get("compared")
    if compared is not None:
        lines += [f"Second model: {_cell(compared['finding'])}", ""]
        lines += _table(
            ("audit", "change", "after correction for all audits", "what changes"),
            [
                (entry["audit"], entry["verdict"], entry["verdict_across"], entry["headline"])
                for entry in compared["audits"]
            ],
        )
    lines += [f"* {note}" for note in judged.notes]
    lines += ["", f"{begun(rows_words(document['data']))}. Evenhand {document['evenhand']}."]
    return "\n".join(lines) + "\n"


def _headline(judged: GateJudgment) -> str:
    kept = sum(item.state == "kept" for item in judged.checks)
    told = "**The gate stops this run.**" if judged.stopped else "**The gate lets this run pass.**"
    parts = [f"{len(judged.stopped)} stopped"] if judged.stopped else []
    parts += [f"{len(judged.waived)} waived"] if judged.waived else []
    parts += [f"{len(judged.not_judged)} not judged"] if judged.not_judged else []
    parts += [f"{kept} of {len(judged.checks)} numbers keep their rule"] if judged.checks else []
    return f"{told} {', '.join(parts).capitalize()}{'.' if parts else ''}".strip()


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return [*lines, *(f"| {' | '.join(map(_cell, row))} |" for row in rows), ""]


def _cell(text: str) -> str:
    """Return text that can neither end a cell nor be read as markup."""
    return re.sub(r"([\\`*_{}\[\]<>|~#])", r"\\\1", " ".join(str(text).split()))


def github_annotations(judged: GateJudgment, file: str) -> str:
    """Return lines that GitHub Actions shows beside `file`: an error for each that does not pass.

    What is waived or not judged is a warning.
    """
    lines = [
        f"::error file={_property(file)},title={_property(item.name)}::"
        + _message(f"{item.verdict}. {item.finding}")
        for item in judged.stopped[:_MAX_ANNOTATIONS]
    ]
    lines += [
        f"::warning file={_property(file)},title={_property(item.name)}::"
        + _message(f"waived until {waiver.until}: {waiver.reason}")
        for item, waiver in judged.waived[:_MAX_ANNOTATIONS]
    ]
    lines += [
        f"::warning file={_property(file)},title={_property(item.name)}::"
        + _message(f"{item.verdict}: {item.finding}")
        for item in judged.not_judged[:_MAX_ANNOTATIONS]
    ]
    return "\n".join(
        [*lines, *(f"::notice file={_property(file)}::{_message(note)}" for note in judged.notes)]
    )


def not_judged_lines(judged: GateJudgment) -> list[str]:
    """Return a line for each number that is not judged, the first few of many."""
    items = judged.not_judged
    more = len(items) - _MAX_ANNOTATIONS
    lines = [f"Not judged: {item.name}: {item.finding}" for item in items[:_MAX_ANNOTATIONS]]
    return [*lines, *([f"Not judged: {more:,} more."] if more > 0 else [])]


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")


def _xml(text: str) -> str:
    """Return `text` without the characters that XML 1.0 cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
