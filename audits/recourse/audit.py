"""The recourse audit: counterparts among the accepted, the way towards them, and who has to go how far."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.checks import generator
from audits.data.frames import with_columns
from audits.data.intersections import group_codes
from audits.errors import InputError
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.recourse.actions import Actions, actions_of, fewest_changes
from audits.recourse.judging import burden_of
from audits.recourse.options import RecourseOptions
from audits.recourse.packing import Rejected, Walk, pack_recourse
from audits.recourse.result import RecourseResult
from audits.transport import exact_coupling

__all__ = ["recourse"]

_MOST_SCORED = 400_000  # people times α: the grid is made coarser above
_PIECE = 100_000  # rows scored at once


def recourse(
    subject: Subject,
    options: RecourseOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> RecourseResult:
    """Move rejected people towards their accepted counterparts, in what they can change.

    Parameters
    ----------
    subject : Subject
        Data with roles, model and threshold under audit.
    options : RecourseOptions
    rng : Generator, int or None
        Draws of permutations and a subsample; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Returns
    -------
    RecourseResult
        Equal burdens and shares say that rejected people of all groups have equally far to go.

    Raises
    ------
    InputError
        The model is a column of predictions; no column can be changed that it reads; everybody is accepted,
        or nobody; a limit or weight does not fit its column.

    Notes
    -----
    Equation 15 of Kwegyir-Aggrey, Santorella, Brown (2021): ``(1 - α) a + α Σ_b n π(a, b) b``, on actionable
    features, then the nearest admissible row.
    """
    rng = generator(rng)
    progress(0.0, "Finding who is rejected")
    if not subject.model.invents:
        raise InputError(
            "model",
            "must be able to score changed people, but a column of predictions cannot",
            advice="bring the model itself as a file, or train one here",
        )
    actions, warnings = actions_of(subject, options)
    people, accepted = _sides(subject, options, rng)
    data = subject.data
    every = np.ones(data.n) if data.weights is None else data.weights
    encoded = actions.space.encode(data.frame)
    coupling = exact_coupling(
        subject.scores[people.positions, None],
        subject.scores[accepted, None],
        cost="l2_squared",
        a=people.weights,
        b=every[accepted],
    )
    start, goal = encoded[people.positions], coupling.barycentre(encoded[accepted])
    path = _walk(subject, actions, people, start, goal, options, part(progress, 0.05, 0.7))
    burden = burden_of(
        path.decisions, path.costs, path.grid, people.code, people.weights, len(people.names), options, rng
    )
    columns = list(actions.columns)
    today = people.frame[columns]
    sets: list[tuple[str, ...] | None] = [None] * len(today)
    proved = np.ones(len(today), dtype=bool)
    if options.fewest:
        moved = actions.interpolate(today, start, goal, max(path.grid))
        sets, proved = fewest_changes(
            people.frame,
            moved,
            lambda rows: _score(subject, rows),
            lambda scores, who: subject.decide(scores, people.groups.iloc[who]),
            progress=part(progress, 0.7, 0.95),
        )
    progress(0.95, "Writing the tables")
    certificate = {"cost": coupling.cost, "slack": float(coupling.slack), "method": coupling.method}
    return pack_recourse(
        subject,
        options,
        actions,
        people,
        float(every[accepted].sum()),
        path,
        burden,
        (sets, proved),
        (start, goal),
        certificate,
        (*people.warnings, *warnings),
    )


def _sides(
    subject: Subject, options: RecourseOptions, rng: np.random.Generator
) -> tuple[Rejected, np.ndarray]:
    data = subject.data
    decided = np.asarray(subject.decisions, dtype=bool)
    rejected, accepted = np.flatnonzero(~decided), np.flatnonzero(decided)
    for positions, rule in (
        (rejected, "has nobody to help: the model accepts everyone audited"),
        (accepted, "has no counterparts: the model accepts nobody audited"),
    ):
        if not len(positions):
            raise InputError("recourse", rule, advice="check the threshold")
    code, names = group_codes(data, options.by, "recourse.by")
    left_out, warnings = {"already accepted": len(accepted)}, []
    if len(rejected) > options.max_people:
        left_out["not drawn into the subsample"] = len(rejected) - options.max_people
        warnings.append(
            f"Of {len(rejected):,} rejected people a random {options.max_people:,} were followed "
            f"(max_people)."
        )
        rejected = np.sort(rng.choice(rejected, options.max_people, replace=False))
    present, code = np.unique(code[rejected], return_inverse=True)
    every = np.ones(data.n) if data.weights is None else data.weights
    people = Rejected(
        positions=rejected,
        weights=every[rejected],
        frame=data.frame.iloc[rejected],
        groups=data.groups.iloc[rejected],
        code=code,
        names=tuple(names[k] for k in present),
        left_out=left_out,
        warnings=tuple(warnings),
    )
    return people, accepted


def _grid(options: RecourseOptions, people: int) -> tuple[float, ...]:
    """Return the steps asked for and an even grid from 0 to 1 between them."""
    most = max(_MOST_SCORED // people, 10)
    pieces = min(max(round(1 / options.resolution), 1), most)
    even = np.round(np.linspace(0, 1, pieces + 1), 6).tolist()
    return tuple(sorted({*even, *(round(step, 6) for step in options.steps)}))


def _score(subject: Subject, rows: pd.DataFrame) -> np.ndarray:
    """Score many rows, a piece at a time."""
    pieces = [rows.iloc[at : at + _PIECE] for at in range(0, len(rows), _PIECE)]
    return np.concatenate([subject.favorable_score(piece) for piece in pieces])


def _walk(
    subject: Subject,
    actions: Actions,
    people: Rejected,
    start: np.ndarray,
    goal: np.ndarray,
    options: RecourseOptions,
    progress: Progress,
) -> Walk:
    """Score everybody at every α once: a slider needs no more."""
    grid = _grid(options, len(people.frame))
    columns = list(actions.columns)
    today = people.frame[columns]
    shape = (len(today), len(grid))
    scores, decisions, costs = np.empty(shape), np.empty(shape, dtype=bool), np.empty(shape)
    for k, alpha in enumerate(grid):
        progress(k / len(grid), f"Scoring people at α = {alpha:g}")
        moved = actions.interpolate(today, start, goal, alpha)
        rows = (
            people.frame
            if alpha == 0
            else with_columns(people.frame, {name: moved[name] for name in columns})
        )
        scores[:, k] = _score(subject, rows)
        decisions[:, k] = subject.decide(scores[:, k], people.groups)
        costs[:, k] = actions.cost(today, moved)
    return Walk(grid, scores, decisions, costs)
