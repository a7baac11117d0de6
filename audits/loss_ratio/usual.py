"""What the loss-ratio audit moves people along where nobody has chosen.

Where people may move freely in every direction that the model reads, any two of them are alike and there is
no test; so attributes are taken in turn while a direction that matters is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from audits.data.audit_data import AuditData
from audits.models.subspaces import read_as_number

__all__ = ["usual_options"]


def usual_options(data: AuditData) -> dict[str, Any] | None:
    """Return options that run on `data`; None where no choice of them would.

    The protected attributes whose traces leave a direction that matters, the first ones first; where none
    does, those that the model reads are free themselves.
    """
    if not data.protected or not data.features or data.y is None:
        return None
    kept: list[str] = []
    for name in data.protected:
        if _leaves_one(data, [*kept, name]):
            kept.append(name)
    if kept:
        return {"sensitive": kept}
    read = [name for name in data.protected if name in data.features]
    if not read or len(read) == len(data.features):
        return None
    return {"metric": "expert", "free_features": read}


def _leaves_one(data: AuditData, names: Sequence[str]) -> bool:
    """Whether a direction is left beside what tells `names`, and those among them that are features."""
    others = [name for name in data.features if name not in names]
    if not others:
        return False
    # the columns of a category add up to one, so nothing told from them points along their sum
    if any(data.kinds[name] == "categorical" for name in others):
        return True
    free = sum(1 + bool(data.frame[name].hasnans) for name in others)
    told = sum(1 if read_as_number(data, name) else data.groups[name].nunique() - 1 for name in names)
    return told < free
