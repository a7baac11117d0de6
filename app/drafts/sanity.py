"""Models that did better than is likely: the outcome may be among what they read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app import jobs
from app.latest_runs import latest_audits
from app.workspaces.workspace import Workspace
from audits.stats.text import count

_AREA = 0.99  # from which scores tell the outcome better than is likely of people
_MIN = 30  # people


def too_good(space: Workspace, draft: Mapping[str, Any]) -> str:
    """Return how the draft's model did in its latest audit, where that is unlikely; else nothing."""
    latest = next(iter(latest_audits(space, draft).values()), None)
    return "" if latest is None else words_of(jobs.result(space, latest["spec"]).model)


def words_of(model: Mapping[str, Any]) -> str:
    """Word a model's performance where it is unlikely.

    Examples
    --------
    >>> words_of({"quality": {"n": 600, "accuracy": {"value": 1.0}, "auc": {"value": 1.0}}})
    'right about all 600 people'
    >>> words_of({"quality": {"n": 600, "accuracy": {"value": 0.97}, "auc": {"value": 0.996}}})
    'telling good outcomes from bad ones in 99.6 of 100 pairs of people'
    >>> words_of({"quality": {"n": 600, "accuracy": {"value": 0.8}, "auc": {"value": 0.9}}}), words_of({})
    ('', '')
    """
    quality = model.get("quality") or {}
    people = float(quality.get("n") or 0.0)
    if people < _MIN:
        return ""
    if (quality.get("accuracy") or {}).get("value") == 1.0:
        return f"right about all {count(people)} people"
    area = (quality.get("auc") or {}).get("value")
    if area is not None and area > _AREA:
        return f"telling good outcomes from bad ones in {100 * area:.3g} of 100 pairs of people"
    return ""
