"""What an auditor can choose in the recourse audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from audits.checks import Strict
from audits.options import Level, MaterialOn, option


@dataclass(frozen=True, kw_only=True)
class Limit(Strict):
    """What a person can do about one column."""

    direction: Annotated[
        Literal["up", "down"] | None, option("The value may only rise, or only fall (numbers, dates, ranks).")
    ] = None
    at_least: Annotated[
        float | None,
        option("Lower bound of a number; people already below it keep their value.", allow_inf_nan=False),
    ] = None
    at_most: Annotated[
        float | None,
        option("Upper bound of a number; people already above it keep their value.", allow_inf_nan=False),
    ] = None
    among: Annotated[tuple[Any, ...] | None, option("Values of a category that a person can move to.")] = None


@dataclass(frozen=True, kw_only=True)
class RecourseOptions(Strict):
    """Options of the recourse audit, as a spec names them."""

    later: ClassVar[dict[str, str]] = {"material_on": "either"}  # draws as before it was an option

    steps: Annotated[
        tuple[Annotated[float, Field(ge=0, le=1)], ...],
        option("Values of α to report, in [0, 1].", min_length=1, max_length=101),
    ] = tuple(round(0.05 * k, 2) for k in range(21))
    by: Annotated[
        tuple[str, ...] | None,
        option("Protected attributes whose combinations are the groups; by default all."),
    ] = None
    actionable: Annotated[
        tuple[str, ...] | None,
        option("Columns that a person can change; by default those with the role actionable in the data."),
    ] = None
    preset: Annotated[
        Literal["german_credit"] | None, option("Roles of the paper's Table A1 (German credit).")
    ] = None
    limits: Annotated[dict[str, Limit], option("Limits on how a person can change each column.")] = field(
        default_factory=dict
    )
    cost_weights: Annotated[
        dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]],
        option(
            "For each column, the cost of a change by one standard deviation (numbers) or to another "
            "value (categories); 1 by default."
        ),
    ] = field(default_factory=dict)
    interpolation: Annotated[
        Literal["snapped", "literal"],
        option(
            "Values on the way. snapped: only values that exist. literal: values in between, including "
            "parts of categories, as in Eq. 15; only for models with a known gradient."
        ),
    ] = "snapped"
    resolution: Annotated[float, option("Grid step of the search for the smallest α.", ge=0.005, le=0.5)] = (
        0.02
    )
    fewest: Annotated[bool, option("Also find the fewest columns that a person has to change.")] = True
    ways: Annotated[
        int,
        option(
            "How many different ways to find for each of a sample of rejected people, with one action per"
            " group; 0 for none.",
            ge=0,
            le=10,
        ),
    ] = 0
    ways_people: Annotated[
        int,
        option(
            "Size of the random sample of rejected people for whom ways are searched.",
            unit="people",
            ge=1,
            le=1000,
        ),
    ] = 100
    refits: Annotated[
        int,
        option(
            "How many models to retrain on resamples of the training data, to see which ways they still "
            "accept; only for models trained here.",
            ge=0,
            le=100,
        ),
    ] = 10
    noise: Annotated[
        float,
        option("Noise added to each changed number, in standard deviations; 0 for none.", ge=0, le=2),
    ] = 0.1
    follows: Annotated[
        dict[str, Annotated[tuple[str, ...], Field(min_length=1)]],
        option(
            "Numbers that follow when others change, each with the columns it follows. Effects are "
            "assumed to be linear and the same for everyone. For ways and group actions."
        ),
    ] = field(default_factory=dict)
    level: Level = 0.05
    material: Annotated[
        float,
        option(
            "Smallest difference that matters: in shares accepted, and in burdens as a share of their mean.",
            unit="as a share",
            gt=0,
            lt=1,
        ),
    ] = 0.10
    material_on: MaterialOn = "either"
    permutations: Annotated[int, option("Permutations for the burden's p-value.", ge=19, le=100_000)] = 999
    max_people: Annotated[
        int, option("Largest number of rejected people; more are sampled down to it.", unit="people", ge=2)
    ] = 2000
