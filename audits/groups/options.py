"""What an auditor can choose in a group comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import Field

__all__ = ["GroupsOptions"]


@dataclass(frozen=True, kw_only=True)
class GroupsOptions:
    """Options of the groups audit, as a spec names them.

    Attributes
    ----------
    by : list of str or of lists, optional
        What to group by: an attribute, or a list of attributes for their intersection
        (``["race", ["race", "sex"]]``). By default every protected attribute, and the intersection of
        all where there are several.
    reference : dict, optional
        Attribute to the value that the others are held against; the largest group where not given.
    level : float
        Error rate, shared by all comparisons.
    material : float
        Smallest difference of rates that matters to the auditor.
    bootstrap : int
        Resamples for the second interval of impact ratios and balanced accuracies; 0 for none.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    by: tuple[str | tuple[str, ...], ...] | None = None
    reference: dict[str, Any] | None = None
    level: Annotated[float, Field(gt=0, lt=1)] = 0.05
    material: Annotated[float, Field(gt=0, lt=1)] = 0.10
    bootstrap: Annotated[int, Field(strict=True, ge=0, le=100_000)] = 1000
