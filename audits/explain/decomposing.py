"""A difference of two rates over cells: what goes with composition, and what is left among people alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.stats import norm

from audits.data.values import MISSING
from audits.stats import Estimate, p_value
from audits.stats.intervals import percent_level
from audits.stats.sampling import hypergeometric

__all__ = ["FEWEST", "CellCounts", "GapParts", "chance_within", "codes_of", "estimates", "joined", "parts_of"]

FEWEST = 5
"""People of each group that a cell must hold to be compared."""

_FEW_VALUES = 12  # numbers of at most so many values are taken value by value
_DIGITS = 3  # of the ends of ranges, where these tell people apart
_LARGEST = Decimal(10) ** 15  # that is written without an exponent
_FIRST_DAY = pd.Timestamp("1970-01-01")


def codes_of(values: pd.Series, *, scaled: bool, bins: int) -> tuple[np.ndarray, list[str]]:
    """Return each row's cell (n,) by one column, and what the cells are called; missing ones are a cell."""
    dates = scaled and pd.api.types.is_datetime64_any_dtype(values)
    unit = pd.Timedelta(days=1)  # of dates, which are then whole numbers; of moments a second
    if dates:
        values = values.dt.tz_localize(None)
        unit = unit if values.dropna().eq(values.dropna().dt.normalize()).all() else pd.Timedelta(seconds=1)
    if scaled and values.nunique() > _FEW_VALUES:
        numbers = (values - _FIRST_DAY) // unit if dates else pd.to_numeric(values, errors="coerce")
        numbers = numbers.astype(float).where(values.notna())
        cut, edges = pd.qcut(numbers, bins, duplicates="drop", retbins=True)
        codes = cut.cat.codes.to_numpy().astype(np.int64)
        if numbers.dropna().mod(1).eq(0).all():
            edges = np.floor(edges)  # nobody lies between whole numbers
            form = "%Y-%m-%d" if unit.days else "%Y-%m-%d %H:%M:%S"
            ends = [
                (_FIRST_DAY + unit * float(end)).strftime(form) if dates else f"{end:.0f}" for end in edges
            ]
        else:
            ends = _ends(numbers.to_numpy(), codes, len(edges) - 1)
        names = [f"{low} to {high}" for low, high in pairwise(ends)]
    else:
        text = values.astype("string").fillna(MISSING)
        codes, found = pd.factorize(text, sort=True)
        return codes.astype(np.int64), [str(name) for name in found]
    if (codes < 0).any():
        codes, names = np.where(codes < 0, len(names), codes), [*names, MISSING]
    return codes, names


def _ends(numbers: np.ndarray, codes: np.ndarray, n: int) -> list[str]:
    """Write the ends of `n` ranges of numbers, short, and so that each holds exactly its own people."""
    known = numbers[codes >= 0]
    most = [float(known[codes[codes >= 0] <= k].max()) for k in range(n)]
    least = [*(float(numbers[codes > k].min()) for k in range(n - 1)), np.inf]
    lowest = _short(-float(known.min()), np.inf)
    first = "0" if lowest == "0" else f"-{lowest}".removeprefix("--")
    return [first, *(_short(low, high) for low, high in zip(most, least, strict=True))]


def _short(low: float, high: float) -> str:
    """Write a number from `low` to below `high`, in as few digits from three on as it takes.

    Examples
    --------
    >>> _short(32_258.4, 32_390.0), _short(32_258.4, 32_258.9), _short(-0.3041, -0.3039)
    ('32300', '32258.5', '-0.304')
    >>> _short(1e308, np.inf)
    '1.01e+308'
    """
    places = _DIGITS - 1 - Decimal(low).adjusted()
    while True:
        found = Decimal(low).quantize(Decimal(1).scaleb(-places), rounding=ROUND_CEILING)
        if low <= float(found) < high:
            plain = abs(found.normalize()) if found == 0 else found.normalize()  # 0 has no sign
            return f"{plain:f}" if abs(plain) < _LARGEST else f"{plain:e}"
        places += 1


