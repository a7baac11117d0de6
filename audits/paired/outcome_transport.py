"""Two models' bias of the same people: how far each one's outcome lies from its counterparts' with either."""

from __future__ import annotations

from typing import Any

import numpy as np

from audits.outcome_transport.result import OutcomeTransportResult
from audits.paired.moved import People, apart, mean_moved
from audits.paired.pairing import Pairing, Row, other_people, same_people

__all__ = ["paired"]

_GIVEN = (
    "Intervals take each model's own matching of outcomes as given: they say how people differ, not how the "
    "matching would with other people."
)
_WHY = {
    "": "it follows from the whole matching, which is another for the other model",
    "by_role": "it is measured within each model's own matching",
}


def paired(first: OutcomeTransportResult, second: OutcomeTransportResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how people's bias moved from the first model to the second; see `audits.paired.pairing`."""
    if not same_people(first.people, second.people) or first.comparison != second.comparison:
        return other_people()
    table = second.people
    sides = [side.people["bias"].to_numpy(dtype=float) for side in (first, second)]
    known = np.isfinite(sides[0]) & np.isfinite(sides[1])
    before, after = (np.where(known, side, 0.0) for side in sides)
    people = People.counted(table["people"].to_numpy(dtype=float))
    then = {(row.level, row.group): row for row in first.bias}
    names = _places(second)
    whole = next((row.mean.value for row in first.bias if row.level == "all"), None)
    material = float(second.options["material"]) * abs(whole or 0.0)
    rows = []
    for row, name in zip(second.bias, names, strict=True):
        earlier = then.get((row.level, row.group))
        if earlier is None:
            continue
        members = known & (True if row.level == "all" else (table[row.level] == row.group).to_numpy())
        moved = mean_moved(people, members, before, after)
        who = "everyone" if row.level == "all" else f"{row.level} “{row.group}”"
        judged = row.level != "subgroup" and material > 0
        words = f"mean bias of {who}"
        where = f"bias[{name}]"
        rows.append(
            Row(where, words, earlier.mean, row.mean, moved, "number", judged=judged, material=material)
        )
        if row.level == "group" and row.difference is not None and earlier.difference is not None:
            others = mean_moved(people, known & ~members, before, after)
            stated = (earlier.difference.interval, row.difference.interval)
            words = f"mean bias of {who} beyond everybody else's"
            gap = apart(others, moved, people)
            where = f"{where}.difference"
            rows.append(Row(where, words, *stated, gap, "number", judged=judged, material=material))
    return Pairing(tuple(rows), given=_GIVEN, why=_WHY)


def _places(result: OutcomeTransportResult) -> list[str]:
    """Name the rows of ``bias`` as places of results.json are named."""
    names = [row.group for row in result.bias]
    return names if len(set(names)) == len(names) else [str(place) for place in range(len(names))]
