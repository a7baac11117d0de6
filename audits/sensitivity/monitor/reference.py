"""What a monitor keeps of the people audited: counts of them, by column, score, sensitivity and group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from audits.data import FeatureSpace
from audits.data.values import MISSING
from audits.models import Subject
from audits.sensitivity.monitor.bins import FACTOR, cells_of, edges_of, numbers, row_hashes
from audits.stats.change import CELLS
from audits.stats.control import flag_rate_bound

_MAX_LEVELS = CELLS - 3
_MAX_GROUPS = 12
_MIN_IN_GROUP = 30
_BLOCKS = (50, 20, 10, 5, 2)
_MAX_REPEATS = 0.2
_MIN_BY_POINT = 10  # people for each coordinate, from which what columns say of each other is learned


def profile_of(
    subject: Subject,
    space: FeatureSpace,
    z: np.ndarray,
    scores: np.ndarray | None,
    sensitivity: np.ndarray | None,
    weights: np.ndarray,
    encoding: Sequence[Mapping[str, Any]],
    reads: Sequence[str],
) -> dict[str, Any]:
    """Return what is kept of the people audited, plain data; scores and sensitivities where there are any."""
    columns, joint, far = [], [], 0
    for entry in encoding:
        if entry["column"] in reads:
            at = space.blocks[entry["column"]].start
            own = _column(z, entry, at, weights)
            columns.append(own)
            far += 0 if "levels" in own else _far(z[:, at], entry)
            there = cells_of(z, entry, at, own, np.empty(0, dtype=int)) < len(own["counts"]) - 1
            if "edges" in own and weights.sum() > _MIN_BY_POINT * z.shape[1]:
                joint.append({"column": entry["column"], **beside_others(z, at, weights * there)})
    decisions = subject.decisions
    threshold = (
        None if subject.by_class else subject.threshold
    )  # the most probable class is no cut of a score
    values = {"score": scores, "sensitivity": sensitivity}
    chances = scores is not None and (sensitivity is None or subject.model.classes is not None)
    groups = _groups(subject, subject.scores if scores is None else scores, weights, chances)
    return {
        "people": float(weights.sum()),
        "far": far,
        "columns": columns,
        "joint": joint if len(columns) > 1 else [],
        **{name: numbers(own, weights) for name, own in values.items() if own is not None},
        "decisions": _two(decisions, weights),
        "threshold": float(threshold) if isinstance(threshold, (int, float)) else None,
        "unfavorable": subject.higher_is == "unfavorable",
        "bins": {name: list(edges) for name, edges in subject.data.bins.items()},
        "groups": groups,
        "shares": {name: _shares(subject.data.groups[name].to_numpy(), weights) for name in groups},
        "repeats": None
        if subject.data.weights is not None or subject.data.design is not None
        else _repeats(z),
    }


def _column(z: np.ndarray, entry: Mapping[str, Any], at: int, weights: np.ndarray) -> dict[str, Any]:
    alone = np.empty(0, dtype=int)  # whose level nobody else has: to all others it is new
    if entry["levels"]:
        own: dict[str, Any] = {"column": entry["column"], "levels": list(range(len(entry["levels"])))}
        everyone = np.arange(len(entry["levels"]) + 2)
        if entry["kind"] == "categorical":
            level = z[:, at : at + len(entry["levels"])] > 0
            alone = np.flatnonzero(level[:, (level.sum(axis=0) == 1) & (weights @ level < 2)].any(axis=1))
        if entry["kind"] == "categorical" and len(entry["levels"]) > _MAX_LEVELS:
            # half of the people choose the common levels, the others are counted: chance chose none of theirs
            chooses = np.random.default_rng(0).random(len(z)) < 0.5
            common = np.argsort(-((weights * chooses) @ level), kind="stable")[:_MAX_LEVELS]
            own["levels"] = sorted(common.tolist())
            weights = weights * ~chooses
        elif len(everyone) > CELLS:
            own["levels"] = own["levels"][:_MAX_LEVELS]
        size = len(own["levels"]) + 2
    else:
        values = z[:, at]
        there = z[:, at + 1] == 0 if entry["marks_missing"] else np.ones(len(z), dtype=bool)
        own = {"column": entry["column"], **edges_of(values[there], weights[there])}
        size = len(own["edges"]) + 4
    cells = cells_of(z, entry, at, own, np.empty(0, dtype=int))
    cells[alone] = size - 1
    own["counts"] = np.bincount(cells, weights, minlength=size).tolist()
    return own


def _far(z: np.ndarray, entry: Mapping[str, Any]) -> int:
    """Return how many of a column's numbers would be impossible beside all others: the two ends at most."""
    x = np.sort(z * entry["sd"] + entry["mean"])
    if len(x) < 3:
        return 0
    above = x[-1] > x[-2] + FACTOR * (x[-2] - x[0])
    below = x[0] < x[1] - FACTOR * (x[-1] - x[1]) or x[0] < 0 <= x[1]
    return int(above) + int(below)


