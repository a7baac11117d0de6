"""What the results of all audits have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from audits.results import NotebookDisplay, head, plain
from audits.stats.text import count
from audits.stats.verdicts import Judgment, Verdict


class BaseResult(NotebookDisplay):
    """What a frozen dataclass derives from that is the result of an audit and rests on one judgment."""

    judged: Judgment
    finding: str
    warnings: tuple[str, ...]

    @property
    def verdict(self) -> Verdict:
        """What follows from the interval of `judged`."""
        return self.judged.verdict

    @property
    def people_needed(self) -> int | None:
        """About how many people would settle insufficient evidence; None where they would not."""
        return self.judged.people_needed

    def to_json(self) -> dict[str, Any]:
        """Return the audit's part of results.json; the people stay in their tables."""
        values = {**plain(self), **head(self)}
        del values["judged"]
        return values


@dataclass(frozen=True, eq=False, kw_only=True)
class RowsResult(BaseResult):
    """What our own audits' results begin with.

    Attributes
    ----------
    options : dict
        As asked for, and as settled where nobody asked.
    judged : Judgment
        What the verdict follows from.
    finding : str
        With numbers and method; `warnings` are sentences to read with it.
    rows : dict
        Whom it looked at, in numbers: those `audited`, those `used`, and by reason those `left_out`. Where
        one row of each person was drawn, `sample` is a digest of which.
    """

    options: dict[str, Any]
    judged: Judgment
    finding: str
    warnings: tuple[str, ...]
    rows: dict[str, Any]

    @property
    def people_used(self) -> str:
        """How many of the rows audited were used, and why others were not."""
        used = f"{count(self.rows['used'])} of {count(self.rows['audited'])} rows audited"
        return used + "".join(f"; {count(n)} {reason}" for reason, n in self.rows["left_out"].items())
