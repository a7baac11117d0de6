"""What an auditor can choose about counterparts in the barycenter of all groups, and how long that takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from audits.checks import Strict
from audits.options import Level, Material, MaterialOn, Permutations, option
from audits.records import Size
from audits.transport import Cost, estimated_bytes, estimated_seconds

MAX_SECONDS = 30.0
"""Time that matching may take, unless `max_people` asks for more. Above it, a sample is matched."""
_ONCE, _ROUND = 4.5, 3.5  # matchings of all: groups with each other and with everyone; with the points


@dataclass(frozen=True, kw_only=True)
class BarycenterOptions(Strict):
    """Options of the barycenter audit, as a spec names them; each says on its field what it is."""

    later: ClassVar[dict[str, str]] = {"material_on": "either"}  # draws as before it was an option

    by: Annotated[
        tuple[str, ...] | None,
        option(
            "Protected attributes that define the groups; several define them by combinations. By default"
            " the first attribute."
        ),
    ] = None
    cost: Annotated[
        Cost | None,
        option(
            "Distance that matching minimizes. Two groups: any, by default l1_squared, as in flipset. "
            "Three or more: l2_squared, for which a barycenter is a mean."
        ),
    ] = None
    weights: Annotated[
        Literal["people", "equal"],
        option("Weight of each group in the barycenter: by number of people, or equal."),
    ] = "people"
    fewest: Annotated[
        int, option("Smallest group; smaller ones are left out.", unit="people", ge=2, le=1_000_000)
    ] = 20
    rounds: Annotated[
        int,
        option(
            "Largest number of rounds in which the points of the barycenter move.", unit="rounds", ge=0, le=50
        ),
    ] = 1
    level: Level = 0.05
    material: Material = 0.10
    material_on: MaterialOn = "either"
    permutations: Permutations = 399
    seconds: Annotated[
        float,
        option("Time for measuring chance, by an estimate made before the run.", unit="s", gt=0, le=86_400),
    ] = 20.0
    max_people: Annotated[
        int | None,
        option(
            "Largest number of people to match, over all groups; by default as many as take about half a "
            "minute.",
            unit="people",
            ge=20,
        ),
    ] = None


def in_all(n: int, width: int, rounds: int) -> float:
    """About how many seconds the barycenter of groups of `n` people in all takes."""
    return (_ONCE + _ROUND * min(rounds, 4)) * estimated_seconds(n, n, width)


def once(n: int, width: int, groups: int, rounds: int) -> float:
    """About how many seconds it takes once more for `n` people, for the level of chance."""
    if width <= 1:
        return 1.5e-3 * groups + 2e-5 * n
    return 1.5e-3 * groups + 1e-7 * n * n * (0.3 + rounds) * (1 + n / 1000)


def seconds(options: BarycenterOptions, size: Size) -> float:
    """About how many seconds the audit takes: matching, and at most the time given for chance."""
    most = size.rows if options.max_people is None else min(options.max_people, size.rows)
    matching = in_all(most, size.width, options.rounds)
    if options.max_people is None:
        matching = min(matching, MAX_SECONDS)
    groups = max([2, *(len(size.groups.get(name, ())) for name in options.by or list(size.groups)[:1])])
    chance = options.permutations * once(most, size.width, groups, options.rounds)
    return size.start_seconds + matching + min(chance, options.seconds)


def memory(options: BarycenterOptions, size: Size) -> float:
    """About how many bytes it takes."""
    most = size.rows if options.max_people is None else min(options.max_people, size.rows)
    while options.max_people is None and in_all(most, size.width, options.rounds) > MAX_SECONDS:
        most = int(0.9 * most)
    return 2.0 * estimated_bytes(most, most, size.width)