def joined(codes: Sequence[np.ndarray], n: int) -> np.ndarray:
    """Return each row's cell (n,) by several columns at once; of no column all are in one."""
    if not codes:
        return np.zeros(n, dtype=np.int64)
    return np.asarray(pd.factorize(pd.MultiIndex.from_arrays(list(codes)))[0], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class CellCounts:
    """People and favourable ones (cells,) of the source and the target."""

    source: np.ndarray
    source_favored: np.ndarray
    target: np.ndarray
    target_favored: np.ndarray

    @classmethod
    def count(
        cls, cell: np.ndarray, source: np.ndarray, favored: np.ndarray, sizes: np.ndarray
    ) -> CellCounts:
        """Count people of two groups; `source` (n,) tells them apart."""
        k = int(cell.max()) + 1 if len(cell) else 1

        def of(rows: np.ndarray) -> np.ndarray:
            return np.bincount(cell[rows], sizes[rows], k)

        return cls(of(source), of(source & favored), of(~source), of(~source & favored))

    @property
    def common(self) -> np.ndarray:
        """Which cells are compared (cells,)."""
        return (self.source >= FEWEST) & (self.target >= FEWEST)

    @property
    def covered(self) -> tuple[float, float]:
        """Share of source and of target people who are in a cell that is compared."""
        here = self.common
        if self.deserted:
            return 0.0, 0.0
        return (
            float(self.source[here].sum() / self.source.sum()),
            float(self.target[here].sum() / self.target.sum()),
        )

    @property
    def deserted(self) -> bool:
        """Whether nobody of a group is in any cell: of one person, one half has none."""
        return min(self.source.sum(), self.target.sum()) <= 0

    def drawn(self, draws: int, rng: np.random.Generator) -> CellCounts:
        """Draw as many people of each group again, with replacement: arrays (draws, cells)."""

        def again(people: np.ndarray, favored: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            total = people.sum()
            shares = np.concatenate([favored, people - favored]).clip(0) / total
            found = rng.multinomial(round(total), shares / shares.sum(), draws).astype(float)
            yes, no = found[:, : len(people)], found[:, len(people) :]
            return yes + no, yes

        source, target = again(self.source, self.source_favored), again(self.target, self.target_favored)
        return CellCounts(*source, *target)


@dataclass(frozen=True, eq=False)
class GapParts:
    """Parts of the gap, each a number or one a draw; `gap` is the sum of the first three.

    Attributes
    ----------
    explained : array
        What goes with how the groups are composed, among people who have others alike.
    unexplained : array
        What is left between people alike, cells weighted by both groups' mean share (Kitagawa).
    unsupported : array
        What comes of people without anybody alike in the other group.
    reweighted : array
        What is left with cells weighted as the source has them: the target reweighted to the source.
    distance : array
        Mean size of the differences within cells, whichever way they go: transport within cells.
    """

    gap: np.ndarray
    explained: np.ndarray
    unexplained: np.ndarray
    unsupported: np.ndarray
    reweighted: np.ndarray
    distance: np.ndarray


def parts_of(cells: CellCounts, common: np.ndarray) -> GapParts:
    """Decompose the gap over the cells in `common`; sides may be (cells,) or (draws, cells)."""
    n, f, m, g = (
        np.atleast_2d(side)
        for side in (cells.source, cells.source_favored, cells.target, cells.target_favored)
    )
    gap = f.sum(1) / n.sum(1) - g.sum(1) / m.sum(1)
    n, f, m, g = (side[:, common] for side in (n, f, m, g))
    if not common.any():
        nothing = np.zeros_like(gap)
        return GapParts(gap, nothing, nothing, gap, nothing, nothing)
    source_size, target_size = n.sum(1, keepdims=True), m.sum(1, keepdims=True)
    met = (source_size > 0) & (
        target_size > 0
    )  # a draw may leave nobody to compare: all of it is unsupported then
    share = np.where(met, n / np.where(met, source_size, 1.0), 0.0)
    other = np.where(met, m / np.where(met, target_size, 1.0), 0.0)
    rate, theirs = f / np.maximum(n, 1e-300), g / np.maximum(m, 1e-300)
    # a draw may leave a cell without a group: it then says nothing of a difference there
    rate, theirs = np.where(n > 0, rate, theirs), np.where(m > 0, theirs, rate)
    explained = ((share - other) * (rate + theirs) / 2).sum(1)
    unexplained = ((share + other) / 2 * (rate - theirs)).sum(1)
    return GapParts(
        gap,
        explained,
        unexplained,
        gap - explained - unexplained,
        np.where(met[:, 0], (share * (rate - theirs)).sum(1), gap),
        ((share + other) / 2 * np.abs(rate - theirs)).sum(1),
    )


def estimates(
    cells: CellCounts, rng: np.random.Generator, *, draws: int, level: float
) -> dict[str, Estimate]:
    """Return every part with a bootstrap interval; without ends where a group is too small."""
    names = ("explained", "unexplained", "unsupported", "reweighted")
    if cells.deserted:
        return {name: Estimate(None, None, None, 0.0, "nobody of a group is here") for name in names}
    common = cells.common
    found, again = parts_of(cells, common), parts_of(cells.drawn(draws, rng), common)
    people = float(min(cells.source.sum(), cells.target.sum()))
    reach = float(norm.isf(level / 2))
    method = f"bootstrap {percent_level(level)}, {draws:,} draws"
    told = {}
    for name in names:
        value = float(getattr(found, name)[0])
        half = reach * _spread(getattr(again, name), people)
        told[name] = (
            Estimate(value, value - half, value + half, people, method + _WHERE.get(name, ""))
            if common.any()
            else Estimate(value, None, None, people, "nobody alike in both groups")
        )
    return told


_WHERE = {"unsupported": ", given which values are compared"}


def _spread(drawn: np.ndarray, people: float) -> float:
    """Standard deviation of the draws; nobody seen may still be three of so many people."""
    return float(max(drawn.std(ddof=1) * np.sqrt(people / max(people - 1, 1)), 0.5 / people))


def chance_within(cells: CellCounts, rng: np.random.Generator, *, draws: int) -> tuple[float, float, float]:
    """Return the distance within cells, its mean if groups were decided alike there, and the p-value.

    Membership is permuted within cells: the favourable people of a cell fall to either group by lot.
    """
    common = cells.common
    if not common.any():
        return 0.0, 0.0, 1.0
    seen = float(parts_of(cells, common).distance[0])
    n, m = (np.rint(side[common]).astype(np.int64) for side in (cells.source, cells.target))
    yes = np.rint(cells.source_favored[common] + cells.target_favored[common]).astype(np.int64)
    yes = np.minimum(yes, n + m)
    ours = hypergeometric(yes, n + m - yes, np.broadcast_to(n, (draws, len(n))), rng).astype(float)
    shuffled = CellCounts(
        np.broadcast_to(n.astype(float), ours.shape),
        ours,
        np.broadcast_to(m.astype(float), ours.shape),
        yes - ours,
    )
    null = parts_of(shuffled, np.ones(len(n), dtype=bool)).distance
    return seen, float(null.mean()), float(p_value(seen, null))
