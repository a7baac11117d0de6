"""People who flip among all groups as a table, a row each."""

from __future__ import annotations

import pandas as pd

from app.tables.people import FAVORABLE
from audits.barycenter import BarycenterResult


def _flipping(result: BarycenterResult, group: str, way: str) -> pd.DataFrame:
    """Return the people of a group who flip one way among all groups, most certain first."""
    people = result.people[(result.people["group"] == group) & (result.people[way] > 0)]
    people = people.iloc[(-people[way]).argsort(kind="stable")]
    return pd.DataFrame(
        {
            "flips": people[way],
            "decision": people["decision"].map(FAVORABLE),
            "score": people["score"],
            "closest match": people["counterpart"],
            "of": people["counterpart_group"],
            "distance": people["distance"],
        }
    )


TABLES = {"flipping": _flipping}
