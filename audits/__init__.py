"""Evenhand: fairness audits of decision models, each number with its uncertainty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from audits.runs.gate import GateFailed, check

__all__ = ["GateFailed", "check"]


def __getattr__(name: str) -> Any:
    if name in __all__:  # late: importing the package alone stays cheap
        from audits.runs import gate

        return getattr(gate, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
