"""What changes from one model to another on the same people, in every audit, and who is decided otherwise.

Within an audit all changes that are judged are corrected for one another (Bonferroni: one interval each, on
which its verdict rests); over the audits, Holm's procedure as for audits themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from audits.comparison.pairs import Kind
from audits.comparison.text import change_words, stated_words
from audits.records import resolve
from audits.results import NotebookDisplay, frame_of, plain
from audits.runs.multiple_testing import RunCorrection, counted_together
from audits.stats import INSUFFICIENT, VERDICTS, Estimate, Judgment, Verdict
from audits.stats.estimate import estimate_columns
from audits.stats.text import count, out_of
from audits.text import begun, of_people


@dataclass(frozen=True)
class ChangeRow:
    """One number of an audit under both models, and its change, second minus first.

    Attributes
    ----------
    where : str
        Its place in the audit's part of results.json.
    name : str
        What it is, in words.
    kind : {"gap", "share", "number"}
    first, second : Estimate
        Each with its own interval, as either model's result states it.
    change : Estimate
        With its paired interval, corrected for all that are judged where this one is; without ends where
        there is none, and then ``method`` says why.
    verdict : Verdict or None
        On the change; None where the comparison's verdict does not look at it.
    material : bool or None
    people_needed : int or None
    """

    where: str
    name: str
    kind: Kind
    first: Estimate
    second: Estimate
    change: Estimate
    verdict: Verdict | None = None
    material: bool | None = None
    people_needed: int | None = None

    @property
    def size(self) -> float:
        """How large the change is beside its interval: what tables are sorted by."""
        low, high = self.change.low, self.change.high
        if self.change.value is None or low is None or high is None:
            return -1.0
        return abs(self.change.value) / max((high - low) / 2, 1e-12)


@dataclass(frozen=True)
class AuditChange:
    """One audit under both models.

    Attributes
    ----------
    audit : str
    second : int or None
        Place of the second model's result among its audits; None where it could not be made.
    refused : str
        Why it could not; empty otherwise.
    judged : Judgment
        The verdict on the changes, by the interval of the one that it rests on.
    headline : str
        The change in one sentence for everyone.
    given : str
        What the intervals take as given; empty where they are of the people alone.
    looked_at : int
        Changes that judged intervals are corrected for.
    level : float
    rows : tuple of ChangeRow
        Judged ones first, the most certain first.
    """

    audit: str
    second: int | None
    refused: str
    judged: Judgment
    headline: str
    given: str
    looked_at: int
    level: float
    rows: tuple[ChangeRow, ...]

    @property
    def verdict(self) -> Verdict:
        """What follows from the interval of `judged`."""
        return self.judged.verdict

    @property
    def tested(self) -> bool:
        """Whether any change has an interval to judge it by; else both results stand side by side."""
        return self.judged.interval.low is not None

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers under both models and their changes, one row a number."""
        return frame_of(
            self.rows,
            {
                "number": "name",
                estimate_columns("first"): "first",
                estimate_columns("second"): "second",
                estimate_columns("change"): "change",
                "verdict": lambda row: row.verdict or "",
                "interval of the change": "change.method",
                "where": "where",
            },
        )

    def worded(self) -> pd.DataFrame:
        """Return the same as a table to read."""
        return frame_of(
            self.rows,
            {
                "number": "name",
                "first model": lambda row: stated_words(row.first, row.kind),
                "second model": lambda row: stated_words(row.second, row.kind),
                "change": lambda row: change_words(row.change, row.kind),
                "verdict": lambda row: row.verdict or "",
            },
        )


@dataclass(frozen=True)
class DecisionChangeRow:
    """People of a group whom the second model decides otherwise: those who gain by it, and who lose."""

    attribute: str
    group: str
    n: float
    gained: float
    lost: float
    otherwise: Estimate


TWO_SAMPLES = "MOVER of two independent samples"
"""How the change of a number is found between different people."""


