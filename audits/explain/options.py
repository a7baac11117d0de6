"""What an auditor can choose about what explains a gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from audits.options import Level, Material, option

__all__ = ["ExplainOptions"]


@dataclass(frozen=True, kw_only=True)
class ExplainOptions:
    """Options of the explain audit, as a spec names them; groups are named as a flipset audit's are."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    source: Annotated[dict[str, Any], option("The group whose rate is held against the other's.")]
    target: Annotated[dict[str, Any], option("The group that it is held against.")]
    explainers: Annotated[
        tuple[str, ...] | None,
        option(
            "Columns that may explain the gap; by default every feature that is neither protected nor of the "
            "role immutable."
        ),
    ] = None
    outcome: Annotated[
        Literal["decision", "label"], option("The gap of the model's decisions, or of the labels.")
    ] = "decision"
    together: Annotated[int, option("Explainers taken together at most.", unit="columns", ge=1, le=6)] = 3
    bins: Annotated[int, option("Bins of a number, with equally many people.", unit="bins", ge=2, le=50)] = 8
    level: Level = 0.05
    material: Material = 0.10
    draws: Annotated[int, option("Bootstrap draws behind the intervals.", ge=200, le=20_000)] = 1000
