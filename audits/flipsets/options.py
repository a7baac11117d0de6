"""What an auditor can choose in a flipset audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

__all__ = ["FlipsetOptions"]


@dataclass(frozen=True, kw_only=True)
class FlipsetOptions:
    """Options of the flipset audit, as a spec names them.

    Attributes
    ----------
    source, target : dict
        The two groups: protected attribute to value, to a list of values, or to ``{"not": value}``;
        several attributes make an intersection.
    transport : {"exact"}
        How counterparts are found.
    cost : {"l1_squared", "l2_squared", "l1", "l2"}
        Distance that the matching keeps small, between standardised features; FlipTest's is l1_squared.
    feature_weights : dict, optional
        Weight of a feature in the cost, at least 0; 1 where not given.
    condition_on : str, optional
        Match only people alike in this column; ``"label"`` is the true label (equalised odds).
    reverse : bool
        Also count the flips of the target group's people towards the source.
    level : float
        Error rate of intervals and verdict.
    material : float
        Smallest difference of shares that matters to the auditor.
    permutations : int
        Permutations of group membership for the chance level; 0 leaves it out.
    noise_people : int
        People drawn from each group for the permutations.
    bootstrap : int
        Draws behind the transparency report's intervals.
    max_people : int, optional
        People drawn from each group at most; by default as many as can be matched exactly within about
        two minutes and 4 GB.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    source: dict[str, Any]
    target: dict[str, Any]
    transport: Literal["exact"] = "exact"
    cost: Literal["l1_squared", "l2_squared", "l1", "l2"] = "l1_squared"
    feature_weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] | None = None
    condition_on: str | None = None
    reverse: bool = True
    level: Annotated[float, Field(gt=0, lt=1)] = 0.05
    material: Annotated[float, Field(gt=0, lt=1)] = 0.10
    permutations: Annotated[int, Field(ge=0, le=9999)] = 99
    noise_people: Annotated[int, Field(ge=2, le=5000)] = 300
    bootstrap: Annotated[int, Field(ge=100, le=10000)] = 500
    max_people: Annotated[int, Field(ge=2)] | None = None
