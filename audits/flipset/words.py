"""The finding of a flipset audit in one or two sentences, and what to beware of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from audits.brief import begun, between, brief, cut_apart, in_points, named_apart, shortest
from audits.flipset.counterparts.people import Compared
from audits.flipset.judging import LOOKS, Judgement, differing
from audits.flipset.options import FlipsetOptions
from audits.flipset.parts import (
    CALIPER,
    LIKE_FOR_LIKE,
    Again,
    FlipsetPart,
    SameValue,
    Validation,
)
from audits.flipset.result import FlipsetResult
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, Judged
from audits.stats.words import count, out_of, p_words, people_in, percent, percent_interval, so_many
from audits.transport.levels import FACTOR, LevelDifference

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
    """Say how many people flip, how their matches differ from them, and whether chance alone does that."""
    judged, at = result.judged, _decisive_level(result.judged, result.levels)
    if judged.verdict == EVIDENCE and at is not None:
        us_rate, them_rate = percent(at.source_rate, at.n_source), percent(at.target_rate, at.n_target)
        return shortest(
            *(
                f"Among people with {at.name}, {us_rate} of {us} get the favorable decision, against "
                f"{them_rate} of {them}: more than chance."
                for us, them in _sides(result)
            )
        )
    part, less, gets, others = result.negative, result.positive, "do not get", "do"
    if math.floor(part.size + 0.5) < math.floor(less.size + 0.5):
        part, less, gets, others = less, part, "get", "do not"
    some = out_of(part.size, result.n_source)
    if part.size < _SOMEBODY:
        some = f"{'None' if part.size < _NOBODY else 'Hardly any'} of {count(result.n_source)}"
        return shortest(
            *(
                f"{some} {us} flip: they are decided as their matches among {them} are."
                for us, them in _sides(result)
            )
        )
    if _one(part.size):
        gets = {"do not get": "does not get", "get": "gets"}[gets]
    told = [
        f"{begun(some)} {us} {gets} the favorable decision while {_match(part, them)} {others}"
        for us, them in _sides(result)
    ]
    ends = [f"; {_back(less.size)} the other way: {_standing(result)}.", f": {_standing(result)}."]
    return shortest(*(f"{each}{end}" for end in ends for each in told))


def _decisive_level(judged: Judged, levels: tuple[LevelDifference, ...]) -> LevelDifference | None:
    """Return the level whose interval decides; None where none does."""
    return next((each for each in levels if judged.decided_by == f"level: {each.name}"), None)


def _match(part: FlipsetPart, them: str) -> str:
    """Name the matches of a flipset: similar only within the caliper, and else what they differ in."""
    if part.similar:
        return f"the most similar {them}"
    differ = ", who differ in " + " and ".join(part.differs_in[:2]) + "," if part.differs_in else ""
    return f"their closest matches among {them}{differ}"


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
        if judged.decided_by == LIKE_FOR_LIKE:
            return "people with the same features are treated differently"
        return "more than chance" if judged.material is not False else "slightly more than chance"
    if judged.verdict == NO_MATERIAL:
        return "on average hardly more than chance"
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
        told = f"None of {ours} flip: they are decided as their matches among {theirs} are."
    else:
        gets, their = ("gets", "the match") if _one(more.size) else ("get", "their matches")
        if way:
            gets = "does not get" if _one(more.size) else "do not get"
        does = ("does" if _one(more.size) else "do") + other
        back = f" ({percent(less.share.value, n)})" if less.size >= _NOBODY else ""
        told = (
            f"{begun(_people(more.size))} of {ours} ({percent(more.share.value, n)}) {gets} the favorable "
            f"decision ({compared.subject.outcome}) while {their} among {theirs} {does}; "
            f"{_back(less.size)} the other way{back}."
        )
        told = f"{told} {_similarity(more)}".strip()
    return " ".join(
        (
            told,
            *_above(judgement, n),
            *_at_level(judgement, compared),
            *_conditional(judgement),
            *_strata(judgement, compared),
            *_open(judgement, compared),
        )
    )


def _similarity(part: FlipsetPart) -> str:
    """Say how many matches are similar, and within what."""
    if part.within_caliper is None:
        return ""
    differ = f"; the others differ most often in {_listed(part.differs_in[:3])}" if part.differs_in else ""
    return (
        f"{begun(percent(part.within_caliper, part.size))} of these matches are similar in every feature "
        f"(numbers within {CALIPER:g} standard deviations, categories the same){differ}."
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else "".join(names)


def interval_words(judged: Judged) -> str:
    """Word the one interval that the verdict follows from: badge, finding and report state it alike."""
    value = judged.interval
    if value.value is None:
        return "chance was not measured"
    if judged.decided_by.startswith("level: "):
        name = judged.decided_by.removeprefix("level: ")
        return f"{in_points(value.value, signed=True)} points ({between(value)}) among people with {name}"
    if judged.decided_by == LIKE_FOR_LIKE or (value.low is not None and not value.method.startswith("above")):
        return f"at least {percent_interval(value)} decided differently from people with the same features"
    told = _beside(value.value, "above chance", "below chance")
    return f"{told or 'as much as chance'}{_reach(value, 'above', 'below') or ', no interval'}"


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
        return [f"{text}. The groups' rates may be equal; their {above.feature} differs beyond chance."]
    return [f"{text}."]


def _at_level(judgement: Judgement, compared: Compared) -> list[str]:
    """State the level that decides."""
    at = _decisive_level(judgement.judged, judgement.levels)
    if at is None:
        return []
    ours, theirs = people_in(compared.chosen.source), people_in(compared.chosen.target)
    return [
        f"Among people with {at.name}, {percent(at.source_rate, at.n_source)} of {count(at.n_source)} {ours} "
        f"get the favorable decision, against {percent(at.target_rate, at.n_target)} of "
        f"{count(at.n_target)} {theirs}: {in_points(at.difference.value or 0.0, signed=True)} points "
        f"({between(at.difference)}), corrected for all levels looked at."
    ]


def _conditional(judgement: Judgement) -> list[str]:
    """Which of the two is in evidence: other treatment given the features, or features that differ."""
    above, judged = judgement.above, judgement.judged
    if above is None or judged.verdict != EVIDENCE or judged.decided_by.startswith("level: "):
        return []
    alike = above.conditional
    if alike.p_value is None:
        if alike.share is None:
            return []
        return ["The model reads the features alone, so the difference comes through features that differ."]
    if judged.decided_by == LIKE_FOR_LIKE:
        return [
            "People with the same features are treated differently: at least "
            f"{percent_interval(alike.share or judged.interval)} of them (p {p_words(alike.p_value)})."
        ]
    if LOOKS * alike.p_value <= judgement.level:
        return [f"People with the same features are treated differently, too (p {p_words(alike.p_value)})."]
    return [
        f"The difference may come through features that differ (same features: p {p_words(alike.p_value)})."
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


def _open(judgement: Judgement, compared: Compared) -> list[str]:
    judged, size = judgement.judged, 100 * compared.limit
    if judged.verdict == NO_MATERIAL:
        ours, theirs = people_in(compared.chosen.source), people_in(compared.chosen.target)
        small = [each.name for each in judgement.levels if not each.covered]
        found = [
            f"On average over {ours} and {theirs}, a difference of {size:.3g} points is ruled out. So is one "
            f"of {FACTOR * size:.3g} points at each level of the features."
        ]
        if small:
            more = f" and {len(small) - _MOST_NAMED} more" if len(small) > _MOST_NAMED else ""
            found.append(f"Not covered, for too few people: {', '.join(small[:_MOST_NAMED])}{more}.")
        if compared.chosen.not_compared:
            found.append(f"Not compared: {', '.join(compared.chosen.not_compared[:_MOST_NAMED])}.")
        return found
    if judged.verdict == EVIDENCE:
        return []
    if judged.reason:
        return [f"{begun(judged.reason)}."]
    if judged.people_needed is None:
        return []
    return [f"About {judged.people_needed:,} people in each group would settle it."]


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
            f"Chance was measured on {judgement.noise.n_source:,} and "
            f"{judgement.noise.n_target:,} people at a time; among all {count(n)} it gives fewer flips than "
            "the gray range shows."
        )
    if judgement.noise is None and options.permutations == 0:
        found.append("Chance was not measured, so there is no verdict.")
    return tuple(found)


def disagreement(result: FlipsetResult) -> str:
    """Say where comparing at equal values and the groups' rates disagree, and else how far they lie apart."""
    told = result.disagreement or ""
    item = next((each for each in result.same_values if f"passes through {each.feature}," in told), None)
    if item is not None and item.difference.value is not None and result.net.value is not None:
        return disagreeing(item, result.net, result.source, result.target)
    gaps = [each.difference.value for each in result.same_values if each.difference.value is not None]
    if not gaps or result.net.value is None:
        return told
    low, high, whole = (in_points(gap, signed=True) for gap in (min(gaps), max(gaps), result.net.value))
    between_them = f"{low} points" if low == high else f"{low} to {high} points"
    return f"The difference is {whole} points among everyone and {between_them} at equal values."


def disagreeing(item: SameValue, net: Estimate, source: str, target: str) -> str:
    """Say that people with the same value of a feature are decided alike, and the groups are not."""
    gap, whole = (points(abs(each.value or 0.0), " points") for each in (item.difference, net))
    return (
        f"Two tests disagree: {people_in(source)} and {people_in(target)} with the same {item.feature} are "
        f"decided about alike (they differ by {gap}), yet the groups' rates differ by {whole}. The "
        f"difference passes through {item.feature}, whose values differ between the groups. Whether it is "
        "justified depends on whether that feature is."
    )
