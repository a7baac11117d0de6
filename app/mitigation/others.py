"""About how long it takes to train a model again, and to run the audits stated before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from app.summary import Summary
from audits.flipset.options import MOST_SECONDS
from audits.loss_ratio.options import usual_steps
from audits.transport import estimated_seconds

__all__ = ["audit_seconds", "training_seconds"]

_TRAINING = {"logistic": 1.0, "forest": 4.0, "boosting": 4.0, "mlp": 12.0, "text": 6.0}  # of 20,000 rows
_GRADIENT = {"logistic", "mlp"}
_BLACK_BOX_SECONDS = 60.0


def training_seconds(draft: Mapping[str, Any], summary: Summary, times: int) -> float:
    """About how many seconds it takes to train the draft's model so many times."""
    each = _TRAINING.get(draft["spec"]["model"].get("train"), 12.0)
    return times * each * max(summary.rows / 20_000, 0.05)


def audit_seconds(draft: Mapping[str, Any], summary: Summary, names: Iterable[str]) -> float:
    """About how many seconds the audits take once, on the people held out."""
    trained = draft["spec"]["model"].get("train")
    people = float(draft["spec"]["data"].get("test_size", 0.3)) * summary.rows
    anew = training_seconds(draft, summary, 1)
    flow = 4e-10 * people * usual_steps(number=False) * 64 * (summary.width + 64)
    half = max(2, round(people / 2))
    swaps = 0.5 * summary.width * people / 20_000
    seconds = {
        "groups": 1.0,
        "flipset": 1.0 + 1.4 * min(MOST_SECONDS, estimated_seconds(half, half, summary.width)),
        "outcome_transport": 3.0 + min(40.0, 2.5e-6 * min(people, 50_000) ** 2),
        "loss_ratio": 1.0
        + (flow if trained in _GRADIENT else _BLACK_BOX_SECONDS * min(1.0, people / 20_000)),
        "sensitivity": 1.0 + 4 * anew + (0.0 if trained in _GRADIENT else swaps),
        "recourse": 1.0 + 0.004 * min(2000.0, people),
    }
    return sum(seconds.get(name, 3.0) for name in names)
