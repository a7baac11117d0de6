"""Numbers by group (pay, days, loss): means and quantiles, and how far two groups lie apart.

A mean is known by what each independent unit (a person, a cluster) adds to it, so that weights, strata and
clusters are allowed for and units that both groups share count once. Interval and p-value are Student's, with
Hall's transformation, which takes out the skewness of amounts (`audits.stats.means`), and Welch's degrees of
freedom. A quantile's interval comes of ranks and holds for any distribution, ties and spikes included; two of
them are joined by the method of variance estimates recovery.

A sample of few people has seen little of a long tail. Below 50 independent people a group is therefore taken
to vary at least as much as both groups together, which is right where they do not differ; below 10 there is
no interval.

References
----------
Hall (1992), Journal of the Royal Statistical Society B 54:221-228. Zou, Donner (2008), Statistics in Medicine
27:1693-1702. Woodruff (1952), Journal of the American Statistical Association 47:635-646.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from audits.errors import InputError
from audits.stats.design import Design, design_share, mean_influence
from audits.stats.estimate import Estimate
from audits.stats.intervals import percent_level, weighted_sum
from audits.stats.means import MIN, MeanTest
from audits.stats.quantiles import quantile

MIN_SEEN = 50
"""Independent people below which a group's own spread is not used alone."""

_MIN_LEVEL = 1e-12


@dataclass(frozen=True, eq=False)
class Quantities:
    """The numbers of some people, and who of the rows is one person.

    Attributes
    ----------
    values : float array (n,)
        Finite among those looked at.
    people : float array (n,)
        People that each row represents; under a design its sampling weight.
    design : Design or None
        Of the rows, where they are not one independent person each.
    """

    values: np.ndarray
    people: np.ndarray
    design: Design | None = None

    def units(self, members: np.ndarray) -> float:
        """Return how many independent people, or clusters, are among `members` (n,)."""
        if self.design is None:
            return float(self.people[members].sum())
        return float(len(np.unique(self.design.cluster[members])))


@dataclass(frozen=True, eq=False)
class _Mean:
    """A mean by what each unit adds to it.

    Attributes
    ----------
    influence, times : float array (units,)
        Times the squares sum to the variance.
    """

    value: float
    influence: np.ndarray
    times: np.ndarray
    freedom: float
    units: float

    @property
    def variance(self) -> float:
        return float(self.times @ self.influence**2)


def amount_limit(given: float | str, mean: float | None, where: str) -> float:
    """Return the smallest difference that matters, in the outcome's unit; 0 where per cent say nothing.

    Parameters
    ----------
    given : float or str
        An amount, or per cent of `mean`: ``"5%"``.
    mean : float or None
        Of the group compared with.

    Raises
    ------
    InputError
        If it is neither, or not above 0.

    Examples
    --------
    >>> amount_limit("5%", 40.0, "groups.material_amount"), amount_limit(0.5, 40.0, "groups.material_amount")
    (2.0, 0.5)
    """
    text = str(given).strip()
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise InputError(where, "must be an amount above 0, or a percentage such as '5%'", given)
    return number / 100 * max(mean or 0.0, 0.0) if text.endswith("%") else number


def mean_of(amounts: Quantities, members: np.ndarray, *, level: float = 0.05) -> Estimate:
    """Return the mean over `members` (n,) with its interval; without ends below 10 independent people.

    Examples
    --------
    >>> pay = Quantities(np.array([10.0, 12, 9, 14, 11, 30, 10, 12, 13, 9]), np.ones(10))
    >>> found = mean_of(pay, np.ones(10, dtype=bool))
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (13.0, 10.04, 28.3)
    """
    if not members.any():
        return Estimate(None, None, None, 0.0, "nobody")
    mean = _mean(amounts, members)
    return _interval(_test(mean), mean.units, level)


def mean_gap(
    amounts: Quantities, members: np.ndarray, others: np.ndarray, *, level: float = 0.05
) -> tuple[Estimate, float | None]:
    """Return the mean over `members` (n,) minus that over `others` (n,), and the p-value of no difference.

    Examples
    --------
    >>> pay = Quantities(np.arange(200.0), np.ones(200))
    >>> first = np.arange(200) < 100
    >>> found, p = mean_gap(pay, first, ~first)
    >>> found.value, round(found.low, 1), round(found.high, 1), p < 1e-9
    (-100.0, -108.1, -91.9, True)
    """
    if not members.any() or not others.any():
        return Estimate(None, None, None, 0.0, "nobody of one group"), None
    own, other = _mean(amounts, members), _mean(amounts, others)
    few, seen = min(own.units, other.units), (own, other)
    if few < MIN_SEEN:
        own, other = _at_least_as_spread(amounts, members | others, own, other)
    test = _test(_minus(own, other, shared=amounts.design is not None and (own, other) == seen))
    return _interval(test, few, level), _two_sided(test) if few >= MIN else None


def relative_gap(
    amounts: Quantities, members: np.ndarray, others: np.ndarray, *, level: float = 0.05
) -> Estimate | None:
    """Return the difference of two means as a share of the second; None where that is not above 0."""
    if not members.any() or not others.any():
        return None
    own, other = _mean(amounts, members), _mean(amounts, others)
    if other.value <= 0:
        return None
    ratio = own.value / other.value
    parts = [
        replace(each, value=value, influence=each.influence * scale / other.value)
        for each, value, scale in ((own, ratio, 1.0), (other, 1.0, ratio))
    ]
    gap = _minus(*parts, shared=amounts.design is not None)
    return _interval(_test(gap), min(own.units, other.units), level)


