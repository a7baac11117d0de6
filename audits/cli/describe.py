"""``describe``: what a data file holds and how it was read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from audits import data
from audits.cli.words import counted, one_line

__all__ = ["describe"]

_LONGEST = 60
_HEAD = ("column", "kind", "missing", "values", "suggested as")
_RANGES = {"continuous", "integer", "datetime"}


def describe(file: Path, *, as_json: bool) -> str:
    """Return rows, columns, kinds, missing cells, detected format and suggested roles of a table."""
    facts = data.describe(data.read_table(file))
    if as_json:
        return json.dumps(facts, indent=1, ensure_ascii=False, allow_nan=False)
    lines = [one_line(sentence) for sentence in facts["sentences"]]
    lines += [f"{counted(facts['rows'], 'row')}, {counted(len(facts['columns']), 'column')}.", ""]
    suggested = facts["suggested"]
    parts = {
        **dict.fromkeys(suggested["identifiers"], "identifier"),
        **dict.fromkeys(suggested["protected"], "protected attribute"),
        **dict.fromkeys(suggested["label"][:1], "label"),
    }
    rows = [_HEAD, *(_row(column, parts.get(column["name"], "")) for column in facts["columns"])]
    widths = [max(len(row[place]) for row in rows) for place in range(len(_HEAD))]
    lines += [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join(lines)


def _row(column: dict[str, Any], part: str) -> tuple[str, ...]:
    examples = [one_line(example) for example in column["examples"]]
    if column["kind"] in _RANGES and examples:
        values = f"{examples[0]} to {examples[-1]}"
    else:
        more = [f"… ({column['distinct']:,} in all)"] if column["distinct"] > len(examples) else []
        values = ", ".join(examples + more)
    values = values if len(values) <= _LONGEST else values[: _LONGEST - 1] + "…"
    return one_line(column["name"]), column["kind"], f"{column['missing']:,}", values, part
