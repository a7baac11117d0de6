"""From scores on the way to the result of a recourse audit: estimates, tables, words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.data.blocks import LevelBlock, NumberBlock
from audits.models import Subject
from audits.recourse.actions import Actions
from audits.recourse.judging import Burden
from audits.recourse.options import RecourseOptions
from audits.recourse.result import AlphaRow, Change, GroupRecourse, RecourseResult
from audits.recourse.words import recourse_finding, recourse_warnings
from audits.stats import wilson
from audits.stats.means import mean_test

__all__ = ["Rejected", "Walk", "changes_by_alpha", "pack_recourse"]

_BINS = 20


@dataclass(frozen=True, eq=False)
class Rejected:
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
class Walk:
    """Scores, decisions (n, s) at each α of the grid, and costs (n, s)."""

    grid: tuple[float, ...]
    scores: np.ndarray
    decisions: np.ndarray
    costs: np.ndarray


def pack_recourse(
    subject: Subject,
    options: RecourseOptions,
    actions: Actions,
    people: Rejected,
    n_accepted: float,
    path: Walk,
    burden: Burden,
    fewest: tuple[list[tuple[str, ...] | None], np.ndarray],
    way: tuple[np.ndarray, np.ndarray],
    certificate: dict[str, Any],
    warnings: tuple[str, ...],
) -> RecourseResult:
    """Pack the result; `way` holds people and mean counterparts, encoded (n, d) each."""
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


def _alpha_row(path: Walk, k: int, weights: np.ndarray, edges: np.ndarray, level: float) -> AlphaRow:
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
    path: Walk,
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
    people: Rejected,
    path: Walk,
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


def changes_by_alpha(
    actions: Actions,
    frame: pd.DataFrame,
    weights: np.ndarray,
    start: np.ndarray,
    goal: np.ndarray,
    decisions: np.ndarray,
    steps: tuple[float, ...],
    level: float,
) -> tuple[Change, ...]:
    """Mean change of each feature at each step; intervals are over people, counterparts held.

    Parameters
    ----------
    start, goal : arrays (n, d)
        Encoded people and counterparts.
    decisions : bool array (n, s)
        Favourable decision at each step.
    """
    today = frame[list(actions.columns)]
    found = []
    for k, alpha in enumerate(steps):
        moved = actions.interpolate(today, start, goal, alpha)
        flipped = decisions[:, k]
        for part in actions.space.parts:
            for name, change in _changes(part, today[part.column], moved[part.column]):
                known = np.isfinite(change)
                if not known.any():
                    continue
                those = known & flipped
                found.append(
                    Change(
                        feature=name,
                        column=part.column,
                        alpha=alpha,
                        mean_change=mean_test(change[known], weights[known]).interval(level),
                        among_reclassified=float(np.average(change[those], weights=weights[those]))
                        if those.any()
                        else None,
                        scale=1.0 if isinstance(part, LevelBlock) else float(part.sd),
                    )
                )
    return tuple(found)


def _changes(
    part: NumberBlock | LevelBlock, today: pd.Series, moved: pd.Series
) -> Iterator[tuple[str, np.ndarray]]:
    """Lines of one column: its name, and each person's change (n,), NaN where a value is missing."""
    if isinstance(part, LevelBlock):
        before, after = (part.encode(values, unknown="zero") for values in (today, moved))
        for k, name in enumerate(part.names):
            yield name, 2.0 * (after[:, k] - before[:, k])
        return
    known = today.notna().to_numpy() & moved.notna().to_numpy()
    before, after = (part.encode(values, unknown="zero")[:, 0] for values in (today, moved))
    yield part.names[0], np.where(known, (after - before) * part.sd, np.nan)
