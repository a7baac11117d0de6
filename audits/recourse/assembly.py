"""From scores on the way to the result of a recourse audit: estimates, tables, words."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from audits.data.encoder_blocks import LevelBlock, NumberBlock
from audits.data.values import text_of
from audits.models import Subject
from audits.recourse.alternatives import Alternatives
from audits.recourse.inference import Burden
from audits.recourse.paths import RecoursePath, Walk
from audits.recourse.result import (
    AlphaRow,
    Change,
    GroupAction,
    GroupRecourse,
    RecourseResult,
    WaysSummary,
)
from audits.recourse.text import recourse_finding, recourse_warnings
from audits.results import Optimum
from audits.stats import Estimate, wilson
from audits.stats.means import mean_test

_BINS = 20


@dataclass(frozen=True, eq=False)
class AlternativesParts:
    """All that a result is made of, beside the way itself.

    `sets` and `proved` are of `fewest_changes`; `reached` says of those whom no step helps whether the values
    of one of `tried` accepted people would.
    """

    path: Walk
    burden: Burden
    sets: list[tuple[str, ...] | None]
    proved: np.ndarray
    reached: np.ndarray
    tried: int
    certificate: Optimum
    warnings: tuple[str, ...]
    ways: Alternatives | None = None
    group_actions: tuple[GroupAction, ...] = ()


def pack_recourse(way: RecoursePath, found: AlternativesParts) -> RecourseResult:
    """Pack the result."""
    subject, options, people, path = way.subject, way.options, way.people, found.path
    burden = found.burden
    steps = tuple(sorted({round(step, 6) for step in options.steps}))
    at = [path.grid.index(step) for step in steps]
    edges = np.linspace(0, 1, _BINS + 1) if subject.score_kind == "probability" else _edges(path.scores)
    never = people.weights[burden.never]
    result = RecourseResult(
        options=dataclasses.asdict(options),
        columns=way.actions.columns,
        outcome=subject.rule,
        judged=burden.judged,
        finding="",
        warnings=(),
        n_rejected=float(people.weights.sum()),
        n_accepted=float(subject.data.row_weights[way.accepted].sum()),
        rows={"audited": subject.data.n, "used": len(people.positions), "left_out": people.left_out},
        steps=steps,
        by_alpha=tuple(_alpha_row(path, k, people.weights, edges, options.level) for k in at),
        by_group=tuple(_group_row(way, found, at, g) for g in range(len(people.names))),
        changes=changes_by_alpha(way, path.decisions[:, at], steps),
        gap=burden.gap,
        burden_p_value=burden.p_value,
        never=wilson(float(never.sum()), float(people.weights.sum()), level=options.level),
        never_but_reachable=wilson(float(never @ found.reached), float(never.sum()), level=options.level)
        if never.sum() > 0
        else None,
        values_tried=found.tried,
        score_edges=tuple(edges.tolist()),
        grid=path.grid,
        certificate=found.certificate,
        ways=None if found.ways is None else _ways_table(way, found.ways),
        ways_summary=None if found.ways is None else _ways_summary(way, found.ways),
        group_actions=found.group_actions,
        cut_off=_cut_off(subject),
        **_tables(way, found, at),
    )
    return dataclasses.replace(
        result,
        finding=recourse_finding(result),
        warnings=(*found.warnings, *recourse_warnings(result)),
    )


def _cut_off(subject: Subject) -> float | None:
    """Return the threshold on the scale of the scores; None where there are several."""
    if not isinstance(subject.threshold, (int, float)):
        return None
    return float(-subject.threshold if subject.higher_is == "unfavorable" else subject.threshold)


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


def _group_row(way: RecoursePath, found: AlternativesParts, at: list[int], g: int) -> GroupRecourse:
    burden, weights, level = found.burden, way.people.weights, way.options.level
    here = way.people.code == g
    n = float(weights[here].sum())
    counted = np.array([0.0 if names is None else len(names) for names in found.sets])
    known = here & np.array([names is not None for names in found.sets])
    difference = burden.differences[g]
    nothing = Estimate(None, None, None, n, "nobody to compare with")
    return GroupRecourse(
        group=way.people.names[g],
        n=n,
        reclassified=tuple(
            wilson(float(weights[here] @ found.path.decisions[here, k]), n, level=level) for k in at
        ),
        burden=burden.mean[g],
        burden_difference=nothing if difference is None else difference.interval,
        median_alpha=burden.median_alpha[g],
        never=wilson(float(weights[here] @ burden.never[here]), n, level=level),
        fewest=float(np.average(counted[known], weights=weights[known])) if known.any() else None,
        burden_judged=difference,
        accepted_judged=burden.shares[g],
    )


def _tables(way: RecoursePath, found: AlternativesParts, at: list[int]) -> dict[str, pd.DataFrame]:
    people, path, burden, sets = way.people, found.path, found.burden, found.sets
    elsewhere = np.zeros(len(burden.never), dtype=bool)
    elsewhere[burden.never] = found.reached
    index = people.frame.index
    frame = pd.DataFrame(
        {
            "group": np.array(people.names, dtype=object)[people.code],
            "score": path.scores[:, path.grid.index(0.0)],
            "alpha": np.where(burden.never, np.nan, burden.alpha),
            "cost": np.where(burden.never, np.nan, burden.cost),
            "fewest": pd.array([None if names is None else len(names) for names in sets], dtype="Int64"),
            "fewest_columns": [None if names is None else ", ".join(names) for names in sets],
            "fewest_proved": found.proved,
            "by_any_accepted": pd.arrays.BooleanArray(elsewhere, ~burden.never),
            "people": people.weights,
        },
        index=index,
    )
    paths = []
    for k in at:
        moved = way.shown(path.grid[k])
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


def _value_text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else text_of(value)


def _ways_table(way: RecoursePath, ways: Alternatives) -> pd.DataFrame:
    columns, today = list(way.actions.columns), way.today
    places = pd.Series(ways.person).groupby(ways.person).cumcount().to_numpy() + 1
    told = [
        "; ".join(
            f"{name}: {_value_text(today[name].iloc[who])} → {_value_text(ways.moved[name].iloc[k])}"
            for name, differs in zip(columns, ways.changed[k], strict=True)
            if differs
        )
        for k, who in enumerate(ways.person)
    ]
    facts = {
        "group": np.array(way.people.names, dtype=object)[way.people.code[ways.person]],
        "way": places,
        "cost": ways.cost,
        "score": ways.score,
        "columns": ways.changed.sum(1),
        "change": told,
    }
    if ways.survives is not None:
        facts["survives"] = ways.survives
    if ways.noisy is not None:
        facts["noisy"] = ways.noisy
    values = ways.moved.add_prefix("value of ")
    return pd.concat([pd.DataFrame(facts), values], axis=1).set_index(
        way.people.frame.index[ways.person].rename("row")
    )


def _ways_summary(way: RecoursePath, ways: Alternatives) -> WaysSummary:
    """Sum up over people, each by their cheapest way: several ways of one person are not several people."""
    helped, first = np.unique(ways.person, return_index=True)
    weights, level = np.zeros(len(way.people.positions)), way.options.level
    weights[ways.looked_at] = ways.people

    def mean(values: np.ndarray | None) -> Estimate | None:
        if values is None or not len(helped):
            return None
        return mean_test(values[first], weights[helped]).interval(level)

    return WaysSummary(
        with_way=wilson(float(weights[helped].sum()), float(ways.people.sum()), level=level),
        ways=len(ways.person) / len(helped) if len(helped) else None,
        cost=mean(ways.cost),
        survives=mean(ways.survives),
        noisy=mean(ways.noisy),
        refits=0 if ways.survives is None else way.options.refits,
    )


def changes_by_alpha(
    way: RecoursePath, decisions: np.ndarray, steps: tuple[float, ...]
) -> tuple[Change, ...]:
    """Mean change of each feature at each step; intervals are over people, counterparts held.

    Parameters
    ----------
    decisions : bool array (n, s)
        Favorable decision at each step.
    """
    weights, space = way.people.weights, way.actions.space
    found = []
    for k, alpha in enumerate(steps):
        moved = way.points(alpha)
        flipped = decisions[:, k]
        for part in space.parts:
            block = space.blocks[part.column]
            for name, change in _changes(part, way.start[:, block], moved[:, block]):
                known = np.isfinite(change)
                if not known.any():
                    continue
                those = known & flipped
                mean = mean_test(change[known], weights[known]).interval(way.options.level)
                if alpha == 0:  # nobody has moved yet
                    mean = replace(mean, low=0.0, high=0.0, method="exact")
                found.append(
                    Change(
                        feature=name,
                        column=part.column,
                        alpha=alpha,
                        mean_change=mean,
                        among_reclassified=float(np.average(change[those], weights=weights[those]))
                        if those.any()
                        else None,
                        scale=1.0 if isinstance(part, LevelBlock) else float(part.sd),
                    )
                )
    return tuple(found)


def _changes(
    part: NumberBlock | LevelBlock, before: np.ndarray, after: np.ndarray
) -> Iterator[tuple[str, np.ndarray]]:
    """Lines of one column, encoded: its name, and each person's change (n,), NaN where a value is missing."""
    if isinstance(part, LevelBlock):
        for k, name in enumerate(part.names):
            yield name, 2.0 * (after[:, k] - before[:, k])
        return
    known = ((before[:, 1:] < 0.5) & (after[:, 1:] < 0.5)).all(axis=1)
    yield part.names[0], np.where(known, (after[:, 0] - before[:, 0]) * part.sd, np.nan)
