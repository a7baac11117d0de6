"""The rejected people, the way that each goes towards the accepted, and what the model says on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
import pandas as pd

from audits.data.frames import with_columns
from audits.models import Subject
from audits.progress import Progress, silent
from audits.recourse.actions import Actions, PairScore
from audits.recourse.options import RecourseOptions

__all__ = ["RecoursePath", "RejectedPeople", "Walk", "fewest_changes", "reached_by_any", "score_rows", "walk"]

_MAX_SCORED = 400_000  # people times α: the grid is made coarser above
_PIECE = 100_000  # rows scored at once
_MAX_ROWS = 200_000  # rows scored for one number of columns, beyond which sets are grown greedily


@dataclass(frozen=True, eq=False)
class RejectedPeople:
    """Rejected people: positions in the data, weights, rows, groups' codes and names."""

    positions: np.ndarray
    weights: np.ndarray
    frame: pd.DataFrame
    groups: pd.DataFrame
    code: np.ndarray
    names: tuple[str, ...]
    left_out: dict[str, int]
    warnings: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class RecoursePath:
    """The way of each rejected person: from `start` to `goal`, encoded actionable columns (n, d) each.

    `accepted` are positions of the accepted people in the data. `between` scores points in between, where
    people are not rounded to values that exist.
    """

    subject: Subject
    options: RecourseOptions
    actions: Actions
    people: RejectedPeople
    accepted: np.ndarray
    start: np.ndarray
    goal: np.ndarray
    between: PairScore | None = None

    @property
    def today(self) -> pd.DataFrame:
        """What people have now, (n, columns)."""
        return self.people.frame[list(self.actions.columns)]

    def at(self, alpha: float) -> pd.DataFrame:
        """Admissible rows at weight `alpha` of the counterpart, (n, columns)."""
        return self.actions.interpolate(self.today, self.start, self.goal, alpha)

    def points(self, alpha: float, rows: pd.DataFrame | None = None) -> np.ndarray:
        """Encoded actionable columns (n, d) at weight `alpha`: of `rows` (``at(alpha)``), or in between."""
        if self.between is not None:
            return (1 - alpha) * self.start + alpha * self.goal
        return self.actions.space.encode(self.at(alpha) if rows is None else rows)

    def shown(self, alpha: float) -> pd.DataFrame:
        """Return values at weight `alpha` as they are told, (n, columns)."""
        if self.between is None or alpha == 0:
            return self.at(alpha)
        return self.between.rows(self.points(alpha)).set_axis(self.people.frame.index)

    def score(self, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Return scores (n,) and encoded actionable columns (n, d) at weight `alpha`."""
        if self.between is not None and alpha > 0:
            points = self.points(alpha)
            return self.between.score(points), points
        moved, people = self.at(alpha), self.people.frame
        rows = (
            people
            if alpha == 0
            else with_columns(people, {name: moved[name] for name in self.actions.columns})
        )
        return score_rows(self.subject, rows), self.points(alpha, moved)


@dataclass(frozen=True, eq=False)
class Walk:
    """Scores, decisions (n, s) at each α of the grid, and costs (n, s)."""

    grid: tuple[float, ...]
    scores: np.ndarray
    decisions: np.ndarray
    costs: np.ndarray


def _grid(options: RecourseOptions, people: int) -> tuple[float, ...]:
    """Return the steps asked for and an even grid from 0 to 1 between them."""
    most = max(_MAX_SCORED // people, 10)
    pieces = min(max(round(1 / options.resolution), 1), most)
    even = np.round(np.linspace(0, 1, pieces + 1), 6).tolist()
    return tuple(sorted({*even, *(round(step, 6) for step in options.steps)}))


def score_rows(subject: Subject, rows: pd.DataFrame) -> np.ndarray:
    """Score many rows, a piece at a time."""
    pieces = [rows.iloc[at : at + _PIECE] for at in range(0, len(rows), _PIECE)]
    return np.concatenate([subject.favorable_score(piece) for piece in pieces])


def walk(way: RecoursePath, progress: Progress) -> Walk:
    """Score everyone at every α once: a slider needs no more."""
    subject, people = way.subject, way.people
    grid = _grid(way.options, len(people.frame))
    shape = (len(people.frame), len(grid))
    scores, decisions, costs = np.empty(shape), np.empty(shape, dtype=bool), np.empty(shape)
    for k, alpha in enumerate(grid):
        progress(k / len(grid), f"Scoring people at α = {alpha:g}")
        scores[:, k], points = way.score(alpha)
        decisions[:, k] = subject.decide(scores[:, k], people.groups)
        costs[:, k] = way.actions.cost(way.start, points)
    return Walk(grid, scores, decisions, costs)


def reached_by_any(way: RecoursePath, who: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """Whether people `who` (m,) would be accepted with some accepted person's actionable values.

    Returns
    -------
    reached : bool array (m,)
    tried : int
        Different sets of accepted people's values that were tried: all of them, or as many as can be scored.
    """
    columns = list(way.actions.columns)
    values = way.subject.data.frame.iloc[way.accepted][columns].drop_duplicates()
    most = max(_MAX_ROWS // max(len(who), 1), 1)
    if len(values) > most:
        values = values.iloc[np.sort(rng.choice(len(values), most, replace=False))]
    reached = np.zeros(len(who), dtype=bool)
    today, people = way.today.iloc[who], way.people.frame.iloc[who]
    groups = way.people.groups.iloc[who]
    at_once = max(_PIECE // max(len(who), 1), 1)
    for start in range(0, len(values) if len(who) else 0, at_once):
        some = values.iloc[start : start + at_once]
        times = np.tile(np.arange(len(who)), len(some))
        taken = some.iloc[np.repeat(np.arange(len(some)), len(who))].reset_index(drop=True)
        now = today.iloc[times].reset_index(drop=True)
        moved = way.actions.allowed(now, taken)
        rows = with_columns(
            people.iloc[times].reset_index(drop=True), {name: moved[name] for name in columns}
        )
        decided = way.subject.decide(score_rows(way.subject, rows), groups.iloc[times])
        reached |= np.asarray(decided, dtype=bool).reshape(len(some), len(who)).any(axis=0)
    return reached, len(values)


def fewest_changes(
    frame: pd.DataFrame,
    moved: pd.DataFrame,
    score: Callable[[pd.DataFrame], np.ndarray],
    decide: Callable[[np.ndarray, np.ndarray], np.ndarray],
    *,
    progress: Progress = silent,
) -> tuple[list[tuple[str, ...] | None], np.ndarray]:
    """Find, for each person, a smallest set of columns whose values of `moved` make the decision favorable.

    Sets of one column are tried, then of two, and so on, all of them as long as that is affordable; then sets
    are grown by the column that raises the score most. Of several sets of the same size the one with the
    highest score is taken.

    Parameters
    ----------
    frame : DataFrame (n, all columns)
        People as they are.
    moved : DataFrame (n, k)
        Values that they could have.
    score : callable
        Scores of rows.
    decide : callable
        ``decide(scores, positions)``: decisions of the people at those positions.

    Returns
    -------
    sets : list of n tuples
        None where no set that was tried helps.
    proved : bool array (n,)
        Whether all smaller sets were tried.
    """
    columns = list(moved.columns)
    n = len(frame)
    found: list[tuple[str, ...] | None] = [None] * n
    proved = np.ones(n, dtype=bool)
    open_ = np.arange(n)
    grown: dict[int, tuple[str, ...]] = {}
    exhaustive = True
    for size in range(1, len(columns) + 1):
        if not len(open_):
            break
        progress(size / (len(columns) + 1), "Finding the fewest changes")
        exhaustive = exhaustive and len(open_) * comb(len(columns), size) <= _MAX_ROWS
        if exhaustive:
            tried = [np.array(names, dtype=object) for names in combinations(columns, size)]
            best, sets = _best(frame, moved, score, open_, dict.fromkeys(open_.tolist(), tried))
        else:
            larger = {person: _larger(grown.get(person, ()), columns) for person in open_.tolist()}
            best, sets = _best(frame, moved, score, open_, larger)
            proved[open_] = False
        done = decide(best, open_)
        for person, names, flipped in zip(open_.tolist(), sets, done, strict=True):
            if flipped:
                found[person] = names
            grown[person] = names
        open_ = open_[~done]
    return found, proved


def _larger(names: tuple[str, ...], columns: list[str]) -> list[np.ndarray]:
    return [np.array([*names, name], dtype=object) for name in columns if name not in names]


def _best(
    frame: pd.DataFrame,
    moved: pd.DataFrame,
    score: Callable[[pd.DataFrame], np.ndarray],
    people: np.ndarray,
    candidates: dict[int, list[np.ndarray]],
) -> tuple[np.ndarray, list[tuple[str, ...]]]:
    """Best score of each person over candidate sets, and the set."""
    sets = [candidates[person] for person in people.tolist()]
    count = np.array([len(each) for each in sets])
    rows = np.repeat(people, count)
    flat = [names for each in sets for names in each]
    trial = frame.iloc[rows].reset_index(drop=True)
    for name in moved.columns:
        change = np.array([name in names for names in flat])
        values = moved[name].iloc[rows]
        trial[name] = trial[name].where(~change, values.set_axis(trial.index))
    scores = score(trial)
    start = np.cumsum(count) - count
    top = [int(start[k] + scores[start[k] : start[k] + count[k]].argmax()) for k in range(len(people))]
    return scores[top], [tuple(flat[k]) for k in top]
