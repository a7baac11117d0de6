"""What is left of a gap with all explainers: the effect among the source, doubly robust and cross-fitted.

The mean, over source people with comparable target people, of their outcome minus what target people with the
same explainers get (the average effect on the treated; Hahn 1998, Chernozhukov et al. 2018). Target outcomes
and group membership are learned from other people than those they are stated of, by learners stacked by their
loss on people not learned from (van der Laan, Polley, Hubbard 2007). Where all explainers make few cells, the
means of the cells take the learners' place, and nothing is split.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize, nnls
from scipy.special import expit, logit, ndtr, ndtri, stdtrit

from audits.errors import is_installed, not_installed
from audits.explain.terms import terms_of
from audits.stats.design import Design
from audits.stats.intervals import least_level
from audits.stats.means import hall_quantile

MIN = 5
"""Target people that a cell, or a value of a category, must hold for source people to be comparable."""

_RATIO = 20.0  # comparable: the source is at most so many times as dense as the target
_FOLDS, _MORE_FOLDS, _SPLITS = 4, 8, 2
_FEW = 1500  # people; of fewer, a quarter is too many to learn without
_TREES: dict[str, Any] = {
    "max_iter": 40,
    "learning_rate": 0.15,
    "max_leaf_nodes": 8,
    "min_samples_leaf": 10,
    "l2_regularization": 1.0,
    "early_stopping": False,
    "random_state": 0,
}
_MIN_SEEN = 10  # favorable decisions, and others, from which a side's own spread is taken
_LOGIT = 8.0  # in absolute size at most
_LEVELS = 0.2  # of the error rate


@dataclass(frozen=True, eq=False)
class TwoGroups:
    """Source and target people; their order depends on nothing but what they are.

    Attributes
    ----------
    values : DataFrame (n, explainers)
        Numbers as float64, anything else as codes of levels (0: missing).
    categories : tuple of bool
        Which columns are codes.
    source, outcome : bool and float array (n,)
    counts : int array (n,)
        People that each row represents.
    weight : float array (n,)
        Of each of these people; all the same unless they were sampled with weights.
    design : Design or None
        Clusters and strata of the rows.
    numeric : bool
        Whether the outcome is a number, not a decision.
    """

    values: pd.DataFrame
    categories: tuple[bool, ...]
    source: np.ndarray
    outcome: np.ndarray
    counts: np.ndarray
    weight: np.ndarray
    design: Design | None = None
    numeric: bool = False

    @property
    def one(self) -> float:
        """What one person can change: a whole decision; of numbers a standard deviation."""
        return self.spread if self.numeric else 1.0

    @property
    def spread(self) -> float:
        """Standard deviation of the outcome over everyone."""
        mean = np.average(self.outcome, weights=self.size)
        return float(np.sqrt(np.average((self.outcome - mean) ** 2, weights=self.size)))

    @property
    def size(self) -> np.ndarray:
        """Weighted people of each row (n,)."""
        return self.counts * self.weight

    @property
    def units(self) -> np.ndarray:
        """Independent people of each row (n,): rows of one cluster share one."""
        if self.design is None:
            return self.counts.astype(float)
        code = np.unique(self.design.cluster, return_inverse=True)[1]
        return np.asarray(1 / np.bincount(code)[code])

    @property
    def balance(self) -> float:
        """Target people to one of the source."""
        return float(self.size[~self.source].sum() / self.size[self.source].sum())

    def cells(self) -> np.ndarray:
        """Return each row's joint cell of all explainers (n,)."""
        names = list(self.values.columns)
        if not names:
            return np.zeros(len(self.source), dtype=np.int64)
        return np.asarray(self.values.groupby(names, dropna=False, sort=True).ngroup())


@dataclass(frozen=True, eq=False)
class Nuisance:
    """What target people like each row get, and how dense the source is beside the target there.

    Attributes
    ----------
    expected, ratio : float array (splits, n)
    comparable : bool array (n,)
    cell : int array (n,) or None
        The joint cells, where these were used.
    method : str
    """

    expected: np.ndarray
    ratio: np.ndarray
    comparable: np.ndarray
    cell: np.ndarray | None
    method: str


def by_cells(people: TwoGroups, cell: np.ndarray) -> Nuisance:
    """Return the means of cells."""
    k, source, size = int(cell.max()) + 1, people.source, people.size
    target = np.bincount(cell[~source], size[~source], k)
    favored = np.bincount(cell[~source], (size * people.outcome)[~source], k)
    ours = np.bincount(cell[source], size[source], k)
    some = target > 0
    rate = np.divide(favored, target, out=np.zeros(k), where=some)
    ratio = np.divide(ours, target, out=np.zeros(k), where=some) * people.balance
    held = np.bincount(cell[~source], people.units[~source], k) >= MIN
    return Nuisance(rate[cell][None], ratio[cell][None], held[cell], cell, "means of cells")


