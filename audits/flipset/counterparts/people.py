"""Who is compared: both groups' people, stratum by stratum, and what they are matched on, as points."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import check_apart, one_of
from audits.data import AuditData, group_name
from audits.data.report_lines import ReportLine, report_lines
from audits.errors import InputError
from audits.flipset import options as budget
from audits.flipset.options import FlipsetOptions
from audits.models import Subject
from audits.progress import Progress
from audits.stats import apportion, draw_counts, limit_of
from audits.stats.text import people_in
from audits.text import join_names
from audits.transport import estimated_bytes, estimated_seconds
from audits.transport.atoms import Atoms

_MAX_STRATA = 20


@dataclass(frozen=True, eq=False)
class Comparison:
    """What a flipset audit is carried out on.

    Attributes
    ----------
    subject : Subject
    options : FlipsetOptions
    decisions : bool array (n,)
        Favorable decisions of all audited people.
    sizes : array (n,)
        People each row stands for.
    encoded : Encoded
        All audited people as points.
    chosen : Chosen
        Which of them are compared.
    """

    subject: Subject
    options: FlipsetOptions
    decisions: np.ndarray
    sizes: np.ndarray
    encoded: EncodedFeatures
    chosen: StratifiedPositions

    @property
    def width(self) -> int:
        """Encoded features."""
        return self.encoded.values.shape[1]

    @cached_property
    def limit(self) -> float:
        """Difference of favorable rates that matters: the auditor's, or less where rates are low."""
        sides = [np.concatenate([each[k] for each in self.chosen.strata]) for k in (1, 2)]
        people = [float(self.sizes[side].sum()) for side in sides]
        favored = [float(self.sizes[side] @ self.decisions[side]) for side in sides]
        rate, overall = favored[1] / people[1], sum(favored) / sum(people)
        return smallest_limit(self.options, rate, overall)

    @property
    def raw(self) -> pd.DataFrame:
        """The features matched on, as the user wrote them."""
        return self.subject.data.frame[list(self.encoded.columns)]


def smallest_limit(options: Any, rate: float, overall: float) -> float:
    """Return the difference of favorable rates that matters, either way, at these rates."""
    return float(np.abs(limit_of(options.material, options.material_on, rate=rate, overall=overall)).min())


def compare(
    subject: Subject, options: FlipsetOptions, rng: np.random.Generator, progress: Progress
) -> Comparison:
    """Score and encode people, and choose who is compared.

    Raises
    ------
    InputError
        As `choose` and `encode` say.
    """
    data = subject.data
    progress(0.0, "Scoring people")
    decisions = np.asarray(subject.decisions, dtype=bool)
    progress(0.03, "Encoding people")
    groups = {*options.source, *options.target}
    encoded = encode(subject, groups, options.feature_weights, audit="flipset")
    chosen, sizes = choose(data, options, decisions, data.row_weights, encoded.values, rng)
    return Comparison(subject, options, decisions, sizes, encoded, chosen)


@dataclass(frozen=True)
class StratifiedPositions:
    """Positions of the two groups' people per stratum, who was left out and why, and groups not compared."""

    source: str
    target: str
    strata: tuple[tuple[str, np.ndarray, np.ndarray], ...]
    left_out: dict[str, int]
    warnings: tuple[str, ...]
    not_compared: tuple[str, ...] = ()


def choose(
    data: AuditData,
    options: FlipsetOptions,
    decisions: np.ndarray,
    sizes: np.ndarray,
    points: np.ndarray,
    rng: np.random.Generator,
) -> tuple[StratifiedPositions, np.ndarray]:
    """Pick source and target people, matched only within a stratum, and how many each row then stands for.

    Parameters
    ----------
    decisions : array (n,)
        Favorable decisions: a subsample keeps their share.
    sizes : array (n,)
        People each row stands for.
    points : array (n, d)
        Encoded features, for the estimate of what matching costs.

    Raises
    ------
    InputError
        A group is empty or a single person, the groups share people, or the conditioning column is unknown.
    """
    source = data.members(options.source, argument="flipset.source")
    target = data.members(options.target, argument="flipset.target")
    names = group_name(options.source), group_name(options.target)
    check_apart("flipset", source, target, options.target)
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
    not_compared = _not_compared(data, options, sizes, ~source & ~target)
    if not_compared:
        warnings.append(
            f"Only {people_in(names[0])} and {people_in(names[1])} are compared. "
            f"Not compared: {join_names(not_compared, most=6)}."
        )
    strata, sizes = _affordable(strata, options, decisions, sizes, points, rng, left_out, warnings)
    return StratifiedPositions(*names, tuple(strata), left_out, tuple(warnings), not_compared), sizes


