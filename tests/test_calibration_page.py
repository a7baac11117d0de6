"""docs/calibration.md is made from the table beside it, and small simulations still run and hold."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from typing import Any

import pytest
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


ELSEWHERE = {
    "groups": (
        "judged table.impact_ratio table.differences.ratio spreads.demographic_parity_ratio table.added "
        "probable.selection_rate probable.bounds probable.difference_bounds probable.difference "
        "probable.p_value amounts.table.differences amounts.table.relative amounts.table.mean "
        "amounts.table.median amounts.table.q10 amounts.table.q90 amounts.table.residual "
        "amounts.table.actual"
    ),
    "flipset": (
        "judged above_chance.conditional.p_value levels.difference unmatched strata.positive "
        "causal.positive positive.transparency.mean_difference strata.negative causal.negative "
        "positive.marginals.adjusted_p negative.marginals.adjusted_p"
    ),
    "explain": "judged levels.difference attribution.features.part attribution.gap",
    "barycenter": (
        "judged groups.judged groups.p_value groups.levels.difference differ_p groups.excess groups.net "
        "groups.everybody.net groups.rate who.adjusted_p"
    ),
    "outcome_transport": "judged bias.difference group_p_value_everywhere",
    "recourse": (
        "judged never_but_reachable ways_summary.with_way group_actions.coverage ways_summary.cost "
        "ways_summary.survives ways_summary.noisy"
    ),
    "rule_sets": (
        "judged leaderboard.score leaderboard.difference leaderboard.sampled.score "
        "exchanged.rows.difference exchanged.rows.adjusted_p exchanged.rows.judged shrunken "
        "measures.overall measures.leaderboard.inside measures.leaderboard.outside "
        "measures.leaderboard.difference measures.leaderboard.adjusted_p measures.judged"
    ),
    "mitigation": (
        "judged steps.difference splits steps.favorable_in steps.favorable_out steps.accuracy "
        "frontier.accuracy frontier.gap"
    ),
    "loss_ratio": (
        "judged statistic groups.statistic misspecified.statistic p_value error_ratio.statistic "
        "error_ratio.p_value metric.told.p_value words.told_p"
    ),
    "attribute_swap": (
        "judged swaps.p_value swaps.before swaps.after swaps.gained swaps.lost swaps.changed swaps.net "
        "swaps.mean_score_change"
    ),
    "sensitivity": (
        "judged status.groups.auc status.calibration.observed baseline.mean groups.mean "
        "match_set.sides.mean baseline.quantiles threshold flagged groups.ratio groups.flagged "
        "by_feature.share match_set.mismatched match_set.by_chance match_set.auc match_set.curves.auc "
        "match_set.against match_set.bands.auc match_set.within_bands match_set.equally_far "
        "match_set.metrics.difference"
    ),
}
"""What rows of the page measure that are not named after it: paths, each with all below them."""


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
