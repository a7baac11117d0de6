"""How far outcomes lie apart, and what that and the bias of groups say: estimates and verdict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import norm

from audits.outcome_transport.bias import Cells, Groups, Measured
from audits.outcome_transport.comparison import Comparison
from audits.outcome_transport.matching import Matched
from audits.outcome_transport.options import OutcomeTransportOptions
from audits.outcome_transport.resampling import Resampled, effective, whole
from audits.outcome_transport.testing import GroupTest
from audits.outcome_transport.words import Judged
from audits.stats import INSUFFICIENT, Estimate, p_value, verdict
from audits.stats.intervals import percent_level

__all__ = ["Parts", "Space", "Sure", "distances", "judge"]


@dataclass(frozen=True, eq=False)
class Space:
    """A set of features: raw columns, and both sides' people encoded, (n, d) and (m, d)."""

    columns: tuple[str, ...]
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True, eq=False)
class Sure:
    """What inference found; None for what was not asked for."""

    resampled: Resampled | None
    tested: GroupTest | None
    observed: float | None
    null: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Parts:
    """Everything a result is made of."""

    comparison: Comparison
    matched: Matched
    spaces: dict[str, Space]
    groups: Groups
    measured: list[Measured]
    ranges: list[tuple[float, float, bool] | None]
    cells: Cells
    sure: Sure
    a: np.ndarray
    b: np.ndarray

    @cached_property
    def mass(self) -> np.ndarray:
        """People each source row stands for who are matched (n,): all of them, or what the blur leaves."""
        if self.matched.exact:
            return self.a
        return self.a * self.matched.matched_share[self.matched.source.of]

    @property
    def alone(self) -> bool:
        """Whether a side is one person, of whose like nothing is known."""
        return bool(min(self.a.sum(), self.b.sum()) < 2)

    @property
    def no_interval(self) -> str:
        """Why there is no interval, where people were not resampled."""
        return f"no interval: {'one person alone on a side' if self.alone else 'not resampled'}"


def distances(
    parts: Parts, options: OutcomeTransportOptions, n: float
) -> tuple[Estimate, dict[str, Estimate | None]]:
    """Distance of the chosen cost, and of both orders: on a line one exact coupling serves both."""
    matched = parts.matched
    values = {
        "order_1": matched.mean_cost("euclidean"),
        "order_2": float(np.sqrt(matched.mean_cost("squared_euclidean"))),
    }
    chosen = "order_1" if options.cost == "euclidean" else "order_2"
    both = matched.on_a_line and matched.exact
    reach = float(norm.isf(options.level / 2))
    found = {}
    for k, (name, value) in enumerate(values.items()):
        if parts.sure.resampled is None:
            found[name] = Estimate(value, None, None, n, parts.no_interval)
            continue
        spread = reach * float(parts.sure.resampled.distance[k])
        upward = spread if k else max(spread, reach * _largest_error(parts))
        excess = float(parts.sure.resampled.excess[k])
        people = f"{parts.sure.resampled.pool:,} people"
        what = "" if matched.exact else f"mean cost of the {options.matching} coupling; "
        method = f"{what}bootstrap of {people}, coupled again, {percent_level(options.level)}"
        found[name] = Estimate(value, max(value - excess - spread, 0.0), value + upward, n, method)
    return found[chosen], {name: found[name] if both or name == chosen else None for name in found}


def _largest_error(parts: Parts) -> float:
    """Bound the standard error of the distance of order 1 between two groups; 0 for the same people.

    Its first-order variance is that of the dual potentials, which change no faster than the outcome does, so
    that their variance is at most the outcomes' own. The bootstrap falls below where distances are near 0.
    """
    if parts.comparison.same_people:
        return 0.0
    variance = 0.0
    for side, weights in ((parts.comparison.source, parts.a), (parts.comparison.target, parts.b)):
        apart = side.outcomes - np.average(side.outcomes, axis=0, weights=weights)
        spread = float(np.average((apart**2).sum(axis=1), weights=weights))
        variance += spread / effective(weights, whole(weights))
    return float(np.sqrt(variance))


def judge(parts: Parts, options: OutcomeTransportOptions) -> Judged:
    """Two groups are judged by the distance of their outcomes, two policies by how groups' bias differs.

    The distance is the same in all optimal couplings. Bias is not, so there a verdict has to hold in all.
    """
    sure, level = parts.sure, options.level
    distance_p = None if sure.null is None or sure.observed is None else p_value(sure.observed, sure.null)
    group_p = None if sure.tested is None else sure.tested.p_value
    if parts.comparison.same_people:
        if sure.tested is None:
            return Judged(INSUFFICIENT, distance_p, group_p, None)
        return _of_groups(sure.tested, distance_p, level)
    if sure.null is None or distance_p is None:
        return Judged(INSUFFICIENT, distance_p, group_p, None)
    material = options.material * _unit(parts)
    # chance gives distances that fall with the square root of the people
    critical = float(np.quantile(sure.null, 1 - level))
    error = (
        0.0 if sure.resampled is None else float(sure.resampled.distance[int(options.cost != "euclidean")])
    )
    error = max(error, float(sure.null.std()), 1e-300)
    able = 1 / (len(sure.null) + 1) <= level
    power = float(norm.cdf((material - critical) / error)) if able else 0.0
    judged = verdict(excludes_no_difference=distance_p <= level, power=power)
    small = min(parts.a.sum(), parts.b.sum())
    needed = _people(float(small * ((critical + norm.isf(0.2) * error) / material) ** 2))
    return Judged(judged, distance_p, group_p, needed if judged == INSUFFICIENT and able else None)


def _of_groups(tested: GroupTest, distance_p: float | None, level: float) -> Judged:
    """Judge groups' bias: what only the even coupling says is not enough, and more people would not help."""
    even = verdict(excludes_no_difference=tested.p_value <= level, power=tested.power)
    judged = verdict(
        excludes_no_difference=tested.everywhere <= level, power=0.0 if tested.leeway else tested.power
    )
    settled = judged == even == INSUFFICIENT and not tested.leeway
    people = _people(tested.people_needed) if settled else None
    return Judged(judged, distance_p, tested.p_value, people, tested.everywhere, even, tested.leeway)


def _people(number: float) -> int | None:
    return int(np.ceil(number)) if np.isfinite(number) and 0 < number < 1e12 else None


def _unit(parts: Parts) -> float:
    """Distance that the auditor's material difference is a share of."""
    if parts.comparison.kind != "score":
        return float(np.sqrt(2.0))
    both = np.concatenate([parts.comparison.source.outcomes, parts.comparison.target.outcomes])[:, 0]
    weights = np.concatenate([parts.a, parts.b])
    return float(np.sqrt(np.average((both - np.average(both, weights=weights)) ** 2, weights=weights))) or 1.0
