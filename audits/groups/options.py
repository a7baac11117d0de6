"""What an auditor can choose in a group comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from audits.options import Level, Material, MaterialAmount, MaterialOn, option

__all__ = ["GroupsOptions"]


@dataclass(frozen=True, kw_only=True)
class GroupsOptions:
    """Options of the groups audit, as a spec names them."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}
    later: ClassVar[dict[str, str]] = {"material_amount": "5%"}  # draws as before it was an option

    by: Annotated[
        tuple[str | tuple[str, ...], ...] | None,
        option(
            "What to group by: an attribute, or a list of attributes for their intersection; by default "
            "every protected attribute, and the intersection of all where there are several."
        ),
    ] = None
    reference: Annotated[
        dict[str, Any] | None,
        option("Attribute to the value that the others are compared with; the largest group by default."),
    ] = None
    by_probability: Annotated[
        dict[str, dict[str, str]],
        option(
            "Groups that are known only by probability: attribute to group to the column of each person's "
            "probability of belonging to it."
        ),
    ] = field(default_factory=dict)
    proxy_error: Annotated[
        float,
        option(
            "How far those probabilities may be from the true ones, each way.",
            unit="as a share",
            ge=0,
            lt=0.5,
        ),
    ] = 0.0
    level: Level = 0.05
    material: Material = 0.10
    material_on: MaterialOn = "either"
    material_amount: MaterialAmount = "5%"
    bootstrap: Annotated[
        int,
        option(
            "Resamples for the second interval of balanced accuracies; 0 for none.",
            strict=True,
            ge=0,
            le=100_000,
        ),
    ] = 1000
