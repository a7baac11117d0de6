"""One attribute: its groups' rates with intervals, differences from the reference, and their spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import stdtrit

from audits.data.values import MISSING
from audits.errors import InputError
from audits.groups.further_metrics import FurtherMetrics
from audits.groups.inference import GroupLimit, judge_difference, judge_row
from audits.groups.metrics import METRICS, Counts, estimates, rates, rates_by_design, rows_by_design
from audits.groups.options import GroupsOptions
from audits.groups.people import PeopleByGroup
from audits.groups.result import Calibration, GroupRow, Spread
from audits.stats import Estimate, wilson
from audits.stats.cell_bootstrap import percentile_interval, redraw
from audits.stats.design import Design, design_mean
from audits.stats.intervals import largest_gap, percent_level
from audits.stats.pooling import pooled_shares
from audits.stats.ratios import ratios_to_highest

_CALIBRATION_BINS = 10
_MIN_POOLED = 3
_ODDS = ("true_positive_rate", "false_positive_rate")


def compare(
    item: PeopleByGroup,
    options: GroupsOptions,
    level: float,
    seed: int,
    judged: Sequence[str],
    further: FurtherMetrics,
) -> tuple[list[GroupRow], Spread]:
    """Rates of every group, those `judged` against the reference at the corrected `level`.

    `further` metrics have differences, too, with a verdict each. Every attribute's draws begin anew from
    `seed`, so that they are the same whichever others are compared.
    """
    k = len(item.names)
    reference = reference_of(item, options)
    if item.design is None:
        shares, draws = rates(item.counts), options.bootstrap
    else:  # the bootstrap would draw rows
        shares, draws = rates_by_design(item.design, item, k, level=options.level), 0
    values = estimates(shares, level=options.level)
    ratios, smallest = ratios_to_highest(*shares["selection_rate"], level=options.level)
    resampled = bootstrap_intervals(
        item.counts, np.random.default_rng(seed), draws=draws, level=options.level
    )
    pooling = np.random.default_rng([seed, 2])  # moves no draw of the bootstrap
    pooled = _pool_rates(item, {name: shares[name] for name in judged}, options.level, pooling)
    limits = {name: _limit(name, *shares[name], options) for name in judged}
    counted = None if item.design is None else rows_by_design(item.design, item, k)
    more, more_gaps = further.of(item, reference, options, level)
    rows = []
    for j in range(k):
        # under a design so many people as the group's rows are worth
        people = float((item.counts.n if item.design is None else shares["selection_rate"][1])[j])
        differences = {
            name: judge_difference(
                (float(shares[name][0][j]), float(shares[name][1][j])),
                (float(shares[name][0][reference]), float(shares[name][1][reference])),
                people,
                limit=limits[name],
                level=level,
            )
            for name in (judged if j != reference else ())
        }
        verdict = judge_row(differences, options.material) if differences else None
        differences |= more_gaps[j]
        of_group = {name: found[j] for name, found in values.items()}
        own: dict[str, Any] = {metric.name: of_group.get(metric.name) for metric in METRICS}
        added = {name: own.pop(name) for name in list(own) if not METRICS.own(name)} | more[j]
        rows.append(
            GroupRow(
                attribute=item.attribute,
                group=item.names[j],
                n=people,
                is_reference=j == reference,
                **own,
                mean_score=_mean_score(item, j, options.level),
                impact_ratio=ratios[j],
                verdict=None if verdict is None else verdict.verdict,
                material=None if verdict is None else verdict.material,
                differences=differences,
                calibration=_calibration(item, j, options.level),
                score_counts=tuple(item.score_counts[j].tolist()),
                bootstrap=resampled[j],
                pooled={name: found[j] for name, found in pooled.items()},
                added={name: found for name, found in added.items() if found is not None},
                rows=None if counted is None else {name: found[j] for name, found in counted.items()},
            )
        )
    return rows, _spread(item, shares, smallest, reference, options.level)


def _limit(name: str, count: np.ndarray, n: np.ndarray, options: GroupsOptions) -> GroupLimit:
    """Return what is immaterial of a rate; ratios are of decisions, not of errors."""
    overall = float(count.sum() / n.sum()) if n.sum() > 0 else None
    decisions = not METRICS[name].needs_label
    return GroupLimit.of(options.material, options.material_on, overall=overall, decisions=decisions)


def _pool_rates(
    item: PeopleByGroup,
    shares: dict[str, tuple[np.ndarray, np.ndarray]],
    level: float,
    rng: np.random.Generator,
) -> dict[str, list[Estimate]]:
    """Rates drawn towards what the attributes say of groups like each; nothing to draw on for two groups.

    An intersection has its attributes' main effects; groups of one attribute are drawn to their common rate.
    """
    if len(item.names) < _MIN_POOLED:
        return {}
    columns: list[np.ndarray] = []
    if len(item.attributes) > 1:
        for values in zip(*item.values, strict=True):
            levels = sorted(set(values))[1:]
            columns += [np.array([value == level for value in values], dtype=float) for level in levels]
    design = np.column_stack(columns) if columns else np.zeros((len(item.names), 0))
    words = " and ".join(item.attributes) if columns else ""
    return {
        name: pooled_shares(*pair, design, rng, level=level, words=words) for name, pair in shares.items()
    }


def reference_of(item: PeopleByGroup, options: GroupsOptions) -> int:
    """Position of the reference group: the one asked for, else the largest whose values are known.

    Of equally large ones the first, which has the highest rate: `comparisons` counts what that choice costs.
    """
    return _possible_references(item, options)[0]


def comparisons(item: PeopleByGroup, options: GroupsOptions) -> int:
    """Return how many pairs of groups may be compared: with every group that could be the reference.

    Of equally large groups the one of the highest rate is picked by what is compared: counted as one
    comparison a group, of thirty groups of ten people and one rate some differed in 17% of samples.
    """
    groups, references = len(item.names), len(_possible_references(item, options))
    return references * (groups - 1) - references * (references - 1) // 2


def _possible_references(item: PeopleByGroup, options: GroupsOptions) -> list[int]:
    wanted = {
        name: str(value) for name, value in (options.reference or {}).items() if name in item.attributes
    }
    if set(wanted) != set(item.attributes):
        known = [place for place, values in enumerate(item.values) if MISSING not in values] or [0]
        return [place for place in known if np.isclose(item.counts.n[place], item.counts.n[known[0]])]
    values = tuple(wanted[name] for name in item.attributes)
    if values not in item.values:
        raise InputError(
            "groups.reference",
            "must be a group with people in it",
            " & ".join(values),
            f"choose one of {', '.join(item.names[:8])}",
        )
    return [item.values.index(values)]


def _mean_score(item: PeopleByGroup, j: int, level: float) -> Estimate:
    mine = item.group == j
    weight, score = item.sizes[mine], item.score[mine]
    n = float(weight.sum())
    mean = float(weight @ score / n)
    method = f"Student t {percent_level(level)}"
    if n < 2:
        return Estimate(mean, None, None, n, "no interval for one person")
    if np.ptp(score) == 0 and (item.squares is None or not item.squares[mine].any()):
        return Estimate(mean, None, None, n, "no interval: there is no spread")
    if item.design is not None:
        return _mean_by_design(item.design, mine, item.score, level)
    squares = float(weight @ (score - mean) ** 2)
    if item.squares is not None:
        squares += float(item.squares[mine].sum())
    spread = float(np.sqrt(squares / (n - 1) / n))
    reach = float(-stdtrit(n - 1, level / 2)) * spread
    return Estimate(mean, mean - reach, mean + reach, n, method)


def _mean_by_design(design: Design, mine: np.ndarray, score: np.ndarray, level: float) -> Estimate:
    mean, error, freedom = design_mean(design, mine, score)
    method = f"Student t over {freedom + 1:,} clusters, {percent_level(level)}"
    n = float(mine.sum())
    if freedom < 1:
        return Estimate(mean, None, None, n, "no interval for one cluster")
    if error > 0:  # so many people of a simple random sample would tell as much
        spread = float(np.average((score[mine] - mean) ** 2, weights=design.weights[mine]))
        n = min(n, spread / error**2)
    reach = float(-stdtrit(freedom, level / 2)) * error
    return Estimate(mean, mean - reach, mean + reach, n, method)


def _calibration(item: PeopleByGroup, j: int, level: float) -> Calibration | None:
    """Ten equal bins of a score that is a probability; None of decisions alone."""
    score = item.score
    if item.labels is None or score.min() < 0 or score.max() > 1 or np.isin(score, (0.0, 1.0)).all():
        return None
    mine = (item.group == j) & item.labels.known
    edges = np.linspace(0, 1, _CALIBRATION_BINS + 1)
    place = np.clip((item.score[mine] * _CALIBRATION_BINS).astype(np.int64), 0, _CALIBRATION_BINS - 1)
    weight = item.sizes[mine]
    if item.design is not None:  # so many people as their weights, or their clusters, are worth
        alike = np.bincount(item.design.cluster[mine], minlength=item.design.n_clusters)
        weight = weight * (float(weight.sum()) / float(weight**2 @ alike[item.design.cluster[mine]]))
    n = np.bincount(place, weight, _CALIBRATION_BINS)
    favorable = np.bincount(place, weight * item.labels.favorable[mine], _CALIBRATION_BINS)
    total = np.bincount(place, weight * item.score[mine], _CALIBRATION_BINS)
    return Calibration(
        edges=tuple(edges.tolist()),
        n=tuple(n.tolist()),
        mean_score=tuple(float(s / c) if c > 0 else None for s, c in zip(total, n, strict=True)),
        favorable_rate=tuple(
            wilson(float(a), float(c), level=level) for a, c in zip(favorable, n, strict=True)
        ),
    )


def _spread(
    item: PeopleByGroup,
    shares: dict[str, tuple[np.ndarray, np.ndarray]],
    ratio: Estimate,
    reference: int,
    level: float,
) -> Spread:
    selection = largest_gap(*shares["selection_rate"], level=level)
    opportunity = odds = average = None
    if "true_positive_rate" in shares:
        # two spreads are looked at together
        hits, alarms = (largest_gap(*shares[name], level=level / 2) for name in _ODDS)
        opportunity = largest_gap(*shares["true_positive_rate"], level=level)
        method = f"simultaneous Newcombe {percent_level(level)}, both rates of all pairs"
        odds = replace(_larger(hits, alarms), method=method)
        average = replace(_mean(hits, alarms), method=method)
    return Spread(item.attribute, item.names[reference], selection, ratio, opportunity, odds, average)


def _larger(a: Estimate, b: Estimate) -> Estimate:
    """The larger of two spreads; its interval holds when both of theirs do."""
    if a.value is None or b.value is None:
        return a if b.value is None else b
    return Estimate(
        max(a.value, b.value),
        max(a.low or 0.0, b.low or 0.0),
        max(a.high or 1.0, b.high or 1.0),
        max(a.n, b.n),
        a.method,
    )


def _mean(a: Estimate, b: Estimate) -> Estimate:
    """The mean of two spreads; its interval holds when both of theirs do."""
    if a.value is None or b.value is None:
        return Estimate(None, None, None, max(a.n, b.n), a.method)
    ends = [0.5 * ((x or 0.0) + (y or 0.0)) for x, y in ((a.low, b.low), (a.high, b.high))]
    return Estimate(0.5 * (a.value + b.value), ends[0], ends[1], max(a.n, b.n), a.method)


def bootstrap_intervals(
    counts: Counts, rng: np.random.Generator, *, draws: int, level: float
) -> list[dict[str, Estimate]]:
    """Return for each group the bootstrap's estimates by name; empty without draws or labels.

    A second interval of balanced accuracy. The one recovered from Wilson's (MOVER) is the one that figures
    use: it holds in small groups and at 0. The bootstrap assumes less about how the parts combine, and the
    two beside each other show where it matters; with all people of a group decided alike it collapses to a
    point, which MOVER does not.

    Ratios to the highest rate have none. It would take the highest rate seen for the highest: where rates are
    equal that misses, and where it is stated only if one rate is surely the highest, it is stated just when
    luck made it so, and then nearly always misses. `audits.stats.ratios` has an interval that reaches over
    all groups that may be highest, and is always stated. Nor have spreads between groups (largest minus
    smallest): resampled, they are too large where the truth is 0.

    Parameters
    ----------
    counts : Counts
        Of k groups.
    draws : int
        Resamples of each group's people.
    """
    if draws == 0 or counts.true_positive is None:
        return [{} for _ in counts.n]
    parts = (counts.true_positive, counts.false_negative, counts.false_positive, counts.true_negative)
    cells = np.stack([part for part in parts if part is not None], 1)
    drawn = _balanced_accuracy(redraw(cells, rng, draws=draws))
    return [
        {"balanced_accuracy": percentile_interval(float(value), drawn[:, j], float(n), level=level)}
        if np.isfinite(value)
        else {}
        for j, (value, n) in enumerate(zip(_balanced_accuracy(cells), counts.n, strict=True))
    ]


def _balanced_accuracy(cells: np.ndarray) -> np.ndarray:
    """Balanced accuracy of true positives, false negatives, false positives, true negatives (..., 4)."""
    tp, fn, fp, tn = np.moveaxis(cells, -1, 0).astype(float)
    return 0.5 * (_ratio(tp, tp + fn) + _ratio(tn, tn + fp))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Elementwise; NaN where nobody is in the whole."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / whole, np.nan)
