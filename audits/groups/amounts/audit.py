"""Groups compared by a number (pay, days, loss): means, quantiles, residuals, and their differences.

The audit's conditions are the mean, the median, the 10th and the 90th percentile of every group against its
reference, and of a model the mean residual. All intervals hold together, as those of rates do. Mean, median
and residual have to lie inside the limit for an all-clear, the two percentiles inside twice the limit.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.data import NumericOutcome, named_with
from audits.data.values import number_column
from audits.errors import InputError
from audits.groups.amounts.inference import (
    MEASURES,
    amount_judged,
    judge_amount,
    ordered,
    rank_of,
)
from audits.groups.amounts.text import amount_finding
from audits.groups.comparison import comparisons, reference_of
from audits.groups.inference import reference_among, settled_by
from audits.groups.names import people_of
from audits.groups.options import GroupsOptions
from audits.groups.people import PeopleByGroup, attributes_of, people_table, sort_people, with_groups
from audits.groups.result import AmountRow, Amounts, GroupsResult
from audits.models import Subject
from audits.progress import Progress, silent
from audits.stats import EVIDENCE, INSUFFICIENT, Estimate
from audits.stats.amounts import (
    Quantities,
    amount_limit,
    mean_gap,
    mean_of,
    quantile_gap,
    quantile_of,
    relative_gap,
)
from audits.stats.design import Design
from audits.stats.means import MIN
from audits.stats.selective import OutcomeSide, UnknownOutcomes, unknown_outcomes
from audits.stats.text import people_in

_QUANTILES = {"median": 0.5, "q10": 0.1, "q90": 0.9}
_FEW, _BINS, _FEW_BINS = 200, 24, 10
_PART = 0.01  # of people beyond either end of a drawn distribution, in its last bin

Gap = tuple[Estimate, Callable[[], float | None]]


def groups_by_amount(
    subject: Subject, options: GroupsOptions, *, progress: Progress = silent
) -> GroupsResult:
    """Compare groups by a numeric outcome: what they got, or what a model predicts for them.

    Raises
    ------
    InputError
        If a limit is no amount, an option is for rates alone, or there are fewer than two groups.
    """
    if options.by_probability:
        raise InputError(
            "groups.by_probability", "is for decisions, but the outcome is numeric", advice="leave it out"
        )
    data, numeric = subject.data, subject.data.numeric
    assert numeric is not None  # noqa: S101 - the caller has looked
    progress(0.0, "Comparing numbers")
    people = _people(subject)
    numbers = _Numbers.of(people, data.design)
    edges = _edges(numbers.own)
    gained = numbers.own.values * (1 if numeric.favorable == "high" else -1)
    split = [
        sort_people(
            people[[f"group: {name}" for name in names]], names, people, None, edges, data.design, gained
        )
        for names in attributes_of(data.protected, options)
    ]
    unknown = _unknown(subject, people, split, options.level)
    residuals = numbers.actual is not None and not unknown.uneven
    measures = [name for name in MEASURES if name != "residual" or residuals]
    looks = sum(comparisons(item, options) for item in split) * len(measures)
    if looks == 0:
        raise InputError("groups.by", "needs at least two groups with people in them")
    table = [row for item in split for row in _compared(item, numbers, options, looks, residuals=residuals)]
    # what a model predicts everybody has, but it may err unseen
    withheld = "" if subject.of_model else unknown.withheld
    cannot_clear = unknown.withheld if subject.of_model else unknown.cannot_clear
    table = [_held_back(row, withheld, cannot_clear) for row in table]
    row, measure = next(ordered(table))
    gap = row.differences[measure]
    judged = amount_judged(gap, numeric.unit or numeric.name)
    item = next(each for each in split if each.attribute == row.attribute)
    both = (item.group == item.names.index(row.group), item.group == reference_of(item, options))
    _, p_value = _gaps(numbers, both, options.level / looks, residuals=residuals)[measure]
    p = p_value()
    sides = [(each.n, people_of(each)) for each in (row, reference_among(table, row))]
    judged = settled_by(dataclasses.replace(judged, p_value=p and min(1.0, looks * p)), sides, row.n)
    amounts = Amounts(numeric.name, numeric.unit, numeric.favorable, subject.of_model, tuple(table))
    result = GroupsResult(
        options=dataclasses.asdict(options),
        outcome=numeric.name,
        judged=judged,
        finding="",
        warnings=(
            *_warnings(people, numeric, table),
            *unknown.note(),
        ),
        rows={"audited": data.rows, "used": len(people), "left_out": {}},
        table=(),
        spreads=(),
        score_edges=tuple(edges.tolist()),
        people=people.drop(columns="decision"),
        simultaneous_level=options.level / looks,
        amounts=amounts,
    )
    return dataclasses.replace(result, finding=amount_finding(result, looks))


def _unknown(
    subject: Subject, people: pd.DataFrame, split: Sequence[PeopleByGroup], level: float
) -> UnknownOutcomes:
    """Return whose outcome is not known: of a model's people residuals lack it, others were left out."""
    data, sizes, sides = subject.data, people["people"].to_numpy(dtype=float), []
    groups, more = data.groups, data.unlabeled
    if "actual" in people:
        known, score = people["actual"].notna().to_numpy(), people["score"].to_numpy(dtype=float)
        sides = [OutcomeSide(score > np.median(score), "people with the higher predictions")]
    elif subject.of_model or more is None:
        return UnknownOutcomes()
    else:
        sizes = np.concatenate([sizes, np.ones(len(more.frame)) if more.weights is None else more.weights])
        groups, known = pd.concat([groups, more.groups]), np.arange(len(sizes)) < data.n
    for item in split:
        for name, values in zip(item.names, item.values, strict=True):
            inside = (groups[list(item.attributes)] == list(values)).all(axis=1).to_numpy()
            sides.append(OutcomeSide(inside, people_in(named_with(item.attribute, name)), len(item.names)))
    return unknown_outcomes(known, sizes, sides, level=level)


