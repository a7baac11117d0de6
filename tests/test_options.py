"""Options are stated once, on their fields, and read from there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from audits.options import Level, option, options_of


@dataclass(frozen=True, kw_only=True)
class Options:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    by: Annotated[str, option("Attribute to compare by.")]
    most: (
        Annotated[int, option("Largest number of people; more are sampled down to it.", unit="people", ge=2)]
        | None
    ) = None
    cost: Annotated[Literal["l1", "l2"], option("Distance.")] = "l1"
    level: Level = 0.05


def test_everything_stated_is_read():
    by, most, cost, level = options_of(Options)
    assert (by.kind, by.required, by.help) == ("text", True, "Attribute to compare by.")
    assert (most.kind, most.optional, most.at_least, most.unit) == ("integer", True, 2, "people")
    assert (most.default, most.required, most.bounds) == (None, False, "from 2")
    assert (cost.kind, cost.choices, cost.default) == ("choice", ("l1", "l2"), "l1")
    assert (level.kind, level.at_least, level.at_most) == ("number", 0.001, 0.5)
