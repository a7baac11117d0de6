"""What a report shows of a flipset audit."""

from __future__ import annotations

from functools import partial
from typing import Literal

from audits.flipset.figures import comparisons, flipsets, maps
from audits.flipset.parts import ScoreChange
from audits.flipset.result import FlipsetResult
from audits.flipset.words import disagreement, interval_words
from audits.records import Exhibit, Section
from audits.stats.words import count, number, p_words, percent_interval, stated

__all__ = ["section"]


_MOST_STRATA = 6  # shown in a report one by one; results.json and the page have all


def section(result: FlipsetResult) -> Section:
    """Arrange a flipset audit."""
    larger: Literal["positive", "negative"]
    smaller: Literal["positive", "negative"]
    larger, smaller = "negative", "positive"
    if result.positive.size > result.negative.size:
        larger, smaller = smaller, larger
    exhibits = []
    if result.above_chance is not None:  # first: badge, sentence and figure show the same interval
        exhibits.append(
            Exhibit(
                "above_chance",
                "What decides",
                "Dot: estimate. Line: interval; the thick one decides. Gray band: differences that do not "
                "matter on average; a level may differ by twice as much.",
                lambda: flipsets.above_chance(result),
                result.above_chance_frame,
            )
        )
    exhibits += [
        Exhibit(
            "sizes",
            "Flipset sizes",
            "Share of people in each flipset given this matching, and the range that chance alone gives.",
            lambda: flipsets.sizes(result),
            result.to_frame,
        )
    ]
    for name in (larger, smaller):
        exhibits += _flipset(result, name)
    if len(result.strata) > 1:
        exhibits.append(
            Exhibit(
                "strata",
                "Within each value",
                "Positive minus negative flipset within each value of the column people were matched in; "
                "strata that differ can cancel in the whole.",
                lambda: comparisons.strata(result),
                result.strata_frame,
                wide=True,
            )
        )
    for k, within in enumerate(result.within[:_MOST_STRATA]):
        for name in (larger, smaller):
            exhibits += _flipset(result, name, within, f"_{k}")
    exhibits += [*_compared(result), *_counterparts(result)]
    return Section(
        title=f"Flipset: {result.source} → {result.target}",
        exhibits=tuple(exhibits),
        facts=_facts(result),
    )


def _facts(result: FlipsetResult) -> dict[str, str]:
    """Return what is written below the exhibits, by name."""
    facts = {
        "Verdict": f"{result.verdict}: {interval_words(result.judged)}",
        "Favorable in the source group": percent_interval(result.source_rate),
        "Favorable in the target group": percent_interval(result.target_rate),
        "Difference of rates": f"{stated(result.net, 100, ' points')}; {result.net.method}",
        "Matching": _matching(result),
        "People used": f"{count(result.rows['used'])} of {count(result.rows['audited'])} rows audited"
        + "".join(f"; {count(n)} {reason}" for reason, n in result.rows["left_out"].items()),
    }
    if result.noise is not None:
        facts["Chance level"] = (
            f"p {p_words(result.noise.p_value)} from {result.noise.permutations} permutations among "
            f"{result.noise.n_source:,} and {result.noise.n_target:,} people, {result.noise.method}"
        )
    return facts


def _compared(result: FlipsetResult) -> list[Exhibit]:
    """What stands beside the flipsets: equal values, true counterfactuals, scores."""
    exhibits = []
    if result.same_values:
        exhibits.append(
            Exhibit(
                "same_values",
                "Compared at equal values",
                "The groups compared among people who agree in one feature. " + disagreement(result),
                lambda: comparisons.same_values(result),
                result.same_values_frame,
                wide=True,
            )
        )
    if result.causal is not None:
        exhibits.append(
            Exhibit(
                "causal",
                "Compared with the true counterfactuals",
                "Flipsets of transport beside those of the true counterfactuals. Both say the same of "
                f"{percent_interval(result.causal.agreement)} of the people.",
                lambda: comparisons.causal(result),
                result.causal_frame,
            )
        )
    if result.score_change is not None:
        exhibits.append(
            Exhibit(
                "score_change",
                "How the score changes",
                _score_words(result.score_change),
                lambda: comparisons.score_change(result),
                result.score_change_frame,
                bars=True,
            )
        )
    return exhibits


def _counterparts(result: FlipsetResult) -> list[Exhibit]:
    """How far the counterparts can be trusted."""
    exhibits = []
    if result.validation.checks:
        exhibits.append(
            Exhibit(
                "fit",
                "How well the counterparts fit",
                "How far each feature of the counterparts lies from the target group's (KS distance).",
                lambda: maps.fit(result),
                result.fit_frame,
                wide=True,
            )
        )
    if result.again is not None:
        exhibits.append(
            Exhibit(
                "again",
                "Matched again",
                "Flipsets of every repeat, and how often people flip: those to the right flip whoever else "
                "is in the data.",
                lambda: maps.again(result),
                result.again_frame,
                wide=True,
            )
        )
    if result.training:
        exhibits.append(
            Exhibit(
                "training",
                "How the map was trained",
                "How the map was trained.",
                lambda: maps.training(result),
                result.training_frame,
                wide=True,
            )
        )
    if not result.arrows.empty:
        exhibits.append(
            Exhibit(
                "arrows",
                "People and their counterparts",
                "Some people and their main counterparts; arrows in colour change the decision.",
                lambda: maps.arrows(result),
                lambda: result.arrows,
                wide=True,
            )
        )
    return exhibits


def _flipset(
    result: FlipsetResult, name: Literal["positive", "negative"], within: str | None = None, mark: str = ""
) -> list[Exhibit]:
    """Who is in one flipset and how they differ from their counterparts, of everyone or within a stratum."""
    if result.flipset(name, within)[0].size <= 0:
        return []
    where = "" if within is None else f" within “{within}”"
    return [
        Exhibit(
            f"marginals_{name}{mark}",
            f"Where flipped people differ from their group{where}",
            f"Who is in the {name} flipset{where}: the features that set it apart most from all source "
            "people" + (" there." if where else "."),
            partial(flipsets.marginals, result, name, within),
            partial(result.marginals_frame, name, within),
            bars=True,
            wide=True,
        ),
        Exhibit(
            f"transparency_{name}{mark}",
            f"How they differ from their counterparts{where}",
            f"Transparency report of the {name} flipset{where}: person minus counterpart, by feature, given "
            "this matching.",
            partial(flipsets.transparency, result, name, within),
            partial(result.transparency_frame, name, within),
            wide=True,
        ),
    ]


def _score_words(change: ScoreChange) -> str:
    low, high = (number(change.quantiles[end]).replace("-", "−") for end in ("0.05", "0.95"))
    size = number(abs(change.mean))
    way = (
        "as well"
        if float(size.replace(",", "")) == 0
        else f"{size} {'better' if change.mean > 0 else 'worse'}"
    )
    return (
        f"Counterparts score {way} on average; nine in ten changes lie between {low} and {high}, above 0 is "
        "better."
    )


def _matching(result: FlipsetResult) -> str:
    cost, slack = number(result.certificate.cost), result.certificate.slack
    text = f"{result.certificate.method}; mean cost {cost}"
    if slack is not None:
        return f"{text}, proved to lie within {slack:.1e} of the least possible"
    return f"{text}, where exact matching has {number(result.validation.exact_distance)}"
