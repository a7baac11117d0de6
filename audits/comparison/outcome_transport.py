"""Two models' bias of the same people: how far each one's outcome lies from its counterparts' with either."""

from __future__ import annotations

from typing import Any

import numpy as np

from audits.comparison.intervals import mean_moved
from audits.comparison.pairs import Pairing, Pairs, common, estimates_of, other_people, people_of, same_people
from audits.outcome_transport.result import OutcomeTransportResult
from audits.stats.text import people_in

_GIVEN = (
    "Intervals take each model's own matching of outcomes as given. They do not cover how the matching "
    "would change with other people."
)
_WHY = {
    "": "it follows from the whole matching, which differs between the models",
    "by_role": "each model has its own matching",
}


def compare(first: OutcomeTransportResult, second: OutcomeTransportResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return how people's bias moved from the first model to the second; see `audits.comparison.pairs`."""
    if not same_people(first.people, second.people) or first.comparison != second.comparison:
        return other_people()
    table, names = second.people, dict(zip(map(id, second.bias), _places(second), strict=True))
    sides = [side.people["bias"].to_numpy(dtype=float) for side in (first, second)]
    known = np.isfinite(sides[0]) & np.isfinite(sides[1])
    values = [np.where(known, side, 0.0) for side in sides]
    whole = next((row.mean.value for row in first.bias if row.level == "all"), None)
    pairs = Pairs(people_of(table), float(second.options["material"]) * abs(whole or 0.0))
    for both in common(first.bias, second.bias, "level", "group"):
        earlier, row = both
        members = known & (True if row.level == "all" else (table[row.level] == row.group).to_numpy())
        who = "everyone" if row.level == "all" else people_in(row.group)
        judged, where = row.level != "subgroup" and pairs.material > 0, f"bias[{names[id(row)]}]"
        moved = pairs.mean(
            where, f"mean bias of {who}", estimates_of(both, "mean"), members, *values, judged=judged
        )
        if row.level == "group" and row.difference is not None and earlier.difference is not None:
            others = mean_moved(pairs.people, known & ~members, *values)
            words = f"mean bias of {who} beyond everyone else's"
            gaps = estimates_of(both, "difference.interval")
            pairs.gap(f"{where}.difference", words, gaps, others, moved, kind="number", judged=judged)
    return pairs.pairing(given=_GIVEN, why=_WHY)


def _places(result: OutcomeTransportResult) -> list[str]:
    """Name the rows of ``bias`` as places of results.json are named."""
    names = [row.group for row in result.bias]
    return names if len(set(names)) == len(names) else [str(place) for place in range(len(names))]
