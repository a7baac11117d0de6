"""docs/calibration.md is made from the table beside it, and small simulations still run and hold."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from scipy.stats import binom

from audits.runs.registry import AUDITS
from audits.stats import Estimate, Judgment
from benchmarks.calibration import NOT_MEANS
from benchmarks.calibration.harness import PAGE, Kept, page, simulations
from benchmarks.calibration.whole import is_p

EVERY = simulations()


def test_the_page_states_what_is_kept():
    kept = Kept()
    assert PAGE.read_text(encoding="utf-8") == page(kept.rows, kept.lacking(EVERY))


def test_what_does_not_hold_is_said():
    broken = [row.words for row in Kept().rows if not row.holds and not row.said]
    assert not broken, "\n".join(broken)


def fields_of(kind: Any, path: tuple[str, ...] = (), inside: frozenset[Any] = frozenset()) -> Iterator[str]:
    """Yield the path of every interval and p-value that a result's type can hold."""
    if kind is Estimate or kind is Judgment:
        yield ".".join(path)
    elif arguments := typing.get_args(kind):
        for each in arguments:
            yield from fields_of(each, path, inside)
    elif dataclasses.is_dataclass(kind) and kind not in inside:
        kinds = typing.get_type_hints(kind)
        for each in dataclasses.fields(kind):
            here = (*path, each.name)
            yield from fields_of(kinds[each.name], here, inside | {kind})
            if is_p(each.name):
                yield ".".join(here)


ELSEWHERE = yaml.safe_load(Path(__file__).with_name("shown_elsewhere.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("audit", sorted(ELSEWHERE))
def test_every_interval_and_p_value_of_a_result_is_simulated(audit: str):
    ours = {row.shown.strip("`") for row in Kept().rows if row.audit == audit}
    ours |= {*NOT_MEANS.get(audit, ()), *ELSEWHERE[audit].split()}
    found = set(fields_of(AUDITS[audit].result_type))
    left = {path for path in found if not any(f"{path}.".startswith(f"{each}.") for each in ours)}
    assert not left, f"{audit}: nothing simulates these"


def test_every_audit_is_simulated_and_on_the_page():
    simulated = {each.audit for each in EVERY}
    assert set(ELSEWHERE) == set(AUDITS.ours) <= simulated, "add benchmarks/calibration/<name>.py"
    assert {row.audit for row in Kept().rows} == simulated
    assert len({each.name for each in EVERY}) == len(EVERY)


def test_a_small_simulation_runs():
    [amounts] = [each for each in EVERY if each.setting == "amounts: log-normal pay (σ .6), 300 and 800"]
    rows = list(amounts.run(range(20)))
    assert {row.kind for row in rows} == {"coverage", "false alarms"}
    for row in rows:  # what holds is as far off in one row of a thousand at most
        hits = row.hits if row.kind == "coverage" else row.worlds - row.hits
        assert binom.cdf(hits, row.worlds, 0.95 - 0.015) > 0.001, row.words
