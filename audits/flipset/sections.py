"""What a page and a report show of a flipset audit."""

from __future__ import annotations

from functools import partial
from typing import Any

from audits.flipset.figures import blocks, flipsets, intervals, maps
from audits.flipset.result import FlipsetResult
from audits.flipset.text import (
    answer,
    disagreement,
    feature_words,
    interval_words,
    larger_first,
    match_answer,
    one_of,
    way_words,
)
from audits.records import Exhibit, Section
from audits.stats.text import count, estimate_text, number, p_words, people_in, percent_interval
from audits.stats.vocabulary import vocabulary
from audits.text import begun

_MAX_STRATA = 6  # shown in a report one by one; results.json and the page have all


def section(result: FlipsetResult) -> Section:
    """Arrange a flipset audit: both blocks, who is in them, what sets them apart, and how it was tested."""
    strata = [None, *result.within[:_MAX_STRATA]]
    who_flips = [
        each for k, name in enumerate(strata) for each in _who(result, name, f"_{k - 1}" if k else "")
    ]
    apart = [_report(result, name, f"_{k - 1}" if k else "") for k, name in enumerate(strata)]
    return Section(
        title=f"Flipsets: {people_in(result.source)} and {people_in(result.target)}",
        exhibits=(
            _blocks(result),
            *who_flips,
            *filter(None, apart),
            *_comparison_exhibits(result),
            *_test_exhibits(result),
        ),
        facts=_facts(result),
    )


def _blocks(result: FlipsetResult) -> Exhibit:
    words, (first, _) = vocabulary(), larger_first(result)
    part = result.flipset(first)[0]
    heading = "Both directions at once"
    if part.expected_by_chance is not None:
        expected = count(part.expected_by_chance.value or 0.0)
        heading = (
            f"{count(part.size)} {answer(first)} while their match {match_answer(first)}. "
            f"Chance alone gives about {expected}"
        )
    filled = f"Filled: {words.yes or 'favorable'}. Hollow: {words.no or 'unfavorable'}."
    return Exhibit(
        "blocks",
        heading,
        f"Dots: {people_in(result.source)}. {filled} Orange: the closest {one_of(result.target)} gets the "
        "other answer. Dashed: as many as chance alone gives. Top: the interval that decides, in points.",
        partial(blocks.blocks, result),
        result.blocks_frame,
    )


def _who(result: FlipsetResult, within: str | None, mark: str) -> list[Exhibit]:
    """Who flips, both ways, of everyone or within a stratum."""
    where = "" if within is None else f" within “{within}”"
    return [
        Exhibit(
            f"marginals_{way}{mark}",
            f"{begun(way_words(way))}{where}: "
            f"{result.flipset(way, within)[0].marginals[0].feature} sets them apart most",
            "Up: people who flip. Down: everyone in the group. Each as a share of its own, the features that "
            "differ most first.",
            partial(flipsets.marginals, result, way, within),
            partial(result.marginals_frame, way, within),
            bars=True,
            wide=True,
            tab="who",
        )
        for way in larger_first(result)
        if result.flipset(way, within)[0].size > 0
    ]


def _report(result: FlipsetResult, within: str | None, mark: str) -> Exhibit | None:
    """How those who flip differ from their matches, both ways: the transparency report."""
    ways = [way for way in larger_first(result) if result.flipset(way, within)[0].size > 0]
    if not ways:
        return None
    where = "" if within is None else f" within “{within}”"
    lines = result.flipset(ways[0], within)[0].transparency
    return Exhibit(
        f"transparency{mark}",
        f"They differ from their matches{where} most in {feature_words(lines[0].feature)}"
        if lines
        else f"How they differ from their matches{where}",
        "Transparency report: person minus match, by feature. Lines: intervals given this matching. Gray: "
        f"may be chance. Orange: {way_words(ways[0])}.",
        partial(flipsets.transparency, result, within),
        partial(result.reports_frame, within),
        wide=True,
        tab="apart",
    )


