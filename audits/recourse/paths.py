"""The rejected people, the way that each goes towards the accepted, and what the model says on it."""

from __future__ import annotations

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
        moved = self.at(alpha)
        rows = self.people.frame if alpha == 0 else self.rows(moved, np.arange(len(moved)))
        return score_rows(self.subject, rows), self.points(alpha, moved)

    def rows(self, values: pd.DataFrame, who: np.ndarray) -> pd.DataFrame:
        """Return whole rows of people `who` (m,) with other actionable `values` (m, columns)."""
        frame = self.people.frame.iloc[who]
        # by their own row numbers: a model gets each person's missing cells as the file has them
        return with_columns(
            frame, {name: values[name].set_axis(frame.index) for name in self.actions.columns}
        )

    def decide(
        self, rows: pd.DataFrame, who: np.ndarray, subject: Subject | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return scores and decisions, (m,) each, of such rows; by the model of `subject`, if another one."""
        subject = subject or self.subject
        scores = score_rows(subject, rows)
        return scores, np.asarray(subject.decide(scores, self.people.groups.iloc[who]), dtype=bool)


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
    return np.concatenate([np.empty(0), *(subject.favorable_score(piece) for piece in pieces)])


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
    at_once = max(_PIECE // max(len(who), 1), 1)
    for start in range(0, len(values) if len(who) else 0, at_once):
        some = values.iloc[start : start + at_once]
        times = np.tile(who, len(some))
        taken = some.iloc[np.repeat(np.arange(len(some)), len(who))].reset_index(drop=True)
        moved = way.actions.allowed(way.today.iloc[times].reset_index(drop=True), taken)
        decided = way.decide(way.rows(moved, times), times)[1]
        reached |= decided.reshape(len(some), len(who)).any(axis=0)
    return reached, len(values)


def fewest_changes(
    way: RecoursePath, moved: pd.DataFrame, *, progress: Progress = silent
) -> tuple[list[tuple[str, ...] | None], np.ndarray]:
    """Find, for each person, a smallest set of columns whose values of `moved` make the decision favorable.

    Sets of one column are tried, then of two, and so on, all of them as long as that is affordable; then sets
    are grown by the column that raises the score most. Of several sets of the same size the one with the
    highest score is taken.

    Parameters
    ----------
    moved : DataFrame (n, k)
        Actionable values that the people could have.

    Returns
    -------
    sets : list of n tuples
        None where no set that was tried helps.
    proved : bool array (n,)
        Whether all smaller sets were tried.
    """
    columns = list(moved.columns)
    n = len(moved)
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
            candidates = [list(combinations(columns, size))] * len(open_)
        else:
            smaller = [grown.get(person, ()) for person in open_.tolist()]
            candidates = [[(*names, name) for name in columns if name not in names] for names in smaller]
            proved[open_] = False
        sets, done = _best(way, moved, open_, candidates)
        for person, names, flipped in zip(open_.tolist(), sets, done, strict=True):
            if flipped:
                found[person] = names
            grown[person] = names
        open_ = open_[~done]
    return found, proved


def _best(
    way: RecoursePath, moved: pd.DataFrame, people: np.ndarray, candidates: list[list[tuple[str, ...]]]
) -> tuple[list[tuple[str, ...]], np.ndarray]:
    """Each person's candidate set with the highest score, and the decision with it (m,)."""
    count = np.array([len(each) for each in candidates])
    rows = np.repeat(people, count)
    flat = [names for each in candidates for names in each]
    trial = way.today.iloc[rows].reset_index(drop=True)
    for name in moved.columns:
        change = np.array([name in names for names in flat])
        trial[name] = trial[name].where(~change, moved[name].iloc[rows].set_axis(trial.index))
    scores, decided = way.decide(way.rows(trial, rows), rows)
    start = np.cumsum(count) - count
    top = [int(at + scores[at : at + many].argmax()) for at, many in zip(start, count, strict=True)]
    return [flat[k] for k in top], decided[top]
