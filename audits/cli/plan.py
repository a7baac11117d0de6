"""``plan``: what each audit of a spec could see at given group sizes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from audits.cli.text import one_line, table
from audits.runs.documents import load_document
from audits.runs.plans.power import PowerRow, plan
from audits.runs.source.fetch import fetch_data
from audits.runs.spec import parse_spec
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL, Estimate

__all__ = ["plan_table"]

_HEAD = ("audit", "people in each group", "planted", EVIDENCE, NO_MATERIAL, INSUFFICIENT)


def plan_table(
    spec: Path, people: Sequence[int], differences: Sequence[float], *, worlds: int, as_json: bool
) -> str:
    """Return a table: in which share of worlds each audit gives each verdict.

    Raises
    ------
    InputError
        If the spec or a number is wrong.
    """
    checked = parse_spec(
        fetch_data(load_document(spec), spec.absolute().parent, spec.stem), spec.absolute().parent
    )
    found = plan(checked, sizes=people, differences=differences, worlds=worlds)
    if as_json:
        return json.dumps([dataclasses.asdict(row) for row in found], indent=1, ensure_ascii=False)
    rows = [_HEAD, *(_row(each) for each in found if not each.reason)]
    lines = [
        *table(rows),
        "",
        f"Shares of {worlds:,} simulated worlds, with their Wilson 95% intervals. Evidence where 0 points "
        "were planted is a false alarm.",
    ]
    refused = {each.audit: each.reason for each in found if each.reason}
    lines += [f"{name} cannot be planned: {one_line(reason)}" for name, reason in refused.items()]
    return "\n".join(lines)


def _row(row: PowerRow) -> tuple[str, ...]:
    shares = (row.evidence, row.no_material, row.insufficient)
    return (
        row.audit,
        f"{row.people:,}",
        f"{100 * row.difference:g} points",
        *(_share(each) for each in shares),
    )


def _share(share: Estimate) -> str:
    value, low, high = (100 * (each or 0.0) for each in (share.value, share.low, share.high))
    return f"{value:.0f}% ({low:.0f}–{high:.0f})"
