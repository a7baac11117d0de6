"""Groups that nobody's row names, but of which each person has a probability: bounds, and estimates on terms.

Decisions and memberships are never seen together, so a rate is known only to lie between bounds: of people
with like probabilities, at least and at most so many of those decided favorably can belong to the group
(Fréchet). The bounds suppose nothing but that the probabilities are right, up to `proxy_error`. Under the
assumption that decisions have nothing to do with membership once the probability is given, the rate is a
weighted mean. Nobody is ever put into a group.

The rule by which a bound counts a person (by decision, or by probability) is learned on one half of the
people and applied to the other: any rule gives a valid bound, so learning it badly can only make it wider.

References
----------
Kallus, Mao, Zhou (2022), Assessing algorithmic fairness with unobserved protected class using data
combination, Management Science 68:1959-1981; Chen, Kallus, Mao, Svacha, Udell (2019), Fairness under
unawareness, FAT*; Imbens, Manski (2004), Econometrica 72:1845-1857 (intervals of a bounded quantity).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri

from audits.checks import one_of
from audits.data.partition import draw_people
from audits.errors import InputError
from audits.groups.options import GroupsOptions
from audits.stats import Estimate, Judgment, Verdict, judge, wilson
from audits.stats.intervals import cautious_difference, cautious_p, percent_level

ASSUMPTION = "decisions have nothing to do with membership, given its probability"
_BINS = 20
_MIN = 20  # people in a bin of probabilities
_TOO_MUCH = 1 + 1e-6
_OPEN = "the probabilities of membership allow any difference between these bounds"


@dataclass(frozen=True)
class ProbableGroup:
    """A group of which each person has a probability.

    Attributes
    ----------
    n : float
        People expected in it: the sum of the probabilities.
    selection_rate : Estimate
        Under `ASSUMPTION`; the interval is as wide as if memberships were drawn again.
    bounds : Estimate
        Of the selection rate without it, with the interval that holds both; the value is the middle.
    difference : Estimate or None
        Selection rate minus the reference's, under the assumption; None for the reference.
    difference_bounds : Estimate or None
        The same without it: the interval that the verdict follows from, corrected for all comparisons.
    p_value : float or None
        Smallest level at which bounds of this difference alone leave out 0.
    """

    attribute: str
    group: str
    n: float
    is_reference: bool
    selection_rate: Estimate
    bounds: Estimate
    difference: Estimate | None
    difference_bounds: Estimate | None
    verdict: Verdict | None
    material: bool | None = None
    reason: str = ""
    p_value: float | None = None


@dataclass(frozen=True, eq=False)
class _Bound:
    """A bound of a rate: its value, and what each person adds to its sampling error, (n,)."""

    value: float
    influence: np.ndarray

    @property
    def share(self) -> float:
        """The value as a share of people."""
        return float(np.clip(self.value, 0.0, 1.0))


def probability_columns(frame: pd.DataFrame, asked: Mapping[str, Mapping[str, str]]) -> dict[str, np.ndarray]:
    """Return the probabilities of membership by the name that `people` tables give them, each (n,).

    Raises
    ------
    InputError
        An unknown column, one that holds no probabilities, or groups whose probabilities exceed 1 together.
    """
    found = {}
    for attribute, groups in asked.items():
        where = f"groups.by_probability.{attribute}"
        if not groups:
            raise InputError(where, "must name at least one group and its column")
        together = np.zeros(len(frame))
        for group, name in groups.items():
            one_of(f"{where}.{group}", name, frame.columns, what="a column of the data")
            if not pd.api.types.is_numeric_dtype(frame[name]):
                raise InputError(f"{where}.{group}", "must name a column of probabilities", name)
            values = frame[name].to_numpy(dtype=float, na_value=np.nan)
            bad = int((~((values >= 0) & (values <= 1))).sum())
            if bad:
                raise InputError(
                    f"{where}.{group}",
                    f"must be a probability from 0 to 1 for everyone, but {bad:,} rows have none",
                    name,
                    "keep only people whose probabilities are known (data.keep)",
                )
            if not values.any():
                raise InputError(f"{where}.{group}", "must be above 0 for someone", name)
            together += values
            found[column_name(attribute, group)] = values
        if together.max() > _TOO_MUCH:
            raise InputError(
                where,
                "must not add up to more than 1 for anyone",
                float(together.max()),
                "name disjoint groups",
            )
    return found


def column_name(attribute: str, group: str) -> str:
    """Return the name of a column of probabilities in a result's table of people."""
    return f"chance: {attribute}: {group}"


