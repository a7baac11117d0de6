"""Who is in a flipset: how they differ from their counterparts (Definition 2), and from their own group.

The people behind the bars of a marginal, and two features at once (Figures 3 and 9).
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd

from audits.data.report_lines import ReportLine
from audits.data.values import MISSING
from audits.flipset.counterparts.matching import FlipLinks
from audits.flipset.result import CALIPER, SIMILAR, FeatureDifference, Marginal
from audits.stats import Estimate, as_people, draw_counts, holm, p_value, ratio_means, sign_balance
from audits.stats.intervals import percent_level
from audits.stats.means import ALIKE
from audits.transport.levels import numbers_of

_MIN = 10  # people below which a bootstrap interval would pretend to know


def _differences(links: list[FlipLinks], axis: ReportLine) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Per source atom the total difference in raw units, and the mass where known; people with more, less."""
    total, mass, more, less = [], [], 0.0, 0.0
    for part in links:
        row, column = part.mass.coords
        x, y, weight = part.x, part.points, part.mass.data
        gap = x[row, axis.index] - y[column, axis.index]
        if axis.missing is not None:
            unknown = (x[row, axis.missing] > 0) | (y[column, axis.missing] > 0)
            weight = np.where(unknown, 0.0, weight)
        total.append(np.bincount(row, weight * gap * axis.unit, len(x)))
        mass.append(np.bincount(row, weight, len(x)))
        more, less = more + float(weight[gap > 0].sum()), less + float(weight[gap < 0].sum())
    return np.concatenate(total), np.concatenate(mass), more, less


def report(
    links: list[FlipLinks],
    axes: list[ReportLine],
    rng: np.random.Generator,
    *,
    draws: int,
    level: float,
) -> tuple[FeatureDifference, ...]:
    """Rank the features by how far flipped people lie from their counterparts.

    Intervals of the mean differences hold for all features together (max-t bootstrap over people);
    those of the mean signs are Bonferroni-corrected. Both hold given this matching, not for
    others. Fewer than 10 flipped people get no interval.
    """
    size = sum(float(part.mass.data.sum()) for part in links)
    if size <= 0 or not axes:
        return ()
    columns = [_differences(links, axis) for axis in axes]
    totals, masses = (np.column_stack([column[i] for column in columns]) for i in (0, 1))
    people = np.concatenate([part.people for part in links])
    carrying = masses.any(1)
    known = masses.sum(0) > 0
    method = f"max-t bootstrap {percent_level(level)}, {draws} draws, given this matching"
    ends: dict[int, tuple[float, float]] = {}
    if size >= _MIN and known.any():
        means = ratio_means(
            totals[np.ix_(carrying, known)],
            masses[np.ix_(carrying, known)],
            rng,
            people=people[carrying],
            draws=draws,
            level=level,
        )
        pairs = zip(means.low.tolist(), means.high.tolist(), strict=True)
        ends = dict(zip(np.flatnonzero(known).tolist(), pairs, strict=True))
    found = []
    for k, (axis, (_, _, more, less)) in enumerate(zip(axes, columns, strict=True)):
        mass = float(masses[:, k].sum())
        nothing = Estimate(None, None, None, 0.0, "missing in every flip")
        difference, signs, standardized = nothing, nothing, 0.0
        if mass > 0:
            value = float(totals[:, k].sum() / mass)
            low, high = ends.get(k, (None, None))
            how = method if k in ends else f"no interval below {_MIN} people"
            if low is not None and low == high and mass < ALIKE:
                low, high, how = None, None, "no interval: there is no spread"
            difference = Estimate(value, low, high, mass, how)
            signs = sign_balance(more, less, mass, level=level / len(axes))
            signs = replace(signs, method=f"{signs.method}, given this matching")
            standardized = value / axis.deviation if axis.deviation > 0 else 0.0
        found.append(
            FeatureDifference(axis.name, axis.column, difference, signs, standardized, axis.deviation)
        )
    return tuple(sorted(found, key=lambda item: (-abs(item.standardized_difference), item.feature)))


