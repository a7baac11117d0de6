"""What a report holds, in order: the whole of it, or two pages."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import yaml

from audits.models.metadata import accuracy_words
from audits.records import Exhibit, Section
from audits.reports.blocks import (
    Block,
    Code,
    Document,
    Facts,
    Figure,
    FindingBlock,
    Heading,
    Text,
    grid,
    shorten,
)
from audits.reports.comparison import comparison
from audits.runs.headline import RunFinding, findings_of, headline_of
from audits.runs.registry import AUDITS
from audits.stats import BADGES, Badge
from audits.stats.badges import ICONS
from audits.stats.text import count
from audits.text import audited_words, rows_words

if TYPE_CHECKING:
    from audits.runs.result import RunResult

AID = (
    "This report supports an assessment. It is not legal advice, and it does not state that a system "
    "complies with any law."
)
FINDS = "An audit finds differences and associations; it does not prove discrimination or cause."
_MEANS: dict[Badge, str] = {
    "difference": "The interval, corrected for all comparisons, excludes no difference.",
    "small difference": "It excludes no difference, and lies wholly inside your limit.",
    "cannot tell yet": "It includes both no difference and a material one, or what it shows can be chance "
    "among all audits of the run; more people would settle it.",
    "no verdict": "More people would not settle it; the reason is given beside it.",
    "no material difference": "It lies wholly inside your limit, on average over the people compared.",
}
_PACKAGES = ("numpy", "pandas", "scipy", "scikit-learn", "torch", "onnxruntime", "POT", "plotly")
_MAX_FINDINGS, _MAX_MORE = 5, 14  # on page one, and on the two pages for managers
_MAX_LETTERS = 200  # of a finding there
_CANNOT_SHOW = (
    FINDS,
    "Intervals cover only sampling error, not wrong labels, missing people, or features measured worse "
    "for one group.",
    "It describes the people audited; it does not cover people or uses that differ from them.",
)
_MAX_QUESTIONS = 3
_BLANK = "_" * 40
_ASSUMPTIONS = (
    "Intervals state only sampling error. They do not cover wrong labels, missing people, or features that "
    "were measured worse for one group than for another.",
    "A verdict is corrected for the comparisons within its audit and (Holm) for all audits of this run, "
    "including its search. Where the uncorrected verdict differs, it is shown beside it. Audits run on "
    "other days are not counted.",
)


Ordered = list[tuple[RunFinding, Section]]
"""What the run found, largest relative to the limit first, with the sections of its audits."""


def assumptions(run: RunResult) -> tuple[str, ...]:
    """Return what every interval of a run rests on, in sentences."""
    data = run.spec.get("data") or {}
    weights, person = data.get("weights"), data.get("person")
    units = "Rows are treated as independent people"
    if person:
        units = "People, each with all rows of theirs, are treated as independent"
    elif isinstance(weights, Mapping) and weights.get("kind") == "sampling":
        units = "Rows are treated as drawn with the sampling weights, strata and clusters that were named"
    return (
        f"{units}, and those audited as a sample of those the model is used on. Otherwise, intervals are too "
        "narrow or describe other people.",
        *_ASSUMPTIONS,
    )


def full(run: RunResult, spec_text: str = "") -> Document:
    """Arrange everything: two pages for managers, audits with figures and tables, settings, reproduction."""
    ordered = sections(run)
    blocks = _two_pages(run, findings(ordered))
    for place, (finding, section) in enumerate(ordered, start=1):
        blocks += _audit(place, finding, section)
    if run.compared is not None:
        blocks += comparison(run.compared)
    blocks += [*_data_and_model(run), Heading("Assumptions and limits"), *map(Text, assumptions(run))]
    blocks += [Heading("Settings"), *_settings(run, ordered), *reproduce(run, spec_text)]
    return Document("Audit report", head(run), tuple(blocks))


def executive(run: RunResult, spec_text: str = "") -> Document:  # noqa: ARG001  (all templates are called alike)
    """Arrange the two pages for managers alone."""
    found = [dataclasses.replace(each, anchor="") for each in findings(sections(run))]
    return Document("Audit summary", head(run), tuple(_two_pages(run, found)))


def _two_pages(run: RunResult, found: Sequence[FindingBlock]) -> list[Block]:
    """Return page one (headline, hero, findings, limits, sign-off) and two (scope, how to read it)."""
    shown = [dataclasses.replace(each, finding=shorten(each.finding, _MAX_LETTERS)) for each in found]
    first, more = shown[:_MAX_FINDINGS], shown[_MAX_FINDINGS:_MAX_MORE]
    blocks: list[Block] = [
        *headline(run),
        *_hero(run),
        Heading("Findings, largest first"),
        *first,
        Heading("What this cannot show"),
        Text(" ".join(_CANNOT_SHOW)),
        *_sign_off(),
        Heading("What was audited", page=True),
        _opening(run, ("Findings", _tally(run))),
    ]
    if more:
        blocks += [Heading("More findings"), *more]
    if len(found) > _MAX_MORE:
        blocks.append(Text(f"{len(found) - _MAX_MORE} more findings are in the full report.", "quiet"))
    blocks += [Heading("How to read this"), *_badges_explained(run), *map(Text, assumptions(run)[:2])]
    return [*blocks, Text(AID, "quiet")]


def _hero(run: RunResult) -> list[Block]:
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
    return [Figure(exhibit, "figure-first", grid(result.to_frame(), name=exhibit.named))]


def beside(run: RunResult, spec_text: str = "") -> Document:
    """Arrange the comparison of two models by itself, and how to make it again."""
    if run.compared is None:
        told = (
            "This run has no second model. Add compare to its spec, or choose one on the page Compare models."
        )
        return Document("Two models compared", head(run), (Text(told, "warning"), Text(AID, "quiet")))
    blocks: list[Block] = [
        Text(AID, "quiet"),
        *comparison(run.compared),
        Text(FINDS, "quiet"),
        *_data_and_model(run),
    ]
    blocks += [Heading("Settings"), *_settings(run, sections(run)), *reproduce(run, spec_text)]
    return Document("Two models compared", head(run), tuple(blocks))


def _opening(run: RunResult, *more: tuple[str, str]) -> Facts:
    """Say what was asked, of which data and which model."""
    asked = list(dict.fromkeys(AUDITS[audit.name].question for audit in run.audits))
    others = f" And {len(asked) - _MAX_QUESTIONS} more." if len(asked) > _MAX_QUESTIONS else ""
    files = ", ".join(item["name"] for item in run.data.get("files") or []) or "a table given in memory"
    return Facts(
        (
            ("Question", " ".join(asked[:_MAX_QUESTIONS]) + others),
            *more,
            ("Data", shorten(files, 120)),
            ("People", f"{audited_words(run.data)}; {_left_out(run)}"),
            ("Model", shorten(run.model["name"], 120)),
            ("Data, SHA-256", run.data["sha256"]),
            ("Model, SHA-256", run.model["sha256"]),
        )
    )


def _sign_off() -> tuple[Block, Block]:
    """Leave room for whose model it is, and who decided what and when."""
    names = ("Owner of the model", "Decision", "Reviewed by", "Date")
    return Heading("Sign-off", anchor="sign-off"), Facts(tuple((name, _BLANK) for name in names))


def _badges_explained(run: RunResult) -> list[Block]:
    """Say what each badge means that occurs."""
    seen = {each.judged.badge for each in findings_of(run)}
    return [Text(f"{ICONS[badge]} {told}") for badge, told in _MEANS.items() if badge in seen]


def headline(run: RunResult) -> list[Block]:
    """Say first what the run says first, with the comparison that was asked beneath."""
    if not run.audits:
        return []
    said = headline_of(run)
    shown = [each for each in (said.leads, said.asked) if each is not None]
    return [FindingBlock(each.badge_text, "", _finding_text(each)) for each in shown]


def findings(ordered: Ordered) -> tuple[FindingBlock, ...]:
    """Return the findings of `sections`, in their order, with the anchors of the full report."""
    return tuple(
        FindingBlock(finding.badge_text, section.title, finding.sentence, f"audit-{place}")
        for place, (finding, section) in enumerate(ordered, start=1)
    )


def _finding_text(finding: RunFinding) -> str:
    return f"{finding.sentence} {finding.across.note}".rstrip()


def sections(run: RunResult) -> Ordered:
    """Return what was found with its sections; that of the run's search says so."""
    found = []
    for each in findings_of(run):
        section = each.audit.section
        if each.place is None:
            section = dataclasses.replace(section, title=f"The run's search: {section.title}")
        found.append((each, section))
    return found


