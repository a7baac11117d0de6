"""Who is compared: every group's people, and what they are matched on, as points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from audits.barycenter.options import MAX_SECONDS, BarycenterOptions, in_all
from audits.checks import one_of
from audits.data import AuditData, group_name
from audits.data.report_lines import ReportLine
from audits.errors import InputError
from audits.flipset.counterparts.matching import Group
from audits.flipset.counterparts.people import axes_of, draw_people, encode, smallest_limit
from audits.models import Subject
from audits.progress import Progress
from audits.text import join_names
from audits.transport import Cost
from audits.transport.atoms import Atoms
from audits.transport.levels import level_members

_MIN_DRAWN = 200  # of every group, where there are as many: a small one is not thinned like a large one


@dataclass(frozen=True, eq=False)
class GroupComparison:
    """What a barycenter audit is carried out on.

    Attributes
    ----------
    rows : array of int (n,)
        Positions of the people compared in the audited data.
    group : array of int (n,)
        Group of each of them, into `names`.
    points : array (n, d)
        Encoded features, those that do not vary left out.
    decisions : array (n,)
        1 where favorable.
    sizes : array (n,)
        People each row stands for.
    shares : array (k,)
        What each group counts in the barycenter; sums to 1.
    axes : tuple of str
        Names of the columns of `points`.
    lines : tuple of ReportLine
        How the transparency report reads them.
    levels : dict
        Level of a feature to who (n,) is in it.
    cost : str
        Distance that matching keeps small.
    """

    subject: Subject
    options: BarycenterOptions
    by: tuple[str, ...]
    names: tuple[str, ...]
    rows: np.ndarray
    group: np.ndarray
    points: np.ndarray
    decisions: np.ndarray
    sizes: np.ndarray
    shares: np.ndarray
    axes: tuple[str, ...]
    lines: tuple[ReportLine, ...]
    levels: dict[str, np.ndarray]
    cost: Cost
    left_out: dict[str, int]
    warnings: tuple[str, ...]

    @cached_property
    def limit(self) -> float:
        """Difference of favorable rates that matters: the auditor's, or less where rates are low."""
        rate = float(self.sizes @ self.decisions / self.sizes.sum())
        return smallest_limit(self.options, rate, rate)

    @property
    def n(self) -> np.ndarray:
        """People of each group who are compared, (k,)."""
        return np.bincount(self.group, self.sizes, len(self.names))

    @cached_property
    def groups(self) -> list[Group]:
        """Every group's people, as atoms."""
        places = (np.flatnonzero(self.group == k) for k in range(len(self.names)))
        return [Group.build(rows, self.points, self.sizes) for rows in places]

    @cached_property
    def favored(self) -> list[np.ndarray]:
        """Favorable share of each atom's people, a group an array (a,)."""
        return [group.mean(self.decisions) for group in self.groups]


def compare(
    subject: Subject, options: BarycenterOptions, rng: np.random.Generator, progress: Progress
) -> GroupComparison:
    """Score and encode people, and choose who is compared.

    Raises
    ------
    InputError
        An attribute is not protected, fewer than two groups are large enough, or no feature is left.
    """
    data = subject.data
    by = _attributes(data, options)
    progress(0.0, "Scoring people")
    decided = np.asarray(subject.decisions, dtype=bool)
    sizes = data.row_weights
    names, group, left_out, warnings = _groups(data, by, sizes, options)
    progress(0.03, "Encoding people")
    cost = _cost(options, len(names))
    encoded = encode(subject, by, audit="barycenter")
    rows = np.flatnonzero(group >= 0)
    totals = np.bincount(group[rows], sizes[rows], len(names))
    different, width = len(Atoms.merge(encoded.values[rows], np.ones(len(rows))).first), len(encoded.keep)
    counts = _affordable(group, decided, np.where(group >= 0, sizes, 0.0), (different, width), options, rng)
    drawn = np.flatnonzero(counts > 0)
    before, after = round(float(sizes[rows].sum())), round(float(counts.sum()))
    if after < before:
        left_out["not drawn into the sample"] = before - after
        minutes = max(1, round(in_all(different, width, options.rounds) / 60))
        why = (
            f"matching everyone would take about {minutes:,} min (max_people asks for more)"
            if options.max_people is None
            else f"max_people is {options.max_people:,}"
        )
        warnings.append(
            f"Of {before:,} people a random {after:,} were matched, by group and decision, because {why}. "
            "Intervals are of those matched."
        )
    kept = encoded.values[drawn]
    varies = np.ptp(kept, axis=0) > 0
    varies[0] |= not varies.any()
    every = [name for block in subject.space.parts if block.column not in by for name in block.names]
    people = totals / totals.sum()
    return GroupComparison(
        subject=subject,
        options=options,
        by=by,
        names=names,
        rows=drawn,
        group=group[drawn],
        points=np.ascontiguousarray(kept[:, varies]),
        decisions=decided[drawn].astype(float),
        sizes=counts[drawn],
        shares=people if options.weights == "people" else np.full(len(names), 1 / len(names)),
        axes=tuple(np.array(every, dtype=object)[varies]),
        lines=_varying(axes_of(subject, encoded.columns, kept, counts[drawn]), np.flatnonzero(varies)),
        levels=level_members(data.frame[list(encoded.columns)].iloc[drawn], encoded.scaled, counts[drawn]),
        cost=cost,
        left_out=left_out,
        warnings=tuple(warnings),
    )