def beside_others(z: np.ndarray, at: int, weights: np.ndarray) -> dict[str, Any]:
    """Return the direction in which a shift of one number alone shows most, and where people lie along it.

    It is the linear classifier between people as they are and people whose number is shifted: the number less
    what all other columns say of it. Of the people it is learned from, where they lie without themselves;
    whoever has the same values later does not, so no edge passes between the places of what several share.
    """
    others = np.delete(z, at, axis=1)
    others = np.column_stack([np.ones(len(z)), others]) * np.sqrt(weights)[:, None]
    inverse = np.linalg.pinv(others, rcond=1e-6)
    found = inverse @ (z[:, at] * np.sqrt(weights))
    person = np.maximum(weights, 1)
    own = (others * inverse.T).sum(axis=1) / person  # how much a person decides its own place
    level = inverse[0] * np.sqrt(weights) / person  # and of it by the constant, which moves nobody's
    direction = np.insert(-found[1:], at, 1.0)
    later = z @ direction
    places = (later - found[0]) * (1 - level) / (1 - np.clip(own, 0.0, 0.99)) + found[0]
    _, row = np.unique(row_hashes(z), return_inverse=True)
    later = np.where(np.bincount(row, weights)[row] >= 2, later, places)
    there = weights > 0
    between = np.minimum(places, later)[there], np.maximum(places, later)[there]
    return {"direction": direction.tolist(), **numbers(places[there], weights[there], between)}


def _two(events: np.ndarray, weights: np.ndarray) -> list[float]:
    return [float(weights[~events].sum()), float(weights[events].sum())]


def _groups(subject: Subject, scores: np.ndarray, weights: np.ndarray, chances: bool) -> dict[str, Any]:
    """Return decisions, and where labels are known what they were given the label, by attribute and group."""
    data, found = subject.data, dict[str, Any]()
    good = None if data.y is None else np.asarray(data.y).astype(bool)
    for attribute in data.protected:
        values = data.groups[attribute].to_numpy()
        names = [str(name) for name in pd.unique(values) if name != MISSING]  # of whom nothing is sent
        sizes = {name: float(weights[values == name].sum()) for name in names}
        own: dict[str, Any] = {}
        for name in sorted(sizes, key=lambda each: -sizes[each])[:_MAX_GROUPS]:
            mine = values == name
            if sizes[name] < _MIN_IN_GROUP:
                continue
            own[name] = {"people": sizes[name], "decisions": _two(subject.decisions[mine], weights[mine])}
            if good is not None:
                for key, label in (("good", True), ("bad", False)):
                    given = mine & (good == label)
                    own[name][key] = _two(subject.decisions[given], weights[given])
                if chances:
                    own[name]["apart"] = numbers(good[mine] - scores[mine], weights[mine])
        found[attribute] = own
    return found


def _shares(values: np.ndarray, weights: np.ndarray) -> dict[str, float]:
    """Return people by group, of whom something is known, and under no name all further groups together.

    Which groups are counted by themselves does not follow from how many people they have: the largest of
    many would seem to shrink.
    """
    sizes = {str(name): float(weights[values == name].sum()) for name in pd.unique(values) if name != MISSING}
    first = dict(sorted(sizes.items())[: CELLS - 1])
    return {**first, "": sum(sizes.values()) - sum(first.values())}


def _repeats(z: np.ndarray) -> dict[str, Any] | None:
    """Return how many people to look at together for equal rows, and how rarely there are any by chance."""
    rows = np.random.default_rng(0).permutation(row_hashes(z))
    for block in _BLOCKS:
        blocks = len(rows) // block
        if blocks < 20:
            continue
        parts = np.sort(rows[: blocks * block].reshape(blocks, block), axis=1)
        equal = int((parts[:, 1:] == parts[:, :-1]).any(axis=1).sum())
        bound = flag_rate_bound(equal, blocks) if equal < blocks else 1.0
        if bound <= _MAX_REPEATS:
            _, sizes = np.unique(rows, return_counts=True)
            pairs = float((sizes * (sizes - 1)).sum() / (len(rows) * (len(rows) - 1)))
            return {"block": block, "bound": bound, "pairs": pairs}
    return None
