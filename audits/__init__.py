"""Evenhand: fairness audits of decision models, each number with its uncertainty."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audits.findings import Findings, load
    from audits.monitor.client import Monitor
    from audits.notebook import audit
    from audits.remedies import mitigate
    from audits.runs.comparison.two_models import compare
    from audits.runs.gates.check import check
    from audits.runs.gates.gate import GateFailed

_HOMES = {
    "audit": "audits.notebook",
    "Findings": "audits.findings",
    "Monitor": "audits.monitor.client",
    "check": "audits.runs.gates.check",
    "compare": "audits.runs.comparison.two_models",
    "GateFailed": "audits.runs.gates.gate",
    "load": "audits.findings",
    "mitigate": "audits.remedies",
}

__all__ = ["Findings", "GateFailed", "Monitor", "audit", "check", "compare", "load", "mitigate"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:  # late: importing the package alone stays cheap
        return getattr(importlib.import_module(_HOMES[name]), name)
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """What there is to use: functions first asked for, the audits' packages, data, models and statistics."""
    from audits.runs.registry import AUDITS

    return sorted({*__all__, *AUDITS.ours, "connect", "data", "models", "stats"})
