"""What a monitor shows: stretches of its chart, flagged people, drift, rates of groups."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from audits.stats import Estimate


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
class Drift:
    """The latest people's sensitivities beside the baseline's.

    `distance` is the largest gap of the two distributions (Kolmogorov, Smirnov). `p_value` is of everyone
    kept, not of the latest alone, and holds however often it is looked at (`audits.stats.sequential`):
    without drift it falls below 0.05 at any time in at most one monitor of twenty.
    """

    people: int
    distance: float | None
    p_value: float | None
    flagged: Estimate
    values: np.ndarray = field(compare=False)


@dataclass(frozen=True)
class GroupRates:
    """A group's rates so far; each interval holds at all times, for all groups of its attribute together.

    `calibration` is the mean of outcome minus score. The gaps are this group minus everyone else of the
    attribute
    who was counted.
    """

    attribute: str
    group: str
    people: int
    outcomes: int
    selection: Estimate
    true_positives: Estimate
    false_positives: Estimate
    calibration: Estimate
    selection_gap: Estimate
    true_positives_gap: Estimate
    false_positives_gap: Estimate
    calibration_gap: Estimate
