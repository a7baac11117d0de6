"""Rejected people as a table, a row each."""

from __future__ import annotations

import pandas as pd

from audits.recourse import RecourseResult
from audits.recourse.sections import HEADS as WORDED
from audits.recourse.sections import with_headings

HEADS = {
    "alpha": WORDED["alpha"],
    "cost": "burden",
    "fewest": "fewest columns",
    "fewest_columns": "which",
    "fewest_proved": "all smaller sets tried",
    "by_any_accepted": "accepted with somebody else's values",
}


def _rejected_table(result: RecourseResult, hidden: list[str]) -> pd.DataFrame:
    return with_headings(result.people.drop(columns=hidden), HEADS)


TABLES = {"rejected": _rejected_table}