def by_learners(people: TwoGroups, rng: np.random.Generator) -> Nuisance:
    """Return what stacked learners say of people whom they have not seen."""
    if not is_installed("sklearn"):  # which a table of few kinds of people does without
        raise not_installed("explain", "sklearn")
    bases = terms_of(people.values, people.categories, people.size)
    everybody, outcome = np.ones_like(people.source), people.outcome
    outcome = outcome if people.numeric else outcome > 0.5
    expected, ratio = [], []
    folds = _MORE_FOLDS if people.units.sum() < _FEW else _FOLDS
    for _ in range(_SPLITS):
        dealt = _dealt(people, folds, rng)
        expected.append(_blend(people, bases, outcome, ~people.source, dealt))
        chance = _blend(people, bases, people.source, everybody, dealt)
        ratio.append(chance / (1 - chance) * people.balance)
    comparable = (np.median(ratio, axis=0) <= _RATIO) & _has_overlap(people)
    method = f"doubly robust, {folds} folds, {_SPLITS} splits"
    return Nuisance(np.array(expected), np.array(ratio), comparable, None, method)


def _has_overlap(people: TwoGroups) -> np.ndarray:
    """Whether enough target people have the row's value of every category (n,)."""
    seen = np.ones(len(people.source), dtype=bool)
    for name, category in zip(people.values.columns, people.categories, strict=True):
        if category:
            code = people.values[name].to_numpy()
            seen &= (np.bincount(code, people.units * ~people.source) >= MIN)[code]
    return seen


