"""What the people of groups are called, alone and two beside each other."""

from __future__ import annotations

from collections.abc import Iterator

from audits.data import named_with
from audits.groups.result import AmountRow, GroupRow
from audits.stats.text import people_in
from audits.text import attributes_in, brief, cut_apart

_IN_TITLE = 80  # letters of two names that a title has room for


def people_of(row: GroupRow | AmountRow) -> str:
    """Word the people of a group, whose value is told with its attribute where it says nothing alone."""
    return people_in(named_with(row.attribute, row.group))


def title_pair(attribute: str, group: str, other: str) -> tuple[str, str]:
    """Return the names of two groups; what is too long for a title from where they differ."""
    mine, its = (named_with(attribute, each) for each in (group, other))
    if len(mine) + len(its) > _IN_TITLE:
        mine, its = cut_apart(mine, its, 4), cut_apart(its, mine, 4)
    return people_in(mine), people_in(its)


def name_pairs(first: GroupRow | AmountRow, second: GroupRow | AmountRow) -> Iterator[tuple[str, str]]:
    """Yield the names of two groups, in ever fewer words."""
    ours, theirs = people_of(first), people_of(second)
    mine, its = (named_with(each.attribute, each.group) for each in (first, second))
    of, its_of = attributes_in(first.attribute), attributes_in(second.attribute)
    short = brief(people_in(cut_apart(its, mine, 4)), 99, of=its_of)
    theirs_short = "the reference group" if second.is_reference else short
    yield ours, theirs
    yield brief(ours, 99, of=of), brief(theirs, 99, of=its_of)
    yield brief(ours, of=of), theirs_short
    yield brief(people_in(cut_apart(mine, its, 5)), 99, of=of), theirs_short
