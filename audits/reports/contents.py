"""What reports have in common, beside the words in ``templates/*.md.j2``: findings and figures."""

from __future__ import annotations

import contextlib
import dataclasses
import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import yaml

from audits.records import Exhibit, Section
from audits.reports.blocks import (
    Block,
    Figure,
    FindingBlock,
    grid,
    shorten,
)
from audits.runs.headline import RunFinding, findings_of, headline_of
from audits.runs.registry import AUDITS

if TYPE_CHECKING:
    from audits.runs.result import RunResult

AID = (
    "This report supports an assessment. It is not legal advice, and it does not state that a system "
    "complies with any law."
)
FINDS = "An audit finds differences and associations; it does not prove discrimination or cause."
_PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "torch", "onnxruntime", "POT", "plotly")
_MAX_LETTERS = 200  # of a finding on the two pages for managers

Ordered = list[tuple[RunFinding, Section]]
"""What the run found, largest relative to the limit first, with the sections of its audits."""


def headline(run: RunResult) -> list[FindingBlock]:
    """Say first what the run says first, with the comparison that was asked beneath."""
    if not run.audits:
        return []
    said = headline_of(run)
    return [finding_block(each) for each in (said.leads, said.asked) if each is not None]


def finding_block(finding: RunFinding) -> FindingBlock:
    """Return a finding with its badge, and what is to be said of its correction."""
    return FindingBlock(finding.badge_text, "", f"{finding.sentence} {finding.across.note}".rstrip())


def hero(run: RunResult) -> list[Block]:
    """Return the groups of At a glance, ranked, where the run compared groups."""
    from audits.groups.figures.ranked import draw_ranked, ranked_groups

    result = next((audit.result for audit in run.audits if audit.name == AUDITS.first), None)
    groups = None if result is None else ranked_groups(result)
    if result is None or groups is None:
        return []
    exhibit = Exhibit(
        "ranked",
        groups.title,
        groups.caption,
        lambda: draw_ranked(result, groups),
        result.to_frame,
        bars=True,
    )
    return [figure(exhibit, "figure-first")]


def sections(run: RunResult) -> Ordered:
    """Return what was found with its sections; that of the run's search says so."""
    found = []
    for each in findings_of(run):
        section = each.audit.section
        if each.place is None:
            section = dataclasses.replace(section, title=f"The run's search: {section.title}")
        found.append((each, section))
    return found


def findings(ordered: Ordered) -> list[FindingBlock]:
    """Return the findings of `sections`, in their order, with the anchors of the full report."""
    return [
        FindingBlock(finding.badge_text, section.title, finding.sentence, f"audit-{place}")
        for place, (finding, section) in enumerate(ordered, start=1)
    ]


def short(found: Sequence[FindingBlock], *, anchors: bool) -> list[FindingBlock]:
    """Return findings for the two pages for managers: cut, and linked where the audits follow."""
    return [
        dataclasses.replace(
            each, finding=shorten(each.finding, _MAX_LETTERS), anchor=each.anchor if anchors else ""
        )
        for each in found
    ]


def figures(section: Section, place: int) -> list[Figure]:
    """Return the figures of the audit in that place of a report."""
    return [
        figure(exhibit, f"figure-{place}-{number}")
        for number, exhibit in enumerate(section.exhibits, start=1)
    ]


def figure(exhibit: Exhibit, name: str) -> Figure:
    """Return a figure with the table of its numbers."""
    return Figure(exhibit, name, grid(exhibit.table(), name=exhibit.named))


def as_yaml(value: Any) -> str:
    """Return plain data as YAML."""
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)


def on_one_line(value: Any) -> str:
    """Return plain data as YAML in a line."""
    return yaml.safe_dump(value, default_flow_style=True, allow_unicode=True).removesuffix("...\n").strip()


def versions(run: RunResult) -> str:
    """Name what computed a run."""
    found = {"Evenhand": run.evenhand, "Python": platform.python_version()}
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[package] = version(package)
    return ", ".join(f"{name} {number}" for name, number in found.items())
