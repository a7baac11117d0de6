"""People in a rule set as a table, a row each."""

from __future__ import annotations

import pandas as pd

from app.tables.people import FAVORABLE
from audits.rule_sets import RuleSetsResult


def _in_rule_set(result: RuleSetsResult, rows: pd.Index) -> pd.DataFrame:
    people = result.people[result.people.index.isin(rows)]
    return pd.DataFrame({"decision": people["favorable"].map(FAVORABLE), "score": people["score"]})


TABLES = {"in rule set": _in_rule_set}
