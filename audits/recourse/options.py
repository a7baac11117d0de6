"""What an auditor can choose in the recourse audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

__all__ = ["Limit", "RecourseOptions"]

Share = Annotated[float, Field(gt=0, lt=1)]


@dataclass(frozen=True, kw_only=True)
class Limit:
    """What a person can do about one column.

    Attributes
    ----------
    direction : {"up", "down"}, optional
        The value may only rise or only fall (numbers, dates, ranks).
    at_least, at_most : float, optional
        Bounds of a number. A person who is beyond one already keeps the value.
    among : tuple, optional
        Values of a category that a person can move to.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    direction: Literal["up", "down"] | None = None
    at_least: Annotated[float, Field(allow_inf_nan=False)] | None = None
    at_most: Annotated[float, Field(allow_inf_nan=False)] | None = None
    among: tuple[Any, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class RecourseOptions:
    """Options of the recourse audit, as a spec names them.

    Attributes
    ----------
    steps : tuple of float
        Values of α that are reported, in [0, 1].
    by : tuple of str, optional
        Protected attributes whose combinations are the groups; all of them by default.
    actionable : tuple of str, optional
        Columns that a person can change; those whose role in the data is actionable by default.
    preset : {"german_credit"}, optional
        Roles of the paper's Table A1.
    limits : dict
        Column to `Limit`.
    cost_weights : dict
        Column to what a change of one standard deviation (numbers) or to another value (categories) costs; 1
        where not given.
    resolution : float
        Step of the grid on which the smallest α is looked for.
    fewest : bool
        Also look for the fewest columns that a person has to change.
    level, material : float
        Error rate of intervals and verdict; smallest difference of shares that matters to the auditor.
    permutations : int
        Permutations behind the p-value of the burden.
    max_people : int
        Rejected people at most; of more so many are drawn.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    steps: Annotated[tuple[Annotated[float, Field(ge=0, le=1)], ...], Field(min_length=1, max_length=101)] = (
        0.0,
        0.25,
        0.5,
        0.75,
        1.0,
    )
    by: tuple[str, ...] | None = None
    actionable: tuple[str, ...] | None = None
    preset: Literal["german_credit"] | None = None
    limits: dict[str, Limit] = field(default_factory=dict)
    cost_weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] = field(default_factory=dict)
    resolution: Annotated[float, Field(ge=0.005, le=0.5)] = 0.02
    fewest: bool = True
    level: Share = 0.05
    material: Share = 0.10
    permutations: Annotated[int, Field(ge=19, le=9999)] = 999
    max_people: Annotated[int, Field(ge=2)] = 2000
