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
from audits.flipset.counterparts.generated import PeopleGenerator, map_match
from audits.flipset.counterparts.matching import Flips, Matching, count_flips, match
from audits.flipset.counterparts.people import Comparison, compare
from audits.flipset.counterparts.stability import repeat
from audits.flipset.counterparts.validation import tie_range, validate
from audits.flipset.description import FlipCounts, causal_part, flipset_part, given_matching, strata_parts
from audits.flipset.inference import LOOKS, differences_at, judge_flips, levels_of, strata_of
from audits.flipset.null_distribution import measure
from audits.flipset.options import FlipsetOptions, map_options, repeat_seconds
from audits.flipset.people_tables import people_tables
from audits.flipset.result import SIDES, FlipsetResult, Reverse
from audits.flipset.text import (
    disagreeing,
    distrust,
    finding,
    stability_sentences,
    tie_words,
    unmatched_words,
    warnings_for,
)
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.records import says_what_it_lacks
from audits.results import Optimum
from audits.stats import wilson
from audits.transport import estimated_seconds

__all__ = ["flipset"]


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
    found = FlipCounts(compared, matched, flips, chance)
    progress(0.85, "Comparing people with the same features")
    members = levels_of(compared, flips)
    levels = differences_at(compared, flips, members)
    covered = {each.name: members[each.name] for each in levels if each.covered and each.comparable}
    alike = (
        None if chance is None else conditional_test(compared, matched, covered, options.level / LOOKS, rng)
    )
    progress(0.9, "Comparing flipped people with their counterparts")
    positive, negative = (flipset_part(found, side, rng) for side in SIDES)
    causal, apart = causal_part(found, rng), rng.spawn(1)[0]  # so that other draws stay what they were
    strata = strata_parts(found, strata_of(compared, matched, flips), apart)
    progress(0.94, "Checking the counterparts")
    checked = validate(compared, matched, flips, rng)
    progress(0.97, "Writing the people's table")
    tables = people_tables(compared, matched, flips, rng)
    again, often = repeat(compared, matched, rng.spawn(1)[0], part(progress, 0.97, 0.98))
    if again is not None:
        tables["people"] = tables["people"].assign(**{str(name): often[name].array for name in often})
    progress(0.98, "Looking for matchings that fit equally well")
    judgment = judge_flips(compared, matched, strata, chance, alike, levels, checked)
    ties, at_values = tie_range(compared, matched), same_values(compared, flips)
    ours, theirs = compared.sizes[flips.source], compared.sizes[flips.target]
    h, g = compared.decisions[flips.source], compared.decisions[flips.target]
    n, m, chosen = float(ours.sum()), float(theirs.sum()), compared.chosen
    larger = positive if positive.size > negative.size else negative
    passes = disagreeing_value(at_values, judgment.net, larger)
    unmatched = None
    if options.transport == "unbalanced":
        unmatched = wilson(float((1 - flips.found) @ ours), n, level=options.level)
    return FlipsetResult(
        options=dataclasses.asdict(options),
        source=chosen.source,
        target=chosen.target,
        outcome=subject.outcome,
        judged=judgment.judged,
        finding=finding(compared, n, positive, negative, judgment),
        warnings=(
            *distrust(checked),
            *chosen.warnings,
            *tie_words(ties, options.transport),
            *stability_sentences(again),
            *unmatched_words(unmatched, chosen.source, n),
            *warnings_for(judgment, options, n, h, g),
        ),
        n_source=n,
        n_target=m,
        rows={"audited": subject.data.n, "used": len(ours) + len(theirs), "left_out": chosen.left_out},
        positive=positive,
        negative=negative,
        net=judgment.net,
        source_rate=wilson(float(ours @ h), n, level=options.level),
        target_rate=wilson(float(theirs @ g), m, level=options.level),
        noise=judgment.noise,
        above_chance=judgment.above,
        strata=strata,
        reverse=_reverse(flips, theirs, m, options.level) if options.reverse else None,
        validation=checked,
        certificate=_certificate(matched, n),
        features=compared.encoded.columns,
        same_values=at_values,
        disagreement=disagreeing(passes, judgment.net, chosen.source, chosen.target) if passes else None,
        tie_range=ties,
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
        if compared.options.transport == "exact":
            found.append(match(compared, value, ours, theirs, report))
        else:
            found.append(map_match(compared, value, ours, theirs, rng, report))
    return found


def _reverse(flips: Flips, theirs: np.ndarray, m: float, level: float) -> Reverse | None:
    if flips.back_positive is None or flips.back_negative is None:
        return None
    positive, negative = float(flips.back_positive @ theirs), float(flips.back_negative @ theirs)
    return Reverse(
        n=m,
        positive=given_matching(positive, m, level),
        negative=given_matching(negative, m, level),
        positive_size=positive,
        negative_size=negative,
    )


def _certificate(matched: list[Matching], n: float) -> Optimum:
    share = [float(item.source_size.sum()) / n for item in matched]
    slack = [item.slack for item in matched if item.slack is not None]
    return Optimum(
        cost=sum(w * item.cost for w, item in zip(share, matched, strict=True)),
        slack=sum(w * gap for w, gap in zip(share, slack, strict=True)) if slack else None,
        method=", ".join(sorted({item.method for item in matched})),
    )
