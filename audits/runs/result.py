"""`RunResult`: everything a run found, in memory, in a folder, and as results.json."""

from __future__ import annotations

import dataclasses
import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from audits.checks import build, one_of
from audits.errors import RunFailed
from audits.records import Section, resolve
from audits.results import check_finite, frame_of, load_result, save_result
from audits.runs.comparison.changes import Changes
from audits.runs.documents import plain_data
from audits.runs.gates.places import numbered
from audits.runs.headline import RunFinding, RunHeadline, findings_of, headline_of
from audits.runs.multiple_testing import RunCorrection, counted_together
from audits.runs.registry import AUDITS
from audits.runs.tables import result_tables, write_csv
from audits.stats.vocabulary import DataWords, speaking

if TYPE_CHECKING:
    from audits.data import AuditData
    from audits.data.io.tables import ReadReport
    from audits.models import Subject
    from audits.runs.spec import Spec

SCHEMA = 2
"""Version of results.json, as `audits.reports.schema.results_schema` describes it."""

READ = (1, 2)
"""Versions that this one reads: what an audit's result was called before is the audit's to know."""


_SEARCH = "search"  # name of its files


_TIDY = ("audit", "attribute", "group", "measure", "value", "low", "high", "n", "unit", "method", "verdict")
_UNITS = {  # by the end of a measure's path, where its audit's record says nothing; all else is a share
    "auc": "area under the curve",
    "impact_ratio": "ratio",
    "demographic_parity_ratio": "ratio",
    "expected_by_chance": "people",
    "mean_score": "score",
    "mean_score_change": "score",
    "wasserstein": "score",
    "order_1": "score",
    "order_2": "score",
    "mean_difference": "unit of the column",
    "mean_change": "unit of the column",
    "mean_sign": "mean of -1, 0, 1",
    "burden": "cost",
    "burden_difference": "cost",
    "burden_judged.interval": "cost",
    "tie_range": "cost",
    "bias": "cost",
}
OUTCOME_UNIT = "unit of the outcome"
"""What a record says of measures that are in the unit of a numeric outcome."""
_SHARES = {"share", "flagged", "mismatched", "by_chance", "within_bands", "equally_far", "observed"}
_NAMES = {  # what a row of results.json says that it is about
    "attribute": ("attribute", "feature", "column", "columns"),
    "group": ("group", "rule_set", "level", "name", "value"),
}
# what rows that are about the same differ in, else their position
_TURNS = ("alpha", "way", "to", "level", "name", "value")


@dataclass(frozen=True, eq=False)
class AuditResult:
    """One audit of a run: its name in the spec, all its options, what it found, and in which words."""

    name: str
    options: dict[str, Any]
    result: Any
    words: DataWords = field(default_factory=DataWords)

    def __repr__(self) -> str:
        return f"<AuditResult {self.name}: {self.result!r}>"

    def _repr_html_(self, doubt: str = "") -> str:
        """Return the finding for a notebook, and what makes it doubtful in its run."""
        with speaking(self.words):
            return str(self.result._repr_html_()) + (f"<p>{html.escape(doubt)}</p>" if doubt else "")

    def _ipython_display_(self, doubt: str = "") -> None:
        """Show the finding and its first figure in a notebook."""
        with speaking(self.words):
            AUDITS[self.name].show(self.result, self._repr_html_(doubt))

    @property
    def headline(self) -> str:
        """What it found in one sentence for everyone."""
        with speaking(self.words):
            return AUDITS[self.name].sentence(self.result)

    @property
    def section(self) -> Section:
        """How it is presented, in the words of its data."""
        with speaking(self.words):
            return AUDITS[self.name].section(self.result)

    def to_json(self) -> dict[str, Any]:
        """Return the audit's entry of results.json."""
        told = {"audit": self.name, "options": self.options, "headline": self.headline}
        found: dict[str, Any] = self.result.to_json()
        return told | found


