"""Who is compared: the two groups, their strata, and a subsample where they are too large to match."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audits.data import AuditData, group_name
from audits.errors import InputError
from audits.flipsets.options import FlipsetOptions
from audits.transport import estimated_bytes, estimated_seconds

__all__ = ["Chosen", "choose"]

_MOST_SECONDS = 120.0
_MOST_BYTES = 4 * 2**30
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
        return seconds <= _MOST_SECONDS and max(estimated_bytes(n, m, width) for n, m in sizes) <= _MOST_BYTES

    share = 1.0
    if options.max_people is None and options.transport == "exact":
        while not fits(share):
            share *= 0.9
    before = [sum(len(group) for _, *groups in strata for group in groups[k : k + 1]) for k in (0, 1)]
    shares = [min(share, 1.0 if options.max_people is None else options.max_people / size) for size in before]
    if min(shares) >= 1.0:
        return strata
    drawn = [
        (value, _draw(s, decisions, shares[0], rng), _draw(t, decisions, shares[1], rng))
        for value, s, t in strata
    ]
    after = [sum(len(item[side]) for item in drawn) for side in (1, 2)]
    left_out["not drawn into the subsample"] = sum(before) - sum(after)
    why = (
        "matching everyone exactly would take more than about two minutes or 4 GB"
        if options.max_people is None
        else f"max_people is {options.max_people:,}"
    )
    warnings.append(
        f"Of {before[0]:,} source and {before[1]:,} target people, a random {after[0]:,} and {after[1]:,} "
        f"were matched (same share of favourable decisions), because {why}."
    )
    return drawn


def _draw(rows: np.ndarray, decisions: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """Draw `share` of `rows`, separately among the favourably and the unfavourably decided."""
    if share >= 1.0:
        return rows
    picked = [
        rng.choice(part, min(len(part), max(1, round(share * len(part)))), replace=False)
        for part in (rows[decisions[rows]], rows[~decisions[rows]])
        if len(part)
    ]
    return np.sort(np.concatenate(picked))
