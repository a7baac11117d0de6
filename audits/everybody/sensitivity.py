"""Prediction sensitivity of everybody in a table that is larger than what is held: a fold over its batches.

The models are those of people drawn by lot, who stand in the result that this begins with. `partial` measures
a batch, `merge` adds parts up, `finish` states what follows from all people. What is kept of them is one line
for all of one group whose sensitivities agree in their first 12 binary digits: how many they are, and their
mean. Means, ratios and shares are then those of the people; a quantile lies within 0.03 % of theirs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.data import AuditData
from audits.data.ranked import ranked
from audits.models import Subject
from audits.sensitivity.judging import (
    JudgedGroups,
    Withheld,
    baseline_of,
    histogram_of,
    judge_about_one,
    judge_group,
    reaching_one,
    threshold_of,
    with_spread,
)
from audits.sensitivity.measuring.gradients import Audited, Status, exceeds, measure, smoothing_noise
from audits.sensitivity.measuring.scene import Models
from audits.sensitivity.monitor.networks import network_of, tables_of
from audits.sensitivity.options import SensitivityOptions
from audits.sensitivity.packing import why_withheld
from audits.sensitivity.result import FeatureShare, GroupSensitivity, SensitivityResult
from audits.sensitivity.words import finding, too_few
from audits.stats import Estimate, wilson, worst_of
from audits.stats.intervals import percent_level
from audits.stats.means import FEWEST, mean_test
from audits.stats.permutation import p_value
from audits.stats.ratios import mean_ratio

__all__ = ["SensitivityFold", "SensitivityPart", "fold_of"]

_DIGITS = 12
_BINS = np.int64(1) << np.int64(12 + _DIGITS)
_LUMP_DIGITS = 7  # of people of like sensitivity, among whom membership is drawn
_CRITICAL_DRAWS = 10_000
_MOST_DRAWS = 20_000


@dataclass(frozen=True, eq=False)
class SensitivityPart:
    """What a batch says, or several.

    Attributes
    ----------
    cells : tuple of tuple of str
        Combinations of groups that occur.
    lines : (k,) int
        Place among `cells` times 2**24, plus the first digits of the sensitivity; sorted.
    people, total : (k,) float
        People of a line, and the sum of their sensitivities.
    digits : (b,) int
        First digits that occur; sorted.
    parts : (b, c) float
        Sums of the features' parts of sensitivity of those people.
    products : (c, c) float
        Sums of products of two features' parts over all people.
    """

    cells: tuple[tuple[str, ...], ...]
    lines: np.ndarray
    people: np.ndarray
    total: np.ndarray
    digits: np.ndarray
    parts: np.ndarray
    products: np.ndarray


def fold_of(
    subject: Subject,
    options: SensitivityOptions,
    result: SensitivityResult,
    rng: np.random.Generator,
    again: np.random.Generator,  # noqa: ARG001  (all that was drawn stands in the result)
) -> SensitivityFold | None:
    """Return the fold over everybody; None where a person takes many scorings, or a sample is asked for.

    Parameters
    ----------
    subject : Subject
        Of the people drawn.
    result : SensitivityResult
        Of the same people.
    """
    if result.estimated or options.max_people is not None or options.counterfactuals:
        return None
    arrays = tables_of(result.parameters)
    good = arrays.pop("F.favorable", None)
    audited = Audited(network_of(arrays, "F"), None if good is None else good.astype(bool))
    statuses = tuple(
        Status(name, tuple(result.status_groups[name]), network_of(arrays, f"A:{name}"))
        for name in result.protected
    )
    drawn = subject.data.frame.index
    if subject.training is not None:
        drawn = drawn.union(subject.training.frame.index)
    taught = drawn.difference(result.people.index)
    return SensitivityFold(subject, options, result, rng, audited, statuses, taught)


@dataclass(frozen=True, eq=False)
class SensitivityFold:
    """See the module: `partial`, `merge`, `finish`.

    Attributes
    ----------
    taught : Index
        Rows that the audited model or A learned from: they are not measured.
    """

    subject: Subject
    options: SensitivityOptions
    result: SensitivityResult
    rng: np.random.Generator
    audited: Audited
    statuses: tuple[Status, ...]
    taught: pd.Index

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that it reads besides those of groups."""
        return self.subject.space.columns

    def partial(self, data: AuditData) -> tuple[SensitivityPart, pd.DataFrame]:
        """Measure people; return their part, and one row a person."""
        inside = ~data.frame.index.isin(self.taught)
        frame, groups = data.frame[inside], data.groups[inside]
        space, options = self.subject.space, self.options
        noise = smoothing_noise(space.movable(), options.smooth, options.smooth_noise, seed=0)
        found = measure(
            space.encode(frame, unknown="zero"),
            self.audited,
            self.statuses,
            [space.blocks[column] for column in space.columns],
            literal=options.gradient == "literal",
            noise=noise,
        )
        values, parts = found.sensitivity, found.contributions
        cells, cell = _cells([groups[name] for name in self.result.protected])
        digits = values.view(np.int64) >> np.int64(52 - _DIGITS)
        some, among = ranked(digits)
        lines, at = ranked(cell * len(some) + among)
        sums = [np.bincount(among, column, len(some)) for column in parts.T]
        part = SensitivityPart(
            cells,
            lines // len(some) * _BINS + some[lines % len(some)],
            np.bincount(at, minlength=len(lines)).astype(float),
            np.bincount(at, values, len(lines)),
            some,
            np.column_stack(sums) if sums else np.empty((len(some), 0)),
            parts.T @ parts,
        )
        people = pd.DataFrame(
            {
                "sensitivity": values,
                "score": found.score,
                "decision": self.subject.decide(found.score, groups),
                "gradient": found.influence,
            },
            index=frame.index,
        )
        return part, people

    def merge(self, first: SensitivityPart, second: SensitivityPart) -> SensitivityPart:
        """Return what both say together."""
        cells = tuple(dict.fromkeys([*first.cells, *second.cells]))
        place = {cell: k for k, cell in enumerate(cells)}
        digits, among = ranked(np.concatenate([first.digits, second.digits]))
        lines = [
            np.array([place[cell] for cell in part.cells], dtype=np.int64)[part.lines // _BINS] * len(digits)
            + np.searchsorted(digits, part.lines % _BINS)
            for part in (first, second)
            if len(part.lines)
        ]
        both, at = ranked(np.concatenate(lines or [np.empty(0, dtype=np.int64)]))
        both = both // len(digits) * _BINS + digits[both % len(digits)]
        own, parts = len(first.digits), np.zeros((len(digits), first.parts.shape[1]))
        parts[among[:own]] = first.parts
        parts[among[own:]] += second.parts  # each digits stand once in a part
        return SensitivityPart(
            cells,
            both,
            np.bincount(at, np.concatenate([first.people, second.people]), len(both)),
            np.bincount(at, np.concatenate([first.total, second.total]), len(both)),
            digits,
            parts,
            first.products + second.products,
        )

    def finish(self, part: SensitivityPart) -> SensitivityResult:
        """Return the result of all people measured; of those drawn is what is said of the models."""
        result, options = self.result, self.options
        weights = part.people
        values = part.total / weights
        groups = pd.DataFrame(
            {
                name: np.array([cell[k] for cell in part.cells])[part.lines // _BINS]
                for k, name in enumerate(result.protected)
            }
        )
        threshold = threshold_of(values, weights, options)
        edge = threshold.value or 0.0
        flagged = exceeds(values, edge)
        above, n = float(weights @ flagged), float(weights.sum())
        baseline = baseline_of(values, weights, options.level)
        models = Models(self.audited, "", self.statuses, result.status)
        compared = _compare(
            values,
            weights,
            flagged,
            groups,
            options,
            self.rng,
            withheld=why_withheld(models, result.direct, options),
            spreads={(each.attribute, each.group): each.spread for each in result.groups},
        )
        # the axis ends where few people are left: `histogram_of` takes lines for people there
        top = np.minimum(values, max(baseline.quantiles["0.99"].value or 0.0, 1.1 * edge))
        lines = dataclasses.replace(self.subject.data, groups=groups)
        before = JudgedGroups(result.groups, result.judged, 0)
        warnings = [each for each in result.warnings if each not in too_few(before)]
        people = result.people.assign(flagged=exceeds(result.people["sensitivity"].to_numpy(), edge))
        left_out = {"rows that a model learned from": len(self.taught)}
        return dataclasses.replace(
            result,
            judged=compared.judged,
            finding=finding(compared, baseline, threshold, above, n, options),
            warnings=(self._of_whom(n), *too_few(compared), *warnings),
            rows={"audited": int(n) + len(self.taught), "used": int(n), "left_out": left_out},
            baseline=baseline,
            threshold=threshold,
            false_alarm_rate=above / n,
            above=above,
            flagged=wilson(above, n, level=options.level),
            groups=compared.groups,
            by_feature=self._features(part, edge, n),
            histogram=histogram_of(top, lines, weights, result.protected, edge),
            people=people,
        )

    def _of_whom(self, n: float) -> str:
        return (
            f"Groups, baseline, threshold and features' parts are of {n:,.0f} people, everybody in the table "
            f"but the {len(self.taught):,} whom a model learned from; how good the protected-status model "
            f"is, the match set and the people listed are of {len(self.result.people):,} drawn by lot."
        )

    def _features(self, part: SensitivityPart, edge: float, n: float) -> tuple[FeatureShare, ...]:
        """Return each column's part of all sensitivity, largest first; see `judging.feature_shares`."""
        columns, level = self.subject.space.columns, self.options.level
        sums = part.parts.sum(axis=0)
        whole = sums.sum()
        # everybody of the same digits has about this sensitivity
        mean = part.parts.sum(axis=1) / np.maximum(self._people_by_digits(part), 1.0)
        above = part.parts[exceeds(mean, edge)].sum(axis=0)
        if whole <= 0:
            none = Estimate(None, None, None, n, "nobody has any sensitivity")
            return tuple(FeatureShare(name, 0.0, none, None) for name in columns)
        value = sums / whole
        turn = np.eye(len(columns)) - value  # (c, c): a person's parts less what their sum would give
        spread = turn.T @ part.products @ turn / n
        error = np.sqrt(np.maximum(np.diag(spread), 0.0) / n) / (whole / n)
        varies = error > 1e-12
        reach = np.zeros(len(columns))
        if varies.any():
            kept = spread[np.ix_(varies, varies)]
            scale = np.sqrt(np.diag(kept))
            drawn = self.rng.multivariate_normal(
                np.zeros(len(scale)), kept / np.outer(scale, scale), _CRITICAL_DRAWS, method="eigh"
            )
            reach[varies] = np.quantile(np.abs(drawn).max(axis=1), 1 - level) * error[varies]
        method = f"simultaneous normal {percent_level(level)}"
        shares = [
            Estimate(float(v), max(float(v - r), 0.0), min(float(v + r), 1.0), n, method)
            for v, r in zip(value, reach, strict=True)
        ]
        among = above / above.sum() if above.sum() > 0 else [None] * len(columns)
        listed = [
            FeatureShare(name, float(total / n), share, None if each is None else float(each))
            for name, total, share, each in zip(columns, sums, shares, among, strict=True)
        ]
        return tuple(sorted(listed, key=lambda item: -item.mean))

    def _people_by_digits(self, part: SensitivityPart) -> np.ndarray:
        place = np.searchsorted(part.digits, part.lines % _BINS)
        return np.bincount(place, part.people, len(part.digits))


def _cells(groups: Sequence[pd.Series]) -> tuple[tuple[tuple[str, ...], ...], np.ndarray]:
    """Return the combinations of groups that occur, and the place of each person's (n,)."""
    coded = [pd.factorize(column, sort=True) for column in groups]
    index = np.zeros(len(groups[0]), dtype=np.int64)
    for codes, values in coded:
        index = index * max(len(values), 1) + codes
    found, at = ranked(index)
    first = np.empty(len(found), dtype=np.int64)
    first[at] = np.arange(len(at))  # anybody of each
    cells = [tuple(str(values[codes[row]]) for codes, values in coded) for row in first]
    return tuple(cells), at


def _compare(
    values: np.ndarray,
    weights: np.ndarray,
    flagged: np.ndarray,
    groups: pd.DataFrame,
    options: SensitivityOptions,
    rng: np.random.Generator,
    *,
    withheld: Withheld,
    spreads: Mapping[tuple[str, str], float],
) -> JudgedGroups:
    """Compare each group's mean with everyone else's, as `judging.judge_groups` does of rows."""
    n = float(weights.sum())
    sides: list[tuple[str, str, np.ndarray, bool]] = []
    looks = 0
    for attribute in groups.columns:
        column = groups[attribute].to_numpy(dtype=str)
        own = []
        for name in np.unique(column):
            inside = column == name
            size = float(weights[inside].sum())
            own.append((str(attribute), str(name), inside, min(size, n - size) >= FEWEST))
        enough = [each[3] for each in own]
        looks += 1 if enough == [True, True] else sum(enough)
        sides += own
    level = options.level / max(looks, 1)
    draws = int(min(max(999, np.ceil(8 / level)), _MOST_DRAWS))
    found, judged = [], []
    for attribute, name, inside, enough_people in sides:
        mine = mean_test(values[inside], weights[inside])
        ratio = Estimate(None, None, None, n, "no one to compare with")
        if mine.n < n:
            ratio = mean_ratio(mine, mean_test(values[~inside], weights[~inside]), level=level)
        if enough_people:
            p = _ratio_p_value(values, weights, inside, rng, draws)
            spread = spreads.get((attribute, name), 0.0)
            ratio, p = with_spread(reaching_one(ratio, p, level), p, spread, level)
            judged.append(judge_group(ratio, p * looks, False, withheld, options, f"{attribute}: {name}"))
        share = wilson(float(weights[inside] @ flagged[inside]), mine.n, level=options.level)
        mean = mine.interval(options.level)
        found.append(
            GroupSensitivity(attribute, name, mine.n, mean, ratio, share, spreads.get((attribute, name), 0.0))
        )
    if judged:
        return JudgedGroups(tuple(found), worst_of(judged), looks)
    reason = withheld.verdict or f"no two groups of {FEWEST} people or more could be compared"
    nothing = Estimate(None, None, None, n, "no groups compared")
    return JudgedGroups(tuple(found), judge_about_one(nothing, 1.0, options, reason=reason), looks)


def _ratio_p_value(
    values: np.ndarray, weights: np.ndarray, inside: np.ndarray, rng: np.random.Generator, draws: int
) -> float:
    """Two-sided p-value of equal means, as `judging.ratio_p_value`: a group of as many is drawn anew.

    How many are drawn of each lump of people of like sensitivity is multinomial: the law of drawing each of
    them with replacement.
    """
    n = float(weights.sum())
    _, lump = np.unique(values.view(np.int64) >> np.int64(52 - _LUMP_DIGITS), return_inverse=True)
    powers = np.stack([weights, weights * values, weights * values**2])
    sums = np.stack([np.bincount(lump, power) for power in powers])
    whole = sums.sum(axis=1)
    size = round(min(float(weights[inside].sum()), float(weights[~inside].sum())))
    member = inside if weights[inside].sum() <= weights[~inside].sum() else ~inside

    def statistic(part: np.ndarray) -> np.ndarray:
        sides: list[tuple[np.ndarray, np.ndarray]] = []
        for count, first, second in (part, whole[:, None] - part):
            mean = first / count
            spread = np.maximum(second / count - mean**2, 0.0) / np.maximum(count - 1, 1)
            sides.append((mean, spread))
        (one, apart), (other, beside) = sides
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.log(one / other) / np.maximum(np.sqrt(apart / one**2 + beside / other**2), 1e-9)
        return np.where((one > 0) & (other > 0), t, np.sign(one - other) * 1e300)

    each = sums / sums[0]  # (3, lumps): a person of the lump
    null: list[np.ndarray] = []
    for start in range(0, draws, 500):
        counts = rng.multinomial(size, sums[0] / n, min(500, draws - start))
        null.append(statistic(each @ counts.T))
    drawn = np.concatenate(null)
    observed = float(statistic(powers[:, member].sum(axis=1)[:, None])[0])
    return min(2 * min(p_value(observed, drawn), p_value(-observed, -drawn)), 1.0)
