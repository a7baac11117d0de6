"""Names for places in the lists of results.json, so that another order of groups is no change."""

from __future__ import annotations

from typing import Any

_NAMES = ("attribute", "group", "feature", "rule_set", "name", "alpha", "row", "column")


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


def _name(item: Any) -> str:
    if not isinstance(item, dict):
        return ""
    return ": ".join(str(item[name]) for name in _NAMES if isinstance(item.get(name), str | int))
