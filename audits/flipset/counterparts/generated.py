"""Counterparts that a map makes: where it sends people, as admissible rows that the model decides on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from audits.errors import InputError, RunFailed
from audits.flipset.counterparts.matching import Counterparts, GeneratedPeople, Group, Matching, match
from audits.flipset.counterparts.people import Comparison, EncodedFeatures
from audits.flipset.options import map_options
from audits.models import Subject
from audits.progress import Progress, draw, part, silent
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
)

_ROWS = 20_000  # scored at a time, so that progress is shown and a run can be cancelled
_NEIGHBORS = 2000  # people of the other group among whom the nearest is looked for
_PAIRS = 2_000_000


@dataclass(frozen=True, eq=False)
class PeopleGenerator:
    """Makes people of encoded points, for those who are compared."""

    compared: Comparison

    @property
    def subject(self) -> Subject:
        """Data and model."""
        return self.compared.subject

    @property
    def encoded(self) -> EncodedFeatures:
        """The audited people as points."""
        return self.compared.encoded

    def check(self, where: str, what: str) -> None:
        """Refuse a model that cannot decide on people who are not in the data, as `what` at `where` needs.

        Raises
        ------
        InputError
            The decisions are a column of the data, or the model reads a column that is no feature.
        """
        if not self.subject.model.invents:
            raise InputError(
                where,
                f"{what}, but the decisions are a column of the data, and invented people have none",
                advice="choose exact, entropic or unbalanced transport, or audit the model itself",
            )
        unread = [name for name in self.subject.model.columns if name not in self.subject.space.columns]
        if unread:
            raise InputError(
                where,
                f"cannot invent the column {unread[0]!r}, which the model reads but is not a feature",
                advice="choose exact, or add it to data.features",
            )

    def admissible(self, z: np.ndarray, pool: np.ndarray) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
        """Raw rows of the points `z` (k, d), their encoded features, and the nearest person of `pool` (k,).

        The attributes compared are those of that person: they tell the groups apart, so no map moves them.
        """
        space, data = self.subject.space, self.subject.data
        near = self.nearest(z, pool)
        frame = data.frame.iloc[near]
        full = space.encode(frame)
        full[:, self.encoded.keep] = z
        rows = space.decode(full)
        for column in space.columns:
            if column not in self.encoded.columns:
                rows[column] = frame[column].array
        return rows, space.encode(rows)[:, self.encoded.keep], near

    def invent(self, z: np.ndarray, pool: np.ndarray, progress: Progress = silent) -> GeneratedPeople:
        """Make people of the points `z` (k, d) and have the model decide on them.

        Parameters
        ----------
        pool : array of int (m,)
            Positions of the real people of the group that the points were mapped to.
        """
        made = []
        for start in range(0, max(len(z), 1), _ROWS):
            progress(start / max(len(z), 1), f"Scoring counterparts: {start:,} of {len(z):,}")
            frame, encoded, near = self.admissible(z[start : start + _ROWS], pool)
            score = self.subject.favorable_score(frame)
            decided = self.subject.decide(score, self.groups(frame, near)).astype(bool)
            made.append((frame, encoded, score, decided))
        frames, *arrays = zip(*made, strict=True)
        return GeneratedPeople(pd.concat(frames, ignore_index=True), *map(np.concatenate, arrays))

    def nearest(self, z: np.ndarray, pool: np.ndarray) -> np.ndarray:
        """Position of the person of `pool` nearest to each point (k,), among at most 2,000 evenly spread."""
        compared = [name for name in self.subject.space.columns if name not in self.encoded.columns]
        frame = self.subject.data.frame[compared].iloc[pool]
        if not compared or len(frame.drop_duplicates()) == 1:
            return np.full(len(z), pool[0])  # anyone's attributes are everyone's
        some = pool[np.linspace(0, len(pool) - 1, min(len(pool), _NEIGHBORS)).astype(np.int64)]
        y = self.encoded.values[some]
        found = np.empty(len(z), dtype=np.int64)
        step = max(1, _PAIRS // len(some))
        for start in range(0, len(z), step):
            costs = pairwise_cost(
                z[start : start + step], y, self.compared.options.cost, self.encoded.weights
            )
            found[start : start + step] = some[costs.argmin(1)]
        return found

    def groups(self, frame: pd.DataFrame, near: np.ndarray) -> pd.DataFrame:
        """Protected groups of invented people: the nearest person's where compared, else by own value."""
        data = self.subject.data
        groups = data.groups.iloc[near].reset_index(drop=True)
        if not isinstance(self.subject.threshold, Mapping):
            return groups  # nobody's threshold depends on them
        for name in groups.columns:
            if name in self.encoded.columns:
                groups[name] = _group_of(frame[name], data.frame[name], data.groups[name])
        return groups


