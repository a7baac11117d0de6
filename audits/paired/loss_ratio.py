"""Two models' loss ratios of the same people: each moved along its own model's flow by one fair metric."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from audits.data import named_with
from audits.loss_ratio.result import LossRatioResult
from audits.paired.moved import mean_moved, ratio_moved
from audits.paired.pairing import Pairing, Row, other_people, people_of, same_people
from audits.stats.words import people_in

__all__ = ["paired"]

_GIVEN = "Intervals take the fair metric as given, and each model's own search for where it errs."
_WHY = {"": "it is about each model by itself"}


def paired(first: LossRatioResult, second: LossRatioResult, subjects: Any = None) -> Pairing:
    """Return how loss ratios moved from the first model to the second; see `audits.paired.pairing`."""
    tables = [result.people for result in (first, second)]
    if not same_people(*tables):
        return other_people()
    people = people_of(tables[1])
    ratios = [table["ratio"].to_numpy(dtype=float) for table in tables]
    everyone, material = np.ones(len(tables[1]), dtype=bool), float(second.options["material"]) - 1.0
    moved = mean_moved(people, everyone, *ratios)
    words = "mean ratio of a person's loss after the move to before"
    rows = [Row("statistic", words, first.statistic, second.statistic, moved, "number", material=material)]
    wrong = ratio_moved(people, *(_errors(table) for table in tables))
    words = "ratio of errors after the move to before"
    stated = (first.error_ratio.statistic, second.error_ratio.statistic)
    rows.append(Row("error_ratio.statistic", words, *stated, wrong, "number", judged=False))
    groups = None if subjects is None else _groups(subjects[1], tables[1].index)
    then = {(row.attribute, row.group): row for row in first.groups}
    for row in second.groups if groups is not None else ():
        earlier = then.get((row.attribute, row.group))
        if earlier is None or groups is None or row.attribute not in groups:
            continue
        inside = (groups[row.attribute] == row.group).to_numpy()
        words = f"mean loss ratio of {people_in(named_with(row.attribute, row.group))}"
        where = f"groups[{row.attribute}: {row.group}].statistic"
        rows.append(
            Row(
                where, words, earlier.statistic, row.statistic, mean_moved(people, inside, *ratios), "number",
                material=material,
            )
        )  # fmt: skip
    return Pairing(tuple(rows), given=_GIVEN, why=_WHY)


def _errors(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return table["wrong after"].to_numpy(dtype=float), table["wrong"].to_numpy(dtype=float)


def _groups(subject: Any, rows: pd.Index) -> pd.DataFrame:
    found: pd.DataFrame = subject.data.groups.reindex(rows)
    return found
