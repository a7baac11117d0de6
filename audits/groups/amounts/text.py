"""The sentences of numbers by group: the first one for everyone, and the finding with its intervals."""

from __future__ import annotations

from dataclasses import replace

from audits.data import named_with
from audits.groups.amounts.inference import most_telling_amount, worse_first
from audits.groups.names import name_pairs, people_of, title_pair
from audits.groups.result import AmountRow, Amounts, GroupsResult
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate
from audits.stats.text import amount, amount_stated, in_words, percent, several, so_many
from audits.stats.vocabulary import vocabulary
from audits.text import begun, shortest

_SAID = 0.005  # of the reference group's mean: less is no per cent
_WHERE = {
    "mean": "on average",
    "median": "at the median",
    "q10": "at the 10th percentile",
    "q90": "at the 90th percentile",
}


def amount_headline(result: GroupsResult) -> str:
    """Say which group gets less, or that none does, or that nobody can tell; in the outcome's unit."""
    assert result.amounts is not None  # noqa: S101 - of a numeric outcome
    amounts = result.amounts
    row, reference, measure, value = worse_first(amounts)
    gap = result.judged.interval
    if value is None:
        return f"Nobody can be compared: there are no {people_of(row)}, or no others."
    if result.verdict == EVIDENCE:
        small = ", less than your limit" if result.judged.material is False else ""
        ends = amount_stated(_positive(gap), amounts.unit).rpartition(" (")[2]  # a unit may have a bracket
        return _fitting(amounts, row, reference, measure, value, end=f" ({ends}{small}")
    both = " against ".join(own_amount(each, measure, amounts.unit) for each in (row, reference))
    if result.verdict == NO_MATERIAL:
        return _fitting(amounts, row, reference, measure, None, end=f": {both}")
    begin = "We can't tell whether "
    return _fitting(amounts, row, reference, measure, value, begin=begin, end=f": {both}", sized=False)


def _fitting(
    amounts: Amounts,
    row: AmountRow,
    reference: AmountRow,
    measure: str,
    value: float | None,
    *,
    begin: str = "",
    end: str = "",
    sized: bool = True,
) -> str:
    """Return the sentence with as much of the groups' names as fits."""
    pairs = name_pairs(row, reference)
    told = [f"{begin}{_clause(amounts, pair, measure, value, sized=sized)}" for pair in pairs]
    return begun(shortest(*(f"{each}{end}." for each in told), *(f"{each}." for each in told[1:])))


def _clause(
    amounts: Amounts, names: tuple[str, ...], measure: str, value: float | None, *, sized: bool
) -> str:
    """Say how one group's numbers lie to another's; no `value` where they are about equal."""
    who, others = names
    verb = vocabulary().verb
    size = f"{amount(abs(value), amounts.unit)} " if value is not None and sized else ""
    if measure == "residual":
        if value is None:
            return f"predictions are as far off for {who} as for {others}"
        way = "too low" if value > 0 else "too high"
        return f"predictions are {size}{way} for {who}, compared with {others}"
    where = _WHERE[measure]
    if verb:
        told = "the model predicts that " if amounts.predicted else ""
        if value is None:
            return f"{told}{who} {verb} about as much as {others} {where}"
        return f"{told}{who} {verb} {size}{'less' if value < 0 else 'more'} than {others} {where}"
    what = amounts.numbers
    if value is None:
        return f"{what} is about the same for {who} as for {others} {where}"
    return f"{what} is {size}{'lower' if value < 0 else 'higher'} for {who} than for {others} {where}"


def amount_title(amounts: Amounts) -> str:
    """State the finding as a figure's title: both groups' numbers."""
    row, reference, measure, _ = worse_first(amounts)
    own, other = (own_amount(each, measure, amounts.unit) for each in (row, reference))
    who, others = title_pair(row.attribute, row.group, reference.group)
    return f"{begun(who)}: {own}, against {other} of {others}"


def amount_finding(result: GroupsResult, looks: int) -> str:
    """Say both groups' numbers, the interval that the verdict follows from, and the limit."""
    assert result.amounts is not None  # noqa: S101 - of a numeric outcome
    amounts, judged, unit = result.amounts, result.judged, result.amounts.unit
    row, reference, measure = most_telling_amount(amounts.table)
    gap = row.differences[measure]
    what = {"mean": "the mean", "residual": "the mean residual"}.get(measure, f"the {judged.decided_by}")
    sides = (
        f"{own_amount(each, measure, unit)} ({so_many(each.n, named_with(each.attribute, each.group))})"
        for each in (row, reference)
    )
    compared = f", corrected for {looks} comparisons" if looks > 1 else ""
    text = f"{begun(what)} of {amounts.of_which(measure)} is {', against '.join(sides)}."
    text += f" Difference: {amount_stated(gap.estimate, unit)}{compared}."
    if measure == "mean" and row.relative is not None and abs(share := row.relative.value or 0.0) >= _SAID:
        text += f" That is {percent(abs(share), 999)} {'less' if share < 0 else 'more'}."
    others = [each for each in amounts.table if not each.is_reference]
    limit = amount(gap.limit or 0.0, unit)
    if judged.verdict == EVIDENCE:
        text += f" It is less than your limit of {limit}." if judged.material is False else ""
        differ = sum(each.verdict == EVIDENCE for each in others)
        more = f" {differ} of {len(others)} groups differ{'s' * (differ == 1)}."
        return text + more if len(others) > 1 else text
    if judged.verdict == NO_MATERIAL:
        few = [named_with(each.attribute, each.group) for each in others if each.verdict != NO_MATERIAL]
        text += f" {several(len(others) - len(few), 'group')} within your limit: {limit} at mean and median, "
        text += "twice that at the 10th and 90th percentile."
        return f"{text} Not covered, with too few people: {', '.join(few[:4])}." if few else text
    if judged.people_needed is not None:
        return f"{text} About {judged.people_needed:,} {judged.people_of} would settle it."
    return f"{text} More people would not settle it: {judged.reason}." if judged.reason else text


def spread_facts(amounts: Amounts) -> dict[str, str]:
    """Word the difference of means of every group, by group."""
    return {
        f"{row.attribute}: {in_words(row.group)}": amount_stated(gap.estimate, amounts.unit)
        for row in amounts.table
        if (gap := row.differences.get("mean")) is not None
    }


def own_amount(row: AmountRow, measure: str, unit: str) -> str:
    """Word a group's own number."""
    own = row.measure(measure)
    return "no value" if own is None or own.value is None else amount(own.value, unit)


def _positive(gap: Estimate) -> Estimate:
    """Return a difference as its size, ends in order."""
    if (gap.value or 0.0) >= 0 or gap.value is None or gap.low is None or gap.high is None:
        return gap
    return replace(gap, value=-gap.value, low=-gap.high, high=-gap.low)