@dataclass(frozen=True, eq=False)
class RunResult:
    """Result of a run.

    Attributes
    ----------
    evenhand : str
        Version that computed it.
    spec : dict
        The canonical spec.
    data : dict
        What was read, used and left out and why: ``rows_read == rows_used + sum(excluded.values())``;
        rows audited and trained on, and left out without a label, but counted where only decisions are;
        files with their digests, notes for the user.
    model : dict
        Name, digest, columns, threshold, notes.
    audits : tuple of AuditResult
        In the order of the spec.
    compared : ComparedRun or None
        A second model on the same people, and what changes towards it, where the spec has ``compare``.
    search : AuditResult or None
        The search for groups that an average hides, where some audit clears an attribute.
    folder : Path or None
        Where it was read from, for other processes.
    laid_out : object, optional
        What removes that folder once nobody has the result any more.
    """

    evenhand: str
    spec: dict[str, Any]
    data: dict[str, Any]
    model: dict[str, Any]
    audits: tuple[AuditResult, ...]
    compared: SecondRun | None = None
    search: AuditResult | None = None
    folder: Path | None = None
    laid_out: object = None

    def __repr__(self) -> str:
        told = (f"{each.audit.name}: {each.badge_text}" for each in self.findings())
        return f"<RunResult: {', '.join(told)}>"

    def _repr_html_(self) -> str:
        """Return the findings for a notebook."""
        return "".join(each.audit._repr_html_(each.across.doubt) for each in self.findings())

    def _ipython_display_(self) -> None:
        """Show each finding and its first figure in a notebook, the leading one first."""
        for each in self.findings():
            each.audit._ipython_display_(each.across.doubt)

    def to_json(self) -> dict[str, Any]:
        """Return results.json as plain data.

        Raises
        ------
        RunFailed
            If an audit states a number that is not finite: what does not exist must be None.
        """
        entries = [
            {**audit.to_json(), "verdict_across": across.verdict}
            for audit, across in zip(self._corrected_together(), self._across(), strict=True)
        ]
        document = {
            "schema": SCHEMA,
            "evenhand": self.evenhand,
            "spec": self.spec,
            "data": self.data,
            "model": self.model,
            "headline": self.headline().to_json(),
            "audits": entries[: len(self.audits)],
        }
        if self.search is not None:
            document["search"] = entries[-1]
        if self.compared is not None:
            document["compared"] = self.compared.to_json()
        check_finite("The result", document)
        return document

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
    def figures(self) -> Figures:
        """Every figure, by audit and name, drawn when looked up."""
        return Figures(self)

    def explain(self) -> None:
        """Print each finding, the method that its audit implements, and where that is from."""
        for place, audit in enumerate(self.audits):
            print("\n\n" if place else "", end="")
            audit.result.explain()

    def across(self) -> list[RunCorrection]:
        """Return what the correction for all audits of the run leaves of each audit's verdict."""
        return self._across()[: len(self.audits)]

    def findings(self) -> list[RunFinding]:
        """Return what was found in the order in which a reader should see it; the search while it finds."""
        return findings_of(self)

    def headline(self) -> RunHeadline:
        """Return what the run says first; see `audits.runs.headline`."""
        return headline_of(self)

    def _corrected_together(self) -> tuple[AuditResult, ...]:
        """The audits that are corrected for one another: the search too."""
        return self.audits if self.search is None else (*self.audits, self.search)

    def _across(self) -> list[RunCorrection]:
        counted = self._corrected_together()
        return counted_together([each.result for each in counted], [each.options for each in counted])

    def with_spec(self, spec: Spec) -> RunResult:
        """Return the same result under `spec`, an equal one whose files lie elsewhere."""
        return dataclasses.replace(self, spec=spec.to_dict())

    def tidy(self) -> pd.DataFrame:
        """Return every estimate of every audit in one long table.

        Returns
        -------
        DataFrame
            Columns ``audit`` (numbered if it ran twice), ``attribute``, ``group``, ``measure`` (its path in
            results.json, with ``[0.5]`` where rows of one group differ in alpha alone), ``value``, ``low``,
            ``high``, ``n``, ``unit``, ``method`` and ``verdict`` (of the row that states one, else of the
            audit, corrected for all audits of the run). Shares are shares, not percent; ``own`` is
            the unit of a custom metric.
        """
        rows = []
        for name, entry in zip(_numbered(self.audits), self.to_json()["audits"], strict=True):
            start = {"audit": name, "verdict": entry["verdict_across"]}
            if amounts := entry.get("amounts") or entry.get("amount"):
                start["outcome's unit"] = amounts["unit"] or amounts["name"]
                start["unit of all"] = "amount" in entry and entry["amount"] is not None
            rows += list(
                _estimates({key: each for key, each in entry.items() if key != "options"}, "", start)
            )
        return pd.DataFrame(rows, columns=list(_TIDY))

    def save(self, folder: str | Path) -> None:
        """Write results.json into `folder`, and under ``people/`` what `load` needs besides."""
        folder = Path(folder)
        people = folder / "people"
        people.mkdir(parents=True, exist_ok=True)
        (folder / "results.json").write_text(
            json.dumps(self.to_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8"
        )
        for place, audit in enumerate(self.audits):
            save_result(audit.result, people, f"{place}-{audit.name}")
        if self.search is not None:
            save_result(self.search.result, people, _SEARCH)
        if self.compared is not None:
            self.compared.second.save(folder / "second")
            save_result(self.compared.changes, people, "compared")

    @classmethod
    def load(cls, folder: str | Path) -> RunResult:
        """Read what `save` wrote.

        Raises
        ------
        RunFailed
            If the folder does not hold a complete result of this version.
        """
        folder = Path(folder)
        try:
            document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
            schema = document.pop("schema")
            if schema not in READ:
                raise RunFailed(
                    f"{folder} holds results of schema {schema}, and this version reads "
                    f"{' and '.join(map(str, READ))}; use the version of Evenhand that wrote them, or run "
                    "it again."
                )
            entries = document.pop("audits")
            told = document["spec"]["data"].get("words")
            words = DataWords() if told is None else build(DataWords, told, "data.words")

            def read(entry: dict[str, Any], name: str) -> AuditResult:
                audit = AUDITS[entry["audit"]]
                result: Any = load_result(audit.result_type, folder / "people", name)
                return AuditResult(audit.name, entry["options"], result, words)

            audits = tuple(read(each, f"{place}-{each['audit']}") for place, each in enumerate(entries))
            document.pop("headline", None)  # follows from the rest
            search = document.pop("search", None)
            search = None if search is None else read(search, _SEARCH)
            compared = None
            if document.pop("compared", None) is not None:
                compared = SecondRun(
                    RunResult.load(folder / "second"), load_result(Changes, folder / "people", "compared")
                )
            return cls(**document, audits=audits, compared=compared, search=search, folder=folder)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunFailed(
                f"{folder} does not hold a complete result of this version ({error}); run it again."
            ) from None

    def write_tables(self, folder: Path) -> None:
        """Write every audit's tables as spreadsheet-safe CSV, named after audit and table."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self.tables.items():
            write_csv(table, folder / f"{name}.csv", index=table.index.name is not None)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Every table of every audit, by audit and name; audits asked for twice are numbered."""
        results = dict(zip(numbered([each.name for each in self.audits], "-"), self.audits, strict=True))
        if self.search is not None:
            results[_SEARCH] = self.search
        found = {
            f"{audit}-{name}": table
            for audit, each in results.items()
            for name, table in result_tables(each.result).items()
        }
        if self.compared is not None:
            changes = self.compared.changes
            found |= {"compared-changes": changes.to_frame(), "compared-decided": changes.decided_frame()}
            found["compared-people"] = changes.people
            found |= {f"second-{name}": table for name, table in self.compared.second.tables.items()}
        return found


@dataclass(frozen=True, eq=False)
class SecondRun:
    """The second model's own run, and what changes towards it."""

    second: RunResult
    changes: Changes

    def to_json(self) -> dict[str, Any]:
        """Return ``compared`` of results.json: the second model, its audits, and the changes."""
        values = self.changes.to_json()
        own = self.second.to_json()["audits"]
        for entry in values["audits"]:
            place = entry["second"]
            entry["second"] = None if place is None else own[place]
        return {"model": self.second.model, **values}


class Figures(Mapping[str, Any]):
    """Figures by ``audit/name``, each drawn when it is looked up; ``audit-2/name`` of its second run."""

    def __init__(self, findings: RunResult) -> None:
        self._made = {}
        for run, each in zip(_numbered(findings.audits), findings.audits, strict=True):
            for exhibit in each.section.exhibits:
                self._made[f"{run}/{exhibit.key}"] = exhibit.figure

    def __getitem__(self, name: str) -> Any:
        drawn = self._made[one_of("figure", name, self._made, what="one of the figures")]()
        return resolve("audits.drawing.svg:in_notebooks")(drawn)

    def __iter__(self) -> Iterator[str]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)

    def __repr__(self) -> str:
        return f"<figures: {', '.join(self._made)}>"


