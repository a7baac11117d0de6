"""A flipset described: its size, who is in it, and how they differ from their counterparts."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from audits.flipset.comparisons.counterfactuals import agreement, causal_match
from audits.flipset.comparisons.marginals import marginals, report, similarity
from audits.flipset.counterparts.generated import PeopleGenerator
from audits.flipset.counterparts.matching import FlipLinks, Flips, Matching, count_flips
from audits.flipset.counterparts.people import Comparison
from audits.flipset.inference import by_chance
from audits.flipset.null_distribution import NullDistribution
from audits.flipset.result import SIDES, Causal, FlipsetPart, Side, Stratum
from audits.stats import Estimate, wilson

__all__ = ["FlipCounts", "causal_part", "flipset_part", "given_matching", "strata_parts"]


@dataclass(frozen=True, eq=False)
class FlipCounts:
    """Everyone's counterparts, the flips they make, and how many chance alone gives."""

    compared: Comparison
    matched: list[Matching]
    flips: Flips
    chance: NullDistribution | None


def flipset_part(found: FlipCounts, name: Side, rng: np.random.Generator) -> FlipsetPart:
    """Describe one flipset: its size, who is in it, and how they differ from their counterparts."""
    links: list[FlipLinks] = getattr(found.flips, f"{name}_links")
    part = _describe_part(found, name, slice(None), links, found.compared.options.level, rng)
    n = float(found.compared.sizes[found.flips.source].sum())
    chance = by_chance(found.chance, 0 if name == "positive" else 1, n, found.compared.options.level)
    return replace(part, expected_by_chance=chance)


def _describe_part(
    found: FlipCounts, name: Side, rows: slice, links: list[FlipLinks], level: float, rng: np.random.Generator
) -> FlipsetPart:
    """Describe the flipset among some of the source people, `rows` of them."""
    compared, source = found.compared, found.flips.source[rows]
    encoded, ours = compared.encoded, compared.sizes[source]
    flipped = getattr(found.flips, name)[rows] * ours
    size = float(flipped.sum())
    within, differs_in = similarity(links, encoded.axes, encoded.scaled)
    return FlipsetPart(
        size=size,
        share=given_matching(size, float(ours.sum()), level),
        expected_by_chance=None,
        transparency=report(links, encoded.axes, rng, draws=compared.options.bootstrap, level=level),
        marginals=marginals(compared.raw.iloc[source], encoded.scaled, flipped, ours, rng),
        within_caliper=within,
        differs_in=differs_in,
    )


def strata_parts(
    found: FlipCounts, strata: tuple[Stratum, ...], rng: np.random.Generator
) -> tuple[Stratum, ...]:
    """Describe both flipsets within each stratum, corrected for how many there are, if there are several."""
    many = len(found.matched)
    if many < 2:
        return strata
    ends = np.cumsum([0, *(len(part.source) for part in found.matched)])
    level = found.compared.options.level / many
    described = []
    for k, (start, stop) in enumerate(itertools.pairwise(ends)):
        parts: dict[str, FlipsetPart] = {}
        for name in SIDES:
            links = [getattr(found.flips, f"{name}_links")[k]]
            part = _describe_part(found, name, slice(start, stop), links, level, rng)
            corrected = tuple(
                item
                if item.adjusted_p is None
                else replace(item, adjusted_p=min(1.0, many * item.adjusted_p))
                for item in part.marginals
            )
            parts[name] = replace(part, marginals=corrected)
        described.append(replace(strata[k], positive=parts["positive"], negative=parts["negative"]))
    return tuple(described)


def given_matching(size: float, n: float, level: float) -> Estimate:
    """Share of source people, with the range that drawing other people of them gives, counterparts kept."""
    share = wilson(size, n, level=level)
    return replace(share, method=f"{share.method}, given this matching")


def causal_part(found: FlipCounts, rng: np.random.Generator) -> Causal | None:
    """Count the flipsets of the true counterfactuals, where columns of the data hold them."""
    compared = found.compared
    columns = compared.options.counterfactuals
    if not columns:
        return None
    lives = causal_match(PeopleGenerator(compared), found.matched, columns)
    others = FlipCounts(compared, lives, count_flips(compared, lives), None)
    return Causal(
        flipset_part(others, "positive", rng),
        flipset_part(others, "negative", rng),
        agreement(found.flips, others.flips, compared.sizes, compared.options.level),
    )