def head(run: RunResult) -> str:
    """Return in a line what made the report, and of what."""
    return f"Evenhand {run.evenhand} · model: {run.model['name']} · {rows_words(run.data)}"


def reproduce(run: RunResult, spec_text: str = "") -> list[Block]:
    """Return how the numbers are made again: spec, command, versions."""
    text = spec_text or yaml.safe_dump(run.spec, sort_keys=False, allow_unicode=True, width=100)
    versions = ", ".join(f"{name} {number}" for name, number in _versions(run).items())
    if "path" not in run.spec.get("data", {}):
        return [
            Heading("How to reproduce it"),
            Text(
                "The audit ran in Python, on a table and a model held in memory. Call evenhand.audit with "
                "the same ones (the digests above identify them) and the arguments below."
            ),
            Code(text),
            Text(versions, "quiet"),
        ]
    return [
        Heading("How to reproduce it"),
        Text("Save the spec below as spec.yaml beside the data (the digests above identify them), and run"),
        Code("python -m audits run spec.yaml --out results"),
        Code(text),
        Text(versions, "quiet"),
    ]


def _audit(place: int, finding: RunFinding, section: Section) -> list[Block]:
    audit, result = finding.audit, finding.audit.result
    blocks: list[Block] = [
        Heading(section.title, 2, f"audit-{place}", page=place == 1),
        Text(AUDITS[audit.name].question, "quiet"),
        FindingBlock(finding.badge_text, "", _finding_text(finding)),
        *([Text(result.finding)] if result.finding != audit.headline else []),
        *(Text(warning, "warning") for warning in result.warnings),
        Facts(tuple(section.facts.items())),
    ]
    for number, exhibit in enumerate(section.exhibits, start=1):
        blocks.append(Figure(exhibit, f"figure-{place}-{number}", grid(exhibit.table(), name=exhibit.named)))
    return [*blocks, Text(AUDITS[audit.name].limits, "quiet")]


