"""What an auditor can choose: each option's type, default, bounds and help stand on its field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from audits.options import Level, Material, option


@dataclass(frozen=True, kw_only=True)
class TopScoresOptions:
    """Options of the audit."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    by: Annotated[tuple[str, ...], option("Protected attributes; several make intersections.", min_length=1)]
    best: Annotated[
        float, option("Which part of all people counts as best.", unit="of people", gt=0, lt=1)
    ] = 0.2
    ties: Annotated[Literal["in", "out"], option("Whether who has just the last score is among them.")] = "in"
    smallest: Annotated[int, option("Smaller groups are left out.", unit="people", ge=1, le=1000)] = 5
    list_people: Annotated[bool, option("List the people who are among the best.")] = True
    note: Annotated[str, option("Stands in the facts.")] = ""
    names: Annotated[Mapping[str, str], option("Other names for groups.")] = field(default_factory=dict)
    level: Level = 0.05
    material: Material = 0.1
