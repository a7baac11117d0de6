"""The sentences of the audit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from audits.attribute_swap.result import AttributeSwapResult, SwapRow
from audits.brief import brief, of_people, shortest
from audits.stats import EVIDENCE, NO_MATERIAL, Judged
from audits.stats.words import count, in_words, out_of, people_in, several, stated

__all__ = ["CANCELS", "EXACT", "NO_RATIO", "finding", "headline", "notes", "unread"]

EXACT = "exact: the model does not read it"
NO_RATIO = "nobody in the group gets the favorable decision, so there is no ratio to hold to the limit"
CANCELS = "many decisions change, but about as many people gain as lose"
_MOST_NAMED = 3


def headline(result: AttributeSwapResult) -> str:
    """Say whose decisions change when one word is changed."""
    row, judged = result.deciding, result.judged
    if not row.read:
        return f"{unread(result.swaps)[:1].upper()}{unread(result.swaps)[1:]}."
    return shortest(*(_headline(row, judged, most) for most in (99, 9, 6, 4)))


def _headline(row: SwapRow, judged: Judged, most: int) -> str:
    who = brief(people_in(row.group), most)
    change = f"{brief(row.attribute, most)} from {_word(row.source, most)} to {_word(row.target, most)}"
    gained, lost, changed = row.people(row.gained), row.people(row.lost), row.people(row.changed)
    yes = row.people(row.before)
    if judged.verdict == EVIDENCE:
        some, all_of_them, end = (
            (gained, row.n - yes, "without the favorable decision get it")
            if gained > lost
            else (lost, yes, "with the favorable decision lose it")
        )
        told = of_people(out_of(some, all_of_them))
        return f"Change only {change}, and {told} {who} {end}."
    told = of_people(out_of(changed, row.n))
    if judged.verdict == NO_MATERIAL:
        return f"Changing only {change} changes few decisions on average: {told} among {who}."
    if judged.people_needed is None:
        return f"Changing only {change} changes {told} decisions about {who}, in both directions."
    return f"We can't tell yet whether changing {change} matters: {told} decisions about {who} change."


def finding(rows: Sequence[SwapRow], judged: Judged, looks: int) -> str:
    """Say what was changed, for whom, and what came of it."""
    name = judged.decided_by.removeprefix("changed: ")
    row = next(each for each in rows if each.name == name)
    before, after = (of_people(out_of(row.people(share), row.n)) for share in (row.before, row.after))
    begin = f"{before[:1].upper()}{before[1:]} {people_in(row.group)} get the favorable decision"
    if not row.read:
        return f"{begin}, and would with any other {row.attribute}: {unread(rows)}. Nothing is estimated."
    gained, lost = row.people(row.gained), row.people(row.lost)
    corrected = f", corrected for {looks} groups" if looks > 1 else ""
    needed = ""
    if judged.people_needed is not None:
        needed = f" About {judged.people_needed:,} people of that group would settle it."
    gross = ""
    if judged.decided_by != name:
        gross = f" Changed in all: {stated(row.changed, 100, ' points')}."
    return (
        f"{begin}, and {after} with {row.attribute} {_word(row.target)} instead of {_word(row.source)}: "
        f"{count(gained)} gain it and {count(lost)} lose it. Net share: {stated(row.net, 100, ' points')}"
        f"{corrected}.{gross}{needed} For the people audited the change is known exactly; "
        "the interval is about people like them."
    )


def unread(rows: Sequence[SwapRow]) -> str:
    """Say that the model does not read what was changed, and no more than that."""
    names = list(dict.fromkeys(row.attribute for row in rows if not row.read))
    named = _listed(names)
    return (
        f"the model does not read {named}, so changing it alone changes nothing; other columns may stand in"
    )


def notes(
    rows: Sequence[SwapRow], *, pairs_left: int, groups_left: int, stand_ins: Sequence[tuple[str, str]]
) -> Iterator[str]:
    """Yield what a reader should know of the numbers."""
    if any(row.read for row in rows) and not all(row.read for row in rows):
        said = unread(rows)
        yield f"{said[:1].upper()}{said[1:]}."
    for attribute, column in stand_ins:
        yield f"“{column}” tells {attribute} exactly, and the model reads it. It stays as it is here."
    if pairs_left:
        yield f"{several(pairs_left, 'pair')} of values of smaller groups were not asked about (max_pairs)."
    if groups_left:
        yield f"{several(groups_left, 'smaller group')} are not shown."
    small = sum(not row.covered for row in rows)
    if small:
        yield f"An all-clear does not cover {several(small, 'small group')}: below 50 people, or a tenth."
    yield "This is not another life: whatever else goes with the value stays as it is."


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_MOST_NAMED]) + ["others"] * (len(names) > _MOST_NAMED)
    return " or ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _word(value: str, most: int = 99) -> str:
    return f"“{brief(in_words(value), most)}”"
