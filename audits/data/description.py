"""What a table holds, in plain data for the command line and the page that asks for roles."""

from __future__ import annotations

from typing import Any

import pandas as pd

from audits.data.io.tables import Table
from audits.data.kinds import Kind, infer_kinds
from audits.data.preprocessing.column_names import column_role, named_age
from audits.data.role_guesses import guess_outcome, is_group
from audits.data.values import as_text

_MAX_CODES = 20  # of groups; a column of numbers with more values is a measurement
_NUMBERS = {"continuous", "integer", "boolean"}
_EXAMPLES = 5
_MAX_EXAMPLE = 80


def describe(table: Table) -> dict[str, Any]:
    """Return rows, columns, how the table was read, and suggested roles.

    Returns
    -------
    dict
        ``rows``; ``sha256``; ``report`` (see `ReadReport.to_dict`) and ``sentences``; ``columns``:
        a list of ``{name, kind, missing, distinct, examples}``, examples the commonest values as
        text, shortened (for numbers and dates lowest, median, highest); ``suggested``: ``{label, perhaps,
        protected, identifiers}``, lists of names (``label`` holds the outcome that is proposed, and is empty
        where it must be asked; ``perhaps`` holds what else it may be, and ``why`` says why), and
        ``predictions``, which names stored predictions and says whether each is a ``label`` or a ``score``.
    """
    frame = table.frame
    kinds = infer_kinds(frame)
    columns = [_column(frame[name], kinds[name]) for name in frame.columns]
    return {
        "rows": len(frame),
        "sha256": table.report.sha256,
        "report": table.report.to_dict(),
        "sentences": table.report.sentences(),
        "columns": columns,
        "suggested": _suggestions(columns, len(frame)),
    }


def _column(column: pd.Series, kind: Kind) -> dict[str, Any]:
    known = column.dropna()
    if kind in {"continuous", "integer", "datetime"} and len(known):
        ordered = known.sort_values()
        shown = ordered.iloc[[0, (len(ordered) - 1) // 2, -1]].drop_duplicates()
    else:
        counts = known.value_counts()
        shown = counts.index[:_EXAMPLES].to_series()
    return {
        "name": str(column.name),
        "kind": kind,
        "missing": int(column.isna().sum()),
        "distinct": int(known.nunique()),
        "examples": [
            text if len(text) <= _MAX_EXAMPLE else text[: _MAX_EXAMPLE - 1] + "…" for text in as_text(shown)
        ],
    }


def _suggestions(columns: list[dict[str, Any]], rows: int) -> dict[str, Any]:
    kept = {c["name"]: column_role(c["name"]) for c in columns}
    outcome = guess_outcome(columns, rows=rows)
    protected = [c["name"] for c in columns if is_group(c) and _groupable(c)]
    predictions = {
        column["name"]: "label" if kept[column["name"]] == "prediction" else "score"
        for column in columns
        if kept[column["name"]] == "prediction"
        or (kept[column["name"]] == "score" and column["kind"] in _NUMBERS)
    }
    return {
        "label": [] if outcome.column is None else [outcome.column],
        "perhaps": [name for name in outcome.candidates if name != outcome.column],
        "why": outcome.why,
        "protected": protected,
        "identifiers": [c["name"] for c in columns if c["kind"] == "identifier"],
        "predictions": predictions,
    }


def _groupable(column: dict[str, Any]) -> bool:
    """Whether a column can tell groups apart: a measured number only where it is someone's age."""
    if column["kind"] in _NUMBERS and column["distinct"] > _MAX_CODES and not named_age(column["name"]):
        return False
    return column["kind"] not in {"text", "identifier", "datetime"} and column["distinct"] > 1
