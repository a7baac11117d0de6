"""The sentences of the audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from audits.attribute_swap.result import AttributeSwapResult, SwapRow
from audits.stats import EVIDENCE, NO_MATERIAL, Judgment
from audits.stats.design import EFFECTIVE_SIZES
from audits.stats.text import count, estimate_text, in_words, out_of, people_in, percent, several
from audits.stats.vocabulary import vocabulary
from audits.text import attributes_in, begun, brief, join_names, of_people, shortest

EXACT = "exact: the model does not read it"
NO_RATIO = "nobody in the group gets the favorable decision, so there is no ratio to hold to the limit"
CANCELS = "many decisions change, but about as many people gain as lose"


def headline(result: AttributeSwapResult) -> str:
    """Say whose decisions change when one word is changed."""
    row, judged = result.deciding, result.judged
    if not row.read:
        return f"{begun(unread(result.swaps))}."
    return shortest(*(_headline(row, judged, most) for most in (99, 9, 6, 4)))


def _headline(row: SwapRow, judged: Judgment, most: int) -> str:
    who, several = brief(people_in(row.group), most, of=len(row.where)), attributes_in(row.attribute)
    what = f"only {brief(row.attribute, most, of=several)} is changed to {_word(row.target, most, several)}"
    if judged.verdict == EVIDENCE:
        return f"{begun(change_sentence(row, most))} when {what}."
    told = told_of(row, row.people(row.changed), row.n)
    if judged.verdict == NO_MATERIAL:
        return f"When {what}, few decisions change on average: {told.removesuffix(' of')} among {who}."
    if judged.people_needed is None:
        ways = ", in both directions" if judged.reason == CANCELS else ""
        return f"When {what}, {told} decisions about {who} change{ways}."
    return f"We can't tell yet whether it matters when {what}: {told} decisions about {who} change."


def change_sentence(row: SwapRow, most: int = 99) -> str:
    """Say how many of those declined are approved with the value changed, or the reverse.

    The larger of both: ``33 of 68 declined Velian women under 30 are approved``.
    """
    words, who = vocabulary(), brief(people_in(row.group), most, of=len(row.where))
    gained, lost, yes = row.people(row.gained), row.people(row.lost), row.people(row.before)
    more = gained > lost
    told = told_of(row, gained, row.n - yes) if more else told_of(row, lost, yes)
    is_, are, becomes = (
        (words.no, words.are_no, words.are_yes if words.yes else "get it")
        if more
        else (words.yes, words.are_yes, words.are_no if words.no else "lose it")
    )
    adjective = is_ and " " not in is_
    return f"{told} {is_} {who} {becomes}" if adjective else f"{told} {who} who {are} {becomes}"


def told_of(row: SwapRow, some: float, many: float) -> str:
    """Say how many of how many people, or what share where rows are not people that can be counted."""
    return (
        of_people(out_of(some, many)) if row.counted else f"{percent(some / many if many else 0.0, many)} of"
    )


def change(row: SwapRow) -> str:
    """Word what is changed: ``“male” instead of “female”``."""
    several = attributes_in(row.attribute)
    return f"{_word(row.target, several=several)} instead of {_word(row.source, several=several)}"


def finding(rows: Sequence[SwapRow], judged: Judgment, looks: int) -> str:
    """Say what was changed, for whom, and what came of it."""
    name = judged.decided_by.removeprefix("changed: ")
    row = next(each for each in rows if each.name == name)
    words = vocabulary()
    before, after = (
        f"{percent(share.value, row.n)}{f' ({out_of(row.people(share), row.n)})' if row.counted else ''}"
        for share in (row.before, row.after)
    )
    begin = f"{before} of {people_in(row.group)} {words.are_yes}"
    if not row.read:
        return f"{begin}. {begun(unread(rows))}. Nothing is estimated."
    corrected = f", corrected for {looks} groups" if looks > 1 else ""
    gross = ""
    if judged.decided_by != name:
        gross = f" Changed in all: {estimate_text(row.changed, 100, ' points')}."
    gained, lost = (
        count(row.people(share)) if row.counted else percent(share.value, row.n)
        for share in (row.gained, row.lost)
    )
    needed = ""
    if judged.people_needed is not None:
        needed = f" About {judged.people_needed:,} people of that group would settle it."
    return (
        f"{begin}. With {row.attribute} {change(row)}, it is {after}: "
        f"{gained} gain and {lost} lose. "
        f"Net share: {estimate_text(row.net, 100, ' points')}{corrected}.{gross}{needed} "
        "For these people the change is exact. The interval is about people like them."
    )


def unread(rows: Sequence[SwapRow]) -> str:
    """Say that the model does not read what was changed, and no more than that."""
    return f"{not_read(rows)}: changing it changes nothing, but other columns may be proxies"


def not_read(rows: Sequence[SwapRow]) -> str:
    """Name what the model does not read."""
    names = dict.fromkeys(row.attribute for row in rows if not row.read)
    return f"the model does not read {join_names(names, 'or')}"


def notes(
    rows: Sequence[SwapRow], *, pairs_left: int, groups_left: int, stand_ins: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Yield what a reader should know of the numbers."""
    if not all(row.counted for row in rows):
        yield EFFECTIVE_SIZES
    if any(row.read for row in rows) and not all(row.read for row in rows):
        yield f"{begun(unread(rows))}."
    for attribute, column in stand_ins:
        yield f"The model reads “{column}”, which reveals {attribute} exactly. It stays as it is here."
    if pairs_left:
        yield f"{several(pairs_left, 'pair')} of values of smaller groups were not asked about (max_pairs)."
    if groups_left:
        yield f"{several(groups_left, 'smaller group')} are not shown."
    small = sum(row.read and not row.covered for row in rows)  # what is not read changes nothing for anyone
    if small:
        yield f"An all-clear does not cover {several(small, 'small group')}: below 50 people, or a tenth."
    yield "This is not another life: everything else stays as it is."


def _word(value: str, most: int = 99, several: int | None = None) -> str:
    return f"“{brief(in_words(value), most, of=several)}”"
