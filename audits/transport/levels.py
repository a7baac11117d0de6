"""The groups' rates at every level of the columns compared: an average can hide what its levels show.

A level is a value of a categorical column, or a quarter of the people by a numeric one. One that holds at
least 10% and at least 50 people of a group is covered; intervals hold for all covered levels together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from audits.data.values import MISSING, date_of_year
from audits.stats import POWER, Condition, Estimate
from audits.stats.intervals import cautious_difference
from audits.stats.text import number

FACTOR = 2.0
"""Multiple of the average's limit that a level's interval must lie within."""
_SHARE, _PEOPLE = 0.10, 50.0  # of a group, for a level to be covered
_COMPARABLE = 10.0  # people of the other group below which nobody is comparable
_PARTS = 4
_MAX_WHOLE = 1e6  # from here on numbers are shortened


@dataclass(frozen=True)
class LevelDifference:
    """Both groups' favorable rates at one level of a column compared; `difference` is source minus target.

    `frequent` says whether the level holds at least 10% of a group, `covered` whether it holds 50 people of
    it, too, and `comparable` whether it holds 10 people of either.
    """

    name: str
    n_source: float
    n_target: float
    source_rate: float | None
    target_rate: float | None
    difference: Estimate
    covered: bool
    comparable: bool
    frequent: bool


def level_differences(
    members: Mapping[str, np.ndarray],
    decisions: np.ndarray,
    sizes: np.ndarray,
    first: np.ndarray,
    *,
    level: float,
    looks: int = 1,
) -> tuple[LevelDifference, ...]:
    """Compare two groups at every level of the columns compared.

    Parameters
    ----------
    members : mapping
        As `level_members` returns them, of both groups' people.
    decisions, sizes : arrays (n,)
        1 where favorable; people each row stands for.
    first : bool array (n,)
        Who is of the first group; differences are the first's rate minus the second's.
    level : float
        Error rate of all intervals together.
    looks : int
        How often the same is done, for other pairs of groups.
    """
    sides = (first, ~first)
    total = [float(sizes[side].sum()) for side in sides]
    counts = {}
    for name, inside in members.items():
        people = [float(sizes[side & inside].sum()) for side in sides]
        favored = [float(sizes[side & inside] @ decisions[side & inside]) for side in sides]
        frequent = [n >= _SHARE * whole for n, whole in zip(people, total, strict=True)]
        covered = any(often and n >= _PEOPLE for n, often in zip(people, frequent, strict=True))
        counts[name] = people, favored, covered, any(frequent)
    each = level / max(1, looks * sum(covered for _, _, covered, _ in counts.values()))
    return tuple(
        LevelDifference(
            name=name,
            n_source=n,
            n_target=m,
            source_rate=h / n if n else None,
            target_rate=g / m if m else None,
            difference=_difference(h, n, g, m, each if covered else None),
            covered=covered,
            comparable=min(n, m) >= _COMPARABLE,
            frequent=frequent,
        )
        for name, ((n, m), (h, g), covered, frequent) in counts.items()
    )


def _difference(h: float, n: float, g: float, m: float, level: float | None) -> Estimate:
    if min(n, m) < _COMPARABLE or level is None:
        value = float(h / n - g / m) if n and m else None
        return Estimate(value, None, None, float(n + m), "no interval: too few people at this level")
    return cautious_difference(float(h), float(n), float(g), float(m), level=level)


def _levels(
    column: str, values: pd.Series, sizes: np.ndarray, *, scaled: bool
) -> tuple[list[str], np.ndarray]:
    """Names of a column's levels, and the level of each row."""
    if not scaled or values.nunique() <= _PARTS:
        codes, words = pd.factorize(values.astype("string").fillna(MISSING), sort=True)
        return [f"{column} = {word}" for word in words], codes
    numbers = numbers_of(values)
    known = np.isfinite(numbers)
    order = np.argsort(numbers[known], kind="stable")
    held = np.cumsum(sizes[known][order])
    at = np.searchsorted(held, held[-1] * np.arange(1, _PARTS) / _PARTS)
    cuts = np.unique(numbers[known][order][at])
    parts = np.where(known, np.searchsorted(cuts, numbers, side="left"), len(cuts) + 1)
    kinds, codes = np.unique(parts, return_inverse=True)
    whole = (numbers[known] % 1 == 0).all() and abs(numbers[known]).max() < _MAX_WHOLE
    dates = pd.api.types.is_datetime64_any_dtype(values)
    word: Callable[[float], str] = date_text if dates else "{:.0f}".format if whole else number
    names = []
    for kind in kinds:
        if kind > len(cuts):
            names.append(f"{column} {MISSING}")
            continue
        here = numbers[parts == kind]
        between = " to " if here.min() < 0 else "–"
        ends = dict.fromkeys(word(end) for end in (here.min(), here.max()))
        names.append(f"{column} {between.join(ends)}")
    return names, codes


