"""The finding of a flipset audit in one or two sentences, and what to beware of."""

from __future__ import annotations

import math
from collections.abc import Iterator

from audits.flipset.inference import LOOKS, differing
from audits.flipset.result import (
    CALIPER,
    LIKE_FOR_LIKE,
    FlipsetPart,
    FlipsetResult,
    SameValue,
    Stability,
    Validation,
    Way,
)
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, Judgment
from audits.stats.text import count, out_of, p_words, people_in, percent, percent_interval, so_many
from audits.stats.vocabulary import vocabulary
from audits.text import (
    begun,
    between,
    brief,
    cut_apart,
    in_points,
    join_names,
    named_apart,
    of_people,
    shortest,
)
from audits.transport.levels import FACTOR, LevelDifference

_MAX_NAMED = 4
_NOBODY, _SOMEBODY = 1e-6, 0.5
_OTHER = "the other group"  # where not all others are compared
DISTRUST = "This map cannot be trusted: "


def headline(result: FlipsetResult) -> str:
    """Say how many people flip, how their matches differ from them, and whether chance alone does that."""
    judged, at, words = result.judged, _decisive_level(result), vocabulary()
    if judged.verdict == EVIDENCE and at is not None:
        us_rate, them_rate = percent(at.source_rate, at.n_source), percent(at.target_rate, at.n_target)
        return shortest(
            *(
                f"Among {words.people} with {at.name}, {us_rate} of {us} {words.are_yes}, against "
                f"{them_rate} of {them}: more than chance."
                for us, them, _ in _sides(result)
            )
        )
    way, other = larger_first(result)
    part, less = getattr(result, way), getattr(result, other)
    some = of_people(out_of(part.size, result.n_source))
    if part.size < _SOMEBODY:
        some = f"{'None' if part.size < _NOBODY else 'Hardly any'} of {count(result.n_source)}"
        return shortest(
            *(
                f"{some} {us} get another answer than their closest match among {them}."
                for us, them, _ in _sides(result)
            )
        )
    told = [
        f"{begun(some)} {us} {answer(way, one=_one(part.size))} while {_match(part, them, one, most)} "
        f"{match_answer(way)}"
        for us, them, one in _sides(result)
        for most in (2, 1, 0)
    ]
    back = f"; for {_back(less.size)} it is the reverse" if 2 * less.size >= part.size else ""
    ends = [f"{more}{_verdict_phrase(result, told_back=bool(more))}" for more in dict.fromkeys((back, ""))]
    return shortest(*(f"{each}{end}" for end in ends for each in told))


def larger_first(result: FlipsetResult) -> tuple[Way, Way]:
    """Return both ways of flipping, the one that more people flip first; of equal ones the declined.

    Sizes that are equal in whole people are equal, but for less than one: none is not before hardly any.
    """
    ours, back = result.positive.size, result.negative.size
    more = math.floor(ours + 0.5) > math.floor(back + 0.5) or back + _NOBODY < ours < _SOMEBODY
    return ("positive", "negative") if more else ("negative", "positive")


def answer(way: str, *, one: bool = False) -> str:
    """Word what people who flip one way get: ``are declined``."""
    words = vocabulary()
    if one:
        return words.is_yes if way == "positive" else words.is_no
    return words.are_yes if way == "positive" else words.are_no


def match_answer(way: str) -> str:
    """Word what the match of someone who flips one way gets instead: ``is approved``."""
    words = vocabulary()
    if way == "positive":
        return "is not" if words.yes else "does not"
    return words.is_yes if words.yes else "does"


def way_words(way: str) -> str:
    """Name the people who flip one way, as a choice or a legend does: ``declined, the match is approved``."""
    words = vocabulary()
    if not words.yes or not words.no:
        return (
            "favorable, but not for the match" if way == "positive" else "unfavorable, but not for the match"
        )
    mine, its = (words.yes, words.no) if way == "positive" else (words.no, words.yes)
    return f"{mine}, the match is {its}"


def feature_words(feature: str) -> str:
    """Name a feature, or one value of a categorical one: ``purpose: car``."""
    return feature.replace("=", ": ", 1)


def one_of(group: str) -> str:
    """Word one person of a group: ``Velian woman under 30``."""
    return so_many(1, group).removeprefix("1 ")


