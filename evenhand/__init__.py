"""Evenhand from Python: ``evenhand.audit(model, X, y, …)`` and all that goes with it.

The package that holds it is `audits`; everything public is reachable under either name, and loaded when it is
first used.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import audits
from audits.runs.version import VERSION

if TYPE_CHECKING:
    from audits import Findings, GateFailed, Monitor, audit, check, compare, load, mitigate

__all__ = [
    "Findings",
    "GateFailed",
    "Monitor",
    "__version__",
    "audit",
    "check",
    "compare",
    "load",
    "mitigate",
]
__version__ = VERSION


def __getattr__(name: str) -> Any:
    """Return a public name or a package: an audit (``evenhand.groups``), ``connect``, ``data``."""
    try:
        return getattr(audits, name)
    except AttributeError:
        said = f"module 'evenhand' has no attribute {name!r}"
        raise AttributeError(said, name=name, obj=sys.modules[__name__]) from None


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(audits)})
