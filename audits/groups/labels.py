"""Labels that are not everyone's, and labels that are the decision itself.

Where outcomes are known only for those who were accepted, rates among people with a favorable outcome say
little of a model (selective labels): each rate is of the people whose label is known, and where knowing it
goes with the decision or the group, no verdict rests on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from audits.data import named_with
from audits.groups.metrics import Labels, Metric
from audits.stats.selective import OutcomeSide, decision_side, known_unevenly
from audits.stats.text import people_in

if TYPE_CHECKING:
    from audits.groups.people import PeopleByGroup
    from audits.models import Subject

LABEL = "favorable label"
"""Column of a result's people: whether the label is favorable; False where it is not known."""

KNOWN = "label known"
"""Column of a result's people that says whose label is known; absent where everyone's is."""

_IS_DECISION = (
    "The label is the decision itself wherever it is known: error rates of a decision against itself are no "
    "measures, and are left out."
)


def with_labels(people: pd.DataFrame, subject: Subject) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with the labels of those who have one, the first of its rows, and warnings."""
    y = subject.data.y
    if y is None:
        return people, []
    known = np.arange(len(people)) < len(y)
    if not subject.model.invents and np.array_equal(people["decision"].to_numpy()[known], y):
        return people, [_IS_DECISION]
    people = people.assign(**{LABEL: np.concatenate([y, np.zeros(len(people) - len(y), dtype=bool)])})
    return (people if known.all() else people.assign(**{KNOWN: known})), []


def labels_of(people: pd.DataFrame) -> Labels | None:
    """Return the labels in a result's people; None without any."""
    if LABEL not in people:
        return None
    known = people[KNOWN].to_numpy(dtype=bool) if KNOWN in people else np.ones(len(people), dtype=bool)
    return Labels(people[LABEL].to_numpy(dtype=bool), known)


def counted_in(people: pd.DataFrame, metric: Metric) -> tuple[np.ndarray, np.ndarray]:
    """Return who of a result's people has what a share counts, and whom it is about (n,)."""
    labels = labels_of(people)
    assert metric.share is not None  # noqa: S101 - the caller asks for shares
    y = None if labels is None else labels.favorable
    event, among = metric.share(y, people["decision"].to_numpy(dtype=bool))
    among = np.asarray(among, dtype=bool)
    if metric.needs_label and labels is not None:
        among = among & labels.known
    return np.asarray(event, dtype=bool), among


def withheld(people: pd.DataFrame, split: Sequence[PeopleByGroup], level: float) -> str:
    """Say why no verdict rests on rates that need a label: missing ones go with decision or group."""
    if KNOWN not in people or LABEL not in people:
        return ""
    known = people[KNOWN].to_numpy(dtype=bool)
    decided = people["decision"].to_numpy(dtype=bool)
    sizes = people["people"].to_numpy(dtype=float)
    sides = [decision_side(decided, known)]
    sides += [
        OutcomeSide(item.group == place, people_in(named_with(item.attribute, name)), len(item.names))
        for item in split
        for place, name in enumerate(item.names)
    ]
    why = known_unevenly(known, sizes, sides, level=level)
    return why and f"No verdict rests on rates that need the outcome: {why}."
