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
from benchmarks.calibration.whole import NOT_MEANS, WHOLE, is_p, leaves, world

EVERY = simulations()
SMALL = [each for each in EVERY if each.audit in {"all", "groups"}][::16]


def test_the_page_states_what_is_kept():
    kept = Kept.read()
    assert PAGE.read_text(encoding="utf-8") == page(kept.rows, kept.lacking(EVERY))


def test_what_does_not_hold_is_said():
    broken = [row.words for row in Kept.read().rows if not row.holds and not row.said]
    assert not broken, "\n".join(broken)


def test_every_audit_with_a_verdict_of_its_own_is_simulated():
    simulated = {each.audit for each in EVERY}
    assert simulated >= set(AUDITS.ours), "add benchmarks/calibration/<name>.py"
    assert len({each.name for each in EVERY}) == len(EVERY)


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
        "judged": BY_VERDICT,
        "table.impact_ratio": "impact ratios, all together",
        "table.differences.ratio": "impact ratios, all together",  # of a pair, at the level of its difference
        "spreads.demographic_parity_ratio": "impact ratios, all together",
        "table.added": "a metric added",
        "probable.selection_rate": "bounds of a difference, groups known by probability",
        "probable.bounds": "bounds of a difference, groups known by probability",
        "probable.difference_bounds": "bounds of a difference, groups known by probability",
        "probable.difference": "estimate of a difference, groups known by probability",
        "probable.p_value": "estimate of a difference, groups known by probability",
        "amounts.table.differences": "differences of amounts, all together",
        "amounts.table.relative": "difference of means as a share",
        **dict.fromkeys(
            (f"amounts.table.{name}" for name in ("mean", "median", "q10", "q90", "residual", "actual")),
            "a group's own mean and percentiles, each",
        ),
    },
    "flipset": {
        "judged": BY_VERDICT,
        "unmatched": SHARE,
        # the same functions, on fewer people at a corrected level
        "strata.positive": "causal.positive.share",
        "strata.negative": "causal.negative.share",
        "causal.positive": "causal.positive.share",
        "causal.negative": "causal.negative.share",
        "above_chance.conditional.p_value": BY_VERDICT,
        "positive.marginals.adjusted_p": "features of a flipset by lot",
        "negative.marginals.adjusted_p": "features of a flipset by lot",
    },
    "explain": {
        "judged": BY_VERDICT,
        "levels.difference": BY_VERDICT,
        "attribution.features.part": "a feature's part of a gap in mean score",
        "attribution.gap": "a feature's part of a gap in mean score",  # of a model that adds one feature
    },
    "barycenter": {
        "judged": BY_VERDICT,
        "groups.judged": BY_VERDICT,
        "groups.p_value": BY_VERDICT,
        "groups.levels.difference": BY_VERDICT,  # they only have to hold for an all-clear
        "differ_p": BY_VERDICT,
        "groups.excess": "flips above chance, all groups together",
        "groups.net": "net flips, all groups together",
        "groups.everybody.net": "net flips, all groups together",  # a part of them, the ends too
        "groups.rate": "favorable share of a group",
        "who.adjusted_p": "features of a flipset by lot",
    },
    "outcome_transport": {
        "judged": BY_VERDICT,
        "bias.difference": BY_VERDICT,
        "group_p_value_everywhere": BY_VERDICT,
    },
    "recourse": {
        "judged": BY_VERDICT,
        "never_but_reachable": SHARE,
        "ways_summary.with_way": SHARE,
        "group_actions.coverage": SHARE,  # on the half that the action was not picked on
        "ways_summary.cost": "means of groups",
        "ways_summary.survives": "means of groups",
        "ways_summary.noisy": "means of groups",
    },
    "rule_sets": {
        "judged": BY_VERDICT,
        "leaderboard.score": "every interval of the list",
        "leaderboard.difference": "every interval of the list",
        "leaderboard.sampled.score": "difference of two shares",
        "exchanged.rows.difference": "every interval on exchanged texts",
        "exchanged.rows.adjusted_p": "evidence on exchanged texts",
        "exchanged.rows.judged": "evidence on exchanged texts",
        "shrunken": "first score, without the luck of being picked",
        "measures.overall": "means of groups",
        "measures.leaderboard.inside": "means of groups",
        "measures.leaderboard.outside": "means of groups",
        "measures.leaderboard.difference": "every interval of a measure",
        "measures.leaderboard.adjusted_p": "every interval of a measure",
        "measures.judged": "every interval of a measure",
    },
    "mitigation": {
        "judged": BY_VERDICT,
        "steps.difference": "difference that is left",
        "splits": "difference that is left",  # each alone
        "steps.favorable_in": "favorable share of the group",
        "steps.favorable_out": "favorable share of everyone else",
        "steps.accuracy": "accuracy of the model chosen",
        "frontier.accuracy": "every accuracy and gap of a frontier",
        "frontier.gap": "every accuracy and gap of a frontier",
    },
    "loss_ratio": {
        "judged": BY_VERDICT,
        "statistic": "mean ratio",
        "groups.statistic": "mean ratio",
        "misspecified.statistic": "mean ratio",
        "p_value": "lower bound of the mean ratio above the truth",
        "error_ratio.statistic": "ratio of error rates",
        "error_ratio.p_value": "lower bound of the ratio of error rates above the truth",
        "metric.told.p_value": "an attribute counts as told by the features",
        "words.told_p": "an attribute counts as told by the features",
    },
    "attribute_swap": {
        "judged": BY_VERDICT,
        "swaps.before": SHARE,
        "swaps.after": SHARE,
        "swaps.gained": "share changed, all groups together",
        "swaps.lost": "share changed, all groups together",
        "swaps.changed": "share changed, all groups together",
        "swaps.net": "net share, all groups together",
        "swaps.p_value": BY_VERDICT,
        "swaps.mean_score_change": "mean score change, all groups together",
    },
    "sensitivity": {
        "judged": BY_VERDICT,
        "status.groups.auc": "area of a protected-status model",
        "status.calibration.observed": "bins of a protected-status model",
        "baseline.mean": "mean sensitivity of the group",
        "baseline.quantiles": "quantiles of sensitivity",
        "threshold": "threshold",
        "flagged": "share flagged, of people to come",
        "groups.mean": "mean sensitivity of the group",
        "groups.ratio": "ratio of mean sensitivities",
        "groups.flagged": "share of a group flagged, of people to come",
        "by_feature.share": "each feature's part, all together",
        "match_set.mismatched": SHARE,
        "match_set.by_chance": SHARE,
        "match_set.auc": "area under the curve",
        "match_set.curves.auc": "area under the curve",
        "match_set.against": "difference of two areas",
        "match_set.bands.auc": "area in one band",
        "match_set.within_bands": "area within bands of distance",
        "match_set.equally_far": "area among people equally far",
        "match_set.sides.mean": "mean sensitivity of the group",
        "match_set.metrics.difference": "demographic parity difference",
    },
}
"""What no whole audit of `benchmarks.calibration.whole` states, by audit and path (which stands for all below
it): the row that measures it in another module, or why there is nothing to measure."""