@dataclass(frozen=True, eq=False)
class Changes(NotebookDisplay):
    """What changes from the first model to the second.

    Attributes
    ----------
    models : pair of str
        Names of both.
    audits : tuple of AuditChange
        In the order of the spec.
    decided : tuple of DecidedRow
        Everyone first, then every group of every protected attribute; empty where decisions are not known.
    accuracy : ChangeRow or None
        Share of people decided as their label says; None without a label.
    people : DataFrame, indexed by the user's row number
        Those decided otherwise: groups, score and decision of both models.
    notes : tuple of str
        What was done so that both models are about the same people.
    """

    models: tuple[str, str]
    audits: tuple[AuditChange, ...]
    decided: tuple[DecisionChangeRow, ...] = ()
    accuracy: ChangeRow | None = None
    people: pd.DataFrame = field(default_factory=pd.DataFrame)
    notes: tuple[str, ...] = ()

    @property
    def judged(self) -> Judgment:
        """What the audit found that changes most surely, after correction for all audits."""
        told = [across.judged for across in self.across()]
        return min(told, key=lambda each: VERDICTS.index(each.verdict))

    @property
    def verdict(self) -> Verdict:
        """The verdict of `judged`."""
        return self.judged.verdict if self.audits else INSUFFICIENT

    @property
    def finding(self) -> str:
        """Whom the second model decides otherwise, in one sentence."""
        if not self.decided:
            made = "one audit" if len(self.audits) == 1 else f"{len(self.audits)} audits"
            apart = any(row.change.method == TWO_SAMPLES for each in self.audits for row in each.rows)
            people = "as two samples" if apart else "on the same people"
            return f"{begun(made)} of the second model compared with the first, {people}."
        whole = self.decided[0]
        changed = whole.gained + whole.lost
        if not changed:
            return f"Both models make the same decision for {of_people(out_of(whole.n, whole.n))} people."
        gain, lose = _some(whole.gained, "gain"), _some(whole.lost, "lose")
        otherwise = f"The second model changes {of_people(out_of(changed, whole.n))} decisions"
        return f"{otherwise}: {gain} the favorable decision, {lose} it."

    @property
    def warnings(self) -> tuple[str, ...]:
        """Notes, and the audits that the second model does not allow."""
        return (*self.notes, *(f"{each.audit}: {each.refused}" for each in self.audits if each.refused))

    def figure(self) -> Any:
        """Draw the changes that are judged of the first audit that has any, as a notebook shows them."""
        surest = next((each for each in self.audits if each.tested), self.audits[0])
        drawn = resolve("audits.reports.comparison:changes_figure")(surest)
        return resolve("audits.drawing.svg:in_notebooks")(drawn)

    def across(self) -> list[RunCorrection]:
        """Return what correction for all audits whose changes are judged leaves of each one's verdict."""
        judged = [each for each in self.audits if each.tested]
        left = iter(counted_together(judged, [{"level": each.level} for each in judged]))
        return [next(left) if each.tested else RunCorrection(each.judged, 1.0) for each in self.audits]

    def to_frame(self) -> pd.DataFrame:
        """Return every number of every audit, one row a number."""
        tables = [each.to_frame() for each in self.audits]
        return pd.concat(
            tables, keys=[each.audit for each in self.audits], names=["audit", None]
        ).reset_index("audit")

    def decided_frame(self) -> pd.DataFrame:
        """Return who is decided otherwise, one row a group."""
        return frame_of(
            self.decided,
            {
                "attribute": "attribute",
                "group": "group",
                "people": "n",
                "gained": "gained",
                "lost": "lost",
                estimate_columns("changed"): "otherwise",
            },
        )

    def to_json(self) -> dict[str, Any]:
        """Return the comparison as plain data, without any person's values."""
        values = plain(self)
        told = []
        for each, across, entry in zip(self.audits, self.across(), values["audits"], strict=True):
            judged = entry.pop("judged")
            head = {
                key: judged[key]
                for key in ("verdict", "material", "interval", "p_value", "people_needed", "reason")
            }
            told.append({"audit": each.audit, **head, "verdict_across": across.verdict, **entry})
        return {**values, "finding": self.finding, "audits": told}


def _some(number: float, verb: str) -> str:
    """Word who does something: ``none gain``, ``1 gains``, ``12 gain``."""
    return f"{'none' if count(number) == '0' else count(number)} {verb}{'s' if count(number) == '1' else ''}"