def _decisive_level(result: FlipsetResult) -> LevelDifference | None:
    """Return the level whose interval decides; None where none does."""
    return next((each for each in result.levels if result.judged.decided_by == f"level: {each.name}"), None)


def _match(part: FlipsetPart, them: str, one: str, most: int) -> str:
    """Name the match of someone who flips: similar within the caliper, else what it often differs in."""
    if part.similar:
        return f"the most similar {one}"
    often = " and ".join(part.differs_in[:most])
    differ = f", who often differs in {often}," if often else ""
    return f"the match in {them}{differ}" if them == _OTHER else f"the closest match among {them}{differ}"


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


def _sides(result: FlipsetResult) -> list[tuple[str, str, str]]:
    """Name both groups, and one person of the target, in ever fewer words: what they share is said once."""
    n, m = (len(result.options[side]) for side in ("source", "target"))
    apart = named_apart(result.target, result.source, (m, n))
    ours, theirs = cut_apart(result.source, result.target, 7), cut_apart(apart, result.source, 3)
    rest = (_OTHER, f"person of {_OTHER}") if result.not_compared else ("others", "other person")
    return [
        (people_in(result.source), people_in(apart), one_of(apart)),
        (brief(people_in(result.source), 99, of=n), people_in(apart), one_of(apart)),
        (
            brief(people_in(ours), 99, of=n),
            brief(people_in(theirs), 99, of=m),
            brief(one_of(theirs), 99, of=m),
        ),
        (brief(people_in(cut_apart(result.source, result.target, 4)), 99, of=n), *rest),
    ]


def _verdict_phrase(result: FlipsetResult, *, told_back: bool) -> str:
    """Say in a few words how the verdict reads: the end of a sentence, and after two halves its own."""
    judged = result.judged
    if judged.verdict == EVIDENCE and judged.decided_by == LIKE_FOR_LIKE:
        return f". {begun(vocabulary().people)} with the same features get different answers."
    if judged.verdict not in {EVIDENCE, NO_MATERIAL}:
        return ". Chance was not measured." if result.noise is None else ". That may be chance."
    said = "on average hardly more than chance"
    if judged.verdict == EVIDENCE:
        said = "more than chance" if judged.material is not False else "slightly more than chance"
    return f". That is {said}." if told_back else f": {said}."


def finding(result: FlipsetResult, limit: float) -> str:
    """Say who flips, how far that is above chance, and which difference is in evidence.

    Parameters
    ----------
    limit : float
        Difference of favorable rates that matters.
    """
    way, other = larger_first(result)
    more, less = result.flipset(way)[0], result.flipset(other)[0]
    n, theirs = result.n_source, people_in(result.target)
    ours = so_many(n, result.source)
    if more.size < _NOBODY:
        told = f"None of {ours} get another answer than their closest match among {theirs}."
    else:
        one = _one(more.size)
        match = f"{'the' if one else 'their'} closest match among {theirs} {match_answer(way)}"
        back = f" ({percent(less.share.value, n)})" if less.size >= _NOBODY else ""
        told = (
            f"{begun(_people(more.size))} of {ours} ({percent(more.share.value, n)}) {answer(way, one=one)} "
            f"while {match}; for {_back(less.size)} it is the reverse{back}. {_similarity(more)}"
        ).strip()
    parts = (_above(result), _at_level(result), _conditional(result), _strata(result), _open(result, limit))
    return " ".join((told, *(part for part in parts if part)))


def _similarity(part: FlipsetPart) -> str:
    """Say how many matches are similar, and within what."""
    if part.within_caliper is None:
        return ""
    differ = f" The others differ most often in {join_names(part.differs_in[:3])}." if part.differs_in else ""
    return (
        f"{begun(percent(part.within_caliper, part.size))} of these matches are similar in every feature: "
        f"numbers within {CALIPER:g} standard deviations, categories the same.{differ}"
    )


def interval_words(judged: Judgment) -> str:
    """Word the one interval that the verdict follows from: badge, finding and report state it alike."""
    value = judged.interval
    if value.value is None:
        return "chance was not measured"
    if judged.decided_by.startswith("level: "):
        name = judged.decided_by.removeprefix("level: ")
        return f"{in_points(value.value, signed=True)} points ({between(value)}) among people with {name}"
    if judged.decided_by == LIKE_FOR_LIKE or (value.low is not None and not value.method.startswith("above")):
        return f"at least {percent_interval(value)} get another answer than people with the same features"
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


