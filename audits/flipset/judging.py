"""From counts to estimates, chance level and verdict."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from audits.flipset.counting import Flips
from audits.flipset.matching import Matched
from audits.flipset.noise import NullFlips
from audits.flipset.options import FlipsetOptions
from audits.flipset.parts import Noise, Stratum
from audits.stats import (
    INSUFFICIENT,
    POWER,
    Estimate,
    Verdict,
    newcombe,
    p_value,
    people_needed,
    power_of_difference,
    verdict,
    weighted_sum,
)
from audits.stats.intervals import cautious_difference

__all__ = ["Judgement", "chance", "judge"]


@dataclass(frozen=True)
class Judgement:
    """Net difference, chance level, verdict and the people needed for a better one."""

    net: Estimate
    strata: tuple[Stratum, ...]
    noise: Noise | None
    verdict: Verdict
    people_needed: int | None


def judge(
    matched: list[Matched],
    flips: Flips,
    decisions: np.ndarray,
    sizes: np.ndarray,
    null: NullFlips | None,
    options: FlipsetOptions,
) -> Judgement:
    """Hold flips against no difference, in two looks that share the level.

    The net flipset (by Proposition 2 a difference of two shares) is held against 0 with everybody; the
    larger flipset is held against permuted group membership, which also sees flips that cancel.
    """
    looks = 1 if null is None else 2
    level = options.level / looks
    strata = _strata(matched, flips, decisions, sizes, level)
    n, m = sum(item.n_source for item in strata), sum(item.n_target for item in strata)
    net = strata[0].net
    if len(strata) > 1:
        net = weighted_sum([item.net for item in strata], [item.n_source / n for item in strata])
    elif net.value is not None:
        part = matched[0]
        counts = (float(sizes[side] @ decisions[side]) for side in (part.source, part.target))
        net = cautious_difference(next(counts), n, next(counts), m, level=level)
    noise = None if null is None else _noise(null)
    seen = net.low is not None and net.high is not None and (net.low > 0 or net.high < 0)
    if noise is not None:
        seen = seen or noise.p_value <= level
    favored = sizes[flips.source] @ decisions[flips.source] + sizes[flips.target] @ decisions[flips.target]
    overall = float(favored / (n + m))
    power = power_of_difference(overall, options.material, n, m, level=level)
    chance_power = 1.0 if null is None else _power_of_permutations(null, options.material, level)
    judged = verdict(excludes_no_difference=seen, power=min(power, chance_power))
    # more people help only where people are what is missing, not permutations
    short = judged == INSUFFICIENT and power < POWER
    needed = people_needed(overall, options.material, level=level) if short else None
    return Judgement(net, strata, noise, judged, needed)


def chance(null: NullFlips | None, direction: int, n: float, level: float) -> Estimate | None:
    """People expected to flip by chance among `n`, with the range of the permutations."""
    if null is None:
        return None
    people = null.null[:, direction] * n
    low, high = np.quantile(people, [level / 2, 1 - level / 2])
    method = (
        f"{len(people)} permutations of group membership, {null.method}, {null.n_source:,} and "
        f"{null.n_target:,} people; "
        f"{100 * (1 - level):.4g} % of them lie in the range"
    )
    return Estimate(float(people.mean()), float(low), float(high), n, method)


def _strata(
    matched: list[Matched], flips: Flips, decisions: np.ndarray, sizes: np.ndarray, level: float
) -> tuple[Stratum, ...]:
    found = []
    start = 0
    for part in matched:
        ours, theirs = sizes[part.source], sizes[part.target]
        here = slice(start, start + len(part.source))
        start = here.stop
        found.append(
            Stratum(
                value=part.value,
                n_source=float(ours.sum()),
                n_target=float(theirs.sum()),
                positive_size=float(flips.positive[here] @ ours),
                negative_size=float(flips.negative[here] @ ours),
                net=newcombe(
                    float(ours @ decisions[part.source]),
                    float(ours.sum()),
                    float(theirs @ decisions[part.target]),
                    float(theirs.sum()),
                    level=level,
                ),
                cost=part.cost,
                slack=part.slack,
            )
        )
    return tuple(found)


def _noise(null: NullFlips) -> Noise:
    larger = null.null.max(1)
    observed = float(null.observed.max())
    return Noise(
        permutations=len(larger),
        method=null.method,
        n_source=null.n_source,
        n_target=null.n_target,
        observed=observed,
        null_quantiles={f"{q:g}": float(np.quantile(larger, q)) for q in (0.025, 0.5, 0.95, 0.975)},
        p_value=p_value(observed, larger),
    )


def _power_of_permutations(null: NullFlips, material: float, level: float) -> float:
    """Chance that the permutation test sees `material` more flips than chance gives, at its own size."""
    larger = null.null.max(1)
    if 1 / (len(larger) + 1) > level:
        return 0.0  # too few permutations to ever fall below the level
    reach = larger.mean() + material - np.quantile(larger, 1 - level)
    spread = max(float(larger.std()), 0.5 / np.sqrt(null.n_source))
    return float(norm.cdf(reach / spread))
