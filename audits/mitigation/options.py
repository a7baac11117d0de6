"""What an auditor can choose in a mitigation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

__all__ = ["MitigationOptions"]


@dataclass(frozen=True, kw_only=True)
class MitigationOptions:
    """Options of the mitigation, as a spec names them.

    Attributes
    ----------
    protected, support, bins, depth, text, terms
        As in the rule-set audit: they decide which group is the worst. A model of words is treated for
        identity terms in the text it reads, whether or not `text` names it.
    amounts : tuple of float
        Samples added, as shares of the training rows; the smallest amount is 50 people.
    also : dict of audit name to options
        Other audits to run before and after; by default all that need no choice on these data: groups,
        flipset, outcome_transport, loss_ratio, sensitivity, and recourse where a column is actionable.
    level, material
        Error rate, and the smallest difference that matters.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    protected: tuple[str, ...] | None = None
    support: Annotated[float, Field(gt=0, le=1)] = 0.05
    bins: Annotated[int, Field(ge=2, le=100)] = 10
    depth: Annotated[int, Field(ge=1)] | None = None
    text: str | None = None
    terms: dict[str, tuple[str, ...]] | None = None
    amounts: tuple[Annotated[float, Field(gt=0, le=1)], ...] = (0.01, 0.03, 0.1)
    also: dict[str, dict[str, Any]] | None = None
    level: Annotated[float, Field(gt=0, lt=1)] = 0.05
    material: Annotated[float, Field(gt=0, lt=1)] = 0.10
