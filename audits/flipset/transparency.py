"""The transparency report (Definition 2): how flipped people differ from their counterparts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from audits.flipset.encoding import Axis
from audits.flipset.matching import Matched
from audits.flipset.parts import FeatureDifference
from audits.stats import Estimate, ratio_means, sign_balance
from audits.stats.intervals import percent_level

__all__ = ["FlipLinks", "report"]

_FEWEST = 10  # people below which a bootstrap interval would pretend to know


@dataclass(frozen=True, eq=False)
class FlipLinks:
    """Flipping mass between source atoms and counterparts, in people, and the people who carry it."""

    matched: Matched
    mass: sparse.coo_array  # (K, L)
    people: np.ndarray  # (K,) people of the source atom who could flip this way


def _differences(links: list[FlipLinks], axis: Axis) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per source atom: total difference in raw units, total sign, and the mass where both are known."""
    total, sign, mass = [], [], []
    for part in links:
        row, column = part.mass.coords
        x, y = part.matched.x, part.matched.there.points
        gap = x[row, axis.index] - y[column, axis.index]
        weight = part.mass.data
        if axis.missing is not None:
            unknown = (x[row, axis.missing] > 0) | (y[column, axis.missing] > 0)
            weight = np.where(unknown, 0.0, weight)
        size = len(x)
        total.append(np.bincount(row, weight * gap * axis.unit, size))
        sign.append(np.bincount(row, weight * np.sign(gap), size))
        mass.append(np.bincount(row, weight, size))
    return np.concatenate(total), np.concatenate(sign), np.concatenate(mass)


def _direction_mass(links: list[FlipLinks], axis: Axis, direction: int) -> float:
    """People whose flips go to a counterpart with less (1) or more (-1) of the feature."""
    found = 0.0
    for part in links:
        row, column = part.mass.coords
        x, y = part.matched.x, part.matched.there.points
        hit = np.sign(x[row, axis.index] - y[column, axis.index]) == direction
        if axis.missing is not None:
            hit &= (x[row, axis.missing] == 0) & (y[column, axis.missing] == 0)
        found += float(part.mass.data[hit].sum())
    return found


def report(
    links: list[FlipLinks],
    axes: list[Axis],
    rng: np.random.Generator,
    *,
    draws: int,
    level: float,
) -> tuple[FeatureDifference, ...]:
    """Rank the features by how far flipped people lie from their counterparts.

    Intervals of the mean differences hold for all features together (max-t bootstrap over people);
    those of the mean signs are Bonferroni-corrected. Fewer than 10 flipped people get no interval.
    """
    size = sum(float(part.mass.data.sum()) for part in links)
    if size <= 0 or not axes:
        return ()
    columns = [_differences(links, axis) for axis in axes]
    totals, masses = (np.column_stack([column[i] for column in columns]) for i in (0, 2))
    people = np.concatenate([part.people for part in links])
    carrying = masses.any(1)
    known = masses.sum(0) > 0
    method = f"max-t bootstrap {percent_level(level)}, {draws} draws"
    low = high = np.full(len(axes), np.nan)
    enough = size >= _FEWEST
    if enough and known.any():
        means = ratio_means(
            totals[np.ix_(carrying, known)],
            masses[np.ix_(carrying, known)],
            rng,
            people=people[carrying],
            draws=draws,
            level=level,
        )
        low, high = np.full((2, len(axes)), np.nan)
        low[known], high[known] = means.low, means.high
    found = []
    for k, axis in enumerate(axes):
        mass = float(masses[:, k].sum())
        if mass == 0:
            nothing = Estimate(None, None, None, 0.0, "missing in every flip")
            found.append(FeatureDifference(axis.name, axis.column, nothing, nothing, 0.0, axis.deviation))
            continue
        value = float(totals[:, k].sum() / mass)
        difference = (
            Estimate(value, float(low[k]), float(high[k]), mass, method)
            if enough
            else Estimate(value, None, None, mass, f"no interval below {_FEWEST} people")
        )
        signs = sign_balance(
            _direction_mass(links, axis, 1), _direction_mass(links, axis, -1), mass, level=level / len(axes)
        )
        standardized = value / axis.deviation if axis.deviation > 0 else 0.0
        found.append(
            FeatureDifference(axis.name, axis.column, difference, signs, standardized, axis.deviation)
        )
    return tuple(sorted(found, key=lambda item: (-abs(item.standardized_difference), item.feature)))
