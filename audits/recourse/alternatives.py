"""Several ways for one person, how well they hold, and one action for a whole group.

A way takes the actionable values of an accepted person as a start, then puts back every column that is not
needed, the most costly first, until every one is: what is left is admissible, accepted, and changes few
columns. Of the ways of a person the cheapest is kept, then those that are most unlike the ones kept, in what
they change and how far.

Whether a way holds is tried out: with models trained again on resamples of the same training data, and with
numbers that miss what was aimed at. One action for a group is picked on a random half of its people, the
cheapest of those that help nearly as many as the best, and stated for the other half.

Columns move along with an action, as the auditor drew which follows which. A column is fitted by least
squares to those that it follows, over everyone; what it was off by for a person stays with them. When a
person changes a column, each column that follows moves by what the fit says, one after the other. A column
that the person changes on purpose follows nothing. That the drawing is right, and that effects are linear and
alike for all, is assumed: data cannot show it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from graphlib import CycleError, TopologicalSorter

import numpy as np
import pandas as pd

from audits.checks import one_of
from audits.data import AuditData, FeatureSpace
from audits.data.encoder_blocks import NumberBlock
from audits.data.frames import with_columns
from audits.data.partition import resample, sample_people
from audits.data.values import text_of
from audits.errors import InputError
from audits.models import Subject
from audits.models.factory import train_model
from audits.progress import Progress, part, silent
from audits.recourse.paths import RecoursePath
from audits.recourse.result import GroupAction
from audits.stats import Estimate, wilson
from audits.stats.text import number

_DONORS = 40  # accepted people whose values are tried for one person
_NOISY = 20  # draws of each way with noise
_ACTIONS = 60  # actions tried on a group
_MAX_ROWS = 300_000
_NEARLY = 0.05  # of people that a cheaper action of a group may help less
_MAX_COUNTED = 1e9  # people up to which halves are drawn by person

Action = dict[str, tuple[str, object]]


@dataclass(frozen=True, eq=False)
class Alternatives:
    """Ways found.

    Attributes
    ----------
    person : int array (w,)
        Place among the rejected people followed.
    moved : DataFrame (w, columns)
        Actionable values on each way.
    changed : bool array (w, columns)
        Which of them differ from today's.
    cost, score : float arrays (w,)
    looked_at : int array
        Rejected people for whom ways were looked for, as rows of those followed.
    people : float array
        How many people each of these rows stands for.
    survives, noisy : float arrays (w,) or None
        Share of refits, and of noisy draws, that still accept.
    """

    person: np.ndarray
    moved: pd.DataFrame
    changed: np.ndarray
    cost: np.ndarray
    score: np.ndarray
    looked_at: np.ndarray
    people: np.ndarray
    survives: np.ndarray | None
    noisy: np.ndarray | None


def find_ways(way: RecoursePath, rng: np.random.Generator, progress: Progress = silent) -> Alternatives:
    """Find several ways for each of some rejected people, and try how well they hold."""
    options, people, columns = way.options, way.people, list(way.actions.columns)
    drawn = people.positions, options.ways_people, rng
    rows, counted = sample_people(way.subject.data, *drawn, sizes=people.weights)
    looked_at = np.searchsorted(people.positions, rows)
    after = downstream_of(way.subject.data, options.follows)
    held = way.subject.data.frame.iloc[way.accepted][columns].drop_duplicates()
    whole = held.dropna()  # nobody is told to have a value missing, unless all who are accepted have
    donors = (whole if len(whole) else held).reset_index(drop=True)
    start, ends = way.start[looked_at], way.actions.space.encode(donors)
    near = _nearest(start, ends, way.actions.costs, _DONORS)
    place = np.repeat(np.arange(len(looked_at)), near.shape[1])
    person = looked_at[place]
    today = way.today.iloc[person].reset_index(drop=True)
    moved = way.actions.allowed(today, donors.iloc[near.ravel()].reset_index(drop=True))

    def accepted(values: pd.DataFrame, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return decide(way, after, values, who)

    progress(0.0, "Looking for several ways")
    score, good = accepted(moved, person)
    person, score = person[good], score[good]
    moved, today = _select_rows(moved, good), _select_rows(today, good)
    needless = bool(len(person))
    while needless:  # without one column another may no longer be needed
        needless = False
        for step, name in enumerate(_costliest(way, columns)):
            progress(0.6 * (step + 1) / (len(columns) + 1), "Leaving out what is not needed")
            new, fine = accepted(with_columns(moved, {name: today[name]}), person)
            fine &= _changed_cells(today, moved, [name])[:, 0]
            moved[name] = moved[name].where(~fine, today[name])
            score = np.where(fine, new, score)
            needless |= bool(fine.any())
    changed = _changed_cells(today, moved, columns)
    cost = _cost(way, person, moved) if len(person) else np.empty(0)
    chosen = _diverse(
        person, way.actions.space.encode(moved) if len(moved) else start[:0], changed, cost, options.ways
    )
    person, moved, changed = person[chosen], _select_rows(moved, chosen), changed[chosen]
    cost, score = cost[chosen], score[chosen]
    survives = _acceptance_by_refits(way, after, moved, person, rng, part(progress, 0.6, 0.9))
    noisy = _with_noise(way, accepted, moved, changed, person, rng)
    return Alternatives(person, moved, changed, cost, score, looked_at, counted, survives, noisy)


def decide(
    way: RecoursePath,
    after: Downstream,
    values: pd.DataFrame,
    who: np.ndarray,
    subject: Subject | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Score people `who` (m,) with other actionable values and what follows; scores and decisions, (m,)."""
    rows = way.rows(values, who)
    if after.order:
        today, moved = (each.reset_index(drop=True) for each in (way.people.frame.iloc[who], rows))
        rows = after.carried(today, moved, set(way.actions.columns)).set_axis(rows.index)
    return way.decide(rows, who, subject)


