"""A flipset described: its size, who is in it, and how they differ from their counterparts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from audits.flipset.comparisons.counterfactuals import agreement, causal_match
from audits.flipset.comparisons.marginals import marginals, report, similarity
from audits.flipset.counterparts.generated import PeopleGenerator
from audits.flipset.counterparts.matching import FlipLinks, Flips, Matching, count_flips
from audits.flipset.counterparts.people import Comparison
from audits.flipset.inference import equal_rates, rate_counts
from audits.flipset.null_distribution import NullDistribution
from audits.flipset.result import WAYS, Causal, FlipsetPart, Noise, Reverse, Stratum, Way
from audits.stats import Estimate, holm, newcombe, wilson

_BINS = 16  # of the null distribution


def flipset_part(
    compared: Comparison,
    flips: Flips,
    name: Way,
    rng: np.random.Generator,
    *,
    chance: NullDistribution | None = None,
    stratum: int | None = None,
    looks: int = 1,
) -> FlipsetPart:
    """Describe one flipset: its size, who is in it, and how they differ from their counterparts.

    Parameters
    ----------
    stratum : int, optional
        The place of the one it is described in; all of them by default.
    looks : int
        How many are described: they share the level.
    """
    links: list[FlipLinks] = getattr(flips, f"{name}_links")
    rows = slice(None)
    if stratum is not None:
        links, rows = [links[stratum]], flips.strata[stratum]
    source, encoded, level = flips.source[rows], compared.encoded, compared.options.level / looks
    ours = compared.sizes[source]
    flipped = getattr(flips, name)[rows] * ours
    size, n = float(flipped.sum()), float(ours.sum())
    within, differs_in = similarity(links, encoded.axes, encoded.scaled)
    report_lines = report(links, encoded.axes, rng, draws=compared.options.bootstrap, level=level)
    found = marginals(compared.raw.iloc[source], encoded.scaled, flipped, ours, rng)
    return FlipsetPart(
        size=size,
        share=_given_matching(size, n, level),
        expected_by_chance=_by_chance(chance, WAYS.index(name), n, level),
        transparency=report_lines,
        marginals=tuple(
            item if item.adjusted_p is None else replace(item, adjusted_p=min(1.0, looks * item.adjusted_p))
            for item in found
        ),
        within_caliper=within,
        differs_in=differs_in,
    )


def _by_chance(chance: NullDistribution | None, direction: int, n: float, level: float) -> Estimate | None:
    """People expected to flip by chance among `n`, with the range of the permutations."""
    if chance is None:
        return None
    people = chance.null[:, 0, direction] * n
    low, high = np.quantile(people, [level / 2, 1 - level / 2])
    method = (
        f"{len(people)} permutations of group membership, {chance.method}, {chance.people[0]:,} and "
        f"{chance.people[1]:,} people; "
        f"{100 * (1 - level):.4g}% of them lie in the range"
    )
    return Estimate(float(people.mean()), float(low), float(high), n, method)


def _given_matching(size: float, n: float, level: float) -> Estimate:
    """Share of source people, with the range that drawing other people of them gives, counterparts kept."""
    share = wilson(size, n, level=level)
    return replace(share, method=f"{share.method}, given this matching")


def strata_parts(
    compared: Comparison, matched: list[Matching], flips: Flips, rng: np.random.Generator
) -> tuple[Stratum, ...]:
    """Describe every stratum by itself: people, flips, rates, and what its matching costs.

    Where there are several, both flipsets within each, too, corrected for how many there are.
    """
    many, found = len(matched), []
    adjusted = holm(np.array([equal_rates(*rate_counts(compared, part))[2] for part in matched]))
    for k, (part, rows, p) in enumerate(zip(matched, flips.strata, adjusted, strict=True)):
        ours, counts = part.source.people, rate_counts(compared, part)
        described = {
            name: flipset_part(compared, flips, name, rng, stratum=k, looks=many)
            for name in (WAYS if many > 1 else ())
        }
        found.append(
            Stratum(
                value=part.value,
                n_source=counts[1],
                n_target=counts[3],
                positive_size=float(flips.positive[rows] @ ours),
                negative_size=float(flips.negative[rows] @ ours),
                net=newcombe(*counts, level=compared.options.level),
                cost=part.cost,
                slack=part.slack,
                adjusted_p=float(p),
                **described,
            )
        )
    return tuple(found)


def reverse_part(compared: Comparison, flips: Flips) -> Reverse | None:
    """Count the flips of the target group's people towards the source; None where nobody was matched back."""
    if flips.back_positive is None or flips.back_negative is None:
        return None
    theirs, level = compared.sizes[flips.target], compared.options.level
    n = float(theirs.sum())
    sizes = float(flips.back_positive @ theirs), float(flips.back_negative @ theirs)
    positive, negative = (_given_matching(size, n, level) for size in sizes)
    return Reverse(n, positive, negative, *sizes)


def causal_part(
    compared: Comparison, matched: list[Matching], flips: Flips, rng: np.random.Generator
) -> Causal | None:
    """Count the flipsets of the true counterfactuals, where columns of the data hold them."""
    columns = compared.options.counterfactuals
    if not columns:
        return None
    others = count_flips(compared, causal_match(PeopleGenerator(compared), matched, columns))
    positive, negative = (flipset_part(compared, others, name, rng) for name in WAYS)
    same = agreement(flips, others, compared.sizes, compared.options.level)
    return Causal(positive, negative, same)


def noise_of(chance: NullDistribution) -> Noise:
    """Describe the larger flips when membership says nothing."""
    larger = chance.null[:, 0].max(1)
    counts, edges = np.histogram(larger.round(12), bins=_BINS)  # of shares alike but for rounding
    return Noise(
        permutations=len(larger),
        method=chance.method,
        n_source=int(chance.people[0]),
        n_target=int(chance.people[1]),
        observed=float(chance.larger[0]),
        null_quantiles={f"{q:g}": float(np.quantile(larger, q)) for q in (0.025, 0.5, 0.95, 0.975)},
        p_value=float(chance.p_values[0]),
        histogram={"edges": edges.tolist(), "permutations": counts.astype(float).tolist()},
    )
