"""Sensible first choices, read off the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.tables.summary import Summary
from audits.data.preprocessing.groups import group_pair


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
