"""What an auditor can choose in a flipset audit."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from audits.checks import build
from audits.errors import InputError
from audits.transport.maps import OPTIONS, CoupledOptions, GanOptions, NeuralOptions

__all__ = ["FlipsetOptions", "Transport", "map_options", "map_seconds"]

Transport = Literal["exact", "entropic", "neural", "gan", "linear", "unbalanced"]


@dataclass(frozen=True, kw_only=True)
class FlipsetOptions:
    """Options of the flipset audit, as a spec names them.

    Attributes
    ----------
    source, target : dict
        The two groups: protected attribute to value, to a list of values, or to ``{"not": value}``;
        several attributes make an intersection.
    transport : {"exact", "entropic", "neural", "gan", "linear", "unbalanced"}
        How counterparts are found: real people at least total cost, or people invented by a map that is
        fitted to both groups.
    map : dict, optional
        Options of that map, as `audits.transport.maps` names them; the cost is `cost`.
    cost : {"l1_squared", "l2_squared", "l1", "l2"}
        Distance that the matching keeps small; FlipTest's is l1_squared. Numbers are in standard deviations
        of all people audited, whatever their group; another category is 1 under L1.
    feature_weights : dict, optional
        Weight of a feature in the cost, at least 0; 1 where not given.
    condition_on : str, optional
        Match only people alike in this column; ``"label"`` is the true label (equalised odds).
    counterfactuals : dict, optional
        Feature to the column of the data that holds what it would have been had the person belonged to the
        other group: the flipsets of those true counterfactuals are then shown beside transport's.
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
    transport: Transport = "exact"
    map: dict[str, Any] | None = None
    cost: Literal["l1_squared", "l2_squared", "l1", "l2"] = "l1_squared"
    feature_weights: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]] | None = None
    condition_on: str | None = None
    counterfactuals: dict[str, str] | None = None
    reverse: bool = True
    level: Annotated[float, Field(gt=0, lt=1)] = 0.05
    material: Annotated[float, Field(gt=0, lt=1)] = 0.10
    permutations: Annotated[int, Field(ge=0, le=9999)] = 99
    noise_people: Annotated[int, Field(ge=2, le=5000)] = 300
    bootstrap: Annotated[int, Field(ge=100, le=10000)] = 500
    max_people: Annotated[int, Field(ge=2)] | None = None


def map_options(options: FlipsetOptions) -> Any:
    """Return the checked options of the map that `options` names, or None for exact transport.

    Raises
    ------
    InputError
        For options of exact transport, for ones that the map does not know, or values out of range.
    """
    given = dict(options.map or {})
    if options.transport == "exact":
        if given:
            raise InputError(
                "flipset.map", "goes with a map, but transport is 'exact'", given, "leave it out"
            )
        return None
    if "cost" in given:
        raise InputError("flipset.map.cost", "is set by flipset.cost", given["cost"], "leave it out here")
    kind = OPTIONS[options.transport]
    if "cost" in {field.name for field in fields(kind)}:
        given["cost"] = options.cost
    return build(kind, given, "flipset.map")


def map_seconds(options: FlipsetOptions, n: int, m: int, width: int) -> float:
    """About how many seconds fitting the map and using it takes, both ways where asked for; 2 cores.

    Measured in the options' own units: passes of the GAN's loop at its usual width, steps of the neural map,
    pairs of the entropic maps. Half or twice the time is a hit.
    """
    details = map_options(options)
    ways = 2 if options.reverse else 1
    scoring = 0.5 + 2e-5 * (n + m) + 0.02 * options.permutations
    numbers = min(width, 20)  # columns past those are taken to be mostly one-hot, which cost little
    if isinstance(details, GanOptions):
        return scoring + ways * details.iterations * (7e-4 + 2e-5 * details.batch) * (1 + 0.005 * width)
    if isinstance(details, NeuralOptions):
        dual, regression = 8e-3 + 3e-4 * numbers, 5e-3 + 8e-4 * numbers
        return scoring + 3.0 + ways * (details.dual_steps * dual + details.map_steps * regression)
    if isinstance(details, CoupledOptions):
        pairs = min(n, details.max_people) * min(m, details.max_people)
        few = min(n, options.noise_people) * min(m, options.noise_people)
        return scoring + ways * pairs * (8e-8 + 5e-9 * numbers) + options.permutations * 1.2e-6 * few
    return scoring
