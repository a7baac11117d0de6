"""The recourse audit: counterparts among the accepted, the way towards them, and who has to go how far."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from audits.checks import build, generator
from audits.errors import InputError
from audits.models import Subject
from audits.outcomes.actions import Actions, actions_of
from audits.outcomes.burden import Burden, burden_of
from audits.outcomes.changes import changes_by_alpha
from audits.outcomes.fewest import fewest_changes
from audits.outcomes.groups import group_codes
from audits.outcomes.options import Limit, RecourseOptions
from audits.outcomes.recourse_result import AlphaRow, GroupRecourse, RecourseResult
from audits.outcomes.recourse_words import recourse_finding, recourse_warnings
from audits.progress import Progress, part, silent
from audits.stats import wilson
from audits.stats.means import mean_test
from audits.transport import exact_coupling

__all__ = ["recourse", "recourse_audit"]

_BINS = 20
_MOST_SCORED = 400_000  # people times α: the grid is made coarser above
_PIECE = 100_000  # rows scored at once


def recourse(
    subject: Subject,
    *,
    steps: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0),
    by: tuple[str, ...] | None = None,
    actionable: tuple[str, ...] | None = None,
    preset: Literal["german_credit"] | None = None,
    limits: dict[str, Limit | dict[str, Any]] | None = None,
    cost_weights: dict[str, float] | None = None,
    resolution: float = 0.02,
    fewest: bool = True,
    level: float = 0.05,
    material: float = 0.10,
    permutations: int = 999,
    max_people: int = 2000,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> RecourseResult:
    """Move rejected people towards their accepted counterparts, in what they can change.

    Parameters
    ----------
    subject : Subject
        Data with roles, model and threshold under audit.
    rng : Generator, int or None
        Draws of permutations and a subsample; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Other parameters are those of `RecourseOptions`.

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
    options = {
        "steps": steps,
        "by": by,
        "actionable": actionable,
        "preset": preset,
        "limits": {
            name: dataclasses.asdict(limit) if isinstance(limit, Limit) else limit
            for name, limit in (limits or {}).items()
        },
        "cost_weights": cost_weights or {},
        "resolution": resolution,
        "fewest": fewest,
        "level": level,
        "material": material,
        "permutations": permutations,
        "max_people": max_people,
    }
    return recourse_audit(subject, build(RecourseOptions, options, "recourse"), rng=rng, progress=progress)


@dataclass(frozen=True, eq=False)
class _People:
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
class _Path:
    """Scores, decisions (n, s) at each α of the grid, and costs (n, s)."""

    grid: tuple[float, ...]
    scores: np.ndarray
    decisions: np.ndarray
    costs: np.ndarray


