"""Can the counterparts be trusted? The checks of section 5.1 and Appendix D, with plain limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from audits.flipset.counting import Flips
from audits.flipset.matching import Matched
from audits.stats.words import number, percent
from audits.transport import Cost
from audits.transport.maps import exact_cost, ks_distances, regression_gaps

__all__ = ["KS_LIMIT", "validate"]

KS_LIMIT = 0.20  # the largest KS distance of any map that the paper reports (Table 3)
_MSE_LIMIT = 0.5  # all but 3 of the 39 differences of Table 3 lie within
_COST_LIMIT = 1.5  # times the exact coupling's; the paper's maps cost 0.80 to 1.01 of it
_WAYS_LIMIT = 0.10  # share of people by which the two directions may disagree
_RETURN_LIMIT = 1.0  # there and back ends nearer than one way went


def validate(
    matched: list[Matched],
    flips: Flips,
    sizes: np.ndarray,
    names: list[str],
    columns: list[int],
    *,
    learned: bool,
    cost: Cost,
    weights: np.ndarray,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Compare target people with the counterparts that source people got.

    Parameters
    ----------
    names, columns : lists (k,)
        Names and encoded columns of the features to report on.
    learned : bool
        Whether counterparts come from a map; an exact coupling needs no proof but its certificate.

    Returns
    -------
    dict
        ``ks``: per feature the largest gap of the two cumulative distributions, in [0, 1];
        ``mse_difference``: per feature, mean squared error of a linear model of the target group, which
        predicts the feature from the others, on counterparts minus on target people, in standardised
        units; ``distance`` and ``exact_distance``: mean cost, which agree for an exact coupling (for a map,
        the latter is between at most 2,000 people a group); ``composition_error``: mean cost between people
        and where they land when mapped there and back, None where the way back was not fitted;
        ``forward`` and ``reverse``: shares of the flipsets that Appendix D holds against each other;
        ``checks``: what was held against which limit; ``trusted``: whether no serious one failed.

        With several strata the checks hold each stratum's counterparts against its own target people and
        average over source people. Where transport may leave people unmatched, both sides are the matched.
    """
    total = sum(float(part.source_size.sum()) for part in matched)
    ks, mse = np.zeros(len(names)), np.zeros(len(names))
    distance = exact = composition = 0.0
    for part in matched:
        share = float(part.source_size.sum()) / total
        got = (part.source_size * part.there.found) @ part.there.shares
        wanted = part.there.weights
        z, y = part.there.points[:, columns], part.y[:, columns]
        ks += share * ks_distances(z, y, got, wanted)
        mse += share * regression_gaps(y, z, b=wanted, a=got)
        distance += share * part.cost
        composition += share * (part.composition or 0.0)
        exact += share * (
            part.cost
            if not learned
            else exact_cost(
                part.x,
                part.y,
                cost=cost,
                a=part.source_size,
                b=part.target_size,
                feature_weights=weights,
                rng=rng,
            )
        )
    found: dict[str, Any] = {
        "ks": dict(zip(names, ks.tolist(), strict=True)),
        "mse_difference": dict(zip(names, mse.tolist(), strict=True)),
        "distance": distance,
        "exact_distance": exact,
        "composition_error": composition if all(part.composition is not None for part in matched) else None,
        **_both_ways(flips, sizes),
    }
    found["checks"] = _checks(found, sizes[flips.source].sum(), sizes[flips.target].sum()) if learned else []
    found["trusted"] = all(check["passed"] or not check["serious"] for check in found["checks"])
    return found


def _both_ways(flips: Flips, sizes: np.ndarray) -> dict[str, Any]:
    """Shares of source and target people in the flipsets that would be the same people in pairs."""
    if flips.back_positive is None or flips.back_negative is None:
        return {"forward": None, "reverse": None}
    ours, theirs = sizes[flips.source], sizes[flips.target]

    def share(values: np.ndarray, people: np.ndarray) -> float:
        return float(values @ people / people.sum())

    return {
        "forward": {"positive": share(flips.positive, ours), "negative": share(flips.negative, ours)},
        # a hired person mapped to one not hired is, seen from there, not hired mapped to hired
        "reverse": {
            "positive": share(flips.back_negative, theirs),
            "negative": share(flips.back_positive, theirs),
        },
    }


def _checks(found: dict[str, Any], n: float, m: float) -> list[dict[str, Any]]:
    allowance = 1.36 * np.sqrt((n + m) / (n * m))  # the 5 % point of two samples of one distribution
    feature, gap = max(found["ks"].items(), key=lambda item: item[1])
    limit = float(max(KS_LIMIT, allowance))
    checks = [
        _check(
            "Counterparts look like the target group",
            gap,
            limit,
            True,
            f"after mapping, {feature} still lies {number(gap)} from the target group's distribution "
            f"(KS distance; at most {number(limit)} is accepted)",
        ),
        _check(
            "People are not moved farther than needed",
            found["distance"],
            _COST_LIMIT * found["exact_distance"] + 1e-9,
            True,
            f"it moves people by {number(found['distance'])} on average (mean cost) where exact matching "
            f"moves them by {number(found['exact_distance'])}",
        ),
    ]
    feature, gap = max(found["mse_difference"].items(), key=lambda item: abs(item[1]))
    checks.append(
        _check(
            "Features hang together as in the target group",
            abs(gap),
            _MSE_LIMIT,
            False,
            f"{feature} hangs together with the other features differently than in the target group: squared "
            f"error of a linear model {number(gap)} off, in squared standard deviations",
        )
    )
    if found["forward"] is not None:
        ways = [(found["forward"][name], found["reverse"][name]) for name in ("positive", "negative")]
        there, back = max(ways, key=lambda pair: abs(pair[0] - pair[1]))
        checks.append(
            _check(
                "Both directions tell the same",
                abs(there - back),
                _WAYS_LIMIT,
                True,
                f"the two directions disagree: a flipset of {percent(there, n)} one way is one of "
                f"{percent(back, m)} the other way, where an exact map has the same",
            )
        )
    if found["composition_error"] is not None:
        checks.append(
            _check(
                "There and back ends where it began",
                found["composition_error"],
                _RETURN_LIMIT * max(found["distance"], found["exact_distance"]) + 1e-9,
                False,
                f"mapped there and back, people end {number(found['composition_error'])} from where they "
                f"began (mean cost; one way moves them by {number(found['distance'])})",
            )
        )
    return checks


def _check(name: str, value: float, limit: float, serious: bool, trouble: str) -> dict[str, Any]:
    return {
        "check": name,
        "value": float(value),
        "limit": float(limit),
        "passed": bool(value <= limit + 1e-9),  # shares are sums, and off by rounding
        "serious": serious,
        "trouble": trouble,
    }