@pytest.fixture(scope="module")
def walked() -> dict[str, set[str]]:
    """By audit the paths that whole audits state: three worlds of each kind, one group lower."""
    found: dict[str, set[str]] = {}
    for audit, _, asked, n, _ in WHOLE:
        for number in range(3):
            told = leaves(world(audit, asked, n, 0.8, number))
            found.setdefault(audit, set()).update(path for path, _, _ in told)
    return found


@pytest.mark.parametrize("audit", sorted(ELSEWHERE))
def test_every_interval_and_p_value_of_a_result_is_simulated(audit: str, walked: dict[str, set[str]]):
    scripts = PAGE.parents[1].glob("benchmarks/calibration/*.py")
    source = "".join(path.read_text(encoding="utf-8") for path in scripts)
    own, rows = ELSEWHERE[audit], walked.get(audit, set()) - set(NOT_MEANS.get(audit, {}))
    for path, row in own.items():
        assert row in rows or f'"{row}"' in source, f"{path}: nothing has a row {row!r}"
    for path in fields_of(AUDITS[audit].result_type):
        told = path in rows or path in NOT_MEANS.get(audit, {})
        told = told or any(path == each or path.startswith(f"{each}.") for each in own)
        assert told, f"{audit}: nothing simulates {path}"


def test_every_audit_says_where_its_intervals_are_simulated():
    assert set(ELSEWHERE) == set(AUDITS.ours), "add what simulates each of its intervals"


def test_every_audit_is_on_the_page():
    assert {row.audit for row in Kept.read().rows} == {each.audit for each in EVERY}


@pytest.mark.parametrize("simulation", SMALL, ids=lambda each: each.name)
def test_small_simulations_run(simulation):
    for row in simulation.run(range(simulation.worlds(40))):
        # what holds is as far off in one row of a thousand at most
        if row.kind == "coverage":
            chance = binom.cdf(row.hits, row.worlds, row.claimed - 0.015)
        else:
            chance = binom.sf(row.hits - 1, row.worlds, row.claimed)
        assert chance > 0.001, row.words


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
    assert kept.lacking([by_hand, EVERY[0]]) == [EVERY[0].name]
    assert [(row.shown, row.hits, row.worlds) for row in kept.rows] == [
        ("interval", 240, 300),
        ("test", 75, 150),
    ]
    assert all(row.drawn and row.code for row in kept.rows)
    kept.drop(by_hand)
    assert kept.rows == [] == list(kept.worlds)


def test_a_row_that_does_not_hold_is_told():
    row = Row("all", "interval", "by hand", "coverage", 0.95, 80, 100)
    assert not row.holds
    assert Row("all", "test", "by hand", "false alarms", 0.05, 9, 100).holds
    assert not Row("all", "test", "by hand", "false alarms", 0.05, 10, 100).holds


@pytest.mark.parametrize(
    ("kind", "nominal", "hits", "worlds", "settled"),
    [
        ("false alarms", 0.05, 0, 100, True),  # .99^(1/100): at most .045
        ("false alarms", 0.05, 0, 90, False),
        ("false alarms", 0.05, 1, 100, False),
        ("false alarms", 0.05, 5, 2000, True),
        ("coverage", 0.95, 100, 100, True),
        ("coverage", 0.95, 98, 100, False),
        ("coverage", 0.95, 485, 500, True),
        ("power", 0.8, 10, 100, True),
    ],
)
def test_a_row_holds_beyond_doubt(kind, nominal, hits, worlds, settled):
    row = Row("groups", "shown", "setting", kind, nominal, hits, worlds)
    assert row.settled is settled
    if settled and kind == "false alarms":
        assert binom.cdf(hits, worlds, nominal) <= 0.01
    if settled and kind == "coverage":
        assert binom.sf(hits - 1, worlds, nominal - 0.015) <= 0.01
