"""The explain audit: check, decompose by every explainer alone, choose the best few, measure them apart."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from audits.checks import generator, one_of
from audits.data import group_name
from audits.errors import InputError
from audits.explain.decomposing import (
    CellCounts,
    chance_within,
    codes_of,
    estimates,
    joined,
)
from audits.explain.options import ExplainOptions
from audits.explain.result import Explained, ExplainResult, ValueRow
from audits.explain.words import finding, warnings_for
from audits.models import Subject
from audits.progress import Progress, silent
from audits.stats import POWER, Estimate, Judged, judge, wilson
from audits.stats.intervals import cautious_difference

__all__ = ["explain"]

_FEWEST = 20  # people of each group in a half
_COVERED = 0.8  # of both groups, by explainers taken together
_MOST_VALUES = 30
_SCALED = {"continuous", "integer", "datetime"}


def explain(
    subject: Subject,
    options: ExplainOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> ExplainResult:
    """Say how much of a gap between two groups is left among people alike in what may explain it.

    Parameters
    ----------
    subject : Subject
        Data, model and threshold under audit.
    options : ExplainOptions
        The two groups, and what may explain their gap.
    rng : Generator, int or None
        Halves, bootstrap and permutations; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Returns
    -------
    ExplainResult
        A gap of which nothing is left goes with what the groups differ in; one that is left does not.

    Raises
    ------
    InputError
        A group is empty or shares people with the other; a column is unknown, protected unless named, or the
        data have no label where labels are compared.
    """
    rng = generator(rng)
    progress(0.0, "Scoring people")
    people = _people(subject, options)
    names = _explainers(subject, options)
    codes, values = {}, {}
    for name in names:
        scaled = subject.data.kinds[name] in _SCALED
        codes[name], values[name] = codes_of(
            subject.data.frame[name].iloc[people.rows], scaled=scaled, bins=options.bins
        )
    level = options.level / max(len(names), 1)
    n, f, m, g = people.totals()
    gap = cautious_difference(f, n, g, m, level=options.level)
    each = []
    for k, name in enumerate(names):
        progress(0.1 + 0.6 * k / len(names), f"Comparing people alike in {name}")
        each.append(_alone(people.count(codes[name]), (name,), gap, options, level, rng))
    each.sort(key=lambda item: (item.kind != "reversed", -_shrinks(item, gap), item.name))
    progress(0.7, "Choosing the best few on one half")
    half = _half(people, rng)
    chosen = _best(people, codes, options, half, rng)
    together = _alone(
        people.count(joined([codes[name] for name in chosen], len(people.rows)), ~half),
        chosen,
        gap,
        options,
        options.level,
        rng,
    )
    judged = _judged(together, tuple(each), people, half, options, _unseen(people, codes, half))
    progress(0.95, "Comparing values")
    shown = _values(people, codes, values, each[0].columns[0], options) if each else ()
    source, target = group_name(options.source), group_name(options.target)
    return ExplainResult(
        options=dataclasses.asdict(options),
        source=source,
        target=target,
        outcome=subject.outcome if options.outcome == "decision" else "favorable label",
        judged=judged,
        finding=finding(source, target, gap, tuple(each), together, judged, options.material),
        warnings=warnings_for(tuple(each), together, chosen),
        n_source=n,
        n_target=m,
        rows={"audited": subject.data.n, "used": len(people.rows)},
        gap=gap,
        source_rate=wilson(f, n, level=options.level),
        target_rate=wilson(g, m, level=options.level),
        each=tuple(each),
        together=together,
        values=shown,
    )


@dataclass(frozen=True, eq=False)
class _People:
    """Who is compared: positions, whether of the source, whether favoured, people the row stands for."""

    rows: np.ndarray
    source: np.ndarray
    favored: np.ndarray
    sizes: np.ndarray

    def totals(self) -> tuple[float, float, float, float]:
        """People and favoured people of the source and of the target."""
        cells = self.count(np.zeros(len(self.rows), dtype=np.int64))
        return (
            float(cells.source[0]),
            float(cells.source_favored[0]),
            float(cells.target[0]),
            float(cells.target_favored[0]),
        )

    def count(self, cell: np.ndarray, some: np.ndarray | None = None) -> CellCounts:
        """Count them by cell, all or `some` (n,) of them."""
        kept = slice(None) if some is None else some
        return CellCounts.count(cell[kept], self.source[kept], self.favored[kept], self.sizes[kept])


def _people(subject: Subject, options: ExplainOptions) -> _People:
    data = subject.data
    source = data.members(options.source, argument="explain.source")
    target = data.members(options.target, argument="explain.target")
    if (source & target).any():
        shared = f"must not share people with the source, but {int((source & target).sum()):,} are in both"
        raise InputError("explain.target", shared, options.target, "choose another value")
    for side, mask in (("source", source), ("target", target)):
        if not mask.any():
            raise InputError(f"explain.{side}", "has nobody in the audited data", getattr(options, side))
    if options.outcome == "label" and data.y is None:
        raise InputError("explain.outcome", "is 'label', but the data name none", advice="set data.label")
    favored = subject.decisions if options.outcome == "decision" else data.y
    rows = np.flatnonzero(source | target)
    sizes = np.ones(data.n) if data.weights is None else data.weights
    return _People(rows, source[rows], np.asarray(favored, dtype=bool)[rows], sizes[rows])


def _explainers(subject: Subject, options: ExplainOptions) -> tuple[str, ...]:
    """Columns that may explain: named ones, or features by their roles."""
    data = subject.data
    apart = {*options.source, *options.target}
    if options.explainers is not None:
        for name in options.explainers:
            one_of("explain.explainers", name, data.frame.columns, what="a column of the data")
            if name in apart:
                raise InputError(
                    "explain.explainers", "must not name what tells the groups apart", name, "leave it out"
                )
        return tuple(dict.fromkeys(options.explainers))
    return tuple(
        name
        for name in data.features
        if name not in {*apart, *data.protected} and data.roles.get(name) != "immutable"
    )


def _alone(
    cells: CellCounts,
    columns: tuple[str, ...],
    gap: Estimate,
    options: ExplainOptions,
    level: float,
    rng: np.random.Generator,
) -> Explained:
    """Decompose the gap over some cells."""
    told = estimates(cells, rng, draws=options.draws, level=level)
    distance, chance, p = chance_within(cells, rng, draws=min(options.draws, 999))
    covered = cells.covered
    return Explained(
        columns=columns,
        distance=distance,
        by_chance=chance,
        within_p=p,
        source_covered=covered[0],
        target_covered=covered[1],
        kind=_kind(gap, told["unexplained"], covered, options.material) if columns else "",
        **told,
    )


def _kind(gap: Estimate, left: Estimate, covered: tuple[float, float], material: float) -> str:
    """Whether a sure gap turns round among people alike, or all but vanishes there."""
    if None in (gap.low, gap.high, left.low, left.high, gap.value) or min(covered) < _COVERED:
        return ""
    if not (gap.low > 0 or gap.high < 0):  # type: ignore[operator]
        return ""
    way = np.sign(gap.value)  # type: ignore[arg-type]
    if (left.high < 0 and way > 0) or (left.low > 0 and way < 0):  # type: ignore[operator]
        return "reversed"
    within = -material <= left.low and left.high <= material  # type: ignore[operator]
    return "about 0 within" if within and abs(left.value or 0.0) < abs(gap.value or 0.0) / 4 else ""


def _shrinks(item: Explained, gap: Estimate) -> float:
    """By how much the gap is smaller within its values; explainers that cover few people come last."""
    if min(item.source_covered, item.target_covered) < _COVERED or item.unexplained.value is None:
        return -1.0
    return abs(gap.value or 0.0) - abs(item.unexplained.value)


def _half(people: _People, rng: np.random.Generator) -> np.ndarray:
    """A half of each group, drawn at random (n,)."""
    half = np.zeros(len(people.rows), dtype=bool)
    for side in (people.source, ~people.source):
        rows = np.flatnonzero(side)
        half[rng.permutation(rows)[: len(rows) // 2]] = True
    return half


def _best(
    people: _People,
    codes: dict[str, np.ndarray],
    options: ExplainOptions,
    half: np.ndarray,
    rng: np.random.Generator,
) -> tuple[str, ...]:
    """Choose on one half what goes with the gap for sure, the largest part first, while people stay alike.

    A column that makes the gap larger among people alike is chosen, too: to look away from it would be to
    choose the answer.
    """
    told = []
    for name, cell in codes.items():
        part = estimates(
            people.count(cell, half), rng, draws=options.draws, level=options.level / len(codes)
        )["explained"]
        if part.value is not None and part.low is not None and part.high is not None:
            told.append((abs(part.value), part.low > 0 or part.high < 0, name))
    chosen: tuple[str, ...] = ()
    for _, sure, name in sorted(told, key=lambda item: (-item[0], item[2])):
        if sure and len(chosen) < options.together:
            cells = people.count(joined([codes[each] for each in (*chosen, name)], len(half)), half)
            if min(cells.covered) >= _COVERED:
                chosen = (*chosen, name)
    return chosen


def _unseen(people: _People, codes: dict[str, np.ndarray], half: np.ndarray) -> list[str]:
    """Explainers that leave too few people alike, on either half, to be taken into account."""
    return [
        name
        for name, cell in codes.items()
        if min(min(people.count(cell, some).covered) for some in (half, ~half)) < _COVERED
    ]


def _judged(
    together: Explained,
    each: tuple[Explained, ...],
    people: _People,
    half: np.ndarray,
    options: ExplainOptions,
    unseen: list[str],
) -> Judged:
    """Judge what is left with the best few together, on the half that they were not chosen on.

    It is evidence only where something is left in each explainer by itself, too: of few people or rare
    decisions one half does not tell for sure that the column that explains it all goes with the gap.
    """
    left, material = together.unexplained, options.material
    rest = people.count(np.zeros(len(half), dtype=np.int64), ~half)
    few = min(float(rest.source[0]), float(rest.target[0]))
    if few < _FEWEST or left.low is None or left.high is None or left.value is None:
        nothing = dataclasses.replace(left, low=None, high=None)
        reason = f"fewer than {_FEWEST} people of a group are left to measure it on"
        return judge(nothing, immaterial=(-material, material), reason=reason)
    distrust = ""
    if unseen:
        distrust = f"too few people are alike in {', '.join(unseen[:3])} to take it into account"
    elif min(together.source_covered, together.target_covered) < _COVERED:
        distrust = f"too few people of the other half are alike in {together.name}"
    width = (left.high - left.low) / 2
    error = width / float(norm.isf(options.level / 2))
    # each of them has to be told from 0, so none shares its level with the others
    alone = [(_p_left(item, options.level / len(each)), item) for item in each]
    p, least = max(alone, key=lambda pair: pair[0], default=(0.0, together))
    reason = ""
    if p > options.level:
        reason = f"among people alike in {least.name} by itself nothing may be left"
    times = max(1.1, (width * (1 + float(norm.ppf(POWER)) / 1.96) / material) ** 2)
    return judge(
        left,
        immaterial=(-material, material),
        p_value=max(float(2 * norm.sf(abs(left.value) / error)), p),
        level=options.level,
        people_needed=int(np.ceil(2 * few * times / 10) * 10),  # twice: one half chooses
        reason=reason if left.low > 0 or left.high < 0 else "",
        only_estimated=distrust,
    )


def _p_left(item: Explained, level: float) -> float:
    """P-value of nothing being left in one explainer, its interval at `level`; it may turn round there."""
    left = item.unexplained
    if left.value is None or left.low is None or left.high is None:
        return 1.0
    error = (left.high - left.low) / 2 / float(norm.isf(level / 2))
    return float(2 * norm.sf(abs(left.value) / error))


def _values(
    people: _People,
    codes: dict[str, np.ndarray],
    values: dict[str, list[str]],
    name: str,
    options: ExplainOptions,
) -> tuple[ValueRow, ...]:
    """Both groups within each value of one explainer, the largest values first."""
    cells = people.count(codes[name])
    most = np.argsort(-(cells.source + cells.target), kind="stable")[:_MOST_VALUES]
    order = sorted(int(k) for k in most if cells.source[k] + cells.target[k] > 0)
    level = options.level / max(len(order), 1)
    rows = []
    for k in order:
        n, f, m, g = (
            float(side[k])
            for side in (cells.source, cells.source_favored, cells.target, cells.target_favored)
        )
        rows.append(
            ValueRow(
                values[name][k],
                n,
                m,
                f / n if n else None,
                g / m if m else None,
                cautious_difference(f, n, g, m, level=level)
                if n and m
                else Estimate(None, None, None, n + m, "nobody of one group"),
            )
        )
    return tuple(rows)
