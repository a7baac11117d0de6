"""The finding of an explain audit in sentences, and what to beware of."""

from __future__ import annotations

from collections.abc import Sequence

from audits.data.preprocessing.leakage import telling_words
from audits.explain.options import ExplainOptions
from audits.explain.result import ExplainResult
from audits.stats import AVERAGE, EVIDENCE, NO_MATERIAL, Estimate, Judgment
from audits.stats.badges import FOUR_FIFTHS, limit_words, short_number
from audits.stats.text import CURRENCIES, amount, amount_stated, people_in, several
from audits.stats.vocabulary import vocabulary
from audits.text import (
    begun,
    between,
    brief,
    cut_apart,
    in_points,
    join_names,
    named_apart,
    points_words,
    shortest,
)

_MAX_NAMED = 3
_ENOUGH = 0.8  # of the source comparable


def headline(result: ExplainResult) -> str:
    """Say in one sentence whether a gap is left like for like."""
    ours, theirs = people_in(result.source), people_in(result.target)
    n, m = (len(result.options[side]) for side in ("source", "target"))
    apart = named_apart(result.target, result.source, (m, n))
    few = cut_apart(result.source, result.target, 4), cut_apart(apart, result.source, 3)
    names = [
        (ours, theirs),
        (brief(ours, 99, of=n), people_in(apart)),
        (brief(people_in(few[0]), 99, of=n), brief(people_in(few[1]), 99, of=m)),
    ]
    return shortest(*(_headline(result, *each) for each in names))


def _headline(result: ExplainResult, ours: str, theirs: str) -> str:
    judged, gap, left = result.judged, result.gap.value, result.judged.interval.value
    both = f"{ours} and {theirs}"
    rates = {result.source_rate.value, result.target_rate.value}
    if result.amount is None and rates in ({0.0}, {1.0}):
        every = "None" if rates == {0.0} else "All"
        return f"{every} of the {both} {_verb(result)}, so there is no gap to explain."
    sized = gap is not None and abs(gap) >= 0.005
    size = f"{100 * abs(gap or 0.0):.0f}-point gap" if sized else "gap" if gap is None else "small gap"
    if result.amount is not None and gap is not None:
        size = f"gap of {amount(abs(gap), result.amount.unit)}"
    if judged.verdict == EVIDENCE and left is not None:
        more = "more" if left > 0 else "less"
        alike = "Like for like" if result.together.columns else "Without any adjustment"
        start = f"{alike}{place_words(judged)}, {ours} {_verb(result)}"
        apart = left_words(judged) if result.amount is None else size_words(result, abs(left))
        return f"{start} {apart} {more}{_often(result)} than {theirs}."
    if judged.verdict == NO_MATERIAL:
        start = f"Like for like, no material difference between {both} is left, on average"
        covered = any(row.covered for row in result.levels)
        if not (small := not_covered(result)):
            return f"{start} or at any level."
        return f"{start}{' or at any level covered' * covered}. Not covered: {small}."
    if judged.badge == "no verdict" and result.overlap.share < _ENOUGH and not _is_exact(result):
        return f"The {size} between {both} cannot be adjusted: too few of them are comparable."
    nothing_left = no_clearance_text(len(result.together.columns))
    if judged.badge == "no verdict" and (judged.reason == nothing_left or _is_exact(result)):
        of = f"of the {size} between {both}, " if result.together.columns else ""
        return f"{begun(f'{of}{nothing_left}')}."
    return f"We can't tell whether the {size} between {both} remains like for like."


def _is_exact(result: ExplainResult) -> bool:
    """Whether what is left is known and not estimated."""
    return result.judged.interval.method.startswith("exact")


def _verb(result: ExplainResult) -> str:
    """Say what the favored are, by decision or by label."""
    words = vocabulary()
    if result.amount is not None:
        verb = words.verb or "have"
        return f"{'are predicted to ' if result.amount.predicted else ''}{verb}"
    if result.options.get("outcome") != "label":
        return words.are_yes
    return words.truth_yes or "have the favorable label"


def _often(result: ExplainResult) -> str:
    """Say what is more or less: how often, or how much of which number."""
    if result.amount is None:
        return " often"
    return "" if vocabulary().verb else f" {result.amount.name}"


def size_words(result: ExplainResult, value: float) -> str:
    """Word the size of a difference: ``4.7 points``, ``$3.10 an hour``."""
    return points(value) if result.amount is None else amount(value, result.amount.unit)


def no_clearance_text(columns: int) -> str:
    """Say why nothing left with the default explainers is no all-clear."""
    if not columns:
        return "no column may explain the gap, so nothing was compared like for like"
    those = "this column, which may itself be a proxy"
    if columns > 1:
        those = f"these {columns} columns, which may themselves be proxies"
    return f"nothing material is left after {those}"


def unknown_text(names: Sequence[str]) -> str:
    """Say where no difference shows that shows among everyone."""
    known = "is" if len(names) == 1 else "are"
    return f"the difference does not show among people whose {join_names(list(names))} {known} known"


def left_out_text(telling: Sequence[str]) -> str:
    """Say why no verdict follows where default explainers hold columns that may be the outcome itself."""
    was = "was" if len(telling) == 1 else "were"
    told = telling_words(telling, "the outcome")
    return f"{told} and {was} left out: name the columns that may explain the gap"


def telling_note(telling: Sequence[str], options: ExplainOptions) -> tuple[str, ...]:
    """Warn of columns that an auditor named and that may be the outcome itself."""
    if not telling or options.explainers is None:
        return ()
    return (
        f"{telling_words(telling, 'the outcome')}. The outcome in other words would explain any gap: name "
        "only what is a reason for it.",
    )


