"""People sorted into the groups of an attribute, or of an intersection of several."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.checks import one_of
from audits.data import AuditData, group_name
from audits.groups.metrics import Counts, Labels, Rows, confusion_counts
from audits.groups.options import GroupsOptions
from audits.stats.design import Design, make_design

PREDICTED_CLASS, LABEL_CLASS = "predicted class", "label class"
"""Columns of a result's people, where classes are compared; a label that is not known is empty."""


def people_table(data: AuditData, **columns: np.ndarray) -> pd.DataFrame:
    """Return what is known of people, a row each: so many people it stands for, and how it was sampled."""
    people = pd.DataFrame({**columns, "people": data.row_weights}, index=data.frame.index)
    if data.design is not None:
        weights = data.design.weights
        people["people"] = weights * (data.n / weights.sum())
        people["cluster"] = data.design.cluster
        people["stratum"] = data.design.stratum[data.design.cluster]
    return people


def design_of(people: pd.DataFrame) -> Design | None:
    """Return how the people of such a table were sampled; None where each row is one independent person."""
    if "cluster" not in people:
        return None
    weights, cluster, strata = (people[name].to_numpy() for name in ("people", "cluster", "stratum"))
    return make_design(len(people), weights=weights, cluster=cluster, strata=strata)


def with_groups(people: pd.DataFrame, data: AuditData) -> pd.DataFrame:
    """Return the table with the groups of each protected attribute."""
    return people.assign(**{f"group: {name}": data.groups[name].to_numpy() for name in data.groups})


@dataclass(frozen=True, eq=False, kw_only=True)
class PeopleByGroup(Rows):
    """People of one attribute (or intersection) in groups, largest group first."""

    attribute: str
    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]  # of each attribute in the intersection
    attributes: tuple[str, ...]
    counts: Counts
    score_counts: np.ndarray  # (k, bins)
    squares: np.ndarray | None = None  # of the distances from a row's score, where it is a mean
    classes: pd.DataFrame | None = None  # predicted class and label of each row, as text


def sort_people(
    columns: pd.DataFrame,
    attributes: tuple[str, ...],
    people: pd.DataFrame,
    labels: Labels | None,
    edges: np.ndarray,
    design: Design | None = None,
    outcome: np.ndarray | None = None,
) -> PeopleByGroup:
    """Sort people into the groups that occur, largest first; of equal ones the one that gets most.

    What they get is their `outcome` (n,), by default the decision.
    """
    sizes = people["people"].to_numpy(dtype=float)
    decision = people["decision"].to_numpy(dtype=bool)
    code, levels = _codes(columns)
    got = np.bincount(code, sizes * (decision if outcome is None else outcome))
    order = np.lexsort((-got, -np.bincount(code, sizes)))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    group = rank[code]
    values = tuple(levels[k] for k in order)
    score = people["score"].to_numpy(dtype=float)
    k = len(values)
    bins = np.clip(np.searchsorted(edges, score, side="right") - 1, 0, len(edges) - 2)
    return PeopleByGroup(
        attribute=" × ".join(attributes),
        names=tuple(joined_names(values, attributes)),
        values=values,
        attributes=attributes,
        counts=confusion_counts(group, decision, labels, sizes, k),
        group=group,
        score=score,
        sizes=sizes,
        labels=labels,
        score_counts=np.bincount(group * (len(edges) - 1) + bins, sizes, k * (len(edges) - 1)).reshape(k, -1),
        decision=decision,
        design=design,
        squares=people["squares"].to_numpy(dtype=float) if "squares" in people else None,
        classes=people[[PREDICTED_CLASS, LABEL_CLASS]] if PREDICTED_CLASS in people else None,
    )


def protected_names(people: pd.DataFrame) -> list[str]:
    """Return the protected attributes in a result's people."""
    return [str(name).removeprefix("group: ") for name in people if str(name).startswith("group: ")]


def people_by(people: pd.DataFrame, attribute: str) -> PeopleByGroup:
    """Sort a result's people into the groups of an attribute, or of several joined by " × "."""
    known = protected_names(people)
    orders = (order for k in range(1, len(known) + 1) for order in itertools.permutations(known, k))
    names = next(order for order in orders if " × ".join(order) == attribute)
    columns = people[[f"group: {name}" for name in names]]
    return sort_people(columns, names, people, None, np.array([0.0, 1.0]))


def attributes_of(protected: tuple[str, ...], options: GroupsOptions) -> list[tuple[str, ...]]:
    """Return the attributes to group by, each with those that it is an intersection of."""
    asked = options.by
    if asked is None:
        asked = (*protected, *((protected,) if len(protected) > 1 else ()))
    found = [(item,) if isinstance(item, str) else tuple(item) for item in asked]
    for names in found:
        for name in names:
            one_of("groups.by", name, protected, what="a protected attribute")
    for name in options.reference or {}:
        known = (*protected, *options.by_probability)
        one_of("groups.reference", name, known, what="a protected attribute")
    return found


def joined_names(values: Sequence[tuple[str, ...]], attributes: Sequence[str] = ()) -> list[str]:
    """Return a name for each group of values; values are quoted where names would be the same.

    In an intersection of `attributes` a value that says nothing by itself (a number, yes or no) is named with
    its attribute.

    Examples
    --------
    >>> joined_names([("a", "b"), ("a & b", "c"), ("a", "b & c")])
    ['a & b', '“a & b” & “c”', '“a” & “b & c”']
    >>> joined_names([("1", "f"), ("0", "f")], ("black", "sex")), joined_names([("1",), ("0",)], ("black",))
    (['black 1 & f', 'black 0 & f'], ['1', '0'])
    """
    if len(attributes) > 1:
        names = [group_name(dict(zip(attributes, item, strict=True))) for item in values]
    else:
        names = [" & ".join(item) for item in values]
    times = Counter(names)
    return [
        " & ".join(f"“{part}”" for part in item) if times[name] > 1 else name
        for name, item in zip(names, values, strict=True)
    ]


def _codes(columns: pd.DataFrame) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Return the place of each row's values (n,) among those that occur, and these, sorted."""
    parts = [pd.factorize(columns[name], sort=True) for name in columns]
    joined = np.zeros(len(columns), dtype=np.int64)
    for code, values in parts:
        joined = joined * len(values) + code
    present, place = np.unique(joined, return_inverse=True)
    each = np.unravel_index(present, [len(values) for _, values in parts])
    levels = [
        tuple(str(values[k]) for (_, values), k in zip(parts, row, strict=True))
        for row in zip(*each, strict=True)
    ]
    return place, levels
