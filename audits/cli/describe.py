"""``describe``: what a data file holds and how it was read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from audits import data
from audits.cli import words
from audits.cli.words import counted, one_line, wrapped
from audits.errors import InputError, installed
from audits.runs.plans.proposal import propose, told_lacking

__all__ = ["describe"]

_LONGEST = 60
_HEAD = ("column", "kind", "missing", "values", "suggested as")
_RANGES = {"continuous", "integer", "datetime"}


def describe(file: Path, *, as_json: bool) -> str:
    """Return rows, columns, kinds, missing cells, detected format and suggested roles of a table."""
    table = data.read_table(file)
    facts = data.describe(table)
    if as_json:
        return json.dumps(
            {**facts, "audits": _allowed_names(table, facts)}, indent=1, ensure_ascii=False, allow_nan=False
        )
    lines = [one_line(sentence) for sentence in facts["sentences"]]
    lines += [f"{counted(facts['rows'], 'row')}, {counted(len(facts['columns']), 'column')}.", ""]
    suggested = facts["suggested"]
    stored = suggested["predictions"]
    parts = {
        **dict.fromkeys(suggested["identifiers"], "identifier"),
        **dict.fromkeys(suggested["protected"], "protected attribute"),
        **dict.fromkeys(suggested["label"][:1], "label"),
        **{name: f"predicted {kind}" if kind == "label" else kind for name, kind in stored.items()},
    }
    rows = [_HEAD, *(_row(column, parts.get(column["name"], "")) for column in facts["columns"])]
    return "\n".join([*lines, *words.table(rows), "", *_allowed(table, facts)])


def _allowed_names(table: data.Table, facts: dict[str, Any]) -> dict[str, list[str]] | None:
    try:
        return {name: list(each) for name, each in propose(table, facts).allowed.items()}
    except InputError:
        return None


def _allowed(table: data.Table, facts: dict[str, Any]) -> list[str]:
    """Say which audits these columns allow, as far as their names tell what they are."""
    try:
        proposal = propose(table, facts)
    except InputError as error:
        return [wrapped(f"Which audits it allows is not told by the names: {error}")]
    found, lines, spec = proposal.allowed, [], proposal.spec
    if found["stored"] and (stored := spec["model"].get("predictions")):
        itself = stored.get("label", "") == spec["data"].get("label")
        with_what = "the label itself as the decision" if itself else "the predictions stored here"
        lines.append(f"With {with_what}: {', '.join(found['stored'])}.")
    if found["model"]:
        here = " is trained here or" if installed("sklearn") else " is"
        lines.append(f"With a model that{here} brought along: {', '.join(found['model'])}.")
    elif found["stored"]:
        lines.append(
            "No column describes people beside label, predictions and groups, so what compares people by "
            "features is not possible."
        )
    if proposal.lacking:
        lines.append(told_lacking(proposal.lacking))
    return [wrapped(line) for line in lines]


def _row(column: dict[str, Any], part: str) -> tuple[str, ...]:
    examples = [one_line(example) for example in column["examples"]]
    if column["kind"] in _RANGES and examples:
        values = f"{examples[0]} to {examples[-1]}"
    else:
        more = [f"… ({column['distinct']:,} in all)"] if column["distinct"] > len(examples) else []
        values = ", ".join(examples + more)
    values = values if len(values) <= _LONGEST else values[: _LONGEST - 1] + "…"
    return one_line(column["name"]), column["kind"], f"{column['missing']:,}", values, part
