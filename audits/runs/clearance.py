"""What predictions in sample cannot say: that there is no material difference."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeVar

from audits.stats import INSUFFICIENT, NO_MATERIAL, Judgment

R = TypeVar("R")


def without_clearance(result: R, reason: str) -> R:
    """Return `result` with "no material difference" withheld wherever it is stated, and a warning why.

    Evidence stays evidence: what cannot clear can still show a difference. Without a reason the result
    stays as it is.
    """
    if not reason:
        return result
    changed: Any = _withheld(result, reason)
    said = f"{reason[0].upper()}{reason[1:]}."
    told: dict[str, Any] = {"warnings": tuple(dict.fromkeys((said, *changed.warnings)))}
    if changed.verdict != result.verdict:  # type: ignore[attr-defined]
        told["finding"] = f"No verdict: {reason}. {changed.finding}"
    final: R = dataclasses.replace(changed, **told)
    return final


def _withheld(value: Any, reason: str) -> Any:
    """Return `value` with every verdict that clears made insufficient; itself where none does."""
    if isinstance(value, Judgment):
        if value.verdict != NO_MATERIAL:
            return value
        return dataclasses.replace(value, verdict=INSUFFICIENT, reason=reason)
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        parts = [_withheld(each, reason) for each in value]
        same = all(one is other for one, other in zip(parts, value, strict=True))
        return value if same else type(value)(parts)
    if isinstance(value, dict):
        parts = [_withheld(each, reason) for each in value.values()]
        same = all(one is other for one, other in zip(parts, value.values(), strict=True))
        return value if same else dict(zip(value, parts, strict=True))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        own = {each.name: getattr(value, each.name) for each in dataclasses.fields(value) if each.init}
        changed = {name: new for name, old in own.items() if (new := _withheld(old, reason)) is not old}
        return dataclasses.replace(value, **changed) if changed else value
    return value