def numbers_of(values: pd.Series) -> np.ndarray:
    """Values as floats, missing ones as NaN; a date is its year with a fraction."""
    if pd.api.types.is_datetime64_any_dtype(values):
        days = (values - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
        return 1970 + days.to_numpy(dtype=float, na_value=np.nan) / 365.2425
    return pd.to_numeric(values, errors="coerce").to_numpy(dtype=float, na_value=np.nan)


def date_text(year: float) -> str:
    """Return the day of a year with a fraction, see `numbers_of`."""
    return str(date_of_year(year).date())


def level_members(
    frame: pd.DataFrame, scaled: Mapping[str, bool], sizes: np.ndarray
) -> dict[str, np.ndarray]:
    """Return who (n,) is in each level, by its name."""
    found: dict[str, np.ndarray] = {}
    for column in frame.columns:
        names, codes = _levels(str(column), frame[column], sizes, scaled=scaled[column])
        found |= {name: codes == k for k, name in enumerate(names)} if len(names) > 1 else {}
    return found


def level_conditions(
    levels: tuple[LevelDifference, ...], material: float, *, p_values: Mapping[str, float] | None = None
) -> list[Condition]:
    """Return what the covered levels have to hold for an all-clear.

    Parameters
    ----------
    material : float
        The limit of the average; a level's is twice that.
    p_values : mapping, optional
        Level to the p-value of the test that has to agree for it to be evidence; without one it only has to
        hold.
    """
    bounds = (-FACTOR * material, FACTOR * material)
    return [
        Condition(
            name=f"level: {each.name}",
            interval=each.difference,
            immaterial=bounds,
            times=FACTOR,
            p_value=(p_values or {}).get(each.name),
            accuses=each.name in (p_values or {}),
        )
        for each in levels
        if each.covered and each.comparable
    ]


def people_for_levels(levels: tuple[LevelDifference, ...], material: float, level: float) -> float:
    """Times as many people as there are that clear all levels where groups do not differ.

    Levels too small to be covered count, if they hold 10% of a group: of more people they are covered.
    """
    errors = [
        np.sqrt(_variance(each.source_rate, each.n_source) + _variance(each.target_rate, each.n_target))
        for each in levels
        if each.comparable and each.frequent
    ]
    if not errors:
        return 0.0
    quantiles = norm.isf([level / (2 * len(errors)), (1 - POWER) / (2 * len(errors))])
    return float((max(errors) * quantiles.sum() / (FACTOR * material)) ** 2)


def _variance(rate: float | None, n: float) -> float:
    share = ((rate or 0.0) * n + 1) / (n + 2)
    return share * (1 - share) / max(n, 1.0)


def plant(own: np.ndarray, rate: float, material: float) -> np.ndarray:
    """Favorable shares `own` when a material share of people is turned down, or else turned up, by lot.

    Flips are linear in them, so this is what plantings give on average.

    Examples
    --------
    >>> plant(np.array([1.0, 0.5]), 0.5, 0.1).round(3), plant(np.array([0.0, 0.5]), 0.0, 0.1).round(3)
    (array([0.8, 0.4]), array([0.1 , 0.55]))
    """
    if not material:
        return own
    if rate >= min(material, 1 - rate):
        return own * (1 - min(1.0, material / rate))
    return 1 - (1 - own) * (1 - min(1.0, material / (1 - rate)))