def _data_and_model(run: RunResult) -> list[Block]:
    data, model = run.data, run.model
    rows = [("Rows read", count(data["rows_read"])), ("Rows used", count(data["rows_used"]))]
    rows += [(f"Left out: {reason}", count(n)) for reason, n in data["excluded"].items()]
    rows += [
        (f"Cells filled in: {column}", count(n)) for column, n in (data.get("imputed") or {}).items() if n
    ]
    if data.get("rows_trained"):
        rows += [("Trained on", count(data["rows_trained"]))]
    if more := data.get("rows_unlabeled"):
        rows += [("Without a label, counted where only decisions are", count(more))]
    rows += [("Audited", count(data["rows_audited"])), ("Data, SHA-256", data["sha256"])]
    rows += [(f"File {item['name']}, SHA-256", item["sha256"]) for item in data.get("files") or []]
    rows += [("Model", model["name"]), ("Model, SHA-256", model["sha256"])]
    rows += [("Decision", model["rule"])] if model.get("rule") else []
    right = accuracy_words(model)
    rows += [("Accuracy", right)] if right else []
    notes = [*(data.get("notes") or []), *(model.get("notes") or [])]
    return [Heading("Data and model"), Facts(tuple(rows)), *(Text(note, "quiet") for note in notes)]


def _settings(run: RunResult, ordered: Ordered) -> list[Block]:
    """Return every option that audits ran with, defaults included, and the seed."""
    blocks: list[Block] = [
        Facts(
            (("Seed", str(run.spec.get("seed", 0))), ("Threshold", _plain(run.model.get("threshold", 0.5))))
        )
    ]
    for finding, section in ordered:
        audit = finding.audit
        options = yaml.safe_dump({audit.name: audit.options}, sort_keys=False, allow_unicode=True, width=100)
        blocks += [Heading(section.title, 3), Code(options.rstrip())]
    return blocks


def _tally(run: RunResult) -> str:
    badges = [each.judged.badge for each in findings_of(run)]
    return "; ".join(f"{ICONS[name]} {badges.count(name)} × {name}" for name in BADGES if name in badges)


def _left_out(run: RunResult) -> str:
    excluded: Mapping[str, int] = run.data["excluded"]
    return f"{count(sum(excluded.values()))} of {count(run.data['rows_read'])} rows left out"


def _plain(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True, allow_unicode=True).removesuffix("...\n").strip()


def _versions(run: RunResult) -> dict[str, str]:
    found = {"Evenhand": run.evenhand, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
