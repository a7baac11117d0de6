"""Counterparts from a map fitted to both groups: invented people, or a coupling that is not the exact one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from audits.errors import InputError, RunFailed
from audits.flipset.inventing import Inventor
from audits.flipset.matching import Counterparts, Matched, atoms
from audits.progress import Progress, draw, part
from audits.transport import Cost, paired_cost, pairwise_cost
from audits.transport.maps import (
    MAPS,
    EntropicMap,
    GanMap,
    LinearMap,
    NeuralMap,
    TrainingPoint,
    UnbalancedMap,
    composition_error,
    mean_cost,
)

__all__ = ["map_match"]

Fitted = EntropicMap | GanMap | LinearMap | NeuralMap | UnbalancedMap

_NAMES = {
    "gan": "GAN map",
    "neural": "neural map",
    "entropic": "entropic map",
    "linear": "linear map",
    "unbalanced": "unbalanced map",
}
THERE, BACK = "source to target", "target to source"
_NOBODY = (
    "The unbalanced map leaves everyone without a counterpart: raise its price, or the share that is matched."
)


def map_match(
    value: str,
    source: np.ndarray,
    target: np.ndarray,
    inventor: Inventor,
    sizes: np.ndarray,
    *,
    kind: str,
    options: Any,
    reverse: bool,
    rng: np.random.Generator,
    progress: Progress,
) -> Matched:
    """Match the people at positions `source` with counterparts from a map fitted to them and `target`.

    Where the model decides on invented people, everyone's counterpart is where the map sends them; else the
    map's own coupling over real people is used, which the entropic and the unbalanced map have. The way
    back is a second fit.

    Raises
    ------
    InputError
        The map invents people and the model cannot decide on them.
    RunFailed
        Training diverged.
    """
    encoded, cost, weights = inventor.encoded.values, inventor.cost, inventor.encoded.weights
    x, source_atom = atoms(encoded[source])
    y, target_atom = atoms(encoded[target])
    source_size = np.bincount(source_atom, sizes[source], len(x))
    target_size = np.bincount(target_atom, sizes[target], len(y))

    def fit(
        name: str, one: np.ndarray, a: np.ndarray, two: np.ndarray, b: np.ndarray, report: Progress
    ) -> Fitted:
        watch = _Watched(report, _curve_name(name, value))
        fitted: Fitted = MAPS[kind].fit(
            one,
            two,
            a=a,
            b=b,
            feature_weights=weights,
            options=options,
            watch=watch.point,
            progress=watch.progress,
            rng=rng,
        )
        if fitted.diverged_at is not None:
            raise RunFailed(fitted.finding)
        return fitted

    real = kind in {"entropic", "unbalanced"} and not inventor.subject.model.invents
    if not real:
        inventor.check("flipset.transport", "invents counterparts")
    ends = (0.45, 0.9) if reverse and not real else (0.9, 0.9)
    forward = fit(THERE, x, source_size, y, target_size, part(progress, 0.0, ends[0]))
    composition = None
    curves = {_curve_name(THERE, value): forward.history}
    back: Counterparts | None
    if real and isinstance(forward, EntropicMap | UnbalancedMap):
        name = inventor.subject.model.name
        there, back = _coupled(forward, x, y, source_size, target_size, name, cost, weights)
    else:
        there = _invented(forward, x, target, y, target_size, inventor, part(progress, ends[1], 0.95))
        back = None
    if reverse and not real:
        backward = fit(BACK, y, target_size, x, source_size, part(progress, *ends))
        curves[_curve_name(BACK, value)] = backward.history
        back = _invented(backward, y, source, x, source_size, inventor, part(progress, 0.95, 1.0))
        composition = composition_error(
            x,
            lambda _: there.points,
            lambda z: inventor.admissible(backward.transform(z), source)[1],
            cost=cost,
            a=source_size,
            feature_weights=weights,
        )
    return Matched(
        value=value,
        source=source,
        target=target,
        source_atom=source_atom,
        target_atom=target_atom,
        x=x,
        y=y,
        source_size=source_size,
        target_size=target_size,
        there=there,
        back=back,
        cost=_mean_cost(x, there, source_size, cost, weights),
        slack=None,
        method=_NAMES[kind] if not real else _NAMES[kind].replace("map", "coupling"),
        curves=curves,
        composition=composition,
    )


def _curve_name(way: str, stratum: str) -> str:
    return f"{way}, {stratum}" if stratum else way


class _Watched:
    """Progress of a fit that draws its curve, and says how far features still lie from the target group's."""

    def __init__(self, report: Progress, name: str) -> None:
        self.report, self.name, self.last = report, name, ""

    def point(self, point: TrainingPoint) -> None:
        draw(self.report, {"map": self.name, **point._asdict()})
        if point.ks is not None:
            self.last = f" · KS distance {point.ks:.3f}"

    def progress(self, fraction: float, doing: str) -> None:
        self.report(fraction, doing + self.last)