def _varying(lines: Sequence[ReportLine], columns: np.ndarray) -> tuple[ReportLine, ...]:
    """Keep the lines of those columns of the points that vary, by their place among these."""
    places = {int(column): place for place, column in enumerate(columns)}
    return tuple(
        replace(line, index=places[line.index], missing=places.get(line.missing))  # type: ignore[arg-type]
        for line in lines
        if line.index in places
    )


def _attributes(data: AuditData, options: BarycenterOptions) -> tuple[str, ...]:
    if not data.protected:
        raise InputError("barycenter", "needs a protected attribute", advice="set data.protected")
    by = tuple(dict.fromkeys(options.by or data.protected[:1]))
    for name in by:
        one_of("barycenter.by", name, data.protected, what="a protected attribute")
    return by


def _groups(
    data: AuditData, by: Sequence[str], sizes: np.ndarray, options: BarycenterOptions
) -> tuple[tuple[str, ...], np.ndarray, dict[str, int], list[str]]:
    """Names of the groups, the largest first, and the group of each row; -1 for those left out."""
    combinations = data.groups.rename_axis(None).groupby(list(by), sort=True, observed=True)
    combined = combinations.ngroup().to_numpy()
    values = [key if isinstance(key, tuple) else (key,) for key in combinations.size().index]
    every = [group_name(dict(zip(by, each, strict=True))) for each in values]
    people = np.bincount(combined, sizes)
    order = np.argsort(-people, kind="stable")
    kept = [int(k) for k in order if people[k] >= options.fewest]
    names = [every[k] for k in kept]
    if len(kept) < 2:
        raise InputError(
            "barycenter.fewest",
            f"must leave at least 2 groups of {', '.join(by)}, but leaves {len(kept)} of {len(every)}",
            options.fewest,
            "lower it, or choose another attribute",
        )
    places = np.full(len(every), -1)
    places[kept] = np.arange(len(kept))
    group = places[combined]
    few = [every[int(k)] for k in order if people[k] < options.fewest]
    left_out: dict[str, int] = {}
    warnings = []
    if few:
        left_out[f"in a group of fewer than {options.fewest:,} people"] = int((group < 0).sum())
        warnings.append(
            f"Left out, with fewer than {options.fewest:,} people: {join_names(few, most=6)}. "
            "They are not counted anywhere here."
        )
    return tuple(names), group, left_out, warnings


def _cost(options: BarycenterOptions, groups: int) -> Cost:
    """The cost asked for, or the usual one of so many groups.

    Raises
    ------
    InputError
        Three groups or more are to meet at another cost than squared Euclidean distance.
    """
    if groups == 2:
        return options.cost or "l1_squared"
    if options.cost not in {None, "l2_squared"}:
        raise InputError(
            "barycenter.cost",
            f"must be 'l2_squared' for {groups} groups: only with that cost is a barycenter a mean of people",
            options.cost,
            "leave it out, or compare two groups at a time with flipset",
        )
    return "l2_squared"


def _affordable(
    group: np.ndarray,
    decided: np.ndarray,
    sizes: np.ndarray,
    shape: tuple[int, int],
    options: BarycenterOptions,
    rng: np.random.Generator,
) -> np.ndarray:
    """People of each row (n,) to be matched: all, or a sample in the proportions of decisions in every group.

    What matching costs goes by different people, `shape` of them in so many dimensions.
    """
    people = np.bincount(group[group >= 0], sizes[group >= 0])
    most = total = round(float(people.sum()))
    if options.max_people is not None:
        most = min(most, options.max_people)
    else:
        share = 1.0
        while in_all(int(share * shape[0]), shape[1], options.rounds) > MAX_SECONDS:
            share *= 0.95
        most = int(share * total)
    if most == total:
        return sizes
    counts, sets = sizes.copy(), [np.flatnonzero(group == k) for k in range(len(people))]
    draw_people(sets, decided, counts, most, rng, least=min(_MIN_DRAWN, most // len(people)))
    return counts
