"""What a call from Python found: a run with its reports, figures and tables at hand."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from audits.checks import one_of
from audits.errors import os_refusal
from audits.models import Subject
from audits.records import resolve
from audits.report_kinds import SMALL_SHARE, TEMPLATES, Template
from audits.runs.gates.check import check
from audits.runs.result import RunResult
from audits.text import rows_words

if TYPE_CHECKING:
    from audits.attribute_swap.result import AttributeSwapResult
    from audits.barycenter.result import BarycenterResult
    from audits.explain.result import ExplainResult
    from audits.flipset.result import FlipsetResult
    from audits.groups.result import GroupsResult
    from audits.loss_ratio.result import LossRatioResult
    from audits.mitigation.result import MitigationResult
    from audits.outcome_transport.result import OutcomeTransportResult
    from audits.recourse.result import RecourseResult
    from audits.rule_sets.result import RuleSetsResult
    from audits.sensitivity.result import SensitivityResult


@dataclass(frozen=True, eq=False)
class Findings(RunResult):
    """What `audit` found: a `RunResult` with reports, figures and tables at hand.

    Attributes
    ----------
    subject : Subject or None
        Data, model and decisions that every audit took; None of results that were saved, loaded or unpickled.
    not_run : mapping of str to str
        Audits that nobody asked for by name and that these people do not allow: why not.

    """

    subject: Subject | None = field(kw_only=True, default=None)
    not_run: Mapping[str, str] = field(kw_only=True, default_factory=dict)

    @overload
    def __getitem__(self, name: Literal["attribute_swap"]) -> AttributeSwapResult: ...
    @overload
    def __getitem__(self, name: Literal["barycenter"]) -> BarycenterResult: ...
    @overload
    def __getitem__(self, name: Literal["explain"]) -> ExplainResult: ...
    @overload
    def __getitem__(self, name: Literal["flipset"]) -> FlipsetResult: ...
    @overload
    def __getitem__(self, name: Literal["groups"]) -> GroupsResult: ...
    @overload
    def __getitem__(self, name: Literal["loss_ratio"]) -> LossRatioResult: ...
    @overload
    def __getitem__(self, name: Literal["mitigation"]) -> MitigationResult: ...
    @overload
    def __getitem__(self, name: Literal["outcome_transport"]) -> OutcomeTransportResult: ...
    @overload
    def __getitem__(self, name: Literal["recourse"]) -> RecourseResult: ...
    @overload
    def __getitem__(self, name: Literal["rule_sets"]) -> RuleSetsResult: ...
    @overload
    def __getitem__(self, name: Literal["sensitivity"]) -> SensitivityResult: ...
    @overload
    def __getitem__(self, name: str) -> Any: ...
    def __getitem__(self, name: str) -> Any:
        """Return the result of an audit by its name, the first if it ran twice."""
        return super().__getitem__(name)

    def __reduce__(self) -> tuple[type[Findings], tuple[Any, ...]]:
        return Findings, tuple(getattr(self, each.name) for each in fields(RunResult))

    def check(
        self,
        rules: str | Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
        *,
        baseline: str | Path | None = None,
    ) -> Findings:
        """Return itself where it passes a gate; see `evenhand.check`.

        Raises
        ------
        GateFailed
            An AssertionError that names each verdict or number that does not pass.
        InputError
            If a rule is wrong, or about nothing that these results state.
        """
        check(self, rules, baseline=baseline)
        return self

    def report(
        self,
        path: str | Path,
        *,
        template: Template = "full",
        sex: str | None = None,
        race: str | None = None,
        exclude_under: float = SMALL_SHARE,
    ) -> Path:
        """Write a report: by its ending HTML that opens offline, PDF, or a model card; return where it lies.

        A card (``.md``) has the metadata that the Hugging Face hub reads, whatever the template.

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
            If the ending is none of these, `sex` or `race` is no protected attribute, the share is more than
            the rules', no browser is there to print a PDF, or the file cannot be written.
        """
        place = Path(path)
        known = {".html": "html", ".htm": "html", ".pdf": "pdf", ".md": "card"}
        form = known[
            one_of("path", place.suffix.lower(), known, what="the name of an .html, .pdf or .md file")
        ]
        one_of("template", template, tuple(TEMPLATES))
        told = {"template": template, "sex": sex, "race": race, "exclude_under": exclude_under}
        content = render(self, form, **told)
        with os_refusal("path", "cannot be written", str(path)):
            place.write_bytes(content)
        return place

    def __repr__(self) -> str:
        found = self.findings()
        lines = [f"{each.audit.name}: {each.badge_text}. {each.finding}" for each in found]
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
            f"<td style='text-align:left'>{html.escape(each.finding)}</td></tr>"
            for each in self.findings()
        )
        rows += "".join(
            f"<tr><td>{html.escape(name)}</td><td>not run</td>"
            f"<td style='text-align:left'>{html.escape(why)}</td></tr>"
            for name, why in self.not_run.items()
        )
        data, model = self.data, self.model
        about = f"{model['name']}, {model['rule']}. {rows_words(data)}."
        notes = "".join(f"<br>{html.escape(note)}" for note in [*data["notes"], *model["notes"]])
        return (
            f"<div>{head}<table><thead><tr><th>audit</th><th>verdict</th><th>finding</th></tr></thead>"
            f"<tbody>{rows}</tbody></table><p><small>{html.escape(about)}{notes}</small></p></div>"
        )


def render(result: RunResult, form: str, **told: Any) -> bytes:
    """Return a report as "html", "pdf" or "card"; `told` is what its renderer takes beside the run."""
    if form == "card":
        return bytes(resolve("audits.reports.card:render_card")(result).encode())
    if form == "pdf":
        return bytes(resolve("audits.reports.pdf:render_pdf")(result, **told))
    return bytes(resolve("audits.reports.html:render_report")(result, **told).encode())


def load(folder: str | Path) -> Findings:
    """Read results that `RunResult.save` or ``evenhand run --out`` wrote.

    Raises
    ------
    RunFailed
        If the folder does not hold a complete result of this version.
    """
    found = RunResult.load(Path(folder))
    return Findings(*(getattr(found, each.name) for each in fields(RunResult)))
