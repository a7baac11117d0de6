"""Names for places in the lists of results.json, so that another order of groups is no change."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

_NAMES = ("attribute", "group", "feature", "rule_set", "name", "alpha", "row", "column")
_INTERSECTION = re.compile(r"\[([^:\]]+ × [^:\]]+)(?:: (.+?))?\](?=\.|$)")


def place_names(items: list[Any]) -> list[str]:
    """Return a name for each record, after what identifies it; its position where names would be the same.

    Examples
    --------
    >>> place_names([{"attribute": "sex", "group": "f"}, {"attribute": "sex", "group": "m"}])
    ['sex: f', 'sex: m']
    >>> place_names([{"group": "f"}, {"group": "f"}]), place_names([0.5])
    (['0', '1'], ['0'])
    """
    names = [_name(item) or str(place) for place, item in enumerate(items)]
    return names if len(set(names)) == len(names) else [str(place) for place in range(len(items))]


def numbered(names: Sequence[str], mark: str) -> list[str]:
    """Return names, those that occur twice with a number after `mark`: ``groups-1``, ``groups-2``."""
    return [
        f"{name}{mark}{names[: place + 1].count(name)}" if names.count(name) > 1 else name
        for place, name in enumerate(names)
    ]


def parts_of(value: Any, path: str, *, without: Collection[str] = ()) -> Iterator[tuple[str, Any]]:
    """Yield what a record or list holds, each with the path that leads there; nothing of anything else.

    Parameters
    ----------
    path : str
        The one that leads to `value`.
    without : collection of str
        Keys that are passed over.

    Examples
    --------
    >>> list(parts_of({"table": [], "options": {}}, "", without={"options"}))
    [('.table', [])]
    >>> list(parts_of([{"group": "f", "n": 2}], ".table"))
    [('.table[f]', {'group': 'f', 'n': 2})]
    """
    if isinstance(value, dict):
        yield from ((f"{path}.{key}", item) for key, item in value.items() if key not in without)
    elif isinstance(value, list):
        yield from zip((f"{path}[{name}]" for name in place_names(value)), value, strict=True)


def records_in(
    value: Any, path: str = "", *, without: Collection[str] = ()
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every record at and in a value with the path that leads there, the outer before the inner.

    Examples
    --------
    >>> [path for path, _ in records_in({"table": [{"group": "f", "rate": {"value": 1}}], "options": {}})]
    ['', '.table[f]', '.table[f].rate', '.options']
    """
    if isinstance(value, dict):
        yield path, value
    for where, item in parts_of(value, path, without=without):
        yield from records_in(item, where, without=without)


def group_rows(entry: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the groups of an audit's tables, each with its place: of rates, and of a number's amounts."""
    amounts = entry.get("amounts")
    tables = {"table": entry, "amounts.table": amounts if isinstance(amounts, dict) else {}}
    for path, part in tables.items():
        rows = part.get("table")
        if isinstance(rows, list) and all(isinstance(row, dict) for row in rows):
            yield from parts_of(rows, path)


def in_order(path: str) -> str:
    """Return a path with an intersection's attributes in alphabetical order: another order is no change.

    Examples
    --------
    >>> in_order("table[sex × race: f & B].selection_rate")
    'table[race × sex: B & f].selection_rate'
    """
    return _INTERSECTION.sub(_sorted, path)


def _sorted(found: re.Match[str]) -> str:
    attributes, group = found[1].split(" × "), found[2]
    values = attributes if group is None else group.split(" & ")
    if len(values) != len(attributes):  # a value that itself has the sign
        return found[0]
    pairs = sorted(zip(attributes, values, strict=True))
    whose = " × ".join(attribute for attribute, _ in pairs)
    return f"[{whose}]" if group is None else f"[{whose}: {' & '.join(value for _, value in pairs)}]"


def _name(item: Any) -> str:
    if not isinstance(item, dict):
        return ""
    return ": ".join(str(item[name]) for name in _NAMES if isinstance(item.get(name), str | int))