def place_words(judged: Judgment) -> str:
    """Say at which level the interval that decides lies."""
    return "" if judged.decided_by == AVERAGE else f" at {judged.decided_by.removeprefix('level: ')}"


def left_words(judged: Judgment) -> str:
    """Word how much is left with the digits that the interval beside it has: ``25 points``."""
    value = abs(judged.interval.value or 0.0)
    return amount(value, judged.unit) if judged.unit else points_words(short_number(100 * value, 1))


def finding(result: ExplainResult) -> str:
    """Say how large the gap is, what of it is left like for like, and what that rests on."""
    ours, theirs, judged = people_in(result.source), people_in(result.target), result.judged
    left, columns = result.together.unexplained, result.together.columns
    gap = result.gap
    said = [f"{begun(ours)} {_verb(result)} {_apart(result, gap)} {theirs}{_reach(result, gap)}."]
    if columns:
        some = ", ".join(columns[:_MAX_NAMED]) + (" and more" if len(columns) > _MAX_NAMED else "")
        start = f"Adjusted for {several(len(columns), 'column')} ({some}),"
        told = f"that is {_apart(result, left)} {theirs}{_reach(result, left)}"
        said.append(f"{start} {told if left.value is not None else 'nobody is comparable'}.")
        if left.value == left.low == left.high == 0.0:
            said.append("The model reads nothing else, so this is exact: nothing was estimated.")
    if judged.decided_by != AVERAGE:
        at = begun(place_words(judged).strip())
        apart, reach = _apart(result, judged.interval), _reach(result, judged.interval)
        said.append(f"{at}, it is {apart} {theirs}{reach}.")
    if judged.verdict == NO_MATERIAL:
        limits = [_limit_words(result, times) for times in (1, 2)]
        said.append(f"On average over all comparable {ours}, {limits[0]} is ruled out.")
        if any(row.covered for row in result.levels):
            said.append(f"At every level that is covered, {limits[1]} is ruled out.")
    elif judged.verdict != EVIDENCE and judged.people_needed is not None:
        said.append(f"About {judged.people_needed:,} {vocabulary().people} in each group would settle it.")
    elif judged.reason:
        said.append(f"{begun(judged.reason)}.")
    return " ".join(said)


def interval_words(judged: Judgment) -> str:
    """Word the one interval that the verdict follows from."""
    value = judged.interval
    if value.value is None or value.low is None:
        return "what is left like for like: no interval"
    if judged.unit:
        return f"{amount_stated(value, judged.unit)} left like for like{place_words(judged)}"
    return f"{points(value.value)} left like for like{place_words(judged)}, {between(value)}"


def points(share: float) -> str:
    """Word a difference of shares: ``4.7 points``."""
    return points_words(in_points(share))


def _limit_words(result: ExplainResult, times: int) -> str:
    """Word so many times the limit."""
    if result.amount is not None:
        return amount(times * result.amount.limit, result.amount.unit)
    if limit_words(result.judged).startswith("ratio"):
        low, high = (1 + times * (end - 1) for end in (FOUR_FIFTHS, 1 / FOUR_FIFTHS))
        return f"a ratio below {low:.3g} or above {high:.3g}"
    return f"a difference of {100 * times * result.options['material']:.3g} points"


def _reach(result: ExplainResult, found: Estimate) -> str:
    """Word the interval of a difference in the direction in which it is told."""
    if found.value is None or found.low is None or found.high is None:
        return ""
    ends = sorted([found.low, found.high] if found.value >= 0 else [-found.low, -found.high])
    if result.amount is not None:
        sign = result.amount.unit[:1] if result.amount.unit[:1] in CURRENCIES else ""
        low, high = (amount(end, sign) for end in ends)
        return f" ({low} to {high})"
    return f" ({between(Estimate(abs(found.value), ends[0], ends[1], found.n, found.method))})"


def _apart(result: ExplainResult, found: Estimate) -> str:
    if found.value is None:
        return "we can't tell how much more or less often than"
    if result.amount is not None:
        size = amount(abs(found.value), result.amount.unit)
        return f"{size} {'more' if found.value > 0 else 'less'}{_often(result)} than"
    size = in_points(abs(found.value))
    if float(size) == 0:
        return "as often as"
    return f"{points_words(size)} {'more' if found.value > 0 else 'less'} often than"


def not_covered(result: ExplainResult) -> str:
    """Name the levels of which the verdict says nothing, the largest first; empty where there are none."""
    small = sorted((row for row in result.levels if not row.covered), key=lambda row: -row.n)
    return join_names((f"{row.attribute} {row.level}" for row in small), most=_MAX_NAMED)


def warnings_for(result: ExplainResult) -> tuple[str, ...]:
    """Say what a reader could misread."""
    columns, overlap = result.together.columns, result.overlap
    if not columns:
        return ("No column may explain the gap. Name some, or give features other roles.",)
    found = []
    if overlap.share < 1:
        thin = ", ".join(f"{name} {level}" for name, level, _ in overlap.thin[:_MAX_NAMED])
        ours, theirs = people_in(result.source), people_in(result.target)
        said = f"It holds for the {100 * overlap.share:.0f}% of {ours} with comparable {theirs}."
        found.append(f"{said} Fewest at {thin}." if thin else said)
    if small := not_covered(result):
        why = "under a tenth or 50 of the people, or less than 80% comparable"
        found.append(f"Some levels are not covered ({why}): {small}.")
    found.append('"Explained" does not mean justified: a factor can itself result from unequal treatment.')
    return tuple(found)
