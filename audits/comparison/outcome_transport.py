"""Two models' bias of the same people, side by side: each model maps outcomes by a matching of its own."""

from __future__ import annotations

from typing import Any

from audits.comparison.pairs import (
    Pairing,
    Row,
    common,
    estimates_of,
    other_people,
    same_people,
    without_interval,
)
from audits.outcome_transport.result import OutcomeTransportResult
from audits.stats.text import people_in

_WHY = "it follows from the whole matching, which differs between the models"


def compare(first: OutcomeTransportResult, second: OutcomeTransportResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return both models' bias, without intervals; see `audits.comparison.pairs`.

    Whom outcomes are mapped to hangs on everybody's outcomes, with either model on others': intervals that
    take both matchings as given leave out most of what other people would change.
    """
    if not same_people(first.people, second.people) or first.comparison != second.comparison:
        return other_people()
    rows, names = list[Row](), dict(zip(map(id, second.bias), _places(second), strict=True))
    for both in common(first.bias, second.bias, "level", "group"):
        earlier, row = both
        who = "everyone" if row.level == "all" else people_in(row.group)
        where, words = f"bias[{names[id(row)]}]", f"mean bias of {who}"
        told = [(where, words, estimates_of(both, "mean"))]
        if row.level == "group" and row.difference is not None and earlier.difference is not None:
            gaps = estimates_of(both, "difference.interval")
            told.append((f"{where}.difference", f"{words} beyond everyone else's", gaps))
        rows += [
            Row(at, name, *pair, without_interval(pair, _WHY), "number", judged=False)
            for at, name, pair in told
        ]
    return Pairing(tuple(rows), why={"": _WHY})


def _places(result: OutcomeTransportResult) -> list[str]:
    """Name the rows of ``bias`` as places of results.json are named."""
    names = [row.group for row in result.bias]
    return names if len(set(names)) == len(names) else [str(place) for place in range(len(names))]
