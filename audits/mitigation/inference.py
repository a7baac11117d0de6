"""The verdict on what is left of the difference after training again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from audits.mitigation.result import Step
from audits.mitigation.splits import SplitGap
from audits.stats import INSUFFICIENT, Estimate, Judgment, judge, limit_of
from audits.stats.intervals import cautious_difference, cautious_p
from audits.stats.power import times_to_settle
from audits.stats.vocabulary import vocabulary


def judge_step(
    steps: Sequence[Step],
    chosen: int,
    *,
    level: float,
    material: float,
    material_on: str = "either",
    alone: Estimate | None = None,
    again: Sequence[SplitGap] = (),
) -> Judgment:
    """Judge the difference of the step chosen; `people_needed` is of everyone held out.

    The step was chosen among all, so that the intervals of all share the `level`.

    Parameters
    ----------
    alone : Estimate, optional
        The difference of the run's own split alone, where the step's reaches over several.
    again : sequence of SplitGap
        The same in further splits: the largest p-value counts, and the narrowest limit.
    """
    step, own = steps[chosen], level / len(steps)
    gap, inside, outside = step.difference, step.favorable_in, step.favorable_out
    reason = "" if gap.value is not None else "nobody held out is in the group, or nobody is outside it"
    a, n, b, m = (inside.value or 0.0) * inside.n, inside.n, (outside.value or 0.0) * outside.n, outside.n
    known = [each for each in (cautious_p(a, n, b, m), *(each.p_value for each in again)) if each is not None]
    p = max(known, default=None)
    overall = (a + b) / (n + m) if n + m else None
    rates = [(outside.value, overall), *((each.outside, each.overall) for each in again)]
    limits = [limit_of(material, material_on, rate=rate, overall=whole) for rate, whole in rates]
    ends = max(low for low, _ in limits), min(high for _, high in limits)
    material = min(-ends[0], ends[1])
    elsewhere = "the largest difference is now that of another group" if step.worst_score > material else ""
    judged = judge(gap, immaterial=ends, level=own, reason=reason, cannot_clear=elsewhere)
    judged = replace(judged, p_value=None if p is None else min(1.0, len(steps) * p))
    if judged.verdict != INSUFFICIENT or judged.reason:
        return judged

    apart = _length(gap) - _length(gap if alone is None else alone)

    def length(times: float) -> float:
        found = cautious_difference(times * a, times * n, times * b, times * m, level=own)
        if found.low is None or found.high is None:
            return math.inf
        return found.high - found.low + apart / math.sqrt(times)  # splits draw nearer as people grow

    times = times_to_settle(length, material) if material > 0 else None
    needed = None if times is None else math.ceil(times * (n + m))
    return replace(judged, people_needed=needed, people_of=f"{vocabulary().people} held out")


def _length(gap: Estimate) -> float:
    return 0.0 if gap.low is None or gap.high is None else gap.high - gap.low
