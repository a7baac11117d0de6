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
from benchmarks.calibration import Row, alarm, covers, simulation
from benchmarks.calibration.harness import PAGE, Kept, page, simulations
from benchmarks.calibration.whole import NOT_MEANS, is_p

EVERY = simulations()


def test_the_page_states_what_is_kept():
    kept = Kept.read()
    assert PAGE.read_text(encoding="utf-8") == page(kept.rows, kept.lacking(EVERY))


def test_what_does_not_hold_is_said():
    broken = [row.words for row in Kept.read().rows if not row.holds and not row.said]
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


BY_VERDICT, SHARE = "evidence of a difference", "share of people"
ELSEWHERE = {
    "groups": {
        BY_VERDICT: "judged",
        "impact ratios, all together": (
            "table.impact_ratio table.differences.ratio spreads.demographic_parity_ratio"
        ),
        "a metric added": "table.added",
        "bounds of a difference, groups known by probability": (
            "probable.selection_rate probable.bounds probable.difference_bounds"
        ),
        "estimate of a difference, groups known by probability": "probable.difference probable.p_value",
        "differences of amounts, all together": "amounts.table.differences",
        "difference of means as a share": "amounts.table.relative",
        "a group's own mean and percentiles, each": (
            "amounts.table.mean amounts.table.median amounts.table.q10 amounts.table.q90 "
            "amounts.table.residual amounts.table.actual"
        ),
    },
    "flipset": {
        BY_VERDICT: "judged above_chance.conditional.p_value levels.difference",
        SHARE: "unmatched",
        "causal.positive.share": "strata.positive causal.positive",
        "negative.transparency.mean_difference": "positive.transparency.mean_difference",
        "causal.negative.share": "strata.negative causal.negative",
        "features of a flipset by lot": "positive.marginals.adjusted_p negative.marginals.adjusted_p",
    },
    "explain": {
        BY_VERDICT: "judged levels.difference",
        "a feature's part of a gap in mean score": "attribution.features.part attribution.gap",
    },
    "barycenter": {
        BY_VERDICT: "judged groups.judged groups.p_value groups.levels.difference differ_p",
        "flips above chance, all groups together": "groups.excess",
        "net flips, all groups together": "groups.net groups.everybody.net",
        "favorable share of a group": "groups.rate",
        "features of a flipset by lot": "who.adjusted_p",
    },
    "outcome_transport": {
        BY_VERDICT: "judged bias.difference group_p_value_everywhere",
    },
    "recourse": {
        BY_VERDICT: "judged",
        SHARE: "never_but_reachable ways_summary.with_way group_actions.coverage",
        "means of groups": "ways_summary.cost ways_summary.survives ways_summary.noisy",
    },
    "rule_sets": {
        BY_VERDICT: "judged",
        "every interval of the list": "leaderboard.score leaderboard.difference",
        "difference of two shares": "leaderboard.sampled.score",
        "every interval on exchanged texts": "exchanged.rows.difference",
        "evidence on exchanged texts": "exchanged.rows.adjusted_p exchanged.rows.judged",
        "first score, without the luck of being picked": "shrunken",
        "means of groups": "measures.overall measures.leaderboard.inside measures.leaderboard.outside",
        "every interval of a measure": (
            "measures.leaderboard.difference measures.leaderboard.adjusted_p measures.judged"
        ),
    },
    "mitigation": {
        BY_VERDICT: "judged",
        "difference that is left": "steps.difference splits",
        "favorable share of the group": "steps.favorable_in",
        "favorable share of everyone else": "steps.favorable_out",
        "accuracy of the model chosen": "steps.accuracy",
        "every accuracy and gap of a frontier": "frontier.accuracy frontier.gap",
    },
    "loss_ratio": {
        BY_VERDICT: "judged",
        "mean ratio": "statistic groups.statistic misspecified.statistic",
        "lower bound of the mean ratio above the truth": "p_value",
        "ratio of error rates": "error_ratio.statistic",
        "lower bound of the ratio of error rates above the truth": "error_ratio.p_value",
        "an attribute counts as told by the features": "metric.told.p_value words.told_p",
    },
    "attribute_swap": {
        BY_VERDICT: "judged swaps.p_value",
        SHARE: "swaps.before swaps.after",
        "share changed, all groups together": "swaps.gained swaps.lost swaps.changed",
        "net share, all groups together": "swaps.net",
        "mean score change, all groups together": "swaps.mean_score_change",
    },
    "sensitivity": {
        BY_VERDICT: "judged",
        "area of a protected-status model": "status.groups.auc",
        "bins of a protected-status model": "status.calibration.observed",
        "mean sensitivity of the group": "baseline.mean groups.mean match_set.sides.mean",
        "quantiles of sensitivity": "baseline.quantiles",
        "threshold": "threshold",
        "share flagged, of people to come": "flagged",
        "ratio of mean sensitivities": "groups.ratio",
        "share of a group flagged, of people to come": "groups.flagged",
        "each feature's part, all together": "by_feature.share",
        SHARE: "match_set.mismatched match_set.by_chance",
        "area under the curve": "match_set.auc match_set.curves.auc",
        "difference of two areas": "match_set.against",
        "area in one band": "match_set.bands.auc",
        "area within bands of distance": "match_set.within_bands",
        "area among people equally far": "match_set.equally_far",
        "demographic parity difference": "match_set.metrics.difference",
    },
}
"""Rows of the page that measure what no row is named after, each with its paths and all below them."""


