"""Two models' loss ratios of the same people: each moved along its own model's flow by one fair metric."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.stats import norm

from audits.comparison.intervals import Moved, mean_moved, ratio_moved
from audits.comparison.pairs import (
    Pairing,
    Pairs,
    estimates_of,
    groups_of,
    other_people,
    people_of,
    same_people,
    without_interval,
)
from audits.loss_ratio.result import LossRatioResult
from audits.stats import Estimate

_GIVEN = (
    "The interval of the mean ratio's change holds the directions that both audits hold possible, and takes "
    "as given each model's own search for where it errs."
)
_LEARNED = "along other directions that the data allow it may be another one"
_LOWER_ALONE = "without gradient nothing says how high a ratio is along other directions"
_WHY = {"": "it is about each model on its own"}


def compare(first: LossRatioResult, second: LossRatioResult, subjects: Any = None) -> Pairing:
    """Return how loss ratios moved from the first model to the second; see `audits.comparison.pairs`."""
    tables = [result.people for result in (first, second)]
    if not same_people(*tables):
        return other_people()
    both, ratios = (first, second), [table["ratio"].to_numpy(dtype=float) for table in tables]
    pairs = Pairs(people_of(tables[1]), float(second.options["material"]) - 1.0)
    moved = mean_moved(pairs.people, np.ones(len(tables[1]), dtype=bool), *ratios)
    told = not any(each.words.nothing for each in both)
    moved = _with_directions(moved, first, second)
    words = "mean ratio of a person's loss after the move to before"
    pairs.add("statistic", words, estimates_of(both, "statistic"), moved, "number", judged=told)
    learned = any(result.loss_ends for result in both)

    def add(where: str, name: str, stated: tuple[Estimate, Estimate], own: Moved) -> None:
        moved = without_interval(stated, _LEARNED) if learned else own
        pairs.add(where, name, stated, moved, "number")

    first_wrong, second_wrong = (
        (table["wrong after"].to_numpy(dtype=float), table["wrong"].to_numpy(dtype=float)) for table in tables
    )
    errors, words = estimates_of(both, "error_ratio.statistic"), "ratio of errors after the move to before"
    add("error_ratio.statistic", words, errors, ratio_moved(pairs.people, first_wrong, second_wrong))
    for rows, inside, who in groups_of(first, second, subjects, tables[1].index):
        where, own = (
            f"groups[{rows[1].attribute}: {rows[1].group}].statistic",
            estimates_of(rows, "statistic"),
        )
        add(where, f"mean loss ratio of {who}", own, mean_moved(pairs.people, inside, *ratios))
    return pairs.pairing(given=_GIVEN, why=_WHY)


def _with_directions(moved: Moved, first: LossRatioResult, second: LossRatioResult) -> Moved:
    """Widen the change by what the ratios may be along other directions in both confidence regions."""
    if moved.ends is None or not (first.loss_ends or second.loss_ends):
        return moved
    if any(len(result.loss_ends) == 1 for result in (first, second)):
        return replace(moved, ends=None, method=f"no interval: {_LOWER_ALONE}")
    first_means, means = (
        [test.mean for test in (result.loss_test, *result.loss_ends)] for result in (first, second)
    )
    down = means[0] - min(means) + max(first_means) - first_means[0]
    up = max(means) - means[0] + first_means[0] - min(first_means)
    ends, own = moved.ends, float(second.options["level"])

    def widened(level: float) -> tuple[float, float]:
        low, high = ends(level)
        times = max(float(norm.isf(level / 2) / norm.isf(own / 2)), 1.0)  # the regions hold at `own` alone
        return low - times * down, high + times * up

    return replace(moved, ends=widened, method=f"{moved.method}, over the directions that the data allow")
