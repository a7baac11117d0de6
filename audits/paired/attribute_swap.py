"""Two models asked about the same changed people: how much more one of them hangs on the word changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from audits.attribute_swap.result import AttributeSwapResult, SwapRow
from audits.paired.moved import People, mean_moved
from audits.paired.pairing import Pairing, Row, other_people
from audits.stats.design import make_design
from audits.stats.words import people_in

__all__ = ["paired"]

_WHY = {"": "it is a part of the net share beside it, or of texts that both hold"}


def paired(first: AttributeSwapResult, second: AttributeSwapResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how net shares moved from the first model to the second; see `audits.paired.pairing`."""
    theirs, ours = (result.people.sort_index() for result in (first, second))
    if not len(ours) or not theirs.index.equals(ours.index):
        return other_people()
    people, known = _people(ours), {row.name: row for row in first.swaps}
    rows = []
    for row in second.swaps:
        column = f"{row.attribute} = {row.target}"
        if row.name not in known or not row.where or column not in theirs:
            continue
        mask = (
            np.logical_and.reduce(
                [(ours[f"group: {name}"] == value).to_numpy() for name, value in row.where.items()]
            )
            & ours[column].notna().to_numpy()
        )
        moved = mean_moved(people, mask, *(_net(side, column) for side in (theirs, ours)))
        rows.append(_judged(known[row.name], row, moved, float(second.options["material"])))
    return Pairing(tuple(rows), why=_WHY)


def _judged(before: SwapRow, row: SwapRow, moved: Any, material: float) -> Row:
    words = f"net share of {people_in(row.group)} who gain with {row.target} instead of {row.source}"
    return Row(f"swaps[{row.name}].net", words, before.net, row.net, moved, "gap", material=material)


def _net(side: pd.DataFrame, column: str) -> np.ndarray:
    """Return 1 where the change brings the favorable decision, −1 where it takes it, else 0."""
    after = side[column].fillna(side["decision"]).to_numpy(dtype=float)
    found: np.ndarray = after - side["decision"].to_numpy(dtype=float)
    return found


def _people(table: pd.DataFrame) -> People:
    if "cluster" not in table:
        return People.counted(table["people"].to_numpy(dtype=float))
    weights, cluster, strata = (table[name].to_numpy() for name in ("people", "cluster", "stratum"))
    return People.sampled(make_design(len(table), weights=weights, cluster=cluster, strata=strata))