def _group_of(values: pd.Series, known: pd.Series, groups: pd.Series) -> np.ndarray:
    """Group of each value: that of the same value in the data, or of the nearest number there."""
    table = pd.DataFrame({"value": known.to_numpy(), "group": groups.to_numpy()}).drop_duplicates("value")
    numeric = pd.api.types.is_numeric_dtype(known) and not pd.api.types.is_bool_dtype(known)
    missing = table["group"][table["value"].isna()]
    there = table[table["value"].notna()].sort_values("value") if numeric else table[table["value"].notna()]
    if not numeric:
        found = values.map(dict(zip(there["value"], there["group"], strict=True)))
    else:
        levels = there["value"].to_numpy(dtype=float)
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
        after = np.clip(np.searchsorted(levels, numbers), 1 if len(levels) > 1 else 0, len(levels) - 1)
        before = np.maximum(after - 1, 0)
        nearer = np.where(np.abs(numbers - levels[before]) <= np.abs(levels[after] - numbers), before, after)
        found = pd.Series(there["group"].to_numpy()[nearer], index=values.index)
    if len(missing):
        found = found.where(values.notna(), missing.iloc[0])
    return found.to_numpy()


Fitted = EntropicMap | GanMap | LinearMap | NeuralMap | UnbalancedMap

THERE, BACK = "source to target", "target to source"
_NOBODY = "The unbalanced map leaves everyone without a counterpart: raise its price, or the share to match."


def match_people(
    compared: Comparison,
    value: str,
    source: np.ndarray,
    target: np.ndarray,
    rng: np.random.Generator,
    progress: Progress = silent,
) -> Matching:
    """Match the people at positions `source` with those at `target`, of one stratum: exactly, or by a map.

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
    if compared.options.transport == "exact":
        return match(compared, value, source, target, progress)
    inventor, details = PeopleGenerator(compared), map_options(compared.options)
    kind, reverse = compared.options.transport, compared.options.reverse
    ours, theirs = (Group.build(rows, compared.encoded.values, compared.sizes) for rows in (source, target))
    cost, weights = compared.options.cost, compared.encoded.weights

    def fit(name: str, one: Group, two: Group, report: Progress) -> Fitted:
        watch = _ReportedFit(report, _curve_name(name, value))
        sizes: dict[str, Any] = {"a": one.size, "b": two.size, "feature_weights": weights}
        told = {"options": details, "watch": watch.point, "progress": watch.progress, "rng": rng}
        fitted: Fitted = MAPS[kind].fit(one.x, two.x, **sizes, **told)
        if fitted.diverged_at is not None:
            raise RunFailed(fitted.finding)
        return fitted

    real = kind in {"entropic", "unbalanced"} and not inventor.subject.model.invents
    if not real:
        inventor.check("flipset.transport", "invents counterparts")
    ends = (0.45, 0.9) if reverse and not real else (0.9, 0.9)
    forward = fit(THERE, ours, theirs, part(progress, 0.0, ends[0]))
    composition, back = None, None
    curves = {_curve_name(THERE, value): forward.history}
    if real and isinstance(forward, EntropicMap | UnbalancedMap):
        there, back = _coupling_counterparts(forward, ours, theirs, compared)
    else:
        there = _generated_counterparts(forward, ours, theirs, inventor, part(progress, ends[1], 0.95))
    if reverse and not real:
        backward = fit(BACK, theirs, ours, part(progress, *ends))
        curves[_curve_name(BACK, value)] = backward.history
        back = _generated_counterparts(backward, theirs, ours, inventor, part(progress, 0.95, 1.0))
        composition = composition_error(
            ours.x,
            lambda _: there.points,
            lambda z: inventor.admissible(backward.transform(z), source)[1],
            cost=cost,
            a=ours.size,
            feature_weights=weights,
        )
    return Matching(
        value,
        ours,
        theirs,
        there=there,
        back=back,
        cost=_mean_cost(ours, there, cost, weights),
        slack=None,
        method=f"{'GAN' if kind == 'gan' else kind} {'coupling' if real else 'map'}",
        curves=curves,
        composition=composition,
    )


def _curve_name(way: str, stratum: str) -> str:
    return f"{way}, {stratum}" if stratum else way


class _ReportedFit:
    """Progress of a fit that draws its curve, and says how far features still lie from the target group's."""

    def __init__(self, report: Progress, name: str) -> None:
        self.report, self.name, self.last = report, name, ""

    def point(self, point: TrainingPoint) -> None:
        draw(self.report, {"map": self.name, **point._asdict()})
        if point.ks is not None:
            self.last = f" · KS distance {point.ks:.3f}"

    def progress(self, fraction: float, doing: str) -> None:
        self.report(fraction, doing + self.last)