def _invented(
    fitted: Fitted,
    x: np.ndarray,
    others: np.ndarray,
    y: np.ndarray,
    other_size: np.ndarray,
    inventor: Inventor,
    progress: Progress,
) -> Counterparts:
    """One invented person for each atom `x`; `others` are positions of the real people of the group."""
    people = inventor.invent(fitted.transform(x), others, progress)
    found, weights = np.ones(len(x)), other_size / other_size.sum()
    if isinstance(fitted, UnbalancedMap):
        found = np.minimum(fitted.matched_share(x), 1.0)
        mass = np.zeros(len(y))
        mass[fitted.potentials.y_rows] = np.asarray(fitted.plan().sum(0)).ravel()
        if mass.sum() <= 0 or found.max() <= 0:
            raise RunFailed(_NOBODY)
        weights = mass / mass.sum()
    return Counterparts(people.values, sparse.csr_array(sparse.eye_array(len(x))), found, weights, people)


def _coupled(
    fitted: EntropicMap | UnbalancedMap,
    x: np.ndarray,
    y: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    model: str,
    cost: Cost,
    weights: np.ndarray,
) -> tuple[Counterparts, Counterparts]:
    """The coupling between real people, read both ways."""
    rows, columns = fitted.potentials.x_rows, fitted.potentials.y_rows
    if len(rows) < len(x) or len(columns) < len(y):
        raise InputError(
            "flipset.map.max_people",
            f"must be at least {max(len(x), len(y)):,}, because the {model} decides on real people only",
            fitted.options.max_people,
            "raise it, set flipset.max_people, or choose exact",
        )
    plan = sparse.csr_array(fitted.plan())
    if plan.sum() <= 0:
        raise RunFailed(_NOBODY)

    def read(mass: sparse.csr_array, size: np.ndarray, other: np.ndarray, points: np.ndarray) -> Counterparts:
        total = np.asarray(mass.sum(1)).ravel()
        lost = np.flatnonzero(total <= 0)
        if len(lost):  # too dear to match with anyone: the nearest person stands in, and counts for nothing
            own, near = (x, y) if points is y else (y, x)
            place = pairwise_cost(own[lost], near, cost, weights).argmin(1)
            mass = sparse.csr_array(
                mass + sparse.coo_array((np.ones(len(lost)), (lost, place)), shape=mass.shape)
            )
        shares = sparse.csr_array(sparse.diags_array(1.0 / np.asarray(mass.sum(1)).ravel()) @ mass)
        if isinstance(fitted, EntropicMap):  # everyone is matched, within the tolerance of its iterations
            return Counterparts(points, shares, np.ones(len(total)), other / other.sum())
        arrived = total @ shares
        found = np.minimum(total / (size / size.sum()), 1.0)
        return Counterparts(points, shares, found, arrived / arrived.sum())

    return read(plan, a, b, y), read(sparse.csr_array(plan.T), b, a, x)


def _mean_cost(
    x: np.ndarray, there: Counterparts, size: np.ndarray, cost: Cost, weights: np.ndarray
) -> float:
    """Mean cost between people and counterparts, of those who have one."""
    people = size * there.found
    if people.sum() == 0:
        return 0.0
    if there.invented is not None:
        return mean_cost(x, there.points, cost=cost, a=people, feature_weights=weights)
    row, column = sparse.coo_array(there.shares).coords
    gaps = paired_cost(x[row], there.points[column], cost, weights)
    return float(people[row] / people.sum() @ (sparse.coo_array(there.shares).data * gaps))
