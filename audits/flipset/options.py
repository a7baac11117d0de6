"""What an auditor can choose in a flipset audit, and about how long that takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar, Literal

from audits.checks import Strict, build
from audits.errors import InputError
from audits.options import Level, Material, MaterialOn, Permutations, option
from audits.records import Size
from audits.transport import Cost, estimated_bytes, estimated_seconds
from audits.transport.maps import OPTIONS, CoupledOptions, GanOptions, NeuralOptions

MAX_SECONDS = 120.0
"""Time beyond which exact matching uses a subsample, unless everyone is asked for."""
SAMPLE_SECONDS = 15.0
"""Time that matching the subsample may take: its people widen the intervals, which is said."""
MAX_BYTES = 4 * 2**30
"""Memory, likewise."""

Transport = Literal["exact", "entropic", "neural", "gan", "linear", "unbalanced"]
_AFTERWARDS = 1.4  # times the matching: other matchings as good are looked for among all pairs


@dataclass(frozen=True, kw_only=True)
class FlipsetOptions(Strict):
    """Options of the flipset audit, as a spec names them; each says on its field what it is.

    `source` and `target` name a protected attribute's value, a list of values, or ``{"not": value}``;
    several attributes make an intersection.
    """

    later: ClassVar[dict[str, str]] = {"material_on": "either"}  # draws as before it was an option

    source: Annotated[dict[str, Any], option("The group whose people are examined.")]
    target: Annotated[dict[str, Any], option("The group that provides their counterparts.")]
    transport: Annotated[
        Transport,
        option("Counterparts: real people, matched at the least total cost, or invented people from a map."),
    ] = "exact"
    map: Annotated[dict[str, Any] | None, option("Options of that map; its cost is `cost`.")] = None
    cost: Annotated[
        Cost,
        option(
            "Distance that matching minimizes. Numbers count in standard deviations of all people "
            "audited; a different category counts 1 under L1. FlipTest uses l1_squared."
        ),
    ] = "l1_squared"
    feature_weights: Annotated[
        dict[str, Annotated[float, option("Weight in the cost.", ge=0, allow_inf_nan=False)]] | None,
        option("Weight of a feature in the cost; 1 by default."),
    ] = None
    condition_on: Annotated[
        str | None,
        option(
            "Match only people with the same value in this column; 'label' is the true label "
            "(equalized odds)."
        ),
    ] = None
    counterfactuals: Annotated[
        dict[str, str] | None,
        option("For each feature, the column with what it would have been in the other group."),
    ] = None
    reverse: Annotated[bool, option("Also count flips from the target group to the source group.")] = True
    level: Level = 0.05
    material: Material = 0.10
    material_on: MaterialOn = "either"
    permutations: Permutations = 239
    noise_people: Annotated[
        int | None,
        option(
            "People sampled from each group to measure chance; by default as many as `seconds` allow.",
            unit="people",
            ge=2,
            le=5000,
        ),
    ] = None
    seconds: Annotated[
        float,
        option("Time for measuring chance, by an estimate made before the run.", unit="s", gt=0, le=86_400),
    ] = 20.0
    bootstrap: Annotated[
        int, option("Bootstrap draws for the intervals of the transparency report.", ge=100, le=10_000)
    ] = 500
    repeats: Annotated[
        int,
        option(
            "How many times to match half of each group again with another seed, to see who still flips.",
            ge=0,
            le=1000,
        ),
    ] = 0
    repeat_maps: Annotated[
        list[Transport], option("Maps for the repeats to use in turn; by default the audit's own.")
    ] = field(default_factory=list)
    repeat_people: Annotated[
        bool,
        option("Sample half of each group for every repeat. If off, repeats differ only in seed and map."),
    ] = True
    max_people: Annotated[
        int | None,
        option(
            "Largest number of people per group; by default as many as can be matched exactly within two "
            "minutes and 4 GB.",
            unit="people",
            ge=2,
        ),
    ] = None


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
    if "cost" in {each.name for each in fields(kind)}:
        given["cost"] = options.cost
    return build(kind, given, "flipset.map")


def repeat_seconds(options: FlipsetOptions, n: int, m: int, width: int, *, invents: bool) -> float:
    """About how many seconds matching `n` with `m` people once more takes, for the level of chance."""
    if invents:
        coupled = options.transport in {"entropic", "unbalanced"}
        return 0.02 + (1.2e-6 * n * m if coupled else 2e-5 * (n + m))
    return 1e-3 + 1e-6 * (n + m) if width <= 1 else 2e-3 + 4.5e-7 * n * m


def _map_seconds(options: FlipsetOptions, n: int, m: int) -> float:
    """The order of magnitude of what fitting the map once takes on 2 cores."""
    details = map_options(options)
    if isinstance(details, GanOptions):
        return 2.5e-3 * details.iterations
    if isinstance(details, NeuralOptions):
        return 3.0 + 1.5e-2 * (details.dual_steps + details.map_steps)
    if isinstance(details, CoupledOptions):
        return 1.5e-7 * min(n, details.max_people) * min(m, details.max_people)
    return 0.5


def seconds(options: FlipsetOptions, size: Size) -> float:
    """About how many seconds the audit takes: matching and repeats, and at most the time given for chance."""
    start = size.start_seconds
    n, m = (_people(which, size) for which in (options.source, options.target))
    exact = options.transport == "exact"
    once = repeat_seconds(options, n, m, size.width, invents=not exact)
    start += min(options.permutations * once, options.seconds)
    if not exact:
        return start + _map_seconds(options, n, m) * (1 + options.reverse + options.repeats)
    sampled = not options.max_people and share_matched([(n, m)], size.width) < 1
    matching = SAMPLE_SECONDS if sampled else estimated_seconds(n, m, size.width)
    return start + matching * (_AFTERWARDS + options.repeats / 4)  # repeats are of half the people


def memory(options: FlipsetOptions, size: Size) -> float:
    """About how many bytes matching takes: unasked, of those who are matched then."""
    n, m = (_people(which, size) for which in (options.source, options.target))
    details = map_options(options)
    if isinstance(details, CoupledOptions):
        return 16.0 * min(n, details.max_people) * min(m, details.max_people)
    if options.transport != "exact":
        return 0.0
    if options.max_people is None:
        share = share_matched([(n, m)], size.width)
        return float(estimated_bytes(int(share * n), int(share * m), size.width))
    return float(estimated_bytes(min(n, options.max_people), min(m, options.max_people), size.width))


def share_matched(sizes: Sequence[tuple[int, int]], width: int) -> float:
    """Return the share of people who are matched exactly, unasked: of all strata as much, to a tenth.

    Parameters
    ----------
    sizes : sequence of (int, int)
        Source and target people of each stratum.
    width : int
        Encoded features.
    """
    share, most = 1.0, MAX_SECONDS
    while True:
        drawn = [(int(n * share) + 1, int(m * share) + 1) for n, m in sizes]
        takes = sum(estimated_seconds(n, m, width) for n, m in drawn)
        if takes <= most and max(estimated_bytes(n, m, width) for n, m in drawn) <= MAX_BYTES:
            return share
        share, most = 0.9 * share, SAMPLE_SECONDS


def _people(which: dict[str, Any], size: Size) -> int:
    """About how many people of the audited rows are of a group; a third where nothing is known."""
    share = 1.0
    for name, wanted in which.items():
        known = size.groups.get(name)
        if not known:
            return max(2, size.rows // 3)
        if isinstance(wanted, dict):
            found = sum(known.values()) - known.get(str(wanted.get("not")), 0)
        else:
            values = wanted if isinstance(wanted, (list, tuple)) else [wanted]
            found = sum(known.get(str(value), 0) for value in values)
        share *= found / max(sum(known.values()), 1)
    return max(2, round(share * size.rows))


def in_full(n: int, m: int, width: int) -> tuple[float, int, bool]:
    """Seconds and bytes that matching everyone exactly takes, and whether that is done unasked."""
    time, memory = estimated_seconds(n, m, width), estimated_bytes(n, m, width)
    return time, memory, time <= MAX_SECONDS and memory <= MAX_BYTES