def similarity(
    links: list[FlipLinks], axes: list[ReportLine], scaled: dict[str, bool]
) -> tuple[float | None, tuple[str, ...]]:
    """Share of flips whose pairs are within the caliper in every feature, and the features that are not."""
    total, within = 0.0, 0.0
    beyond = dict.fromkeys((axis.column for axis in axes), 0.0)
    for part in links:
        row, column = part.mass.coords
        mass = part.mass.data
        x, y = part.x[row], part.points[column]
        apart = {name: np.zeros(len(mass), dtype=bool) for name in beyond}
        for axis in axes:
            gap = np.abs(x[:, axis.index] - y[:, axis.index]) * axis.unit
            limit = CALIPER * axis.deviation if scaled[axis.column] else 0.0
            apart[axis.column] |= gap > limit + 1e-9 * max(axis.deviation, 1.0)
            if axis.missing is not None:
                apart[axis.column] |= (x[:, axis.missing] > 0) != (y[:, axis.missing] > 0)
        total += float(mass.sum())
        within += float(mass[~np.any(list(apart.values()), axis=0)].sum())
        for name, which in apart.items():
            beyond[name] += float(mass[which].sum())
    if total <= 0:
        return None, ()
    often = [name for name in beyond if beyond[name] > (1 - SIMILAR) * total]
    return within / total, tuple(sorted(often, key=lambda name: (-beyond[name], name)))


_MAX_BINS, _FEW_BINS = 30, 12
_FEW_PEOPLE = 200  # below which a histogram has 7 to 12 bins
_RANDOM_SETS = 499


def marginals(
    frame: pd.DataFrame,
    numeric: dict[str, bool],
    flips: np.ndarray,
    sizes: np.ndarray,
    rng: np.random.Generator,
) -> tuple[Marginal, ...]:
    """Compare flipset and population feature by feature, most different first.

    Parameters
    ----------
    frame : DataFrame (n, features)
        Raw features of the source people.
    numeric : dict
        Feature to whether its values have a scale.
    flips : array (n,)
        People of the row in the flipset, from 0 to `sizes`.
    sizes : array (n,)
        People the row stands for.

    Notes
    -----
    The p-value holds the distance against that of as many people drawn at random from the population
    (499 draws), Holm-adjusted over the features.
    """
    found, p = [], []
    for feature in frame.columns:
        labels, edges, codes = _bins(frame[feature], sizes, scaled=numeric[feature])
        population = np.bincount(codes, sizes, len(labels))
        inside = np.bincount(codes, flips, len(labels))
        cumulative = edges is not None
        known = len(labels) if edges is None else len(edges) - 1
        distance = float(_distance(inside[None], population, cumulative)[0]) if flips.sum() > 0 else 0.0
        p.append(_chance(distance, population, float(flips.sum()), cumulative, rng))
        found.append(
            Marginal(
                feature=str(feature),
                edges=edges,
                categories=None if cumulative else labels,
                population=tuple(population[:known].tolist()),
                flipset=tuple(inside[:known].tolist()),
                distance=distance,
                adjusted_p=None,
                missing=None if known == len(labels) else (float(population[known]), float(inside[known])),
                dates=cumulative and pd.api.types.is_datetime64_any_dtype(frame[feature]),
            )
        )
    if flips.sum() > 0:
        adjusted = holm(np.array(p))
        found = [replace(item, adjusted_p=float(q)) for item, q in zip(found, adjusted, strict=True)]
    return tuple(sorted(found, key=lambda item: (-item.distance, item.feature)))


def _bins(
    values: pd.Series, sizes: np.ndarray, *, scaled: bool
) -> tuple[tuple[str, ...], tuple[float, ...] | None, np.ndarray]:
    """Labels, edges and the bin of each row; missing numbers are one bin more than the edges have."""
    if not scaled:
        codes, levels = pd.factorize(values.astype("string").fillna(MISSING), sort=True)
        return tuple(str(level) for level in levels), None, codes
    numbers = numbers_of(values)
    known = np.isfinite(numbers)
    if not known.any():
        return (MISSING,), None, np.zeros(len(numbers), dtype=np.int64)
    edges = _edges(numbers[known], sizes[known])
    codes = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)
    labels = tuple(f"{low:g} to {high:g}" for low, high in itertools.pairwise(edges))
    if known.all():
        return labels, tuple(edges.tolist()), codes
    return (*labels, MISSING), tuple(edges.tolist()), np.where(known, codes, len(labels))


