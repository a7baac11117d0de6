"""Perturbed people, drawn once for all rule sets, and texts with terms exchanged (section 4.3).

A perturbation changes one attribute that no rule constrains, so it never moves a person to another cell. One
pool, stratified by cell, therefore serves every rule set: its score is a weighted mean of cell rates.
Sampling stops where every rule set has enough people on both sides and a margin within the auditor's error;
only cells of rule sets that need more are drawn again. Texts are exchanged until every rule set's share is
known well enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from audits.models import Subject
from audits.progress import Progress, silent
from audits.rule_sets.options import RuleSetsOptions
from audits.subgroups.cells import Cells, memberships
from audits.subgroups.perturbation import perturb, perturbable
from audits.subgroups.scores import margin, people_for_margin
from audits.subgroups.sums import GroupSums
from audits.subgroups.texts import Vocabulary, any_terms, texts_of

_SCORED_AT_ONCE = 100_000
_ROUNDS = 6
_OUTSIDE = 4
_TEXT_ROUNDS = 5


@dataclass(frozen=True, eq=False)
class PerturbationScores:
    """Scores on the perturbation sample, (S,) each.

    Attributes
    ----------
    inside, outside : float array
        Favorable shares of perturbed people.
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


def sample(
    subject: Subject,
    groups: GroupSums,
    n: np.ndarray,
    options: RuleSetsOptions,
    *,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> PerturbationScores | None:
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
    draw = Pool(subject, cells, columns, rng)
    smaller = float(min(n.min(), options.support * cells.total))
    wanted = np.ceil(options.samples * cells.n / max(smaller, 1e-12))
    wanted *= min(1.0, options.max_samples / wanted.sum())
    wanted = np.maximum(np.ceil(wanted), 1)
    for round_ in range(_ROUNDS):
        progress(
            round_ / _ROUNDS, f"Scoring {int((wanted - draw.drawn).clip(min=0).sum()):,} perturbed people"
        )
        draw.up_to(wanted)
        found = _scores(groups, n, draw, options)
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


class Pool:
    """Perturbed people per cell, as many as are asked for: `drawn` and, of those, `favorable`, (C,)."""

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


def _scores(groups: GroupSums, n: np.ndarray, pool: Pool, options: RuleSetsOptions) -> PerturbationScores:
    cells, columns = groups.cells, tuple(pool.columns)
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
    return PerturbationScores(
        inside_rate, outside_rate, n_inside, n_outside, width, pool, columns, reached, int(pool.drawn.sum())
    )


def _shortfall(found: PerturbationScores, options: RuleSetsOptions) -> tuple[np.ndarray, np.ndarray] | None:
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
            inside = memberships(groups.cells, groups.rules[part])
            needed = np.maximum(needed, np.where(inside == side, values[part, None], 1.0).max(0))
    return needed


@dataclass(frozen=True, eq=False)
class _Texts:
    """What sampling needs: the texts, and which rows hold a term of each category."""

    column: str
    vocabulary: Vocabulary
    rows: np.ndarray  # (n,) of str
    any_term: np.ndarray  # (n, categories)


def sample_texts(
    subject: Subject,
    vocabulary: Vocabulary,
    groups: GroupSums,
    options: RuleSetsOptions,
    *,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> PerturbationScores | None:
    """Exchange terms in texts until every rule set's sampled score is precise enough (Algorithm 2).

    Returns
    -------
    Sampled or None
        None where the model cannot score new texts.
    """
    if not subject.model.invents or options.samples == 0:
        return None
    cells = groups.cells
    column, any_term = str(options.text), any_terms(cells)[cells.row_cell]
    texts = _Texts(column, vocabulary, texts_of(subject.data, column), any_term)
    count = len(groups.rules)
    outside = _outside(subject, texts, groups, options, rng)
    drawn, good = np.zeros(count), np.zeros(count)
    room = max(options.max_samples, count)
    wanted = np.full(count, float(min(options.samples, room // count)))
    for round_ in range(_TEXT_ROUNDS):
        progress(
            round_ / _TEXT_ROUNDS,
            f"Scoring {int((wanted - drawn).clip(min=0).sum()):,} texts with exchanged terms",
        )
        more = np.maximum(wanted - drawn, 0).astype(np.int64)
        good += _inside(subject, texts, groups, more, rng)
        drawn += more
        share, rest, n_rest = good / drawn, outside[0] / outside[1], outside[1]
        width = margin(share, drawn, rest, n_rest, options.confidence)
        wide = width > options.error
        enough = people_for_margin(share, rest, options.error, options.confidence) * 1.02
        wanted = np.where(wide, np.maximum(enough, drawn + 1), drawn)
        if not wide.any() or wanted.sum() > room:
            break
    people = int(drawn.sum() + outside[2])
    return PerturbationScores(
        share, rest, drawn, n_rest, width, None, (texts.column,), bool(not wide.any()), people
    )


def _inside(
    subject: Subject, texts: _Texts, groups: GroupSums, more: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Favorable ones among `more` (S,) further texts of each rule set."""
    good = np.zeros(len(groups.rules))
    used = groups.rules >= 0
    for chosen in np.unique(used, axis=0):
        sets = np.flatnonzero((used == chosen).all(1) & (more > 0))
        seeds = np.flatnonzero(texts.any_term[:, chosen].all(1))
        if not sets.size:
            continue
        which = np.repeat(sets, more[sets])
        rows = seeds[rng.integers(len(seeds), size=len(which))]
        # the same seed for the same rule set gives the same text: build and score it once
        pairs, back = np.unique(np.column_stack([which, rows]), axis=0, return_inverse=True)
        made = [
            texts.vocabulary.with_terms(texts.rows[row], range(len(chosen)), groups.rules[number])
            for number, row in pairs
        ]
        decided = decide_texts(subject, texts.column, made, pairs[:, 1])[back.reshape(-1)]
        good += np.bincount(which, decided, minlength=len(good))
    return good


def _outside(
    subject: Subject, texts: _Texts, groups: GroupSums, options: RuleSetsOptions, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, int]:
    """Favorable and all texts outside each rule set, (S,) each, of one pool; and the size of the pool."""
    data = subject.data
    size = _OUTSIDE * options.samples
    weights = None if data.weights is None else data.weights / data.weights.sum()
    rows = rng.choice(data.n, size, p=weights)
    drawn = np.column_stack([rng.integers(len(terms), size=size) for terms in texts.vocabulary.terms])
    drawn[~texts.any_term[rows]] = -1
    made = [
        texts.vocabulary.with_terms(texts.rows[row], range(len(terms)), terms)
        for row, terms in zip(rows, drawn, strict=True)
    ]
    decided = decide_texts(subject, texts.column, made, rows)
    patterns, which = np.unique(drawn, axis=0, return_inverse=True)
    n = np.bincount(which.reshape(-1), minlength=len(patterns)).astype(float)
    good = np.bincount(which.reshape(-1), decided, minlength=len(patterns))
    own = tuple(
        replace(item, levels=item.words, rules=np.eye(len(item.words), len(item.words) + 1, dtype=bool))
        for item in groups.attributes
    )
    codes = np.where(patterns >= 0, patterns, [len(item.words) for item in own])
    cells = Cells(own, codes.astype(np.int64), n, good, np.empty(0, dtype=np.int64))
    inside = GroupSums(cells, groups.rules).of(np.column_stack([n, good]))
    return good.sum() - inside[:, 1], np.maximum(n.sum() - inside[:, 0], 1.0), size


def decide_texts(subject: Subject, column: str, made: list[str], rows: np.ndarray) -> np.ndarray:
    """Return decisions on `rows` with the texts `made`; equal texts of a text-only model are scored once."""
    if set(subject.model.columns) == {column} and isinstance(subject.threshold, float | int):
        codes, texts = pd.factorize(np.array(made, dtype=object))
        frame = pd.DataFrame({column: texts})
        return subject.decide(subject.favorable_score(frame), frame)[codes]
    frame = subject.data.frame.iloc[rows].reset_index(drop=True)
    frame[column] = made
    return subject.decide(
        subject.favorable_score(frame), subject.data.groups.iloc[rows].reset_index(drop=True)
    )
