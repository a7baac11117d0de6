"""Does every interval, test and verdict that a page shows hold what it says? What a world says, and rows.

The functions of this package's modules draw one world from its number and yield what holds in it, in the
settings that settings.yaml lists. `harness` draws, counts and keeps them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from scipy.stats import beta

from audits.checks import build
from audits.data import build_data, data_spec
from audits.models import Subject, make_subject, model_spec
from audits.records import resolve
from audits.runs.registry import AUDITS
from audits.stats import Estimate

LEVEL = 0.05
FIRST_ROUND = 100  # worlds
_DOUBT = 0.01
_TEXTS = yaml.safe_load(Path(__file__).with_name("said.yaml").read_text(encoding="utf-8"))
NOT_MEANS: dict[str, dict[str, str]] = _TEXTS["not means"]
"""Audit and path of what is no interval for a mean over studies, and what it is or which row measures it."""


@dataclass(frozen=True)
class Found:
    """What holds in one world: of which interval, test or verdict, and whether it does (or in which part).

    Of an interval whose truth is not known beforehand `hit` is the interval: the truth is the mean over the
    worlds of a round.
    """

    shown: str
    kind: str
    claimed: float
    hit: float | Estimate


Facts = Iterator[Found]
"""What a world yields."""


def covers(shown: str, hit: float | Estimate, truth: float | None = None, *, claimed: float = 0.95) -> Found:
    """Whether an interval holds the truth; of several, the share that does."""
    if truth is not None:
        hit = inside(hit, truth)
    return Found(shown, "coverage", claimed, hit)


def alarm(shown: str, hit: float, *, claimed: float = LEVEL) -> Found:
    """Whether something is stated that is not so."""
    return Found(shown, "false alarms", claimed, hit)


def found(shown: str, hit: float, *, no_difference: bool = False) -> Found:
    """Whether a difference is found: an alarm where there is `no_difference`."""
    return alarm(shown, hit) if no_difference else Found(shown, "power", 0.8, hit)


def inside(interval: Estimate, truth: float) -> bool:
    """Whether an interval holds the truth; an end that is not stated does not leave it out."""
    return (interval.low is None or interval.low <= truth) and (
        interval.high is None or truth <= interval.high
    )


def audited(audit: str, people: Subject, rng: np.random.Generator | int, **options: Any) -> Any:
    """Run an audit with options as a spec names them; return its result."""
    record = AUDITS[audit]
    return resolve(record.runs)(people, build(record.options, options, audit), rng=rng)


def decided(people: pd.DataFrame, column: str, *, score: bool = False, **data: Any) -> Subject:
    """Return people decided as a column says, or by a `score`; `data` is a section of a spec."""
    model = model_spec({"predictions": {"score" if score else "label": column}})
    return make_subject(build_data(people, data_spec(data)), model)


def trained(people: pd.DataFrame, model: str, seed: int, **data: Any) -> Subject:
    """Return half of the people with a model trained on the others."""
    told = build_data(people, data_spec(data))
    return make_subject(told, model_spec({"train": model}), test_size=0.5, seed=seed)


@dataclass(frozen=True)
class Row:
    """What one simulation measured: `hits` of `worlds`, and when and by which code they were drawn.

    `drawn` and `code` are empty of rows that were drawn before either was kept; `asked` is of how many worlds
    its simulation was asked for.
    """

    audit: str
    shown: str
    setting: str
    kind: str
    claimed: float
    hits: int
    worlds: int
    drawn: str = ""
    code: str = ""
    asked: int = 0

    @property
    def said(self) -> str:
        """What the page says of it where it does not hold."""
        own = (each for each in _TEXTS["said"] if self.audit == each["audit"] and self.shown in each["shown"])
        told = (each["text"] for each in own if any(at in self.setting for at in each.get("settings", [""])))
        return next(told, "")

    @property
    def told(self) -> tuple[str, str]:
        """The page's line; what whole audits state goes by its path in the result, and is told together."""
        what = "p-values" if self.kind == "false alarms" else "intervals"
        whole = f"{what} of whole results, each by its path"
        return whole if self.shown.startswith("`") else self.shown, self.kind

    @property
    def measured(self) -> float:
        """The share of worlds."""
        return self.hits / self.worlds

    @property
    def error(self) -> float:
        """Monte-Carlo standard error, at the rate claimed."""
        return math.sqrt(self.claimed * (1 - self.claimed) / self.worlds)

    @property
    def words(self) -> str:
        """The row as it is printed."""
        what = f"{self.audit}: {self.shown}; {self.setting}"
        return f"{what}: {self.measured:.3f} ({self.kind}, {self.claimed:g})"

    @property
    def holds(self) -> bool:
        """Coverage at most 1.5 points and two Monte-Carlo errors short, alarms at most two errors over."""
        if self.kind == "coverage":
            return self.measured >= self.claimed - 0.015 - 2 * self.error
        return self.kind == "power" or self.measured <= self.claimed + 2 * self.error

    @property
    def settled(self) -> bool:
        """Whether it holds beyond doubt: the end of Clopper and Pearson's interval that matters says so."""
        n, k = self.worlds, self.hits
        if self.kind == "power" or n < FIRST_ROUND:
            return self.kind == "power"
        if self.kind == "coverage":
            return bool(k and beta.ppf(_DOUBT, k, n - k + 1) >= self.claimed - 0.015)
        return bool(k < n and beta.isf(_DOUBT, k + 1, n - k) <= self.claimed)