def recourse_audit(
    subject: Subject,
    options: RecourseOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> RecourseResult:
    """Run `recourse` with checked options: what a spec's run calls."""
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
    return _pack(
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
) -> tuple[_People, np.ndarray]:
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
    people = _People(
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
    people: _People,
    start: np.ndarray,
    goal: np.ndarray,
    options: RecourseOptions,
    progress: Progress,
) -> _Path:
    """Score everybody at every α once: a slider needs no more."""
    grid = _grid(options, len(people.frame))
    columns = list(actions.columns)
    today = people.frame[columns]
    shape = (len(today), len(grid))
    scores, decisions, costs = np.empty(shape), np.empty(shape, dtype=bool), np.empty(shape)
    for k, alpha in enumerate(grid):
        progress(k / len(grid), f"Scoring people at α = {alpha:g}")
        moved = actions.interpolate(today, start, goal, alpha)
        rows = people.frame if alpha == 0 else people.frame.assign(**{name: moved[name] for name in columns})
        scores[:, k] = _score(subject, rows)
        decisions[:, k] = subject.decide(scores[:, k], people.groups)
        costs[:, k] = actions.cost(today, moved)
    return _Path(grid, scores, decisions, costs)


def _pack(
    subject: Subject,
    options: RecourseOptions,
    actions: Actions,
    people: _People,
    n_accepted: float,
    path: _Path,
    burden: Burden,
    fewest: tuple[list[tuple[str, ...] | None], np.ndarray],
    way: tuple[np.ndarray, np.ndarray],
    certificate: dict[str, Any],
    warnings: tuple[str, ...],
) -> RecourseResult:
    steps = tuple(sorted({round(step, 6) for step in options.steps}))
    at = [path.grid.index(step) for step in steps]
    edges = np.linspace(0, 1, _BINS + 1) if subject.score_kind == "probability" else _edges(path.scores)
    counted = np.array([0.0 if names is None else len(names) for names in fewest[0]])
    helped = np.array([names is not None for names in fewest[0]])
    result = RecourseResult(
        options=dataclasses.asdict(options),
        columns=actions.columns,
        outcome=subject.rule,
        verdict=burden.verdict,
        finding="",
        warnings=(),
        n_rejected=float(people.weights.sum()),
        n_accepted=n_accepted,
        rows={"audited": subject.data.n, "used": len(people.positions), "left_out": people.left_out},
        steps=steps,
        by_alpha=tuple(_alpha_row(path, k, people.weights, edges, options.level) for k in at),
        by_group=tuple(
            _group_row(name, people.code == g, people.weights, path, at, burden, g, counted, helped, options)
            for g, name in enumerate(people.names)
        ),
        changes=changes_by_alpha(
            actions, people.frame, people.weights, *way, path.decisions[:, at], steps, options.level
        ),
        gap=burden.gap,
        burden_p_value=burden.p_value,
        people_needed=burden.people_needed,
        score_edges=tuple(edges.tolist()),
        grid=path.grid,
        certificate=certificate,
        **_tables(actions, people, path, burden, fewest, way, at),
    )
    return dataclasses.replace(
        result,
        finding=recourse_finding(result),
        warnings=(*warnings, *recourse_warnings(result)),
    )


def _edges(scores: np.ndarray) -> np.ndarray:
    low, high = float(scores.min()), float(scores.max())
    return np.linspace(low, high if high > low else low + 1.0, _BINS + 1)


def _alpha_row(path: _Path, k: int, weights: np.ndarray, edges: np.ndarray, level: float) -> AlphaRow:
    n = float(weights.sum())
    counts = np.histogram(np.clip(path.scores[:, k], edges[0], edges[-1]), edges, weights=weights)[0]
    return AlphaRow(
        alpha=path.grid[k],
        reclassified=wilson(float(weights @ path.decisions[:, k]), n, level=level),
        mean_score=mean_test(path.scores[:, k], weights).interval(level),
        scores=tuple(counts.tolist()),
    )


def _group_row(
    name: str,
    here: np.ndarray,
    weights: np.ndarray,
    path: _Path,
    at: list[int],
    burden: Burden,
    g: int,
    counted: np.ndarray,
    helped: np.ndarray,
    options: RecourseOptions,
) -> GroupRecourse:
    n = float(weights[here].sum())
    known = here & helped
    return GroupRecourse(
        group=name,
        n=n,
        reclassified=tuple(
            wilson(float(weights[here] @ path.decisions[here, k]), n, level=options.level) for k in at
        ),
        burden=burden.mean[g],
        burden_difference=burden.difference[g],
        median_alpha=burden.median_alpha[g],
        never=wilson(float(weights[here] @ burden.never[here]), n, level=options.level),
        fewest=float(np.average(counted[known], weights=weights[known])) if known.any() else None,
    )


def _tables(
    actions: Actions,
    people: _People,
    path: _Path,
    burden: Burden,
    fewest: tuple[list[tuple[str, ...] | None], np.ndarray],
    way: tuple[np.ndarray, np.ndarray],
    at: list[int],
) -> dict[str, pd.DataFrame]:
    index = people.frame.index
    columns = list(actions.columns)
    sets, proved = fewest
    frame = pd.DataFrame(
        {
            "group": np.array(people.names, dtype=object)[people.code],
            "score": path.scores[:, path.grid.index(0.0)],
            "alpha": np.where(burden.never, np.nan, burden.alpha),
            "cost": np.where(burden.never, np.nan, burden.cost),
            "fewest": pd.array([None if names is None else len(names) for names in sets], dtype="Int64"),
            "fewest_columns": [None if names is None else ", ".join(names) for names in sets],
            "fewest_proved": proved,
            "people": people.weights,
        },
        index=index,
    )
    today = people.frame[columns]
    paths = []
    for k in at:
        moved = actions.interpolate(today, *way, path.grid[k])
        facts = pd.DataFrame(
            {
                "alpha": path.grid[k],
                "score": path.scores[:, k],
                "decision": path.decisions[:, k],
                "cost": path.costs[:, k],
            },
            index=index,
        )
        paths.append(pd.concat([facts, moved.add_prefix("value of ")], axis=1))
    scores = pd.DataFrame(
        path.scores.astype(np.float32), index=index, columns=[f"{alpha:g}" for alpha in path.grid]
    )
    return {"people": frame, "scores": scores, "paths": pd.concat(paths)}
