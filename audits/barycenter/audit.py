"""The barycenter audit: check, find where all groups meet, count flips, compare with chance, pack."""

from __future__ import annotations

import dataclasses

import numpy as np

from audits.barycenter.barycenters import Barycenter, against_everybody, least_spread, meet
from audits.barycenter.inference import (
    differing,
    judge_groups,
    levels_of_groups,
    net_differences,
    rates,
)
from audits.barycenter.null_distribution import MAX_SHUFFLED, measure
from audits.barycenter.options import BarycenterOptions
from audits.barycenter.people import GroupComparison, compare
from audits.barycenter.people_tables import marginals, people_tables, transparency
from audits.barycenter.result import AgainstEverybody, BarycenterResult, GroupFlips, Nearness
from audits.barycenter.text import chance_words, finding, warnings_for
from audits.checks import generator
from audits.data.values import MISSING
from audits.flipset.counterparts.matching import Group
from audits.flipset.null_distribution import NullDistribution
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.records import says_what_it_lacks
from audits.stats import as_people, worst_of


@says_what_it_lacks
def barycenter(
    subject: Subject,
    options: BarycenterOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> BarycenterResult:
    """Find whose decision differs from that of their counterparts in all other groups.

    Parameters
    ----------
    subject : Subject
        Data, model and threshold under audit.
    options : BarycenterOptions
        The groups, and how they are compared.
    rng : Generator, int or None
        Permutations and samples; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Returns
    -------
    BarycenterResult
        A group with as many flips one way as the other is favored as often as the others; one without any
        is decided as its counterparts are.

    Raises
    ------
    InputError
        Fewer than two groups are large enough, an attribute is not protected, or no feature is left to match
        on.
    """
    rng = generator(rng)
    compared = compare(subject, options, rng, progress)
    groups, matching = compared.groups, part(progress, 0.05, 0.35)
    met = meet(groups, compared.shares, rounds=options.rounds, cost=compared.cost, progress=matching)
    least = met.spread
    if len(groups) > 2 and compared.points.shape[1] > 1:
        least = min(least, least_spread(groups, compared.shares, part(progress, 0.35, 0.4)))
    reached = met.others(groups, compared.favored, compared.shares)
    chance = measure(compared, rng.spawn(1)[0], part(progress, 0.4, 0.9))
    progress(0.9, "Comparing rates and features")
    differ_p, feature = (None, "") if chance is None else differing(compared, rng.spawn(1)[0])
    progress(0.95, "Writing the people's table")
    people, counterparts = people_tables(compared, met, reached)
    everybody = against_everybody(groups, compared.favored, compared.shares, compared.cost)
    told = _groups(compared, met, (reached, everybody), chance, differ_p, rng.spawn(1)[0])
    rests_on = worst_of(each.judged for each in told)
    size = rests_on.badge, rests_on.material
    alike = [
        part
        for part in told
        if (part.judged.badge, part.judged.material) == size and MISSING not in part.group
    ]
    if alike:  # as sure of people whose group is known
        rests_on = worst_of(part.judged for part in alike)
    worst = next(each for each in told if each.judged is rests_on)
    at_once = 0 if chance is None or chance.everybody else int(chance.people.sum())
    nearness = Nearness(met.spread, least, met.rounds, len(met.mass))
    return BarycenterResult(
        options=dataclasses.asdict(options),
        by=compared.by,
        outcome=subject.outcome,
        judged=rests_on,
        rests_on=worst.group,
        finding=finding(worst, told, compared.by, compared.limit, at_once),
        warnings=(*compared.warnings, *warnings_for(told, nearness)),
        rows={"audited": subject.data.n, "used": len(compared.rows), "left_out": compared.left_out},
        n=float(compared.n.sum()),
        groups=told,
        reference_rate=float(
            sum(share * (each.rate.value or 0.0) for share, each in zip(compared.shares, told, strict=True))
        ),
        nearness=nearness,
        differ_p=differ_p,
        feature=feature,
        chance=chance_words(chance, options),
        who=marginals(compared, people, rng.spawn(1)[0]),
        people=people,
        counterparts=counterparts,
        transparency=transparency(compared, met, rng.spawn(1)[0]),
        cost=compared.cost,
    )


def _groups(
    compared: GroupComparison,
    met: Barycenter,
    reached: tuple[list[np.ndarray], list[np.ndarray]],
    chance: NullDistribution | None,
    differ_p: float | None,
    rng: np.random.Generator,
) -> tuple[GroupFlips, ...]:
    """Every group's flips, against the others and against everyone, chance and verdict."""
    nets, levels = net_differences(compared), levels_of_groups(compared)
    judged = judge_groups(compared, chance, differ_p, nets, levels)
    favored, distances = rates(compared, compared.options.level), met.distances(compared.groups)
    drawn = _distances_by_chance(compared, rng)
    found = []
    for k, (group, h) in enumerate(zip(compared.groups, compared.favored, strict=True)):
        net, share, people = nets[k], float(compared.shares[k]), group.weights
        ways = [
            (float(people @ (h * (1 - g))), float(people @ ((1 - h) * g)))
            for g in (each[k] for each in reached)
        ]
        # the others are everyone but the group: what lies between is a part of the way
        ends = [None if end is None else (1 - share) * end for end in (net.value, net.low, net.high)]
        part_of_it = dataclasses.replace(net, value=ends[0], low=ends[1], high=ends[2])
        found.append(
            GroupFlips(
                group=compared.names[k],
                people=float(compared.n[k]),
                share=share,
                rate=favored[k],
                only_self=ways[0][0],
                only_counterpart=ways[0][1],
                net=net,
                larger=None if chance is None else float(chance.larger[k]),
                by_chance=None if chance is None else float(chance.expected[k]),
                excess=judged[k][0],
                p_value=None if chance is None else float(chance.p_values[k]),
                distance=float(distances[k]),
                distance_by_chance=float(drawn[k]),
                judged=judged[k][1],
                everybody=AgainstEverybody(*ways[1], part_of_it),
                levels=levels[k],
            )
        )
    return tuple(found)


def _distances_by_chance(compared: GroupComparison, rng: np.random.Generator) -> np.ndarray:
    """Distance (k,) of each group from the barycenter, membership of people permuted once."""
    rows, each = as_people(compared.sizes, most=MAX_SHUFFLED)
    mixed, held = rng.permutation(len(rows)), compared.group[rows]
    points, sides = compared.points[rows], (mixed[held == k] for k in range(len(compared.names)))
    groups = [Group.build(side, points, each) for side in sides]
    return meet(groups, compared.shares, rounds=0, cost=compared.cost).distances(groups)
