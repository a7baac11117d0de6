"""What a gate said, in the forms that build services show: JUnit, Markdown, annotations."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from audits.runs.gates.gate import GateCheck, GateJudgment, Statement
from audits.stats import INSUFFICIENT
from audits.text import begun, rows_words, text_template

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
    document = {"compared": None, **result.to_json()}
    return text_template(Path(__file__).with_name("summary.md.j2"), _cell).render(
        judged=judged,
        headline=_headline(judged),
        kept=[item for item in judged.checks if item.state == "kept"],
        run=document,
        audited=begun(rows_words(document["data"])),
    )


def _headline(judged: GateJudgment) -> str:
    kept = sum(item.state == "kept" for item in judged.checks)
    told = "**The gate stops this run.**" if judged.stopped else "**The gate lets this run pass.**"
    parts = [f"{len(judged.stopped)} stopped"] if judged.stopped else []
    parts += [f"{len(judged.waived)} waived"] if judged.waived else []
    parts += [f"{len(judged.not_judged)} not judged"] if judged.not_judged else []
    parts += [f"{kept} of {len(judged.checks)} numbers keep their rule"] if judged.checks else []
    return f"{told} {', '.join(parts).capitalize()}{'.' if parts else ''}".strip()


def _cell(text: Any) -> str:
    """Return text that can neither end a cell nor be read as markup."""
    return re.sub(r"([\\`*_{}\[\]<>|~#])", r"\\\1", " ".join(str(text).split()))


def github_annotations(judged: GateJudgment, file: str) -> str:
    """Return lines that GitHub Actions shows beside `file`: an error for each that does not pass.

    What is waived or not judged is a warning.
    """

    def annotation(kind: str, item: Statement, said: str) -> str:
        return f"::{kind} file={_property(file)},title={_property(item.name)}::{_message(said)}"

    most = _MAX_ANNOTATIONS
    lines = [
        *(annotation("error", item, f"{item.verdict}. {item.finding}") for item in judged.stopped[:most]),
        *(
            annotation("warning", item, f"waived until {waiver.until}: {waiver.reason}")
            for item, waiver in judged.waived[:most]
        ),
        *(
            annotation("warning", item, f"{item.verdict}: {item.finding}")
            for item in judged.not_judged[:most]
        ),
        *(f"::notice file={_property(file)}::{_message(note)}" for note in judged.notes),
    ]
    return "\n".join(lines)


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