def _held_back(row: AmountRow, withheld: str, cannot_clear: str) -> AmountRow:
    """Return a group without the verdicts that outcomes which are missing do not allow."""
    gaps = {
        name: dataclasses.replace(gap, verdict=INSUFFICIENT, material=None, people_needed=None, reason=why)
        if (why := withheld or ("" if gap.verdict == EVIDENCE or gap.reason else cannot_clear))
        else gap
        for name, gap in row.differences.items()
    }
    worst = min(gaps.items(), key=lambda pair: rank_of(*pair), default=None)
    verdict, material = (None, None) if worst is None else (worst[1].verdict, worst[1].material)
    return dataclasses.replace(row, differences=gaps, verdict=verdict, material=material)


def _people(subject: Subject) -> pd.DataFrame:
    """Return the numbers of everyone, in the outcome's unit, and their groups."""
    data = subject.data
    people = people_table(data, score=subject.numbers)
    people["decision"] = False  # nothing is decided
    if subject.of_model and data.number is not None:
        people["actual"] = number_column(data.frame[data.number])
    return with_groups(people, data)


@dataclass(frozen=True, eq=False)
class _Numbers:
    """What is compared of everyone; of a model also what turned out, and how far it is from that."""

    own: Quantities
    actual: Quantities | None
    residual: Quantities | None
    known: np.ndarray  # whose outcome is

    @classmethod
    def of(cls, people: pd.DataFrame, design: Design | None) -> _Numbers:
        sizes = people["people"].to_numpy(dtype=float)
        own = Quantities(people["score"].to_numpy(dtype=float), sizes, design)
        if "actual" not in people:
            return cls(own, None, None, np.zeros(len(people), dtype=bool))
        actual = Quantities(people["actual"].to_numpy(dtype=float), sizes, design)
        left = dataclasses.replace(actual, values=actual.values - own.values)
        return cls(own, actual, left, np.isfinite(actual.values))