@pytest.mark.parametrize("audit", sorted(ELSEWHERE))
def test_every_interval_and_p_value_of_a_result_is_simulated(audit: str):
    kept, own = Kept.read().rows, ELSEWHERE[audit]
    assert own.keys() <= {row.shown.strip("`") for row in kept}, "the page has no such row"
    ours = {row.shown.strip("`") for row in kept if row.audit == audit} | set(NOT_MEANS.get(audit, ()))
    ours |= {path for paths in own.values() for path in paths.split()}
    found = set(fields_of(AUDITS[audit].result_type))
    left = {path for path in found if not any(f"{path}.".startswith(f"{each}.") for each in ours)}
    assert not left, f"{audit}: nothing simulates these"


def test_every_audit_is_simulated_and_on_the_page():
    simulated = {each.audit for each in EVERY}
    assert set(ELSEWHERE) == set(AUDITS.ours) <= simulated, "add benchmarks/calibration/<name>.py"
    assert {row.audit for row in Kept.read().rows} == simulated
    assert len({each.name for each in EVERY}) == len(EVERY)


def test_a_small_simulation_runs():
    [amounts] = [each for each in EVERY if each.setting == "amounts: log-normal pay (σ .6), 300 and 800"]
    rows = list(amounts.run(range(20)))
    assert {row.kind for row in rows} == {"coverage", "false alarms"}
    for row in rows:  # what holds is as far off in one row of a thousand at most
        hits = row.hits if row.kind == "coverage" else row.worlds - row.hits
        assert binom.cdf(hits, row.worlds, 0.95 - 0.015) > 0.001, row.words


def _coin(number):
    """Holds but in every fifth world; of odd ones half alarm, of even ones there is nothing to state."""
    yield covers("interval", number % 5 > 0)
    if number % 2:
        yield alarm("test", number % 4 == 1)


def test_worlds_drawn_later_count_along():
    by_hand, kept = simulation("all", "by hand", _coin), Kept({}, [])
    for numbers in (range(100), range(100, 300)):
        kept.add(by_hand, by_hand.run(numbers), numbers.stop)
    assert kept.worlds == {"all: by hand": 300}
    assert [(row.hits, row.worlds, row.holds) for row in kept.rows] == [(240, 300, False), (75, 150, False)]


@pytest.mark.parametrize(
    ("kind", "nominal", "hits", "worlds", "holds", "settled"),
    [
        ("false alarms", 0.05, 0, 100, True, True),  # .99^(1/100): at most .045
        ("false alarms", 0.05, 0, 90, True, False),
        ("false alarms", 0.05, 9, 100, True, False),
        ("false alarms", 0.05, 10, 100, False, False),
        ("coverage", 0.95, 98, 100, True, False),
        ("coverage", 0.95, 485, 500, True, True),
        ("power", 0.8, 10, 100, True, True),
    ],
)
def test_a_row_holds_and_does_so_beyond_doubt(kind, nominal, hits, worlds, holds, settled):
    row = Row("groups", "shown", "setting", kind, nominal, hits, worlds)
    assert (row.holds, row.settled) == (holds, settled)
