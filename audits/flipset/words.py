"""The finding of a flipset audit in one or two sentences, and what to beware of."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from audits.brief import begun, brief, cut_apart, in_points, named_apart, shortest
from audits.flipset.counterparts.people import Compared
from audits.flipset.judging import Judgement, differing
from audits.flipset.options import FlipsetOptions
from audits.flipset.parts import Again, FlipsetPart, SameValue, Validation
from audits.flipset.result import FlipsetResult
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, Judged
from audits.stats.words import count, out_of, p_words, people_in, percent, percent_interval, so_many

__all__ = [
    "DISTRUST",
    "again_words",
    "disagreeing",
    "disagreement",
    "distrust",
    "finding",
    "headline",
    "interval_words",
    "points",
    "tie_words",
    "unmatched_words",
    "warnings_for",
]

_MOST_NAMED = 3
_NOBODY, _SOMEBODY = 1e-6, 0.5
DISTRUST = "This map cannot be trusted: "


def headline(result: FlipsetResult) -> str:
    """Say how many people flip, how many the other way, and whether chance alone does that."""
    more, less, gets, others = result.negative, result.positive, "do not get", "do"
    if math.floor(result.positive.size + 0.5) > math.floor(result.negative.size + 0.5):
        more, less, gets, others = result.positive, result.negative, "get", "do not"
    if more.size < _SOMEBODY:
        n, some = count(result.n_source), "None" if more.size < _NOBODY else "Hardly any"
        return shortest(
            *(
                f"{some} of {n} {us} flip: they are decided as similar {them} are."
                for us, them in _sides(result)
            )
        )
    some = out_of(more.size, result.n_source)
    if _one(more.size):
        gets = {"do not get": "does not get", "get": "gets"}[gets]
    told = [
        f"{begun(some)} {us} {gets} the favorable decision while similar {them} {others}"
        for us, them in _sides(result)
    ]
    ends = [f"; {_back(less.size)} the other way: {_standing(result)}.", f": {_standing(result)}."]
    whole, cut = told[:2], told[2:]
    return shortest(*(f"{each}{end}" for names in (whole, cut) for end in ends for each in names))


def _one(size: float) -> bool:
    return count(size) == "1"


def _back(size: float) -> str:
    """Word how many flip the other way.

    Examples
    --------
    >>> _back(0), _back(0.1), _back(1), _back(1203)
    ('none', 'hardly any', '1', '1,203')
    """
    return "none" if size < _NOBODY else "hardly any" if size < _SOMEBODY else count(size)


def _sides(result: FlipsetResult) -> list[tuple[str, str]]:
    """Name both groups, in ever fewer words: what they share is said once."""
    apart = named_apart(result.target, result.source)
    return [
        (people_in(result.source), people_in(result.target)),
        (brief(people_in(result.source), 99), people_in(apart)),
        (
            brief(people_in(cut_apart(result.source, result.target, 7)), 99),
            brief(people_in(cut_apart(apart, result.source, 3)), 99),
        ),
        (brief(people_in(cut_apart(result.source, result.target, 4)), 99), "others"),
    ]


def _standing(result: FlipsetResult) -> str:
    """Say in a few words how the verdict reads."""
    judged = result.judged
    if judged.verdict == EVIDENCE:
        if not judged.interval.method.startswith("above"):
            return "people alike are decided differently"
        return (
            "more than by chance" if judged.material is not False else "more than by chance, but little more"
        )
    if judged.verdict == NO_MATERIAL:
        return "hardly more than by chance"
    if result.noise is None:
        return "chance was not measured"
    return "that may be chance"


def finding(
    compared: Compared, n: float, positive: FlipsetPart, negative: FlipsetPart, judgement: Judgement
) -> str:
    """Say who flips, how far that is above chance, and which difference is in evidence."""
    more, less, way, other = negative, positive, "not ", ""  # rejected here, accepted there
    if round(positive.size) > round(negative.size):
        more, less, way, other = positive, negative, "", " not"
    ours, theirs = so_many(n, compared.chosen.source), people_in(compared.chosen.target)
    if more.size < _NOBODY:
        told = f"None of {ours} flip: they are decided as their counterparts among {theirs} are."
    else:
        are, their = ("is", "the counterpart") if _one(more.size) else ("are", "their counterparts")
        back = f" ({percent(less.share.value, n)})" if less.size >= _NOBODY else ""
        told = (
            f"{begun(_people(more.size))} of {ours} ({percent(more.share.value, n)}) {are} {way}decided "
            f"favorably ({compared.subject.outcome}) while {their} among {theirs} {are}{other}; "
            f"{_back(less.size)} the other way{back}."
        )
    return " ".join(
        (
            told,
            *_above(judgement, n),
            *_conditional(judgement),
            *_strata(judgement, compared),
            *_open(judgement, compared.options),
        )
    )


def interval_words(judged: Judged) -> str:
    """Word the one interval that the verdict follows from: badge, finding and report state it alike."""
    value = judged.interval
    if value.value is None:
        return "level of chance not measured"
    if value.method.startswith("above") or value.low is None:
        told = _beside(value.value, "above chance", "below chance")
        return f"{told or 'as much as chance'}{_reach(value, 'above', 'below') or ', no interval'}"
    return f"at least {percent_interval(value)} decided otherwise than people alike"


def points(share: float, unit: str = " percentage points") -> str:
    """Word a difference of shares: ``4.7 percentage points``."""
    return in_points(share) + unit


def _beside(share: float, more: str, less: str) -> str:
    """Word how far a share lies above or below another one; nothing where it is as large."""
    size = points(abs(share))
    return "" if float(size.split(" ")[0]) == 0 else f"{size} {more if share > 0 else less}"


def _reach(found: Estimate, more: str, less: str) -> str:
    """Word an interval of such a distance: which way its ends lie is said where that is not one way.

    Examples
    --------
    >>> _reach(Estimate(0.07, -0.112, 0.25, 60, ""), "more", "less")
    ' (11.2 less to 25.0 more)'
    >>> _reach(Estimate(0.25, 0.222, 0.281, 60, ""), "more", "less")
    ' (22.2 to 28.1)'
    """
    if found.low is None or found.high is None:
        return ""
    if found.low > 0 or found.high < 0:
        return (
            f" ({' to '.join(sorted((points(abs(end), '') for end in (found.low, found.high)), key=float))})"
        )
    return f" ({points(-found.low, '')} {less} to {points(found.high, '')} {more})"


def _above(judgement: Judgement, n: float) -> list[str]:
    above, noise = judgement.above, judgement.noise
    if above is None or noise is None:
        return []
    who = "" if n <= noise.n_source else f" among {noise.n_source:,} of them at a time"
    found = above.excess
    text = (
        f"Chance alone gives the larger flipset {percent(above.expected, n)}{who}: what was seen is "
        f"{_beside(found.value or 0.0, 'more than that', 'less than that') or 'as much as that'}"
        f"{_reach(found, 'more', 'less')}"
    )
    rests_here = judgement.judged.verdict == EVIDENCE and judgement.judged.interval == found
    if rests_here and above.net_p > judgement.level:
        return [
            f"{text}. Whether the groups' rates differ is left open; "
            f"their {above.feature} differs beyond chance."
        ]
    return [f"{text}."]


def _conditional(judgement: Judgement) -> list[str]:
    """Which of the two is in evidence: other treatment given the features, or features that differ."""
    above, judged = judgement.above, judgement.judged
    if above is None:
        return []
    alike = above.conditional
    if alike.p_value is None:
        if alike.share is None or judged.verdict != EVIDENCE:
            return []
        return ["The model reads the features alone, so the difference comes through features that differ."]
    if judged.verdict == EVIDENCE and judged.interval == alike.share:
        return [
            f"People alike in the features are decided differently: at least {percent_interval(alike.share)} "
            f"of them otherwise than the other group's (p {p_words(alike.p_value)})."
        ]
    if judged.verdict != EVIDENCE:
        return []
    if alike.p_value <= 0.5 * judgement.level and alike.share is not None:
        return [f"People alike in the features are decided differently, too (p {p_words(alike.p_value)})."]
    return [
        "That people alike in the features are decided differently is not in evidence "
        f"(p {p_words(alike.p_value)}): it may come through features that differ."
    ]


def _strata(judgement: Judgement, compared: Compared) -> list[str]:
    """Name the strata in which the groups' rates differ, where people were matched within strata."""
    options = compared.options
    found = differing(judgement.strata, options.level)
    if not found:
        return []
    named = found[:_MOST_NAMED]
    words = "; ".join(
        f"“{item.value}” {points(item.net.value or 0.0)} (p {p_words(item.adjusted_p or 0.0)})"
        for item in named
    )
    more = f"; and {len(found) - len(named)} more" if len(found) > len(named) else ""
    return [
        f"Within values of {options.condition_on} the groups' rates differ in {len(found)} of "
        f"{len(judgement.strata)}, corrected for having looked at each (source minus target): {words}{more}."
    ]