def _edges(numbers: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Edges of bins with round ends: 7 to 12 of fewer than 200 people, otherwise at most 30."""
    distinct = np.unique(numbers)
    most = _FEW_BINS if sizes.sum() < _FEW_PEOPLE else _MAX_BINS
    whole = np.array_equal(distinct, np.round(distinct))
    if whole and distinct[-1] - distinct[0] < most:
        return np.arange(distinct[0] - 0.5, distinct[-1] + 1.0)
    # long tails would squeeze everyone into one bar
    low, high = np.quantile(numbers[as_people(sizes)[0]], [0.005, 0.995])
    if low == high:
        low, high = distinct[0], distinct[-1]
    if low == high:
        return np.array([low - 0.5, high + 0.5])
    power = 10.0 ** np.floor(np.log10((high - low) / most))
    for step in power * np.array([1.0, 2.0, 2.5, 5.0, 10.0, 20.0]):
        if whole and step != np.round(step):
            continue
        first, last = np.floor(low / step), np.ceil(high / step)
        if last - first <= most:
            break
    return np.arange(first, last + 1) * step - (0.5 if whole else 0.0)


def _distance(inside: np.ndarray, population: np.ndarray, cumulative: bool) -> np.ndarray:
    """Distance of each row of `inside` (sets, bins) to `population` (bins,)."""
    gap = inside / inside.sum(1, keepdims=True) - population / population.sum()
    if cumulative:
        return np.abs(np.cumsum(gap, axis=1)).max(1)
    return 0.5 * np.abs(gap).sum(1)


def _chance(
    observed: float, population: np.ndarray, size: float, cumulative: bool, rng: np.random.Generator
) -> float:
    people = np.rint(population)
    drawn = min(max(round(size), 1), int(people.sum()))
    if drawn == 0 or size == 0:
        return 1.0
    random_sets = draw_counts(people, drawn, rng, draws=_RANDOM_SETS)
    return p_value(observed, _distance(random_sets.astype(float), population, cumulative))


def bars_of(item: Marginal, values: pd.Series) -> np.ndarray:
    """Return the bar (n,) in which each value of the feature lies, as `Marginal.bars` counts them.

    Values beyond the first and last edge lie in the end bars, as they do in the marginal. A value that the
    marginal does not have lies in bar -1.
    """
    if item.edges is None:
        words = values.astype("string").fillna(MISSING)
        return pd.Index(item.categories or ()).get_indexer(pd.Index(words.astype(object)))
    numbers = numbers_of(values)
    count = len(item.edges) - 1
    found = np.clip(np.searchsorted(item.edges, numbers, side="right") - 1, 0, count - 1)
    return np.where(np.isfinite(numbers), found, -1 if item.missing is None else count)


def joint_marginal(
    one: Marginal,
    values: pd.Series,
    other: Marginal,
    others: pd.Series,
    flips: np.ndarray,
    sizes: np.ndarray,
) -> pd.DataFrame:
    """Return who is in a flipset by two features at once: one row a cell that holds anyone.

    Parameters
    ----------
    one, other : Marginal
        Two features that are not the same, with the bars in which their values lie.
    values, others : Series (n,)
        Their values, of the source people.
    flips, sizes : arrays (n,)
        People of the row in the flipset, and people the row stands for.

    Returns
    -------
    DataFrame
        Columns ``x``, ``y`` (numbers of the bars, of which neighbors are joined where there are more than
        12), ``value``, ``other value``, ``people``, ``in the flipset``, ``share``.
    """
    one, other = one.joined, other.joined
    x, y = bars_of(one, values), bars_of(other, others)
    kept = (x >= 0) & (y >= 0)
    cells = pd.DataFrame({"x": x[kept], "y": y[kept], "people": sizes[kept], "in the flipset": flips[kept]})
    table = cells.groupby(["x", "y"], as_index=False).sum()
    table.insert(2, "value", [one.labels[k] for k in table["x"]])
    table.insert(3, "other value", [other.labels[k] for k in table["y"]])
    return table.assign(share=table["in the flipset"] / table["people"])
