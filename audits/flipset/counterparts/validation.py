"""How far counterparts can be relied on: section 5.1's and Appendix D's checks, and matchings as good."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import norm

from audits.flipset.counterparts.matching import Flips, Matching
from audits.flipset.counterparts.people import Comparison
from audits.flipset.result import Check, CounterpartRate, Validation
from audits.stats.text import number, people_in, percent
from audits.transport import Cost, Coupling
from audits.transport.blocks import CostBlocks, threads
from audits.transport.costs import scale_points
from audits.transport.extremes import extreme
from audits.transport.maps import exact_cost, ks_distances, regression_gaps

KS_LIMIT = 0.20  # the largest KS distance of any map that the paper reports (Table 3)
_MSE_LIMIT = 0.5  # all but 3 of the 39 differences of Table 3 lie within
_COST_LIMIT = 1.5  # times the exact coupling's; the paper's maps cost 0.80 to 1.01 of it
_WAYS_LIMIT = 0.10  # share of people by which the two directions may disagree
_RETURN_LIMIT = 1.0  # there and back ends nearer than one way went


def validate(
    compared: Comparison, matched: list[Matching], flips: Flips, rng: np.random.Generator
) -> Validation:
    """Compare target people with the counterparts that source people got.

    With several strata the checks hold each stratum's counterparts against its own target people and
    average over source people. Where transport may leave people unmatched, both sides are the matched.
    """
    learned = compared.options.transport != "exact"
    names = [axis.name for axis in compared.encoded.axes]
    columns = [axis.index for axis in compared.encoded.axes]
    people = np.array([part.source.size.sum() for part in matched])

    def mean(values: Iterable[Any]) -> Any:
        return (people / people.sum()) @ np.array(list(values))

    def least(part: Matching) -> float:
        sizes: dict[str, Any] = {"a": part.source.size, "b": part.target.size}
        sizes["feature_weights"] = compared.encoded.weights
        return exact_cost(part.source.x, part.target.x, cost=compared.options.cost, rng=rng, **sizes)

    ks = mean(feature_gaps(compared, part) for part in matched)
    mse = mean(
        regression_gaps(
            part.target.x[:, columns],
            part.there.points[:, columns],
            b=part.there.weights,
            a=reached_people(part),
        )
        for part in matched
    )
    distance = float(mean(part.cost for part in matched))
    returned = [part.composition for part in matched]
    pushed = _pushed_rates(compared, matched)
    forward, reverse = _both_ways(flips, compared.sizes)
    found = Validation(
        ks=dict(zip(names, ks.tolist(), strict=True)),
        mse_difference=dict(zip(names, mse.tolist(), strict=True)),
        distance=distance,
        exact_distance=float(mean(least(part) for part in matched)) if learned else distance,
        composition_error=None if None in returned else float(mean(returned)),
        forward=forward,
        reverse=reverse,
        rates=pushed,
    )
    if not learned:
        return found
    n, m = (float(compared.sizes[side].sum()) for side in (flips.source, flips.target))
    checks = (*_checks(found, n, m), *_rate_checks(pushed, n, m, compared.limit))
    return replace(found, checks=checks, trusted=all(check.passed or not check.serious for check in checks))


def reached_people(part: Matching) -> np.ndarray:
    """Return the source people that each counterpart stands for, (L,)."""
    return np.asarray((part.source.size * part.there.found) @ part.there.shares)


def feature_gaps(compared: Comparison, part: Matching) -> np.ndarray:
    """Return each feature's KS distance of the counterparts from the target people, in a stratum."""
    columns = [axis.index for axis in compared.encoded.axes]
    z, y = part.there.points[:, columns], part.target.x[:, columns]
    return np.asarray(ks_distances(z, y, reached_people(part), part.there.weights))


def _pushed_rates(compared: Comparison, matched: list[Matching]) -> tuple[CounterpartRate, ...]:
    """Favorable rates of the counterparts there, and back where known, beside the groups' own."""
    rates = []
    for back in (False, True):
        got = wanted = total = 0.0
        for part in matched:
            counterparts = part.back if back else part.there
            if counterparts is None:
                break
            people, others = (part.target, part.source) if back else (part.source, part.target)
            mass = people.size * counterparts.found
            got += float(mass @ (counterparts.shares @ counterparts.favored(others, compared.decisions)))
            wanted += float(mass.sum() * (counterparts.weights @ others.mean(compared.decisions)))
            total += float(mass.sum())
        else:
            names = (compared.chosen.source, compared.chosen.target)
            if total > 0:
                rates.append(CounterpartRate(names[0] if back else names[1], got / total, wanted / total))
    return tuple(rates)


