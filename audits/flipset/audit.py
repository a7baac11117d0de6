"""The flipset audit: check, match, count, compare with chance, and put the result together."""

from __future__ import annotations

import dataclasses

import numpy as np

from audits.checks import generator
from audits.flipset.comparisons.conditional_test import conditional_test
from audits.flipset.comparisons.counterfactuals import (
    check_counterfactuals,
    class_changes,
    disagreeing_value,
    same_values,
    score_change,
)
from audits.flipset.counterparts.generated import PeopleGenerator, match_people
from audits.flipset.counterparts.matching import Matching, count_flips
from audits.flipset.counterparts.people import Comparison, compare
from audits.flipset.counterparts.stability import repeat
from audits.flipset.counterparts.validation import tie_range, validate
from audits.flipset.description import causal_part, flipset_part, noise_of, reverse_part, strata_parts
from audits.flipset.inference import LOOKS, differences_at, judge_flips, levels_of
from audits.flipset.null_distribution import measure
from audits.flipset.options import FlipsetOptions, map_options, repeat_seconds
from audits.flipset.people_tables import people_tables
from audits.flipset.result import WAYS, FlipsetResult
from audits.flipset.text import disagreeing, distrust, finding, warnings_of
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.records import says_what_it_lacks
from audits.results import Optimum
from audits.stats import wilson
from audits.transport import estimated_seconds


@says_what_it_lacks
def flipset(
    subject: Subject,
    options: FlipsetOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> FlipsetResult:
    """Find the people whose decision differs from that of their counterparts in another group.

    Parameters
    ----------
    subject : Subject
        Data, model and threshold under audit.
    options : FlipsetOptions
        The two groups, and how they are compared.
    rng : Generator, int or None
        Draws of the bootstrap, the permutations and a subsample; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Returns
    -------
    FlipsetResult
        Flipsets of equal size say demographic parity; two empty ones say that everyone is decided as
        their counterparts are.

    Raises
    ------
    InputError
        A group is empty, overlaps the other or has one person; an option is out of its range; a map is to
        invent people and the decisions are a column of the data.
    RunFailed
        Training of a map diverged.

    Notes
    -----
    Definitions 1 and 2 of Black, Yeom, Fredrikson (2020). A source person i whose counterparts are
    decided favorably with share g_i is in the positive flipset with share h_i (1 - g_i) and in the
    negative one with share (1 - h_i) g_i.
    """
    rng = generator(rng)
    map_options(options)  # what is wrong with them is said before anything is computed
    compared = compare(subject, options, rng, progress)
    if options.counterfactuals:
        check_counterfactuals(PeopleGenerator(compared), options.counterfactuals)
    share = 0.05 + 0.8 * _matching_share(compared)
    matched = _match_all(compared, rng, part(progress, 0.05, share))
    flips = count_flips(compared, matched)
    chance = measure(compared, matched, rng, part(progress, share, 0.85))
    progress(0.85, "Comparing people with the same features")
    members = levels_of(compared, flips)
    levels = differences_at(compared, flips, members)
    covered = {each.name: members[each.name] for each in levels if each.covered and each.comparable}
    alike = (
        None if chance is None else conditional_test(compared, matched, covered, options.level / LOOKS, rng)
    )
    progress(0.9, "Comparing flipped people with their counterparts")
    positive, negative = (flipset_part(compared, flips, side, rng, chance=chance) for side in WAYS)
    causal = causal_part(compared, matched, flips, rng)
    strata = strata_parts(compared, matched, flips, rng.spawn(1)[0])  # other draws stay what they were
    progress(0.94, "Checking the counterparts")
    checked = validate(compared, matched, flips, rng)
    progress(0.97, "Writing the people's table")
    tables = people_tables(compared, matched, flips, rng)
    again, often = repeat(compared, matched, rng.spawn(1)[0], part(progress, 0.97, 0.98))
    tables["people"] = tables["people"].assign(**often)
    progress(0.98, "Looking for matchings that fit equally well")
    net, above, judged = judge_flips(compared, matched, strata, chance, alike, levels, checked)
    same, chosen = same_values(compared, flips), compared.chosen
    passes = disagreeing_value(same, net, positive if positive.size > negative.size else negative)
    (h, n), (g, m) = (
        (float(compared.sizes[side] @ compared.decisions[side]), float(compared.sizes[side].sum()))
        for side in (flips.source, flips.target)
    )
    unmatched = None
    if options.transport == "unbalanced":
        left = float((1 - flips.found) @ compared.sizes[flips.source])
        unmatched = wilson(left, n, level=options.level)
    found = FlipsetResult(
        options=dataclasses.asdict(options),
        source=chosen.source,
        target=chosen.target,
        outcome=subject.outcome,
        judged=judged,
        finding="",
        warnings=chosen.warnings,
        n_source=n,
        n_target=m,
        rows={
            "audited": subject.data.n,
            "used": len(flips.source) + len(flips.target),
            "left_out": chosen.left_out,
        },
        positive=positive,
        negative=negative,
        net=net,
        source_rate=wilson(h, n, level=options.level),
        target_rate=wilson(g, m, level=options.level),
        noise=None if chance is None else noise_of(chance),
        above_chance=above,
        strata=strata,
        reverse=reverse_part(compared, flips) if options.reverse else None,
        validation=checked,
        certificate=_certificate(matched, n),
        features=compared.encoded.columns,
        same_values=same,
        disagreement=disagreeing(passes, net, chosen.source, chosen.target) if passes else None,
        tie_range=tie_range(compared, matched),
        score_change=score_change(compared, matched),
        training=tuple(
            {"map": name, **point._asdict()}
            for item in matched
            for name, points in item.curves.items()
            for point in points
        ),
        unmatched=unmatched,
        levels=levels,
        not_compared=chosen.not_compared,
        causal=causal,
        again=again,
        classes=class_changes(compared, matched),
        **tables,
    )
    return dataclasses.replace(
        found, finding=finding(found, compared.limit), warnings=(*distrust(checked), *warnings_of(found))
    )


def _matching_share(compared: Comparison) -> float:
    """Part of the work that is matching everyone, the rest being permutations: for honest progress."""
    options, strata, width = compared.options, compared.chosen.strata, compared.width
    if options.transport != "exact":
        return 0.8
    full = sum(estimated_seconds(len(ours), len(theirs), width) for _, ours, theirs in strata)
    n, m = (sum(len(item[side]) for item in strata) for side in (1, 2))
    chance = options.permutations * repeat_seconds(options, n, m, width, invents=False)
    return full / (full + min(chance, options.seconds))


def _match_all(compared: Comparison, rng: np.random.Generator, progress: Progress) -> list[Matching]:
    """Find everyone's counterparts, stratum by stratum."""
    steps = np.linspace(0, 1, len(compared.chosen.strata) + 1)
    found = []
    for k, (value, ours, theirs) in enumerate(compared.chosen.strata):
        report = part(progress, steps[k], steps[k + 1])
        found.append(match_people(compared, value, ours, theirs, rng, report))
    return found


def _certificate(matched: list[Matching], n: float) -> Optimum:
    share = [float(item.source.size.sum()) / n for item in matched]
    slack = [item.slack for item in matched if item.slack is not None]
    return Optimum(
        cost=sum(w * item.cost for w, item in zip(share, matched, strict=True)),
        slack=sum(w * gap for w, gap in zip(share, slack, strict=True)) if slack else None,
        method=", ".join(sorted({item.method for item in matched})),
    )