def _compared(
    item: PeopleByGroup, numbers: _Numbers, options: GroupsOptions, looks: int, *, residuals: bool
) -> list[AmountRow]:
    """Return the groups of one attribute."""
    members = [item.group == place for place in range(len(item.names))]
    reference = reference_of(item, options)
    own, other = numbers.own, members[reference]
    limit = amount_limit(options.material_amount, mean_of(own, other).value, "groups.material_amount")
    level, rows = options.level / looks, []
    for place, who in enumerate(members):
        alone = place == reference
        gaps = {} if alone else _gaps(numbers, (who, other), level, residuals=residuals)
        judged = {
            name: judge_amount(name, gap, p, limit, level, own.units(who)) for name, (gap, p) in gaps.items()
        }
        worst = min(judged.items(), key=lambda pair: rank_of(*pair), default=None)
        rows.append(
            AmountRow(
                attribute=item.attribute,
                group=item.names[place],
                n=float(own.units(who)) if item.design is not None else float(item.sizes[who].sum()),
                is_reference=alone,
                **_own(numbers, who, options.level),
                differences=judged,
                relative=None if alone else relative_gap(own, who, other, level=options.level),
                verdict=None if worst is None else worst[1].verdict,
                material=None if worst is None else worst[1].material,
                counts=tuple(item.score_counts[place].tolist()),
            )
        )
    return rows


def _own(numbers: _Numbers, who: np.ndarray, level: float) -> dict[str, Any]:
    """Return a group's own numbers, each with its interval."""
    found: dict[str, Any] = {"mean": mean_of(numbers.own, who, level=level)}
    found |= {name: quantile_of(numbers.own, who, share, level=level) for name, share in _QUANTILES.items()}
    for name, each in (("actual", numbers.actual), ("residual", numbers.residual)):
        found[name] = None if each is None else mean_of(each, who & numbers.known, level=level)
    return found


def _gaps(
    numbers: _Numbers, both: tuple[np.ndarray, np.ndarray], level: float, *, residuals: bool
) -> dict[str, Gap]:
    """Return a group's differences from the reference, each with what finds its p-value."""
    gap, p = mean_gap(numbers.own, *both, level=level)
    found: dict[str, Gap] = {"mean": (gap, lambda: p)}
    for name, share in _QUANTILES.items():
        found[name] = quantile_gap(numbers.own, *both, share, level=level)
    if residuals and numbers.residual is not None:
        rest, q = mean_gap(numbers.residual, *(who & numbers.known for who in both), level=level)
        found["residual"] = (rest, lambda: q)
    return found


def _edges(numbers: Quantities) -> np.ndarray:
    """Return round ends of bins between the outer hundredths of everyone; beyond them lie the last bins."""
    everybody = np.ones(len(numbers.values), dtype=bool)
    low, high = (
        float(quantile_of(dataclasses.replace(numbers, design=None), everybody, part).value or 0.0)
        for part in (_PART, 1 - _PART)
    )
    if not high > low:
        low, high = low - 0.5, low + 0.5
    bins = _BINS if float(numbers.people.sum()) >= _FEW else _FEW_BINS
    rough = (high - low) / bins
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(part * power for part in (1.0, 2.0, 2.5, 5.0, 10.0) if part * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return np.round(np.arange(first, max(last, first + 1) + 1) * step, 12)


def _warnings(people: pd.DataFrame, numeric: NumericOutcome, table: Sequence[AmountRow]) -> list[str]:
    """Say what a reader should know: one number that carries the spread, and whose outcome is not known."""
    found = []
    values, sizes = people["score"].to_numpy(dtype=float), people["people"].to_numpy(dtype=float)
    apart = (values - np.average(values, weights=sizes)) ** 2 * sizes
    if len(values) > MIN and apart.sum() > 0 and apart.max() > 0.5 * apart.sum():
        place = int(apart.argmax())
        found.append(
            f"One value of {numeric.name!r} (row {people.index[place]}: {values[place]:,.6g}) makes up "
            "most of the spread. Means say little here; medians are not affected. If it is a code or an "
            "error, list it in data.read.missing."
        )
    few = [row.group for row in table if row.n < MIN]
    if few:
        some = ", ".join(f"“{name}”" for name in few[:4]) + " …" * (len(few) > 4)
        found.append(f"Fewer than {MIN} people: {some}. They get no interval.")
    return found