def _open(judgement: Judgement, options: FlipsetOptions) -> list[str]:
    judged = judgement.judged
    size = f"{100 * options.material:.3g}-point"
    if judged.verdict == NO_MATERIAL:
        return [f"A {size} difference is ruled out."]
    if judged.verdict == EVIDENCE:
        return []
    if judged.reason:
        return [f"{begun(judged.reason)}."]
    if judged.people_needed is None or judgement.above is None:
        return []
    return [
        f"A {size} difference planted in these people comes out as {points(judgement.above.planted)} above "
        f"chance: about {judged.people_needed:,} people in each group would be needed to tell."
    ]


def _people(size: float) -> str:
    """Word a flipset's size in whole with "about" where counterparts disagree and it shows.

    Examples
    --------
    >>> _people(3.0), _people(3.4), _people(190.5)  # beside the last stands 19.1 %
    ('3', 'about 3', '191')
    """
    whole = abs(size - round(size)) < 0.05 or size >= 100
    return count(size) if whole else f"about {count(max(size, 1))}"


def distrust(validation: Validation) -> tuple[str, ...]:
    """Say first of all why a map cannot be trusted, then what else is doubtful about it."""
    failed = [check for check in validation.checks if not check.passed]
    serious = [check.trouble for check in failed if check.serious]
    doubts = [check.trouble for check in failed if not check.serious]
    return (
        *(f"{DISTRUST}{trouble}." for trouble in serious),
        *(f"Beware: {trouble}." for trouble in doubts),
    )


