"""Tables in the shape that New York City's Local Law 144 asks for. An aid, never legal advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audits.errors import InputError
from audits.groups import GroupsResult
from audits.groups.ll144 import BiasTable, bias_tables
from audits.report_kinds import SMALL_SHARE
from audits.reports.blocks import Block, Document, Heading, Text, grid
from audits.reports.laws.outline import outline
from audits.stats.text import count, number, people

if TYPE_CHECKING:
    from audits.runs.result import RunResult

__all__ = ["groups_results", "ll144", "not_assessed"]


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
    told = []
    for result in groups_results(run):
        tables = bias_tables(result, sex=sex, race=race, exclude_under=exclude_under)
        every = bias_tables(result, sex=sex, race=race, exclude_under=0)
        shown = [
            block
            for table, whole in zip(tables, every, strict=True)
            for block in _bias_table(table, whole, scored=scored)
        ]
        told.append(
            {
                "people": count(result.people["people"].sum()),
                "outcome": result.outcome,
                "tables": "; ".join(" and ".join(table.attributes) for table in tables),
                "median": number(tables[0].median) if tables and scored else "",
                "shown": shown,
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


def groups_results(run: RunResult) -> list[GroupsResult]:
    """Return what each groups audit of a run found.

    Raises
    ------
    InputError
        If an outcome is a number: nothing was decided that these tables could count.
    """
    found = [audit.result for audit in run.audits if isinstance(audit.result, GroupsResult)]
    for result in found:
        if result.amounts is not None:
            raise InputError(
                "template",
                f"counts decisions, but the outcome {result.amounts.name!r} is numeric",
                advice=f"cut it: write label: {{column: {result.amounts.name}, at_least: …}} and run again",
            )
    return found


def not_assessed(run: RunResult) -> list[Block]:
    """Say who was left out before anyone was counted: among them may be people of unknown category."""
    left_out = [f"{count(n)} ({reason})" for reason, n in run.data["excluded"].items() if n]
    if not left_out:
        return []
    told = f"Rows left out earlier, and not counted as unknown category: {', '.join(left_out)}."
    missing = any("missing" in reason for reason in run.data["excluded"])
    advice = " With data.missing: category, people whose category is missing are counted as unknown."
    return [Text(told + (advice if missing else ""), "warning")]


def _bias_table(table: BiasTable, every: BiasTable, *, scored: bool) -> list[Block]:
    name = " and ".join(table.attributes)
    selection = ["category", "people", "selected"] + [f"selection rate{end}" for end in ("", " low", " high")]
    selection += [f"impact ratio{end}" for end in ("", " low", " high")] + ["under 2%"]
    scoring = ["category", "people", "scored above median"] + [
        f"scoring rate{end}" for end in ("", " low", " high")
    ]
    scoring += [f"scoring impact ratio{end}" for end in ("", " low", " high")] + ["under 2%"]
    few = people(table.unknown)
    unknown = f"{few} {'is' if few.startswith('1 ') else 'are'} of unknown category, and in no row."
    if not len(table.rows):
        return [Heading(name), Text(unknown)]
    small = int(table.rows["under 2%"].sum())
    shown = [(table, "")] + ([(every, ", every category")] if table.left_out else [])
    return [
        Heading(name),
        *(grid(each.rows[selection], name=f"Selection rates by {name}{which}") for each, which in shown),
        *(
            grid(each.rows[scoring], name=f"Scoring rates by {name}{which}")
            for each, which in shown
            if scored
        ),
        Text(f"{unknown} {small} of {len(table.rows)} categories hold under 2% of all people.", "quiet"),
    ]
