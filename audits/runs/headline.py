"""What a run says first, and its findings in order, for pages, reports, notebooks and the command line.

Findings are ordered by badge, then by size against the limit, then by certainty. The comparison that was
asked leads; a material finding elsewhere that survives the correction for the run leads instead, with the
asked one beneath.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from audits.data.values import MISSING
from audits.runs.multiple_testing import RunCorrection, counted_together
from audits.stats import BADGES, EVIDENCE, Judgment
from audits.stats.badges import size_against_limit


@dataclass(frozen=True)
class RunFinding:
    """What one audit found, as it stands in its run.

    Attributes
    ----------
    audit : AuditResult
    place : int or None
        In the spec; None for the run's search.
    across : Across
        What the correction for all audits of the run leaves.
    """

    audit: Any
    place: int | None
    across: RunCorrection

    @property
    def judged(self) -> Judgment:
        """The verdict after correction, and what it follows from."""
        return self.across.judged

    @property
    def badge_text(self) -> str:
        """Icon and words, after correction."""
        return self.judged.badge_text

    @property
    def sentence(self) -> str:
        """What it found, for everyone, and where that can be chance in this run, that it can."""
        return f"{self.audit.headline} {self.across.doubt}".rstrip()

    @property
    def finding(self) -> str:
        """What it found, with its numbers, and whether that can be chance in this run."""
        return f"{self.audit.result.finding} {self.across.doubt}".rstrip()

    @property
    def material(self) -> bool:
        """Whether it is a material difference that survives the correction."""
        return self.judged.verdict == EVIDENCE and self.judged.material is True

    def to_json(self) -> dict[str, Any]:
        """Return it as results.json's headline states it."""
        told = {"audit": self.audit.name, "place": self.place, "badge": self.judged.badge}
        return {**told, "badge_text": self.badge_text, "text": self.sentence}


@dataclass(frozen=True)
class RunHeadline:
    """What a run says first.

    Attributes
    ----------
    leads : RunFinding
    asked : RunFinding or None
        The comparison that was asked, where another finding leads.
    """

    leads: RunFinding
    asked: RunFinding | None = None

    def to_json(self) -> dict[str, Any]:
        """Return ``headline`` of results.json."""
        return {**self.leads.to_json(), "asked": None if self.asked is None else self.asked.to_json()}


def findings_of(run: Any) -> list[RunFinding]:
    """Return the findings of a run in the order in which a reader should see them.

    The search stands among them while it has evidence; it is counted along in any case.
    """
    search = getattr(run, "search", None)
    audits = [*run.audits, *([search] if search is not None else [])]
    across = counted_together([each.result for each in audits], [each.options for each in audits])
    places: list[int | None] = [*range(len(run.audits)), None]
    found = [RunFinding(*each) for each in zip(audits, places, across, strict=False)]
    shown = [each for each in found if each.place is not None or each.audit.result.verdict == EVIDENCE]
    return sorted(shown, key=_rank)


def headline_of(run: Any, *, usual: Mapping[str, Mapping[str, Any]] = MappingProxyType({})) -> RunHeadline:
    """Return what a run says first.

    Parameters
    ----------
    usual : mapping
        Options by audit that are proposed without a choice: the groups that they name are nobody's question.
    """

    def asks(finding: RunFinding) -> bool:
        options, own = finding.audit.options, usual.get(finding.audit.name, {})
        pair = [options.get("source"), options.get("target")]
        return bool(pair[0]) and finding.place is not None and pair != [own.get("source"), own.get("target")]

    found = findings_of(run)
    question = min(filter(asks, found), key=lambda each: each.place or 0, default=None)
    if question is None:
        return RunHeadline(found[0])
    ahead = [each for each in found[: found.index(question)] if each.material]
    return RunHeadline(ahead[0], question) if ahead else RunHeadline(question)


def _rank(finding: RunFinding) -> tuple[bool, int, bool, float, float]:
    """Order of findings; one about people of whom the group is not known never leads others.

    Nor does the search among small differences: it may have looked at a sample of those whom audits compare.
    """
    judged, unknown = finding.judged, MISSING in finding.sentence
    small_search = finding.place is None and judged.material is False
    return (
        unknown,
        BADGES.index(judged.badge),
        small_search,
        -size_against_limit(judged),
        finding.across.p_value,
    )
