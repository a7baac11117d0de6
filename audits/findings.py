"""What a call from Python found: a run with its reports, figures and tables at hand."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from audits.checks import one_of
from audits.errors import InputError
from audits.models import Subject
from audits.report_kinds import SMALL_SHARE, TEMPLATES, Template
from audits.results import frame_of
from audits.runs.result import RunResult

__all__ = ["Figures", "Findings"]


@dataclass(frozen=True, eq=False)
class Findings(RunResult):
    """What `audit` found: a `RunResult` with reports, figures and tables at hand.

    Attributes
    ----------
    subject : Subject
        Data, model and decisions that every audit took.
    not_run : mapping of str to str
        Audits that nobody asked for by name and that these people do not allow: why not.

    ``findings["groups"]`` is that audit's own result; ``save`` and ``write_tables`` write files.
    """

    subject: Subject = field(kw_only=True)
    not_run: Mapping[str, str] = field(kw_only=True, default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """Return the result of an audit by its name, the first if it ran twice."""
        names = [each.name for each in self.audits]
        return self.audits[names.index(one_of("audit", name, names, what="an audit that ran"))].result

    @property
    def verdicts(self) -> pd.DataFrame:
        """One row a finding, the largest first: badge, verdict corrected for all audits of the run, finding.

        ``alone`` is the audit's own verdict; "search" is the run's search, while it finds something.
        """
        return frame_of(
            self.findings(),
            {
                "audit": lambda each: "search" if each.place is None else each.audit.name,
                "badge": "badge_text",
                "verdict": "judged.verdict",
                "alone": "audit.result.verdict",
                "finding": "audit.result.finding",
                "warnings": lambda each: len(each.audit.result.warnings),
            },
        )

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table of every audit, by audit and name."""
        return self.named_tables()

    @property
    def figures(self) -> Figures:
        """Every figure, by audit and name, drawn when looked up."""
        return Figures(self)

    def report(
        self,
        path: str | Path,
        *,
        template: Template = "full",
        sex: str | None = None,
        race: str | None = None,
        exclude_under: float = SMALL_SHARE,
    ) -> Path:
        """Write a report and return where it lies: HTML that opens offline, or PDF by the file's ending.

        Parameters
        ----------
        template : str
            Its kind, one of `audits.report_kinds.TEMPLATES`.
        sex, race : str, optional
            Protected attributes that hold them, for ``ll144`` and ``four_fifths``; by default those whose
            names say so.
        exclude_under : float
            Share of the people under which these leave a category out of the impact ratios; 0 for none.

        Raises
        ------
        InputError
            If the ending is neither, `sex` or `race` is no protected attribute, the share is more than the
            rules', no browser is there to print a PDF, or the file cannot be written.
        """
        place = Path(path)
        ending = place.suffix.lower()
        one_of("path", ending, (".html", ".htm", ".pdf"), what="the name of an .html or .pdf file")
        one_of("template", template, tuple(TEMPLATES))
        told: dict[str, Any] = {"sex": sex, "race": race, "exclude_under": exclude_under}
        try:
            if ending == ".pdf":
                from audits.reports.pdf import render_pdf

                place.write_bytes(render_pdf(self, template=template, **told))
            else:
                from audits.reports.html import render_report

                place.write_text(render_report(self, template=template, **told), encoding="utf-8")
        except OSError as error:
            raise InputError("path", f"cannot be written ({error.strerror})", str(path)) from None
        return place

    def explain(self) -> None:
        """Print each finding, the method that its audit implements, and where that is from."""
        for place, audit in enumerate(self.audits):
            print("\n\n" if place else "", end="")
            audit.result.explain()

    def __repr__(self) -> str:
        found = self.findings()
        lines = [f"{each.audit.name}: {each.badge_text}. {each.audit.result.finding}" for each in found]
        lines += [f"{name}: not run. {why}" for name, why in self.not_run.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return verdicts and findings for a notebook."""
        said = self.headline()
        head = "".join(
            f"<p><b>{html.escape(each.badge_text)}.</b> {html.escape(each.sentence)}</p>"
            for each in (said.leads, said.asked)
            if each is not None
        )
        rows = "".join(
            f"<tr><td>{html.escape(each.audit.name)}</td><td><b>{html.escape(each.badge_text)}</b></td>"
            f"<td style='text-align:left'>{html.escape(each.audit.result.finding)}</td></tr>"
            for each in self.findings()
        )
        rows += "".join(
            f"<tr><td>{html.escape(name)}</td><td>not run</td>"
            f"<td style='text-align:left'>{html.escape(why)}</td></tr>"
            for name, why in self.not_run.items()
        )
        data, model = self.data, self.model
        about = f"{model['name']}, {model['rule']}. {data['rows_used']:,} of {data['rows_read']:,} rows used."
        notes = "".join(f"<br>{html.escape(note)}" for note in [*data["notes"], *model["notes"]])
        return (
            f"<div>{head}<table><thead><tr><th>audit</th><th>verdict</th><th>finding</th></tr></thead>"
            f"<tbody>{rows}</tbody></table><p><small>{html.escape(about)}{notes}</small></p></div>"
        )


class Figures(Mapping[str, Any]):
    """Figures by ``audit/name``, each drawn when it is looked up; ``audit-2/name`` of its second run."""

    def __init__(self, findings: RunResult) -> None:
        self._made = {}
        runs: Counter[str] = Counter()
        for each in findings.audits:
            runs[each.name] += 1
            run = each.name if runs[each.name] == 1 else f"{each.name}-{runs[each.name]}"
            for exhibit in each.section.exhibits:
                self._made[f"{run}/{exhibit.key}"] = exhibit.figure

    def __getitem__(self, name: str) -> Any:
        return self._made[one_of("figure", name, self._made, what="one of the figures")]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __repr__(self) -> str:
        return f"<figures: {', '.join(self._made)}>"
