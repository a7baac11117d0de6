"""Tables in the shape that New York City's Local Law 144 asks for. An aid, never legal advice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from audits.errors import InputError
from audits.groups import GroupsResult
from audits.groups.ll144 import BiasTable, bias_tables
from audits.report_kinds import SMALL_SHARE
from audits.reports.blocks import Block, Document, Text, grid
from audits.reports.outline import outline
from audits.stats.text import count, number

if TYPE_CHECKING:
    from audits.runs.result import RunResult


def ll144(
    run: RunResult,
    spec_text: str = "",
    *,
    sex: str | None = None,
    race: str | None = None,
    exclude_under: float = SMALL_SHARE,
) -> Document:
    """Arrange selection and scoring rates with impact ratios as New York City's Local Law 144 asks.

    Parameters
    ----------
    sex, race : str, optional
        Protected attributes that hold them; by default those whose names say so.
    exclude_under : float
        Share of the people under which a category is left out of the first impact ratios.
    """
    scored = run.model.get("score_kind") != "label"
    lower_is_better = run.model.get("higher_is") == "unfavorable"
    told = []
    for result, tables in category_tables(run, sex=sex, race=race, exclude_under=exclude_under):
        told.append(
            {
                "people": head_count(run, result),
                "tables": "; ".join(" and ".join(table.attributes) for table, _ in tables),
                "median": _median(tables[0][0].median, lower_is_better) if tables and scored else "",
                "shown": [(table, _grids(table, every, scored=scored)) for table, every in tables],
            }
        )
    return outline(
        run,
        spec_text,
        template="local_law_144",
        title="Bias audit tables",
        results=told,
        not_assessed=not_assessed(run),
        share=f"{100 * exclude_under:g}" if exclude_under else "",
        small=f"{100 * SMALL_SHARE:g}",
    )


def _median(score: float, lower_is_better: bool) -> str:
    """Word the median as the model's scores are: those of a risk were turned around for the audit."""
    if not lower_is_better:
        return number(score)
    return f"{number(-score)}; a lower score is better, and counts as above it"


def category_tables(
    run: RunResult, *, sex: str | None, race: str | None, exclude_under: float
) -> Iterator[tuple[GroupsResult, list[tuple[BiasTable, BiasTable]]]]:
    """Yield what each groups audit found with its tables, each also with the categories that are left out.

    Parameters
    ----------
    sex, race : str, optional
        Protected attributes that hold them; by default those whose names say so.
    exclude_under : float
        Share of the people under which a category is left out of the impact ratios; 0 leaves none out.

    Raises
    ------
    InputError
        If `sex` or `race` is no protected attribute of the run, the share is more than the rules allow, or an
        outcome is a number: nothing was decided that these tables could count.
    """
    if not 0 <= exclude_under <= SMALL_SHARE:
        where = "the share under which categories are left out"
        raise InputError(where, f"must lie from 0 to {SMALL_SHARE}, the rules' own", exclude_under)
    for result in (audit.result for audit in run.audits if isinstance(audit.result, GroupsResult)):
        if result.amounts is not None:
            raise InputError(
                "template",
                f"counts decisions, but the outcome {result.amounts.name!r} is numeric",
                advice=f"cut it: write label: {{column: {result.amounts.name}, at_least: …}} and run again",
            )
        some, every = (
            bias_tables(result, sex=sex, race=race, exclude_under=share) for share in (exclude_under, 0.0)
        )
        yield result, list(zip(some, every, strict=True))


def head_count(run: RunResult, result: GroupsResult) -> str:
    """Say how many people were audited, and where that is an estimate."""
    weights = (run.spec.get("data") or {}).get("weights")
    weighted = isinstance(weights, Mapping) and weights.get("kind") == "sampling"
    more = " by sampling weights, which are no headcount" if weighted else ""
    return f"{count(result.people['people'].sum())}{more}"


def not_assessed(run: RunResult) -> list[Block]:
    """Say who was left out before anyone was counted: among them may be people of unknown category."""
    left_out = dict(run.data["excluded"])
    for reason in left_out:
        if reason.startswith("label "):  # those decided on are counted all the same
            left_out[reason] -= run.data.get("rows_unlabeled", 0)
    said = [f"{count(n)} ({reason})" for reason, n in left_out.items() if n > 0]
    if not said:
        return []
    told = f"Rows left out earlier, and not counted as unknown category: {', '.join(said)}."
    missing = any(reason.startswith("missing") for reason in left_out)
    advice = " With data.missing: category, people whose category is missing are counted as unknown."
    return [Text(told + (advice if missing else ""), "warning")]


_COLUMNS = (
    ("Selection", ("selected", "selection rate", "impact ratio")),
    ("Scoring", ("scored above median", "scoring rate", "scoring impact ratio")),
)


def _with_ends(counted: str, *rates: str) -> list[str]:
    ends = [f"{name}{end}" for name in rates for end in ("", " low", " high")]
    return ["category", "people", counted, *ends, "under 2%"]


def _grids(table: BiasTable, every: BiasTable, *, scored: bool) -> list[Block]:
    name = " and ".join(table.attributes)
    shown = [(table, "")] + ([(every, ", every category")] if table.left_out else [])
    return [
        grid(each.rows[_with_ends(*columns)], name=f"{kind} rates by {name}{which}")
        for kind, columns in (_COLUMNS if scored else _COLUMNS[:1])
        for each, which in shown
    ]
