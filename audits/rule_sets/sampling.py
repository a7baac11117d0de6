"""Perturbed people (section 4.3), drawn once for all rule sets.

A perturbation changes one attribute that no rule constrains, so it never moves a person to another cell. One
pool, stratified by cell, therefore serves every rule set: its score is a weighted mean of cell rates.
Sampling stops where every rule set has enough people on both sides and a margin within the auditor's error;
only cells of rule sets that need more are drawn again.

Departures from the paper: steps stay within the range seen in the data; a decimal moves by 0.01 of its range
(the paper's 0.01 supposes columns scaled to [0, 1]); a category takes the value of a random other person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.data.values import text_of
from audits.models import Subject
from audits.progress import Progress, silent
from audits.rule_sets.attributes import Attribute
from audits.rule_sets.cells import Cells, memberships
from audits.rule_sets.options import RuleSetsOptions
from audits.rule_sets.scoring import margin, people_for_margin
from audits.rule_sets.sums import GroupSums

__all__ = ["Pool", "Sampled", "perturb", "perturbable", "sample"]

_SHARE_OF_RANGE = 0.01
_SCORED_AT_ONCE = 100_000
_ROUNDS = 6


@dataclass(frozen=True, eq=False)
class Pool:
    """Perturbed people per cell: `drawn` and, of those, `favorable`, (C,)."""

    drawn: np.ndarray
    favorable: np.ndarray


@dataclass(frozen=True, eq=False)
class Sampled:
    """Scores on the perturbation sample, (S,) each.

    Attributes
    ----------
    inside, outside : float array
        Favourable shares of perturbed people.
    n_inside, n_outside : float array
        Perturbed people behind them; where a cell was drawn more often than its people's share, the number
        of plain draws that would be as precise.
    margin : float array
        Both sides' margins of error together.
    pool : Pool or None
        Perturbed people per cell; None where every rule set has its own sample (texts).
    columns : tuple of str
        Attributes that were perturbed.
    reached : bool
        Whether every rule set's margin is within the error.
    people : int
        Perturbed people scored.
    """

    inside: np.ndarray
    outside: np.ndarray
    n_inside: np.ndarray
    n_outside: np.ndarray
    margin: np.ndarray
    pool: Pool | None
    columns: tuple[str, ...]
    reached: bool
    people: int


def perturbable(subject: Subject, attributes: Sequence[Attribute]) -> tuple[str, ...]:
    """Return the columns that a perturbation may touch: what the model reads and no rule constrains."""
    fixed = {attribute.name for attribute in attributes} | set(subject.data.protected) | {subject.data.label}
    return tuple(
        name
        for name in subject.model.columns
        if name not in fixed
        and name in subject.data.frame.columns
        and subject.data.kinds.get(name) not in {"text", "identifier"}
        and len(subject.data.frame[name].unique()) > 1
    )


def perturb(
    subject: Subject, rows: np.ndarray, columns: Sequence[str], rng: np.random.Generator
) -> pd.DataFrame:
    """Return the people at `rows` (k,), each changed a little in one of `columns`.

    An integer or a rank moves by 1, a decimal by 0.01 of its range, a date by a day, up or down, within the
    range seen; a category takes the value of a random person whose value differs. What is missing stays so.
    """
    frame = subject.data.frame.iloc[rows].copy()
    frame.index = pd.RangeIndex(len(frame))
    which = rng.integers(len(columns), size=len(frame))
    for place, name in enumerate(columns):
        here = np.flatnonzero(which == place)
        if here.size:
            seen = subject.data.frame[name]
            changed = _moved(
                frame[name].iloc[here], seen, subject.data.kinds[name], subject.data.orders.get(name, ()), rng
            )
            column = frame[name].copy()
            if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
                values = column.to_numpy(copy=True)
                values[here] = changed
                frame[name] = pd.Series(values, index=frame.index, dtype=column.dtype)
            else:
                column.iloc[here] = changed
                frame[name] = column
    return frame


def _moved(
    now: pd.Series, seen: pd.Series, kind: str, order: tuple[str, ...], rng: np.random.Generator
) -> np.ndarray | pd.api.extensions.ExtensionArray:
    direction = rng.choice([-1, 1], size=len(now))
    if kind in {"integer", "continuous"} and pd.api.types.is_numeric_dtype(seen):
        low, high = seen.min(), seen.max()
        step = 1 if kind == "integer" else _SHARE_OF_RANGE * (high - low)
        moved = now + direction * step
        return moved.clip(low, high).astype(seen.dtype).to_numpy()
    if kind == "datetime":
        moved = now + pd.to_timedelta(direction, unit="D")
        return moved.clip(seen.min(), seen.max()).array
    if kind == "ordinal":
        rank = {value: place for place, value in enumerate(order)}
        values = pd.Index(
            sorted(seen.dropna().unique(), key=lambda value: (rank.get(text_of(value), 0), value))
        )
        place = values.get_indexer(now)
        moved = np.clip(place + direction, 0, len(values) - 1)
        return np.where(place < 0, now, values.take(np.maximum(moved, 0)))
    return _redrawn(now, seen, rng)


def _redrawn(now: pd.Series, seen: pd.Series, rng: np.random.Generator) -> np.ndarray:
    """A value of a random person whose value differs, for every entry that is not missing."""
    codes, levels = pd.factorize(pd.concat([seen, now]), sort=False)
    known, own = codes[: len(seen)], codes[len(seen) :]
    counts = np.bincount(known[known >= 0], minlength=len(levels)).astype(float)
    ends = np.cumsum(counts)
    # skip the own value's stretch of the cumulated counts, so that every other value keeps its share
    left = ends[-1] - counts[own]
    point = rng.random(len(own)) * left
    point += np.where(point >= ends[own] - counts[own], counts[own], 0.0)
    drawn = np.minimum(np.searchsorted(ends, point, side="right"), len(levels) - 1)
    values = np.asarray(levels.take(np.where(own < 0, 0, drawn)), dtype=object)
    return np.where(own < 0, now.to_numpy(dtype=object), values)


def sample(
    subject: Subject,
    groups: GroupSums,
    n: np.ndarray,
    options: RuleSetsOptions,
    *,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Sampled | None:
    """Draw, perturb and score people until every rule set's sampled score is precise enough.

    Parameters
    ----------
    groups : GroupSums
        The rule sets.
    n : float array (S,)
        People in each.

    Returns
    -------
    Sampled or None
        None where the model cannot score new people, or nothing is left to perturb.
    """
    cells = groups.cells
    columns = perturbable(subject, groups.attributes) if subject.model.invents else ()
    if not columns or options.samples == 0:
        return None
    draw = _Drawer(subject, cells, columns, rng)
    smaller = float(min(n.min(), options.support * cells.total))
    wanted = np.ceil(options.samples * cells.n / max(smaller, 1e-12))
    wanted *= min(1.0, options.max_samples / wanted.sum())
    wanted = np.maximum(np.ceil(wanted), 1)
    for round_ in range(_ROUNDS):
        progress(
            round_ / _ROUNDS, f"Scoring {int((wanted - draw.drawn).clip(min=0).sum()):,} perturbed people"
        )
        draw.up_to(wanted)
        found = _scores(cells, groups, n, draw.pool, options, columns)
        room = options.max_samples - draw.drawn.sum()
        factor = _shortfall(found, options)
        if factor is None or room < 1:
            break
        needed = _spread(groups, factor)
        wanted = np.ceil(draw.drawn * needed)
        more = wanted - draw.drawn
        if more.sum() > room:
            wanted = draw.drawn + np.floor(more * room / more.sum())
    return found


class _Drawer:
    """Draws perturbed people per cell and keeps the counts."""

    def __init__(
        self, subject: Subject, cells: Cells, columns: Sequence[str], rng: np.random.Generator
    ) -> None:
        self.subject, self.columns, self.rng = subject, columns, rng
        self.order = np.argsort(cells.row_cell, kind="stable")
        weights = subject.data.weights
        sizes = np.ones(len(self.order)) if weights is None else weights[self.order]
        self.ends = np.cumsum(sizes)
        last = np.cumsum(np.bincount(cells.row_cell, minlength=len(cells.n)))
        self.stop = self.ends[last - 1]
        self.start = np.r_[0.0, self.stop[:-1]]
        self.drawn = np.zeros(len(cells.n))
        self.favorable = np.zeros(len(cells.n))

    @property
    def pool(self) -> Pool:
        return Pool(self.drawn.copy(), self.favorable.copy())

    def up_to(self, wanted: np.ndarray) -> None:
        """Draw until every cell has `wanted` (C,) perturbed people."""
        cell = np.repeat(np.arange(len(wanted)), np.maximum(wanted - self.drawn, 0).astype(np.int64))
        for first in range(0, len(cell), _SCORED_AT_ONCE):
            part = cell[first : first + _SCORED_AT_ONCE]
            point = self.start[part] + self.rng.random(len(part)) * (self.stop - self.start)[part]
            place = np.minimum(np.searchsorted(self.ends, point, side="right"), len(self.order) - 1)
            rows = self.order[place]
            frame = perturb(self.subject, rows, self.columns, self.rng)
            groups = self.subject.data.groups.iloc[rows].reset_index(drop=True)
            good = self.subject.decide(self.subject.favorable_score(frame), groups)
            self.drawn += np.bincount(part, minlength=len(wanted))
            self.favorable += np.bincount(part, good, minlength=len(wanted))


def _scores(
    cells: Cells,
    groups: GroupSums,
    n: np.ndarray,
    pool: Pool,
    options: RuleSetsOptions,
    columns: tuple[str, ...],
) -> Sampled:
    rate = pool.favorable / pool.drawn
    table = np.column_stack([cells.n * rate, cells.n**2 / pool.drawn])
    sums = groups.of(table)
    everyone = table.sum(0)
    outside = cells.total - n
    inside_rate = np.clip(sums[:, 0] / n, 0, 1)
    outside_rate = np.clip((everyone[0] - sums[:, 0]) / outside, 0, 1)
    n_inside = n**2 / sums[:, 1]
    n_outside = outside**2 / np.maximum(everyone[1] - sums[:, 1], 1e-12)
    width = margin(inside_rate, n_inside, outside_rate, n_outside, options.confidence)
    reached = bool((width <= options.error + 1e-12).all())
    return Sampled(
        inside_rate, outside_rate, n_inside, n_outside, width, pool, columns, reached, int(pool.drawn.sum())
    )


def _shortfall(found: Sampled, options: RuleSetsOptions) -> tuple[np.ndarray, np.ndarray] | None:
    """How many times more people each side of each rule set needs, (S,) inside and outside; None if none."""
    least = np.full(len(found.margin), float(options.samples))
    wide = found.margin > options.error
    enough = people_for_margin(found.inside, found.outside, options.error, options.confidence)
    least[wide] = np.maximum(least[wide], 1.02 * enough[wide])
    inside, outside = np.maximum(least / found.n_inside, 1.0), np.maximum(least / found.n_outside, 1.0)
    # a side that falls short by a hair is not worth another call of the model
    if (inside <= 1.001).all() and (outside <= 1.001).all() and not wide.any():
        return None
    return inside, outside


def _spread(groups: GroupSums, factor: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Largest factor that any rule set asks of each cell, (C,)."""
    needed = np.ones(len(groups.cells.n))
    for side, values in zip((True, False), factor, strict=True):
        short = np.flatnonzero(values > 1.0)
        for start in range(0, len(short), 4096):
            part = short[start : start + 4096]
            inside = memberships(groups.cells, groups.attributes, groups.rules[part])
            needed = np.maximum(needed, np.where(inside == side, values[part, None], 1.0).max(0))
    return needed
