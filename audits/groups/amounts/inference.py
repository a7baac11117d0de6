"""Verdicts on differences of numbers, each from the one interval that is stated, and which comes first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from audits.groups.inference import ordered_by, reference_among
from audits.groups.result import AmountRow, Amounts, Difference
from audits.stats import EVIDENCE, INSUFFICIENT, Estimate, Judgment, judge_conditions
from audits.stats.means import MIN
from audits.stats.verdicts import AVERAGE, VERDICTS, Condition, outlasts_run, place_of_evidence

MEASURES = {
    "mean": AVERAGE,
    "median": "median",
    "q10": "10th percentile",
    "q90": "90th percentile",
    "residual": "mean residual",
}
"""What is judged, each with what `Judgment.decided_by` calls it."""

_TIMES = {MEASURES[name]: 2.0 for name in ("q10", "q90")}
"""How many times the limit an all-clear allows, where not 1."""
_ROOM = 1.1


def judge_amount(
    name: str, gap: Estimate, p_value: Callable[[], float | None], limit: float, level: float, people: float
) -> Difference:
    """Judge one difference by its interval."""
    times = _TIMES.get(MEASURES[name], 1.0)
    condition = Condition(
        name=MEASURES[name], interval=gap, immaterial=(-times * limit, times * limit), times=times
    )
    why = gap.method.partition("no interval: ")[2] or "too few people"
    reason = "" if gap.low is not None else f"fewer than {MIN} people" if people < MIN else why
    if not reason and limit <= 0:
        reason = "the reference group's mean is not above 0, so no percentage of it can be a limit"
    judged = judge_conditions([condition], level=level, cannot_clear=reason)
    needed = None
    if judged.verdict == INSUFFICIENT and gap.low is not None and gap.high is not None and limit > 0:
        needed = math.ceil(people * max(_ROOM * ((gap.high - gap.low) / (times * limit)) ** 2, _ROOM))
    return Difference(
        gap,
        judged.verdict,
        needed,
        judged.material,
        judged.reason,
        decided_by=MEASURES[name],
        limit=limit,
        outlasts_run=judged.verdict == EVIDENCE and outlasts_run(p_value(), level),
    )


def amount_judged(gap: Difference, unit: str) -> Judgment:
    """Return all that the verdict on a difference of numbers follows from."""
    limit = gap.limit or 0.0
    times = 1.0 if gap.verdict == EVIDENCE else _TIMES.get(gap.decided_by, 1.0)
    return Judgment(
        verdict=gap.verdict,
        interval=gap.estimate,
        immaterial_low=-times * limit,
        immaterial_high=times * limit,
        material=gap.material,
        people_needed=gap.people_needed,
        reason=gap.reason,
        decided_by=gap.decided_by,
        times=times,
        unit=unit,
    )


def most_telling_amount(table: Sequence[AmountRow]) -> tuple[AmountRow, AmountRow, str]:
    """Return group, reference and measure that the audit's verdict rests on: the first of `ordered`."""
    row, name = next(ordered(table))
    return row, reference_among(table, row), name


def worse_first(amounts: Amounts) -> tuple[AmountRow, AmountRow, str, float | None]:
    """Return the pair of `most_telling_amount` as its sentence names it: first who is worse off.

    With the measure, and the first group's number minus the second's. Residuals are neither good nor bad.
    """
    row, reference, measure = most_telling_amount(amounts.table)
    gap = row.differences[measure].estimate.value
    better = gap is not None and (gap > 0 if amounts.favorable == "high" else gap < 0)
    if measure == "residual" or not better:
        return row, reference, measure, gap
    return reference, row, measure, -(gap or 0.0)


def ordered(table: Sequence[AmountRow]) -> Iterator[tuple[AmountRow, str]]:
    """Yield groups with their measures, as verdicts on rates are ordered: evidence first, means before tails.

    Of a group too small to be covered only evidence counts. People whose group is missing are a group like
    others, behind those of the same verdict and size.
    """
    return ordered_by(table, rank_of)


def rank_of(name: str, gap: Difference, small: bool = False, missing: bool = False) -> tuple[float, ...]:
    """Return the place of a difference among others: verdict, size against the limit, measure, certainty."""
    low, high, place = gap.estimate.low, gap.estimate.high, list(MEASURES).index(name)
    verdict = VERDICTS.index(gap.verdict)
    if low is None or high is None:
        return (len(VERDICTS) if small else verdict), 1, missing, place, math.inf
    if gap.verdict == EVIDENCE:
        size = place_of_evidence(gap.material, outlasts=gap.outlasts_run)
        return verdict, size, missing, place, -abs(gap.estimate.value or 0.0)
    # what would be no material difference, were it not withheld, stands behind what is open
    withheld = gap.verdict == INSUFFICIENT and bool(gap.reason) and max(low, -high) <= 0 and not small
    if gap.verdict == INSUFFICIENT and not withheld:
        return len(VERDICTS) if small else verdict, 0, missing, place, -max(low, -high)
    return (
        verdict + 0.5 * withheld,
        0,
        missing,
        -max(high, -low) / ((gap.limit or 1.0) * _TIMES.get(gap.decided_by, 1.0)),
        place,
    )
