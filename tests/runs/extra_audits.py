"""Audits that only tests can name: a small real one, a slow one, and one that breaks as told.

`register` puts them into the registry, here and (as the executor's plugin) in worker processes.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from audits.errors import InputError
from audits.records import Audit, Section
from audits.results import plain
from audits.runs.registry import AUDITS
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, wilson

PLUGIN = "tests.runs.extra_audits:register"


@dataclass(frozen=True)
class RatesOptions:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    by: str
    draws: Annotated[int, Field(ge=1)] = 50
    gap: float = 0.1


@dataclass(frozen=True)
class Rate:
    group: str
    n: int
    selection_rate: Estimate


@dataclass(frozen=True, eq=False)
class RatesResult:
    verdict: str
    finding: str
    warnings: tuple[str, ...]
    table: tuple[Rate, ...]
    mean_of_draws: float
    people: pd.DataFrame

    def to_json(self) -> dict[str, Any]:
        return plain(self)


def rates(subject, options, *, rng, progress) -> RatesResult:
    """Favorable share of each group, and the mean decision of `draws` people drawn at random."""
    groups, decisions = subject.data.groups[options.by], np.asarray(subject.decisions)
    progress(0.5, "Counting")
    table = []
    for group in sorted(groups.unique()):
        chosen = decisions[(groups == group).to_numpy()]
        share = wilson(float(chosen.sum()), float(len(chosen)))
        table.append(Rate(str(group), len(chosen), share))
    shares = [row.selection_rate.value for row in table]
    drawn = rng.choice(decisions, size=options.draws)
    return RatesResult(
        verdict=EVIDENCE if max(shares) - min(shares) > options.gap else NO_MATERIAL,
        finding=f"Favourable shares by {options.by} differ by {max(shares) - min(shares):.3f}.",
        warnings=(),
        table=tuple(table),
        mean_of_draws=float(drawn.mean()),
        people=pd.DataFrame(
            {"group": groups.to_numpy(), "score": subject.scores, "favorable": decisions},
            index=subject.data.frame.index,
        ),
    )


@dataclass(frozen=True)
class SlowOptions:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    seconds: float
    stubborn: bool = False


@dataclass(frozen=True)
class PlainResult:
    verdict: str
    finding: str
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return plain(self)


def slow(subject, options, *, rng, progress) -> PlainResult:
    """Take `seconds`; a stubborn one does not look up until it is over."""
    if options.stubborn:
        progress(0.3, "Not listening")
        time.sleep(options.seconds)
    end = time.monotonic() + options.seconds
    while not options.stubborn and (left := end - time.monotonic()) > 0:
        progress(1 - left / options.seconds, "Taking time")
        time.sleep(0.01)
    return PlainResult(NO_MATERIAL, "Time passed.", ())


@dataclass(frozen=True)
class BreakOptions:
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    how: Literal["segfault", "memory", "error", "input", "garbage"]


def break_down(subject, options, *, rng, progress) -> PlainResult:
    """Break in the way asked for."""
    progress(0.1, "About to break")
    if options.how == "segfault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if options.how == "memory":
        np.ones(10**15)
    if options.how == "error":
        raise LookupError("no such\nthing")
    if options.how == "input":
        raise InputError("how", "must be something else", options.how)
    if options.how == "garbage":
        for pipe in range(3, 20):
            with contextlib.suppress(OSError):
                os.write(pipe, b"{out of its mind\n")
        time.sleep(60)
    return PlainResult(NO_MATERIAL, "Still here.", ())


def nothing(result) -> Section:
    return Section(title="Extra", exhibits=())


def _record(name: str, options: type, result: type, runs: Any) -> Audit:
    return Audit(
        name=name,
        title=name.title(),
        question="What do tests ask?",
        limits="Tests alone.",
        options=options,
        result=result,
        runs=runs,
        presents=nothing,
    )


EXTRA = {
    "rates": _record("rates", RatesOptions, RatesResult, rates),
    "slow": _record("slow", SlowOptions, PlainResult, slow),
    "break": _record("break", BreakOptions, PlainResult, break_down),
}


def register() -> None:
    for audit in EXTRA.values():
        AUDITS.add(audit)