def data_facts(data: AuditData, subject: Subject, report: ReadReport | None = None) -> dict[str, Any]:
    """Return what results say of the data: read, used, audited and left out; of files how they were read."""
    notes = [*(report.sentences() if report is not None else ()), *data.notes]
    facts = {
        "rows_read": data.rows_read,
        "rows_used": data.rows,
        "rows_audited": subject.data.rows,
        "people_audited": subject.data.people,
        "rows_trained": subject.training.n if subject.training is not None else 0,
        "rows_unlabeled": subject.everyone.data.rows - subject.data.rows,
        "excluded": dict(data.excluded),
        "imputed": dict(data.imputed),
        "sha256": data.sha256,
        "files": report.to_dict()["files"] if report is not None else [],
        "notes": list(dict.fromkeys(notes)),
    }
    found: dict[str, Any] = plain_data(facts, "data")
    return found


def _numbered(audits: Iterable[AuditResult]) -> Iterator[str]:
    """Yield the names of audits, the second of a name as ``groups-2``."""
    runs: Counter[str] = Counter()
    for each in audits:
        runs[each.name] += 1
        yield each.name if runs[each.name] == 1 else f"{each.name}-{runs[each.name]}"


def _unit(audit: str, measure: str) -> str:
    """Return in which unit a measure is, by its path in results.json."""
    *before, leaf = re.sub(r"\[.*?\]", "", measure).split(".")
    audit = re.sub(r"-\d+$", "", audit)
    ends = (".".join([*before[-1:], leaf]), leaf)
    own = AUDITS[audit].units
    asked = {**_UNITS, **own, **dict.fromkeys(_SHARES - own.keys(), "share")}
    return next((asked[end] for end in ends if end in asked), own.get("", "share"))