def _above(result: FlipsetResult) -> str:
    above, noise = result.above_chance, result.noise
    if above is None or noise is None:
        return ""
    n, found = result.n_source, above.excess
    told = f"Chance alone gives {percent(above.expected, n)}. The larger of both directions is "
    if n > noise.n_source:  # of them, not of everyone, is the difference
        told = (
            f"Among {noise.n_source:,} of them sampled at a time, the larger of both directions is "
            f"{percent(noise.observed, n)}, and chance alone gives {percent(above.expected, n)}. It is "
        )
    text = (
        f"{told}{_beside(found.value or 0.0, 'more than that', 'less than that') or 'as much as that'}"
        f"{_reach(found, 'more', 'less')}."
    )
    rests_here = result.verdict == EVIDENCE and result.judged.interval == found
    if rests_here and above.net_p > result.options["level"]:
        return (
            f"{text} The groups' rates may be equal, but their {above.feature} differs by more than chance."
        )
    return text


def _at_level(result: FlipsetResult) -> str:
    """State the level that decides."""
    at, words = _decisive_level(result), vocabulary()
    if at is None:
        return ""
    ours, theirs = people_in(result.source), people_in(result.target)
    return (
        f"Among {words.people} with {at.name}, {percent(at.source_rate, at.n_source)} of "
        f"{count(at.n_source)} {ours} {words.are_yes}, against {percent(at.target_rate, at.n_target)} of "
        f"{count(at.n_target)} {theirs}. That is {in_points(at.difference.value or 0.0, signed=True)} points "
        f"({between(at.difference)}), corrected for all levels."
    )


def _conditional(result: FlipsetResult) -> str:
    """Which of the two is in evidence: other treatment given the features, or features that differ."""
    above, judged = result.above_chance, result.judged
    if above is None or judged.verdict != EVIDENCE or judged.decided_by.startswith("level: "):
        return ""
    alike, people = above.conditional, begun(vocabulary().people)
    if alike.p_value is None:
        told = "The model reads only these features, so the difference comes through features that differ."
        return "" if alike.share is None else told
    p = p_words(alike.p_value)
    if judged.decided_by == LIKE_FOR_LIKE:
        share = percent_interval(alike.share or judged.interval)
        return f"{people} with the same features get different answers: at least {share} of them (p {p})."
    if LOOKS * alike.p_value <= result.options["level"]:
        return f"{people} with the same features get different answers, too (p {p})."
    return f"The difference may come through features that differ (same features: p {p})."


def _strata(result: FlipsetResult) -> str:
    """Name the strata in which the groups' rates differ, where people were matched within strata."""
    found = differing(result.strata, result.options["level"])
    if not found:
        return ""
    named = (
        f"“{item.value}” {points(item.net.value or 0.0)} (p {p_words(item.adjusted_p or 0.0)})"
        for item in found
    )
    return (
        f"The groups' rates differ within {len(found)} of {len(result.strata)} values of "
        f"{result.options['condition_on']}, corrected for all of them (first group minus second): "
        f"{join_names(named, most=_MAX_NAMED)}."
    )


def _open(result: FlipsetResult, limit: float) -> str:
    """Say what is ruled out and for whom, or what would settle it."""
    over = f"{people_in(result.source)} and {people_in(result.target)}"
    found = closing(result.judged, limit, over=over, whose="in each group")
    small = [each.name for each in result.levels if not each.covered]
    if result.verdict == NO_MATERIAL and small:
        found += f" Not covered, because they have too few people: {join_names(small, most=_MAX_NAMED)}."
    if result.verdict == NO_MATERIAL and result.not_compared:
        found += f" Not compared: {join_names(result.not_compared, most=_MAX_NAMED)}."
    return found


def closing(judged: Judgment, limit: float, *, over: str, whose: str) -> str:
    """Say what is ruled out on average over whom, or how many people would settle it; nothing of evidence.

    Parameters
    ----------
    limit : float
        Difference of favorable rates that matters.
    over, whose : str
        On average over whom, and which people would settle it: ``"in each group"``.
    """
    if judged.verdict == EVIDENCE:
        return ""
    if judged.verdict == NO_MATERIAL:
        return (
            f"On average over {over}, a difference of {100 * limit:.3g} points is ruled out. So is one of "
            f"{100 * FACTOR * limit:.3g} points at each level of the features that is covered."
        )
    if judged.reason:
        return f"{begun(judged.reason)}."
    needed = judged.people_needed
    return "" if needed is None else f"About {needed:,} people {whose} would settle it."