def tie_words(ties: tuple[float, float] | None, transport: str) -> tuple[str, ...]:
    """Say how far the flipsets depend on which of several equally good matchings was taken."""
    if ties is None and transport == "exact":
        return (
            "How far the flipsets depend on which of several equally good matchings was taken was not worked "
            "out: too many people can be exchanged. The difference of the two flipsets is the same in all.",
        )
    if ties is None or ties[1] - ties[0] < 0.5:
        return ()
    return (
        "Several matchings are equally good: the positive flipset has between "
        f"{math.floor(ties[0] + _NOBODY):,} and {math.ceil(ties[1] - _NOBODY):,} people in them, and the "
        "negative one moves along. The difference of the two is the same in all.",
    )


def again_words(again: Again | None) -> tuple[str, ...]:
    """Say how many people flip whoever else is in the data."""
    if again is None:
        return ()
    how = "half of each group at a time" if again.halves else "everyone, with other seeds"
    maps = "" if len(again.maps) < 2 else f", by {', '.join(again.maps)} in turn"
    flip = "flips" if _one(again.nearly_always) else "flip"
    return (
        f"Matched again {again.repeats} times ({how}{maps}), {out_of(again.nearly_always, again.people)} "
        f"people {flip} in at least 9 of 10 of their repeats. The positive flipset "
        f"{_of_ten(again, 'positive')} in nine repeats of ten, the negative one "
        f"{_of_ten(again, 'negative')}.",
    )


def _of_ten(again: Again, name: Literal["positive", "negative"]) -> str:
    part: Estimate = getattr(again, name)
    low, high = (percent(end, again.people) for end in (part.low, part.high))
    return f"has {low} of them" if low == high else f"lies between {low} and {high}"


def unmatched_words(unmatched: Estimate | None, source: str, n: float) -> tuple[str, ...]:
    """Say how many people have no counterpart."""
    if unmatched is None or unmatched.value is None:
        return ()
    are = "is" if _one(unmatched.value * n) else "are"
    return (
        f"{count(unmatched.value * n)} of {so_many(n, source)} ({percent_interval(unmatched)}) {are} "
        "left without a counterpart and cannot flip; the net difference is of everybody.",
    )


def warnings_for(
    judgement: Judgement,
    options: FlipsetOptions,
    n: float,
    source_decisions: np.ndarray,
    target_decisions: np.ndarray,
) -> tuple[str, ...]:
    """Say what a reader could misread."""
    found = []
    both = np.concatenate([source_decisions, target_decisions])
    if both.all() or not both.any():
        found.append(
            f"The model decides {'favorably' if both.all() else 'unfavorably'} on everyone compared here, "
            "so nobody can flip: check the threshold."
        )
    if judgement.noise is not None and n > judgement.noise.n_source:
        found.append(
            f"The level of chance was measured on {judgement.noise.n_source:,} and "
            f"{judgement.noise.n_target:,} people; among all {count(n)} chance gives fewer flips than "
            "the grey range shows."
        )
    if judgement.noise is None and options.permutations == 0:
        found.append("The level of chance was not measured: flips that cancel out were not tested.")
    return tuple(found)


def disagreement(result: FlipsetResult) -> str | None:
    """Say where comparing at equal values and the groups' rates disagree, in points; None if not."""
    told = result.disagreement or ""
    item = next((each for each in result.same_values if f"passes through {each.feature}," in told), None)
    if item is None or item.difference.value is None or result.net.value is None:
        return result.disagreement
    return disagreeing(item, result.net, result.source, result.target)


def disagreeing(item: SameValue, net: Estimate, source: str, target: str) -> str:
    """Say that people with the same value of a feature are decided alike, and the groups are not."""
    gap, whole = (points(abs(each.value or 0.0), " points") for each in (item.difference, net))
    return (
        f"Two tests disagree: {people_in(source)} and {people_in(target)} with the same {item.feature} are "
        f"decided about alike (they differ by {gap}), yet the groups' rates differ by {whole}. The "
        f"difference passes through {item.feature}, whose values differ between the groups. Whether it is "
        "justified depends on whether that feature is."
    )
