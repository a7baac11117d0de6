"""Labels that are not everyone's, and labels that are the decision itself.

Where outcomes are known only for those who were accepted, rates among people with a favorable outcome say
little of a model (selective labels): each rate is of the people whose label is known, and where knowing it
goes with the decision or the group, no verdict rests on it.

References
----------
Lakkaraju, Kleinberg, Leskovec, Ludwig, Mullainathan (2017), The selective labels problem, KDD.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from audits.data import named_with
from audits.groups.metrics import Labels
from audits.stats.intervals import cautious_p
from audits.stats.text import people_in, percent

if TYPE_CHECKING:
    from audits.groups.comparison import PeopleByGroup
    from audits.models import Subject

__all__ = ["KNOWN", "LABEL", "labels_of", "with_labels", "withheld"]

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


def withheld(people: pd.DataFrame, split: Sequence[PeopleByGroup], level: float) -> str:
    """Say why no verdict rests on rates that need a label: missing ones go with decision or group."""
    if KNOWN not in people or LABEL not in people:
        return ""
    known = people[KNOWN].to_numpy(dtype=bool)
    decided = people["decision"].to_numpy(dtype=bool)
    sizes = people["people"].to_numpy(dtype=float)
    if decided.any() and not decided.all() and len(set(decided[known])) == 1:
        p = 0.0
    else:
        p = _chance(known, decided, sizes)
    parts = [(p, decided, ("people with the favorable decision", "the others"))]
    for item in split:
        for place, name in enumerate(item.names):
            inside = item.group == place
            p = _chance(known, inside, sizes) * len(item.names)
            parts.append((p, inside, (people_in(named_with(item.attribute, name)), "the others")))
    p, inside, (first, second) = min(parts, key=lambda part: part[0])
    if 2 * p > level:  # by decision, or by group
        return ""
    shares = [
        percent(float(sizes[side & known].sum() / sizes[side].sum()), float(sizes[side].sum()))
        for side in (inside, ~inside)
    ]
    return (
        f"No verdict rests on rates that need the outcome, because it is known for {shares[0]} of {first} "
        "and "
        f"{shares[1]} of {second}."
    )


def _chance(known: np.ndarray, inside: np.ndarray, sizes: np.ndarray) -> float:
    """p-value of labels known as often inside as outside."""
    hits = [float(sizes[side & known].sum()) for side in (inside, ~inside)]
    p = cautious_p(hits[0], float(sizes[inside].sum()), hits[1], float(sizes[~inside].sum()))
    return 1.0 if p is None else p
