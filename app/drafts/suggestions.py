"""Sensible first choices, read off the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.tables.summary import GroupSize, Summary
from audits.data.values import MISSING


def group_pair(sizes: Sequence[GroupSize]) -> tuple[str, str] | None:
    """Return source and target among the values of an attribute: the two largest, missing values aside.

    The source is the one with the smaller share of favorable labels; without labels, the smaller group.

    Examples
    --------
    >>> group_pair([GroupSize("a", 60, 0.6), GroupSize("b", 50, 0.4), GroupSize("c", 9, 0.1)])
    ('b', 'a')
    """
    first = [size for size in sizes if size.value != MISSING][:2]
    if len(first) < 2:
        return None
    larger, smaller = first
    if (
        larger.favorable is not None
        and smaller.favorable is not None
        and larger.favorable <= smaller.favorable
    ):
        return larger.value, smaller.value
    return smaller.value, larger.value


def suggested_groups(summary: Summary, options: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return attribute to (source, target): those that came with the data if they fit, else the first pair.

    Parameters
    ----------
    options : mapping
        Options of a flipset audit that came with the data, possibly empty.
    """
    source, target = options.get("source") or {}, options.get("target") or {}
    given = {
        name: (str(source[name]), str(target[name]))
        for name in source
        if name in target and name in summary.groups and not isinstance(source[name], (list, dict))
    }
    if given and all(_known(summary, name, value) for name, pair in given.items() for value in pair):
        return given
    for name, sizes in summary.groups.items():
        pair = group_pair(sizes)
        if pair:
            return {name: pair}
    return {}


def _known(summary: Summary, attribute: str, value: str) -> bool:
    return any(size.value == value for size in summary.groups[attribute])