def _people(size: float) -> str:
    """Word a flipset's size in whole with "about" where counterparts disagree and it shows.

    Examples
    --------
    >>> _people(3.0), _people(3.4), _people(190.5), _people(0.2)  # beside 191 stands 19.1%
    ('3', 'about 3', '191', 'hardly any')
    """
    if size < _SOMEBODY:
        return "hardly any"
    whole = abs(size - round(size)) < 0.05 or size >= 100
    return count(size) if whole else f"about {count(size)}"


def distrust(validation: Validation) -> tuple[str, ...]:
    """Say first of all why a map cannot be trusted, then what else is doubtful about it."""
    failed = [check for check in validation.checks if not check.passed]
    serious = [check.trouble for check in failed if check.serious]
    doubts = [check.trouble for check in failed if not check.serious]
    return (
        *(f"{DISTRUST}{trouble}." for trouble in serious),
        *(f"Caution: {trouble}." for trouble in doubts),
    )


def warnings_of(result: FlipsetResult) -> Iterator[str]:
    """Yield what a reader could misread: how far flips hang on the matching, and what they are without."""
    yield from result.warnings
    yield from _ties(result)
    if result.again is not None:
        yield _stability(result.again)
    if result.unmatched is not None and result.unmatched.value is not None:
        left = result.unmatched.value * result.n_source
        yield (
            f"{count(left)} of {so_many(result.n_source, result.source)} "
            f"({percent_interval(result.unmatched)}) {'is' if _one(left) else 'are'} left without a match "
            "and cannot flip. The difference of rates is of everyone."
        )
    words = vocabulary()
    rates = {round(each.value or 0.0, 9) for each in (result.source_rate, result.target_rate)}
    if rates in ({0.0}, {1.0}):
        yield (
            f"Everyone compared here {words.is_yes if rates == {1.0} else words.is_no}, so nobody can flip. "
            "Check the cut-off."
        )
    noise = result.noise
    if noise is not None and result.n_source > noise.n_source:
        yield (
            f"Chance was measured on {noise.n_source:,} and {noise.n_target:,} people at a time. Among all "
            f"{count(result.n_source)} it gives fewer flips than shown here."
        )
    if noise is None:
        yield "Chance was not measured, so there is no verdict."


def _ties(result: FlipsetResult) -> Iterator[str]:
    """Say how far the flipsets depend on which of several equally good matchings was taken."""
    ties = result.tie_range
    if ties is None and result.options["transport"] == "exact":
        yield (
            "Several matchings fit equally well. Too many people are interchangeable to say how much the "
            "two directions depend on the choice. Their difference is the same in all."
        )
    if ties is not None and ties[1] - ties[0] >= 0.5:
        yield (
            f"Several matchings fit equally well. Depending on which, {math.floor(ties[0] + _NOBODY):,} to "
            f"{math.ceil(ties[1] - _NOBODY):,} people {answer('positive')} while their match "
            f"{match_answer('positive')}. The difference between the two directions is the same in all."
        )


def _stability(again: Stability) -> str:
    """Say how many people flip whoever else is in the data."""
    how = "half of each group at a time" if again.halves else "everyone, with other seeds"
    maps = "" if len(again.maps) < 2 else f", by {', '.join(again.maps)} in turn"
    flip = "flips" if _one(again.nearly_always) else "flip"
    lies = []
    for part in (again.positive, again.negative):
        low, high = (percent(end, again.people) for end in (part.low, part.high))
        lies.append(f"is {low}" if low == high else f"lies between {low} and {high}")
    return (
        f"Matched {again.repeats} more times ({how}{maps}), {out_of(again.nearly_always, again.people)} "
        f"people {flip} in at least 9 of 10 of their repeats. In nine repeats of ten, the share who "
        f"{answer('positive')} while their match {match_answer('positive')} {lies[0]}; the reverse {lies[1]}."
    )


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
        f"Two tests disagree. {begun(people_in(source))} and {people_in(target)} with the same "
        f"{item.feature} differ by {gap}, yet the groups' rates differ by {whole}. The difference passes "
        f"through {item.feature}, whose values differ between the groups. Whether that is justified depends "
        f"on whether {item.feature} is."
    )
