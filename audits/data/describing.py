"""What a table holds, in plain data for the command line and the page that asks for roles."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from audits.data.kinds import Kind, infer_kinds
from audits.data.tables import Table
from audits.data.values import as_text

__all__ = ["describe"]

_PROTECTED = re.compile(
    r"race|racial|ethnic|ethnicity|sex|gender|age|religion|religious|marital|marriage|disability|disabled"
    r"|nationality|citizen|citizenship|foreign|foreigner|native|national|origin|pregnant|pregnancy|veteran"
    r"|colou?r|caste|orientation|male|female|woman|women|black|white|asian|hispanic|hispan|latino|latina"
    r"|minority|married|unmarried|immigrant|migrant"
)
_LABELS = re.compile(
    r"label|target|outcome|class|y|decision|approv\w*|hired?|hiring|accept\w*|admit\w*|admission|default|credit"
    r"|recid|recidivism|income|status|grant\w*|reject\w*|denied|result|response|passed|pass|pf|toxicity|toxic"
    r"|repaid|callback|selected|promoted|survived|convicted|fraud|churn|readmitted"
)
_MOST_LABEL_LEVELS = 20
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
        identifiers}``, lists of names, the likeliest label first. Suggestions go by names and
        kinds alone: they are a start for the user to correct.
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
        shown = ordered.iloc[[0, (len(ordered) - 1) // 2, -1]]
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


def _suggestions(columns: list[dict[str, Any]]) -> dict[str, list[str]]:
    protected = [c["name"] for c in columns if _named(c["name"], _PROTECTED) and _groupable(c)]
    scores = {}
    for position, column in enumerate(columns):
        named = _named(column["name"], _LABELS) and 2 <= column["distinct"] <= _MOST_LABEL_LEVELS
        two = column["distinct"] == 2 and column["kind"] not in {"continuous", "datetime"}
        if (named or two) and column["name"] not in protected:
            # Of equally likely ones the last: labels stand at the end of a table
            scores[column["name"]] = (named + two, position)
    return {
        "label": sorted(scores, key=lambda name: scores[name], reverse=True)[:5],
        "protected": protected,
        "identifiers": [c["name"] for c in columns if c["kind"] == "identifier"],
    }


def _groupable(column: dict[str, Any]) -> bool:
    return column["kind"] not in {"text", "identifier", "datetime"} and column["distinct"] > 1


def _named(name: str, words: re.Pattern[str]) -> bool:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return any(words.fullmatch(word.lower()) for word in re.split(r"[^A-Za-z]+", spaced))