def _not_compared(
    data: AuditData, options: FlipsetOptions, sizes: np.ndarray, neither: np.ndarray
) -> tuple[str, ...]:
    """Name the groups by the attributes compared that are in neither, with their share of all people."""
    if not neither.any():
        return ()
    by = list(dict.fromkeys([*options.source, *options.target]))
    people = pd.Series(sizes[neither]).groupby([data.groups[name].to_numpy()[neither] for name in by]).sum()
    found = []
    for key, count in people.sort_values(ascending=False).items():
        values = key if isinstance(key, tuple) else (key,)
        share = 100 * count / sizes.sum()
        found.append(f"{people_in(group_name(dict(zip(by, values, strict=True))))} ({share:.2g}% of all)")
    return tuple(found)


Strata = list[tuple[str, np.ndarray, np.ndarray]]


def _strata(
    data: AuditData, column: str | None, source: np.ndarray, target: np.ndarray, left_out: dict[str, int]
) -> Strata:
    values = np.full(data.n, "") if column is None else _condition(data, column)
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
            "must leave people of both groups with the same value",
            column,
            "choose another column, or none",
        )
    return found


def _condition(data: AuditData, column: str) -> np.ndarray:
    if column == data.label or (column == "label" and column not in data.frame.columns):
        if data.y is None:
            raise InputError(
                "flipset.condition_on",
                "needs the true label, but the data have none",
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
    if len(np.unique(text)) > _MAX_STRATA:
        raise InputError(
            "flipset.condition_on",
            f"must have at most {_MAX_STRATA} values, but {column!r} has {len(np.unique(text)):,}",
            advice="cut it with data.bins, or choose another column",
        )
    return text


def _affordable(
    strata: Strata,
    options: FlipsetOptions,
    decisions: np.ndarray,
    sizes: np.ndarray,
    points: np.ndarray,
    rng: np.random.Generator,
    left_out: dict[str, int],
    warnings: list[str],
) -> tuple[Strata, np.ndarray]:
    """Draw a subsample of people, stratified on stratum and decision, of groups too large to match exactly.

    What matching costs goes by different people: those alike in every feature are one. Maps are fitted to
    everyone.
    """
    width = points.shape[1]
    different = [(_different(points[ours]), _different(points[theirs])) for _, ours, theirs in strata]
    share = 1.0
    if options.max_people is None and options.transport == "exact":
        share = budget.share_matched(different, width)
    before = _people(strata, sizes)
    most = [
        int(share * size) if options.max_people is None else min(options.max_people, size) for size in before
    ]
    if most == before:
        return strata, sizes
    counts = sizes.copy()
    draw_people([ours for _, ours, _ in strata], decisions, counts, most[0], rng)
    draw_people([theirs for _, _, theirs in strata], decisions, counts, most[1], rng)
    drawn = [(value, s[counts[s] > 0], t[counts[t] > 0]) for value, s, t in strata]
    drawn = [item for item in drawn if len(item[1]) and len(item[2])]
    if not drawn:
        raise InputError(
            "flipset.max_people",
            f"must leave at least one person of both groups in each stratum; there are {len(strata)}",
            options.max_people,
            "raise it, or remove the condition",
        )
    after = _people(drawn, counts)
    left_out["not drawn into the subsample"] = sum(before) - sum(after)
    if options.max_people is None:
        seconds = sum(estimated_seconds(n, m, width) for n, m in different)
        memory = max(estimated_bytes(n, m, width) for n, m in different)
        why = (
            f"matching everyone exactly would take about {_minutes(seconds)} and {memory / 2**30:.1f} GB; "
            f"to do it anyway, set max_people to {max(before):,}"
        )
    else:
        why = f"max_people is {options.max_people:,}"
    warnings.append(
        f"Of {before[0]:,} source and {before[1]:,} target people, a random {after[0]:,} and {after[1]:,} "
        f"were matched (same share of favorable decisions), because {why}. Intervals are for those "
        f"matched, about {_wider(before, after):.2g} times as wide as with everyone."
    )
    return drawn, counts


def _people(strata: Strata, sizes: np.ndarray) -> list[int]:
    """How many people of the source and of the target there are."""
    return [
        round(sum(float(sizes[rows].sum()) for rows in side)) for side in list(zip(*strata, strict=True))[1:]
    ]


def _different(points: np.ndarray) -> int:
    """How many different people there are."""
    return len(Atoms.merge(points, np.ones(len(points))).first)


def _wider(before: list[int], after: list[int]) -> float:
    """Return how many times as wide an interval of a difference of shares is in the subsample."""
    variance = [1 / ours + 1 / theirs for ours, theirs in (after, before)]
    return float(np.sqrt(variance[0] / variance[1]))


def _minutes(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    return f"{minutes:,} minute{'s' if minutes > 1 else ''}"


def draw_people(
    sets: Sequence[np.ndarray],
    decisions: np.ndarray,
    counts: np.ndarray,
    most: int,
    rng: np.random.Generator,
    *,
    least: int = 1,
) -> None:
    """Leave at most `most` people in `counts` (n,), in proportion to `sets` of rows and decisions in each."""
    places = apportion(np.array([counts[rows].sum() for rows in sets]), most, least=least)
    for rows, wanted in zip(sets, places, strict=True):
        sides = [rows[decisions[rows]], rows[~decisions[rows]]]
        shares = apportion(np.array([counts[side].sum() for side in sides]), int(wanted))
        for side, n in zip(sides, shares, strict=True):
            if len(side):
                counts[side] = draw_counts(counts[side], int(n), rng)


@dataclass(frozen=True, eq=False)
class EncodedFeatures:
    """Features of all audited people in standardized units.

    Attributes
    ----------
    values : array (n, d)
    weights : array (d,)
        Weight of each encoded column in the cost.
    columns : tuple of str
        The raw features behind them.
    axes : list of ReportLine
        The lines of a transparency report.
    scaled : dict
        Raw feature to whether its values are numbers with a scale.
    keep : array of int (d,)
        Their places among the columns of the subject's feature space.
    """

    values: np.ndarray
    weights: np.ndarray
    columns: tuple[str, ...]
    axes: list[ReportLine]
    scaled: dict[str, bool]
    keep: np.ndarray


def encode(
    subject: Subject, compared: Collection[str], weights: Mapping[str, float] | None = None, *, audit: str
) -> EncodedFeatures:
    """Encode every feature but the attributes `compared`, that tell the groups apart.

    Those attributes differ for every pair by definition, so they say nothing about who is similar; the
    counterpart keeps its own values of them when it is scored.

    Raises
    ------
    InputError
        No feature is left to match on, or a weight names no feature.
    """
    space, data, weights = subject.space, subject.data, weights or {}
    for name in weights:
        one_of(f"{audit}.feature_weights", name, space.columns, what="a feature")
    columns = tuple(block.column for block in space.parts if block.column not in compared)
    if not columns:
        advice = "add features other than the groups' attributes"
        raise InputError(audit, "has no feature left to match people on", advice=advice)
    slices = [space.blocks[name] for name in columns]
    keep = np.concatenate([np.arange(each.start, each.stop) for each in slices])
    each = np.repeat([float(weights.get(name, 1.0)) for name in columns], [s.stop - s.start for s in slices])
    if not each.any():
        where = f"{audit}.feature_weights"
        raise InputError(where, "must leave at least one feature a weight above 0", weights)
    values = np.ascontiguousarray(space.encode(data.frame)[:, keep])
    return EncodedFeatures(
        values=values,
        weights=each,
        columns=columns,
        axes=axes_of(subject, columns, values, data.row_weights),
        scaled={name: data.kinds[name] in {"continuous", "integer", "datetime"} for name in columns},
        keep=keep,
    )


def axes_of(
    subject: Subject, columns: Collection[str], points: np.ndarray, sizes: np.ndarray
) -> list[ReportLine]:
    """Return the lines of a transparency report of these columns, for people as `points` (n, d)."""
    found: list[ReportLine] = []
    first = 0
    for block in subject.space.parts:
        if block.column in columns:
            after = first + len(block.names)
            found += report_lines(block, first, points[:, first:after], sizes)
            first = after
    return found
