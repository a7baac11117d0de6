"""Who is compared: the two groups, their strata, and a subsample where they are too large to match."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audits.data import AuditData, group_name
from audits.errors import InputError
from audits.flipset.options import FlipsetOptions
from audits.stats import apportion
from audits.transport import estimated_bytes, estimated_seconds

__all__ = ["MOST_BYTES", "MOST_SECONDS", "Chosen", "choose"]

MOST_SECONDS = 120.0
"""Time beyond which exact matching takes a subsample, unless everyone is asked for."""
MOST_BYTES = 4 * 2**30
"""Memory, likewise."""
_MOST_STRATA = 20


@dataclass(frozen=True)
class Chosen:
    """Positions of the two groups' people per stratum, and who was left out and why."""

    source: str
    target: str
    strata: tuple[tuple[str, np.ndarray, np.ndarray], ...]
    left_out: dict[str, int]
    warnings: tuple[str, ...]


def choose(
    data: AuditData, options: FlipsetOptions, decisions: np.ndarray, width: int, rng: np.random.Generator
) -> Chosen:
    """Pick source and target people, matched only within a stratum.

    Parameters
    ----------
    decisions : array (n,)
        Favourable decisions: a subsample keeps their share.
    width : int
        Encoded features, for the estimate of what matching costs.

    Raises
    ------
    InputError
        A group is empty or a single person, the groups share people, or the conditioning column is unknown.
    """
    source = data.members(options.source, argument="flipset.source")
    target = data.members(options.target, argument="flipset.target")
    names = group_name(options.source), group_name(options.target)
    shared = int((source & target).sum())
    if shared:
        raise InputError(
            "flipset.target",
            f"must not share people with the source, but {shared:,} are in both",
            options.target,
            "choose another value",
        )
    for side, mask, name in (("source", source, names[0]), ("target", target, names[1])):
        if mask.sum() < 2:
            raise InputError(
                f"flipset.{side}",
                f"needs at least 2 people, but the audited data have {int(mask.sum())} in the group {name!r}",
                advice="choose a larger group, or audit more rows",
            )
    left_out: dict[str, int] = {}
    strata = _strata(data, options.condition_on, source, target, left_out)
    neither = int((~source & ~target).sum())
    if neither:
        left_out["in neither group"] = neither
    warnings: list[str] = []
    strata = _affordable(strata, options, decisions, width, rng, left_out, warnings)
    return Chosen(*names, tuple(strata), left_out, tuple(warnings))


Strata = list[tuple[str, np.ndarray, np.ndarray]]


def _strata(
    data: AuditData, column: str | None, source: np.ndarray, target: np.ndarray, left_out: dict[str, int]
) -> Strata:
    if column is None:
        return [("", np.flatnonzero(source), np.flatnonzero(target))]
    values = _condition(data, column)
    found: Strata = []
    for value in sorted(set(values[source]) | set(values[target])):
        here = values == value
        ours, theirs = np.flatnonzero(source & here), np.flatnonzero(target & here)
        if len(ours) and len(theirs):
            found.append((value, ours, theirs))
        else:
            reason = f"no counterpart with {column} = {value}"
            left_out[reason] = len(ours) + len(theirs)
    if sum(len(ours) for _, ours, _ in found) < 2:
        raise InputError(
            "flipset.condition_on",
            "must leave people of both groups who agree in it",
            column,
            "choose another column, or none",
        )
    return found


def _condition(data: AuditData, column: str) -> np.ndarray:
    if column == data.label or (column == "label" and column not in data.frame.columns):
        if data.y is None:
            raise InputError(
                "flipset.condition_on",
                "needs the true label, but the data name none",
                advice="set data.label",
            )
        return np.where(data.y, "favorable label", "unfavorable label")
    if column in data.protected:
        values = data.groups[column]
    elif column in data.frame.columns:
        values = data.frame[column]
    else:
        raise InputError(
            "flipset.condition_on",
            "must be 'label' or a column of the data",
            column,
            f"choose 'label' or one of {', '.join(map(str, data.frame.columns[:12]))}",
        )
    text = values.astype("string").fillna("(missing)").to_numpy(dtype=object).astype(str)
    if len(np.unique(text)) > _MOST_STRATA:
        raise InputError(
            "flipset.condition_on",
            f"must have at most {_MOST_STRATA} values, but {column!r} has {len(np.unique(text)):,}",
            advice="cut it with data.bins, or choose another column",
        )
    return text


def _affordable(
    strata: Strata,
    options: FlipsetOptions,
    decisions: np.ndarray,
    width: int,
    rng: np.random.Generator,
    left_out: dict[str, int],
    warnings: list[str],
) -> Strata:
    """Draw a subsample, stratified on stratum and decision, of groups too large to match exactly.

    Maps are fitted to everyone.
    """

    def fits(share: float) -> bool:
        sizes = [(int(len(s) * share) + 1, int(len(t) * share) + 1) for _, s, t in strata]
        seconds = sum(estimated_seconds(n, m, width) for n, m in sizes)
        return seconds <= MOST_SECONDS and max(estimated_bytes(n, m, width) for n, m in sizes) <= MOST_BYTES

    share = 1.0
    if options.max_people is None and options.transport == "exact":
        while not fits(share):
            share *= 0.9
    before = [sum(len(item[side]) for item in strata) for side in (1, 2)]
    most = [
        int(share * size) if options.max_people is None else min(options.max_people, size) for size in before
    ]
    if most == before:
        return strata
    ours = _drawn([s for _, s, _ in strata], decisions, most[0], rng)
    theirs = _drawn([t for _, _, t in strata], decisions, most[1], rng)
    drawn = [(item[0], s, t) for item, s, t in zip(strata, ours, theirs, strict=True) if len(s) and len(t)]
    if not drawn:
        raise InputError(
            "flipset.max_people",
            f"must leave somebody in both groups of a stratum, of which there are {len(strata)}",
            options.max_people,
            "raise it, or condition on nothing",
        )
    after = [sum(len(item[side]) for item in drawn) for side in (1, 2)]
    left_out["not drawn into the subsample"] = sum(before) - sum(after)
    if options.max_people is None:
        seconds = sum(estimated_seconds(len(s), len(t), width) for _, s, t in strata)
        memory = max(estimated_bytes(len(s), len(t), width) for _, s, t in strata)
        why = (
            f"matching everyone exactly would take about {_minutes(seconds)} and {memory / 2**30:.1f} GB; "
            f"to have it done all the same, set max_people to {max(before):,}"
        )
    else:
        why = f"max_people is {options.max_people:,}"
    warnings.append(
        f"Of {before[0]:,} source and {before[1]:,} target people, a random {after[0]:,} and {after[1]:,} "
        f"were matched (same share of favorable decisions), because {why}."
    )
    return drawn


def _minutes(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes:,} minute{'s' if minutes > 1 else ''}"


def _drawn(
    strata: list[np.ndarray], decisions: np.ndarray, most: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Draw at most `most` rows in all, in proportion to strata and to decisions within each."""
    places = apportion(np.array([len(rows) for rows in strata]), most, least=1)
    found = []
    for rows, wanted in zip(strata, places, strict=True):
        sides = [rows[decisions[rows]], rows[~decisions[rows]]]
        counts = apportion(np.array([len(side) for side in sides]), wanted)
        picked = [rng.choice(side, n, replace=False) for side, n in zip(sides, counts, strict=True) if n]
        found.append(np.sort(np.concatenate(picked)) if picked else rows[:0])
    return found
