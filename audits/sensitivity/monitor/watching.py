"""What a monitor shows: stretches of its chart, flagged people, alarms, drift, rates of groups."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from audits.stats import Estimate

__all__ = ["Alarm", "Drift", "Flag", "GroupRates", "Point"]


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
    """One alarm: it lasts while its condition does, however often that is found again.

    Attributes
    ----------
    place : int
        Its number among the monitor's alarms, from 0.
    kind, about : str
        See `audits.sensitivity.monitor.streams`.
    severity : str
    person, last_person : int
        At whom the condition was found first and latest.
    batch : int
        The batch in which it was found first.
    times : int
        How often it was found.
    raised, latest : float
        When.
    ended : float or None
        When it had not been found for so long that it is over.
    owner : str
        Who looks after it.
    acknowledged, snoozed, resolved : float or None
        When somebody looked at it, until when it is to be silent, when somebody closed it.
    told : str
        How telling of it went.
    """

    place: int
    kind: str
    about: str
    severity: str
    sentence: str
    person: int
    last_person: int
    batch: int
    times: int
    raised: float
    latest: float
    ended: float | None
    owner: str
    acknowledged: float | None
    snoozed: float | None
    resolved: float | None
    note: str
    told: str

    @property
    def waits(self) -> bool:
        """Whether nobody has looked at it."""
        return self.acknowledged is None and self.resolved is None

    @property
    def lasts(self) -> bool:
        """Whether its condition lasts and nobody closed it."""
        return self.ended is None and self.resolved is None


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


@dataclass(frozen=True)
class GroupRates:
    """A group's rates so far; each interval holds at all times, for all groups of its attribute together.

    `calibration` is the mean of outcome minus score. The gaps are this group minus everybody else of the
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
