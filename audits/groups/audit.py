"""The groups audit: count, rate, compare with the reference, judge."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pandas as pd

from audits.checks import checked, generator, one_of
from audits.data import group_name
from audits.errors import InputError
from audits.groups.comparison import Sorted, compare, sort_people
from audits.groups.options import GroupsOptions
from audits.groups.result import GroupRow, GroupsResult, Spread
from audits.models import Subject
from audits.progress import Progress, silent
from audits.stats import EVIDENCE, INSUFFICIENT, NO_EVIDENCE, Verdict
from audits.stats.words import count, percent_interval

__all__ = ["LABEL", "groups", "groups_from_people", "most_telling", "with_sign"]

LABEL = "favorable label"


def groups(
    subject: Subject,
    options: GroupsOptions | None = None,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> GroupsResult:
    """Compare the groups of each protected attribute, and of their intersections.

    Parameters
    ----------
    subject : Subject
        Data, model and threshold under audit. Without a label only selection rates exist.
    options : GroupsOptions
        What the auditor chose; the defaults where it is left out.
    rng : Generator or int
        Decides the bootstrap's draws, and nothing else here.

    Returns
    -------
    GroupsResult
        Differences of 0 and ratios of 1 say that the groups are treated alike.

    Raises
    ------
    InputError
        An attribute is not protected, the reference is unknown, or there are fewer than two groups.
    """
    options = checked(GroupsOptions, options, "groups")
    data = subject.data
    progress(0.0, "Scoring people")
    people = pd.DataFrame(
        {
            "score": subject.scores,
            "decision": np.asarray(subject.decisions, dtype=bool),
            "people": np.ones(data.n) if data.weights is None else data.weights,
        },
        index=data.frame.index,
    )
    if data.y is not None:
        people[LABEL] = data.y
    people = people.join(data.groups.add_prefix("group: "))
    seed = int(generator(rng).integers(2**32))
    result = groups_from_people(people, data.protected, options, subject.outcome, data.n, seed)
    return with_sign(result, subject.higher_is)


def with_sign(result: GroupsResult, higher_is: str) -> GroupsResult:
    """Return the result, which says so where scores are risks and are shown with their sign turned."""
    if higher_is != "unfavorable":
        return result
    turned = "Scores are risks here and are shown with their sign turned, so that higher is better."
    return dataclasses.replace(result, warnings=(*result.warnings, turned))


def groups_from_people(
    people: pd.DataFrame,
    protected: tuple[str, ...],
    options: GroupsOptions,
    outcome: str,
    audited: int,
    seed: int,
) -> GroupsResult:
    """Compare groups from the people's table alone: what a threshold slider calls.

    `seed` decides the bootstrap's draws, so that a moved threshold is the only thing that changes.
    """
    rng = np.random.default_rng(seed)
    attributes = _attributes(protected, options)
    score = people["score"].to_numpy(dtype=float)
    # a risk score has its sign turned: it reaches from -1 to 0, not from 0 to 1
    low, high = (-1.0, 0.0) if score.max() <= 0 and score.min() < 0 else (0.0, 1.0)
    edges = np.linspace(min(score.min(), low), max(score.max(), high), 21)
    y = people[LABEL].to_numpy(dtype=bool) if LABEL in people else None
    split = [
        sort_people(people[[f"group: {name}" for name in names]], names, people, y, edges)
        for names in attributes
    ]
    looks = sum(max(len(item.names) - 1, 0) for item in split) * (3 if y is not None else 1)
    if looks == 0:
        raise InputError("groups.by", "needs at least two groups with people in them")
    table: list[GroupRow] = []
    spreads: list[Spread] = []
    for item in split:
        rows, spread = compare(item, options, options.level / looks, rng)
        table += rows
        spreads.append(spread)
    verdict = _overall(table)
    return GroupsResult(
        options=dataclasses.asdict(options),
        outcome=outcome,
        verdict=verdict,
        finding=_finding(table, outcome, verdict, options.material),
        warnings=tuple(_warnings(split, y)),
        rows={"audited": audited, "used": len(people), "left_out": {}},
        table=tuple(table),
        spreads=tuple(spreads),
        score_edges=tuple(edges.tolist()),
        people=people,
        bootstrap_seed=seed,
        simultaneous_level=options.level / looks,
    )


def _attributes(protected: tuple[str, ...], options: GroupsOptions) -> list[tuple[str, ...]]:
    asked = options.by
    if asked is None:
        asked = (*protected, *((protected,) if len(protected) > 1 else ()))
    found = [(item,) if isinstance(item, str) else tuple(item) for item in asked]
    for names in found:
        for name in names:
            one_of("groups.by", name, protected, what="a protected attribute")
    for name in options.reference or {}:
        one_of("groups.reference", name, protected, what="a protected attribute")
    return found


def _overall(table: list[GroupRow]) -> Verdict:
    verdicts = {row.verdict for row in table}
    for verdict in (EVIDENCE, INSUFFICIENT):
        if verdict in verdicts:
            return verdict
    return NO_EVIDENCE


_WORDS = {
    "selection_rate": "",
    "true_positive_rate": " with a favorable label",
    "false_positive_rate": " with an unfavorable label",
}


def _finding(table: list[GroupRow], outcome: str, verdict: Verdict, material: float) -> str:
    low, high, rate = most_telling(table)
    if (getattr(low, rate).value or 0.0) > (getattr(high, rate).value or 0.0):
        low, high = high, low
    text = f"{_share_of(low, rate)} are decided favorably ({outcome}), against {_share_of(high, rate)}."
    seen = sum(row.verdict == EVIDENCE for row in table)
    if verdict == EVIDENCE:
        others = sum(not row.is_reference for row in table)
        if others == 1:
            return text
        differ = "differs from its" if seen == 1 else "differ from their"
        return f"{text} {seen} of {others} groups {differ} reference."
    row = high if low.is_reference else low
    if verdict != INSUFFICIENT:
        return text
    points = f"a {100 * material:.3g}-point difference"
    needed = row.differences[rate].people_needed
    if needed is not None:
        return f"{text} About {needed:,} people in each group would be needed to see {points}."
    small = [item for item in table if item.verdict == INSUFFICIENT]
    needs = [gap.people_needed for item in small for gap in item.differences.values() if gap.people_needed]
    others = sum(not item.is_reference for item in table)
    few = f"{text} {len(small)} of {others} groups {'has' if len(small) == 1 else 'have'} too few people"
    if not needs:
        return f"{few} to be compared."
    return f"{few}: about {max(needs):,} in each would be needed to see {points}."


def _share_of(row: GroupRow, rate: str) -> str:
    estimate = getattr(row, rate)
    name = row.group if " × " in row.attribute else group_name({row.attribute: row.group})
    return (
        f"{count((estimate.value or 0) * estimate.n)} of {count(estimate.n)} {name} people"
        f"{_WORDS[rate]} ({percent_interval(estimate)})"
    )


def most_telling(table: Sequence[GroupRow]) -> tuple[GroupRow, GroupRow, str]:
    """Return the group and the rate that is furthest from the reference's for sure, and the reference.

    Selection rates come first; error rates are told only where they alone differ for sure.
    """

    def surely(row: GroupRow, rate: str) -> float:
        gap = row.differences[rate].estimate
        return -1.0 if gap.low is None or gap.high is None else max(gap.low, -gap.high)

    others = [row for row in table if not row.is_reference]
    rate, row = "selection_rate", max(others, key=lambda row: surely(row, "selection_rate"))
    if surely(row, rate) <= 0:
        pairs = [(name, item) for item in others for name in item.differences]
        name, item = max(pairs, key=lambda pair: surely(pair[1], pair[0]))
        if surely(item, name) > 0:
            rate, row = name, item
    reference = next(item for item in table if item.is_reference and item.attribute == row.attribute)
    return row, reference, rate


def _warnings(split: list[Sorted], y: np.ndarray | None) -> list[str]:
    found = []
    if y is None:
        found.append("The data name no label, so error rates, precision and accuracy cannot be told.")
    for item in split:
        small = [name for name, n in zip(item.names, item.counts.n, strict=True) if n < 10]
        if small:
            found.append(
                f"{len(small)} group{'s' if len(small) > 1 else ''} of {item.attribute} with fewer than "
                f"10 people ({', '.join(small[:4])}{' …' if len(small) > 4 else ''}): rates say little there."
            )
    return found
