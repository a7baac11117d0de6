"""Flipped people as a table, a row each."""

from __future__ import annotations

import numpy as np
import pandas as pd

from app.tables.people import FAVORABLE
from audits.flipset import FlipsetResult


def flipped_people(result: FlipsetResult, part: str, rows: pd.Index | None = None) -> pd.DataFrame:
    """Return the people in a flipset, surest flips first, and how they were decided.

    Parameters
    ----------
    part : {"positive", "negative"}
        Which flipset.
    rows : Index, optional
        These source people instead, flipped and not.
    """
    people = result.people[result.people[part] > 0] if rows is None else result.people.loc[rows]
    people = people.iloc[np.lexsort((people.index, people["distance"], -people[part]))]
    return pd.DataFrame(
        {
            "flips": people[part],
            "decision": people["decision"].map(FAVORABLE),
            "score": people["score"],
            **({"counterpart": people["counterpart"]} if result.invented.empty else {}),
            "counterpart score": people["counterpart_score"],
            "distance": people["distance"],
            **({"flips again": _repeat_share(people)} if "times" in people else {}),
        }
    )


def _repeat_share(people: pd.DataFrame) -> pd.Series:
    """In how many of 100 repeats each person flips, of those who took part in any."""
    often = (100 * people["flips_again"] / people["times"].where(people["times"] > 0)).round()
    return often.map(lambda value: "not drawn" if pd.isna(value) else f"{value:.0f} of 100")


TABLES = {"flipped": flipped_people}
