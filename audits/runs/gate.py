"""The gate: how many verdicts of a kind a run may state before a build fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol
from xml.etree import ElementTree as ET

from pydantic import Field

from audits.checks import build
from audits.errors import InputError
from audits.runs.places import place_names
from audits.stats import EVIDENCE, INSUFFICIENT
from audits.stats.words import number

__all__ = ["Gate", "GateFailed", "Stated", "Statement", "junit_xml", "matched", "statements"]

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
Most = Annotated[int, Field(strict=True, ge=0)] | None


class Stated(Protocol):
    """What has verdicts to judge: the result of a run."""

    def to_json(self) -> dict[str, Any]: ...  # noqa: D102


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What a spec's ``gate`` holds: the most verdicts of a kind that still pass; None is any number.

    Every verdict that the results state counts once, those of single groups too: a group whose rate differs
    is one, not also the group and the audit that say so because of it.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    evidence: Most = None
    material: Most = None
    insufficient: Most = None

    def over(self, stated: list[Statement]) -> list[Statement]:
        """Return the statements of each kind of which there are more than pass, in their order."""
        kinds: list[tuple[int | None, Callable[[Statement], bool]]] = [
            (self.evidence, lambda item: item.verdict == EVIDENCE),
            (self.material, lambda item: item.verdict == EVIDENCE and item.material),
            (self.insufficient, lambda item: item.verdict == INSUFFICIENT),
        ]
        stopped: list[Statement] = []
        for most, counts in kinds:
            found = [item for item in stated if counts(item)]
            if most is not None and len(found) > most:
                stopped += found
        return [item for item in stated if item in stopped]


STRICT = Gate(evidence=0)
"""What ``--fail-on evidence`` means."""

MATERIAL = Gate(material=0)
"""What ``--fail-on material`` means."""


@dataclass(frozen=True)
class Statement:
    """One verdict in results.json: its audit and place in the spec, the path below it, what it rests on.

    The verdict is the one after correction for all audits of the run: where an audit's evidence does not
    outlast it, neither does that of its parts. Evidence is material unless the results say that it is not.
    """

    audit: str
    place: int
    where: str
    verdict: str
    finding: str
    material: bool = False

    @property
    def name(self) -> str:
        """Name of the audit, by its place in the spec, with the path."""
        return f"audits[{self.place}].{self.audit}{self.where}"


class GateFailed(AssertionError):
    """More verdicts of a kind than the gate lets pass; the message names each with its finding."""


def statements(result: Stated) -> list[Statement]:
    """Return the verdicts that a run states, in the order of results.json.

    Of a verdict and the same one further down the path that it rests on, only the latter.
    """
    found = []
    for place, entry in enumerate(result.to_json()["audits"]):
        stated = _verdicts(entry, "")
        outlasts = entry["verdict_across"] == entry["verdict"]
        for path, item in stated:
            verdict = item["verdict"]
            if any(_below(path, other) and inner["verdict"] == verdict for other, inner in stated):
                continue
            across = verdict if outlasts or verdict != EVIDENCE else INSUFFICIENT
            material = across == EVIDENCE and item.get("material") is not False
            found.append(
                Statement(entry["audit"], place, path, across, _told(path, item, entry), material=material)
            )
    return found


def matched(result: Stated, gate: Gate) -> list[Statement]:
    """Return the verdicts of each kind of which there are more than `gate` lets pass; empty if it passes."""
    return gate.over(statements(result))


def gate_of(spec: Mapping[str, Any], fail_on: str | Mapping[str, Any] | None) -> Gate:
    """Return the gate that `fail_on` means for a run of `spec`.

    Parameters
    ----------
    spec : mapping
        A checked spec as plain data.
    fail_on : {"evidence", "material", "gate"}, mapping or None
        No evidence at all; none of a material difference; what the spec's ``gate`` says; limits of one's
        own; or the spec's ``gate`` if it has one, else no evidence at all.

    Raises
    ------
    InputError
        If the spec has no ``gate`` to fail on, or the limits are wrong.
    """
    if isinstance(fail_on, Mapping):
        return build(Gate, fail_on, "fail_on")
    if fail_on == "evidence" or (fail_on is None and "gate" not in spec):
        return STRICT
    if fail_on == "material":
        return MATERIAL
    if fail_on not in {None, "gate"}:
        raise InputError(
            "fail_on", "must be 'evidence', 'material', 'gate' or limits such as {evidence: 0}", fail_on
        )
    if "gate" not in spec:
        raise InputError(
            "gate", "is missing in the spec", advice="add it, such as gate: {evidence: 0, insufficient: 3}"
        )
    return build(Gate, spec["gate"], "gate")


def junit_xml(result: Stated, gate: Gate) -> str:
    """Return a run as JUnit XML: a test case for every verdict; one that the gate stops is a failure.

    Insufficient evidence that the gate lets pass is a skipped test, with the finding as the reason.
    """
    over = {(item.place, item.where) for item in matched(result, gate)}
    stated = statements(result)
    skipped = [
        item for item in stated if item.verdict == INSUFFICIENT and (item.place, item.where) not in over
    ]
    counts = {
        "tests": str(len(stated)),
        "failures": str(len(over)),
        "skipped": str(len(skipped)),
        "errors": "0",
    }
    suite = ET.Element("testsuite", {"name": "evenhand", **counts})
    for item in stated:
        where = item.where.lstrip(".") or "verdict"
        classname = f"evenhand.{item.audit}.{item.place}"
        case = ET.SubElement(suite, "testcase", classname=classname, name=_xml(where), time="0")
        if (item.place, item.where) in over:
            ET.SubElement(case, "failure", message=item.verdict, type="verdict").text = _xml(item.finding)
        elif item in skipped:
            ET.SubElement(case, "skipped", message=_xml(f"{item.verdict}: {item.finding}"))
    root = ET.Element("testsuites", counts)
    root.append(suite)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _verdicts(value: Any, path: str) -> list[tuple[str, dict[str, Any]]]:
    """Return every record that states a verdict, with its path, from the whole to the parts."""
    if isinstance(value, dict):
        found = [(path, value)] if isinstance(value.get("verdict"), str) else []
        inner = [(f"{path}.{key}", item) for key, item in value.items() if key != "options"]
    elif isinstance(value, list):
        found = []
        inner = [(f"{path}[{name}]", item) for name, item in zip(place_names(value), value, strict=True)]
    else:
        return []
    return found + [pair for name, item in inner for pair in _verdicts(item, name)]


def _below(path: str, other: str) -> bool:
    return other.startswith((f"{path}.", f"{path}["))


def _told(path: str, item: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    """What a verdict rests on: the audit's finding, after the part's own number where it is about a part."""
    if not path:
        return str(entry["finding"])
    estimate = next((item[key] for key in ("estimate", "difference", "ratio") if item.get(key)), None)
    if not isinstance(estimate, Mapping) or estimate.get("value") is None:
        return f"{path.lstrip('.')}. The audit's finding: {entry['finding']}"
    low, high = number(estimate["low"]), number(estimate["high"])
    told = f"{path.lstrip('.')}: {number(estimate['value'])} ({low} to {high}), {estimate['method']}"
    return f"{told}. The audit's finding: {entry['finding']}"


def _xml(text: str) -> str:
    """Return `text` without the characters that XML 1.0 cannot hold."""
    return _NOT_XML.sub("\ufffd", text)
