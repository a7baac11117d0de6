"""Two models' loss ratios of the same people: each moved along its own model's flow by one fair metric."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd

from audits.data import named_with
from audits.loss_ratio.result import LossRatioResult
from audits.paired.moved import Moved, mean_moved, ratio_moved
from audits.paired.pairing import Pairing, Row, other_people, people_of, same_people
from audits.stats.words import people_in

__all__ = ["paired"]

_GIVEN = (
    "The interval of the mean ratio's change holds the directions that both audits hold possible; the others "
    "take the fair metric as given, and each model's own search for where it errs."
)
_WHY = {"": "it is about each model by itself"}


def paired(first: LossRatioResult, second: LossRatioResult, subjects: Any = None) -> Pairing:
    """Return how loss ratios moved from the first model to the second; see `audits.paired.pairing`."""
    tables = [result.people for result in (first, second)]
    if not same_people(*tables):
        return other_people()
    people = people_of(tables[1])
    ratios = [table["ratio"].to_numpy(dtype=float) for table in tables]
    everyone, material = np.ones(len(tables[1]), dtype=bool), float(second.options["material"]) - 1.0
    moved = _with_directions(mean_moved(people, everyone, *ratios), first, second)
    told = not (first.words.nothing or second.words.nothing)
    words = "mean ratio of a person's loss after the move to before"
    rows = [
        Row(
            "statistic",
            words,
            first.statistic,
            second.statistic,
            moved,
            "number",
            judged=told,
            material=material,
        )
    ]
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
                judged=False,
            )
        )  # fmt: skip
    return Pairing(tuple(rows), given=_GIVEN, why=_WHY)


def _with_directions(moved: Moved, first: LossRatioResult, second: LossRatioResult) -> Moved:
    """Widen the change by what the ratios may be along other directions in both confidence regions."""
    if moved.ends is None or not (first.loss_ends or second.loss_ends):
        return moved
    down, up = ([0.0, 0.0], [0.0, 0.0])
    for place, result in enumerate((first, second)):
        means = [test.mean for test in (result.loss_test, *result.loss_ends)]
        down[place], up[place] = means[0] - min(means), max(means) - means[0]
    ends = moved.ends

    def widened(level: float) -> tuple[float, float]:
        low, high = ends(level)
        return low - down[1] - up[0], high + up[1] + down[0]

    method = f"{moved.method}, over the directions that the data allow"
    return dataclasses.replace(moved, ends=widened, method=method)


def _errors(table: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    return table["wrong after"].to_numpy(dtype=float), table["wrong"].to_numpy(dtype=float)


def _groups(subject: Any, rows: pd.Index) -> pd.DataFrame:
    found: pd.DataFrame = subject.data.groups.reindex(rows)
    return found