def compare_probable(
    people: pd.DataFrame,
    attribute: str,
    options: GroupsOptions,
    *,
    corrected: float,
    rng: np.random.Generator,
) -> tuple[ProbableGroup, ...]:
    """Return the groups of one attribute, the one with most people expected first.

    Parameters
    ----------
    people : DataFrame
        With the columns of `probability_columns`.
    corrected : float
        Error rate of a difference's interval, corrected for all comparisons.
    """
    groups, reference = options.by_probability[attribute], (options.reference or {}).get(attribute)
    proxy_error, material, level = options.proxy_error, options.material, options.level
    decided = people["decision"].to_numpy(dtype=float)
    size = people["people"].to_numpy(dtype=float)
    chance = {name: people[column_name(attribute, name)].to_numpy(dtype=float) for name in groups}
    order = sorted(groups, key=lambda name: -float(size @ chance[name]))
    first = order[0] if reference is None else str(reference)
    if first not in chance:
        one_of("groups.reference", first, order, what="a group with a column of probabilities")
    whole = np.maximum(np.rint(size), 1.0)
    alike = people[["decision", *(column_name(attribute, name) for name in sorted(groups))]]
    known = pd.util.hash_pandas_object(alike, index=False).to_numpy()
    everyone = np.zeros(len(people), dtype=np.int64)
    half = draw_people(whole, known, everyone, np.array([whole.sum() // 2]), rng) / whole
    bounds = {name: _bounds(p, decided, size, half, proxy_error) for name, p in chance.items()}
    found = []
    for name in order:
        low, high = bounds[name]
        n, m = (float(size @ chance[each]) for each in (name, first))
        seen = [wilson(each.share * n, n, level=level) for each in (low, high)]
        held = _interval(low, high, seen, size, level)
        rate = _weighted_mean(chance[name], decided, size, proxy_error, level)
        gap = bound = judged = p_value = None
        if name != first:
            gap = _gap(chance[name], chance[first], decided, size, proxy_error, corrected)
            least = _Bound(low.value - bounds[first][1].value, low.influence - bounds[first][1].influence)
            most = _Bound(high.value - bounds[first][0].value, high.influence - bounds[first][0].influence)
            ends = [
                (own.share * n, n, other.share * m, m)
                for own, other in zip(bounds[name], reversed(bounds[first]), strict=True)
            ]
            apart = [cautious_difference(*counts, level=corrected) for counts in ends]
            bound = _interval(least, most, apart, size, corrected, -1.0)
            p_value = 2 * float(ndtr(-max(0.0, *_distances(least, most, size))))
            if least.value > 0 or most.value < 0:  # of few people the errors of bounds are too small
                p_value = max(p_value, cautious_p(*ends[0 if least.value > 0 else 1]) or 0.0)
            judged = judge(bound, immaterial=(-material, material), level=corrected, reason=_OPEN)
        found.append(
            ProbableGroup(
                attribute=attribute,
                group=name,
                n=float(size @ chance[name]),
                is_reference=name == first,
                selection_rate=rate,
                bounds=held,
                difference=gap,
                difference_bounds=bound,
                verdict=None if judged is None else judged.verdict,
                material=None if judged is None else judged.material,
                reason="" if judged is None else judged.reason,
                p_value=p_value,
            )
        )
    return tuple(found)


def judged_of(group: ProbableGroup, material: float, looks: int) -> Judgment:
    """Return all that the verdict on a group follows from, one of so many looks; its reference has none."""
    assert group.verdict is not None and group.difference_bounds is not None  # noqa: S101, PT018
    return Judgment(
        verdict=group.verdict,
        interval=group.difference_bounds,
        immaterial_low=-material,
        immaterial_high=material,
        material=group.material,
        p_value=None if group.p_value is None else min(1.0, looks * group.p_value),
        reason=group.reason,
    )


def _bounds(
    p: np.ndarray, decided: np.ndarray, size: np.ndarray, half: np.ndarray, error: float
) -> tuple[_Bound, _Bound]:
    """Lower and upper bound of the rate of a group.

    Of people whose probability is p and whose favorable share is d, at least max(0, d + p - 1) and at most
    min(d, p) are favorably decided members. `by_decision` says where the first branch of either is taken.
    """
    bins = _bins(p, size)
    above, share = np.clip(p + error, 0, 1), []
    below = np.clip(p - error, 0, 1)
    for people in (size * (1 - half), size * half):  # learned on one half, for the other
        n = np.bincount(bins, people)
        share.append([np.bincount(bins, people * each) / np.maximum(n, 1e-12) for each in (decided, p)])
    d, mean = (np.where(half >= 0.5, share[0][k][bins], share[1][k][bins]) for k in (0, 1))
    by_decision = d < mean
    upper = np.where(by_decision, decided, above), np.where(by_decision, below, above)
    crowded = d + mean > 1
    lower = np.where(crowded, decided + below - 1, 0.0), np.where(crowded, below, above)
    return _ratio(*lower, size), _ratio(*upper, size)


def _bins(p: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Bin of each person's probability, (n,): about equally many people in each, and not too few."""
    count = int(np.clip(size.sum() // _MIN, 1, _BINS))
    edges = np.unique(np.quantile(p, np.linspace(0, 1, count + 1)))
    return np.searchsorted(edges, p, side="right") - 1  # the largest, which may be many, by itself


def _ratio(part: np.ndarray, whole: np.ndarray, size: np.ndarray) -> _Bound:
    value = float(size @ part / max(float(size @ whole), 1e-12))
    return _Bound(value, (part - value * whole) / max(float(size @ whole), 1e-12))


def _interval(
    low: _Bound,
    high: _Bound,
    seen: Sequence[Estimate],
    size: np.ndarray,
    level: float,
    floor: float = 0.0,
) -> Estimate:
    """Ends that hold what lies between both bounds: each is moved out for its sampling error.

    They reach at least as far as the intervals `seen` of both bounds, counted on the people expected: of few
    who are decided alike a bound shows no error.
    """
    z, n = -float(ndtri(level / 2)), float(size.sum())
    ends = [
        min(low.value - z * _error(low, size), floor if seen[0].low is None else seen[0].low),
        max(high.value + z * _error(high, size), 1.0 if seen[1].high is None else seen[1].high),
    ]
    value = float(np.clip((low.value + high.value) / 2, floor, 1.0))
    method = (
        f"bounds by partial identification {float(np.clip(low.value, floor, 1)):.3f} to "
        f"{float(np.clip(high.value, floor, 1)):.3f}, {percent_level(level)}"
    )
    return Estimate(value, max(ends[0], floor), min(ends[1], 1.0), n, method)


def _error(bound: _Bound, size: np.ndarray) -> float:
    """Standard error of a bound over people."""
    n = float(size.sum())
    return float(np.sqrt(n / max(n - 1, 1.0) * (size @ bound.influence**2)))


def _distances(low: _Bound, high: _Bound, size: np.ndarray) -> tuple[float, float]:
    """How many standard errors the lower bound lies above 0, and the upper one below."""
    return low.value / max(_error(low, size), 1e-300), -high.value / max(_error(high, size), 1e-300)


def _weighted_mean(
    p: np.ndarray, decided: np.ndarray, size: np.ndarray, error: float, level: float
) -> Estimate:
    """Weighted mean of decisions: Wilson's interval of the people expected, wider by the proxy's error."""
    parts = [_expected_counts(p, decided, size, shift) for shift in (0.0, -error, error)]
    middle, low, high = (wilson(count, n, level=level) for count, n in parts)
    method = f"weighted by probability, if {ASSUMPTION}; {middle.method} of the people expected"
    return Estimate(middle.value, low.low, high.high, middle.n, method)


def _gap(
    p: np.ndarray, q: np.ndarray, decided: np.ndarray, size: np.ndarray, error: float, level: float
) -> Estimate:
    """Difference of two weighted means, first minus second."""
    gaps = [
        cautious_difference(
            *_expected_counts(p, decided, size, shift),
            *_expected_counts(q, decided, size, -shift),
            level=level,
        )
        for shift in (0.0, -error, error)
    ]
    method = f"weighted by probability, if {ASSUMPTION}; {gaps[0].method} of the people expected"
    return Estimate(gaps[0].value, gaps[1].low, gaps[2].high, gaps[0].n, method)


def _expected_counts(
    p: np.ndarray, decided: np.ndarray, size: np.ndarray, shift: float
) -> tuple[float, float]:
    """People expected in the group who are decided favorably, and all expected.

    Every probability is off by `shift` for those decided favorably, and by the opposite for the others.
    """
    moved = np.clip(p + shift * (2 * decided - 1), 0, 1)
    return float(size @ (moved * decided)), float(size @ moved)
