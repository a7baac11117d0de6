"""What a table holds, in plain data for the command line and the page that asks for roles."""

from __future__ import annotations

from typing import Any

import pandas as pd

from audits.data.io.tables import Table
from audits.data.kinds import Kind, infer_kinds
from audits.data.preprocessing.column_names import named_age, named_protected, named_result, stored
from audits.data.values import as_text

__all__ = ["describe"]

_MOST_LABEL_LEVELS = 20
_MOST_CODES = 20  # of groups; a column of numbers with more values is a measurement
_NUMBERS = {"continuous", "integer", "boolean"}
_EXAMPLES = 5
_LONGEST_EXAMPLE = 80


def describe(table: Table) -> dict[str, Any]:
    """Return rows, columns, how the table was read, and suggested roles.

    Returns
    -------
    dict
        ``rows``; ``sha256``; ``report`` (see `ReadReport.to_dict`) and ``sentences``; ``columns``:
        a list of ``{name, kind, missing, distinct, examples}``, examples the commonest values as
        text, shortened (for numbers and dates lowest, median, highest); ``suggested``: ``{label, protected,
        identifiers}``, lists of names, the likeliest label first, and ``predictions``, which names stored
        predictions and says whether each is a ``label`` or a ``score``. Suggestions go by names and kinds
        alone: they are a start for the user to correct.
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
        "suggested": _suggestions(columns),
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
        "examples": [_shortened(text) for text in as_text(shown)],
    }


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_EXAMPLE else text[: _LONGEST_EXAMPLE - 1] + "…"


def _suggestions(columns: list[dict[str, Any]]) -> dict[str, Any]:
    kept = {c["name"]: stored(c["name"]) for c in columns}
    protected = [c["name"] for c in columns if named_protected(c["name"]) and _groupable(c)]
    scores = {}
    for position, column in enumerate(columns):
        name, few = column["name"], 2 <= column["distinct"] <= _MOST_LABEL_LEVELS
        truth = kept[name] == "label" and few
        named = named_result(name) and few
        two = column["distinct"] == 2 and column["kind"] not in {"continuous", "datetime"}
        if (truth or named or two) and name not in protected and kept[name] not in {"prediction", "score"}:
            # Of equally likely ones the last: labels stand at the end of a table
            scores[name] = (2 * truth + named + two, position)
    predictions = {
        column["name"]: "label" if kept[column["name"]] == "prediction" else "score"
        for column in columns
        if kept[column["name"]] == "prediction"
        or (kept[column["name"]] == "score" and column["kind"] in _NUMBERS)
    }
    return {
        "label": sorted(scores, key=lambda name: scores[name], reverse=True)[:5],
        "protected": protected,
        "identifiers": [c["name"] for c in columns if c["kind"] == "identifier"],
        "predictions": predictions,
    }


def _groupable(column: dict[str, Any]) -> bool:
    """Whether a column can tell groups apart: a measured number only where it is somebody's age."""
    if column["kind"] in _NUMBERS and column["distinct"] > _MOST_CODES and not named_age(column["name"]):
        return False
    return column["kind"] not in {"text", "identifier", "datetime"} and column["distinct"] > 1