def _comparison_exhibits(result: FlipsetResult) -> list[Exhibit]:
    """What else sets people and matches apart: where they are, strata, scores, other lives."""
    change, causal = result.score_change, result.causal
    ends = ["", ""] if change is None else [number(change.quantiles[end]) for end in ("0.05", "0.95")]
    low, high = (each.replace("-", "−") for each in ends)
    agreed = "" if causal is None else percent_interval(causal.agreement)
    shown: list[tuple[bool, str, str, str, Any, Any, dict[str, Any]]] = [
        (
            not result.arrows.empty, "arrows", f"Where the closest {one_of(result.target)} is",
            "Some people, and arrows to their matches. Colored arrows change the decision.",
            maps.arrows, lambda: result.arrows, {"wide": True, "tab": "who"},
        ),
        (
            len(result.strata) > 1, "strata", "Within each value",
            "Difference of rates within each value of the column people were matched in. Values that differ "
            "can cancel in the whole.",
            intervals.strata, result.strata_frame, {"tab": "apart"},
        ),
        (
            change is not None, "score_change", "How the score differs",
            f"Score of the match minus the person's own. Nine in ten lie between {low} and {high}. Above 0, "
            "the match scores better.",
            intervals.score_change, result.score_change_frame, {"bars": True, "tab": "apart"},
        ),
        (
            causal is not None, "causal", "Compared with the true counterfactuals",
            f"Both agree about {agreed} of the people.",
            intervals.causal, result.causal_frame, {"tab": "apart"},
        ),
    ]  # fmt: skip
    return _exhibits(result, shown)


def _test_exhibits(result: FlipsetResult) -> list[Exhibit]:
    """How it was tested: all that the verdict looks at, chance, equal values, the map, stability."""
    wide = {"wide": True}
    levels, most = sum(look[0].startswith("level: ") for look in result.looks()[1:]), intervals.MAX_LEVELS
    some = f" Showing {most} of {levels:,} levels." if levels > most else ""
    return _exhibits(result, [
        (
            bool(result.looks()), "above_chance", "Everything behind the verdict",
            f"Thick: the interval that decides. Gray band: too little to matter on average.{some}",
            intervals.above_chance, result.above_chance_frame, wide,
        ),
        (
            result.noise is not None and bool(result.noise.histogram), "null_distribution",
            "What chance alone gives",
            "How many people flip when group membership is shuffled and everyone is matched again.",
            intervals.null_distribution, result.null_frame, wide,
        ),
        (
            bool(result.same_values), "same_values", "Compared at equal values",
            "The groups compared among people who agree in one feature. " + disagreement(result),
            intervals.same_values, result.same_values_frame, wide,
        ),
        (
            bool(result.validation.checks), "fit", "How well the matches fit",
            "How far each feature of the matches lies from the target group's (KS distance).",
            maps.fit, result.fit_frame, wide,
        ),
        (
            result.again is not None, "again", "Matched again",
            "Left: both directions in every repeat. Right: people who flip in most repeats flip whoever "
            "else is in the data.",
            maps.repeats, result.again_frame, wide,
        ),
        (
            bool(result.training), "training", "How the map was trained", "Distance and losses by iteration.",
            maps.training, result.training_frame, wide,
        ),
    ])  # fmt: skip


def _exhibits(
    result: FlipsetResult, shown: list[tuple[bool, str, str, str, Any, Any, dict[str, Any]]]
) -> list[Exhibit]:
    """Return those that there are, each given as: whether, key, heading, caption, figure, table, where."""
    return [
        Exhibit(key, heading, caption, partial(draw, result), table, **where)
        for there, key, heading, caption, draw, table, where in shown
        if there
    ]


def _facts(result: FlipsetResult) -> dict[str, str]:
    """Return what is written below the exhibits, by name."""
    yes = vocabulary().share_yes.capitalize()
    facts = {
        "Verdict": f"{result.verdict}: {interval_words(result.judged)}",
        f"{yes}, {people_in(result.source)}": percent_interval(result.source_rate),
        f"{yes}, {people_in(result.target)}": percent_interval(result.target_rate),
        "Difference of rates": f"{estimate_text(result.net, 100, ' points')}; {result.net.method}",
        "Matching": _matching(result),
        "People used": result.people_used,
    }
    if result.noise is not None:
        facts["Chance"] = (
            f"p {p_words(result.noise.p_value)} from {result.noise.permutations} permutations among "
            f"{result.noise.n_source:,} and {result.noise.n_target:,} people, {result.noise.method}"
        )
    return facts


def _matching(result: FlipsetResult) -> str:
    cost, slack = number(result.certificate.cost), result.certificate.slack
    text = f"{result.certificate.method}; mean cost {cost}"
    if slack is not None:
        return f"{text}, proven to be within {slack:.1e} of the least possible"
    return f"{text}, where exact matching has {number(result.validation.exact_distance)}"