def _estimates(value: Any, path: str, about: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every estimate below `value`, with what the rows around it say that it is about."""
    if isinstance(value, list):
        subjects = [tuple(_names_of(each, about).items()) for each in value]
        times = Counter(subjects)
        for place, (each, same) in enumerate(zip(value, subjects, strict=True)):
            row = each if isinstance(each, dict) and "low" not in each else {}
            turn = next((row[key] for key in _TURNS if key in row), place)
            yield from _estimates(each, f"{path}[{turn}]" if times[same] > 1 else path, about)
    elif isinstance(value, dict) and {"value", "low", "high"} <= value.keys():
        if value["value"] is not None:
            ends = {key: value.get(key) for key in ("value", "low", "high", "n", "method")}
            unit = _unit(about["audit"], path)
            if "outcome's unit" in about and (
                unit == OUTCOME_UNIT or path == "interval" or about["unit of all"]
            ):
                unit = about["outcome's unit"]
            if set(path.split(".")) & set(about.get("added", ())):
                unit = "own"
            yield {**about, "measure": path, "unit": unit, **ends}
    elif isinstance(value, dict):
        told: dict[str, Any] = dict(_names_of(value, about)) if path else {}
        if isinstance(value.get("added"), dict):  # custom metrics, in units of their own
            told["added"] = tuple(value["added"])
        if isinstance(value.get("verdict"), str) and path:
            told["verdict"] = value["verdict"]
        for key, each in value.items():
            yield from _estimates(each, f"{path}.{key}".lstrip("."), about | told)


def _names_of(row: Any, about: Mapping[str, Any]) -> dict[str, str]:
    """Return which attribute and group a row of results.json says that it is about, beside what is around it.

    A part of a group's row keeps that group, unless it names a group itself.
    """
    found: dict[str, str] = {}
    if not isinstance(row, dict) or "low" in row:
        return found
    for name, keys in _NAMES.items():
        for key in (name,) if name in about else keys:
            said = row.get(key)
            said = ", ".join(map(str, said)) if isinstance(said, list) else said
            if said and isinstance(said, (str, int, float)):
                found[name] = str(said)
                break
    return found
