"""Everyone as a table, a row each, and how each is decided."""

from __future__ import annotations

import pandas as pd

from app.tables.people import FAVORABLE, without_group
from audits.groups import GroupsResult


def _people_table(result: GroupsResult, hidden: list[str]) -> pd.DataFrame:
    people = result.people.drop(columns=hidden)
    people["decision"] = people["decision"].map(FAVORABLE)
    return without_group(people)


TABLES = {"decided": _people_table}
