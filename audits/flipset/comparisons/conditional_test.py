"""Are people with the same features decided alike? What tells other treatment from other features.

Flips above chance have two sources: the groups are decided by different rules, or one rule meets features
that hang together differently. Given the features, only the first leaves a trace. Decisions and membership
are each predicted from the features (kernel ridge regression, everyone by the others); if one rule decides,
what is left over of the two is unrelated among people with the same features (the generalised covariance
measure of Shah & Peters, "The hardness of conditional independence testing", Annals of Statistics 2020), and
exchanging decisions between people with the same features of the two groups turns the sign of their product.
So its signs are turned at random, and products are summed over pairs of people with the same features:
differences that cancel over everyone are seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import pdist, squareform
from scipy.stats import norm

from audits.flipset.counterparts.matching import Matching, draw_rows
from audits.flipset.counterparts.people import Comparison
from audits.flipset.result import Conditional
from audits.stats import Estimate, apportion, p_value
from audits.stats.intervals import percent_level

MAX_OVERLAP = 500
"""People of each group compared at a time: a kernel of all pairs."""
_DRAWS = 5  # samples of larger groups, so that no verdict hangs on one
_MIN = 20
_TURNS = 999  # random turns of signs behind the p-value
_PLANTED, _PLANTED_TURNS = 40, 199  # samples with a planted difference behind the power, and their turns
_WIDTHS = (2.0, 0.5, 0.1)  # of the kernels, times the median squared distance
_PENALTIES = np.geomspace(1e-3, 1e2, 11)
_LINEAR = 0.3  # weight of straight lines beside the kernel
_ALIKE = 0.5  # width of the kernel over predicted decisions, in their variance
_ONE_RULE = (
    "the model reads only the matched features, so people with the same features get the same decision"
)


def one_rule(compared: Comparison) -> bool:
    """Whether the model cannot tell people apart who are alike in the features matched on."""
    subject = compared.subject
    return (
        subject.model.invents
        and set(subject.model.columns) <= set(compared.encoded.columns)
        and isinstance(subject.threshold, (int, float))
    )


def conditional_test(
    compared: Comparison,
    matched: list[Matching],
    levels: Mapping[str, np.ndarray],
    level: float,
    rng: np.random.Generator,
) -> Conditional:
    """Test whether decisions depend on membership among people with the same features and of one stratum.

    Parameters
    ----------
    levels : mapping
        Name of a level to the bool array (n,) of who of all people is in it: each is tested by itself, too.
    level : float
        Of the interval, and of the test whose power is measured.
    """
    n = float(sum(part.source.people.sum() + part.target.people.sum() for part in matched))
    if one_rule(compared):
        return Conditional(Estimate(0.0, 0.0, 0.0, n, _ONE_RULE), None, None, n, _ONE_RULE)
    people = _ComparablePeople.draw(compared, matched, rng)
    method = f"{_TURNS} exchanges of decisions among people with the same features, {percent_level(level)}"
    if people is None:
        return Conditional(None, None, None, n, f"fewer than {_MIN} people in a group are too few")
    samples = [people]
    if len(people.decisions) < n - 0.5:
        method = f"{method}, {_DRAWS} samples"
        more = (_ComparablePeople.draw(compared, matched, rng) for _ in range(_DRAWS - 1))
        samples += [each for each in more if each is not None]
    tested = [each.test(each.decisions, level, method, rng) for each in samples]
    at_levels = np.array([each.test_levels(levels, rng) for each in samples])
    k = max(1, round(compared.limit * people.source.sum()))
    limit = level / (1 if len(samples) == 1 else 2)  # of several samples twice the median p-value counts
    planted = (_perturbed_decisions(people, k, rng) for _ in range(_PLANTED))
    seen = sum(people.test(each, level, method, rng, _PLANTED_TURNS)[1] <= limit for each in planted)
    share, p = _together(tested, level)
    by_level = dict(zip(levels, _median_p(at_levels).tolist(), strict=True))
    return Conditional(share, p, seen / _PLANTED, float(len(people.decisions)), method, by_level)


def _median_p(p: np.ndarray) -> np.ndarray:
    """P-value of several samples (k, ...), which overlap: twice the median holds whatever their dependence.

    Meinshausen, Meier, Buehlmann, "p-values for high-dimensional regression", JASA 2009.
    """
    return np.asarray(p[0] if len(p) == 1 else np.minimum(2 * np.median(p, axis=0), 1.0))


def _together(tested: list[tuple[Estimate, float]], level: float) -> tuple[Estimate, float]:
    """Mean share of several samples, its interval widened by their spread, and its p-value."""
    if len(tested) == 1:
        return tested[0]
    values, lows = (np.array([getattr(share, end) for share, _ in tested]) for end in ("value", "low"))
    reach = float(np.hypot((values - lows).mean(), norm.isf(level / 2) * values.std(ddof=1)))
    value, first = float(values.mean()), tested[0][0]
    p = float(_median_p(np.array([p for _, p in tested])))
    return Estimate(value, value - reach, value + reach, first.n, first.method), p


def _perturbed_decisions(people: _ComparablePeople, k: int, rng: np.random.Generator) -> np.ndarray:
    """Decisions with `k` of the source's turned down and `k` turned up, as far as there are so many.

    Down on one side of the features, up on the other, in a direction of its own each time: turned everywhere,
    decisions by lot would still be decisions by lot.
    """
    turned = people.decisions.copy()
    along = people.x @ rng.normal(size=people.x.shape[1])
    upper = along > np.median(along[people.source])
    for favored in (True, False):
        rows = np.flatnonzero(people.source & (people.decisions == favored) & (upper == favored))
        turned[rng.choice(rows, min(k, len(rows)), replace=False)] = not favored
    return turned


@dataclass(frozen=True, eq=False)
class _Basis:
    """A kernel's eigenvectors (n, n), and per penalty how far each is shrunk, and everyone's own say."""

    vectors: np.ndarray
    shrunk: np.ndarray  # (penalties, n)
    own: np.ndarray  # (penalties, n)

    @classmethod
    def of(cls, kernel: np.ndarray) -> _Basis:
        values, vectors = np.linalg.eigh(kernel)
        values = np.maximum(values, 0.0)
        shrunk = values / (values + _PENALTIES[:, None])
        return cls(vectors, shrunk, np.minimum(shrunk @ (vectors**2).T, 0.999))


@dataclass(frozen=True, eq=False)
class _ComparablePeople:
    """People of both groups (n), who is of the source, and how alike they are (n, n)."""

    rows: np.ndarray
    x: np.ndarray
    decisions: np.ndarray
    source: np.ndarray
    alike: np.ndarray
    bases: list[_Basis]
    member: np.ndarray  # (n,) what is left over of membership

    @classmethod
    def draw(
        cls, compared: Comparison, matched: list[Matching], rng: np.random.Generator
    ) -> _ComparablePeople | None:
        drawn = []
        for own in (True, False):
            groups = [part.source if own else part.target for part in matched]
            totals = np.array([max(np.rint(group.people.sum()), 1) for group in groups])
            for k, (group, wanted) in enumerate(zip(groups, apportion(totals, MAX_OVERLAP), strict=True)):
                rows = group.rows[draw_rows(group.people, int(wanted), rng)]
                drawn.append((rows, np.full(len(rows), own), np.full(len(rows), k)))
        who, member, stratum = map(np.concatenate, zip(*drawn, strict=True))
        if min(member.sum(), (~member).sum()) < _MIN:
            return None
        x = compared.encoded.values[who]
        if len(matched) > 1:  # alike also means of one stratum
            x = np.hstack([x, 2.0 * np.eye(len(matched))[stratum]])
        spread = x.std(0)
        x = (x - x.mean(0))[:, spread > 1e-12]
        if not x.shape[1]:
            return None
        apart = squareform(pdist(x, "sqeuclidean"))
        middle = float(np.median(apart[apart > 0]))
        kernels = [np.exp(-apart / (width * middle)) for width in _WIDTHS]
        straight = _LINEAR * (x @ x.T) / x.shape[1]
        bases = [_Basis.of(kernel + straight) for kernel in kernels]
        left = _left_over(bases, member.astype(float))
        return cls(who, x, compared.decisions[who], member, kernels[0] + kernels[1], bases, left)

    def test(
        self,
        decisions: np.ndarray,
        level: float,
        method: str,
        rng: np.random.Generator,
        turns: int = _TURNS,
    ) -> tuple[Estimate, float]:
        """Share of people decided otherwise than people with the same features, and the p-value of none."""
        n = len(decisions)
        left = _left_over(self.bases, decisions.astype(float))
        predicted = decisions - left
        near = (predicted[:, None] - predicted) ** 2 / (_ALIKE * max(float(predicted.var()), 1e-12))
        alike = self.alike + 2.0 * np.exp(-near)
        product = left * self.member
        signs = rng.choice([-1.0, 1.0], (turns, n)) * product
        null = np.einsum("ij,ij->i", signs @ alike, signs)
        p = p_value(float(product @ alike @ product), null)
        # the sign that others alike have: the person's own product has no say in it
        others = alike @ product - np.diag(alike) * product
        part = np.sign(others) * product / max(float((self.member**2).mean()), 1e-12)
        value = float(part.mean())
        # a pair of people enters twice, by either one's sign: at most twice the variance
        reach = float(norm.isf(level / 2) * part.std(ddof=1) * np.sqrt(2 / n))
        return Estimate(value, value - reach, value + reach, float(n), method), p

    def test_levels(self, levels: Mapping[str, np.ndarray], rng: np.random.Generator) -> np.ndarray:
        """P-value of each level's people being decided alike, corrected for all levels by their largest."""
        if not levels:
            return np.zeros(0)
        product = _left_over(self.bases, self.decisions.astype(float)) * self.member
        inside = product[:, None] * np.column_stack([inside[self.rows] for inside in levels.values()])
        spread = np.sqrt((inside**2).sum(0))
        inside = np.divide(inside, spread, out=np.zeros_like(inside), where=spread > 0)
        seen = np.abs(inside.sum(0))
        largest = np.abs(rng.choice([-1.0, 1.0], (_TURNS, len(product))) @ inside).max(1)
        return np.array([p_value(float(each), largest) for each in seen])


def _left_over(bases: list[_Basis], y: np.ndarray) -> np.ndarray:
    """What (n,) kernel ridge regression leaves over of `y`, everyone predicted by the others.

    Of the kernels and penalties the one that leaves least.
    """
    middle = y - y.mean()
    found = []
    for basis in bases:
        fitted = (basis.shrunk * (basis.vectors.T @ middle)) @ basis.vectors.T  # (penalties, n)
        found.append((middle - fitted) / (1 - basis.own))
    left = np.concatenate(found)
    return left[(left**2).mean(1).argmin()]
