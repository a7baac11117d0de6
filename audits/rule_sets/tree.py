"""People by one attribute, then by the next: the rings of a sunburst, from the cells of a result."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from audits.rule_sets.result import RuleSetsResult

__all__ = ["combination_tree"]

_MOST_NODES = 600


def combination_tree(
    result: RuleSetsResult, attributes: Sequence[str] | None = None, *, most_rings: int = 3
) -> pd.DataFrame:
    """Return people and favourable shares of every combination of levels, ring by ring.

    Parameters
    ----------
    attributes : sequence of str, optional
        Rings from the inside out; by default the attributes of the first finding, then the others.
    most_rings : int
        Rings at most; fewer where there would be more than 600 combinations.

    Returns
    -------
    DataFrame
        ``id``, ``parent`` ("" for the first ring), ``attribute``, ``level``, ``people``, ``favorable``
        (share) and ``difference`` from everyone else's share.
    """
    names = [item["name"] for item in result.attributes]
    first = [rule["attribute"] for rule in result.leaderboard[0].rules] if result.leaderboard else []
    rings = list(attributes or [*first, *(name for name in names if name not in first)])[:most_rings]
    total, good = float(result.cells["people"].sum()), float(result.cells["favorable"].sum())
    parts: list[pd.DataFrame] = []
    for depth in range(1, len(rings) + 1):
        columns = [f"level {names.index(name)}" for name in rings[:depth]]
        counted = result.cells.groupby(columns, sort=True)[["people", "favorable"]].sum().reset_index()
        if depth > 1 and sum(map(len, parts)) + len(counted) > _MOST_NODES:
            break
        levels = result.attributes[names.index(rings[depth - 1])]["levels"]
        path = ["/".join(map(str, row)) for row in counted[columns].to_numpy()]
        people, favorable = counted["people"].to_numpy(), counted["favorable"].to_numpy()
        others = total - people
        with np.errstate(invalid="ignore", divide="ignore"):
            gap = np.where(others > 0, favorable / people - (good - favorable) / others, 0.0)
        parts.append(
            pd.DataFrame(
                {
                    "id": path,
                    "parent": [step.rpartition("/")[0] for step in path],
                    "attribute": rings[depth - 1],
                    "level": [levels[place] for place in counted[columns[-1]]],
                    "people": people,
                    "favorable": favorable / people,
                    "difference": gap,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)
