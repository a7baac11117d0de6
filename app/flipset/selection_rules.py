"""People selected by how often they flip when matched again."""

from __future__ import annotations

import pandas as pd

from app.selection import SelectionRules


def _with_derived(people: pd.DataFrame) -> pd.DataFrame:
    if "times" not in people:
        return people
    return people.assign(
        **{"flips again": people["flips_again"] / people["times"].where(people["times"] > 0)}
    )


OWN = SelectionRules(with_made=_with_derived)