def _generated_counterparts(
    fitted: Fitted, side: Group, others: Group, inventor: PeopleGenerator, progress: Progress
) -> Counterparts:
    """One invented person for each atom of `side`, among `others`."""
    people = inventor.invent(fitted.transform(side.x), others.rows, progress)
    found, weights = np.ones(len(side.x)), others.weights
    if isinstance(fitted, UnbalancedMap):
        found = np.minimum(fitted.matched_share(side.x), 1.0)
        mass = np.zeros(len(others.x))
        mass[fitted.y_rows] = np.asarray(fitted.plan().sum(0)).ravel()
        if mass.sum() <= 0 or found.max() <= 0:
            raise RunFailed(_NOBODY)
        weights = mass / mass.sum()
    return Counterparts(
        people.values, sparse.csr_array(sparse.eye_array(len(side.x))), found, weights, people
    )


def _coupling_counterparts(
    fitted: EntropicMap | UnbalancedMap, ours: Group, theirs: Group, compared: Comparison
) -> tuple[Counterparts, Counterparts]:
    """The coupling between real people, read both ways."""
    rows, columns = fitted.x_rows, fitted.y_rows
    if len(rows) < len(ours.x) or len(columns) < len(theirs.x):
        raise InputError(
            "flipset.map.max_people",
            f"must be at least {max(len(ours.x), len(theirs.x)):,}, because the "
            f"{compared.subject.model.name} decides only about real people",
            fitted.options.max_people,
            "raise it, set flipset.max_people, or choose exact",
        )
    plan = sparse.csr_array(fitted.plan())
    if plan.sum() <= 0:
        raise RunFailed(_NOBODY)

    def read(mass: sparse.csr_array, side: Group, others: Group) -> Counterparts:
        total = np.asarray(mass.sum(1)).ravel()
        lost = np.flatnonzero(total <= 0)
        if len(lost):  # too dear to match with anyone: the nearest person stands in, and counts for nothing
            gaps = pairwise_cost(side.x[lost], others.x, compared.options.cost, compared.encoded.weights)
            one = sparse.coo_array((np.ones(len(lost)), (lost, gaps.argmin(1))), shape=mass.shape)
            mass = sparse.csr_array(mass + one)
        shares = sparse.csr_array(sparse.diags_array(1.0 / np.asarray(mass.sum(1)).ravel()) @ mass)
        if isinstance(fitted, EntropicMap):  # everyone is matched, within the tolerance of its iterations
            return Counterparts(others.x, shares, np.ones(len(total)), others.weights)
        arrived = total @ shares
        found = np.minimum(total / side.weights, 1.0)
        return Counterparts(others.x, shares, found, arrived / arrived.sum())

    return read(plan, ours, theirs), read(sparse.csr_array(plan.T), theirs, ours)


def _mean_cost(side: Group, there: Counterparts, cost: Cost, weights: np.ndarray) -> float:
    """Mean cost between people and counterparts, of those who have one."""
    people = side.size * there.found
    if people.sum() == 0:
        return 0.0
    shares = sparse.coo_array(there.shares)
    row, column = shares.coords
    gaps = paired_cost(side.x[row], there.points[column], cost, weights)
    return float(people[row] / people.sum() @ (shares.data * gaps))
