"""The flipset audit: check, match, count, compare with chance, pack."""

from __future__ import annotations

import numpy as np

from audits.checks import generator
from audits.flipset.chance import measure
from audits.flipset.comparing.otherwise import check_counterfactuals
from audits.flipset.comparing.treatment import treated_alike
from audits.flipset.counterparts.again import repeat
from audits.flipset.counterparts.checking import validate
from audits.flipset.counterparts.inventing import Inventor, map_match
from audits.flipset.counterparts.matching import Matched, count_flips, match
from audits.flipset.counterparts.people import Compared, compare
from audits.flipset.judging import LOOKS, differences_at, judge_flips, levels_of
from audits.flipset.options import FlipsetOptions, again_seconds, map_options
from audits.flipset.packing import Counted, causal_part, flipset_part, pack, strata_parts, tables
from audits.flipset.result import FlipsetResult
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.records import says_what_it_lacks
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
    decided favourably with share g_i is in the positive flipset with share h_i (1 - g_i) and in the
    negative one with share (1 - h_i) g_i.
    """
    rng = generator(rng)
    map_options(options)  # what is wrong with them is said before anything is computed
    compared = compare(subject, options, rng, progress)
    if options.counterfactuals:
        check_counterfactuals(Inventor(compared), options.counterfactuals)
    share = 0.05 + 0.8 * _matching_share(compared)
    matched = _match_all(compared, rng, part(progress, 0.05, share))
    flips = count_flips(compared, matched)
    chance = measure(compared, matched, rng, part(progress, share, 0.85))
    found = Counted(compared, matched, flips, chance)
    progress(0.85, "Comparing people alike in the features")
    members = levels_of(compared, flips)
    levels = differences_at(compared, flips, members)
    covered = {each.name: members[each.name] for each in levels if each.covered and each.comparable}
    alike = None if chance is None else treated_alike(compared, matched, covered, options.level / LOOKS, rng)
    progress(0.9, "Comparing flipped people with their counterparts")
    described = {
        "positive": flipset_part(found, "positive", rng),
        "negative": flipset_part(found, "negative", rng),
        "causal": causal_part(found, rng),
        "strata": strata_parts(found, rng.spawn(1)[0]),  # so that other draws stay what they were
    }
    progress(0.94, "Checking the counterparts")
    checked = validate(compared, matched, flips, rng)
    progress(0.97, "Writing the people's table")
    written = tables(found, rng)
    again, often = repeat(compared, matched, rng.spawn(1)[0], part(progress, 0.97, 0.98))
    if again is not None:
        written["people"] = written["people"].assign(
            flips_again=often["flips_again"].array, times=often["times"].array
        )
    progress(0.98, "Looking for other matchings that are as good")
    judgement = judge_flips(compared, matched, flips, chance, alike, levels, checked)
    return pack(found, judgement, checked, described | {"again": again}, written)


def _matching_share(compared: Compared) -> float:
    """Part of the work that is matching everyone, the rest being permutations: for honest progress."""
    options, strata, width = compared.options, compared.chosen.strata, compared.width
    if options.transport != "exact":
        return 0.8
    full = sum(estimated_seconds(len(ours), len(theirs), width) for _, ours, theirs in strata)
    n, m = (sum(len(item[side]) for item in strata) for side in (1, 2))
    chance = options.permutations * again_seconds(options, n, m, width, invents=False)
    return full / (full + min(chance, options.seconds))


def _match_all(compared: Compared, rng: np.random.Generator, progress: Progress) -> list[Matched]:
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