def _mean(amounts: Quantities, members: np.ndarray) -> _Mean:
    values = np.where(members, amounts.values, 0.0)
    units = amounts.units(members)
    if amounts.design is not None:
        mean, influence, freedom = mean_influence(amounts.design, members, values)
        return _Mean(mean, influence, np.ones(len(influence)), max(freedom, 1), units)
    people = np.where(members, amounts.people, 0.0)
    mean = float(people @ values / units)
    scale = 1 / math.sqrt(units * (units - 1)) if units > 1 else 0.0
    return _Mean(mean, np.where(members, values - mean, 0.0) * scale, people, max(units - 1, 1.0), units)


def _at_least_as_spread(
    amounts: Quantities, either: np.ndarray, own: _Mean, other: _Mean
) -> tuple[_Mean, _Mean]:
    """Have a group of few people vary, and be skewed, as both groups together where these vary more."""
    both = _mean(amounts, either)
    found = []
    for each in (own, other):
        spread = both.variance * both.units / each.units
        if each.units < MIN_SEEN and spread > each.variance:
            # `both.units / each.units` times as many influences, each of one person among fewer
            share = both.units / each.units
            each = replace(each, influence=both.influence * share, times=both.times / share)
        found.append(each)
    return found[0], found[1]


def _minus(own: _Mean, other: _Mean, *, shared: bool) -> _Mean:
    """Return the difference of means of units that both may share, such as clusters, or of units apart."""
    freedom = (own.variance + other.variance) ** 2 / max(
        own.variance**2 / own.freedom + other.variance**2 / other.freedom, 1e-300
    )
    freedom = max(freedom, min(own.freedom, other.freedom))
    value, units = own.value - other.value, own.units + other.units
    if shared:
        return _Mean(value, own.influence - other.influence, own.times, freedom, units)
    influence = np.concatenate([own.influence, -other.influence])
    return _Mean(value, influence, np.concatenate([own.times, other.times]), freedom, units)


def _test(mean: _Mean) -> MeanTest:
    """Return the mean as of so many people of one skewed distribution."""
    n = mean.freedom + 1
    error = math.sqrt(mean.variance)
    skewness = float(mean.times @ (mean.influence / error) ** 3) if error > 0 else 0.0
    return MeanTest(n, mean.value, error * math.sqrt(n), skewness * math.sqrt(n))


def _interval(test: MeanTest, units: float, level: float) -> Estimate:
    if test.deviation == 0 and units >= MIN:
        return Estimate(test.mean, None, None, units, "no interval: there is no spread")
    if units < MIN or not test.enough:
        return Estimate(test.mean, None, None, units, f"no interval below {MIN} people")
    return replace(
        test.interval(level), n=units, method=f"skewness-corrected (Hall) Welch t {percent_level(level)}"
    )


def _two_sided(test: MeanTest) -> float:
    above = test.p_value(0.0)
    return min(1.0, 2 * min(above, 1 - above)) if above is not None else 1.0


def quantile_of(amounts: Quantities, members: np.ndarray, share: float, *, level: float = 0.05) -> Estimate:
    """Return a quantile over `members` (n,), with an interval from ranks among effective people.

    An end beyond the smallest or the largest number is None: too few people.
    """
    values, people = amounts.values[members], amounts.people[members]
    if amounts.design is None or not len(values):
        return quantile(values, share, people, level=level)
    found = quantile(values, share, people, level=level).value
    inside = design_share(amounts.design, members, members & (amounts.values <= (found or 0.0)), level=level)
    effective = people * (inside.people / people.sum())
    told = quantile(values, share, effective, level=level)
    return replace(told, method=f"order statistics of effective people {percent_level(level)}")


def quantile_gap(
    amounts: Quantities, members: np.ndarray, others: np.ndarray, share: float, *, level: float = 0.05
) -> tuple[Estimate, Callable[[], float]]:
    """Return a quantile over `members` (n,) minus that over `others` (n,), and what finds its p-value.

    Examples
    --------
    >>> pay = Quantities(np.arange(200.0), np.ones(200))
    >>> first = np.arange(200) < 100
    >>> found, p = quantile_gap(pay, first, ~first, 0.5)
    >>> found.value, round(found.low, 1), round(found.high, 1), p() < 1e-9
    (-100.0, -114.9, -85.1, True)
    """

    def gap(level: float) -> Estimate:
        own, other = (quantile_of(amounts, who, share, level=level) for who in (members, others))
        return _recovered(own, other, level)

    def p_value() -> float:
        low, high = math.log(_MIN_LEVEL), 0.0
        for _ in range(24):
            middle = (low + high) / 2
            low, high = (low, middle) if _leaves_out_nothing(gap(math.exp(middle))) else (middle, high)
        return math.exp(high)

    return gap(level), p_value


def _leaves_out_nothing(gap: Estimate) -> bool:
    return gap.low is not None and gap.high is not None and (gap.low > 0 or gap.high < 0)


def _recovered(own: Estimate, other: Estimate, level: float) -> Estimate:
    """Join two intervals into that of the difference (MOVER)."""
    n = min(own.n, other.n)
    if own.value is None or other.value is None:
        return Estimate(None, None, None, n, "nobody of one group")
    gap = weighted_sum([own, other], [1.0, -1.0])
    if gap.value is None or n < MIN:
        return Estimate(own.value - other.value, None, None, n, "no interval: too few people")
    return replace(gap, n=n, method=f"order statistics, MOVER {percent_level(level)}")
