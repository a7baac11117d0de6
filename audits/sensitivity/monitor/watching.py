"""What a monitor shows: stretches of its chart, flagged people, alarms, drift."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from audits.stats import Estimate

__all__ = ["Alarm", "Drift", "Flag", "Point"]


@dataclass(frozen=True)
class Point:
    """A stretch of the control chart: people and flags in it, the chart's highest and last value."""

    received: float
    person: int
    people: int
    flagged: int
    high: int
    value: int
    mean: float


@dataclass(frozen=True)
class Flag:
    """One flagged person."""

    person: int
    received: float
    client_id: str
    sensitivity: float
    score: float
    contributions: dict[str, float]


@dataclass(frozen=True)
class Alarm:
    """One alarm; `acknowledged` is None until somebody has looked."""

    person: int
    raised: float
    sentence: str
    webhook: str
    acknowledged: float | None
    note: str


@dataclass(frozen=True)
class Drift:
    """The latest people's sensitivities beside the baseline's.

    `distance` is the largest gap of the two distributions (Kolmogorov, Smirnov). `p_value` is of everybody
    kept, not of the latest alone, and holds however often it is looked at (`audits.stats.sequential`):
    without drift it falls below 0.05 at any time in at most one monitor of twenty.
    """

    people: int
    distance: float | None
    p_value: float | None
    flagged: Estimate
    values: np.ndarray = field(compare=False)