def _rate_checks(
    rates: tuple[CounterpartRate, ...], n: float, m: float, material: float
) -> tuple[Check, ...]:
    """Hold the counterparts' favorable rates against their group's own (Proposition 2's consequence).

    By it the net flipset is the difference of the groups' rates; a map whose counterparts are decided
    otherwise than their group makes another one. Off by more than two samples of one group differ by chance
    it fails; by half of what is material, too, it cannot be trusted.
    """
    found = []
    for rate in rates:
        gap = abs(rate.counterparts - rate.group)
        limit = rate_allowance(rate.group, n, m, len(rates))
        found.append(
            _check(
                f"Counterparts get the decision as often as {people_in(rate.name)}",
                gap,
                limit,
                gap > material / 2,
                f"its counterparts among {people_in(rate.name)} are decided favorably in "
                f"{percent(rate.counterparts, n)}, where {people_in(rate.name)} are in "
                f"{percent(rate.group, m)}: the difference of "
                "the two flipsets is not that of the groups' rates",
            )
        )
    return tuple(found)


def rate_allowance(rate: float, n: float, m: float, looks: int) -> float:
    """How far the rates of two samples of one group differ by chance, 5% over so many looks.

    Of a rate of 0 or 1 it is what a few people make: nobody seen may still be three of them.
    """
    spread = np.sqrt(max(rate * (1 - rate), 3 / min(n, m) * (1 - 3 / max(min(n, m), 4))) * (1 / n + 1 / m))
    return float(norm.isf(0.025 / looks) * spread)


def _both_ways(flips: Flips, sizes: np.ndarray) -> tuple[dict[str, float] | None, dict[str, float] | None]:
    """Shares of source and target people in the flipsets that would be the same people in pairs."""
    if flips.back_positive is None or flips.back_negative is None:
        return None, None
    ours, theirs = sizes[flips.source], sizes[flips.target]

    def share(values: np.ndarray, people: np.ndarray) -> float:
        return float(values @ people / people.sum())

    return (
        {"positive": share(flips.positive, ours), "negative": share(flips.negative, ours)},
        # a hired person mapped to one not hired is, seen from there, not hired mapped to hired
        {"positive": share(flips.back_negative, theirs), "negative": share(flips.back_positive, theirs)},
    )


def _checks(found: Validation, n: float, m: float) -> tuple[Check, ...]:
    allowance = 1.36 * np.sqrt((n + m) / (n * m))  # the 5% point of two samples of one distribution
    least, moved = float(max(KS_LIMIT, allowance)), number(found.distance)
    unlike, gap = max(found.ks.items(), key=lambda item: item[1])
    odd, error = max(found.mse_difference.items(), key=lambda item: abs(item[1]))
    checks = [
        (
            "Counterparts look like the target group", gap, least, True,
            f"after mapping, {unlike} still lies {number(gap)} from the target group's distribution "
            f"(KS distance; at most {number(least)} is accepted)",
        ),
        (
            "People are not moved farther than needed", found.distance,
            _COST_LIMIT * found.exact_distance + 1e-9, True,
            f"it moves people by {moved} on average (mean cost) while exact matching moves them by "
            f"{number(found.exact_distance)}",
        ),
        (
            "Features are related as in the target group", abs(error), _MSE_LIMIT, False,
            f"{odd} is related to the other features differently than in the target group: squared "
            f"error of a linear model {number(error)} off, in squared standard deviations",
        ),
    ]  # fmt: skip
    if found.forward is not None and found.reverse is not None:
        ways = [(found.forward[name], found.reverse[name]) for name in ("positive", "negative")]
        there, back = max(ways, key=lambda pair: abs(pair[0] - pair[1]))
        said = (
            f"the two directions disagree: a flipset of {percent(there, n)} one way is one of "
            f"{percent(back, m)} the other way, but an exact map gives the same both ways"
        )
        checks.append(("Both directions agree", abs(there - back), _WAYS_LIMIT, True, said))
    if (returned := found.composition_error) is not None:
        limit = _RETURN_LIMIT * max(found.distance, found.exact_distance) + 1e-9
        said = (
            f"mapped there and back, people end {number(returned)} from where they started (mean cost; one "
            f"way moves them by {moved})"
        )
        checks.append(("Mapping there and back returns to the start", returned, limit, False, said))
    return tuple(_check(*each) for each in checks)


def _check(name: str, value: float, limit: float, serious: bool, trouble: str) -> Check:
    # shares are sums, and off by rounding
    return Check(name, float(value), float(limit), bool(value <= limit + 1e-9), serious, trouble)