def _dealt(
    people: TwoGroups, folds: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Deal people, not rows, into folds; return row, fold and how many people of the row are in the fold.

    Neighbors in the order of `TwoGroups` go to different folds, so that each has people of every kind.
    """
    unit = np.repeat(np.arange(len(people.counts)), people.counts)
    place = np.arange(len(unit))
    if people.design is not None:  # a cluster stays together
        _, first, code = np.unique(people.design.cluster, return_index=True, return_inverse=True)
        place = np.argsort(np.argsort(first))[code]
    blocks = rng.permuted(np.tile(np.arange(folds), (int(place.max()) // folds + 1, 1)), axis=1)
    both, n = np.unique(unit * folds + blocks.ravel()[place], return_counts=True)
    return both // folds, both % folds, n


def _guessed(
    people: TwoGroups,
    bases: tuple[np.ndarray, ...],
    y: np.ndarray,
    among: np.ndarray,
    dealt: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return what each learner of those `among` in the other folds says of `y` (n,), and who they are.

    Returns
    -------
    guesses, value, weight, here : arrays (r, learners), (r,), (r,), (r,)
        A row for each row and fold; guesses are probabilities where `y` is of bools.
    """
    row, fold, n = dealt
    value, here = y[row], among[row]
    weight = n * people.weight[row]
    weight = weight / weight.mean()
    guesses = np.full((len(row), len(bases)), np.average(value[here], weights=weight[here]))
    chances = value.dtype == bool
    for k in np.unique(fold):
        learn, told = here & (fold != k), fold == k
        if chances and len(np.unique(value[learn])) < 2:
            continue
        for j, (learner, basis) in enumerate(zip(_learners(chances=chances), bases, strict=True)):
            learner.fit(basis[row[learn]], value[learn], sample_weight=weight[learn])
            unseen = basis[row[told]]
            guesses[told, j] = learner.predict_proba(unseen)[:, 1] if chances else learner.predict(unseen)
    return guesses, value, weight, here


def _learners(*, chances: bool) -> tuple[Any, ...]:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from sklearn.linear_model import LogisticRegression, Ridge

    if not chances:
        return Ridge(0.1), Ridge(1.0), HistGradientBoostingRegressor(**_TREES)
    return (
        LogisticRegression(C=10.0, solver="newton-cholesky", max_iter=50),
        LogisticRegression(C=1.0, solver="newton-cholesky", max_iter=50),
        HistGradientBoostingClassifier(**_TREES),
    )


def _blend(
    people: TwoGroups,
    bases: tuple[np.ndarray, ...],
    y: np.ndarray,
    among: np.ndarray,
    dealt: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> np.ndarray:
    """Return the probability of `y` (n,), or its mean where it is of numbers, by all learners together."""
    guesses, value, weight, here = _guessed(people, bases, y, among, dealt)
    if value.dtype == bool:
        terms = logit(guesses.clip(1e-9, 1 - 1e-9)).clip(-_LOGIT, _LOGIT)
        found = _blend_logits(terms, value[here], weight[here], here)
    else:
        mean, root = float(np.average(value[here], weights=weight[here])), np.sqrt(weight[here])
        shares = nnls(root[:, None] * (guesses[here] - mean), root * (value[here] - mean))[0]
        found = mean + (guesses - mean) @ shares
    return np.bincount(dealt[0], dealt[2] * found) / people.counts


def _blend_logits(terms: np.ndarray, label: np.ndarray, weight: np.ndarray, here: np.ndarray) -> np.ndarray:
    """Return the logistic regression on the learners' logits, none against its own direction."""
    seen, sign = terms[here], np.where(label, 1.0, -1.0)

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        margin = sign * (b[0] + seen @ b[1:])
        slope = -weight * sign * expit(-margin)
        value = float(weight @ np.logaddexp(0, -margin) + b[1:] @ b[1:] / 2)
        return value, np.concatenate([[slope.sum()], seen.T @ slope + b[1:]])

    k = terms.shape[1]
    start = np.concatenate([[0.0], np.full(k, 1 / k)])
    bounds = [(None, None), *[(0.0, None)] * k]
    b = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return np.asarray(expit((b[0] + terms @ b[1:]).clip(-_LOGIT, _LOGIT)))


@dataclass(frozen=True, eq=False)
class Contrast:
    """The source's mean minus that of comparable target people, among some.

    Attributes
    ----------
    value : float
    people, freedom : float
        Source people; degrees of freedom of the smaller side.
    influence : float array (units,)
        Of people, or of clusters: its squares sum to the sampling variance.
    rest : float
        Variance on top: the spread over splits, and one person who would have been decided otherwise.
    numeric : bool
        Whether it is of numbers, not of shares.
    """

    value: float
    people: float
    freedom: float
    influence: np.ndarray
    rest: float
    numeric: bool = False

    def ends(self, reach: float) -> tuple[float, float]:
        """Return the ends of an interval of so many standard errors; of numbers, their skewness taken out."""
        error = self.error
        if not self.numeric:
            return max(self.value - reach * error, -1.0), min(self.value + reach * error, 1.0)
        skewness = float((self.influence**3).sum()) / error**3 if error > 0 else 0.0
        low, high = (hall_quantile(end, skewness) for end in (reach, -reach))
        return self.value - error * low, self.value - error * high

    @property
    def error(self) -> float:
        """Standard error."""
        return float(np.sqrt(self.influence @ self.influence + self.rest))

    def minus(self, other: Contrast) -> Contrast:
        """Return the difference of two contrasts of the same people."""
        influence, rest = self.influence - other.influence, self.rest + other.rest
        freedom = min(self.freedom, other.freedom)
        return Contrast(self.value - other.value, self.people, freedom, influence, rest, self.numeric)


def gap_of(people: TwoGroups, inside: np.ndarray) -> Contrast | None:
    """Return the source's mean minus the target's among those `inside`; None without both groups."""
    nothing = np.zeros((1, len(inside)))
    return contrast(people, Nuisance(nothing, nothing + 1, inside, None, ""), inside)


def contrast(people: TwoGroups, found: Nuisance, inside: np.ndarray) -> Contrast | None:
    """Return what is left among those `inside` (n,); None without people of both groups."""
    weight, counts = people.weight, people.counts
    ratio = np.exp(np.log(np.maximum(found.ratio, 1e-12)).mean(axis=0))
    ours = weight * (inside & people.source)
    theirs = weight * ratio * (inside & ~people.source)
    if ours.sum() <= 0 or theirs.sum() <= 0:
        return None
    both = ((ours, people.source), (theirs, ~people.source))
    sizes = [_effective(people, each, inside & side) for each, side in both]
    ours, theirs = ours / (counts @ ours), theirs / (counts @ theirs)
    values = []
    for expected, each in zip(found.expected, found.ratio, strict=True):
        left = people.outcome - expected
        match = counts * weight * each * (inside & ~people.source)
        values.append((counts * ours) @ left - match @ left / match.sum())
    left = people.outcome - found.expected.mean(axis=0)
    own, other = float((counts * ours) @ left), float((counts * theirs) @ left)
    value = own - other
    influence = ours * (left - own) - theirs * (left - other) * _inflation(people, found, inside)
    rest = float(np.mean((np.array(values) - value) ** 2)) + (people.one / sizes[0]) ** 2
    one = _one_in_each(people, found, inside, theirs) if found.cell is not None else 1 / sizes[1] ** 2
    rest += people.one**2 * one
    if not people.numeric:
        rest += _unseen(people, inside, (ours * (left - own), theirs * (left - other)), (ours, theirs), sizes)
    own_people = float(people.units[inside & people.source].sum())
    freedom = max(min(sizes) - 1, 1.0)
    return Contrast(value, own_people, freedom, _units(people, influence), rest, people.numeric)


def _effective(people: TwoGroups, weight: np.ndarray, side: np.ndarray) -> float:
    """Independent people of equal weight who would tell as much."""
    counts, units = people.counts[side], people.units[side]
    equal = (counts @ weight[side]) ** 2 / (counts @ weight[side] ** 2)
    return float(equal * units.sum() / counts.sum())


def _unseen(
    people: TwoGroups,
    inside: np.ndarray,
    parts: tuple[np.ndarray, np.ndarray],
    weights: tuple[np.ndarray, np.ndarray],
    sizes: list[float],
) -> float:
    """Variance that a side with fewer than ten decisions of one kind lacks to vary as the other side does."""
    lacks, counts = 0.0, people.counts
    for k, side in enumerate((people.source, ~people.source)):
        favored = float((people.units * people.outcome)[inside & side].sum())
        rarer = min(favored, float(people.units[inside & side].sum()) - favored)
        if rarer < _MIN_SEEN:
            weight = np.maximum(weights[1 - k], 1e-300)
            theirs = float(counts @ (parts[1 - k] ** 2 / weight)) / sizes[k]
            lacks += max(theirs - float(counts @ parts[k] ** 2), 0.0)
    return lacks


def _inflation(people: TwoGroups, found: Nuisance, inside: np.ndarray) -> np.ndarray:
    """Factor of residuals from a mean that they took part in (n,): 1 for those that did not."""
    if found.cell is None:
        return np.ones(len(inside))
    n = np.bincount(found.cell, people.units * ~people.source)[found.cell]
    return np.sqrt(n / np.maximum(n - 1, 1))


def _one_in_each(people: TwoGroups, found: Nuisance, inside: np.ndarray, theirs: np.ndarray) -> float:
    """Variance of one target person decided otherwise in each cell: cells of equal decisions vary, too."""
    assert found.cell is not None  # noqa: S101 - the caller has looked
    share = np.bincount(found.cell, people.counts * theirs)
    n = np.bincount(found.cell, people.units * (inside & ~people.source))
    return float(((share / np.maximum(n, 1)) ** 2).sum())


def _units(people: TwoGroups, influence: np.ndarray) -> np.ndarray:
    """Sum the influence of independent units, so that its squares add up to the variance."""
    if people.design is None:
        return influence * np.sqrt(people.counts)
    code, stratum = people.design.cluster, people.design.stratum
    present, code = np.unique(code, return_inverse=True)
    total, own = np.bincount(code, influence), stratum[present]
    n = np.bincount(own)
    mean = np.where(n > 1, np.bincount(own, total) / np.maximum(n, 1), 0.0)
    return (total - mean[own]) * np.sqrt(n / np.maximum(n - 1, 1))[own]


def reaches(found: list[Contrast], level: float, draws: int) -> list[tuple[float, float]]:
    """Return how many standard errors the intervals reach that hold together, and each one's p-value.

    The first, the average, has four fifths of the error rate; the largest of all others has the rest. A
    p-value is the smallest error rate of all together at which the interval leaves out 0.
    """
    single = [_least_alone(each) for each in found]
    if len(found) == 1:
        return [(float(stdtrit(found[0].freedom, 1 - level / 2)), single[0])]
    rest = found[1:]
    parts = np.array([each.influence / (each.error or 1.0) for each in rest])  # 0 where nobody differs
    spread = parts @ parts.T
    spread[np.diag_indices(len(rest))] = 1.0 + 1e-9
    normal = np.random.default_rng(0).standard_normal((draws, len(rest))) @ np.linalg.cholesky(spread).T
    largest = np.sort(np.abs(normal).max(axis=1))
    least = np.quantile(largest, 1 - _LEVELS * level)
    tail = [1 - (1 - _LEVELS) * level / 2, *[float(ndtr(least))] * len(rest)]
    z = -ndtri(np.array(single[1:]) / 2)
    beyond = 1 - np.searchsorted(largest, z) / draws
    bound = np.minimum(1 / draws, len(rest) * np.array(single[1:]))  # where no draw is as large
    together = np.where(beyond > 0, beyond, bound) / _LEVELS
    p = np.minimum(1.0, [single[0] / (1 - _LEVELS), *together])
    return [
        (float(stdtrit(each.freedom, at)), float(own)) for each, at, own in zip(found, tail, p, strict=True)
    ]


def _least_alone(found: Contrast) -> float:
    """Return the smallest error rate at which the interval of one contrast leaves out 0."""

    def apart(level: float) -> bool:
        low, high = found.ends(float(stdtrit(found.freedom, 1 - level / 2)))
        return low > 0 or high < 0

    return least_level(apart)