def _nearest(start: np.ndarray, ends: np.ndarray, costs: np.ndarray, most: int) -> np.ndarray:
    """Accepted people's values for each person, (m, k): the nearest half, and others spread over the rest."""
    m, k = len(start), min(most, len(ends))
    found = np.empty((m, k), dtype=np.int64)
    for row in range(m):
        order = np.argsort(np.abs(ends - start[row]) @ costs, kind="stable")
        near = order[: k // 2]
        rest = order[k // 2 :]
        found[row] = [*near, *rest[np.linspace(0, len(rest) - 1, k - len(near)).astype(int)]]
    return found


def _costliest(way: RecoursePath, columns: list[str]) -> list[str]:
    """Columns by what changing them costs on the way to the counterparts, most first."""
    apart = np.abs(way.goal - way.start).mean(0) * way.actions.costs
    return sorted(columns, key=lambda name: -float(apart[way.actions.space.blocks[name]].sum()))


def _select_rows(frame: pd.DataFrame, chosen: np.ndarray) -> pd.DataFrame:
    return frame.iloc[np.flatnonzero(chosen) if chosen.dtype == bool else chosen].reset_index(drop=True)


def _changed_cells(today: pd.DataFrame, moved: pd.DataFrame, columns: list[str]) -> np.ndarray:
    found = np.zeros((len(today), len(columns)), dtype=bool)
    for k, name in enumerate(columns):
        same = (today[name] == moved[name]).fillna(False) | (today[name].isna() & moved[name].isna())
        found[:, k] = ~same.to_numpy(dtype=bool)
    return found


def _diverse(
    person: np.ndarray, place: np.ndarray, changed: np.ndarray, cost: np.ndarray, most: int
) -> np.ndarray:
    """Keep each person's cheapest way, then those most unlike the kept ones per unit of cost, (w,)."""
    kept: list[int] = []
    for who in np.unique(person):
        own = np.flatnonzero(person == who)
        own = own[np.argsort(cost[own], kind="stable")]
        _, first = np.unique(np.round(place[own], 9), axis=0, return_index=True)
        own = own[np.sort(first)]
        chosen = [own[0]]
        while len(chosen) < min(most, len(own)):
            rest = np.array([item for item in own if item not in chosen])
            other = (changed[rest][:, None] != changed[chosen][None]).mean(2)
            apart = np.abs(place[rest][:, None] - place[chosen][None]).sum(2)
            unlike = (other + apart / (1 + apart)).min(1) / (1 + cost[rest] / max(cost[own[0]], 1e-9))
            if unlike.max() <= 1e-9:
                break
            chosen.append(int(rest[unlike.argmax()]))
        kept += [int(item) for item in chosen]
    return np.array(kept, dtype=np.int64)


def _acceptance_by_refits(
    way: RecoursePath,
    after: Downstream,
    moved: pd.DataFrame,
    person: np.ndarray,
    rng: np.random.Generator,
    progress: Progress,
) -> np.ndarray | None:
    """Share of models trained again, each on a resample of the training data, that accept each way."""
    subject, refits = way.subject, way.options.refits
    if not refits or subject.training is None or subject.train is None or not len(person):
        return None
    still = np.zeros(len(person))
    for k in range(refits):
        progress(k / refits, f"Training the model again ({k + 1} of {refits})")
        model = train_model(resample(subject.training, rng), subject.train, subject.seed + k + 1, silent)
        again = dataclasses.replace(subject, model=model)
        still += decide(way, after, moved, person, again)[1]
    return still / refits


def _with_noise(
    way: RecoursePath,
    accepted: Callable[[pd.DataFrame, np.ndarray], tuple[np.ndarray, np.ndarray]],
    moved: pd.DataFrame,
    changed: np.ndarray,
    person: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray | None:
    """Share of draws that accept each way when changed numbers miss their aim by some of a deviation."""
    if way.options.noise == 0 or not len(person):
        return None
    times = np.repeat(np.arange(len(person)), _NOISY)
    drawn = moved.iloc[times].reset_index(drop=True)
    today = way.today.iloc[person[times]].reset_index(drop=True)
    for place, block in enumerate(way.actions.space.parts):
        if not isinstance(block, NumberBlock) or block.kind not in {"continuous", "integer"}:
            continue
        miss = rng.normal(0.0, way.options.noise * block.sd, len(drawn)) * changed[times, place]
        drawn[block.column] = _shifted(way, drawn[block.column], miss)
    # a bound holds for what is carried out, too; a direction was kept by the aim
    return accepted(way.actions.allowed(today, drawn), person[times])[1].reshape(-1, _NOISY).mean(1)


def group_actions(way: RecoursePath, ways: Alternatives, rng: np.random.Generator) -> tuple[GroupAction, ...]:
    """Return for each group the cheapest action that helps nearly as many as the best one does.

    It is picked on a random half of the group's people, among the ways of anyone who is not in the other
    half, for whom it is stated.
    """
    found = []
    after = downstream_of(way.subject.data, way.options.follows)
    today = way.today.reset_index(drop=True)
    for g, name in enumerate(way.people.names):
        here = np.flatnonzero(way.people.code == g)
        on, off = _halves(way.people.weights[here], rng)
        actions = _as_actions(
            way, ways, today, np.isin(ways.person, here[off > 0]) & ~np.isin(ways.person, here[on > 0])
        )
        most = max(1, min(_ACTIONS, _MAX_ROWS // max(len(here), 1)))
        picked = rng.permutation(len(actions))[:most] if len(actions) > most else range(len(actions))
        if not len(picked):
            continue

        helped = partial(_action_effect, way, after, today, here)
        action = _cheapest([actions[place] for place in picked], partial(helped, on), on.sum())
        if off.any():
            good, cost = helped(off, action)
            coverage: Estimate = wilson(good, float(off.sum()), level=way.options.level)
        else:
            coverage, cost = Estimate(None, None, None, 0.0, "nobody left to test it on"), None
        found.append(
            GroupAction(
                group=name,
                action=_words(action),
                n=float((on + off).sum()),
                tried=len(picked),
                coverage=coverage,
                cost=cost,
            )
        )
    return tuple(found)


def _action_effect(
    way: RecoursePath,
    after: Downstream,
    today: pd.DataFrame,
    here: np.ndarray,
    weights: np.ndarray,
    action: Action,
) -> tuple[float, float]:
    """People `here`, as many as `weights` say, who are accepted after an action, and its mean cost to all."""
    some = np.flatnonzero(weights > 0)
    moved = _apply_action(way, today, action, here[some])
    good = decide(way, after, moved, here[some])[1]
    cost = np.average(_cost(way, here[some], moved), weights=weights[some])
    return float(weights[some] @ good), float(cost)


def _halves(weights: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Split people at random, however many a row stands for; return how many of each row are in each half."""
    if (weights % 1 == 0).all() and weights.sum() < _MAX_COUNTED:
        half = max(int(weights.sum()) // 2, 1)
        on = rng.multivariate_hypergeometric(weights.astype(np.int64), half, method="marginals").astype(float)
    else:
        on = np.zeros(len(weights))
        chosen = rng.permutation(len(weights))[: max(len(weights) // 2, 1)]
        on[chosen] = weights[chosen]
    return on, weights - on


def _cheapest(
    actions: Sequence[Action], helped: Callable[[Action], tuple[float, float]], people: float
) -> Action:
    """Return the cheapest action that helps nearly as many as the best, or less of it if that does too."""
    tried = [(*helped(action), action) for action in actions]
    enough = max(good for good, _, _ in tried)
    enough -= min(_NEARLY * people, enough / 2)
    _, least, action = min((each for each in tried if each[0] >= enough), key=lambda each: each[1])
    for name, (how, value) in list(action.items()):
        shares = (0.1, 0.2, 0.3, 0.5, 0.7) if how == "by" else ()
        rest = {other: each for other, each in action.items() if other != name}
        less: list[Action] = [rest | {name: ("by", part * float(value))} for part in shares]  # type: ignore[arg-type]
        for variant in filter(None, [rest, *less]):
            good, cost = helped(variant)
            if good >= enough and cost < least:
                least, action = cost, variant
                break
    return action


def _cost(way: RecoursePath, who: np.ndarray, moved: pd.DataFrame) -> np.ndarray:
    return way.actions.cost(way.start[who], way.actions.space.encode(moved))


def _as_actions(
    way: RecoursePath, ways: Alternatives, today: pd.DataFrame, barred: np.ndarray
) -> list[Action]:
    """Each different way that is not `barred` (w,) as an action: numbers by how much, all else to what."""
    numbers = {
        block.column
        for block in way.actions.space.parts
        if isinstance(block, NumberBlock) and block.kind in {"continuous", "integer"}
    }
    found: dict[str, Action] = {}
    columns = list(way.actions.columns)
    for k in np.flatnonzero(~barred):
        action: Action = {}
        for place in np.flatnonzero(ways.changed[k]):
            name = columns[place]
            new, old = ways.moved[name].iloc[k], today[name].iloc[ways.person[k]]
            if name in numbers and not pd.isna(old) and not pd.isna(new):
                action[name] = ("by", float(new) - float(old))
            else:
                action[name] = ("to", new)
        if action:
            found.setdefault(_words(action), action)
    return list(found.values())


def _apply_action(way: RecoursePath, today: pd.DataFrame, action: Action, who: np.ndarray) -> pd.DataFrame:
    """Values of people `who` after an action, as far as limits and the range seen in the data allow."""
    now = today.iloc[who].reset_index(drop=True)
    moved = now.copy()
    for name, (how, value) in action.items():
        if how == "to":
            moved[name] = pd.Series([value] * len(now)).astype(now[name].dtype)
            continue
        moved[name] = _shifted(way, now[name], float(value))  # type: ignore[arg-type]
    return way.actions.allowed(now, moved)


def _shifted(way: RecoursePath, column: pd.Series, by: np.ndarray | float) -> pd.Series:
    """Return a column moved, not beyond what anyone has: a model need not be defined for negative debts."""
    seen = way.subject.data.frame[column.name]
    values = column.to_numpy(dtype=float, na_value=np.nan) + by
    return numbers_like(column, np.clip(values, float(seen.min()), float(seen.max())))


def numbers_like(column: pd.Series, values: np.ndarray) -> pd.Series:
    """Return numbers (n,) as a column holds them: whole ones rounded, and missing ones missing."""
    if pd.api.types.is_integer_dtype(column.dtype):
        whole = pd.Series(np.rint(values), index=column.index)
        return whole.astype("Int64" if whole.isna().any() else "int64").astype(column.dtype)
    return pd.Series(values, index=column.index)


def _words(action: Action) -> str:
    parts = []
    for name, (how, value) in action.items():
        if how == "to":
            parts.append(f"{name}: to {text_of(value)}")
        else:
            by = number(abs(float(value)))  # type: ignore[arg-type]
            parts.append(f"{name}: {by} {'more' if float(value) > 0 else 'less'}")  # type: ignore[arg-type]
    return "; ".join(parts)


@dataclass(frozen=True, eq=False)
class Downstream:
    """Fits of the columns that follow others, in an order in which causes come first.

    Attributes
    ----------
    order : tuple of str
        The columns that follow.
    spaces : dict of column to FeatureSpace
        Of those that each follows.
    slopes : dict of column to array
        Change of the column for a change by 1 in each encoded column that it follows.
    """

    order: tuple[str, ...]
    spaces: dict[str, FeatureSpace]
    slopes: dict[str, np.ndarray]

    def carried(self, today: pd.DataFrame, moved: pd.DataFrame, chosen: set[str]) -> pd.DataFrame:
        """Return `moved` rows with what follows from the change; columns `chosen` on purpose stay put."""
        found = moved.copy()
        for name in self.order:
            if name in chosen:
                continue
            space = self.spaces[name]
            shift = (space.encode(found) - space.encode(today)) @ self.slopes[name]
            found[name] = numbers_like(
                today[name], today[name].to_numpy(dtype=float, na_value=np.nan) + shift
            )
        return found


def downstream_of(data: AuditData, follows: Mapping[str, tuple[str, ...]]) -> Downstream:
    """Fit what follows from what.

    Raises
    ------
    InputError
        For an unknown column, one that follows but is no number, or a drawing that goes round in a circle.
    """
    for name, causes in follows.items():
        one_of("recourse.follows", name, data.features, what="a feature")
        if data.kinds[name] not in {"continuous", "integer"}:
            raise InputError("recourse.follows", f"can move numbers only, but {name!r} is {data.kinds[name]}")
        for cause in causes:
            one_of(f"recourse.follows.{name}", cause, data.features, what="a feature")
    try:
        ordered = [name for name in TopologicalSorter(follows).static_order() if name in follows]
    except CycleError as error:
        circle = " → ".join(error.args[1])
        raise InputError("recourse.follows", f"must not go round in a circle: {circle}") from None
    spaces, slopes = {}, {}
    for name in ordered:
        spaces[name] = FeatureSpace.fit(data, tuple(follows[name]))
        x = spaces[name].encode(data.frame)
        y = data.frame[name].to_numpy(dtype=float, na_value=np.nan)
        known = ~np.isnan(y)
        root = np.sqrt(data.row_weights)[known]
        design = np.column_stack([np.ones(known.sum()), x[known]]) * root[:, None]
        slopes[name] = np.linalg.lstsq(design, y[known] * root, rcond=None)[0][1:]
    return Downstream(tuple(ordered), spaces, slopes)