_MAX_PAIRS = 2_600_000_000  # costs looked at: 50,000 x 50,000 different people, half a minute
_MAX_TIGHT = 1_000_000  # pairs held at a time: under L1 two in three pairs of continuous features are tight
_GRID = 2.0**44  # units of all mass: a power of two, so that flows add up exactly
_DIGITS = 6  # of people
_ROUNDING = 1e-11  # of the largest cost; dual values are sums of many costs


def tie_range(compared: Comparison, matched: list[Matching]) -> tuple[float, float] | None:
    """Smallest and largest positive flipset, in people, over all couplings of least cost.

    By Proposition 2 the negative flipset moves along: their difference is the same in all of them.

    Returns
    -------
    (float, float) or None
        Couplings of least cost but for rounding count as cheapest. None where counterparts are no exact
        coupling, where there are more than 2.6 billion pairs to look at, or where more than a million of
        them are tight.

    Notes
    -----
    A coupling is of least cost exactly if it uses only pairs that the dual values make tight
    (complementary slackness); over those the flips are minimized and maximized.
    """
    low = high = 0.0
    for part in matched:
        found = _stratum(compared, part)
        if found is None:
            return None
        people = float(part.source.size.sum())
        low, high = low + people * found[0], high + people * found[1]
    return round(low, _DIGITS), round(high, _DIGITS)  # of a linear program, exact but for its tolerance


def _stratum(compared: Comparison, part: Matching) -> tuple[float, float] | None:
    if part.coupling is None or len(part.source.x) * len(part.target.x) > _MAX_PAIRS:
        return None
    tight = _tight(part, part.coupling, compared.options.cost, compared.encoded.weights)
    if tight is None:
        return None
    row, column = tight
    plan = sparse.coo_array(part.coupling.plan)
    count = len(part.target.x)
    pairs = np.unique(np.concatenate([row * count + column, plan.row * count + plan.col]))
    row, column = np.divmod(pairs, count)
    mass = np.zeros(len(pairs))
    mass[np.searchsorted(pairs, plan.row * count + plan.col)] = plan.data
    one, two, mass = _split(part, row, column, mass, compared.decisions)
    whole = np.rint(_GRID * mass / mass.sum())
    whole[whole.argmax()] += _GRID - whole.sum()
    kept = (np.bincount(one, whole)[one] > 0) & (np.bincount(two, whole)[two] > 0)
    one, two, whole = one[kept], two[kept], whole[kept]
    i, j = (np.unique(end, return_inverse=True)[1] for end in (one, two))
    ends = extreme(np.bincount(i, whole), np.bincount(j, whole), i, j, (one % 2) * (1.0 - two % 2))
    return None if ends is None else (max(ends.low, 0.0), max(ends.high, 0.0))


def _split(
    part: Matching, row: np.ndarray, column: np.ndarray, mass: np.ndarray, decisions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of atoms as pairs of people with the same features and decision, and the mass between them.

    Where scores are columns of the data, or thresholds differ by group, people of one atom are decided
    differently, and which of them gets which counterpart changes no cost. An end is odd where favored.
    """
    ends, shares = [], []
    sides = (
        (part.source, row, np.array([0, 0, 1, 1])),
        (part.target, column, np.array([0, 1, 0, 1])),
    )
    for side, of, favored in sides:
        held = np.bincount(2 * side.of + decisions[side.rows], side.people, 2 * len(side.x)).reshape(-1, 2)
        ends.append(2 * of[:, None] + favored)
        shares.append((held / held.sum(1, keepdims=True))[of][:, favored])
    there = (shares[0] > 0) & (shares[1] > 0)
    each = mass[:, None] * shares[0] * shares[1]
    return ends[0][there], ends[1][there], each[there]


def _tight(
    part: Matching, coupling: Coupling, cost: Cost, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Pairs of atoms whose cost is what their dual values pay; None where there are too many to hold.

    Looking stops at the block in which they become too many, so that memory and time stay bounded.
    """
    u, v = coupling.dual_source, coupling.dual_target
    costs = CostBlocks.build(*scale_points(part.source.x, part.target.x, cost, weights), cost)

    seen: list[int] = []
    nothing = np.empty(0, dtype=np.int64)

    def look(start: int, block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if sum(seen) > _MAX_TIGHT:
            return nothing, nothing
        limit = _ROUNDING * max(float(block.max()), 1e-300)
        block -= u[start : start + len(block), None]
        block -= v
        cheap = block <= limit
        seen.append(int(np.count_nonzero(cheap)))
        if sum(seen) > _MAX_TIGHT:
            return nothing, nothing
        row, column = np.nonzero(cheap)
        return row + start, column

    with threads() as pool:
        found = costs.each(look, pool)
    if sum(seen) > _MAX_TIGHT:
        return None
    return np.concatenate([row for row, _ in found]), np.concatenate([column for _, column in found])
