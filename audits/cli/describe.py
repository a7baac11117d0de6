"""``describe``: what a data file holds and how it was read."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from audits import data
from audits.cli import text
from audits.cli.doctor import finding_lines
from audits.cli.text import count_of, one_line, wrap
from audits.data.preprocessing.column_names import column_role as stored_as
from audits.errors import InputError, is_installed
from audits.runs.plans.proposal import (
    Proposal,
    missing_packages_text,
    propose,
    read_past_header,
    table_findings,
)

_MAX = 60
_HEAD = ("column", "kind", "missing", "values", "suggested as")
_RANGES = {"continuous", "integer", "datetime"}


def describe(file: Path, *, as_json: bool) -> str:
    """Return rows, columns, kinds, missing cells, detected format and suggested roles of a table."""
    table, read = read_past_header(file)
    facts = data.describe(table)
    try:
        proposal: Proposal | InputError = propose(table, facts)
    except InputError as error:
        proposal = error
    found = table_findings(data.read_table(file) if read else table, *_as_proposed(proposal))
    if as_json:
        allowed = None if isinstance(proposal, InputError) else proposal.allowed
        plain = {**facts, "audits": allowed, "findings": [asdict(each) for each in found]}
        return json.dumps(plain, indent=1, ensure_ascii=False, allow_nan=False)
    lines = [one_line(sentence) for sentence in facts["sentences"]]
    lines += [f"{count_of(facts['rows'], 'row')}, {count_of(len(facts['columns']), 'column')}.", ""]
    suggested = facts["suggested"]
    stored = suggested["predictions"]
    parts = {
        **dict.fromkeys(suggested["identifiers"], "identifier"),
        **dict.fromkeys(suggested["protected"], "protected attribute"),
        **dict.fromkeys(suggested["label"][:1], "outcome"),
        **{name: f"predicted {kind}" if kind == "label" else kind for name, kind in stored.items()},
    }
    rows = [_HEAD, *(_row(column, parts.get(column["name"], "")) for column in facts["columns"])]
    doctor = ["", *finding_lines(found)] if found else []
    return "\n".join([*lines, *text.table(rows), "", *_possible_audits(proposal), *doctor])


def _as_proposed(proposal: Proposal | InputError) -> tuple[dict[str, Any], str | None]:
    """Return the `data` section proposed, and the column of predicted labels; of none an empty section."""
    if isinstance(proposal, InputError):
        return {}, None
    return proposal.spec["data"], proposal.spec["model"].get("predictions", {}).get("label")


def _possible_audits(proposal: Proposal | InputError) -> list[str]:
    """Say how the first questions about a table are answered, and which audits that allows."""
    if isinstance(proposal, InputError):
        return [wrap(f"The names do not show which audits it allows: {proposal}")]
    found, spec = proposal.allowed, proposal.spec
    lines = [*proposal.guesses.values()]
    if found["stored"] and (stored := spec["model"].get("predictions")):
        decided = stored.get("label") is not None and stored_as(stored["label"]) is None
        with_what = "the decisions in this table" if decided else "the predictions stored here"
        lines.append(f"With {with_what}: {', '.join(found['stored'])}.")
    if found["model"]:
        here = " is trained here or" if is_installed("sklearn") else " is"
        lines.append(f"With a model that{here} supplied: {', '.join(found['model'])}.")
    elif found["stored"]:
        lines.append(
            "No column describes people beyond label, predictions and groups, so audits that compare "
            "people by features are not possible."
        )
    if proposal.lacking:
        lines.append(missing_packages_text(proposal.lacking))
    return [wrap(line) for line in lines]


def _row(column: dict[str, Any], part: str) -> tuple[str, ...]:
    examples = [one_line(example) for example in column["examples"]]
    if column["kind"] in _RANGES and examples:
        values = f"{examples[0]} to {examples[-1]}"
    else:
        more = [f"… ({column['distinct']:,} in all)"] if column["distinct"] > len(examples) else []
        values = ", ".join(examples + more)
    values = values if len(values) <= _MAX else values[: _MAX - 1] + "…"
    return one_line(column["name"]), column["kind"], f"{column['missing']:,}", values, part
